"""Which episodes count: those cut short are left out, and repetitions of one and the same are told."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from collab_overcooked.core.options import option
from collab_overcooked.policies.registry import is_language
from collab_overcooked.reporting.result_table import Column, ResultTable
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.teams import team_words

Record = Mapping[str, Any]
Group = tuple[str, str]
"""Game and team."""
_COLUMNS = (
    Column("Team"),
    Column("Game"),
    Column("Episodes", "number"),
    Column("Cut short", "number"),
    Column("By"),
    Column("Repetitions", "number"),
)
_REPEATED = (
    "Repetitions: episodes that are, action for action, others of the same task again, as of a model at temperature 0; "
    "intervals over them are too narrow."
)


@dataclass(frozen=True, kw_only=True)
class RecordScoring:
    """Which episodes count, in all games."""

    cut_short: Literal["left-out", "counted"] = option(
        "left-out", "Episodes that a budget cut short: left-out or counted.", allowed=("left-out", "counted")
    )


def end_of(record: Record) -> str:
    """Return what cut an episode short: the limit of its budget, or that it was left; empty if nothing did."""
    limits = (account["exhausted"] for account in record.get("accounts", {}).values())
    return str(record.get("ended", "")) or next(filter(None, limits), "")


def counted(records: Sequence[Record], scoring: RecordScoring) -> list[Record]:
    """Return the records that scores are made of."""
    return [record for record in records if scoring.cut_short == "counted" or not end_of(record)]


def sample_card(records: Sequence[Record], scoring: RecordScoring) -> Scorecard | None:
    """Return how many episodes of each team count, and which are worth less; None if all of them count as they are."""
    groups: dict[Group, list[Record]] = {}
    for record in records:
        groups.setdefault((record["env_id"], team_words(record["team"].values())), []).append(record)
    rows = [(team, game, *_cells(own)) for (game, team), own in groups.items()]
    doubtful = tuple(row for row in rows if row[3] or row[5])
    if not doubtful:
        return None
    what = "are left out; --cut-short counted counts them" if scoring.cut_short == "left-out" else "count as well"
    notes = [f"Episodes that were cut short {what}."] if any(row[3] for row in doubtful) else []
    notes += [_REPEATED] if any(row[5] for row in doubtful) else []
    return Scorecard("samples", "Sample sizes", (ResultTable(_COLUMNS, doubtful),), notes=tuple(notes))


def _cells(records: Sequence[Record]) -> tuple[int, int, str, int]:
    ends = Counter(filter(None, map(end_of, records)))
    words = ", ".join(f"{count} {end}" for end, count in sorted(ends.items()))
    return len(records), ends.total(), words, repetitions(records)


def repetitions(records: Sequence[Record]) -> int:
    """Return how many episodes of language models are others again: same task, actions and words.

    What has no steps is an answer to a question; equal ones are no wonder, and intervals are over questions.
    """
    spoken = [record for record in records if record["steps"] and any(map(is_language, record["team"].values()))]
    return len(spoken) - len(set(map(_played, spoken)))


def _played(record: Record) -> str:
    """Return task, options, actions, words and rewards of an episode."""
    steps = [[step["actions"], step["messages"], step["rewards"]] for step in record["steps"]]
    return json.dumps([record["task"], record["env_kwargs"], steps])


def without_use(records: Sequence[Record]) -> str:
    """Say why a run measured nothing; empty if it did."""
    accounts = [account for record in records for account in record.get("accounts", {}).values()]
    calls = sum(account["calls"] for account in accounts)
    unusable = sum(sum(account["trouble"].values()) for account in accounts)
    if records and all(map(end_of, records)):
        return f"all {len(records)} episodes were cut short"
    return f"none of {calls} answers of the models could be used" if 0 < calls <= unusable else ""
