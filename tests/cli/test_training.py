"""``train``."""

from __future__ import annotations

from support.cli_runner import run


def test_steps_may_be_written_with_an_exponent(tmp_path):
    done = run("train", "ppo", "--steps", "2.5", "--out", tmp_path)
    assert done.exit_code == 2 and "--steps: '2.5' is not an integer such as 20000 or 2e4" in done.stderr
    assert not list(tmp_path.iterdir())
