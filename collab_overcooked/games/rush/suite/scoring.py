"""Metrics of Rush's episodes, and rows of tables: runs of a team in a setting, over which metrics are averaged.

Source: "Collaborative Tasks with Heterogenous LLM Students", table 2 and appendix B for CR, RR, turns and the three
kinds of actions. The paper leaves open when an action is positive, so both readings are offered, see ``Attribution``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from operator import attrgetter
from typing import Any, get_args

from collab_overcooked.game_spec import NO_TEACHER
from collab_overcooked.io.files import read_shipped_yaml
from collab_overcooked.metrics.intervals import Estimate, mean_ci, mean_of_ratios
from collab_overcooked.metrics.registry import Metric, MetricSet
from collab_overcooked.policies.llm.settings import settings_of as language_settings
from collab_overcooked.policies.specs import PolicySpec
from collab_overcooked.registry import LEXICON
from collab_overcooked.runner.env_variants import Variant, axis_values, setting_names, variant_of

from ..engine.spec import scenarios
from ..options import Attribution
from ..text.episode_record import RushRecord
from .losses import lost_orders

AXES = ("scenario", "agents")


def balance(contributions: Sequence[float]) -> float | None:
    """Return 1 - |a - b| / (a + b), averaged over all pairs of agents.

    Returns:
        1 if all contribute equally, 0 for a pair of which at most one contributes; None for a single agent.
    """
    pairs = [1 - abs(a - b) / (a + b) if a + b else 0.0 for a, b in combinations(contributions, 2)]
    return sum(pairs) / len(pairs) if pairs else None


def score_record(record: RushRecord, attribution: Attribution = "final", losses: bool = False) -> dict[str, Any]:
    """Return the metrics of one episode.

    Args:
        record: Record of the episode.
        attribution: When an action that advanced an order is positive: if the order is finished later (``"final"``), or
            always (``"immediate"``).
        losses: Whether to add ``lost``, the orders that each agent's actions cost; see ``losses.lost_orders``.

    Returns:
        ``METRICS`` and ``return`` by name. Metrics of each agent are lists in agent order.

    Raises:
        ValueError: The attribution is unknown.
    """
    if attribution not in get_args(Attribution):
        raise ValueError(f"attribution must be 'final' or 'immediate', not {attribution!r}")
    seats = [[step.events[seat] for step in record.steps] for seat in range(len(record.team))]
    every = [event for events in seats for event in events]
    finished = {event.order for event in every if event.finished}
    turns = max((event.turn + 1 for event in every), default=0)
    advanced = list[int]()
    useful = list[int]()
    negative = list[int]()
    neutral = list[int]()
    for events in seats:
        helpful = [event for event in events if event.advanced and not event.ruined]
        advanced.append(len(helpful))
        useful.append(sum(event.order in finished for event in helpful))
        negative.append(sum(event.ruined for event in events))
    positive = useful if attribution == "final" else advanced
    for seat, events in enumerate(seats):
        neutral.append(len(events) - positive[seat] - negative[seat])
    lost = {"lost": lost_orders(record)} if losses else {}
    return {
        "completed": len(finished),
        "ruined": len({event.order for event in every if event.ruined}),
        "turns": turns,
        "early": turns < record.max_turns,
        "positive": positive,
        "negative": negative,
        "neutral": neutral,
        "advanced": advanced,
        "balance": balance(positive),
        "return": float(sum(step.rewards[0] for step in record.steps)),
        **lost,
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
    outcome=lambda record: record.metrics["completed"] / max(1, len(record.orders)),
)


@cache
def published() -> Mapping[str, Any]:
    """Read the published numbers: ``source``, ``scenario``, ``episodes`` and ``table_3`` by model and domain."""
    return read_shipped_yaml("games/rush/published.yaml")


def rush_variant(record: RushRecord) -> Variant:
    """Return the variant of a record; Kitchen Rush and Alien Rush are one game with separate rows per language."""
    return variant_of(record, (*AXES, LEXICON), "Rush")


def teacher_text(teacher: str, team: Iterable[str]) -> str:
    """Return how results name a teacher: with a note if its students have the manual, which the paper's had not."""
    if teacher == NO_TEACHER or not any(map(_reads_manual, team)):
        return teacher
    return f"{teacher}, students with manual"


def _reads_manual(spec: str) -> bool:
    """Return whether a policy is a language model with the manual; settings that cannot be read count as with it."""
    parsed = PolicySpec.parse(spec)
    if parsed.players:
        return any(_reads_manual(player.text) for player in parsed.players)
    settings = language_settings(spec)
    return parsed.is_language and (settings is None or settings.switches.get("manual", True) is True)


def is_homogeneous(team: Sequence[str]) -> bool:
    """Return whether one language model with the manual plays in all seats."""
    return len(set(team)) == 1 and PolicySpec.parse(team[0]).is_language and _reads_manual(team[0])


Episode = Mapping[str, Any]
"""Metrics of one episode by name, see ``score_record``."""


@dataclass(frozen=True)
class RushRow:
    """Runs of one team in one setting: a row of tables.

    A run is one sample, as its episodes may depend on each other: a metric is averaged over the episodes of each run,
    then over runs, with a 95 % interval over runs.
    """

    variant: str  # Options of the environment that differ from their defaults
    team: tuple[str, ...]  # Policies by seat
    scenario: str  # Name of the scenario
    domain: str  # ``"kitchen"``, or the lexicon
    agents: int  # Number of agents
    teacher: str  # See ``teacher_text``
    orders: int  # Maximum number of orders in an episode
    runs: Mapping[tuple[str, int], Sequence[Episode]]  # (folder, seed) -> metrics of the run's episodes in turn

    @property
    def place(self) -> str:
        """Scenario and domain."""
        return f"{self.scenario}, {self.domain}"

    @property
    def episodes(self) -> list[Episode]:
        """Metrics of the episodes of all runs."""
        return [episode for run in self.runs.values() for episode in run]

    def means(self, metric: str, seat: int | None = None) -> list[float]:
        """Return the mean of a metric, or of one seat's value of it, over the episodes of each run."""
        means = []
        for run in self.runs.values():
            values = [episode[metric] for episode in run]
            means.append(sum(value if seat is None else value[seat] for value in values) / len(values))
        return means

    def mean(self, metric: str, seat: int | None = None) -> Estimate | None:
        """Return the mean over runs of a metric, or of one seat's value of it; None if it is undefined."""
        defined = all(episode[metric] is not None for episode in self.episodes)
        return mean_ci(self.means(metric, seat)) if defined else None

    def share(self, metric: str, seat: int) -> Estimate | None:
        """Return a seat's part of the sum of a metric over seats, episodes and runs; None if the sum is 0."""
        of_seat = [float(sum(episode[metric][seat] for episode in run)) for run in self.runs.values()]
        of_all = [float(sum(sum(episode[metric]) for episode in run)) for run in self.runs.values()]
        return mean_of_ratios([of_seat], [of_all])


def rows_of(
    played: Mapping[str, Sequence[RushRecord]], attribution: Attribution = "final", losses: bool = False
) -> list[RushRow]:
    """Measure episodes and group them by variant, setting and team, in the order of first appearance.

    Args:
        played: Folder -> its records; those of one folder, row and seed form a run.
        attribution: See ``score_record``.
        losses: See ``score_record``.
    """
    every = [(folder, record) for folder, records in played.items() for record in records]
    names = setting_names([record for _, record in every], ("scenario",), lambda record: record.scenario, scenarios())
    groups: dict[tuple[Any, ...], dict[str, list[RushRecord]]] = {}
    for name, (folder, record) in zip(names, every, strict=True):
        domain = axis_values(record, (LEXICON,))[LEXICON]
        teacher = teacher_text(record.teacher, record.specs)
        key = rush_variant(record).label, record.specs, name, domain, len(record.team), teacher
        groups.setdefault(key, {}).setdefault(folder, []).append(record)
    rows = []
    for key, by_folder in groups.items():
        runs: dict[tuple[str, int], list[Episode]] = {}
        orders = 0
        for folder, records in by_folder.items():
            for record in sorted(records, key=attrgetter("episode")):
                runs.setdefault((folder, record.seed), []).append(score_record(record, attribution, losses))
                orders = max(orders, len(record.orders))
        rows.append(RushRow(*key, orders, runs))
    return rows
