"""Check levels: orders that no kitchen tool can make, tools that no order needs, and the time that dishes get."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from collab_overcooked.io.text import plural

from .constants import PAPER_ALPHAS, UNLIMITED
from .spec import DEFAULT_BETA, Level, Timing

FILE_TIMES = "file"  # heading of the level file's own times


@dataclass(frozen=True)
class LevelReport:
    """Solvability and times of a level."""

    name: str  # Level
    paper_class: str  # The paper's class
    locations: int  # Number of tool instances
    missing: Mapping[str, tuple[str, ...]]  # Impossible order -> kinds of tools that it needs and the kitchen lacks
    unused: tuple[str, ...]  # Tool instances that no possible order needs
    times: Mapping[float, Timing]  # Interval and lifetimes by alpha
    file_times: Timing  # Those that the level file says, for play without alpha

    @property
    def problems(self) -> list[str]:
        """Messages about problems of the level."""
        lines = [
            f"{order} cannot be made: there is no {' and no '.join(kinds)}" for order, kinds in self.missing.items()
        ]
        if self.unused:
            lines.append(f"nothing that can be made needs {', '.join(self.unused)}")
        return lines

    @property
    def ok(self) -> bool:
        """True if every order can be made; unused tools are allowed."""
        return not self.missing


def prove_solvability(level: Level, alphas: Sequence[float] = PAPER_ALPHAS, beta: float = DEFAULT_BETA) -> LevelReport:
    """Check whether the level's tools suffice for its orders, and compute times."""
    missing: dict[str, tuple[str, ...]] = {}
    needed = {kind for kind in level.kitchen if level.tools[kind].role != "cook"}
    for order in level.orders:
        kinds = {step.tool: None for item in order.items for step in level.steps_of(item)}  # ordered set
        absent = tuple(kind for kind in kinds if kind not in level.kitchen)
        if absent:
            missing[order.name] = absent
        else:
            needed |= set(kinds)
    unused = tuple(name for name, kind in zip(level.locations, level.kitchen, strict=True) if kind not in needed)
    return LevelReport(
        name=level.name,
        paper_class=level.paper_class,
        locations=len(level.kitchen),
        missing=missing,
        unused=unused,
        times={alpha: level.timing(alpha, beta) for alpha in alphas},
        file_times=level.timing(None),
    )


def report_text(reports: Iterable[LevelReport]) -> str:
    """Return reports as a table with a row of intervals per level and rows of lifetimes of its orders."""
    rows: list[list[str]] = []
    notes: dict[int, list[str]] = {}
    alphas: tuple[float, ...] = ()
    for report in reports:
        alphas = alphas or tuple(report.times)
        every = [*report.times.values(), report.file_times]
        rows.append([f"{report.name} ({report.paper_class})", *(_steps(times.interval) for times in every)])
        for order in report.file_times.lifetimes:
            mark = " (!)" if order in report.missing else ""
            rows.append([f"  {order}{mark}", *(_steps(times.lifetimes[order]) for times in every)])
        notes[len(rows) - 1] = [f"  ! {problem}" for problem in report.problems]
    head = ["level: interval, orders: lifetime", *(f"alpha {alpha:g}" for alpha in alphas), FILE_TIMES]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = [_line(head, widths), "-" * (sum(widths) + 2 * len(widths) - 2)]
    for i, row in enumerate(rows):
        lines += [_line(row, widths), *notes.get(i, ())]
    return "\n".join(lines)


def level_text(level: Level) -> str:
    """Return a description of a level: tools, recipes and times."""
    par = "" if level.par is None else f"; par {level.par}"
    lines = [f"{level.name}: {', '.join(level.locations)}; {plural(level.agents, 'agent')}{par}", ""]
    for recipe in level.recipes_here:
        lines.append(f"  {recipe.product} = {' + '.join(recipe.ingredients)} ({recipe.tool})")
    return "\n".join([*lines, "", report_text([prove_solvability(level)])])


def _steps(number: int) -> str:
    return "none" if number == UNLIMITED else str(number)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    numbers = (text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))
    return "  ".join([row[0].ljust(widths[0]), *numbers])
