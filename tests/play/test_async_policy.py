"""Policies beside people: late answers, idle steps, and answers that no longer fit."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from play.world import first_legal, play

from collab_overcooked.play.async_policy import AsyncPolicy, PersonSeat
from collab_overcooked.policies.api import Decision, PolicyBase
from collab_overcooked.policies.specs import make_known_policy
from collab_overcooked.runner.decisions import Ask


class Waiting(PolicyBase):
    """Answers by the texts or actions of a list, each once its event is set."""

    name = "waiting"

    def __init__(self, *answers: Any) -> None:
        self.answers, self.ready = list(answers), threading.Event()

    def reset(self, seat: int, info: object, seed: int) -> None:
        """Do nothing."""

    def act(self, seen: Any) -> Any:
        assert self.ready.wait(60)
        return self.answers.pop(0)


class Seen:
    """What a policy is shown: the third action is refused."""

    mask = (True, True, False)
    idle_action = 1


ACT = Ask(0, "act", Seen())


def test_a_late_decision_idles_and_its_answer_counts_the_next_time() -> None:
    policy = Waiting(0)
    late = AsyncPolicy(policy)

    async def story() -> list[Any]:
        first = await late.answer(ACT, 0.0)
        assert late.busy
        policy.ready.set()
        await asyncio.wait({late._task})
        return [first, await late.answer(ACT, 0.0)]

    idle, answer = asyncio.run(story())
    assert (idle.action, answer, late.waits) == (1, 0, 1)


@pytest.mark.parametrize(("answer", "played"), [(0, 0), (Decision(action=2), 1), (2, 1), (7, 1), ("wait", "wait")])
def test_an_action_that_has_become_impossible_is_replaced_by_idling(answer: Any, played: Any) -> None:
    policy = Waiting(answer)
    policy.ready.set()
    given = asyncio.run(AsyncPolicy(policy).answer(ACT, 60.0))
    assert (given.action if isinstance(given, Decision) else given) == played


def test_a_person_is_never_asked_as_a_policy() -> None:
    with pytest.raises(RuntimeError, match="driver"):
        PersonSeat().act(Seen())  # type: ignore[arg-type]


def test_steps_in_which_a_policy_was_still_computing_are_counted(make_session) -> None:
    done = threading.Event()

    def made(spec: str) -> Any:
        policy = make_known_policy(spec)
        act = policy.act

        def slow(seen: Any) -> Any:
            if session.state == "playing":
                done.wait(60)
            return act(seen)

        policy.act = slow
        return policy

    session = make_session(["agent_0=person", "agent_1=greedy"], make=made)

    def press(message: dict[str, Any]) -> dict[str, Any] | None:
        if message["type"] == "frame" and message["timestep"] >= 5:
            done.set()
        return {"type": "tap", "key": "left"} if message["type"] == "frame" else first_legal(message)

    play(session, press)
    waits = session.records[0].people["agent_0"].partner_waits
    assert 4 <= waits <= len(session.records[0].steps)
