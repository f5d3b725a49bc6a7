"""Published numbers of the household games are those that the papers print."""

from __future__ import annotations

from support.records import record_of

from collab_overcooked import registry
from collab_overcooked.games.house.suite import published
from collab_overcooked.reporting.plan_trees import COSTS, EPISODE_COSTS

AVERAGES = {  # table 1 of CoTS, with oracle perception
    "RHP alone": 50,
    "RHP pair": 75,
    "MAT": 15,
    "CoELA GPT-3.5": 73,
    "RoCo GPT-3.5": 77,
    "CaPo GPT-3.5": 84,
    "CoTS GPT-3.5": 82,
    "CoELA GPT-4": 85,
    "RoCo GPT-4": 87,
    "CaPo GPT-4": 89,
    "CoTS GPT-4": 93,
}


def test_averages_are_printed_ones_and_not_recomputed():
    assert {who: numbers[-1] for who, numbers in published()["transport"].items()} == AVERAGES
    suite = registry.load_suite("transport")
    rows = suite._published()[0].rows
    assert {row[0]: row[-1] for row in rows} == AVERAGES
    assert dict((row[0], row[1:3]) for row in rows)["CoTS GPT-4"] == (91, 94), "stuff and food"
    for stuff, food, average in published()["transport"].values():
        assert abs(average - (stuff + food) / 2) <= 0.5, "as far as rounding goes"


def test_food_and_stuff_have_rows_beside_all() -> None:
    suite = registry.load_suite("transport")
    tasks = [(task, f"{task}, {rooms} rooms") for task in ("food", "stuff") for rooms in (6, 8)]
    options = {"env_id": "Transport-v0", "max_cycles": 3000, "team": {"agent_0": "random", "agent_1": "random"}}
    records = [
        record_of(
            **options, task=name, family=task, wanted=10, goal={}, env_kwargs={"task": task, "rooms": int(name[-7])}
        )
        for task, name in tasks
    ]
    (card,) = suite.score(records, None)
    assert [row[0] for row in card.tables[0].rows] == [name for _, name in tasks] + ["all food", "all stuff", "all"]
    assert any("MAT" in note for note in card.notes)
    (card,) = suite.score(records[:2], None)
    assert [row[0] for row in card.tables[0].rows][-1] == "all" and len(card.tables[0].rows) == 3


def test_references_are_of_single_tasks():
    suite = registry.load_suite("transport")
    scores = {reference.name: reference.scores for reference in suite.references(suite.benchmark("full"))}
    cots = next(score for name, score in scores.items() if name.startswith("CoTS GPT-4"))
    assert {name: round(100 * cot.value) for name, cot in cots.items()} == {"stuff": 91, "food": 94}


def test_numbers_of_people_and_costs_of_plans_are_there():
    message = published()
    people = {
        who: (message["housework"][f"{who} GPT-4 with a person"], *entry.values())
        for who, entry in message["people"].items()
    }
    assert people == {"CoELA": (48, 5.7, 5.4, 6.0), "CoTS": (43, 6.3, 6.1, 6.4)}
    assert message["plan_update"]["housework"]["ToT (DFS)"] == {"characters": 10568, "seconds": 32.4}
    assert message["plan_update"]["housework"]["CoTS"] == {"characters": 7923, "seconds": 26.8}


def test_costs_of_plan_updates_and_ablations_stand_in_tables() -> None:
    suite = registry.load_suite("housework")
    costs = [f"{cost} per episode" for cost in EPISODE_COSTS] + [f"{cost} per plan update" for cost in COSTS]
    assert costs == [column.name for column in suite.columns][-5:]
    assert "characters" not in [column.name for column in suite.columns]  # of talk, which a search does not send
    cost = suite._published()[1]
    assert dict((row[0], row[1:]) for row in cost.rows)["CoTS"] == (7923, 26.8)
    parts = registry.load_suite("transport")._published()[1]
    assert [row[3] for row in parts.rows] == [89, 90, 88, 93]
