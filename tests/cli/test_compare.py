"""The command ``compare``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.cli_runner import CliRunner

from collab_overcooked import registry
from collab_overcooked.cli import app
from collab_overcooked.evaluation.compare import page
from collab_overcooked.evaluation.compare import plan as plans


def test_a_setting_with_a_comma_is_named_on_the_command_line() -> None:
    settings = [setting.name for setting in registry.load_suite("rush").benchmark("small").settings]
    name = next(name for name in settings if ", " in name)
    plan = plans.make_plan(["random"], ["rush"], budget="small", crossplay=False, only=[*name.split(", "), settings[0]])
    assert plan.only == (name, settings[0])


def run(*text: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in text])


def test_the_command_compares_and_writes_again(tmp_path: Path) -> None:
    out = tmp_path / "compared"
    text = ("--games", "rush", "--episodes", 1, "--no-crossplay", "--workers", 1)
    done = run("compare", "--policies", "greedy", "selfish", *text, "--out", out)
    assert done.exit_code == 0, done.output
    assert "selfish" in done.stdout and f"Open {out}/report.html" in done.stderr.replace("\n", "")
    first = (out / "report.json").read_text()
    for name in page.FILES:
        (out / name).unlink()
    again = run("compare", "--report-only", out)
    assert again.exit_code == 0, again.output
    assert (out / "report.json").read_text() == first
    assert json.loads(first)["games"][0]["crossplay"] is None
    more = run("compare", "--policies", "greedy", "random", *text, "--out", out)
    assert "random" in more.stdout and "selfish" not in more.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (("--policies", "gready"), "unknown policy 'gready'"),
        (("--policies", "greedy", "--games", "rush", "--rate", "3"), "option --rate is for teams with llm policies"),
        (
            ("--policies", "greedy", "--games", "rush", "--budget-per-episode", "calls=3"),
            "option --budget-per-episode is",
        ),
        (("--report-only", "absent"), "absent/comparison.json: cannot be read"),
        (("--report-only", "absent", "--games", "rush"), "option --games has no effect with --report-only"),
        (("--out", "x", "--report-only", "absent"), "option --out has no effect with --report-only"),
        (("--replay", "x", "--report-only", "absent"), "option --replay has no effect with --report-only"),
    ],
)
def test_the_command_refuses_in_one_line(tmp_path: Path, text: tuple[str, ...], message: str) -> None:
    folder = () if "--report-only" in text else ("--out", tmp_path / "never")
    done = run("compare", *text, *folder)
    assert done.exit_code == 2 and message in done.output
    assert not (tmp_path / "never").exists()
