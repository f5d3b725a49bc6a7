"""Scores of Rush's records: every run of a scenario, by setting, with its episodes in turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

from collab_overcooked.core import schema
from collab_overcooked.core.options import option
from collab_overcooked.envs.lexicon import PLAIN
from collab_overcooked.evaluation.env_variants import by_team, unusual_options
from collab_overcooked.games.rush.metrics import ATTRIBUTIONS, EVENT, Attribution, RoundScore, score_round
from collab_overcooked.metrics.registry import Metric, MetricSet
from collab_overcooked.runner.record_schema import RecordFields
from collab_overcooked.runner.teaching import NONE
from collab_overcooked.runner.teams import team_words

USUAL = {"workers": None, "max_turns": None, "mask": "valid", "reward": "sparse"}  # other values are a variant

_ORDER = schema.object_of({"name": schema.text, "finished": schema.flag, "ruined": schema.flag})
RECORD_FIELDS = RecordFields(
    event=EVENT,
    record={"scenario": schema.name, "max_turns": schema.whole(), "orders": schema.list_of(_ORDER)},
    optional={"round": schema.whole(), "teacher": schema.name},
)


@cache
def published() -> Mapping[str, Any]:
    """Read the published numbers: ``source``, ``scenario``, ``episodes`` and ``table_3`` by model and domain."""
    file = resources.files("collab_overcooked.games.rush") / "published.yaml"
    values: Mapping[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return values


@dataclass(frozen=True)
class Setting:
    """What the runs of one group of records have in common.

    Attributes:
        scenario: Name of the scenario.
        domain: ``"kitchen"``, or the lexicon.
        agents: Number of agents.
        teacher: Who speaks between the episodes.
    """

    scenario: str
    domain: str
    agents: int
    teacher: str


@dataclass(frozen=True)
class RushResult:
    """Scores of one team on one variant of the game.

    Attributes:
        title: Game and variant.
        team: Policies, written so that teams of different sizes compare.
        attribution: When an action is positive.
        runs: Setting -> run -> scores of its episodes in turn.
        orders: Setting -> number of orders in an episode, the largest of them.
        usual: Whether the game was played with its usual options, as published numbers are.
    """

    title: str
    team: str
    attribution: Attribution
    runs: Mapping[Setting, tuple[tuple[RoundScore, ...], ...]]
    orders: Mapping[Setting, int]
    usual: bool = True


@dataclass(frozen=True, kw_only=True)
class RushScoring:
    """How actions are counted."""

    attribution: Attribution = option("final", "Positive actions: final or immediate.", allowed=ATTRIBUTIONS)


def score_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics of one episode, as they stand in its record.

    Returns:
        ``completed``, ``ruined``, ``turns``, ``early``; by agent ``positive``, ``negative`` and ``neutral`` actions
        by what became of their orders, and ``advanced``, the positive ones if each step counts at once; ``balance``,
        and ``return`` (the shared reward, summed).
    """
    score, at_once = score_round(record), score_round(record, "immediate")
    return {
        "completed": score.completed,
        "ruined": score.ruined,
        "turns": score.turns,
        "early": score.early,
        "positive": [own.positive for own in score.actions],
        "negative": [own.negative for own in score.actions],
        "neutral": [own.neutral for own in score.actions],
        "advanced": [own.positive for own in at_once.actions],
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
        Metric("advanced", "Actions of each agent that advanced an order at that moment.", "actions", "higher"),
        Metric("balance", "How evenly the agents' A+ are spread, from 0 to 1.", better="higher"),
    ),
    score_record,
)


def score_records(records: Iterable[Mapping[str, Any]], attribution: Attribution = "final") -> list[RushResult]:
    """Score records of this game, one result for every team and variant among them.

    Args:
        records: Episodes; those of one setting and seed form a run.
        attribution: When an action is positive.

    Raises:
        ValueError: For an unknown attribution.
    """
    return [_result(group, attribution) for group in by_team(records, USUAL)]


def setting_of(record: Mapping[str, Any]) -> Setting:
    """Return the setting of a record."""
    domain = record["env_kwargs"].get("lexicon", PLAIN)
    return Setting(record["scenario"], domain, len(record["team"]), record.get("teacher", NONE))


def _result(records: Sequence[Mapping[str, Any]], attribution: Attribution) -> RushResult:
    runs: dict[Setting, dict[int, list[RoundScore]]] = {}
    orders: dict[Setting, int] = {}
    for record in sorted(records, key=lambda record: record["episode"]):
        setting = setting_of(record)
        runs.setdefault(setting, {}).setdefault(record["seed"], []).append(score_round(record, attribution))
        orders[setting] = max(orders.get(setting, 0), len(record["orders"]))
    order = dict.fromkeys(setting_of(record) for record in records)  # as in the file
    unusual = unusual_options(records[0]["env_kwargs"], USUAL)
    title = ", ".join(["Rush", *(f"{name} {value}" for name, value in unusual)])
    return RushResult(
        title,
        team_words(records[0]["team"].values()),
        attribution,
        {setting: tuple(map(tuple, runs[setting].values())) for setting in order},
        {setting: orders[setting] for setting in order},
        not unusual,
    )
