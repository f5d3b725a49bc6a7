"""Success by time limit: runs judged by several multiples of the reference times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked.games.collab_overcooked.suite.scoring import group_records, table_of
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.reporting.result_table import Column, ResultTable
from collab_overcooked.reporting.scorecard import Chart, Scorecard

GAMMAS = (1.0, 1.25, 1.5, 2.0)  # of sheets, as far as they were played
Record = Mapping[str, Any]
Rates = Mapping[float, Estimate]


def success_by_gamma(records: Sequence[Record], gammas: Sequence[float]) -> dict[str, Rates]:
    """Return the success rates of each team and variant, unweighted means over tasks, by gamma."""
    rates_by_team: dict[str, dict[float, Estimate]] = {}
    for gamma in gammas:
        for group in group_records(records, gamma):
            row = table_of(group).levels[-1]
            team = " ".join(f"{seat}={spec}" for seat, spec in group.team.items())
            rates_by_team.setdefault(f"{team}, {group.title.rpartition(', judged')[0]}", {})[gamma] = row.success_rate
    return dict(rates_by_team)


def gamma_tables(rates_by_name: Mapping[str, Rates]) -> tuple[ResultTable, Chart]:
    """Return success rates by name and gamma as a table and as curves."""
    gammas = sorted({gamma for rates in rates_by_name.values() for gamma in rates})
    columns = (Column("Team"), *(Column(f"gamma {gamma:g}", "estimate", 1, scale=100.0) for gamma in gammas))
    rows = tuple((name, *(rates.get(gamma) for gamma in gammas)) for name, rates in rates_by_name.items())
    chart = Chart(
        "Success rate by gamma, %",
        "Success rates by time limit as a multiple of the reference time, with 95 % intervals",
        tuple(f"{gamma:g}" for gamma in gammas),
        {name: tuple(rates.get(gamma) for gamma in gammas) for name, rates in rates_by_name.items()},
        100.0,
        axis="gamma",
        curve=True,
    )
    return ResultTable(columns, rows, "Success rate by time limit, %"), chart


def gamma_card(records: Sequence[Record], gammas: Sequence[float]) -> Scorecard:
    """Return success rates by gamma of all teams in records."""
    table, chart = gamma_tables(success_by_gamma(records, gammas))
    shows_limit = any(record["env_kwargs"].get("show_limit", True) for record in records)
    notes = (LIMIT_NOTE,) if shows_limit else ()
    return Scorecard("gamma", "One run judged by several time limits", (table,), notes=notes, charts=(chart,))


def sheet(played: Mapping[str, Sequence[Record]]) -> tuple[list[ResultTable], list[Chart]]:
    """Return success rates by gamma of several runs, up to the gamma that each was played with."""
    rates_by_name = {
        f"{run}: {name}": rates
        for run, records in played.items()
        for name, rates in success_by_gamma(records, played_gammas(records)).items()
    }
    if not rates_by_name:
        return [], []
    table, chart = gamma_tables(rates_by_name)
    return [table], [chart]


LIMIT_NOTE = "The agents saw the time limit of the games played; --set show_limit=false hides it."


def played_gammas(records: Sequence[Record]) -> list[float]:
    """Return the members of ``GAMMAS`` for which all records were played long enough."""
    gammas = []
    for gamma in GAMMAS:
        try:
            group_records(records, gamma)
        except ValueError:
            break
        gammas.append(gamma)
    return gammas
