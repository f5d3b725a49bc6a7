"""Progress of long commands on stderr."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from collab_overcooked.cli.app import ERR, say

if TYPE_CHECKING:
    from collab_overcooked.policies.llm.client import Client

LOG_GAP = 60.0  # seconds between progress lines when stderr is not a terminal


class ProgressBar:
    """Progress on stderr: a bar, or a line per minute without a terminal, with the time left at the speed so far.

    Args:
        unit: What is counted, in the plural.
        total: How many there are; None if unknown before the first call of ``advance``.
        rate: Whether episodes succeed or fail.
        client: Client of the language models; None if none play.
    """

    def __init__(self, unit: str, total: int | None = None, rate: bool = False, client: Client | None = None) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self.bar = Progress(
            TextColumn(unit),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[facts]}"),
            TimeRemainingColumn(),
            console=ERR,
            transient=True,
            disable=not ERR.is_terminal,
        )
        self.task = self.bar.add_task("", total=total, facts="")
        self.unit = unit
        self.rate = rate
        self.client = client
        self.recorded: int | None = None  # counted in earlier runs
        self.began_at = self.logged_at = time.monotonic()

    def __enter__(self) -> Callable[..., None]:
        self.bar.start()
        return self.advance

    def __exit__(self, *error: object) -> None:
        self.bar.stop()

    def advance(self, done: int, total: int, successes: int = 0) -> None:
        """Update the bar after an episode or another unit."""
        self.recorded = done - 1 if self.recorded is None else self.recorded
        share = (done - self.recorded) / (total - self.recorded)
        facts = [f"{successes / done:.0%} successful"] if self.rate else []
        if self.client is not None and self.client.replay is None:
            facts.append(self.client.expected(share))
        self.bar.update(self.task, completed=done, total=total, facts=", ".join(facts))
        if not ERR.is_terminal and time.monotonic() - self.logged_at >= LOG_GAP:
            self.logged_at = time.monotonic()
            minutes = (self.logged_at - self.began_at) * (1 / share - 1) / 60
            say(", ".join([f"{done} of {total} {self.unit}", *facts, f"about {minutes:.0f} min left"]))
