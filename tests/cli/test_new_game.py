"""The file that ``new-game`` writes is a whole game: it passes the kit, is evaluated, trains, and people play it."""

import importlib
import os
import re
import subprocess
import sys

import pytest
from play.world import QUICK, matches, play
from support.cli_runner import CliRunner

from collab_overcooked import registry
from collab_overcooked.cli import app
from collab_overcooked.play.session import Session
from collab_overcooked.play.settings import PlaySettings
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


def test_the_commands_of_its_first_lines_run(written, tmp_path):
    """With tiny budgets; what serves pages is only asked for its help, and people play in the test below."""
    commands = re.findall(r"^    collab-overcooked (.*)$", written.read_text(), re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["play", "evaluate", "train"]
    tiny = {
        "play": ["--help"],
        "evaluate": [
            "--workers",
            "1",
            "--no-report",
            "--set",
            "max_cycles=6",
            "--episodes",
            "1",
            "--out",
            tmp_path / "e",
        ],
        "train": ["--steps", "64", "--hyper", "environments=4", "rollout=8", "batch_size=16", "--out", tmp_path / "t"],
    }
    for command in commands:
        arguments = command.split()
        ours = {"--steps", "--episodes"}  # with larger budgets on the page
        kept = [one for k, one in enumerate(arguments) if not ours & {*arguments[max(0, k - 1) : k + 1]}]
        words = [*kept, *map(str, tiny[kept[0]])]
        if kept[0] == "train":
            assert run(*(word for word in words if word not in ("--import", str(written)))).exit_code == 0
            continue
        done = subprocess.run(  # a process of its own: commands list the suites of plug-ins as they start
            [sys.executable, "-m", "collab_overcooked", *words],
            cwd=tmp_path,
            env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "t" / "policy.npz").exists()


def test_people_play_it(written):
    session = Session(
        matches(["agent_0=person", "agent_1=random"], suite="lamproom", options={"max_cycles": 6}),
        PlaySettings(**QUICK),
    )
    play(session)
    assert [record.timesteps for record in session.records] == [6]


def test_what_exists_is_not_overwritten(written):
    before = written.read_bytes()
    assert "LampRoom-v0 is registered already" in run("new-game", "LampRoom", "--out", written.parent).stderr
    (written.parent / "other.py").write_text("x = 1\n")
    assert "other.py exists" in run("new-game", "Other", "--out", written.parent).stderr.replace("\n", "")
    assert "name must be CamelCase, such as LampRoom, not 'lamp'" in run("new-game", "lamp").stderr
    assert written.read_bytes() == before


def test_names_of_folders_are_taken_as_they_are(tmp_path):
    folder = tmp_path / "my games\\new"
    done = run("new-game", "LampRoom", "--out", folder)
    assert done.exit_code == 0, done.output
    assert f"--import '{folder}/lamproom.py'" in (folder / "lamproom.py").read_text()
