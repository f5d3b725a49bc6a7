"""Tables and report of a run folder."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from collab_overcooked.cli.app import OUT
from collab_overcooked.cli.options import ShowOptions, read_allowed

if TYPE_CHECKING:
    from collab_overcooked.core.record import EpisodeRecord
    from collab_overcooked.reporting.scorecard import Scorecard

FORMATS = ("table", "markdown", "csv", "json")
FORMAT_HELP = "Output format: table, markdown, csv or json."
FormatOpt = Annotated[
    str, Parameter(name="--format", help=FORMAT_HELP, converter=partial(read_allowed, "format", FORMATS))
]


def write_cards(cards: Sequence[Scorecard], form: str, show: ShowOptions | None = None) -> None:
    """Print cards as tables, or write them to standard output in another one of ``FORMATS``."""
    from collab_overcooked.reporting import scorecard

    writers = {"markdown": scorecard.markdown, "csv": scorecard.csv_text, "json": scorecard.json_text}
    if form in writers:
        sys.stdout.write(writers[form](cards))
        return
    shown = show or ShowOptions()
    for card in cards:
        card.show(OUT, shown.more, shown.by_task)


def write_results(
    folder: Path,
    records: Sequence[EpisodeRecord],
    report_file: bool,
    scoring: Mapping[str, Any],
    show: ShowOptions | None = None,
) -> list[str]:
    """Score records, print the tables, and write tables and report into the run folder; return the files' names."""
    from collab_overcooked.io.files import write_atomic
    from collab_overcooked.reporting import scorecard
    from collab_overcooked.reporting.results import score_records

    cards = score_records(records, scoring)
    tables = {"table.md": scorecard.markdown, "table.csv": scorecard.csv_text, "table.json": scorecard.json_text}
    for name, text_of in tables.items():
        write_atomic(folder / name, text_of(cards).encode())
    files = list(tables)
    if report_file:
        from collab_overcooked.reporting import report as pages

        write_atomic(folder / "report.html", pages.build_report(records, cards, folder).encode())
        files.append("report.html")
    write_cards(cards, "table", show)  # after the files, which also hold characters that the terminal cannot show
    return files
