"""Records of Overcooked and of OvercookedV2, the metrics of an episode, and published numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import zip_longest
from statistics import fmean
from typing import Any

from collab_overcooked.core.record import EpisodeRecord, Event, Step
from collab_overcooked.io.files import read_shipped_yaml
from collab_overcooked.io.structs import Count, Name, Number, Text
from collab_overcooked.metrics.registry import Metric, MetricSet
from collab_overcooked.policies.llm.settings import settings_of

from .text.text import CONTINUE_TEXT

PEOPLE = "proxy:bc"  # policy that stands for people


class OvercookedEvent(Event, kw_only=True):
    """Event of an agent, with the rewards for it."""

    events: list[Text] = []  # noqa: RUF012  msgspec copies it
    sparse: Number
    shaped: Number

    @property
    def change(self) -> int:
        """Effect on the team's result: the sign of the points."""
        return (self.sparse > 0) - (self.sparse < 0)


class OvercookedStep(Step, kw_only=True):
    """Step of a record."""

    events: Sequence[OvercookedEvent | None]


class OvercookedRecord(EpisodeRecord, kw_only=True):
    """Record of an episode."""

    steps: Sequence[OvercookedStep]
    kitchens: list[tuple[Count, Name]] = []  # noqa: RUF012  Of a kitchen that changes: steps before each, and its name


SOUP_STEPS = 20  # to cook a soup; one delivered soup for each is the outcome 1
LONG_DIRECTIVE = 20  # steps of a directive from which on its player counts as frozen


def count_frozen(record: OvercookedRecord) -> list[int]:
    """Count the steps of each seat within directives of more than ``LONG_DIRECTIVE`` steps."""
    frozen = [0] * len(record.team)
    running = list(frozen)
    for step in record.steps:
        for seat, text in enumerate(step.action_texts):
            running[seat] = running[seat] + 1 if text == CONTINUE_TEXT else 0
            frozen[seat] += running[seat] >= LONG_DIRECTIVE  # its first step is that of the choice
    return frozen


RECOVERED = 0.8  # share of a kitchen's usual rate


def phases_of(record: OvercookedRecord) -> list[tuple[str, list[float]]]:
    """Return the kitchens of an episode in order, each with the team's points in its steps."""
    points = [sum(event.sparse for event in step.events if event is not None) for step in record.steps]
    ends = [*(start for start, _ in record.kitchens[1:]), len(points)]
    phases = []
    for (start, name), end in zip(record.kitchens, ends, strict=False):  # no kitchens where nothing changes
        if start < end:  # no change in the last step
            phases.append((name, points[start:end]))
    return phases


def points_by_phase(records: Sequence[OvercookedRecord]) -> list[float]:
    """Return the mean points of each phase of some episodes.

    Players who stand in the way of a change put it off; an episode counts 0 in phases that it does not reach.
    """
    by_episode = [[sum(points) for _, points in phases_of(record)] for record in records]
    return [fmean(points) for points in zip_longest(*by_episode, fillvalue=0.0)]


def measure_recovery(record: OvercookedRecord) -> float | None:
    """Return the mean number of steps after a change until the new kitchen's usual rate is reached by ``RECOVERED``.

    The usual rate of a kitchen is its points per step in the second halves of all its phases. It is reached by the
    first step at which the mean since the change is high enough, or else the phase counts with all its steps. Changes
    to kitchens whose usual rate is 0 do not count; None where no change does.
    """
    phases, late = phases_of(record), dict[str, list[float]]()
    for name, points in phases:
        late.setdefault(name, []).extend(points[len(points) // 2 :])
    steps = []
    for name, points in phases[1:]:
        enough, total = RECOVERED * sum(late[name]) / max(len(late[name]), 1), 0.0
        if enough == 0:
            continue
        for n, paid in enumerate(points, start=1):
            total += paid
            if total >= enough * n:
                steps.append(n)
                break
        else:
            steps.append(len(points))
    return fmean(steps) if steps else None


def score_record(record: OvercookedRecord) -> dict[str, Any]:
    """Compute the metrics ``SOUP_METRICS`` of one episode from its record; ``recovery`` only if kitchens change."""
    score = 0.0
    soups = 0
    shaped = [0.0] * len(record.team)
    for step in record.steps:
        for seat, event in enumerate(step.events):
            if event is not None:
                score += event.sparse
                soups += event.event == "soup_delivery"
                shaped[seat] += event.shaped
    recovery = {"recovery": measure_recovery(record)} if record.kitchens else {}
    return {"score": score, "soups": soups, "shaped": shaped, **recovery}


_PAID = (
    Metric("score", "Points for deliveries, less those for burnt soup and expired orders.", "points", "higher"),
    Metric("soups", "Soups delivered.", "soups", "higher"),
    Metric("shaped", "Shaped reward of each agent.", "points", "higher"),
)
_FROZEN = Metric(
    "frozen", f"Steps of each agent without a choice, beyond {LONG_DIRECTIVE} of a directive.", "steps", "lower"
)
_RECOVERY = Metric("recovery", "Steps after a change of the kitchen until 80 % of its usual rate.", "steps", "lower")
SOUP_METRICS = MetricSet(
    (*_PAID, _RECOVERY),
    score_record,
    outcome=lambda record: record.metrics["soups"] * SOUP_STEPS / max(1, record.timesteps),
)
METRICS = replace(
    SOUP_METRICS,
    metrics=(*_PAID, _FROZEN, _RECOVERY),
    measure=lambda record: score_record(record) | {"frozen": count_frozen(record)},
)


Printed = Sequence[float | None]
"""A mean and its standard error; None for one game."""


@cache
def published() -> Mapping[str, Any]:
    """Read the published numbers: means of agents by layout, each with its standard error, None for one game."""
    return read_shipped_yaml("games/overcooked/published.yaml")


def published_layouts() -> list[str]:
    """Return the layouts of agents that play with themselves, in the papers' order."""
    return list(dict.fromkeys(name for scores in published()["self_play"].values() for name in scores))


def published_beside(team: Sequence[str], layout: str) -> dict[str, Printed]:
    """Return published numbers of similar teams: of equal agents, or of one with a stand-in for people."""
    if len(team) != 2:
        return {}
    people = [seat for seat, spec in enumerate(team) if spec == PEOPLE]
    if people:
        seats = published()["with_human_proxy"]
        named = {f"{agent} + proxy": by_seat[1 - people[-1]] for agent, by_seat in seats.items()}
    else:
        named = published()["self_play"] if team[0] == team[1] else {}
    printed = {agent: by_layout[layout] for agent, by_layout in named.items() if layout in by_layout}
    settings, directive = settings_of(team[0]), published()["helper_directive"].get(layout)
    if team[0] == team[1] and settings is not None and directive:
        helped = bool(settings.switches.get("helper"))
        if not helped:
            printed.pop("LLM-Co", None)  # of table 4, where it had the directive; table 3 prints both
        printed["LLM-Co with helper" if helped else "LLM-Co without helper"] = (directive[helped], None)
    return printed
