"""Rush: completed and ruined recipes and the agents' contributions, counted from the events of records.

Source: "Collaborative Tasks with Heterogenous LLM Students", table 2 and appendix B for CR, RR, turns and the three
kinds of actions. The paper leaves open when an action is positive, so both readings are offered, see ``Attribution``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

from collab_overcooked.io import schema
from collab_overcooked.metrics.intervals import Estimate, mean_of_ratios

Attribution = Literal["final", "immediate"]
"""Condition for an action that advanced an order to be positive: the order is finished later (``final``), or none."""

ATTRIBUTIONS: tuple[Attribution, ...] = ("final", "immediate")
# Fields of an agent's event in one step.
EVENT = schema.object_of(
    {
        "event": schema.text,
        "label": schema.text,
        "reason": schema.text,
        "order": schema.optional(schema.text),
        "worker": schema.integer(),
        "turn": schema.integer(),
        "advanced": schema.boolean,
        "finished": schema.boolean,
        "ruined": schema.boolean,
    }
)


def check_attribution(word: Any) -> Attribution:
    """Return an attribution."""
    if word not in ATTRIBUTIONS:
        raise ValueError(f"attribution must be 'final' or 'immediate', not {word!r}")
    return "final" if word == "final" else "immediate"


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

    @property
    def shares(self) -> tuple[float, ...]:
        """Share of the positive actions by agent; all 0 if there is none."""
        total = sum(counts.positive for counts in self.actions)
        return tuple(counts.positive / total if total else 0.0 for counts in self.actions)

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


def score_round(record: Mapping[str, Any], attribution: Attribution = "final") -> RoundScore:
    """Score one episode.

    Args:
        record: Episode record with ``max_turns`` and events as in ``EVENT``.
        attribution: Condition for an action to be positive.
    """
    check_attribution(attribution)
    seats = [[step["events"][seat] for step in record["steps"]] for seat in range(len(record["team"]))]
    every = [event for events in seats for event in events]
    finished = {event["order"] for event in every if event["finished"]}
    turns = max((event["turn"] + 1 for event in every), default=0)
    return RoundScore(
        completed=len(finished),
        ruined=len({event["order"] for event in every if event["ruined"]}),
        turns=turns,
        early=turns < record["max_turns"],
        actions=tuple(_count(events, finished, attribution) for events in seats),
    )


def _count(events: Iterable[Mapping[str, Any]], finished: set[str], attribution: Attribution) -> ActionCounts:
    positive = negative = neutral = 0
    for event in events:
        if event["ruined"]:
            negative += 1
        elif event["advanced"] and (attribution == "immediate" or event["order"] in finished):
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
    shares: tuple[Estimate, ...]  # Share of the positive actions of each agent
    balance: Estimate | None  # Participation balance; None for a single agent
    early: Estimate  # Share of episodes that ended before their last turn


def score_rounds(runs: Sequence[Sequence[RoundScore]]) -> ScenarioScore:
    """Average the episodes of each run, then the runs; a run is one sample, as its episodes may be dependent.

    Args:
        runs: Run -> its episodes, of the same number of agents.
    """
    if not runs or not all(runs):
        raise ValueError("runs: at least one, each with at least one episode, are needed")
    agents = range(len(runs[0][0].actions))

    def mean(numbers: Iterable[Iterable[float]]) -> Estimate:
        values = [list(run) for run in numbers]
        result = mean_of_ratios([[sum(run) / len(run) for run in values]], [[1.0] * len(values)])
        assert result is not None
        return result

    def by_agent(name: str) -> tuple[Estimate, ...]:
        return tuple(mean([getattr(score.actions[k], name) for score in run] for run in runs) for k in agents)

    return ScenarioScore(
        runs=len(runs),
        episodes=sum(map(len, runs)),
        completed=mean([score.completed for score in run] for run in runs),
        ruined=mean([score.ruined for score in run] for run in runs),
        turns=mean([score.turns for score in run] for run in runs),
        positive=by_agent("positive"),
        negative=by_agent("negative"),
        neutral=by_agent("neutral"),
        shares=tuple(mean([score.shares[k] for score in run] for run in runs) for k in agents),
        balance=mean([score.balance or 0.0 for score in run] for run in runs) if len(agents) > 1 else None,
        early=mean([score.early for score in run] for run in runs),
    )


def termination(scores: Iterable[RoundScore]) -> dict[int, tuple[int, int]]:
    """Return the paper's table 3: CR -> number of episodes that ended early, and number that ended in the last turn."""
    counts: dict[int, tuple[int, int]] = {}
    for score in scores:
        early, late = counts.get(score.completed, (0, 0))
        counts[score.completed] = (early + score.early, late + (not score.early))
    return dict(sorted(counts.items()))
