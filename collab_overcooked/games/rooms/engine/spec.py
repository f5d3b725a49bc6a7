"""Maps of rooms in words: frozen dataclasses read from YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from collab_overcooked.games.rooms.engine.constants import MAX_DOORS, MAX_PLAYERS, MAX_ROOMS, Goal
from collab_overcooked.io.checks import near_matches, quote_value
from collab_overcooked.io.documents import Document, builtin_names, load_layout

FOLDER = "rooms"
KEYS = ("name", "game", "description", "rooms", "one_way", "doors", "generators", "exits", "starts", "places", "claim")
GAMES = tuple(goal.name.lower() for goal in Goal)
CLAIMS = ("turns", "success", "helping_turns")  # see ``certify``
MAX_TILES = 40  # to the right and down in a picture
NAME = re.compile(r"[A-Za-z][A-Za-z0-9 _]*")


@dataclass(frozen=True)
class Door:
    """A door that a button toggles.

    Attributes:
        rooms: The two rooms that it lies between, by index.
        button: Room of its button.
        is_open: Whether it is open at the start.
    """

    rooms: tuple[int, int]
    button: int
    is_open: bool


@dataclass(frozen=True)
class RoomMap:
    """All that a YAML file says; rooms are numbers from 0 on, in the order of the file.

    Attributes:
        document: Where it was read.
        name: For example ``"nine_rooms"``.
        game: ``"capture"`` or ``"escape"``.
        description: What it is like, in a sentence.
        rooms: Their names; digits where rooms are numbered.
        neighbours: Rooms that can be reached from each room, in the order of menus.
        doors: Their buttons come with them.
        generators: Rooms with a generator.
        exits: Rooms with an exit.
        players: Rooms where the players start; further players start in the first rooms that are free.
        adversary: Room where thief or killer starts.
        places: Of the rooms in a picture, in tiles; empty for a circle.
        claim: Figures that a check must find again, by name.
    """

    document: Document
    name: str
    game: str
    description: str
    rooms: tuple[str, ...]
    neighbours: tuple[tuple[int, ...], ...]
    doors: tuple[Door, ...]
    generators: tuple[int, ...]
    exits: tuple[int, ...]
    players: tuple[int, ...]
    adversary: int
    places: tuple[tuple[float, float], ...]
    claim: Mapping[str, Any]

    @property
    def door_names(self) -> tuple[str, ...]:
        """Names of the doors: the rooms that they lie between, ``"1-2"``."""
        return tuple("-".join(self.rooms[room] for room in door.rooms) for door in self.doors)

    @property
    def one_way(self) -> list[tuple[int, int]]:
        """Passages that lead in one direction only."""
        pairs = [(room, other) for room, near in enumerate(self.neighbours) for other in near]
        return [(room, other) for room, other in pairs if room not in self.neighbours[other]]

    def title(self, room: int) -> str:
        """Return what texts call a room: ``"room 3"``, or its name."""
        name = self.rooms[room]
        return f"room {name}" if name.isdigit() else name


def maps(game: str = "") -> list[str]:
    """Return the names of the built-in maps, of one game or of both."""
    return [name for name in builtin_names(FOLDER) if not game or load_map(name).game == game]


def load_map(source: str | Path | Mapping[str, Any]) -> RoomMap:
    """Read a map.

    Args:
        source: A built-in name, the path of a YAML file, or the values of such a file.

    Raises:
        LayoutError: If nobody could play it; the message names file, line and remedy.
    """
    doc = load_layout(source, FOLDER, "map")
    doc.mapping(only=KEYS)
    given = doc.mapping("rooms")
    if not 2 <= len(given) <= MAX_ROOMS:
        raise doc.error(f"rooms: {len(given)} rooms; 2 to {MAX_ROOMS} will do", "rooms")
    names = tuple(_room_name(doc, room) for room in given)
    neighbours = tuple(_room_list(doc, names, "rooms", room) for room in given)
    game = doc.choice(GAMES, "game")
    found = RoomMap(
        document=doc,
        name=doc.text("name").strip(),
        game=game,
        description=doc.text("description", default="").strip(),
        rooms=names,
        neighbours=neighbours,
        doors=_doors(doc, names, neighbours),
        generators=_room_list(doc, names, "generators", default=()),
        exits=_room_list(doc, names, "exits", default=()),
        players=_room_list(doc, names, "starts", "players", twice=True),
        adversary=_room(doc, names, doc.at("starts", "adversary"), "starts", "adversary"),
        places=_places(doc, names),
        claim=_claim(doc),
    )
    _check(doc, found)
    return found


def _room_name(doc: Document, room: Any) -> str:
    """Return a room's name as text: a number, or words that can stand in a sentence."""
    name = str(room)
    if isinstance(room, bool) or not ((isinstance(room, int) and 0 <= room < 1000) or NAME.fullmatch(name)):
        raise doc.error(
            f"{quote_value(room)} is no room; use a number from 0 to 999 or a name of letters", "rooms", room
        )
    return name


def _room(doc: Document, names: Sequence[str], value: Any, *path: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise doc.refuse("be a room of the map", *path)
    if str(value) not in names:
        raise doc.error(near_matches("room", value, names), *path)
    return names.index(str(value))


def _room_list(
    doc: Document, names: Sequence[str], *path: Any, twice: bool = False, default: Any = None
) -> tuple[int, ...]:
    given = doc.at(*path)
    if given is None and default is not None:
        return tuple(default)
    if not isinstance(given, list) or not given:
        raise doc.refuse("be a list of rooms", *path)
    rooms = tuple(_room(doc, names, room, *path, i) for i, room in enumerate(given))
    for i, room in enumerate(rooms):
        if room in rooms[:i] and not twice:
            raise doc.error(f"room {names[room]} is listed twice", *path, i)
    return rooms


def _doors(doc: Document, names: Sequence[str], neighbours: Sequence[Sequence[int]]) -> tuple[Door, ...]:
    given = doc.listed("doors", "doors", default=[])
    if len(given) > MAX_DOORS:
        raise doc.error(f"doors: {len(given)} doors; at most {MAX_DOORS} will do", "doors")
    doors: list[Door] = []
    for i in range(len(given)):
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
    given = {str(room): room for room in doc.mapping("places")}
    for name in given:
        _room(doc, names, name, "places", given[name])
    found = []
    for name in names:
        place = ("places", given.get(name, name))
        if not isinstance(doc.at(*place), list) or len(doc.at(*place)) != 2:
            raise doc.refuse("be a place [x, y] in tiles", *place)
        found.append((doc.number(*place, 0, low=0), doc.number(*place, 1, low=0)))
        if max(found[-1]) > MAX_TILES:
            raise doc.refuse(f"be at most {MAX_TILES} tiles to the right and down", *place)
    for (i, one), (j, other) in combinations(enumerate(found), 2):
        if max(abs(one[0] - other[0]), abs(one[1] - other[1])) < 1:
            raise doc.error(f"rooms {names[i]} and {names[j]} overlap; keep a tile between places", "places")
    return tuple(found)


def _claim(doc: Document) -> dict[str, float]:
    given = doc.mapping("claim", only=CLAIMS, default={})
    return {name: doc.number("claim", name, low=0) for name in given}


def _check(doc: Document, found: RoomMap) -> None:
    """Refuse what neither game could be played on."""
    if len(found.players) > MAX_PLAYERS:
        raise doc.error(f"starts.players: {len(found.players)} players; at most {MAX_PLAYERS}", "starts", "players")
    if found.adversary in found.players:
        raise doc.error("the adversary starts in the room of a player", "starts", "adversary")
    for room, other in found.one_way:
        if not doc.boolean("one_way", default=False):
            message = (
                f"{found.title(room)} leads to {found.title(other)}, but not back; write one_way: true if so meant"
            )
            raise doc.error(message, "rooms")
    for i, room in enumerate(found.generators):
        if any(room == door.button for door in found.doors):
            raise doc.error(f"{found.title(room)} has a button; a room has one thing to use", "generators", i)
    if found.game == "escape" and not (found.generators and found.exits):
        raise doc.error("an escape needs generators and exits; list at least one room of each")
    if found.game == "capture" and (found.generators or found.exits):
        raise doc.error("a capture has neither generators nor exits; leave them out")
