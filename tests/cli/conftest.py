"""A run of two episodes, for tests of the commands that read runs."""

from __future__ import annotations

import pytest
from support.cli_runner import run


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "run"
    command = ["evaluate", "collab-overcooked", "--team", "agent_0=random", "agent_1=random", "--tasks", "boiled_egg"]
    done = run(*command, "--episodes", "2", "--seed", "0", "--workers", "1", "--out", folder)
    assert done.exit_code == 0, done.output
    return folder, done
