"""The tree of a plan search: candidate joint plans, what was said of them, and which one to look at next.

Source: CoTS (CVPR 2025), section 4.2; ``released`` selects as its public code does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Node:
    """A candidate plan with what was said of it.

    Attributes:
        parent: Index of the plan that it changes, -1 for the first one.
        depth: 0 for the first one.
        plan: The plan in words.
        messages: What the planner said with it, and the critics of it.
        reward: From 0 to 1.
        draft: What the proposer made, for the callables.
        critiques: What the critics made of it, likewise.
        visits: N.
        value: V, the mean of the rewards that were backed up.
        solved: Whether it, or one below it, is as good as was asked for.
        children: Indices.
    """

    parent: int
    depth: int
    plan: str
    messages: tuple[str, ...] = ()
    reward: float = 0.0
    draft: Any = None
    critiques: tuple[Any, ...] = ()
    visits: int = 0
    value: float = 0.0
    solved: bool = False
    children: list[int] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return what the record keeps."""
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
    """Plans that were looked at, in the order in which they were made.

    Args:
        w: Weight of exploration.
        stop: Reward from which a plan is solved.
        released: Select among all nodes below the root, with the mean divided by the visits once more.
    """

    def __init__(self, w: float = 1.0, stop: float = 0.7, released: bool = False) -> None:
        self.w, self.stop, self.released = w, stop, released
        self.nodes: list[Node] = []

    def add(self, node: Node, back_up: bool = True) -> int:
        """Attach a node with its reward; returns its index."""
        index = len(self.nodes)
        self.nodes.append(node)
        if node.parent >= 0:
            self.nodes[node.parent].children.append(index)
        at = index
        while at >= 0:
            each = self.nodes[at]
            if back_up or at == index:
                each.visits += 1
                each.value += (node.reward - each.value) / each.visits
            each.solved = each.solved or node.reward >= self.stop - 1e-9
            at = each.parent
        return index

    def path(self, index: int) -> list[Node]:
        """Return the nodes from the root to one."""
        found = []
        while index >= 0:
            found.append(self.nodes[index])
            index = self.nodes[index].parent
        return found[::-1]

    def uct(self, index: int) -> float:
        """Return V + w sqrt(ln N(parent) / N) of a node that is not the root."""
        node = self.nodes[index]
        mean = node.value / node.visits if self.released else node.value
        return mean + self.w * math.sqrt(math.log(self.nodes[node.parent].visits) / node.visits)

    def select(self) -> int:
        """Return the node to expand: down from the root by the largest UCT, or the largest of all nodes below it."""
        if self.released:
            return max(range(1, len(self.nodes)), key=self.uct, default=0)
        at = 0
        while self.nodes[at].children:
            at = max(self.nodes[at].children, key=self.uct)
        return at

    def answer(self, fallback: str) -> int:
        """Return the solved leaf of the largest value; without one the best leaf, or the root.

        Args:
            fallback: ``"best_leaf"`` or ``"root"``.
        """
        leaves = [k for k, node in enumerate(self.nodes) if not node.children]
        solved = [k for k in leaves if self.nodes[k].solved]
        if not solved and fallback == "root":
            return 0
        return max(solved or leaves, key=lambda k: self.nodes[k].value)
