"""Beam search over joint actions: breadth-first in time, with a bounded number of nodes per layer.

All nodes of a layer have taken the same number of steps. The game's ``BeamProblem`` generates candidates, detects
duplicates and selects nodes; copying, stepping and tracing plans back are implemented here.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.policies.search.simulator import Fork, empty_fork

Array = np.ndarray
Notes = tuple[Array, ...]  # a problem's data about nodes: arrays with one row per node
CHUNK = 1 << 14  # children stepped at a time


class BeamProblem(Protocol):
    """A game's part of the search."""

    def expand(self, nodes: Fork, notes: Notes) -> tuple[Array, Notes]:
        """Return the parent node (C,) of each child to try, and initial notes of the children."""

    def advance(self, children: Fork, notes: Notes) -> tuple[Array, Notes]:
        """Step children, which are copies of their parents before the call.

        Returns:
            Their actions (C, N), and notes for the next layer.
        """

    def goal(self, children: Fork) -> int | None:
        """Return a child that ends the search, if there is one."""

    def score_children(self, children: Fork, notes: Notes) -> tuple[Array, Notes]:
        """Return the children (n,) that may be kept, and the data about them for ``select``."""

    def select(self, merits: Notes) -> Array:
        """Return the rows of the scored children to keep, in the order of the next layer."""


class Found(NamedTuple):
    """Result of a search."""

    nodes: Fork  # Nodes of the last layer
    goal: int | None  # The node that ended the search early, if any
    # By step, the parent (n,) of each node in the previous layer, and its actions (n, N)
    trail: list[tuple[Array, Array]]

    def actions_to(self, node: int) -> Array:
        """Return the joint actions that lead to a node of the last layer, int32 (steps, N)."""
        actions = []
        for parents, chosen in reversed(self.trail):
            actions.append(chosen[node])
            node = int(parents[node])
        return np.array(actions[::-1], np.int32)


class Beam:
    """Reusable memory of a beam search.

    Args:
        game: Compiled game.
        width: Maximum number of nodes in a layer.
        children: Number of children that are stepped at a time.
    """

    def __init__(self, game: FullGame, width: int, children: int = CHUNK) -> None:
        self._layers = [empty_fork(game, width), empty_fork(game, width)]
        self._children = empty_fork(game, children)

    def search(self, problem: BeamProblem, root: Fork, notes: Notes, steps: int) -> Found:
        """Search from one state.

        Args:
            problem: The game's part of the search.
            root: A batch of one.
            notes: Notes of the root.
            steps: Maximum number of layers; the search ends earlier at a goal or without nodes.
        """
        nodes, trail = self._layers[0].take(root, [0]), []
        for _ in range(steps):
            if not len(nodes):
                break
            nodes, notes, step, goal = self._next_layer(problem, nodes, notes)
            trail.append(step)
            if goal is not None:
                return Found(nodes, goal, trail)
        return Found(nodes, None, trail)

    def _next_layer(
        self, problem: BeamProblem, nodes: Fork, notes: Notes
    ) -> tuple[Fork, Notes, tuple[Array, Array], int | None]:
        parents, initial = problem.expand(nodes, notes)
        room, parts = len(self._children), []
        for start in range(0, max(len(parents), 1), room):
            chunk = slice(start, start + room)
            children = self._children.take(nodes, parents[chunk])
            actions, later = problem.advance(children, tuple(note[chunk] for note in initial))
            goal = problem.goal(children)
            if goal is not None:
                return children, later, (parents[chunk], actions), goal
            rows, merits = problem.score_children(children, later)
            parts.append(((start + rows, actions[rows], *(note[rows] for note in later)), merits))
        (rows, actions, *later_notes), merits = (
            tuple(np.concatenate(columns) for columns in zip(*side, strict=True)) for side in zip(*parts, strict=True)
        )
        kept = problem.select(merits)
        self._layers.reverse()  # the nodes are now in the second layer
        if len(parts) == 1:
            layer = self._layers[0].take(children, rows[kept])
        else:
            layer = self._layers[0].take(nodes, parents[rows[kept]])
            layer.step(actions[kept])
        return layer, tuple(note[kept] for note in later_notes), (parents[rows[kept]], actions[kept]), None


def rank_in_group(groups: Array, cost: Array) -> Array:
    """Return the rank (n,) of each entry in its group by cost; ties are ranked by position."""
    order = np.lexsort((cost, groups))
    ordered = groups[order]
    places = np.arange(len(groups))
    starts = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    ranks = np.empty(len(groups), np.int64)
    ranks[order] = places - np.maximum.accumulate(np.where(starts, places, 0))
    return ranks
