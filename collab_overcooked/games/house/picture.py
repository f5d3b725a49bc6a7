"""Floor plans: the whole home, or what one agent knows of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from collab_overcooked.games.house.scene import WALL
from collab_overcooked.render.model import (
    FLOORS,
    GOOD,
    GREY,
    INK,
    Board,
    Card,
    Cell,
    Column,
    Cook,
    Icon,
    Line,
    Sheet,
    Text,
    agent_card,
    clock,
    held_spans,
    initials,
)

Scene = Mapping[str, Any]
PANEL = 30  # width, font sizes
SHADED = {"none": "unseen", "part": FLOORS[0], "all": FLOORS[1]}  # floors by what is known of a room
SHAPES = {  # sprites by thing; their colours come from the names
    "plate": "dish", "fork": "strands", "bowl": "bowl", "tray": "sheet", "plastic basket": "sack",
    "wooden basket": "sack", "wicker basket": "sack", "cupcake": "cake", "poundcake": "loaf", "pancake": "discs",
    "pudding": "ball", "juice": "jar", "wine": "jar", "coffeepot": "soup", "banana": "baton", "orange": "round",
    "loaf": "loaf", "burger": "burger", "calculator": "sheet", "mouse": "ball", "pen": "stalk", "lighter": "baton",
    "purse": "sack", "phone": "block",
}  # fmt: skip
BROKEN = {"dishwasher": "dish washer", "microwave": "micro wave"}  # names that are too long for one line
FURNITURE = {"closed": "chest", "checked": "chest"}  # sprites by state; others look like tables
WIDE = 30  # cells from which on they are drawn small
LISTED = 8  # lines of a goal or of rooms


def icon_of(name: str) -> Icon:
    """Return what a thing looks like."""
    return Icon(SHAPES.get(name, ""), foods=(name,), text=name)


def _floor(grid: Sequence[str], shades: Mapping[int, str]) -> dict[tuple[int, int], Cell]:
    return {
        (x, y): Cell("wall", "#") if c == WALL else _ground(shades[int(c)])
        for y, row in enumerate(grid)
        for x, c in enumerate(row)
    }


def _ground(sprite: str) -> Cell:
    return Cell(sprite, " " if sprite == SHADED["none"] else ".")


def _furniture(place: Mapping[str, Any], state: str, items: Sequence[str], goal: bool) -> Cell:
    """Return a piece of furniture: capital letters are closed, an exclamation mark is the goal place."""
    letter = place["name"][0].upper() if state in ("closed", "checked") else place["name"][0]
    mark = "!" if goal else ""
    words = BROKEN.get(place["name"], place["name"])
    label = (words, "".join(word[0] for word in words.split()))
    sprite = "serving" if goal else FURNITURE.get(state, "counter")
    return Cell(sprite, letter + mark, tuple(map(icon_of, items)), labels=label, ready=goal)


def _board(grid: Sequence[str], cells: Mapping[tuple[int, int], Cell], cooks: Sequence[tuple[Any, Cook]]) -> Board:
    return Board((len(grid[0]), len(grid)), tuple(cells.items()), tuple(cooks))


def _tile(grid: Sequence[str]) -> int:
    """Return how many pixels a cell takes: homes are large enough to name the furniture, houses are too wide."""
    return 44 if len(grid[0]) <= WIDE else 24


def _goal_card(scene: Scene, goals: Sequence[tuple[str, int, int]], place: str) -> Card:
    lines = [Line((Text(f"Goal: {place}", bold=True), Text(scene["task"].replace("_", " "), GREY)))]
    for name, have, need in goals[:LISTED]:
        lines.append(
            Line((replace(icon_of(name), text=""), Text(f"{name} {have} of {need}", GOOD if have >= need else INK)))
        )
    return Card(tuple(lines))


def picture(scene: Scene, names: Sequence[str]) -> Sheet:
    """Return the scene model of a home with everything in it.

    Args:
        scene: See ``scene.decode``.
        names: Of the agents.
    """
    cells = _floor(scene["grid"], dict.fromkeys(range(len(scene["rooms"])), FLOORS[1]))
    things, letters = scene["things"], initials(names)
    for p, place in enumerate(scene["places"]):
        lying = [thing["name"] for thing in things if thing["rel"] == "at" and thing["parent"] == p]
        spot = tuple(place["at"])
        if place["kind"] in ("surface", "container", "bed"):
            shut = place["kind"] == "container" and not place["open"]
            cells[spot] = _furniture(place, "closed" if shut else "open", lying, p == scene["goal_place"])
        elif place["kind"] == "spot" and lying:
            cells[spot] = Cell(FLOORS[1], lying[0][0], tuple(map(icon_of, lying)))
    cooks, cards = [], []
    for seat, agent in enumerate(scene["agents"]):
        held = [things[o]["name"] for o in agent["hands"] if o is not None]
        icon = icon_of(held[0]) if held else None
        cook = Cook(seat, letters[seat], chef=False, held=icon, mark=held[0][0] if held else "")
        cooks.append((tuple(agent["at"]), cook))
        room = scene["rooms"][agent["room"]]["name"] if agent["room"] >= 0 else ""
        cards.append(agent_card(cook, names[seat], room, held_spans(icon, " and ".join(held) or "nothing")))
    goals = [(goal["name"], goal["have"], goal["need"]) for goal in scene["goals"]]
    done, whole = sum(have for _, have, _ in goals), sum(need for _, _, need in goals)
    time = clock(
        f"Time {scene['tick']} of {scene['limit']}", [(f"{done} of {whole}", GOOD)], scene["tick"], scene["limit"]
    )
    goal = _goal_card(scene, goals, scene["places"][scene["goal_place"]]["name"])
    column = Column((time, *cards, goal), PANEL, 4.0 + 2.5 * len(cards) + LISTED + 2)
    listing = [f"{place['name']}: {room['name']}" for place, room in _placed(scene)]
    return Sheet(
        (_board(scene["grid"], cells, cooks), column), listing=tuple(listing), tile=_tile(scene["grid"]), font=0.42
    )


def _placed(scene: Scene) -> list[tuple[Any, Any]]:
    kinds = ("surface", "container", "bed")
    return [(place, scene["rooms"][place["room"]]) for place in scene["places"] if place["kind"] in kinds]


def known_picture(scene: Scene, names: Sequence[str]) -> Sheet:
    """Return the scene model of what one agent knows: rooms that it has not entered are shaded.

    Args:
        scene: See ``scene.known_scene``.
        names: Of the agents.
    """
    cells = _floor(scene["grid"], {r: SHADED[room["known"]] for r, room in enumerate(scene["rooms"])})
    things, me, letters = scene["things"], scene["me"], initials(names)
    for p, place in scene["places"].items():
        lying = [own["name"] for own in things.values() if own.get("place") == p]
        cells[tuple(place["at"])] = _furniture(place, place["state"], lying, p == scene["goal"]["place"])
    for own in things.values():
        if own["status"] == "seen" and own["place"] not in scene["places"]:
            cells[tuple(own["at"])] = Cell(FLOORS[1], own["name"][0], (icon_of(own["name"]),))
    held = [things[o]["name"] for o in me["hands"] if o is not None]
    icon = icon_of(held[0]) if held else None
    seat = scene["seat"]
    cook = Cook(seat, letters[seat], chef=False, held=icon, mark=held[0][0] if held else "")
    here = scene["rooms"][me["room"]]["name"] if me["room"] >= 0 else ""
    cards = [agent_card(cook, names[seat], here, held_spans(icon, " and ".join(held) or "nothing"))]
    for j, mate in scene["mates"].items():
        room = scene["rooms"][mate["room"]]["name"]
        words = " and ".join(name for name in mate["hands"] if name) or "nothing"
        seen = Cook(j, letters[j], chef=False)
        cards.append(agent_card(seen, names[j], f"{room}, time {mate['tick']}", held_spans(None, words)))
    goals = [(goal["name"], goal["seen"], goal["need"]) for goal in scene["goals"]]
    time = clock(f"Time {scene['tick']} of {scene['limit']}", [], scene["tick"], scene["limit"])
    column = Column(
        (time, *cards, _goal_card(scene, goals, scene["goal"]["name"])), PANEL, 4.0 + 2.5 * scene["team"] + LISTED + 2
    )
    return Sheet(
        (_board(scene["grid"], cells, [(tuple(me["at"]), cook)]), column), tile=_tile(scene["grid"]), font=0.42
    )
