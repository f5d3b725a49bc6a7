"""The same population on Ray: each member is an actor, on this machine or wherever Ray has room for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from collab_overcooked.baselines.pbt_member import Task, advance

CPUS = "COLLAB_OVERCOOKED_RAY_CPUS"  # of a local Ray; all of the machine's if it is not set


class Member:
    """An actor that trains one member; it keeps its process, and with it what is imported and compiled."""

    def advance(self, task: Task) -> None:
        """Train for one generation."""
        advance(task)


class Actors:
    """One Ray actor for each member.

    The run's folder must be the same for all: a shared file system where Ray spans several machines.

    Args:
        members: Their number.

    Raises:
        ValueError: If Ray is not installed.
    """

    def __init__(self, members: int) -> None:
        try:
            import ray
        except ImportError:
            raise ValueError("executor 'ray' needs Ray: pip install 'collab-overcooked[rl,ray]'") from None
        self._ray: Any = ray
        self._started = not ray.is_initialized()
        if self._started:
            cpus = int(os.environ.get(CPUS, 0)) or None
            ray.init(num_cpus=cpus, include_dashboard=False, log_to_driver=False)
        share = min(1.0, ray.cluster_resources().get("CPU", 1.0) / members)  # more members than cores share them
        actor = ray.remote(num_cpus=share)(Member)
        self._actors: list[Any] = [actor.remote() for _ in range(members)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._started:
            self._ray.shutdown()

    def run(self, tasks: Sequence[Task]) -> None:
        """Carry out tasks and wait for all."""
        self._ray.get([self._actors[task.member].advance.remote(task) for task in tasks])
