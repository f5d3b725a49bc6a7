"""Fixtures of tests that play: policies with a script, a team that talks, and a run of random policies."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
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


@pytest.fixture(scope="session")
def two_randoms() -> list[str]:
    return ["agent_0=random", "agent_1=random"]


@pytest.fixture(scope="session")
def random_run(tmp_path_factory: pytest.TempPathFactory, two_randoms: list[str]) -> Path:
    """A finished run folder; tests copy it before they change it."""
    folder = tmp_path_factory.mktemp("runs") / "random"
    plan = plan_evaluation(
        "collab-overcooked", two_randoms, tasks=["boiled_egg", "baked_pumpkin_slices"], episodes=2, seed=3
    )
    evaluate(plan, folder, workers=1)
    return folder


@pytest.fixture
def random_records(random_run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (random_run / "records.jsonl").read_text().splitlines()]
