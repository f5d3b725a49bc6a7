"""Series of consecutive episodes: the environment is not reseeded, and the team may learn from each episode."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collab_overcooked.core.record import Account, Record
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.game_record import NO_TEACHER
from collab_overcooked.io.structs import convert
from collab_overcooked.policies.api import ReportsUsage
from collab_overcooked.runner.episode import Answer, Answers, Event, Limits, accounts_of, episode
from collab_overcooked.runner.teaching import Teaching, make_teaching
from collab_overcooked.runner.teams import Team


@dataclass(frozen=True)
class Between:
    """An episode of a series is over and another follows. The answer is the feedback by seat, or empty."""

    record: Record  # Record of the episode with its metrics; fields that are added to it are kept


def series(
    env: ParallelEnv,
    specs: Sequence[str],
    seed: int,
    keys: Sequence[tuple[str, int]],
    *,
    level: int | None = None,
    limits: Limits | None = None,
    score: Callable[[Any], dict[str, Any]],
    accounts: Callable[[], Mapping[str, Any]] = dict,
) -> Generator[Event | Between, Answer | Sequence[str], list[Record]]:
    """Begin a series of episodes; see ``episode`` for the protocol.

    Args:
        env: Environment, see ``episode``.
        specs: Specs of the policies by seat.
        seed: Seed of the first episode.
        keys: Task and number of each episode.
        level: Level of the task, for the records.
        limits: Limits of conversations and corrections.
        score: Function that returns the metrics of a record.
        accounts: Function that returns the cost of the seats' answers in an episode, by agent.

    Yields:
        The events of the episodes, and ``Between`` after each except the last.

    Returns:
        The records with their metrics; feedback on an episode is in the record of the next.
    """
    records: list[Record] = []
    feedback: Sequence[str] = ()
    for i, (task, number) in enumerate(keys):
        run = episode(
            env,
            specs,
            seed,
            episode=number,
            task=task,
            level=level,
            limits=limits,
            fresh=i == 0,
            feedback=feedback,
            accounts=accounts,
        )
        record = yield from run
        records.append(record.replace(metrics=score(record)))
        if i + 1 < len(keys):
            feedback = yield Between(records[-1])  # type: ignore[assignment]
    return records


def play_series(
    env: ParallelEnv,
    team: Team,
    seed: int,
    keys: Sequence[tuple[str, int]],
    *,
    teaching: Teaching | None = None,
    **options: Any,
) -> list[Record]:
    """Play a series of episodes with a team of policies.

    Args:
        env: Environment with one seat for each policy.
        team: Policies of all seats.
        seed: Seed of the first episode.
        keys: Task and number of each episode.
        teaching: Teaching between the episodes, if any.
        **options: Options of ``series``.

    Returns:
        The records with their metrics.
    """
    teaching = teaching or make_teaching(NO_TEACHER)
    run = series(env, team.specs, seed, keys, accounts=lambda: accounts_of(env, team), **options)
    answer: Any = None
    with Answers(team) as answers:
        try:
            while True:
                event = run.send(answer)
                if isinstance(event, Between):
                    answer = _look_back(env, team, teaching, event.record)
                else:
                    answer = answers.to(event)
        except StopIteration as over:
            records: list[Record] = over.value
            return records


def _look_back(env: ParallelEnv, team: Team, teaching: Teaching, record: Record) -> Sequence[str]:
    feedback = teaching.look_back(env.game, record, team.policies)
    teacher: object = teaching.teacher
    if isinstance(teacher, ReportsUsage):
        record.accounts = record.accounts | {"teacher": convert(teacher.account(), Account)}
    return feedback
