"""Questions about facts of a state, computed by the games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from collab_overcooked.questions.items import FACT, Item, Scene

NUMBERS = 4  # choices of a numeric question


class Fact(NamedTuple):
    """Question about a state, with its answer."""

    question: str  # Text of the question
    choices: tuple[str, ...]  # Texts of the choices
    correct: int  # Index of the correct choice
    skill: str  # Skill for tables

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
        )


def numbers_around(answer: int, low: int) -> tuple[tuple[str, ...], int]:
    """Return consecutive numbers as choices, the same for all answers that they include, and the index of the answer.

    Args:
        answer: The correct number.
        low: The smallest plausible number.
    """
    start = answer - (answer - low) % NUMBERS
    return tuple(str(number) for number in range(start, start + NUMBERS)), answer - start


def draw_fact(facts: Sequence[Fact], rng: np.random.Generator) -> Fact:
    """Draw a skill, then a fact of it."""
    skills = sorted({fact.skill for fact in facts})
    skill = skills[rng.integers(len(skills))]
    fitting = [fact for fact in facts if fact.skill == skill]
    return fitting[rng.integers(len(fitting))]
