"""Sessions with a model: requests, repeated requests after unreadable answers, and their cost."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from collab_overcooked.policies.api import EnvInfo
from collab_overcooked.policies.llm.answers import CORRECTED, PROSE, UNUSABLE, Answer, Unreadable, shorten
from collab_overcooked.policies.llm.budget import UsageMeter
from collab_overcooked.policies.llm.client import Client
from collab_overcooked.policies.llm.exchange import ChatMessage, Reply, Request, UnusableReply
from collab_overcooked.policies.llm.images import Picture
from collab_overcooked.policies.llm.markup import visible
from collab_overcooked.policies.llm.prompts import Prompts
from collab_overcooked.policies.llm.settings import AgentSettings
from collab_overcooked.policies.llm.unusable import reason_of

MAX_ECHO = 2_000  # characters of an unreadable answer that are quoted in the next request


class ModelSession:
    """Session of a seat with its model, which tracks the cost.

    Args:
        settings: Model and sampling.
        client: Client of the model.
        usage: Usage of the team in the episode.
        prompts: Templates.
        seat: Index of the agent.
        info: Information about the episode.
        seed: Seed of the seat's policy; equal requests in episodes with other seeds are sampled independently.
        turn: Lock of the team, held by the calling seat and released while it waits; None without teammates.
    """

    def __init__(
        self,
        settings: AgentSettings,
        client: Client,
        usage: UsageMeter,
        prompts: Prompts,
        seat: int,
        info: EnvInfo,
        seed: int,
        *,
        turn: threading.Lock | None = None,
    ) -> None:
        self.settings = settings
        self.client = client
        self.usage = usage
        self.prompts = prompts
        self.seat = seat
        self.info = info
        self.seed = seed
        self._turn = turn
        self._asked: Counter[tuple[ChatMessage, ...]] = Counter()
        self._links: list[str] = []  # of the requests since the last cost
        self._taken = 0  # tokens of earlier costs
        self._written = 0
        self.pictures: tuple[Picture, ...] = ()  # of the current decision, in all of its requests
        usage.open(seat, settings.model, settings.price)

    def take_cost(self) -> dict[str, Any]:
        """Return the cost since the last call: ``tokens``, None without requests, and ``exchanges``."""
        total = self.usage.seats[self.seat].tokens
        cost = {"tokens": total - self._taken if self._links else None, "exchanges": tuple(self._links)}
        self._taken, self._links = total, []
        return cost

    def spent(self) -> tuple[int, float]:
        """Return the characters of all replies so far, and the seconds that they took."""
        return self._written, self.usage.seats[self.seat].seconds

    def ask(
        self,
        turns: Sequence[ChatMessage],
        read: Callable[[str], Answer],
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
        fixed: int | None = None,
    ) -> Any:
        """Send a request until its answer is readable, with at most ``settings.repairs`` repetitions.

        Args:
            turns: The chat; adjacent messages of one role are merged, as some models require alternating roles.
            read: Parser of the answer; raises Unreadable with a message for the model.
            schema: JSON schema of the answer, enforced if the endpoint supports it.
            tools: Tools of which the answer must call some.
            fixed: Number of the first merged messages that are the same in all requests of the episode; by default 1
                if there is a system message, else 0.

        Returns:
            Value of the answer.
        """
        chat = joined(turns)
        seat = self.usage.seats[self.seat]
        if fixed is None:
            fixed = int(chat[0].role == "system")
        for attempt in range(self.settings.repairs + 1):
            reply = self._complete(chat, schema, tuple(tools), fixed)
            if reply.finish == "rejected":  # repeating the request would not help
                self._note("rejected", reply, bool(tools))
                break
            try:
                answer = read(reply.text)
            except Unreadable as complaint:
                self._note(reply.finish if reply.finish != "stop" else "unreadable", reply, bool(tools))
                echo = shorten(visible(reply.text), MAX_ECHO) or "(no answer)"
                chat = joined([*chat, ChatMessage("assistant", echo), ChatMessage("user", str(complaint))])
            else:
                self.usage.unusable_limit.note_usable(self.settings.model)
                if answer.how != PROSE:
                    seat.readings[CORRECTED if attempt else answer.how] += 1
                return answer.value
        seat.readings[UNUSABLE] += 1
        raise UnusableReply

    def _complete(
        self,
        chat: tuple[ChatMessage, ...],
        schema: Mapping[str, Any] | None,
        tools: tuple[Mapping[str, Any], ...],
        fixed: int,
    ) -> Reply:
        self.usage.check()
        settings = self.settings
        count = f"{self.seat}/{self._asked[chat]}"
        self._asked[chat] += 1
        seed = self.seed if settings.seed is None else settings.seed
        sample = f"{seed}/{count}" if settings.temperature > 0 else ""
        request = Request(
            model=settings.model,
            turns=chat,
            temperature=settings.temperature,
            max_tokens=settings.tokens,
            schema=schema,
            sample=sample,
            body=settings.body,
            reach=settings.reach,
            tools=tools,
            pictures=self.pictures,
            position=f"{self.seed}/{count}",
            fixed=fixed,
        )
        if self._turn is not None:
            self._turn.release()
        try:
            reply = self.client.complete(request)
        finally:
            if self._turn is not None:
                self._turn.acquire()
        self.usage.add(self.seat, settings.model, reply)
        self._links.append(request.link)
        self._written += len(reply.text)
        return reply

    def _note(self, kind: str, reply: Reply, tools: bool) -> None:
        reason, sample = reason_of(reply, tools)
        self.usage.seats[self.seat].count_unusable(kind, reason, sample)
        self.usage.unusable_limit.note_unusable(self.settings.model, reason, sample)


def joined(turns: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Merge adjacent messages of the same role."""
    chat: list[ChatMessage] = []
    for turn in turns:
        if chat and chat[-1].role == turn.role:
            chat[-1] = ChatMessage(turn.role, f"{chat[-1].content}\n\n{turn.content}")
        else:
            chat.append(turn)
    return tuple(chat)
