"""Layouts: a frozen dataclass read from YAML, from the public ``.layout`` format, or from a mapping."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collab_overcooked.io.checks import near_matches, quote_value
from collab_overcooked.io.documents import Document, DocumentError, builtin_names, load_layout, read_document, rows_of
from collab_overcooked.io.schema import SchemaError, mapping_of, number, read

from .constants import BELTS, COUNT_MASK, INGREDIENTS, MAX_INGREDIENTS, PREPARING_SYMBOLS, SYMBOLS

MAX_PAY = 10**6  # of shaped reward, which is float32
FOLDER = "overcooked"
DIGITS = "123456789"
DEFAULT_VALUE = 20
DEFAULT_COOK_TIME = 20
DEFAULT_GATE_LIMIT = 10
DEFAULT_ORDER_BONUS = 2
DEFAULT_SHAPING = {"potting": 3.0, "dish": 3.0, "soup": 5.0}
KEYS = (
    "name",
    "description",
    "grid",
    "orders",
    "bonus_orders",
    "order_bonus",
    "value",
    "cook_time",
    "shaping",
    "gate_limit",
    "shared_counters",
    "share_soup",
    "prepare",
    "par",
)
SOUP_LIST = "soups such as [onion, onion, onion]"
NEEDED = (("D", "dish dispenser D"), ("S", "serving cell S"), ("P", "pot P"), ("OT", "dispenser O or T"))

Soup = tuple[int, int]
"""Onions and tomatoes of a soup."""

SOUPS: tuple[Soup, ...] = tuple(
    (total - tomatoes, tomatoes) for total in range(1, MAX_INGREDIENTS + 1) for tomatoes in range(total + 1)
)


def number_of(soup: Sequence[int]) -> int:
    """Return the number of a soup in arrays, given the count of each kind of ingredient."""
    return sum(count << 2 * kind for kind, count in enumerate(soup))


def counts_of(number: int) -> list[int]:
    """Return the count of each kind of ingredient in a soup given by its number, up to the last kind it has."""
    kinds = (int(number).bit_length() + 1) // 2
    return [int(number) >> 2 * kind & COUNT_MASK for kind in range(kinds)]


@dataclass(frozen=True)
class Layout:
    """Contents of a layout file; ``compile_layouts`` turns it into arrays."""

    document: Document  # Where it was read
    name: str  # For example ``"cramped_room"``
    description: str  # One line
    grid: tuple[str, ...]  # Rows of ``constants.SYMBOLS``; start cells are floor
    starts: tuple[tuple[int, int], ...]  # Start cell (x, y) of each seat that the grid numbers
    orders: tuple[Soup, ...]  # Soups that pay
    bonus_orders: tuple[Soup, ...]  # Those of them that pay ``order_bonus`` times as much
    order_bonus: int  # Factor
    values: Mapping[Soup, int]  # Worth of each soup if ordered, without bonus
    cook_times: Mapping[Soup, int]  # Steps of cooking of each soup
    shaping: Mapping[str, float]  # Shaped reward for ``potting``, a useful ``dish`` and taking ``soup`` out of a pot
    gate_limit: int  # Unoccupied steps after which an open gate closes
    # Cells (x, y) of counters that directives name apart, as places for handing over
    shared_counters: tuple[tuple[int, int], ...] = ()
    share_soup: bool = False  # Whether the original's directives put soup there too
    prepare: Mapping[str, str] = field(default_factory=dict)  # Station at which each ingredient is prepared, by names
    par: int | None = None  # Score that a good team reaches in 400 steps, if it is known

    @property
    def width(self) -> int:
        """Columns of the grid."""
        return len(self.grid[0])

    @property
    def height(self) -> int:
        """Rows of the grid."""
        return len(self.grid)

    @property
    def cooks_by_itself(self) -> bool:
        """True if pots that start at their third ingredient can fill all orders; see the option ``dynamics``."""
        # No list of orders at all means whatever can be made.
        return self.orders == SOUPS or all(sum(soup) == MAX_INGREDIENTS for soup in self.orders)

    def pays(self, soup: Soup) -> int:
        """Return the worth of an ordered soup, bonus included."""
        return self.values[soup] * (self.order_bonus if soup in self.bonus_orders else 1)

    def cells(self, symbol: str) -> list[tuple[int, int]]:
        """Return the cells (x, y) of a symbol, row by row."""
        return [(x, y) for y, row in enumerate(self.grid) for x, cell in enumerate(row) if cell == symbol]


def layouts() -> list[str]:
    """Return the names of the built-in layouts."""
    return builtin_names(FOLDER)


def load_kitchen(source: str | Path | Mapping[str, Any] = "cramped_room") -> Layout:
    """Read a layout.

    Args:
        source: A built-in name, the path of a ``.yaml`` or a public ``.layout`` file, or the values of one, which may
            extend a built-in layout.
    """
    if not isinstance(source, Mapping) and str(source).endswith(".layout"):
        return read_layout(read_public_layout(Path(source)))
    return read_layout(load_layout(source, FOLDER))


def read_layout(doc: Document) -> Layout:
    """Check the values of a document, key by key."""
    doc.mapping(only=KEYS)
    grid, starts = _grid(doc)
    values = _by_soup(doc, "value", DEFAULT_VALUE)
    times = _by_soup(doc, "cook_time", DEFAULT_COOK_TIME)
    orders = _orders(doc, values, times)
    entries = doc.listed(SOUP_LIST, "bonus_orders", default=[])
    bonus = tuple(dict.fromkeys(_soup(doc, entry, ("bonus_orders", i)) for i, entry in enumerate(entries)))
    for i, soup in enumerate(bonus):
        if soup not in orders:
            raise doc.error("a bonus order must be one of the orders too; add it there", "bonus_orders", i)
    return Layout(
        document=doc,
        name=doc.text("name", default="unnamed"),
        description=doc.text("description", default=""),
        grid=grid,
        starts=starts,
        orders=orders,
        bonus_orders=bonus,
        order_bonus=doc.integer("order_bonus", default=DEFAULT_ORDER_BONUS),
        values=values,
        cook_times=times,
        shaping=check_shaping(doc.get("shaping"), DEFAULT_SHAPING, lambda text: doc.error(text, "shaping")),
        gate_limit=doc.integer("gate_limit", default=DEFAULT_GATE_LIMIT, low=1),
        shared_counters=_shared_counters(doc, grid),
        share_soup=doc.boolean("share_soup"),
        prepare=read_prepare(doc, {symbol: name for symbol, name in zip("OT", INGREDIENTS, strict=True)}, grid),
        par=doc.integer("par", default=None),
    )


def read_prepare(doc: Document, piles: Mapping[str, str], grid: Sequence[str]) -> dict[str, str]:
    """Read the stations at which ingredients are prepared, by names of ingredients.

    Args:
        doc: Layout file.
        piles: Ingredients by the symbols of their dispensers.
        grid: Rows of the grid.

    Raises:
        DocumentError: An ingredient or a station is unknown, or the grid lacks it or has one that prepares nothing.
    """
    cells, found = set("".join(grid)), doc.get("prepare") or {}
    if not isinstance(found, Mapping):
        raise doc.error(f"prepare names a station for each ingredient, such as onion: board, not {found!r}", "prepare")
    for name, station in found.items():
        if name not in piles.values():
            raise doc.error(near_matches("ingredient", name, [*piles.values()]), "prepare", name)
        if not any(symbol in cells for symbol, pile in piles.items() if pile == name):
            raise doc.error(f"the grid has no {name}", "prepare", name)
        if station not in PREPARING_SYMBOLS:
            raise doc.error(near_matches("station", station, [*PREPARING_SYMBOLS]), "prepare", name)
        if PREPARING_SYMBOLS[station] not in cells:
            raise doc.error(f"the grid has no {station} {PREPARING_SYMBOLS[station]}", "prepare", name)
    for station, symbol in PREPARING_SYMBOLS.items():
        if symbol in cells and station not in found.values():
            raise doc.error(f"the grid has a {station} {symbol}, at which no ingredient is prepared", "prepare")
    return dict(found)


def check_shaping(shaping: Any, default: Mapping[str, float], error: Any = ValueError) -> dict[str, float]:
    """Parse the amounts of shaped reward; missing ones get the default.

    Args:
        shaping: None or a mapping of ``potting``, ``dish`` and ``soup`` to numbers.
        default: What it pays otherwise.
        error: Makes the exception from a message.

    Raises:
        DocumentError: An amount is unknown or invalid.
    """
    if shaping is None:
        return dict(default)
    try:
        read(mapping_of(number(-MAX_PAY, MAX_PAY), default, "shaped reward"), shaping, "shaping")
    except SchemaError as problem:
        raise error(str(problem)) from None
    return {name: float(shaping.get(name, value)) for name, value in default.items()}


def _shared_counters(doc: Document, grid: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    counters = {(x, y) for y, row in enumerate(grid) for x, symbol in enumerate(row) if symbol in ("X", *BELTS)}
    cells = []
    for i, cell in enumerate(doc.listed("cells such as [2, 1]", "shared_counters", default=[])):
        good = isinstance(cell, list) and all(type(value) is int for value in cell)
        if not good or tuple(cell) not in counters:
            raise doc.error(f"{cell!r} is no counter; name cells [x, y] of symbol X or of belts", "shared_counters", i)
        cells.append((cell[0], cell[1]))
    return tuple(dict.fromkeys(cells))


def _grid(doc: Document) -> tuple[tuple[str, ...], tuple[tuple[int, int], ...]]:
    closed = dict.fromkeys(f" {DIGITS}", "floor") | {"G": "a gate"}
    rows = doc.grid("".join(SYMBOLS), DIGITS, NEEDED, closed, "counters X, walls W or stations")
    starts: dict[str, tuple[int, int]] = {}
    for y, row in enumerate(rows):
        for x, symbol in enumerate(row):
            if symbol in starts:
                where = f"{doc.row_of('grid', y)}, cell ({x}, {y})"
                raise DocumentError(f"{where}: player {symbol} starts twice; keep one digit {symbol}")
            if symbol in DIGITS:
                starts[symbol] = (x, y)
    _check_starts(doc, starts)
    grid = tuple("".join(" " if symbol in DIGITS else symbol for symbol in row) for row in rows)
    return grid, tuple(starts[digit] for digit in sorted(starts))


def _check_starts(doc: Document, starts: Mapping[str, Any]) -> None:
    if not starts:
        raise DocumentError(f"{doc.row_of('grid', 0)}: no player starts in the grid; put the digit 1 on a floor cell")
    for k, digit in enumerate(sorted(starts), start=1):
        if digit != str(k):
            raise DocumentError(f"{doc.row_of('grid', 0)}: the grid starts player {digit} but not player {k}")


def _soup(doc: Document, entry: Any, path: tuple[Any, ...]) -> Soup:
    if not isinstance(entry, list) or not 1 <= len(entry) <= MAX_INGREDIENTS:
        raise doc.error(f"a soup is a list of 1 to {MAX_INGREDIENTS} ingredients, not {entry!r}", *path)
    for name in entry:
        if name not in INGREDIENTS:
            raise doc.error(near_matches("ingredient", name, INGREDIENTS), *path)
    return entry.count("onion"), entry.count("tomato")


def _by_soup(doc: Document, key: str, default: int) -> dict[Soup, int]:
    value = doc.at(key)
    if not isinstance(value, dict):
        return dict.fromkeys(SOUPS, doc.integer(key, default=default))
    if set(value) != set(INGREDIENTS):
        raise doc.error(f"{key} is one number, or maps both onion and tomato to one, not {quote_value(value)}", key)
    onion, tomato = (doc.integer(key, name) for name in INGREDIENTS)
    return {(onions, tomatoes): onion * onions + tomato * tomatoes for onions, tomatoes in SOUPS}


def _orders(doc: Document, values: dict[Soup, int], times: dict[Soup, int]) -> tuple[Soup, ...]:
    orders: list[Soup] = []
    for i, entry in enumerate(doc.listed(SOUP_LIST, "orders", default=[])):
        path = ("orders", i)
        order = doc.mapping(*path, only=("soup", "value", "cook_time")) if isinstance(entry, dict) else {"soup": entry}
        soup = _soup(doc, order.get("soup"), path)
        if soup in orders:
            raise doc.error("this soup is ordered a second time; keep one of them", *path)
        orders.append(soup)
        if "value" in order:
            values[soup] = doc.integer(*path, "value")
        if "cook_time" in order:
            times[soup] = doc.integer(*path, "cook_time")
    return tuple(orders) or SOUPS


RENAMED = {"layout_name": "name", "order_bonus": "order_bonus", "delivery_reward": "value", "cook_time": "cook_time"}
PAIRED = {"value": ("onion_value", "tomato_value"), "cook_time": ("onion_time", "tomato_time")}
LISTED = {"value": "recipe_values", "cook_time": "recipe_times"}
SHAPED = {"PLACEMENT_IN_POT_REW": "potting", "DISH_PICKUP_REWARD": "dish", "SOUP_PICKUP_REWARD": "soup"}
UNPAID = ("DISH_DISP_DISTANCE_REW", "POT_DISTANCE_REW", "SOUP_DISTANCE_REW")  # the original never pays these
ORDERS = {"start_all_orders": "orders", "start_bonus_orders": "bonus_orders"}
PLANNER_KEYS = (  # of the original's planners, which some files hold, too
    "counter_goals",
    "counter_drop",
    "counter_pickup",
    "same_motion_goals",
    "start_orientations",
    "wait_allowed",
)
JSON_LITERALS = {"null": None, "true": True, "false": False}
PUBLIC_KEYS = (
    "grid",
    "rew_shaping_params",
    "num_items_for_soup",
    "start_order_list",
    *RENAMED,
    *ORDERS,
    *LISTED.values(),
    *(name for pair in PAIRED.values() for name in pair),
)


def read_public_layout(path: Path) -> Document:
    """Read a file of the public ``.layout`` format, one Python dictionary of literals, into the keys of our files.

    The text is parsed as literals, of Python or JSON, and never run. ``num_items_for_soup`` is ignored, as in the
    original, and so are the settings of planners, with a warning.

    Raises:
        DocumentError: The file is invalid.
    """
    text = read_document(path, "layout")
    try:
        tree = ast.parse(f"({text}\n)", path.name, mode="eval")  # brackets allow indented files
        tree = _JsonLiterals().visit(tree)
        content = ast.literal_eval(tree)
    except SyntaxError as error:
        raise DocumentError(f"{path.name}, line {error.lineno}: not a Python dictionary: {error.msg}") from None
    except (ValueError, TypeError, MemoryError, RecursionError):
        raise DocumentError(
            f"{path.name}: a .layout file holds plain values only: texts, numbers, lists, dictionaries, None"
        ) from None
    if not isinstance(content, dict) or not isinstance(tree.body, ast.Dict):
        raise DocumentError(f"{path.name}: a .layout file holds one dictionary, not {type(content).__name__}")
    nodes = {
        key.value: value
        for key, value in zip(tree.body.keys, tree.body.values, strict=True)
        if isinstance(key, ast.Constant)
    }
    doc = Document(path.name, content, {(key,): (path.name, node.lineno) for key, node in nodes.items()})
    values = {"name": path.stem, **_translate(doc)}
    spelled = _public_names(doc, values)
    marks = {at: doc.marks[(public.partition(".")[0],)] for at, public in spelled.items()}
    if "grid" in nodes:
        marks |= {("grid", y): (path.name, line) for y, line in enumerate(_lines_of_rows(nodes["grid"]))}
    return Document(path.name, values, marks, spelled)


class _JsonLiterals(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.copy_location(ast.Constant(JSON_LITERALS[node.id]), node) if node.id in JSON_LITERALS else node


def _lines_of_rows(node: ast.expr) -> list[int]:
    if isinstance(node, ast.List):
        return [row.lineno for row in node.elts]
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return []
    first, rows = rows_of(node.value)
    step = int(node.end_lineno != node.lineno)  # 0 for rows behind each other, as in JSON
    return [node.lineno + step * (first + y) for y in range(len(rows))]


def _public_names(doc: Document, values: Mapping[str, Any]) -> dict[tuple[Any, ...], str]:
    names: dict[tuple[Any, ...], str] = {(key,): public for public, key in (RENAMED | ORDERS).items()}
    names |= {("grid",): "grid", ("shaping",): "rew_shaping_params"}
    for key, paired in PAIRED.items():
        if isinstance(values.get(key), dict):
            names[key,] = paired[0]
            names |= {(key, item): name for item, name in zip(INGREDIENTS, paired, strict=True)}
    for key, listed in LISTED.items():
        names |= {("orders", i, key): f"{listed}.{i}" for i in range(len(values["orders"]))}
    return {at: public for at, public in names.items() if public.partition(".")[0] in doc}


def _translate(doc: Document) -> dict[str, Any]:
    content = doc.content
    doc.mapping(only=(*PUBLIC_KEYS, *PLANNER_KEYS))
    for key in filter(doc.__contains__, PLANNER_KEYS):
        warnings.warn(f"{doc.where(key)}: {key} is a setting of a planner and is ignored", stacklevel=2)
    if content.get("start_order_list") is not None:
        key = "start_order_list"
        raise doc.error(f"{key} must be None: orders one after the other are not supported", key)
    values: dict[str, Any] = {RENAMED[key]: value for key, value in content.items() if key in RENAMED}
    if "grid" in content:
        grid = content["grid"]
        values["grid"] = [row.strip() for row in rows_of(grid)[1]] if isinstance(grid, str) else grid
    for public, key in ORDERS.items():
        entries = doc.listed("orders such as {'ingredients': ['onion']}", public, default=[])
        values[key] = [_public_soup(doc, entry, public) for entry in entries]
    for key, names in PAIRED.items():
        if any(name in content for name in names):
            _pair(doc, values, key, names)
    for key, name in LISTED.items():
        if name in content:
            _spread(doc, values, key, name)
    if content.get("rew_shaping_params") is not None:
        values["shaping"] = _public_shaping(doc, content["rew_shaping_params"])
    return values


def _pair(doc: Document, values: dict[str, Any], key: str, names: tuple[str, str]) -> None:
    if key in values or not all(name in doc for name in names):
        raise doc.error(f"give both {' and '.join(names)}, and no one number for all soups beside", *names[:1])
    values[key] = dict(zip(INGREDIENTS, (doc[name] for name in names), strict=True))


def _public_soup(doc: Document, entry: Any, key: str) -> list[Any]:
    if not isinstance(entry, dict) or set(entry) != {"ingredients"} or not isinstance(entry["ingredients"], list):
        raise doc.error(f"an order looks like {{'ingredients': ['onion']}}, not {entry!r}", key)
    return entry["ingredients"]


def _spread(doc: Document, values: dict[str, Any], key: str, name: str) -> None:
    numbers, orders = doc[name], values["orders"]
    if key in values or not isinstance(numbers, list) or len(numbers) != len(orders):
        raise doc.error(f"{name} needs one number for each of start_all_orders, and none for all soups beside", name)
    values["orders"] = [
        {**(order if isinstance(order, dict) else {"soup": order}), key: number}
        for order, number in zip(orders, numbers, strict=True)
    ]


def _public_shaping(doc: Document, rewards: Any) -> dict[str, Any]:
    """Translate shaped rewards; missing ones are 0, as in the original."""
    if not isinstance(rewards, dict):
        raise doc.error(
            f"rew_shaping_params must be None or a dictionary, not {quote_value(rewards)}", "rew_shaping_params"
        )
    for name, value in rewards.items():
        if name not in (*SHAPED, *UNPAID):
            raise doc.error(near_matches("shaped reward", name, (*SHAPED, *UNPAID)), "rew_shaping_params")
        if name in UNPAID and value != 0:
            raise doc.error(f"{name} must be 0: the original never pays it either", "rew_shaping_params")
    return {key: rewards.get(name, 0) for name, key in SHAPED.items()}
