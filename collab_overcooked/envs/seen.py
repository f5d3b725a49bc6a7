"""Knowledge of one seat at one moment: the source of prompts, pages, seat pictures and ordinary policies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from collab_overcooked.envs.lexicon import translator_of


class SeatView:
    """One seat's knowledge of a moment, made when it is first read; games extend it where their seats know less.

    Args:
        game: The compiled game, in the language in which it is played.
        state: The moment as a batch of one; kept, so give a copy if the env goes on.
        seat: Index of the agent.

    Attributes:
        public_refusals: Whether everybody hears what the game refused to others in the step before.
        public_choices: Whether a seat knows what the seats before it have chosen in the same step.
        plays_in_turns: Whether the moment is the one after these choices, as they take effect before the seat chooses.
        public_history: Whether everybody sees what others have brought about in earlier steps.
        role: What the seat is in the team, empty where all seats are alike.
        recipe: How the present order is made, None if the seat does not know it or the text says it anyway.
    """

    public_refusals = False
    public_choices = False
    plays_in_turns = False
    public_history = True
    role = ""
    recipe: str | None = None

    def __init__(self, game: Any, state: Any, seat: int) -> None:
        self._game, self._state, self._seat = game, state, seat
        self._say = translator_of(game)

    @cached_property
    def scene(self) -> dict[str, Any]:
        """The moment as words and numbers, in plain words: what may be drawn for the seat."""
        found: dict[str, Any] = self._game.seat_scene(self._game.scene(self._state, 0), self._seat)
        return found

    @cached_property
    def text(self) -> str:
        """The moment in words."""
        return str(self._game.describe(self._state, 0, self._seat))

    @cached_property
    def surroundings(self) -> str:
        """The moment in words for people, who find the actions beside it: the text without a list of them."""
        return self.text

    @cached_property
    def manual(self) -> str:
        """The rules in the game's own words, empty where it has none."""
        return str(self._game.manual(self._state, 0, self._seat))

    @property
    def rules(self) -> str:
        """The rules for people; games whose language agents are told them in another way write them here."""
        return self.manual

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all seats in texts."""
        return seat_names(self._game)

    @property
    def orders(self) -> Sequence[str]:
        """Names of what is to be delivered, the present order first; only as far as the seat can foresee them."""
        return [self._say(order if isinstance(order, str) else order["name"]) for order in self.scene.get("orders", ())]

    @property
    def limit(self) -> int | None:
        """Steps after which the episode is over, None if the seat is not told."""
        return self.scene.get("limit")

    @cached_property
    def action_texts(self) -> list[str]:
        """Texts of all actions by id, as they are at this moment."""
        return list(self._game.action_texts(self._state, 0, self._seat))

    @cached_property
    def action_labels(self) -> dict[str, str]:
        """What people read in place of each action's text."""
        labels = self._game.action_labels(self._state, 0, self._seat)
        return dict(zip(self.action_texts, labels, strict=True))

    @property
    def vocabulary(self) -> Sequence[str]:
        """Texts of what the seat could ever do."""
        return self.action_texts

    @property
    def idle_action(self) -> int:
        """Id of doing nothing for one step."""
        return int(self._game.idle_action(self._seat))

    def observed_by(self, game: Any, out: Any) -> np.ndarray:
        """Return the seat's observation as a variant of the game that differs in its encoding shows it.

        Args:
            game: The variant.
            out: Its memory for a batch of one, which is written.
        """
        game.observe(self._state, out)
        shape = game.single_observation_space.shape
        observation: np.ndarray = out.observations[0, self._seat].reshape(shape)
        return observation


def seat_names(game: Any) -> tuple[str, ...]:
    """Return the names of the seats in texts."""
    return tuple(getattr(game, "display_names", [f"agent_{seat}" for seat in range(game.n_agents)]))
