"""Accuracies of answers that know nothing of the state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from collab_overcooked.questions.items import LETTERS, Item

TIED = 1e-9
BASELINES = ("chance", "same letter", "longest", "first", "majority")
Asked = tuple[Sequence[str], Sequence[int]]  # choices, indices of the correct ones


def correct_texts(item: Item) -> set[str]:
    """Return the texts of the correct choices."""
    return {item.choices[number] for number in item.correct}


def letter_accuracies(asked: Sequence[Asked]) -> dict[str, float]:
    """Return the accuracy of constant answers, by letter."""
    right = Counter(LETTERS[number] for _, correct in asked for number in correct)
    return {letter: right[letter] / len(asked) for letter in LETTERS[: max(len(choices) for choices, _ in asked)]}


def baselines(asked: Sequence[Asked]) -> dict[str, float]:
    """Return the accuracies of ``BASELINES``, which answer without the state.

    ``majority`` chooses the text that is correct most often in the other items, relative to how often it is offered;
    texts that no other item offers count as chance does. Ties are shared.
    """
    offered, right = Counter[str](), Counter[str]()
    for choices, correct in asked:
        offered.update(choices)
        right.update(choices[number] for number in correct)

    def majority(choices: Sequence[str], correct: Sequence[int]) -> list[float]:
        rates = []
        for number, choice in enumerate(choices):
            others = offered[choice] - 1
            rates.append((right[choice] - (number in correct)) / others if others else len(correct) / len(choices))
        return rates

    def ranks(choices: Sequence[str], _: Sequence[int]) -> list[float]:
        return [-float(sorted(choices).index(choice)) for choice in choices]

    rules = (
        lambda choices, _: [0.0] * len(choices),
        lambda choices, _: [float(len(choice)) for choice in choices],
        ranks,
        majority,
    )
    uniform, longest, first, most = (
        sum(_share_of_best(rule(*entry), entry[1]) for entry in asked) / len(asked) for rule in rules
    )
    values = (uniform, max(letter_accuracies(asked).values()), longest, first, most)
    return dict(zip(BASELINES, values, strict=True))


def _share_of_best(scores: Sequence[float], correct: Sequence[int]) -> float:
    best = [number for number, score in enumerate(scores) if score > max(scores) - TIED]
    return sum(number in correct for number in best) / len(best)
