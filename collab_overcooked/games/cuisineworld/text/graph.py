"""Task graphs of dishes and levels: ingredients, the tool steps that change them, and the dishes at the end.

The layout is layered from left to right: an item stands one layer behind the tool step that makes it, a tool step one
layer behind the last of its ingredients, and base ingredients directly before their first use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path as Curve

from collab_overcooked.games.cuisineworld.engine.spec import Level, levels, load_level
from collab_overcooked.io.checks import near_matches

ENDINGS = (".svg", ".png", ".pdf")
STEP = "step:"  # begins the keys of cooking steps; no item has a colon in its name
SWEEPS = 12  # passes that sort the layers by their neighbours; the best order seen is kept

COLUMN, ROW = 1.1, 0.44  # inches between the middles of layers and of rows
LETTER, BOX = 0.082, 0.28  # inches: width of a letter, height of a box
INK, EDGE = "#2b2a28", "#9a948a"
FILLS = {"ingredient": "#dcebd2", "step": "#fbf8f2", "missing": "#eeeeee", "product": "#fde9c4", "dish": "#f4b08a"}
TOOL_COLOURS = ("#3b7dd8", "#c8602a", "#2f9c6e", "#8e4fb5", "#a37a10", "#b83a3a", "#3f7f8c", "#6a6f2a")

Point = tuple[float, float]


@dataclass(frozen=True)
class Node:
    """An item, or a cooking step.

    Attributes:
        key: Unique: the item's name, or ``"step:"`` and its product's.
        label: Text in the box: the item's name, or the kind of the tool.
        kind: ``"ingredient"``, ``"step"``, ``"missing"`` (a step whose tool the kitchen lacks), ``"product"`` or
            ``"dish"``.
    """

    key: str
    label: str
    kind: str


@dataclass(frozen=True)
class TaskGraph:
    """A directed graph without circles.

    Attributes:
        title: Title of the graph.
        nodes: Nodes by key.
        edges: Pairs of keys: ingredient and step, step and product.
    """

    title: str
    nodes: Mapping[str, Node]
    edges: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Layout:
    """Positions in layers and rows; long edges bend once in every layer between their ends.

    Attributes:
        places: Layer and row of each node.
        routes: Edge -> the points it passes, its ends included.
    """

    places: Mapping[str, Point]
    routes: Mapping[tuple[str, str], tuple[Point, ...]]


# ------------------------------------------------------------------------------------------- the graph


def task_graph(level: Level, dishes: Sequence[str] | None = None, title: str = "") -> TaskGraph:
    """Return the joint graph of some dishes; shared ingredients and intermediate products appear once.

    Args:
        level: Where the recipes stand.
        dishes: Names of products. Default: the level's orders, marked if a tool is missing.
        title: Heading; the level's or dish's name if empty.

    Raises:
        ValueError: For an unknown dish.
    """
    targets = list(level.order_names if dishes is None else dishes)
    for dish in targets:
        if dish not in level.recipes:
            raise ValueError(near_matches("dish", dish, level.recipes))
    nodes: dict[str, Node] = {}
    edges: list[tuple[str, str]] = []
    for recipe in {step.product: step for dish in targets for step in level.steps_of(dish)}.values():
        step = STEP + recipe.product
        for name in recipe.ingredients:
            kind = "dish" if name in targets else "product" if name in level.recipes else "ingredient"
            nodes.setdefault(name, Node(name, name, kind))
            edges.append((name, step))
        missing = dishes is None and recipe.tool not in level.kitchen
        nodes[step] = Node(step, f"no {recipe.tool}" if missing else recipe.tool, "missing" if missing else "step")
        nodes.setdefault(recipe.product, Node(recipe.product, recipe.product, "product"))
        if recipe.product in targets:
            nodes[recipe.product] = Node(recipe.product, recipe.product, "dish")
        edges.append((step, recipe.product))
    return TaskGraph(title or (level.name if dishes is None else ", ".join(targets)), nodes, tuple(edges))


# ------------------------------------------------------------------------------------------- the layout


def layout(graph: TaskGraph) -> Layout:
    """Place a graph: layers by depth, few crossings by sorting, straight edges by averaging."""
    layers = _layers(graph)
    chains = {edge: _chain(edge, layers) for edge in graph.edges}
    columns: list[list[str]] = [[] for _ in range(max(layers.values()) + 1)]
    for key, layer in layers.items():
        columns[layer].append(key)
    for chain in chains.values():
        for i, key in enumerate(chain[1:-1], start=1):
            columns[layers[chain[0]] + i].append(key)
    links = [link for chain in chains.values() for link in pairwise(chain)]
    columns = _sort(columns, links)
    rows = _rows(columns, links)
    places = {key: (float(layer), rows[key]) for layer, column in enumerate(columns) for key in column}
    return Layout(
        {key: places[key] for key in graph.nodes},
        {edge: tuple(places[key] for key in chain) for edge, chain in chains.items()},
    )


def _layers(graph: TaskGraph) -> dict[str, int]:
    """Return the longest way to each node; ingredients move up to just before their first use."""
    depth: dict[str, int] = {}

    def find(key: str) -> int:
        if key not in depth:
            depth[key] = max((find(a) + 1 for a, b in graph.edges if b == key), default=0)
        return depth[key]

    for key in graph.nodes:
        find(key)
    for key, node in graph.nodes.items():
        if node.kind == "ingredient":
            depth[key] = min(depth[b] for a, b in graph.edges if a == key) - 1
    return depth


def _chain(edge: tuple[str, str], layers: Mapping[str, int]) -> tuple[str, ...]:
    """Return an edge with a bend for every layer that it crosses."""
    start, end = edge
    bends = (f"bend:{start}>{end}:{layer}" for layer in range(layers[start] + 1, layers[end]))
    return start, *bends, end


def _sort(columns: list[list[str]], links: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Sort each layer by the mean place of its neighbours, forth and back, and keep the order with fewest crossings."""
    best, fewest = columns, _crossings(columns, links)
    current = [column[:] for column in columns]
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        walk = range(1, len(current)) if forward else range(len(current) - 2, -1, -1)
        for layer in walk:
            beside = {key: i for i, key in enumerate(current[layer - 1 if forward else layer + 1])}
            means = {key: _mean_place(key, beside, links, i) for i, key in enumerate(current[layer])}
            current[layer] = sorted(current[layer], key=means.__getitem__)
        crossings = _crossings(current, links)
        if crossings < fewest:
            best, fewest = [column[:] for column in current], crossings
    return best


def _mean_place(key: str, beside: Mapping[str, int], links: Sequence[tuple[str, str]], default: float) -> float:
    places = [beside[a if b == key else b] for a, b in links if key in (a, b) and (a if b == key else b) in beside]
    return sum(places) / len(places) if places else default


def _crossings(columns: Sequence[Sequence[str]], links: Sequence[tuple[str, str]]) -> int:
    place = {key: (layer, i) for layer, column in enumerate(columns) for i, key in enumerate(column)}
    by_layer: dict[int, list[tuple[int, int]]] = {}
    for a, b in links:
        by_layer.setdefault(place[a][0], []).append((place[a][1], place[b][1]))
    return sum(
        (a - c) * (b - d) < 0 for pairs in by_layer.values() for i, (a, b) in enumerate(pairs) for c, d in pairs[:i]
    )


def _rows(columns: Sequence[Sequence[str]], links: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Return rows: each node near the mean of its neighbours, neighbours in a layer at least one row apart."""
    rows = {key: i - (len(column) - 1) / 2 for column in columns for i, key in enumerate(column)}
    neighbours: dict[str, list[str]] = {key: [] for key in rows}
    for a, b in links:
        neighbours[a].append(b)
        neighbours[b].append(a)
    for _ in range(200):
        for column in columns:
            targets = [sum(rows[n] for n in neighbours[key]) / max(1, len(neighbours[key])) for key in column]
            rows |= dict(zip(column, _spread(targets), strict=True))
    top = min(rows.values())
    return {key: row - top for key, row in rows.items()}


def _spread(targets: Sequence[float]) -> list[float]:
    """Return places at least 1 apart, in order, with the least squared distance to the targets.

    Without the gaps these are places in rising order, which pooling adjacent violators finds.
    """
    pools: list[list[float]] = []  # mean and size
    for i, target in enumerate(targets):
        pools.append([target - i, 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            mean, size = pools.pop()
            pools[-1] = [(pools[-1][0] * pools[-1][1] + mean * size) / (pools[-1][1] + size), pools[-1][1] + size]
    flat = [mean for mean, size in pools for _ in range(int(size))]
    return [place + i for i, place in enumerate(flat)]


# ------------------------------------------------------------------------------------------- the picture


def draw_graph(subject: str | Path | Level, path: str | Path, level: str | Path = "level_3") -> None:
    """Write the task graph of a level or a dish.

    Args:
        subject: A level (name, YAML file or read), or a product of the cookbook.
        path: File to write: ``.svg``, ``.png`` or ``.pdf``.
        level: Level whose recipes are used if the subject is a dish.

    Raises:
        ValueError: For an unknown subject or another ending.
        OSError: If the file cannot be written.
    """
    path = Path(path)
    if path.suffix.lower() not in ENDINGS:
        raise ValueError(f"out: {path} should end in {', '.join(ENDINGS)}")
    graph = find_graph(subject, level)
    with rc_context(
        {"svg.fonttype": "none", "svg.hashsalt": graph.title, "font.family": "sans-serif", "text.parse_math": False}
    ):
        figure = picture(graph)
        metadata: Any = {"Date": None, "Creator": None} if path.suffix.lower() == ".svg" else None
        figure.savefig(path, dpi=120, metadata=metadata)


def find_graph(subject: str | Path | Level, level: str | Path = "level_3") -> TaskGraph:
    """Return the graph of a level or a dish; see :func:`draw_graph`."""
    if isinstance(subject, Level):
        return task_graph(subject)
    name = str(subject)
    if name in levels() or name.endswith((".yaml", ".yml")):
        return task_graph(load_level(name))
    cookbook = load_level(level)
    if name not in cookbook.recipes:
        raise ValueError(near_matches("level or dish", name, [*levels(), *cookbook.recipes]))
    return task_graph(cookbook, [name])


def picture(graph: TaskGraph) -> Figure:
    """Draw a graph."""
    placed = layout(graph)
    widths = {key: LETTER * len(node.label) + 0.22 for key, node in graph.nodes.items()}
    columns = _columns(placed, widths)
    at = {key: (columns[int(x)][0], y * ROW) for key, (x, y) in placed.places.items()}
    width = max(x + widths[key] / 2 for key, (x, _) in at.items()) + 0.15
    height = max(y for _, y in at.values()) + BOX + 0.6
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0, width)
    axes.set_ylim(height - 0.45 - BOX / 2, -0.45 - BOX / 2)  # rows count downwards; the title stands above
    axes.axis("off")
    tools = list(dict.fromkeys(node.label for node in graph.nodes.values() if node.kind == "step"))
    colours = {tool: TOOL_COLOURS[i % len(TOOL_COLOURS)] for i, tool in enumerate(tools)}
    for (start, end), route in placed.routes.items():
        step = graph.nodes[end if end.startswith(STEP) else start]
        _draw_edge(axes, _points(route, columns, widths[start], widths[end]), colours.get(step.label))
    for key, node in graph.nodes.items():
        _draw_node(axes, node, at[key], widths[key], colours.get(node.label) if node.kind == "step" else None)
    axes.text(0.15, -0.3 - BOX / 2, graph.title, fontsize=12, fontweight="bold", color=INK, va="center")
    return figure


def _columns(placed: Layout, widths: Mapping[str, float]) -> list[tuple[float, float]]:
    """Return middle and width of each layer in inches: wide boxes push the layers apart."""
    last = int(max(x for x, _ in placed.places.values()))
    widest = [0.0] * (last + 1)
    for key, (x, _) in placed.places.items():
        widest[int(x)] = max(widest[int(x)], widths[key])
    centres = [0.15 + widest[0] / 2]
    for before, after in pairwise(widest):
        centres.append(centres[-1] + max(COLUMN, (before + after) / 2 + 0.42))
    return list(zip(centres, widest, strict=True))


def _points(route: Sequence[Point], columns: Sequence[tuple[float, float]], before: float, after: float) -> list[Point]:
    """Return an edge's way in inches, from box to box; it passes a layer level, so that it touches no other box."""
    first, *bends, last = ((*columns[int(x)], y * ROW) for x, y in route)
    points = [(first[0] + before / 2, first[2])]
    for middle, width, y in bends:
        points += [(middle - width / 2, y), (middle + width / 2, y)]
    return [*points, (last[0] - after / 2, last[2])]


def _draw_node(axes: Axes, node: Node, at: Point, width: float, colour: str | None) -> None:
    x, y = at
    rounding = BOX / 2 if node.key.startswith(STEP) else 0.05
    box = FancyBboxPatch(
        (x - width / 2, y - BOX / 2),
        width,
        BOX,
        boxstyle=f"round,pad=0,rounding_size={rounding}",
        facecolor=FILLS[node.kind],
        edgecolor=colour or EDGE,
        linewidth=1.8 if colour else 1.0,
        linestyle="dashed" if node.kind == "missing" else "solid",
        zorder=3,
    )
    axes.add_patch(box)
    weight = "bold" if node.kind == "dish" else "normal"
    axes.text(x, y, node.label, fontsize=9, ha="center", va="center", color=colour or INK, fontweight=weight, zorder=4)


def _draw_edge(axes: Axes, points: Sequence[Point], colour: str | None) -> None:
    """Draw a smooth line through the bends, with a head at its end; dashed without a colour."""
    style, colour = ("solid", colour) if colour else ("dashed", EDGE)
    tip, y = points[-1]
    vertices, codes = [points[0]], [Curve.MOVETO]
    for (x0, y0), (x1, y1) in pairwise([*points[:-1], (tip - 0.07, y)]):
        middle = (x0 + x1) / 2
        vertices += [(middle, y0), (middle, y1), (x1, y1)]
        codes += [Curve.CURVE4] * 3
    line = PathPatch(
        Curve(vertices, codes), facecolor="none", edgecolor=colour, linewidth=1.3, linestyle=style, zorder=1
    )
    axes.add_patch(line)
    axes.fill([tip, tip - 0.09, tip - 0.09], [y, y - 0.045, y + 0.045], color=colour, linewidth=0, zorder=2)
