"""List options of the command line: values after spaces or commas, and errors that name the option."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from collab_overcooked import registry
from collab_overcooked.cli import app
from collab_overcooked.cli.evaluate import suite_command
from collab_overcooked.cli.options import MultiValueCommand
from collab_overcooked.io.options import NAMES, NUMBERS, PAIRS, SEATS

VALUES = {
    NAMES: ["one", "two"],
    NUMBERS: ["1", "2"],
    SEATS: ["agent_0=mcts:depth=4,width=2", "agent_1=greedy"],
    PAIRS: ["a=1", "b=[2, 3]"],
}


def list_options(suite: str) -> dict[str, Any]:
    return {param.opts[0]: param for param in suite_command(suite).params if (param.metavar or "").endswith("...")}


def parse(suite: str, switch: str, *text: str) -> Any:
    option = list_options(suite)[switch.partition("=")[0]]
    with suite_command(suite).make_context("x", [switch, *text]) as context:
        return context.params[option.name]


@pytest.mark.parametrize("suite", registry.suites())
def test_spaces_commas_and_repetition_mean_the_same(suite):
    options = list_options(suite)
    assert {"--team", "--set", "--budget"} <= set(options)
    for switch, option in options.items():
        values = VALUES[option.metavar]
        expected = parse(suite, switch, *values)
        assert parse(suite, switch, *values, "--no-report") == expected
        if option.multiple:
            assert expected == values
            assert parse(suite, switch, values[0], switch, values[1]) == expected
        if option.metavar != PAIRS:  # whose values may hold commas
            assert parse(suite, switch, ",".join(values)) == expected
            assert parse(suite, f"{switch}={','.join(values)}") == expected


@pytest.mark.parametrize("suite", registry.suites())
def test_every_suite_option_with_several_values_is_a_list_option(suite):
    """What is read by splitting at commas must say so by its metavar, or spaces would be refused."""
    flags = {param.opts[0]: param for param in suite_command(suite).params}
    for switch, option in flags.items():
        if isinstance(option.default, str) and "," in option.default:
            assert switch in list_options(suite), switch


def test_a_second_value_of_another_option_names_the_option():
    done = CliRunner().invoke(app, ["evaluate", "overcooked", "--episodes", "1", "2"])
    assert done.exit_code == 2
    assert "--episodes takes one value, got '1 2'" in done.stderr


def test_positional_arguments_are_not_taken_by_a_list_option_before_them():
    seen: list[Any] = []
    alone = typer.Typer()

    @alone.command(cls=MultiValueCommand)
    def run(
        runs: Annotated[list[str], typer.Argument()],
        metrics: Annotated[str, typer.Option(metavar=NAMES)] = "",
        pool: Annotated[list[str] | None, typer.Option()] = None,
    ) -> None:
        seen.append((runs, metrics, pool))

    for text in (
        ["a", "--metrics", "x", "y", "--pool", "greedy", "mcts:depth=2,width=3,random"],
        ["--metrics", "x,y", "a", "--pool", "greedy,mcts:depth=2,width=3,random"],
    ):
        assert CliRunner().invoke(alone, text).exit_code == 0
    assert seen == [(["a"], "x,y", ["greedy", "mcts:depth=2,width=3", "random"])] * 2


@pytest.mark.parametrize("module", ["collab_overcooked", "collab_overcooked.cli"])
def test_the_package_runs_as_a_module(module):
    environment = os.environ | {"PYTHONPATH": ":".join(filter(None, sys.path))}
    command = [sys.executable, "-m", module, "evaluat"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, "evaluate" in done.stderr) == (2, True), done.stderr
