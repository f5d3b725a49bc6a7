"""Leaderboards made from records: order, merged rows, published lines and the matrix."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from collab_overcooked import registry
from collab_overcooked.evaluation import crossplay
from collab_overcooked.evaluation.benchmark import Benchmark, Setting
from collab_overcooked.evaluation.compare import leaderboard as boards
from collab_overcooked.evaluation.compare import plan as plans
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.runner.run_plans import run_plans


def test_boards_are_ordered_and_complete(comparison: boards.Comparison) -> None:
    collab, rush = comparison.leaderboards
    assert [line.policy for line in collab.lines] == ["random", "reference", "greedy"]
    assert {row[0] for row in rush.ranking.rows[:2]} == {"greedy", "selfish"}
    assert collab.ranking.rows[-1][0] == "random"
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
        assert "".join(line.policy for line in board.ordered) == order


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
        return "".join(line.policy for line in board.ordered if line.policy != "C")

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
    assert "".join(line.policy for line in board.ordered) == "BCA"


@pytest.mark.parametrize("lower", [False, True])
def test_the_best_leads_where_no_score_is_above_zero(lower: bool) -> None:
    values = (9.0, 0.0, 2.0) if lower else (-50.0, -1.0, -20.0)
    lines = tuple(
        boards.LeaderboardLine(name, "scripted", {"x": Estimate(value)}, {}, ())
        for name, value in zip("ABC", values, strict=True)
    )
    benchmark = Benchmark("", "", (Setting("x", {}),), Setting("x", {}), lower_is_better=lower)
    board = boards.Leaderboard("rush", "", benchmark, lines, (), None, (), (), ())
    assert "".join(line.policy for line in board.ordered) == "BCA"


def test_published_lines_have_their_place() -> None:
    entry = boards.LeaderboardLine("a", "RL", {"x": Estimate(5.0)}, None, ())  # type: ignore[arg-type]
    reference = boards.Reference("b", "language", {"x": Estimate(10.0, 9.0, 11.0), "y": None})
    benchmark = Benchmark("Game", "points", (Setting("x", {}), Setting("y", {})), Setting("x", {}))
    board = boards.Leaderboard("game", "Game", benchmark, (entry,), (reference,), None, (), (), ())
    table = board.ranking
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
    ranking = {row[0]: row for row in board.ranking.rows}
    assert set(ranking) == {"random", "ppo, one per layout"}
    layouts = [column.name for column in board.ranking.columns]
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
    assert [row[0] for row in board.ranking.rows] == ["greedy", "best blind rule of 3: always:alphabetical"]
    assert [line.policy for line in replace(board, lines=lines[:2]).merged] == ["greedy", "always:1"]
    assert [line.policy for line in replace(board, lines=lines[:1]).merged] == ["greedy"]


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
    assert models.floors == {"x": 4.0, "y": 2.0}
    assert replace(models, lines=models.lines[:-1]).above_floor() is None
    assert replace(models, lines=models.lines[-1:]).above_floor() is None


def test_the_matrix_holds_every_pair(comparison: boards.Comparison) -> None:
    matrix = comparison.leaderboards[1].matrix
    assert matrix is not None and matrix.names == ("random", "greedy", "selfish")
    assert matrix.cell(2, 2).value > matrix.cell(0, 0).value
    svg = matrix.svg()
    assert svg.startswith("<svg") and "selfish with random: " in svg and "&lt;" not in svg
    assert all(f">{mean:.1f}</text>" in svg for mean in matrix.returns.mean(-1).flat)
    assert crossplay.from_records(["greedy", "nobody"], comparison.leaderboards[1].pairs) is None


def test_what_no_difference_tells_apart_is_a_tie(comparison: boards.Comparison) -> None:
    board = comparison.leaderboards[0]
    best, *others = board.merged_by_rank
    doubled = replace(board, lines=(*board.lines, replace(best, policy="copy")))
    assert {best.policy, "copy"} <= {line.policy for line in doubled.leaders}
    assert f"{best.policy} with " in doubled.result and " tie: " in doubled.result
    assert doubled.result.endswith(f"{board.benchmark.measure}, mean and 95 % interval.")
    certain = replace(best, summary=replace(best.summary, score=Estimate(1.0)))
    assert replace(board, lines=(certain,)).result.endswith(f"{board.benchmark.measure}, mean without an interval.")
    alone = replace(board, lines=(best, *(line for line in others if line.policy == "random")))
    assert [line.policy for line in alone.leaders] == [best.policy]
    assert alone.result.startswith(f"{best.policy} leads with ")
    assert replace(board, lines=()).result == ""


def test_ranks_and_merged_rows_are_computed_once(comparison: boards.Comparison) -> None:
    """Every table, note and file of a board reads them; a board with other lines computes its own."""
    for played in comparison.leaderboards:
        board = replace(played)
        assert board.merged is board.merged and board.ranking is board.ranking and board.leaders is board.leaders
        fewer = replace(board, lines=board.lines[:1])
        assert len(fewer.merged) == 1 < len(board.merged) and len(fewer.ranking.rows) < len(board.ranking.rows)
        assert board.to_dict() == played.to_dict() and board.tables() == played.tables()
