"""The report of a comparison, in the terminal and as a page."""

from __future__ import annotations

from rich.console import Console

from collab_overcooked.evaluation.benchmark import Benchmark, Setting
from collab_overcooked.evaluation.compare import leaderboard as boards
from collab_overcooked.evaluation.compare import page
from collab_overcooked.evaluation.compare import plan as plans
from collab_overcooked.metrics.intervals import Estimate


def test_the_terminal_names_who_plays_nothing(comparison: boards.Comparison) -> None:
    console = Console(record=True, width=200)
    page.show(console, comparison)
    text = console.export_text()
    assert "Not played by reference; the report says why" in text
    assert "Not played by selfish; the report says why" in text


def test_the_verdict_names_all_who_lead_and_where_language_models_stand() -> None:
    def board(title: str = "Game", **scores: float) -> boards.Leaderboard:
        lines = tuple(
            boards.LeaderboardLine(name, "language" if name == "llm" else "scripted", {"x": Estimate(value)}, None, ())  # type: ignore[arg-type]
            for name, value in scores.items()
        )
        setting = Benchmark("Game", "score", (Setting("x", {}),), Setting("x", {}))
        return boards.Leaderboard("game", title, setting, lines, (), None, (), (), ())

    def verdict(*games: boards.Leaderboard) -> str:
        return boards.Comparison(plans.ComparisonPlan(("rush",), ("random",)), games, None, 0).verdict()

    games = board(planner=2.0, greedy=2.0, random=0.0), board(planner=3.0, greedy=1.0)
    assert verdict(*games) == "planner leads or ties in 2 of 2 games; greedy leads or ties in 1 of 2 games."
    assert verdict(board(greedy=2.0, llm=1.0)) == "greedy leads in Game; no language model is above greedy."
    assert verdict(board(greedy=1.0, llm=2.0), *games).endswith("; llm is above greedy in 1 of 1.")
    assert verdict(board()) == "No policy has played."
    assert verdict(board("Absent"), board("Played", greedy=2.0)) == "greedy leads in Played."


def test_charts_show_where_policies_differ(comparison: boards.Comparison) -> None:
    for board in comparison.leaderboards:
        spread = [
            setting.name
            for setting in board.benchmark.settings
            for scores in [[line.scores.get(setting.name) for line in board.merged_by_rank]]
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
