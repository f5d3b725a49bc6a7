"""Keys of real-time play: which action of a game a key is, and which key counts when a tick is over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from collab_overcooked.envs.lexicon import plain
from collab_overcooked.envs.seen import SeatView
from collab_overcooked.play.settings import BY_GAME, TICKS, TURNS, Clock, PlaySettings

MOVES = {"up": ("north", "up"), "down": ("south", "down"), "left": ("west", "left"), "right": ("east", "right")}
ACTS = {"act": ("interact", "use", "press", "open"), "stay": ("stay", "wait", "noop")}


def key_actions(game: Any, seat: int) -> dict[str, int]:
    """Return the action of each key of a seat; nothing where a seat has no four moves.

    Keys are called by what they do: ``up``, ``down``, ``left``, ``right``, ``act``, ``stay``.
    """
    texts = plain(game).action_texts(None, 0, seat)
    actions = {}
    for key, names in (MOVES | ACTS).items():
        present = [name for name in names if name in texts]
        if present:
            actions[key] = texts.index(present[0])
    return actions if MOVES.keys() <= actions.keys() else {}


def clock_of(settings: PlaySettings, game: Any, seats: Iterable[int]) -> Clock:
    """Return the clock of a game, ``"turns"`` or ``"ticks"``.

    Args:
        settings: Settings of play.
        game: Compiled game.
        seats: Seats of people.
    """
    if settings.clock != BY_GAME:
        return settings.clock
    keys = [key_actions(game, seat) for seat in seats]
    return TICKS if keys and all(keys) else TURNS


def key_labels(game: Any, view: SeatView, seat: int) -> dict[str, str]:
    """Return the label of each key's action, by key."""
    labels, texts = view.action_labels, view.action_texts
    return {key: labels[texts[action]] for key, action in key_actions(game, seat).items()}


class HeldKeys:
    """The keys that a person presses. A tick takes the newest key pressed since the last one, else the one held.

    Nothing queues: a key that is pressed and released within a tick counts once, and holding one never builds a
    backlog.
    """

    def __init__(self) -> None:
        self._held: list[str] = []
        self._newest: str | None = None

    def press(self, key: str) -> None:
        """Note a pressed key; a key that is already down is a repetition by the keyboard."""
        if key not in self._held:
            self._held.append(key)
            self._newest = key

    def release(self, key: str) -> None:
        """Note a key that goes up."""
        if key in self._held:
            self._held.remove(key)

    def tap(self, key: str) -> None:
        """Note a key that is pressed and released at once, where no release is reported."""
        self._newest = key

    def clear(self) -> None:
        """Forget all keys: the page has lost the focus, or the connection is gone."""
        self._held.clear()
        self._newest = None

    def take(self) -> str | None:
        """Return the key that counts for the tick that is over; None for no key."""
        key = self._newest or (self._held[-1] if self._held else None)
        self._newest = None
        return key


def idle_or(actions: Mapping[str, int], key: str | None, mask: Any, idle: int) -> int:
    """Return the action of a key if the game accepts it now, else the idle action."""
    action = idle if key is None else actions.get(key, idle)
    return action if mask[action] else idle
