"""Greedy play of Rush: the first useful action for the order with the least work left, without looking ahead.

It ruins nothing, but takes goods wherever it finds them first, so that scarce goods may be missing for other orders.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.games.rush.engine.constants import NO_ACTION, Area, Clock, Dish, Kind, Order
from collab_overcooked.games.rush.engine.rules import would_ruin
from collab_overcooked.policies.api import EnvInfo, Seen, Silent, simulator_of

GAMES = ("KitchenRush-v0", "AlienRush-v0")
FIRST = (Kind.PANTRY, Kind.STOVE, Kind.SPICEBAG)  # priority of actions for an order


def check_game(name: str, game: FullGame) -> None:
    """Reject games that are neither Kitchen Rush nor Alien Rush."""
    if game.id not in GAMES:
        raise ValueError(f"policy {name!r} plays {' and '.join(GAMES)} only, not {game.id}")


def useful_action(game: Any, state: Any) -> int:
    """Return a valid action that ruins nothing, for the order with the least work left; NO_ACTION if there is none."""
    tables, episode = game.compiled.tables, int(state.clock[0, Clock.EPISODE])
    dishes, areas, orders = tables.dishes[episode], tables.areas[episode], state.orders[0]
    work = dishes[:, Dish.COOK_TIME] - orders[:, [Order.INGREDIENTS, Order.SPICES, Order.COOKED]].sum(axis=1)
    useful = []
    for action in game.valid_actions(state, 0):
        if action != NO_ACTION:
            at, order = game.compiled.parts(action)
            if not would_ruin(orders[order], dishes[order], areas[at]):
                useful.append((int(work[order]), order, FIRST.index(areas[at, Area.KIND]), action))
    return min(useful)[-1] if useful else NO_ACTION


class GreedyPolicy(Silent):
    """Works on the order with the least work left; simulates the greedy seats that act before it."""

    name = "greedy"
    needs_simulator = True

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        check_game(self.name, info.game)
        self._game: Any = info.game
        self._simulator = simulator_of(info, self.name)
        self._mates = [name == info.team[seat] for name in info.team]
        self._actions = np.zeros((1, info.game.n_agents), np.int32)

    def act(self, seen: Seen) -> int:
        """Return a useful action for the state after the earlier greedy seats have acted."""
        fork = self._simulator.fork(1, 0)
        for seat in range(self._game.seat_to_act(fork.state, 0), seen.seat):
            self._actions[0, seat] = useful_action(self._game, fork.state) if self._mates[seat] else NO_ACTION
            fork.act_seat(self._actions)
        return useful_action(self._game, fork.state)
