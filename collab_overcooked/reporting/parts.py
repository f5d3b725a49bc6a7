"""Scores as they are shown: what every game's scores can do, whatever they are."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from rich.console import Console

from collab_overcooked.metrics import Attribution, CollaborationOptions, Counting


@dataclass(frozen=True)
class Definitions:
    """Named alternatives of what metrics mean; every suite takes those that concern it.

    Attributes:
        collaboration: How conversations are counted.
        counting: What counts as a failure, where orders expire.
        attribution: When an action is positive.
    """

    collaboration: CollaborationOptions | None = None
    counting: Counting = "orders"
    attribution: Attribution = "final"


class Part(Protocol):
    """Scores of one team on one variant of a game, in every form."""

    @property
    def heading(self) -> str:
        """Who played, in words; what was scored if nobody knows."""

    def show(self, console: Console, more: bool = False, by_task: bool = False) -> None:
        """Print everything; ``more`` and ``by_task`` ask for more than is usual, where there is more."""

    def markdown(self) -> str:
        """Return everything as Markdown."""

    def lines(self) -> Iterable[Mapping[str, Any]]:
        """Return the lines of a CSV table, each column by its name; None where a number is missing."""

    def as_json(self) -> dict[str, Any]:
        """Return everything, fit for JSON."""

    def html_sections(self) -> Iterator[str]:
        """Yield the sections of a report page."""


def csv_text(lines: Iterable[Mapping[str, Any]]) -> str:
    """Return lines as CSV, with the columns of the longest line; empty where a value is None or absent."""
    lines = list(lines)
    names = max((list(line) for line in lines), key=len, default=[])
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: "" if line.get(name) is None else line[name] for name in names} for line in lines)
    return out.getvalue()
