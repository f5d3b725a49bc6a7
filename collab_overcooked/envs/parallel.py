"""A game as a PettingZoo ParallelEnv."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from pettingzoo import ParallelEnv as PettingZooParallelEnv

from collab_overcooked.envs.api import BoundBatch, FullGame, Snapshot, clone, restore, shaped_rewards
from collab_overcooked.envs.critic_state import CriticState
from collab_overcooked.envs.event_rewards import EventReward
from collab_overcooked.envs.wrappers import (
    RESET_FIRST,
    agent_names,
    check_max_cycles,
    check_render_mode,
    check_shaping,
    draw,
    parse_action,
    wrapper_metadata,
    wrapper_text,
)
from collab_overcooked.io.checks import near_matches, parse_integer, parse_text, quote_value
from collab_overcooked.kernels.rng import seed_states

StepResult = tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]


class ParallelEnv(PettingZooParallelEnv):
    """A game as a PettingZoo ParallelEnv: a batch of one.

    Args:
        game: Compiled game.
        render_mode: None, ``"human"`` (prints the ansi picture), ``"rgb_array"`` or ``"ansi"``.
        max_cycles: Cut episodes off after this many steps; the game's own limits if None or -1.
        mask_in: Where the int8 action mask goes: ``"info"``, ``"obs"`` (Dict observation with ``observation`` and
            ``action_mask``) or ``"rllib"`` (Dict with ``observations`` and ``action_mask``).
        text_info: Add ``text``, the agent's observation as text, to the infos.

    Raises:
        ValueError: For an unknown option value.
    """

    def __init__(
        self,
        game: FullGame,
        render_mode: str | None = None,
        max_cycles: int | None = None,
        mask_in: str = "info",
        text_info: bool = False,
    ) -> None:
        check_render_mode(render_mode)
        if not isinstance(mask_in, str) or mask_in not in ("info", "obs", "rllib"):
            raise ValueError(near_matches("mask_in", mask_in, ("info", "obs", "rllib")))
        self.game = game
        self._n_actions = game.n_actions
        self.render_mode = render_mode
        self.mask_in = mask_in
        self._observation_name = {"obs": "observation", "rllib": "observations"}.get(mask_in)  # None: not in a dict
        self.text_info = text_info
        self.metadata = {**wrapper_metadata(game), "is_parallelizable": True}
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
        self._critic_state = CriticState(game)
        self.state_space = self._critic_state.space
        self._seeded = False
        self._seed: int | None = None
        self._np_random: np.random.Generator | None = None
        self._reasons: list[str] = []
        self.layout_names = game.layout_names
        self._shaping = 0.0
        self._event_reward: EventReward | None = None
        self._bound: BoundBatch | None = None  # until the first reset

    def __getstate__(self) -> dict[str, Any]:
        """Drop bound kernels, which depend on the arrays' memory addresses."""
        left_out = ("_bound", "_row", "_copies", "_rejected", "_shaped", "_rewards")
        return {name: value for name, value in self.__dict__.items() if name not in left_out} | {"_bound": None}

    def __repr__(self) -> str:
        return wrapper_text(
            type(self).__name__,
            self.game,
            ", ".join(self.possible_agents),
            max_cycles=None if self.max_cycles == self.game.max_cycles else self.max_cycles,
            mask_in=None if self.mask_in == "info" else self.mask_in,
            text_info=self.text_info or None,
            render_mode=self.render_mode,
        )

    def _observation_space(self) -> gymnasium.Space:
        box = copy.deepcopy(self.game.single_observation_space)
        if self._observation_name is None:
            return box
        mask = gymnasium.spaces.Box(0, 1, (self.game.n_actions,), np.int8)
        return gymnasium.spaces.Dict({self._observation_name: box, "action_mask": mask})

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
            seed: Seed of the environment's generator. If None, the generator continues; the first time it is seeded
                randomly.
            options: Options of the game, for example an initial scene as ``state``; if that scene is over, the first
                step changes nothing and ends the episode.

        Returns:
            Observations and infos by agent.

        Raises:
            ValueError: For an invalid seed or options; the environment does not change.
        """
        before, drawn = self._state.rng.copy(), None
        if seed is not None or not self._seeded:
            if seed is None:
                drawn = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
            else:
                drawn = parse_integer("seed", seed, 0)
            self._state.rng[:] = seed_states([drawn])
        limit = self.max_cycles if self._overridden or self.max_cycles != self.game.max_cycles else None
        try:
            (self._bound or self._bind()).reset(self._which, options, limit)
        except Exception:
            self._state.rng[:] = before
            raise
        self._seeded = True
        if drawn is not None:
            self._seed, self._np_random = drawn, None
        self.agents = self.possible_agents[:]
        return self.look()

    @property
    def np_random(self) -> np.random.Generator:
        """Generator for third-party wrappers, seeded by ``reset``; the rules draw from the generator in the state."""
        if self._np_random is None:  # copies of environments are frequent, and wrappers that draw are not
            self._np_random = np.random.default_rng(self._seed)
        return self._np_random

    def step(self, actions: Mapping[str, Any]) -> StepResult:
        """Advance by one action of every agent.

        Raises:
            ValueError: If the environment was never reset, or an action is missing, not for a live agent, or outside
                the action space.
        """
        agents = self.agents
        if type(actions) is not dict and not isinstance(actions, Mapping):  # the first check costs next to nothing
            raise ValueError(f"actions must map agents to integers, not {quote_value(actions)}")
        if not agents:
            if not self._seeded:
                raise ValueError(RESET_FIRST)
            if actions:
                names = ", ".join(map(str, actions))
                raise ValueError(f"the episode is over, but there are actions for {names}; call reset")
            return {}, {}, {}, {}, {}
        bound, n_actions = self._bound or self._bind(), self._n_actions
        row = self._row
        for i, agent in enumerate(agents):
            try:
                action = actions[agent]
            except KeyError:
                raise ValueError(f"no action for {agent}; all of {', '.join(agents)} must act") from None
            if type(action) is not int or not 0 <= action < n_actions:
                action = parse_action(action, agent, n_actions)
            row[i] = action
        if len(actions) != len(agents):
            extra = ", ".join(sorted(map(str, set(actions) - set(agents))))
            raise ValueError(f"actions for unknown agents {extra}; agents: {', '.join(agents)}")
        if self.text_info:
            self._reasons = self._judge()
        bound.step()
        return self._results()

    def act(self, agent: str, action: object) -> StepResult | None:
        """Apply the action of one agent of a SequentialGame, so that later agents observe it before they choose.

        Returns:
            None, or the result of ``step`` after the last agent.

        Raises:
            ValueError: If the environment was never reset, the episode is over, it is not this agent's turn, or the
                action is outside its space.
        """
        if not self._seeded:
            raise ValueError(RESET_FIRST)
        game: Any = self.game
        seat = game.seat_to_act(self._state, 0)
        if not self.agents:
            raise ValueError(f"the episode is over, {agent} cannot act; call reset")
        if agent != self.possible_agents[seat]:
            raise ValueError(f"it is the turn of {self.possible_agents[seat]}, not of {agent}")
        row = self._actions[0]
        row[seat] = parse_action(action, agent, self._n_actions)
        if self.text_info:
            self._reasons = self._reasons or [""] * game.n_agents
            self._reasons[seat] = game.check(self._state, 0, seat, int(row[seat]))[1]
        if seat + 1 < game.n_agents:
            act = (self._bound or self._bind()).act
            act() if act is not None else game.act_seat(self._state, self._actions, self._out)
            return None
        (self._bound or self._bind()).step()
        return self._results()

    def _bind(self) -> BoundBatch:
        game, out = self.game, self._out
        shape = game.single_observation_space.shape
        self._row, self._rewards = self._actions[0], out.rewards[0]
        self._copies = [  # what copies an agent's observation and mask, looked up once
            (agent, out.observations[0, i].reshape(shape).copy, out.masks[0, i].copy)
            for i, agent in enumerate(self.possible_agents)
        ]
        self._rejected = game.rejections(self._state, out)[0]
        shaped = shaped_rewards(out)
        self._shaped = None if shaped is None else shaped[0]
        self._bound = game.bind(self._state, self._actions, out)
        return self._bound

    def _results(self) -> StepResult:
        out, agents = self._out, self.agents
        observations, infos = self.look()
        if self._event_reward is not None:
            out.rewards[...] = self._event_reward.of(out)
        if self._shaping:
            np.add(out.rewards, self._shaping * out.shaped, out=out.rewards, casting="same_kind")
        rewards: dict[str, float] = {}
        terminations: dict[str, bool] = {}
        truncations: dict[str, bool] = {}
        terminated, truncated = out.terminated.item(), out.truncated.item()
        paid = self._rewards.tolist()
        for i, agent in enumerate(agents):
            rewards[agent] = paid[i]
            terminations[agent] = terminated
            truncations[agent] = truncated
        if terminated or truncated:
            self.agents = []
        return observations, rewards, terminations, truncations, infos

    def look(self) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Return the current observations and infos of the live agents."""
        observations: dict[str, Any] = {}
        infos: dict[str, dict[str, Any]] = {}
        if not self.agents:
            return observations, infos
        if self._bound is None:
            self._bind()
        rejected = self._rejected.tolist()
        shaped = None if self._shaped is None else self._shaped.tolist()
        name = self._observation_name
        for i, (agent, observation, mask) in enumerate(self._copies):
            if name is None:  # the mask is in one place alone: adapters merge observations and infos
                observations[agent] = observation()
                info: dict[str, Any] = {"action_mask": mask(), "rejected": rejected[i]}
            else:
                observations[agent] = {name: observation(), "action_mask": mask()}
                info = {"rejected": rejected[i]}
            if shaped is not None:
                info["shaped_reward"] = shaped[i]
            infos[agent] = info
        if self.layout_names or self.text_info:
            self._add_infos(infos)
        return observations, infos

    def _add_infos(self, infos: dict[str, dict[str, Any]]) -> None:
        game: Any = self.game
        for i, (agent, info) in enumerate(infos.items()):
            if self.layout_names:
                info["layout"] = int(game.layout_numbers(self._state)[0])
            if self.text_info:
                info["text"] = self.describe(agent)
                info["reason"] = self._reasons[i] if self._reasons and info["rejected"] else ""

    def _judge(self) -> list[str]:
        actions = self._actions[0].tolist()
        return [self.game.check(self._state, 0, i, action, actions[:i])[1] for i, action in enumerate(actions)]

    @property
    def arrays(self) -> tuple[Any, Any]:
        """State and out of the environment's batch of one, read-only."""
        return self._state, self._out

    def state(self) -> np.ndarray:
        """Return the global state for centralised critics, float32 (S,); ``game.state_vector`` has its integers."""
        return self._critic_state.of(self._state, self._out)[0]

    def describe(self, agent: str) -> str:
        """Describe an agent's observation as text."""
        return self.game.describe(self._state, 0, self.seat(agent))

    def seen(self, agent: str) -> Any:
        """Return an agent's current knowledge, an ``envs.seen.SeatView``."""
        return self.game.seen(clone(self._state, 0), 0, self.seat(agent))

    def scene(self) -> dict[str, Any]:
        """Return the state as JSON values; ``reset(options={"state": scene})`` restores it."""
        return self.game.scene(self._state, 0)

    def events(self) -> list[dict[str, Any] | None]:
        """Return each agent's event of the last step."""
        return self.game.events(self._out, 0)

    def action_mask(self, agent: str) -> np.ndarray:
        """Return an agent's int8 action mask (A,)."""
        return self._out.masks[0, self.seat(agent)].copy()

    def legal_actions(self, agent: str) -> list[str]:
        """Return the texts of the actions allowed by an agent's mask."""
        seat = self.seat(agent)
        texts = self.game.action_texts(self._state, 0, seat)
        return [texts[action] for action in np.flatnonzero(self._out.masks[0, seat])]

    def parse(self, text: str, agent: str | None = None) -> int:
        """Parse an agent's action text (the first agent's if None) in the current state.

        Raises:
            ValueError: If the text is not an action; the message says why.
            TypeError: If it is not a string.
        """
        return self.game.parse(parse_text(text), self._state, 0, 0 if agent is None else self.seat(agent))

    def check(self, agent: str, action: int | str) -> tuple[str, str]:
        """Return reason code (``"OK"`` if the game accepts it in the current state) and message of an action.

        Raises:
            ValueError: If it is neither an action's text nor an integer of the action space.
        """
        seat = self.seat(agent)
        if isinstance(action, str):
            return self.game.check(self._state, 0, seat, self.parse(action, agent))
        number = parse_action(action, agent, self._n_actions)
        return self.game.check(self._state, 0, seat, number)

    def order_next(self, names: Sequence[str]) -> None:
        """Set the next orders.

        Raises:
            ValueError: For an unknown name, too many names, or a game that does not accept orders.
        """
        self.game.order_next(self._state, 0, names)

    def set_turn_order(self, seats: Sequence[int]) -> None:
        """Set the order in which seats' commands are carried out in the next step.

        Raises:
            ValueError: If a seat is missing, or the game has a fixed order.
        """
        self.game.set_turn_order(self._state, 0, seats)

    def seat(self, agent: str) -> int:
        """Return the index of an agent.

        Raises:
            ValueError: The agent is unknown.
        """
        if agent not in self.possible_agents:
            raise ValueError(near_matches("agent", agent, self.possible_agents))
        return self.possible_agents.index(agent)

    def clone_state(self) -> Snapshot:
        """Return a snapshot of the state, for search; takes microseconds."""
        return Snapshot(clone(self._state, 0), clone(self._out, 0), tuple(self.agents))

    def restore_state(self, snapshot: Snapshot) -> None:
        """Restore a snapshot of ``clone_state``."""
        restore(self._state, 0, snapshot.state)
        restore(self._out, 0, snapshot.out)
        self.agents = list(snapshot.agents)

    def render(self, agent: str | None = None) -> Any:
        """Render the state, or an agent's knowledge of it, in ``render_mode``; ``"human"`` prints the picture."""
        return draw(self.game, self._state, 0, self.render_mode, None if agent is None else self.seat(agent))

    def set_shaping(self, weight: float) -> None:
        """Set the weight of shaped rewards, see ``BatchEnv.set_shaping``."""
        self._shaping = check_shaping(self.game, self._out, weight)

    def events_to_rewards(self, weights: Mapping[str, Any] | None) -> None:
        """Pay weighted events, see ``BatchEnv.events_to_rewards``."""
        self._event_reward = None if weights is None else EventReward(self.game, weights)

    def close(self) -> None:
        """Do nothing; there are no resources to release."""
