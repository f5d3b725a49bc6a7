"""Decisions of one step: each seat's action is forced, planned, or asked for, and corrected if the game refuses it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np

from collab_overcooked.envs.api import SequentialGame, clone
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.io import schema
from collab_overcooked.io.checks import parse_integer
from collab_overcooked.policies.api import Decision, Message, Seen
from collab_overcooked.policies.observation import Observer
from collab_overcooked.runner.conversation import Conversation, Entry, Plans

_TOKENS, _SECONDS = schema.nullable(schema.integer()), schema.nullable(schema.number(0))
MAX_PAST = 50  # messages of earlier steps that a seat is shown
Refusal = tuple[str, str]
"""Reason code and message."""
Answer = Decision | int | str | Message | None
"""What is sent for an ``Ask``."""


@dataclass(frozen=True)
class Limits:
    """What bounds a decision.

    Attributes:
        max_turns: Messages in one conversation, the opening one included.
        max_corrections: How often a refused decision is handed back; after that the agent waits one step.
    """

    max_turns: int = 6
    max_corrections: int = 1

    def changed(self) -> dict[str, int]:
        """Return the bounds that are not the default ones."""
        return {own.name: getattr(self, own.name) for own in fields(self) if getattr(self, own.name) != own.default}

    def __post_init__(self) -> None:
        for name, low in (("max_turns", 1), ("max_corrections", 0)):
            parse_integer(name, getattr(self, name), low)


@dataclass(frozen=True)
class Ask:
    """A seat's answer is wanted.

    Attributes:
        seat: Index of the agent.
        kind: ``"act"`` for a decision (``Decision``, action id or plan text), ``"reply"`` for an answer to the last
            message of the inbox (``Message``, or None for silence).
        seen: What the seat may know.
        ahead: Returns what later seats will be asked in this step, just so unless somebody speaks; nothing in games
            where a seat knows what those before it have chosen.
    """

    seat: int
    kind: Literal["act", "reply"]
    seen: Seen
    ahead: Callable[[], Sequence[Ask]] = field(default=tuple, repr=False, compare=False)


class Snapshot:
    """The environment before a step; where a game plays in turns, what seats see is the state when their turn comes.

    Args:
        state: Copy of its state; only the game's own methods look into it.
        timestep: Steps taken so far.
        observations: Of the living agents.
        env: The environment.
    """

    def __init__(self, state: Any, timestep: int, observations: Mapping[str, Any], env: ParallelEnv) -> None:
        self.state, self.timestep, self.game = state, timestep, env.game
        self.shown = state  # to the seat that decides
        self.texts = [self.game.action_texts(state, 0, seat) for seat in range(self.game.n_agents)]
        self.observations = [observations[agent] for agent in env.possible_agents]
        self.masks = [env.action_mask(agent) for agent in env.possible_agents]

    def act(self, chosen: Sequence[int]) -> None:
        """Let the seats that have chosen act, where their actions take effect before the next seat chooses."""
        game = self.game
        if not isinstance(game, SequentialGame) or len(chosen) == game.n_agents:
            return
        self.shown, (_, out) = clone(self.state, 0), game.alloc(1)
        actions = np.zeros((1, game.n_agents), np.int32)
        actions[0, : len(chosen)] = chosen
        for _ in range(game.seat_to_act(self.shown, 0), len(chosen)):
            game.act_seat(self.shown, actions, out)
        self.observations = [row.reshape(game.single_observation_space.shape) for row in out.observations[0]]
        self.masks = list(out.masks[0])

    def text(self, seat: int, entry: Entry) -> str:
        """Return the text of an action that was written as text or id."""
        if isinstance(entry, str):
            return entry
        return self.texts[seat][entry] if 0 <= entry < len(self.texts[seat]) else str(entry)

    def judge(self, seat: int, entry: Entry, earlier: Sequence[int]) -> tuple[int, Refusal | None]:
        """Return an action's id, and why the game would refuse it after what earlier seats have chosen."""
        action, mask = entry, self.masks[seat]
        if isinstance(action, str):
            try:
                action = self.game.parse(action, self.shown, 0, seat)
            except ValueError as error:
                return -1, (getattr(error, "code", "UNREADABLE"), str(error))
        elif not 0 <= action < len(mask):
            return -1, ("OUT_OF_SPACE", f"action {action} is outside Discrete({len(mask)})")
        if action < len(mask) and mask[action]:
            return action, None
        try:
            verdict = self.game.check(self.state, 0, seat, action, earlier)
        except ValueError:  # some games judge by the mask alone
            return action, ("MASKED", f"{self.text(seat, action)} is not possible now")
        return action, None if verdict[0] == "OK" else verdict


class Table:
    """The seats of one episode: their plans, and what is said and refused in the current step.

    Args:
        game: Compiled game.
        limits: Bounds of conversations and corrections.
        feedback: By seat; nothing if there is none.
        observers: By seat, where a policy was trained on another observation than the environment shows.
    """

    def __init__(
        self, game: Any, limits: Limits, feedback: Sequence[str], observers: Mapping[int, Observer] | None = None
    ) -> None:
        self.game, self.limits, self.observers = game, limits, {} if observers is None else observers
        self.feedback = list(feedback) or [""] * game.n_agents
        self.idle = [game.idle_action(seat) for seat in range(game.n_agents)]
        self.plans = Plans(game.n_agents, lambda seat, plan: game.parse_plan(plan, seat)[0])
        self.history: list[list[tuple[int, str]]] = [[] for _ in range(game.n_agents)]
        self.refused: tuple[tuple[int, str, str, str], ...] = ()  # in the step before
        self.said: list[tuple[int, Message]] = []  # in the steps before
        self.owed: list[int | None] = [None] * game.n_agents  # actions that seats still owe for their words

    def decide(self, moment: Snapshot, voices: list[Message]) -> Generator[Ask, Answer, dict[str, Any]]:
        """Return the step's part of the record that is known before the step."""
        n_agents = self.game.n_agents
        self.moment, self.talk = moment, Conversation(self.plans, self.limits.max_turns, voices)
        self.charged = 0  # messages of this step that have been paid for
        self.errors: list[dict[str, Any]] = []
        self.tokens: list[int | None] = [None] * n_agents
        self.seconds: list[float | None] = [None] * n_agents
        self.exchanges: list[list[str]] = [[] for _ in range(n_agents)]
        self.chosen: list[int] = []  # by the seats that have decided
        for seat in range(n_agents):
            action = yield from self._choose(seat)
            self.chosen.append(action)
            moment.act(self.chosen)
        return {
            "actions": self.chosen,
            "action_texts": [moment.texts[seat][action] for seat, action in enumerate(self.chosen)],
            "messages": self.talk.record,
            "errors": self.errors,
            "tokens": self.tokens,
            **({"seconds": self.seconds} if any(s is not None for s in self.seconds) else {}),
            **({"exchanges": self.exchanges} if any(self.exchanges) else {}),
        }

    def note(self, moment: Snapshot, step: Mapping[str, Any], rejected: Sequence[int]) -> None:
        """Remember what came of a step and what was said in it: also what the game itself refused, as late."""
        self.said += [(moment.timestep, message) for message in self.talk.inbox]
        for seat, event in enumerate(step["events"]):
            if event is not None:
                self.history[seat].append((moment.timestep + 1, event["label"]))
        refused = [(e["agent"], e["action"], e["code"], e["message"]) for e in step["errors"]]
        for seat in np.flatnonzero(rejected).tolist():
            verdict = self.game.check(moment.state, 0, seat, self.chosen[seat], self.chosen)
            if verdict[0] != "OK":
                refused.append((seat, step["action_texts"][seat], *verdict))
        self.refused = tuple(refused)

    def _choose(self, seat: int) -> Generator[Ask, Answer, int]:
        """Return the seat's action: forced, planned, or asked for, and corrected if the game refuses it."""
        mask = self.moment.masks[seat]
        legal = np.flatnonzero(mask)
        if len(legal) == 1:
            return int(legal[0])
        refusal, text, price = None, "", self._pay(seat, mask)
        for _ in range(self.limits.max_corrections + 1 if price is None else 0):
            if not self.plans.queues[seat]:
                yield from self._ask(seat, refusal, text)
                price = self._pay(seat, mask)
                if price is not None:
                    break
            planned = self.plans.next(seat)
            proposal = self.idle[seat] if planned is None else planned
            action, refusal = self.moment.judge(seat, proposal, self.chosen)
            if refusal is None:
                return action
            self.plans.queues[seat].clear()
            text = self.moment.text(seat, proposal)
            self.errors.append({"agent": seat, "action": text, "code": refusal[0], "message": refusal[1]})
        if price is not None:
            return price
        return self.idle[seat] if mask[self.idle[seat]] else int(legal[0])

    def _pay(self, seat: int, mask: np.ndarray) -> int | None:
        """Return the action that pays for a seat's words, where the game takes one; what it had queued follows."""
        for heard in self.talk.record[self.charged :]:
            if heard["agent"] is not None and heard["say"]:
                self.owed[heard["agent"]] = self.game.talk_action(heard["agent"], len(heard["say"]))
        self.charged = len(self.talk.record)
        price = self.owed[seat]
        if price is None or not mask[price]:
            return None
        self.owed[seat] = None
        return price

    def _seen(self, seat: int, refusal: Refusal | None = None, attempt: str = "") -> Seen:
        moment = self.moment
        view = self.game.seen(moment.shown, 0, seat)
        plan, announced = self.plans.shown(seat, moment.text)
        public = view.public_history
        observation, observer = moment.observations[seat], self.observers.get(seat)
        return Seen(
            seat=seat,
            timestep=moment.timestep,
            observation=observation if observer is None else observer.observe(view, observation),
            mask=moment.masks[seat].copy(),
            view=view,
            plan=plan,
            announced=announced,
            running=moment.texts[seat][self.chosen[seat]] if seat < len(self.chosen) else "",
            inbox=tuple(self.talk.inbox),
            past_messages=tuple(self.said[-MAX_PAST:]),
            error=refusal,
            attempt=attempt,
            refused=tuple(r for r in self.refused if view.public_refusals or r[0] == seat),
            earlier=tuple((other, moment.texts[other][action]) for other, action in enumerate(self.chosen))
            if view.public_choices
            else (),
            history=tuple(tuple(own) if public or other == seat else () for other, own in enumerate(self.history)),
            feedback=self.feedback[seat],
        )

    def _ask(self, seat: int, refusal: Refusal | None, attempt: str) -> Generator[Ask, Answer, None]:
        """Get a decision, let its words be heard, and queue what is to be carried out (nothing means waiting)."""
        seen = self._seen(seat, refusal, attempt)
        answer = yield Ask(seat, "act", seen, lambda: () if seen.view.public_choices else self._asks_after(seat))
        decision = _as_decision(answer)
        self._count(seat, decision)
        announced, said = decision.plan, decision.say
        own = decision.plan if decision.action is None else int(decision.action)
        if decision.action is not None and not announced:
            announced = self.moment.text(seat, decision.action)
        if seat in self.talk.opened:  # a correction is heard as one more message, and not discussed again
            self.talk.add(seat, decision.say, announced)
        elif decision.say:
            revised = yield from self._converse(seat, decision.say, announced)
            if revised is not None:
                own, said = revised.plan, revised.say
        self.plans.follow(seat, own, announced=bool(said))

    def _asks_after(self, seat: int) -> list[Ask]:
        """Return the first questions to later seats: to those with a choice, without a plan, and who owe no action."""
        later = range(seat + 1, self.game.n_agents)
        free = (s for s in later if self.moment.masks[s].sum() > 1 and not self.plans.queues[s])
        return [Ask(s, "act", self._seen(s)) for s in free if self.owed[s] is None]

    def _converse(self, seat: int, say: str, plan: str) -> Generator[Ask, Answer, Message | None]:
        """Let the others answer; returns the opener's last message with another plan."""
        talk = self.talk.hold(seat, say, plan)
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
        except StopIteration as end:
            revised: Message | None = end.value
            return revised

    def _count(self, seat: int, answer: Decision | Message) -> None:
        """Add what an answer took.

        Raises:
            ValueError: If it holds what records cannot.
        """
        _check_answer(answer)
        if answer.tokens is not None:
            self.tokens[seat] = (self.tokens[seat] or 0) + answer.tokens
        if answer.seconds is not None:
            self.seconds[seat] = (self.seconds[seat] or 0.0) + answer.seconds
        self.exchanges[seat] += answer.exchanges


def _check_answer(answer: Decision | Message) -> None:
    """Refuse what records cannot hold, where it comes in."""
    checks = {"plan": schema.text, "say": schema.text, "tokens": _TOKENS, "seconds": _SECONDS}
    try:
        schema.object_of(checks)({name: getattr(answer, name) for name in checks})
    except schema.SchemaError as error:
        raise ValueError(f"a policy answered with {error}") from None


def _as_decision(answer: Answer) -> Decision:
    if isinstance(answer, Decision):
        return answer
    if isinstance(answer, str):
        return Decision(plan=answer)
    if isinstance(answer, (int, np.integer)) and not isinstance(answer, bool):
        return Decision(action=int(answer))
    raise ValueError(f"a policy answered {answer!r}; it must be an action id, a text or a Decision")
