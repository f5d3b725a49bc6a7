"""Options to tables: rooms, furniture, classes of things, durations and the list of actions.

The numbers are the published ones of C-WAH (Watch-And-Help's homes, agents and goals) and of TDW-MAT; scenes are drawn
from them, as neither data set is shipped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from collab_overcooked.io.action_levels import parse_action_levels
from collab_overcooked.io.checks import near_matches
from collab_overcooked.kernels.blocks import Objects, spans_of
from collab_overcooked.kernels.macro_actions import PRIMITIVE, Level

from .config import STEPPING, HouseConfig, HouseworkConfig, TransportConfig
from .constants import BLOCKS, FREE_AT_GOAL, HANDS, NOTHING, Family, GameKind, Kind, Param, Verb
from .observe import features_of
from .state import Sizes, Tables

HOME_ROOMS = ("living room", "kitchen", "bedroom", "bathroom", "hall", "study", "pantry", "guest room")
HOUSE_ROOMS = ("bedroom", "kitchen", "office", "living room", "living room", "living room", "office", "porch")
ROOM_TYPES = tuple(dict.fromkeys((*HOME_ROOMS, *HOUSE_ROOMS)))

PLACES = (
    "kitchen cabinet", "fridge", "stove", "dishwasher", "microwave", "cabinet", "bathroom cabinet", "coffee table",
    "kitchen table", "bench", "bed",
)  # fmt: skip
CLOSED = PLACES[:7]
FURNITURE = {  # by type of room; a place in brackets stands in every second home only
    "living room": ("coffee table", "(bench)"),
    "kitchen": (*("kitchen cabinet",) * 8, "fridge", "stove", "dishwasher", "microwave", "kitchen table"),
    "bedroom": ("cabinet",),
    "bathroom": ("bathroom cabinet",),
    "hall": ("bench",),
    "study": ("cabinet",),
    "pantry": ("kitchen cabinet", "kitchen cabinet"),
    "guest room": ("cabinet",),
}
FREE_ON_SURFACE, FREE_IN_CONTAINER = 6, 4  # things that fit

TABLEWARE = ("plate", "fork")
SNACKS = ("cupcake", "pudding", "apple", "juice", "wine")
GROCERIES = ("cupcake", "pancake", "poundcake", "pudding", "apple", "juice", "wine")
FAMILIES = {  # goal place, classes, and per mille of goals with 1, 2, ... classes (tuned to the published goals)
    "afternoon_tea": ("coffee table", SNACKS, (720, 200, 70, 10, 0)),
    "wash_dishes": ("dishwasher", TABLEWARE, (900, 100, 0, 0, 0)),
    "prepare_meal": ("kitchen table", ("coffeepot", *GROCERIES), (0, 40, 270, 440, 250)),
    "put_groceries": ("fridge", GROCERIES, (0, 260, 350, 350, 40)),
    "set_table": ("kitchen table", TABLEWARE, (830, 170, 0, 0, 0)),
}
FOOD = ("apple", "banana", "orange", "bread", "loaf", "burger")
STUFF = ("calculator", "mouse", "pen", "lighter", "purse", "phone")
LOAD_SHARES = ((300, 405), (425, 357))  # per mille of targets and containers in the second type of room, by load
BOXES = {"food": ("bowl", "plate", "tray"), "stuff": ("plastic basket", "wooden basket", "wicker basket")}
THINGS = tuple(
    dict.fromkeys((*TABLEWARE, *SNACKS, *GROCERIES, "coffeepot", *FOOD, *STUFF, *BOXES["food"], *BOXES["stuff"]))
)
TWO_AT_MOST = ("plate", "fork", "cupcake", "pudding", "apple")  # of others, homes have at most one beside the goal's
HIDES = ("fridge", "cabinet", "microwave", "dishwasher", "coffee table", "kitchen table", "bench")
NOT_ON_BENCH = ("pancake", "pudding", "plate", "fork")

# Ticks of primitive actions by verb. Housework: one step each. Transport, in frames: half a metre 6, taking 6, putting
# in 100, putting down 15 a hand, turning 16 times 2; estimated from a public log and the simulator's sources.
STEPS = {verb: 1 for verb in Verb if verb <= Verb.SAY}
FRAMES = {
    Verb.WAIT: 50,
    Verb.WALK: 6,
    Verb.WALK_TO: 6,
    Verb.GRAB: 6,
    Verb.OPEN: 1,
    Verb.CLOSE: 1,
    Verb.PUT: 15,
    Verb.PUT_AT: 15,
    Verb.PUT_IN: 100,
    Verb.LOOK: 32,
    Verb.SAY: 1,
}


@dataclass(frozen=True)
class Compiled:
    """A home ready to be drawn."""

    config: HouseConfig  # Options
    tables: Tables  # Read-only arrays
    sizes: Sizes  # Sizes of the arrays of a state
    features: list[Objects]  # What an observation shows


def compile_house(config: HouseConfig) -> Compiled:
    """Compile options.

    Raises:
        ValueError: The task is unknown.
    """
    is_housework = isinstance(config, HouseworkConfig)
    rooms = (HOME_ROOMS if is_housework else HOUSE_ROOMS)[: config.rooms]  # type: ignore[attr-defined]
    if config.task is not None and config.task not in config.tasks:
        raise ValueError(near_matches("task", config.task, config.tasks))
    furniture = _furniture(rooms, is_housework)
    sizes = _sizes(config, len(rooms), len(furniture))
    levels = parse_action_levels(config.action_level, config.agents, "medium")
    tables = Tables(
        params=_params(config, sizes),
        cost=np.array([ticks for _, ticks in sorted((STEPS if is_housework else FRAMES).items())], np.int32),
        levels=np.array([Level.PRIMITIVE if level == PRIMITIVE else Level.MEDIUM for level in levels], np.int32),
        catalogue=_catalogue(is_housework, sizes, levels),
        room_types=np.array([ROOM_TYPES.index(room) for room in rooms], np.int32),
        furniture=np.array(furniture, np.int32),
        families=_families() if is_housework else _loads(),
        shares=np.array([shares for _, _, shares in FAMILIES.values()] if is_housework else LOAD_SHARES, np.int32),
        allowed=_allowed(),
        spans=np.zeros((2, 0), np.int32),
    )
    features = features_of(tables, sizes, len(ROOM_TYPES))
    return Compiled(config, tables._replace(spans=spans_of(features)), sizes, features)


def _params(config: HouseConfig, sizes: Sizes) -> np.ndarray:
    specific: dict[str, int]
    if isinstance(config, HouseworkConfig):
        specific = {"game": GameKind.HOUSEWORK, "limit": config.max_ticks, "targets": config.items}
    else:
        assert isinstance(config, TransportConfig)
        specific = {"game": GameKind.TRANSPORT, "limit": config.max_ticks, "lost": config.container_lost}
        specific["container_rooms"] = 2 if config.containers > 2 else 1
    return config.pack(
        Param,
        **specific,
        task=None if config.task is None else config.tasks.index(config.task),
        event_steps=config.stepping == STEPPING[0],
        paid_talk=config.talk == "paid",
        grid_width=sizes.width,
        living_room=ROOM_TYPES.index("living room"),
        dishwasher=PLACES.index("dishwasher"),
    )


def _sizes(config: HouseConfig, n_rooms: int, n_furniture: int) -> Sizes:
    if isinstance(config, HouseworkConfig):
        return Sizes(
            agents=config.agents,
            height=10,
            width=20 + 5 * (n_rooms - 4),
            rooms=n_rooms,
            furniture=n_furniture,
            spots=0,
            things=16 if config.items <= 5 else 26,
            goals=5,
        )
    assert isinstance(config, TransportConfig)
    n_things = config.targets + config.containers
    return Sizes(
        agents=config.agents,
        height=24,
        width=44,
        rooms=n_rooms,
        furniture=n_furniture,
        spots=n_things,
        things=n_things,
        goals=6,
    )


def _furniture(rooms: tuple[str, ...], is_housework: bool) -> list[list[int]]:
    if not is_housework:
        return [[rooms.index("bedroom"), Kind.BED, PLACES.index("bed"), FREE_AT_GOAL, 0]]
    rows = []
    for at, room in enumerate(rooms):
        for name in FURNITURE[room]:
            plain = name.strip("()")
            kind = Kind.CONTAINER if plain in CLOSED else Kind.SURFACE
            fits = FREE_IN_CONTAINER if kind == Kind.CONTAINER else FREE_ON_SURFACE
            rows.append([at, kind, PLACES.index(plain), fits, plain != name])
    return rows


def _families() -> np.ndarray:
    most_classes = max(len(classes) for _, classes, _ in FAMILIES.values())
    rows = np.full((len(FAMILIES), Family.CLASS + 2 * most_classes), NOTHING, np.int32)
    for row, (place, classes, _) in zip(rows, FAMILIES.values(), strict=True):
        row[Family.PLACE], row[Family.CLASSES] = PLACES.index(place), len(classes)
        for k, name in enumerate(classes):
            most = 2 if name in TWO_AT_MOST else 1
            row[Family.CLASS + 2 * k], row[Family.MOST + 2 * k] = THINGS.index(name), most
    return rows


def _loads() -> np.ndarray:
    return np.array(
        [
            [THINGS.index(name) for name in (*targets, *BOXES[load])] + [ROOM_TYPES.index(room)]
            for load, targets, room in (("food", FOOD, "kitchen"), ("stuff", STUFF, "office"))
        ],
        np.int32,
    )


def _allowed() -> np.ndarray:
    allowed = np.zeros((len(THINGS), len(PLACES)), np.int32)
    allowed[:, [PLACES.index(name) for name in HIDES]] = 1
    dishes = [THINGS.index(name) for name in TABLEWARE]
    allowed[[k for k in range(len(THINGS)) if k not in dishes], PLACES.index("dishwasher")] = 0
    allowed[THINGS.index("wine"), PLACES.index("microwave")] = 0
    allowed[[THINGS.index(name) for name in NOT_ON_BENCH], PLACES.index("bench")] = 0
    return allowed


def _catalogue(is_housework: bool, sizes: Sizes, levels: tuple[str, ...]) -> np.ndarray:
    rooms = range(sizes.rooms)
    things = range(sizes.things)
    places = range(sizes.rooms + sizes.furniture)
    furniture = places[sizes.rooms :]
    talk = [(Verb.SAY, blocks) for blocks in range(1, BLOCKS + 1)]
    into = [] if is_housework else [(Verb.PUT_IN, 0)]
    primitive = [(Verb.WAIT, 0), *((Verb.WALK, p) for p in places)]
    primitive += [(verb, o) for verb in (Verb.WALK_TO, Verb.GRAB) for o in things]
    if is_housework:
        primitive += [(verb, p) for verb in (Verb.OPEN, Verb.CLOSE, Verb.PUT_AT) for p in furniture]
    primitive += [(Verb.PUT, hand) for hand in range(HANDS)] + into + ([] if is_housework else [(Verb.LOOK, 0)]) + talk
    plans = [(Verb.WAIT, 0), *((Verb.GO, r) for r in rooms)]
    plans += [(Verb.CHECK, p) for p in furniture] if is_housework else [(Verb.EXPLORE, 0)]
    plans += [(Verb.FETCH, o) for o in things] + into + [(Verb.DELIVER, 0)] + talk
    rows = np.full((2, max(len(primitive), len(plans)), 2), NOTHING, np.int32)
    rows[Level.PRIMITIVE, : len(primitive)], rows[Level.MEDIUM, : len(plans)] = primitive, plans
    return rows[:, : max(len(primitive if level == PRIMITIVE else plans) for level in levels)].copy()
