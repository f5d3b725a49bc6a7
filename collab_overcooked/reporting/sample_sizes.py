"""Which episodes count: those cut short are left out, and repetitions of one and the same are told."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from collab_overcooked.io.options import option
from collab_overcooked.policies.llm.settings import settings_of
from collab_overcooked.policies.registry import is_language
from collab_overcooked.reporting.result_table import Column, ResultTable
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.env_variants import by_variant, variant_of
from collab_overcooked.runner.teams import team_text

Record = Mapping[str, Any]
CUT = "length"  # what accounts call answers that were cut off
_COLUMNS = (
    Column("Team"),
    Column("Game"),
    Column("Episodes", "number"),
    Column("Cut short", "number"),
    Column("By"),
    Column("Repetitions", "number"),
)
_REPEATED = (
    "Repetitions: episodes that are, action for action, others of the same task again, of models at temperature 0 or "
    "with a fixed seed, or of the same seed; "
)


_WAYS = ("left-out", "counted")


@dataclass(frozen=True, kw_only=True)
class RecordScoring:
    """Which episodes count, in all games."""

    cut_short: Literal["left-out", "counted"] = option(
        "left-out", "Episodes that a budget cut short: left-out or counted.", allowed=_WAYS
    )
    repetitions: Literal["left-out", "counted"] = option(
        "left-out", "Equal episodes of models that answer alike each time: left-out or counted.", allowed=_WAYS
    )


def end_of(record: Record) -> str:
    """Return what cut an episode short: the limit of its budget, or that it was left; empty if nothing did."""
    limits = (account["exhausted"] for account in record.get("accounts", {}).values())
    return str(record.get("ended", "")) or next(filter(None, limits), "")


def counted(records: Sequence[Record], scoring: RecordScoring) -> list[Record]:
    """Return the records that scores are made of."""
    whole = [record for record in records if scoring.cut_short == "counted" or not end_of(record)]
    return whole if scoring.repetitions == "counted" else distinct(whole)


def sample_card(records: Sequence[Record], scoring: RecordScoring) -> Scorecard | None:
    """Return how many episodes of each team count, and which are worth less; None if all of them count as they are."""
    rows = [(team_text(own[0]["team"].values()), variant_of(own[0]).title, *_cells(own)) for own in by_variant(records)]
    doubtful = tuple(row for row in rows if row[3] or row[5])
    if not doubtful:
        return None
    what = "are left out; --cut-short counted counts them" if scoring.cut_short == "left-out" else "count as well"
    notes = [f"Episodes that were cut short {what}."] if any(row[3] for row in doubtful) else []
    told = "they are left out; --repetitions counted counts them."
    if scoring.repetitions == "counted":
        told = "intervals over them are too narrow."
    notes += [_REPEATED + told] if any(row[5] for row in doubtful) else []
    return Scorecard("samples", "Sample sizes", (ResultTable(_COLUMNS, doubtful),), notes=tuple(notes))


def _cells(records: Sequence[Record]) -> tuple[int, int, str, int]:
    ends = Counter(filter(None, map(end_of, records)))
    words = ", ".join(f"{count} {end}" for end, count in sorted(ends.items()))
    return len(records), ends.total(), words, repetitions(records)


def repetitions(records: Sequence[Record]) -> int:
    """Return how many episodes of language models are others again: same task, actions and words, and no new draw."""
    return len(records) - len(distinct(records))


def distinct(records: Sequence[Record]) -> list[Record]:
    """Return records without the repetitions among them, see ``repetitions``.

    What has no steps is an answer to a question; equal ones are no wonder, and intervals are over questions.
    """
    found: dict[Any, Record] = {}
    for number, record in enumerate(records):
        spoken = record["steps"] and any(map(is_language, record["team"].values()))
        found.setdefault(_played(record) if spoken else number, record)
    return list(found.values())


def _played(record: Record) -> str:
    """Return task, options, team, actions, words and rewards of an episode, and its seed if its answers were drawn."""
    steps = [[step["actions"], step["messages"], step["rewards"]] for step in record["steps"]]
    team = list(record["team"].values())
    drawn = None if all(map(is_steady, filter(is_language, team))) else record["seed"]
    rest = [record.get(name) for name in ("options", "due_number", "limits")]
    return json.dumps([record["task"], record["env_kwargs"], team, steps, drawn, rest])


@cache
def is_steady(spec: str) -> bool:
    """Tell whether a language model is asked in a way that draws the same answer each time."""
    settings = settings_of(spec)
    return settings is not None and (settings.temperature == 0 or settings.seed is not None)


def without_use(records: Sequence[Record]) -> str:
    """Say why a run measured nothing; empty if it did."""
    accounts = [account for record in records for account in record.get("accounts", {}).values()]
    calls = sum(account["calls"] for account in accounts)
    unusable = sum(sum(account["trouble"].values()) for account in accounts)
    if records and all(map(end_of, records)):
        return f"all {len(records)} episodes were cut short"
    return f"none of {calls} answers of the models could be used" if 0 < calls <= unusable else ""


def cut_answers(records: Sequence[Record]) -> str:
    """Say how many answers were cut at the longest length, and which setting is to be raised; empty if none was."""
    accounts = [account for record in records for account in record.get("accounts", {}).values()]
    calls = sum(account["calls"] for account in accounts)
    cut = sum(account["trouble"].get(CUT, 0) for account in accounts)
    if not cut:
        return ""
    models = {account["model"] for account in accounts if account["trouble"].get(CUT)}
    specs = {spec for record in records for spec in record["team"].values() if is_language(spec)}
    limits = {found.tokens for spec in specs if (found := settings_of(spec)) and found.model in models}
    said = ", ".join(f"tokens={limit}" for limit in sorted(limits) if limit)
    how = f"raise {said} or write tokens=0 for no limit" if said else "set tokens=N above the endpoint's own limit"
    return f"{cut} of {calls} answers were cut off (finish_reason length, thoughts count): {how}, in llm:MODEL?tokens=N"
