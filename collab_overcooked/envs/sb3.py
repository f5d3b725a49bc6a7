"""A batch as a Stable-Baselines3 VecEnv; importing it imports torch."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from stable_baselines3.common.vec_env import VecEnv

from collab_overcooked.envs.batch import Array, BatchControls, BatchEnv, by_agent, flat
from collab_overcooked.envs.wrappers import check_render_mode, wrapper_metadata, wrapper_text
from collab_overcooked.kernels.rng import derive_seeds

Indices = int | Iterable[int] | None


class SB3VecEnv(BatchControls, VecEnv):
    """A batch as a VecEnv with a row for each agent: row ``e * N + i`` is agent ``i`` of environment ``e``.

    Environments are reset in the step that ends them, as Stable-Baselines3 expects: the infos of their rows have
    ``terminal_observation``, ``TimeLimit.truncated`` and ``episode``, return and length as Stable-Baselines3's monitors
    report them (``ep_rew_mean``). In some games all infos have ``shaped_reward``, for pools of layouts ``layout``, that
    of the step, see ``BatchEnv``, and beside partners ``seat`` and ``partner``. Masks for sb3-contrib's MaskablePPO
    come from ``env_method("action_masks")``.

    Args:
        batch: Environments to play.
        render_mode: As for ParallelEnv; pictures are of environment 0.
    """

    def __init__(self, batch: BatchEnv, render_mode: str | None = None) -> None:
        self.batch = batch
        self.render_mode = check_render_mode(render_mode)  # the constructor below asks for it
        self._actions: Array | None = None
        self.state_space = batch.state_space
        rows = batch.num_envs * batch.n_agents
        super().__init__(rows, batch.single_observation_space, batch.single_action_space)
        self.metadata = wrapper_metadata(batch.game)
        self._returns, self._lengths = np.zeros(rows), np.zeros(rows, np.int64)  # of the running episodes
        self._started = time.time()

    def __repr__(self) -> str:
        return wrapper_text(
            type(self).__name__,
            self.batch.game,
            f"{self.num_envs} rows, {self.batch.num_envs} environments of {', '.join(self.batch.possible_agents)}",
            max_cycles=self.batch.max_cycles,
            render_mode=self.render_mode,
        )

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Set the seeds of the next reset: environment ``e`` gets seed + e.

        Returns:
            The seed of each row; agents of one environment share theirs.
        """
        n_agents = self.batch.n_agents
        first = super().seed(seed)[0]  # draws one if seed is None
        assert first is not None
        self._seeds = [number for number in derive_seeds(first, self.batch.num_envs) for _ in range(n_agents)]
        return self._seeds

    def reset(self) -> Array:
        """Reset all environments with the seeds and options (of ``set_options``, a list by row) set before.

        Returns:
            Observations (R, ...).
        """
        options = self._options[:: self.batch.n_agents]
        seeds = [number for number in self._seeds[:: self.batch.n_agents] if number is not None]
        observations, _ = self.batch.reset(seeds or None, options if any(options) else None)
        self._reset_seeds()
        self._reset_options()
        self._returns[:], self._lengths[:] = 0, 0
        return flat(observations)

    def step_async(self, actions: Array) -> None:
        """Set the actions (R,) of the next ``step_wait``."""
        self._actions = by_agent(actions, self.batch)

    def step_wait(self) -> tuple[Array, Array, Array, list[dict[str, Any]]]:
        """Advance by the actions of ``step_async``.

        Returns:
            Observations (R, ...), rewards (R,) float32, dones (R,) bool, infos, a new dict each.

        Raises:
            ValueError: ``step_async`` was not called.
        """
        if self._actions is None:
            raise ValueError("call step_async before step_wait")
        actions, self._actions = self._actions, None
        observations, rewards, terminated, truncated, raw = self.batch.step(actions)
        rewards = flat(rewards).astype(np.float32, copy=False)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for key in ("shaped_reward", "layout", "seat", "partner"):
            for info, value in zip(infos, raw[key].reshape(-1).tolist() if key in raw else (), strict=False):
                info[key] = value
        self._returns += rewards
        self._lengths += 1
        over = terminated | truncated
        dones = np.repeat(over, self.batch.n_agents)
        if over.any():
            cut_off = np.repeat(truncated & ~terminated, self.batch.n_agents)
            last, elapsed = flat(observations), round(time.time() - self._started, 6)
            for row in np.flatnonzero(dones):
                infos[row]["terminal_observation"] = last[row].copy()
                infos[row]["TimeLimit.truncated"] = bool(cut_off[row])
                played = {"r": round(float(self._returns[row]), 6), "l": int(self._lengths[row]), "t": elapsed}
                infos[row]["episode"] = played
            self._returns[dones], self._lengths[dones] = 0, 0
            self.batch.reset(which=over)
        return flat(observations), rewards, dones, infos

    def action_masks(self) -> Array:
        """Return the masks of all rows, bool (R, A)."""
        return self.batch.action_masks().reshape(self.num_envs, -1)

    def get_images(self) -> Sequence[Array | None]:
        """Render environment 0, the only one with pictures."""
        return [self.batch.render(0, self.render_mode)]

    def close(self) -> None:
        """Stop the threads."""
        self.batch.close()

    def has_attr(self, attr_name: str) -> bool:
        """Return for each row whether this VecEnv has an attribute."""
        return hasattr(self, attr_name)

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Return an attribute of this VecEnv, repeated for each row."""
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: object, indices: Indices = None) -> None:
        """Set an attribute of this VecEnv; rows cannot differ.

        Raises:
            ValueError: Only some rows are named.
        """
        if len(list(self._get_indices(indices))) != self.num_envs:
            raise ValueError(f"{attr_name} can only be set for all rows, which are views of one batch")
        setattr(self, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of the rows: ``action_masks`` (bool (A,) each) or ``render`` (a picture of its environment).

        Raises:
            AttributeError: Rows have no such method.
        """
        chosen = list(self._get_indices(indices))
        if method_name == "action_masks":
            masks = self.action_masks()
            return [masks[row] for row in chosen]
        if method_name == "render":
            return [self.batch.render(row // self.batch.n_agents, self.render_mode) for row in chosen]
        raise AttributeError(f"rows have the methods action_masks and render, not {method_name!r}")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """Return False for all rows."""
        return [False for _ in self._get_indices(indices)]
