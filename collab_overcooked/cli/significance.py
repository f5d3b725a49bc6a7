"""The command ``significance``: tests between runs, or between the conditions of a study."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from collab_overcooked.cli.app import OUT, app, say
from collab_overcooked.cli.options import MultiValueCommand
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.options import NAMES, read_names


@app.command("significance", cls=MultiValueCommand)
@app.command("test", cls=MultiValueCommand, hidden=True)  # its former name
def significance(
    runs: Annotated[
        list[Path], typer.Argument(help="Two or more run folders or record files, or the folder of a study.")
    ],
    metrics: Annotated[str, typer.Option(help="Metrics to test; the suite's score if not given.", metavar=NAMES)] = "",
    unpaired: Annotated[bool, typer.Option("--unpaired", help="Take equal episodes for independent ones.")] = False,
    form: Annotated[str, typer.Option("--format", help="table, markdown, csv or json.")] = "table",
) -> None:
    """Test whether runs, or the conditions of a study, differ: pairs, analysis of variance, Tukey's comparisons."""
    from collab_overcooked.reporting import scorecard

    writers = {"markdown": scorecard.markdown, "csv": scorecard.csv_text, "json": scorecard.json_text}
    if form not in ("table", *writers):
        raise ValueError(near_matches("format", form, ("table", *writers)))
    cards = [
        card
        for title, measured in measured_in(runs, read_names("metrics", metrics) if metrics else [])
        for card in significance_cards(title, measured, not unpaired)
    ]
    if form != "table":
        sys.stdout.write(writers[form](cards))
        return
    for card in cards:
        card.show(OUT)


def measured_in(paths: Sequence[Path], metrics: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield a title with samples by measure: of each game that at least two runs played, or of a study.

    Args:
        paths: Run folders and record files, or one folder of a study.
        metrics: What is compared; the score of the suite if none is named.

    Raises:
        ValueError: For fewer than two runs, one that is given twice, or no game in two of them.
    """
    from collab_overcooked.reporting.differences import episode_values, score_metric
    from collab_overcooked.reporting.sample_sizes import RecordScoring, counted
    from collab_overcooked.runner.env_variants import split_runs
    from collab_overcooked.runner.records import read_records
    from collab_overcooked.study.results import StudyResults, is_study_folder

    if len(paths) == 1 and is_study_folder(paths[0]):
        yield f"Study in {paths[0]}, by condition", StudyResults.read(paths[0]).samples(metrics)
        return
    names = [str(path) for path in paths]
    if len(names) < 2 or len(set(names)) < len(names):
        raise ValueError(f"test: two different runs or more are compared, or one study, not {', '.join(names)}")
    played = {name: counted(read_records(Path(name), say), RecordScoring()) for name in names}
    found = False
    for env_id in dict.fromkeys(record["env_id"] for records in played.values() for record in records):
        own = {run: [one for one in records if one["env_id"] == env_id] for run, records in played.items()}
        own = {run: records for run, records in own.items() if records}
        if len(own) > 1:
            found, title, own = True, f"{env_id}, {len(own)} runs", split_runs(own)
            chosen = list(dict.fromkeys(metrics)) or [score_metric(next(iter(own.values()))[0])]
            values = {name: {run: episode_values(records, name) for run, records in own.items()} for name in chosen}
            yield title, values
    if not found:
        raise ValueError("test: no game was played in two of the runs")


def significance_cards(title: str, measured: Mapping[str, Any], paired: bool) -> Iterator[Any]:
    """Yield a card with the means, and one for each kind of test.

    Args:
        title: What is compared.
        measured: Samples by measure.
        paired: Whether units of one name are pairs.
    """
    from collab_overcooked.reporting.scorecard import Scorecard
    from collab_overcooked.reporting.significance import MANY_NOTE, mean_table, significance_tables

    means = mean_table(measured)
    yield Scorecard("means", title, (means,), data=means)
    tests = significance_tables(measured, paired)
    for i, (table, note) in enumerate(tests):
        notes = (note, MANY_NOTE) if len(measured) > 1 and i == len(tests) - 1 else (note,)
        yield Scorecard(table.title, table.title, (replace(table, title=""),), notes=notes, data=table)
