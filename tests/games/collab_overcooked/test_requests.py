"""Requests: what a cook can ask its teammate for in a state, no more and no less than the teammate could begin."""

from __future__ import annotations

from typing import Any

import pytest
from games.collab_overcooked.world import open_world

from collab_overcooked.play.settings import PlaySettings
from collab_overcooked.play.shown import question_of
from collab_overcooked.policies.api import AgentView

KITCHEN = """
XPXSX
X 0 X
XXXXX
I 1 C
XDXXX
"""
FETCH = [f"pickup({name},ingredient_dispenser)" for name in ("egg", "corn", "bean")]
DISH = "pickup(dish,dish_dispenser)"
# Drawn world: requests of cook 0. Cooks 0 and 1 share no floor, in the first kitchen not even a counter.
STATES = {
    "with empty hands": (KITCHEN, [*FETCH, DISH]),
    "with food": (f"{KITCHEN}1 north holds corn", ["put_obj_in_utensil(chopping_board0)", "place_obj_on_counter()"]),
    "with a dish": (f"{KITCHEN}1 north holds dish", ["place_obj_on_counter()"]),
    "at a filled board": (f"{KITCHEN}chopping_board0 corn", [*FETCH, DISH, "cut(chopping_board0)"]),
    "at a board at work": (f"{KITCHEN}chopping_board0 corn_slices 2/3", [*FETCH, DISH]),
    "at a finished board": (
        f"{KITCHEN}chopping_board0 corn_slices ready",
        [*FETCH, DISH, "pickup(corn_slices,chopping_board0)"],
    ),
    "while busy": (f"{KITCHEN}1 north does {DISH} 0", [*FETCH, DISH]),
    "with something on a shared counter": (f"{KITCHEN}(1,2) egg", [*FETCH, DISH, "pickup(egg,counter)"]),
    "with something out of sight": (f"{KITCHEN}(3,4) egg", [*FETCH, DISH]),
}


def seen_in(world: str, level: str = "medium", **changes: Any) -> AgentView:
    rollout = open_world(world, level=level, stations={"P": {"users": [0]}, "S": {"users": [0]}}, **changes)
    return AgentView.of(rollout.game, rollout.state, rollout.out, 0, 0)


@pytest.mark.parametrize("state", STATES)
def test_exactly_what_a_teammate_can_begin_is_offered(state: str) -> None:
    world, expected = STATES[state]
    requests = seen_in(world).view.requests
    assert sorted(requests) == sorted(expected)
    assert all(entry == f"request('{text}')" for text, entry in requests.items())


def test_pages_list_what_can_be_asked_for_and_nothing_without_a_menu() -> None:
    seen = seen_in(KITCHEN, orders=("corn_slices",))
    offered = question_of(seen, "act", 1, PlaySettings(menu="legal"))["requests"]
    assert FETCH[1] in offered and len(offered) == 4
    assert question_of(seen, "act", 1, PlaySettings(menu="none"))["requests"] == {}


def test_a_cook_that_takes_single_steps_asks_for_nothing() -> None:
    assert seen_in(KITCHEN, level="primitive").view.requests == {}
