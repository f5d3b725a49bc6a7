"""Lists of possible actions that language agents choose from, and policies that choose from them by blind rules."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from collab_overcooked import registry
from collab_overcooked.envs.api import FullGame
from collab_overcooked.game_spec import LEGAL, MENUS, VOCABULARY
from collab_overcooked.io.text import in_drawn_order
from collab_overcooked.policies.api import AgentView, EnvInfo, PolicyBase
from collab_overcooked.policies.blind_rules import (
    ALPHABETICAL,
    BLIND,
    LONGEST,
    MENTIONED,
    NEVER_IDLE,
    NEVER_REPEAT,
    NEWEST,
    NOTHING,
    RAREST,
    ROUND_ROBIN,
    RULES,
)
from collab_overcooked.policies.registry import BUILT_IN

ORDERS = SHUFFLED, GAME = "shuffled", "game"
PATIENCE = 20  # steps of a long wait
WORD = re.compile(r"\w+")


def offered(seen: AgentView, game: FullGame, menu: str = LEGAL) -> dict[str, int]:
    """Return the actions that a list offers to a seat by text, except actions that only pay for messages.

    Args:
        seen: Knowledge of the seat.
        game: Compiled game.
        menu: ``"legal"`` for the accepted actions that change something, ``"vocabulary"`` for all actions of the seat.
    """
    payments = frozenset(game.talk_actions(seen.seat))
    if menu == LEGAL:
        left_out = payments | seen.view.useless
        return {text: action for text, action in seen.legal_actions.items() if action not in left_out}
    vocabulary = {*seen.view.vocabulary, *seen.legal_actions}
    texts = enumerate(seen.view.action_texts)
    return {text: action for action, text in texts if text in vocabulary and action not in payments}


def in_order(texts: Iterable[str], order: str, seed: int, seen: AgentView) -> list[str]:
    """Return the texts of a list in the order shown to a model.

    Args:
        texts: Texts in the game's order, which can follow a recipe.
        order: ``"game"``, or ``"shuffled"`` for one that depends on seed, seat and timestep alone.
        seed: Seed of the seat's policy in the episode.
        seen: Knowledge of the seat.
    """
    return in_drawn_order(texts, f"{seed} {seen.seat} {seen.timestep}") if order == SHUFFLED else list(texts)


class ActionList:
    """Numbered list of a seat's actions, with a long wait where the game has something to await.

    Args:
        game: Compiled game.
        seed: Seed of the seat's policy in the episode.
        order: Order of the list; see ``in_order``.
        patience: Maximum length of a long wait; 0 offers none.
        menu: Choice of actions, see ``offered``; None for the menu of the game, see ``GameSpec``.
    """

    def __init__(
        self, game: FullGame, seed: int, order: str, patience: int = PATIENCE, menu: str | None = None
    ) -> None:
        self._game = game
        self._seed = seed
        self._order = order
        self._patience = patience
        self.menu = registry.find(game.id).menu if menu is None else menu
        self._waits: tuple[int, Hashable] | None = None  # until a timestep, or until this has changed

    def options(self, seen: AgentView) -> dict[str, int]:
        """Return the actions by text, in the order of the list."""
        options, idle = offered(seen, self._game, self.menu), seen.idle_action
        if seen.view.idle_last:
            options = dict(sorted(options.items(), key=lambda option: option[1] == idle))
        if self._patience and seen.view.wait_until_changed is not None:
            wait = seen.view.action_texts[idle]
            options[f"{wait} until something changes, {self._patience} steps at most"] = idle
        return {text: options[text] for text in in_order(options, self._order, self._seed, seen)}

    def is_lost(self, seen: AgentView) -> bool:
        """Return whether the step is lost to a choice from the whole vocabulary that is impossible now."""
        return self.menu == VOCABULARY and seen.error is not None

    def note(self, seen: AgentView, text: str) -> None:
        """Store whether the seat begins a long wait."""
        if text not in seen.view.action_texts:
            self._waits = seen.timestep + self._patience, seen.view.wait_until_changed

    def goes_on_waiting(self, seen: AgentView) -> bool:
        """Return whether the seat still waits for a change."""
        if self._waits is not None:
            end, before = self._waits
            if seen.timestep < end and seen.view.wait_until_changed == before and not seen.refused:
                return True
            self._waits = None
        return False


class BlindPolicy(PolicyBase):
    """Answers every numbered list by a rule that understands nothing: a floor for language models.

    Of equal actions the first in the list is chosen. Without an action at a position, the seat waits, as it does after
    an unusable answer of a model, and after an impossible choice from its whole vocabulary.

    Args:
        rule: Position from 1, or one of ``RULES``.
        order: Order of the lists.
        menu: Actions in the lists, see ``ActionList``.
    """

    name = "always"

    def __init__(self, rule: str, order: str, menu: str | None = None) -> None:
        self._rule = rule
        self._order = order
        self._menu = menu

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Forget earlier lists and choices, and reset the generator; seats with the same seed draw differently."""
        self._list = ActionList(info.game, seed, self._order, menu=self._menu)
        self._rng = np.random.default_rng([seed, seat])
        self._last = ""  # choice
        self._listed: dict[str, int] = {}  # text -> number of the first list that has it
        self._chosen: dict[str, int] = {}  # text -> number of the last list from which it was chosen
        self._lists = 0

    def act(self, seen: AgentView) -> int:
        """Return the action of the list that the rule chooses."""
        if self._list.is_lost(seen) or self._list.goes_on_waiting(seen):
            return seen.idle_action
        options = self._list.options(seen)
        self._lists += 1
        for text in options:
            self._listed.setdefault(text, self._lists)
        chosen = self._text(options, seen)
        if chosen is None:
            return seen.idle_action
        self._list.note(seen, chosen)
        self._last, self._chosen[chosen] = chosen, self._lists
        return options[chosen]

    def _text(self, options: Mapping[str, int], seen: AgentView) -> str | None:
        texts, rule = list(options), self._rule
        if rule == NOTHING:
            return None
        if rule not in RULES:
            return texts[int(rule) - 1] if int(rule) <= len(texts) else None
        busy = [text for text in texts if options[text] != seen.idle_action] or texts
        least: Mapping[str, Callable[[str], Any]] = {
            ALPHABETICAL: lambda text: text,
            LONGEST: lambda text: -len(text),
            MENTIONED: lambda text: -_mentions(text, seen.text),
            NEWEST: lambda text: -self._listed[text],
            RAREST: lambda text: _shared(text, texts),
            ROUND_ROBIN: lambda text: self._chosen.get(text, 0),
        }
        if rule in least:
            return min(busy if rule == LONGEST else texts, key=least[rule])
        left = {NEVER_IDLE: busy, NEVER_REPEAT: [text for text in texts if text != self._last]}.get(rule, ()) or texts
        return left[self._rng.integers(len(left))]


def _words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def _mentions(text: str, state: str) -> int:
    counts = Counter(_words(state))
    return sum(counts[word] for word in set(_words(text)))


def _shared(text: str, texts: Sequence[str]) -> float:
    """Return how many texts have a word of a text, on average."""
    counts = Counter(word for other in texts for word in set(_words(other)))
    words = _words(text)
    return sum(counts[word] for word in words) / len(words)


def always_from_text(text: str) -> BlindPolicy:
    """Create the policy of a spec such as ``"always:2"`` or ``"always:random,game"`` from the text after the colon.

    Raises:
        ValueError: For another rule, order or menu.
    """
    parts = re.fullmatch(
        rf"([1-9]\d{{0,2}}|{'|'.join(RULES)})(?:,({'|'.join(ORDERS)}))?(?:,({'|'.join(MENUS)}))?", text
    )
    if parts is None:
        raise ValueError(f"policy 'always' must be written {BUILT_IN[BLIND].usage}, with K from 1 to 999, not {text!r}")
    rule, order, menu = parts.groups()
    return BlindPolicy(rule, order or SHUFFLED, menu)
