"""Teaching between the episodes of a run: teachers speak, and policies that learn listen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from collab_overcooked import registry
from collab_overcooked.envs.api import FullGame
from collab_overcooked.game_record import TeacherRecord
from collab_overcooked.io.checks import near_matches
from collab_overcooked.policies.api import Learner, Lesson, Policy, Teacher
from collab_overcooked.policies.registry import LANGUAGE, make_policy

NONE = "none"
WAYS = {
    NONE: "Nobody speaks between the episodes.",
    "teacher_group": "The teacher writes a strategy for the whole group.",
    "teacher_individual": "The teacher writes feedback and a role for each agent.",
}
"""Ways of teaching, in words."""
LANGUAGE_TEACHER = TeacherRecord(
    "collab_overcooked.policies.llm.teacher:from_text",
    LANGUAGE,
    "A language model that reads the last episode; its own words follow, as in teacher_group:llm:gpt-4o.",
)


def teachers() -> dict[str, TeacherRecord]:
    """Return teachers by name, those of games first, plug-ins included; the first one is the default."""
    own = {name: teacher for record in registry.games() for name, teacher in record.teachers.items()}
    return own | {"llm": LANGUAGE_TEACHER}


@dataclass(frozen=True)
class Teaching:
    """Who teaches whom.

    Attributes:
        spec: As it was written.
        mode: One of ``WAYS``.
        teacher: Who teaches; None for nobody.
        past: The run's episodes so far, each with what every seat was told after it.
    """

    spec: str
    mode: str
    teacher: Teacher | None
    past: list[tuple[Mapping[str, Any], tuple[str, ...]]] = field(default_factory=list, compare=False)

    def look_back(self, game: FullGame, record: Mapping[str, Any], policies: Sequence[Policy]) -> tuple[str, ...]:
        """Let the teacher speak and the policies hear it.

        Returns:
            What each seat was told; nothing if nobody teaches.
        """
        lesson = Lesson(game, record, game.manual(), earlier=tuple(self.past))
        told = self._feedback(lesson, len(policies))
        self.past.append((record, told))
        for seat, policy in enumerate(policies):
            if isinstance(policy, Learner):
                policy.between_episodes(Lesson(game, record, lesson.manual, told[seat] if told else "", lesson.earlier))
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


def join_specs(words: Sequence[str]) -> list[str]:
    """Return the specs of a list that was split at every comma, also at those inside of a spec.

    ``["none", "teacher_group:llm:m?tokens=9", "repairs=2"]`` names two.
    """
    specs: list[str] = []
    for word in words:
        if specs and word.partition(":")[0] not in WAYS:
            specs[-1] += f",{word}"
        else:
            specs.append(word)
    return specs


def make_teaching(spec: str, make: Callable[[str], Policy] = make_policy) -> Teaching:
    """Make what is written as ``"none"``, ``"teacher_group"`` or, with a name, ``"teacher_group:scripted"``.

    What follows the teacher's name and a colon is its own text, as in ``"teacher_group:llm:gpt-4o"``.

    Args:
        spec: Mode, teacher and its text.
        make: Makes the policies of the team; language teachers reach their models in the same way.

    Raises:
        ValueError: For an unknown mode or teacher, or a text that it does not take.
    """
    mode, name, text = _parts(spec)
    if mode == NONE:
        return Teaching(NONE, NONE, None)
    return Teaching(spec, mode, registry.load_entry(teachers()[name].entry)(text, make))


def kind_of_teacher(spec: str) -> str | None:
    """Return what kind of teacher a spec names, see ``PolicyRecord``; None for nobody.

    Raises:
        ValueError: For an unknown mode or teacher.
    """
    mode, name, _ = _parts(spec)
    return None if mode == NONE else teachers()[name].kind


def language_teacher(spec: str) -> str | None:
    """Return a language model that teaches as it would be written as a policy; None for other teachers."""
    return f"llm:{_parts(spec)[2]}" if kind_of_teacher(spec) == LANGUAGE else None


def _parts(spec: str) -> tuple[str, str, str]:
    """Return mode, name and text of what is written."""
    mode, colon, rest = spec.partition(":")
    if mode not in WAYS or (mode == NONE and colon):
        raise ValueError(near_matches("teacher", spec, WAYS))
    known = teachers()
    name, _, text = (rest if colon else next(iter(known))).partition(":")
    if name not in known:
        raise ValueError(near_matches(f"teacher of {mode!r}", name, known))
    return mode, name, text
