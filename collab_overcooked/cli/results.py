"""What commands that play and commands that score share: definitions of metrics, and the files of a run folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collab_overcooked.cli.app import OUT, say
from collab_overcooked.errors import near_matches

if TYPE_CHECKING:
    from collab_overcooked.games.collab_overcooked.metrics import CollaborationOptions
    from collab_overcooked.reporting.results import Definitions


def write_results(
    folder: Path,
    records: Sequence[Mapping[str, Any]],
    report_file: bool,
    definitions: Definitions,
    more: bool = False,
    by_task: bool = False,
) -> None:
    """Score records, print the table, and write tables and report into the run folder."""
    from collab_overcooked.reporting import report as pages
    from collab_overcooked.reporting import scorecard
    from collab_overcooked.reporting.results import score_records
    from collab_overcooked.runner.records import write_whole

    cards = score_records(records, definitions)
    for card in cards:
        card.show(OUT, more, by_task)
    for name, text_of in (
        ("table.md", scorecard.markdown),
        ("table.csv", scorecard.csv_text),
        ("table.json", scorecard.json_text),
    ):
        write_whole(folder / name, text_of(cards).encode())
    if report_file:
        write_whole(folder / "report.html", pages.build_report(records, cards).encode())
    say(f"written: {folder}/records.jsonl, table.md, table.csv, table.json" + (", report.html" if report_file else ""))


def definitions_of(counting: str, attribution: str, collaboration: CollaborationOptions | None = None) -> Definitions:
    """Return what metrics mean; refuses unknown words."""
    from collab_overcooked.games.rush.metrics import ATTRIBUTIONS, check_attribution
    from collab_overcooked.reporting.results import Definitions

    if counting not in ("orders", "steps"):
        raise ValueError(near_matches("counting", counting, ("orders", "steps")))
    if attribution not in ATTRIBUTIONS:
        raise ValueError(near_matches("attribution", attribution, ATTRIBUTIONS))
    return Definitions(collaboration, "orders" if counting == "orders" else "steps", check_attribution(attribution))


def collaboration_options(denominator: str, initiators: str, response: str, quotes: str) -> CollaborationOptions:
    """Return how conversations are counted; refuses unknown words."""
    from collab_overcooked.games.collab_overcooked.metrics import CollaborationOptions

    words: dict[str, Any] = {
        "denominator": denominator,
        "initiators": initiators,
        "response": response,
        "quotes": quotes,
    }
    return CollaborationOptions(**words)
