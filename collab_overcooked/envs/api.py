"""The contract between games and shells, and the PettingZoo ParallelEnv shell.

A game is a set of compiled tables with functions over a batch of B environments. Shells own the arrays, check actions
and speak a trainer's dialect; they hold no rule.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import gymnasium
import numpy as np
from pettingzoo import ParallelEnv as PettingZooParallelEnv

from collab_overcooked.core.rng import seed_words
from collab_overcooked.errors import looks_like, near_matches, whole_number

RENDER_MODES = ("human", "rgb_array", "ansi")


class ActionError(ValueError):
    """A text that is no action of a game.

    Attributes:
        code: Reason code, ``F_...``.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@runtime_checkable
class Game(Protocol):
    """What every game offers to shells, policies, evaluation and tests.

    ``state`` and ``out`` are NamedTuples of arrays with leading axis B. Every state has ``rng`` (see ``core.rng``);
    every out has ``observations (B, N, L)``, ``masks (B, N, A) int8``, ``rewards (B, N)`` of a floating type,
    ``terminated (B,)`` and ``truncated (B,)`` bool. An out may have ``shaped (B, N)``, each agent's own shaped reward,
    which shells pass on as ``shaped_reward`` in the infos.

    Attributes:
        id: Registered id.
        kwargs: Options that make this game again.
        n_agents: N.
        n_actions: A, the same for all agents.
        single_observation_space: Box of one agent's observation.
        single_action_space: Discrete(A).
        state_space: Box of the global state.
        max_cycles: Longest episode, in steps.
        exact_masks: Whether masks allow just what a step would accept in the present state.
        n_signatures: How many versions of each entry kernel the game's options call for, over all games of the id.
    """

    id: str
    kwargs: dict[str, Any]
    n_agents: int
    n_actions: int
    single_observation_space: gymnasium.spaces.Box[Any]
    single_action_space: gymnasium.spaces.Discrete
    state_space: gymnasium.spaces.Box[Any]
    max_cycles: int
    exact_masks: bool
    n_signatures: int

    def alloc(self, batch_size: int) -> tuple[Any, Any]:
        """Return state and out for a batch; call ``reset`` before ``step``."""

    def reset(
        self,
        state: Any,
        out: Any,
        which: np.ndarray,
        options: Mapping[str, Any] | None = None,
        max_cycles: int | None = None,
    ) -> None:
        """Start new episodes where ``which`` (B,) bool says so; ``state.rng`` must have been seeded."""

    def step(self, state: Any, actions: np.ndarray, out: Any) -> None:
        """Advance all environments by ``actions`` (B, N) int32; one that is over stays as it is."""

    def observe(self, state: Any, out: Any) -> None:
        """Write observations and masks of a state, which may come from a game that differs in its observations only."""

    def rejections(self, state: Any, out: Any) -> np.ndarray:
        """Return why actions of the last step were refused, (B, N) int32, 0 where they were not."""

    def state_vector(self, state: Any, i: int) -> np.ndarray:
        """Return the global state of environment ``i``."""

    def entry_kernels(self) -> tuple[Any, ...]:
        """Return the kernels that shells reach, to count their compiled signatures."""

    def names(self) -> list[str]:
        """Return the names of all things that texts can speak of; a lexicon must have words for them."""

    def action_texts(self, state: Any = None, i: int = 0) -> list[str]:
        """Return the text of every action, by id, as it is in environment ``i``; without a state, at the start."""

    def parse(self, text: str, state: Any = None, i: int = 0, seat: int = 0) -> int:
        """Return the id that a text of a seat names in environment ``i``; without a state, at the start.

        Ids from A on are well formed but never possible.

        Raises:
            ActionError: With a reason code and a helpful message.
        """

    def parse_plan(self, plan: str) -> tuple[list[str], list[str]]:
        """Return the texts of a plan: actions to carry out step by step, and actions asked of teammates."""

    def idle_action(self) -> int:
        """Return the id of doing nothing for one step."""

    def check(self, state: Any, i: int, seat: int, action: int, earlier: Sequence[int] = ()) -> tuple[str, str]:
        """Return reason code (``"OK"`` if accepted) and message for an action of a seat in environment ``i``.

        ``earlier`` are the actions that the seats before it take in the same step, where these are known; they matter
        to games that carry them out one after the other.
        """

    def describe(self, state: Any, i: int, seat: int) -> str:
        """Return what a seat sees, in words."""

    def seen(self, state: Any, i: int, seat: int) -> Any:
        """Return what a seat may know of environment ``i``, an ``envs.seen.SeatView`` of a copy of the moment."""

    def seat_scene(self, scene: dict[str, Any], seat: int) -> dict[str, Any]:
        """Return a scene without what a seat may not know; pictures and words for the seat are made from it."""

    def events(self, out: Any, i: int) -> list[dict[str, Any] | None]:
        """Return what each agent brought about in the last step, in words."""

    def scene(self, state: Any, i: int) -> dict[str, Any]:
        """Return environment ``i`` as words and numbers fit for JSON."""

    def render(self, state: Any, i: int, mode: str, seat: int | None = None) -> Any:
        """Return a picture, of what a seat may know if one is given.

        It is uint8 (H, W, 3) for ``"rgb_array"``, str for ``"ansi"``.
        """


@runtime_checkable
class SequentialGame(Game, Protocol):
    """A game in which an agent's action takes effect before the next agent of the same step chooses.

    Played whole steps at a time it gives the same results for the same actions.
    """

    def seat_to_act(self, state: Any, i: int) -> int:
        """Return whose turn it is in environment ``i``: 0 unless some seats have acted in this step already."""

    def act_seat(self, state: Any, actions: np.ndarray, out: Any) -> None:
        """Let the seat whose turn it is take its action of ``actions`` (B, N) int32 in every environment.

        It is never the last seat's turn: ``step`` lets all that have not yet acted do so, and ends the step.
        """


@runtime_checkable
class ExplainedGame(Game, Protocol):
    """A game that has a manual, for whoever plays it by its words."""

    def manual(self, state: Any = None, i: int = 0, seat: int = 0) -> str:
        """Return what a seat should know of the rules in environment ``i``; without a state, at the start.

        Empty if the manual does not fit the game's options.
        """


class CompiledGame(Game):
    """What all compiled games share: spaces, and what every reset does.

    They are frozen, so copies are the game itself and pickles are frozen again.

    Attributes:
        compiled: Has ``tables``, the NamedTuple of read-only arrays for which kernels are compiled.
        reset_options: Options that ``reset`` understands.
        global_state: Names of the state's arrays that are the global state.
        seat_view: Class of what a seat may know, an extension of ``envs.seen.SeatView``.
    """

    compiled: Any
    reset_options: tuple[str, ...]
    global_state: tuple[str, ...]
    seat_view: type[Any]

    def __setstate__(self, values: dict[str, Any]) -> None:
        """Freeze the tables again after unpickling, which forgets it."""
        self.__dict__.update(values)
        for array in self.compiled.tables:
            array.setflags(write=False)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the game itself: nothing in it changes."""
        return self

    def _set_spaces(self, observations: gymnasium.spaces.Box[Any]) -> None:
        """Set all spaces, once the game has its tables and ``n_actions``."""
        self.single_observation_space = observations
        self.single_action_space = gymnasium.spaces.Discrete(self.n_actions)
        state, _ = self.alloc(1)
        bounds = np.iinfo(np.int32)
        self.state_space = gymnasium.spaces.Box(bounds.min, bounds.max, self.state_vector(state, 0).shape, np.int32)

    def reset(
        self,
        state: Any,
        out: Any,
        which: np.ndarray,
        options: Mapping[str, Any] | None = None,
        max_cycles: int | None = None,
    ) -> None:
        """Start episodes.

        Args:
            state: Batch to change, its generators seeded.
            out: Written.
            which: bool (B,).
            options: Some of ``reset_options``; all games have ``state``, a scene to start from.
            max_cycles: Step limit instead of the game's own.

        Raises:
            ValueError: For a misspelt option, an unknown name, or a scene that cannot be.
        """
        options = options or {}
        for key in options:
            if key not in self.reset_options and looks_like(key, self.reset_options):  # others are not for us
                raise ValueError(near_matches("reset option", key, self.reset_options))
        self._start(state, out, which, options, max_cycles or 0)
        scene = options.get("state", {})
        for i in np.flatnonzero(which).tolist() if scene else ():
            self._encode(state, i, scene)
        self._observe(state, out)

    def _start(self, state: Any, out: Any, which: np.ndarray, options: Mapping[str, Any], limit: int) -> None:
        """Start episodes by all options but the scene; a limit of 0 is the game's own."""
        raise NotImplementedError

    def _encode(self, state: Any, i: int, scene: Mapping[str, Any]) -> None:
        """Write a scene into environment ``i``."""
        raise NotImplementedError

    def _observe(self, state: Any, out: Any) -> None:
        """Write observations and masks where the state is new."""
        raise NotImplementedError

    def observe(self, state: Any, out: Any) -> None:
        """Write observations and masks of a state, which may come from a game that differs in its observations only."""
        out.fresh[:] = True
        self._observe(state, out)

    def seen(self, state: Any, i: int, seat: int) -> Any:
        """Return what a seat may know of environment ``i``, an ``envs.seen.SeatView`` of a copy of the moment."""
        return self.seat_view(self, clone(state, i), seat)

    def seat_scene(self, scene: dict[str, Any], seat: int) -> dict[str, Any]:
        """Return a scene without what a seat may not know: all of it, where seats see everything."""
        return scene

    def state_vector(self, state: Any, i: int) -> np.ndarray:
        """Return the arrays of ``global_state`` of environment ``i`` as one int32 row."""
        return np.concatenate([getattr(state, name)[i].reshape(-1) for name in self.global_state])


def plain_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``locals()`` of a game's constructor as options fit for JSON: paths as texts, tuples as lists."""
    return {key: _plain(value) for key, value in given.items() if key not in ("self", "__class__")}


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    return [_plain(entry) for entry in value] if isinstance(value, (list, tuple)) else value


def clone(state: Any, i: int) -> Any:
    """Return a copy of environment ``i`` as a batch of one."""
    return type(state)(*(array[i : i + 1].copy() for array in state))


def restore(state: Any, i: int, snapshot: Any) -> None:
    """Write a clone back into environment ``i``."""
    for array, saved in zip(state, snapshot, strict=True):
        array[i] = saved[0]


def rows(arrays: Any, start: int, stop: int) -> Any:
    """Return views of environments ``start`` to ``stop - 1`` of a state or an out."""
    return type(arrays)(*(array[start:stop] for array in arrays))


class Snapshot(NamedTuple):
    """A moment of one environment, single or in a batch: state, out and living agents."""

    state: Any
    out: Any
    agents: tuple[str, ...]


class ParallelEnv(PettingZooParallelEnv):
    """A game as a PettingZoo ParallelEnv: a batch of one.

    Args:
        game: Compiled game.
        render_mode: None, ``"human"`` (prints the ansi picture), ``"rgb_array"`` or ``"ansi"``.
        max_cycles: Cut episodes off after this many steps; the game's own limits if None or -1.
        mask_in: Where the int8 action mask goes: ``"info"``, ``"obs"`` (Dict observation with ``observation`` and
            ``action_mask``) or ``"rllib"`` (Dict with ``observations`` and ``action_mask``).
        text_info: Add ``text``, what the agent sees in words, to the infos.

    Raises:
        ValueError: For an unknown option value.
    """

    def __init__(
        self,
        game: Game,
        render_mode: str | None = None,
        max_cycles: int | None = None,
        mask_in: str = "info",
        text_info: bool = False,
    ) -> None:
        check_render_mode(render_mode)
        if mask_in not in ("info", "obs", "rllib"):
            raise ValueError(near_matches("mask_in", mask_in, ("info", "obs", "rllib")))
        self.game = game
        self.render_mode = render_mode
        self.mask_in = mask_in
        self.text_info = text_info
        self.metadata = {**shell_metadata(game), "is_parallelizable": True}
        self.possible_agents = agent_names(game)
        self.agents: list[str] = []
        limit = check_max_cycles(max_cycles)
        self.max_cycles = limit or game.max_cycles  # may be assigned later; PettingZoo's API test does
        self._overridden = limit is not None
        self._state, self._out = game.alloc(1)
        self._which = np.ones(1, np.bool_)
        self._actions = np.zeros((1, game.n_agents), np.int32)
        self._spaces = {agent: self._observation_space() for agent in self.possible_agents}
        self._action_spaces = {agent: copy.deepcopy(game.single_action_space) for agent in self.possible_agents}
        self.observation_spaces = self._spaces
        self.action_spaces = self._action_spaces
        self.state_space = game.state_space
        self._seeded = False
        self._reasons: list[str] = []

    def _observation_space(self) -> gymnasium.Space:
        box = copy.deepcopy(self.game.single_observation_space)
        if self.mask_in == "info":
            return box
        mask = gymnasium.spaces.Box(0, 1, (self.game.n_actions,), np.int8)
        name = "observation" if self.mask_in == "obs" else "observations"
        return gymnasium.spaces.Dict({name: box, "action_mask": mask})

    def observation_space(self, agent: str) -> gymnasium.Space:
        """Return an agent's observation space, the same object at every call."""
        return self._spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Discrete:
        """Return an agent's action space, the same object at every call."""
        return self._action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Start an episode.

        Args:
            seed: Seed of the environment's generator; without one the generator runs on, freshly seeded at first.
            options: Options of the game, for example a forced start state.

        Returns:
            Observations and infos by agent.
        """
        if seed is not None or not self._seeded:
            if seed is None:
                drawn = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
            else:
                drawn = whole_number("seed", seed, 0)
            self._state.rng[:] = seed_words([drawn])
            self._seeded = True
        limit = self.max_cycles if self._overridden or self.max_cycles != self.game.max_cycles else None
        self.game.reset(self._state, self._out, self._which, options, limit)
        self.agents = self.possible_agents[:]
        return self.look()

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Advance by one action of every agent.

        Raises:
            ValueError: If an action is missing, not for a living agent, or outside the action space.
        """
        if not self.agents:
            if actions:
                raise ValueError(f"the episode is over, but actions were given for {', '.join(actions)}; call reset")
            return {}, {}, {}, {}, {}
        self._read(actions)
        self._reasons = self._judge() if self.text_info else []
        self.game.step(self._state, self._actions, self._out)
        return self._results()

    def act(
        self, agent: str, action: Any
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]] | None:
        """Let one agent of a SequentialGame act, so that the others see it before they choose.

        Returns:
            None, or what ``step`` returns if this was the last agent of the step.

        Raises:
            ValueError: If the episode is over, it is not this agent's turn, or the action is outside its space.
        """
        game = self.game
        assert isinstance(game, SequentialGame)
        seat = game.seat_to_act(self._state, 0)
        if not self.agents:
            raise ValueError(f"the episode is over, but {agent} is to act; call reset")
        if agent != self.possible_agents[seat]:
            raise ValueError(f"it is the turn of {self.possible_agents[seat]}, not of {agent}")
        row = self._actions[0]
        row[seat] = self._number(agent, action)
        if self.text_info:
            self._reasons = self._reasons or [""] * game.n_agents
            self._reasons[seat] = game.check(self._state, 0, seat, int(row[seat]))[1]
        if seat + 1 < game.n_agents:
            game.act_seat(self._state, self._actions, self._out)
            return None
        game.step(self._state, self._actions, self._out)
        return self._results()

    def look(self) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Return observations and infos of the living agents, as they are now."""
        return self._observations(), self._infos()

    def _results(
        self,
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Return what the last step wrote, and let the agents go if it was the last one."""
        out, agents = self._out, self.agents
        terminated, truncated = bool(out.terminated[0]), bool(out.truncated[0])
        rewards = dict(zip(agents, out.rewards[0].tolist(), strict=True))
        observations, infos = self.look()
        if terminated or truncated:
            self.agents = []
        return observations, rewards, dict.fromkeys(agents, terminated), dict.fromkeys(agents, truncated), infos

    def _read(self, actions: Mapping[str, Any]) -> None:
        row = self._actions[0]
        for i, agent in enumerate(self.agents):
            try:
                action = actions[agent]
            except KeyError:
                raise ValueError(f"no action for {agent}; all of {', '.join(self.agents)} must act") from None
            row[i] = self._number(agent, action)
        if len(actions) != len(self.agents):
            extra = sorted(set(actions) - set(self.agents))
            raise ValueError(
                f"actions for unknown agents {', '.join(map(str, extra))}; agents: {', '.join(self.agents)}"
            )

    def _number(self, agent: str, action: Any) -> int:
        n_actions = self.game.n_actions
        number: int = action if type(action) is int else check_action(action, agent, n_actions)
        if not 0 <= number < n_actions:
            raise ValueError(f"action of {agent} is {number}, outside Discrete({n_actions})")
        return number

    def _observations(self) -> dict[str, Any]:
        rows = self._out.observations[0].copy()
        shape = self.game.single_observation_space.shape
        if len(shape) > 1:
            rows = rows.reshape(rows.shape[0], *shape)
        if self.mask_in == "info":
            return dict(zip(self.agents, rows, strict=True))
        masks = self._out.masks[0].copy()
        name = "observation" if self.mask_in == "obs" else "observations"
        return {agent: {name: rows[i], "action_mask": masks[i]} for i, agent in enumerate(self.agents)}

    def _infos(self) -> dict[str, dict[str, Any]]:
        masks = self._out.masks[0].copy()
        rejected = self.game.rejections(self._state, self._out)[0].tolist()
        infos: dict[str, dict[str, Any]] = {
            agent: {"action_mask": masks[i], "rejected": rejected[i]} for i, agent in enumerate(self.agents)
        }
        if hasattr(self._out, "shaped"):
            for info, shaped in zip(infos.values(), self._out.shaped[0].tolist(), strict=True):
                info["shaped_reward"] = shaped
        if self.text_info:
            for i, (agent, info) in enumerate(infos.items()):
                info["text"] = self.describe(agent)
                info["reason"] = self._reasons[i] if self._reasons and rejected[i] else ""
        return infos

    def _judge(self) -> list[str]:
        """Say of every chosen action whether it is accepted, which only the moment before the step can tell."""
        actions = self._actions[0].tolist()
        return [self.game.check(self._state, 0, i, action, actions[:i])[1] for i, action in enumerate(actions)]

    @property
    def arrays(self) -> tuple[Any, Any]:
        """State and out of the batch of one behind the environment: to look at, not to write to."""
        return self._state, self._out

    def state(self) -> np.ndarray:
        """Return the global state, int32."""
        return self.game.state_vector(self._state, 0)

    def describe(self, agent: str) -> str:
        """Return what an agent sees, in words."""
        return self.game.describe(self._state, 0, self.seat(agent))

    def seen(self, agent: str) -> Any:
        """Return what an agent may know now, an ``envs.seen.SeatView``."""
        return self.game.seen(self._state, 0, self.seat(agent))

    def scene(self) -> dict[str, Any]:
        """Return the moment as words and numbers fit for JSON; ``reset(options={"state": scene})`` restores it."""
        return self.game.scene(self._state, 0)

    def events(self) -> list[dict[str, Any] | None]:
        """Return what each agent brought about in the last step."""
        return self.game.events(self._out, 0)

    def action_mask(self, agent: str) -> np.ndarray:
        """Return an agent's int8 action mask (A,)."""
        return self._out.masks[0, self.seat(agent)].copy()

    def legal_actions(self, agent: str) -> list[str]:
        """Return the texts of the actions in an agent's mask."""
        texts = self.game.action_texts(self._state, 0)
        return [texts[action] for action in np.flatnonzero(self._out.masks[0, self.seat(agent)])]

    def parse(self, text: str, agent: str | None = None) -> int:
        """Return the action that a text names now, said by an agent (by the first one if None).

        Raises:
            ValueError: With a helpful message.
        """
        return self.game.parse(text, self._state, 0, 0 if agent is None else self.seat(agent))

    def check(self, agent: str, action: int | str) -> tuple[str, str]:
        """Return reason code (``"OK"`` if the game accepts it now) and message of an action."""
        number = self.parse(action, agent) if isinstance(action, str) else action
        return self.game.check(self._state, 0, self.seat(agent), number)

    def seat(self, agent: str) -> int:
        """Return the index of an agent."""
        if agent not in self.possible_agents:
            raise ValueError(near_matches("agent", agent, self.possible_agents))
        return self.possible_agents.index(agent)

    def clone_state(self) -> Snapshot:
        """Return a copy of the moment, for search; microseconds."""
        return Snapshot(clone(self._state, 0), clone(self._out, 0), tuple(self.agents))

    def restore_state(self, snapshot: Snapshot) -> None:
        """Go back to a moment from ``clone_state``."""
        restore(self._state, 0, snapshot.state)
        restore(self._out, 0, snapshot.out)
        self.agents = list(snapshot.agents)

    def render(self) -> Any:
        """Return a picture by ``render_mode``; ``"human"`` prints it and returns None."""
        return draw(self.game, self._state, 0, self.render_mode)

    def close(self) -> None:
        """Release nothing; there is nothing to release."""


def agent_names(game: Game) -> list[str]:
    """Return the names of a game's agents, by seat."""
    return [f"agent_{i}" for i in range(game.n_agents)]


def shell_metadata(game: Game) -> dict[str, Any]:
    """Return what the shells of a game say of themselves."""
    return {"name": game.id.replace("-", "_"), "render_modes": list(RENDER_MODES), "render_fps": 4}


def draw(game: Game, state: Any, i: int, render_mode: str | None) -> Any:
    """Return a picture of environment ``i``; ``"human"`` prints it and returns None, as a window fails on servers."""
    if render_mode is None:
        gymnasium.logger.warn("render() needs render_mode, for example render_mode='rgb_array'")
        return None
    if render_mode == "human":
        print(game.render(state, i, "ansi"))
        return None
    return game.render(state, i, render_mode)


def check_render_mode(render_mode: Any) -> str | None:
    """Return a render mode.

    Raises:
        ValueError: If it is neither None nor one of ``RENDER_MODES``.
    """
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise ValueError(near_matches("render_mode", render_mode, RENDER_MODES))
    return render_mode


def check_max_cycles(max_cycles: Any) -> int | None:
    """Return a step limit, None for the game's own.

    Raises:
        ValueError: If it is neither None, -1 nor a positive whole number.
    """
    if max_cycles is None or max_cycles == -1:
        return None
    if isinstance(max_cycles, bool) or not isinstance(max_cycles, (int, np.integer)) or max_cycles < 1:
        raise ValueError(f"max_cycles must be a positive whole number, None or -1, not {max_cycles!r}")
    return int(max_cycles)


def check_action(action: Any, agent: str, n_actions: int) -> int:
    """Return an action as int.

    Raises:
        ValueError: If it is not a whole number.
    """
    if isinstance(action, np.ndarray) and action.size == 1 and np.issubdtype(action.dtype, np.integer):
        return int(action.reshape(-1)[0])
    if isinstance(action, np.integer):
        return int(action)
    raise ValueError(f"action of {agent} is {action!r}; it must be a whole number in Discrete({n_actions})")


SHELL_OPTIONS = ("render_mode", "max_cycles", "mask_in", "text_info")


def split_options(kwargs: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split keyword arguments into those of the shell and those of the game."""
    shell = {key: value for key, value in kwargs.items() if key in SHELL_OPTIONS}
    return shell, {key: value for key, value in kwargs.items() if key not in SHELL_OPTIONS}
