"""Policies that change how another policy plays: slow, late, noisy, forgetful, restricted to a role or to a convention.

They need no training and play every game, since they act on masks, events and simulated steps only. As partners they
resemble people, who hesitate, come late, change plans, or have habits.
A spec is the wrapper, its parameter and the policy behind it, ``slow:3:planner:width=50``; ``greedy`` without one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from collab_overcooked.envs.api import State
from collab_overcooked.io.checks import near_matches, quote_value
from collab_overcooked.policies.api import (
    AgentView,
    Capabilities,
    Decision,
    EnvInfo,
    Learner,
    Lesson,
    Message,
    Policy,
    ReportsUsage,
    TeamAware,
    as_decision,
    simulator_of,
)
from collab_overcooked.policies.parameters import read_number, read_probability
from collab_overcooked.policies.registry import HUMAN, LANGUAGE
from collab_overcooked.policies.search.simulator import Fork, Simulator
from collab_overcooked.policies.specs import PolicySpec

Array = np.ndarray
Answer = Decision | int | str
MAX_DURATION = 60  # simulated steps of a macro action; longer ones count as they are then
MAX_BESIDE = 6  # actions of each teammate beside which an action is simulated; there are 6 primitive ones
WALKERS, WALK = 64, 80  # random walks that find the area in which a seat can move, and their length
DIRECTIONS = {"clockwise": 1, "counterclockwise": -1}
FORBIDDEN = "avoid="


class WrappedPolicy:
    """Delegates each decision to one of several policies.

    Args:
        *players: The policies behind it.
    """

    name = "wrapped"
    needs_simulator = False
    reads_history = False  # of the seats' actions, which policies in a batch do not get

    def __init__(self, *players: Policy) -> None:
        self.players = players
        declared = [Capabilities.of(player) for player in players]
        self.needs_simulator = self.needs_simulator or any(player.needs_simulator for player in declared)
        self.observation = declared[0].observation
        self.speaks = declared[0].speaks
        if any(other.observation != self.observation for other in declared):
            raise ValueError(f"policy {self.name!r}: {' and '.join(p.name for p in players)} observe differently")
        if any(other.speaks != self.speaks for other in declared):
            raise ValueError(f"policy {self.name!r}: of {' and '.join(p.name for p in players)}, only one speaks")

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Reset the generator and all policies behind this one."""
        self._rng = np.random.default_rng([seed, seat, 1])
        for player in self.players:
            player.reset(seat, info, seed)

    def join(self, team: tuple[Policy, ...]) -> None:
        """Pass the team on, as each policy behind it would know it: with what stands behind equal wrappers."""
        for number, player in enumerate(self.players):
            if isinstance(player, TeamAware):
                player.join(tuple(mate.players[number] if type(mate) is type(self) else mate for mate in team))

    def account(self) -> dict[str, Any]:
        """Return the costs of the policies behind it, see ``ReportsUsage``; empty if none reports any."""
        costs: dict[str, Any] = {}
        for player in self.players:
            if isinstance(player, ReportsUsage):
                costs |= player.account()
        return costs

    def between_episodes(self, lesson: Lesson) -> None:
        """Pass a lesson on to the policies that learn from it."""
        for player in self.players:
            if isinstance(player, Learner):
                player.between_episodes(lesson)

    def current(self, timestep: int) -> Policy:
        """Return the policy that plays at a timestep."""
        return self.players[0]

    def act(self, seen: AgentView) -> Answer:
        """Ask the policy that plays now."""
        return self.current(seen.timestep).act(seen)

    def reply(self, seen: AgentView) -> Message | None:
        """Let the active policy answer."""
        return self.current(seen.timestep).reply(seen)


class SlowPolicy(WrappedPolicy):
    """Decides at every k-th step and idles in between.

    Args:
        period: k.
        player: The policy behind it.
    """

    def __init__(self, period: int, player: Policy) -> None:
        super().__init__(player)
        self._period = period

    def act(self, seen: AgentView) -> Answer:
        return super().act(seen) if seen.timestep % self._period == 0 else seen.idle_action


class LatePolicy(WrappedPolicy):
    """Idles for a number of steps at the start, and does not answer messages meanwhile.

    Args:
        start: First timestep at which it acts.
        player: The policy behind it.
    """

    def __init__(self, start: int, player: Policy) -> None:
        super().__init__(player)
        self._start = start

    def act(self, seen: AgentView) -> Answer:
        return super().act(seen) if seen.timestep >= self._start else seen.idle_action

    def reply(self, seen: AgentView) -> Message | None:
        return super().reply(seen) if seen.timestep >= self._start else None


class SwitchPolicy(WrappedPolicy):
    """Plays as one policy first and as another from a timestep on, which tests whether an ego adapts.

    Args:
        timestep: First timestep of the second policy.
        first: Plays before it.
        second: Plays from it on.
    """

    def __init__(self, timestep: int, first: Policy, second: Policy) -> None:
        super().__init__(first, second)
        self._timestep = timestep

    def current(self, timestep: int) -> Policy:
        return self.players[timestep >= self._timestep]


class NoisyPolicy(WrappedPolicy):
    """Takes a random legal action with a probability: a model of people who make mistakes.

    Args:
        probability: Probability of a random action.
        player: The policy behind it.
    """

    def __init__(self, probability: float, player: Policy) -> None:
        super().__init__(player)
        self._probability = probability

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        super().reset(seat, info, seed)
        self._rng = np.random.default_rng([seed, seat])

    def act(self, seen: AgentView) -> Answer:
        if self._rng.random() < self._probability:
            return int(self._rng.choice(np.flatnonzero(seen.mask)))
        return super().act(seen)


class ForgetfulPolicy(WrappedPolicy):
    """Repeats its last action with a probability, if the game accepts it again.

    Args:
        probability: Probability of a repetition.
        player: The policy behind it.
    """

    def __init__(self, probability: float, player: Policy) -> None:
        super().__init__(player)
        self._probability = probability

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        super().reset(seat, info, seed)
        self._last: int | None = None

    def act(self, seen: AgentView) -> Answer:
        forgets = self._rng.random() < self._probability
        if forgets and self._last is not None and _is_legal(self._last, seen) and seen.error is None:
            return self._last
        answer = super().act(seen)
        self._last = as_decision(answer).action
        return answer


class ShortSightedPolicy(WrappedPolicy):
    """Gives up long tasks: after r steps without an event of its own, it takes random actions for r steps.

    Args:
        reach: r.
        player: The policy behind it.
    """

    reads_history = True

    def __init__(self, reach: int, player: Policy) -> None:
        super().__init__(player)
        self._reach = reach

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        super().reset(seat, info, seed)
        self._seat = seat

    def act(self, seen: AgentView) -> Answer:
        actions = seen.history[self._seat] if seen.history else ()
        since = seen.timestep - (actions[-1][0] if actions else 0)
        if since // self._reach % 2 == 0:
            return super().act(seen)
        return int(self._rng.choice(np.flatnonzero(seen.mask)))


class RestrictedPolicy(WrappedPolicy):
    """Plays with fewer actions: the wrapped policy sees a smaller mask, and forbidden actions become random ones.

    Args:
        player: The policy behind it; of a plan, one action is followed at a time.
    """

    needs_simulator = True

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        super().reset(seat, info, seed)
        self._simulator: Simulator = simulator_of(info, self.name)
        self._seat = seat

    def allows(self, seen: AgentView, actions: Array) -> Array:
        """Return which of some accepted actions it may take, bool (n,)."""
        raise NotImplementedError

    def act(self, seen: AgentView) -> Answer:
        legal = np.flatnonzero(seen.mask)
        allowed = legal[self.allows(seen, legal)]
        if not len(allowed):
            return seen.idle_action
        mask = np.zeros_like(seen.mask)
        mask[allowed] = 1
        answer = super().act(replace(seen, mask=mask))
        action = self._first_action(answer)
        if action is None or action not in allowed:
            action = int(self._rng.choice(allowed))
        return replace(answer, action=action) if isinstance(answer, Decision) else action

    def _first_action(self, answer: Answer) -> int | None:
        decision, game = as_decision(answer), self._simulator.game
        if decision.action is not None:
            return decision.action
        texts = game.parse_plan(decision.plan, self._seat)[0]
        try:
            action: int | None = game.parse(texts[0], self._simulator.state, 0, self._seat) if texts else None
        except ValueError:
            return None
        return action


class RolePolicy(RestrictedPolicy):
    """Takes only actions whose events belong to its role, and actions without an event, such as moves.

    Args:
        events: Parts of names of events, in lower case: ``("onion", "goto")`` for all events with one of them.
        player: The wrapped policy.
    """

    def __init__(self, events: tuple[str, ...], player: Policy) -> None:
        super().__init__(player)
        self._events = events

    def allows(self, seen: AgentView, actions: Array) -> Array:
        def belongs(event: str) -> bool:
            return any(part in event for part in self._events)

        events_of_actions = _events_of(self._simulator, self._seat, actions)
        return np.array([all(map(belongs, events)) for events in events_of_actions])


class DirectionPolicy(RestrictedPolicy):
    """Goes round the middle of its area in one direction only; for games on a grid.

    Args:
        direction: 1 for clockwise, -1 for counterclockwise, as seen on pictures.
        player: The policy behind it.
    """

    def __init__(self, direction: int, player: Policy) -> None:
        super().__init__(player)
        self._direction = direction

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        super().reset(seat, info, seed)
        if _position(self._simulator.game, self._simulator.state, 0, seat) is None:
            raise ValueError(f"policy {self.name!r}: agents of {info.env_id} have no coordinates to go round")
        self._middle = _middle_of_area(self._simulator, seat)

    def allows(self, seen: AgentView, actions: Array) -> Array:
        game, copies = self._simulator.game, MAX_BESIDE
        fork = self._simulator.fork(len(actions) * copies, 0)
        before = self._from_middle(_position(game, fork.state, 0, self._seat))
        chosen = _beside_idle(fork, self._seat, np.repeat(actions, copies))
        for other in range(game.n_agents):
            legal = np.flatnonzero(fork.masks[0, other])
            if other != self._seat:  # a teammate in the way may make room
                chosen[:, other] = np.tile(np.resize(legal, copies), len(actions))
        fork.step(chosen)
        after = [self._from_middle(_position(game, fork.state, i, self._seat)) for i in range(len(fork))]
        turns = np.array([before[0] * position[1] - before[1] * position[0] for position in after])
        return np.all((turns * self._direction >= 0).reshape(len(actions), copies), axis=1)

    def _from_middle(self, position: Array | None) -> Array:
        assert position is not None  # checked by reset
        return position - self._middle


class AvoidPolicy(RestrictedPolicy):
    """Leaves a place to its teammates: it takes no action that names the place, or that works on the place's cell.

    Args:
        place: Part of an action's text, such as ``"pot0"`` or ``"room 3"``, or the coordinates ``"3.2"`` of a cell.
        player: The policy behind it.
    """

    def __init__(self, place: str, player: Policy) -> None:
        super().__init__(player)
        if not place:
            raise ValueError("policy 'convention': avoid needs a place, as in convention:avoid=pot0 or avoid=3.2")
        x, dot, y = place.partition(".")
        self._cell = [int(x), int(y)] if dot and x.isdecimal() and y.isdecimal() else None
        self._place = place

    def allows(self, seen: AgentView, actions: Array) -> Array:
        if self._cell is None:
            return np.array([self._place not in seen.view.action_texts[action] for action in actions.tolist()])
        if _cell_in_front(self._simulator, self._seat) != self._cell:
            return np.ones(len(actions), bool)
        return np.array([not names for names in _events_of(self._simulator, self._seat, actions)])


def _is_legal(action: int, seen: AgentView) -> bool:
    return 0 <= action < len(seen.mask) and bool(seen.mask[action])


def _beside_idle(fork: Fork, seat: int, actions: Array) -> Array:
    chosen = fork.masks.argmax(axis=2).astype(np.int32)
    for other in range(chosen.shape[1]):
        idle = fork.game.idle_action(other)
        chosen[fork.masks[:, other, idle] == 1, other] = idle
    chosen[:, seat] = actions
    return chosen


def _events_of(simulator: Simulator, seat: int, actions: Array) -> list[set[str]]:
    fork = simulator.fork(len(actions), 0)
    events: list[set[str]] = [set() for _ in actions]
    running = np.ones(len(actions), bool)
    for _ in range(MAX_DURATION):
        fork.step(_beside_idle(fork, seat, actions))
        for i in np.flatnonzero(running).tolist():
            event = fork.game.events(fork.out, i)[seat]
            if event is not None:
                events[i].add(str(event["event"]).lower())
        running &= (fork.masks[:, seat].sum(1) == 1) & ~(fork.terminated | fork.truncated)
        if not running.any():
            break
        actions = fork.masks[:, seat].argmax(1)
    return events


def _agent(game: Any, state: State, i: int, seat: int) -> Mapping[str, Any]:
    scene = game.scene(state, i)
    agents = scene.get("players", scene.get("agents"))
    return agents[seat] if isinstance(agents, list) else {}


def _position(game: Any, state: State, i: int, seat: int) -> Array | None:
    agent = _agent(game, state, i, seat)
    position = agent.get("position", agent.get("at"))
    return None if position is None else np.array(position, np.float64)


def _cell_in_front(simulator: Simulator, seat: int) -> list[int] | None:
    game, state = simulator.game, simulator.state
    position, facing = _position(game, state, 0, seat), _agent(game, state, 0, seat).get("facing")
    if position is None or facing is None:
        return None
    x, y = {"north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}[facing]
    return [int(position[0]) + x, int(position[1]) + y]


def _middle_of_area(simulator: Simulator, seat: int) -> Array:
    fork, rng = simulator.fork(WALKERS, 0), np.random.default_rng(0)
    places = []
    for _ in range(WALK):
        drawn = (rng.random(fork.masks[:, seat].shape) * fork.masks[:, seat]).argmax(1)
        fork.step(_beside_idle(fork, seat, drawn))
        places += [_position(fork.game, fork.state, i, seat) for i in range(WALKERS)]
    area = np.array(places)
    middle: Array = (area.min(0) + area.max(0)) / 2
    return middle


def _convention(text: str, player: Policy) -> RestrictedPolicy:
    if text.startswith(FORBIDDEN):
        return AvoidPolicy(text.removeprefix(FORBIDDEN), player)
    if text not in DIRECTIONS:
        raise ValueError(near_matches("convention", text, [*DIRECTIONS, f"{FORBIDDEN}PLACE"]))
    return DirectionPolicy(DIRECTIONS[text], player)


def _role(text: str, player: Policy) -> RolePolicy:
    events = tuple(part.strip().lower() for part in text.split("+"))
    if not all(events):
        raise ValueError(
            f"policy 'role' needs names of events, as in role:onion+potting:greedy, not {quote_value(text)}"
        )
    return RolePolicy(events, player)


MAKERS: Mapping[str, Callable[..., WrappedPolicy]] = {
    "slow": lambda text, player: SlowPolicy(read_number("slow", "period", text, 1), player),
    "late": lambda text, player: LatePolicy(read_number("late", "timestep", text, 1), player),
    "switch": lambda text, *players: SwitchPolicy(read_number("switch", "timestep", text, 1), *players),
    "noisy": lambda text, player: NoisyPolicy(read_probability("noisy", text), player),
    "forgetful": lambda text, player: ForgetfulPolicy(read_probability("forgetful", text), player),
    "short_sighted": lambda text, player: ShortSightedPolicy(read_number("short_sighted", "reach", text, 1), player),
    "role": _role,
    "convention": _convention,
}


def from_text(name: str, text: str, makers: Mapping[str, Callable[..., WrappedPolicy]] = MAKERS) -> WrappedPolicy:
    """Create a wrapper from the text after its name in a spec.

    Raises:
        ValueError: For an invalid parameter, or a language model or a person behind the wrapper.
    """
    parameter, players = PolicySpec.parse(f"{name}:{text}").wrapped
    for player in players:
        if player.kind in (LANGUAGE, HUMAN):
            raise ValueError(
                f"policy {name!r} cannot change how {player.text!r} plays; it takes scripted, search and RL policies"
            )
    return makers[name](parameter, *(player.make() for player in players))


slow_from_text = partial(from_text, "slow")
late_from_text = partial(from_text, "late")
switch_from_text = partial(from_text, "switch")
noisy_from_text = partial(from_text, "noisy")
forgetful_from_text = partial(from_text, "forgetful")
short_sighted_from_text = partial(from_text, "short_sighted")
role_from_text = partial(from_text, "role")
convention_from_text = partial(from_text, "convention")
