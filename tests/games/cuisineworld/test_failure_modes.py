"""The failure modes of the paper's appendix E.5: small records, and a played one in the tables."""

from __future__ import annotations

from typing import Any

from support.records import record_of

from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.games.cuisineworld.suite.scoring import failure_modes, score_records
from collab_overcooked.games.cuisineworld.suite.tables import scorecard


def step(opened: list[Any], completed: tuple[str, ...] = (), expired: tuple[str, ...] = (), **more: Any) -> Any:
    orders = {"completed": list(completed), "expired": list(expired), "open": opened}
    return {"orders": orders, **more}


def count(*steps: Any) -> dict[str, int]:
    return failure_modes(record_of(env_id="CuisineWorld-v0", steps=list(steps)))


def test_an_urgent_order_that_is_lost_after_a_later_one_was_served_is_passed_over() -> None:
    begin = [["soup", 2], ["salad", 9]]
    served = step([["soup", 1]], completed=("salad",))
    lost = step([], expired=("soup",))
    assert count(step(begin), served, step([["soup", 0]]), lost)["passed_over"] == 1
    assert count(step(begin), step([["salad", 8]], completed=("soup",)))["passed_over"] == 0
    waited = step([["soup", 1], ["salad", 8]]), step([["soup", 0], ["salad", 7]])
    assert count(step(begin), *waited, step([["salad", 6]], expired=("soup",)))["passed_over"] == 0, (
        "nothing was served"
    )
    assert count(step([["soup", None], ["salad", 3]]), step([["soup", None]], completed=("salad",)))["passed_over"] == 0


def test_orders_of_one_name_are_told_apart_by_their_time() -> None:
    begin = [["soup", 1], ["soup", 5]]
    first = step([["soup", 4], ["tea", 9]], completed=("soup",))
    assert count(step(begin), first, step([["soup", 3]], completed=("tea",)))["passed_over"] == 0
    late = [step([["soup", left]]) for left in (2, 1, 0)]
    lost = count(step(begin), first, step([["soup", 3]], completed=("tea",)), *late, step([], (), ("soup",)))
    assert lost == {"failed": 1, "passed_over": 1, "occupied": 0, "crowded": 0}


def test_occupied_tools_and_agents_sent_to_one_tool_are_counted() -> None:
    codes = ("PUT_OCCUPIED+FULL", "NOT_THERE", "GET_OCCUPIED")
    errors = [{"agent": 0, "action": "", "code": code, "message": ""} for code in codes]
    there = {"label": "", "event": "GOTO", "place": "pan0"}
    moves = [
        step([], events=[there, there, there]),
        step([], events=[there, {"label": "", "event": "GOTO", "place": "pan1"}]),
    ]
    shared = step([], events=[{"label": "", "event": "GOTO", "place": "storage0"}] * 2, errors=errors)
    assert count(*moves, shared) == {"failed": 0, "passed_over": 0, "occupied": 2, "crowded": 2}


def test_the_table_has_a_row_for_each_team_and_pace(tmp_path: Any) -> None:
    plan = plan_evaluation("cuisineworld", ["all=random"], levels="0", agents=(2, 3), alphas=(1.0,), episodes=1)
    records = evaluate(plan, tmp_path, workers=1)
    (result,) = score_records(records)
    table = scorecard("cuisineworld", result).tables[-1]
    assert table.detail and [row[0] for row in table.rows] == ["2 agents, alpha 1", "3 agents, alpha 1"]
    expired = [record.metrics["failed"] for record in records]
    assert [row[2] for row in table.rows] == expired and expired[0] > 0
    assert all(row[5] > 0 for row in table.rows), "agents at random meet at tools"
