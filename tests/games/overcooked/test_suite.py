"""The suite of Overcooked: what is played, how it is scored, and which published numbers stand beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.records import record_of

from collab_overcooked import registry
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.games.overcooked.scoring import OvercookedEvent, published, published_beside
from collab_overcooked.games.overcooked.suite import parse_layouts
from collab_overcooked.io.structs import convert
from collab_overcooked.metrics.registry import measure

HORIZON = 60
SUITE = registry.load_suite("overcooked")


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Two episodes in both orders of seats."""
    plan = plan_evaluation(
        "overcooked",
        ["agent_0=greedy", "agent_1=random"],
        layouts="cramped_room",
        episodes=2,
        max_cycles=HORIZON,
        seed=1,
    )
    return evaluate(plan, tmp_path_factory.mktemp("mixed"), workers=1)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """One episode of 400 steps on two layouts."""
    plan = plan_evaluation("overcooked", ["all=greedy"], layouts="cramped_room,asymmetric_advantages_llmco")
    return evaluate(plan, tmp_path_factory.mktemp("usual"), workers=1)


def test_different_policies_play_both_orders_of_seats(mixed: list[Any]) -> None:
    assert [record.task for record in mixed] == ["cramped_room"] * 2 + ["cramped_room, seats swapped"] * 2
    assert [list(record.team.values()) for record in mixed[::2]] == [["greedy", "random"], ["random", "greedy"]]
    assert mixed[0].seed == mixed[2].seed, "both orders begin alike"
    assert {record.timesteps for record in mixed} == {HORIZON}


def test_one_policy_plays_one_order() -> None:
    plan = plan_evaluation("overcooked", ["all=greedy"], episodes=3)
    assert len(plan.matches) == 3 * len(parse_layouts(None))


def test_scores_are_what_deliveries_paid(usual: list[Any]) -> None:
    for record in usual:
        numbers = record.metrics
        assert numbers["score"] == sum(step.rewards[0] for step in record.steps) == 20 * numbers["soups"]
        assert all(entry > 0 for entry in numbers["shaped"])


def test_a_record_without_payments_is_refused() -> None:
    with pytest.raises(ValueError, match="sparse is missing"):
        convert({"event": "soup_delivery", "label": "deliver"}, OvercookedEvent)


def test_published_numbers_stand_in_the_rows_of_their_own_maps(usual: list[Any]) -> None:
    (card,) = SUITE.score(usual, None)
    (table,) = card.tables
    assert [column.name for column in table.columns if column.published] == ["PPO_SP", "PBT", "LLM-Co"]
    assert [row[4:] for row in table.rows] == [("198.8 ± 4.06", "216.9 ± 1.31", "220"), (None, None, "280")]
    assert any("9x5" in note for note in card.notes)


@pytest.mark.parametrize("change", ["steps", "dynamics", "team"])
def test_published_numbers_stand_beside_equal_games_only(usual: list[Any], change: str) -> None:
    record = usual[0].replace()
    if change == "steps":
        record.max_cycles = 200
    elif change == "dynamics":
        record.env_kwargs = {**record.env_kwargs, "dynamics": "explicit"}
    else:
        record.team = {"agent_0": "greedy", "agent_1": "random"}
    (card,) = SUITE.score([record], None)
    assert not any(column.published for column in card.tables[0].columns)


def test_both_orders_of_seats_are_one_result(mixed: list[Any]) -> None:
    (card,) = SUITE.score(mixed, None)
    assert card.team == "agent_0=greedy all=random"
    assert card.title == "Overcooked-v0, max_cycles 60"
    assert [(row.task, len(row.records)) for row in SUITE.rows(mixed)] == [
        ("cramped_room", 2),
        ("cramped_room, seats swapped", 2),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ({"layouts": "cramped"}, "did you mean cramped_room"),
        ({"episodes": 0}, "episodes must be an integer of at least 1"),
        ({"max_cycles": 0}, "max_cycles must be an integer of at least 1"),
        ({"options": {"layout": "locked"}}, "'layout' is set by --layouts"),
        ({"options": {"dynamic": "auto"}}, "unknown option"),
        ({"options": {"dynamics": "slow"}}, "unknown dynamics"),
        ({"options": {"agents": 3}, "team": ["agent_0=greedy"]}, "has 3 seats"),
    ],
)
def test_mistakes_are_told_before_anything_is_played(text: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan_evaluation("overcooked", **{"team": ["all=greedy"], **text})


def test_two_layouts_of_one_name_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("extends: cramped_room\nname: cramped_room\n")
    with pytest.raises(ValueError, match="are both called 'cramped_room'"):
        plan_evaluation("overcooked", ["all=greedy"], layouts=f"cramped_room,{file}")


def test_folders_and_procedural_layouts_are_played(tmp_path: Path) -> None:
    folder = tmp_path / "held_out"
    folder.mkdir()
    for name in ("b", "a"):
        (folder / f"{name}.yaml").write_text(f"extends: cramped_room\nname: {name}\n")
    (folder / "notes.txt").write_text("no layout")
    plan = plan_evaluation(
        "overcooked",
        ["all=greedy"],
        layouts=f"{folder},cramped_room,procedural",
        episodes=2,
        max_cycles=HORIZON,
        options={"generator": {"seed": 9, "count": 3}},
    )
    assert [match.task for match in plan.matches[::2]] == ["a", "b", "cramped_room", "procedural"]
    records = evaluate(plan, tmp_path / "out", workers=1)
    drawn = records[-1].env_kwargs
    assert drawn["layout"] == "procedural" and drawn["generator"] == {"seed": 9, "count": 3}
    assert "generator" not in plan.matches[0].env_kwargs
    cards = SUITE.score(records, None)
    tasks = [[row[0] for row in card.tables[0].rows] for card in cards]
    assert [[name.split(" ")[0] for name in names] for names in tasks] == [["a", "b", "cramped_room"], ["procedural"]]
    assert "generator" in cards[1].title


def test_layouts_that_are_no_layouts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"has no file that ends in \.yaml, \.yml, \.layout"):
        plan_evaluation("overcooked", ["all=greedy"], layouts=str(tmp_path))
    with pytest.raises(ValueError, match="needs 'procedural' among --layouts, these are cramped_room"):
        plan_evaluation("overcooked", ["all=greedy"], layouts="cramped_room", options={"generator": {"seed": 1}})


def test_published_numbers_are_the_printed_ones() -> None:
    reference = published()
    assert reference["self_play"]["PBT"]["coordination_ring"] == [173.8, 18.27]
    assert reference["self_play"]["LLM-Co"]["locked"] == [220, None]
    assert "asymmetric_advantages" not in reference["self_play"]["LLM-Co"], "it played the wider map"
    assert reference["with_human_proxy"]["PPO_BC"][0]["asymmetric_advantages"] == [72.6, 19.44]


def test_table_2_of_the_paper_stands_beside_teams_with_a_stand_in_for_people(usual: list[Any]) -> None:
    """The row of a policy in seat 1 shows what the paper's agents reached in seat 1."""
    first = usual[0].replace(team={"agent_0": "greedy", "agent_1": "proxy:bc"})
    swapped = usual[0].replace(task="cramped_room, seats swapped", team={"agent_0": "proxy:bc", "agent_1": "greedy"})
    (card,) = SUITE.score([first, swapped], None)
    (table,) = card.tables
    heads = [column.name for column in table.columns if column.published]
    assert heads == ["BC + proxy", "PPO_BC + proxy", "LLM-Co + proxy"]
    assert [row[4:] for row in table.rows] == [
        ("103.5 ± 3.38", "156.4 ± 1.48", "160"),
        ("110 ± 3.39", "163.9 ± 1.61", "180"),
    ]
    assert any("clone of people's games" in note for note in card.notes)


@pytest.mark.parametrize(("switches", "name", "score"), [("", "without", 160.0), ("?helper=on", "with", 240.0)])
def test_table_3_stands_beside_language_models_with_and_without_the_directive(
    switches: str, name: str, score: float
) -> None:
    reference = published_beside([f"llm:m{switches}"] * 2, "locked")
    assert reference[f"LLM-Co {name} helper"] == (score, None)
    assert not any("helper" in agent for agent in published_beside(["greedy"] * 2, "locked"))
    assert ("LLM-Co" in reference) == (name == "with"), "table 4 was played with the directive"


@pytest.mark.parametrize(("soups", "outcome"), [(0, "0 soups"), (1, "1 soup"), (2, "2 soups")])
def test_the_outcome_counts_soups_in_words(soups: int, outcome: str) -> None:
    events = [{"label": "", "event": "soup_delivery", "sparse": 20, "shaped": 0}, None]
    record = record_of(env_id="Overcooked-v0", steps=[{"events": events}] * soups)
    assert registry.load_suite("overcooked").outcome(record) == f"{outcome}, score {20 * soups}"


def test_frozen_steps_are_those_of_a_long_directive_and_stand_beside_directives_alone() -> None:
    texts = ["wait", "put in c0", *["continue"] * 22, "wait", "put in c0", *["continue"] * 19]
    steps = [{"action_texts": [text, "wait"]} for text in texts]
    directed = record_of(
        env_id="Overcooked-v0", task="locked", env_kwargs={"layout": "locked", "action_level": "medium"}, steps=steps
    )
    assert measure(directed, ["frozen"]) == {"frozen": [3, 0]}
    heads = []
    for record in (directed, directed.replace(env_kwargs={"layout": "locked"})):
        (card,) = SUITE.score([record], None)
        heads.append([column.name for column in card.tables[0].columns])
    assert "frozen" in heads[0] and "frozen" not in heads[1]


def test_files_have_intervals_of_scores_alone(mixed: list[Any]) -> None:
    (card,) = SUITE.score(mixed, None)
    kinds = {column.name: column.kind for column in card.data.columns}
    assert kinds["score"] == "estimate" and kinds["soups"] == "number"


def test_language_models_get_primitive_actions_where_directives_do_not_exist() -> None:
    plans = {layout: plan_evaluation("overcooked", ["all=llm:m"], layouts=layout) for layout in ("belt", "chopping")}
    levels = {layout: plan.matches[0].env_kwargs.get("action_level") for layout, plan in plans.items()}
    assert levels == {"belt": "medium", "chopping": None}
