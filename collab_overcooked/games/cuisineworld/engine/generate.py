"""Levels drawn from the cookbook by number of tools and depth of recipes; mappings here, as in their YAML files."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from collab_overcooked.io.checks import parse_integer

from .spec import COOKBOOK, MAX_AGENTS, Level, Recipe, load_level

TRIES = 2_000  # draws of one level before giving up
MAX_COOKING_TOOLS, MAX_DISHES = 20, 10


@dataclass(frozen=True)
class GeneratorConfig:
    """Properties requested of a new level."""

    tools: int = 4  # Tools that cook, besides one storage and one serving table
    depth: int = 2  # Cooking steps one after the other in the deepest dish
    dishes: int = 3  # Different orders
    agents: int = 2  # Number of agents

    def __post_init__(self) -> None:
        limits = {
            "tools": MAX_COOKING_TOOLS,
            "depth": max(depths().values()),
            "dishes": MAX_DISHES,
            "agents": MAX_AGENTS,
        }
        for name, most in limits.items():
            parse_integer(name, getattr(self, name), 1, most=most)


@cache
def cookbook() -> Level:
    """Return a level with the whole cookbook and arbitrary orders."""
    values = {"extends": COOKBOOK, "name": COOKBOOK, "kitchen": ["storage", "servingtable"]}
    return load_level({**values, "orders": ["salmonMeatcake"]})


@cache
def depths() -> Mapping[str, int]:
    """Return the depth of each dish of the cookbook: the number of successive cooking steps."""
    recipes = cookbook().recipes

    def depth(name: str) -> int:
        return 1 + max(map(depth, recipes[name].ingredients)) if name in recipes else 0

    return {name: depth(name) for name in recipes}


def generate_level(config: GeneratorConfig, seed: int, name: str) -> dict[str, Any]:
    """Draw a level; deterministic in its arguments.

    At least one dish is as deep as wished and none is deeper. Each kind of tool that the dishes need is there; the
    other tools are further ones of these kinds.

    Raises:
        ValueError: If no such level was found.
    """
    rng, book = random.Random(seed), cookbook()
    fitting = [dish for dish, depth in depths().items() if depth <= config.depth]
    deepest = [dish for dish in fitting if depths()[dish] == config.depth]
    for _ in range(TRIES):
        first = rng.choice(deepest)
        others = rng.sample([dish for dish in fitting if dish != first], min(config.dishes, len(fitting)) - 1)
        orders = [first, *others]
        kinds = tool_kinds([recipe for dish in orders for recipe in book.steps_of(dish)])
        if len(orders) == config.dishes and len(kinds) <= config.tools:
            further = [kinds[k % len(kinds)] for k in range(config.tools - len(kinds))]
            kitchen = sorted([*kinds, *further], key=list(book.tools).index)
            return {
                "extends": COOKBOOK,
                "name": name,
                "class": "generated",
                "agents": config.agents,
                "kitchen": ["storage", *kitchen, "servingtable"],
                "orders": sorted(orders, key=list(book.recipes).index),
                "interval": 5,
                "lifetime": 10,
            }
    raise ValueError(
        f"tools: found no {config.dishes} dishes of depth {config.depth} that {config.tools} tools can make; "
        "allow more tools, fewer dishes or another seed"
    )


def tool_kinds(recipes: Sequence[Recipe]) -> list[str]:
    """Return the kinds of tools that recipes need, each once."""
    return list(dict.fromkeys(recipe.tool for recipe in recipes))
