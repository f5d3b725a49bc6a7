"""Other people's trainers train on our environments: each in a virtual environment of its own, with masks obeyed.

The scripts are those of the documentation. Their heads say what they need (inline script metadata), and that is what
gets installed, beside the package itself; what is installed is kept under ``.cache/trainers`` until the head changes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from support.locked import torch_constraint

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SINGLE_FILES = ("ippo", "vdn")  # need this package alone; tests/baselines/test_single_file.py trains them
SCRIPTS = sorted(path for path in (ROOT / "docs" / "trainers").glob("*.py") if path.stem not in SINGLE_FILES)
STEPS = 256

pytestmark = pytest.mark.trainers


def requirements(script: Path) -> list[str]:
    """Read the dependencies from a script's head (PEP 723), ours replaced by this folder."""
    head = re.search(r"^# /// script\n(?P<body>(?:#.*\n)+?)# ///$", script.read_text(encoding="utf-8"), re.MULTILINE)
    assert head, f"{script.name} does not say what it needs"
    body = "".join(line.removeprefix("#").removeprefix(" ") for line in head["body"].splitlines(keepends=True))
    names = tomllib.loads(body)["dependencies"]
    assert "collab-overcooked" in names
    return [name for name in names if name != "collab-overcooked"]


def environment(script: Path) -> Path:
    """Return the Python of a virtual environment that has what a script needs; skip if that cannot be installed."""
    needs = requirements(script)
    folder = ROOT / ".cache" / "trainers" / script.stem
    python, stamp = folder / "bin" / "python", folder / "installed.json"
    expected = {"needs": needs, "project": hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()}
    if stamp.is_file() and json.loads(stamp.read_text()) == expected:
        return python
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    command = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--constraint",
        torch_constraint(folder),
        *needs,
        "--editable",
    ]
    created = subprocess.run([*command, ROOT], capture_output=True, text=True, check=False)
    if created.returncode:
        pytest.skip(f"{', '.join(needs)} cannot be installed here: {created.stderr.strip().splitlines()[-1]}")
    stamp.write_text(json.dumps(expected))
    return python


def run(python: Path, *command: Path | str) -> str:
    """Run a script in an environment and return its output."""
    results = {"NUMBA_CACHE_DIR": str(python.parents[1] / "numba"), "OMP_NUM_THREADS": "1"}
    played = subprocess.run(
        [python, *command], env=os.environ | results, capture_output=True, text=True, check=False, timeout=900
    )
    assert played.returncode == 0, played.stderr[-3000:]
    return played.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_trainer(script: Path) -> None:
    output = run(environment(script), HERE / "strict.py", script, str(STEPS))
    steps = [int(number) for number in re.findall(r"^\S+: (\d+) steps$", output, re.MULTILINE)]
    assert len(steps) == 2, output
    assert min(steps) >= STEPS


@pytest.mark.parametrize("name", ["benchmarl_mappo", "torchrl_ppo"])
def test_torchrl_environment(name: str) -> None:
    """BenchMARL needs an older release of TorchRL than the newest, so two releases are checked."""
    output = run(environment(ROOT / "docs" / "trainers" / f"{name}.py"), HERE / "check_torchrl.py")
    assert output.count("passed: ") == 5, output
