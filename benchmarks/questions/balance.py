"""Balance of question sets: cases in which each choice is correct once.

The items of a case have the same rules, seat, question and choices and differ in the state alone. Each choice is right
in one of them, so an answer that depends on anything but the state is right once per case: its accuracy is chance.
Of many cases, those are taken that leave cheap features of the state's text without use, see ``cues``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from msgspec.structs import replace

from benchmarks.questions.cues import Cues, Ledger, StateText, cues_of, surplus, total
from collab_overcooked.questions.balance import correct_texts
from collab_overcooked.questions.items import FACT, LETTERS, Item

MIN_ITEMS, MAX_ITEMS = 150, 152  # generated items of a game and kind
MAX_CHOICES = 5
TRIES = 200  # cases of which the one that is most in balance is taken


class _States:
    """Keys, texts and features of the states of a draw's candidates, each computed once."""

    def __init__(self, describe: Callable[[Item], str]) -> None:
        self._describe = describe
        self._keys: dict[int, tuple[Item, str]] = {}  # with the item, whose identity would be used again otherwise
        self._texts: dict[tuple[int, str], StateText] = {}
        self._added: dict[tuple[int, tuple[str, ...]], Cues] = {}

    def key(self, item: Item) -> str:
        if id(item) not in self._keys:
            self._keys[id(item)] = item, state_key(item)
        return self._keys[id(item)][1]

    def added(self, item: Item, choices: tuple[str, ...]) -> Cues:
        """Return the difference between the features of the correct choice and the mean over choices."""
        if (id(item), choices) not in self._added:
            text = item.seat, self.key(item)
            if text not in self._texts:
                self._texts[text] = StateText(self._describe(item))
            (answer,) = correct_texts(item)
            cues = cues_of(self._texts[text], item.question, choices)
            self._added[id(item), choices] = surplus(cues, choices.index(answer))
        return self._added[id(item), choices]


@dataclass
class _Group:
    """Candidates with the same rules, seat and question."""

    topic: str  # Rules, and skill of facts: drawn equally often
    states: _States  # States of the candidates
    ledger: Ledger  # Balance of what was drawn: of the kind, and of the skill of facts
    offers: dict[tuple[str, ...], dict[str, list[Item]]] = field(default_factory=dict)  # choices -> answer -> items
    drawn: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def add(self, item: Item) -> None:
        """Offer an item with every subset of its choices that holds the answer."""
        (answer,) = correct_texts(item)
        others = sorted(set(item.choices) - {answer})
        for size in range(1, min(MAX_CHOICES, len(item.choices))):
            for wrong in combinations(others, size):
                by_answer = self.offers.setdefault(tuple(sorted((answer, *wrong))), {})
                by_answer.setdefault(answer, []).append(item)

    def draw(self, used: set[str], most: int, rng: np.random.Generator) -> tuple[Item, ...]:
        """Return a case with as many choices as possible, about states that are not used yet; empty if none is left."""
        complete = [
            choices for choices, items in self.offers.items() if len(items) == len(choices) and len(choices) <= most
        ]
        noise = dict(zip(complete, rng.random(len(complete)), strict=True))
        for choices in sorted(complete, key=lambda names: (-len(names), self.drawn[names], noise[names])):
            left = [
                [item for item in self.offers[choices][name] if self.states.key(item) not in used] for name in choices
            ]
            if not all(left):
                del self.offers[choices]
                continue
            case = self._balanced(left, choices, rng)
            if case:
                self.drawn[choices] += 1
                order = [choices[number] for number in rng.permutation(len(choices))]
                return tuple(arrange(case[number], order) for number in rng.permutation(len(case)))
        return ()

    def _balanced(
        self, left: Sequence[Sequence[Item]], choices: tuple[str, ...], rng: np.random.Generator
    ) -> list[Item]:
        """Return the case, among cases of different states, that improves the balance most; empty without any."""
        tried: list[tuple[list[Item], Cues]] = []
        for _ in range(TRIES):
            case = [items[int(rng.integers(len(items)))] for items in left]
            if len({self.states.key(item) for item in case}) == len(case):
                tried.append((case, total([self.states.added(item, choices) for item in case])))
        for _, added in tried:
            self.ledger.learn(added)
        case, added = min(tried, key=lambda entry: self.ledger.imbalance(entry[1]), default=([], {}))
        self.ledger.add(added)
        return case


def draw_cases(
    candidates: Iterable[Item], used: set[str], rng: np.random.Generator, describe: Callable[[Item], str]
) -> list[tuple[Item, ...]]:
    """Draw the cases of a game and kind; rules, skills and questions are drawn equally often if possible.

    Args:
        candidates: Items with one correct choice; any of the others may be left out.
        used: Keys of states that are not to be used; those of the drawn items are added.
        rng: Random generator.
        describe: Returns the text of an item's state.
    """
    groups: dict[tuple[str, int, str], _Group] = {}
    states, ledgers = _States(describe), dict[tuple[str, ...], Ledger]()
    for item in candidates:
        skills = item.skills if item.kind == FACT else ()
        topic = f"{sorted(item.scene.options.items())}{skills}"
        ledger = ledgers.setdefault(skills, Ledger())
        groups.setdefault((topic, item.seat, item.question), _Group(topic, states, ledger)).add(item)
    live, cases, count = list(groups.values()), [], 0
    by_topic: Counter[str] = Counter()
    while live and count < MIN_ITEMS:
        noise = rng.random(len(live))
        number = min(range(len(live)), key=lambda i: (by_topic[live[i].topic], sum(live[i].drawn.values()), noise[i]))
        case = live[number].draw(used, MAX_ITEMS - count, rng)
        if not case:
            del live[number]
            continue
        used |= {state_key(item) for item in case}
        by_topic[live[number].topic] += len(case)
        cases.append(case)
        count += len(case)
    return cases


def state_key(item: Item) -> str:
    """Return a key of an item's state, equal for equal states of equal rules."""
    return f"{sorted(item.scene.options.items())}{item.scene.state}"


def arrange(item: Item, choices: Sequence[str]) -> Item:
    """Return an item with some of its choices in another order; these must include all correct ones."""
    order, evidence = [item.choices.index(choice) for choice in choices], dict(item.evidence)
    if "values" in evidence:
        evidence["values"] = [evidence["values"][number] for number in order]
    correct = tuple(i for i, number in enumerate(order) if number in item.correct)
    return replace(item, choices=tuple(choices), correct=correct, evidence=evidence)


def balance_positions(items: Sequence[Item], rng: np.random.Generator) -> list[Item]:
    """Shuffle the choices of items of one kind, with one correct choice each; letters are correct equally often."""
    placed, lag = list(items), np.zeros(len(LETTERS))  # by position: expected minus actual number of correct choices
    for i in rng.permutation(len(items)).tolist():
        item, count = items[i], len(items[i].choices)
        lag[:count] += 1 / count
        place = max(range(count), key=lambda place: (round(float(lag[place]), 9), rng.random()))
        lag[place] -= 1
        (answer,) = correct_texts(item)
        others = [item.choices[number] for number in rng.permutation(count) if item.choices[number] != answer]
        placed[i] = arrange(item, (*others[:place], answer, *others[place:]))
    return placed
