"""The command ``summarize``: metrics of several runs side by side, with paired differences."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from collab_overcooked import registry
from collab_overcooked.cli.app import OUT, say
from collab_overcooked.core.record import Record
from collab_overcooked.io.checks import near_matches


def summarize(
    *runs: Annotated[Path, Parameter(required=True, help="Run folders; the others are compared with the first.")],
    form: Annotated[str, Parameter(name="--format", help="Output format: table, markdown, csv or json.")] = "table",
    page: Annotated[Path | None, Parameter(help="Also write an HTML page with charts.")] = None,
) -> None:
    """Summarize several runs: metrics, curves as tables, and paired differences of shared episodes."""
    from collab_overcooked.io.files import check_distinct_files
    from collab_overcooked.reporting import scorecard
    from collab_overcooked.reporting.record_scoring import RecordScoring
    from collab_overcooked.reporting.sample_sizes import counted, sample_card
    from collab_overcooked.runner.records import RECORDS, read_packed

    writers = {"markdown": scorecard.markdown, "csv": scorecard.csv_text, "json": scorecard.json_text}
    if form not in ("table", *writers):
        raise ValueError(near_matches("format", form, ("table", *writers)))
    check_distinct_files("summarize", runs, within=RECORDS)
    played = dict(zip(short_names(runs), map(read_packed, runs), strict=True))
    cards = sheet_cards({run: counted(records, RecordScoring()) for run, records in played.items()})
    cards += filter(None, [sample_card(list(chain.from_iterable(played.values())), RecordScoring())])
    if page is not None:
        write_page(page, cards)
    if form != "table":
        sys.stdout.write(writers[form](cards))
        return
    for card in cards:
        card.show(OUT)


def short_names(paths: Sequence[Path]) -> list[str]:
    """Name paths by their last parts: as few as tell all of them apart."""
    parts = [path.absolute().parts for path in paths]
    longest = max(map(len, parts))
    for count in range(1, longest + 1):
        names = ["/".join(part[-count:]) for part in parts]
        if len(set(names)) == len(names):
            break
    return names


def write_page(path: Path, cards: Sequence[Any]) -> None:
    """Write cards and their charts as a self-contained HTML page."""
    from collab_overcooked.io.files import write_atomic
    from collab_overcooked.reporting import report

    sections = [report.card_section(card) for card in cards]
    write_atomic(path, report.page("; ".join(card.title for card in cards), sections, []).encode())
    say(f"written: {path}")


def sheet_cards(played: Mapping[str, Sequence[Record]]) -> list[Any]:
    """Return a card for each game in the runs.

    Args:
        played: Run name -> records.
    """
    from collab_overcooked.reporting.differences import NOTE, difference_table
    from collab_overcooked.reporting.results import run_table
    from collab_overcooked.reporting.scorecard import Scorecard

    cards = []
    for env_id in dict.fromkeys(record.env_id for records in played.values() for record in records):
        by_run = {run: [record for record in records if record.env_id == env_id] for run, records in played.items()}
        by_run = {run: records for run, records in by_run.items() if records}
        title, parts = f"{env_id}, {len(by_run)} runs", _parts(by_run)
        means, differences = run_table(parts), difference_table(parts)
        further, charts = registry.load_suite(env_id).sheet(parts)
        tables = (means, *further, *(() if differences is None else (differences,)))
        notes = () if differences is None else (NOTE,)
        cards.append(Scorecard("sheet", title, tables, notes=notes, data=means, charts=tuple(charts)))
    return cards


def _parts(by_run: Mapping[str, Sequence[Record]]) -> dict[str, Sequence[Record]]:
    """Split runs of several variants; all others keep their names, as the table of means tells options."""
    from collab_overcooked.runner.env_variants import split_runs

    parts: dict[str, Sequence[Record]] = {}
    for run, records in by_run.items():
        split = split_runs({run: records})
        parts |= split if len(split) > 1 else {run: records}
    return parts
