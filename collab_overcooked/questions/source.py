"""What a game says of questions about its moments, and the generator that makes question sets of what games say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from collab_overcooked import registry
from collab_overcooked.errors import near_matches
from collab_overcooked.questions.items import PAPER, PARTS, Item, QuestionSet, Scene, correct_texts
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
    return [record.id for record in registry.GAMES if record.questions]


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
        for part in PARTS:
            prefix = f"{slug}-{'p' if part == PAPER else ''}"
            for number, case in enumerate(source.cases(part, derive_seed(seed, env_id, part)), start=1):
                items += [_with_scene(_shuffled(item, seed), slug, scenes) for item in _named(case, prefix, number)]
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


def _shuffled(item: Item, seed: int) -> Item:
    """Put the choices into an order that depends on seed and id."""
    order = np.random.default_rng(derive_seed(seed, "choices", item.id)).permutation(len(item.choices)).tolist()
    evidence = dict(item.evidence)
    if "values" in evidence:
        evidence["values"] = [evidence["values"][number] for number in order]
    return replace(
        item,
        choices=tuple(item.choices[number] for number in order),
        correct=tuple(sorted(order.index(number) for number in item.correct)),
        evidence=evidence,
    )


def _with_scene(item: Item, slug: str, scenes: list[Scene]) -> Item:
    """Let items about the same moment share a scene, and name it."""
    for scene in scenes:
        if (scene.options, scene.state) == (item.scene.options, item.scene.state):
            return replace(item, scene=scene)
    scenes.append(replace(item.scene, name=f"{slug}-{len(scenes) + 1}"))
    return replace(item, scene=scenes[-1])
