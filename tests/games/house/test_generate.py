"""Generated homes and tasks have the published statistics, within bands, and everything in them can be reached."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from collab_overcooked.games.house.engine.constants import Agent, Goal, Kind, Place, Rel, Room, Thing, World
from collab_overcooked.games.house.engine.distances import UNREACHED
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
        assert state.dist[b][np.ix_(floor, used)].max() < UNREACHED
        assert (state.cells[b, state.places[b, used, Place.CELL]] == state.places[b, used, Place.ROOM]).all()


def distances_by_search(cells, width, start):
    distances, reached = {start: 0}, [start]
    for cell in reached:
        for beside in (cell - width, cell + width, cell + 1, cell - 1):
            if cells[beside] >= 0 and beside not in distances:
                distances[beside] = distances[cell] + 1
                reached.append(beside)
    return distances


@pytest.mark.parametrize("game", [Housework(rooms=8, agents=4), Transport(rooms=8), Transport(rooms=4)])
@pytest.mark.parametrize("holes", [0, 40, 400])
def test_ways_are_those_of_a_search(game, holes):
    state, width = made(game, 12), game.compiled.sizes.width
    rng, inner = np.random.default_rng(holes), np.ones(state.cells.shape[1], bool).reshape(-1, width)
    inner[[0, -1]] = inner[:, [0, -1]] = False
    for b in range(12):  # scenes may have floor outside of rooms' rectangles, and rooms that nothing connects
        walls = np.flatnonzero((state.cells[b] < 0) & inner.ravel())
        state.cells[b, rng.permutation(walls)[:holes]] = 0
        if holes:
            state.rooms[b, 0, Room.LEFT] = state.rooms[b, 0, Room.RIGHT]
            walled = state.rooms[b, 1]
            state.cells[b].reshape(-1, width)[walled[Room.TOP] : walled[Room.BOTTOM] + 1, walled[Room.LEFT] - 1] = -1
            state.places[b, -1, Place.CELL] = rng.choice(np.flatnonzero(state.cells[b] >= 0))
    game.measure_home(state)
    for b in range(12):
        expected = np.full_like(state.dist[b], UNREACHED)
        for p, place in enumerate(state.places[b]):
            distances = (
                {} if place[Place.KIND] == Kind.NONE else distances_by_search(state.cells[b], width, place[Place.CELL])
            )
            expected[list(distances), p] = list(distances.values())
            if place[Place.KIND] == Kind.NONE:
                expected[:, p] = 0
        np.testing.assert_array_equal(state.dist[b], expected)
