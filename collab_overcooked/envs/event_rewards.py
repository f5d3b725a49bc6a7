"""Rewards decoded from event codes, by tables that are computed once from the weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.envs.api import FullGame, Out
from collab_overcooked.envs.wrappers import agent_names
from collab_overcooked.io.checks import OptionError, near_matches
from collab_overcooked.io.schema import SchemaError, number

Array = np.ndarray
REWARD = "reward"  # weight of the game's own reward
LOW_BITS = 13  # tables of 2^13 and 2^12 sums decode the 25 bits of Overcooked by two look-ups


class Pay(NamedTuple):
    """Least and most reward for an event of an agent, equal where the amount is fixed."""

    event: str  # Its name, see ``event_names``
    agent: tuple[float, float] = (0.0, 0.0)  # To the agent alone
    team: tuple[float, float] = (0.0, 0.0)  # To every agent, it included


def bounds_of(pay: Sequence[Pay], names: Sequence[str], counts: Array) -> tuple[Array, Array]:
    """Return the least and most reward of each agent, float64 (B, N) each, by its events (B, N, events)."""
    least, most = np.zeros((2, *counts.shape[:2]))
    for event, agent, team in pay:
        happened = counts[..., names.index(event)]
        for bound, single, shared in ((least, agent[0], team[0]), (most, agent[1], team[1])):
            bound += single * happened + shared * happened.sum(1, keepdims=True)
    return least, most


def event_names(game: FullGame) -> tuple[str, ...]:
    """Return the names of the events that a game counts.

    Raises:
        OptionError: An event is unknown.
    """
    if not game.event_names:
        raise OptionError("events", f"events: {game.id} does not count events, so none can have a weight")
    return game.event_names


class EventReward:
    """Reward that is a weighted sum of a seat's events.

    Args:
        game: Has ``event_names`` and ``event_numbers``.
        weights: Finite weights by event name, in upper or lower case; ``reward`` is the weight of the game's own
            reward, 0 by default. Or such weights by name of an agent; others keep the game's rewards.
    """

    def __init__(self, game: FullGame, weights: Mapping[str, Any]) -> None:
        names, agents = event_names(game), agent_names(game)
        self._by_seat: list[EventReward] = []
        if isinstance(weights, Mapping) and set(agents) & set(weights):
            for name in weights:
                if name not in agents:
                    raise OptionError("events", f"events: {near_matches('agent', name, agents)}")
            self._by_seat = [EventReward(game, weights.get(agent, {REWARD: 1.0})) for agent in agents]
            weights = {}
        if not isinstance(weights, Mapping):
            raise OptionError("events", f"events: weights must be a mapping of events to numbers, not {weights!r:.80}")
        by_name = {str(name).lower(): _check_weight(name, weight) for name, weight in weights.items()}
        for name in by_name:
            if name not in (*names, REWARD):
                raise OptionError("events", f"events: {near_matches('event', name, [*names, REWARD])}")
        self._game = game
        self._reward = by_name.get(REWARD, 0.0)
        values = np.array([*(by_name.get(name, 0.0) for name in names), 0.0])  # the last one for NOTHING, which is -1
        self._is_bits = game.events_are_bits
        self._low = _sums(values[:LOW_BITS]) if self._is_bits else values
        self._high = _sums(values[LOW_BITS:-1])

    def of(self, out: Out) -> Array:
        """Return the rewards of all seats in the last step, float64 (E, N)."""
        if self._by_seat:
            return np.stack([paid.of(out)[:, seat] for seat, paid in enumerate(self._by_seat)], axis=1)
        numbers = self._game.event_numbers(out)
        if self._is_bits:
            rewards: Array = self._low[numbers & ((1 << LOW_BITS) - 1)] + self._high[numbers >> LOW_BITS]
        else:
            rewards = self._low[numbers]
        return rewards + self._reward * out.rewards if self._reward else rewards


def _check_weight(name: object, weight: object) -> float:
    try:
        return float(number()(weight))
    except SchemaError as error:
        raise OptionError("events", f"events: the weight of {name} {error}") from None


def _sums(values: Array) -> Array:
    bits = np.arange(1 << len(values))[:, None] >> np.arange(len(values)) & 1
    sums: Array = bits @ values
    return sums
