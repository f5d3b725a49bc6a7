"""Policies decide once before people wait for them."""

from __future__ import annotations

from typing import Any

import pytest
from play.world import ESCAPE, play

from collab_overcooked.play import warming
from collab_overcooked.policies.specs import make_known_policy
from collab_overcooked.runner.replay import first_difference


@pytest.mark.parametrize("leave", ["idle", "random"])
def test_every_policy_of_a_match_decides_before_anybody_is_ready(make_session, leave) -> None:
    asked = list[tuple[str, str]]()

    def made(spec: str) -> Any:
        policy = make_known_policy(spec)
        act = policy.act

        def noting(seen: Any) -> Any:
            asked.append((spec, session.state))
            return act(seen)

        policy.act = noting
        return policy

    session = make_session(["agent_0=person", "agent_1=greedy"], make=made, how={"on_leave": leave}, **ESCAPE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warming, "make_known_policy", made)
        play(session)
    before = [spec for spec, state in asked if state == "waiting"]
    assert set(before) == {"greedy"} | ({leave} - {"idle"}) and ("greedy", "playing") in asked
    assert first_difference(session.records[0]) is None
