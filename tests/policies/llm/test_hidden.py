"""No agent's prompts depend on what its seat may not know: in each game that hides something, byte for byte."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from support.hidden import hide, hides, reach, with_other_recipes

from collab_overcooked import registry
from collab_overcooked.policies.api import AgentView, EnvInfo, Message
from collab_overcooked.policies.llm.agents import policy_maker
from collab_overcooked.policies.llm.client import Client
from collab_overcooked.policies.llm.settings import GENERIC
from collab_overcooked.policies.search.simulator import Simulator

pytest.importorskip("jinja2", reason="needs the extra llm")
HIDING: dict[str, tuple[str, dict[str, Any]]] = {
    "kitchen": ("CollabOvercooked-v0", {"task": "boiled_egg"}),
    "kitchen, many orders": ("CollabOvercooked-v0", {"kitchen": "shared_floor", "orders": True, "show_limit": False}),
    "level": ("CuisineWorld-v0", {"level": "level_3", "agents": 2}),
    "yard": ("CraftKitchen-v0", {"level": "field"}),
    "recipes": ("OvercookedV2-v0", {"layout": "test_time_wide", "view_radius": 2, "redraw_recipe": True}),
    "home": ("Housework-v0", {"agents": 3}),
    "house": ("Transport-v0", {}),
    "escape": ("CollabEscape-v0", {"sight": "room", "agents": 3, "loss": "all", "generators": "random"}),
    "capture": ("CollabCapture-v0", {"sight": "room", "agents": 3}),
}
SWITCHES = {"choose": "analysis=on,intention=on,check=1", "partner": "intention=on,check=1", "cots": "n=2"}
STEPS, SEED = (0, 6), 3


@functools.cache
def game_of(name: str) -> Any:
    env_id, options = HIDING[name]
    return registry.load_game(env_id, **options)


def kinds_of(name: str) -> list[str]:
    record = registry.find(HIDING[name][0])
    return [*GENERIC, *record.language_agents, *(["cots"] if record.subplans else [])]


CASES = [(name, kind) for name in HIDING for kind in dict.fromkeys(kinds_of(name))]


def asked(client: Any, game: Any, state: Any, seat: int, kind: str) -> list[Any]:
    """Return everything that a seat's agent sends to its model: a decision, and an answer to a teammate's message."""
    model = client(lambda request: "A thought.")
    policy = policy_maker(Client(model.complete))(
        f"llm:m?agent={kind},repairs=0{',' * (kind in SWITCHES)}{SWITCHES.get(kind, '')}"
    )
    policy.reset(seat, EnvInfo(game.id, game, "", ("llm:m",) * game.n_agents, Simulator(game, state, seat)), 0)
    out = game.alloc(1)[1]
    game.observe(state, out)
    seen = AgentView.of(game, state, out, seat, 3)
    policy.act(seen)
    other = (seat + 1) % game.n_agents
    text = "Plan: " + ". ".join(f"{name}: wait" for name in seen.names) + "."
    policy.reply(AgentView(seat, 3, seen.observation, seen.mask, seen.view, inbox=(Message(other, text, ""),)))
    return [(request.turns, request.schema, request.tools) for request in model.asked]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_what_is_hidden_changes_no_byte_of_a_prompt(client, name, kind):
    game, prompts = game_of(name), 0
    for steps in STEPS:
        state, out = reach(game, SEED, steps)
        for seat in np.flatnonzero(out.masks[0].sum(axis=1) > 1).tolist()[:2]:
            other = hide(game, state, seat, np.random.default_rng(seat))
            assert any(not np.array_equal(a, b) for a, b in zip(state, other, strict=True))
            first, second = (asked(client, game, variant, seat, kind) for variant in (state, other))
            assert first == second
            prompts += len(first)
    assert prompts


def drawings(game: Any, state: Any, seat: int) -> Any:
    """Return a seat's picture, before it is drawn."""
    return game.drawing(game.seen(state, 0, seat).scene, seat)


@pytest.mark.parametrize("name", [*HIDING, *registry.registered()])
def test_what_is_hidden_changes_nothing_in_a_picture(name):
    game, rng = game_of(name) if name in HIDING else registry.load_game(name), np.random.default_rng(0)
    for steps in (*STEPS, 20):
        state, _ = reach(game, SEED, steps)
        for seat in range(game.n_agents):
            picture = drawings(game, state, seat)
            assert drawings(game, hide(game, state, seat, rng), seat) == picture
            if hasattr(game, "kitchen"):
                other = with_other_recipes(game, rng)
                knows = game.seen(state, 0, seat).recipe is not None
                assert (drawings(other, state, seat) == picture) != knows


def test_every_game_that_hides_something_is_here():
    hiding = {env_id for env_id, _ in HIDING.values()}
    for env_id in registry.registered():
        game = registry.load_game(env_id)
        assert not hides(game) or env_id in hiding or env_id in ("CollabCapture-v0", "CollabEscape-v0")


def test_what_a_seat_sees_does_change_its_prompts(client):
    """The test above can fail: another room, hand or order in sight is another prompt."""
    for name, kind in (("home", "coela"), ("capture", "choose"), ("kitchen", "partner")):
        game = game_of(name)
        states = [reach(game, seed, steps)[0] for seed in (3, 4) for steps in (0, 2, 6)]
        prompts = [asked(client, game, state, 0, kind) for state in states]
        free = [prompt for prompt in prompts if prompt]  # a busy seat has nothing to decide
        assert len(free) > 1 and any(prompt != free[0] for prompt in free)
