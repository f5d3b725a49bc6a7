"""Tables and report of a run folder."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collab_overcooked.cli.app import OUT, say
from collab_overcooked.cli.options import ShowOptions
from collab_overcooked.io.checks import near_matches

if TYPE_CHECKING:
    from collab_overcooked.core.record import EpisodeRecord
    from collab_overcooked.reporting.scorecard import Scorecard

FORMATS = ("table", "markdown", "csv", "json")


def check_format(form: str) -> None:
    """Check an output format.

    Raises:
        ValueError: It is not one of ``FORMATS``.
    """
    if form not in FORMATS:
        raise ValueError(near_matches("format", form, FORMATS))


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
) -> None:
    """Score records, print the tables, and write tables and report into the run folder."""
    from collab_overcooked.io.files import write_atomic
    from collab_overcooked.reporting import scorecard
    from collab_overcooked.reporting.results import score_records

    cards = score_records(records, scoring)
    for name, text_of in (
        ("table.md", scorecard.markdown),
        ("table.csv", scorecard.csv_text),
        ("table.json", scorecard.json_text),
    ):
        write_atomic(folder / name, text_of(cards).encode())
    if report_file:
        from collab_overcooked.reporting import report as pages

        write_atomic(folder / "report.html", pages.build_report(records, cards, folder).encode())
    write_cards(cards, "table", show)  # after the files, which also hold characters that the terminal cannot show
    say(f"written: {folder}/records.jsonl, table.md, table.csv, table.json" + (", report.html" if report_file else ""))
