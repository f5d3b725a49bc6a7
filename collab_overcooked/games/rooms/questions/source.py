"""Questions about the room games: texts of their scenes, and the choice that was played."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from collab_overcooked import registry
from collab_overcooked.questions.items import PARTNER, Item, Scene
from collab_overcooked.questions.source import OTHER, asked_seat

SceneState = Mapping[str, Any]
Options = Mapping[str, Any]


@lru_cache(maxsize=64)
def _game(env_id: str, options: str) -> Any:
    return registry.load_game(env_id, **json.loads(options))


def game_of(env_id: str, options: Options) -> Any:
    """Return a variant of a game, compiled once and cached."""
    return _game(env_id, json.dumps(options))


def seen_room(game: Any, scene: SceneState, seat: int, action: int) -> str:
    """Return the room in which the partner sees a seat after an action."""
    moves = 0 < action < game.n_actions - 1
    return str(game.level.title(action - 1 if moves else scene["players"][seat]["room"]))


class RoomQuestions:
    """Source of one game's questions; see ``questions.source.QuestionSource``.

    Args:
        env_id: Registered id.
        word: See ``QuestionSource``.
    """

    patience = 1

    def __init__(self, env_id: str, word: str) -> None:
        self.env_id, self.word = env_id, word

    def rules(self, item: Item) -> str:
        return str(game_of(self.env_id, item.scene.options).manual())

    def describe(self, item: Item) -> str:
        """Return the state as text, without the menu, as choices have another order."""
        return str(game_of(self.env_id, item.scene.options).surroundings(item.scene.state, item.seat))

    def play_options(self, scene: Scene, language: bool) -> Options:
        """Return the scene's options: all agents choose among the same actions."""
        return scene.options

    def chosen(self, item: Item, scenes: Sequence[SceneState], actions: Sequence[Sequence[str]]) -> int | None:
        """Return the action of the first turn."""
        seat = asked_seat(item)
        action = actions[0][seat]
        if item.kind == PARTNER:
            game = game_of(self.env_id, item.scene.options)
            action = seen_room(game, item.scene.state, seat, game.action_texts().index(action))
        return item.choices.index(action) if action in item.choices else OTHER


CAPTURE_QUESTIONS = RoomQuestions("CollabCapture-v0", "thief")
ESCAPE_QUESTIONS = RoomQuestions("CollabEscape-v0", "killer")
