"""Interface of games that provide questions, and the generator of question sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from collab_overcooked import registry
from collab_overcooked.io.checks import near_matches
from collab_overcooked.questions.items import (
    KINDS,
    LETTERS,
    OWN,
    PAPER,
    PARTNER,
    PARTS,
    Item,
    QuestionSet,
    Scene,
    correct_texts,
)
from collab_overcooked.runner.episode import derive_seed

OTHER = -1  # the action matches none of the choices


class QuestionSource(Protocol):
    """Questions of a game."""

    patience: int  # Maximum number of steps until a policy must have played one of the choices

    def cases(self, part: str, seed: int) -> Iterator[tuple[Item, ...]]:
        """Yield cases, which are tuples of related items, with choices in any order.

        Ids are assigned later. Two items of a case that are a matched pair share a label in ``pair``.

        Args:
            part: One of ``items.PARTS``.
            seed: Random seed.
        """

    def rules(self, item: Item) -> str:
        """Return the rules of the game as text."""

    def describe(self, item: Item) -> str:
        """Return the complete state as text, from the view of the item's seat."""

    def play_options(self, scene: Scene, language: bool) -> Mapping[str, Any]:
        """Return the environment options with which a policy plays on from a scene.

        Args:
            scene: Initial state.
            language: Whether the policy selects actions as text.
        """

    def chosen(self, item: Item, scenes: Sequence[Mapping[str, Any]], actions: Sequence[Sequence[str]]) -> int | None:
        """Return the choice that was played.

        Args:
            item: Item about the next action of a seat, see ``asked_seat``.
            scenes: The item's scene, then the scene after each step.
            actions: Action texts by step and seat.

        Returns:
            Index of the choice, ``OTHER`` for none of them, or None while it is undecided.
        """


def source_of(env_id: str) -> QuestionSource:
    """Return the question source of a game."""
    record = registry.find(env_id)
    if not record.questions:
        raise ValueError(near_matches("game with questions", env_id, games_with_questions()))
    source: QuestionSource = registry.load_entry(record.questions)
    return source


def games_with_questions() -> list[str]:
    """Return the ids of all games that have questions."""
    return [record.id for record in registry.games() if record.questions]


def asked_seat(item: Item) -> int:
    """Return the seat whose action the item asks for."""
    return 1 - item.seat if item.kind == "partner" else item.seat


def asked_of_both(seat: int, asks: str, asks_partner: str, **fields: Any) -> tuple[Item, Item]:
    """Return the items about a seat's next action: one asks the seat itself, one its partner."""
    mine = Item(id="", seat=seat, kind=OWN, question=asks, pair=OWN, **fields)
    return mine, replace(mine, seat=1 - seat, kind=PARTNER, question=asks_partner, pair=PARTNER)


def generate(seed: int, games: Sequence[str] | None = None) -> QuestionSet:
    """Generate a question set. The items of a game depend on the seed and the game only.

    Args:
        seed: Random seed.
        games: Environment ids, or None for all games with questions.
    """
    items: list[Item] = []
    for env_id in games_with_questions() if games is None else games:
        source = source_of(env_id)
        slug = env_id.partition("-v")[0].lower()
        scenes: list[Scene] = []
        game_items: list[Item] = []
        for part in PARTS:
            prefix = f"{slug}-{'p' if part == PAPER else ''}"
            for number, case in enumerate(source.cases(part, derive_seed(seed, env_id, part)), start=1):
                game_items += [_with_scene(item, slug, scenes) for item in _named(case, prefix, number)]
        items += balance_positions(game_items, derive_seed(seed, env_id, "positions"))
    return QuestionSet(seed, tuple(items))


def _named(case: Sequence[Item], prefix: str, number: int) -> list[Item]:
    named: list[Item] = []
    for item in case:
        name, count = f"{prefix}{number:03d}-{item.kind}", 1 + sum(earlier.kind == item.kind for earlier in named)
        named.append(replace(item, id=name if count == 1 else f"{name}-{count}"))
    mates: dict[str, list[Item]] = {}
    for item in named:
        mates.setdefault(item.pair, []).append(item)
    partners: dict[str, str] = {}
    for label, pair in mates.items():
        if label and len(pair) == 2 and not correct_texts(pair[0]) & correct_texts(pair[1]):
            partners |= {pair[0].id: pair[1].id, pair[1].id: pair[0].id}
    return [replace(item, pair=partners.get(item.id, "")) for item in named]


def balance_positions(items: Sequence[Item], seed: int) -> list[Item]:
    """Shuffle choices so that every letter is correct equally often, within each kind and part.

    The correct choices of an item take the positions that have been correct least often, relative to a uniform
    distribution. Items are visited in random order, so that positions do not correlate with ids.

    Args:
        items: Items of one game.
        seed: Random seed.
    """
    rng = np.random.default_rng(seed)
    placed: dict[str, Item] = {}
    for kind in KINDS:
        lag = np.zeros(len(LETTERS))  # by position: expected minus actual number of correct choices
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
    for scene in scenes:
        if (scene.options, scene.state) == (item.scene.options, item.scene.state):
            return replace(item, scene=scene)
    scenes.append(replace(item.scene, name=f"{slug}-{len(scenes) + 1}"))
    return replace(item, scene=scenes[-1])
