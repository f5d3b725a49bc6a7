"""Policies beside people: they think in threads, and in real time the game goes on without a slow one."""

from __future__ import annotations

import asyncio
from typing import Any

from collab_overcooked.policies.api import AgentView, Decision, Policy, PolicyBase
from collab_overcooked.policies.registry import PERSON
from collab_overcooked.policies.torch_threads import one_torch_thread
from collab_overcooked.runner.decisions import Answer, Ask


class PersonSeat(PolicyBase):
    """Placeholder of a person in a team; the driver never asks it."""

    name = PERSON

    def reset(self, seat: int, info: Any, seed: int) -> None:
        """Do nothing."""

    def act(self, seen: AgentView) -> Decision:
        """Refuse, as people are asked by the driver."""
        raise RuntimeError("a person is asked by the driver of a session")


class AsyncPolicy:
    """A policy whose answers are waited for as long as the clock allows.

    Args:
        policy: Asked in a thread, one question at a time.

    Attributes:
        waits: Number of decisions in which the seat idled, as the policy was still computing.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy, self.waits = policy, 0
        self._task: asyncio.Task[Any] | None = None
        self._kind = ""

    @property
    def busy(self) -> bool:
        """True while the policy computes an earlier answer."""
        return self._task is not None and not self._task.done()

    async def answer(self, ask: Ask, patience: float | None) -> Answer:
        """Return the policy's answer, or an idle one after ``patience`` seconds.

        Args:
            ask: The question.
            patience: Seconds to wait for an answer before the seat idles; None waits forever.
        """
        if patience is None:
            return await asyncio.to_thread(self._ask, ask)
        if self._task is not None and self._task.done() and self._kind != ask.kind:
            self._task = None  # a reply that is no longer awaited
        if self._task is None:
            self._task = asyncio.create_task(asyncio.to_thread(self._ask, ask))
            self._kind = ask.kind
            await asyncio.wait({self._task}, timeout=patience)
        if not self._task.done() or self._kind != ask.kind:
            self.waits += ask.kind == "act"
            return Decision(action=ask.seen.idle_action) if ask.kind == "act" else None
        answer = self._task.result()
        self._task = None
        return answer if ask.kind == "reply" else _fitting(answer, ask)

    @one_torch_thread()
    def _ask(self, ask: Ask) -> Any:
        return self.policy.act(ask.seen) if ask.kind == "act" else self.policy.reply(ask.seen)


def _fitting(answer: Any, ask: Ask) -> Answer:
    """Return an answer, or idling where it is an action that has become impossible since it was asked for."""
    action = answer.action if isinstance(answer, Decision) else answer
    if isinstance(action, str) or action is None or (0 <= int(action) < len(ask.seen.mask) and ask.seen.mask[action]):
        fine: Answer = answer
        return fine
    return Decision(action=ask.seen.idle_action)
