"""Episodes that follow on one another: the environment goes on, and the team may learn from each."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.policies.api import ReportsUsage
from collab_overcooked.runner.episode import Answer, Answers, EpisodeLogger, Event, Limits, Record, accounts_of, episode
from collab_overcooked.runner.teaching import NONE, Teaching, make_teaching
from collab_overcooked.runner.teams import Team


@dataclass(frozen=True)
class Between:
    """An episode of a series is over and another follows. The answer is what each seat is told, by seat, or nothing.

    Attributes:
        record: Record of the episode, with its metrics; what is added to it stays in it.
    """

    record: Record


def series(
    env: ParallelEnv,
    specs: Sequence[str],
    seed: int,
    keys: Sequence[tuple[str, int]],
    *,
    level: int | None = None,
    limits: Limits | None = None,
    logger: Callable[[], EpisodeLogger | None] = lambda: None,
    score: Callable[[Mapping[str, Any]], dict[str, Any]],
    accounts: Callable[[], Mapping[str, Any]] = dict,
) -> Generator[Event | Between, Answer | Sequence[str], list[Record]]:
    """Begin episodes that follow on one another.

    Args:
        env: See ``episode``, as for all that is not said here.
        specs: Who plays, by seat.
        seed: Seed of the first episode.
        keys: Task and number of each episode.
        level: Level of the task, for the records.
        limits: Bounds of conversations and corrections.
        logger: Makes a new logger for each episode.
        score: Returns the metrics of a record.
        accounts: Returns what the seats' answers took in an episode, by agent.

    Yields:
        What the episodes yield, and ``Between`` after each but the last.

    Returns:
        The records with their metrics, the feedback of each among those of the next.
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
            logger=logger(),
            feedback=feedback,
            accounts=accounts,
        )
        record = yield from run
        records.append(record | {"metrics": score(record)})
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
    """Play episodes that follow on one another with a team of policies.

    Args:
        env: Environment with one seat for each policy.
        team: Who plays.
        seed: Seed of the first episode.
        keys: Task and number of each episode.
        teaching: Who speaks between the episodes; nobody if None.
        **options: Of ``series``.

    Returns:
        The records with their metrics.
    """
    teaching = teaching or make_teaching(NONE)
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
    """Let the teacher speak and the policies listen; returns what each seat was told."""
    told = teaching.look_back(env.game, record, team.policies)
    teacher: object = teaching.teacher
    if isinstance(teacher, ReportsUsage):
        record.setdefault("accounts", {})["teacher"] = teacher.account()
    return told
