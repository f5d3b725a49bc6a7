"""Scores of Rush's records: every run of a scenario, by setting, with its episodes in turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from collab_overcooked.games.rush.engine.spec import scenarios
from collab_overcooked.games.rush.suite.metrics import ATTRIBUTIONS, EVENT, Attribution, RoundScore, score_round
from collab_overcooked.io import schema
from collab_overcooked.io.files import read_shipped_yaml
from collab_overcooked.io.options import option
from collab_overcooked.metrics.registry import Metric, MetricSet
from collab_overcooked.registry import LEXICON
from collab_overcooked.runner.env_variants import Variant, axis_values, by_variant, setting_names, variant_of
from collab_overcooked.runner.record_schema import RecordFields
from collab_overcooked.runner.teaching import NONE
from collab_overcooked.runner.teams import team_text

AXES = ("scenario", "agents")

_ORDER = schema.object_of({"name": schema.text, "finished": schema.boolean, "ruined": schema.boolean})
RECORD_FIELDS = RecordFields(
    event=EVENT,
    record={"scenario": schema.name, "max_turns": schema.integer(), "orders": schema.list_of(_ORDER)},
    optional={"round": schema.integer(), "teacher": schema.name},
)


@cache
def published() -> Mapping[str, Any]:
    """Read the published numbers: ``source``, ``scenario``, ``episodes`` and ``table_3`` by model and domain."""
    return read_shipped_yaml("games/rush/suite/published.yaml")


@dataclass(frozen=True)
class Setting:
    """Common setting of the runs of a group of records."""

    scenario: str  # Name of the scenario
    domain: str  # ``"kitchen"``, or the lexicon
    agents: int  # Number of agents
    teacher: str  # Teacher who comments between the episodes


@dataclass(frozen=True)
class RushResult:
    """Scores of one team on one variant of the game."""

    title: str  # Game and variant
    team: str  # Policies, in a notation that does not depend on the size of the team
    attribution: Attribution  # Condition for an action to be positive
    runs: Mapping[Setting, tuple[tuple[RoundScore, ...], ...]]  # Setting -> run -> scores of its episodes in turn
    orders: Mapping[Setting, int]  # Setting -> maximum number of orders in an episode
    is_default: bool = True  # Whether the game was played with its default options, as in the paper


@dataclass(frozen=True, kw_only=True)
class RushScoring:
    """Options of how actions are counted."""

    attribution: Attribution = option("final", "Positive actions: final or immediate.", allowed=ATTRIBUTIONS)


def score_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics of one episode, as they stand in its record.

    Returns:
        ``completed``, ``ruined``, ``turns``, ``early``; by agent ``positive``, ``negative`` and ``neutral`` actions
        by the outcome of their orders; ``advanced``, positive actions counted immediately; ``balance``;
        and ``return`` (the shared reward, summed).
    """
    score, at_once = score_round(record), score_round(record, "immediate")
    return {
        "completed": score.completed,
        "ruined": score.ruined,
        "turns": score.turns,
        "early": score.early,
        "positive": [counts.positive for counts in score.actions],
        "negative": [counts.negative for counts in score.actions],
        "neutral": [counts.neutral for counts in score.actions],
        "advanced": [counts.positive for counts in at_once.actions],
        "balance": score.balance,
        "return": float(sum(step["rewards"][0] for step in record["steps"])),
    }


METRICS = MetricSet(
    (
        Metric("completed", "CR: orders finished.", "orders", "higher"),
        Metric("ruined", "RR: orders ruined.", "orders", "lower"),
        Metric("turns", "Turns begun.", "turns", "lower"),
        Metric("early", "Share of episodes decided before the last turn.", better="higher"),
        Metric("positive", "A+: actions of each agent that advanced a finished order.", "actions", "higher"),
        Metric("negative", "A-: actions of each agent that ruined an order.", "actions", "lower"),
        Metric("neutral", "A=: all other actions of each agent.", "actions", "lower"),
        Metric("advanced", "Actions of each agent that advanced an order, finished later or not.", "actions", "higher"),
        Metric("balance", "Balance of the agents' A+, from 0 to 1.", better="higher"),
    ),
    score_record,
    outcome=lambda record: record["metrics"]["completed"] / max(1, len(record["orders"])),
)


def score_records(records: Iterable[Mapping[str, Any]], attribution: Attribution = "final") -> list[RushResult]:
    """Score records of this game, one result for every team and variant.

    Args:
        records: Episodes; those of one setting and seed form a run.
        attribution: Condition for an action to be positive.

    Raises:
        ValueError: For an unknown attribution.
    """
    return [_result(group, attribution) for group in by_variant(records, variant=rush_variant)]


def rush_variant(record: Mapping[str, Any]) -> Variant:
    """Return the variant of a record; Kitchen Rush and Alien Rush are one game with separate rows per language."""
    return variant_of(record, (*AXES, LEXICON), "Rush")


def settings_of(records: Sequence[Mapping[str, Any]]) -> list[Setting]:
    """Return the setting of each of some records."""
    names = setting_names(records, ("scenario",), lambda record: str(record["scenario"]), scenarios())
    return [
        Setting(name, axis_values(record, (LEXICON,))[LEXICON], len(record["team"]), record.get("teacher", NONE))
        for name, record in zip(names, records, strict=True)
    ]


def _result(records: Sequence[Mapping[str, Any]], attribution: Attribution) -> RushResult:
    runs: dict[Setting, dict[int, list[RoundScore]]] = {}
    orders: dict[Setting, int] = {}
    settings = settings_of(records)
    for setting, record in sorted(zip(settings, records, strict=True), key=lambda pair: pair[1]["episode"]):
        runs.setdefault(setting, {}).setdefault(record["seed"], []).append(score_round(record, attribution))
        orders[setting] = max(orders.get(setting, 0), len(record["orders"]))
    variant, order = rush_variant(records[0]), dict.fromkeys(settings)  # as in the file
    return RushResult(
        variant.title,
        team_text(records[0]["team"].values()),
        attribution,
        {setting: tuple(map(tuple, runs[setting].values())) for setting in order},
        {setting: orders[setting] for setting in order},
        not variant.changed,
    )
