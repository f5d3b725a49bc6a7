"""Instructions of a language agent: rules, layout, and what can be chosen; the form of an answer is the asker's."""

from __future__ import annotations

import numpy as np

from collab_overcooked.games.overcooked.engine.compile import Compiled
from collab_overcooked.games.overcooked.engine.constants import (
    LETTERS,
    MAX_INGREDIENTS,
    NOTHING,
    Frame,
    Kind,
    Object,
    Param,
    Rules,
)
from collab_overcooked.games.overcooked.engine.solvability import FLOOR, Cell, flood, neighbours
from collab_overcooked.games.overcooked.engine.spec import Layout
from collab_overcooked.games.overcooked.text.text import NAMES, TITLES, draw_map, object_name
from collab_overcooked.kernels.macro_actions import MEDIUM

Array = np.ndarray


def manual(compiled: Compiled, seat: int, layout: Layout, steps: int) -> str:
    """Return the instructions of a language agent: rules, layout, and what its actions do."""
    k = compiled.layouts.index(layout)
    objects = [thing for thing in compiled.tables.objects[k] if thing[Object.X] != NOTHING]
    others = [NAMES[j] for j in range(compiled.n_players) if j != seat]
    lines = [
        f"You are {NAMES[seat]}, a cook" + (f" in one kitchen with {' and '.join(others)}." if others else ", alone."),
        f"In {steps} steps the team shall earn as much as possible. {_orders(layout)}",
        *_rules(compiled, layout, k),
        "",
        f"The kitchen is {layout.name}, {layout.width} by {layout.height} cells. What stands where, as (column, row):",
    ]
    for kind in Kind:
        named = [thing for thing in objects if thing[Object.KIND] == kind]
        if named:
            places = ", ".join(f"{object_name(thing)} ({thing[Object.X]}, {thing[Object.Y]})" for thing in named)
            lines.append(f"- {TITLES[kind]}: {places}")
    lines += _reach(layout, [(int(x), int(y)) for x, y in compiled.tables.starts[k]], objects, seat)
    strict = compiled.tables.params[Param.RULES] == Rules.STRICT
    own = _directives(strict) if compiled.levels[seat] == MEDIUM else _primitives(compiled, k)
    return "\n".join([*lines, "", *own])


def _reach(layout: Layout, starts: list[Cell], objects: list[Array], seat: int) -> list[str]:
    """Say who can get to what on foot, and what only through a gate; one sentence where that is the same for all."""
    near, beyond = [], []
    for start in starts:
        closed, opened = (_in_reach(flood(layout.grid, start, set(), floor), objects) for floor in (" ", FLOOR))
        near.append(", ".join(closed) or "nothing")
        beyond.append(", ".join(name for name in opened if name not in closed))
    if len(set(near)) == 1 and not any(beyond):
        return [f"{'You can' if len(starts) == 1 else 'Everybody can'} get to {near[0]}."]
    lines = []
    for j in [seat, *(other for other in range(len(starts)) if other != seat)]:
        through = f"; only through an open gate to {beyond[j]}" if beyond[j] else ""
        lines.append(f"{'You' if j == seat else NAMES[j]} can get to {near[j]}{through}.")
    both = set(near[seat].split(", ")).intersection(*(own.split(", ") for own in near))
    counters = [name for name in near[seat].split(", ") if name in both and name[0] in _COUNTERS]
    if counters:
        lines.append(f"Counters that all can get to, for handing things over: {', '.join(counters)}.")
    return lines


_COUNTERS = LETTERS[Kind.SHARED] + LETTERS[Kind.COUNTER]


def _in_reach(floor: frozenset[Cell], objects: list[Array]) -> list[str]:
    """Return the names of the objects that stand beside some floor."""
    return [
        object_name(thing)
        for thing in objects
        if floor.intersection(neighbours((int(thing[Object.X]), int(thing[Object.Y]))))
    ]


def _directives(strict: bool) -> list[str]:
    return [
        "You choose directives; each is walked and acted out for you, and you are asked again when it has ended.",
        "Each time you are told which directives are possible; things are put down on the nearest empty counter only.",
        *(["A directive that has become impossible ends by itself."] if strict else []),
    ]


def _primitives(compiled: Compiled, k: int) -> list[str]:
    """Return what moves and interacts do, and how to read the map."""
    used = {symbol for row in draw_map(compiled, k) for symbol in row}
    legend = [f"{letter} {TITLES[kind]}" for kind, letter in zip(Kind, LETTERS, strict=True) if letter in used]
    legend += ["W walls"] if "W" in used else []
    return [
        "You choose one action per step. north, south, east and west move you by one cell; north is up on the map. If "
        "the cell ahead is blocked, you turn to face it without moving. stay does nothing.",
        "interact works on the cell that you face: it takes from a dispenser or a counter, puts what you hold on an "
        "empty counter or into a pot, loads ready soup on the dish in your hand, and delivers soup.",
        f"Letters on the map, as in the names of objects: {', '.join(legend)}. Blank cells are floor; digits are "
        "players in seat order, starting with 1.",
    ]


def _orders(layout: Layout) -> str:
    soups = []
    for soup in layout.orders:
        onions, tomatoes = soup
        worth = layout.values[soup] * (layout.order_bonus if soup in layout.bonus_orders else 1)
        parts = [f"{count} {name}" for count, name in ((onions, "onion"), (tomatoes, "tomato")) if count]
        soups.append(f"{' + '.join(parts)} pays {worth}")
    return f"Soups wanted: {'; '.join(soups)}."


def _rules(compiled: Compiled, layout: Layout, k: int) -> list[str]:
    """Say how cooking and gates work, with the numbers of the layout."""
    tables = compiled.tables
    auto = tables.params[Param.AUTO_START] == 1
    times = sorted({layout.cook_times[soup] for soup in layout.orders})
    start = "It starts by itself with the third" if auto else "An empty hand starts it"
    lines = [
        f"A pot takes up to {MAX_INGREDIENTS} ingredients, one at a time. {start} and cooks for "
        f"{' or '.join(map(str, times))} steps; meanwhile it takes nothing.",
        "Ready soup is loaded on a dish from the dispenser and delivered at a serving cell. A hand holds one thing.",
        "Nobody walks through others, counters or stations.",
    ]
    if tables.frames[k, Frame.GATES]:
        who = "Anyone" if tables.params[Param.GATE_ANYONE] == 1 else "Somebody with empty hands"
        lines.append(
            f"{who} can open a gate; it closes after {tables.frames[k, Frame.GATE_LIMIT]} steps in which nobody stands "
            "in it."
        )
    return lines
