"""The registry of metrics: every number of a record is described, and any of them can be averaged by team."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs
from support.records import record_of

from collab_overcooked import registry
from collab_overcooked.metrics.registry import ANY_GAME, game_metrics, measure, metrics_of
from collab_overcooked.reporting.results import metric_card, score_records


def record(env_id: str, *steps: dict[str, Any], **further: Any) -> Any:
    common: dict[str, Any] = {
        "rewards": [1.0, 3.0],
        "messages": [{"agent": 0, "say": "hi", "plan": ""}],
        "tokens": [5, None],
    }
    team = {"agent_0": "a", "agent_1": "b"}
    limit = registry.load_game(env_id).max_cycles
    steps_of = [common | step for step in steps]
    return record_of(env_id=env_id, team=team, success=True, task="x", max_cycles=limit, steps=steps_of, **further)


EVENT = {
    "label": "",
    "event": "COOK",
    "reason": "OK",
    "worker": 0,
    "order": "Toast",
    "turn": 0,
    "advanced": True,
    "finished": True,
    "ruined": False,
}
RECORDS = (
    record("CuisineWorld-v0", {"orders": {"completed": ["dish"], "expired": [], "open": []}}),
    record("Overcooked-v0", {"events": [{"label": "", "event": "soup_delivery", "sparse": 20, "shaped": 5}, None]}),
    record(
        "KitchenRush-v0",
        {"events": [EVENT, EVENT | {"advanced": False, "finished": False}]},
        max_turns=4,
        scenario="easy",
        orders=[],
    ),
)


@pytest.mark.parametrize("result", RECORDS, ids=lambda record: record.env_id)
def test_every_number_in_a_record_is_described(result: Any) -> None:
    known = metrics_of(result.env_id)
    assert set(game_metrics(result.env_id).measure(result)) <= set(known)
    assert set(measure(result, list(known))) == set(known)


def test_collab_overcooked_describes_its_numbers(random_records: list[Any]) -> None:
    assert set(random_records[0].metrics) <= set(metrics_of("CollabOvercooked-v0"))
    assert measure(random_records[0], ["tes"]) == {"tes": random_records[0].metrics["tes"]}


def test_every_game_has_metrics_and_no_name_means_two_things() -> None:
    general = {metric.name for metric in ANY_GAME.metrics}
    for game in registry.GAMES:
        parts = [metric.name for metric in game_metrics(game.id).metrics]
        assert parts and len(set(parts)) == len(parts) and not general & set(parts)


def test_metrics_of_every_game_come_from_the_record_alone() -> None:
    result = RECORDS[1].replace(decisions={"agent_0": (3, 0.006), "agent_1": (1, 0.002)})
    assert measure(result, [metric.name for metric in ANY_GAME.metrics]) == {
        "success": 1.0,
        "steps": 1,
        "return": 2.0,
        "messages": 1,
        "tokens": 5,
        "decision_ms": 2.0,
    }
    assert measure(RECORDS[1], ["decision_ms"]) == {"decision_ms": None}


def test_unknown_metrics_are_refused_with_near_matches() -> None:
    with pytest.raises(ValueError, match="unknown metric 'soup'; did you mean soups"):
        measure(RECORDS[1], ["soup"])


def test_means_stand_in_a_table_with_a_column_for_each_seat() -> None:
    again = RECORDS[1].replace(steps=[structs.replace(RECORDS[1].steps[0], rewards=[3.0, 5.0])])
    (row,) = metric_card([RECORDS[1], again], ["return", "shaped"]).tables[0].to_dict()["rows"]
    assert (row["Game"], row["Team"], row["episodes"]) == ("Overcooked-v0", "agent_0=a all=b", 2)
    assert row["return"]["value"] == 3.0 and row["return"]["low"] == 2.0 and row["return"]["high"] == 4.0
    assert row["shaped_0"]["value"] == 5.0 and row["shaped_1"]["value"] == 0.0


def test_options_of_scoring_are_those_of_all_suites() -> None:
    with pytest.raises(ValueError, match="unknown option 'countin'; did you mean counting"):
        score_records([], {"countin": "steps"})
