"""Several runs of Rush beside each other: recipes completed by pairs of policies, positive against negative actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked.games.rush.suite.metrics import RoundScore, score_round
from collab_overcooked.games.rush.suite.scoring import Setting, rush_variant, settings_of
from collab_overcooked.metrics.intervals import Estimate, mean_ci
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable
from collab_overcooked.reporting.scorecard import Chart
from collab_overcooked.runner.teams import team_text

Record = Mapping[str, Any]
Pair = tuple[str, str]


def sheet(played: Mapping[str, Sequence[Record]]) -> tuple[list[ResultTable], list[Chart]]:
    """Return a map of CR for each setting that pairs of different policies played, and actions by kind of each team."""
    scores: dict[tuple[str, Setting], dict[tuple[str, ...], dict[tuple[str, int], list[RoundScore]]]] = {}
    every = [record for records in played.values() for record in records]
    settings = iter(settings_of(every))
    for run, records in played.items():
        for record in records:
            by_team = scores.setdefault((rush_variant(record).label, next(settings)), {})
            runs = by_team.setdefault(tuple(record["team"].values()), {})
            runs.setdefault((run, record["seed"]), []).append(score_round(record))
    tables: list[ResultTable] = []
    charts: list[Chart] = []
    for (variant, setting), by_team in scores.items():
        name = ", ".join(filter(None, (setting.scenario, setting.domain, setting.teacher, variant)))
        pairs: dict[Pair, Estimate | None] = {
            (team[0], team[1]): mean_ci([_mean_completed(run) for run in runs.values()])
            for team, runs in by_team.items()
            if len(team) == 2
        }
        if len({policy for pair in pairs for policy in pair}) > 1:
            tables.append(_cross_play(pairs, name))
        kinds = {team_text(team): _kinds(list(runs.values())) for team, runs in by_team.items()}
        tables.append(_kinds_table(kinds, name))
        charts.append(_kinds_chart(kinds, name))
    return tables, charts


def _mean_completed(run: Sequence[RoundScore]) -> float:
    return sum(score.completed for score in run) / len(run)


def _cross_play(pairs: Mapping[Pair, Estimate | None], name: str) -> ResultTable:
    first, second = (list(dict.fromkeys(pair[seat] for pair in pairs)) for seat in (0, 1))
    columns = (Column("agent_0 \\ agent_1"), *(Column(policy, "estimate", 2) for policy in second))
    rows: tuple[tuple[Cell, ...], ...] = tuple((one, *(pairs.get((one, other)) for other in second)) for one in first)
    return ResultTable(columns, rows, f"CR of pairs, {name}")


KINDS = ("A+", "A-", "A=")


def _kinds(runs: Sequence[Sequence[RoundScore]]) -> tuple[Estimate | None, ...]:
    shares: list[tuple[float, ...]] = []
    for run in runs:
        counts_of_run = [actions for score in run for actions in score.actions]
        total = sum(actions.total for actions in counts_of_run) or 1
        counts = ([actions.positive, actions.negative, actions.neutral] for actions in counts_of_run)
        shares.append(tuple(sum(kind) / total for kind in zip(*counts, strict=True)))
    return tuple(mean_ci(list(kind)) for kind in zip(*shares, strict=True))


def _kinds_table(kinds: Mapping[str, tuple[Estimate | None, ...]], name: str) -> ResultTable:
    columns = (Column("Team"), *(Column(f"{kind} %", "estimate", 1, scale=100.0) for kind in KINDS))
    rows = tuple((team, *shares) for team, shares in kinds.items())
    return ResultTable(columns, rows, f"Positive against negative actions, {name}")


def _kinds_chart(kinds: Mapping[str, tuple[Estimate | None, ...]], name: str) -> Chart:
    title = f"Actions, {name}, %"
    series = {kind: tuple(shares[k] for shares in kinds.values()) for k, kind in enumerate(KINDS[:2])}
    return Chart(title, "Shares of positive and negative actions by team", tuple(kinds), series, 100.0, axis="")
