"""Cheap features of choices, computed from a state's text without understanding it.

Question sets are balanced against them, see ``Ledger``: over the items of a game and kind, the correct choice has each
feature as often, or as much of it, as the other choices have.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

NUMBER = re.compile(r"\d+")
WORD = re.compile(r"[A-Za-z]+\d*|\d+")
OTHER = re.compile(r"\b(?:agent_\d|Alice|Bob)\b")
GRID = re.compile(r"[A-Z.]+")  # line of a map
PLAIN = {"a", "an", "and", "from", "in", "is", "it", "of", "on", "the", "to", "with", "you", "room"}
HEADS = 2  # words at the beginning of a line that tell, with its last one, what it is about
KEPT = 16  # kinds of lines; later ones of a text are counted together
Cues = Mapping[str, float]


class StateText:
    """Text of a state, split into lines by topic."""

    def __init__(self, text: str) -> None:
        self.words: dict[str, list[str]] = defaultdict(list)
        for line in (line for line in text.splitlines() if line and not GRID.fullmatch(line)):
            plain = NUMBER.sub("#", OTHER.sub("Other", line)).rstrip(".").split()
            head = " ".join((*plain[:HEADS], plain[-1]))
            self.words[head if head in self.words or len(self.words) < KEPT else ""] += WORD.findall(line)
        self.all = [word for words in self.words.values() for word in words]
        self.numbers = {head: [int(w) for w in words if w.isdecimal()] for head, words in self.words.items()}
        places = re.findall(r"(\w+) (?:at )?\((\d+), (\d+)\)", text)
        self.places = {name: (int(x), int(y)) for name, x, y in places}
        self.stands = [(int(x), int(y)) for x, y in re.findall(r"\bstands? at \((\d+), (\d+)\)", text)]


def cues_of(text: StateText, question: str, choices: Sequence[str]) -> list[dict[str, float]]:
    """Return the features of each choice: overlap and counts of words, differences of numbers, distances of cells."""
    cues = [_cues(text, question, choice) for choice in choices]
    for name in sorted(set().union(*cues)):
        values = [cue.get(name, 0.0) for cue in cues]
        if len(set(values)) > 1:
            for cue, value in zip(cues, values, strict=True):
                cue[f"{name}, most"] = float(value == max(values))
                cue[f"{name}, least"] = float(value == min(values))
    return cues


def _cues(text: StateText, question: str, choice: str) -> dict[str, float]:
    words = [word for word in WORD.findall(choice) if word.lower() not in PLAIN]
    numbers = [int(word) for word in words if word.isdecimal()]
    kind = choice.split()[0]
    cues = {"words": float(len(words)), "overlap with all": float(sum(text.all.count(word) for word in words))}
    cues["overlap with the question"] = float(sum(word in WORD.findall(question) for word in words))
    for head, line in text.words.items():
        cues[f"overlap with {head}"] = float(sum(word in line for word in words))
        if not numbers:
            cues[f"{kind} for words in {head}"] = float(len(line))
        if text.numbers[head] and not numbers:
            cues[f"{kind} for first in {head}"] = float(text.numbers[head][0])
            cues[f"{kind} for last in {head}"] = float(text.numbers[head][-1])
        if numbers and text.numbers[head]:
            there = text.numbers[head]
            cues[f"number less {head}"] = float(numbers[-1] - there[-1])
            gaps = [abs(numbers[-1] - number) for number in there]
            cues[f"number from {head}"] = float(min(gaps))
            cues[f"number far from {head}"] = float(max(gaps))
    if numbers and not choice.startswith(("go", "to")):
        cues |= _lengths(text, numbers[-1])
    for who, (x, y) in enumerate(text.stands):
        for to_x, to_y in (text.places[word] for word in words if word in text.places):
            cues[f"way of {who}"] = float(abs(x - to_x) + abs(y - to_y))
            cues[f"right of {who}"], cues[f"below {who}"] = float(to_x - x), float(to_y - y)
    return cues


def _lengths(text: StateText, number: int) -> dict[str, float]:
    """Return the distances of a number from differences between two lines' numbers, and from counts of words."""
    last = {head: numbers[-1] for head, numbers in list(text.numbers.items())[:4] if numbers}
    cues = {
        f"number from {one} less {other}": float(abs(number - abs(last[one] - last[other])))
        for one, other in combinations(last, 2)
    }
    return cues | {"number for words": float(number * len(text.all))}


def surplus(cues: Sequence[Cues], correct: int) -> Cues:
    """Return the difference between the features of the correct choice and the mean over choices."""
    names = sorted(set().union(*cues))
    return {name: cues[correct].get(name, 0.0) - sum(cue.get(name, 0.0) for cue in cues) / len(cues) for name in names}


def total(cues: Sequence[Cues]) -> Cues:
    """Return the sums of features."""
    return {name: sum(cue.get(name, 0.0) for cue in cues) for name in sorted(set().union(*cues))}


class Ledger:
    """Sums over the items of a set of each feature's surplus, see ``surplus``."""

    def __init__(self) -> None:
        self._sums: dict[str, float] = defaultdict(float)
        self._squares: dict[str, float] = defaultdict(float)
        self._count = 0

    def learn(self, added: Cues) -> None:
        """Update the scale of the features: the mean square of cases' surpluses."""
        self._count += 1
        for name, value in added.items():
            self._squares[name] += value * value

    def imbalance(self, added: Cues) -> float:
        """Return the change of the imbalance if a case is added: the increase of the scaled squares of the sums."""
        return sum(
            value * (2 * self._sums[name] + value) * self._count / self._squares[name]
            for name, value in added.items()
            if self._squares[name] > 0
        )

    def add(self, added: Cues) -> None:
        """Add items to the sums."""
        for name, value in added.items():
            self._sums[name] += value
