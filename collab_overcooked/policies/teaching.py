"""What happens between the episodes of a run: teachers speak, and whoever wants to learn listens."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collab_overcooked.envs.api import ExplainedGame, Game
from collab_overcooked.messages import near_matches
from collab_overcooked.policies.api import Joining, Learner, Lesson, Policy, Teacher

NONE = "none"
WAYS = {
    NONE: "Nobody speaks between the episodes.",
    "teacher_group": "The teacher writes a strategy for the whole group.",
    "teacher_individual": "The teacher writes feedback and a role for each agent.",
}
"""Ways of teaching, in words."""
TEACHERS = {
    "scripted": (
        "collab_overcooked.policies.rush.teacher:ScriptedTeacher",
        "Names idle workers, ruined orders, refusals and unequal work of Rush; meant if no teacher is named.",
    ),
    "llm": (
        "collab_overcooked.policies.llm.teacher:from_text",
        "A language model that reads the last episode; its own words follow, as in teacher_group:llm:gpt-4o.",
    ),
}
"""Name of a teacher -> ``"package.module:maker"``, and what it does; the first is meant if none is named."""


@dataclass(frozen=True)
class Teaching:
    """Who teaches whom.

    Attributes:
        spec: As it was written.
        mode: One of ``WAYS``.
        teacher: Who teaches; None for nobody.
    """

    spec: str
    mode: str
    teacher: Teacher | None

    def look_back(self, game: Game, record: Mapping[str, Any], policies: Sequence[Policy]) -> tuple[str, ...]:
        """Let the teacher speak and the policies hear it.

        Args:
            game: The compiled game.
            record: Record of the episode that is over, with its metrics.
            policies: The team by seat.

        Returns:
            What each seat was told; nothing if nobody teaches.
        """
        teacher: object = self.teacher
        if isinstance(teacher, Joining):
            teacher.join(tuple(policies))
        lesson = Lesson(game, record, game.manual() if isinstance(game, ExplainedGame) else "")
        told = self._feedback(lesson, len(policies))
        for seat, policy in enumerate(policies):
            if isinstance(policy, Learner):
                policy.between_episodes(Lesson(game, record, lesson.manual, told[seat] if told else ""))
        return told

    def _feedback(self, lesson: Lesson, n_agents: int) -> tuple[str, ...]:
        if self.teacher is None:
            return ()
        if self.mode == "teacher_group":
            return (self.teacher.teach_group(lesson),) * n_agents
        told = tuple(self.teacher.teach_individual(lesson))
        if len(told) != n_agents:
            raise ValueError(f"teacher {self.teacher.name!r} spoke to {len(told)} agents; there are {n_agents}")
        return told


def make_teaching(spec: str) -> Teaching:
    """Make what is written as ``"none"``, ``"teacher_group"`` or, with a name, ``"teacher_group:scripted"``.

    What follows the teacher's name and a colon is its own text, as in ``"teacher_group:llm:gpt-4o"``.

    Raises:
        ValueError: For an unknown mode or teacher.
    """
    mode, colon, name = spec.partition(":")
    if mode == NONE and not colon:
        return Teaching(NONE, NONE, None)
    if mode not in WAYS or mode == NONE:
        raise ValueError(near_matches("teacher", spec, WAYS))
    name, _, text = (name if colon else next(iter(TEACHERS))).partition(":")
    if name not in TEACHERS:
        raise ValueError(near_matches(f"teacher of {mode!r}", name, TEACHERS))
    module, _, maker = TEACHERS[name][0].partition(":")
    made = getattr(importlib.import_module(module), maker)
    return Teaching(spec, mode, made(text) if text else made())
