"""Facts on the built-in question set."""

from __future__ import annotations

from collections.abc import Callable

from collab_overcooked.questions.items import KINDS, LETTERS, PARTS, read_questions
from collab_overcooked.questions.scoring import letter_accuracies

from .writing import code, table


def question_set() -> str:
    """Return counts, choices and chance of the built-in items."""
    items = read_questions().items
    heads = ("game", "part", *KINDS, "choices", "several right", "chance", "in matched pairs")
    rows = []
    for game in dict.fromkeys(item.scene.env_id for item in items):
        for part in PARTS:
            own = [item for item in items if (item.scene.env_id, item.part) == (game, part)]
            counts = [sum(item.kind == kind for item in own) for kind in KINDS]
            choices = sum(len(item.choices) for item in own) / len(own)
            several = sum(len(item.correct) > 1 for item in own)
            chance = sum(item.random_accuracy for item in own) / len(own)
            pairs = sum(bool(item.pair) for item in own)
            rows.append((code(game), part, *counts, f"{choices:.1f}", several, f"{chance:.2f}".lstrip("0"), pairs))
    return table(heads, rows, range(2, len(heads)))


def question_constants() -> str:
    """Return the accuracy of answering with the same letter always, beside chance, by game and kind."""
    items = read_questions().items
    letters = LETTERS[: max(len(item.choices) for item in items)]
    rows = []
    for game in dict.fromkeys(item.scene.env_id for item in items):
        for kind in KINDS:
            group = [item for item in items if (item.scene.env_id, item.kind) == (game, kind)]
            chance = sum(item.random_accuracy for item in group) / len(group)
            always = letter_accuracies((item.correct, len(item.choices)) for item in group)
            shares = (f"{100 * always[letter]:.0f}" if letter in always else "" for letter in letters)
            rows.append((code(game), kind, len(group), f"{100 * chance:.0f}", *shares))
    heads = ("game", "kind", "items", "chance", *(f"always {letter}" for letter in letters))
    return table(heads, rows, range(2, len(heads)))


FACTS: tuple[Callable[[], str], ...] = (question_set, question_constants)
