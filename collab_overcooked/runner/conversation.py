"""Plans that seats carry out one action after the other, and conversations within one timestep that change them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from typing import Any

from collab_overcooked.policies.api import Message

Entry = str | int
"""An action in a queue, as text or id."""


class Plans:
    """What each seat has queued, and whether the others have heard of it.

    Args:
        n_agents: Number of seats.
        own_actions: Returns the texts of a seat's plan that the seat carries out itself.
    """

    def __init__(self, n_agents: int, own_actions: Callable[[int, str], list[str]]) -> None:
        self._own_actions = own_actions
        self.queues: list[deque[Entry]] = [deque() for _ in range(n_agents)]
        self.announced = [False] * n_agents

    def follow(self, seat: int, plan: str | int, announced: bool) -> None:
        """Replace a seat's queue by an action id, or by the actions of a plan; requests in it are words only."""
        self.queues[seat] = deque([plan] if isinstance(plan, int) else self._own_actions(seat, plan))
        self.announced[seat] = announced

    def next(self, seat: int) -> Entry | None:
        """Take a seat's next action from its queue; None if nothing is left."""
        return self.queues[seat].popleft() if self.queues[seat] else None

    def shown(
        self, seat: int, text: Callable[[int, Entry], str]
    ) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """Return a seat's own queue, and by seat what is left of the plans that others have announced."""
        texts = [tuple(text(other, entry) for entry in queue) for other, queue in enumerate(self.queues)]
        heard = (texts[other] if told and other != seat else () for other, told in enumerate(self.announced))
        return texts[seat], tuple(heard)


class Conversation:
    """What is said in one timestep.

    Args:
        plans: Of all seats; what is announced here changes them.
        max_turns: Messages in one conversation, the opening one included.
        voices: Words of voices without a seat, heard before anybody decides.
    """

    def __init__(self, plans: Plans, max_turns: int, voices: list[Message]) -> None:
        self._plans, self._max_turns = plans, max_turns
        self._count = 0
        self.inbox: list[Message] = []
        self.record: list[dict[str, Any]] = []
        self.opened: dict[int, int] = {}  # conversation number of each seat that opened one in this step
        for message in voices:
            self._hear(self._number(), message)

    def _number(self) -> int:
        self._count += 1
        return self._count - 1

    def _hear(self, number: int, message: Message) -> None:
        if message.say:  # plans without words are private
            self.inbox.append(message)
        self.record.append({"agent": message.agent, "conversation": number, "say": message.say, "plan": message.plan})

    def add(self, seat: int, say: str, plan: str) -> None:
        """Hear a correction as one more message of the conversation that its seat opened; nobody answers it."""
        self._hear(self.opened[seat], Message(seat, say, plan))

    def hold(self, seat: int, say: str, plan: str) -> Generator[int, Message | None, Message | None]:
        """Let everybody answer in turn until all others have nothing to add or the turns are used up.

        Args:
            seat: Who opens the conversation.
            say: Its words.
            plan: The plan it announces.

        Yields:
            The seat that is to answer; its answer is sent, None for silence.

        Returns:
            The opener's last message with another plan than its first one; None if there is none.
        """
        opener, n_agents, number = seat, len(self._plans.queues), self._number()
        self.opened[opener] = number
        self._hear(number, Message(opener, say, plan))
        spoken, silent = 1, 0
        revised: Message | None = None
        while spoken < self._max_turns and silent < n_agents - 1:
            seat = (seat + 1) % n_agents
            answer = yield seat
            if answer is None or not (answer.say or answer.plan):
                silent += 1
                continue
            spoken, silent = spoken + 1, (0 if answer.say else silent) + int(answer.last)
            self._hear(number, Message(seat, answer.say, answer.plan))
            if answer.plan and seat == opener:
                revised = answer
            elif answer.plan:
                self._plans.follow(seat, answer.plan, announced=bool(answer.say))
        return revised
