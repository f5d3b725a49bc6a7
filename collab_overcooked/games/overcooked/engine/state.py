"""The arrays of a batch of environments, and scenes: readable states of one environment.

Shape letters: B environments, K layouts of the pool, N players, H rows and W columns of the largest layout, P pots and
G gates of the layout that has most, F floor and gate cells, A actions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.games.overcooked.engine.constants import (
    HAND_END,
    IDLE,
    INGREDIENTS,
    MACRO_COLUMNS,
    MAX_INGREDIENTS,
    MEMORY,
    NOTHING,
    Action,
    Clock,
    EventColumn,
    Frame,
    Item,
    Past,
    Path,
    Player,
    Terrain,
    Thing,
)
from collab_overcooked.games.overcooked.engine.rules import is_ready
from collab_overcooked.kernels.arrays import array_of
from collab_overcooked.kernels.grid import Direction
from collab_overcooked.kernels.macro_actions import Macro
from collab_overcooked.kernels.rng import Rng, restore_rng, rng_to_dict

Array = np.ndarray
COUNTERS = {"timestep": Clock.T, "limit": Clock.LIMIT, "served": Clock.SERVED, "score": Clock.SCORE}
OBJECTS = {"onion": Item.ONION, "tomato": Item.TOMATO, "dish": Item.DISH, "soup": Item.SOUP}


class SceneNames(NamedTuple):
    """Words that scenes use.

    Attributes:
        layouts: Names of the layouts in the pool.
        directives: Texts of all directives, by id.
        medium: Of each seat, whether it chooses directives.
    """

    layouts: Sequence[str]
    directives: Sequence[str]
    medium: Sequence[bool]


class Tables(NamedTuple):
    """Constants of a compiled pool: read-only int32 arrays (shaping float32, template uint8)."""

    params: Array  # (9,) see Param
    shaping: Array  # (K, 3) float32, see Shaping
    frames: Array  # (K, 5) see Frame
    terrain: Array  # (K, H, W) see Terrain; WALL outside smaller layouts
    starts: Array  # (K, N, 2) x, y
    regions: Array  # (K, H, W) number of the floor, closed off by all but floor, that a cell belongs to, or NOTHING
    pots: Array  # (K, P, 2) x, y, row by row; unused rows are 0
    gates: Array  # (K, G, 2) x, y, row by row; unused rows are 0
    values: Array  # (K, 4, 4) what delivering a soup pays, by onions and tomatoes: 0 if not ordered, bonus included
    best: Array  # (K, 4, 4) the most that can still be made of these onions and tomatoes
    times: Array  # (K, 4, 4) steps of cooking
    floor: Array  # (K, H, W) number of a floor or gate cell, row by row, or NOTHING
    neighbours: Array  # (K, F, 4) floor or gate cell next to one, by direction, or NOTHING: what kernels.paths floods
    views: Array  # (11,) see View
    holders: Array  # (K, M, 2) cells x, y on which things can lie or gates stand; unused rows are 0
    template: Array  # (K, L) uint8, what pictures show before anything moves; (K, 0) for features
    nearest: Array  # (K, 4F, 6) flat cell closest to a pose, see Closest; (K, 0, 6) for pictures
    ways: Array  # (K, 4F, H * W) fewest steps from a pose to facing a cell, or NOTHING; (K, 0, 0) for pictures
    objects: Array  # (K, M, 5) see Object
    catalogue: Array  # (rows, 2) see Row: what players choose from if actions are directives
    levels: Array  # (N,) action level of each player, see kernels.macro_actions.Level


class State(NamedTuple):
    """State of B environments, with leading axis B."""

    players: Array = array_of("N", Player)
    cells: Array = array_of("H", "W", Thing)  # what lies on counters and in pots; Item.OPEN marks an open gate
    clock: Array = array_of(Clock)
    rng: Array = array_of(Rng)
    macro_state: Array = array_of("N", MACRO_COLUMNS)  # see kernels.macro_actions.Macro and Past


class Out(NamedTuple):
    """Outputs of a step, with leading axis B."""

    observations: Array = array_of("N", "numbers", dtype=np.uint8)  # of another dtype in some encodings
    masks: Array = array_of("N", "A", dtype=np.int8)
    rewards: Array = array_of("N", dtype=np.float32)
    terminated: Array = array_of(dtype=np.bool_)  # never true: episodes are cut off
    truncated: Array = array_of(dtype=np.bool_)
    sparse: Array = array_of("N", dtype=np.float32)  # what each player's own deliveries paid
    shaped: Array = array_of("N", dtype=np.float32)  # each player's own shaped reward
    events: Array = array_of("N", EventColumn)
    fresh: Array = array_of(dtype=np.bool_)  # the state changed in this call: observations and masks are to be written
    paths: Array = array_of(Path, "H", "W")  # scratch
    moves: Array = array_of(2, "N")  # scratch: cells before the step, and target cells


# ------------------------------------------------------------------------------------------- readable scenes


def decode(names: SceneNames, tables: Tables, state: State, i: int, derived: bool = True) -> dict[str, Any]:
    """Return environment ``i`` as names and numbers, fit for JSON; texts and pictures are made from it.

    Args:
        names: Names of layouts and directives.
        tables: Compiled tables.
        state: Arrays of a batch.
        i: Environment index.
        derived: Include whether soups are ``ready``.

    Returns:
        Mapping with the counters, ``layout``, ``players``, ``objects`` on counters and in pots, and ``gates``, all in
        reading order, then hidden state: ``chance`` and, for players with directives, their ``memory``. A soup
        has ``ingredients``, ``tick`` (-1 until it cooks) and ``time``, its steps of cooking.
    """
    clock, cells = state.clock[i], state.cells[i]
    k = int(clock[Clock.LAYOUT])
    times, frame = tables.times[k], tables.frames[k]
    return {
        **{name: int(clock[column]) for name, column in COUNTERS.items()},
        "layout": names.layouts[k],
        "players": [
            {
                "position": [int(row[Player.X]), int(row[Player.Y])],
                "facing": Direction(row[Player.FACING]).name.lower(),
                "holding": _decode_thing(row[Player.HAND : HAND_END], times, derived),
                **({"directive": _directive(names, macro[Macro.ACTION])} if medium else {}),
            }
            for row, macro, medium in zip(state.players[i], state.macro_state[i], names.medium, strict=True)
        ],
        "objects": [
            {"position": [x, y], **(_decode_thing(cells[y, x], times, derived) or {})}
            for y, x in np.argwhere(
                (cells[..., Thing.ITEM] != Item.NONE) & (tables.terrain[k] != Terrain.GATE)
            ).tolist()
        ],
        "gates": [
            {
                "position": [x, y],
                "open": bool(cells[y, x, Thing.ITEM] == Item.OPEN),
                "counter": int(cells[y, x, Thing.TICK]),
                "limit": int(frame[Frame.GATE_LIMIT]),
            }
            for x, y in tables.gates[k, : frame[Frame.GATES]].tolist()
        ],
        "chance": rng_to_dict(state.rng[i]),
        **({"memory": _decode_memory(names, state.macro_state[i])} if any(names.medium) else {}),
    }


def _directive(names: SceneNames, action: int) -> str | None:
    return None if action == NOTHING else names.directives[action]


def _decode_memory(names: SceneNames, macros: Array) -> list[dict[str, Any] | None]:
    """Return the memory of each player with directives; None for players with primitive actions."""
    memory: list[dict[str, Any] | None] = []
    for macro, medium in zip(macros.tolist(), names.medium, strict=True):
        x, y, facing, before = (macro[column] for column in (Past.X, Past.Y, Past.FACING, Past.DIRECTIVE))
        past = {
            "timer": macro[Macro.TIMER],
            "still": macro[Macro.STILL],
            "directive": names.directives[before],
            "away": bool(macro[Past.AWAY]),
            "move": Action(macro[Past.MOVE]).name.lower(),
            "position": None if x == NOTHING else [x, y],
            "facing": None if facing == NOTHING else Direction(facing).name.lower(),
            "last": [_directive(names, action or NOTHING) for action in macro[Past.LAST :]],
        }
        memory.append(past if medium else None)
    return memory


def _decode_thing(thing: Array, times: Array, derived: bool) -> dict[str, Any] | None:
    item, onions, tomatoes, tick = thing.tolist()
    if item == Item.NONE:
        return None
    if item != Item.SOUP:
        return {"item": Item(item).name.lower()}
    return {
        "item": "soup",
        "ingredients": ["onion"] * onions + ["tomato"] * tomatoes,
        "tick": tick,
        "time": int(times[onions, tomatoes]),
        **({"ready": bool(is_ready(thing, times))} if derived else {}),
    }


def encode(names: SceneNames, tables: Tables, state: State, i: int, scene: Mapping[str, Any]) -> None:
    """Write a scene, of the form of ``scene.scene_form``, into environment ``i``; keys left out keep what is there.

    Raises:
        ValueError: If something is where it cannot be on the layout, or a soup cooks longer than it can.
    """
    clock = state.clock[i]
    for name, column in COUNTERS.items():
        clock[column] = scene.get(name, clock[column])
    if "layout" in scene:
        clock[Clock.LAYOUT] = names.layouts.index(scene["layout"])
    k = int(clock[Clock.LAYOUT])
    if "gates" in scene:
        _encode_gates(tables, k, state.cells[i], scene["gates"])
    if "objects" in scene:
        _encode_objects(tables, k, state.cells[i], scene["objects"])
    if "players" in scene:
        _encode_players(tables, k, state.players[i], state.cells[i], scene["players"])
        _encode_directives(names, tables, state.macro_state[i], scene["players"])
    for macro, past in zip(state.macro_state[i], scene.get("memory", ()), strict=False):
        if past:
            _encode_past(names, macro, past)
    if "chance" in scene:
        restore_rng(state.rng[i], scene["chance"])


def _encode_directives(names: SceneNames, tables: Tables, macros: Array, players: Sequence[Mapping[str, Any]]) -> None:
    """A running directive has all its time left, unless the memory says something else."""
    for macro, player in zip(macros, players, strict=True):
        running = player.get("directive")
        macro[Macro.ACTION] = NOTHING if running is None else names.directives.index(running)
        macro[Macro.TIMER] = 0 if running is None else tables.terrain[0].size


def _encode_past(names: SceneNames, macro: Array, past: Mapping[str, Any]) -> None:
    facing = past["facing"]
    macro[Macro.TIMER], macro[Macro.STILL] = past["timer"], past["still"]
    macro[Past.DIRECTIVE], macro[Past.AWAY] = names.directives.index(past["directive"]), past["away"]
    macro[Past.MOVE] = Action[past["move"].upper()]
    macro[[Past.X, Past.Y]] = (NOTHING, NOTHING) if past["position"] is None else past["position"]
    macro[Past.FACING] = NOTHING if facing is None else Direction[facing.upper()]
    last = [0 if text is None else names.directives.index(text) for text in past["last"]]
    macro[Past.LAST : Past.LAST + MEMORY] = last


def _place(thing: Mapping[str, Any], tables: Tables, k: int) -> tuple[int, int]:
    x, y = thing["position"]
    height, width = tables.frames[k, [Frame.HEIGHT, Frame.WIDTH]].tolist()
    if not (x < width and y < height):
        raise ValueError(f"position must be [x, y] in a grid of {width} x {height} cells, not {[x, y]}")
    return x, y


def _encode_thing(thing: Mapping[str, Any] | None, times: Array, in_pot: bool) -> list[int]:
    if thing is None:
        return [Item.NONE, 0, 0, 0]
    item = OBJECTS[thing["item"]]
    if item != Item.SOUP:
        return [item, 0, 0, 0]
    names = thing.get("ingredients", [])
    if not names:
        raise ValueError(f"ingredients of a soup are 1 to {MAX_INGREDIENTS} of {', '.join(INGREDIENTS)}, not {names!r}")
    onions, tomatoes = names.count("onion"), names.count("tomato")
    time = int(times[onions, tomatoes])
    tick = thing.get("tick", time)
    if tick > time or (tick < time and not in_pot):
        where = "in a pot" if in_pot else "outside a pot"
        raise ValueError(f"tick of a soup {where} is {f'{IDLE} to {time}' if in_pot else time}, not {tick}")
    return [item, onions, tomatoes, tick]


def _encode_objects(tables: Tables, k: int, cells: Array, objects: Sequence[Mapping[str, Any]]) -> None:
    terrain = tables.terrain[k]
    cells[terrain != Terrain.GATE] = 0
    for thing in objects:
        x, y = _place(thing, tables, k)
        in_pot = bool(terrain[y, x] == Terrain.POT)
        if terrain[y, x] not in (Terrain.POT, Terrain.COUNTER) or in_pot != (thing["item"] == "soup" and in_pot):
            raise ValueError(f"{thing['item']} cannot lie at {[x, y]}: counters take anything, pots soup only")
        if cells[y, x, Thing.ITEM] != Item.NONE:
            raise ValueError(f"two objects lie at {[x, y]}")
        cells[y, x] = _encode_thing(thing, tables.times[k], in_pot)


def _encode_gates(tables: Tables, k: int, cells: Array, gates: Sequence[Mapping[str, Any]]) -> None:
    limit = int(tables.frames[k, Frame.GATE_LIMIT])
    for gate in gates:
        x, y = _place(gate, tables, k)
        if tables.terrain[k, y, x] != Terrain.GATE:
            raise ValueError(f"there is no gate at {[x, y]}")
        counter = gate.get("counter", 0)
        if counter > (limit if gate.get("open") else 0):
            raise ValueError(f"counter of an open gate is 0 to {limit}, of a closed one 0, not {counter}")
        cells[y, x] = [Item.OPEN, 0, 0, counter] if gate.get("open") else 0


def _encode_players(tables: Tables, k: int, rows: Array, cells: Array, players: Sequence[Mapping[str, Any]]) -> None:
    for row, player in zip(rows, players, strict=True):
        if "position" in player:
            row[Player.X], row[Player.Y] = _place(player, tables, k)
        x, y = row[[Player.X, Player.Y]].tolist()
        gate_open = cells[y, x, Thing.ITEM] == Item.OPEN
        if tables.floor[k, y, x] == NOTHING or (tables.terrain[k, y, x] == Terrain.GATE and not gate_open):
            raise ValueError(f"no player can stand at {[x, y]}; players stand on floor or in open gates")
        if "facing" in player:
            row[Player.FACING] = Direction[player["facing"].upper()]
        if "holding" in player:
            row[Player.HAND : HAND_END] = _encode_thing(player["holding"], tables.times[k], in_pot=False)
    places = rows[:, [Player.X, Player.Y]].tolist()
    for i, place in enumerate(places):
        if place in places[:i]:
            raise ValueError(f"players {places.index(place)} and {i} both stand at {place}")
