"""Lists of possible actions that language agents choose from, and policies that choose by position alone."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.io.text import in_drawn_order
from collab_overcooked.policies.api import EnvInfo, Seen, Silent

ORDERS = SHUFFLED, GAME = "shuffled", "game"
PATIENCE = 20  # steps of a long wait
RULES = RANDOM, NOTHING, NEVER_IDLE, NEVER_REPEAT, ALPHABETICAL = (
    "random",
    "nothing",
    "never-idle",
    "never-repeat",
    "alphabetical",
)
USAGE = f"always:K|{'|'.join(RULES)}[,shuffled|game]"


def offered(seen: Seen, game: FullGame) -> dict[str, int]:
    """Return the accepted actions of a seat by text, without useless ones and those that only pay for messages."""
    left_out = seen.view.useless | frozenset(game.talk_actions(seen.seat))
    return {text: action for text, action in seen.legal_actions.items() if action not in left_out}


def in_order(texts: Iterable[str], order: str, seed: int, seen: Seen) -> list[str]:
    """Return the texts of a list in the order in which a model reads them.

    Args:
        texts: Texts in the game's order, which can follow a recipe.
        order: ``"game"``, or ``"shuffled"`` for one that depends on seed, seat and timestep alone.
        seed: Seed of the seat's policy in the episode.
        seen: Knowledge of the seat.
    """
    return in_drawn_order(texts, f"{seed} {seen.seat} {seen.timestep}") if order == SHUFFLED else list(texts)


class ActionList:
    """Numbered list of a seat's actions: those with an effect, and a long wait where the game has something to await.

    Args:
        game: Compiled game.
        seed: Seed of the seat's policy in the episode.
        order: See ``in_order``.
        patience: Maximum length of a long wait; 0 offers none.
    """

    def __init__(self, game: FullGame, seed: int, order: str, patience: int = PATIENCE) -> None:
        self._game, self._seed, self._order, self._patience = game, seed, order, patience
        self._waits: tuple[int, Hashable] | None = None  # until a timestep, or until this has changed

    def options(self, seen: Seen) -> dict[str, int]:
        """Return the actions by text, in the order of the list."""
        options, idle = offered(seen, self._game), seen.idle_action
        if seen.view.idle_last:
            options = dict(sorted(options.items(), key=lambda option: option[1] == idle))
        if self._patience and seen.view.awaited is not None:
            wait = seen.view.action_texts[idle]
            options[f"{wait} until something changes, {self._patience} steps at most"] = idle
        return {text: options[text] for text in in_order(options, self._order, self._seed, seen)}

    def note(self, seen: Seen, text: str) -> None:
        """Store whether the seat begins a long wait."""
        if text not in seen.legal_actions:
            self._waits = seen.timestep + self._patience, seen.view.awaited

    def goes_on_waiting(self, seen: Seen) -> bool:
        """Return whether the seat still waits for a change."""
        if self._waits is not None:
            end, before = self._waits
            if seen.timestep < end and seen.view.awaited == before and not seen.refused:
                return True
            self._waits = None
        return False


class PositionPolicy(Silent):
    """Answers every numbered list by a blind rule, which reads no state: a model that understands nothing.

    Args:
        position: Position from 1, or one of ``RULES``: a random action, none, a random one other than waiting or than
            the last choice, or the alphabetically first one. Without an action there, the seat waits, as it does after
            an unusable answer of a model.
        order: Order of the lists.
    """

    name = "always"

    def __init__(self, position: str, order: str) -> None:
        self._position, self._order = position, order

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Reset the generator; seats with the same seed draw differently."""
        self._list, self._rng = ActionList(info.game, seed, self._order), np.random.default_rng([seed, seat])
        self._last = ""  # choice

    def act(self, seen: Seen) -> int:
        """Return the listed action at the position."""
        if self._list.goes_on_waiting(seen):
            return seen.idle_action
        options = self._list.options(seen)
        text = self._text(options, seen.idle_action)
        if text is None:
            return seen.idle_action
        self._list.note(seen, text)
        self._last = text
        return options[text]

    def _text(self, options: Mapping[str, int], idle: int) -> str | None:
        texts, rule = list(options), self._position
        if rule == NOTHING:
            return None
        if rule == ALPHABETICAL:
            return min(texts)
        if rule not in RULES:
            return texts[int(rule) - 1] if int(rule) <= len(texts) else None
        left_out = {NEVER_IDLE: {text for text in texts if options[text] == idle}, NEVER_REPEAT: {self._last}}.get(
            rule, set()
        )
        drawn = [text for text in texts if text not in left_out] or texts
        return drawn[self._rng.integers(len(drawn))]


def always_from_text(text: str) -> PositionPolicy:
    """Create the policy of a spec such as ``"always:2"`` or ``"always:random,game"`` from the text after the colon."""
    position, _, order = text.partition(",")
    if not re.fullmatch("|".join((r"[1-9]\d{0,2}", *RULES)), position) or (order or SHUFFLED) not in ORDERS:
        raise ValueError(f"policy 'always' must be written {USAGE}, with K from 1 to 999, not {text!r}")
    return PositionPolicy(position, order or SHUFFLED)
