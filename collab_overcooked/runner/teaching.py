"""Series of consecutive episodes, and teaching between them: feedback from teachers to policies that learn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from collab_overcooked import registry
from collab_overcooked.core.limits import Limits
from collab_overcooked.core.record import EpisodeRecord, Usage
from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.game_spec import NO_TEACHER, TeacherEntry
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.structs import convert
from collab_overcooked.metrics.registry import metrics_of
from collab_overcooked.policies.api import Learner, Lesson, Policy, ReportsUsage, Teacher
from collab_overcooked.policies.registry import LANGUAGE
from collab_overcooked.policies.specs import make_known_policy
from collab_overcooked.runner.episode import play_episode, watching
from collab_overcooked.runner.teams import Team, make_team

MODES = {
    NO_TEACHER: "No feedback between the episodes.",
    "teacher_group": "The teacher writes a strategy for the whole group.",
    "teacher_individual": "The teacher writes feedback and a role for each agent.",
    "placebo_group": "The team gets the strategy that the teacher wrote for another team of the same episodes.",
    "placebo_individual": "Each agent gets the feedback that the teacher wrote for its seat of that other team.",
}
"""Modes of teaching, with their descriptions."""
PLACEBO, REAL = "placebo_", "teacher_"
OTHER_POLICY = "random"
"""Policy in all seats of the team whose feedback a placebo is."""
LANGUAGE_TEACHER = TeacherEntry(
    "collab_overcooked.policies.llm.teacher:from_text",
    LANGUAGE,
    "A language model that reads the last episode; its own words follow, as in teacher_group:llm:gpt-4o.",
)


def teachers() -> dict[str, TeacherEntry]:
    """Return teachers by name, those of games first, plug-ins included; the first one is the default."""
    by_game = {name: teacher for record in registry.games() for name, teacher in record.teachers.items()}
    return by_game | {"llm": LANGUAGE_TEACHER}


@dataclass(frozen=True)
class Teaching:
    """Teaching in a series of episodes."""

    spec: str  # Spec of the teaching
    mode: str  # One of ``MODES``
    teacher: Teacher | None  # The teacher; None without one
    # Earlier episodes of the run, each with the feedback by seat
    past: list[tuple[EpisodeRecord, tuple[str, ...]]] = field(default_factory=list, compare=False)
    # Episodes of the placebo's team, which the teacher reads instead, each with the feedback that it gave on them
    placebo_past: list[tuple[EpisodeRecord, tuple[str, ...]]] = field(default_factory=list, compare=False)

    @property
    def is_placebo(self) -> bool:
        """Whether the teacher reads the episodes of another team."""
        return self.mode.startswith(PLACEBO)

    def look_back(
        self,
        game: FullGame,
        record: EpisodeRecord,
        policies: Sequence[Policy],
        placebo_record: EpisodeRecord | None = None,
    ) -> tuple[str, ...]:
        """Request feedback from the teacher and pass it to the policies.

        Args:
            game: The compiled game.
            record: Episode of the team.
            policies: Policies of all seats.
            placebo_record: The same episode as the placebo's team played it, which the teacher reads instead of
                ``record``; None unless the teaching is a placebo.

        Returns:
            Feedback by seat; empty without a teacher.
        """
        if placebo_record is None:
            past, read = self.past, record
        else:
            past, read = self.placebo_past, placebo_record
        meanings = {name: metric.meaning for name, metric in metrics_of(record.env_id).items()}
        lesson = Lesson(game, read, game.manual(), earlier=tuple(past), meanings=meanings)
        feedback = self._feedback(lesson, len(policies))
        own = replace(lesson, record=record, earlier=tuple(self.past))
        self.past.append((record, feedback))
        if placebo_record is not None:
            self.placebo_past.append((placebo_record, feedback))
        for seat, policy in enumerate(policies):
            if isinstance(policy, Learner):
                to_seat = feedback[seat] if feedback else ""
                policy.between_episodes(replace(own, feedback=to_seat))
        return feedback

    def _feedback(self, lesson: Lesson, n_agents: int) -> tuple[str, ...]:
        if self.teacher is None:
            return ()
        if self.mode.endswith("group"):
            return (self.teacher.teach_group(lesson),) * n_agents
        feedback = tuple(self.teacher.teach_individual(lesson))
        if len(feedback) != n_agents:
            message = f"gave feedback to {len(feedback)} agents; there are {n_agents}"
            raise ValueError(f"teacher {self.teacher.name!r} {message}")
        return feedback


def join_specs(parts: Sequence[str]) -> list[str]:
    """Rejoin specs that were split at every comma, including commas inside a spec.

    ``["none", "teacher_group:llm:m?tokens=9", "repairs=2"]`` contains two specs.
    """
    specs: list[str] = []
    for part in parts:
        if specs and part.partition(":")[0] not in MODES:
            specs[-1] += f",{part}"
        else:
            specs.append(part)
    return specs


def make_teaching(spec: str, make: Callable[[str], Policy] = make_known_policy) -> Teaching:
    """Create the teaching of a spec such as ``"none"``, ``"teacher_group"`` or ``"teacher_group:scripted"``.

    Parameters of the teacher follow its name after a colon, as in ``"teacher_group:llm:gpt-4o"``. A placebo,
    ``"placebo_group:llm:gpt-4o"``, has the form and length of that teacher's feedback, but is about a team of
    ``OTHER_POLICY`` in the same episodes, and says nothing about this team.

    Args:
        spec: Mode, teacher and its parameters.
        make: Factory of the team's policies; language teachers connect to their models in the same way.
    """
    mode, name, text = _parts(spec)
    if mode == NO_TEACHER:
        return Teaching(NO_TEACHER, NO_TEACHER, None)
    return Teaching(spec, mode, registry.load_entry(teachers()[name].entry)(text, make))


def placebo_of(spec: str) -> str:
    """Return the placebo of a teaching spec, ``"placebo_group"`` for ``"teacher_group"``; other specs are unchanged."""
    return PLACEBO + spec.removeprefix(REAL) if spec.startswith(REAL) else spec


def kind_of_teacher(spec: str) -> str | None:
    """Return the kind of a spec's teacher, see ``PolicyEntry``; None without a teacher."""
    mode, name, _ = _parts(spec)
    return None if mode == NO_TEACHER else teachers()[name].kind


def language_teacher(spec: str) -> str | None:
    """Return the policy spec of a language-model teacher; None for other teachers."""
    return f"llm:{_parts(spec)[2]}" if kind_of_teacher(spec) == LANGUAGE else None


def _parts(spec: str) -> tuple[str, str, str]:
    mode, colon, rest = spec.partition(":")
    if mode not in MODES or (mode == NO_TEACHER and colon):
        raise ValueError(near_matches("teacher", spec, MODES))
    known = teachers()
    name, _, text = (rest if colon else next(iter(known))).partition(":")
    if name not in known:
        raise ValueError(near_matches(f"teacher of {mode!r}", name, known))
    return mode, name, text


def play_series(
    env: ParallelEnv,
    team: Team,
    seed: int,
    keys: Sequence[tuple[str, int]],
    *,
    score: Callable[[Any], dict[str, Any]],
    teaching: Teaching | None = None,
    level: int | None = None,
    limits: Limits | None = None,
) -> list[EpisodeRecord]:
    """Play consecutive episodes: the environment is seeded once, and the team may learn from each episode.

    Args:
        env: Environment with one seat for each policy.
        team: Policies of all seats.
        seed: Seed of the first episode.
        keys: Task and number of each episode.
        score: Function that returns the metrics of a record.
        teaching: Teaching between the episodes, if any.
        level: Level of the task, for the records.
        limits: Limits of conversations and corrections; the defaults if None.

    Returns:
        The records with their metrics; feedback on an episode is in the record of the next.
    """
    teaching, records = teaching or make_teaching(NO_TEACHER), list[EpisodeRecord]()
    feedback: Sequence[str] = ()
    placebo_team = _PlaceboTeam(env, seed, limits) if teaching.is_placebo else None
    for task, number in keys:
        if records:
            placebo = placebo_team.play(records[-1], score) if placebo_team else None
            feedback = teaching.look_back(env.game, records[-1], team.policies, placebo)
            teacher: object = teaching.teacher
            if isinstance(teacher, ReportsUsage):
                records[-1].accounts = records[-1].accounts | {"teacher": convert(teacher.account(), Usage)}
        record = play_episode(
            env, team, seed, task=task, episode=number, level=level, limits=limits, fresh=not records, feedback=feedback
        )
        records.append(record.replace(metrics=score(record)))
    return records


class _PlaceboTeam:
    """A different team that plays the episodes of a series; its feedback serves as placebo."""

    def __init__(self, env: ParallelEnv, seed: int, limits: Limits | None) -> None:
        self.env = ParallelEnv(env.game, max_cycles=env.max_cycles)
        self.seed = seed
        self.begun = False
        self.limits = limits
        self.team = make_team((OTHER_POLICY,) * env.game.n_agents, make_known_policy)

    def play(self, like: EpisodeRecord, score: Callable[[Any], dict[str, Any]]) -> EpisodeRecord:
        """Return the record of the next episode, which has the task, number and level of the team's."""
        fresh, self.begun = not self.begun, True
        watch = watching.set(None)  # whoever watches the team's episodes sees no others
        try:
            record = play_episode(
                self.env,
                self.team,
                self.seed,
                task=like.task,
                episode=like.episode,
                level=like.level,
                limits=self.limits,
                fresh=fresh,
            )
        finally:
            watching.reset(watch)
        return record.replace(metrics=score(record))
