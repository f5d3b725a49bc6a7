"""Instructions of a language agent: rules, layout, and what can be chosen; the form of an answer is the asker's."""

from __future__ import annotations

from collab_overcooked.core.macro_actions import MEDIUM
from collab_overcooked.games.overcooked.compile import Compiled
from collab_overcooked.games.overcooked.constants import MAX_INGREDIENTS, NOTHING, Frame, Kind, Object, Param, Rules
from collab_overcooked.games.overcooked.spec import Layout
from collab_overcooked.games.overcooked.text import NAMES, TITLES, object_name

SIGNS = {
    "X": "counter",
    "O": "onion dispenser",
    "T": "tomato dispenser",
    "D": "dish dispenser",
    "P": "pot",
    "S": "serving cell",
    "G": "gate",
    "W": "wall",
    " ": "floor",
}


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
    strict = compiled.tables.params[Param.RULES] == Rules.STRICT
    own = _directives(strict) if compiled.levels[seat] == MEDIUM else _primitives(layout)
    return "\n".join([*lines, "", *own])


def _directives(strict: bool) -> list[str]:
    return [
        "You choose directives; each is walked and acted out for you, and you are asked again when it has ended.",
        "Each time you are told which directives are possible; things are put down on the nearest empty counter only.",
        *(["A directive that has become impossible ends by itself."] if strict else []),
    ]


def _primitives(layout: Layout) -> list[str]:
    """Say what moves and interacts do, and how the map is read that every moment shows."""
    used = sorted({symbol for row in layout.grid for symbol in row} - set("1234"))
    legend = ", ".join(f"{symbol if symbol != ' ' else 'blank'} {SIGNS[symbol]}" for symbol in used)
    return [
        "You choose one action a step. north, south, east and west move by one cell, north being up on the map; who "
        "cannot go there only turns to face it. stay does nothing.",
        "interact works on the cell that you face: it takes from a dispenser or a counter, puts what you hold on an "
        "empty counter or into a pot, loads ready soup on the dish in your hand, and delivers soup.",
        f"Signs on the map: {legend}; digits are players in the order of seats, 1 the first.",
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
