"""The command ``significance``: significance tests between runs, or between the conditions of a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from collab_overcooked.cli.options import FLAG, several
from collab_overcooked.cli.results import FormatOpt, write_cards
from collab_overcooked.io.checks import check_distinct

if TYPE_CHECKING:
    from collab_overcooked.reporting.scorecard import Scorecard


def significance(
    *runs: Annotated[
        Path,
        Parameter(
            required=True, help="Two or more run folders or record files, or the folder of a study or of a comparison."
        ),
    ],
    metrics: Annotated[
        list[str] | None,
        several("Metrics to test, in a study also questions FORM.QUESTION. Default: that of the leaderboard."),
    ] = None,
    unpaired: Annotated[
        bool, FLAG, Parameter(name="--unpaired", help="Treat episodes as independent, not as pairs.")
    ] = False,
    form: FormatOpt = "table",
) -> None:
    """Test whether runs, compared policies or conditions of a study differ: pairs, analysis of variance, Tukey."""
    from collab_overcooked.study.results import is_study_folder

    check_distinct("metrics", metrics or ())
    cards: list[Scorecard] = []
    if len(runs) == 1 and is_study_folder(runs[0]):
        cards += study_cards(runs[0], metrics or [], not unpaired)
    else:
        for title, measured, notes in measured_in(runs, metrics or []):
            cards += significance_cards(title, measured, not unpaired, notes)
    write_cards(cards, form)


def measured_in(paths: Sequence[Path], metrics: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any], list[str]]]:
    """Yield a title, the samples by metric and notes on them, for each game that at least two runs played.

    Args:
        paths: Run folders and record files, or one folder of a comparison, whose policies are its runs.
        metrics: Names of metrics; empty for that of the suite's leaderboard.

    Raises:
        ValueError: There are fewer than two runs, one is given twice, or no game was played in two of them.
    """
    from collab_overcooked.evaluation.compare.leaderboard import records_of_policies
    from collab_overcooked.evaluation.compare.plan import PLAN
    from collab_overcooked.io.files import check_distinct_files
    from collab_overcooked.reporting.differences import episode_values, score_metric
    from collab_overcooked.reporting.record_scoring import RecordScoring
    from collab_overcooked.reporting.sample_sizes import SAME_PEOPLE, counted, of_same_people
    from collab_overcooked.runner.env_variants import split_runs
    from collab_overcooked.runner.records import RECORDS, read_packed

    names = [str(path) for path in paths]
    if len(paths) == 1 and (paths[0] / PLAN).is_file():
        recorded = records_of_policies(paths[0])
    elif len(names) < 2:
        raise ValueError(f"significance: needs at least two runs, one study or one comparison, not {', '.join(names)}")
    else:
        check_distinct_files("significance", paths, within=RECORDS)
        recorded = {name: read_packed(Path(name)) for name in names}
    played = {name: counted(records, RecordScoring()) for name, records in recorded.items()}
    shared_game = False
    for env_id in dict.fromkeys(record.env_id for records in played.values() for record in records):
        by_run = {run: [record for record in records if record.env_id == env_id] for run, records in played.items()}
        by_run = {run: records for run, records in by_run.items() if records}
        if len(by_run) > 1:
            shared_game = True
            title = f"{env_id}, {len(by_run)} runs"
            by_run = split_runs(by_run)
            chosen = list(dict.fromkeys(metrics)) or [score_metric(next(iter(by_run.values()))[0])]
            values = {name: {run: episode_values(records, name) for run, records in by_run.items()} for name in chosen}
            every = [record for records in by_run.values() for record in records]
            yield title, values, [SAME_PEOPLE] if of_same_people(every) else []
    if not shared_game:
        raise ValueError("significance: no game was played in two of the runs")


def significance_cards(
    title: str, measured: Mapping[str, Any], paired: bool, notes: Sequence[str] = (), kind: str = "group"
) -> Iterator[Scorecard]:
    """Yield a card with the means, then one for each kind of test of what varies.

    Args:
        title: Title of the comparison.
        measured: Metric -> samples.
        paired: Whether units with the same name are pairs.
        notes: Notes on the values.
        kind: What is compared, for headings and notes.
    """
    from collab_overcooked.reporting.scorecard import Scorecard
    from collab_overcooked.reporting.significance import (
        MANY_NOTE,
        constant_note,
        mean_table,
        significance_tables,
        varied,
    )

    means = mean_table(measured, kind)
    notes = (*notes, *filter(None, [constant_note(measured)]))
    yield Scorecard("means", title, (means,), notes=notes, data=means)
    tested = varied(measured)
    tests = significance_tables(tested, paired, kind)
    for i, (table, note) in enumerate(tests):
        many = [MANY_NOTE] if len(tested) > 1 and i == len(tests) - 1 else []
        yield Scorecard(table.title, table.title, (replace(table, title=""),), notes=(note, *many), data=table)


def study_cards(folder: Path, metrics: Sequence[str], paired: bool) -> Iterator[Scorecard]:
    """Yield the cards of a study's conditions, and one with the tests of its factors, if it has any."""
    from collab_overcooked.reporting.scorecard import Scorecard
    from collab_overcooked.reporting.significance import FACTORIAL_NOTE, factorial_table, varied
    from collab_overcooked.study.results import BOTS, StudyResults

    results = StudyResults.read(folder)
    measured = results.samples(metrics)
    title = f"Study in {folder}, by condition{BOTS if results.is_rehearsal else ''}"
    yield from significance_cards(title, measured, paired, results.notes(), "condition")
    levels = {name: dict(condition.levels) for name, condition in results.journal.study.conditions.items()}
    if any(levels.values()):
        table = factorial_table(varied(measured), levels)
        if table.rows:
            yield Scorecard(table.title, table.title, (replace(table, title=""),), notes=(FACTORIAL_NOTE,), data=table)
