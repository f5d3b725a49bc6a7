"""The SLURM array of the documentation: one of its tasks, run by bash as SLURM would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "docs/examples/slurm_array.sh"
TINY = ["--steps", "512", "--hyper", "environments=8", "rollout=8", "batch_size=128"]


def run(folder: Path, **task: str) -> subprocess.CompletedProcess[str]:
    others = {name: value for name, value in os.environ.items() if name != "SLURM_ARRAY_TASK_ID"}
    path = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    command = ["bash", str(SCRIPT), *TINY]
    return subprocess.run(command, cwd=folder, env=others | path | task, capture_output=True, text=True, check=False)


@pytest.mark.nightly
def test_a_task_of_the_array_trains_with_its_number_as_seed(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra rl")
    done = run(tmp_path, SLURM_ARRAY_TASK_ID="3")
    assert done.returncode == 0, done.stderr[-3000:]
    folder = tmp_path / "runs/ppo/seed_3"
    assert json.loads((folder / "settings.json").read_text())["seed"] == 3 and (folder / "policy.npz").is_file()


def test_outside_of_an_array_nothing_is_trained(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode != 0 and "SLURM_ARRAY_TASK_ID" in done.stderr and not list(tmp_path.iterdir())
