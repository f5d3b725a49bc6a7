"""Metrics of an episode, and rows of tables: episodes of some tasks, over which metrics are pooled.

PC is the mean of TES over agents. A task's numbers are means over its episodes, those of a level are unweighted means
over its tasks. Works for any number of agents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collab_overcooked.core.record import EpisodeRecord, Step
from collab_overcooked.metrics.intervals import Estimate, mean_of_groups, mean_of_ratios, mean_of_shares
from collab_overcooked.metrics.trajectory import BETA, rouge_l, tes

from ..options import CollaborationOptions
from .collaboration import (
    CollaborationEvent,
    CollaborationRun,
    PlanConversation,
    PlanMessage,
    References,
    Vocabularies,
    any_seat,
    collaboration_events,
    count_initiations,
    keep_known,
    required_collaborations,
    required_initiated,
    required_responded,
)

Episode = Mapping[str, Any]
"""Metrics of one episode by name; those of each agent are lists in agent order."""


def score_run(
    run: CollaborationRun,
    references: References,
    vocabularies: Vocabularies | None = None,
    options: CollaborationOptions | None = None,
    beta: float = BETA,
) -> dict[str, Any]:
    """Return the metrics of one episode against reference trajectories.

    Source: paper eq. 1 to 6 and the original's evaluation: histories lose their unknown actions first, each
    agent takes its own best reference.

    Args:
        run: The episode.
        references: Agent -> reference -> actions.
        vocabularies: Seat -> known actions; None keeps every action.
        options: How conversations are counted.
        beta: Weight of the history's length in TES.

    Returns:
        ``success`` and ``timesteps``; ``tes``, ``completeness`` (D/m), ``efficiency`` (D/n) and ``rouge_l`` (of all
        actions, known or not) of each agent; ``pc``, the mean of ``tes`` (eq. 4); ``codes``, one of each scored
        conversation, see ``CollaborationEvent.code``; ``initiated`` and ``responded``, the right ones, and
        ``opportunities``, by which IC and RC divide them; the last three with the prefix ``required_`` by
        ``CollaborationOptions.as_required``; the number of scored conversations by kind, see ``Initiation``.

    Raises:
        ValueError: The number of references is not that of the agents.
    """
    if len(references) != len(run.history):
        raise ValueError(f"references: given for {len(references)} agents, the run has {len(run.history)}")
    options = options or CollaborationOptions()
    known, agents = any_seat(vocabularies), range(len(references))
    actions = [run.actions(k) if known is None else keep_known(run.actions(k), known) for k in agents]
    scores = [tes(own, lists, beta) for own, lists in zip(actions, references, strict=True)]
    by_agent = [score.value for score in scores]
    events = collaboration_events(run, references, vocabularies, options, beta)
    required = collaboration_events(run, references, vocabularies, options.as_required, beta)
    counts = _capability(events, references, options, beta)
    strict = _capability(required, references, options.as_required, beta)
    kinds = count_initiations(events, references)
    return {
        "success": run.success,
        "timesteps": run.timesteps,
        "tes": by_agent,
        "pc": sum(by_agent) / len(by_agent),
        "completeness": [score.completeness for score in scores],
        "efficiency": [score.efficiency for score in scores],
        "rouge_l": [rouge_l(run.actions(k), references[k]) for k in agents],
        "codes": [event.code for event in events],
        **counts,
        **{f"required_{name}": count for name, count in strict.items()},
        **{kind.value: count for kind, count in kinds.items()},
    }


def _capability(
    events: Sequence[CollaborationEvent], references: References, options: CollaborationOptions, beta: float
) -> dict[str, int]:
    """Count right initiations and responses: conversations, or required actions that were requested and answered."""
    if options.denominator == "conversations":
        initiated = sum(event.initiated for event in events)
        responded = sum(event.responded for event in events)
        return {"initiated": initiated, "responded": responded, "opportunities": len(events)}
    return {
        "initiated": required_initiated(events, references, beta),
        "responded": required_responded(events, references, beta),
        "opportunities": required_collaborations(references),
    }


@dataclass(frozen=True)
class CollabRow:
    """Episodes of some tasks: a row of tables.

    Source: the paper's tables: the unweighted mean over the tasks of the level; the original's evaluation of a task: IC
    and RC over the pooled conversations, time over successful episodes only. The intervals resample episodes within
    tasks, so they say how sure the numbers are for these tasks, not for other tasks.
    """

    name: str  # What the tasks have in common: the task, the level, or ``"total"``
    tasks: Mapping[str, Sequence[Episode]]  # Task -> metrics of its episodes

    @property
    def episodes(self) -> list[Episode]:
        """Metrics of the episodes of all tasks."""
        return [episode for episodes in self.tasks.values() for episode in episodes]

    def value(self, measure: str, seat: int | None = None) -> Estimate | None:
        """Return a number of ``MEASURES``, of one seat where agents have their own; None if it is undefined."""
        return MEASURES[measure](self, seat)

    def values(self, metric: str, seat: int | None = None) -> list[list[float]] | None:
        """Return a metric of the episodes of each task, of one seat if given; None if an episode has none."""
        if any(episode.get(metric) is None for episode in self.episodes):
            return None
        values = []
        for episodes in self.tasks.values():
            found = [episode[metric] for episode in episodes]
            values.append([float(value if seat is None else value[seat]) for value in found])
        return values


Measure = Callable[[CollabRow, int | None], Estimate | None]


def _mean(metric: str) -> Measure:
    def measure(row: CollabRow, seat: int | None) -> Estimate | None:
        values = row.values(metric, seat)
        return None if values is None else mean_of_groups(values)

    return measure


def _redundancy(row: CollabRow, seat: int | None) -> Estimate | None:
    efficiency = row.value("efficiency", seat)
    if efficiency is None:
        return None
    low = None if efficiency.high is None else 1.0 - efficiency.high
    return Estimate(1.0 - efficiency.value, low, None if efficiency.low is None else 1.0 - efficiency.low)


def _ratio(numerator: str, denominator: str) -> Measure:
    """Pool IC or RC; a task without opportunities counts as 0, like in the original."""

    def measure(row: CollabRow, seat: int | None) -> Estimate | None:
        tops, bottoms = row.values(numerator), row.values(denominator)
        if tops is None or bottoms is None:
            return None
        return mean_of_ratios(tops, [counts if any(counts) else [1.0] * len(counts) for counts in bottoms])

    return measure


def _success_rate(row: CollabRow, seat: int | None) -> Estimate:
    successes = [sum(episode["success"] for episode in episodes) for episodes in row.tasks.values()]
    return mean_of_shares(successes, list(map(len, row.tasks.values())))


def _time(row: CollabRow, seat: int | None) -> Estimate | None:
    """Pool steps over successful episodes; tasks without success are left out."""
    steps, successes = [], []
    for episodes in row.tasks.values():
        steps.append([float(episode["timesteps"] * episode["success"]) for episode in episodes])
        successes.append([float(episode["success"]) for episode in episodes])
    return mean_of_ratios(steps, successes)


MEASURES: Mapping[str, Measure] = {
    "success_rate": _success_rate,
    "pc": _mean("pc"),
    "ic": _ratio("initiated", "opportunities"),
    "rc": _ratio("responded", "opportunities"),
    "required_ic": _ratio("required_initiated", "required_opportunities"),
    "required_rc": _ratio("required_responded", "required_opportunities"),
    "timesteps": _time,
    "tes": _mean("tes"),
    "efficiency": _mean("efficiency"),
    "redundancy": _redundancy,
    "rouge_l": _mean("rouge_l"),
}
"""How tables pool metrics over episodes and tasks. The last four are those of a seat."""


def run_from_record(record: EpisodeRecord) -> CollaborationRun:
    """Read a run from an episode record (schema ``collab-overcooked-record/1``).

    Messages are grouped into conversations by their step and conversation number. In records of ``initiations`` those
    of the last step count, in which the chef is asked; what was said before belongs to the question.
    """
    history = tuple(tuple((entry.timestamp, entry.action) for entry in actions) for actions in record.history)
    first = 0 if record.part is None else len(record.steps) - 1
    conversations = [talk for t, step in enumerate(record.steps) if t >= first for talk in _conversations(step, t)]
    return CollaborationRun(history, tuple(conversations), record.success, record.timesteps)


def _conversations(step: Step, t: int) -> list[PlanConversation]:
    groups: dict[int, list[PlanMessage]] = {}
    for entry in step.messages:
        if entry.agent is not None:  # a voice without a seat
            message = PlanMessage(entry.agent, entry.say, entry.plan)
            groups.setdefault(entry.conversation or 0, []).append(message)
    return [PlanConversation(t, tuple(messages)) for messages in groups.values()]


def apply_time_limit(run: CollaborationRun, limit: int) -> CollaborationRun:
    """Judge a run by the time limit, as the original does after the run.

    Source: the original's time-limit script. A delivery in the step of 0-based index ``limit`` or earlier is
    a success, which is one step more than ``limit`` steps. Every other run failed and is cut: it keeps the
    steps 0 to limit − 1 and the actions with a timestamp below ``limit``, which loses up to two more labels.

    Args:
        run: The whole run.
        limit: Steps allowed, see ``config.steps_allowed``.

    Returns:
        The same run if it succeeded in time, else the cut one with ``success=False``.
    """
    if run.success and run.timesteps - 1 <= limit:
        return run
    history = tuple(tuple(entry for entry in actions if entry[0] < limit) for actions in run.history)
    return CollaborationRun(
        history=history,
        conversations=tuple(c for c in run.conversations if c.timestep < limit),
        success=False,
        timesteps=min(run.timesteps, limit),
    )
