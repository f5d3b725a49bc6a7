"""Orders that each agent's actions cost the team, measured against the best play that a search knows."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked import registry

from ..engine.constants import Clock, EventColumn
from ..engine.rules import act, end_slot
from ..engine.search import BeamSearch, start_of
from ..engine.state import State
from ..text.episode_record import RushRecord


@lru_cache(maxsize=16)
def _search_of(env_id: str, options: str, episode: int) -> BeamSearch:
    game = registry.load_game(env_id, **json.loads(options))
    return BeamSearch(game.compiled.tables, episode, [True] * game.n_agents)


def lost_orders(record: RushRecord) -> tuple[int, ...]:
    """Return how many orders the actions of each agent cost, in agent order.

    The value of a position is how many orders the whole team could still bring to an end in time, those finished
    included. It never rises, and falls with actions after which fewer can be finished: ruined orders, goods taken where
    another order needs them, and idle workers when there is no time to spare. Such a fall is the loss of the agent that
    acted; the losses of all agents add up to what the best play has more than this one. Agents act one after the other,
    so the one that wastes the last spare moment is charged.

    Values between equal ones are equal, so only positions around a fall are searched, by halving.
    """
    search = _search_of(record.env_id, json.dumps(record.env_kwargs, sort_keys=True), record.round or 0)
    positions, seats = _positions(search.tables, record)
    lost = [0] * len(record.team)

    def value(k: int) -> int:
        return search.search(positions[k]).finished

    def halve(low: int, high: int, before: int, after: int) -> None:
        if before == after:
            return
        if high - low == 1:
            lost[seats[low]] += before - after
            return
        middle = (low + high) // 2
        between = min(max(value(middle), after), before)  # a beam may find too little
        halve(low, middle, before, between)
        halve(middle, high, between, after)

    last = len(seats)
    at_end = _value_at_end(positions[last], value, last)
    halve(0, last, max(value(0), at_end), at_end)
    return tuple(lost)


def _value_at_end(state: State, value: Callable[[int], int], last: int) -> int:
    """Return the finished orders of a complete episode; for an abandoned one, the value of its last position."""
    return int(state.clock[Clock.FINISHED]) if state.clock[Clock.OVER] else value(last)


def _positions(tables: Any, record: RushRecord) -> tuple[list[State], list[int]]:
    """Return the positions before every action and after the last one, and the acting seat of each but the last."""
    env = start_of(tables, record.round or 0, record.max_cycles)
    event = np.zeros(len(EventColumn), np.int32)
    positions, seats = [_copy(env)], list[int]()
    for step in record.steps:
        for seat, action in enumerate(step.actions):
            act(tables, env, action, event)
            if seat == len(step.actions) - 1:
                end_slot(tables, env)
            positions.append(_copy(env))
            seats.append(seat)
    return positions, seats


def _copy(env: State) -> State:
    return State(*(array.copy() for array in env))
