"""List options of the command line: values after spaces or commas, and errors that name the option."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import fields
from typing import Any

import pytest
from cyclopts import Argument
from support.cli_runner import CliRunner

from collab_overcooked import registry
from collab_overcooked.cli import app
from collab_overcooked.cli.app import commands
from collab_overcooked.io.options import NAMES, NUMBERS, PAIRS, SEATS

VALUES = {
    NAMES: ["one", "two"],
    NUMBERS: ["1", "2"],
    SEATS: ["agent_0=mcts:depth=4,width=2", "agent_1=greedy"],
    PAIRS: ["a=1", "b=[2, 3]"],
}


def options(suite: str) -> dict[str, Argument]:
    return {one.name: one for one in commands["evaluate"][suite].assemble_argument_collection() if not one.children}


def list_options(suite: str) -> dict[str, Argument]:
    return {name: one for name, one in options(suite).items() if (one.parameter.metavar or "").endswith("...")}


def parse(suite: str, *text: str) -> Any:
    _, bound, _ = commands.parse_args(["evaluate", suite, *text])
    changed = [group for group in bound.arguments.values() if group != type(group)()]
    values = [getattr(group, one.name) for group in changed for one in fields(group)]
    defaults = [one.default for group in changed for one in fields(group)]
    return next(value for value, default in zip(values, defaults, strict=True) if value != default)


@pytest.mark.parametrize("suite", registry.suites())
def test_spaces_commas_and_repetition_mean_the_same(suite):
    options = list_options(suite)
    assert {"--team", "--set", "--budget"} <= set(options)
    for switch, option in options.items():
        values = VALUES[option.parameter.metavar]
        expected = parse(suite, switch, *values)
        assert parse(suite, switch, *values, "--max-messages", "6") == expected
        assert parse(suite, switch, values[0], switch, values[1]) == expected
        if isinstance(expected, list):
            assert expected == values
        if option.parameter.metavar != PAIRS:  # whose values may hold commas
            assert parse(suite, switch, ",".join(values)) == expected
            assert parse(suite, f"{switch}={','.join(values)}") == expected


@pytest.mark.parametrize("suite", registry.suites())
def test_every_suite_option_with_several_values_is_a_list_option(suite):
    """What is read by splitting at commas must say so by its metavar, or spaces would be refused."""
    for switch, option in options(suite).items():
        if isinstance(option.field_info.default, str) and "," in option.field_info.default:
            assert switch in list_options(suite), switch


def test_a_second_value_of_another_option_names_the_option():
    done = CliRunner().invoke(app, ["evaluate", "overcooked", "--episodes", "1", "2"])
    assert done.exit_code == 2
    assert "--episodes takes one value, got '1 2'" in done.stderr


@pytest.mark.parametrize("module", ["collab_overcooked", "collab_overcooked.cli"])
def test_the_package_runs_as_a_module(module):
    environment = os.environ | {"PYTHONPATH": ":".join(filter(None, sys.path))}
    command = [sys.executable, "-m", module, "evaluat"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, "evaluate" in done.stderr) == (2, True), done.stderr
