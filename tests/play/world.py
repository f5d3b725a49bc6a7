"""Sessions for tests, small and without waiting, and players who answer by a function."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.play.people import Person, SendQueue
from collab_overcooked.play.session import Session

QUICK = {"countdown": 0.0, "tick": 0.03, "pace": 0.0}
KITCHEN = {"suite": "overcooked", "layouts": "cramped_room", "max_cycles": 12}
ESCAPE = {"suite": "collab-escape", "episodes": 1}


def matches(team: Sequence[str], *, suite: str, seed: int = 0, **options: Any) -> tuple[Any, ...]:
    plan = plan_evaluation(suite, team, seed=seed, **options)
    return tuple(match for match in plan.matches if match.team == plan.matches[0].team)[:1]


class Player:
    """Somebody at the other end of a send queue who answers what `choose` returns."""

    def __init__(self, session: Session, person: Person, choose: Callable[[dict[str, Any]], dict[str, Any] | None]):
        self.session, self.person, self.choose = session, person, choose
        self.got: list[dict[str, Any]] = []
        self.send_queue = SendQueue("test")

    async def run(self) -> None:
        self.session.connect(self.person, self.send_queue)
        while (message := await self.send_queue.get()) is not None:
            self.got.append(message)
            await asyncio.sleep(0)
            if message["type"] == "state" and message["state"] == "closed":
                return
            answer = self.choose(message)
            if answer is not None:
                self.session.receive(self.person, answer)

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        return [message for message in self.got if message["type"] == kind]


def first_legal(message: dict[str, Any]) -> dict[str, Any] | None:
    """Take the first action of the menu, answer every word with nothing, be ready at once."""
    if message["type"] == "state" and message["state"] == "ready" and not all(message["ready"].values()):
        return {"type": "ready"}
    if message["type"] != "ask":
        return None
    if message["kind"] == "act":
        return {"type": "act", "turn": message["turn"], "plan": message["actions"][0], "say": ""}
    return {"type": "reply", "turn": message["turn"], "plan": "", "say": "", "last": False}


def play(session: Session, choose: Any = first_legal) -> list[Player]:
    """Play a session with everybody answering by `choose`, a function for all or one for each person."""
    players = [
        Player(session, person, choose[i] if isinstance(choose, (list, tuple)) else choose)
        for i, person in enumerate(session.people)
    ]

    async def together() -> None:
        tasks = [asyncio.create_task(player.run()) for player in players]
        await asyncio.wait_for(session.run(), 120)
        await asyncio.wait(tasks, timeout=5)

    asyncio.run(together())
    return players


class Time:
    """Seconds that pass when somebody sleeps, and each sleep lasts too long."""

    def __init__(self, late: float = 0.0) -> None:
        self.seconds, self.late = 100.0, late

    def now(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds + self.late


GAMES: dict[str, tuple[str, dict[str, Any]]] = {
    "kitchen": ("CollabOvercooked-v0", {"task": "boiled_egg"}),
    "level": ("CuisineWorld-v0", {"level": "level_3", "agents": 2}),
    "yard": ("CraftKitchen-v0", {"level": "field"}),
    "layout": ("Overcooked-v0", {"layout": "cramped_room"}),
    "scenario": ("KitchenRush-v0", {"scenario": "easy"}),
    "home": ("Housework-v0", {"agents": 2}),
    "house": ("Transport-v0", {}),
    "capture": ("CollabCapture-v0", {}),
    "escape": ("CollabEscape-v0", {}),
}


def lines(session: Session, name: str) -> list[dict]:
    """Return the objects of a file of lines in a session's folder; none without the file."""
    path = session.folder.path / name
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def ready_after(messages: list[dict], start: int) -> dict:
    """Return the first message after one at which everybody is ready."""
    return next(m for m in messages[start:] if m["type"] == "state" and all(m["ready"].values()))
