"""Beam search and plans: traced back, the same in chunks of any size, cut to the width."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import collab_overcooked
from collab_overcooked.policies.search.beam import Beam, Found, Notes, rank_in_group
from collab_overcooked.policies.search.plan_search import PlanMemory, name_states
from collab_overcooked.policies.search.simulator import Fork, Simulator

N = 2


class JsonlFormat:
    """A toy search in a real game: three joint actions in each node; the note is a number that they write in base 3."""

    def __init__(self, width: int, goal: int | None = None) -> None:
        self.width, self.wanted, self.seen_sizes = width, goal, []
        self.values: Any = None

    def expand(self, nodes: Fork, notes: Notes) -> tuple[np.ndarray, Notes]:
        parents = np.repeat(np.arange(len(nodes)), 3)
        return parents, (3 * notes[0][parents] + np.tile(np.arange(3), len(nodes)),)

    def advance(self, children: Fork, notes: Notes) -> tuple[np.ndarray, Notes]:
        assert len(children) == len(notes[0])
        self.seen_sizes.append(len(children))
        actions = np.stack([notes[0] % 3, np.zeros_like(notes[0])], axis=1).astype(np.int32)
        children.step(actions)
        self.values = notes[0]
        return actions, notes

    def goal(self, children: Fork) -> int | None:
        result = np.flatnonzero(self.values == self.wanted)
        return int(result[0]) if len(result) else None

    def score_children(self, children: Fork, notes: Notes) -> tuple[np.ndarray, Notes]:
        rows = np.flatnonzero(notes[0] % 9 != 8)  # two twos in a row are never kept
        return rows, (notes[0][rows],)

    def select(self, merits: Notes) -> np.ndarray:
        return np.argsort(-merits[0], kind="stable")[: self.width]


def root() -> Fork:
    env = collab_overcooked.make("KitchenRush-v0")
    env.reset(seed=0)
    return Simulator(env.game, env.arrays[0], 0).fork(1, 0)


def search(problem: JsonlFormat, steps: int, children: int) -> tuple[Fork, Found]:
    start = root()
    beam = Beam(start.game, 50, children)
    return start, beam.search(problem, start, (np.zeros(1, np.int64),), steps)


@pytest.mark.parametrize("children", [1, 2, 5, 100])
def test_nodes_are_where_their_actions_lead_in_chunks_of_any_size(children):
    start, result = search(JsonlFormat(4), 5, children)
    assert len(result.nodes) == 4 and result.goal is None and len(result.trail) == 5
    for node in range(4):
        actions = result.actions_to(node)
        ahead = start.repeat([0])
        for joint in actions:
            ahead.step(joint[None])
        for array, expected in zip(result.nodes.state, ahead.state, strict=True):
            np.testing.assert_array_equal(array[node], expected[0])
    best = result.actions_to(0)[:, 0].tolist()
    assert best == [2, 1, 2, 1, 2], "the largest number without two twos in a row"


def test_no_more_children_are_stepped_at_a_time_than_there_is_room_for():
    problem = JsonlFormat(4)
    search(problem, 4, 5)
    assert max(problem.seen_sizes) == 5 and sum(problem.seen_sizes) == 3 + 9 + 12 + 12


def test_the_goal_ends_the_search():
    _, result = search(JsonlFormat(50, goal=1 * 9 + 0 * 3 + 1), 5, 4)
    assert result.goal is not None
    assert result.actions_to(result.goal)[:, 0].tolist() == [1, 0, 1]


def test_without_nodes_the_search_ends():
    _, result = search(JsonlFormat(0), 5, 4)
    assert len(result.nodes) == 0 and len(result.trail) == 1


def test_ranks_in_groups_by_cost_then_by_place():
    groups, cost = np.array([5, 3, 5, 5, 3]), np.array([1.0, 7.0, 0.0, 1.0, 7.0])
    assert rank_in_group(groups, cost).tolist() == [1, 0, 0, 2, 1]


def test_moments_are_named_before_each_step_and_the_start_stays_as_it_is():
    start = root()
    before = start.state.clock.copy()
    actions = np.zeros((3, N), np.int32)
    names = name_states(start, actions, lambda state: state.clock[0].tobytes())
    assert names[0] == before[0].tobytes() and len(set(names)) == 3
    np.testing.assert_array_equal(start.state.clock, before)


def test_plans_are_made_once_and_the_oldest_forgotten():
    memory, created = PlanMemory(2), []
    for key in ("a", "b", "a", "c", "b", "a"):
        assert memory.recall(key, lambda key=key: created.append(key) or key) == key
    assert created == ["a", "b", "c", "a"]
