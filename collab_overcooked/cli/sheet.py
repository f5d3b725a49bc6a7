"""The command ``sheet``: one sheet for several runs, their metrics beside each other and what they differ in."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from collab_overcooked.cli.app import OUT, app
from collab_overcooked.errors import near_matches


@app.command("sheet")
def sheet(
    runs: Annotated[list[Path], typer.Argument(help="Run folders; the first one is compared with the others.")],
    form: Annotated[str, typer.Option("--format", help="table, markdown, csv or json.")] = "table",
) -> None:
    """Print one sheet for several runs: every metric of each, and paired differences where they share episodes."""
    from collab_overcooked.reporting import scorecard
    from collab_overcooked.runner.records import read_records

    writers = {"markdown": scorecard.markdown, "csv": scorecard.csv_text, "json": scorecard.json_text}
    if form not in ("table", *writers):
        raise ValueError(near_matches("format", form, ("table", *writers)))
    names = [str(run) for run in runs]
    if len(set(names)) < len(names):
        raise ValueError(f"sheet: {next(name for name in names if names.count(name) > 1)} is given twice")
    cards = sheet_cards({name: read_records(Path(name)) for name in names})
    if form != "table":
        sys.stdout.write(writers[form](cards))
        return
    for card in cards:
        card.show(OUT)


def sheet_cards(played: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Any]:
    """Return a card for each game that some runs played.

    Args:
        played: Records by run.
    """
    from collab_overcooked.reporting.differences import NOTE, difference_table
    from collab_overcooked.reporting.results import run_table
    from collab_overcooked.reporting.scorecard import Scorecard

    cards = []
    for env_id in dict.fromkeys(record["env_id"] for records in played.values() for record in records):
        own = {run: [one for one in records if one["env_id"] == env_id] for run, records in played.items()}
        own = {run: records for run, records in own.items() if records}
        means, differences = run_table(own), difference_table(own)
        tables = (means,) if differences is None else (means, differences)
        notes = () if differences is None else (NOTE,)
        cards.append(Scorecard("sheet", f"{env_id}, {len(own)} runs", tables, notes=notes, data=means))
    return cards
