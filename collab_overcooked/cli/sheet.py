"""The command ``sheet``: one sheet for several runs, their metrics beside each other and what they differ in."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from collab_overcooked import registry
from collab_overcooked.cli.app import OUT, app, say
from collab_overcooked.io.checks import near_matches


@app.command("sheet")
def sheet(
    runs: Annotated[list[Path], typer.Argument(help="Run folders; the first one is compared with the others.")],
    form: Annotated[str, typer.Option("--format", help="table, markdown, csv or json.")] = "table",
    page: Annotated[Path | None, typer.Option(help="HTML file to write, with the curves of the games.")] = None,
) -> None:
    """Print one sheet for several runs: metrics, curves as tables, and paired differences where they share episodes."""
    from collab_overcooked.reporting import scorecard
    from collab_overcooked.runner.records import read_records

    writers = {"markdown": scorecard.markdown, "csv": scorecard.csv_text, "json": scorecard.json_text}
    if form not in ("table", *writers):
        raise ValueError(near_matches("format", form, ("table", *writers)))
    names = [str(run) for run in runs]
    if len(set(names)) < len(names):
        raise ValueError(f"sheet: {next(name for name in names if names.count(name) > 1)} is given twice")
    cards = sheet_cards({name: read_records(Path(name), say) for name in names})
    if page is not None:
        write_page(page, cards)
    if form != "table":
        sys.stdout.write(writers[form](cards))
        return
    for card in cards:
        card.show(OUT)


def write_page(path: Path, cards: Sequence[Any]) -> None:
    """Write cards with their charts as a page that loads nothing."""
    from collab_overcooked.reporting import report
    from collab_overcooked.runner.records import write_atomic

    sections = [section for card in cards for section in report.card_sections(card)]
    write_atomic(path, report.page("; ".join(card.title for card in cards), sections, []).encode())
    say(f"written: {path}")


def sheet_cards(played: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Any]:
    """Return a card for each game that some runs played.

    Args:
        played: Records by run.
    """
    from collab_overcooked.reporting.differences import NOTE, difference_table
    from collab_overcooked.reporting.results import run_table
    from collab_overcooked.reporting.scorecard import Scorecard
    from collab_overcooked.runner.env_variants import split_runs

    cards = []
    for env_id in dict.fromkeys(record["env_id"] for records in played.values() for record in records):
        own = {run: [one for one in records if one["env_id"] == env_id] for run, records in played.items()}
        own = {run: records for run, records in own.items() if records}
        title, own = f"{env_id}, {len(own)} runs", split_runs(own)
        means, differences = run_table(own), difference_table(own)
        further, charts = registry.load_suite(env_id).sheet(own)
        tables = (means, *further, *(() if differences is None else (differences,)))
        notes = () if differences is None else (NOTE,)
        cards.append(Scorecard("sheet", title, tables, notes=notes, data=means, charts=tuple(charts)))
    return cards
