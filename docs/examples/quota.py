"""Quota, a game with options, tables and an end: Relay until a number of parcels is delivered, paid by colour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import relay
from relay import HOLDING, Room, State

from collab_overcooked import registry
from collab_overcooked.io.config import Config, integer
from collab_overcooked.kernels.arrays import Array
from collab_overcooked.kernels.jit import kernel


@dataclass(frozen=True)
class QuotaConfig(Config):
    """Options of Quota; ``make`` checks them, and names what is allowed."""

    quota: int = integer(3, "Parcels after which the episode is over.", least=1, most=100)
    blue: int = integer(2, "Reward of a blue parcel; a red one pays 1.", least=0, most=100)


class Tables(NamedTuple):
    """What kernels know of the options: read-only arrays, made once from a config."""

    quota: Array  # (1,)
    pay: Array  # by parcel, as in ``HOLDING``


@kernel
def note_orders(tables, state, actions, out):
    """Keep what is ordered before the step, which draws the next order. Mutates: out."""
    for b in range(state.room.shape[0]):
        out.scratch[b, 0] = state.room[b, Room.ORDER]


@kernel
def end_episodes(tables, state, actions, out):
    """Deliveries pay by colour, and the last one of the quota ends the episode. Mutates: state, out."""
    for b in range(state.room.shape[0]):
        for seat in range(2):
            out.rewards[b, seat] *= tables.pay[out.scratch[b, 0]]
        out.terminated[b] = state.room[b, Room.SERVED] >= tables.quota[0]
        if out.terminated[b]:
            out.truncated[b] = False
            state.room[b, Room.LIMIT] = state.room[b, Room.T]  # Relay's kernels step no episode beyond its limit


class Quota(relay.Relay):
    """Bring parcels of the ordered colour to the right end until the quota is reached."""

    id = "Quota-v0"
    config_class = QuotaConfig
    sizes = {"scratch": 1}  # noqa: RUF012
    step_kernels = (note_orders, *relay.Relay.step_kernels, end_episodes)

    def __init__(self, *values: Any, **options: Any) -> None:
        config = QuotaConfig.read(values, options)
        self.kwargs = config.to_dict()
        pay = [0, 1, config.blue]
        assert len(pay) == len(HOLDING)
        self.compiled = SimpleNamespace(tables=Tables(np.array([config.quota]), np.array(pay)))
        self._set_spaces(gymnasium.spaces.Box(0, 255, (self.observed_numbers,), np.uint8))

    def _complete(self, state: State, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
        terminated, truncated = (
            state.room[i, Room.SERVED] >= self.compiled.tables.quota[0],
            super()._complete(state, i, scene)[1],
        )
        return bool(terminated), bool(truncated and not terminated)


RECORD = registry.GameRecord("Quota-v0", "quota:Quota", "Couriers hand on a number of parcels, paid by colour.")
registry.register_game(RECORD)
