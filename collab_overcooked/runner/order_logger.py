"""A logger of orders, for games in which dishes are ordered and expire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from collab_overcooked.envs.parallel import ParallelEnv


class OrderLogger:
    """Logger of ``orders`` in every step, and of the sequence of orders that replays the episode.

    Scenes of the game must have ``orders`` (name and remaining time), ``completed``, ``expired`` and ``accomplished``.
    """

    last_step: ClassVar[int] = 0  # Remaining time of an order before the step in which it expires

    def __init__(self) -> None:
        self.drawn: list[str] = []
        self.open: list[list[Any]] = []
        self.counts = (0, 0)

    def begin(self, env: ParallelEnv) -> None:
        """Log the first order."""
        scene = env.scene()
        self.open = _open_orders(scene)
        self.drawn = [name for name, _ in self.open]
        self.counts = scene["completed"], scene["expired"]

    def step(self, env: ParallelEnv) -> dict[str, Any]:
        """Return the orders completed and expired in the last step, and the orders open after it."""
        scene = env.scene()
        before, self.open = self.open, _open_orders(scene)
        completed = scene["completed"] - self.counts[0]
        expired = scene["expired"] - self.counts[1]
        self.counts = scene["completed"], scene["expired"]
        done = scene["accomplished"][len(scene["accomplished"]) - completed :]
        lost = [name for name, remaining in before if remaining == self.last_step][:expired]
        left = [name for name, _ in before]
        for name in (*done, *lost):
            left.remove(name)
        for name, _ in self.open:  # orders that were not open before have been drawn
            if name in left:
                left.remove(name)
            else:
                self.drawn.append(name)
        return {"orders": {"completed": done, "expired": lost, "open": self.open}}

    def end(self) -> dict[str, Any]:
        """Return the reset options that reproduce the orders, independent of earlier episodes."""
        return {"options": {"orders": self.drawn}}


def _open_orders(scene: Mapping[str, Any]) -> list[list[Any]]:
    return [[order["name"], order["remaining"]] for order in scene["orders"]]
