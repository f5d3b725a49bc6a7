"""Metrics of several runs side by side, with paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from collab_overcooked import registry
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.io.files import check_distinct_files
from collab_overcooked.reporting.differences import NOTE, difference_table
from collab_overcooked.reporting.record_scoring import RecordScoring
from collab_overcooked.reporting.results import run_table
from collab_overcooked.reporting.sample_sizes import counted, sample_card
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.env_variants import split_runs
from collab_overcooked.runner.records import RECORDS, read_packed


def compare_runs(runs: Sequence[Path]) -> list[Scorecard]:
    """Return a card for each game in some run folders, and one on episodes that were left out.

    Raises:
        ValueError: If a folder is given twice, or holds no records.
    """
    check_distinct_files("score", runs, within=RECORDS)
    played = dict(zip(short_names(runs), map(read_packed, runs), strict=True))
    cards = run_cards({run: counted(records, RecordScoring()) for run, records in played.items()})
    left_out = sample_card(list(chain.from_iterable(played.values())), RecordScoring())
    return cards if left_out is None else [*cards, left_out]


def short_names(paths: Sequence[Path]) -> list[str]:
    """Name paths by their last parts: as few as tell all of them apart."""
    parts = [path.absolute().parts for path in paths]
    longest = max(map(len, parts))
    for count in range(1, longest + 1):
        names = ["/".join(part[-count:]) for part in parts]
        if len(set(names)) == len(names):
            break
    return names


def run_cards(played: Mapping[str, Sequence[EpisodeRecord]]) -> list[Scorecard]:
    """Return a card for each game in the runs.

    Args:
        played: Run name -> records.
    """
    cards = []
    for env_id in dict.fromkeys(record.env_id for records in played.values() for record in records):
        by_run = {run: [record for record in records if record.env_id == env_id] for run, records in played.items()}
        by_run = {run: records for run, records in by_run.items() if records}
        title, parts = f"{env_id}, {len(by_run)} runs", _parts(by_run)
        means, differences = run_table(parts), difference_table(parts)
        further, charts = registry.load_suite(env_id).comparison_tables(parts)
        tables = (means, *further, *(() if differences is None else (differences,)))
        notes = () if differences is None else (NOTE,)
        cards.append(Scorecard("comparison", title, tables, notes=notes, data=means, charts=tuple(charts)))
    return cards


def _parts(by_run: Mapping[str, Sequence[EpisodeRecord]]) -> dict[str, Sequence[EpisodeRecord]]:
    """Split runs with several variants; other runs keep their names, as the table of means shows options."""
    parts: dict[str, Sequence[EpisodeRecord]] = {}
    for run, records in by_run.items():
        split = split_runs({run: records})
        parts |= split if len(split) > 1 else {run: records}
    return parts
