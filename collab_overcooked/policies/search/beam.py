"""Beam search over joint actions: breadth-first in time, a bounded number of nodes kept after each step.

All nodes of a layer have taken the same number of steps. What is worth trying in a node, when two nodes are equal and
which are kept says the game's own part, a ``BeamProblem``; copying, stepping and tracing plans back are done here.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.policies.search.simulator import Fork, empty_fork

Array = np.ndarray
Notes = tuple[Array, ...]  # what a problem notes of nodes: arrays with one row for each
CHUNK = 1 << 14  # children stepped at a time


class BeamProblem(Protocol):
    """What a game says of its search."""

    def expand(self, nodes: Fork, notes: Notes) -> tuple[Array, Notes]:
        """Return what is tried: the node (C,) that each child comes from, and first notes of the children."""

    def advance(self, children: Fork, notes: Notes) -> tuple[Array, Notes]:
        """Step children, which are still as the nodes that they come from.

        Returns:
            Their actions (C, N), and notes for the next layer.
        """

    def goal(self, children: Fork) -> int | None:
        """Return the child with which the search is over, if there is one."""

    def sift(self, children: Fork, notes: Notes) -> tuple[Array, Notes]:
        """Return the children (n,) that may be kept, and what ``select`` needs to know of them."""

    def select(self, merits: Notes) -> Array:
        """Return which of all sifted children are kept, by row, in the order of the next layer."""


class Found(NamedTuple):
    """The end of a search.

    Attributes:
        nodes: Nodes of the last layer.
        goal: The node with which the search ended early; None if it did not.
        trail: By step, the parent (n,) of each node in the layer before it, and its actions (n, N).
    """

    nodes: Fork
    goal: int | None
    trail: list[tuple[Array, Array]]

    def actions_to(self, node: int) -> Array:
        """Return the joint actions that lead to a node of the last layer, int32 (steps, N)."""
        actions = []
        for parents, chosen in reversed(self.trail):
            actions.append(chosen[node])
            node = int(parents[node])
        return np.array(actions[::-1], np.int32)


class Beam:
    """Memory of a beam search, to be used again.

    Args:
        game: Compiled game.
        width: Nodes in a layer, at most.
        children: Children of a layer that are stepped at a time.
    """

    def __init__(self, game: FullGame, width: int, children: int = CHUNK) -> None:
        self._layers = [empty_fork(game, width), empty_fork(game, width)]
        self._children = empty_fork(game, children)

    def search(self, problem: BeamProblem, root: Fork, notes: Notes, steps: int) -> Found:
        """Search from one moment on.

        Args:
            problem: The game's part.
            root: A batch of one.
            notes: Of the root.
            steps: How far to look ahead, unless the goal is found or no node is left before.
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
        """Step all children, chunk by chunk; those that are kept are stepped again if there was more than one chunk.

        Returns:
            Nodes, notes, parents and actions of the next layer, and the goal if it was found.
        """
        parents, wishes = problem.expand(nodes, notes)
        room, parts = len(self._children), []
        for start in range(0, max(len(parents), 1), room):
            chunk = slice(start, start + room)
            children = self._children.take(nodes, parents[chunk])
            actions, later = problem.advance(children, tuple(wish[chunk] for wish in wishes))
            goal = problem.goal(children)
            if goal is not None:
                return children, later, (parents[chunk], actions), goal
            rows, merits = problem.sift(children, later)
            parts.append(((start + rows, actions[rows], *(note[rows] for note in later)), merits))
        (rows, actions, *later_notes), merits = (
            tuple(np.concatenate(columns) for columns in zip(*side, strict=True)) for side in zip(*parts, strict=True)
        )
        kept = problem.select(merits)
        self._layers.reverse()  # the nodes are in the second one now
        if len(parts) == 1:
            layer = self._layers[0].take(children, rows[kept])
        else:
            layer = self._layers[0].take(nodes, parents[rows[kept]])
            layer.step(actions[kept])
        return layer, tuple(note[kept] for note in later_notes), (parents[rows[kept]], actions[kept]), None


def rank_in_group(groups: Array, cost: Array) -> Array:
    """Return (n,) how many of the same group cost less than each, or the same and come before it."""
    order = np.lexsort((cost, groups))
    ordered = groups[order]
    places = np.arange(len(groups))
    starts = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    ranks = np.empty(len(groups), np.int64)
    ranks[order] = places - np.maximum.accumulate(np.where(starts, places, 0))
    return ranks
