"""Layouts of rooms: frozen dataclasses read from YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from collab_overcooked.io.checks import near_matches, quote_value
from collab_overcooked.io.documents import Document, builtin_names, load_layout

from .constants import MAX_DOORS, MAX_PLAYERS, MAX_ROOMS, Goal

FOLDER = "rooms"
KEYS = ("name", "game", "description", "rooms", "one_way", "doors", "generators", "exits", "starts", "places", "claim")
GAMES = tuple(goal.name.lower() for goal in Goal)
ADVERSARIES = {"capture": "thief", "escape": "killer"}
CLAIMS = ("turns", "success", "helping_turns")  # see ``engine.solvability``
MAX_TILES = 40  # size of a picture in each direction
NAME = re.compile(r"[A-Za-z][A-Za-z0-9 _]*|0|[1-9][0-9]{0,2}")


@dataclass(frozen=True)
class Door:
    """A door that a button toggles."""

    rooms: tuple[int, int]  # The two rooms on its sides, by index
    button: int  # Room of its button
    is_open: bool  # Whether it is open at the start


@dataclass(frozen=True)
class RoomLayout:
    """Contents of a layout file; rooms are indices in the order of the file."""

    document: Document  # Source document
    name: str  # For example ``"nine_rooms"``
    game: str  # ``"capture"`` or ``"escape"``
    description: str  # One-sentence description
    rooms: tuple[str, ...]  # Names of the rooms; digits if rooms are numbered
    neighbours: tuple[tuple[int, ...], ...]  # Rooms that can be reached from each room, in the order of menus
    doors: tuple[Door, ...]  # Doors with their buttons
    generators: tuple[int, ...]  # Rooms with a generator
    exits: tuple[int, ...]  # Rooms with an exit
    players: tuple[int, ...]  # Rooms where the players start; further players start in the first free rooms
    adversary: int  # Room where thief or killer starts
    places: tuple[tuple[float, float], ...]  # Positions of the rooms in a picture, in tiles; empty for a circle
    claim: Mapping[str, Any]  # Figures that ``engine.solvability`` must reproduce, by name

    @property
    def door_names(self) -> tuple[str, ...]:
        """Names of the doors: the rooms on their sides, ``"1-2"``."""
        return tuple("-".join(self.rooms[room] for room in door.rooms) for door in self.doors)

    @property
    def one_way(self) -> list[tuple[int, int]]:
        """Passages that lead in one direction only."""
        pairs = [(room, other) for room, near in enumerate(self.neighbours) for other in near]
        return [(room, other) for room, other in pairs if room not in self.neighbours[other]]

    @property
    def adversary_name(self) -> str:
        """Name of the adversary in texts."""
        return ADVERSARIES[self.game]

    def has_button(self, room: int) -> bool:
        """Return whether a room has the button of a door."""
        return any(door.button == room for door in self.doors)

    def title(self, room: int | str) -> str:
        """Return the name of a room in texts, ``"room 3"`` if it is a number; takes its index or its name."""
        name = room if isinstance(room, str) else self.rooms[room]
        return f"room {name}" if name.isdecimal() else name


def maps(game: str = "") -> list[str]:
    """Return the names of the built-in layouts, of one game or of both."""
    return [name for name in builtin_names(FOLDER) if not game or load_rooms(name).game == game]


def load_rooms(source: str | Path | Mapping[str, Any]) -> RoomLayout:
    """Read a layout.

    Args:
        source: A built-in name, the path of a YAML file, or the values of such a file.

    Raises:
        DocumentError: The file is invalid.
    """
    doc = load_layout(source, FOLDER, "map")
    doc.mapping(only=KEYS)
    rooms = doc.mapping("rooms")
    if not 2 <= len(rooms) <= MAX_ROOMS:
        raise doc.error(f"rooms: {len(rooms)} rooms; 2 to {MAX_ROOMS} are allowed", "rooms")
    names = tuple(_room_name(doc, room) for room in rooms)
    if twice := [room for room, name in zip(rooms, names, strict=True) if names.count(name) > 1]:
        raise doc.error(f"room {twice[0]} is listed twice, as a number and as a text", "rooms", twice[-1])
    neighbours = tuple(_room_list(doc, names, "rooms", room) for room in rooms)
    game = doc.choice(GAMES, "game")
    level = RoomLayout(
        document=doc,
        name=doc.text("name").strip(),
        game=game,
        description=doc.text("description", default="").strip(),
        rooms=names,
        neighbours=neighbours,
        doors=_doors(doc, names, neighbours),
        generators=_room_list(doc, names, "generators", default=()),
        exits=_room_list(doc, names, "exits", default=()),
        players=_room_list(doc, names, "starts", "agents", twice=True),
        adversary=_room(doc, names, doc.at("starts", "adversary"), "starts", "adversary"),
        places=_places(doc, names),
        claim=_claim(doc),
    )
    _check(doc, level)
    return level


def _room_name(doc: Document, room: Any) -> str:
    name = str(room)
    if isinstance(room, bool) or not NAME.fullmatch(name):
        raise doc.error(
            f"{quote_value(room)} is not a valid room; use a number from 0 to 999 or a name of letters", "rooms", room
        )
    return name


def _room(doc: Document, names: Sequence[str], value: Any, *path: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise doc.refuse("be a room of the layout", *path)
    if str(value) not in names:
        raise doc.error(near_matches("room", value, names), *path)
    return names.index(str(value))


def _room_list(
    doc: Document, names: Sequence[str], *path: Any, twice: bool = False, default: Any = None
) -> tuple[int, ...]:
    entries = doc.at(*path)
    if entries is None and default is not None:
        return tuple(default)
    if not isinstance(entries, list) or not entries:
        raise doc.refuse("be a list of rooms", *path)
    rooms = tuple(_room(doc, names, room, *path, i) for i, room in enumerate(entries))
    for i, room in enumerate(rooms):
        if room in rooms[:i] and not twice:
            raise doc.error(f"room {names[room]} is listed twice", *path, i)
    return rooms


def _doors(doc: Document, names: Sequence[str], neighbours: Sequence[Sequence[int]]) -> tuple[Door, ...]:
    entries = doc.listed("doors", "doors", default=[])
    if len(entries) > MAX_DOORS:
        raise doc.error(f"doors: {len(entries)} doors; at most {MAX_DOORS} are allowed", "doors")
    doors: list[Door] = []
    for i in range(len(entries)):
        doc.mapping("doors", i, only=("between", "button", "open"))
        rooms = _room_list(doc, names, "doors", i, "between")
        if len(rooms) != 2 or not any(b in neighbours[a] for a, b in (rooms, rooms[::-1])):
            raise doc.refuse("be two rooms with a passage between them", "doors", i, "between")
        if any(set(rooms) == set(door.rooms) for door in doors):
            raise doc.error("there is another door between these rooms", "doors", i, "between")
        button = _room(doc, names, doc.at("doors", i, "button"), "doors", i, "button")
        if any(button == door.button for door in doors):
            raise doc.error("the room has the button of another door; a room has one button", "doors", i, "button")
        doors.append(Door((rooms[0], rooms[1]), button, doc.boolean("doors", i, "open", default=True)))
    return tuple(doors)


def _places(doc: Document, names: Sequence[str]) -> tuple[tuple[float, float], ...]:
    if "places" not in doc:
        return ()
    keys = {str(room): room for room in doc.mapping("places")}
    for name in keys:
        _room(doc, names, name, "places", keys[name])
    places = []
    for name in names:
        place = ("places", keys.get(name, name))
        if not isinstance(doc.at(*place), list) or len(doc.at(*place)) != 2:
            raise doc.refuse("be a place [x, y] in tiles", *place)
        places.append((doc.number(*place, 0, low=0), doc.number(*place, 1, low=0)))
        if max(places[-1]) > MAX_TILES:
            raise doc.refuse(f"be at most {MAX_TILES} tiles to the right and down", *place)
    for (i, one), (j, other) in combinations(enumerate(places), 2):
        if max(abs(one[0] - other[0]), abs(one[1] - other[1])) < 1:
            raise doc.error(f"rooms {names[i]} and {names[j]} overlap; keep a tile between places", "places")
    return tuple(places)


def _claim(doc: Document) -> dict[str, float]:
    names = doc.mapping("claim", only=CLAIMS, default={})
    return {name: doc.number("claim", name, low=0) for name in names}


def _check(doc: Document, level: RoomLayout) -> None:
    if len(level.players) > MAX_PLAYERS:
        raise doc.error(f"starts.agents: {len(level.players)} players; at most {MAX_PLAYERS}", "starts", "agents")
    if level.adversary in level.players:
        raise doc.error("the adversary starts in the room of a player", "starts", "adversary")
    for room, other in level.one_way:
        if not doc.boolean("one_way", default=False):
            ends = level.title(room), level.title(other)
            message = f"{ends[0]} leads to {ends[1]}, but not back; write one_way: true if this is intended"
            raise doc.error(message, "rooms")
    for i, room in enumerate(level.generators):
        if level.has_button(room):
            raise doc.error(f"{level.title(room)} has a button; a room has one thing to use", "generators", i)
    if level.game == "escape" and not (level.generators and level.exits):
        raise doc.error("an escape needs generators and exits; list at least one room of each")
    if level.game == "capture" and (level.generators or level.exits):
        raise doc.error("a capture has neither generators nor exits; leave them out")
