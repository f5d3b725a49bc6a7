from __future__ import annotations

import csv
import io
import json
import shutil

import pytest
from rich.console import Console
from support.records import record_of

from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.games.collab_overcooked.options import CollaborationOptions
from collab_overcooked.games.collab_overcooked.suite.scoring import (
    parse_levels,
    score_record,
    score_records,
    task_references,
)
from collab_overcooked.games.collab_overcooked.suite.tables import scorecard
from collab_overcooked.reporting.results import score_paths
from collab_overcooked.reporting.scorecard import csv_text, json_text

SEATS = range(2)
EGG = "pickup(egg,ingredient_dispenser)"


@pytest.fixture(scope="module")
def talks(tmp_path_factory, talker):
    """Records of a team that does its reference's part on two tasks of level 1, with one conversation each."""
    plan = plan_evaluation(
        "collab-overcooked", ["agent_0=talker", "agent_1=talker"], tasks=["boiled_egg", "boiled_mushroom"]
    )
    return evaluate(plan, tmp_path_factory.mktemp("talks"), workers=1, make=talker)


def test_scores_of_a_record_are_those_stored_in_it(random_records, talks):
    for record in [*random_records, *talks]:
        assert score_record(record) == record.metrics


def test_playing_the_reference_scores_one(talks):
    (table,) = score_records(talks)
    (row,) = table.levels
    assert (row.name, len(row.tasks), len(row.episodes)) == ("1", 2, 2)
    assert [row.value(name).value for name in ("success_rate", "pc", "ic", "rc")] == [1.0] * 4
    for name, expected in {"tes": 1.0, "efficiency": 1.0, "rouge_l": 1.0, "redundancy": 0.0}.items():
        assert [row.value(name, seat).value for seat in SEATS] == [expected] * 2
    assert row.value("timesteps").value == sum(record.timesteps for record in talks) / 2
    assert talks[0].metrics["return"] == [20.0, 20.0]
    assert talks[0].metrics["conversations"] == 1


@pytest.mark.parametrize(("preset", "chef"), [("fixed", [1.0, 1.0]), ("original", [11 / 13, 13 / 15])])
def test_the_log_of_the_original_preset_caps_tes_in_levels_5_and_6(tmp_path, preset, chef):
    """The reference itself is scored below 1, as in the public code: its plating is logged as a put (E2)."""
    tasks = ["mashed_broccoli_and_bean_patty", "sweet_potato_spinach_and_mushroom_patty"]
    plan = plan_evaluation("collab-overcooked", ["all=reference"], tasks=tasks, options={"preset": preset})
    (table,) = score_records(evaluate(plan, tmp_path, workers=1))
    assert [row.name for row in table.levels] == ["5", "6", "total"]
    assert [row.value("success_rate").value for row in table.levels] == [1.0] * 3
    assert [row.value("tes", 0).value for row in table.levels[:2]] == pytest.approx(chef)
    assert [row.value("tes", 1).value for row in table.levels[:2]] == [1.0, 1.0]


def test_conversations_can_be_counted_in_other_ways(talks):
    (table,) = score_records(talks, CollaborationOptions(denominator="required"))
    assert table.levels[0].value("ic").value == 1.0  # both required actions, requested in one conversation
    assert table.title.endswith("gamma 1.5, IC and RC per required action")
    (table,) = score_records(talks, CollaborationOptions(response="executed"))
    assert table.levels[0].value("rc").value == 1.0


def test_requests_that_gain_nothing_are_worth_nothing_by_the_papers_denominator():
    """By default, one request that is repeated in every conversation is right in all of them."""
    messages = [{"agent": 0, "conversation": 0, "say": "egg", "plan": f"request('{EGG}')"}]
    messages += [{"agent": 1, "conversation": 0, "say": "yes", "plan": EGG}]
    record = record_of(task="boiled_egg", max_cycles=26, steps=[{"messages": messages}] * 25)
    (table,) = score_records([record])
    row = table.levels[0]
    assert [row.value(name).value for name in ("success_rate", "ic", "rc")] == [0.0, 1.0, 1.0]
    assert [row.value(name).value for name in ("required_ic", "required_rc")] == [0.5, 0.0]
    card = scorecard(table)
    assert card.tables[1].title == "IC and RC per required action, by executed responses"
    assert [cell.value for cell in card.tables[1].rows[0][1:]] == [0.5, 0.0]
    (strict,) = score_records([record], CollaborationOptions("required", response="executed"))
    assert strict.title.endswith(card.tables[1].title) and len(scorecard(strict).tables) == len(card.tables) - 1


def test_levels_and_total_are_means_over_tasks(random_records, talks):
    tables_of_both = score_records([*random_records, *talks])
    assert [table.team["agent_0"] for table in tables_of_both] == ["random", "talker"]
    rows = tables_of_both[0].levels
    assert [(row.name, len(row.tasks), len(row.episodes)) for row in rows] == [
        ("1", 1, 2),
        ("2", 1, 2),
        ("total", 2, 4),
    ]
    assert rows[2].value("pc").value == pytest.approx(sum(row.value("pc").value for row in rows[:2]) / 2)
    assert [row.name for row in tables_of_both[0].by_task] == ["boiled_egg", "baked_pumpkin_slices"]
    assert "No agent opened a conversation; IC and RC are 0 by definition." in scorecard(tables_of_both[0]).notes


def test_tasks_have_the_collaborative_behaviours_of_table_3():
    """Source: table 3; in level 2 it counts a dish, which no task of the level needs."""
    printed = [(1, 0, 0, 1), (1, 1, 0, 1), (1, 1, 1, 2), (2, 1, 1, 2), (2, 2, 1, 3), (3, 3, 1, 4)]
    for task in task_references({}).tasks.values():
        counts = task.behaviours
        total = len(task.references[1][0])
        assert task.summary.endswith(f", collaborative actions {total}")
        ingredients, alice, dishes, bob = printed[task.level - 1]
        assert list(counts.values()) == [ingredients, dishes, bob, alice], task.name


def test_kitchens_without_references_are_scored_without_them(tmp_path):
    team = [f"agent_{seat}=random" for seat in range(3)]
    plan = plan_evaluation("collab-overcooked", team, tasks=["boiled_egg"], kitchen="three_agents")
    (record,) = records = evaluate(plan, tmp_path, workers=1)
    assert record.metrics["success"] is False
    assert record.metrics["tes"] is None
    (table,) = score_records(records)
    (row,) = table.levels
    assert row.value("success_rate").value == 0.0
    assert row.value("pc") is row.value("tes", 0) is row.value("ic") is row.value("timesteps") is None
    assert "| 1 | 1 | 0.0 (0–79) | – | – | – | – | – | – | – |" in scorecard(table).markdown()
    assert "no reference trajectories" in scorecard(table).markdown()
    assert printed(table).count(" – ") >= 6


def printed(table, **options):
    out = io.StringIO()
    scorecard(table).show(Console(file=out, width=80), **options)
    return out.getvalue()


def test_the_table_fits_a_terminal_of_80_columns(random_records):
    text = printed(score_records(random_records)[0])
    assert max(map(len, text.splitlines())) <= 80
    assert "all=random" in text
    assert "…" not in text + printed(score_records(random_records)[0], more=True, by_task=True)


def test_csv_and_json_hold_every_number(random_records):
    scored = score_records(random_records)
    cards = [scorecard(score) for score in scored]
    rows = list(csv.DictReader(io.StringIO(csv_text(cards))))
    assert [row["name"] for row in rows] == ["1", "2", "total", "boiled_egg", "baked_pumpkin_slices"]
    assert float(rows[2]["tes_1"]) == scored[0].levels[2].value("tes", 1).value
    assert rows[2]["timesteps"] == ""
    (decoded,) = json.loads(json_text(cards))
    levels, required, details, tasks, required_by_task, more_of_tasks = decoded["tables"]
    assert [len(table["rows"]) for table in (required, required_by_task)] == [3, 2]
    assert levels["rows"][0]["SR %"]["high"] == scored[0].levels[0].value("success_rate").high
    assert details["rows"][2]["ROUGE-L 1 %"]["value"] == scored[0].levels[2].value("rouge_l", 1).value
    assert [len(table["rows"]) for table in (levels, details, tasks, more_of_tasks)] == [3, 3, 2, 2]
    assert decoded["data"][2]["tes_1"]["value"] == scored[0].levels[2].value("tes", 1).value
    assert decoded["team"] == "all=random"


def test_folders_and_files_are_scored_together(random_run, tmp_path):
    copied = shutil.copy(random_run / "records.jsonl", tmp_path / "again.jsonl")
    (card,) = score_paths([random_run, tmp_path / copied])
    assert card.tiles.to_dict()["rows"][0]["Episodes"] == 8


@pytest.mark.parametrize(
    ("text", "levels"), [("1-6", [1, 2, 3, 4, 5, 6]), ("1,3", [1, 3]), ("4-5, 2", [2, 4, 5]), ("6", [6])]
)
def test_levels_are_read(text, levels):
    assert parse_levels(text, range(1, 7)) == levels


@pytest.mark.parametrize("text", ["7", "0-2", "", "a", "3-1", "1-", "-2", "1;2", "4-5,2,4", "1,1"])
def test_wrong_levels_are_refused(text):
    with pytest.raises(ValueError, match=r"levels: .*"):
        parse_levels(text, range(1, 7))


def test_the_papers_vocabularies_come_out_of_the_kitchen_file(golden):
    from collab_overcooked.games.collab_overcooked.suite.collaboration import kitchen_vocabularies

    facts = json.loads((golden.parent / "spec" / "collab_overcooked" / "tasks.json").read_text())
    recipes = [recipe["output"] for kind, table in facts["synthesis"].items() if kind != "none" for recipe in table]
    reference = kitchen_vocabularies(facts["raw_ingredients"] + recipes)
    assert task_references({}).vocabularies == reference
    assert [len(reference[seat]) for seat in (0, 1)] == [332, 538]
