"""Files of datasets: arrays by hand, formats as their own libraries read them, and what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from support.cli_runner import CliRunner

from collab_overcooked import registry
from collab_overcooked.cli import app
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.export.trajectories import read_trajectory
from collab_overcooked.io.files import draft_folder
from collab_overcooked.runner.records import read_records
from collab_overcooked.runner.run import LOCK


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export") / "run"
    options = {"layouts": "cramped_room", "episodes": 2, "options": {"max_cycles": 15}}
    evaluate(plan_evaluation("overcooked", ["all=greedy"], **options), folder, workers=1)
    return folder


def export(*text) -> str:
    done = CliRunner().invoke(app, ["export", *map(str, text)], catch_exceptions=True)
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


def refused(*message) -> str:
    command = [sys.executable, "-m", "collab_overcooked", "export", *map(str, message)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    )
    assert done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1, done.stderr
    return done.stderr


def test_npz_has_the_arrays_of_a_vault(run, tmp_path):
    export("npz", run, "--set", "obs=features", "--out", tmp_path / "data")
    with np.load(tmp_path / "data" / "data.npz") as archive:
        arrays = dict(archive)
    game = registry.load_game("Overcooked-v0", layout="cramped_room", obs="features")
    shapes = {name: arrays[name].shape for name in arrays}
    assert shapes["observations"] == (1, 30, 2, *game.single_observation_space.shape)
    assert shapes["infos.legals"] == (1, 30, 2, game.n_actions)
    assert shapes["actions"] == shapes["rewards"] == shapes["terminals"] == shapes["truncations"] == (1, 30, 2)
    assert np.flatnonzero(arrays["truncations"][0, :, 0]).tolist() == [14, 29] and not arrays["terminals"].any()
    episodes = json.loads((tmp_path / "data" / "dataset.json").read_text())["episodes"]
    assert [(entry["steps"], entry["team"]["agent_0"]) for entry in episodes] == [(15, "greedy")] * 2


def test_one_seat_is_alone_and_has_no_global_state(run, tmp_path):
    export("npz", run, "--seat", 1, "--out", tmp_path / "data")
    with np.load(tmp_path / "data" / "data.npz") as arrays:
        assert arrays["actions"].shape == (1, 30, 1) and "infos.state" not in arrays.files


def test_parquet_has_a_row_for_each_agent_and_step(run, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    export("parquet", run, "--out", tmp_path / "data")
    rows = parquet.read_table(tmp_path / "data" / "data.parquet").to_pylist()
    trajectory = read_trajectory(read_records(run)[0], {})
    assert [(row["episode"], row["t"], row["agent"]) for row in rows] == [
        (episode, t, agent) for episode in range(2) for t in range(15) for agent in range(2)
    ]
    for row in rows[:30]:
        assert row["observation"] == trajectory.observations[row["t"], row["agent"]].ravel().tolist()
        assert row["action"] == trajectory.actions[row["t"], row["agent"]]
        assert row["truncated"] == (row["t"] == 14) and not row["terminated"]


def test_minari_recovers_the_environment_and_its_episodes(run, tmp_path, monkeypatch):
    minari = pytest.importorskip("minari")
    export("minari", run, "--out", tmp_path / "data")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "data"))
    dataset = minari.load_dataset("collab-overcooked/Overcooked-cramped-room-central-v0")
    env = dataset.recover_environment()
    assert isinstance(env, gymnasium.Env) and dataset.total_steps == 30
    for episode in dataset.iterate_episodes():
        (metadata,) = dataset.storage.get_episode_metadata([episode.id])
        seen, infos = env.reset(seed=int(metadata["seed"]))
        for t, action in enumerate(episode.actions):
            np.testing.assert_array_equal(seen, episode.observations[t])
            np.testing.assert_array_equal(infos["action_mask"], episode.infos["action_mask"][t])
            seen, reward, terminated, truncated, infos = env.step(action)
            assert reward == episode.rewards[t]
            assert (terminated, truncated) == (episode.terminations[t], episode.truncations[t])
        np.testing.assert_array_equal(seen, episode.observations[-1])


def test_minari_of_one_seat_names_its_partners(run, tmp_path, monkeypatch):
    minari = pytest.importorskip("minari")
    export("minari", run, "--seat", 0, "--out", tmp_path / "data")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "data"))
    dataset = minari.load_dataset("collab-overcooked/Overcooked-cramped-room-agent0-v0")
    assert dataset.storage.metadata["algorithm_name"] == "greedy + greedy"
    assert isinstance(dataset.action_space, gymnasium.spaces.Discrete)


def test_what_cannot_be_exported_is_named(run, tmp_path):
    assert "unknown format 'csv'" in refused("csv", run, "--out", tmp_path / "a")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "x").touch()
    assert "exists and is not an empty folder" in refused("npz", run, "--out", tmp_path / "b")
    assert "--seat must be an integer from 0 to 1, not 7" in refused("npz", run, "--seat", 7, "--out", tmp_path / "c")
    assert "unknown task 'cramped'" in refused("npz", run, "--tasks", "cramped", "--out", tmp_path / "d")
    assert "changes Overcooked-v0 itself" in refused("npz", run, "--set", "layout=locked", "--out", tmp_path / "e")
    assert not (tmp_path / "e").exists()


KILLED = """
import os, runpy, sys
from pathlib import Path

out, moment = Path(sys.argv[1]), sys.argv[2]
moves = 0


def watch(event, args):
    global moves
    if event == "open" and moment == "writing" and args[2] & os.O_WRONLY:
        if str(args[0]).startswith(str(out)) and str(args[0]).endswith(".json"):
            os._exit(9)
    if event == "os.rename" and Path(args[1]).parent == out:
        moves += 1
        if moment == f"move {moves}":
            os._exit(9)


sys.argv[1:] = sys.argv[3:]
sys.addaudithook(watch)
runpy.run_module("collab_overcooked", run_name="__main__")
"""


@pytest.mark.parametrize(
    ("form", "moment", "names"),
    [
        ("npz", "writing", []),
        pytest.param("npz", "move 1", [], marks=pytest.mark.nightly),
        ("npz", "move 2", ["data.npz"]),
        pytest.param("parquet", "move 2", ["data.parquet"], marks=pytest.mark.nightly),
        pytest.param("minari", "move 1", [], marks=pytest.mark.nightly),
        pytest.param("chat", "move 1", [], marks=pytest.mark.nightly),
    ],
)
def test_a_killed_export_leaves_no_torn_file(run, tmp_path, form, moment, names):
    for module in {"parquet": ["pyarrow"], "minari": ["minari"]}.get(form, []):
        pytest.importorskip(module)
    out = tmp_path / "out"
    command = [sys.executable, "-c", KILLED, str(out), moment, "export", form, str(run), "--out", str(out)]
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environ)
    assert done.returncode == 9, done.stderr
    kept = [path.name for path in out.iterdir() if not path.name.startswith(".draft-") and path.name != LOCK]
    assert kept == names
    export(form, run, "--out", tmp_path / "full")
    for name in names:
        assert (out / name).read_bytes() == (tmp_path / "full" / name).read_bytes()
    if not names:
        export(form, run, "--out", out)  # the draft is in nobody's way
        return
    (out / LOCK).unlink(missing_ok=True)
    with draft_folder(out):
        assert len(list(out.iterdir())) == len(names) + 1
    assert [path.name for path in out.iterdir()] == names
