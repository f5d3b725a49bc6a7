"""What a game says of questions about its moments, and the generator that makes question sets of what games say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from collab_overcooked import registry
from collab_overcooked.io.checks import near_matches
from collab_overcooked.questions.items import KINDS, LETTERS, PAPER, PARTS, Item, QuestionSet, Scene, correct_texts
from collab_overcooked.runner.episode import derive_seed

OTHER = -1  # what was done is none of the choices


class QuestionSource(Protocol):
    """What a game says of its questions.

    Attributes:
        patience: Steps that a policy has to do something that is a choice.
    """

    patience: int

    def cases(self, part: str, seed: int) -> Iterator[tuple[Item, ...]]:
        """Yield items that belong together, as many as the part needs; the best choice may stand anywhere.

        Ids are made later. Two items of a case that are a matched pair have the same word in ``pair``.

        Args:
            part: One of ``items.PARTS``.
            seed: Of everything that is drawn.
        """

    def rules(self, item: Item) -> str:
        """Return the rules of the game in words."""

    def describe(self, item: Item) -> str:
        """Return the whole moment in words, as the item's seat sees it."""

    def play_options(self, scene: Scene, language: bool) -> Mapping[str, Any]:
        """Return the options of the environment in which a policy plays on from a scene.

        Args:
            scene: Where it starts.
            language: Whether the policy chooses actions by their texts.
        """

    def chosen(self, item: Item, scenes: Sequence[Mapping[str, Any]], actions: Sequence[Sequence[str]]) -> int | None:
        """Return which choice has been played.

        Args:
            item: An item about the next action of a seat, see ``asked_seat``.
            scenes: From the item's own on, one after each step.
            actions: Texts by step and seat.

        Returns:
            Number of the choice, ``OTHER`` for something else, None while it is not clear yet.
        """


def source_of(env_id: str) -> QuestionSource:
    """Return what a game says of its questions.

    Raises:
        ValueError: If it has none.
    """
    record = registry.find(env_id)
    if not record.questions:
        raise ValueError(near_matches("game with questions", env_id, games_with_questions()))
    source: QuestionSource = registry.load_entry(record.questions)
    return source


def games_with_questions() -> list[str]:
    """Return the ids of all games that have questions."""
    return [record.id for record in registry.games() if record.questions]


def asked_seat(item: Item) -> int:
    """Return the seat whose action is asked for."""
    return 1 - item.seat if item.kind == "partner" else item.seat


def generate(seed: int, games: Sequence[str] | None = None) -> QuestionSet:
    """Make a question set; what is made for a game depends on the seed and the game alone.

    Args:
        seed: Of everything.
        games: Ids; all games with questions if None.

    Raises:
        ValueError: For a game without questions.
    """
    items: list[Item] = []
    for env_id in games_with_questions() if games is None else games:
        source = source_of(env_id)
        slug = env_id.partition("-v")[0].lower()
        scenes: list[Scene] = []
        made: list[Item] = []
        for part in PARTS:
            prefix = f"{slug}-{'p' if part == PAPER else ''}"
            for number, case in enumerate(source.cases(part, derive_seed(seed, env_id, part)), start=1):
                made += [_with_scene(item, slug, scenes) for item in _named(case, prefix, number)]
        items += balance_positions(made, derive_seed(seed, env_id, "positions"))
    return QuestionSet(seed, tuple(items))


def _named(case: Sequence[Item], prefix: str, number: int) -> list[Item]:
    """Give the items of a case their ids, and each of a matched pair that of the other."""
    named: list[Item] = []
    for item in case:
        name, count = f"{prefix}{number:03d}-{item.kind}", 1 + sum(own.kind == item.kind for own in named)
        named.append(replace(item, id=name if count == 1 else f"{name}-{count}"))
    mates: dict[str, list[Item]] = {}
    for item in named:
        mates.setdefault(item.pair, []).append(item)
    found: dict[str, str] = {}
    for label, pair in mates.items():
        if label and len(pair) == 2 and not correct_texts(pair[0]) & correct_texts(pair[1]):
            found |= {pair[0].id: pair[1].id, pair[1].id: pair[0].id}
    return [replace(item, pair=found.get(item.id, "")) for item in named]


def balance_positions(items: Sequence[Item], seed: int) -> list[Item]:
    """Shuffle all choices so that every letter is right as often as chance would have it, within each kind and part.

    Each item's correct choices take the positions that have been right least often so far, compared with what chance
    expects of them. The items come by in random order, so that positions do not follow the ids.

    Args:
        items: Of one game.
        seed: Of the order of items and choices.
    """
    rng = np.random.default_rng(seed)
    placed: dict[str, Item] = {}
    for kind in KINDS:
        lag = np.zeros(len(LETTERS))  # by position: how often it should have been right and was not
        for part in PARTS:
            group = [item for item in items if (item.kind, item.part) == (kind, part)]
            for i in rng.permutation(len(group)).tolist():
                item = group[i]
                count, right = len(item.choices), len(item.correct)
                lag[:count] += right / count
                noise = rng.random(count)
                by_need = sorted(range(count), key=lambda place: (-round(float(lag[place]), 9), noise[place]))
                lag[by_need[:right]] -= 1
                placed[item.id] = _placed(item, by_need[:right], rng)
    return [placed[item.id] for item in items]


def _placed(item: Item, places: Sequence[int], rng: np.random.Generator) -> Item:
    """Put the correct choices at some places, and the others at the rest in random order."""
    wrong = [number for number in range(len(item.choices)) if number not in item.correct]
    right, wrong = rng.permutation(item.correct).tolist(), rng.permutation(wrong).tolist()
    order = [right.pop() if place in places else wrong.pop() for place in range(len(item.choices))]
    evidence = dict(item.evidence)
    if "values" in evidence:
        evidence["values"] = [evidence["values"][number] for number in order]
    return replace(
        item,
        choices=tuple(item.choices[number] for number in order),
        correct=tuple(sorted(places)),
        evidence=evidence,
    )


def _with_scene(item: Item, slug: str, scenes: list[Scene]) -> Item:
    """Let items about the same moment share a scene, and name it."""
    for scene in scenes:
        if (scene.options, scene.state) == (item.scene.options, item.scene.state):
            return replace(item, scene=scene)
    scenes.append(replace(item.scene, name=f"{slug}-{len(scenes) + 1}"))
    return replace(item, scene=scenes[-1])
