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
from collab_overcooked.envs.event_rewards import Pay
from collab_overcooked.io.config import Config, integer
from collab_overcooked.kernels.arrays import Array
from collab_overcooked.kernels.batch_kernels import BatchKernels
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
def is_over(tables, env):
    """An episode is over once the quota is reached, or at its limit."""
    return env.room[Room.SERVED] >= tables.quota[0] or relay.is_over(env)


@kernel
def step_env(tables, env, actions, out):
    """Deliveries pay by the colour that was ordered before the step. Mutates: env, out."""
    pay = tables.pay[env.room[Room.ORDER]]
    _, truncated = relay.step_env(env, actions, out)
    for seat in range(2):
        out.rewards[seat] *= pay
    terminated = env.room[Room.SERVED] >= tables.quota[0]
    return terminated, truncated and not terminated


class Quota(relay.Relay):
    """Bring parcels of the ordered colour to the right end until the quota is reached."""

    id = "Quota-v0"
    config_class = QuotaConfig
    events_pay = False  # alone: the colour that was ordered decides
    batch_kernels = BatchKernels(
        step_env, relay.reset_env, relay.observe_env, is_over=is_over, why_refused=relay.why_refused
    )

    def __init__(self, *values: Any, **options: Any) -> None:
        config = QuotaConfig.read(values, options)
        self.kwargs = config.to_dict()
        pay = [0, 1, config.blue]
        assert len(pay) == len(HOLDING)
        self.event_pay = (Pay("delivered", team=(min(pay[1:]), max(pay[1:]))),)
        self.compiled = SimpleNamespace(tables=Tables(np.array([config.quota]), np.array(pay)))
        self._set_spaces(gymnasium.spaces.Box(0, 255, (self.observed_numbers,), np.uint8))

    def _complete(self, state: State, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
        terminated = bool(state.room[i, Room.SERVED] >= self.compiled.tables.quota[0])
        return terminated, super()._complete(state, i, scene)[1] and not terminated


RECORD = registry.GameSpec("Quota-v0", "quota:Quota", "Couriers hand on a number of parcels, paid by colour.")
registry.register_game(RECORD)
