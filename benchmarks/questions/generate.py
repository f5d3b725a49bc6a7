"""Generator of question sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from msgspec.structs import replace

from benchmarks.questions.balance import balance_positions, draw_cases
from benchmarks.questions.overcooked.generator import OvercookedGenerator
from benchmarks.questions.rooms.generator import CAPTURE, CAPTURE_VARIANTS, ESCAPE, ESCAPE_VARIANTS, RoomsGenerator
from collab_overcooked.io.checks import near_matches
from collab_overcooked.questions.items import FACT, GENERATED, OWN, PAPER, PARTNER, Item, QuestionSet, Scene
from collab_overcooked.questions.source import source_of
from collab_overcooked.runner.episode import derive_seed


class Generator(Protocol):
    """Generator of a game's items."""

    def paper(self, seed: int) -> Iterator[tuple[Item, ...]]:
        """Yield the items of each situation of the LLM-Coordination paper.

        Like items of ``candidates``, they have one correct choice each, choices in any order, and no ids.
        """

    def candidates(self, seed: int, states: int | None = None) -> Iterator[Item]:
        """Yield items about random states, of all kinds; each wrong choice may be left out of the question set.

        Args:
            seed: Random seed.
            states: Number of states of each layout; None for as many as the built-in set has.
        """


GENERATORS: Mapping[str, Generator] = {
    CAPTURE: RoomsGenerator(CAPTURE, CAPTURE_VARIANTS),
    ESCAPE: RoomsGenerator(ESCAPE, ESCAPE_VARIANTS),
    "Overcooked-v0": OvercookedGenerator(),
}


def generator_of(env_id: str) -> Generator:
    """Return the generator of a game.

    Raises:
        ValueError: The game has no questions.
    """
    if env_id not in GENERATORS:
        raise ValueError(near_matches("game with questions", env_id, GENERATORS))
    return GENERATORS[env_id]


def generate(seed: int, games: Sequence[str] | None = None, states: int | None = None) -> QuestionSet:
    """Generate a question set. The items of a game depend on the seed and the game only.

    Args:
        seed: Random seed.
        games: Environment ids, or None for all games with questions.
        states: Number of states drawn of each layout; None for as many as the built-in set has.

    Returns:
        The question set.

    Raises:
        ValueError: A game has no questions.
    """
    items: list[Item] = []
    for env_id in GENERATORS if games is None else games:
        source = generator_of(env_id)
        slug = env_id.partition("-v")[0].lower()
        scenes: list[Scene] = []
        for prefix, cases in (
            (f"{slug}-p", _paper(source, env_id, seed)),
            (f"{slug}-", _drawn(source, env_id, seed, states)),
        ):
            for number, case in enumerate(cases, start=1):
                items += [_with_scene(item, slug, scenes) for item in _named(case, prefix, number)]
    return QuestionSet(seed, tuple(items))


def _paper(source: Generator, env_id: str, seed: int) -> list[tuple[Item, ...]]:
    cases = list(source.paper(derive_seed(seed, env_id, PAPER)))
    rng = np.random.default_rng(derive_seed(seed, env_id, "positions"))
    return list(zip(*(balance_positions(kind, rng) for kind in zip(*cases, strict=True)), strict=True))


def _drawn(source: Generator, env_id: str, seed: int, states: int | None) -> list[tuple[Item, ...]]:
    candidates = list(source.candidates(derive_seed(seed, env_id, GENERATED), states))
    rng, used = np.random.default_rng(derive_seed(seed, env_id, "cases")), set[str]()
    kinds = ([item for item in candidates if item.kind == kind] for kind in (PARTNER, OWN, FACT))
    return [case for kind in kinds for case in draw_cases(kind, used, rng, source_of(env_id).describe)]


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
