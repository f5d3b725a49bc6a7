"""Scorecards of records of any games, and of log files of the originals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from collab_overcooked import registry
from collab_overcooked.io.checks import check_options
from collab_overcooked.io.options import make_options
from collab_overcooked.metrics.intervals import mean_ci
from collab_overcooked.metrics.registry import measure, metrics_of
from collab_overcooked.reporting.costs import cost_card
from collab_overcooked.reporting.result_table import Column, ResultTable
from collab_overcooked.reporting.sample_sizes import RecordScoring, counted, sample_card
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.env_variants import by_variant, variant_of
from collab_overcooked.runner.records import about, read_records
from collab_overcooked.runner.teams import team_text

Record = Mapping[str, Any]
T = TypeVar("T")


def scoring_fields() -> dict[str, type]:
    """Return all options of scoring, and the dataclass that each belongs to."""
    suites = [registry.load_suite(name) for name in (*registry.first_suites(), *registry.COMMON_SUITES)]
    kinds = [kind for suite in suites for kind in (suite.scoring_options, suite.log_options)]
    return {own.name: kind for kind in (RecordScoring, *kinds) for own in fields(kind)}


def metric_card(records: Sequence[Record], names: Sequence[str]) -> Scorecard:
    """Return the means of metrics over the episodes of each team in each variant of each game.

    Args:
        records: Episodes of any games.
        names: Metrics of all these games; those with a value for each seat take a column for each.

    Raises:
        ValueError: For a metric that one of the games does not have.
    """
    groups: list[tuple[Record, list[dict[str, float]]]] = []
    columns: dict[str, None] = {}
    for played in by_variant(records):
        values: list[dict[str, float]] = []
        for record in played:
            seats: dict[str, Any] = {}
            for name, found in measure(record, names).items():
                own = found if isinstance(found, list) else None
                seats |= {name: found} if own is None else {f"{name}_{seat}": each for seat, each in enumerate(own)}
            values.append({key: float(each) for key, each in seats.items() if each is not None})
            columns |= dict.fromkeys(seats)
        groups.append((played[0], values))
    rows = (
        (
            variant_of(first).title,
            team_text(first["team"].values()),
            len(values),
            *(mean_ci([one[name] for one in values if name in one]) for name in columns),
        )
        for first, values in groups
    )
    heads = (
        Column("Game"),
        Column("Team"),
        Column("episodes", "number"),
        *(Column(name, "estimate", 2) for name in columns),
    )
    table = ResultTable(heads, tuple(rows))
    return Scorecard("metrics", "Means over episodes, with 95 % intervals", (table,), data=table)


def run_table(played: Mapping[str, Sequence[Record]]) -> ResultTable:
    """Return the means of all metrics of one game over the episodes of each run, but for those by seat.

    Args:
        played: Records by run.
    """
    values = {
        run: [measure(record, list(metrics_of(record["env_id"]))) for record in records]
        for run, records in played.items()
    }
    found = {name for own in values.values() for one in own for name, value in one.items() if _is_number(value)}
    first = next(iter(played.values()))[0]
    names = [name for name in metrics_of(first["env_id"]) if name in found]
    rows = []
    for run, own in values.items():
        teams = dict.fromkeys(team_text(record["team"].values()) for record in played[run])
        means = (mean_ci([float(one[name]) for one in own if _is_number(one[name])]) for name in names)
        rows.append((run, "; ".join(teams), len(own), *means))
    heads = (Column("Run"), Column("Team"), Column("episodes", "number"))
    return ResultTable((*heads, *(Column(name, "estimate", 2) for name in names)), tuple(rows), "Means over episodes")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def score_records(records: Sequence[Record], given: Mapping[str, Any] | None = None) -> list[Scorecard]:
    """Score records, and add what language models took, if any played, and which episodes count for less.

    Args:
        records: Episodes of any games.
        given: Options of scoring by name: ``RecordScoring``, and those of suites, see ``Suite.scoring_options``.

    Raises:
        ValueError: For an unknown game, task or option, or a field that metrics cannot read.
    """
    every, record_scoring = records, _own_options(RecordScoring, given or {})
    records = counted(every, record_scoring)
    suites = [registry.suite_of(record) for record in records]  # refuses unknown games
    cards: list[Scorecard] = []
    for name in (*registry.first_suites(), *registry.COMMON_SUITES):
        suite = registry.load_suite(name)
        own = [record for record, its in zip(records, suites, strict=True) if its is suite]
        scoring = _own_options(suite.scoring_options, given or {})
        if own:
            cards += blame(own, partial(suite.score, scoring=scoring))
    cards += filter(None, (sample_card(every, record_scoring), cost_card(every)))
    return cards


def blame(records: Sequence[Record], score: Callable[[Sequence[Record]], T]) -> T:
    """Return what a function makes of records; if it refuses them, say which is the first that it refuses alone.

    Raises:
        ValueError: As the function does.
    """
    try:
        return score(records)
    except ValueError:
        for record in records:
            with about(record):
                score([record])
        raise


def score_paths(
    paths: Sequence[Path],
    given: Mapping[str, Any] | None = None,
    note: Callable[[str], None] = print,
    metrics: Sequence[str] = (),
) -> list[Scorecard]:
    """Score what lies at some paths: run folders, record files, or log files of an original game.

    Args:
        paths: Files and folders.
        given: Options of scoring and of logs by name.
        note: Called with which logs were read, and which records are unverified.
        metrics: Metrics whose means stand in a table of their own, see ``metric_card``.

    Raises:
        ValueError: Nothing to score at a path, or a damaged file; the message names it.
    """
    records: list[Record] = []
    logs: dict[str, list[Path]] = {}
    for path in paths:
        found = {name: registry.load_suite(name).find_logs(path) for name in registry.first_suites()}
        records += [] if any(found.values()) else read_records(path, note)
        for name, files in found.items():
            logs.setdefault(name, []).extend(files)
    if not any(logs.values()):
        _refuse_log_options(given or {}, logs)
    cards = score_records(records, given)
    whole = counted(records, _own_options(RecordScoring, given or {}))
    cards += [metric_card(whole, metrics)] if metrics and whole else []
    for name, files in logs.items():
        if files:
            suite = registry.load_suite(name)
            options = (_own_options(kind, given or {}) for kind in (suite.scoring_options, suite.log_options))
            cards.append(suite.score_logs(files, *options, note))
    return cards


def _refuse_log_options(given: Mapping[str, Any], suites: Iterable[str]) -> None:
    """Refuse options of logs where there are none: they would change nothing."""
    for own in (own for name in suites for own in fields(registry.load_suite(name).log_options)):
        if given.get(own.name) not in (None, own.default):
            raise ValueError(f"{own.name}: is for logs of an original game, and there are none")


def _own_options(kind: type, given: Mapping[str, Any]) -> Any:
    """Return the options of a suite among those of all."""
    check_options(given, scoring_fields())
    return make_options(kind, {own.name: given[own.name] for own in fields(kind) if own.name in given})
