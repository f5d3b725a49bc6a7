"""Scores of records of any games, in every form in which they are shown; what single episodes came to, in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from collab_overcooked import registry
from collab_overcooked.games.collab_overcooked import scoring
from collab_overcooked.reporting import costs
from collab_overcooked.reporting.costs import Cost, costs_of
from collab_overcooked.reporting.parts import Definitions, Part, csv_text

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Results:
    """What records come to.

    Attributes:
        games: Suite -> scores.
        costs: What language models took.
    """

    games: Mapping[str, tuple[Part, ...]]
    costs: tuple[Cost, ...] = ()

    @property
    def parts(self) -> list[Part]:
        """All scores in turn."""
        return [part for parts in self.games.values() for part in parts]

    def show(self, console: Console, more: bool = False, by_task: bool = False) -> None:
        """Print everything."""
        for part in self.parts:
            part.show(console, more, by_task)
        costs.show(console, self.costs)

    def markdown(self) -> str:
        """Return everything as Markdown."""
        return "\n".join([*(part.markdown() for part in self.parts), *filter(None, [costs.markdown(self.costs)])])

    def csv_text(self) -> str:
        """Return everything as CSV; several games in as many tables, as their columns differ."""
        return "\n".join(csv_text(line for part in parts for line in part.lines()) for parts in self.games.values())

    def json_text(self) -> str:
        """Return everything as JSON."""
        entries = [*(part.as_json() for part in self.parts), *(cost.as_json() for cost in self.costs)]
        return json.dumps(entries, indent=2) + "\n"


def results_of(records: Sequence[Record], definitions: Definitions | None = None) -> Results:
    """Score records.

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
    return Results(
        {name: tuple(registry.load_suite(name).score(own, words)) for name, own in played.items() if own},
        costs_of(records),
    )


def results_of_paths(
    paths: Sequence[Path],
    definitions: Definitions | None = None,
    *,
    task: str | None = None,
    kitchen: str = "paper",
    gamma: float = 1.5,
    note: Callable[[str], None] = print,
) -> Results:
    """Score what lies at some paths: run folders, record files, or logs of the original Collab-Overcooked.

    Raises:
        ValueError: Nothing to score at a path, or a damaged file; the message names it.
    """
    records, logs = scoring.read_paths(paths)
    results = results_of(records, definitions)
    if not logs:
        return results
    options = (definitions or Definitions()).collaboration
    table = scoring.score_logs(logs, options, task=task, kitchen=kitchen, gamma=gamma, note=note)
    return replace(results, games={**results.games, scoring.LOGS_OF: (*results.games.get(scoring.LOGS_OF, ()), table)})


# ------------------------------------------------------------------------------------------- single episodes


def outcome_words(record: Record) -> str:
    """Say how an episode ended, for example ``"delivered"`` or ``"4 completed, 1 ruined"``."""
    return registry.load_suite(record["env_id"]).outcome(record)


def event_words(event: Mapping[str, Any]) -> str:
    """Return an event as words; a label alone where the game names nothing else."""
    if "event" not in event:
        return str(event["label"])
    if "reason" in event:  # games that tell of refused actions as well
        ends = [name for name in ("finished", "ruined") if event[name]]
        refused = [] if event["reason"] == "OK" else [f"refused, {event['reason'].lower().replace('_', ' ')}"]
        return ": ".join([event["label"], *ends, *refused])
    item = f" {event['item']}" if event.get("item") else ""
    place = f" ({event['place']})" if event.get("place") else ""
    return f"{event['event'].lower().replace('_', ' ')}{item}{place}"
