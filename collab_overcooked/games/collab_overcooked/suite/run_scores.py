"""Scores of a run, a task and a level, from runs; runs from episode records.

PC is the mean of TES over agents, a task's numbers are means over its runs, a level's are unweighted means
over its tasks. Works for any number of agents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from collab_overcooked.core.record import EpisodeRecord, Step
from collab_overcooked.metrics.intervals import Estimate, mean_of_groups, mean_of_ratios, mean_of_shares
from collab_overcooked.metrics.trajectory import BETA, rouge_l, tes

from ..options import CollaborationOptions
from .collaboration import (
    CollaborationRun,
    PlanConversation,
    PlanMessage,
    References,
    Vocabularies,
    any_seat,
    collaboration_events,
    keep_known,
    required_collaborations,
    required_initiated,
    required_responded,
)


@dataclass(frozen=True, slots=True)
class RunScore:
    """Scores of one run; tuples are in agent order."""

    tes: tuple[float, ...]  # TES of each agent
    pc: float  # Progress completeness, the mean of ``tes`` (paper eq. 4).
    completeness: tuple[float, ...]  # D/m of each agent
    efficiency: tuple[float, ...]  # D/n of each agent
    success: bool  # Whether the order was delivered in time
    timesteps: int  # Environment steps taken
    codes: tuple[int, ...]  # Code of each scored conversation: 0 both right, 1 initiation, 2 response, 3 neither
    initiated: int  # Right initiations: conversations, or required actions that were requested
    responded: int  # Right responses: conversations, or required actions that were answered
    opportunities: int  # What this run adds to the denominator of IC and RC
    rouge_l: tuple[float, ...]  # ROUGE-L of each agent, of all its actions, known or not


@dataclass(frozen=True, slots=True)
class LevelScore:
    """Unweighted means over tasks; tuples are in agent order.

    Those that need references are None where there are none.
    """

    name: str  # What the tasks have in common, e.g. "1" or "total".
    tasks: int  # Number of tasks
    runs: int  # Number of runs over all tasks
    success_rate: Estimate  # Mean SR with Wilson's interval
    pc: Estimate | None = None  # Mean PC
    tes: tuple[Estimate, ...] | None = None  # Mean TES of each agent
    efficiency: tuple[Estimate, ...] | None = None  # Mean D/n of each agent
    ic: Estimate | None = None  # Mean initiating capability; a task without opportunities counts as 0
    rc: Estimate | None = None  # Mean responding capability; a task without opportunities counts as 0
    # Mean over the tasks that have a success of the steps of their successful runs, or None
    timesteps: Estimate | None = None
    rouge_l: tuple[Estimate, ...] | None = None  # Mean ROUGE-L of each agent
    required_ic: Estimate | None = None  # Mean IC by ``CollaborationOptions.as_required``
    required_rc: Estimate | None = None  # Mean RC by ``CollaborationOptions.as_required``

    @property
    def redundancy(self) -> tuple[Estimate, ...] | None:
        """Redundancy of each agent: one minus its efficiency."""
        return None if self.efficiency is None else tuple(map(_complement, self.efficiency))


def score_run(
    run: CollaborationRun,
    references: References,
    vocabularies: Vocabularies | None = None,
    options: CollaborationOptions | None = None,
    beta: float = BETA,
) -> RunScore:
    """Score one run.

    Source: paper eq. 1 to 6 and the original's evaluation: histories lose their unknown actions first, each
    agent takes its own best reference.

    Args:
        run: The episode.
        references: Agent -> reference -> actions.
        vocabularies: Seat -> known actions; None keeps every action.
        options: How conversations are counted.
        beta: Weight of the history's length in TES.

    Raises:
        ValueError: The number of references is not that of the agents.
    """
    if len(references) != len(run.history):
        raise ValueError(f"references: given for {len(references)} agents, the run has {len(run.history)}")
    options = options or CollaborationOptions()
    known = any_seat(vocabularies)
    scores = [tes(_known(run.actions(k), known), references[k], beta) for k in range(len(references))]
    events = collaboration_events(run, references, vocabularies, options, beta)
    if options.denominator == "conversations":
        counts = (sum(event.initiated for event in events), sum(event.responded for event in events), len(events))
    else:
        counts = (
            required_initiated(events, references, beta),
            required_responded(events, references, beta),
            required_collaborations(references),
        )
    initiated, responded, opportunities = counts
    return RunScore(
        tes=tuple(score.value for score in scores),
        pc=sum(score.value for score in scores) / len(scores),
        completeness=tuple(score.completeness for score in scores),
        efficiency=tuple(score.efficiency for score in scores),
        success=run.success,
        timesteps=run.timesteps,
        codes=tuple(event.code for event in events),
        initiated=initiated,
        responded=responded,
        opportunities=opportunities,
        rouge_l=tuple(rouge_l(run.actions(k), lists) for k, lists in enumerate(references)),
    )


def score_runs(
    runs: Sequence[CollaborationRun],
    references: References,
    vocabularies: Vocabularies | None = None,
    options: CollaborationOptions | None = None,
    beta: float = BETA,
) -> tuple[RunScore, ...]:
    """Score the runs of one task, see ``score_run``; ``score_level`` averages them.

    Raises:
        ValueError: No run is given.
    """
    if not runs:
        raise ValueError("runs: none given; a task's score needs at least one run")
    return tuple(score_run(run, references, vocabularies, options, beta) for run in runs)


def score_level(tasks: Sequence[Sequence[RunScore]], name: str = "") -> LevelScore:
    """Average one task, the tasks of a level, or any group such as all levels together.

    Source: the paper's tables: the unweighted mean over the tasks of the level; the original's evaluation of a task: IC
    and RC over the pooled conversations, time over successful runs only. The intervals resample runs within tasks, so
    they say how sure the numbers are for these tasks, not for other tasks.

    Args:
        tasks: Runs of each task, at least one, all with the same number of agents.
        name: Label of the group.

    Raises:
        ValueError: No task is given, or their numbers of agents differ.
    """
    if not tasks:
        raise ValueError("tasks: none given; a level's score needs at least one task")
    sizes = {len(run.tes) for task in tasks for run in task}
    if len(sizes) > 1:
        raise ValueError(f"tasks: have {sorted(sizes)} agents, a level needs the same number in every task")
    groups = list(tasks)
    return LevelScore(
        name=name,
        tasks=len(groups),
        runs=sum(len(runs) for runs in groups),
        success_rate=success_rate(groups),
        pc=_means(groups, lambda run: (run.pc,))[0],
        tes=_means(groups, lambda run: run.tes),
        efficiency=_means(groups, lambda run: run.efficiency),
        ic=_capability(groups, lambda run: run.initiated),
        rc=_capability(groups, lambda run: run.responded),
        timesteps=mean_time(groups),
        rouge_l=_means(groups, lambda run: run.rouge_l),
    )


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


def _known(actions: Sequence[str], known: frozenset[str] | None) -> Sequence[str]:
    return actions if known is None else keep_known(actions, known)


Groups = Sequence[Sequence[RunScore]]


def success_rate(groups: Sequence[Sequence[CollaborationRun | RunScore]]) -> Estimate:
    """Return the mean success rate of tasks with Wilson's interval."""
    successes = [sum(run.success for run in runs) for runs in groups]
    return mean_of_shares(successes, list(map(len, groups)))


def _means(groups: Groups, values: Callable[[RunScore], Sequence[float]]) -> tuple[Estimate, ...]:
    table = [[values(run) for run in runs] for runs in groups]
    width = len(table[0][0])

    def column(k: int) -> list[list[float]]:
        return [[row[k] for row in rows] for rows in table]

    estimates = [mean_of_groups(column(k)) for k in range(width)]
    return tuple(estimate for estimate in estimates if estimate is not None)  # every task has a run


def _capability(groups: Groups, count: Callable[[RunScore], int]) -> Estimate:
    """IC or RC; a task without opportunities counts as 0, like in the original."""
    tops: list[list[float]] = []
    bottoms: list[list[float]] = []
    for runs in groups:
        silent = not any(run.opportunities for run in runs)
        tops.append([float(count(run)) for run in runs])
        bottoms.append([1.0 if silent else float(run.opportunities) for run in runs])
    estimate = mean_of_ratios(tops, bottoms)
    assert estimate is not None  # no task's denominator is 0
    return estimate


def _complement(estimate: Estimate) -> Estimate:
    low = None if estimate.high is None else 1.0 - estimate.high
    return Estimate(1.0 - estimate.value, low, None if estimate.low is None else 1.0 - estimate.low)


def mean_time(groups: Sequence[Sequence[CollaborationRun | RunScore]]) -> Estimate | None:
    """Return the mean over tasks of the steps of their successful runs; None without success."""
    tops = [[float(run.timesteps) if run.success else 0.0 for run in runs] for runs in groups]
    return mean_of_ratios(tops, [[float(run.success) for run in runs] for runs in groups])


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
