"""Interface of games about which questions are asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from collab_overcooked import registry
from collab_overcooked.io.checks import near_matches
from collab_overcooked.questions.items import PARTNER, Item, Scene

OTHER = -1  # the action matches none of the choices


class QuestionSource(Protocol):
    """What a game knows of the questions about it."""

    word: str  # By which the texts of the public table of scenarios are known to be about the game, in lower case
    patience: int  # Maximum number of steps until a policy must have played one of the choices

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
