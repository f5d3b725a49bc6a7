"""Scorecards: all tables, notes and charts of one team on one variant of a game, and the files that hold several."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from rich.console import Console

from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.reporting.escaping import markdown_code, markdown_text, terminal_text
from collab_overcooked.reporting.result_table import ResultTable, join_tables


@dataclass(frozen=True)
class Chart:
    """Estimates by group as dots with intervals, drawn by ``plots.draw_chart``.

    Attributes:
        title: Heading.
        description: For those who cannot see it.
        groups: Names below the axis, such as levels.
        series: Label -> an estimate for each group, None where there is none.
        scale: What numbers are multiplied by, 100 for per cent.
        lines: Label -> a height for each group, such as its time limit.
        axis: Name of the axis of groups.
        curve: Whether the dots of a label are joined, as where groups are numbers.
    """

    title: str
    description: str
    groups: tuple[str, ...]
    series: dict[str, tuple[Estimate | None, ...]]
    scale: float = 1.0
    lines: dict[str, tuple[float, ...]] = field(default_factory=dict)
    axis: str = "level"
    curve: bool = False


@dataclass(frozen=True)
class Scorecard:
    """Scores of one team on one variant of a game.

    Attributes:
        game: What lines of CSV files are put together by.
        title: Game and variant.
        tables: What is shown; those with ``detail`` only to those who ask for more.
        team: Who played; empty if nobody knows.
        notes: Sentences that belong under the tables.
        by_task: Shown instead of ``tables`` to those who ask for tasks; none if there is no difference.
        data: All numbers in a form for files; None if the card is no part of CSV files.
        tiles: The most important numbers, one row; on pages alone.
        charts: On pages alone.
    """

    game: str
    title: str
    tables: tuple[ResultTable, ...]
    team: str = ""
    notes: tuple[str, ...] = ()
    by_task: tuple[ResultTable, ...] = ()
    data: ResultTable | None = None
    tiles: ResultTable | None = None
    charts: tuple[Chart, ...] = ()

    @property
    def heading(self) -> str:
        """Who played; what was scored if nobody knows."""
        return self.team or self.title

    def show(self, console: Console, more: bool = False, by_task: bool = False) -> None:
        """Print the card."""
        if self.team:
            console.print(terminal_text(self.team, "bold"))
        console.print(terminal_text(self.title))
        for table in self.by_task if by_task and self.by_task else self.tables:
            if more or not table.detail:
                table.show(console)
        for note in self.notes:
            console.print(terminal_text(note, "dim"))

    def markdown(self) -> str:
        """Return the card as Markdown, with all its tables."""
        parts = [f"## {markdown_text(self.title)}\n"]
        if self.team:
            parts.append(f"Team: {markdown_code(self.team)}\n")
        for table in (*self.tables, *self.by_task):
            title = [f"### {markdown_text(table.title)}\n"] if table.title else []
            parts += [*title, f"{table.markdown()}\n"]
        return "\n".join([*parts, *(f"{markdown_text(note)}\n" for note in self.notes)])

    def to_dict(self) -> dict[str, Any]:
        """Return the card with all its tables, fit for JSON."""
        tables = [table.to_dict() for table in (*self.tables, *self.by_task)]
        values = {"game": self.game, "title": self.title, "team": self.team, "tables": tables, "notes": self.notes}
        return values | ({} if self.data is None else {"data": self.data.to_dict()["rows"]})


# ------------------------------------------------------------------------------------------- several cards


def markdown(cards: Iterable[Scorecard]) -> str:
    """Return cards as one Markdown text."""
    return "\n".join(card.markdown() for card in cards)


def csv_text(cards: Sequence[Scorecard]) -> str:
    """Return the data of cards as CSV: a table for each game, as their columns differ, with an empty line between."""
    known = [card for card in cards if card.data is not None]
    games = (own for _, own in groupby(known, lambda card: card.game))
    return "\n".join(join_tables([card.data for card in own if card.data is not None]).csv() for own in games)


def json_text(cards: Iterable[Scorecard]) -> str:
    """Return cards as a JSON list."""
    return json.dumps([card.to_dict() for card in cards], indent=2) + "\n"
