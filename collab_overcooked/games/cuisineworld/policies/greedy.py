"""Greedy play of CuisineWorld: list schedules of the whole kitchen, of which each seat takes its part."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.policies.api import AgentView, EnvInfo, PolicyBase, compiled_of, simulator_of

from ..engine.constants import NOTHING, Agent
from .job_list import HEED, SHARE, Array, Scratch, StaticInfo, make_scratch, make_static_info
from .task_assignment import assign_batch

GAME = "CuisineWorld-v0"
PATIENCE = 6  # steps for which an item held by another policy's seat counts as on its way


class TeammateModel:
    """Model of the teammates: seats of the same policy share the work, others are observed.

    Args:
        seat: Seat of this policy.
        team: Policy names by seat.
    """

    def __init__(self, seat: int, team: tuple[str, ...]) -> None:
        self._mates = np.array([name == team[seat] for name in team])
        self._holding = np.full(len(team), NOTHING)
        self._since = np.zeros(len(team), int)

    def trust(self, state: Any, timestep: int) -> Array:
        """Return the trust in each seat, int32 (N,); call it once per step.

        An item held by another policy's seat counts as on its way only for some steps after it was taken.
        """
        held = state.agents[0, :, Agent.ITEM]
        changed = held != self._holding
        self._since[changed] = timestep
        self._holding[changed] = held[changed]
        heeded = np.where(timestep - self._since < PATIENCE, HEED, 0)
        return np.where(self._mates, SHARE, heeded).astype(np.int32)


class Assigner:
    """A game's assigner with its scratch memory."""

    def __init__(self, game: FullGame) -> None:
        compiled = compiled_of(game, GAME)
        self.tables: Any = compiled.tables
        self.static: StaticInfo = make_static_info(compiled)
        state, _ = game.alloc(1)
        self.scratch: Scratch = make_scratch(self.tables, self.static, state)

    def assign(self, state: Any, trust: Array, actions: Array) -> None:
        """Write the decision for every environment of a batch, (B, N) int32."""
        assign_batch(self.tables, self.static, trust, state, self.scratch, actions)


assigner: Callable[[Any], Assigner] = lru_cache(maxsize=16)(Assigner)  # cached by game


class GreedyPolicy(PolicyBase):
    """Earliest deadline first, nearest agent first; works ahead when no order needs it."""

    name = "greedy"
    batched = True
    needs_simulator = True

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        self._assigner = assigner(info.game)
        self._simulator = simulator_of(info, self.name)
        self._teammates = TeammateModel(seat, info.team)
        self._actions = np.zeros((1, info.game.n_agents), np.int32)

    def act(self, seen: AgentView) -> int:
        if seen.error is not None:  # a teammate interfered; a new command would be refused, too
            return seen.idle_action
        state = self._simulator.state
        self._assigner.assign(state, self._teammates.trust(state, seen.timestep), self._actions)
        return int(self._actions[0, seen.seat])
