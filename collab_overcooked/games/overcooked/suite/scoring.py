"""Scores of Overcooked's records by layout and order of seats, and published ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

from collab_overcooked.games.overcooked.engine import spec
from collab_overcooked.io import schema
from collab_overcooked.kernels.macro_actions import MEDIUM, PRIMITIVE
from collab_overcooked.metrics.intervals import Estimate, mean_ci
from collab_overcooked.metrics.registry import Metric, MetricSet
from collab_overcooked.policies.llm.settings import settings_of
from collab_overcooked.policies.registry import is_language
from collab_overcooked.runner.env_variants import by_variant, setting_names, variant_of
from collab_overcooked.runner.record_schema import LABELLED, RecordFields
from collab_overcooked.runner.teams import SWAPPED, specs_as_given

Printed = tuple[float, float | None]
"""A mean, and what is printed behind ±; None for one game."""
OVERCOOKED = "Overcooked-v0"
PEOPLE = "proxy:bc"  # who stands for people
HORIZON = 400
AXES = ("layout",)
RECORD_FIELDS = RecordFields(
    event=schema.nullable(
        schema.object_of({**LABELLED, "event": schema.text, "sparse": schema.number(), "shaped": schema.number()})
    )
)


def default_level(team: Sequence[str]) -> str | dict[str, str]:
    """Return the option ``action_level`` of a team, unless another is asked for: language models give directives."""
    speaks = list(map(is_language, team))
    if all(speaks) or not any(speaks):
        return MEDIUM if all(speaks) else PRIMITIVE
    return {f"agent_{seat}": MEDIUM for seat, own in enumerate(speaks) if own}


# ------------------------------------------------------------------------------------------- published numbers


@dataclass(frozen=True)
class Published:
    """What papers print, for comparison; measured by their authors, not by this package.

    Attributes:
        source: Where it is printed.
        steps: Of an episode.
        self_play: Agent -> layout -> mean, and what is printed behind ± (the standard error), None for one game.
        with_human_proxy: Agent -> its seat -> layout -> likewise, beside a model of human play.
        helper_directive: Layout -> whether LLM-Co had the helper directive -> likewise.
    """

    source: str
    steps: int
    self_play: Mapping[str, Mapping[str, Printed]]
    with_human_proxy: Mapping[str, Mapping[int, Mapping[str, Printed]]]
    helper_directive: Mapping[str, Mapping[bool, Printed]]

    def beside(self, team: Sequence[str], layout: str) -> dict[str, Printed]:
        """Return what was printed of teams like one: of equal agents, or of one beside a stand-in for people."""
        if len(team) != 2:
            return {}
        people = [seat for seat, spec in enumerate(team) if spec == PEOPLE]
        if people:
            named = {f"{agent} + proxy": own[1 - people[-1]] for agent, own in self.with_human_proxy.items()}
        else:
            named = dict(self.self_play) if team[0] == team[1] else {}
        found = {agent: own[layout] for agent, own in named.items() if layout in own}
        settings = settings_of(team[0])
        if team[0] == team[1] and settings is not None and layout in self.helper_directive:
            helped = bool(settings.switches.get("helper"))
            found["LLM-Co with helper" if helped else "LLM-Co without helper"] = self.helper_directive[layout][helped]
        return found


@cache
def published() -> Published:
    """Read the published numbers."""
    file = resources.files("collab_overcooked.games.overcooked.suite") / "published.yaml"
    values = yaml.safe_load(file.read_text(encoding="utf-8"))
    helper = {
        layout: {given: (score, None) for given, score in own.items()}
        for layout, own in values["helper_directive"].items()
    }
    return Published(values["source"], values["steps"], values["self_play"], values["with_human_proxy"], helper)


# ------------------------------------------------------------------------------------------- scoring


@dataclass(frozen=True)
class KitchenRow:
    """Scores on one layout with one order of seats.

    Attributes:
        task: Layout, and whether seats are swapped.
        layout: Its name.
        team: Policy texts in seat order.
        scores: Of the episodes.
        soups: Delivered in the episodes.
        theirs: Published numbers that were measured in the same way, by agent.
    """

    task: str
    layout: str
    team: tuple[str, ...]
    scores: tuple[float, ...]
    soups: tuple[int, ...]
    theirs: Mapping[str, Printed]

    @property
    def score(self) -> Estimate:
        """Mean score with its 95 % interval."""
        return mean_ci(self.scores) or Estimate(0.0)

    @property
    def mean_soups(self) -> float:
        """Mean number of deliveries."""
        return sum(self.soups) / len(self.soups)


@dataclass(frozen=True)
class KitchenResult:
    """Scores of one team on one variant of the game.

    Attributes:
        title: Game and variant.
        team: Policies by seat.
        rows: By layout and order of seats.
    """

    title: str
    team: str
    rows: tuple[KitchenRow, ...]


def score_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics of one episode, as they stand in its record.

    Returns:
        ``score`` (what deliveries paid), ``soups`` and ``shaped`` (each seat's shaped reward).
    """
    score, soups, shaped = 0.0, 0, [0.0] * len(record["team"])
    for step in record["steps"]:
        for seat, event in enumerate(step["events"]):
            if event is not None:
                score += event["sparse"]
                soups += event["event"] == "soup_delivery"
                shaped[seat] += event["shaped"]
    return {"score": score, "soups": soups, "shaped": shaped}


SOUP_STEPS = 20  # to cook a soup; one delivered soup for each is the outcome 1

METRICS = MetricSet(
    (
        Metric("score", "What deliveries paid.", "points", "higher"),
        Metric("soups", "Soups delivered.", "soups", "higher"),
        Metric("shaped", "Shaped reward of each agent.", "points", "higher"),
    ),
    score_record,
    outcome=lambda record: record["metrics"]["soups"] * SOUP_STEPS / max(1, record["timesteps"]),
)


def score_records(records: Iterable[Mapping[str, Any]]) -> list[KitchenResult]:
    """Score records of this game, one result for every team and variant among them."""
    return [_result(group) for group in by_variant(records, specs_as_given)]


def _result(records: Sequence[Mapping[str, Any]]) -> KitchenResult:
    layouts = setting_names(records, AXES, lambda record: str(record["task"]).removesuffix(SWAPPED), spec.layouts())
    tasks: dict[tuple[str, bool], list[Mapping[str, Any]]] = {}
    for layout, record in zip(layouts, records, strict=True):
        tasks.setdefault((layout, record["task"].endswith(SWAPPED)), []).append(record)
    variant = variant_of(records[0])
    # Published scores of language models were measured by the public code's rules, those of others without directives.
    speaks = default_level(list(records[0]["team"].values())) != PRIMITIVE
    usual = not [name for name in variant.changed if name != "text_rules" or not speaks]
    rows = tuple(_row(layout, swapped, played, usual) for (layout, swapped), played in tasks.items())
    first = min(rows, key=lambda row: row.task.endswith(SWAPPED))
    return KitchenResult(variant.title, " ".join(f"agent_{i}={spec}" for i, spec in enumerate(first.team)), rows)


def _row(layout: str, swapped: bool, played: Sequence[Mapping[str, Any]], usual: bool) -> KitchenRow:
    team = tuple(played[0]["team"].values())
    numbers = [score_record(record) for record in played]
    scores, soups = tuple(own["score"] for own in numbers), tuple(own["soups"] for own in numbers)
    shipped = played[0]["env_kwargs"].get("layout") == layout  # not a file of somebody's that is called alike
    theirs = published().beside(team, layout) if usual and shipped else {}
    return KitchenRow(layout + SWAPPED * swapped, layout, team, scores, soups, theirs)
