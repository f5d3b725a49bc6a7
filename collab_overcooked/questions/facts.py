"""Questions about facts of a moment, as games compute them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from collab_overcooked.questions.items import FACT, Item, Scene

NUMBERS = 4  # choices of a question for a number


class Fact(NamedTuple):
    """A question about a moment, with the answer.

    Attributes:
        name: What it asks for; facts of one name compare.
        question: In words.
        choices: In words.
        correct: Number of the right one.
        skill: For tables.
    """

    name: str
    question: str
    choices: tuple[str, ...]
    correct: int
    skill: str

    @property
    def answer(self) -> str:
        """The right choice in words."""
        return self.choices[self.correct]

    def item(self, scene: Scene, seat: int, part: str, skills: tuple[str, ...] = ()) -> Item:
        """Return the question to a seat; ``skills`` come before its own."""
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
    """Return consecutive numbers around an answer as choices, and which of them it is: any, at random.

    Args:
        answer: The right number.
        low: The least number that makes sense.
        rng: Draws where the answer stands among them.
    """
    start = max(low, answer - int(rng.integers(NUMBERS)))
    return tuple(str(number) for number in range(start, start + NUMBERS)), answer - start


def draw_fact(found: Sequence[Fact], rng: np.random.Generator, other: Sequence[Fact] = ()) -> tuple[Fact, Fact | None]:
    """Draw a fact, one whose answer differs in another moment if there is one; first its skill is drawn.

    Returns:
        The fact, and that of the other moment; None if all are alike there.
    """
    theirs = {fact.name: fact for fact in other}
    flips = [
        (fact, theirs[fact.name]) for fact in found if fact.name in theirs and fact.answer != theirs[fact.name].answer
    ]
    pairs: list[tuple[Fact, Fact | None]] = [*flips] or [(fact, None) for fact in found]
    skills = sorted({fact.skill for fact, _ in pairs})
    skill = skills[rng.integers(len(skills))]
    fitting = [pair for pair in pairs if pair[0].skill == skill]
    return fitting[rng.integers(len(fitting))]
