"""Greedy play of Overcooked: every layout and number of players, hand-overs, gates, directives, strangers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from collab_overcooked import make
from collab_overcooked.games.overcooked.engine.constants import Item, Player
from collab_overcooked.games.overcooked.engine.spec import layouts
from collab_overcooked.games.overcooked.policies.distances import FAR, Distances, survey
from collab_overcooked.games.overcooked.policies.greedy import assigner
from collab_overcooked.games.overcooked.policies.kitchen import Trust
from collab_overcooked.games.overcooked.policies.needs import Need
from collab_overcooked.games.overcooked.policies.teammates import STANDSTILL_STEPS, STILL_STEPS, StandstillDetector
from collab_overcooked.games.overcooked.scoring import score_record
from collab_overcooked.kernels.jit import row_at
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team

STEPS = 160


def score(layout: Any, *team: str, steps: int = STEPS, seed: int = 0, **options: Any) -> float:
    env = make("Overcooked-v0", layout=layout, agents=len(team), max_cycles=steps, **options)
    return score_record(play_episode(env, make_team(team), seed))["score"]


@pytest.mark.slow
@pytest.mark.parametrize("layout", layouts())
def test_two_greedy_players_serve_everywhere(layout: str) -> None:
    assert score(layout, "greedy", "greedy") >= 40


@pytest.mark.parametrize("layout", ["cramped_room", "coordination_ring", "counter_circuit", "soup_passing", "locked"])
def test_one_greedy_player_serves_where_one_can(layout: str) -> None:
    assert score(layout, "greedy") >= 20


@pytest.mark.parametrize("players", [3, 4])
def test_more_players_serve_too(players: int) -> None:
    assert score("asymmetric_advantages", *["greedy"] * players) >= 100


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["cramped_room", "forced_coordination", "gated_delivery", "locked"])
def test_greedy_plays_with_directives(layout: str) -> None:
    assert score(layout, "greedy", "greedy", action_level="medium", steps=300) >= 20


@pytest.mark.parametrize("seat", [0, 1])
def test_greedy_serves_beside_a_stranger_in_either_seat(seat: int) -> None:
    team = ["random", "random"]
    team[seat] = "greedy"
    assert score("asymmetric_advantages", *team) >= 20


def test_pots_that_have_to_be_started_are_started() -> None:
    assert score("cramped_room", "greedy", "greedy", dynamics="explicit") >= 20


def test_the_soup_that_pays_most_is_cooked() -> None:
    layout = {
        "grid": "XXPXX\nO1 2T\nX   X\nXDXSX",
        "orders": [["onion"] * 3, {"soup": ["onion", "tomato", "tomato"], "value": 50}],
    }
    served = score(layout, "greedy", "greedy", steps=200)
    assert served > 0 and served % 50 == 0


MIXED = [["onion"] * 3, {"soup": ["onion", "tomato", "tomato"], "value": 50}]
WITHOUT = {
    "no dispenser": "XXPXX\nO1 2X\nX   X\nXDXSX",
    "in a wall": "XXPXXTX\nO1 2XXX\nX   XXX\nXDXSXXX",
    "on floor of its own": "XXPXXXX\nO1 2X T\nX   XXX\nXDXSXXX",
}


@pytest.mark.parametrize("grid", WITHOUT.values(), ids=WITHOUT)
@pytest.mark.parametrize("policy", ["greedy", "noisy:0.1"])
def test_what_cannot_be_made_is_not_wanted(grid: str, policy: str) -> None:
    assert score({"grid": grid, "orders": MIXED}, policy, policy) >= 20


NARROW = {
    "corridor, stations at both ends": "XXXXXXXXX\nO1     2P\nXDXXXXXSX",
    "corridor, ends changed": "XXXXXXXXX\nP1     2O\nXSXXXXXDX",
    "corridor with a niche": "XXXXXXSXXXXXX\nXXDXXX XXXOXX\nP 1       2 P\nXXOXXXXXXXDXX",
    "pot in a dead end": "XSXPXOX\nX1X X2X\nX     X\nXXDXXXX",
    "comb": "XPXXXOX\nX1XSX2X\nX     X\nXXXDXXX",
    "two rooms and a door": "XXXXXXXXX\nO1  X  2P\nD       S\nXXXXXXXXX",
    "one counter between two floors": "XWXXX\nO1X2P\nD W S\nXXXXX",
    "spare counters on one side": "XXXXX\nO1X2P\nO X P\nD X X\nXXXSX",
}


@pytest.mark.slow
@pytest.mark.parametrize("dynamics", ["auto", "explicit"])
@pytest.mark.parametrize("grid", NARROW.values(), ids=NARROW)
def test_two_serve_where_they_are_in_each_others_way(grid: str, dynamics: str) -> None:
    assert score({"grid": grid}, "greedy", "greedy", steps=400, dynamics=dynamics) >= 20


def test_two_serve_through_a_corridor() -> None:
    assert score({"grid": NARROW["corridor, stations at both ends"]}, "greedy", "greedy") >= 20


STALLED = {
    "all counters between two rooms fill with onions": "XXXXXXX\nP1 X 2O\nX  X  D\nXXXXSXX",
    "so do they where the cook holds the soup": "XXXXXX\nP1X2 O\nX X  S\nXXXDXX",
    "the only counter between two rooms": "XXXXXX\nP1X2 O\nXXX  S\nXXXDXX",
    "who holds an onion for later is in the way": "XXXXX\nXOS X\nX   D\nX P1X\nD X2X\nXXXXX",
    "a dish is needed where an onion cannot be put down": "XXXXXXXX\nXXP  S O\nP1X  2 S\nXDXOXXDX",
    "two bring what one of them could": "XDXXXXXPX\nO3X2  X1X\nS X   XXX\nXPXOXDXXX",
    "soup comes through three rooms": "XXXXXXX\nP XOX X\nX X1X3D\nX2XXD X\nXXXXXSX",
}


@pytest.mark.parametrize("grid", STALLED.values(), ids=STALLED)
def test_players_who_wait_for_each_other_go_on(grid: str) -> None:
    players = sum(grid.count(number) for number in "123")
    assert score({"grid": grid}, *["greedy"] * players, steps=200) >= 20


def test_players_go_on_where_they_do_and_undo_the_same() -> None:
    env = make("Overcooked-v0", layout="cramped_room")
    env.reset(seed=0)
    detector, state = StandstillDetector(), env.arrays[0]
    one, two = state.players.copy(), state.players.copy()
    two[0, 0, Player.HAND] = Item.ONION
    states = [state._replace(players=players) for players in (one, two)]
    assert not any(detector.watch(states[t % 2]) for t in range(STILL_STEPS + 1)), "cooking takes as long"
    assert sum(detector.watch(states[t % 2]) for t in range(STANDSTILL_STEPS + STILL_STEPS // 2)) == STANDSTILL_STEPS


def test_the_same_seed_gives_the_same_episode() -> None:
    env = make("Overcooked-v0", layout="counter_circuit", max_cycles=60)
    team = make_team(["greedy", "greedy"])
    assert play_episode(env, team, 3) == play_episode(env, team, 3)


def test_other_games_are_refused() -> None:
    env = make("CuisineWorld-v0")
    with pytest.raises(ValueError, match="plays Overcooked-v0 and OvercookedV2-v0 only"):
        assigner(env.game)


def test_fields_count_the_steps_to_facing_a_station() -> None:
    env = make("Overcooked-v0", layout="cramped_room")
    env.reset(seed=0)
    state, cooks = row_at(env.arrays[0], 0), assigner(env.game)
    kitchen, distances = cooks.kitchen(env.arrays[0]), cooks.allocate(Distances)
    floor, stations = kitchen.floor, kitchen.stations
    survey(kitchen, state, np.full(2, Trust.SAME_POLICY, np.int32), distances)
    pot = int(np.flatnonzero((stations[:, 1:] == (2, 0)).all(axis=1))[0])
    assert distances.fields[pot, floor[1, 2]] == 1, "turning"
    assert distances.fields[pot, floor[2, 2]] == 1, "walking up to it in its direction"
    assert distances.fields[pot, floor[1, 1]] == 2
    assert distances.fields.max() <= FAR
    assert Need.MISSING + 2 * 2 == cooks.jobs.needs.shape[1], "onions and tomatoes, for this soup and the next"
    survey(kitchen, state, np.array([Trust.SAME_POLICY, Trust.IN_THE_WAY], np.int32), distances)
    assert state.players[1, :2].tolist() == [3, 1]
    east = int(np.flatnonzero((stations[:, 1:] == (4, 1)).all(axis=1))[0])
    assert distances.fields[east, floor[1, 1]] == FAR, "somebody stands in the only place"
    assert distances.opened[east, floor[1, 1]] == 2
