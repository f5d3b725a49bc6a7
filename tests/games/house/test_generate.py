"""Generated homes and tasks have the published statistics, within bands, and everything in them can be reached."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from collab_overcooked.envs.api import rows
from collab_overcooked.games.house.engine.constants import Agent, Goal, Kind, Param, Place, Rel, Room, Thing, World
from collab_overcooked.games.house.engine.state import State
from collab_overcooked.games.house.engine.ways import UNREACHED, next_cell
from collab_overcooked.games.house.env import Housework, Transport
from collab_overcooked.kernels.rng import seed_states

COUNT = 200  # homes of each kind

# Shares of goals of 3, 4 and 5 things, things of wanted classes, as simulated from the published generator's rules.
PUBLISHED = {
    "afternoon_tea": ((0.66, 0.22, 0.13), 4.8),
    "wash_dishes": ((0.83, 0.13, 0.04), 3.6),
    "prepare_meal": ((0.21, 0.24, 0.55), 6.7),
    "put_groceries": ((0.29, 0.30, 0.40), 6.4),
    "set_table": ((0.81, 0.14, 0.05), 3.9),
}


def made(game: Any, count: int = COUNT) -> Any:
    state, out = game.alloc(count)
    state.rng[:] = seed_states(range(count))
    game.reset(state, out, np.ones(count, np.bool_))
    return state


@pytest.mark.parametrize("task", PUBLISHED)
def test_goals_of_housework_are_as_published(task):
    state = made(Housework(task=task))
    shares, instances = PUBLISHED[task]
    totals = state.goals[:, :, Goal.NEED].sum(axis=1)
    assert totals.min() >= 3 and totals.max() <= 5
    assert np.abs([(totals == k).mean() for k in (3, 4, 5)] - np.array(shares)).max() < 0.16
    present = state.things[:, :, Thing.REL] == Rel.AT
    assert abs(present.sum(axis=1).mean() - instances) < 0.7
    places = state.places[np.arange(COUNT)[:, None], state.things[:, :, Thing.PARENT]]
    hidden = (places[:, :, Place.KIND] == Kind.CONTAINER) & (places[:, :, Place.OPEN] == 0) & present
    assert 0.35 < hidden.sum() / present.sum() < 0.85  # 55 to 60 per cent over all families
    assert not (present & (state.things[:, :, Thing.PARENT] == state.world[:, [World.GOAL]])).any()


@pytest.mark.parametrize(("task", "living"), [("food", 0.70), ("stuff", 0.575)])
def test_things_of_transport_lie_as_counted(task, living):
    game = Transport(task=task)
    count, targets, rooms = COUNT // 2, 10, 6
    state, width = made(game, count), game.compiled.sizes.width
    spots = state.places[:, rooms + 1 : rooms + 1 + targets]
    cells = np.stack([spots[:, :, Place.CELL] % width, spots[:, :, Place.CELL] // width], -1) / 2
    bed = state.places[:, rooms, Place.CELL]
    beds = np.stack([bed % width, bed // width], -1) / 2
    low, middle, high = np.percentile(np.linalg.norm(cells - beds[:, None], axis=-1), (10, 50, 90))
    assert 3.5 < low < 6.5 and 7.5 < middle < 11 and 12 < high < 18  # metres; published 5.4, 8.8, 14.4
    apart = np.linalg.norm(cells[:, :, None] - cells[:, None], axis=-1) + 99 * np.eye(targets)
    assert 1 < np.median(apart.min(-1)) < 3  # 1.7
    types = state.rooms[np.arange(count)[:, None], spots[:, :, Place.ROOM], 0]
    assert abs((types == 0).mean() - living) < 0.08
    kinds = np.mean([len(set(row)) for row in state.things[:, :targets, Thing.CLASS].tolist()])
    assert 4.8 < kinds < 5.7  # 5.3
    boxes = state.places[:, rooms + 1 + targets :, Place.ROOM]
    assert max(len(set(row)) for row in boxes.tolist()) <= 2
    starts = state.cells[np.arange(count)[:, None], state.agents[:, :, Agent.CELL]]
    assert (starts[:, 0] != starts[:, 1]).all()


@pytest.mark.parametrize("game", [Housework(rooms=8, items=10, agents=4), Transport(rooms=8, agents=4)])
def test_every_place_can_be_reached_from_everywhere(game):
    state = made(game, 20)
    for b in range(20):
        floor = np.flatnonzero(state.cells[b] >= 0)
        used = np.flatnonzero(state.places[b, :, Place.KIND] != Kind.NONE)
        assert game.ways_from(rows(state, b, b + 1), floor[None])[0][:, used].max() < UNREACHED
        assert state.first_gates[b, -1] <= 3 * (7 + game.compiled.tables.params[Param.DOORS])
        assert (state.cells[b, state.places[b, used, Place.CELL]] == state.places[b, used, Place.ROOM]).all()


def ways_by_search(cells, width, start):
    ways, reached = {start: 0}, [start]
    for cell in reached:
        for beside in (cell - width, cell + width, cell + 1, cell - 1):
            if cells[beside] >= 0 and beside not in ways:
                ways[beside] = ways[cell] + 1
                reached.append(beside)
    return ways


GAMES = [Housework(rooms=8, agents=4), Transport(rooms=8), Transport(rooms=4)]


def made_with_holes(game: Any, holes: int) -> Any:
    """Scenes may have floor outside of rooms' rectangles, and rooms that nothing connects."""
    state, width = made(game, 12), game.compiled.sizes.width
    rng, inner = np.random.default_rng(holes), np.ones(state.cells.shape[1], bool).reshape(-1, width)
    inner[[0, -1]] = inner[:, [0, -1]] = False
    for b in range(12 if holes else 0):
        walls = np.flatnonzero((state.cells[b] < 0) & inner.ravel())
        state.cells[b, rng.permutation(walls)[:holes]] = 0
        state.rooms[b, 0, Room.LEFT] += 1
        walled = state.rooms[b, 1]
        state.cells[b].reshape(-1, width)[walled[Room.TOP] : walled[Room.BOTTOM] + 1, walled[Room.LEFT] - 1] = -1
        cell = rng.choice(np.flatnonzero(state.cells[b] >= 0))
        state.places[b, -1, [Place.CELL, Place.ROOM]] = cell, state.cells[b, cell]
    return state


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("holes", [0, 8, 20])
def test_ways_are_those_of_a_search(game, holes):
    state, width = made_with_holes(game, holes), game.compiled.sizes.width
    game.measure_home(state)
    every = np.tile(np.arange(state.cells.shape[1], dtype=np.int32), (12, 1))
    found, rng = game.ways_from(state, every), np.random.default_rng(0)
    for b in range(12):
        expected, row = np.full_like(found[b], UNREACHED), State(*(array[b] for array in state))
        np.testing.assert_array_equal(row.seat_ways[:, : len(row.places)], found[b, row.agents[:, Agent.CELL]])
        for p, place in enumerate(row.places):
            if place[Place.KIND] != Kind.NONE:
                ways = ways_by_search(row.cells, width, place[Place.CELL])
                expected[list(ways), p] = list(ways.values())
        np.testing.assert_array_equal(found[b], expected)
        floor = np.flatnonzero(row.cells >= 0)
        for cell, p in zip(rng.choice(floor, 200), rng.integers(0, len(row.places), 200), strict=True):
            beside = (cell - width, cell + width, cell + 1, cell - 1)
            nearer = [other for other in beside if expected[other, p] < expected[cell, p]]
            assert next_cell(game.compiled.tables, row, cell, p) == (nearer[0] if nearer else cell)


def test_homes_with_too_many_gates_are_refused():
    game = GAMES[0]
    state = made(game, 1)
    state.rooms[0, :, Room.LEFT] = state.rooms[0, :, Room.RIGHT]
    state.cells[0, game.compiled.sizes.width + 1 : -game.compiled.sizes.width - 1] = 0
    with pytest.raises(ValueError, match=r"state\.grid has \d+ doorways, .* at most 128"):
        game.measure_home(state)
