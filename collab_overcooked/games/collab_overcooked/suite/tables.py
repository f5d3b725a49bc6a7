"""The tables of the Collab-Overcooked paper: a row per level and task, with reference times in the charts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from collab_overcooked.games.collab_overcooked.suite.metrics.scores import LevelScore
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable, table_of_mappings
from collab_overcooked.reporting.scorecard import Chart, Scorecard

SINGLE = ("success_rate", "pc", "ic", "rc", "timesteps")
BY_SEAT = ("tes", "efficiency", "redundancy", "rouge_l")
_DETAILS = "Efficiency, redundancy and ROUGE-L"


@dataclass(frozen=True)
class TeamScore:
    """Scores of one team on one variant of the game."""

    game: str  # Name of the suite
    title: str  # Game and variant
    team: Mapping[str, str]  # Policy of each seat; empty if unknown
    levels: tuple[LevelScore, ...]  # One row per level, and the total
    tasks: tuple[LevelScore, ...]  # One row per task
    notes: tuple[str, ...] = ()  # Notes below the tables
    # Scored conversations by kind of initiation, see ``metrics.Initiation``; may be empty
    initiations: Mapping[str, int] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)  # Steps allowed, means by level
    # Published times of reference plays, means by level
    reference_times: Mapping[str, float] = field(default_factory=dict)

    @property
    def n_agents(self) -> int:
        """Number of seats."""
        tes = self.levels[0].tes
        return len(tes) if tes is not None else len(self.team)


def scorecard(score: TeamScore) -> Scorecard:
    """Return the tables, charts and files of a team's scores."""
    count = f"All {len(score.tasks)} tasks"
    return Scorecard(
        score.game,
        score.title,
        tables=(
            _paper_table(score, score.levels, "Levels"),
            _detail_table(score, score.levels, _DETAILS),
            *([_initiation_table(score)] if score.initiations else []),
        ),
        team=" ".join(f"{seat}={spec}" for seat, spec in score.team.items()),
        notes=("Intervals: 95 %, where runs differ.", *score.notes),
        by_task=(_paper_table(score, score.tasks, count), _detail_table(score, score.tasks, f"{_DETAILS}, by task")),
        data=table_of_mappings(_data_rows(score), (*SINGLE, *(f"{name}_{k}" for name in BY_SEAT for k in range(9)))),
        tiles=_tiles(score),
        charts=tuple(_charts(score)),
    )


def _share(name: str) -> Column:
    return Column(name, "estimate", 1, ends=0, scale=100.0)


def _paper_table(score: TeamScore, rows: Sequence[LevelScore], title: str) -> ResultTable:
    """Return the paper's columns."""
    seats = [f"TES {seat} %" for seat in range(score.n_agents)]
    shares = (_share(name) for name in ("SR %", "PC %", *seats, "IC %", "RC %"))
    columns = (_first(score, rows), Column("Runs", "number"), *shares, Column("Timesteps", "estimate", 1))

    def cells(row: LevelScore) -> tuple[Cell, ...]:
        tes = row.tes or (None,) * score.n_agents
        return (row.name, row.runs, row.success_rate, row.pc, *tes, row.ic, row.rc, row.timesteps)

    return ResultTable(columns, tuple(map(cells, rows)), title, _marks(rows))


def _detail_table(score: TeamScore, rows: Sequence[LevelScore], title: str) -> ResultTable:
    """Return measures that the paper does not show: efficiency, redundancy and ROUGE-L of each agent."""
    seats = range(score.n_agents)
    columns = (_share(f"{name} {seat} %") for name in ("Efficiency", "Redundancy", "ROUGE-L") for seat in seats)
    cells = (
        (
            row.name,
            *(
                cell
                for measure in (row.efficiency, row.redundancy, row.rouge_l)
                for cell in measure or (None,) * len(seats)
            ),
        )
        for row in rows
    )
    return ResultTable((_first(score, rows), *columns), tuple(cells), title, _marks(rows), detail=True)


def _initiation_table(score: TeamScore) -> ResultTable:
    columns = (Column("Initiation"), Column("Conversations", "number"))
    return ResultTable(columns, tuple(score.initiations.items()), "Initiations", detail=True)


def _first(score: TeamScore, rows: Sequence[LevelScore]) -> Column:
    return Column("Level" if rows is score.levels else "Task")


def _marks(rows: Sequence[LevelScore]) -> dict[int, str]:
    return {i: "summary" for i, row in enumerate(rows) if row.name == "total"}


def _data_rows(score: TeamScore) -> Iterator[dict[str, Cell]]:
    team = " ".join(f"{seat}={spec}" for seat, spec in score.team.items())
    for group, rows in (("level", score.levels), ("task", score.tasks)):
        for row in rows:
            line: dict[str, Cell] = {"title": score.title, "team": team, "group": group, "name": row.name}
            line |= {"tasks": row.tasks, "runs": row.runs} | {name: getattr(row, name) for name in SINGLE}
            for name in BY_SEAT:
                numbers = getattr(row, name) or (None,) * score.n_agents
                line |= {f"{name}_{seat}": number for seat, number in enumerate(numbers)}
            yield line


def _tiles(score: TeamScore) -> ResultTable:
    row = score.levels[-1]
    shares: dict[str, Estimate | None] = {"Success rate %": row.success_rate, "Progress completeness %": row.pc}
    shares |= {f"TES agent_{seat} %": estimate for seat, estimate in enumerate(row.tes or ())}
    columns = (*map(_share, shares), Column("Episodes", "number"), Column("Tasks", "number"))
    return ResultTable(columns, ((*shares.values(), row.runs, row.tasks),))


def _charts(score: TeamScore) -> Iterator[Chart]:
    rows = [row for row in score.levels if row.name != "total"]
    levels = tuple(row.name for row in rows)

    def shares(title: str, series: dict[str, tuple[Estimate | None, ...]]) -> Chart:
        return Chart(f"{title}, %", f"{title} per level, with 95 % intervals", levels, series, 100.0)

    yield shares("Success rate", {"": tuple(row.success_rate for row in rows)})
    if all(row.pc is not None for row in rows):
        yield shares("Progress completeness", {"": tuple(row.pc for row in rows)})
        seats = range(score.n_agents)
        yield shares("TES", {f"agent_{k}": tuple((row.tes or ())[k] for row in rows) for k in seats})
    yield Chart(
        "Timesteps",
        "Timesteps of successful runs per level beside time limit and reference time",
        levels,
        {"successful runs": tuple(row.timesteps for row in rows)},
        lines={
            "limit": tuple(score.limits[level] for level in levels),
            "reference time": tuple(score.reference_times[level] for level in levels),
        },
    )
