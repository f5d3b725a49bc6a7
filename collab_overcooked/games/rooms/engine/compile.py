"""Compile a layout of rooms and its options into read-only arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from collab_overcooked.io.checks import near_matches
from collab_overcooked.kernels.blocks import Objects, spans_of

from . import rules
from .config import RANDOM, RoomsConfig
from .constants import FREE, NOTHING, STAY, UNREACHABLE, Adversary, Exchange, Goal, Param, Reward, RoomColumn, Sight
from .observe import features_of
from .spec import RoomLayout, load_rooms
from .state import Tables


@dataclass(frozen=True)
class Compiled:
    """A layout ready to play."""

    level: RoomLayout  # Source of the tables
    config: Any  # Options, with the preset's values filled in
    tables: Tables  # Read-only arrays
    features: list[Objects]  # What an observation shows

    @property
    def n_players(self) -> int:
        """N."""
        return len(self.tables.starts)

    @property
    def n_rooms(self) -> int:
        """R."""
        return len(self.tables.rooms)


def compile_rooms(goal: Goal, options: RoomsConfig) -> Compiled:
    """Compile a layout with its options.

    Raises:
        DocumentError: The layout is of another game.
        ValueError: The layout has too few rooms.
    """
    config: Any = options.resolved()
    level = load_rooms(config.map)
    if level.game != goal.name.lower():
        raise level.document.error(f"this is a layout of the game {level.game}, not of {goal.name.lower()}", "game")
    _check_adversary(goal, config.adversary)
    n_players = config.agents or len(level.players)
    starts = _starts(level, n_players)
    generators, is_random = _generators(level, config)
    doors = _open_doors(level, config)
    rooms = range(len(level.rooms))
    candidates = [room for room in rooms if room not in level.exits and not level.has_button(room)]
    if is_random and len(candidates) < len(generators):
        raise ValueError(f"generators: {len(generators)} need a room each, but the layout has only {len(candidates)}")
    passages = _passages(level)
    ways, columns = _ways(level, passages), _rooms(level)
    legal = _legal(ways, columns)
    tables = Tables(
        params=_params(goal, config, level, n_players, doors, is_random),
        passages=passages,
        ways=ways,
        rooms=columns,
        distances=_distances(legal),
        legal=legal,
        door_rooms=np.array([door.rooms for door in level.doors], np.int32).reshape(-1, 2),
        starts=np.array(starts, np.int32),
        generators=np.array(generators, np.int32),
        candidates=np.array(candidates, np.int32),
        spans=np.zeros((2, 0), np.int32),
    )
    features = features_of(tables)
    tables = tables._replace(spans=spans_of(features))
    for array in tables:
        array.setflags(write=False)
    return Compiled(level, config, tables, features)


def _check_adversary(goal: Goal, kind: str) -> None:
    allowed = [adversary for adversary in Adversary if goal == Goal.CAPTURE or adversary != Adversary.DISTANCE]
    names = [adversary.name.lower() for adversary in allowed]
    if kind not in names:
        raise ValueError(f"adversary {kind!r} exists only for thieves, not for killers; allowed: {', '.join(names)}")


def _starts(level: RoomLayout, n_players: int) -> list[int]:
    starts = list(level.players[:n_players])
    for room in range(len(level.rooms)):
        if len(starts) < n_players and room not in starts and room != level.adversary and room not in level.exits:
            starts.append(room)
    if len(starts) < n_players:
        raise ValueError(f"agents: the layout {level.name} has room for {len(starts)}, not for {n_players}")
    return starts


def _generators(level: RoomLayout, config: Any) -> tuple[tuple[int, ...], bool]:
    """Return the rooms of the generators, and whether they are drawn at random instead."""
    value = getattr(config, "generators", "map")
    if isinstance(value, str):
        if value not in ("map", RANDOM):
            raise ValueError(near_matches("generators", value, ("map", RANDOM)))
        return level.generators, value == RANDOM
    if not isinstance(value, (list, tuple)) or not value:
        raise ValueError(f'generators must be "map", "random" or a list of rooms, not {value!r}')
    rooms = []
    for room in value:
        if isinstance(room, bool) or str(room) not in level.rooms:
            raise ValueError(f"generators: {near_matches('room', room, level.rooms)}")
        rooms.append(level.rooms.index(str(room)))
    if len(set(rooms)) < len(rooms) or any(map(level.has_button, rooms)):
        raise ValueError(f"generators: {value!r} names a room twice, or one with a button")
    return tuple(rooms), False


def _open_doors(level: RoomLayout, config: Any) -> int:
    changed = getattr(config, "doors", None) or {}
    if not isinstance(changed, dict):
        raise ValueError(f"doors must map doors to booleans, such as {{'1-2': True}}, not {changed!r}")
    for name, is_open in changed.items():
        if name not in level.door_names:
            raise ValueError(f"doors: {near_matches('door', name, level.door_names)}")
        if not isinstance(is_open, bool):
            raise ValueError(f"doors: {name} must be True or False, not {is_open!r}")
    return sum(1 << d for d, name in enumerate(level.door_names) if changed.get(name, level.doors[d].is_open))


def _params(goal: Goal, config: Any, level: RoomLayout, n_players: int, doors: int, is_random: bool) -> np.ndarray:
    params: np.ndarray = config.pack(
        Param,
        goal=goal,
        n_players=n_players,
        adversary=Adversary,
        adversary_start=level.adversary,
        doors_start=doors,
        exchange=Exchange[config.catch_on_exchange.upper()],
        fix_by_one=goal == Goal.ESCAPE and config.fix_by == "player",
        loss_by_all=goal == Goal.ESCAPE and config.loss == "all",
        random_generators=is_random,
        reward=Reward,
        sight=Sight,
        fix_flags=config.preset == "code2024",
        n_doors=len(level.doors),
    )
    return params


def _passages(level: RoomLayout) -> np.ndarray:
    n_rooms = len(level.rooms)
    passages = np.full((n_rooms, n_rooms), NOTHING, np.int32)
    for room, near in enumerate(level.neighbours):
        passages[room, list(near)] = FREE
    for d, door in enumerate(level.doors):
        for room, other in (door.rooms, door.rooms[::-1]):
            if passages[room, other] == FREE:
                passages[room, other] = 1 + d
    return passages


def _ways(level: RoomLayout, passages: np.ndarray) -> np.ndarray:
    most = max(map(len, level.neighbours))
    ways = np.full((1 << len(level.doors), len(level.rooms), most), NOTHING, np.int32)
    for doors, table in enumerate(ways):
        for room, near in enumerate(level.neighbours):
            is_open = [other for other in near if rules.is_open(int(passages[room, other]), doors)]
            table[room, : len(is_open)] = is_open
    return ways


def _rooms(level: RoomLayout) -> np.ndarray:
    rooms = np.zeros((len(level.rooms), len(RoomColumn)), np.int32)
    numbered = all(name.isdecimal() for name in level.rooms)
    rooms[:, RoomColumn.BUTTON] = NOTHING
    for d, door in enumerate(level.doors):
        rooms[door.button, RoomColumn.BUTTON] = d
    rooms[list(level.exits), RoomColumn.EXIT] = 1
    rooms[:, RoomColumn.NUMBER] = [int(name) if numbered else k for k, name in enumerate(level.rooms, start=1)]
    return rooms


def _distances(legal: np.ndarray) -> np.ndarray:
    beside = legal[:, :, STAY + 1 : -1] == 1
    distances = np.full(beside.shape, UNREACHABLE, np.uint8)
    distances[:, np.eye(beside.shape[1], dtype=np.bool_)] = 0
    for moves in range(1, beside.shape[1]):
        distances[(distances < moves) @ beside & (distances == UNREACHABLE)] = moves
    return distances


def _legal(ways: np.ndarray, rooms: np.ndarray) -> np.ndarray:
    n_sets, n_rooms, _ = ways.shape
    legal = np.zeros((n_sets, n_rooms, n_rooms + 2), np.int8)
    doors, room, k = np.nonzero(ways != NOTHING)
    legal[doors, room, 1 + ways[doors, room, k]] = 1
    legal[:, :, STAY] = 1
    legal[:, :, -1] = rooms[:, RoomColumn.BUTTON] != NOTHING
    return legal
