"""Commands that score what was played, and the files of a run folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from collab_overcooked.cli.app import OUT, ByTask, Credit, Failures, More, app, say
from collab_overcooked.cli.results import collaboration_options, definitions_of, write_results
from collab_overcooked.errors import near_matches


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    counting: Failures = "orders",
    attribution: Credit = "final",
) -> None:
    """Write tables and report of a run folder again."""
    from collab_overcooked.runner.records import read_records

    if not run.is_dir():
        raise ValueError(f"{run}: no such run folder")
    write_results(run, read_records(run), True, definitions_of(counting, attribution))


@app.command()
def score(
    paths: Annotated[list[Path], typer.Argument(help="Run folders, record files, or logs of the original.")],
    denominator: Annotated[str, typer.Option(help="IC and RC per: conversations or required.")] = "conversations",
    initiators: Annotated[str, typer.Option(help="Whose conversations count: chef or both.")] = "chef",
    response: Annotated[str, typer.Option(help="What answers: announced or executed actions.")] = "announced",
    quotes: Annotated[str, typer.Option(help="Quotes of requests: single or any.")] = "single",
    counting: Failures = "orders",
    attribution: Credit = "final",
    task: Annotated[str | None, typer.Option(help="Task of the original's logs.")] = None,
    kitchen: Annotated[str, typer.Option(help="Kitchen of the original's logs.")] = "paper",
    gamma: Annotated[float, typer.Option(help="Time limit for the original's logs.")] = 1.5,
    form: Annotated[str, typer.Option("--format", help="table, markdown, csv or json.")] = "table",
    more: More = False,
    by_task: ByTask = False,
) -> None:
    """Score records again, or logs of the original, with named alternatives of the definitions."""
    from collab_overcooked.reporting import scorecard
    from collab_overcooked.reporting.results import score_paths

    writers = {"markdown": scorecard.markdown, "csv": scorecard.csv_text, "json": scorecard.json_text}
    if form not in ("table", *writers):
        raise ValueError(near_matches("format", form, ("table", *writers)))
    collaboration = collaboration_options(denominator, initiators, response, quotes)
    definitions = definitions_of(counting, attribution, collaboration)
    cards = score_paths(paths, definitions, task=task, kitchen=kitchen, gamma=gamma, note=say)
    if form != "table":
        sys.stdout.write(writers[form](cards))
        return
    for card in cards:
        card.show(OUT, more, by_task)
