"""``replay`` and ``render`` of episodes."""

from __future__ import annotations

import json

import pytest
from support.cli_runner import run


def test_replay_steps_through_an_episode(finished):
    folder, _ = finished
    done = run("replay", folder, "--episode", "1")
    assert done.exit_code == 0
    assert "boiled_egg, episode 1" in done.stdout
    assert done.stdout.count("agent_1: ") >= 25
    assert "not delivered after 25 timesteps" in done.stdout


def test_replay_check_believes_the_record(finished):
    done = run("replay", finished[0], "--check")
    assert done.exit_code == 0
    assert "2 of 2 episodes replay to the same events and rewards (50 steps)" in done.stdout


def test_replay_check_finds_a_changed_record(finished, tmp_path):
    lines = (finished[0] / "records.jsonl").read_text().splitlines()
    record = json.loads(lines[1])
    record["steps"][7]["rewards"] = [1.0, 1.0]
    path = tmp_path / "changed.jsonl"
    path.write_text(lines[0] + "\n" + json.dumps(record) + "\n")
    done = run("replay", path, "--check")
    assert done.exit_code == 1
    assert "boiled_egg, episode 1: steps[7].rewards[0]: recorded 1.0, replayed 0.0" in done.stdout
    assert "1 of 2 episodes" in done.stdout


def test_replay_check_prints_no_search_tree(finished):
    done = run("replay", finished[0], "--check", "--plan", "3")
    assert done.exit_code == 2 and "plan: --check prints no search tree" in done.stderr


@pytest.mark.parametrize(("name", "start"), [("film.gif", b"GIF8"), ("last.png", b"\x89PNG")])
def test_render_draws_an_episode(finished, tmp_path, name, start):
    done = run("render", finished[0], "--episode", "0", "--out", tmp_path / name)
    assert done.exit_code == 0, done.output
    assert (tmp_path / name).read_bytes().startswith(start)
