"""Learning curves over seeds: plot and report, periodic evaluation, logs, and training with several seeds."""

from __future__ import annotations

import csv
import importlib
import json
import signal
import sys
import types

import numpy as np
import pytest
from support.cli_runner import CliRunner

from collab_overcooked.baselines import curves, seeds
from collab_overcooked.baselines.settings import TrainingSettings
from collab_overcooked.baselines.train_logger import read_log
from collab_overcooked.baselines.training import EVALUATION_SEED, train
from collab_overcooked.cli import app

SMALL = {"environments": 4, "rollout": 10, "batch_size": 40, "epochs": 1, "trunk": [8], "heads": [8]}
LONGER = SMALL | {"environments": 2, "rollout": 50}  # 1,700 steps end an episode of full length in each
ROOM = {"layout": "cramped_room", "obs": "features"}


def run(*text):
    return CliRunner().invoke(app, [str(word) for word in text], catch_exceptions=False)


def write_returns(folder, rows):
    folder.mkdir(parents=True)
    lines = ["steps,return,episodes,seconds", *(f"{steps},{value},4,1.0" for steps, value in rows)]
    (folder / "returns.csv").write_text("\n".join(lines) + "\n")


@pytest.fixture
def trainings(tmp_path):
    for seed, end in enumerate((10.0, 20.0, 60.0)):
        write_returns(tmp_path / f"ippo-{seed}", [(0, 0.0), (500, end / 2), (1000, end)])
    write_returns(tmp_path / "vdn-0", [(0, 1.0), (1000, 5.0)])
    return tmp_path


def test_curves_are_means_over_seeds_with_intervals(trainings):
    ippo, vdn = curves.aggregate(curves.training_folders([trainings]))
    assert (ippo.name, ippo.seeds, vdn.name, vdn.seeds) == ("ippo", 3, "vdn", 1)
    assert ippo.steps[0] == 0 and ippo.steps[-1] == 1000 and len(ippo.steps) == curves.POINTS
    for steps, value in zip(ippo.steps, ippo.values, strict=True):
        assert value.value == pytest.approx(30.0 * steps / 1000)
        assert value.low <= value.value <= value.high
    assert 10 <= ippo.values[-1].low < 30 < ippo.values[-1].high <= 60
    assert [value.value for value in vdn.values] == [1.0, 5.0] and vdn.values[0].low is None


def test_runs_of_different_length_are_averaged_where_all_have_been(tmp_path):
    write_returns(tmp_path / "a_0", [(100, 1.0), (400, 4.0)])
    write_returns(tmp_path / "a_1", [(200, 2.0), (900, 9.0)])
    (curve,) = curves.aggregate(curves.training_folders([tmp_path]))
    assert (curve.steps[0], curve.steps[-1]) == (200, 400) and curve.values[-1].value == pytest.approx(4.0)


def test_plot_writes_pictures_and_tables(trainings):
    for name in ("curves.svg", "curves.png", "curves.csv"):
        done = run("plot", trainings, "--out", trainings / name, "--title", "Two methods")
        assert done.exit_code == 0 and "| ippo | 3 | 1000 | 30.0" in done.stdout
    assert (trainings / "curves.png").read_bytes().startswith(b"\x89PNG")
    svg = (trainings / "curves.svg").read_text()
    assert "ippo (3 seeds)" in svg and "vdn (1 seed)" in svg and "Two methods" in svg
    with (trainings / "curves.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == curves.POINTS + 2 and {"return", "return_low", "return_high"} <= set(rows[0])


def test_report_takes_training_folders(trainings):
    done = run("report", trainings)
    assert done.exit_code == 0 and "| vdn | 1 | 1000 | 5.0" in done.stdout
    page = (trainings / "report.html").read_text()
    assert "<svg" in page and "ippo" in page and "Training: ippo, vdn" in page
    assert (trainings / "table.csv").read_text().startswith("training,seeds,steps")


@pytest.mark.parametrize("folder", [".", "a"])
def test_report_and_plot_find_the_same_trainings(tmp_path, folder):
    write_returns(tmp_path / folder / "vdn-0", [(0, 1.0), (1000, 5.0)])
    for command in (["plot", "--out", tmp_path / "curves.svg"], ["report"]):
        done = run(*command, tmp_path)
        assert done.exit_code == 0 and "| vdn | 1 | 1000 | 5.0" in done.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (["--column", "retrun"], "unknown column 'retrun'; did you mean return"),
        (["--out", "curves.pdf"], "out: 'curves.pdf' must end in .svg, .png, .csv"),
    ],
)
def test_wrong_columns_and_formats_are_refused(trainings, text, message):
    done = run("plot", trainings, *text)
    assert done.exit_code == 2 and message in " ".join(done.stderr.split())


def test_a_folder_without_training_is_refused(tmp_path):
    done = run("plot", tmp_path)
    assert done.exit_code == 2 and "holds no training" in done.stderr
    assert "no such folder" in run("plot", tmp_path / "x").stderr
    assert run("report", tmp_path).exit_code == 2


def small_training(**values):
    return TrainingSettings("Overcooked-v0", 160, options={**ROOM}, **SMALL, **values)


def test_evaluations_are_logged_and_change_nothing_else(tmp_path):
    train(small_training(), tmp_path / "plain", bar=False)
    train(small_training(evaluate_every=80, evaluation_games=2), tmp_path / "evaluated", bar=False)
    plain, evaluated = (read_log(tmp_path / name) for name in ("plain", "evaluated"))
    losses = ("entropy_loss", "value_loss", "approx_kl")
    assert [[line[name] for name in losses] for line in plain] == [
        [line[name] for name in losses] for line in evaluated
    ]
    assert [line["eval_return"] is not None for line in evaluated] == [False, True, False, True]
    assert "eval_return" not in plain[0]
    with (tmp_path / "evaluated" / "log.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["steps"]) for row in rows] == [40, 80, 120, 160]
    assert [row["eval_return"] for row in rows][::2] == ["", ""] and float(rows[1]["eval_return"]) >= 0
    assert EVALUATION_SEED > 10**9


def test_beside_partners_there_is_no_self_play_to_evaluate():
    with pytest.raises(ValueError, match="evaluate_every: it is for self-play"):
        small_training(evaluate_every=10, partners=["cramped_room"])


def test_wandb_gets_the_settings_and_every_line(tmp_path, monkeypatch):
    calls = []
    board = types.SimpleNamespace(
        log=lambda numbers, step: calls.append((step, numbers)), finish=lambda: calls.append("finish")
    )
    fake = types.SimpleNamespace(init=lambda **options: calls.append(options) or board)
    monkeypatch.setitem(sys.modules, "wandb", fake)
    train(small_training(), tmp_path / "mine", bar=False, services=["wandb"])
    started, *lines, last = calls
    assert started["config"]["steps"] == 160 and started["name"].endswith("-mine") and started["resume"] == "allow"
    assert [step for step, _ in lines] == [40, 80, 120, 160] and last == "finish"
    assert all(np.isfinite(numbers["entropy_loss"]) for _, numbers in lines)


def test_a_service_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    texts = ["train", "ppo", "Overcooked-v0", "--steps", 40, "--out", tmp_path / "x", "--log"]
    done = run(*texts, "wandb")
    assert done.exit_code == 2 and "pip install wandb" in done.stderr
    done = run(*texts, "wandv")
    assert done.exit_code == 2 and "unknown log 'wandv'" in done.stderr
    assert not (tmp_path / "x").exists()


def test_seeds_are_trained_each_in_its_folder_and_summarised(tmp_path):
    hyper = [f"{name}={str(value).replace(' ', '')}" for name, value in LONGER.items()]
    texts = ["train", "ppo", "Overcooked-v0", "--set", "layout=cramped_room", "obs=features"]
    texts += ["--hyper", *hyper, "--steps", 1700, "--seeds", 3, 5, "--workers", 1, "--out", tmp_path / "ppo"]
    done = run(*texts)
    assert done.exit_code == 0, done.stderr
    assert "| ppo | 2 | " in done.stderr
    names = {path.name for path in (tmp_path / "ppo").iterdir()}
    assert names == {"seed_3", "seed_5", "table.md", "table.csv", "curves.svg", "report.html"}
    seeds = [json.loads((tmp_path / "ppo" / f"seed_{k}" / "settings.json").read_text())["seed"] for k in (3, 5)]
    assert seeds == [3, 5]
    assert "it is finished" in run(*texts).stderr


def test_other_algorithms_take_several_seeds_and_send_their_logs(tmp_path, monkeypatch):
    """Rounds of state-augmented self-play have returns and thus curves; a population has logs of its members only."""
    sent = []

    def init(name, **options):
        return types.SimpleNamespace(log=lambda numbers, step: sent.append((name, step)), finish=lambda: None)

    monkeypatch.setitem(sys.modules, "wandb", types.SimpleNamespace(init=init))
    little = ["environments=16", "rollout=20", "batch_size=160", "epochs=1", "trunk=[8]", "heads=[8]"]
    options = ["--config", "coordination_ring", "--steps", 640, "--seeds", 0, 1, "--workers", 1, "--log", "wandb"]
    rounds = ["seeds=1", "rounds=1", "buffer_games=1"]
    done = run("train", "sa", *options, "--hyper", *little, *rounds, "--out", tmp_path / "sa")
    assert done.exit_code == 0 and "| sa | 2 | " in done.stderr, done.output
    assert {path.name for path in (tmp_path / "sa").iterdir()} >= {"seed_0", "seed_1", "table.md", "curves.svg"}
    assert {name for name, _ in sent} == {"sa-seed_0", "sa-seed_1"}
    sent.clear()
    done = run(
        "train", "population", *options, "--hyper", *little, "members=1", "scoring_games=2", "--out", tmp_path / "p"
    )
    assert done.exit_code == 0 and {path.name for path in (tmp_path / "p").iterdir()} == {"seed_0", "seed_1"}
    assert {name for name, _ in sent} == {"p-seed_0-member_0", "p-seed_1-member_0"}
    assert [step for name, step in sent if name == "p-seed_0-member_0"] == [320, 640]


@pytest.mark.slow
def test_seeds_in_processes_come_to_the_same(tmp_path):
    hyper = [f"{name}={str(value).replace(' ', '')}" for name, value in LONGER.items()]
    texts = ["train", "ppo", "Overcooked-v0", "--set", "layout=cramped_room", "obs=features", "--hyper", *hyper]
    for workers in (1, 2):
        texts_of = [*texts, "--steps", 1700, "--seeds", 0, 1, "--workers", workers, "--out", tmp_path / str(workers)]
        assert run(*texts_of).exit_code == 0
    for seed in (0, 1):
        first, second = ((tmp_path / str(k) / f"seed_{seed}" / "policy.npz").read_bytes() for k in (1, 2))
        with (
            np.load(tmp_path / "1" / f"seed_{seed}" / "policy.npz") as one,
            np.load(tmp_path / "2" / f"seed_{seed}" / "policy.npz") as other,
        ):
            arrays = [name for name in one.files if one[name].dtype.kind == "f"]
            assert arrays and all(np.array_equal(one[name], other[name]) for name in arrays)
        assert first and second


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (["train", "response", "--pool", "x.yaml", "--seeds", "0", "1"], "seeds: response writes the best response of"),
        (["train", "ppo", "Overcooked-v0", "--hyper", "clipp=1", "--seeds", "0", "1"], "clipp"),
        (["train", "ppo", "Overcooked-v0", "--workers", "2"], "workers: they are for several trainings"),
        (["train", "ppo", "Overcooked-v0", "--steps", "9", "--seeds", "1", "1"], "is given twice"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path, text, message):
    done = run(*text, "--out", tmp_path / "x")
    assert done.exit_code == 2 and message in " ".join(done.stderr.split())


KILLED = """\
import os
import signal


def train(seed, folder):
    if seed == 1:
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
def test_a_killed_worker_is_reported_with_its_seed(tmp_path, monkeypatch):
    (tmp_path / "killed.py").write_text(KILLED)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "killed", raising=False)
    train = importlib.import_module("killed").train
    with pytest.raises(OSError, match=r"a worker process ended .* the same command resumes .*, seed (0 and )?1$"):
        seeds.train_seeds(train, [0, 1], tmp_path / "run", "2")
