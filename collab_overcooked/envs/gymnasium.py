"""A game as Gymnasium's VectorEnv, and as a single-agent Env with all agents under one controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike

from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.batch import Array, BatchControls, BatchEnv, Infos, ResetOptions, by_agent, flat
from collab_overcooked.envs.wrappers import check_render_mode, wrapper_metadata, wrapper_text
from collab_overcooked.io.checks import near_matches, quote_value


class VectorEnv(BatchControls, gymnasium.vector.VectorEnv):
    """A batch as a Gymnasium VectorEnv, with agents flattened into the environment axis.

    ``num_envs`` is R = E * N rows; row ``e * N + i`` is agent ``i`` of environment ``e``. Rewards are per agent;
    the rows of an environment end together. Every info has ``action_mask`` (R, A) int8, ``rejected`` (R,) int32, for
    some games ``shaped_reward`` (R,) float32, and for pools of layouts ``layout`` (R,) int32, see ``BatchEnv``. All
    results are new arrays.

    Args:
        batch: Environments to play.
        autoreset_mode: Member of ``gymnasium.vector.AutoresetMode``, or its name or value. ``NEXT_STEP``: the step
            after an episode's end ignores that environment's actions, pays 0 and returns the first observation of the
            next episode. ``SAME_STEP``: the last step itself returns that observation, with the final observation and
            info in ``infos["final_obs"]`` and ``infos["final_info"]``. ``DISABLED``: call
            ``reset(options={"reset_mask": rows})``.
        render_mode: As for ParallelEnv.

    Attributes:
        state_space: Box of one row of ``states``.
        metadata: Has ``rows``, ``"agents"``; for Gymnasium's own vector environments, the modes ``sync`` and ``async``,
            it is ``"environments"``, each with all agents under one controller.

    Raises:
        ValueError: For an unknown option value.
    """

    def __init__(
        self,
        batch: BatchEnv,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self.batch = batch
        self.state_space = self.batch.state_space
        self.autoreset_mode = check_autoreset_mode(autoreset_mode)
        self.render_mode = check_render_mode(render_mode)
        self.metadata = {**wrapper_metadata(batch.game), "autoreset_mode": self.autoreset_mode, "rows": "agents"}
        self.num_envs = self.batch.num_envs * self.batch.n_agents
        self.single_observation_space = self.batch.single_observation_space
        self.single_action_space = self.batch.single_action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def __repr__(self) -> str:
        mode = None if self.autoreset_mode is AutoresetMode.NEXT_STEP else self.autoreset_mode.name
        return wrapper_text(
            type(self).__name__,
            self.batch.game,
            f"{self.num_envs} rows, {self.batch.num_envs} environments of {', '.join(self.batch.possible_agents)}",
            max_cycles=self.batch.max_cycles,
            autoreset_mode=mode,
            render_mode=self.render_mode,
        )

    def reset(
        self,
        *,
        seed: int | Sequence[int] | None = None,
        options: dict[str, Any] | Sequence[Mapping[str, Any] | None] | None = None,
    ) -> tuple[Array, Infos]:
        """Start episodes.

        Args:
            seed: An integer s, for seeds s + e of the environments, or E of them (environments, not rows).
            options: Options of the game for all environments, or a list of E mappings, one for each. In a mapping,
                ``reset_mask``, bool (R,), selects rows, all or none of an environment, and ``by_env`` may hold the
                list.

        Returns:
            Observations (R, ...) and infos.

        Raises:
            ValueError: For an unknown option, or a ``reset_mask`` with only some rows of an environment.
        """
        which, chosen = None, options
        if not isinstance(options or {}, (Mapping, list, tuple)):
            raise ValueError(f"options of reset must be a mapping or a list of them, not {quote_value(options)}")
        if isinstance(options, Mapping):
            rest = dict(options)
            which = self._environments(rest.pop("reset_mask")) if "reset_mask" in rest else None
            by_env: ResetOptions = rest.pop("by_env", None)
            if by_env is not None and (rest or not isinstance(by_env, (list, tuple))):
                raise ValueError("by_env must be a list of options, one mapping for each environment, beside no others")
            chosen = rest if by_env is None else by_env
        observations, infos = self.batch.reset(seed, chosen or None, which)
        super().reset(seed=seed if isinstance(seed, int) else None)
        return flat(observations), self._infos(infos)

    def _environments(self, mask: Any) -> Array:
        rows = np.asarray(mask)
        if rows.shape != (self.num_envs,) or rows.dtype != np.bool_:
            raise ValueError(f"reset_mask must be bool of shape ({self.num_envs},), not {rows.dtype} {rows.shape}")
        by_environment = rows.reshape(-1, self.batch.n_agents)
        if (by_environment != by_environment[:, :1]).any():
            raise ValueError("reset_mask must select all or none of an environment's agents; they share one episode")
        return by_environment[:, 0]

    def step(self, actions: ArrayLike) -> tuple[Array, Array, Array, Array, Infos]:
        """Advance by one action per row.

        Args:
            actions: Integers (R,).

        Returns:
            Observations (R, ...), rewards (R,), terminated (R,), truncated (R,), infos.

        Raises:
            ValueError: If actions have another shape, are not integers or lie outside the action space.
        """
        batch = self.batch
        waiting = batch.over if self.autoreset_mode is AutoresetMode.NEXT_STEP else None
        observations, rewards, terminated, truncated, raw = batch.step(by_agent(actions, batch))
        final: Infos = {}
        if waiting is None:
            # Copied before a reset in the same step clears them.
            rewards = rewards.copy()
            terminated = terminated.copy()
            truncated = truncated.copy()
            if "shaped_reward" in raw:
                raw["shaped_reward"] = raw["shaped_reward"].copy()
            if self.autoreset_mode is AutoresetMode.SAME_STEP and batch.over.any():
                final = self._final(observations, raw)
                batch.reset(which=batch.over)
        elif waiting.any():
            batch.reset(which=waiting)
        n_agents = batch.n_agents
        infos = self._infos(raw) | final
        return (
            flat(observations),
            flat(rewards),
            np.repeat(terminated, n_agents),
            np.repeat(truncated, n_agents),
            infos,
        )

    def _infos(self, raw: Infos) -> Infos:
        infos: Infos = {}
        for key, array in raw.items():
            infos[key] = flat(array)
            infos[f"_{key}"] = np.ones(self.num_envs, np.bool_)
        return infos

    def _final(self, observations: Array, raw: Infos) -> Infos:
        ended = np.repeat(self.batch.over, self.batch.n_agents)
        last = flat(observations)
        final_obs = np.full(self.num_envs, None, object)
        for row in np.flatnonzero(ended):
            final_obs[row] = last[row].copy()
        final_info: Infos = {}
        for key, array in raw.items():
            values = flat(array)
            values[~ended] = 0
            final_info[key], final_info[f"_{key}"] = values, ended.copy()
        return {"final_obs": final_obs, "_final_obs": ended, "final_info": final_info, "_final_info": ended.copy()}

    def render(self) -> tuple[Any, ...] | None:
        """Render one picture per row, as Gymnasium's wrappers expect; rows of one environment share it."""
        pictures = [self.batch.render(e, self.render_mode) for e in range(self.batch.num_envs)]
        return tuple(picture for picture in pictures for _ in range(self.batch.n_agents))

    def close_extras(self, **kwargs: Any) -> None:
        """Stop the threads."""
        self.batch.close()


def check_autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """Return the autoreset mode for a member, name (``"SAME_STEP"``) or value (``"SameStep"``).

    Raises:
        ValueError: The mode is unknown.
    """
    if isinstance(mode, AutoresetMode):
        return mode
    for member in AutoresetMode:
        if str(mode).replace("_", "").lower() == member.value.lower():
            return member
    raise ValueError(near_matches("autoreset_mode", mode, [member.value for member in AutoresetMode]))


class CentralControlEnv(gymnasium.Env[Array, Array]):
    """All agents under one controller: a single-agent environment.

    Observations of the agents are stacked (N, ...); an action is one integer per agent; the reward is the mean of the
    agents' rewards, so that a shared part counts once. Infos have ``action_mask`` (N, A) int8, ``rejected`` (N,) and
    ``rewards`` (N,).

    Args:
        game: Compiled game.
        render_mode: As for ParallelEnv.
        max_cycles: Cut episodes off after this many steps; the game's own limits if None or -1.
    """

    def __init__(self, game: FullGame, render_mode: str | None = None, max_cycles: int | None = None) -> None:
        self.batch = BatchEnv(game, 1, max_cycles=max_cycles)
        self.render_mode = check_render_mode(render_mode)
        self.metadata = {**wrapper_metadata(game), "rows": "environments"}  # of vector environments of it
        self.observation_space = batch_space(self.batch.single_observation_space, game.n_agents)
        self.action_space = gymnasium.spaces.MultiDiscrete([game.n_actions] * game.n_agents)

    def __repr__(self) -> str:
        return wrapper_text(
            type(self).__name__,
            self.batch.game,
            ", ".join(self.batch.possible_agents),
            max_cycles=self.batch.max_cycles,
            render_mode=self.render_mode,
        )

    def __str__(self) -> str:
        return repr(self)  # Gymnasium's would say the class only

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, Infos]:
        """Start an episode; see ``ParallelEnv.reset``."""
        observations, infos = self.batch.reset(seed, options, copy=True)
        super().reset(seed=seed)
        return observations[0], self._infos(infos, np.zeros(self.batch.n_agents, self.batch.out.rewards.dtype))

    def step(self, action: ArrayLike) -> tuple[Array, float, bool, bool, Infos]:
        """Advance by one action of every agent."""
        observations, rewards, terminated, truncated, infos = self.batch.step(np.asarray(action)[None], copy=True)
        per_agent = rewards[0]
        is_shared = (per_agent == per_agent[0]).all()  # the mean of equal numbers may be rounded
        reward = per_agent[0] if is_shared else per_agent.mean()
        return observations[0], float(reward), bool(terminated[0]), bool(truncated[0]), self._infos(infos, per_agent)

    def _infos(self, infos: Infos, rewards: Array) -> Infos:
        return {key: array[0] for key, array in infos.items()} | {"rewards": rewards}

    def set_shaping(self, weight: float) -> None:
        """Set the weight of shaped rewards, see ``BatchEnv.set_shaping``."""
        self.batch.set_shaping(weight)

    def events_to_rewards(self, weights: Mapping[str, Any] | None) -> None:
        """Pay weighted events, see ``BatchEnv.events_to_rewards``."""
        self.batch.events_to_rewards(weights)

    def action_masks(self) -> Array:
        """Return the concatenated masks of the agents, bool (N * A,), as sb3-contrib's MaskablePPO expects them."""
        return self.batch.action_masks().reshape(-1)

    def render(self) -> Any:
        """Render in ``render_mode``; ``"human"`` prints the picture and returns None."""
        return self.batch.render(0, self.render_mode)
