"""Scorecards of records of any games, and of logs of the original Collab-Overcooked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collab_overcooked import registry
from collab_overcooked.games.collab_overcooked import scoring, tables
from collab_overcooked.games.collab_overcooked.metrics import CollaborationOptions
from collab_overcooked.games.cuisineworld.metrics import Counting
from collab_overcooked.games.rush.metrics import Attribution
from collab_overcooked.reporting.costs import cost_card
from collab_overcooked.reporting.scorecard import Scorecard

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Definitions:
    """Named alternatives of what metrics mean; every suite takes those that concern it.

    Attributes:
        collaboration: How conversations are counted.
        counting: What counts as a failure, where orders expire.
        attribution: When an action is positive.
    """

    collaboration: CollaborationOptions | None = None
    counting: Counting = "orders"
    attribution: Attribution = "final"


def score_records(records: Sequence[Record], definitions: Definitions | None = None) -> list[Scorecard]:
    """Score records, and add what language models took, if any played.

    Args:
        records: Episodes of any games.
        definitions: Named alternatives of what metrics mean.

    Raises:
        ValueError: For an unknown game or task, or a field that metrics cannot read.
    """
    played = {name: [own for own in records if own["env_id"] in ids] for name, ids in registry.first_suites().items()}
    for record in records:
        registry.load_suite(record["env_id"])  # refuses unknown games
    words = definitions or Definitions()
    cards = [card for name, own in played.items() if own for card in registry.load_suite(name).score(own, words)]
    cost = cost_card(records)
    return cards if cost is None else [*cards, cost]


def score_paths(
    paths: Sequence[Path],
    definitions: Definitions | None = None,
    *,
    task: str | None = None,
    kitchen: str = "paper",
    gamma: float = 1.5,
    note: Callable[[str], None] = print,
) -> list[Scorecard]:
    """Score what lies at some paths: run folders, record files, or logs of the original Collab-Overcooked.

    Raises:
        ValueError: Nothing to score at a path, or a damaged file; the message names it.
    """
    records, logs = scoring.read_paths(paths)
    cards = score_records(records, definitions)
    if logs:
        options = (definitions or Definitions()).collaboration
        cards.append(
            tables.scorecard(scoring.score_logs(logs, options, task=task, kitchen=kitchen, gamma=gamma, note=note))
        )
    return cards
