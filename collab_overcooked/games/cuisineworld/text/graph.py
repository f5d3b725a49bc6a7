"""Task graphs of dishes and levels: ingredients, the tool steps that change them, and the dishes at the end.

Graphs are written as Graphviz or Mermaid text; Graphviz, where it is installed, lays them out and draws them.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from collab_overcooked.games.cuisineworld.engine.spec import Level, levels, load_level
from collab_overcooked.io.checks import near_matches

TEXTS, PICTURES = (".dot", ".mmd"), (".svg", ".png", ".pdf")
STEP = "step:"  # begins the keys of cooking steps; no item has a colon in its name
FILLS = {"ingredient": "#dcebd2", "step": "#fbf8f2", "missing": "#eeeeee", "product": "#fde9c4", "dish": "#f4b08a"}
_SHAPES = {"step": "shape=ellipse, ", "missing": 'shape=ellipse, style="filled,dashed", ', "dish": "penwidth=2, "}
_DOT_STYLES = {kind: f'{_SHAPES.get(kind, "")}fillcolor="{colour}"' for kind, colour in FILLS.items()}


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


# ------------------------------------------------------------------------------------------- texts and pictures


def dot_text(graph: TaskGraph) -> str:
    """Return a graph in the language of Graphviz, from left to right."""
    ids = _ids(graph)
    lines = [f"digraph {_quoted(graph.title)} {{"]
    lines += [
        "  graph [rankdir=LR, labelloc=t, fontname=Helvetica, label=" + _quoted(graph.title) + "];",
        "  node [shape=box, style=filled, fontname=Helvetica];",
    ]
    lines += [
        f"  {ids[key]} [label={_quoted(node.label)}, {_DOT_STYLES[node.kind]}];" for key, node in graph.nodes.items()
    ]
    lines += [f"  {ids[start]} -> {ids[end]};" for start, end in graph.edges]
    return "\n".join([*lines, "}", ""])


def mermaid_text(graph: TaskGraph) -> str:
    """Return a graph as a Mermaid flowchart, which GitHub and many editors draw in Markdown."""
    ids = _ids(graph)
    lines = ["flowchart LR"]
    for key, node in graph.nodes.items():
        left, right = ("([", "])") if key.startswith(STEP) else ("[", "]")
        label = node.label.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
        lines.append(f'  {ids[key]}{left}"{label}"{right}:::{node.kind}')
    lines += [f"  {ids[start]} --> {ids[end]}" for start, end in graph.edges]
    used = dict.fromkeys(node.kind for node in graph.nodes.values())
    lines += [f"  classDef {kind} fill:{FILLS[kind]},stroke:#9a948a,color:#2b2a28" for kind in used]
    return "\n".join([*lines, ""])


def _ids(graph: TaskGraph) -> dict[str, str]:
    return {key: f"n{number}" for number, key in enumerate(graph.nodes)}


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def draw_graph(subject: str | Path | Level, path: str | Path, level: str | Path = "level_3") -> None:
    """Write the task graph of a level or a dish.

    Args:
        subject: A level (name, YAML file or read), or a product of the cookbook.
        path: File to write: ``.dot``, ``.mmd`` (Mermaid), or a picture drawn by Graphviz: ``.svg``, ``.png``, ``.pdf``.
        level: Level whose recipes are used if the subject is a dish.

    Raises:
        ValueError: For an unknown subject or another ending, or a picture where Graphviz is not installed.
        OSError: If the file cannot be written.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in (*TEXTS, *PICTURES):
        raise ValueError(f"out: {path} should end in {', '.join((*TEXTS, *PICTURES))}")
    graph = find_graph(subject, level)
    if ending in TEXTS:
        path.write_text((dot_text if ending == ".dot" else mermaid_text)(graph), encoding="utf-8")
        return
    program = shutil.which("dot")
    if program is None:
        raise ValueError(
            f"out: drawing {path} needs the program dot of Graphviz (apt install graphviz, brew install graphviz, or "
            "graphviz.org/download); without it, write .dot or .mmd (Mermaid) instead"
        )
    with path.open("wb") as file:
        command = [program, f"-T{ending[1:]}"]
        drawn = subprocess.run(command, input=dot_text(graph).encode(), stdout=file, stderr=subprocess.PIPE)
    if drawn.returncode:
        path.unlink()
        raise ValueError(f"out: dot cannot draw {path}: {drawn.stderr.decode(errors='replace').strip()}")


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
