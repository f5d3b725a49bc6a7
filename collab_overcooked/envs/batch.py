"""Many environments at once: native arrays, Gymnasium's and Stable-Baselines3's vector environments.

``BatchEnv`` owns the arrays and speaks ``[E, N, ...]`` (E environments, N agents). The others are dialects of it:
they flatten agents into the environment axis, as SuperSuit does, so that row ``e * N + i`` is agent ``i`` of
environment ``e`` and a single-agent trainer learns one policy for all seats.
"""

from __future__ import annotations

import copy as copying
import itertools
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from collab_overcooked.core.rng import derive_seeds, seed_words
from collab_overcooked.envs.api import (
    Game,
    Snapshot,
    agent_names,
    check_max_cycles,
    check_render_mode,
    clone,
    draw,
    restore,
    rows,
    shell_metadata,
)
from collab_overcooked.errors import near_matches, whole_number

Array = np.ndarray
Infos = dict[str, Any]


class BatchEnv:
    """A batch of E environments of one game, stepped by one kernel call a thread.

    Environment ``i`` of a batch plays exactly as a ParallelEnv seeded ``core.rng.derive_seeds(seed, E)[i]`` would,
    whatever E and the number of threads. Nothing is reset by itself: an environment that is over stays as it is and
    pays nothing until ``reset(which=...)`` starts it again.

    The arrays that ``reset`` and ``step`` return are views of buffers that the next call overwrites; ask for
    ``copy=True`` to keep them.

    Args:
        game: Compiled game.
        num_envs: E, at least 1.
        num_threads: Split the batch into as many contiguous slices; kernels release the GIL. Worth its overhead only
            for large batches.
        max_cycles: Cut episodes off after this many steps; the game's own limits if None or -1.

    Attributes:
        n_agents: N.
        possible_agents: Names of the agents by seat.
        single_observation_space: Box of one agent's observation.
        single_action_space: Discrete(A).
        state: Arrays of the moment (the game's State), for reading.
        out: Arrays that the last step wrote (the game's Out), for reading.

    Raises:
        ValueError: For a number that is not a whole number of at least 1.
    """

    def __init__(self, game: Game, num_envs: int, num_threads: int = 1, max_cycles: int | None = None) -> None:
        self.game = game
        self.num_envs = whole_number("num_envs", num_envs, 1)
        self.num_threads = whole_number("num_threads", num_threads, 1)
        self.max_cycles = check_max_cycles(max_cycles)
        self.n_agents = game.n_agents
        self.possible_agents = agent_names(game)
        self.single_observation_space = copying.deepcopy(game.single_observation_space)
        self.single_action_space = copying.deepcopy(game.single_action_space)
        self._shape = (self.num_envs, self.n_agents, *game.single_observation_space.shape)
        self.state, self.out = game.alloc(self.num_envs)
        self._actions = np.zeros((self.num_envs, self.n_agents), np.int32)
        self._seeded = False
        self._split()

    def _split(self) -> None:
        """Cut the arrays into one slice a thread, once: slicing NamedTuples costs more than a small step."""
        bounds = np.linspace(0, self.num_envs, min(self.num_threads, self.num_envs) + 1).astype(int).tolist()
        self._parts = [
            (rows(self.state, start, stop), self._actions[start:stop], rows(self.out, start, stop))
            for start, stop in itertools.pairwise(bounds)
        ]
        self._pool: ThreadPoolExecutor | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out threads, which cannot be copied, and slices, which would be copied apart from their arrays."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_parts", "_pool")}

    def __setstate__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)
        self._split()

    # ---------------------------------------------------------------------------------------- playing

    def reset(
        self,
        seed: int | Sequence[int] | None = None,
        options: Mapping[str, Any] | None = None,
        which: Array | Sequence[bool] | None = None,
        copy: bool = False,
    ) -> tuple[Array, Infos]:
        """Start episodes.

        Args:
            seed: A whole number s, for seeds s + i, or E of them. Without one, generators run on; at first they are
                seeded freshly.
            options: Options of the game, the same for all environments.
            which: bool (E,), the environments to start; all if None.
            copy: Return copies instead of views.

        Returns:
            Observations (E, N, ...) and infos ``{"action_mask": (E, N, A) int8, "rejected": (E, N) int32}``, for some
            games with ``"shaped_reward"`` (E, N) float32, of all environments, started or not.

        Raises:
            ValueError: For a seed or a ``which`` of the wrong form, an unknown option, or if the first reset of the
                batch is not of all environments.
        """
        chosen = np.ones(self.num_envs, np.bool_) if which is None else self._check_which(which)
        if not self._seeded and not chosen.all():
            raise ValueError("which must choose all environments in the first reset of a batch")
        self._seed(seed, chosen)
        self.game.reset(self.state, self.out, chosen, options, self.max_cycles)
        return self._observed(copy)

    def _check_which(self, which: Any) -> Array:
        chosen = np.array(which)  # a copy, as kernels are compiled for contiguous arrays
        if chosen.shape != (self.num_envs,) or chosen.dtype != np.bool_:
            raise ValueError(
                f"which must be bool of shape ({self.num_envs},), not {chosen.dtype} of shape {chosen.shape}"
            )
        return chosen

    def _seed(self, seed: Any, chosen: Array) -> None:
        if seed is None and self._seeded:
            return
        if seed is None:
            seeds = np.random.SeedSequence().generate_state(self.num_envs, np.uint64).tolist()
        elif np.ndim(seed) == 0:
            seeds = derive_seeds(whole_number("seed", seed, 0), self.num_envs)
        else:
            seeds = [whole_number("seed", number, 0) for number in seed]
            if len(seeds) != self.num_envs:
                raise ValueError(f"seed must be one whole number or {self.num_envs} of them, not {len(seeds)}")
        places = np.flatnonzero(chosen)
        self.state.rng[places] = seed_words([seeds[i] for i in places])
        self._seeded = True

    def step(self, actions: Any, copy: bool = False) -> tuple[Array, Array, Array, Array, Infos]:
        """Advance all environments that are not over.

        Args:
            actions: Whole numbers of shape (E, N).
            copy: Return copies instead of views.

        Returns:
            Observations (E, N, ...), rewards (E, N) of the game's floating type, terminated (E,) bool, truncated (E,)
            bool, infos.

        Raises:
            ValueError: If the actions have another shape, are not whole numbers or lie outside the action space, or
                if the batch was never reset.
        """
        if not self._seeded:
            raise ValueError("call reset before step")
        self._read(actions)
        self._advance()
        out = self.out
        results = (out.rewards, out.terminated, out.truncated)
        rewards, terminated, truncated = (array.copy() for array in results) if copy else results
        observations, infos = self._observed(copy)
        return observations, rewards, terminated, truncated, infos

    def _read(self, actions: Any) -> None:
        """Check actions and write them into the kernel's buffer."""
        given = np.asarray(actions)
        if given.shape != self._actions.shape:
            raise ValueError(f"actions must have shape {self._actions.shape} (environments, agents), not {given.shape}")
        if given.dtype.kind not in "iu":
            raise ValueError(f"actions must be whole numbers, not {given.dtype}")
        n_actions = self.game.n_actions
        if given.min() < 0 or given.max() >= n_actions:
            i, seat = np.argwhere((given < 0) | (given >= n_actions))[0]
            raise ValueError(
                f"action of {self.possible_agents[seat]} in environment {i} is {given[i, seat]}, "
                f"outside Discrete({n_actions})"
            )
        self._actions[:] = given

    def _advance(self) -> None:
        """Step all slices: the first in this thread, the others in the pool's."""
        step = self.game.step
        (state, actions, out), *others = self._parts
        if others and self._pool is None:
            self._pool = ThreadPoolExecutor(len(others), thread_name_prefix="batch-env")
        waiting = [self._pool.submit(step, *part) for part in others] if self._pool else []
        step(state, actions, out)
        for part in waiting:
            part.result()

    def _observed(self, copy: bool) -> tuple[Array, Infos]:
        observations = self.out.observations.reshape(self._shape)
        infos: Infos = {"action_mask": self.out.masks, "rejected": self.game.rejections(self.state, self.out)}
        if hasattr(self.out, "shaped"):
            infos["shaped_reward"] = self.out.shaped
        if copy:
            return observations.copy(), {key: array.copy() for key, array in infos.items()}
        return observations, infos

    # ---------------------------------------------------------------------------------------- looking in

    @property
    def over(self) -> Array:
        """Which environments ended and wait for a reset, bool (E,)."""
        return self.out.terminated | self.out.truncated

    def clone(self, i: int) -> Snapshot:
        """Return a copy of environment ``i``, the same as ``ParallelEnv.clone_state`` gives."""
        agents = () if self.over[i] else tuple(self.possible_agents)
        return Snapshot(clone(self.state, i), clone(self.out, i), agents)

    def restore(self, i: int, snapshot: Snapshot) -> None:
        """Write a moment from ``clone`` or ``ParallelEnv.clone_state`` into environment ``i``."""
        restore(self.state, i, snapshot.state)
        restore(self.out, i, snapshot.out)

    def scene(self, i: int) -> dict[str, Any]:
        """Return environment ``i`` as words and numbers fit for JSON."""
        return self.game.scene(self.state, i)

    def render(self, i: int = 0, mode: str | None = "rgb_array") -> Any:
        """Return a picture of environment ``i``; ``"human"`` prints it and returns None."""
        return draw(self.game, self.state, i, check_render_mode(mode))

    def action_masks(self) -> Array:
        """Return the masks of all agents, bool (E, N, A); a fresh array."""
        return self.out.masks.astype(np.bool_)

    def close(self) -> None:
        """End the threads; the next step would start them again."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


# ------------------------------------------------------------------------------------------- Gymnasium


class VectorEnv(gymnasium.vector.VectorEnv):
    """A batch as Gymnasium's VectorEnv, its agents flattened into the environment axis.

    ``num_envs`` is R = E * N rows; row ``e * N + i`` is agent ``i`` of environment ``e``. Rewards are each agent's own;
    the rows of an environment end together. Every info has ``action_mask`` (R, A) int8, ``rejected`` (R,) int32 and,
    for some games, ``shaped_reward`` (R,) float32. All results are fresh arrays.

    Args:
        game: Compiled game.
        num_envs: E.
        num_threads: See ``BatchEnv``.
        autoreset_mode: Member of ``gymnasium.vector.AutoresetMode``, or its name or value. ``NEXT_STEP``: the step
            after an episode's end ignores that environment's actions, pays 0 and returns the first observation of the
            next one. ``SAME_STEP``: the ending step itself returns that observation, and the last one of the old
            episode in ``infos["final_obs"]`` and ``infos["final_info"]``. ``DISABLED``: call
            ``reset(options={"reset_mask": rows})``.
        render_mode: As for ParallelEnv.
        max_cycles: See ``BatchEnv``.

    Raises:
        ValueError: For an unknown option value.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        num_threads: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        max_cycles: int | None = None,
    ) -> None:
        super().__init__()
        self.batch = BatchEnv(game, num_envs, num_threads, max_cycles)
        self.autoreset_mode = check_autoreset_mode(autoreset_mode)
        self.render_mode = check_render_mode(render_mode)
        self.metadata = {**shell_metadata(game), "autoreset_mode": self.autoreset_mode}
        self.num_envs = self.batch.num_envs * self.batch.n_agents
        self.single_observation_space = self.batch.single_observation_space
        self.single_action_space = self.batch.single_action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, Infos]:
        """Start episodes.

        Args:
            seed: A whole number s, for seeds s + e of the environments, or E of them (environments, not rows).
            options: Options of the game; ``reset_mask``, bool (R,), chooses rows, all of an environment or none.

        Returns:
            Observations (R, ...) and infos.

        Raises:
            ValueError: For an unknown option, or a ``reset_mask`` that tears an environment apart.
        """
        super().reset(seed=seed if isinstance(seed, int) else None)
        options = dict(options or {})
        which = None
        if "reset_mask" in options:
            which = self._environments(options.pop("reset_mask"))
        observations, infos = self.batch.reset(seed, options or None, which)
        return flat(observations), self._infos(infos)

    def _environments(self, mask: Any) -> Array:
        given = np.asarray(mask)
        if given.shape != (self.num_envs,) or given.dtype != np.bool_:
            raise ValueError(f"reset_mask must be bool of shape ({self.num_envs},), not {given.dtype} {given.shape}")
        by_environment = given.reshape(-1, self.batch.n_agents)
        if (by_environment != by_environment[:, :1]).any():
            raise ValueError("reset_mask must choose all agents of an environment or none; they share one episode")
        return by_environment[:, 0]

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, Infos]:
        """Advance by one action a row.

        Args:
            actions: Whole numbers (R,).

        Returns:
            Observations (R, ...), rewards (R,), terminated (R,), truncated (R,), infos.

        Raises:
            ValueError: If actions have another shape, are not whole numbers or lie outside the action space.
        """
        batch = self.batch
        waiting = batch.over if self.autoreset_mode is AutoresetMode.NEXT_STEP else None
        observations, rewards, terminated, truncated, raw = batch.step(by_agent(actions, batch))
        final: Infos = {}
        if waiting is None:
            # Kept before a reset in the same step blanks them.
            rewards, terminated, truncated = rewards.copy(), terminated.copy(), truncated.copy()
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
        """Return fresh infos of all rows with Gymnasium's masks of who has them."""
        infos: Infos = {}
        for key, array in raw.items():
            infos[key] = flat(array)
            infos[f"_{key}"] = np.ones(self.num_envs, np.bool_)
        return infos

    def _final(self, observations: Array, raw: Infos) -> Infos:
        """Return what the rows that just ended saw last, in the form of Gymnasium's own vector environments."""
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
        """Return one picture a row, as Gymnasium's wrappers expect; rows of one environment share it."""
        pictures = [self.batch.render(e, self.render_mode) for e in range(self.batch.num_envs)]
        return tuple(picture for picture in pictures for _ in range(self.batch.n_agents))

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        self.batch.close()


def flat(array: Array) -> Array:
    """Return a fresh array with environments and agents as one axis: (E, N, ...) to (E * N, ...)."""
    return array.reshape(-1, *array.shape[2:]).copy()


def by_agent(actions: Any, batch: BatchEnv) -> Array:
    """Return the actions of rows as (E, N).

    Raises:
        ValueError: If there is not one action a row.
    """
    given = np.asarray(actions)
    if given.shape != (batch.num_envs * batch.n_agents,):
        raise ValueError(
            f"actions must have shape ({batch.num_envs * batch.n_agents},), one for each agent of each environment, "
            f"not {given.shape}"
        )
    return given.reshape(batch.num_envs, batch.n_agents)


def check_autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """Return an autoreset mode given as member, name (``"SAME_STEP"``) or value (``"SameStep"``).

    Raises:
        ValueError: For anything else.
    """
    if isinstance(mode, AutoresetMode):
        return mode
    for member in AutoresetMode:
        if str(mode).replace("_", "").lower() == member.value.lower():
            return member
    raise ValueError(near_matches("autoreset_mode", mode, [member.value for member in AutoresetMode]))


class CentralControlEnv(gymnasium.Env[Array, Array]):
    """All agents under one controller: a single-agent environment.

    Observations are the agents' own, stacked (N, ...); an action is one number an agent; the reward is the mean of the
    agents' rewards, so that the shared part counts once. Infos have ``action_mask`` (N, A) int8, ``rejected`` (N,) and
    ``rewards`` (N,).

    Args:
        game: Compiled game.
        render_mode: As for ParallelEnv.
        max_cycles: Cut episodes off after this many steps; the game's own limits if None or -1.
    """

    def __init__(self, game: Game, render_mode: str | None = None, max_cycles: int | None = None) -> None:
        self.batch = BatchEnv(game, 1, max_cycles=max_cycles)
        self.render_mode = check_render_mode(render_mode)
        self.metadata = shell_metadata(game)
        self.observation_space = batch_space(self.batch.single_observation_space, game.n_agents)
        self.action_space = gymnasium.spaces.MultiDiscrete([game.n_actions] * game.n_agents)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, Infos]:
        """Start an episode; see ``ParallelEnv.reset``."""
        super().reset(seed=seed)
        observations, infos = self.batch.reset(seed, options, copy=True)
        return observations[0], self._infos(infos, np.zeros(self.batch.n_agents, self.batch.out.rewards.dtype))

    def step(self, action: Any) -> tuple[Array, float, bool, bool, Infos]:
        """Advance by one action of every agent.

        Raises:
            ValueError: If the action is not N whole numbers inside the action space.
        """
        observations, rewards, terminated, truncated, infos = self.batch.step(np.asarray(action)[None], copy=True)
        own = rewards[0]
        reward = own[0] if (own == own[0]).all() else own.mean()  # a mean of equal numbers may be rounded
        return observations[0], float(reward), bool(terminated[0]), bool(truncated[0]), self._infos(infos, own)

    def _infos(self, infos: Infos, rewards: Array) -> Infos:
        return {key: array[0] for key, array in infos.items()} | {"rewards": rewards}

    def action_masks(self) -> Array:
        """Return the agents' masks one after the other, bool (N * A,), as sb3-contrib's MaskablePPO asks for them."""
        return self.batch.action_masks().reshape(-1)

    def render(self) -> Any:
        """Return a picture by ``render_mode``; ``"human"`` prints it and returns None."""
        return self.batch.render(0, self.render_mode)


# ------------------------------------------------------------------------------------------- Stable-Baselines3


def sb3_vec_env(
    game: Game,
    num_envs: int,
    num_threads: int = 1,
    render_mode: str | None = None,
    max_cycles: int | None = None,
) -> Any:
    """Make a Stable-Baselines3 VecEnv with a row for each agent of each environment (``envs.sb3.SB3VecEnv``).

    Args:
        game: Compiled game.
        num_envs: E; the result has E * N rows.
        num_threads: See ``BatchEnv``.
        render_mode: As for ParallelEnv; pictures are of environment 0.
        max_cycles: See ``BatchEnv``.

    Raises:
        ImportError: If Stable-Baselines3 is not installed.
    """
    try:
        from collab_overcooked.envs.sb3 import SB3VecEnv
    except ImportError as error:
        raise ImportError(
            "this needs Stable-Baselines3; install it with: pip install 'collab-overcooked[rl]'"
        ) from error
    return SB3VecEnv(BatchEnv(game, num_envs, num_threads, max_cycles), render_mode)
