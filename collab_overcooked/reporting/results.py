"""Scorecards of records of any game, and of log files of original implementations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from collab_overcooked import registry
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.io.checks import check_distinct, check_options
from collab_overcooked.io.files import check_distinct_files
from collab_overcooked.io.options import make_options
from collab_overcooked.metrics.intervals import mean_ci
from collab_overcooked.metrics.registry import measure_numbers, metrics_of, tabulated
from collab_overcooked.reporting.costs import cost_card
from collab_overcooked.reporting.floors import floor_card
from collab_overcooked.reporting.record_scoring import RecordScoring
from collab_overcooked.reporting.result_table import Column, ResultTable
from collab_overcooked.reporting.sample_sizes import counted, sample_card
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.reporting.talk import talk_card
from collab_overcooked.runner.env_variants import by_variant, run_variant, variant_of
from collab_overcooked.runner.records import RECORDS, UNREADABLE, about, packed, read_packed
from collab_overcooked.runner.teams import specs_as_given, team_text

T = TypeVar("T")


def scoring_fields() -> dict[str, type]:
    """Return all scoring options and the dataclass of each."""
    suites = [registry.load_suite_options(name) for name in (*registry.first_suites(), *registry.COMMON_SUITES)]
    return {
        field.name: kind for kind in (RecordScoring, *(suite.scoring for suite in suites)) for field in fields(kind)
    }


def metric_card(records: Sequence[EpisodeRecord], names: Sequence[str]) -> Scorecard:
    """Return the means of metrics over episodes, for each team in each variant of each game.

    Args:
        records: Episodes of any games.
        names: Metrics of all these games; metrics with one value per seat get one column per seat.
    """
    groups: list[tuple[EpisodeRecord, list[dict[str, float]]]] = []
    columns: dict[str, None] = {}
    for played in by_variant(records):
        values: list[dict[str, float]] = []
        for record in played:
            numbers = measure_numbers(record, names)
            values.append({key: float(number) for key, number in numbers.items() if number is not None})
            columns |= dict.fromkeys(numbers)
        groups.append((played[0], values))
    rows = []
    for first, values in groups:
        means = (mean_ci([episode[name] for episode in values if name in episode]) for name in columns)
        rows.append((variant_of(first).title, team_text(first.team.values()), len(values), *means))
    heads = (
        Column("Game"),
        Column("Team"),
        Column("episodes", "number"),
        *(_metric_column(records[0].env_id, name) for name in columns),
    )
    table = ResultTable(heads, tuple(rows))
    return Scorecard("metrics", "Means over episodes, with 95 % intervals", (table,), data=table)


def run_table(played: Mapping[str, Sequence[EpisodeRecord]]) -> ResultTable:
    """Return the means of all scalar metrics of one game over the episodes of each run.

    Args:
        played: Run -> records.
    """
    values = {run: list(map(measure_all, records)) for run, records in played.items()}
    every = [episode for episodes in values.values() for episode in episodes]
    first = next(iter(played.values()))[0]
    names = [name for name in metrics_of(first.env_id) if any(name in episode for episode in every)]
    rows = []
    for run, episodes in values.items():
        teams = dict.fromkeys(team_text(record.team.values()) for record in played[run])
        options = run_variant(played[run][0]).label
        means = (mean_ci([float(episode[name]) for episode in episodes if name in episode]) for name in names)
        rows.append((run, "; ".join([*teams, *filter(None, [options])]), len(episodes), *means))
    heads = (Column("Run"), Column("Team"), Column("episodes", "number"))
    columns = (*heads, *(_metric_column(first.env_id, name) for name in names))
    return ResultTable(columns, tuple(rows), "Means over episodes")


def _metric_column(env_id: str, name: str) -> Column:
    """Return the column of a metric, or of its value for one seat, with its unit where it is not the name itself."""
    known = metrics_of(env_id)
    metric = known.get(name) or known.get(name.rpartition("_")[0])
    unit = metric.unit if metric is not None and metric.unit != name else ""
    return Column(f"{name} ({unit})" if unit else name, "estimate", 2, key=name)


def measure_all(record: EpisodeRecord) -> dict[str, float]:
    """Return all scalar metrics that a record has."""
    with about(record):
        numbers = measure_numbers(record, tabulated(record))
    return {name: number for name, number in numbers.items() if number is not None}


def score_records(records: Sequence[EpisodeRecord], scoring: Mapping[str, Any] | None = None) -> list[Scorecard]:
    """Score records, and add cards on communication, on floors and costs of language models and on sample sizes.

    Cards that have nothing to say are left out.

    Args:
        records: Episodes of any games.
        scoring: Scoring options by name: those of ``RecordScoring`` and of ``SuiteOptions.scoring``.

    Raises:
        ValueError: If a game, task or option is unknown, or a metric cannot read a field.
    """
    every, scoring = packed(records), scoring or {}
    by_suite: dict[str, list[EpisodeRecord]] = {
        name: [] for name in (*registry.first_suites(), *registry.COMMON_SUITES)
    }
    record_scoring = _suite_options(RecordScoring, scoring)
    records = counted(every, record_scoring)
    for record in records:
        by_suite[registry.suite_of(record).name].append(record)  # raises for unknown games
    scored = {name: registry.load_suite_options(name).scoring for name, played in by_suite.items() if played}
    known = {field.name for kind in (RecordScoring, *scored.values()) for field in fields(kind)}
    if not scoring.keys() <= known:  # of a suite without records, or misspelt
        check_options(scoring, scoring_fields())
    cards: list[Scorecard] = []
    for name, kind in scored.items():
        score = partial(registry.load_suite(name).score, scoring=_suite_options(kind, scoring))
        cards += _with_results(by_suite[name], blame(by_suite[name], score))
    extra = talk_card(records), floor_card(records), sample_card(every, record_scoring), cost_card(every)
    cards += filter(None, extra)
    return cards


def _with_results(records: Sequence[EpisodeRecord], cards: Sequence[Scorecard]) -> list[Scorecard]:
    """Return the cards of a suite, those of one team on one variant with the result in a sentence."""
    groups: dict[str, list[Sequence[EpisodeRecord]]] = {}
    for group in by_variant(records, specs_as_given):
        groups.setdefault(team_text(specs_as_given(group[0])), []).append(group)
    suite, results = registry.suite_of(records[0]), []
    for card in cards:
        labels = [variant_of(group[0]).label for group in groups.get(card.team, [])]
        # A title contains the label of its variant, which may begin with that of another: max_cycles 2 and 21
        own = max((label for label in labels if label in card.title), key=len, default="")
        if card.tables and labels.count(own) == 1:
            card = replace(card, result=suite.result(groups[card.team][labels.index(own)]))
        results.append(card)
    return results


def blame(records: Sequence[EpisodeRecord], score: Callable[[Sequence[EpisodeRecord]], T]) -> T:
    """Apply a scoring function to records, and name the first invalid record in the error."""
    try:
        return score(records)
    except UNREADABLE:
        for record in records:
            with about(record):
                score([record])
        raise


def score_paths(
    paths: Sequence[Path], scoring: Mapping[str, Any] | None = None, metrics: Sequence[str] = ()
) -> list[Scorecard]:
    """Score run folders and record files.

    Args:
        paths: Files and folders.
        scoring: Scoring options by name.
        metrics: Metrics for an additional table of means, see ``metric_card``.

    Raises:
        ValueError: A path or metric is given twice, an option is unknown, or a file holds no records.
    """
    check_distinct_files("score", paths, within=RECORDS)
    check_distinct("metrics", metrics)
    check_options(scoring or {}, scoring_fields())
    records = [record for path in paths for record in read_packed(path)]
    cards = score_records(records, scoring)
    scored = counted(records, _suite_options(RecordScoring, scoring or {}))
    return [*cards, metric_card(scored, metrics)] if metrics and scored else cards


def _suite_options(kind: type, scoring: Mapping[str, Any]) -> Any:
    return make_options(kind, {field.name: scoring[field.name] for field in fields(kind) if field.name in scoring})
