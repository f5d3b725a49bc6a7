"""Sessions with a model: it is asked, asked again if its answer cannot be read, and accounted for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from collab_overcooked.policies.api import EnvInfo
from collab_overcooked.policies.llm.answers import Unreadable, shorten, visible
from collab_overcooked.policies.llm.budget import UsageMeter
from collab_overcooked.policies.llm.client import ChatMessage, Client, Request, UnusableReply
from collab_overcooked.policies.llm.prompts import Prompts
from collab_overcooked.policies.llm.settings import AgentSettings

T = TypeVar("T")
MAX_ECHO = 2_000  # characters of an unreadable answer that are shown to its writer


class ModelSession:
    """One seat's model, with its memory of what was spent.

    Args:
        settings: Model and sampling.
        client: Answers.
        usage: What the team used in the episode.
        prompts: Templates.
        seat: Whose session it is.
        info: The episode.
        seed: Of the seat's policy; equal questions in episodes with other seeds are drawn anew.
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
    ) -> None:
        self.settings, self.client, self.usage, self.prompts = settings, client, usage, prompts
        self.seat, self.info, self.seed = seat, info, seed
        self._asked: Counter[tuple[ChatMessage, ...]] = Counter()
        self._tokens: int | None = None
        self._links: list[str] = []
        usage.open(seat, settings.model, settings.price)

    def take_cost(self) -> dict[str, Any]:
        """Return what was asked since the last call of this: ``tokens``, None if nothing, and ``exchanges``."""
        cost = {"tokens": self._tokens, "exchanges": tuple(self._links)}
        self._tokens, self._links = None, []
        return cost

    def ask(self, turns: Sequence[ChatMessage], read: Callable[[str], T], schema: Mapping[str, Any] | None = None) -> T:
        """Ask until an answer can be read, at most ``settings.repairs`` times more than once.

        Args:
            turns: The chat; neighbours of one role are sent as one message, as some models insist on turns.
            read: Finds what was asked for; raises Unreadable with a complaint for the model if it is not there.
            schema: Form of the answer, where the endpoint can make sure of it.

        Returns:
            What ``read`` found.

        Raises:
            Unusable: If there is none after all, or the episode's budget is used up.
            EndpointError: If the endpoint does not answer at all.
        """
        chat = _joined(turns)
        for _ in range(self.settings.repairs + 1):
            text, finish = self._complete(chat, schema)
            if finish == "rejected":  # the same question will not do better
                break
            try:
                return read(text)
            except Unreadable as complaint:
                self._note(finish if finish != "stop" else "unreadable")
                echo = shorten(visible(text), MAX_ECHO) or "(no answer)"
                chat = _joined([*chat, ChatMessage("assistant", echo), ChatMessage("user", str(complaint))])
        raise UnusableReply

    def _complete(self, chat: tuple[ChatMessage, ...], schema: Mapping[str, Any] | None) -> tuple[str, str]:
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
            moment=f"{self.seed}/{count}",
        )
        reply = self.client.complete(request)
        self.usage.add(self.seat, settings.model, reply)
        self._tokens = (self._tokens or 0) + reply.tokens
        self._links.append(request.link)
        if reply.finish == "rejected":
            self._note("rejected")
        return reply.text, reply.finish

    def _note(self, kind: str) -> None:
        self.usage.seats[self.seat].note(kind)


def _joined(turns: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    chat: list[ChatMessage] = []
    for turn in turns:
        if chat and chat[-1].role == turn.role:
            chat[-1] = ChatMessage(turn.role, f"{chat[-1].content}\n\n{turn.content}")
        else:
            chat.append(turn)
    return tuple(chat)
