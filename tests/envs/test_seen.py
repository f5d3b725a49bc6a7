"""What a seat may not know changes nothing of what it sees: words, numbers, prompt and picture."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.hidden import hide, hides, reach, scramble, with_other_recipes

import collab_overcooked
from collab_overcooked.policies.api import AgentView, EnvInfo, Message
from collab_overcooked.policies.search.mcts import MctsSettings, TreeSearch
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.registry import load_game, registered
from collab_overcooked.runner.episode import Ask, Episode
from collab_overcooked.testing import check_game

GAMES: dict[str, tuple[str, dict[str, Any]]] = {
    "kitchen": ("CollabOvercooked-v0", {"task": "boiled_egg"}),
    "kitchen, grid": ("CollabOvercooked-v0", {"task": "boiled_egg", "obs": "grid"}),
    "kitchen, primitive": ("CollabOvercooked-v0", {"task": "boiled_egg", "action_level": "primitive"}),
    "many orders": ("CollabOvercooked-v0", {"orders": True}),
    "level": ("CuisineWorld-v0", {"level": "level_3", "agents": 2}),
    "yard": ("CraftKitchen-v0", {"level": "field"}),
    "layout": ("Overcooked-v0", {"layout": "cramped_room"}),
    "directives": ("Overcooked-v0", {"layout": "locked", "action_level": "medium"}),
    "scenario": ("KitchenRush-v0", {"scenario": "easy"}),
    "alien scenario": ("AlienRush-v0", {"scenario": "easy"}),
    "recipes": ("OvercookedV2-v0", {"layout": "test_time_wide", "view_radius": 2, "redraw_recipe": True}),
    "home": ("Housework-v0", {"agents": 3}),
    "house": ("Transport-v0", {"stepping": "tick", "miss": 30}),
    "home, primitive": ("Housework-v0", {"action_level": "primitive", "preempt": True}),
    "escape": ("CollabEscape-v0", {"sight": "room", "agents": 3, "loss": "all", "generators": "random"}),
    "escape, 2023": ("CollabEscape-v0", {"sight": "room", "preset": "paper2023"}),
    "capture": ("CollabCapture-v0", {"sight": "room", "agents": 3}),
    "kitchen, untold": ("CollabOvercooked-v0", {"kitchen": "shared_floor", "orders": True, "show_limit": False}),
}
KEYS = {
    "seat", "name", "role", "names", "timestep", "limit", "text", "manual", "recipe", "orders", "vocabulary",
    "legal_actions", "idle_action", "observation", "mask", "plan", "announced", "running", "inbox", "past_messages",
    "message_rules", "error", "attempt", "refused", "earlier", "history", "starts", "clocks", "feedback",
    "past_actions",
}  # fmt: skip


@pytest.fixture(scope="module", params=GAMES)
def game(request):
    env_id, options = GAMES[request.param]
    return load_game(env_id, **options)


def look(game: Any, state: Any, seat: int) -> AgentView:
    """Return what a seat sees of a state, observations and masks written anew."""
    out = game.alloc(1)[1]
    game.observe(state, out)
    return AgentView.of(game, state, out, seat, 3)


def bytes_of(seen: AgentView) -> str:
    return json.dumps(seen.to_dict(), allow_nan=False)


@given(st.integers(0, 10_000), st.integers(0, 12), st.data())
@settings(max_examples=8)
def test_what_a_seat_may_not_know_changes_no_byte(game, seed, steps, data):
    state, _ = reach(game, seed, steps)
    seat = data.draw(st.integers(0, game.n_agents - 1))
    other = hide(game, state, seat, np.random.default_rng(seed))
    assert any(not np.array_equal(a, b) for a, b in zip(state, other, strict=True))
    assert bytes_of(look(game, state, seat)) == bytes_of(look(game, other, seat))
    assert look(game, state, seat).scene == look(game, other, seat).scene
    assert look(game, state, seat).view.refusals == look(game, other, seat).view.refusals  # which pages show
    assert game.render(state, 0, "ansi", seat) == game.render(other, 0, "ansi", seat)


def test_the_picture_of_a_seat_shows_no_more(game):
    state, _ = reach(game, 5, 8)
    for seat in range(game.n_agents):
        other = hide(game, state, seat, np.random.default_rng(seat))
        assert np.array_equal(game.render(state, 0, "rgb_array", seat), game.render(other, 0, "rgb_array", seat))


BELIEVING = {
    **{name: GAMES[name] for name in ("kitchen", "kitchen, untold", "level", "yard", "recipes")},
    **{name: GAMES[name] for name in ("home", "home, primitive", "house", "escape", "escape, 2023", "capture")},
    "kitchen, three": ("CollabOvercooked-v0", {"kitchen": "three_agents"}),
    "house, events": ("Transport-v0", {"agents": 3}),
}


def test_beliefs_cover_every_game_that_hides_something_of_its_state():
    hiding = {spec[0] for spec in BELIEVING.values()}
    for env_id in registered():
        assert hides(load_game(env_id)) == (env_id in hiding), env_id


@pytest.mark.parametrize("name", BELIEVING)
def test_beliefs_are_drawn_from_knowledge_alone(name):
    """Whatever is true of what a seat does not know: its search begins with the same copies."""
    env_id, options = BELIEVING[name]
    game, changed = load_game(env_id, **options), 0
    for seed, steps in enumerate((0, 1, 3, 9, 25, 60, 120)):
        state, _ = reach(game, seed, steps)
        for seat in range(game.n_agents):
            other = scramble(game, state, seat, np.random.default_rng(seed))
            changed += any(not np.array_equal(a, b) for a, b in zip(state[:-1], other[:-1], strict=True))
            one, two = (Simulator(game, snapshot, seat).fork(3, 5) for snapshot in (state, other))
            for field, a, b in zip(state._fields, one.state, two.state, strict=True):
                np.testing.assert_array_equal(a, b, field)
            np.testing.assert_array_equal(one.masks, two.masks)
    assert changed


HIDING = {
    **BELIEVING,
    "kitchen, grid": GAMES["kitchen, grid"],
    "kitchen, primitive": GAMES["kitchen, primitive"],
    "recipes, light": ("OvercookedV2-v0", {"layout": "demo_cook_wide", "view_radius": 1, "delivery_light": True}),
    "escape, numbered": ("CollabEscape-v0", {"sight": "room", "menu": "lettered", "adversary": "closest"}),
}
GROWING = ("recipes", "home", "house", "escape", "capture")  # beginnings of those in which knowledge grows in play


MARKS = dict.fromkeys(("level", "escape"), ())  # the defaults of every game have all checks; the others at night


@pytest.mark.parametrize("name", [pytest.param(one, marks=MARKS.get(one, pytest.mark.nightly)) for one in HIDING])
def test_moments_that_look_the_same_to_a_seat_give_it_the_same(name):
    env_id, options = HIDING[name]
    (result,) = check_game(env_id, checks=["knowledge"], **options).results
    assert ("that play leads to" in result.sentence) >= name.startswith(GROWING), result.sentence


COOKING = ("CollabOvercooked-v0", {"task": "baked_potato_slices", "shaping": {"START_WRONG": -5, "START": 5}})
BOARD = {"utensils": {"chopping_board0": {"contents": ["potato"]}}}  # to cut it is right by one recipe alone


def searched(game: Any, state: Any, seat: int) -> list[int]:
    """Return what a tree search decides with some seeds."""
    rngs = [np.random.default_rng(seed) for seed in range(3)]
    settings = MctsSettings(simulations=150, depth=6, batch=150)
    return [TreeSearch(Simulator(game, state, seat), settings, rng).decide() for rng in rngs]


@pytest.mark.parametrize("message", [False, True])
def test_a_search_does_not_read_recipes_that_its_seat_was_not_given(message):
    """Whatever the recipes are: it steps its copies alike and decides alike, unless its seat knows them."""
    env_id, options = COOKING
    game, changed = load_game(env_id, knowledge="full" if message else "asymmetric", **options), 0
    other = with_other_recipes(game, np.random.default_rng(1))
    state, out = reach(game, 0, 0)
    game.reset(state, out, np.ones(1, np.bool_), {"state": BOARD})
    for seat, agent in enumerate(game.kitchen.agents):
        decisions = [searched(item, state, seat) for item in (game, other)]
        forks = [Simulator(entry, state, seat).fork(4, 5) for entry in (game, other)]
        rng = np.random.default_rng(seat)
        for _ in range(30):
            actions = [[rng.choice(np.flatnonzero(mask)) for mask in row] for row in forks[0].masks]
            for fork in forks:
                fork.step(np.array(actions, np.int32))
            arrays = [[*fork.state, *fork.out] for fork in forks]
            same = all(map(np.array_equal, *arrays))
            if message or agent.knows_recipes:
                changed += not same
            else:
                assert same
        assert agent.knows_recipes or (decisions[0] == decisions[1]) == (not message)
    assert changed


def test_a_search_that_cheats_reads_the_recipes():
    game = load_game(COOKING[0], **COOKING[1])
    state, _ = reach(game, 0, 0)
    assert Simulator(game, state, 1).fork(1, 0, cheat=True).game is game
    assert not (Simulator(game, state, 1).fork(1, 0).game.compiled.tables.recipes >= 0).any()
    assert Simulator(game, state, 0).fork(1, 0).game is game


class Listener:
    """A model that notes what it is asked and never answers."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def complete(self, request: Any) -> Any:
        from collab_overcooked.policies.llm.exchange import Reply

        self.heard.append((request.turns, request.schema))
        return Reply("", "stop", 1, 1)


def test_prompts_hold_no_more(game):
    pytest.importorskip("jinja2", reason="needs the extra llm")
    from collab_overcooked.policies.llm.agents import policy_maker
    from collab_overcooked.policies.llm.client import Client

    asked = 0
    for steps in (0, 2, 5):
        state, out = reach(game, 7, steps)
        for seat in np.flatnonzero(out.masks[0].sum(axis=1) > 1).tolist():
            received = []
            for snapshot in (state, hide(game, state, seat, np.random.default_rng(seat))):
                listener = Listener()
                policy = policy_maker(Client(listener.complete))("llm:m?repairs=0,answer=schema")
                policy.reset(seat, EnvInfo(game.id, game, "", ("llm:m",) * game.n_agents), 0)
                policy.act(look(game, snapshot, seat))
                received.append(listener.heard)
            assert received[0] == received[1]
            asked += len(received[0])
    assert asked


def test_the_same_keys_in_every_game_and_no_state_or_seed(game):
    state, _ = reach(game, 1, 4)
    for seat in range(game.n_agents):
        assert set(look(game, state, seat).to_dict()) == KEYS
    assert not {"seed", "state", "scene", "rng"} & KEYS


def test_what_a_seat_may_know_is_seen():
    """The test above can fail: on counters in reach everything is seen, and recipes by those who know them."""
    game = load_game("CollabOvercooked-v0", task="boiled_egg")
    state, _ = reach(game, 0, 0)
    for seat in range(2):
        seen = set()
        for counter in {tuple(c) for c in usable_counters(game, seat)}:
            scene = game.scene(state, 0) | {"counters": [{"position": list(counter), "item": "egg", "plated": False}]}
            seen.add(bytes_of(look(game, reach(game, 0, 0, {"state": scene})[0], seat)))
        assert seen and bytes_of(look(game, state, seat)) not in seen
    chef, helper = (look(game, state, seat).to_dict() for seat in range(2))
    assert chef["recipe"] and chef["recipe"] in chef["text"] and helper["recipe"] is None
    assert (chef["name"], chef["role"]) != (helper["name"], helper["role"])
    assert set(chef["vocabulary"]) != set(helper["vocabulary"])


def usable_counters(game: Any, seat: int) -> list[list[int]]:
    from collab_overcooked.games.collab_overcooked.engine.constants import NOTHING, Access, Group, Station

    tables = game.compiled.tables
    results = [s for s in tables.groups[Group.COUNTER] if s != NOTHING and tables.access[seat, s] != Access.NONE]
    return [[int(tables.stations[s, Station.X]), int(tables.stations[s, Station.Y])] for s in results]


# ------------------------------------------------------------------------------------------- plans of others


ACTIONS = ["wait(1)", "wait(2)", "pickup(egg,ingredient_dispenser)", "place_obj_on_counter()", "nonsense"]


def seen_by_the_chef(env: Any, plan: str, say: str = "") -> list[str]:
    """Return what the chef sees while its teammate carries out the beginning of a plan."""
    run, answer, result = Episode(env, ("one", "two"), 1, task="boiled_egg"), None, []
    while len(result) < 2:
        event = run.send(answer)
        answer = None
        if isinstance(event, Ask) and event.kind == "reply":
            answer = Message(event.seat, say, plan) if say and event.seat == 1 else None
        elif isinstance(event, Ask):
            if event.seat == 0:
                result.append(bytes_of(event.seen))
            answer = plan if event.seat == 1 else "wait(1)"
    run.close()
    return result


@given(st.lists(st.sampled_from(ACTIONS)), st.lists(st.sampled_from(ACTIONS)))
@settings(max_examples=20)
def test_unannounced_plans_of_others_change_no_byte(one, two):
    env = collab_overcooked.make("CollabOvercooked-v0", task="boiled_egg")
    first, second = ("; ".join(["wait(1)", *rest]) for rest in (one, two))
    assert seen_by_the_chef(env, first) == seen_by_the_chef(env, second)
