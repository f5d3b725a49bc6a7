"""Queued plans of seats, and conversations within one timestep that change them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator

from collab_overcooked.core.record import MessageEntry
from collab_overcooked.policies.api import Message

Entry = str | int
"""An action in a queue, as text or id."""


class Plans:
    """Queued actions of each seat, and whether each plan was announced to the teammates.

    Args:
        n_agents: Number of seats.
        own_actions: Function of seat and plan that returns the actions for the seat itself.
    """

    def __init__(self, n_agents: int, own_actions: Callable[[int, str], list[str]]) -> None:
        self._own_actions = own_actions
        self.queues: list[deque[Entry]] = [deque() for _ in range(n_agents)]
        self.announced = [False] * n_agents
        self.begun: list[Entry | None] = [None] * n_agents  # chosen from the queues in this timestep
        self.public = [False] * n_agents  # seats that show every plan

    def follow(self, seat: int, plan: str | int, announced: bool) -> None:
        """Replace a seat's queue by an action id, or by the actions of a plan; requests in it are not executed."""
        self.queues[seat] = deque([plan] if isinstance(plan, int) else self._own_actions(seat, plan))
        self.announced[seat] = announced

    def next(self, seat: int) -> Entry | None:
        """Pop a seat's next action from its queue; None if it is empty."""
        return self.queues[seat].popleft() if self.queues[seat] else None

    def visible_to(
        self, seat: int, text: Callable[[int, Entry], str]
    ) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """Return a seat's queue and the announced plans of its teammates: the running action and the remaining ones."""
        texts = [tuple(text(other, entry) for entry in queue) for other, queue in enumerate(self.queues)]
        begun = [() if entry is None else (f"{text(k, entry)} (begun)",) for k, entry in enumerate(self.begun)]
        visible = map(max, self.announced, self.public)
        others = (begun[k] + texts[k] if is_visible and k != seat else () for k, is_visible in enumerate(visible))
        return texts[seat], tuple(others)


class Conversation:
    """Messages of one timestep.

    Args:
        plans: Plans of all seats; answers update them.
        max_messages: Maximum number of messages in one conversation, including the first.
        voices: Messages from outside the team, received before any seat decides.
    """

    def __init__(self, plans: Plans, max_messages: int, voices: list[Message]) -> None:
        self._plans, self._max_messages = plans, max_messages
        self._count = 0
        self.inbox: list[Message] = []
        self.record: list[MessageEntry] = []
        self.opened: dict[int, int] = {}  # seat -> number of the conversation that it opened in this step
        for message in voices:
            self._receive(self._number(), message)

    def _number(self) -> int:
        self._count += 1
        return self._count - 1

    def _receive(self, number: int, message: Message) -> None:
        if message.say:  # plans without a message are private
            self.inbox.append(message)
        entry = MessageEntry(agent=message.agent, conversation=number, say=message.say, plan=message.plan)
        self.record.append(entry)

    def add(self, seat: int, say: str, plan: str) -> None:
        """Append a correction to the conversation that its seat opened; it is not answered."""
        self._receive(self.opened[seat], Message(seat, say, plan))

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
        opener, n_agents, number = seat, len(self._plans.queues), self._number()
        self.opened[opener] = number
        self._receive(number, Message(opener, say, plan))
        spoken, silent = 1, 0
        revised: Message | None = None
        while spoken < self._max_messages and silent < n_agents - 1:
            seat = (seat + 1) % n_agents
            if last and seat == opener:
                break
            answer = yield seat
            if answer is None or not (answer.say or answer.plan):
                silent += 1
                continue
            spoken, silent = spoken + 1, (0 if answer.say else silent) + int(answer.last)
            self._plans.public[seat] |= answer.public
            self._receive(number, Message(seat, answer.say, answer.plan))
            if answer.plan and seat == opener:
                revised = answer
            elif answer.plan:
                self._plans.follow(seat, answer.plan, announced=bool(answer.say))
        return revised
