"""The CuisineWorld suite: runs whose orders go on, records that replay alone, tables beside the published ones."""

from __future__ import annotations

import copy
import io
import json
import random
from itertools import cycle
from typing import Any

import pytest
from rich.console import Console
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.games.cuisineworld.engine.spec import load_level
from collab_overcooked.games.cuisineworld.options import OrderScoring
from collab_overcooked.games.cuisineworld.suite import scoring
from collab_overcooked.games.cuisineworld.suite import suite as cuisineworld
from collab_overcooked.games.cuisineworld.suite import tables as cos_tables
from collab_overcooked.metrics.orders import OrderCell
from collab_overcooked.registry import load_suite
from collab_overcooked.reporting.report import build_report
from collab_overcooked.reporting.results import score_paths, score_records
from collab_overcooked.reporting.scorecard import csv_text, json_text, markdown
from collab_overcooked.runner.records import read_records
from collab_overcooked.runner.replay import first_difference, replay
from collab_overcooked.runner.teams import team_text

MEATCAKE = (
    "goto storage0",
    "get salmon storage0",
    "goto blender0",
    "put blender0",
    "goto storage0",
    "get flour storage0",
    "goto blender0",
    "put blender0",
    "activate blender0",
    "noop",
    "get blender0",
    "goto servingtable0",
    "put servingtable0",
)


class Cook:
    """Makes one salmonMeatcake after the other, if it sits in seat 0 and is no idler."""

    def __init__(self, spec: str) -> None:
        self.name = spec

    def reset(self, seat: int, info: Any, seed: int) -> None:
        self.script = cycle(MEATCAKE if seat == 0 and self.name == "cook" else ["noop"])

    def act(self, seen: Any) -> str:
        return next(self.script)

    def reply(self, seen: Any) -> None:
        return None


def play(folder, team="all=idle", **options):
    plan = plan_evaluation("cuisineworld", [team], **options)
    return evaluate(plan, folder, workers=1, make=Cook)


def score(records, counting="orders"):
    (result,) = scoring.score_records(records, counting)
    return result


@pytest.fixture(scope="module")
def cooked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cuisineworld") / "run"
    return folder, play(folder, "all=cook", levels="0,12", agents=[1, 2], alphas=[1.0, 3.0], runs=2)


def test_an_idle_team_loses_as_many_orders_as_the_papers_zero_columns(tmp_path):
    table = score(play(tmp_path, levels="level_3", agents=[2])).tables[2]
    cells = [table.cell("level_3", alpha) for alpha in table.alphas]
    assert cells == [
        OrderCell(0, 24),
        OrderCell(0, 15),
        OrderCell(0, 12),
        OrderCell(0, 9),
        OrderCell(0, 6),
    ]  # table 9, ChatGPT
    score_ = table.cos("level_3")
    assert score_ is not None and score_.value == 0.0


def test_orders_that_expire_together_count_once_in_the_published_way(tmp_path):
    records = play(tmp_path, levels="level_4", agents=[2], alphas=[1.0])
    assert score(records).tables[2].cell("level_4", 1.0) == OrderCell(0, 31)
    assert score(records, "steps").tables[2].cell("level_4", 1.0) == OrderCell(0, 25)
    text = " ".join(cos_tables.notes(score(records)))
    assert "would hide 6 failures here" in text and "--counting steps" in text


def test_orders_go_on_from_episode_to_episode(tmp_path):
    records = play(tmp_path, levels="level_9", agents=[2], alphas=[1.0], seed=5)
    assert [record.seed for record in records] == [5, 5, 5]
    drawn = [name for record in records for name in record.options["orders"]]
    generator, names = random.Random(5), list(load_level("level_9").order_names)
    assert drawn == [generator.choice(names) for _ in drawn]
    assert len(drawn) == 3 * (1 + 60 // 8)


def test_runs_take_the_next_seeds_and_count_episodes_on(cooked):
    _, records = cooked
    first = [record for record in records if record.task == "level_0, 1 agent, alpha 1"]
    assert [(record.seed, record.episode) for record in first] == [(0, 0), (0, 1), (0, 2), (1, 3), (1, 4), (1, 5)]
    assert {record.level for record in records} == {0, 12}


def test_completions_and_expiries_are_written_down(cooked):
    _, records = cooked
    record = next(r for r in records if r.task == "level_0, 2 agents, alpha 3")
    done = [t for t, step in enumerate(record.steps, start=1) if step.orders.completed]
    assert done == [13, 26, 39, 52]
    assert record.metrics == {
        "completed": 4,
        "failed": sum(len(step.orders.expired) for step in record.steps),
        "failing_steps": sum(bool(step.orders.expired) for step in record.steps),
        "open": len(record.steps[-1].orders.open),
        "share": 0.8,
        "return": pytest.approx(sum(step.rewards[0] for step in record.steps)),
    }
    metrics = record.metrics
    assert metrics["completed"] + metrics["failed"] + metrics["open"] == len(record.options["orders"])
    assert record.steps[0].orders.open == [("salmonMeatcake", 22)]


def test_the_game_counts_the_same(cooked):
    for record in cooked[1][::5]:
        scene = [state.env.scene() for state in replay(record)][-1]
        counted = {key: record.metrics[key] for key in ("completed", "failed", "failing_steps")}
        assert counted == {
            "completed": scene["completed"],
            "failed": scene["expired"],
            "failing_steps": scene["failed"],
        }


def test_every_record_replays_alone(cooked):
    assert [first_difference(record) for record in cooked[1]] == [None] * len(cooked[1])


def test_a_changed_order_is_found(cooked):
    record = copy.deepcopy(cooked[1][0])
    record.steps[12].orders.completed = []
    assert (first_difference(record) or "").startswith("steps[12].orders: recorded")
    record = copy.deepcopy(cooked[1][-1])
    record.options["orders"] = ["potatoSalad"] * len(record.options["orders"])
    assert ".orders: recorded" in (first_difference(record) or "")


def test_an_interrupted_run_ends_as_if_nothing_had_happened(tmp_path, cooked, caplog):
    full = play(tmp_path / "whole", "all=cook", levels="0", agents=[1], alphas=[1.0, 2.0])
    folder = tmp_path / "part"
    play(folder, "all=cook", levels="0", agents=[1], alphas=[1.0, 2.0])
    lines = (folder / "records.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "records.jsonl").write_bytes(lines[0] + lines[4] + lines[5][:-9])
    plan = plan_evaluation("cuisineworld", ["all=cook"], levels="0", agents=[1], alphas=[1.0, 2.0])
    assert evaluate(plan, folder, workers=1, make=Cook) == full
    assert any("2 of 6 episodes are there" in note for note in caplog.messages)
    assert read_records(folder) == full


def test_levels_are_named_in_several_ways(tmp_path):
    names = cuisineworld.parse_level_names
    assert names(None) == names("all") == scoring.published().levels and len(names(None)) == 12
    assert names("very simple") == ("level_0", "level_1", "level_7")
    assert names("0-2, 9") == ("level_0", "level_1", "level_2", "level_9")
    assert names("level_12_fryer,6,mine.yaml") == ("level_12_fryer", "level_6", "mine.yaml")
    with pytest.raises(ValueError, match="levels: 'level_6' is given twice"):
        names("6,level_6")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"levels": "level_33"}, "levels: unknown level 'level_33'; did you mean level_3"),
        ({"levels": "5-3"}, "'5-3' is empty"),
        ({"agents": [0]}, "agents must be an integer of at least 1, not 0"),
        ({"agents": []}, "levels, agents and alphas need at least one entry each"),
        ({"alphas": [0.0]}, "alpha must be a number above 0"),
        ({"seed": -1}, "seed must be an integer of at least 0"),
        ({"options": {"alpha": 2.0}}, "option 'alpha' is set by --alphas"),
        ({"options": {"betta": 2.0}}, "unknown option 'betta'; did you mean beta"),
        ({"options": {"beta": 0}}, "beta must be a number above 0"),
        ({"team": ["agent_0=cook"]}, r"no policy for agent_1; .* \(with 2 agents\)"),
    ],
)
def test_what_cannot_be_played_is_refused(options, text):
    team = options.pop("team", ["all=cook"])
    with pytest.raises(ValueError, match=text):
        plan_evaluation("cuisineworld", team, **options)


def test_two_levels_of_one_name_are_refused(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("extends: level_0\nname: level_0\n")
    with pytest.raises(ValueError, match="are both called 'level_0'"):
        plan_evaluation("cuisineworld", ["all=cook"], levels=f"level_0,{file}")


def test_a_level_of_ones_own_is_played(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("extends: level_0\nname: my kitchen, the small one\n")
    records = play(tmp_path / "run", levels=str(file), agents=[1], alphas=[1.0], episodes=1)
    assert records[0].level is None
    result = score(records)
    assert scoring.played_levels(result) == ("my kitchen, the small one",) == scoring.compared_levels(result)
    assert scoring.reference(result, 1) is None
    assert "GPT-4" not in cos_tables.scorecard("cuisineworld", result).markdown()


def test_teams_of_several_sizes_share_a_table(cooked):
    result = score(cooked[1])
    assert result.team == "all=cook" and list(result.tables) == [1, 2]
    assert team_text(["random", "greedy", "greedy"]) == "agent_0=random all=greedy"
    assert result.tables[1].cell("level_0", 3.0) == result.tables[2].cell("level_0", 3.0)


def test_published_numbers_are_compared_over_what_was_played(cooked):
    result = score(cooked[1])
    other = scoring.reference(result, 2)
    assert other is not None and other.levels == ("level_0", "level_12") and other.alphas == (1.0, 3.0)
    cos = other.cos("level_0")
    assert cos is not None and cos.value == pytest.approx((18 / 54 + 18 / 18) / 2)
    assert scoring.reference(result, 1) is None  # the paper has no table of one agent
    assert any("computed over the same ones" in note for note in cos_tables.notes(result))


def prompted(records, switches, alphas=(1.0, 3.0)):
    """Give records of level_0 and two agents to a language model on the paper's level of conditions."""
    spec = f"llm:m?{switches}"
    return [
        record.replace(
            team=dict.fromkeys(record.team, spec),
            task=record.task.replace("level_0", "level_3"),
            env_kwargs={**record.env_kwargs, "level": "level_3"},
        )
        for record in records
        if record.task.startswith("level_0, 2 agents") and record.env_kwargs["alpha"] in alphas
    ]


@pytest.mark.parametrize(
    ("switches", "rows"),
    [
        ("", ["GPT-4", "Claude-2", "LLaMA2", "ChatGPT", "GPT-4"]),
        ("hints=off", ["GPT-4, without inference knowledge"]),
        ("feedback=off", ["GPT-4, without feedback"]),
        ("demo=few", ["GPT-4, few-step demonstration"]),
        ("demo_agents=2", ["GPT-4", "Claude-2", "LLaMA2", "ChatGPT", "GPT-4"]),
        ("demo_agents=3", []),
        ("hints=off,feedback=off", []),
    ],
)
def test_published_conditions_are_those_that_were_played(cooked, switches, rows):
    """Tables 2 to 4 and 9 to 11: models beside a model with whole prompts, variants beside the same variant."""
    result = score(prompted(cooked[1], switches))
    table = cos_tables.conditions_table(result, 2)
    if not rows:
        assert table is None
    else:
        assert [row[0].strip().removesuffix(", published") for row in table.rows[1:]] == rows
        assert [column.name for column in table.columns] == ["Team", "Tables", "alpha 1", "alpha 3", "CoS"]
    full = switches in ("", "demo_agents=2")
    assert (scoring.reference(result, 2) is not None) == full, "table 6 is of whole prompts"


def test_published_conditions_add_up_to_the_printed_scores():
    for one in scoring.published().conditions:
        assert one.mean(one.fractions) == pytest.approx(one.cos, abs=6e-4), (one.name, one.agents)
    printed = {(one.name, one.agents): one.cos for one in scoring.published().conditions if one.tables == "3 and 11"}
    assert printed == {("GPT-4, demonstration of 2 agents", 4): 0.851, ("GPT-4, demonstration of 2 agents", 3): 0.775}


def test_a_comparison_has_the_curve_of_scores_by_number_of_agents(cooked):
    two = [record for record in cooked[1] if len(record.team) == 2]
    (table, _), (chart, *curves, _) = load_suite("cuisineworld").comparison_tables({"both": cooked[1], "two": two})
    assert [column.name for column in table.columns] == ["Run", "1 agent", "2 agents"]
    assert [row[0] for row in table.rows] == ["both: all=cook", "two: all=cook"]
    result = score(cooked[1]).tables
    assert table.rows[0][1:] == (result[1].average(), result[2].average())
    assert table.rows[1][1] is None and table.rows[1][2] == result[2].average()
    assert chart.curve and chart.groups == ("1", "2")
    assert [curve.title for curve in curves] == [f"CoS by number of agents, level_{k}" for k in (0, 12)]
    for curve, level in zip(curves, ("level_0", "level_12"), strict=True):
        assert [estimate.value for estimate in curve.series["both: all=cook"]] == [
            result[agents].cos(level).value for agents in (1, 2)
        ]


def test_a_comparison_has_the_orders_of_each_dish_by_level(cooked):
    """Figure 23."""
    (_, table), (*_, chart) = load_suite("cuisineworld").comparison_tables({"both": cooked[1]})
    assert [column.name for column in table.columns] == ["Level", "Dish", "orders", "share"]
    orders = {(level, dish): (count, share) for level, dish, count, share in table.rows}
    episodes = [record for record in cooked[1] if record.env_kwargs["level"] == "level_0"]
    drawn = sum(1 + len([t for t in range(1, record.timesteps + 1) if t % pace == 0]) for record in episodes
                for pace in [{1.0: 3, 3.0: 9}[record.env_kwargs["alpha"]]])  # fmt: skip
    assert orders["level_0", "salmonMeatcake"] == (drawn, 1.0)
    dishes = {dish for level, dish in orders if level == "level_12"}
    assert dishes == {"potatoSalad", "smashedPotato", "frenchFries"}
    assert sum(orders["level_12", dish][1] for dish in dishes) == pytest.approx(1)
    assert set(chart.series) == {"level_0", "level_12"} and set(chart.groups) == {"salmonMeatcake", *dishes}
    assert chart.series["level_0"][chart.groups.index("frenchFries")] is None


@pytest.fixture(scope="module")
def small_kitchens(tmp_path_factory):
    options = {"levels": "1,4", "agents": [2], "alphas": [2.5], "episodes": 1}
    return play(tmp_path_factory.mktemp("table_12"), "all=idle", **options)


def test_table_12_stands_beside_teams_without_language_models(small_kitchens, cooked):
    card = load_suite("cuisineworld").score(small_kitchens, OrderScoring())[0]
    (table,) = [table for table in card.tables if "table 12" in table.title]
    assert [column.name for column in table.columns] == ["Team", "level_1", "level_4"]
    assert table.rows[0] == ("all=idle", 0.0, 0.0)
    assert [(name.strip(), *rates) for name, *rates in table.rows[1:]] == [
        ("masked PPO, published", 0.451, 0.598),
        ("GPT-4 at alpha 2.5, published", 0.947, 0.917),
    ]
    assert table.marks == {1: "published", 2: "published"}
    assert any("neither at which alpha" in note for note in card.notes)
    assert cos_tables.success_rates_table(score(cooked[1])) is None  # other levels and paces
    spoken = [record.replace(team=dict.fromkeys(record.team, "llm:m")) for record in small_kitchens]
    assert cos_tables.success_rates_table(score(spoken)) is None


def test_the_detailed_table_is_the_papers(cooked):
    table = cos_tables.details(score(cooked[1]), 2)
    assert table.title == "2 agents: completed/resolved orders; GPT-4 as published in table 6 of the paper"
    assert [column.name for column in table.columns[1:]] == ["alpha 1", "GPT-4", "alpha 3", "GPT-4", "CoS", "GPT-4"]
    assert [column.published for column in table.columns[1:]] == [False, True] * 3
    rows = {name: cells for name, *cells in table.rows}
    assert rows["level_0"][1] == "18/54" and rows["level_12"][3] == "9/12"
    assert rows["level_0"][5].value == pytest.approx((18 / 54 + 18 / 18) / 2)
    assert rows["average"][1] == pytest.approx((18 / 54 + 10 / 36) / 2)


def test_averages_leave_other_levels_out(tmp_path):
    result = score(play(tmp_path, "all=cook", levels="level_0,level_12_fryer", agents=[2], alphas=[3.0]))
    cos = result.tables[2].cos("level_0")
    average = next(cells for name, *cells in cos_tables.details(result, 2).rows if name == "average")
    assert cos is not None and average[2] == cos.value > 0
    assert any("Not in averages" in note and "level_12_fryer" in note for note in cos_tables.notes(result))


def test_table_1_has_a_line_for_the_published_numbers(cooked):
    table = cos_tables.levels_overview(score(cooked[1]))
    assert [column.name for column in table.columns] == ["Level", "0", "12", "avg."]
    assert table.marks == {1: "summary", 2: "published"}
    alone, together, _, gain = table.rows
    assert gain[0].strip() == "gain of 2 agents over one"
    assert gain[1:] == pytest.approx([two - one for one, two in zip(alone[1:], together[1:], strict=True)])
    classes = cos_tables.classes_overview(score(cooked[1]))
    assert [column.name for column in classes.columns] == ["Class", "very simple", "advanced", "average"]


def test_every_form_says_which_numbers_are_published(cooked):
    card = cos_tables.scorecard("cuisineworld", score(cooked[1]))
    out = io.StringIO()
    card.show(Console(file=out, width=160))
    assert "publ." in out.getvalue() and "not measured here" in out.getvalue() and "…" not in out.getvalue()
    assert "GPT-4 (published)" in card.markdown()
    assert "GPT-4 (published)" in card.tables[1].html() and "gpt-4-0613" in " ".join(card.notes)
    data = json.loads(json_text([card]))[0]["data"]
    setting = next(s for s in data if (s["agents"], s["level"], s["alpha"]) == (2, "level_0", 1.0))
    assert (setting["published_completed"], setting["published_resolved"], setting["episodes"]) == (18, 54, 6)
    lines = csv_text([card]).splitlines()
    assert lines[0].endswith("published_completed,published_resolved") and len(lines) == 1 + 2 * 2 * 2


def test_records_of_two_games_are_scored_together(cooked, random_records, random_run):
    cards = score_records([*cooked[1], *random_records])
    assert [card.game for card in cards] == ["collab-overcooked", "cuisineworld"]
    assert "| Level | Runs |" in markdown(cards) and "all=cook" in markdown(cards)
    assert len(json.loads(json_text(cards))) == 2
    assert csv_text(score_paths([cooked[0], random_run])) == csv_text(cards)


def test_the_report_tells_what_became_of_the_orders(cooked):
    records = [r for r in cooked[1] if r.task == "level_0, 2 agents, alpha 3"][:1]
    page = build_report(records, score_records(records))
    assert "4 completed, " in page and '"names":["Alice","Bob"]' in page.replace(", ", ",").replace(": ", ":")
    assert "GPT-4 (published)" in page


def run(*text):
    return CliRunner().invoke(app, [str(word) for word in text], catch_exceptions=False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (["cuisineworld", "--gamma", "2"], "Unknown option: --gamma"),
        (["cuisineworld", "--tasks", "a"], "Unknown option: --tasks"),
        (["collab-overcooked", "--agents", "2"], "Unknown option: --agents"),
        (["cuisineworld", "--agents", "two"], "agents: cannot read 'two'; write for example 2,3,4"),
        (["cuisineworld", "--counting", "stpes"], "unknown counting 'stpes'"),
    ],
)
def test_the_command_refuses_in_one_line(tmp_path, text, message):
    done = run("evaluate", *text, "--team", "all=random", "--out", tmp_path / "never")
    assert done.exit_code == 2 and message in done.output
    assert not (tmp_path / "never").exists()


def test_levels_are_verified_at_the_command_line():
    assert run("check", "levels").exit_code == 0
    done = run("check", "level_12", "--alphas", "2.2")
    assert done.exit_code == 1 and "frenchFries cannot be made: there is no fryer" in done.stdout
    assert "must be numbers above 0" in run("check", "levels", "--alphas", "0").output


def test_levels_are_listed_at_the_command_line():
    lines = run("list", "levels", "--suite", "cuisineworld").stdout.splitlines()
    assert len(lines) == 14 and lines[0].split() == "level_0 very simple: salmonMeatcake".split()


def test_dishes_are_listed_with_what_figure_23_counts():
    lines = run("list", "dishes").stdout.splitlines()
    assert len(lines) == 33
    burger = next(line for line in lines if line.startswith("cheeseBurger "))
    assert burger.split(maxsplit=1)[1] == "2 tools, 3 ingredients, 2 steps, largest mixture 3"
