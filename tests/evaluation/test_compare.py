"""Comparisons: who plays what, run folders that are continued, leaderboards of records, a page without network."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from rich.console import Console
from support.cli_runner import CliRunner
from support.covers import first

from collab_overcooked import registry
from collab_overcooked.cli import app
from collab_overcooked.evaluation import crossplay
from collab_overcooked.evaluation.benchmark import BUDGETS, Benchmark, Setting
from collab_overcooked.evaluation.compare import leaderboard as boards
from collab_overcooked.evaluation.compare import page
from collab_overcooked.evaluation.compare import plan as plans
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.policies.policy_file import builtin_policies, is_stand_in
from collab_overcooked.policies.registry import RECORDS
from collab_overcooked.reporting.differences import episode_values
from collab_overcooked.reporting.floors import RULE_SPECS, stored_floors
from collab_overcooked.runner.records import read_records
from collab_overcooked.runner.replay import first_difference
from collab_overcooked.runner.run_plans import run_plans

POLICIES = ("random", "reference", "greedy", "selfish")
GAMES = ("collab-overcooked", "rush")


@pytest.fixture(scope="module")
def comparison_plan() -> plans.ComparisonPlan:
    return plans.make_plan(POLICIES, GAMES, episodes=1)


@pytest.fixture(scope="module")
def played(comparison_plan: plans.ComparisonPlan, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("compared")
    comparison_plan.write(out)
    run_plans(comparison_plan.runs(out), out, workers=1, timed=True)
    return out


@pytest.fixture(scope="module")
def comparison(comparison_plan: plans.ComparisonPlan, played: Path) -> boards.Comparison:
    return boards.read_comparison(comparison_plan, played)


@pytest.mark.parametrize("game", [*registry.first_suites()])
@pytest.mark.parametrize("budget", BUDGETS)
def test_every_game_says_what_is_compared(game: str, budget: str) -> None:
    comparison_plan = plans.ComparisonPlan((game,), ("random",), budget)
    benchmark = comparison_plan.benchmark(game)
    names = [setting.name for setting in benchmark.settings]
    assert names and len(set(names)) == len(names)
    for setting in benchmark.settings:
        plan = comparison_plan.plan_of(plans.Entry(game, setting.name, ("random", "random"), "x"))
        assert plan.teams() and {work.env_id for work in plan.matches} <= {*registry.first_suites()[game]}
    assert comparison_plan.plan_of(plans.Entry(game, benchmark.pairs.name, ("random", "greedy"), "x", True)).matches
    for reference in registry.load_suite(game).references(benchmark):
        assert set(reference.scores) <= set(names)


def test_who_cannot_play_is_listed_with_the_reason(comparison_plan: plans.ComparisonPlan) -> None:
    reasons = {(skip.game, skip.policy): skip.reason for skip in comparison_plan.skipped}
    known = "plays CollabOvercooked-v0, not KitchenRush-v0"
    assert known in reasons["rush", "reference"]
    assert "KitchenRush-v0" in reasons["collab-overcooked", "selfish"]
    assert ("rush", "greedy") not in reasons
    teams = {entry.team for entry in comparison_plan.entries if entry.game == "rush"}
    assert ("selfish", "greedy") in teams and ("greedy", "selfish") in teams
    assert not any("reference" in team for team in teams)


def test_the_terminal_names_who_plays_nothing(comparison: boards.Comparison) -> None:
    console = Console(record=True, width=200)
    page.show(console, comparison)
    text = console.export_text()
    assert "Not played by reference; the report says why" in text
    assert "Not played by selfish; the report says why" in text


def test_trained_policies_play_what_they_were_trained_on() -> None:
    names = [f"ppo:{name}" for name in builtin_policies() if name in ("cramped_room", "coordination_ring")]
    comparison_plan = plans.make_plan(["random", *names], ["overcooked"])
    for name in names:
        layout = name.removeprefix("ppo:")
        assert [
            entry.setting for entry in comparison_plan.entries if entry.team == (name, name) and not entry.paired
        ] == [layout]
        assert any(
            item.reason == f"trained on layout {layout}" for item in comparison_plan.skipped if item.policy == name
        )


def test_policies_that_need_nothing_are_those_that_are_compared() -> None:
    default = plans.default_policies()
    assert set(default) >= {f"ppo:{name}" for name in builtin_policies() if not is_stand_in(name)}
    assert not any("bc_" in name for name in default)
    assert not any(spec.startswith("llm") for spec in default)
    assert {record.kind for record in RECORDS} == {*page.KINDS}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"policies": ["gready"]}, "unknown policy 'gready'"),
        ({"policies": ["greedy", "greedy"]}, "policies: 'greedy' is given twice"),
        ({"games": ["rash"]}, "unknown game 'rash'"),
        ({"games": ["initiations"]}, "unknown game 'initiations'"),
        ({"budget": "tiny"}, "unknown budget 'tiny'"),
        ({"games": ["rush"], "episodes": 0}, "must be an integer of at least 1, not 0"),
    ],
)
def test_mistakes_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        plans.make_plan(**{"policies": ["random"], **change})


def test_some_settings_only(tmp_path: Path) -> None:
    plan = plans.make_plan(["random"], ["overcooked"], crossplay=False, only=["cramped_room"])
    assert [entry.setting for entry in plan.entries] == ["cramped_room"]
    plan.write(tmp_path)
    assert plans.read_plan(tmp_path) == plan
    with pytest.raises(ValueError, match="unknown setting 'cramped_rom'; did you mean cramped_room"):
        plans.make_plan(["random"], ["overcooked"], only=["cramped_rom"])
    with pytest.raises(ValueError, match="unknown setting of collab-capture 'cramped_room'"):
        plans.make_plan(["random"], ["overcooked", "collab-capture"], only=["cramped_room"])


def test_a_setting_with_a_comma_is_named_on_the_command_line() -> None:
    settings = [setting.name for setting in registry.load_suite("rush").benchmark("small").settings]
    name = next(name for name in settings if ", " in name)
    plan = plans.make_plan(["random"], ["rush"], budget="small", crossplay=False, only=[*name.split(", "), settings[0]])
    assert plan.only == (name, settings[0])


def test_records_say_what_decisions_took(comparison_plan: plans.ComparisonPlan, played: Path) -> None:
    for entry in comparison_plan.entries:
        for record in read_records(played / entry.folder):
            assert set(record.decisions) == set(record.team)
            for count, seconds in record.decisions.values():
                assert 0 <= count <= record.timesteps * 2 and seconds >= 0
    record = read_records(played / "rush" / "easy-kitchen" / "random")[0]
    assert record.decisions["agent_0"][0] > 0
    assert first_difference(record) is None


def test_what_was_played_is_not_played_again(
    comparison_plan: plans.ComparisonPlan, played: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = {path: path.read_bytes() for path in played.rglob("records.jsonl")}
    played_again: list[tuple[int, int]] = []
    run_plans(
        comparison_plan.runs(played), played, workers=1, timed=True, progress=lambda *now: played_again.append(now[:2])
    )
    assert not played_again and "continuing" in caplog.messages[-1]
    assert before == {path: path.read_bytes() for path in played.rglob("records.jsonl")}


def test_a_plan_is_read_as_it_was_written(comparison_plan: plans.ComparisonPlan, played: Path, tmp_path: Path) -> None:
    assert plans.read_plan(played) == comparison_plan
    with pytest.raises(ValueError, match="cannot be read"):
        plans.read_plan(tmp_path)
    (tmp_path / plans.PLAN).write_text('{"games": 1}')
    with pytest.raises(ValueError, match="is no plan"):
        plans.read_plan(tmp_path)


def test_boards_are_ordered_and_complete(comparison: boards.Comparison) -> None:
    collab, rush = comparison.leaderboards
    assert [line.policy for line in collab.lines] == ["random", "reference", "greedy"]
    assert {row[0] for row in rush.ranking().rows[:2]} == {"greedy", "selfish"}
    assert collab.ranking().rows[-1][0] == "random"
    process = {row[0]: row for row in collab.process().rows}
    heads = [column.name for column in collab.process().columns]
    required = {"IC per required action %", "RC per required action, executed %"}
    assert set(heads) >= {"SR %", "PC %", "TES 0 %", "IC %", "RC %", *required}
    notes = " ".join(registry.load_suite("collab-overcooked").leaderboard_notes)
    assert "divided by the collaborative actions" in notes
    assert process["reference"][heads.index("RC %")].value > 0
    assert {"CR", "RR", "balance"} <= {column.name for column in rush.process().columns}
    assert comparison.missing == 0 and not comparison.costs
    assert all(line.milliseconds for board in comparison.leaderboards for line in board.lines)
    times = {name: cells for name, *cells in comparison.times().rows}
    assert times["selfish"][:2] == ["search", None] and times["selfish"][2] > 0


@pytest.mark.parametrize("game", first([*dict.fromkeys(["collab-capture", "rush", *registry.first_suites()])], 2))
def test_episodes_are_compared_by_what_the_table_ranks(game: str, tmp_path: Path) -> None:
    plan = plans.make_plan(["greedy", "random"], [game], episodes=1, crossplay=False)
    run_plans(plan.runs(tmp_path), tmp_path, workers=1, timed=True)
    board, metric = boards.read_comparison(plan, tmp_path).leaderboards[0], registry.load_suite(game).score_metric
    for line in board.lines:
        for entry in (entry for entry in plan.entries if entry.team[0] == line.policy):
            values = episode_values(read_records(tmp_path / entry.folder), metric).values()
            score = line.scores[entry.setting]
            assert score is not None and sum(values) / len(values) == pytest.approx(score.value, rel=0.05)
    differences = board.differences()
    assert differences is not None and f" {metric}," in differences.title


def test_significance_takes_the_folder_of_a_comparison(played: Path) -> None:
    done = CliRunner().invoke(app, ["significance", str(played), "--format", "json"])
    assert done.exit_code == 0, done.output
    means = [card for card in json.loads(done.stdout) if card["title"].endswith("runs")]
    for card, metric in zip(means, ("success", "completed"), strict=True):
        (table,) = card["tables"]
        assert {row["Measure"] for row in table["rows"]} == {metric}
    assert [row["Group"] for row in means[1]["tables"][0]["rows"]] == ["random", "greedy", "selfish"]


def test_less_is_compared_with_the_least() -> None:
    """Scores are shares of the best one of each setting, so the best has to be the lowest where less is better."""
    scores = {"A": (10, 100), "B": (30, 50), "C": (1, 60)}
    lines = tuple(
        boards.LeaderboardLine(name, "scripted", dict(zip("xy", map(Estimate, values), strict=True)), {}, ())
        for name, values in scores.items()
    )
    for lower, order in ((True, "CBA"), (False, "BAC")):
        benchmark = Benchmark("", "", (), Setting("x", {}), lower_is_better=lower)
        board = boards.Leaderboard("rush", "", benchmark, lines, (), None, (), (), ())
        assert "".join(line.policy for line in board.ordered()) == order


@pytest.mark.parametrize("lower", [False, True])
def test_the_order_of_two_does_not_depend_on_a_third(lower: bool) -> None:
    scores = {"A": (30, 100), "B": (60, 65), "C": (400, 90)}
    lines = [
        boards.LeaderboardLine(name, "scripted", dict(zip("xy", map(Estimate, values), strict=True)), {}, ())
        for name, values in scores.items()
    ]
    benchmark = Benchmark("", "", (Setting("x", {}), Setting("y", {})), Setting("x", {}), lower_is_better=lower)

    def order(compared: list[boards.LeaderboardLine], yardsticks: dict[str, float]) -> str:
        board = boards.Leaderboard("rush", "", benchmark, tuple(compared), (), None, (), (), (), {}, yardsticks)
        return "".join(line.policy for line in board.ordered() if line.policy != "C")

    yardsticks = {"x": 40.0, "y": 70.0}
    assert order(lines, yardsticks) == order(lines[:2], yardsticks)
    if not lower:
        assert order(lines, {}) != order(lines[:2], {}), "shares of the best on the board do depend on it"


def test_a_score_of_zero_is_best_where_less_is_better() -> None:
    lines = tuple(
        boards.LeaderboardLine(name, "scripted", {"x": Estimate(value)}, {}, ())
        for name, value in (("A", 3.0), ("B", 0.0), ("C", 1.0))
    )
    benchmark = Benchmark("", "", (Setting("x", {}),), Setting("x", {}), lower_is_better=True)
    board = boards.Leaderboard("rush", "", benchmark, lines, (), None, (), (), (), {}, {"x": 2.0})
    assert "".join(line.policy for line in board.ordered()) == "BCA"


def test_published_lines_have_their_place() -> None:
    entry = boards.LeaderboardLine("a", "RL", {"x": Estimate(5.0)}, None, ())  # type: ignore[arg-type]
    reference = boards.Reference("b", "language", {"x": Estimate(10.0, 9.0, 11.0), "y": None})
    benchmark = Benchmark("Game", "points", (Setting("x", {}), Setting("y", {})), Setting("x", {}))
    board = boards.Leaderboard("game", "Game", benchmark, (entry,), (reference,), None, (), (), ())
    table = board.ranking()
    assert [row[0] for row in table.rows] == ["b, published", "a"]
    assert table.marks == {0: "published", 1: "rl"}
    assert "| b, published | language | 10.0 (9.0–11.0) | – | – | – |" in table.markdown()
    assert board.absent() is None


def test_specialists_of_one_method_are_one_row(tmp_path: Path) -> None:
    names = ("ppo:cramped_room", "ppo:coordination_ring")
    short = {"overcooked": {"max_cycles": 20}}
    plan = plans.make_plan(("random", *names), ("overcooked",), episodes=1, crossplay=False, options=short)
    run_plans(plan.runs(tmp_path), tmp_path, workers=1, timed=True)
    (board,) = boards.read_comparison(plan, tmp_path).leaderboards
    ranking = {row[0]: row for row in board.ranking().rows}
    assert set(ranking) == {"random", "ppo, one per layout"}
    layouts = [column.name for column in board.ranking().columns]
    known = [name for name, cell in zip(layouts, ranking["ppo, one per layout"], strict=True) if cell is not None]
    assert {"cramped_room", "coordination_ring"} <= set(known)
    assert ranking["ppo, one per layout"][-2] == 2
    assert [one["policy"] for one in board.to_dict()["policies"] if "ppo" in one["policy"]], "files name each policy"
    absent = board.absent()
    assert absent is not None and all("cramped_room" not in str(row[1]) for row in absent.rows)


def test_blind_rules_are_one_row() -> None:
    scores = {"greedy": 9.0, "always:1": 2.0, "always:alphabetical": 4.0, "always:random": 3.0}
    lines = tuple(
        boards.LeaderboardLine(name, "scripted", {"x": Estimate(value)}, None, ())  # type: ignore[arg-type]
        for name, value in scores.items()
    )
    benchmark = Benchmark("Game", "points", (Setting("x", {}),), Setting("x", {}))
    board = boards.Leaderboard("game", "Game", benchmark, lines, (), None, (), (), ())
    assert [row[0] for row in board.ranking().rows] == ["greedy", "best blind rule of 3: always:alphabetical"]
    assert [line.policy for line in replace(board, lines=lines[:2]).merged()] == ["greedy", "always:1"]
    assert [line.policy for line in replace(board, lines=lines[:1]).merged()] == ["greedy"]


def test_language_models_are_shown_above_the_best_rule_without_understanding() -> None:
    def board(lower: bool, **known: float) -> boards.Leaderboard:
        scores = {"greedy": (9.0, 5.0), "always:longest": (4.0, 1.0), "always:rarest": (3.0, 2.0), "llm:m": (5.0, None)}
        lines = tuple(
            boards.LeaderboardLine(  # type: ignore[arg-type]
                name,
                "language" if name == "llm:m" else "scripted",
                {
                    setting: None if value is None else Estimate(value)
                    for setting, value in zip("xy", pair, strict=True)
                },
                None,
                (),
            )
            for name, pair in scores.items()
        )
        benchmark = Benchmark("Game", "points", (Setting("x"), Setting("y")), Setting("x"), lower_is_better=lower)
        return boards.Leaderboard("game", "Game", benchmark, lines, (), None, (), (), (), known)

    table = board(False, y=3.0).above_floor()
    assert table is not None
    assert {row[0]: row[2:] for row in table.rows} == {
        "best rule without understanding": (4.0, 3.0),  # y as it was measured before
        "greedy": (5.0, 2.0),
        "llm:m": (1.0, None),
    }
    less = board(True).above_floor()
    assert less is not None and {row[0]: row[2:] for row in less.rows} == {
        "best rule without understanding": (3.0, 1.0),
        "greedy": (-6.0, -4.0),
        "llm:m": (-2.0, None),
    }
    models = board(False)
    assert models.floors() == {"x": 4.0, "y": 2.0}
    assert replace(models, lines=models.lines[:-1]).above_floor() is None
    assert replace(models, lines=models.lines[-1:]).above_floor() is None


def test_stored_floors_are_of_settings_and_rules_that_exist() -> None:
    stored = stored_floors()
    assert stored.seed not in range(1000)  # comparisons and users number theirs from 0
    assert set(stored.floors) == set(registry.first_suites())
    for game, floors in stored.floors.items():
        compared = {setting.name for setting in registry.load_suite(game).benchmark("small").settings}
        assert compared <= set(floors)
        names = {setting.name for budget in BUDGETS for setting in registry.load_suite(game).benchmark(budget).settings}
        assert set(floors) <= names
        assert all(floor.rule in RULE_SPECS and floor.episodes > 0 for floor in floors.values())


def test_the_verdict_names_all_who_lead_and_where_language_models_stand() -> None:
    def board(**scores: float) -> boards.Leaderboard:
        lines = tuple(
            boards.LeaderboardLine(name, "language" if name == "llm" else "scripted", {"x": Estimate(value)}, None, ())  # type: ignore[arg-type]
            for name, value in scores.items()
        )
        setting = Benchmark("Game", "score", (Setting("x", {}),), Setting("x", {}))
        return boards.Leaderboard("game", "Game", setting, lines, (), None, (), (), ())

    def verdict(*games: boards.Leaderboard) -> str:
        return boards.Comparison(plans.ComparisonPlan(("rush",), ("random",)), games, None, 0).verdict()

    games = board(planner=2.0, greedy=2.0, random=0.0), board(planner=3.0, greedy=1.0)
    assert verdict(*games) == "planner leads in 2 of 2 games; greedy leads in 1 of 2 games."
    assert verdict(board(greedy=2.0, llm=1.0)) == "greedy leads in Game; no language model is above greedy."
    assert verdict(board(greedy=1.0, llm=2.0), *games).endswith("; llm is above greedy in 1 of 1.")
    assert verdict(board()) == "No policy has played."


def test_the_matrix_holds_every_pair(comparison: boards.Comparison) -> None:
    matrix = comparison.leaderboards[1].matrix
    assert matrix is not None and matrix.names == ("random", "greedy", "selfish")
    assert matrix.cell(2, 2).value > matrix.cell(0, 0).value
    svg = matrix.svg()
    assert svg.startswith("<svg") and "selfish with random: " in svg and "&lt;" not in svg
    assert all(f">{mean:.1f}</text>" in svg for mean in matrix.returns.mean(-1).flat)
    assert crossplay.from_records(["greedy", "nobody"], comparison.leaderboards[1].pairs) is None


def test_a_comparison_that_was_stopped_can_be_read(comparison_plan: plans.ComparisonPlan, played: Path) -> None:
    more = structs.replace(
        comparison_plan,
        entries=(*comparison_plan.entries, plans.Entry("rush", "easy, kitchen", ("x", "x"), "rush/absent")),
    )
    assert boards.read_comparison(more, played).missing == 1
    with pytest.raises(ValueError, match="holds no records"):
        boards.read_comparison(structs.replace(comparison_plan, entries=more.entries[-1:]), played)


def test_charts_show_where_policies_differ(comparison: boards.Comparison) -> None:
    for board in comparison.leaderboards:
        spread = [
            setting.name
            for setting in board.benchmark.settings
            for scores in [[line.scores.get(setting.name) for line in board.merged_by_rank()]]
            if len({score.value for score in scores if score}) > 1
            and any(score.low is not None and score.low < score.value for score in scores if score)
        ]
        assert len(page.ranking_charts(board)) == min(page.MAX_CHARTS, len(spread))


def test_long_episodes_are_cut() -> None:
    from collab_overcooked import make
    from collab_overcooked.reporting import report
    from collab_overcooked.runner.episode import play_episode
    from collab_overcooked.runner.teams import make_team

    env = make("CollabOvercooked-v0", task="boiled_egg")
    record = play_episode(env, make_team(["random", "random"]), seed=0, task="boiled_egg", level=1)
    (data,) = report.replays([record], 1, steps=3)
    assert len(data["steps"]) == 3 and len(data["frames"]) == 4 and "3 of which are shown" in data["outcome"]
    (full,) = report.replays([record], 1)
    assert len(full["steps"]) == record.timesteps and "shown" not in full["outcome"]


def run(*text: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in text])


def test_the_command_compares_and_writes_again(tmp_path: Path) -> None:
    out = tmp_path / "compared"
    text = ("--games", "rush", "--episodes", 1, "--no-crossplay", "--workers", 1)
    done = run("compare", "--policies", "greedy", "selfish", *text, "--out", out)
    assert done.exit_code == 0, done.output
    assert "selfish" in done.stdout and f"Open {out}/report.html" in done.stderr.replace("\n", "")
    first = (out / "report.json").read_text()
    for name in page.FILES:
        (out / name).unlink()
    again = run("compare", "--report-only", out)
    assert again.exit_code == 0, again.output
    assert (out / "report.json").read_text() == first
    assert json.loads(first)["games"][0]["crossplay"] is None
    more = run("compare", "--policies", "greedy", "random", *text, "--out", out)
    assert "random" in more.stdout and "selfish" not in more.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (("--policies", "gready"), "unknown policy 'gready'"),
        (("--policies", "greedy", "--games", "rush", "--rate", "3"), "option --rate is for teams with llm policies"),
        (
            ("--policies", "greedy", "--games", "rush", "--budget-per-episode", "calls=3"),
            "option --budget-per-episode is",
        ),
        (("--report-only", "absent"), "absent/comparison.json: cannot be read"),
        (("--report-only", "absent", "--games", "rush"), "option --games has no effect with --report-only"),
        (("--out", "x", "--report-only", "absent"), "option --out has no effect with --report-only"),
        (("--replay", "x", "--report-only", "absent"), "option --replay has no effect with --report-only"),
    ],
)
def test_the_command_refuses_in_one_line(tmp_path: Path, text: tuple[str, ...], message: str) -> None:
    folder = () if "--report-only" in text else ("--out", tmp_path / "never")
    done = run("compare", *text, *folder)
    assert done.exit_code == 2 and message in done.output
    assert not (tmp_path / "never").exists()
