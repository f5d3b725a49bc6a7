"""Facts of the page on scenario files of Rush, made by running the commands that it shows."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

from collab_overcooked.cli import app
from collab_overcooked.games.rush.engine.solvability import prove_solvability
from collab_overcooked.games.rush.engine.spec import load_scenario

from .writing import EXAMPLES, complaints, example

BISTRO = EXAMPLES / "scenarios" / "bistro.yaml"


def example_layout() -> str:
    """Show the example layout of Overcooked."""
    return example("layouts/pantry.yaml").replace("layouts/", "", 1)


def example_craft_level() -> str:
    """Show the example level of CraftKitchen."""
    return example("layouts/orchard.yaml").replace("layouts/", "", 1)


def example_map() -> str:
    """Show the example map of the room games."""
    return example("layouts/attic.yaml").replace("layouts/", "", 1)


def example_scenario() -> str:
    """Show the example scenario file."""
    return example("scenarios/bistro.yaml").replace("scenarios/", "", 1)


def run(*words: str) -> str:
    """Return what a command prints, as a block of text."""
    with tempfile.TemporaryDirectory() as folder:
        shown = [str(Path(folder) / word) if word in ("dinner.yaml", "bistros.yaml") else word for word in words]
        with redirect_stdout(io.StringIO()) as printed, redirect_stderr(printed), suppress(SystemExit):
            app(shown)
    return f"```text\n{printed.getvalue().replace(f'{folder}/', '').rstrip()}\n```"


def scenario_verified() -> str:
    """Prove what the example scenario claims."""
    return run("check", str(BISTRO))


def scenario_open() -> str:
    """Prove it with too few states."""
    return run("check", "hard", "--budget", "30")


def scenario_made() -> str:
    """Make a new scenario."""
    return run(
        "generate", "KitchenRush-v0", "--seed", "7", "--tightness", "0.5", "--turns", "8", "--out", "dinner.yaml"
    )


def scenario_alike() -> str:
    """Make further episodes of the example."""
    return run("generate", "KitchenRush-v0", "--like", str(BISTRO), "--episodes", "3", "--out", "bistros.yaml")


MISTAKES: tuple[tuple[str, str, str], ...] = (
    ("a misspelt key", "max_turns: 5", "max_turn: 5"),
    ("a number that cannot be", "workers: 1", "workers: 0"),
    ("an ingredient that is not listed", "{rice: 2, tofu: 1}", "{rice: 2, tofoo: 1}"),
    ("a recipe of nothing", "ingredients: {mushroom: 2}", "ingredients: {}"),
    ("a spice that is an ingredient, too", "[pepper, chili]", "[pepper, rice]"),
    ("no stove", "stoves:\n      - {spaces: 2}", "stoves: []"),
    ("an area without spaces", "- {spaces: 2}", "- {id: 9}"),
    ("an area number that is taken", "- {spaces: 2}", "- {id: 0, spaces: 2}"),
    ("a claim that there is not", "team_turns: 5", "team_turn: 5"),
    ("a name that texts cannot carry", "Tofu Soup:", "'Soup: Tofu':"),
)


def scenario_errors() -> str:
    """Spoil the example scenario in several ways and list what is said about it."""
    return complaints("scenarios/bistro.yaml", MISTAKES, lambda path: prove_solvability(load_scenario(path)))


FACTS: tuple[Callable[[], str], ...] = (
    example_layout,
    example_craft_level,
    example_map,
    example_scenario,
    scenario_verified,
    scenario_open,
    scenario_made,
    scenario_alike,
    scenario_errors,
)
