"""Tree of a plan search: candidate joint plans, their messages and rewards, and the selection of the next one.

Source: CoTS (CVPR 2025), section 4.2; ``released`` selects as its public code does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Node:
    """A candidate plan with its messages and reward."""

    parent: int  # Index of the plan that it changes, -1 for the root
    depth: int  # Depth in the tree, 0 for the root
    plan: str  # Text of the plan
    messages: tuple[str, ...] = ()  # Messages of the planner and the critics about it
    reward: float = 0.0  # Reward from 0 to 1
    draft: Any = None  # The proposer's draft, for the callables
    critiques: tuple[Any, ...] = ()  # The critics' critiques, for the callables
    visits: int = 0  # N
    value: float = 0.0  # V, the mean of the backed-up rewards
    solved: bool = False  # Whether its reward, or that of a descendant, reaches the threshold
    children: list[int] = field(default_factory=list)  # Indices of the children

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for the record."""
        return {
            "parent": self.parent,
            "plan": self.plan,
            "messages": list(self.messages),
            "reward": round(self.reward, 4),
            "visits": self.visits,
            "value": round(self.value, 4),
            "solved": self.solved,
        }


class PlanTree:
    """Tree of candidate plans, in order of creation.

    Args:
        w: Weight of exploration.
        stop: Minimum reward of a solved plan.
        released: Select among all nodes below the root, with the mean divided by the visits once more.
    """

    def __init__(self, w: float = 1.0, stop: float = 0.7, released: bool = False) -> None:
        self.w = w
        self.stop = stop
        self.released = released
        self.nodes: list[Node] = []

    def add(self, node: Node, back_up: bool = True) -> int:
        """Add a node with its reward; returns its index."""
        index = len(self.nodes)
        self.nodes.append(node)
        if node.parent >= 0:
            self.nodes[node.parent].children.append(index)
        at = index
        while at >= 0:
            node_at = self.nodes[at]
            if back_up or at == index:
                node_at.visits += 1
                node_at.value += (node.reward - node_at.value) / node_at.visits
            node_at.solved = node_at.solved or self.suffices(node.reward)
            at = node_at.parent
        return index

    def rescore(self, index: int, reward: float) -> None:
        """Replace the reward of a leaf, and correct the values that contain it."""
        leaf, at = self.nodes[index], index
        change, leaf.reward = reward - leaf.reward, reward
        while at >= 0:
            node = self.nodes[at]
            node.value += change / node.visits
            node.solved = self.suffices(node.reward) or any(self.nodes[k].solved for k in node.children)
            at = node.parent

    def suffices(self, reward: float) -> bool:
        """Return whether a reward ends the search; means of rewards are rounded."""
        return reward >= self.stop - 1e-9

    def path(self, index: int) -> list[Node]:
        """Return the nodes on the path from the root to an index."""
        path = []
        while index >= 0:
            path.append(self.nodes[index])
            index = self.nodes[index].parent
        return path[::-1]

    def uct(self, index: int) -> float:
        """Return V + w sqrt(ln N(parent) / N) of a node that is not the root."""
        node = self.nodes[index]
        mean = node.value / node.visits if self.released else node.value
        return mean + self.w * math.sqrt(math.log(self.nodes[node.parent].visits) / node.visits)

    def select(self) -> int:
        """Return the node to expand: by descent along the largest UCT, or (``released``) the largest of all nodes."""
        if self.released:
            return max(range(1, len(self.nodes)), key=self.uct, default=0)
        at = 0
        while self.nodes[at].children:
            at = max(self.nodes[at].children, key=self.uct)
        return at

    def answer(self, fallback: str) -> int:
        """Return the solved leaf of the largest value; if there is none, the best leaf or the root.

        Args:
            fallback: ``"best_leaf"`` or ``"root"``.
        """
        leaves = [k for k, node in enumerate(self.nodes) if not node.children]
        solved = [k for k in leaves if self.nodes[k].solved]
        if not solved and fallback == "root":
            return 0
        return max(solved or leaves, key=lambda k: self.nodes[k].value)
