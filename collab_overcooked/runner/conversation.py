"""Queued plans of seats, conversations within one timestep that change them, and the limits of messages."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator
from typing import NamedTuple

import numpy as np

from collab_overcooked.core.limits import Limits
from collab_overcooked.core.record import MessageEntry
from collab_overcooked.policies.api import Message

Replace = Callable[[Message], Message | None]
"""Returns what others hear instead of a message, None for nothing."""
Entry = str | int
"""An action in a queue, as text or id."""


class _Late(NamedTuple):
    """A message on its way."""

    due: int  # timestep in which it is heard
    message: Message
    hearers: frozenset[int]
    plan: int  # number of the sender's plan that it announces


class Delivery:
    """Messages of an episode on their way to those who hear them.

    Args:
        limits: Limits of messages.
        n_agents: Number of seats.
        seed: Seed of the episode.
        replaced: Function that replaces messages; plans are then announced in their words only. None to replace none.
    """

    def __init__(self, limits: Limits, n_agents: int, seed: int, replaced: Replace | None = None) -> None:
        self.limits = limits
        self.n_agents = n_agents
        self._seed = seed
        self.replaced = replaced
        self._late: deque[_Late] = deque()
        self._sent = 0
        self._spent = [0] * n_agents  # characters of each seat

    def left(self, seat: int) -> int | None:
        """Return how many characters a seat may still write; None for no limit."""
        limit = self.limits.max_episode_chars
        return None if limit is None else limit - self._spent[seat]

    def cut(self, seat: int, say: str) -> str:
        """Return the part of a message that the limits let through, which counts from now on."""
        if not self.limits.max_messages:
            return ""
        bounds = [bound for bound in (self.limits.max_chars, self.left(seat)) if bound is not None]
        if bounds and len(say) > min(bounds):
            say = say[: min(bounds)].rstrip()
        self._spent[seat] += len(say)
        return say

    def is_lost(self) -> bool:
        """Draw whether the next message is lost."""
        self._sent += 1
        loss = self.limits.message_loss
        return bool(loss) and np.random.default_rng([self._seed, self._sent]).random() < loss

    def heard(self, message: Message) -> Message | None:
        """Return what others hear instead of a message, None for nothing."""
        return self.replaced(message) if self.replaced is not None and message.say else message

    def send_late(self, due: int, message: Message, hearers: Collection[int], plan: int) -> None:
        """Keep a message until the timestep in which it is heard."""
        self._late.append(_Late(due, message, frozenset(hearers), plan))

    def arriving(self, timestep: int) -> Iterator[_Late]:
        """Yield the messages that are heard in a timestep, in the order in which they were sent."""
        while self._late and self._late[0].due <= timestep:
            yield self._late.popleft()


class Plans:
    """Queued actions of each seat, and the teammates to whom each plan was announced.

    Args:
        n_agents: Number of seats.
        own_actions: Function of seat and plan that returns the actions for the seat itself.
    """

    def __init__(self, n_agents: int, own_actions: Callable[[int, str], list[str]]) -> None:
        self._own_actions = own_actions
        self.queues: list[deque[Entry]] = [deque() for _ in range(n_agents)]
        self.told: list[set[int]] = [set() for _ in range(n_agents)]  # seats to which each plan was announced
        self.numbers = [0] * n_agents  # plans of each seat so far
        self.begun: list[Entry | None] = [None] * n_agents  # chosen from the queues in this timestep
        self.public = [False] * n_agents  # seats that show every plan

    def follow(self, seat: int, plan: str | int, told: Collection[int]) -> None:
        """Replace a seat's queue by an action id, or by the actions of a plan; requests in it are not executed.

        Args:
            seat: Index of the agent.
            plan: Action id or plan.
            told: Seats to which the plan was announced.
        """
        self.queues[seat] = deque([plan] if isinstance(plan, int) else self._own_actions(seat, plan))
        self.told[seat] = set(told)
        self.numbers[seat] += 1

    def tell(self, seat: int, number: int, told: Collection[int]) -> None:
        """Show a seat's plan to others from now on, unless another plan has replaced the one of this number."""
        if self.numbers[seat] == number:
            self.told[seat] |= set(told)

    def next(self, seat: int) -> Entry | None:
        """Pop a seat's next action from its queue; None if it is empty."""
        return self.queues[seat].popleft() if self.queues[seat] else None

    def visible_to(
        self, seat: int, text: Callable[[int, Entry], str]
    ) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """Return a seat's queue and the announced plans of its teammates: the running action and the remaining ones."""
        texts = [tuple(text(other, entry) for entry in queue) for other, queue in enumerate(self.queues)]
        begun = [() if entry is None else (f"{text(k, entry)} (begun)",) for k, entry in enumerate(self.begun)]
        shown = [k != seat and (seat in told or self.public[k]) for k, told in enumerate(self.told)]
        return texts[seat], tuple(begun[k] + texts[k] if is_shown else () for k, is_shown in enumerate(shown))


class Conversation:
    """Messages of one timestep.

    Args:
        plans: Plans of all seats; answers update them.
        delivery: Messages of the episode; those that arrive in this timestep are heard before any seat decides.
        timestep: Steps taken so far.
        voices: Messages from outside the team, received before any seat decides; all hear them.
    """

    def __init__(self, plans: Plans, delivery: Delivery, timestep: int, voices: list[Message]) -> None:
        self._plans = plans
        self._delivery = delivery
        self._timestep = timestep
        self._count = 0
        self.inboxes: list[list[Message]] = [[] for _ in range(delivery.n_agents)]  # heard by each seat, own included
        self.record: list[MessageEntry] = []
        self.opened: dict[int, int] = {}  # seat -> number of the conversation that it opened in this step
        self.told: dict[int, set[int]] = {}  # seat -> seats that have heard its last plan of this step
        self._news: set[int] = set()  # seats that have heard something since they were last asked
        for late in delivery.arriving(timestep):
            self._put(late.message, late.hearers)
            if late.message.agent is not None:
                plans.tell(late.message.agent, late.plan, late.hearers)
        for message in voices:
            self._put(message, range(delivery.n_agents))
            self.record.append(
                MessageEntry(agent=None, conversation=self._number(), say=message.say, plan=message.plan)
            )

    def _number(self) -> int:
        self._count += 1
        return self._count - 1

    def _put(self, message: Message, seats: Collection[int]) -> None:
        for seat in seats:
            self.inboxes[seat].append(message)

    def _receive(self, number: int, seat: int, say: str, plan: str) -> None:
        """Record a seat's message and deliver it; plans without words are private."""
        delivery, message = self._delivery, Message(seat, say, plan)
        limits, lost = delivery.limits, delivery.is_lost()
        self.record.append(MessageEntry(agent=seat, conversation=number, say=say, plan=plan, lost=lost))
        heard = None if lost else delivery.heard(message)
        shows_plan = bool(say) and heard is message
        hearers = set() if heard is None else set(limits.hearers(seat, delivery.n_agents))
        told = set() if limits.message_delay else hearers
        if heard is not None and say and limits.message_delay:
            plan_number = self._plans.numbers[seat] + 1 if shows_plan else -1
            delivery.send_late(self._timestep + limits.message_delay, heard, hearers, plan_number)
        if plan or seat not in self.told:
            self.told[seat] = told if shows_plan else set()
        self._news |= told
        if say:
            self._put(message, [seat])
        if say and heard is not None:
            self._put(heard, told)

    def add(self, seat: int, say: str, plan: str) -> None:
        """Append a correction to the conversation that its seat opened; it is not answered."""
        self._receive(self.opened[seat], seat, say, plan)

    def hold(
        self, seat: int, say: str, plan: str, last: bool = False
    ) -> Generator[int, Message | None, Message | None]:
        """Let all seats answer in turn until nobody replies or the limit of messages is reached.

        Args:
            seat: Seat that opens the conversation.
            say: First message.
            plan: Announced plan.
            last: Whether the opener closes the conversation already, so that the others answer once each.

        Yields:
            The next seat to answer; its answer is sent, None for silence.

        Returns:
            The opener's last message that changed its plan; None if it did not.
        """
        opener = seat
        n_agents = len(self._plans.queues)
        number = self._number()
        self.opened[opener] = number
        self._news = set()
        self._receive(number, opener, say, plan)
        spoken, silent = 1, 0
        revised: Message | None = None
        while spoken < self._delivery.limits.max_messages and silent < n_agents - 1:
            seat = (seat + 1) % n_agents
            if last and seat == opener:
                break
            if seat not in self._news:  # to be asked would tell that others have spoken
                silent += 1
                continue
            self._news.discard(seat)
            answer = yield seat
            if answer is None or not (answer.say or answer.plan):
                silent += 1
                continue
            spoken, silent = spoken + 1, (0 if answer.say else silent) + int(answer.last)
            self._plans.public[seat] |= answer.public
            self._receive(number, seat, answer.say, answer.plan)
            if answer.plan and seat == opener:
                revised = answer
            elif answer.plan:
                self._plans.follow(seat, answer.plan, self.told[seat])
        return revised
