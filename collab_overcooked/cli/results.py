"""Tables and report of a run folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from collab_overcooked.cli.app import OUT, say
from collab_overcooked.cli.options import ShowOptions
from collab_overcooked.core.record import EpisodeRecord


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

    cards, show = score_records(records, scoring), show or ShowOptions()
    for name, text_of in (
        ("table.md", scorecard.markdown),
        ("table.csv", scorecard.csv_text),
        ("table.json", scorecard.json_text),
    ):
        write_atomic(folder / name, text_of(cards).encode())
    if report_file:
        from collab_overcooked.reporting import report as pages

        write_atomic(folder / "report.html", pages.build_report(records, cards, folder).encode())
    for card in cards:  # after the files, which also hold characters that the terminal cannot show
        card.show(OUT, show.more, show.by_task)
    say(f"written: {folder}/records.jsonl, table.md, table.csv, table.json" + (", report.html" if report_file else ""))
