"""Every command on the page about partners never met runs, with a tiny budget."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from collab_overcooked.cli.app import app
from collab_overcooked.policies.policy_file import find_policy, read_policy, with_met

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how_to" / "partners.md"
TINY = {
    "score": ["--games", "1", "--families", "scripted"],
    "best": ["--games", "1"],
    "table": ["--resamples", "10"],
}


def test_the_commands_of_the_page_run_one_after_the_other(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for seed in range(2):
        folder = Path(f"runs/mine-{seed}")
        folder.mkdir(parents=True)
        file = with_met(read_policy(find_policy("kitchen_rush_easy")), [])
        file.meta["seed"] = seed  # another file than the pool's
        file.save(folder / "policy.npz")
    commands = re.findall(r"^\$ collab-overcooked (partners .*)$", PAGE.read_text("utf-8"), re.MULTILINE)
    names = [shlex.split(command)[1] for command in commands]
    assert names == ["list", "show", "check", "play", "score", "table", "best"]
    for command in commands:
        arguments = shlex.split(command)
        with pytest.raises(SystemExit) as exit_:
            app([*arguments, *TINY.get(arguments[1], [])])
        assert exit_.value.code == 0, capsys.readouterr()
    assert "| mine | 2 |" in capsys.readouterr().out
    assert Path("runs/table/profile.svg").exists() and Path("runs/best/kitchen_rush.yaml").exists()
