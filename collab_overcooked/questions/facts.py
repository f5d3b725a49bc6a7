"""Questions about facts of a state, computed by the games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from collab_overcooked.questions.items import FACT, Item, Scene

NUMBERS = 4  # choices of a numeric question


class Fact(NamedTuple):
    """Question about a state, with its answer."""

    name: str  # Name of the fact; facts with the same name are comparable
    question: str  # Text of the question
    choices: tuple[str, ...]  # Texts of the choices
    correct: int  # Index of the correct choice
    skill: str  # Skill for tables

    @property
    def answer(self) -> str:
        """Text of the correct choice."""
        return self.choices[self.correct]

    def item(self, scene: Scene, seat: int, part: str, skills: tuple[str, ...] = ()) -> Item:
        """Return the item of a seat; ``skills`` precede the fact's skill."""
        return Item(
            id="",
            scene=scene,
            seat=seat,
            kind=FACT,
            part=part,
            partner="",
            skills=(*skills, self.skill),
            question=self.question,
            choices=self.choices,
            correct=(self.correct,),
            margin=None,
            unit="",
            evidence={"method": "computed from the state"},
            pair=FACT,
        )


def numbers_around(answer: int, low: int, rng: np.random.Generator) -> tuple[tuple[str, ...], int]:
    """Return consecutive numbers around an answer as choices, and the index of the answer, which is random.

    Args:
        answer: The correct number.
        low: The smallest plausible number.
        rng: Random generator for the index.
    """
    start = max(low, answer - int(rng.integers(NUMBERS)))
    return tuple(str(number) for number in range(start, start + NUMBERS)), answer - start


def fact_items(
    facts: Sequence[Sequence[Fact]],
    scenes: Sequence[Scene],
    seat: int,
    part: str,
    rng: np.random.Generator,
    skills: tuple[str, ...] = (),
) -> list[Item]:
    """Draw a fact of one scene, or of two by preference one that differs between them, and return its items."""
    drawn = draw_fact(facts[0], rng, *facts[1:])
    return [fact.item(scene, seat, part, skills) for fact, scene in zip(drawn, scenes, strict=False) if fact]


def draw_fact(facts: Sequence[Fact], rng: np.random.Generator, other: Sequence[Fact] = ()) -> tuple[Fact, Fact | None]:
    """Draw a skill, then a fact of it, preferably one whose answer differs in another state.

    Returns:
        The fact, and its counterpart in the other state; None if no answer differs.
    """
    others = {fact.name: fact for fact in other}
    flips = [
        (fact, others[fact.name]) for fact in facts if fact.name in others and fact.answer != others[fact.name].answer
    ]
    pairs: list[tuple[Fact, Fact | None]] = [*flips] or [(fact, None) for fact in facts]
    skills = sorted({fact.skill for fact, _ in pairs})
    skill = skills[rng.integers(len(skills))]
    fitting = [pair for pair in pairs if pair[0].skill == skill]
    return fitting[rng.integers(len(fitting))]
