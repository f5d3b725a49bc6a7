"""The table of the Collab-Overcooked paper: a row per level and task, in every form."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.markup import escape

from collab_overcooked.metrics import Estimate
from collab_overcooked.reporting import grids
from collab_overcooked.reporting.grids import Grid, grid_html, grid_markdown, print_grid

MISSING = "n/a"
Cell = tuple[str, str]
"""A number and its interval, empty where there is none."""
Estimates = tuple[Estimate, ...]
_SINGLE = ("success_rate", "pc", "ic", "rc", "timesteps")
_SEVERAL = ("tes", "efficiency", "redundancy", "rouge_l")


@dataclass(frozen=True)
class Row:
    """Scores of some tasks; tuples are in agent order, None where references are missing.

    Attributes:
        name: Level, task or ``"total"``.
        tasks: Number of tasks.
        runs: Number of episodes.
        success_rate: SR.
        pc: Mean TES over agents.
        tes: TES of each agent.
        efficiency: Share of each agent's actions that belong to the matched prefix.
        redundancy: One minus efficiency.
        rouge_l: For comparison with TES.
        ic: Initiating capability.
        rc: Responding capability.
        timesteps: Steps of successful runs; None if there is none.
    """

    name: str
    tasks: int
    runs: int
    success_rate: Estimate
    pc: Estimate | None
    tes: Estimates | None
    efficiency: Estimates | None
    redundancy: Estimates | None
    rouge_l: Estimates | None
    ic: Estimate | None
    rc: Estimate | None
    timesteps: Estimate | None


@dataclass(frozen=True)
class Table:
    """Scores of one team on one variant of the game.

    Attributes:
        title: Game and variant.
        team: Policy of each seat; empty if nobody knows.
        levels: One row per level, and the total.
        tasks: One row per task.
        notes: Sentences that belong under the table.
        initiations: Scored conversations by what their opening was, see ``metrics.Initiation``; empty without any.
        limits: Steps allowed, means by level.
        references: Published reference times, means by level.
    """

    title: str
    team: Mapping[str, str]
    levels: tuple[Row, ...]
    tasks: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    initiations: Mapping[str, int] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    references: Mapping[str, float] = field(default_factory=dict)

    @property
    def heading(self) -> str:
        """The team as users write it, or game and variant."""
        return team_text(self) or self.title

    def show(self, console: Console, more: bool = False, by_task: bool = False) -> None:
        """Print the table with each interval below its number.

        Args:
            console: Where to.
            more: Print efficiency, redundancy and ROUGE-L too.
            by_task: A row per task instead of one per level.
        """
        if self.team:
            console.print(f"[bold]{escape(team_text(self))}[/bold]")
        console.print(escape(self.title))
        print_grid(console, _grid(self, by_task, _PAPER), stacked=True)
        if more:
            print_grid(console, _grid(self, by_task, _MORE), stacked=True)
        for note in ("Below each number: its 95 % interval.", *self.notes):
            console.print(f"[dim]{escape(note)}[/dim]")

    def markdown(self) -> str:
        """Return the table by level and by task, intervals in brackets."""
        parts = [f"## {self.title}\n"]
        if self.team:
            parts.append(f"Team: `{team_text(self)}`\n")
        parts += [f"{grid_markdown(_grid(self, by_task, _PAPER, _MORE))}\n" for by_task in (False, True)]
        parts += [f"{note}\n" for note in ("In brackets: 95 % intervals.", *self.notes)]
        return "\n".join(parts)

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield a line for each level, task and total; shares as fractions."""
        for group, rows in (("level", self.levels), ("task", self.tasks)):
            for row in rows:
                line: dict[str, Any] = {"title": self.title, "team": team_text(self), "group": group}
                line |= {"name": row.name, "tasks": row.tasks, "runs": row.runs}
                numbers = {name: getattr(row, name) for name in _SINGLE}
                for name in _SEVERAL:
                    own = getattr(row, name) or (None,) * _n_agents(self)
                    numbers |= {f"{name}_{seat}": number for seat, number in enumerate(own)}
                for name, number in numbers.items():
                    line |= {f"{name}{end}": value for end, value in _ends(number).items()}
                yield line

    def as_json(self) -> dict[str, Any]:
        """Return plain values; shares are fractions, estimates have value, low and high."""
        names = ("title", "team", "levels", "tasks", "notes", "initiations")
        values = asdict(self) | {"team": dict(self.team), "initiations": dict(self.initiations)}
        return {name: values[name] for name in names}

    def html_sections(self) -> Iterator[str]:
        """Yield the sections of a report page: tiles, tables, charts."""
        from collab_overcooked.reporting import plots

        yield f"<h1>{html.escape(team_text(self) or 'Scores')}</h1>"
        yield f'<p class="soft">{html.escape(self.title)}</p>'
        yield _tiles(self.levels[-1])
        yield "<h2>Levels</h2>"
        yield grid_html(_grid(self, False, _PAPER))
        yield f'<p class="soft">Small numbers: 95 % intervals. {html.escape(" ".join(self.notes))}</p>'
        by_level = grid_html(_grid(self, False, _MORE))
        yield f"<details><summary>Efficiency, redundancy and ROUGE-L</summary>{by_level}</details>"
        by_task = grid_html(_grid(self, True, _PAPER)) + grid_html(_grid(self, True, _MORE))
        yield f"<details><summary>All {len(self.tasks)} tasks</summary>{by_task}</details>"
        figures = "".join(f"<figure>{chart}</figure>" for chart in plots.charts(self))
        yield f'<h2>Charts</h2><div class="charts">{figures}</div>'


def columns(table: Table) -> list[str]:
    """Return the headings of the paper's table, shares marked with a per cent sign."""
    seats = range(_n_agents(table))
    return ["Runs", "SR %", "PC %", *(f"TES {seat} %" for seat in seats), "IC %", "RC %", "Timesteps"]


def cells(table: Table, row: Row) -> list[Cell]:
    """Return a row's numbers in the order of ``columns``."""
    tes = _percents(row.tes, _n_agents(table))
    before, after = map(percent, (row.success_rate, row.pc)), map(percent, (row.ic, row.rc))
    return [(str(row.runs), ""), *before, *tes, *after, steps(row.timesteps)]


def more_columns(table: Table) -> list[str]:
    """Return the headings of what the paper does not show: efficiency, redundancy and ROUGE-L of each agent."""
    return [f"{name} {seat} %" for name in ("Efficiency", "Redundancy", "ROUGE-L") for seat in range(_n_agents(table))]


def more_cells(table: Table, row: Row) -> list[Cell]:
    """Return a row's numbers in the order of ``more_columns``."""
    n = _n_agents(table)
    return [cell for own in (row.efficiency, row.redundancy, row.rouge_l) for cell in _percents(own, n)]


def percent(estimate: Estimate | None) -> Cell:
    """Write a share in per cent."""
    if estimate is None:
        return MISSING, ""
    if estimate.low is None or estimate.high is None:
        return f"{100 * estimate.value:.1f}", ""
    return f"{100 * estimate.value:.1f}", f"{100 * estimate.low:.0f}–{100 * estimate.high:.0f}"


def steps(estimate: Estimate | None) -> Cell:
    """Write a number of steps; a dash where no run succeeded."""
    if estimate is None:
        return "–", ""
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.1f}", ""
    return f"{estimate.value:.1f}", f"{estimate.low:.1f}–{estimate.high:.1f}"


def _percents(estimates: Estimates | None, n: int) -> list[Cell]:
    return [percent(None)] * n if estimates is None else [percent(estimate) for estimate in estimates]


def _n_agents(table: Table) -> int:
    tes = table.levels[0].tes
    return len(tes) if tes is not None else len(table.team)


def team_text(table: Table) -> str:
    """Return the team as users write it."""
    return " ".join(f"{seat}={spec}" for seat, spec in table.team.items())


_PAPER, _MORE = (columns, cells), (more_columns, more_cells)


def _grid(table: Table, by_task: bool, *parts: tuple[Any, Any]) -> Grid:
    """Return the table in words: the paper's columns, those that it does not show, or both."""
    names = [name for heads, _ in parts for name in heads(table)]
    lines = []
    for row in table.tasks if by_task else table.levels:
        shown = [cell for _, numbers in parts for cell in numbers(table, row)]
        words = tuple(f"{value} ({interval})" if interval else value for value, interval in shown)
        lines.append(grids.Row(row.name, words, "mean" if row.name == "total" else ""))
    return Grid("", "Task" if by_task else "Level", tuple(names), tuple(lines))


def _ends(estimate: Estimate | None) -> dict[str, float | None]:
    values = (None, None, None) if estimate is None else (estimate.value, estimate.low, estimate.high)
    return dict(zip(("", "_low", "_high"), values, strict=True))


def _tiles(row: Row) -> str:
    tiles = [("Success rate", percent(row.success_rate)), ("Progress completeness", percent(row.pc))]
    tiles += [(f"TES agent_{k}", percent(own)) for k, own in enumerate(row.tes or ())]
    tiles = [(name, (value + ("" if value == MISSING else " %"), below)) for name, (value, below) in tiles]
    tiles.append(("Episodes", (str(row.runs), f"{row.tasks} tasks")))
    parts = (
        f'<div class="tile">{name}<b>{value}</b><span class="soft">{below}</span></div>'
        for name, (value, below) in tiles
    )
    return f'<div class="tiles">{"".join(parts)}</div>'
