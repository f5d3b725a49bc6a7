"""Scores of Overcooked's records by layout and order of seats, and published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from collab_overcooked.evaluation.episode_suite import SettingRow
from collab_overcooked.io import schema
from collab_overcooked.io.files import read_shipped_yaml
from collab_overcooked.kernels.macro_actions import MEDIUM, PRIMITIVE
from collab_overcooked.metrics.registry import Metric, MetricSet
from collab_overcooked.policies.llm.settings import settings_of
from collab_overcooked.policies.registry import is_language
from collab_overcooked.runner.env_variants import variant_of
from collab_overcooked.runner.record_schema import LABELLED, RecordFields

Printed = tuple[float, float | None]
"""A mean, and what is printed behind ±; None for one game."""
OVERCOOKED = "Overcooked-v0"
PEOPLE = "proxy:bc"  # policy that stands for people
HORIZON = 400
AXES = ("layout",)
RECORD_FIELDS = RecordFields(
    event=schema.optional(
        schema.object_of({**LABELLED, "event": schema.text, "sparse": schema.number(), "shaped": schema.number()})
    )
)


def default_level(team: Sequence[str]) -> str | dict[str, str]:
    """Return the default ``action_level`` of a team: language models give directives."""
    speaks = list(map(is_language, team))
    if all(speaks) or not any(speaks):
        return MEDIUM if all(speaks) else PRIMITIVE
    return {f"agent_{seat}": MEDIUM for seat, is_model in enumerate(speaks) if is_model}


@dataclass(frozen=True)
class Published:
    """Numbers printed in papers, measured by their authors."""

    source: str  # Citation of the papers
    steps: int  # Steps of an episode
    # Agent -> layout -> mean and standard error (printed after ±), None for one game
    self_play: Mapping[str, Mapping[str, Printed]]
    # Agent -> its seat -> layout -> mean and standard error, with a model of human play
    with_human_proxy: Mapping[str, Mapping[int, Mapping[str, Printed]]]
    # Layout -> whether LLM-Co had the helper directive -> mean and standard error
    helper_directive: Mapping[str, Mapping[bool, Printed]]

    def beside(self, team: Sequence[str], layout: str) -> dict[str, Printed]:
        """Return published numbers of similar teams: of equal agents, or of one with a stand-in for people."""
        if len(team) != 2:
            return {}
        people = [seat for seat, spec in enumerate(team) if spec == PEOPLE]
        if people:
            named = {f"{agent} + proxy": by_seat[1 - people[-1]] for agent, by_seat in self.with_human_proxy.items()}
        else:
            named = dict(self.self_play) if team[0] == team[1] else {}
        printed = {agent: by_layout[layout] for agent, by_layout in named.items() if layout in by_layout}
        settings = settings_of(team[0])
        if team[0] == team[1] and settings is not None and layout in self.helper_directive:
            helped = bool(settings.switches.get("helper"))
            printed["LLM-Co with helper" if helped else "LLM-Co without helper"] = self.helper_directive[layout][helped]
        return printed


@cache
def published() -> Published:
    """Read the published numbers."""
    values = read_shipped_yaml("games/overcooked/suite/published.yaml")
    helper = {
        layout: {helped: (score, None) for helped, score in scores.items()}
        for layout, scores in values["helper_directive"].items()
    }
    return Published(values["source"], values["steps"], values["self_play"], values["with_human_proxy"], helper)


def score_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metrics of one episode, as they stand in its record.

    Returns:
        ``score`` (points for deliveries), ``soups`` and ``shaped`` (each seat's shaped reward).
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
        Metric("score", "Points for deliveries.", "points", "higher"),
        Metric("soups", "Soups delivered.", "soups", "higher"),
        Metric("shaped", "Shaped reward of each agent.", "points", "higher"),
    ),
    score_record,
    outcome=lambda record: record["metrics"]["soups"] * SOUP_STEPS / max(1, record["timesteps"]),
)


class KitchenRow(SettingRow):
    """Scores on one layout with one order of seats."""

    @cached_property
    def published(self) -> Mapping[str, Printed]:
        """Published numbers that were measured in the same way, by agent."""
        changed = variant_of(self.records[0]).changed
        # Published scores of language models were measured by the public code's rules, others without directives.
        speaks = default_level(self.team) != PRIMITIVE
        is_default = not [name for name in changed if name != "text_rules" or not speaks]
        is_built_in = self.records[0]["env_kwargs"].get("layout") == self.setting  # no custom file of the same name
        return published().beside(self.team, self.setting) if is_default and is_built_in else {}

    def printed(self, agent: str) -> str | None:
        """Return a published number as it is printed; None if there is none."""
        if agent not in self.published:
            return None
        mean, error = self.published[agent]
        return f"{mean:g}" if error is None else f"{mean:g} ± {error:g}"
