"""Scorecards: tables, notes and charts of one team on one variant of a game, and their file formats."""

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
    """Estimates by group as dots with intervals, drawn by ``plots.draw_chart``."""

    title: str  # Heading
    description: str  # Text alternative
    groups: tuple[str, ...]  # Names below the axis, such as levels
    series: dict[str, tuple[Estimate | None, ...]]  # Label -> an estimate for each group, None where there is none
    scale: float = 1.0  # Factor for displayed numbers, 100 for per cent
    # Label -> a height for each group, such as its time limit
    lines: dict[str, tuple[float, ...]] = field(default_factory=dict)
    axis: str = "level"  # Name of the axis of groups
    curve: bool = False  # Whether the dots of a label are joined


@dataclass(frozen=True)
class Scorecard:
    """Scores of one team on one variant of a game."""

    game: str  # Key by which cards are grouped in CSV files
    title: str  # Game and variant
    tables: tuple[ResultTable, ...]  # Tables to show; those with ``detail`` only with ``--more``
    team: str = ""  # Policies of the team; empty if unknown
    notes: tuple[str, ...] = ()  # Notes below the tables
    # Tables that replace ``tables`` with ``--by-task``; empty if they do not differ
    by_task: tuple[ResultTable, ...] = ()
    data: ResultTable | None = None  # All numbers for CSV and JSON files; None to leave the card out of CSV files
    tiles: ResultTable | None = None  # The most important numbers in one row, for HTML only
    charts: tuple[Chart, ...] = ()  # Charts, for HTML only
    result: str = ""  # The result in one sentence, with its interval; empty if the card has none

    @property
    def heading(self) -> str:
        """The team, or the title if the team is unknown."""
        return self.team or self.title

    def show(self, console: Console, more: bool = False, by_task: bool = False) -> None:
        """Print the card."""
        if self.team:
            console.print(terminal_text(self.team, "bold"))
        console.print(terminal_text(self.title))
        if self.result:
            console.print(terminal_text(self.result))
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
        parts += [f"{markdown_text(self.result)}\n"] if self.result else []
        for table in (*self.tables, *self.by_task):
            title = [f"### {markdown_text(table.title)}\n"] if table.title else []
            parts += [*title, f"{table.markdown()}\n"]
        return "\n".join([*parts, *(f"{markdown_text(note)}\n" for note in self.notes)])

    def to_dict(self) -> dict[str, Any]:
        """Return the card with all its tables, fit for JSON."""
        tables = [table.to_dict() for table in (*self.tables, *self.by_task)]
        values = {
            "game": self.game,
            "title": self.title,
            "team": self.team,
            "result": self.result,
            "tables": tables,
            "notes": self.notes,
        }
        return values | ({} if self.data is None else {"data": self.data.to_dict()["rows"]})


def markdown(cards: Iterable[Scorecard]) -> str:
    """Return cards as one Markdown document."""
    return "\n".join(card.markdown() for card in cards)


def csv_text(cards: Sequence[Scorecard]) -> str:
    """Return the data of cards as CSV, with one table per game separated by empty lines."""
    known = [card for card in cards if card.data is not None]
    games = (game_cards for _, game_cards in groupby(known, lambda card: card.game))
    return "\n".join(
        join_tables([card.data for card in game_cards if card.data is not None]).csv() for game_cards in games
    )


def json_text(cards: Iterable[Scorecard]) -> str:
    """Return cards as a JSON list."""
    return json.dumps([card.to_dict() for card in cards], indent=2) + "\n"
