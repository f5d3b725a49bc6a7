"""Whole games of rooms: against a naive one turn by turn, and what must hold in every game."""

from __future__ import annotations

import random
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
import pytest
import yaml
from games.rooms import world
from support.covers import cover
from support.naive.rooms import NaiveRooms

from collab_overcooked.games.rooms.env import CollabCapture, CollabEscape
from collab_overcooked.kernels.rng import seed_states

GAMES = {"capture": CollabCapture, "escape": CollabEscape}
OTHER_NAMES = {"exchange": "catch_on_exchange"}  # options that the naive game calls otherwise
PAPER_ESCAPE = {"adversary": "closest", "fixes": 4, "fix_by": "player", "loss": "all", "one_flag": False}
SETTINGS: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [  # map, preset, as the spec says, options changed
    ("nine_rooms", "code2024", {"exchange": "later"}, {}),
    ("nine_rooms", "paper2023", {"adversary": "closest", "exchange": "always"}, {}),
    ("nine_rooms", "code2024", {"exchange": "later"}, {"adversary": "distance", "doors": {"1-2": True}}),
    ("nine_rooms", "code2024", {"exchange": "later"}, {"exchange": "never", "agents": 3}),
    ("nine_rooms", "code2024", {"exchange": "later"}, {"adversary": "closest", "agents": 1, "max_cycles": 7}),
    ("capture", "code2024", {"exchange": "later"}, {"adversary": "distance"}),
    ("capture", "code2024", {"exchange": "later"}, {"exchange": "always"}),
    ("ten_rooms", "code2024", {}, {}),
    ("ten_rooms_as_told", "code2024", {}, {"loss": "all", "fixes": 1}),
    ("ten_rooms", "code2024", {}, {"fix_by": "player", "fixes": 3, "exchange": "always"}),
    ("seven_rooms", "paper2023", PAPER_ESCAPE, {}),
    ("seven_rooms", "paper2023", PAPER_ESCAPE, {"loss": "any", "agents": 3}),
    ("themed_rooms", "paper2023", PAPER_ESCAPE, {"fix_by": "room", "fixes": 2, "exchange": "later"}),
    ("themed_rooms", "paper2023", PAPER_ESCAPE, {"adversary": "coded", "generators": ["Kitchen"]}),
    ("escape", "code2024", {}, {"loss": "all", "exchange": "always"}),
    ("escape", "paper2023", PAPER_ESCAPE, {"fixes": 2, "max_cycles": 50}),
]


def values_of(name: str) -> dict[str, Any]:
    if name in world.GAMES:
        return yaml.safe_load(world.GAMES[name][1])
    text = resources.files("collab_overcooked").joinpath("layouts", "rooms", f"{name}.yaml").read_text()
    values = yaml.safe_load(text)
    return {**values_of(values["extends"]), **values} if "extends" in values else values


@lru_cache
def game_of(number: int, **more: Any) -> Any:
    name, preset, _, changed = SETTINGS[number]
    options = {OTHER_NAMES.get(key, key): value for key, value in changed.items() if key != "max_cycles"}
    values = values_of(name)
    level = values if name in world.GAMES else name
    if values["game"] == "escape":  # the naive game knows no draw
        options.setdefault("generators", "map")
    return GAMES[values["game"]](preset=preset, map=level, **options, **more)


def naive_of(number: int) -> NaiveRooms:
    name, _, message, changed = SETTINGS[number]
    return NaiveRooms(values_of(name), **{**message, **changed})


def started(game: Any, seeds: Any, max_cycles: int | None = None) -> tuple[Any, Any]:
    state, out = game.alloc(len(seeds))
    state.rng[:] = seed_states(seeds)
    game.reset(state, out, np.ones(len(seeds), np.bool_), max_cycles=max_cycles)
    return state, out


def word(game: Any, action: int) -> tuple[str, str]:
    names = game.level.rooms
    return ("stay", "") if action == 0 else ("go", names[action - 1]) if action <= len(names) else ("use", "")


def compare(game: Any, scene: dict[str, Any], naive: NaiveRooms) -> None:
    players = [(entry["room"], entry["before"], entry["active"], entry["fixing"]) for entry in scene["players"]]
    assert players == list(zip(naive.rooms, naive.before, naive.alive, naive.fixing, strict=True))
    assert (scene["adversary"]["room"], scene["doors"]) == (naive.at, naive.doors)
    assert (scene["turn"], scene["limit"], scene["outcome"]) == (naive.turn, naive.max_cycles, naive.outcome)
    most = naive.fixes if naive.fix_by == "player" else 10**6  # what is counted beyond the last fix needed is left open
    repairs = {generator["room"]: min(most, generator["progress"]) for generator in scene["generators"]}
    assert repairs == {room: min(most, done) for room, done in naive.repairs.items()}
    if naive.outcome == "running":
        assert scene["adversary"]["target"] == naive.target
        if naive.adversary == "coded" and naive.escape:
            assert [player["seen"] for player in scene["players"]] == naive.seen
    if naive.fix_by == "player":
        unfinished = [part for part in scene["generators"] if part["progress"] < naive.fixes]
        assert all(item["fixer"] == naive.fixer[item["room"]] for item in unfinished)
    for seat, known in enumerate(scene["known"]):
        result, places = naive.known[seat], [*known["players"], known["adversary"]]
        assert {k: (place["room"], naive.turn - place["ago"]) for k, place in enumerate(places)} == result["places"]
        assert known["doors"] == result["doors"] and set(known["in_sight"]) == naive.in_sight(seat)
        assert [min(most, done) for done in known["generators"]] == [
            min(most, done) for done in result["fixes"].values()
        ]


def choose(mask: np.ndarray, rng: random.Random) -> int:
    """Mostly what can be done and often what uses something, sometimes anything."""
    if rng.random() < 0.1:
        return rng.randrange(len(mask))
    if mask[-1] and rng.random() < 0.5:
        return len(mask) - 1
    return rng.choice(np.flatnonzero(mask).tolist())


def careful(game: Any, naive: NaiveRooms, rng: random.Random) -> list[int]:
    """Return what does not lose at once, if a few tries find it, and goes on with repairs: so games become long."""
    texts = [word(game, action) for action in range(game.n_actions)]
    for _ in range(12):
        joint = []
        for seat in range(naive.n):
            menu = naive.menu(seat)
            open_work = naive.repairs.get(naive.rooms[seat], naive.fixes) < naive.fixes
            joint.append(("use", "") if open_work and ("use", "") in menu and rng.random() < 0.9 else rng.choice(menu))
        if all(entry.outcome != "lost" and all(entry.alive) for entry in naive.after(joint)):
            break
    return [texts.index(item) for item in joint]


@pytest.mark.parametrize(("number", "timed"), cover(range(len(SETTINGS)), [False, True]))
def test_games_are_those_of_the_naive_one(number: int, timed: bool) -> None:
    game = game_of(number, sight="room", reward="timed" if timed else "sparse")
    for seed in range(4):
        rng, naive = random.Random(seed), naive_of(number)
        state, out = started(game, [seed], SETTINGS[number][3].get("max_cycles"))
        while True:
            scene = game.scene(state, 0)
            compare(game, scene, naive)
            for seat in range(game.n_agents):
                allowed = [word(game, action) for action in np.flatnonzero(out.masks[0, seat])]
                assert sorted(allowed) == sorted(naive.menu(seat))
            if naive.outcome != "running":
                break
            is_careful = naive.escape and seed % 4
            actions = careful(game, naive, rng) if is_careful else [choose(mask, rng) for mask in out.masks[0]]
            unaware = naive.escape and naive.adversary == "coded" and naive.target is None
            ways = naive.ways(naive.at)
            game.step(state, np.array([actions], np.int32), out)
            goes = game.scene(state, 0)["adversary"]["room"] if unaware else None
            assert goes is None or goes in (ways or [naive.at])
            naive.play([word(game, action) for action in actions], goes)
            np.testing.assert_allclose(out.rewards[0], naive.reward - 0.01 * timed, atol=1e-6)
            np.testing.assert_allclose(out.shaped[0], 0.5 * naive.completed)
            assert out.terminated[0] == (naive.outcome in ("success", "lost"))
            assert out.truncated[0] == (naive.outcome == "time_out")


def test_an_unaware_killer_goes_every_way_alike() -> None:
    game = GAMES["escape"]()
    state, out = started(game, range(1200))
    game.step(state, np.zeros((1200, 2), np.int32), out)
    ways = np.unique(state.clock[:, 3], return_counts=True)
    assert ways[0].tolist() == [4, 6] and abs(ways[1] - 600).max() < 90


def test_the_game_of_2023_draws_the_generators_per_episode() -> None:
    """Section 3.2 of the paper; the code of 2024 has them in the map's rooms."""
    for preset, n_pairs in (("code2024", 1), ("paper2023", 15)):
        game = CollabEscape(preset=preset, map="seven_rooms")
        drawn = [game.scene(started(game, [seed])[0], 0)["generators"] for seed in range(80)]
        assert len({frozenset(entry["room"] for entry in pair) for pair in drawn}) == n_pairs


def test_random_generators_are_in_different_rooms_without_exit_or_button() -> None:
    values = values_of("escape")
    game = GAMES["escape"](map=values, generators="random")
    drawn = [game.scene(started(game, [seed])[0], 0)["generators"] for seed in range(60)]
    pairs = {tuple(entry["room"] for entry in pair) for pair in drawn}
    assert {room for pair in pairs for room in pair} == set("123456")  # 7 has a button, 8 the exit
    assert all(a != b for a, b in pairs)
