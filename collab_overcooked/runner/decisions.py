"""Decisions of one step: each seat's action is forced, planned, or requested, and corrected if the game refuses it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from collab_overcooked.core.limits import Limits
from collab_overcooked.core.record import ErrorEntry, Step
from collab_overcooked.envs.api import clone, is_sequential, refusal_code
from collab_overcooked.envs.channel import quiet_arrays, talking_game
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.io import schema
from collab_overcooked.policies.action_history import MAX_PAST_ACTIONS
from collab_overcooked.policies.api import AgentView, Decision, Message, as_decision
from collab_overcooked.policies.observation import Observer
from collab_overcooked.runner.conversation import Conversation, Delivery, Entry, Plans, Replace

_ANSWER: Mapping[str, schema.Parser] = {
    "plan": schema.text,
    "say": schema.text,
    "tokens": schema.optional(schema.integer()),
    "seconds": schema.optional(schema.number(0)),
}
MAX_PAST = 1_000  # earlier messages in a seat's ``AgentView``
Refusal = tuple[str, str]
"""Reason code and message."""
Answer = Decision | int | str | Message | None
"""Answer to an ``Ask``."""


@dataclass(frozen=True)
class Ask:
    """Request for a seat's answer."""

    seat: int  # Index of the agent
    # ``"act"`` for a decision (``Decision``, action id or plan text), ``"reply"`` for an answer to the last message of
    # the inbox (``Message``, or None for silence)
    kind: Literal["act", "reply"]
    seen: AgentView  # Knowledge of the seat
    # Function that returns the requests to later seats in this step, valid unless a message is sent; empty in games
    # where a seat knows the choices of earlier seats
    ahead: Callable[[], Sequence[Ask]] = field(default=tuple, repr=False, compare=False)


class DecisionState:
    """The environment before a step. In games with turns, each seat sees the state at its turn.

    Args:
        state: Copy of the env's state; only methods of the game read it.
        timestep: Steps taken so far.
        observations: Observations of the live agents.
        env: The environment.
        silent: Seats that play without the channel of the game.
    """

    def __init__(
        self, state: Any, timestep: int, observations: Mapping[str, Any], env: ParallelEnv, silent: Collection[int] = ()
    ) -> None:
        self.state = state
        self.timestep = timestep
        self.game = env.game
        self.visible_state = state  # to the deciding seat
        self.silent = silent if self.game.quiet is not self.game else ()
        self.texts = [self.game.action_texts(state, 0, seat) for seat in range(self.game.n_agents)]
        self.observations = [observations[agent] for agent in env.possible_agents]
        self.masks = [env.action_mask(agent) for agent in env.possible_agents]
        if self.silent:
            self._hide_channel(env.arrays[1])

    def _hide_channel(self, out: Any) -> None:
        talking, masks = talking_game(self.game), quiet_arrays(out).masks
        assert talking is not None
        for seat in self.silent:
            self.observations[seat] = talking.quiet_part(self.observations[seat]).copy()
            self.masks[seat] = masks[0, seat].copy()

    def shown(self, seat: int) -> tuple[Any, Any]:
        """Return the game as a seat is shown it, and its state at the seat's turn."""
        if seat in self.silent:
            return self.game.quiet, quiet_arrays(self.visible_state)
        return self.game, self.visible_state

    def acts(self, actions: Sequence[int]) -> list[int]:
        """Return actions without their symbols; -1 for unknown ones."""
        n_acts = self.game.quiet.n_actions
        return [action % n_acts if action >= 0 else action for action in actions]

    def act(self, chosen: Sequence[int]) -> None:
        """Apply the actions chosen so far, in games where they take effect before the next seat chooses."""
        game = self.game
        if not is_sequential(game) or len(chosen) == game.n_agents:
            return
        self.visible_state, (_, out) = clone(self.state, 0), game.alloc(1)
        actions = np.zeros((1, game.n_agents), np.int32)
        actions[0, : len(chosen)] = chosen
        for _ in range(game.seat_to_act(self.visible_state, 0), len(chosen)):
            game.act_seat(self.visible_state, actions, out)
        self.observations = [row.reshape(game.single_observation_space.shape) for row in out.observations[0]]
        self.masks = list(out.masks[0])
        if self.silent:
            self._hide_channel(out)

    def text(self, seat: int, entry: Entry) -> str:
        """Return the text of an action that is a text or an id."""
        if isinstance(entry, str):
            return entry
        return self.texts[seat][entry] if 0 <= entry < len(self.texts[seat]) else str(entry)

    def judge(self, seat: int, entry: Entry, earlier: Sequence[int]) -> tuple[int, Refusal | None]:
        """Return an action's id, and the reason if the game would refuse it after the earlier seats' actions."""
        action, mask = entry, self.masks[seat]
        game, state = self.shown(seat)
        if isinstance(action, str):
            try:
                action = game.parse(action, state, 0, seat)
            except ValueError as error:
                return -1, (refusal_code(error), str(error))
        elif not 0 <= action < len(mask):
            return -1, ("OUT_OF_SPACE", f"action {action} is outside Discrete({len(mask)})")
        if action < len(mask) and mask[action]:
            return action, None
        try:
            if game is self.game:
                verdict = game.check(self.state, 0, seat, action, earlier)
            else:
                verdict = game.check(quiet_arrays(self.state), 0, seat, action, self.acts(earlier))
        except ValueError:  # some games check the mask only
            return action, ("MASKED", f"{self.text(seat, action)} is not possible now")
        return action, None if verdict[0] == "OK" else verdict


@dataclass
class _StepDecisions:
    """Decisions of one step, as far as they are made."""

    snapshot: DecisionState
    talk: Conversation
    asking: list[int]  # seats in the order in which they decide
    tokens: list[int | None]
    seconds: list[float | None]
    exchanges: list[list[str]]
    charged: int = 0  # messages of this step whose price is already owed
    chosen: dict[int, int] = field(default_factory=dict)  # actions of the seats that have decided
    errors: list[ErrorEntry] = field(default_factory=list)


class Decisions:
    """The seats of one episode: their plans, and messages and refusals of the current step.

    Args:
        game: Compiled game.
        limits: Limits of conversations and corrections.
        feedback: Feedback by seat; may be empty.
        observers: Observers by seat, for policies trained on another observation than the environment's.
        seed: Seed of the episode, from which lost messages are drawn.
        replaced: Function that replaces what others hear, see ``Delivery``.
    """

    def __init__(
        self,
        game: Any,
        limits: Limits,
        feedback: Sequence[str],
        observers: Mapping[int, Observer] | None = None,
        seed: int = 0,
        replaced: Replace | None = None,
    ) -> None:
        self.game = game
        self.limits = limits
        self.observers = {} if observers is None else observers
        self.feedback = list(feedback) or [""] * game.n_agents
        self.idle = [game.idle_action(seat) for seat in range(game.n_agents)]
        self.plans = Plans(game.n_agents, lambda seat, plan: game.parse_plan(plan, seat)[0])
        self.history: list[list[tuple[int, str]]] = [[] for _ in range(game.n_agents)]
        self.starts: list[list[int]] = [[] for _ in range(game.n_agents)]  # of the actions in the history
        self.begun: list[int | None] = [None] * game.n_agents  # start of each seat's action
        self.clocks: list[str] = []  # times before the previous steps
        self.refused: tuple[tuple[int, str, str, str], ...] = ()  # in the previous step
        # Heard by each seat in previous steps
        self.messages: list[list[tuple[int, Message]]] = [[] for _ in range(game.n_agents)]
        self.delivery = Delivery(limits, game.n_agents, seed, replaced)
        self.actions: list[tuple[int, ...]] = []  # of previous steps
        self.owed: list[int | None] = [None] * game.n_agents  # actions that seats owe for their messages
        self._begun: _StepDecisions | None = None

    @property
    def now(self) -> _StepDecisions:
        """Decisions of the current step."""
        assert self._begun is not None  # ``decide`` begins a step
        return self._begun

    def decide(self, snapshot: DecisionState, voices: list[Message]) -> Generator[Ask, Answer, dict[str, Any]]:
        """Collect all decisions; returns the fields of the record that are known before the step."""
        n_agents = self.game.n_agents
        talk = Conversation(self.plans, self.delivery, snapshot.timestep, voices)
        self._begun = _StepDecisions(
            snapshot=snapshot,
            talk=talk,
            asking=list(range(n_agents)),
            tokens=[None] * n_agents,
            seconds=[None] * n_agents,
            exchanges=[[] for _ in range(n_agents)],
        )
        self.plans.begun = [None] * n_agents
        default = tuple(self.game.turn_order(snapshot.state, 0))
        while len(self.now.chosen) < n_agents:
            seat = self._next_seat()
            action = yield from self._choose(seat)
            if action is not None:
                self.now.chosen[seat] = action
                snapshot.act(self._actions())
        turn_order = self.game.turn_order(snapshot.state, 0)
        return {
            "actions": self._actions(),
            "action_texts": [snapshot.texts[seat][action] for seat, action in enumerate(self._actions())],
            "messages": self.now.talk.record,
            "errors": self.now.errors,
            "tokens": self.now.tokens,
            **({"turn_order": list(turn_order)} if tuple(turn_order) != default else {}),
            **({"seconds": self.now.seconds} if any(s is not None for s in self.now.seconds) else {}),
            **({"exchanges": self.now.exchanges} if any(self.now.exchanges) else {}),
        }

    def log_step(self, snapshot: DecisionState, step: Step, rejected: Sequence[int]) -> None:
        """Log messages, events and refusals of a step, including actions that the game refused during the step."""
        for heard, inbox in zip(self.messages, self.now.talk.inboxes, strict=True):
            heard += [(snapshot.timestep, message) for message in inbox]
        self.actions.append(tuple(self._actions()))
        self.clocks.append(self.game.clock(snapshot.state, 0, snapshot.timestep))
        for seat, event in enumerate(step.events):
            begun, (act,) = self.begun[seat], snapshot.acts([self.now.chosen[seat]])
            chooses = snapshot.masks[seat][: self.game.quiet.n_actions].sum() > 1
            if begun is None or (chooses and act != self.idle[seat]):
                begun = snapshot.timestep
            self.begun[seat] = begun
            if event is not None:
                self.history[seat].append((snapshot.timestep + 1, event.label))
                self.starts[seat].append(begun)
                if event.is_over:
                    self.begun[seat] = None
        refused = [(e.agent, e.action, e.code, e.message) for e in step.errors]
        for seat in np.flatnonzero(rejected).tolist():
            verdict = self.game.check(snapshot.state, 0, seat, self.now.chosen[seat], self._actions())
            if verdict[0] != "OK":
                refused.append((seat, step.action_texts[seat], *verdict))
        self.refused = tuple(refused)

    def message_rules(self, seat: int) -> tuple[str, ...]:
        """Return what holds for a seat's messages now, see ``AgentView.message_rules``."""
        rules = self.limits.rules(seat, self.game.display_names, self.delivery.left(seat))
        return tuple(rule.sentence for rule in rules)

    def _next_seat(self) -> int:
        return next(seat for seat in self.now.asking if seat not in self.now.chosen)

    def _actions(self) -> list[int]:
        """Return the actions known by seat, -1 for a seat that decides later, up to the last known one."""
        return [self.now.chosen.get(seat, -1) for seat in range(max(self.now.chosen, default=-1) + 1)]

    def _set_turn_order(self, named: Sequence[int]) -> None:
        if len(set(named)) < len(named) or not set(named) <= set(range(self.game.n_agents)):
            raise ValueError(f"a policy answered turn_order {list(named)}; it must name seats of the game once each")
        later = [seat for seat in named if seat not in self.now.chosen]
        state, turns = self.now.snapshot.state, iter(later)
        order = [next(turns) if seat in later else seat for seat in self.game.turn_order(state, 0)]
        self.game.set_turn_order(state, 0, order)
        turns = iter(later)
        self.now.asking = [next(turns) if seat in later else seat for seat in self.now.asking]

    def _choose(self, seat: int) -> Generator[Ask, Answer, int | None]:
        """Choose a seat's action; None if its answer gave the turn to another seat and stays queued."""
        mask = self.now.snapshot.masks[seat]
        legal = np.flatnonzero(mask)
        if len(legal) == 1:
            return int(legal[0])
        refusal = None
        text = ""
        price = self._pay(seat, mask)
        for _ in range(self.limits.max_corrections + 1 if price is None else 0):
            if not self.plans.queues[seat]:
                yield from self._ask(seat, refusal, text)
                price = self._pay(seat, mask)
                if price is not None:
                    break
                if self._next_seat() != seat:
                    return None
            planned = self.plans.next(seat)
            proposal = self.idle[seat] if planned is None else planned
            action, refusal = self.now.snapshot.judge(seat, proposal, self._actions())
            if refusal is None:
                self.plans.begun[seat] = planned
                return action
            self.plans.queues[seat].clear()
            text = self.now.snapshot.text(seat, proposal)
            self.now.errors.append(ErrorEntry(agent=seat, action=text, code=refusal[0], message=refusal[1]))
        if price is not None:
            return price
        return self.idle[seat] if mask[self.idle[seat]] else int(legal[0])

    def _pay(self, seat: int, mask: np.ndarray) -> int | None:
        for message in self.now.talk.record[self.now.charged :]:
            if message.agent is not None and message.say:
                self.owed[message.agent] = self.game.talk_action(message.agent, len(message.say))
        self.now.charged = len(self.now.talk.record)
        price = self.owed[seat]
        if price is None or not mask[price]:
            return None
        self.owed[seat] = None
        return price

    def _seen(self, seat: int, refusal: Refusal | None = None, attempt: str = "") -> AgentView:
        snapshot = self.now.snapshot
        game, state = snapshot.shown(seat)
        view = game.seen(state, 0, seat)
        as_shown = list if game is self.game else snapshot.acts  # without a channel, seats see acts without symbols
        plan, announced = self.plans.visible_to(seat, snapshot.text)
        join = self.game.join_plan
        public = view.public_history
        observation, observer = snapshot.observations[seat], self.observers.get(seat)
        earlier = tuple(
            (other, snapshot.texts[other][as_shown([action])[0]]) for other, action in self.now.chosen.items()
        )
        return AgentView(
            seat=seat,
            timestep=snapshot.timestep,
            observation=observation if observer is None else observer.observe(view, observation),
            mask=snapshot.masks[seat].copy(),
            view=view,
            plan=join(plan),
            announced=tuple(map(join, announced)),
            running=snapshot.texts[seat][self.now.chosen[seat]] if seat in self.now.chosen else "",
            inbox=tuple(self.now.talk.inboxes[seat]),
            past_messages=tuple(self.messages[seat][-MAX_PAST:]),
            message_rules=self.message_rules(seat),
            error=refusal,
            attempt=attempt,
            refused=tuple(r for r in self.refused if view.public_refusals or r[0] == seat),
            earlier=earlier if view.public_choices else (),
            history=tuple(tuple(events) if public or k == seat else () for k, events in enumerate(self.history)),
            starts=tuple(tuple(starts) if public or k == seat else () for k, starts in enumerate(self.starts)),
            clocks=(*self.clocks, game.clock(state, 0, snapshot.timestep)),
            feedback=self.feedback[seat],
            past_actions=tuple(tuple(as_shown(past)) for past in self.actions[-MAX_PAST_ACTIONS:])
            if view.public_actions
            else (),
        )

    def _ask(self, seat: int, refusal: Refusal | None, attempt: str) -> Generator[Ask, Answer, None]:
        seen = self._seen(seat, refusal, attempt)
        answer = yield Ask(seat, "act", seen, lambda: () if seen.view.public_choices else self._asks_after(seat))
        decision = as_decision(answer)
        self._count(seat, decision)
        self.plans.public[seat] |= decision.public
        if decision.turn_order:
            self._set_turn_order(decision.turn_order)
        decision = replace(decision, say=self.delivery.cut(seat, decision.say))
        announced, say = decision.plan, decision.say
        queued = decision.plan if decision.action is None else int(decision.action)
        if decision.action is not None and not announced:
            announced = self.now.snapshot.text(seat, decision.action)
        if seat in self.now.talk.opened:  # a correction is one more message, without answers
            self.now.talk.add(seat, decision.say, announced)
        elif say:
            revised = yield from self._converse(seat, announced, decision)
            if revised is not None:
                queued, say = revised.plan, revised.say
        self.plans.follow(seat, queued, self.now.talk.told[seat] if say else ())

    def _asks_after(self, seat: int) -> list[Ask]:
        later = [other for other in self.now.asking if other != seat and other not in self.now.chosen]
        free = (s for s in later if self.now.snapshot.masks[s].sum() > 1 and not self.plans.queues[s])
        return [Ask(s, "act", self._seen(s)) for s in free if self.owed[s] is None]

    def _converse(self, seat: int, plan: str, opening: Decision) -> Generator[Ask, Answer, Message | None]:
        talk = self.now.talk.hold(seat, opening.say, plan, opening.last)
        message: Message | None = None
        try:
            while True:
                other = talk.send(message)
                answer = yield Ask(other, "reply", self._seen(other))
                if answer is not None and not isinstance(answer, Message):
                    raise ValueError(f"a policy replied {answer!r}; it must be a Message or None")
                message = answer
                if message is not None:
                    self._count(other, message)
                    message = message._replace(say=self.delivery.cut(other, message.say))
        except StopIteration as end:
            revised: Message | None = end.value
            return revised

    def _count(self, seat: int, answer: Decision | Message) -> None:
        _check_answer(answer)
        if answer.tokens is not None:
            self.now.tokens[seat] = (self.now.tokens[seat] or 0) + answer.tokens
        if answer.seconds is not None:
            self.now.seconds[seat] = (self.now.seconds[seat] or 0.0) + answer.seconds
        self.now.exchanges[seat] += answer.exchanges


def _check_answer(answer: Decision | Message) -> None:
    try:
        for name, parser in _ANSWER.items():
            schema.read(parser, getattr(answer, name), name)
    except schema.SchemaError as error:
        raise ValueError(f"a policy answered with {error}") from None
