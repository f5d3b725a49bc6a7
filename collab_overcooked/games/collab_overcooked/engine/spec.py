"""Specification of kitchens: frozen dataclasses read from one YAML file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from collab_overcooked.io.checks import near_matches, quote_value
from collab_overcooked.io.documents import Document, DocumentError, builtin_names, load_layout

# Action texts are read in small letters, so that names must be written in them; a utensil's name gets an index.
FOOD = re.compile(r"[a-z0-9_]+")
WORD = re.compile(r"[a-z][a-z_]*")
DIGITS = "0123456789"
RESERVED_FOODS = ("dish", "counter")
RESERVED_VERBS = (
    "continue",
    "deliver",
    "deliver_soup",
    "fill_dish_with_food",
    "pickup",
    "place_obj_on_counter",
    "put_obj_in_utensil",
    "request",
    "wait",
)
MAX_ITEMS = 100  # in a utensil
MAX_FLOOR = 256  # cells; shortest paths between all poses are computed beforehand
MAX_WEIGHT = 10**9  # of an order; its inverse is the smallest
MAX_WAIT = 1000  # every length of waiting is an action
FACINGS = ("north", "south", "east", "west")
KEYS = {
    "name",
    "description",
    "grid",
    "agents",
    "stations",
    "ingredients",
    "cook_time",
    "recipes",
    "serving",
    "delivery_reward",
    "max_wait",
    "stuck_limit",
    "order_probability",
    "reference_times",
    "references",
    "tasks",
}


@dataclass(frozen=True)
class AgentSpec:
    """A seat: display name, role, start cell (x, y), facing, and whether the recipes are known to it."""

    name: str
    role: str
    start: tuple[int, int]
    facing: str
    knows_recipes: bool


@dataclass(frozen=True)
class StationSpec:
    """A kind of station, the meaning of a grid symbol."""

    symbol: str  # Character in the grid
    kind: str  # ``"utensil"``, ``"ingredients"``, ``"dishes"`` or ``"serving"``
    name: str = ""  # Utensil kind, for example ``"pot"``; empty for other stations
    operation: str = ""  # Verb that starts the utensil
    capacity: int = 0  # Items it takes
    users: tuple[int, ...] | None = None  # Seats that may use it; None for all


@dataclass(frozen=True)
class RecipeSpec:
    """Recipe for one utensil: inputs (a multiset) become the product after `time` steps."""

    product: str
    utensil: str
    inputs: tuple[str, ...]
    time: int


@dataclass(frozen=True)
class TaskSpec:
    """Task: an order with level, title, reference time in env steps, reference trajectories (by reference and seat)."""

    name: str
    title: str
    level: int
    reference_time: int
    references: tuple[tuple[tuple[str, ...], ...], ...]


@dataclass(frozen=True)
class Kitchen:
    """Contents of a YAML file; ``compile_kitchen`` turns it into arrays."""

    document: Document
    name: str
    description: str
    grid: tuple[str, ...]
    agents: tuple[AgentSpec, ...]
    stations: Mapping[str, StationSpec]
    ingredients: tuple[str, ...]
    recipes: tuple[RecipeSpec, ...]
    serving: Mapping[str, bool]
    tasks: Mapping[str, TaskSpec]
    order_probability: Mapping[str, float]
    delivery_reward: float
    max_wait: int
    stuck_limit: int

    def levels(self) -> dict[int, list[str]]:
        """Return the task names of every level."""
        levels: dict[int, list[str]] = {}
        for task in self.tasks.values():
            levels.setdefault(task.level, []).append(task.name)
        return levels

    @cached_property
    def utensils(self) -> tuple[StationSpec, ...]:
        """Stations of kind ``utensil``, in the order of the file."""
        return tuple(station for station in self.stations.values() if station.kind == "utensil")

    @cached_property
    def recipe_by_product(self) -> Mapping[str, RecipeSpec]:
        """Recipes by their product; raw food has none."""
        return {recipe.product: recipe for recipe in self.recipes}

    @cached_property
    def foods_below(self) -> Mapping[str, list[str]]:
        """All foods in the recipe tree of each product, without the product itself, as often as they occur."""

        def below(product: str) -> list[str]:
            recipe = self.recipe_by_product.get(product)
            return [] if recipe is None else [part for name in recipe.inputs for part in (name, *below(name))]

        return {product: below(product) for product in self.recipe_by_product}


def kitchens() -> list[str]:
    """Return the names of the built-in kitchens."""
    return builtin_names("collab_overcooked")


def load_kitchen(source: str | Path = "paper") -> Kitchen:
    """Read a kitchen.

    Args:
        source: A built-in name or the path of a YAML file.

    Raises:
        DocumentError: The file is invalid.
    """
    doc = load_layout(source, "collab_overcooked", "kitchen")
    doc.mapping(only=KEYS)
    stations = _stations(doc)
    grid, starts = _grid(doc, stations)
    ingredients = doc.names(_check_food, "ingredients")
    recipes = _recipes(doc, stations, ingredients)
    serving = _serving(doc, {recipe.product for recipe in recipes} | set(ingredients))
    agents = _agents(doc, starts)
    tasks = _tasks(doc, serving, len(agents))
    for symbol, station in stations.items():
        for seat in station.users or ():
            if seat >= len(agents):
                message = f"users names agent {seat}, but there are {len(agents)} agents"
                raise doc.error(message, "stations", symbol, "users")
    return Kitchen(
        document=doc,
        name=doc.text("name"),
        description=doc.text("description", default=""),
        grid=grid,
        agents=agents,
        stations=stations,
        ingredients=ingredients,
        recipes=recipes,
        serving=serving,
        tasks=tasks,
        order_probability=_weights(doc, tasks),
        delivery_reward=doc.number("delivery_reward", default=20, low=0),
        max_wait=doc.integer("max_wait", default=5, low=1, high=MAX_WAIT),
        stuck_limit=doc.integer("stuck_limit", default=0),
    )


def _check_food(doc: Document, name: Any, *path: Any) -> None:
    if not isinstance(name, str) or not FOOD.fullmatch(name) or name in RESERVED_FOODS:
        advice = f"use small letters, digits and _, not {' or '.join(map(repr, RESERVED_FOODS))}"
        raise doc.error(f"{name!r} is no food name: {advice}", *path)


def _stations(doc: Document) -> dict[str, StationSpec]:
    stations: dict[str, StationSpec] = {}
    for symbol in doc.mapping("stations"):
        path = ("stations", symbol)
        values = doc.mapping(*path, only=("utensil", "operation", "capacity", "users", "dispenser", "serving"))
        if not isinstance(symbol, str) or len(symbol) != 1 or symbol in f"X {DIGITS}":
            raise doc.error(f"symbol {symbol!r} must be one character other than X, space and digits", *path)
        users = _users(doc, path)
        if "utensil" in values:
            stations[symbol] = _utensil(doc, symbol, users, stations)
        elif values.get("dispenser") in ("ingredients", "dishes"):
            stations[symbol] = StationSpec(symbol, values["dispenser"], users=users)
        elif values.get("serving") is True:
            stations[symbol] = StationSpec(symbol, "serving", users=users)
        else:
            raise doc.error(
                f"station {symbol!r} needs one of `utensil: name`, `dispenser: ingredients`, `dispenser: dishes`, "
                "`serving: true`",
                *path,
            )
    return stations


def _utensil(
    doc: Document, symbol: str, users: tuple[int, ...] | None, others: Mapping[str, StationSpec]
) -> StationSpec:
    path = ("stations", symbol)
    name, operation = doc.text(*path, "utensil"), doc.text(*path, "operation")
    for key, word in (("utensil", name), ("operation", operation)):
        if not WORD.fullmatch(word):
            raise doc.error(f"{key} {word!r} must be written in small letters and _", *path, key)
    if operation in RESERVED_VERBS or any(operation == other.operation for other in others.values()):
        raise doc.error(f"operation {operation!r} is taken; each utensil kind needs its own verb", *path, "operation")
    if name in RESERVED_FOODS or any(name == other.name for other in others.values()):
        raise doc.error(f"utensil {name!r} is defined twice or reserved; use one symbol a kind", *path, "utensil")
    capacity = doc.integer(*path, "capacity", default=3, low=1, high=MAX_ITEMS)
    return StationSpec(symbol, "utensil", name, operation, capacity, users)


def _users(doc: Document, path: tuple[Any, ...]) -> tuple[int, ...] | None:
    users = doc.at(*path, "users")
    if users is None:
        return None
    good = isinstance(users, list) and users and all(type(seat) is int and seat >= 0 for seat in users)
    if not good:
        raise doc.error(f"users must list agent numbers such as [0, 1], not {users!r}", *path, "users")
    return tuple(users)


def _grid(doc: Document, stations: Mapping[str, StationSpec]) -> tuple[tuple[str, ...], dict[int, tuple[int, int]]]:
    symbols = "".join(["X ", *sorted(stations)])
    closed = dict.fromkeys(f" {DIGITS}", "floor")
    rows = doc.grid(symbols, DIGITS, (), closed, "counters X or stations")
    starts: dict[int, tuple[int, int]] = {}
    for y, row in enumerate(rows):
        for x, symbol in enumerate(row):
            if symbol not in DIGITS:
                continue
            if int(symbol) in starts:
                cell = f"{doc.row_of('grid', y)}, cell ({x}, {y})"
                raise DocumentError(f"{cell}: agent {symbol} starts twice; keep one digit {symbol}")
            starts[int(symbol)] = (x, y)
    grid = tuple("".join(" " if symbol in DIGITS else symbol for symbol in row) for row in rows)
    n_floor = sum(row.count(" ") for row in grid)
    if n_floor > MAX_FLOOR:
        raise doc.error(f"the grid has {n_floor} floor cells; use at most {MAX_FLOOR}", "grid")
    return grid, starts


def _agents(doc: Document, starts: Mapping[int, tuple[int, int]]) -> tuple[AgentSpec, ...]:
    values = doc.listed("seats", "agents")
    width = max(map(len, doc["grid"].split("\n")))
    agents = []
    for i in range(len(values)):
        path = ("agents", i)
        entry = doc.mapping(*path, only=("name", "role", "start", "facing", "knows_recipes"))
        facing = doc.choice(FACINGS, *path, "facing", default="north")
        knows = doc.boolean(*path, "knows_recipes")
        start = _start(doc, i, entry, starts, width)
        agents.append(AgentSpec(doc.text(*path, "name"), doc.text(*path, "role"), start, facing, knows))
    for i in starts:
        if i >= len(agents):
            raise doc.error(f"the grid has a start for agent {i}, but only {len(agents)} agents are listed", "grid")
    cells = [agent.start for agent in agents]
    for i, start in enumerate(cells):
        if start in cells[:i]:
            raise doc.error(f"agents {cells.index(start)} and {i} both start at cell {start}; move one", "agents", i)
    return tuple(agents)


def _start(
    doc: Document, seat: int, entry: Mapping[str, Any], starts: Mapping[int, tuple[int, int]], width: int
) -> tuple[int, int]:
    if "start" not in entry:
        if seat not in starts:
            raise doc.error(f"agent {seat} has no start: put the digit {seat} on a floor cell of the grid", "grid")
        return starts[seat]
    start = entry["start"]
    rows = doc["grid"].rstrip("\n").split("\n")
    if not (isinstance(start, list) and len(start) == 2 and all(type(value) is int for value in start)):
        raise doc.error(f"start must be [x, y], not {start!r}", "agents", seat, "start")
    x, y = start
    if not (0 <= x < width and 0 <= y < len(rows)):
        raise doc.error(f"agent {seat} starts outside the grid at cell ({x}, {y})", "agents", seat, "start")
    if rows[y][x] not in f" {DIGITS}":
        raise doc.error(
            f"agent {seat} starts on a wall: cell ({x}, {y}) is {rows[y][x]!r}; choose a floor cell",
            "agents",
            seat,
            "start",
        )
    return (x, y)


def _recipes(
    doc: Document, stations: Mapping[str, StationSpec], ingredients: tuple[str, ...]
) -> tuple[RecipeSpec, ...]:
    capacities = {station.name: station.capacity for station in stations.values() if station.kind == "utensil"}
    default = doc.integer("cook_time", default=3, low=1)
    recipes: list[RecipeSpec] = []
    for utensil in doc.mapping("recipes", default={}):
        if utensil not in capacities:
            raise doc.error(near_matches("utensil", utensil, capacities), "recipes", utensil)
        for product in doc.mapping("recipes", utensil):
            recipe = _recipe(doc, utensil, product, default)
            path = ("recipes", utensil, product)
            if len(recipe.inputs) > capacities[utensil]:
                raise doc.error(
                    f"{product} needs {len(recipe.inputs)} items, but a {utensil} takes {capacities[utensil]}; "
                    "raise its capacity",
                    *path,
                )
            if product in ingredients or any(product == other.product for other in recipes):
                raise doc.error(f"{product!r} is already an ingredient or a product; rename one", *path)
            _refuse_twin(doc, recipe, recipes)
            recipes.append(recipe)
    known = set(ingredients) | {recipe.product for recipe in recipes}
    for recipe in recipes:
        for name in recipe.inputs:
            if name not in known:
                raise doc.error(near_matches("food", name, sorted(known)), "recipes", recipe.utensil, recipe.product)
    _refuse_cycles(doc, recipes)
    return tuple(recipes)


def _refuse_twin(doc: Document, recipe: RecipeSpec, others: list[RecipeSpec]) -> None:
    for other in others:
        if other.utensil == recipe.utensil and sorted(other.inputs) == sorted(recipe.inputs):
            raise doc.error(
                f"{recipe.product} and {other.product} have the same inputs in the {recipe.utensil}; change one",
                "recipes",
                recipe.utensil,
                recipe.product,
            )


def _recipe(doc: Document, utensil: str, product: Any, default: int) -> RecipeSpec:
    path: tuple[Any, ...] = ("recipes", utensil, product)
    time = default
    if isinstance(doc.at(*path), dict):
        doc.mapping(*path, only=("inputs", "time"))
        time = doc.integer(*path, "time", default=default, low=1)
        path = (*path, "inputs")
    _check_food(doc, product, *path)
    return RecipeSpec(product, utensil, doc.names(_check_food, *path, twice=True), time)


def _refuse_cycles(doc: Document, recipes: list[RecipeSpec]) -> None:
    by_product = {recipe.product: recipe for recipe in recipes}

    def visit(product: str, trail: tuple[str, ...]) -> None:
        if product in trail:
            circle = " -> ".join((*trail[trail.index(product) :], product))
            recipe = by_product[product]
            raise doc.error(f"recipe cycle {circle}; take one of them out", "recipes", recipe.utensil, product)
        if product in by_product:
            for name in by_product[product].inputs:
                visit(name, (*trail, product))

    for product in by_product:
        visit(product, ())


def _serving(doc: Document, foods: set[str]) -> dict[str, bool]:
    serving: dict[str, bool] = {}
    groups = doc.mapping("serving", only=("plain", "plated"))
    for group in groups:
        for i, name in enumerate(doc.names(_check_food, "serving", group)):
            if name not in foods:
                raise doc.error(near_matches("food", name, sorted(foods)), "serving", group, i)
            if name in serving:
                raise doc.error(f"{name!r} is both plain and plated; keep one", "serving", group, i)
            serving[name] = group == "plated"
    return serving


def _tasks(doc: Document, serving: Mapping[str, bool], n_agents: int) -> dict[str, TaskSpec]:
    times = doc.mapping("reference_times", default={})
    keep_references = doc.at("references") is not False
    tasks: dict[str, TaskSpec] = {}
    for name in doc.mapping("tasks"):
        path = ("tasks", name)
        doc.mapping(*path, only=("title", "level", "reference_time", "references"))
        if name not in serving:
            raise doc.error(f"task {name!r} cannot be ordered; list it under `serving`", *path)
        level = doc.integer(*path, "level", default=1, low=1)
        if times.get(level) is None and doc.at(*path, "reference_time") is None:
            raise doc.error(f"task {name!r} needs reference_time, or level {level} under reference_times", *path)
        key = "reference_time" if doc.at(*path, "reference_time") is not None else ""
        time = doc.integer(*((*path, key) if key else ("reference_times", level)), low=1)
        references = _references(doc, path, n_agents) if keep_references else ()
        title = doc.text(*path, "title", default=name.replace("_", " ").capitalize())
        tasks[name] = TaskSpec(name, title, level, time, references)
    return tasks


def _references(doc: Document, task: tuple[Any, ...], n_agents: int) -> tuple[tuple[tuple[str, ...], ...], ...]:
    path = (*task, "references")
    listed = doc.listed("references with one plan for each agent", *path, default=[])
    seats = [f"agent_{i}" for i in range(n_agents)]
    references = []
    for k in range(len(listed)):
        if set(doc.mapping(*path, k)) != set(seats):
            raise doc.error(
                f"a reference needs one plan for each of {', '.join(seats)}; `references: false` drops all", *path, k
            )
        plans = [doc.text(*path, k, seat) for seat in seats]
        references.append(tuple(tuple(step.strip() for step in plan.split(";")) for plan in plans))
    return tuple(references)


def _weights(doc: Document, tasks: Mapping[str, TaskSpec]) -> dict[str, float]:
    weights = doc.at("order_probability")
    weights = {} if weights is None else weights
    return check_weights(weights, tasks, lambda message, name: doc.error(message, "order_probability", name))


def check_weights(weights: Mapping[str, Any], tasks: Mapping[str, TaskSpec], error: Any = None) -> dict[str, float]:
    """Check order probabilities.

    Args:
        weights: Task name to weight; weights need not add up to one.
        tasks: Known tasks.
        error: Makes the exception from message and task name; ValueError by default.
    """
    make = error or (lambda message, name: ValueError(message))
    if not isinstance(weights, Mapping):
        raise make(f"order_probability must map tasks to weights, not {quote_value(weights)}", None)
    for name, weight in weights.items():
        if name not in tasks:
            raise make(near_matches("task", name, tasks), name)
        if (
            isinstance(weight, bool)
            or not isinstance(weight, (int, float))
            or not 1 / MAX_WEIGHT <= weight <= MAX_WEIGHT
        ):
            allowed = f"above 0, at most {MAX_WEIGHT} and not below its inverse"
            raise make(f"order_probability of {name} must be {allowed}, not {quote_value(weight)}", name)
    return {name: float(weight) for name, weight in weights.items()}
