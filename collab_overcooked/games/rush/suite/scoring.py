"""Scores of Rush's records: completed and ruined recipes and the agents' contributions, by setting, run and episode.

Source: "Collaborative Tasks with Heterogenous LLM Students", table 2 and appendix B for CR, RR, turns and the three
kinds of actions. The paper leaves open when an action is positive, so both readings are offered, see ``Attribution``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
from collab_overcooked.runner.env_variants import (
    Variant,
    axis_values,
    by_variant,
    deviations,
    setting_names,
    variant_of,
)
from collab_overcooked.runner.teams import team_text

from ..engine.spec import scenarios
from ..options import Attribution
from ..text.episode_record import RushEvent, RushRecord
from .losses import lost_orders

AXES = ("scenario", "agents")


"""Condition for an action that advanced an order to be positive: the order is finished later (``final``), or none."""


@dataclass(frozen=True, slots=True)
class ActionCounts:
    """Counts of an agent's actions in an episode."""

    positive: int = 0  # A+, actions that advanced an order
    negative: int = 0  # A-, actions that ruined an order
    neutral: int = 0  # A=, all others: no action, refused, or without effect

    @property
    def total(self) -> int:
        """All actions."""
        return self.positive + self.negative + self.neutral


@dataclass(frozen=True, slots=True)
class RoundScore:
    """Scores of one episode."""

    completed: int  # CR, orders finished; also the score
    ruined: int  # RR, orders ruined
    turns: int  # Turns begun
    early: bool  # Whether it ended, with every order finished or ruined, before its last turn
    actions: tuple[ActionCounts, ...]  # Counts by agent
    lost: tuple[int, ...] = ()  # Orders that each agent's actions cost, see ``losses.lost_orders``; empty if not asked

    @property
    def balance(self) -> float | None:
        """Balance of the positive actions between agents, see :func:`balance`."""
        return balance([counts.positive for counts in self.actions])


def balance(contributions: Sequence[float]) -> float | None:
    """Return 1 - |a - b| / (a + b), averaged over all pairs of agents.

    Returns:
        1 if all contribute equally, 0 for a pair of which at most one contributes; None for a single agent.
    """
    pairs = [1 - abs(a - b) / (a + b) if a + b else 0.0 for a, b in combinations(contributions, 2)]
    return sum(pairs) / len(pairs) if pairs else None


def score_round(record: RushRecord, attribution: Attribution = "final", losses: bool = False) -> RoundScore:
    """Score one episode from its ``max_turns`` and its events, and by search with ``losses``.

    Raises:
        ValueError: For an unknown attribution.
    """
    if attribution not in get_args(Attribution):
        raise ValueError(f"attribution must be 'final' or 'immediate', not {attribution!r}")
    seats = [[step.events[seat] for step in record.steps] for seat in range(len(record.team))]
    every = [event for events in seats for event in events]
    finished = {event.order for event in every if event.finished}
    turns = max((event.turn + 1 for event in every), default=0)
    return RoundScore(
        completed=len(finished),
        ruined=len({event.order for event in every if event.ruined}),
        turns=turns,
        early=turns < record.max_turns,
        actions=tuple(_count(events, finished, attribution) for events in seats),
        lost=lost_orders(record) if losses else (),
    )


def _count(events: Iterable[RushEvent], finished: set[str | None], attribution: Attribution) -> ActionCounts:
    positive = negative = neutral = 0
    for event in events:
        if event.ruined:
            negative += 1
        elif event.advanced and (attribution == "immediate" or event.order in finished):
            positive += 1
        else:
            neutral += 1
    return ActionCounts(positive, negative, neutral)


@dataclass(frozen=True, slots=True)
class ScenarioScore:
    """Means over episodes and runs with 95 % intervals over runs; tuples are in agent order."""

    runs: int  # Number of runs
    episodes: int  # Number of episodes in all
    completed: Estimate  # CR
    ruined: Estimate  # RR
    turns: Estimate  # Turns
    positive: tuple[Estimate, ...]  # A+ of each agent
    negative: tuple[Estimate, ...]  # A- of each agent
    neutral: tuple[Estimate, ...]  # A= of each agent
    shares: tuple[Estimate | None, ...]  # Each agent's A+ over all A+ of all runs; None if there are none
    lost: tuple[Estimate, ...]  # Orders that each agent's actions cost; empty if not asked
    balance: Estimate | None  # Participation balance; None for a single agent
    early: Estimate  # Share of episodes that ended before their last turn


def score_rounds(runs: Sequence[Sequence[RoundScore]]) -> ScenarioScore:
    """Average the episodes of each run, then the runs; a run is one sample, as its episodes may be dependent.

    Raises:
        ValueError: If there is no run, or one without an episode.
    """
    if not runs or not all(runs):
        raise ValueError("runs: at least one, each with at least one episode, are needed")

    def means(numbers: Callable[[RoundScore], Sequence[float]]) -> list[Estimate]:
        of_runs = [[sum(column) / len(run) for column in zip(*map(numbers, run), strict=True)] for run in runs]
        estimates = [mean_of_ratios([column], [[1.0] * len(runs)]) for column in zip(*of_runs, strict=True)]
        return [estimate for estimate in estimates if estimate is not None]

    def positive_of(seat: int) -> list[float]:
        return [float(sum(score.actions[seat].positive for score in run)) for run in runs]

    by_agent = [positive_of(seat) for seat in range(len(runs[0][0].actions))]
    of_all = [sum(numbers) for numbers in zip(*by_agent, strict=True)]
    completed, ruined, turns, early = means(attrgetter("completed", "ruined", "turns", "early"))
    return ScenarioScore(
        runs=len(runs),
        episodes=sum(map(len, runs)),
        completed=completed,
        ruined=ruined,
        turns=turns,
        positive=tuple(means(lambda score: [counts.positive for counts in score.actions])),
        negative=tuple(means(lambda score: [counts.negative for counts in score.actions])),
        neutral=tuple(means(lambda score: [counts.neutral for counts in score.actions])),
        shares=tuple(mean_of_ratios([numbers], [of_all]) for numbers in by_agent),
        lost=tuple(means(lambda score: score.lost)),
        balance=means(lambda score: [score.balance or 0.0])[0] if len(runs[0][0].actions) > 1 else None,
        early=early,
    )


def termination(scores: Iterable[RoundScore]) -> dict[int, tuple[int, int]]:
    """Return the paper's table 3: CR -> number of episodes that ended early, and number that ended in the last turn."""
    counts: dict[int, tuple[int, int]] = {}
    for score in scores:
        early, late = counts.get(score.completed, (0, 0))
        counts[score.completed] = (early + score.early, late + (not score.early))
    return dict(sorted(counts.items()))


@cache
def published() -> Mapping[str, Any]:
    """Read the published numbers: ``source``, ``scenario``, ``episodes`` and ``table_3`` by model and domain."""
    return read_shipped_yaml("games/rush/published.yaml")


@dataclass(frozen=True)
class RushSetting:
    """Common setting of the runs of a group of records."""

    scenario: str  # Name of the scenario
    domain: str  # ``"kitchen"``, or the lexicon
    agents: int  # Number of agents
    teacher: str  # See ``teacher_text``


@dataclass(frozen=True)
class RushResult:
    """Scores of one team on one variant of the game."""

    title: str  # Game and variant
    team: str  # Policies, in a notation that does not depend on the size of the team
    attribution: Attribution  # Condition for an action to be positive
    runs: Mapping[RushSetting, tuple[tuple[RoundScore, ...], ...]]  # Setting -> run -> scores of its episodes in turn
    seeds: Mapping[RushSetting, tuple[int, ...]]  # Setting -> seeds of these runs
    orders: Mapping[RushSetting, int]  # Setting -> maximum number of orders in an episode
    is_default: bool = False  # Whether it was played as for the paper's table 3: its options, one model with the manual


def score_record(record: RushRecord) -> dict[str, Any]:
    """Compute the metrics of one episode from its record: ``METRICS`` and ``return``."""
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
        "return": float(sum(step.rewards[0] for step in record.steps)),
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


def score_records(
    records: Iterable[RushRecord], attribution: Attribution = "final", losses: bool = False
) -> list[RushResult]:
    """Score records of this game, one result per team and variant; records of one setting and seed form a run."""
    return [_result(group, attribution, losses) for group in by_variant(records, variant=rush_variant)]


@dataclass(frozen=True, slots=True)
class Lift:
    """Effect of a teaching on a team: mean differences in episodes after feedback, over shared seeds."""

    pairs: int  # Number of shared seeds
    completed: Estimate | None  # CR with it minus CR without
    ruined: Estimate | None  # The same of RR


RunsBySeed = Mapping[int, Sequence[Sequence[RoundScore]]]  # seed -> runs with it -> episodes in turn


def lift(taught: RunsBySeed, other: RunsBySeed) -> Lift | None:
    """Compare two teachings of one team, seed by seed; the first episode of a run, before any feedback, is left out.

    Returns:
        None if no seed has two episodes with both.
    """
    sides: list[dict[int, list[RoundScore]]] = []
    for runs in (taught, other):
        later = {seed: [score for run in group for score in run[1:]] for seed, group in runs.items()}
        sides.append({seed: scores for seed, scores in later.items() if scores})
    seeds = [seed for seed in sides[0] if seed in sides[1]]

    def difference(name: str) -> Estimate | None:
        of_sides = [[mean_of(side[seed], name) for seed in seeds] for side in sides]
        return mean_ci([one - two for one, two in zip(*of_sides, strict=True)])

    def mean_of(scores: Sequence[RoundScore], name: str) -> float:
        return float(sum(getattr(score, name) for score in scores)) / len(scores)

    return Lift(len(seeds), difference("completed"), difference("ruined")) if seeds else None


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


def _is_homogeneous(team: Sequence[str]) -> bool:
    """Return whether one language model with the manual plays in all seats."""
    return len(set(team)) == 1 and PolicySpec.parse(team[0]).is_language and _reads_manual(team[0])


def settings_of(records: Sequence[RushRecord]) -> list[RushSetting]:
    """Return the setting of each of some records."""
    names = setting_names(records, ("scenario",), lambda record: str(record.scenario), scenarios())
    return [
        RushSetting(
            name,
            axis_values(record, (LEXICON,))[LEXICON],
            len(record.team),
            teacher_text(record.teacher, record.team.values()),
        )
        for name, record in zip(names, records, strict=True)
    ]


def _result(records: Sequence[RushRecord], attribution: Attribution, losses: bool) -> RushResult:
    runs: dict[RushSetting, dict[int, list[RoundScore]]] = {}
    orders: dict[RushSetting, int] = {}
    settings = settings_of(records)
    for setting, record in sorted(zip(settings, records, strict=True), key=lambda pair: pair[1].episode):
        runs.setdefault(setting, {}).setdefault(record.seed, []).append(score_round(record, attribution, losses))
        orders[setting] = max(orders.get(setting, 0), len(record.orders))
    variant, order = rush_variant(records[0]), dict.fromkeys(settings)  # as in the file
    scores = {setting: tuple(map(tuple, runs[setting].values())) for setting in order}
    team = list(records[0].team.values())
    return RushResult(
        variant.title,
        team_text(team),
        attribution,
        scores,
        {setting: tuple(runs[setting]) for setting in order},
        {setting: orders[setting] for setting in order},
        not deviations(records[0], variant) and _is_homogeneous(team),
    )
