"""Build the picture of a scene: the rooms with passages and doors, and a panel with time, doors and generators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import cos, pi, sin
from typing import Any

from collab_overcooked.io.text import plural
from collab_overcooked.render.model import (
    BAD,
    FLOOR,
    GOOD,
    GREY,
    INK,
    SHADE,
    WORKING,
    Board,
    BoardCell,
    Card,
    Cook,
    Dot,
    Drawing,
    Icon,
    Link,
    PanelColumn,
    Point,
    Text,
    TextLine,
    agent_card,
    clock,
    initials,
)

from ..engine.spec import RoomLayout

COOK = 0.6  # tiles
NEARER = 0.72  # scale of the layout's distances, so that rooms and players are large
SLOTS = ((0.0, 0.0), (0.4, 0.0), (0.2, 0.0), (0.0, 0.24), (0.4, 0.24), (0.2, 0.24), (0.0, 0.38), (0.4, 0.38))
OUTCOMES = {"success": ("success", GOOD), "lost": ("lost", BAD), "time_out": ("no turns left", BAD)}
PANEL = 24  # width in font sizes

Scene = Mapping[str, Any]


def places(level: RoomLayout) -> tuple[Point, ...]:
    """Return the upper left corners of the rooms in tiles: from the layout, or on a circle."""
    if level.places:
        return tuple((round(NEARER * x, 2), round(NEARER * y, 2)) for x, y in level.places)
    count = len(level.rooms)
    radius = max(1.5, 0.3 * count)
    angles = [2 * pi * k / count - pi / 2 for k in range(count)]
    return tuple((round(radius * (1 + cos(a)), 2), round(radius * (1 + sin(a)), 2)) for a in angles)


def picture(level: RoomLayout, scene: Scene, names: Sequence[str]) -> Drawing:
    """Return the picture of a scene.

    Args:
        level: The layout.
        scene: A scene, see ``RoomScene``, or one player's knowledge of it.
        names: Names of the players.
    """
    corners, letters = places(level), initials(names)
    size = (max(x for x, _ in corners) + 1, max(y for _, y in corners) + 1)
    cells = tuple((corner, _cell(level, scene, room)) for room, corner in enumerate(corners))
    board = Board(size, cells, _cooks(level, scene, corners, letters), COOK, links=_links(level, scene, corners))
    cards = _panel(level, scene, names, letters)
    lines = sum(card.height for card in cards) + 1
    listing = tuple(_room_line(level, scene, room, names) for room in range(len(corners)))
    return Drawing((board, PanelColumn(cards, PANEL, lines)), listing=listing, tile=88, font=0.14)


def _cell(level: RoomLayout, scene: Scene, room: int) -> BoardCell:
    name = level.rooms[room]
    items = []
    if scene["adversary"]["room"] == name:
        items.append(Icon(level.adversary_name, faded=bool(scene["adversary"].get("seen_ago"))))
    items += [
        Icon("generator_on" if generator["progress"] >= generator["needed"] else "generator")
        for generator in scene["generators"]
        if generator["room"] == name
    ]
    if level.has_button(room):
        items.append(Icon("button"))
    buttons = [label for label, door in zip(level.door_names, level.doors, strict=True) if door.button == room]
    labels = (*([f"{name}, door {', '.join(buttons)}"] if buttons else []), name)
    seen = scene.get("in_sight")
    if seen is not None and name not in seen:
        return BoardCell("unseen", items=tuple(items), labels=labels, targets=_targets(level, room))
    sprite = ("open_exit" if scene["gate"] else "exit") if room in level.exits else "room"
    return BoardCell(sprite, items=tuple(items), labels=labels, targets=_targets(level, room))


def _targets(level: RoomLayout, room: int) -> tuple[str, ...]:
    return level.title(room), "the button" if level.has_button(room) else "the generator"


def _cooks(
    level: RoomLayout, scene: Scene, corners: Sequence[Point], letters: Sequence[str]
) -> tuple[tuple[Point, Cook], ...]:
    cooks = []
    taken: dict[str, int] = {}
    for seat, player in enumerate(scene["players"]):
        if player["active"]:
            slot = taken.get(player["room"], 0)
            taken[player["room"]] = slot + 1
            x, y = corners[level.rooms.index(player["room"])]
            dx, dy = SLOTS[slot % len(SLOTS)]
            cooks.append(((x + dx, y + dy), Cook(seat, letters[seat], chef=False)))
    return tuple(cooks)


def _links(level: RoomLayout, scene: Scene, corners: Sequence[Point]) -> tuple[Link, ...]:
    links = []
    doors = {frozenset(door.rooms): name for door, name in zip(level.doors, level.door_names, strict=True)}
    for room, near in enumerate(level.neighbours):
        for other in near:
            back = room in level.neighbours[other]
            if back and other < room:
                continue
            ends = [(corners[k][0] + 0.5, corners[k][1] + 0.5) for k in (room, other)]
            name = doors.get(frozenset((room, other)))
            colour = SHADE if name is None else GOOD if scene["doors"][name] else BAD
            links.append(Link(ends[0], ends[1], colour, arrow=not back, crossed=colour == BAD))
    return tuple(links)


def _panel(level: RoomLayout, scene: Scene, names: Sequence[str], letters: Sequence[str]) -> tuple[Card, ...]:
    outcome, colour = OUTCOMES.get(scene["outcome"], ("", INK))
    title = f"turn {scene['turn'] + (not outcome)} of {scene['limit']}"
    cards = [clock(title, [(outcome, colour)] if outcome else [], scene["turn"], scene["limit"], above=scene["map"])]
    for seat, player in enumerate(scene["players"]):
        cards.append(agent_card(Cook(seat, letters[seat], chef=False), names[seat], _state_of(level, player)))
    cards.append(_adversary_card(level, scene, names))
    for name, is_open in scene["doors"].items():
        state = Text("open" if is_open else "closed", GOOD if is_open else BAD)
        cards.append(Card((TextLine((Text(f"door {name}", GREY), state)),)))
    for generator in scene["generators"]:
        done, needed = min(generator["progress"], generator["needed"]), generator["needed"]
        dots = tuple(Dot(WORKING if k < done else FLOOR) for k in range(needed)) if needed < 9 else ()
        label = Text(f"generator {generator['room']}", GREY)
        cards.append(Card((TextLine((label, *dots, Text(f"{done} of {needed}", GOOD if done == needed else INK))),)))
    if scene["generators"]:
        state = Text("open" if scene["gate"] else "closed", GOOD if scene["gate"] else BAD)
        cards.append(Card((TextLine((Text("gate", GREY), state)),)))
    return tuple(cards)


def _state_of(level: RoomLayout, player: Mapping[str, Any]) -> str:
    if not player["active"]:
        return "caught"
    place = level.title(player["room"])
    return place + ", at work" * player["fixing"] + _seen(player)


def _seen(entity: Mapping[str, Any]) -> str:
    return f", seen {plural(entity['seen_ago'], 'turn')} ago" if entity.get("seen_ago") else ""


def _adversary_card(level: RoomLayout, scene: Scene, names: Sequence[str]) -> Card:
    name, adversary = level.adversary_name, scene["adversary"]
    status = level.title(adversary["room"])
    status += _seen(adversary)
    if adversary["target"] is not None:
        status += f", chasing {names[adversary['target']]}"
    return Card((TextLine((Text(name, INK, bold=True), Text(status, GREY))),), Icon(name), size=1.6)


def _room_line(level: RoomLayout, scene: Scene, room: int, names: Sequence[str]) -> str:
    name = level.rooms[room]
    doors = {frozenset(door.rooms): label for door, label in zip(level.doors, level.door_names, strict=True)}
    there = [names[k] for k, player in enumerate(scene["players"]) if player["active"] and player["room"] == name]
    there += [level.adversary_name] if scene["adversary"]["room"] == name else []
    there += ["generator" for generator in scene["generators"] if generator["room"] == name]
    there += [f"button of {level.door_names[d]}" for d, door in enumerate(level.doors) if door.button == room]
    there += ["exit"] if room in level.exits else []
    ways = []
    for other in level.neighbours[room]:
        label = doors.get(frozenset((room, other)))
        shut = label is not None and not scene["doors"][label]
        ways.append(f"[{level.rooms[other]}]" if shut else level.rooms[other])
    return f"{name:>3} -> {', '.join(ways)}" + (f"   {', '.join(there)}" if there else "")
