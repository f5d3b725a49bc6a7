"""Texts of rules and states of Overcooked; states are described fully, with times of pots and gates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked.io.text import plural

from ..engine.constants import MAX_INGREDIENTS, SYMBOLS, LayoutSize
from ..engine.spec import number_of
from ..text.text import NAMES
from .kitchen import WAIT, Kitchen

State = Mapping[str, Any]
LEGEND = {
    "X": "counter",
    "O": "onions",
    "D": "dishes",
    "P": "pot",
    "S": "serving",
    "W": "wall",
    "G": "gate",
    ".": "floor",
}
TITLES = {"o": "onion dispenser", "d": "serving", "c": "pot", "p": "dish dispenser", "g": "gate"}


def rules(kitchen: Kitchen) -> str:
    """Return the text of the rules."""
    frame = kitchen.compiled.tables.frames[0]
    time = int(kitchen.compiled.tables.times[0, number_of([MAX_INGREDIENTS])])
    lines = [
        f"Two cooks, {NAMES[0]} and {NAMES[1]}, make onion soup on a grid. In each step, each of them walks one cell "
        "north, south, east or west, uses the cell that it faces, or stays. A cook that walks turns to that direction "
        "first; if the cell ahead is blocked, it only turns.",
        "Each cook holds one thing at most. Dispensers give onions and dishes without end to an empty hand. A pot takes"
        f" {MAX_INGREDIENTS} onions, one at a time; with the third it begins to cook for {time} steps, in which it "
        "takes nothing. Ready soup goes onto a dish in the hand and is delivered at a serving. A counter holds one "
        "thing: anything can be put on an empty one and taken from a full one with an empty hand.",
        f"A step has this order: the hands are used, {NAMES[0]}'s first; then both walk at the same time; then pots "
        "cook. A cook cannot enter counters and stations. The cell that the other leaves in the same step is free, but "
        "if both want the same cell or want to change places, both only turn.",
        f'To "{WAIT}" means neither to walk nor to turn until the other cook has used its hands.',
    ]
    if frame[LayoutSize.GATES]:
        lines.append(
            "A closed gate is like a wall. A cook with an empty hand who faces it can open it; both can walk through, "
            "in the same step already. It closes at the end of a step, after "
            f"{frame[LayoutSize.GATE_LIMIT]} steps since it was opened in which nobody stood in it, that "
            "of the opening not counted."
        )
    return "\n".join(lines)


def describe(kitchen: Kitchen, state: State, seat: int) -> str:
    """Return the description of a state from a seat's view."""
    lines = [f"You are {NAMES[seat]}; the other cook is {NAMES[1 - seat]}.", "", *_map(kitchen), ""]
    for who, player in enumerate(state["players"]):
        name = "You stand" if who == seat else f"{NAMES[who]} stands"
        at = cell_text(player["position"])
        held = thing_text(player["holding"])
        verb = ("face", "hold") if who == seat else ("faces", "holds")
        lines.append(f"{name} at {at}, {verb[0]} {player['facing']} and {verb[1]} {held}.")
    lines.append("")
    lines += _objects(kitchen, state)
    return "\n".join(lines)


def _map(kitchen: Kitchen) -> list[str]:
    symbols = {kind: symbol for symbol, kind in SYMBOLS.items()}
    rows = ["".join(symbols[cell] for cell in row).replace(" ", ".") for row in kitchen.terrain.tolist()]
    legend = ", ".join(f"{symbol} {name}" for symbol, name in LEGEND.items() if any(symbol in row for row in rows))
    return [f"The kitchen ({legend}); cells are (column, row) from (0, 0) at the top left, north is up:", *rows]


def cell_text(position: Sequence[int]) -> str:
    """Return the text of a cell."""
    return f"({position[0]}, {position[1]})"


def thing_text(thing: Mapping[str, Any] | None) -> str:
    """Return the text of a thing."""
    if thing is None:
        return "nothing"
    return {"onion": "an onion", "dish": "a dish", "soup": "a dish of soup"}[thing["item"]]


def _objects(kitchen: Kitchen, state: State) -> list[str]:
    lying = {tuple(thing["position"]): thing for thing in state["objects"]}
    gates = {tuple(gate["position"]): gate for gate in state["gates"]}
    lines, rest = [], []
    for name in kitchen.objects:
        place = kitchen.place(name)
        thing, at = lying.get(place), cell_text(place)
        if name[0] == "c":
            lines.append(f"Pot {name} at {at}: {pot_text(thing)}.")
        elif name[0] == "g":
            lines.append(f"Gate {name} at {at}: {gate_text(gates[place])}.")
        elif thing is not None:
            lines.append(f"Counter {name} at {at}: {thing_text(thing)} lies there.")
        else:
            rest.append(f"{TITLES.get(name[0], 'empty counter')} {name} {at}")
    return [*lines, f"Else: {', '.join(rest)}."]


def pot_text(soup: Mapping[str, Any] | None) -> str:
    """Return the text of a pot's contents."""
    count = 0 if soup is None else len(soup["ingredients"])
    if soup is None or soup["tick"] < 0:
        return f"{count} of {MAX_INGREDIENTS} onions, not cooking"
    left = soup["time"] - soup["tick"]
    return "soup, ready" if left <= 0 else f"soup, cooking, ready after {left} more step{'s' * (left > 1)}"


def gate_text(gate: Mapping[str, Any]) -> str:
    """Return the text of a gate's state."""
    if not gate["open"]:
        return "closed"
    return (
        f"open; it closes after {plural(gate['limit'] - gate['counter'] + 1, 'more step')} in which nobody stands in it"
    )


def title(name: str) -> str:
    """Return the text of an object's kind and name."""
    return f"{TITLES.get(name[0], 'counter')} {name}"
