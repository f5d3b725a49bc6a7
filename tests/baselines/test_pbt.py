"""Populations: selection, copying, change, and going on after a stop."""

from __future__ import annotations

import importlib.util
import json
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool

import numpy as np
import pytest

from collab_overcooked import registry
from collab_overcooked.baselines import pbt
from collab_overcooked.baselines.curves import read_points, training_folders, write_report
from collab_overcooked.baselines.pbt import (
    CHANGED,
    PbtSettings,
    Task,
    advance,
    change,
    file_of,
    read_pbt_settings,
    run_pbt,
)
from collab_overcooked.baselines.settings import TrainingSettings
from collab_overcooked.policies.policy_file import PolicyFile, read_policy

SMALL = {"environments": 8, "rollout": 10, "batch_size": 40, "epochs": 1, "trunk": (8,), "heads": (8,)}
COOKING = TrainingSettings("CuisineWorld-v0", 480, {"level": "level_1", "agents": 2}, **SMALL)
REMEMBERING = COOKING.with_values({"memory": "gru:4", "sequence": 5})
TWO = PbtSettings(population=2, generation_steps=160, selection_games=2)


class Here(Executor):
    """Carries out tasks in this process."""

    def submit(self, function, /, *args, **kwargs):
        done = Future()
        done.set_result(function(*args, **kwargs))
        return done


@pytest.fixture
def here(monkeypatch):
    monkeypatch.setattr(pbt, "pool_of", lambda pbt_settings: Here())


def same_network(one: PolicyFile, other: PolicyFile) -> bool:
    layers = zip(one.network.layers, other.network.layers, strict=True)
    return all(np.array_equal(a[1], b[1]) and np.array_equal(a[2], b[2]) for a, b in layers)


def test_a_population_trains_selects_and_exports_its_best(tmp_path, here, caplog):
    path = run_pbt(TWO, COOKING, tmp_path, command="collab-overcooked train pbt")
    assert len(caplog.messages) == 3
    meta = read_policy(path).meta
    assert (meta["algorithm"], meta["steps"], meta["command"]) == ("pbt", 480, "collab-overcooked train pbt")
    history = json.loads((tmp_path / "population.json").read_text())["history"]
    assert [entry["steps"] for entry in history] == [160, 320, 480]
    assert read_points(tmp_path) == [(entry["steps"], max(entry["scores"])) for entry in history]
    assert "report.html" in write_report(tmp_path, training_folders([tmp_path]))
    for entry in history:
        best, worst = int(np.argmax(entry["scores"])), int(np.argmin(entry["scores"]))
        assert (entry["best"], entry["replaced"]) == (best, worst if worst != best else None)
    kept = {path.name for path in tmp_path.glob("member_0/*.pt")}
    assert kept == {"generation_2.pt", "generation_3.pt"}


class Killed(Here):
    """Loses the worker of the second task."""

    def map(self, function, tasks, **options):
        function(tasks[0])
        raise BrokenProcessPool


def test_a_killed_worker_is_reported_with_its_member_and_the_population_goes_on(tmp_path, here, monkeypatch):
    with monkeypatch.context() as patch, pytest.raises(OSError, match="resumes generation 1, whose member 1 is unfin"):
        patch.setattr(pbt, "pool_of", lambda pbt_settings: Killed())
        run_pbt(TWO, COOKING, tmp_path)
    assert run_pbt(TWO, COOKING, tmp_path).exists()


@pytest.mark.parametrize(
    "settings", [pytest.param(COOKING, id="dense"), pytest.param(REMEMBERING, id="memory", marks=pytest.mark.nightly)]
)
def test_a_population_that_was_stopped_goes_on_to_the_same_result(tmp_path, here, monkeypatch, settings):
    full = run_pbt(TWO, settings, tmp_path / "whole")
    calls = []

    def stopped(task: Task):
        calls.append(task)
        if len(calls) == 4:  # the second member of the second generation
            raise KeyboardInterrupt
        return advance(task)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(pbt, "advance", stopped)
        run_pbt(TWO, settings, tmp_path / "cut")
    cut = run_pbt(TWO, settings, tmp_path / "cut")
    assert same_network(read_policy(full), read_policy(cut))
    assert (tmp_path / "whole" / "log.jsonl").read_text() == (tmp_path / "cut" / "log.jsonl").read_text()
    with pytest.raises(ValueError, match="steps was 480, now 320; it can only be extended"):
        run_pbt(TWO, settings.with_values({"steps": 320}), tmp_path / "cut")
    with pytest.raises(ValueError, match="resume with the same"):
        run_pbt(TWO, settings.with_values({"gamma": 0.5}), tmp_path / "cut")
    run_pbt(TWO, settings.with_values({"steps": 640}), tmp_path / "cut")
    generations = (tmp_path / "cut" / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["steps"] for line in generations] == [160, 320, 480, 640]


DAMAGES = [
    (lambda state: state["history"][0]["scores"].__setitem__(1, float("nan")), "NaN", "cannot be written"),
    (lambda state: state["history"][0].update(best=2), "history[0].best must be", "history[0].best must be"),
    (lambda state: state["history"][0].pop("replaced"), "history[0].replaced is missing", "history[0].replaced"),
    (lambda state: state["members"][0].update(gamma=-1), "members[0]: gamma must be", "members[0]: gamma must be"),
    (lambda state: state["members"][1].update(gama=1), "unknown", "unknown"),
    (lambda state: state["parents"].append(0), "parents lists 3 entries", "parents lists 3 entries"),
]


@pytest.mark.parametrize(("damage", "read", "written"), DAMAGES)
def test_what_the_reader_of_a_population_refuses_is_not_written(tmp_path, here, monkeypatch, damage, read, written):
    """One schema for both directions: a state that would be refused on resuming ends the run before it is written."""
    short = COOKING.with_values({"steps": 160})
    run_pbt(TWO, short, tmp_path / "read")
    path = tmp_path / "read" / "population.json"
    state = json.loads(path.read_text())
    damage(state)
    path.write_text(json.dumps(state))
    with pytest.raises(ValueError) as error:
        run_pbt(TWO, short, tmp_path / "read")
    assert str(path) in str(error.value) and read in str(error.value)
    monkeypatch.setattr(pbt, "next_generation", lambda *args: state)
    with pytest.raises(ValueError) as error:
        run_pbt(TWO, short, tmp_path / "written")
    assert written in str(error.value)
    assert not (tmp_path / "written" / "population.json").exists()


def test_the_worst_starts_from_the_best_ones_weights_with_its_own_environments(tmp_path, here):
    run_pbt(TWO, COOKING.with_values({"steps": 160}), tmp_path)
    task = Task(tmp_path, 1, 0, 2, COOKING, 160, 2)  # no more steps: what it starts with is what it ends with
    advance(task)
    created, parent, entry = (read_policy(file_of(tmp_path, *place, "npz")) for place in ((1, 2), (0, 1), (1, 1)))
    assert same_network(created, parent) and not same_network(created, entry)


def test_settings_change_by_the_factors_or_not_at_all():
    rng = np.random.default_rng(0)
    start = COOKING.with_values({"epochs": 4})
    seen = {name: set() for name in CHANGED}
    for _ in range(60):
        changed = change(start, PbtSettings(), rng)
        for name in CHANGED:
            seen[name].add(round(getattr(changed, name) / getattr(start, name), 6))
        assert changed.final_learning_rate / changed.learning_rate == pytest.approx(0.1)
    assert seen["learning_rate"] == seen["entropy"] == seen["clip"] == {0.75, 1.0, 1.25}
    assert seen["epochs"] == {0.75, 1.0, 1.25}
    assert seen["gae_lambda"] == {round(value / 0.95, 6) for value in (0.925, 0.95, 0.975)}
    assert change(start, PbtSettings(change_probability=0.0), rng) == start


def test_selection_pairs_everybody_in_both_seats():
    game = registry.load_game("CuisineWorld-v0", level="level_1", agents=2)
    from support.policies_of_chance import a_policy

    members = [a_policy(game, seed) for seed in (1, 2)]
    scores = pbt.select(game, members, 3, 0.0, 5)
    totals = [[pbt.play_games(game, [a, b], 3, 5).returns.mean() for b in members] for a in members]
    assert scores[0] == pytest.approx((2 * totals[0][0] + totals[0][1] + totals[1][0]) / 4)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"population": 1}, "population must be an integer of at least 2, not 1"),
        ({"factors": [0.0]}, "factors[0] must be a number above 0"),
        ({"factors": 0.5}, "factors must be a list of entries, for example [0.5], not 0.5"),
        ({"change_probability": "all"}, "change_probability must be a number from 0 to 1, not 'all'"),
        ({"change_probability": 2.0}, "change_probability must be a number from 0 to 1"),
        ({"executor": "rai"}, "executor must be one of processes, ray, not 'rai'"),
        ({"partners": ["a.npz"]}, "partners: means nothing to a population"),
        ({"target_return": 0.0}, "target_return: means nothing to a population"),
        ({"populatoin": 3}, "unknown option 'populatoin'"),
    ],
)
def test_bad_values_are_refused(values, text):
    with pytest.raises(ValueError) as error:
        read_pbt_settings({"env": "CuisineWorld-v0", "steps": 10, **values})
    assert text in str(error.value)


@pytest.mark.nightly
def test_members_train_in_processes_of_their_own(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    settings = COOKING.with_values({"steps": 160})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pbt, "pool_of", lambda pbt_settings: Here())
        one = run_pbt(TWO, settings, here)
    other = run_pbt(TWO, settings, there)
    assert same_network(read_policy(one), read_policy(other))


@pytest.mark.nightly
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed; it is the extra ray")
@pytest.mark.filterwarnings("ignore")
def test_members_train_on_a_local_ray(tmp_path, on_ray):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pbt, "pool_of", lambda pbt_settings: Here())
        one = run_pbt(TWO, COOKING, tmp_path / "here")
    pbt_settings = PbtSettings(population=2, generation_steps=160, selection_games=2, executor="ray")
    other = on_ray(lambda: run_pbt(pbt_settings, COOKING, tmp_path / "ray"))
    assert same_network(read_policy(one), read_policy(other))
