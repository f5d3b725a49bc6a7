"""Base class of games with orders: set by ``reset``, added from outside the team, or drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.envs.seen import SeatView
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.schema import Parser, list_of, one_of
from collab_overcooked.kernels.events import NOTHING
from collab_overcooked.kernels.mersenne import choose_again
from collab_overcooked.kernels.orders import FORCED_SLOTS


@dataclass(frozen=True)
class OrderReport:
    """Outcome of a list of commands."""

    obeyed: tuple[bool, ...]  # Whether each command was carried out
    feedback: tuple[str, ...]  # Messages about the others
    collect_finish: bool = False  # Signal of MindAgent's section 4.1: an order was completed in this step


class OrderView(SeatView):
    """Knowledge of one agent: everything except future orders, so that it knows the valid actions of the others too."""

    public_refusals = True
    goto: int  # verb of walks, in the first column of the catalogue

    @cached_property
    def walks(self) -> frozenset[int]:
        verbs = self._game.compiled.tables.catalogue[:, 0]
        return frozenset(np.flatnonzero(verbs == self.goto).tolist())

    def commands(self, seat: int) -> list[str]:
        """Return the commands that the game would accept from a seat now."""
        game = self._game
        legal = (a for a in range(game.n_actions) if game.check(self._state, 0, seat, a)[0] == "OK")
        return [game.command_text(seat, action) for action in legal]


class OrderGame(CompiledGame):
    """A game with the ``forced`` orders and the ``stream`` of ``kernels.orders`` in its state.

    ``Out.order_events`` begins with the orders completed and expired.

    Attributes:
        forced_column: Column of ``state.clock`` with the number of orders of ``state.forced`` that have come.
        over_column: Column of ``state.clock`` that is 1 once the episode is over.
    """

    events_pay = False
    forced_column: int
    over_column: int

    def _complete(self, state: Any, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
        if "chance" in scene:
            choose_again(state.stream[i], *state.rng[i].tolist(), len(self.orderable()))
        ends = super()._complete(state, i, scene)
        state.clock[i, self.over_column] = any(ends)
        return ends

    def _choose(self, state: Any, which: np.ndarray, options: Mapping[str, Any]) -> None:
        numbers = [self.orderable().index(name) for name in options.get("orders", ())]
        state.forced[which, : len(numbers)] = numbers

    def reset_parsers(self) -> dict[str, Parser]:
        order = one_of(self.orderable(), "order")
        return {"orders": list_of(order, 1, FORCED_SLOTS, "orders"), **super().reset_parsers()}

    def sample_belief(self, state: Any, seat: int, rng: np.random.Generator) -> None:
        """Forget all future orders, forced or drawn, in every environment; agents do not know them."""
        state.forced[:] = NOTHING
        state.clock[:, self.forced_column] = 0
        state.stream[:] = 0  # seeded anew by the first draw

    @property
    def default_turns(self) -> tuple[int, ...]:
        """Default order in which the seats' commands are carried out."""
        return tuple(range(self.n_agents))

    def turn_order(self, state: Any, i: int) -> tuple[int, ...]:
        turns = tuple(state.turns[i].tolist())
        return self.default_turns if NOTHING in turns else turns

    def set_turn_order(self, state: Any, i: int, seats: Sequence[int]) -> None:
        if sorted(seats) != list(range(self.n_agents)):
            raise ValueError(f"turn_order must name each seat from 0 to {self.n_agents - 1} once, not {list(seats)}")
        state.turns[i] = seats

    def order_counts(self, out: Any) -> np.ndarray:
        """Return the numbers of orders completed and expired in the last step, (2, B)."""
        counts: np.ndarray = out.order_events[:, :2].T
        return counts

    def collect_finish(self, out: Any, i: int) -> bool:
        """Return whether an order was completed in the last step: the signal of MindAgent's section 4.1."""
        return bool(self.order_counts(out)[0, i])

    def order_next(self, state: Any, i: int, names: Sequence[str]) -> None:
        """Set the next orders; see ``TextGame``.

        Raises:
            ValueError: An order is unknown, or more are named than the game can hold.
        """
        known, used = list(self.orderable()), int(state.clock[i, self.forced_column])
        if len(names) > state.forced.shape[1] - used:
            raise ValueError(f"orders: at most {state.forced.shape[1] - used} more can be named, not {len(names)}")
        numbers = []
        for name in names:
            if name not in known:
                raise ValueError(near_matches("order", name, known))
            numbers.append(known.index(name))
        state.forced[i, used:] = NOTHING
        state.forced[i, used : used + len(numbers)] = numbers
