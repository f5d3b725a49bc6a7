"""AEC envs: PettingZoo's conversion of a ParallelEnv, or true turns in games that have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import gymnasium
import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils.conversions import parallel_to_aec_wrapper
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from collab_overcooked.envs.api import SequentialGame, is_sequential
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.envs.wrappers import RESET_FIRST


class SequentialEnv(AECEnv):
    """A SequentialGame as a PettingZoo AECEnv: each agent observes the earlier agents' actions of the same step.

    Masks are always exact. Rewards are paid when the step ends and equal those of the parallel env.

    Args:
        env: Parallel env to wrap.
    """

    agent_selection = ""  # before the first reset

    def __init__(self, env: ParallelEnv) -> None:
        super().__init__()
        self.env = env
        # in PettingZoo's sense: the state changes only after the last agent has acted
        self.metadata = {**env.metadata, "is_parallelizable": False}
        self.render_mode = env.render_mode
        self.possible_agents = env.possible_agents[:]
        self.state_space = env.state_space

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.env!r}>"

    @property
    def unwrapped(self) -> Any:
        """The wrapped parallel env."""
        return self.env.unwrapped

    def observation_space(self, agent: str) -> gymnasium.Space:
        """Return an agent's observation space, the same object at every call."""
        return self.env.observation_space(agent)

    def action_space(self, agent: str) -> gymnasium.spaces.Discrete:
        """Return an agent's action space, the same object at every call."""
        return self.env.action_space(agent)

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start an episode; see ``ParallelEnv.reset``."""
        self._observations, self.infos = self.env.reset(seed, options)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._select()

    def _select(self) -> None:
        game = cast("SequentialGame", self.env.game)
        self.agent_selection = self.possible_agents[game.seat_to_act(self.env.arrays[0], 0)]

    def observe(self, agent: str) -> Any:
        """Return an agent's current observation."""
        return self._observations[agent]

    def step(self, action: int | np.integer | None) -> None:
        """Apply the action of the selected agent; None after its episode has ended.

        Raises:
            ValueError: The environment was not reset, or the action is invalid.
        """
        if not self.agent_selection:
            raise ValueError(RESET_FIRST)
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        results = self.env.act(agent, action)
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if results is None:
            self._observations, self.infos = self.env.look()
        else:
            self._observations, self.rewards, self.terminations, self.truncations, self.infos = results
            self._accumulate_rewards()
        self._select()

    def state(self) -> np.ndarray:
        """Return the global state; see ``ParallelEnv.state``."""
        return self.env.state()

    def render(self) -> Any:
        """Render the env; see ``ParallelEnv.render``."""
        return self.env.render()

    def close(self) -> None:
        """Close the parallel env."""
        self.env.close()

    def __str__(self) -> str:
        return str(self.env)


class SimultaneousEnv(parallel_to_aec_wrapper):
    """PettingZoo's conversion of a ParallelEnv: all agents choose in the same state."""

    agent_selection = ""  # before the first reset

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.env!r}>"

    def step(self, action: int | np.integer | None) -> None:
        """Note the action of the selected agent; the last one advances the game.

        Raises:
            ValueError: The environment was not reset, or the action is invalid.
        """
        if not self.agent_selection:
            raise ValueError(RESET_FIRST)
        super().step(action)


class OrderedEnv(OrderEnforcingWrapper):
    """PettingZoo's checks of the order of calls."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.env!r}>"

    def __str__(self) -> str:
        return str(self.env)


def to_aec(env: ParallelEnv, wrapped: bool) -> Any:
    """Convert a parallel env to an AECEnv.

    In a SequentialGame every agent chooses after the earlier agents have acted. In other games all agents choose in the
    same state, and the game advances after the last one.

    Args:
        env: Env to convert. Without turns, any PettingZoo ParallelEnv.
        wrapped: Enforce the order of calls.
    """
    in_turn = isinstance(env, ParallelEnv) and is_sequential(env.game)
    form = SequentialEnv(env) if in_turn else SimultaneousEnv(env)
    return OrderedEnv(form) if wrapped else form
