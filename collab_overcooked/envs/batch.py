"""Many environments at once, as arrays ``[E, N, ...]`` of E environments and N agents.

Other vector environments stand on ``BatchEnv``. They flatten agents into the environment axis, as SuperSuit does, so
that row ``e * N + i`` is agent ``i`` of environment ``e`` and a single-agent trainer learns one policy for all seats.
"""

from __future__ import annotations

import copy as copying
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from collab_overcooked.envs.api import BoundBatch, FullGame, Snapshot, clone, restore, rows, shaped_rewards
from collab_overcooked.envs.critic_state import CriticState
from collab_overcooked.envs.encodings import Encoder, encoded_game
from collab_overcooked.envs.event_rewards import EventReward
from collab_overcooked.envs.threads import Step, Threads
from collab_overcooked.envs.wrappers import (
    RESET_FIRST,
    agent_names,
    check_layout_weights,
    check_max_cycles,
    check_render_mode,
    check_shaping,
    draw,
    parse_action,
    wrapper_text,
)
from collab_overcooked.io.checks import parse_integer
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.processes import available_cores
from collab_overcooked.kernels.arrays import copy_actions
from collab_overcooked.kernels.rng import derive_seeds, draw_bounds, draw_weighted, seed_states

Array = np.ndarray
MAX_THREADS = 1024
Infos = dict[str, Any]
ResetOptions = Mapping[str, Any] | Sequence[Mapping[str, Any] | None] | None


class BatchEnv:
    """A batch of E environments of one game, stepped by one kernel call per thread.

    Environment ``i`` of a batch plays exactly like a ParallelEnv seeded ``kernels.rng.derive_seeds(seed, E)[i]``, for
    any E and number of threads, unless its layouts have weights. There is no autoreset: a finished environment does not
    change and pays no reward until ``reset(which=...)`` restarts it.

    The arrays returned by ``reset`` and ``step`` are views of buffers that the next call overwrites; pass
    ``copy=True`` to keep them.

    Args:
        game: Compiled game.
        num_envs: E, at least 1.
        num_threads: Most threads that step a slice of the batch each, the cores of this process if None. They are used
            where that is measured to be faster than one thread, which takes some thousand environments.
        max_cycles: Truncate episodes after this many steps; the game's own limits if None or -1.
        state: Form of the result of ``states``, ``"global"`` or ``"concat"``, see ``critic_state.CriticState``.

    Attributes:
        n_agents: N.
        possible_agents: Names of the agents by seat.
        single_observation_space: Box of one agent's observation.
        single_action_space: Discrete(A).
        state_space: Box of one row of ``states``.
        state: Arrays of the current state (the game's State), for reading.
        out: Arrays that the last step wrote (the game's Out), for reading.
        layout_names: Layouts of a pool, which ``infos["layout"]`` numbers; empty for games with one layout.

    Raises:
        ValueError: For a number that is not an integer above 0.
    """

    def __init__(
        self,
        game: FullGame,
        num_envs: int,
        num_threads: int | None = None,
        max_cycles: int | None = None,
        state: str = "global",
    ) -> None:
        self.game = game
        self.num_envs = parse_integer("num_envs", num_envs, 1, most=MAX_OPTION)
        threads = available_cores() if num_threads is None else num_threads
        self.num_threads = parse_integer("num_threads", threads, 1, most=MAX_THREADS)
        self.max_cycles = check_max_cycles(max_cycles)
        self.n_agents = game.n_agents
        self.possible_agents = agent_names(game)
        self.single_observation_space = copying.deepcopy(game.single_observation_space)
        self.single_action_space = copying.deepcopy(game.single_action_space)
        self._critic_state = CriticState(game, state)
        self.state_space = self._critic_state.space
        self._shape = (self.num_envs, self.n_agents, *game.single_observation_space.shape)
        self.state, self.out = game.alloc(self.num_envs)
        self._actions = np.zeros((self.num_envs, self.n_agents), np.int32)
        self._seeded = False
        self.layout_names = game.layout_names
        self._layout_bounds: Array | None = None  # of ``draw_weighted``
        self._shaping = 0.0
        self._event_reward: EventReward | None = None
        self._bound: BoundBatch | None = None  # until the first reset
        self._threads: Threads | None = None

    def _bind(self) -> BoundBatch:
        self._bound = self.game.bind(self.state, self._actions, self.out)
        if min(self.num_threads, self.num_envs) > 1:
            self._threads = Threads(self._bound.step, self._bind_slices)
        return self._bound

    def _bind_slices(self) -> list[Step]:
        bounds = np.linspace(0, self.num_envs, min(self.num_threads, self.num_envs) + 1).astype(int).tolist()
        return [
            self.game.bind(rows(self.state, start, stop), self._actions[start:stop], rows(self.out, start, stop)).step
            for start, stop in itertools.pairwise(bounds)
        ]

    def __repr__(self) -> str:
        extent = f"{self.num_envs} environments of {', '.join(self.possible_agents)}"
        return wrapper_text(type(self).__name__, self.game, extent, max_cycles=self.max_cycles)

    def __getstate__(self) -> dict[str, Any]:
        """Drop threads and bound kernels, which depend on the arrays' memory addresses."""
        return self.__dict__ | {"_bound": None, "_threads": None}

    def reset(
        self,
        seed: int | Sequence[int] | None = None,
        options: ResetOptions = None,
        which: Array | Sequence[bool] | None = None,
        copy: bool = False,
    ) -> tuple[Array, Infos]:
        """Start episodes.

        Args:
            seed: An integer s, for seeds s + i, or E of them. If None, generators continue; the first time they are
                seeded randomly.
            options: Options of the game: one mapping for all environments, or a list of E, one for each; None and
                empty mappings have no options.
            which: bool (E,), the environments to start; all if None.
            copy: Return copies instead of views.

        Returns:
            Observations (E, N, ...) and infos ``{"action_mask": (E, N, A) int8, "rejected": (E, N) int32}``, for some
            games with ``"shaped_reward"`` (E, N) float32, for pools of layouts with ``"layout"`` (E, N) int32, the
            number in ``layout_names``; of all environments, started or not.

        Raises:
            ValueError: For an invalid seed, ``which`` or options, or if the first reset of the batch does not include
                all environments; the batch does not change.
        """
        chosen = np.ones(self.num_envs, np.bool_) if which is None else self._check_which(which)
        if not self._seeded and not chosen.all():
            raise ValueError("which must select all environments in the first reset of a batch")
        before = self.state.rng.copy()
        self._seed(seed, chosen)
        try:
            self._start(chosen, options)
        except Exception:
            self.state.rng[:] = before
            raise
        self._seeded = True
        return self._observed(copy)

    def _start(self, chosen: Array, options: ResetOptions) -> None:
        bound = self._bound or self._bind()
        if not isinstance(options, (list, tuple)):
            if self._layout_bounds is None:
                bound.reset(chosen, options, self.max_cycles)
                return
            options = [cast("Mapping[str, Any] | None", options)] * self.num_envs
        if len(options) != self.num_envs:
            raise ValueError(f"options must be a mapping or {self.num_envs} of them, not {len(options)}")
        before = [array.copy() for array in (*self.state, *self.out)]
        try:
            options = self._with_layouts(options, chosen)
            for which in group_by_options(options, chosen):
                first = int(which.argmax())
                try:
                    bound.reset(which, options[first] or None, self.max_cycles)
                except ValueError as error:
                    raise ValueError(f"options[{first}]: {error}") from None
        except Exception:
            for array, saved in zip((*self.state, *self.out), before, strict=True):
                array[...] = saved
            raise

    def _with_layouts(self, options: Sequence[Mapping[str, Any] | None], chosen: Array) -> list[Any]:
        """Return the options with layouts drawn by weight, where a chosen environment has them and names no layout."""
        named = list(options)
        for i in np.flatnonzero(chosen).tolist() if self._layout_bounds is not None else ():
            option = named[i] or {}
            if isinstance(option, Mapping) and option.get("layout") is None and option.get("state") is None:
                k = draw_weighted(self.state.rng[i], self._layout_bounds)
                named[i] = {**option, "layout": self.layout_names[k]}
        return named

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
            seeds = derive_seeds(parse_integer("seed", seed, 0), self.num_envs)
        else:
            seeds = [parse_integer("seed", number, 0) for number in seed]
            if len(seeds) != self.num_envs:
                raise ValueError(f"seed must be one integer or {self.num_envs} of them, not {len(seeds)}")
        places = np.flatnonzero(chosen)
        self.state.rng[places] = seed_states([seeds[i] for i in places])

    def step(self, actions: ArrayLike, copy: bool = False) -> tuple[Array, Array, Array, Array, Infos]:
        """Advance all environments that are not over; there is no autoreset.

        An environment that is over ignores its actions, keeps its observation, mask, ``terminated`` and ``truncated``,
        and pays 0 until ``reset(which=batch.over)`` restarts it. Actions must be in the action space for it, too.

        Args:
            actions: Integers of shape (E, N).
            copy: Return copies instead of views.

        Returns:
            Observations (E, N, ...), rewards (E, N) of the game's floating type, terminated (E,) bool, truncated (E,)
            bool, infos.

        Raises:
            ValueError: If the actions have another shape, are not integers or lie outside the action space, or
                if the batch was never reset.
        """
        if not self._seeded:
            raise ValueError(RESET_FIRST)
        read_actions(actions, self._actions, self.game.n_actions)
        running = None if self._event_reward is None else ~self.over
        self._advance()
        out = self.out
        if self._event_reward is not None:
            np.multiply(self._event_reward.of(out), running[:, None], out=out.rewards, casting="same_kind")  # type: ignore[index]
        if self._shaping:
            np.add(out.rewards, self._shaping * out.shaped, out=out.rewards, casting="same_kind")
        results = (out.rewards, out.terminated, out.truncated)
        rewards, terminated, truncated = (array.copy() for array in results) if copy else results
        observations, infos = self._observed(copy)
        return observations, rewards, terminated, truncated, infos

    def _advance(self) -> None:
        bound = self._bound or self._bind()
        if self._threads is None:
            bound.step()
        else:
            self._threads.step()

    def _observed(self, copy: bool) -> tuple[Array, Infos]:
        observations = self.out.observations.reshape(self._shape)
        infos: Infos = {"action_mask": self.out.masks, "rejected": self.game.rejections(self.state, self.out)}
        if (shaped := shaped_rewards(self.out)) is not None:
            infos["shaped_reward"] = shaped
        if self.layout_names:
            infos["layout"] = np.broadcast_to(self.layout_numbers()[:, None], (self.num_envs, self.n_agents))
        if copy:
            return observations.copy(), {key: array.copy() for key, array in infos.items()}
        return observations, infos

    def encoder(self, **options: Any) -> Encoder:
        """Return an encoder of the same states, for a network that reads other inputs than ``step`` returns.

        Args:
            **options: Observation options of the game, for example ``obs="features"``.

        Raises:
            ValueError: An option is unknown, or changes more than observations.
        """
        return Encoder(encoded_game(self.game, options), self.state, self._of_agents)

    def _of_agents(self, array: Array) -> Array:
        """Return the rows of the agents whose actions ``step`` takes."""
        return array

    def set_shaping(self, weight: float) -> None:
        """Add ``weight`` times the shaped rewards to the rewards from the next step on; 0, the default, adds nothing.

        Raises:
            ValueError: If the weight is not a number, or the game has no shaped rewards or pays them already.
        """
        self._shaping = check_shaping(self.game, self.out, weight)

    def layout_numbers(self) -> Array:
        """Return the number of each environment's layout in ``layout_names``, int32 (E,), a view; for pools only."""
        return self.game.layout_numbers(self.state)

    def set_layout_weights(self, weights: Sequence[float] | None) -> None:
        """Set how often episodes start on each layout of a pool, from the next reset on.

        Layouts are drawn by the generators of their environments. Resets with the option ``layout`` or ``state`` start
        on the layout that it names.

        Args:
            weights: Numbers of at least 0, one for each of ``layout_names``, in proportion to the probabilities. None
                restores equal probabilities.

        Raises:
            ValueError: If the weights are no such numbers or all 0, or if the batch has no pool of layouts.
        """
        checked = None if weights is None else check_layout_weights(self.layout_names, weights)
        self._layout_bounds = None if checked is None else draw_bounds(checked)

    def events_to_rewards(self, weights: Mapping[str, Any] | None) -> None:
        """Pay the weighted sum of each agent's events instead of the game's rewards from the next step on.

        Args:
            weights: Weights by event name, as in the records' events, in upper or lower case; ``"reward"`` is the
                weight of the game's rewards, 0 by default. None restores the game's rewards. Shaped rewards of
                ``set_shaping`` are added to either. Weights by name of an agent, ``{"agent_0": {...}}``, differ by
                seat; agents that are left out keep the game's rewards.

        Raises:
            ValueError: For an unknown event, a weight that is not finite, or a game that counts no events.
        """
        self._event_reward = None if weights is None else EventReward(self.game, weights)

    @property
    def over(self) -> Array:
        """Finished environments that need a reset, bool (E,)."""
        return self.out.terminated | self.out.truncated

    def clone(self, i: int) -> Snapshot:
        """Return a snapshot of environment ``i``, as ``ParallelEnv.clone_state`` does."""
        agents = () if self.over[i] else tuple(self.possible_agents)
        return Snapshot(clone(self.state, i), clone(self.out, i), agents)

    def restore(self, i: int, snapshot: Snapshot) -> None:
        """Restore environment ``i`` from a snapshot of ``clone`` or ``ParallelEnv.clone_state``."""
        restore(self.state, i, snapshot.state)
        restore(self.out, i, snapshot.out)

    def scene(self, i: int) -> dict[str, Any]:
        """Return environment ``i`` as JSON values."""
        return self.game.scene(self.state, i)

    def render(self, i: int = 0, mode: str | None = "rgb_array") -> Any:
        """Render environment ``i``; ``"human"`` prints the picture and returns None."""
        return draw(self.game, self.state, i, check_render_mode(mode))

    def states(self) -> Array:
        """Return the observations of a centralised critic, float32 (E, S), as a new array."""
        return self._critic_state.of(self.state, self.out)

    def action_masks(self) -> Array:
        """Return the masks of all agents as a new array, bool (E, N, A)."""
        return self.out.masks.astype(np.bool_)

    def close(self) -> None:
        """Stop the threads; another step would start them again."""
        if self._threads is not None:
            self._threads.close()


class BatchControls:
    """Controls of a batch that the vector environments of every library have."""

    batch: BatchEnv

    def states(self) -> Array:
        """Return the observations of a centralised critic, float32 (E, S): one row per environment, not per agent."""
        return self.batch.states()

    def set_shaping(self, weight: float) -> None:
        """Set the weight of shaped rewards, see ``BatchEnv.set_shaping``."""
        self.batch.set_shaping(weight)

    def set_layout_weights(self, weights: Sequence[float] | None) -> None:
        """Set how often episodes start on each layout, see ``BatchEnv.set_layout_weights``."""
        self.batch.set_layout_weights(weights)

    def events_to_rewards(self, weights: Mapping[str, Any] | None) -> None:
        """Pay weighted events, see ``BatchEnv.events_to_rewards``."""
        self.batch.events_to_rewards(weights)


def read_actions(requested: Any, actions: np.ndarray, n_actions: int) -> None:
    """Validate the actions of a batch, as ``parse_action`` does a single one, and copy them into ``actions`` (E, N).

    Raises:
        ValueError: The shape, the dtype or an action is not allowed.
    """
    array = np.asarray(requested)
    if array.shape != actions.shape:
        raise ValueError(f"actions must have shape {actions.shape} (environments, agents), not {array.shape}")
    if array.dtype.kind not in "iu":
        raise ValueError(f"actions must be integers, not {array.dtype}")
    if copy_actions(np.ascontiguousarray(array, np.int64), n_actions, actions) < actions.size:
        i, seat = np.argwhere((array < 0) | (array >= n_actions))[0]
        parse_action(array[i, seat].item(), f"agent_{seat} in environment {i}", n_actions)


def group_by_options(options: Sequence[Mapping[str, Any] | None], chosen: Array) -> list[Array]:
    """Return masks of the chosen environments, bool (E,) each, one for each group with the same plain options."""
    groups: dict[Any, Array] = {}
    for i in np.flatnonzero(chosen).tolist():
        option = options[i] or {}
        if isinstance(option, Mapping) and all(isinstance(value, (str, int, float)) for value in option.values()):
            key: Any = repr(sorted(option.items()))
        else:  # scenes may be large
            key = i
        groups.setdefault(key, np.zeros(len(chosen), np.bool_))[i] = True
    return list(groups.values())


def flat(array: Array) -> Array:
    """Return a copy with environments and agents as one axis: (E, N, ...) to (E * N, ...)."""
    return array.reshape(-1, *array.shape[2:]).copy()


def by_agent(actions: ArrayLike, batch: BatchEnv) -> Array:
    """Return the actions of rows as (E, N).

    Raises:
        ValueError: The number of actions is not that of the rows.
    """
    requested = np.asarray(actions)
    if requested.shape != (batch.num_envs * batch.n_agents,):
        raise ValueError(
            f"actions must have shape ({batch.num_envs * batch.n_agents},), one for each agent of each environment, "
            f"not {requested.shape}"
        )
    return requested.reshape(batch.num_envs, batch.n_agents)
