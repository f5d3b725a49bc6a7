"""Ctrl-C in a long command: the message is true, and the same command ends with what an uninterrupted one writes."""

from __future__ import annotations

import importlib.util
import json
import signal

import pytest
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.runner.run import Run

ROOMS = ["--set", "max_cycles=5"]
LITTLE = ["environments=16", "rollout=20", "batch_size=128", "epochs=1", "trunk=[8]", "heads=[8]", "checkpoint_every=1"]
COMMANDS = {
    "evaluate": ["evaluate", "collab-capture", "--team", "all=random", "--episodes", "6", *ROOMS, "--workers", "1"],
    "compare": [
        *["compare", "--games", "collab-capture", "--policies", "random", "greedy", "--episodes", "2"],
        *["--set", "collab-capture.max_cycles=5", "--workers", "1"],
    ],
    "crossplay": [
        *["crossplay", "--env", "CollabCapture-v0", "--pool", "random", "greedy", "--episodes", "2", *ROOMS],
        *["--workers", "1"],
    ],
    "train": [
        *["train", "ppo", "CuisineWorld-v0", "--set", "level=level_1", "agents=2", "--hyper", *LITTLE],
        *["--steps", "1600"],
    ],
}


def hook(command):
    """Return the class and the method that keeps a piece of the command's work."""
    if command == "train":
        from collab_overcooked.baselines.training import Training

        return Training, "save"
    return Run, "append"


def run(text, out):
    return CliRunner().invoke(app, [*text, "--out", str(out)])


def interrupted(text, out, count, monkeypatch):
    """Run a command that gets the signal of Ctrl-C once it has kept some of its work, or before it keeps any."""
    kind, name = hook(text[0])
    keep, calls = getattr(kind, name), []

    def keep_and_stop(self, *arguments):
        if len(calls) == count:
            signal.raise_signal(signal.SIGINT)
        calls.append(keep(self, *arguments))

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # processes in the background ignore it
    try:
        with monkeypatch.context() as patch:
            patch.setattr(kind, name, keep_and_stop)
            return run(text, out)
    finally:
        signal.signal(signal.SIGINT, before)


def result(command, folder):
    """Return what a command is run for."""
    if command == "train":
        from collab_overcooked.policies.policy_file import read_policy

        file = read_policy(folder / "policy.npz")
        return file.meta["score"], [weight.tolist() for _, weight, _ in file.network.layers]
    if command == "crossplay":
        return json.loads((folder / "crossplay.json").read_text())
    lines = {}
    for path in sorted(folder.rglob("records.jsonl")):
        records = [json.loads(line) for line in path.read_text().splitlines()]
        lines[path.relative_to(folder)] = [record | {"decisions": None} for record in records]  # which are timed
    return lines


@pytest.mark.parametrize("command", COMMANDS)
def test_the_same_command_resumes_after_an_interrupt(command, tmp_path, monkeypatch):
    if command == "train" and not importlib.util.find_spec("torch"):
        pytest.skip("needs the extra rl")
    text = COMMANDS[command]
    full = run(text, tmp_path / "whole")
    assert full.exit_code == 0, full.output
    early = interrupted(text, tmp_path / "cut", 0, monkeypatch)
    assert early.exit_code == 130
    assert f"stopped; {tmp_path / 'cut'} holds nothing to resume from; the same command starts" in early.stderr
    cut = interrupted(text, tmp_path / "cut", 3, monkeypatch)
    assert cut.exit_code == 130
    assert cut.stderr.splitlines()[-1] == f"stopped; the same command resumes {tmp_path / 'cut'}"
    again = run(text, tmp_path / "cut")
    assert again.exit_code == 0, again.output
    message = "960 of 1,600 steps are there, continuing" if command == "train" else "continuing, 3 "
    assert message in " ".join(again.stderr.split())
    assert result(command, tmp_path / "cut") == result(command, tmp_path / "whole")


def test_an_interrupt_tells_that_exchanges_of_unfinished_episodes_are_resumed(tmp_path, monkeypatch):
    (tmp_path / "exchanges.jsonl").write_text("{}\n")
    cut = interrupted(COMMANDS["evaluate"], tmp_path, 0, monkeypatch)
    assert cut.stderr.splitlines()[-1] == f"stopped; the same command resumes {tmp_path}"
