"""Levels: frozen dataclasses read from YAML, recipe trees, and the time allowed for dishes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from collab_overcooked.io.checks import near_matches, quote_value
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.documents import Document, builtin_names, load_layout
from collab_overcooked.io.schema import MAX_NUMBER

from .constants import UNLIMITED

FOLDER = "cuisineworld"
COOKBOOK = "cookbook"  # extended by all levels; not a level itself
DEFAULT_ALPHA, DEFAULT_BETA = 2.2, 2.5  # as in the public code
FACTOR = 0.3  # steps of an order's interval for each unit of work
NODE_WORK = 3  # units of work for each item in a dish's recipe tree
ROLES = ("cook", "storage", "table")
MAX_AGENTS, MAX_ORDERS, MAX_TOOLS = 100, 100, 200
MAX_FACTOR = 1000  # of alpha and beta; lifetimes then fit into int32
NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")  # "_" separates the parts of a command, "&" the items of a mixture

KEYS = (
    "name", "class", "agents", "kitchen", "orders", "interval", "lifetime", "max_cycles", "max_open_orders",
    "ingredients", "tools", "recipes", "par",
)  # fmt: skip


@dataclass(frozen=True)
class Tool:
    """A kind of tool."""

    kind: str  # Name, for example ``"pan"``; the first one of a kitchen is ``pan0``
    # ``"storage"`` (hands out base ingredients, swallows what is put), ``"table"`` (takes dishes), ``"cook"``
    role: str = "cook"
    capacity: int | None = None  # Maximum number of items; None for no limit
    busy: int = 0  # Steps for which an activation blocks it, counting the step of the activation itself
    busy_agent: bool = False  # Whether the activating agent is blocked for as long
    open: bool = False  # Whether its content may be taken at any time, not only after an activation


@dataclass(frozen=True)
class Recipe:
    """A cooking step: a kind of tool turns the ingredients, in any order, into the product."""

    product: str
    tool: str
    ingredients: tuple[str, ...]


@dataclass(frozen=True)
class Order:
    """An order of the level."""

    name: str  # A recipe's product; its recipe tree sets the time and the shaped reward
    # Items needed on one serving table to complete it, with repetitions; only the dish in built-in levels
    items: tuple[str, ...]
    lifetime: int  # Steps until it expires if ``alpha`` is None; ``UNLIMITED`` for no limit


@dataclass(frozen=True)
class Timing:
    """Steps between orders, and lifetime of each order by name."""

    interval: int
    lifetimes: Mapping[str, int]


@dataclass(frozen=True)
class Level:
    """Contents of a level file."""

    document: Document  # Source document
    name: str  # For example ``"level_3"``
    paper_class: str  # The paper's class, for example ``"very simple"``; ``"unused"`` or ``"extra"`` for other levels
    agents: int  # Default number of agents
    kitchen: tuple[str, ...]  # Kinds of the tools, in the order of the locations; see ``locations``
    orders: tuple[Order, ...]  # In the order in which random draws index them
    interval: int  # Steps between orders if ``alpha`` is None; ``UNLIMITED`` for no new orders
    # Base ingredients by class (meat, vegetable, other), in the order of lists and masks
    ingredients: Mapping[str, tuple[str, ...]]
    tools: Mapping[str, Tool]  # All kinds known to the cookbook, by name
    recipes: Mapping[str, Recipe]  # The whole cookbook, by product; see ``recipes_here``
    max_cycles: int  # Length of an episode
    max_open_orders: int  # Maximum number of open orders
    par: int | None  # Orders that the greedy policy serves in an episode of a generated level; None if unknown

    @cached_property
    def base_ingredients(self) -> tuple[str, ...]:
        """All ingredients in the storage, in order."""
        return tuple(name for names in self.ingredients.values() for name in names)

    @cached_property
    def products(self) -> tuple[str, ...]:
        """Products of the level's recipes, by tool."""
        recipes = self.recipes_here
        return tuple(recipe.product for kind in self.tools for recipe in recipes if recipe.tool == kind)

    @cached_property
    def items(self) -> tuple[str, ...]:
        """Base ingredients, then products."""
        return self.base_ingredients + self.products

    @cached_property
    def locations(self) -> tuple[str, ...]:
        """Names of the tool instances, numbered for each kind in order: ``pan0``, ``pan1``."""
        seen: dict[str, int] = {}
        names = []
        for kind in self.kitchen:
            names.append(f"{kind}{seen.get(kind, 0)}")
            seen[kind] = seen.get(kind, 0) + 1
        return tuple(names)

    @cached_property
    def order_names(self) -> tuple[str, ...]:
        """Names of the orders, in the order of random draws."""
        return tuple(order.name for order in self.orders)

    def tree(self, dish: str) -> tuple[str, ...]:
        """Return the distinct items of a dish's recipe tree in breadth-first order, starting with the dish."""
        items, rest = [], [dish]
        while rest:
            name = rest.pop(0)
            if name not in items:
                items.append(name)
                rest += self.recipes[name].ingredients if name in self.recipes else ()
        return tuple(items)

    def steps_of(self, dish: str) -> tuple[Recipe, ...]:
        """Return the recipes in a dish's tree, each one after the recipes of its ingredients."""
        steps: dict[str, Recipe] = {}
        recipe = self.recipes.get(dish)
        if recipe is not None:
            for name in recipe.ingredients:
                steps |= {step.product: step for step in self.steps_of(name) if step.product not in steps}
            steps[dish] = recipe
        return tuple(steps.values())

    @property
    def recipes_here(self) -> tuple[Recipe, ...]:
        """Recipes needed for the level's orders, in cookbook order; no other recipes exist in the level."""
        needed = {name for order in self.orders for dish in (order.name, *order.items) for name in self.tree(dish)}
        return tuple(recipe for name, recipe in self.recipes.items() if name in needed)

    def work(self, dish: str) -> int:
        """Return the work in a dish: 3 for each item of its tree, plus all busy steps beyond the first one."""
        wait = sum(
            self.tools[recipe.tool].busy - 1 for recipe in self.steps_of(dish) if self.tools[recipe.tool].busy > 1
        )
        return NODE_WORK * len(self.tree(dish)) + wait

    def interval_of(self, dish: str, alpha: float) -> int:
        """Return the steps between orders if they depended on a single dish."""
        return math.ceil(alpha * self.work(dish) * FACTOR)

    def lifetime_of(self, dish: str, alpha: float, beta: float = DEFAULT_BETA) -> int:
        """Return the lifetime of a dish's order; beta multiplies the interval before it is rounded."""
        return math.ceil(beta * (alpha * self.work(dish) * FACTOR))

    def timing(self, alpha: float | None = DEFAULT_ALPHA, beta: float = DEFAULT_BETA) -> Timing:
        """Return interval and lifetimes.

        Args:
            alpha: Time for work, the paper's tau; the interval is that of the level's longest dish. None for the
                values of the level file.
            beta: Lifetimes as a multiple of intervals.
        """
        if alpha is None:
            return Timing(self.interval, {order.name: order.lifetime for order in self.orders})
        interval = max(self.interval_of(name, alpha) for name in self.order_names)
        return Timing(interval, {name: self.lifetime_of(name, alpha, beta) for name in self.order_names})


def levels() -> list[str]:
    """Return the names of the built-in levels, ``level_2`` before ``level_10``."""
    return [name for name in builtin_names(FOLDER) if name != COOKBOOK]


def load_level(source: str | Path | Mapping[str, Any] = "level_3") -> Level:
    """Read a level.

    Args:
        source: A built-in name, the path of a YAML file, or the values of such a file.

    Raises:
        DocumentError: The file is invalid.
    """
    doc = load_layout(source, FOLDER, "level")
    doc.mapping(only=KEYS)
    for key in ("name", "kitchen", "orders", "ingredients", "tools", "recipes"):
        if key not in doc:
            raise doc.error(f"{key} is missing; a level says `extends: {COOKBOOK}`, name, kitchen and orders")
    ingredients = _ingredients(doc)
    tools = _tools(doc)
    base = [name for names in ingredients.values() for name in names]
    recipes = _recipes(doc, tools, base)
    return Level(
        document=doc,
        name=doc.text("name"),
        paper_class=doc.text("class") if "class" in doc else "extra",
        agents=doc.integer("agents", default=2, low=1, high=MAX_AGENTS),
        kitchen=_kitchen(doc, tools),
        orders=_orders(doc, recipes),
        interval=_steps(doc, "interval"),
        ingredients=ingredients,
        tools=tools,
        recipes=recipes,
        max_cycles=doc.integer("max_cycles", default=60, low=1, high=MAX_OPTION),
        max_open_orders=doc.integer("max_open_orders", default=6, low=1, high=MAX_ORDERS),
        par=doc.integer("par", default=None),
    )


def _steps(doc: Document, *path: Any) -> int:
    value = doc.at(*path)
    if value is None or (value == UNLIMITED and type(value) is int):
        return UNLIMITED
    if type(value) is not int or not 1 <= value <= MAX_NUMBER:
        raise doc.refuse(f"be an integer from 1 to {MAX_NUMBER}, or {UNLIMITED} for none", *path)
    return value


def _check_name(doc: Document, name: Any, *path: Any) -> None:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise doc.error(f"{quote_value(name)} is no name: use letters and digits, a letter first", *path)


def _ingredients(doc: Document) -> dict[str, tuple[str, ...]]:
    classes = {kind: doc.names(_check_name, "ingredients", kind, twice=True) for kind in doc.mapping("ingredients")}
    seen: set[str] = set()
    for kind, names in classes.items():
        for i, name in enumerate(names):
            if name in seen:
                raise doc.error(f"{name!r} is listed twice among the ingredients", "ingredients", kind, i)
            seen.add(name)
    return classes


def _tools(doc: Document) -> dict[str, Tool]:
    tools = {}
    allowed = ("role", "capacity", "busy", "busy_agent", "open")
    for kind in doc.mapping("tools"):
        path = ("tools", kind)
        _check_name(doc, kind, *path)
        if kind[-1].isdecimal():
            raise doc.error(f"tool kind {kind!r} ends in a digit, which numbers the tools of a kind", *path)
        doc.mapping(*path, only=allowed)
        role = doc.choice(ROLES, *path, "role", default="cook")
        capacity = doc.integer(*path, "capacity", default=5, low=1) if role == "cook" else None
        busy = doc.integer(*path, "busy", default=0, low=0)
        tools[kind] = Tool(kind, role, capacity, busy, doc.boolean(*path, "busy_agent"), doc.boolean(*path, "open"))
    return tools


def _recipes(doc: Document, tools: Mapping[str, Tool], base: Sequence[str]) -> dict[str, Recipe]:
    recipes: dict[str, Recipe] = {}
    for product in doc.mapping("recipes"):
        path = ("recipes", product)
        _check_name(doc, product, *path)
        if product in base:
            raise doc.error(f"{product!r} is a base ingredient and needs no recipe; rename one", *path)
        step = doc.mapping(*path)
        if len(step) != 1:
            raise doc.error(f"a recipe is one `tool: [ingredients]`, not {step!r}", *path)
        tool = next(iter(step))
        if tool not in tools or tools[tool].role != "cook":
            cooks = [kind for kind, known in tools.items() if known.role == "cook"]
            raise doc.error(near_matches("tool", tool, cooks), *path)
        recipes[product] = Recipe(product, tool, doc.names(_check_name, *path, tool, twice=True))
    for recipe in recipes.values():
        _check_recipe(doc, recipe, recipes, tools, base)
    return recipes


def _check_recipe(
    doc: Document, recipe: Recipe, recipes: Mapping[str, Recipe], tools: Mapping[str, Tool], base: Sequence[str]
) -> None:
    path = ("recipes", recipe.product, recipe.tool)
    capacity = tools[recipe.tool].capacity or 0
    if len(recipe.ingredients) > capacity:
        raise doc.error(
            f"{recipe.product} needs {len(recipe.ingredients)} items; a {recipe.tool} takes {capacity}", *path
        )
    for i, name in enumerate(recipe.ingredients):
        if name not in base and name not in recipes:
            raise doc.error(near_matches("ingredient", name, [*base, *recipes]), *path, i)
        if name in recipe.ingredients[:i]:
            raise doc.error(f"{recipe.product} asks for {name} twice, but equal items merge in a tool", *path, i)
        if name in recipes and recipes[name].tool == recipe.tool:
            raise doc.error(
                f"{name} comes from a {recipe.tool} and would be cooked on there; use another tool", *path, i
            )
    for other in recipes.values():
        same = other.tool == recipe.tool and set(other.ingredients) == set(recipe.ingredients)
        if same and other is not recipe:
            raise doc.error(f"{other.product} is made of the same ingredients in the same tool", *path)
    _check_circle(doc, recipe, recipes, path)


def _check_circle(doc: Document, recipe: Recipe, recipes: Mapping[str, Recipe], path: Sequence[Any]) -> None:
    below, rest = set(), list(recipe.ingredients)
    while rest:
        name = rest.pop()
        if name == recipe.product:
            raise doc.error(f"{recipe.product} is needed to make itself; break the circle", *path)
        if name in recipes and name not in below:
            below.add(name)
            rest += recipes[name].ingredients


def _kitchen(doc: Document, tools: Mapping[str, Tool]) -> tuple[str, ...]:
    kinds = doc.names(_check_name, "kitchen", twice=True)
    if len(kinds) > MAX_TOOLS:
        raise doc.error(f"the kitchen has {len(kinds)} tools; at most {MAX_TOOLS} will do", "kitchen")
    for i, kind in enumerate(kinds):
        if kind not in tools:
            raise doc.error(near_matches("tool", kind, tools), "kitchen", i)
    for role in ("storage", "table"):
        if not any(tools[kind].role == role for kind in kinds):
            fitting = ", ".join(kind for kind, tool in tools.items() if tool.role == role)
            raise doc.error(f"the kitchen needs a {role} ({fitting})", "kitchen")
    return kinds


def _orders(doc: Document, recipes: Mapping[str, Recipe]) -> tuple[Order, ...]:
    entries = doc.at("orders")
    lifetime = _steps(doc, "lifetime")
    if isinstance(entries, list):
        names = doc.names(_check_name, "orders", twice=True)
        orders = [Order(name, (name,), lifetime) for name in names]
    else:
        orders = [_order(doc, name, lifetime) for name in doc.mapping("orders")]
    for i, order in enumerate(orders):
        path = ("orders", i if isinstance(entries, list) else order.name)
        for name in (order.name, *order.items):
            if name not in recipes:
                raise doc.error(near_matches("dish", name, recipes), *path)
        if order.name in [other.name for other in orders[:i]]:
            raise doc.error(f"{order.name} is listed twice among the orders", *path)
    served = [order.name for order in orders]
    for order in orders:
        for name in order.items:
            if name not in served:
                raise doc.error(f"{name} is no order itself, so that no table takes it", "orders", order.name)
    return tuple(orders)


def _order(doc: Document, name: Any, lifetime: int) -> Order:
    path = ("orders", name)
    values = doc.mapping(*path, only=("items", "lifetime"), default={})
    items = doc.names(_check_name, *path, "items", twice=True) if "items" in values else (name,)
    return Order(name, items, _steps(doc, *path, "lifetime") if "lifetime" in values else lifetime)
