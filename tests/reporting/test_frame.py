"""Records as a DataFrame with a row for each seat."""

import math

import pytest

import collab_overcooked as co
from collab_overcooked.metrics.registry import measure

pd = pytest.importorskip("pandas", reason="needs pandas")


def test_seats_have_their_own_metrics_and_those_of_the_episode(tmp_path):
    options = {"episodes": 2, "options": {"max_cycles": 30}, "workers": 1}
    team = ["agent_0=greedy", "agent_1=random"]
    records = co.evaluate("overcooked", tmp_path / "a", team, layouts="cramped_room", **options)
    frame = co.frame(tmp_path / "a")
    assert list(frame["agent"]) == ["agent_0", "agent_1"] * len(records)
    assert list(frame["policy"]) == [spec for record in records for spec in record.specs]
    shaped = [value for record in records for value in measure(record, ["shaped"])["shaped"]]
    assert list(frame["shaped"]) == shaped and len(set(shaped)) > 1
    assert list(frame["steps"]) == [30] * len(frame)
    assert set(frame["variant"]) == {"Overcooked-v0, max_cycles 30"} and set(frame["run"]) == {str(tmp_path / "a")}
    assert frame["decision_ms"].dtype == float and frame["decision_ms"].isna().all(), "not measured here"
    assert co.frame(records).drop(columns="run").equals(frame.drop(columns="run"))


def test_runs_of_several_games_share_a_frame(tmp_path):
    options = {"workers": 1}
    kitchen = co.evaluate("overcooked", None, layouts="cramped_room", episodes=1, options={"max_cycles": 10}, **options)
    asked = co.evaluate("questions", None, ["random"], items="overcooked-p001-own,overcooked-p002-own", **options)
    frame = co.frame(kitchen, asked)
    assert set(frame["suite"]) == {"overcooked", "questions"}
    answers = frame[frame["suite"] == "questions"]
    assert answers["success"].isin([0.0, 1.0]).all() and answers["soups"].isna().all()
    assert math.isnan(frame["success"].iloc[0]), "an episode of soups cannot succeed as a whole"


def test_a_damaged_record_is_named(tmp_path):
    (tmp_path / "records.jsonl").write_text('{"schema": 1}\n')
    with pytest.raises(ValueError, match=r"records\.jsonl, line 1: "):
        co.frame(tmp_path)
