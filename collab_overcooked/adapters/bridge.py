"""Language agents whose requests are answered by the caller of a seat, one at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

from collab_overcooked.policies.api import AgentView, Choice, Decision, Message, Question
from collab_overcooked.policies.llm.agents import LanguagePolicy
from collab_overcooked.policies.llm.budget import Exhausted, UsageMeter
from collab_overcooked.policies.llm.exchange import EndpointError, Reply, Request


class Closed(EndpointError):
    """The caller has left; the match ends without its remaining answers."""


@dataclass
class Waiting:
    """A question that waits for the caller."""

    request: Request
    seat: int
    seen: AgentView | None
    reply: SimpleQueue[Reply | None] = field(default_factory=SimpleQueue)


class Bridge:
    """Hand every request of the agents inside to the caller and wait for the answer."""

    def __init__(self) -> None:
        self.waiting: SimpleQueue[Waiting | None] = SimpleQueue()
        self.seat, self.seen = 0, None  # type: int, AgentView | None
        self.usage: UsageMeter | None = None  # of the team whose seat asks
        self.cut = ""  # limit of the caller that is used up; later requests are not answered
        self._asked: Waiting | None = None
        self._closed = False

    def complete(self, request: Request) -> Reply:
        """Return the caller's answer to a request.

        Raises:
            Closed: The caller has left.
            Exhausted: The caller's answer was cut short.
        """
        if not self.cut:
            self._asked = question = Waiting(request, self.seat, self.seen)
            self.waiting.put(question)
            reply = None if self._closed else question.reply.get()
            if reply is not None:
                return reply
        if self.cut and self.usage is not None:
            self.usage.exhausted = self.cut
            raise Exhausted(self.cut)
        raise Closed("the caller has left")

    def close(self) -> None:
        """Leave the question that waits, and all later ones, without an answer."""
        self._closed = True
        if self._asked is not None:
            self._asked.reply.put(None)


class OpenSeat(LanguagePolicy):
    """A language agent whose requests go to the caller, one at a time."""

    apart = False  # seats are asked one after the other, so that the order is fixed
    bridge: Bridge

    def act(self, seen: AgentView) -> Decision:
        self._ask_for(seen.seat, seen)
        return super().act(seen)

    def reply(self, seen: AgentView) -> Message | None:
        self._ask_for(seen.seat, seen)
        return super().reply(seen)

    def answer(self, question: Question) -> Choice:
        self._ask_for(self._seat, None)
        return super().answer(question)

    def _ask_for(self, seat: int, seen: AgentView | None) -> None:
        self.bridge.seat = seat
        self.bridge.seen = seen
        self.bridge.usage = self.shared.usage


class Worker:
    """Daemon thread that calls functions; unlike an executor's thread, it does not keep the program alive."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="seat client", daemon=True)
        self._thread.start()

    def submit(self, function: Callable[[], Any]) -> Future[Any]:
        """Call a function after all earlier ones."""
        future: Future[Any] = Future()
        self._calls.put((function, future))
        return future

    def end(self) -> None:
        """Let the thread end after the functions that were submitted."""
        self._calls.put(None)

    def close(self) -> None:
        """End the thread after the functions that were submitted."""
        self.end()
        self._thread.join()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            function, future = call
            try:
                result = function()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)
