"""Levels: frozen dataclasses read from YAML. Places are points with integer coordinates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.documents import Document, builtin_names, load_layout

FOLDER = "craft"
KEYS = (
    "name", "description", "agents", "max_cycles", "chest", "furnace", "blocks", "mobs", "fuel", "dishes", "starts",
)  # fmt: skip
NAME = re.compile(r"[a-z]+(_[a-z]+)*")
CHEST, FURNACE = "chest", "furnace"
MAX_COORDINATE = 8000  # squared distances then fit into int32
MAX_EXTENT = 100  # cells between the outermost places in each direction, all of which pictures show
MAX_AGENTS, MAX_PLACES = 4, 60

Point = tuple[int, int]


@dataclass(frozen=True)
class Place:
    """A place that agents can go to."""

    name: str  # Its kind, with a number from 1 if there are several of the kind
    kind: str  # ``"chest"``, ``"furnace"``, or a block or mob of the level
    role: str  # ``"chest"``, ``"furnace"``, ``"block"`` or ``"mob"``
    at: Point  # Coordinates x and z
    gives: str = ""  # Item that mining or killing yields; empty for chest and furnace


@dataclass(frozen=True)
class Level:
    """Contents of a level file."""

    document: Document  # Source document
    name: str  # For example ``"field"``
    description: str  # One-sentence description
    agents: int  # Default number of agents
    max_cycles: int  # Default length of an episode
    places: tuple[Place, ...]  # Chests, furnaces, blocks and mobs, in this order
    fuel: tuple[str, ...]  # Items that burn
    dishes: Mapping[str, str]  # Raw item of each dish, in the order in which random draws index them
    starts: tuple[Point, ...]  # Start of each agent, by seat

    @property
    def corners(self) -> tuple[Point, Point]:
        """Smallest and largest coordinates of places and starts; agents never leave this rectangle."""
        xs, zs = zip(*(place.at for place in self.places), *self.starts, strict=True)
        return (min(xs), min(zs)), (max(xs), max(zs))

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of places, in the order of the places."""
        return tuple(dict.fromkeys(place.kind for place in self.places))

    @cached_property
    def items(self) -> tuple[str, ...]:
        """Names of all items: items from places first, then dishes."""
        return (*dict.fromkeys(place.gives for place in self.places if place.gives), *self.dishes)


def levels() -> list[str]:
    """Return the names of the built-in levels."""
    return builtin_names(FOLDER)


def load_level(source: str | Path | Mapping[str, Any] = "house") -> Level:
    """Read a level.

    Args:
        source: A built-in name, the path of a YAML file, or the values of such a file.

    Raises:
        DocumentError: The file is invalid, or larger than the game allows.
    """
    doc = load_layout(source, FOLDER, "level")
    doc.mapping(only=KEYS)
    blocks, mobs = _sources(doc, "blocks"), _sources(doc, "mobs")
    for kind in mobs:
        if kind in blocks:
            raise doc.error(f"{kind!r} is a block and a mob; rename one", "mobs", kind)
    places = [*_named(CHEST, CHEST, _points(doc, CHEST)), *_named(FURNACE, FURNACE, _points(doc, FURNACE))]
    for role, sources in (("block", blocks), ("mob", mobs)):
        for kind, (points, gives) in sources.items():
            places += _named(kind, role, points, gives)
    starts = _points(doc, "starts")
    if len(places) > MAX_PLACES:
        raise doc.error(f"the level has {len(places)} places; at most {MAX_PLACES} are allowed")
    if len(starts) > MAX_AGENTS:
        raise doc.error(f"starts: {len(starts)} starts; at most {MAX_AGENTS} agents can play", "starts")
    yielded = dict.fromkeys(place.gives for place in places if place.gives)
    level = Level(
        document=doc,
        name=doc.text("name").strip(),
        description=doc.text("description", default="").strip(),
        agents=doc.integer("agents", default=min(2, len(starts)), low=1, high=len(starts)),
        max_cycles=doc.integer("max_cycles", default=60, low=1, high=MAX_OPTION),
        places=tuple(places),
        fuel=_fuel(doc, tuple(yielded)),
        dishes=_dishes(doc, tuple(yielded)),
        starts=starts,
    )
    size = max(high - low for low, high in zip(*level.corners, strict=True))
    if size > MAX_EXTENT:
        raise doc.error(f"places and starts are {size} cells apart; at most {MAX_EXTENT} are allowed")
    return level


def _check_name(doc: Document, name: Any, *path: Any) -> None:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise doc.error(f"{name!r} is not a valid name; use lower-case letters, with _ between words", *path)


def _points(doc: Document, *path: Any) -> tuple[Point, ...]:
    points = []
    for i, point in enumerate(doc.listed("points such as [2, -2]", *path)):
        if not isinstance(point, list) or len(point) != 2:
            raise doc.refuse("be a point [x, z]", *path, i)
        x, z = (doc.integer(*path, i, k, low=-MAX_COORDINATE, high=MAX_COORDINATE) for k in range(2))
        points.append((x, z))
    return tuple(points)


def _sources(doc: Document, key: str) -> dict[str, tuple[tuple[Point, ...], str]]:
    sources = {}
    for kind in doc.mapping(key):
        _check_name(doc, kind, key, kind)
        if kind in (CHEST, FURNACE):
            raise doc.error(f"{kind!r} has a separate key", key, kind)
        doc.mapping(key, kind, only=("at", "gives"))
        gives = doc.text(key, kind, "gives", default=kind)
        _check_name(doc, gives, key, kind, "gives")
        sources[kind] = _points(doc, key, kind, "at"), gives
    return sources


def _named(kind: str, role: str, points: Sequence[Point], gives: str = "") -> list[Place]:
    names = [kind] if len(points) == 1 else [f"{kind}{k}" for k in range(1, len(points) + 1)]
    return [Place(name, kind, role, at, gives) for name, at in zip(names, points, strict=True)]


def _fuel(doc: Document, yielded: Sequence[str]) -> tuple[str, ...]:
    fuel = doc.names(_check_name, "fuel")
    for i, name in enumerate(fuel):
        if name not in yielded:
            raise doc.error(near_matches("item that some place gives", name, yielded), "fuel", i)
    return fuel


def _dishes(doc: Document, yielded: Sequence[str]) -> dict[str, str]:
    dishes = doc.mapping("dishes")
    for dish, raw in dishes.items():
        _check_name(doc, dish, "dishes", dish)
        if dish in yielded:
            raise doc.error(f"{dish!r} is given by a place and needs no furnace; rename one", "dishes", dish)
        if raw not in yielded:
            raise doc.error(near_matches("item that some place gives", raw, yielded), "dishes", dish)
        if list(dishes.values()).count(raw) > 1:
            raise doc.error(f"two dishes are made of {raw}; a raw item can become only one dish", "dishes", dish)
    return dict(dishes)
