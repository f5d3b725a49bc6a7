"""The kitchen's reference trajectories, carried out through the real controller.

The seat that knows the recipes opens one conversation in which it asks for everything that its teammate has to do;
the teammate answers with that plan. Both then take one action at a time and wait while the next is not accepted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.lexicon import plain
from collab_overcooked.kernels.rng import seed_states
from collab_overcooked.policies.api import AgentView, Decision, EnvInfo, Message, simulator_of
from collab_overcooked.policies.parameters import read_number
from collab_overcooked.policies.search.simulator import Simulator

from ..engine.constants import DISH, NOTHING, Agent, Clock, Status, Verb
from ..engine.rules import status
from ..text.text import REQUEST_ENTRY
from .scene import refuse_primitive_seats, tables_of

REFERENCE_LIMIT = 200  # steps within which a reference must deliver


class ReferenceTrajectory:
    """Reference actions of a seat, and the item in its hand before each."""

    def __init__(self, game: FullGame, seat: int, actions: tuple[int, ...]) -> None:
        kitchen = tables_of(game)
        self.seat, self.actions = seat, actions
        self.hands: list[int] = []  # item held before each action
        hand = NOTHING
        for action in actions:
            verb, item, _ = kitchen.rows[action]
            self.hands.append(hand)
            hand = {Verb.PICKUP: item, Verb.OPERATE: hand, Verb.FILL: DISH}.get(Verb(verb), NOTHING)


def trajectories(game: FullGame, task: str, number: int) -> tuple[tuple[int, ...], ...]:
    """Return the action ids of a reference by seat.

    Raises:
        ValueError: The task has no reference, or none of this number.
    """
    tables_of(game)
    kitchen = getattr(game, "kitchen")  # noqa: B009  (not part of the Game protocol)
    references = kitchen.tasks[task].references if task in kitchen.tasks else ()
    if not references:
        raise ValueError(
            f"policy 'reference': kitchen {kitchen.name!r} has no reference trajectories for {task!r}; "
            "write some under `tasks` of its file, or use another policy"
        )
    if number > len(references):
        raise ValueError(f"policy 'reference': {task} has references 1 to {len(references)}, not {number}")
    return tuple(tuple(plain(game).parse(text) for text in actions) for actions in references[number - 1])


class ReferencePolicy:
    """Carries out its seat's part of a reference trajectory of the current order.

    Args:
        number: Which reference, from 1 on.
    """

    needs_simulator = True

    def __init__(self, number: int = 1) -> None:
        self.name = "reference"
        self.number = number

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Start at the trajectory's beginning."""
        self._kitchen = tables_of(info.game)
        refuse_primitive_seats(info.game, range(info.game.n_agents))
        self._game: Any = info.game
        self._simulator = simulator_of(info, self.name)
        self.idle = self._kitchen.wait
        self._seat = seat
        self._delivered = -1
        self._spoken = False
        self._handed_over = False  # the whole plan is queued and carried out without asking
        self._doing: int | None = None
        self._at = 0
        if info.task:
            trajectories(info.game, info.task, self.number)

    def act(self, seen: AgentView) -> Decision | int:
        """Return the next action of the trajectory, or wait for it; open the conversation if it is time to."""
        self._catch_up(seen)
        action = self._next(seen)
        self._handed_over = False
        knows = self._game.kitchen.agents[seen.seat].knows_recipes
        if self._spoken or not knows:
            return action
        self._spoken = True
        plan = "; ".join([*self._requests(seen), *self._announced(seen)])
        return Decision(action=action, plan=plan, say="Please do these things for me. This is my own plan.")

    def reply(self, seen: AgentView) -> Message | None:
        """Answer a request with the plan, then begin with its first action."""
        self._catch_up(seen)
        mine = [message.agent == seen.seat for message in seen.inbox]
        count = sum(mine)
        if mine[0]:
            return Message(seen.seat, "Good, let us begin.", "") if count == 1 else None
        if count == 0:
            self._handed_over = True
            return Message(seen.seat, "I will do this.", "; ".join(self._announced(seen)))
        if count > 1:
            return None
        self._handed_over = False
        first = self._game.action_texts(self._state)[self._next(seen)]
        return Message(seen.seat, "I begin.", first)

    def _catch_up(self, seen: AgentView) -> None:
        self._state = self._simulator.fork(1, 0, cheat=True).state
        delivered = int(self._state.clock[0, Clock.DELIVERED])
        if delivered != self._delivered:
            self._delivered = delivered
            self._spoken = False
            self._load()
        if self._handed_over:
            self._find_place(seen)
        elif self._doing is not None and self._done(seen, self._doing):
            self._at += 1
        self._doing = None

    def _load(self) -> None:
        order = int(self._state.orders[0, 0])
        self._at, self._doing = 0, None
        self._parts: tuple[ReferenceTrajectory, ...] = ()
        if order != NOTHING:
            task = self._game.compiled.names.items[order]
            actions = trajectories(self._game, task, self.number)
            self._parts = tuple(ReferenceTrajectory(self._game, seat, ids) for seat, ids in enumerate(actions))

    @property
    def _own(self) -> ReferenceTrajectory:
        return self._parts[self._seat]

    def _find_place(self, seen: AgentView) -> None:
        hand = int(self._state.agents[0, seen.seat, Agent.ITEM])
        if seen.error is None:
            return
        for k in range(self._at, len(self._own.actions)):
            refused = self._game.check(self._state, 0, seen.seat, self._own.actions[k]) == seen.error
            if refused and hand == self._own.hands[k]:
                self._at = k
                return

    def _done(self, seen: AgentView, action: int) -> bool:
        verb, item, group = self._kitchen.rows[action]
        held, plated = self._state.agents[0, seen.seat, [Agent.ITEM, Agent.PLATED]]
        if verb == Verb.PICKUP:
            return bool(held == item)
        if verb == Verb.FILL:
            return bool(plated == 1)
        if verb == Verb.OPERATE:
            return status(self._state.tiles[0, self._kitchen.members[group][0]]) != Status.FILLING
        return bool(held == NOTHING)

    def _next(self, seen: AgentView) -> int:
        if not self._parts or self._at >= len(self._own.actions):
            return self._kitchen.wait
        action = self._own.actions[self._at]
        if not seen.mask[action]:
            return self._kitchen.wait
        self._doing = action
        return action

    def _requests(self, seen: AgentView) -> list[str]:
        texts = self._game.action_texts(self._state)
        return [
            REQUEST_ENTRY.format(texts[action])
            for part in self._parts
            if part.seat != seen.seat
            for action in part.actions
        ]

    def _announced(self, seen: AgentView) -> list[str]:
        texts = self._game.action_texts(self._state)
        return [texts[action] for action in self._own.actions[self._at :]] if self._parts else []


def reference_steps(game: FullGame, number: int = 1) -> int | None:
    """Count the env steps until the first order is delivered when every seat follows a reference.

    Returns:
        Env steps, the delivering one included; None if nothing is delivered within ``REFERENCE_LIMIT`` steps.
    """
    return len(reference_play(game, number)) or None


def reference_play(game: FullGame, number: int = 1) -> list[tuple[tuple[int, ...], list[dict[str, Any] | None]]]:
    """Return the actions and events of each env step until the first order is delivered, if all follow a reference.

    Nothing if nothing is delivered within ``REFERENCE_LIMIT`` steps.
    """
    state, out = game.alloc(1)
    state.rng[:] = seed_states([0])
    game.reset(state, out, np.ones(1, np.bool_), None, REFERENCE_LIMIT)
    policies = [ReferencePolicy(number) for _ in range(game.n_agents)]
    info = EnvInfo(game.id, game, "", ("reference",) * game.n_agents, Simulator(game, state, 0))
    for seat, policy in enumerate(policies):
        policy.reset(seat, info, 0)
    steps: list[tuple[tuple[int, ...], list[dict[str, Any] | None]]] = []
    while len(steps) < REFERENCE_LIMIT:
        actions = tuple(
            _chosen(policy, AgentView.of(game, state, out, seat, len(steps))) for seat, policy in enumerate(policies)
        )
        game.step(state, np.array([actions], np.int32), out)
        steps.append((actions, game.events(out, 0)))
        if state.clock[0, Clock.DELIVERED] > 0:
            return steps
    return []


def _chosen(policy: ReferencePolicy, seen: AgentView) -> int:
    forced = np.flatnonzero(seen.mask)
    if len(forced) == 1:
        return int(forced[0])
    answer = policy.act(seen)
    action = answer.action if isinstance(answer, Decision) else answer
    return policy.idle if action is None else action


def reference_from_text(text: str) -> ReferencePolicy:
    """Make the policy of a spec such as ``"reference:2"``; the text is the part after the colon."""
    return ReferencePolicy(read_number("reference", "number", text, 1) if text else 1)
