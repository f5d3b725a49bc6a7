"""Cross-play of a pool."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

from collab_overcooked.evaluation.crossplay import LINES, CellReturn, CrossPlay, cross_play, from_records, read_pool
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.runner.match import cached_env
from collab_overcooked.runner.run import Run


def a_result(means, episodes=4) -> CrossPlay:
    returns = np.repeat(np.array(means, float)[..., None], episodes, axis=-1)
    names = tuple("abc"[: len(means)])
    return CrossPlay("Game-v0", {}, names, names, returns, 0)


def test_pairs_are_measured_over_both_seats():
    result = a_result([[10, 2], [4, 6]])
    assert result.cell(0, 1).value == 2 and result.pair(0, 1).value == 3 and result.pair(1, 1).value == 6
    assert result.with_others(0).value == 3


def test_returns_are_put_in_relation_to_the_best_response_in_the_pool():
    result = a_result([[10, 4, 1], [4, 6, 2], [1, 2, 8]])
    assert result.best_responses() == [0, 1, 2]
    assert result.normalised(0) == pytest.approx((4 / 6 + 1 / 8) / 2)
    better = a_result([[1, 4, 1], [4, 3, 2], [1, 2, 8]])
    assert better.best_responses() == [1, 0, 2]  # each does better with the other than with itself
    assert better.normalised(0) == pytest.approx((4 / 4 + 1 / 8) / 2)


def test_where_nothing_is_earned_there_is_no_share():
    assert a_result([[0, 0], [0, 5]]).normalised(1) is None
    assert a_result([[3]]).normalised(0) is None and a_result([[3]]).with_others(0) is None


def test_intervals_hold_the_mean_and_shrink_with_more_episodes():
    rng = np.random.default_rng(0)
    widths = []
    for episodes in (5, 500):
        result = CrossPlay("Game-v0", {}, ("a",), ("a",), rng.normal(50, 10, (1, 1, episodes)), 0)
        cell = result.cell(0, 0)
        assert cell.low < cell.value < cell.high
        widths.append(cell.high - cell.low)
    assert widths[1] < widths[0] / 2


@pytest.fixture(scope="module")
def played():
    return cross_play("CuisineWorld-v0", ["greedy", "luck=random"], options={"level": "level_1"}, episodes=2, seed=1)


def test_any_policies_play_and_the_same_seed_gives_the_same(played):
    assert played.names == ("greedy", "luck") and played.specs == ("greedy", "random")
    assert played.cell(0, 0).value > played.cell(1, 1).value
    again = cross_play("CuisineWorld-v0", ["greedy", "luck=random"], options={"level": "level_1"}, episodes=2, seed=1)
    assert np.array_equal(again.returns, played.returns)


def test_a_folder_holds_numbers_tables_and_a_heat_map(played, tmp_path):
    played.write(tmp_path)
    result = json.loads((tmp_path / "crossplay.json").read_text())
    assert result["pool"] == {"greedy": "greedy", "luck": "random"} and result["episodes"] == 2
    assert len(result["matrix"]) == 2 and len(result["matrix"][0][0]) == 3
    assert (tmp_path / "crossplay.png").read_bytes().startswith(b"\x89PNG")
    text = (tmp_path / "crossplay.md").read_text()
    assert "| seat 0, others | greedy | luck |" in text and "best response" in text


def test_pools_that_cannot_be(tmp_path):
    assert read_pool(["greedy", "a=ppo:x.npz", "planner:width=5"]) == (
        ("greedy", "a", "planner:width=5"),
        ("greedy", "ppo:x.npz", "planner:width=5"),
    )
    assert read_pool(["runs/x.npz", "my-own=m.zip"]) == (("runs/x.npz", "my-own"), ("ppo:runs/x.npz", "sb3:m.zip"))
    with pytest.raises(ValueError, match="at least one policy"):
        read_pool([])
    with pytest.raises(ValueError, match="'greedy' is given twice"):
        read_pool(["greedy", "greedy"])
    with pytest.raises(ValueError, match="episodes must be an integer"):
        cross_play("CuisineWorld-v0", ["greedy"], episodes=0)
    with pytest.raises(ValueError, match="unknown policy 'gredy'"):
        cross_play("CuisineWorld-v0", ["gredy"])


ROOMS = {"options": {"max_cycles": 5}, "seed": 1}


def test_an_interrupted_cross_play_is_continued_to_the_same_result(tmp_path, caplog):
    pool = ["greedy", "random"]
    full = cross_play("CollabCapture-v0", pool, episodes=2, **ROOMS)

    def interrupt(done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cross_play("CollabCapture-v0", pool, episodes=2, out=tmp_path, progress=interrupt, **ROOMS)
    with (tmp_path / "returns.jsonl").open("ab") as file:
        file.write(b'{"cell":[0,')  # as it is when a process is killed
    played = []
    again = cross_play(
        "CollabCapture-v0", pool, episodes=2, out=tmp_path, progress=lambda done, total: played.append(done), **ROOMS
    )
    assert np.array_equal(again.returns, full.returns)
    assert (
        played == [4, 5, 6, 7, 8]
        and "dropped an unfinished last line" in caplog.messages[0]
        and "3 episodes" in caplog.messages[1]
    )
    more = cross_play("CollabCapture-v0", pool, episodes=3, out=tmp_path, **ROOMS)
    assert np.array_equal(more.returns[..., :2], full.returns)


def test_fewer_episodes_than_a_folder_holds_are_refused(tmp_path):
    """Also after an interrupt, when some of the fewer ones are missing."""

    def interrupt(done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cross_play("CollabCapture-v0", ["greedy", "random"], episodes=3, out=tmp_path, progress=interrupt, **ROOMS)
    message = r"holds 2 episodes beyond those of this run, such as episode 1 of cell \(0, 0\); ask for as many"
    with pytest.raises(ValueError, match=message):
        cross_play("CollabCapture-v0", ["greedy", "random"], episodes=1, out=tmp_path, **ROOMS)


def test_another_cross_play_is_not_overwritten(tmp_path):
    cross_play("CollabCapture-v0", ["random"], episodes=1, out=tmp_path, **ROOMS).write(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ValueError, match="holds a run with another configuration: pool was"):
        cross_play("CollabCapture-v0", ["greedy"], episodes=1, out=tmp_path, **ROOMS)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    (tmp_path / "config.json").unlink()
    with pytest.raises(ValueError, match=r"holds crossplay\.json but no config\.json"):
        cross_play("CollabCapture-v0", ["random"], episodes=1, out=tmp_path, **ROOMS)


def test_a_return_that_is_no_number_is_not_written(tmp_path):
    with Run(tmp_path, {}, lines=LINES) as run:
        run.append(CellReturn((0, 0, 0), 1.5))
        with pytest.raises(ValueError, match="return"):
            run.append(CellReturn((0, 0, 1), float("nan")))
    with Run(tmp_path, {}, lines=LINES) as run:
        assert list(run.results) == [(0, 0, 0)]


def test_a_layout_may_be_a_path_in_every_way_to_play(tmp_path):
    path = tmp_path / "room.yaml"
    path.write_text("grid: |\n  XXPXX\n  O1 2O\n  X   X\n  XDXSX\n")
    options = {"layout": path, "max_cycles": 5}
    played = cross_play("Overcooked-v0", ["random", "greedy"], options=options, episodes=1, workers="1")
    assert played.returns.shape == (2, 2, 1)
    one, other = (cached_env("Overcooked-v0", {"layout": layout}) for layout in (path, str(path)))
    assert one is other


def test_records_of_unequal_numbers_are_cut_with_a_warning(caplog):
    records = []
    for number, team in enumerate(itertools.product(("random", "always:1"), repeat=2)):
        seats = [f"agent_{seat}={policy}" for seat, policy in enumerate(team)]
        plan = plan_evaluation(
            "overcooked", seats, layouts=("cramped_room",), episodes=2 if number else 1, max_cycles=3
        )
        records += evaluate(plan, workers=1)
    result = from_records(("random", "always:1"), records)
    assert result is not None and result.returns.shape == (2, 2, 1)
    assert caplog.messages[-1] == "cross-play: pairs have 1 to 4 episodes; the first 1 of each count"
