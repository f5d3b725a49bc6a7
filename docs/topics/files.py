"""Facts of the page on files of users: examples, proofs, and what is said about files that cannot work."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

from collab_overcooked import registry
from collab_overcooked.cli import app
from collab_overcooked.games.cuisineworld.engine.spec import load_level
from collab_overcooked.games.rush.engine.solvability import prove_solvability
from collab_overcooked.games.rush.engine.spec import load_scenario

from .writing import EXAMPLES, complaint, example, table


def example_kitchen() -> str:
    """Show the example kitchen of Collab-Overcooked."""
    return example("diner.yaml")


def example_task() -> str:
    """Show the example task of Collab-Overcooked."""
    return example("beef_stew.yaml")


def example_layout() -> str:
    """Show the example layout of Overcooked."""
    return example("layouts/pantry.yaml")


def example_v2_layout() -> str:
    """Show the example layout of OvercookedV2."""
    return example("layouts/alcove.yaml")


def example_craft_level() -> str:
    """Show the example level of CraftKitchen."""
    return example("layouts/orchard.yaml")


def example_map() -> str:
    """Show the example map of the room games."""
    return example("layouts/attic.yaml")


def example_scenario() -> str:
    """Show the example scenario of Rush."""
    return example("scenarios/bistro.yaml")


def run(*command: str) -> str:
    """Return what a command prints, as a block of text."""
    with redirect_stdout(io.StringIO()) as printed, redirect_stderr(printed), suppress(SystemExit):
        app(command)
    return f"```text\n{printed.getvalue().rstrip()}\n```"


def scenario_verified() -> str:
    """Prove what the example scenario claims."""
    return run("check", str(EXAMPLES / "scenarios" / "bistro.yaml"))


LOADERS: dict[str, Callable[[Path], object]] = {
    "diner.yaml": lambda path: registry.load_game("CollabOvercooked-v0", kitchen=str(path)),
    "levels/brunch.yaml": load_level,
    "scenarios/bistro.yaml": lambda path: prove_solvability(load_scenario(path)),
}
MISTAKES: tuple[tuple[str, str, str, str], ...] = (
    ("a misspelt key", "diner.yaml", "cook_time:", "cooktime:"),
    ("a station that no agent can reach", "diner.yaml", "XPPXXXX", "PPPXXXX"),
    ("an order without recipe", "levels/brunch.yaml", "shakshuka: {lifetime: 30}", "sandwich: {lifetime: 30}"),
    ("an ingredient that is not listed", "scenarios/bistro.yaml", "{rice: 2, tofu: 1}", "{rice: 2, tofoo: 1}"),
)
"""What is wrong, the example, and the characters of it that are replaced, by which others."""


def file_errors() -> str:
    """Spoil the examples in several ways and list what is said about them."""
    return table(
        ("mistake", "message"), [(what, complaint(name, old, new, LOADERS[name])) for what, name, old, new in MISTAKES]
    )


FACTS: tuple[Callable[[], str], ...] = (
    example_layout,
    example_kitchen,
    example_v2_layout,
    example_task,
    example_craft_level,
    example_map,
    example_scenario,
    scenario_verified,
    file_errors,
)
