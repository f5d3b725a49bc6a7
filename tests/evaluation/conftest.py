from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from run_fixtures import random_records, random_run, two_randoms  # noqa: F401

from collab_overcooked.policies.api import Decision, Message


class Scripted:
    """Says what it was given, in order; waits and stays silent when nothing is left."""

    def __init__(self, decisions: list[Any] = (), replies: list[Any] = (), name: str = "scripted") -> None:  # type: ignore[assignment]
        self.script, self.answers, self.name = list(decisions), list(replies), name
        self.views: list[Any] = []
        self.heard: list[Any] = []
        self.seeds: list[int] = []

    def reset(self, seat: int, info: Any, seed: int) -> None:
        self.seat, self.info = seat, info
        self.seeds.append(seed)
        self.decisions, self.replies = list(self.script), list(self.answers)

    def act(self, seen: Any) -> Any:
        self.views.append(seen)
        return self.decisions.pop(0) if self.decisions else "wait(1)"

    def reply(self, seen: Any) -> Message | None:
        self.heard.append(seen)
        return self.replies.pop(0) if self.replies else None


class Talker:
    """Follows the first reference; the chef asks for the assistant's part, which the assistant announces."""

    name = "talker"

    def reset(self, seat: int, info: Any, seed: int) -> None:
        self.seat, self.plans = seat, info.game.kitchen.tasks[info.task].references[0]
        self.asked, self.done = False, 0

    def act(self, seen: Any) -> Any:
        if self.seat == 1:
            return "wait(1)"
        if not self.asked:
            self.asked = True
            requests = "; ".join(f"request('{action}')" for action in self.plans[1])
            return Decision(
                plan=f"{requests}; wait(1)", say="Alice, <script>document.title='hurt'</script> & please", tokens=7
            )
        wanted = self.plans[0][self.done]
        if wanted not in seen.legal_actions:
            return "wait(1)"
        self.done += 1
        return wanted

    def reply(self, seen: Any) -> Message | None:
        return Message(1, "On my way", "; ".join(self.plans[1])) if self.seat == 1 else None


@pytest.fixture(scope="session")
def scripted() -> type[Scripted]:
    return Scripted


@pytest.fixture(scope="session")
def talker() -> Callable[[str], Talker]:
    return lambda spec: Talker()
