"""The file that ``new-game`` writes is a whole game: it passes the kit, plays, trains, and shows in the browser."""

import importlib
import sys

import pytest
from cli_runner import CliRunner

from collab_overcooked import registry
from collab_overcooked.cli import app
from collab_overcooked.testing import check_game


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def written(tmp_path, monkeypatch):
    done = run("new-game", "LampRoom", "--out", tmp_path)
    assert done.exit_code == 0 and f"written: {tmp_path / 'lamproom.py'}" in done.stdout.replace("\n", "")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "GAMES", [*registry.GAMES])
    importlib.import_module("lamproom")
    yield tmp_path / "lamproom.py"
    sys.modules.pop("lamproom")


def test_it_passes_the_kit_and_is_short(written):
    report = check_game("LampRoom-v0", episodes=1)
    assert report.ok and not report.having("skipped")
    assert len(written.read_text().splitlines()) <= 140


def test_it_is_evaluated_described_and_played_by_people(written, tmp_path):
    team = ("agent_0=random", "agent_1=mcts:simulations=2")
    options = ("--workers", "1", "--no-report", "--set", "max_cycles=6", "--episodes", "1", "--out", tmp_path / "run")
    done = run("evaluate", "lamproom", "--team", *team, *options)
    assert done.exit_code == 0, done.stderr
    assert "LampRoom-v0, max_cycles 6" in done.stdout
    assert "Two walkers meet" in run("describe", "LampRoom-v0").stdout


def test_what_exists_is_not_overwritten(written):
    before = written.read_bytes()
    assert "LampRoom-v0 is registered already" in run("new-game", "LampRoom", "--out", written.parent).stderr
    (written.parent / "other.py").write_text("x = 1\n")
    assert "other.py exists" in run("new-game", "Other", "--out", written.parent).stderr.replace("\n", "")
    assert "name must be CamelCase, such as LampRoom, not 'lamp'" in run("new-game", "lamp").stderr
    assert written.read_bytes() == before


def test_it_trains(written, tmp_path):
    train = importlib.import_module("collab_overcooked.baselines.training").train
    settings = importlib.import_module("collab_overcooked.baselines.settings").TrainingSettings
    small = settings(
        env="LampRoom-v0", steps=64, environments=4, rollout=8, batch_size=16, epochs=1, trunk=(8,), heads=()
    )
    assert train(small, tmp_path / "trained", bar=False).steps >= 64
