"""Whole games of the household games against a naive one, step by step, and batches against single homes."""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from support.covers import cover
from support.naive.house import NaiveHouse

from collab_overcooked.games.house.env import Housework, Transport
from collab_overcooked.kernels.rng import seed_states

GAMES = {"home": Housework, "house": Transport}
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "home": ("home", {}),
    "home, three, free words": ("home", {"agents": 3, "talk": "free", "rooms": 6, "items": 8}),
    "home, ticks, preempt": ("home", {"stepping": "tick", "preempt": True, "auto_open": False}),
    "home, primitive": ("home", {"action_level": "primitive", "stepping": "tick"}),
    "home, primitive, preempt": ("home", {"action_level": "primitive", "preempt": True, "max_ticks": 60}),
    "house": ("house", {}),
    "house, three, mixed": ("house", {"agents": 3, "action_level": "agent_0=primitive", "container_lost": False}),
    "house, ticks": ("house", {"stepping": "tick", "containers": 2, "targets": 3, "max_ticks": 900}),
}
FIRST = ("pick up", "take", "transport", "put", "check", "open", "walk to", "search")  # what brings a game forward


@lru_cache
def game_of(name: str) -> Any:
    kind, options = SETTINGS[name]
    return GAMES[kind](**options)


def started(game: Any, seeds: Any) -> tuple[Any, Any]:
    state, out = game.alloc(len(seeds))
    state.rng[:] = seed_states(seeds)
    game.reset(state, out, np.ones(len(seeds), np.bool_))
    return state, out


def together(game: Any, state: Any, out: Any) -> None:
    """Put all agents into one room, so that they meet and want the same things."""
    scene = game.scene(state, 0)
    for agent in scene["agents"]:
        agent |= {"at": list(scene["agents"][0]["at"]), "room": scene["agents"][0]["room"]}
        agent["ways"] = scene["agents"][0]["ways"]
    scene["known"] = [copy.deepcopy(scene["known"][0]) for _ in scene["agents"]]
    game.reset(state, out, np.ones(1, np.bool_), {"state": scene})


def choose(rng: np.random.Generator, texts: list[str], mask: np.ndarray) -> int:
    """Draw an accepted action, more often one that brings the game forward, sometimes one that is refused."""
    legal = np.flatnonzero(mask)
    useful = [action for action in legal.tolist() if texts[action].startswith(FIRST)]
    draw = rng.random()
    if draw < 0.05:
        return int(rng.integers(len(texts)))
    return int(rng.choice(useful if useful and draw < 0.8 else legal))


def shown(scene: dict[str, Any]) -> dict[str, Any]:
    """Return what a naive game knows of a scene, in its own form."""
    return {
        "agents": [
            (tuple(agent["at"]), agent["hands"], agent["running"][0] >= 0, agent["spoke"]) for agent in scene["agents"]
        ],
        "things": [(thing["rel"], thing["parent"]) for thing in scene["things"] if thing["rel"] != "none"],
        "places": [
            (place["open"], place["free"]) for place in scene["places"] if place["kind"] not in ("none", "spot")
        ],
        "goals": scene["goals"],
        "known": scene["known"],
        "clock": (scene["tick"], scene["steps"], scene["paid"]),
    }


def naive_shown(naive: NaiveHouse) -> dict[str, Any]:
    return {
        "agents": [
            (agent["cell"], agent["hands"], agent["plan"] is not None, agent["spoke"]) for agent in naive.agents
        ],
        "things": [(thing["rel"], thing["parent"]) for thing in naive.things if thing["rel"] != "none"],
        "places": [(place["open"], place["free"]) for place in naive.places if place["kind"] not in ("none", "spot")],
        "goals": naive.goals,
        "known": naive.known,
        "clock": (naive.tick, naive.steps, naive.best),
    }


def played(naive: NaiveHouse, texts: list[str], scene: dict[str, Any]) -> tuple[NaiveHouse, float]:
    """Return the naive game after a step; whoever the draw of a conflict favoured is found by trying."""
    tries = []
    for favour in range(len(texts)):
        other = copy.deepcopy(naive)
        tries.append((other, other.play(texts, favour)))
        if other.conflicts == naive.conflicts or naive_shown(other) == shown(scene):
            return tries[-1]
    return tries[0]


@pytest.mark.parametrize(("name", "seed"), cover(list(SETTINGS), range(3)))
def test_whole_games_are_those_of_the_naive_one(name, seed):
    game = game_of(name)
    kind, options = SETTINGS[name]
    state, out = started(game, [seed])
    if seed == 0:
        together(game, state, out)
    naive, rng = NaiveHouse(game.scene(state, 0), kind == "home", options), np.random.default_rng(seed)
    for _ in range(70):
        texts = [game.action_texts(state, 0, seat) for seat in range(game.n_agents)]
        for seat in range(game.n_agents):
            listed = {texts[seat][action] for action in np.flatnonzero(out.masks[0, seat])}
            assert listed == naive.menu(seat, texts[seat])
        actions = [choose(rng, texts[seat], out.masks[0, seat]) for seat in range(game.n_agents)]
        game.step(state, np.array([actions], np.int32), out)
        scene = game.scene(state, 0)
        naive, paid = played(naive, [text[action] for text, action in zip(texts, actions, strict=True)], scene)
        assert naive_shown(naive) == shown(scene)
        assert out.rewards[0].tolist() == [paid] * game.n_agents
        assert bool(out.terminated[0]) == naive.done()
        if out.terminated[0] or out.truncated[0]:
            break
