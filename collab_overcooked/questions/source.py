"""Interface of games that provide questions, and the generator of question sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from msgspec.structs import replace

from collab_overcooked import registry
from collab_overcooked.io.checks import near_matches
from collab_overcooked.questions.balance import balance_positions, draw_cases
from collab_overcooked.questions.items import FACT, GENERATED, OWN, PAPER, PARTNER, Item, QuestionSet, Scene
from collab_overcooked.runner.episode import derive_seed

OTHER = -1  # the action matches none of the choices


class QuestionSource(Protocol):
    """Questions of a game."""

    word: str  # By which the texts of the public table of scenarios are known to be about the game, in lower case
    patience: int  # Maximum number of steps until a policy must have played one of the choices

    def paper(self, seed: int) -> Iterator[tuple[Item, ...]]:
        """Yield the items of each situation of the LLM-Coordination paper.

        Like items of ``candidates``, they have one correct choice each, choices in any order, and no ids.
        """

    def candidates(self, seed: int) -> Iterator[Item]:
        """Yield items about random states, of all kinds; each wrong choice may be left out of the question set."""

    def rules(self, item: Item) -> str:
        """Return the rules of the game as text."""

    def describe(self, item: Item) -> str:
        """Return the complete state as text, from the view of the item's seat."""

    def play_options(self, scene: Scene, language: bool) -> Mapping[str, Any]:
        """Return the environment options for a policy that plays on from a scene.

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
    """Return the question source of a game.

    Raises:
        ValueError: The game has no questions.
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
    """Return the seat whose action the item asks for."""
    return 1 - item.seat if item.kind == PARTNER else item.seat


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
        for prefix, cases in ((f"{slug}-p", _paper(source, env_id, seed)), (f"{slug}-", _drawn(source, env_id, seed))):
            for number, case in enumerate(cases, start=1):
                items += [_with_scene(item, slug, scenes) for item in _named(case, prefix, number)]
    return QuestionSet(seed, tuple(items))


def _paper(source: QuestionSource, env_id: str, seed: int) -> list[tuple[Item, ...]]:
    cases = list(source.paper(derive_seed(seed, env_id, PAPER)))
    rng = np.random.default_rng(derive_seed(seed, env_id, "positions"))
    return list(zip(*(balance_positions(kind, rng) for kind in zip(*cases, strict=True)), strict=True))


def _drawn(source: QuestionSource, env_id: str, seed: int) -> list[tuple[Item, ...]]:
    candidates = list(source.candidates(derive_seed(seed, env_id, GENERATED)))
    rng, used = np.random.default_rng(derive_seed(seed, env_id, "cases")), set[str]()
    kinds = ([item for item in candidates if item.kind == kind] for kind in (PARTNER, OWN, FACT))
    return [case for kind in kinds for case in draw_cases(kind, used, rng, source.describe)]


def _named(case: Sequence[Item], prefix: str, number: int) -> list[Item]:
    counts: Counter[str] = Counter()
    named: list[Item] = []
    for item in case:
        counts[item.kind] += 1
        more = f"-{counts[item.kind]}" if counts[item.kind] > 1 else ""
        named.append(replace(item, id=f"{prefix}{number:03d}-{item.kind}{more}"))
    return named


def _with_scene(item: Item, slug: str, scenes: list[Scene]) -> Item:
    for scene in scenes:
        if (scene.options, scene.state) == (item.scene.options, item.scene.state):
            return replace(item, scene=scene)
    scenes.append(replace(item.scene, name=f"{slug}-{len(scenes) + 1}"))
    return replace(item, scene=scenes[-1])
