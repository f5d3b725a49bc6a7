"""Scenarios: frozen dataclasses read from YAML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from collab_overcooked.io.checks import near_matches, quote_value
from collab_overcooked.io.documents import Document, builtin_names, load_layout

from .constants import MAX_AGENTS, MAX_TURNS, MAX_WORKERS

FOLDER = "rush"
INGREDIENTS = ("meat", "carrot", "lettuce", "bread", "pasta", "cheese")  # the paper's
SPICES = ("green", "black", "white", "yellow", "red")  # the paper's
KEYS = ("name", "description", "agents", "workers", "max_turns", "ingredients", "spices", "episodes", "claim")
EPISODE_KEYS = ("recipes", "orders", "pantries", "spicebags", "stoves")
RECIPE_KEYS = ("ingredients", "spices", "cook_time")
AREA_KEYS = {"pantries": ("id", "stock", "spaces"), "spicebags": ("id", "stock", "spaces"), "stoves": ("id", "spaces")}
MAX_COUNT = 9999  # largest stock, number of action spaces, count in a recipe and cook time


@dataclass(frozen=True)
class Recipe:
    """Goods and cook time of an order."""

    name: str  # For example ``"Mac and Cheese"``
    ingredients: Mapping[str, int]  # Count of each ingredient; at least one
    spices: Mapping[str, int]  # Count of each spice; may be empty
    cook_time: int  # How often it must be cooked


@dataclass(frozen=True)
class Area:
    """A place where workers act."""

    id: int  # Number, unique in an episode
    kind: str  # ``"pantry"``, ``"spicebag"`` or ``"stove"``
    stock: Mapping[str, int]  # Initial count of each ingredient or spice; empty for stoves
    spaces: int  # Action spaces per turn
    name: str  # ``"pantry"``, or ``"pantry2"`` if the episode has several; texts and actions use it


@dataclass(frozen=True)
class EpisodeSpec:
    """An episode of a scenario."""

    recipes: Mapping[str, Recipe]  # All known recipes by name, whether ordered or not
    orders: tuple[str, ...]  # Names of the ordered recipes, each once
    pantries: tuple[Area, ...]  # Areas with ingredients
    spicebags: tuple[Area, ...]  # Areas with spices
    stoves: tuple[Area, ...]  # Areas for cooking

    @property
    def areas(self) -> tuple[Area, ...]:
        """All areas in the order of the action numbers."""
        return (*self.pantries, *self.spicebags, *self.stoves)

    @property
    def area_ids(self) -> list[int]:
        """Ids of all areas, in the same order."""
        return [area.id for area in self.areas]


@dataclass(frozen=True)
class Scenario:
    """Contents of a scenario file."""

    document: Document  # Source document
    name: str  # For example ``"easy"``
    description: str  # One-sentence description
    agents: int  # Default number of agents
    workers: int  # Default number of workers per agent
    max_turns: int  # Default number of turns per episode
    ingredients: tuple[str, ...]  # All ingredients, in the order of lists
    spices: tuple[str, ...]  # All spices, in the order of lists
    episodes: tuple[EpisodeSpec, ...]  # Episodes in the order of play
    # Figures that ``engine.solvability`` must reproduce, by name; None if the file claims nothing
    claim: Mapping[str, int] | None

    @property
    def goods(self) -> tuple[str, ...]:
        """Ingredients, then spices."""
        return self.ingredients + self.spices


def scenarios() -> list[str]:
    """Return the names of the built-in scenarios."""
    return builtin_names(FOLDER)


def load_scenario(source: str | Path | Mapping[str, Any] = "easy") -> Scenario:
    """Read a scenario.

    Args:
        source: A built-in name, the path of a YAML file, or the values of such a file.

    Raises:
        DocumentError: The file is invalid.
    """
    doc = load_layout(source, FOLDER, "scenario")
    doc.mapping(only=KEYS)
    for key in ("name", "episodes"):
        if key not in doc:
            raise doc.error(f"{key} is missing")
    ingredients = doc.names(_check_name, "ingredients", default=INGREDIENTS)
    spices = doc.names(_check_name, "spices", default=SPICES)
    for i, name in enumerate(spices):
        if name in ingredients:
            raise doc.error(f"{name!r} is an ingredient and a spice; rename one", "spices", i)
    episodes = doc.listed("at least one episode", "episodes")
    return Scenario(
        document=doc,
        name=doc.text("name").strip(),
        description=doc.text("description", default="").strip(),
        agents=doc.integer("agents", default=2, low=1, high=MAX_AGENTS),
        workers=doc.integer("workers", default=2, low=1, high=MAX_WORKERS),
        max_turns=doc.integer("max_turns", default=10, low=1, high=MAX_TURNS),
        ingredients=ingredients,
        spices=spices,
        episodes=tuple(_episode(doc, e, ingredients, spices) for e in range(len(episodes))),
        claim=_counts(doc, None, "claim") if "claim" in doc else None,
    )


def _check_name(doc: Document, name: Any, *path: Any) -> None:
    if not isinstance(name, str) or not name.strip() or name != name.strip() or set(name) & set("'\"\\\n{}:,"):
        raise doc.error(
            f"{quote_value(name)} is not a valid name: use text without quotes, braces, colons and commas", *path
        )


def _counts(doc: Document, known: Sequence[str] | None, *path: Any) -> dict[str, int]:
    counts = {}
    for name in doc.mapping(*path, default={}):
        if known is not None and name not in known:
            raise doc.error(near_matches(str(path[-1]), name, known), *path, name)
        counts[name] = doc.integer(*path, name, high=MAX_COUNT)
    return counts


def _episode(doc: Document, e: int, ingredients: tuple[str, ...], spices: tuple[str, ...]) -> EpisodeSpec:
    path = ("episodes", e)
    doc.mapping(*path, only=EPISODE_KEYS)
    recipes = {name: _recipe(doc, name, ingredients, spices, *path) for name in doc.mapping(*path, "recipes")}
    orders = doc.names(_check_name, *path, "orders", default=tuple(recipes))
    for i, name in enumerate(orders):
        if name not in recipes:
            raise doc.error(near_matches("recipe", name, recipes), *path, "orders", i)
    seen: list[int] = []
    return EpisodeSpec(
        recipes=recipes,
        orders=orders,
        pantries=_areas(doc, "pantry", ingredients, seen, *path, "pantries"),
        spicebags=_areas(doc, "spicebag", spices, seen, *path, "spicebags"),
        stoves=_areas(doc, "stove", (), seen, *path, "stoves"),
    )


def _recipe(doc: Document, name: Any, ingredients: Sequence[str], spices: Sequence[str], *episode: Any) -> Recipe:
    path = (*episode, "recipes", name)
    _check_name(doc, name, *path)
    doc.mapping(*path, only=RECIPE_KEYS)
    recipe = Recipe(
        name=name,
        ingredients=_wanted(doc, ingredients, *path, "ingredients"),
        spices=_wanted(doc, spices, *path, "spices"),
        cook_time=doc.integer(*path, "cook_time", high=MAX_COUNT),
    )
    if not recipe.ingredients:
        raise doc.error(f"{name} has no ingredients; a recipe needs at least one", *path)
    return recipe


def _wanted(doc: Document, known: Sequence[str], *path: Any) -> dict[str, int]:
    return {name: count for name, count in _counts(doc, known, *path).items() if count > 0}


def _areas(doc: Document, kind: str, known: Sequence[str], seen: list[int], *path: Any) -> tuple[Area, ...]:
    entries = doc.listed(f"at least one {kind}", *path)
    areas = []
    for i in range(len(entries)):
        doc.mapping(*path, i, only=AREA_KEYS[str(path[-1])])
        free = next(number for number in count(len(seen)) if number not in seen)
        number = doc.integer(*path, i, "id", default=free, high=MAX_COUNT)
        if number in seen:
            raise doc.error(f"id {number} belongs to another area of the episode; use a free one", *path, i)
        seen.append(number)
        areas.append(
            Area(
                number,
                kind,
                _counts(doc, known, *path, i, "stock"),
                doc.integer(*path, i, "spaces", high=MAX_COUNT),
                kind if len(entries) == 1 else f"{kind}{i + 1}",
            )
        )
    return tuple(areas)
