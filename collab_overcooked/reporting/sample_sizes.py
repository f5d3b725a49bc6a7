"""Sample sizes: episodes that scores leave out, as they were cut short or repeated, and games of the same people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.io.structs import encode
from collab_overcooked.policies.specs import PolicySpec
from collab_overcooked.reporting.record_scoring import RecordScoring
from collab_overcooked.reporting.result_table import Column, ResultTable
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.env_variants import by_variant, variant_of
from collab_overcooked.runner.teams import team_text

if TYPE_CHECKING:
    from collab_overcooked.policies.llm.settings import AgentSettings

CUT = "length"  # key of truncated answers in accounts
_COLUMNS = (
    Column("Team"),
    Column("Game"),
    Column("Episodes", "number"),
    Column("Cut short", "number"),
    Column("By"),
    Column("Repetitions", "number"),
    Column("Of the same people", "number"),
)
SAME_PEOPLE = (
    "Several episodes of the same people are not independent: intervals and tests over them take each as a unit and "
    "are too narrow. For conditions of a study, `significance` of its folder takes groups as units."
)
_REPEATED = (
    "Repetitions: episodes that are identical, action by action, to an earlier episode of the task, by models at "
    "temperature 0 or with a fixed seed, or with the same seed; "
)


def end_of(record: EpisodeRecord) -> str:
    """Return why an episode was cut short: the exhausted limit or an aborted game; empty if it was complete."""
    limits = (account.exhausted for account in record.accounts.values())
    return str(record.ended) or next(filter(None, limits), "")


def counted(records: Sequence[EpisodeRecord], scoring: RecordScoring) -> list[EpisodeRecord]:
    """Return the records that count for scores."""
    complete = [record for record in records if scoring.cut_short == "counted" or not end_of(record)]
    return complete if scoring.repetitions == "counted" else distinct(complete)


def sample_card(records: Sequence[EpisodeRecord], scoring: RecordScoring) -> Scorecard | None:
    """Return the numbers of complete, cut and repeated episodes by team; None if every episode counts by itself."""
    rows = [
        (team_text(group[0].team.values()), variant_of(group[0]).title, *_cells(group)) for group in by_variant(records)
    ]
    doubtful = tuple(row for row in rows if row[3] or row[5] or row[6])
    if not doubtful:
        return None
    treatment = "are left out; --cut-short counted counts them" if scoring.cut_short == "left-out" else "count as well"
    notes = [f"Episodes that were cut short {treatment}."] if any(row[3] for row in doubtful) else []
    remark = "they are left out; --repetitions counted counts them."
    if scoring.repetitions == "counted":
        remark = "intervals over them are too narrow."
    notes += [_REPEATED + remark] if any(row[5] for row in doubtful) else []
    notes += [SAME_PEOPLE] if any(row[6] for row in doubtful) else []
    return Scorecard("samples", "Sample sizes", (ResultTable(_COLUMNS, doubtful),), notes=tuple(notes))


def _cells(records: Sequence[EpisodeRecord]) -> tuple[int, int, str, int, int]:
    ends = Counter(filter(None, map(end_of, records)))
    causes = ", ".join(f"{count} {end}" for end, count in sorted(ends.items()))
    return len(records), ends.total(), causes, repetitions(records), of_same_people(records)


def of_same_people(records: Sequence[EpisodeRecord]) -> int:
    """Count the episodes in which somebody plays who has played in one of the others; 0 without people."""
    people = [{person.id for person in record.people.values()} for record in records]
    played = Counter(person for found in people for person in found)
    return sum(any(played[person] > 1 for person in found) for found in people)


def repetitions(records: Sequence[EpisodeRecord]) -> int:
    """Count repetitions: episodes of language models with the same task, actions, messages and random draws."""
    return len(records) - len(distinct(records))


def distinct(records: Sequence[EpisodeRecord]) -> list[EpisodeRecord]:
    """Return records without repetitions, see ``repetitions``.

    Records without steps are answers to questions: equal answers are expected, and intervals are over questions.
    """
    unique: dict[Any, EpisodeRecord] = {}
    for number, record in enumerate(records):
        spoken = record.timesteps and any(PolicySpec.parse(spec).is_language for spec in record.team.values())
        unique.setdefault(_played(record) if spoken else number, record)
    return list(unique.values())


def _played(record: EpisodeRecord) -> bytes:
    steps = [[step.actions, step.messages, step.rewards] for step in record.steps]
    team = list(record.team.values())
    drawn = None if all(is_steady(spec) for spec in team if PolicySpec.parse(spec).is_language) else record.seed
    rest = [record.options, record.part, record.limits]
    return sha256(encode([record.task, record.env_kwargs, team, steps, drawn, rest])).digest()


@cache
def _settings_of(spec: str) -> AgentSettings | None:
    from collab_overcooked.policies.llm.settings import settings_of  # loads clients of endpoints

    return settings_of(spec)


def is_steady(spec: str) -> bool:
    """Return whether a language model answers deterministically (temperature 0 or a fixed seed)."""
    settings = _settings_of(spec)
    return settings is not None and (settings.temperature == 0 or settings.seed is not None)


def without_use(records: Sequence[EpisodeRecord]) -> str:
    """Return why a run measured nothing, empty if it measured something."""
    accounts = [account for record in records for account in record.accounts.values()]
    calls = sum(account.calls for account in accounts)
    unusable = sum(sum(account.trouble.values()) for account in accounts)
    if records and all(map(end_of, records)):
        return f"all {len(records)} episodes were cut short"
    if not 0 < calls <= unusable:
        return ""
    from collab_overcooked.policies.llm.unusable import commonest

    kinds = Counter(kind for account in accounts for kind in Counter(account.trouble).elements())
    reason = commonest(to_builtins(account.unusable) for account in accounts)
    reason = reason or ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    return f"none of {calls} answers of the models could be used: {reason}"


def cut_answers(records: Sequence[EpisodeRecord]) -> str:
    """Return a warning about truncated answers with the setting to raise, empty if there are none."""
    accounts = [account for record in records for account in record.accounts.values()]
    calls = sum(account.calls for account in accounts)
    cut = sum(account.trouble.get(CUT, 0) for account in accounts)
    if not cut:
        return ""
    models = {account.model for account in accounts if account.trouble.get(CUT)}
    specs = {spec for record in records for spec in record.team.values() if PolicySpec.parse(spec).is_language}
    limits = {settings.tokens for spec in specs if (settings := _settings_of(spec)) and settings.model in models}
    current = ", ".join(f"tokens={limit}" for limit in sorted(limits) if limit)
    how = (
        f"raise {current} or write tokens=0 for no limit" if current else "set tokens=N above the endpoint's own limit"
    )
    return f"{cut} of {calls} answers were cut off (finish_reason length, thoughts count): {how}, in llm:MODEL?tokens=N"
