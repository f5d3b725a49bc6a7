"""Codes and column names of the CraftKitchen arrays.

Shape letters: B environment, N agent, I item, P place, F furnace, D dish (order), Q order slot, A action.
"""

from __future__ import annotations

from enum import IntEnum

from collab_overcooked.kernels.reasons import ReasonCode

NOTHING = -1
FARTHEST_OUT = 20  # cells beyond places and starts in which agents of a scene may stand; pictures show them
STACK = 64  # items per slot of a furnace
HALF = 2  # heat is counted in half items
INTERVALS = (2, 4, 6, 8, 10)  # steps between orders at paces 1 to 5; inferred from rounded numbers of the paper
PACES = tuple(range(1, len(INTERVALS) + 1))


class Agent(IntEnum):
    """Columns of ``State.agents`` (B, N, 2)."""

    X = 0
    Z = 1


class Furnace(IntEnum):
    """Columns of ``State.furnaces`` (B, F, 8): slots with the item, NOTHING if empty, and its count behind it."""

    FUEL = 0
    FUELS = 1
    INPUT = 2
    INPUTS = 3
    OUTPUT = 4
    OUTPUTS = 5
    HEAT = 6  # half items that can still be cooked without more fuel
    PROGRESS = 7  # steps for which the current item has been cooked


EMPTY_FURNACE = {slot: NOTHING if slot in (Furnace.FUEL, Furnace.INPUT, Furnace.OUTPUT) else 0 for slot in Furnace}


class Clock(IntEnum):
    """Columns of ``State.clock`` (B, 7)."""

    T = 0  # steps taken
    LIMIT = 1  # steps until truncation
    OVER = 2  # 1 after the last step
    OPEN = 3  # open orders
    COMPLETED = 4
    EXPIRED = 5
    FORCED = 6  # forced orders used up


class Role(IntEnum):
    """Roles of places; the values of CHEST and FURNACE are also the indices of their kinds."""

    CHEST = 0
    FURNACE = 1
    BLOCK = 2
    MOB = 3


class Place(IntEnum):
    """Columns of ``Tables.places`` (P, 6)."""

    X = 0
    Z = 1
    ROLE = 2
    KIND = 3
    GIVES = 4  # item that killing or mining yields, NOTHING for chest and furnace
    FURNACE = 5  # number among the furnaces, NOTHING for other places


class Item(IntEnum):
    """Columns of ``Tables.items`` (I, 3)."""

    FUEL = 0  # 1 for fuel
    COOKED = 1  # item that it becomes in a furnace, or NOTHING
    DISH = 2  # index of the dish that it is, or NOTHING


class Verb(IntEnum):
    """Kinds of commands, also used as codes of events."""

    WAIT = 0
    GOTO = 1
    KILL = 2
    MINE = 3
    FUEL = 4
    INPUT = 5
    TAKE = 6
    STORE = 7


class Row(IntEnum):
    """Columns of ``Tables.catalogue`` (A, 3)."""

    VERB = 0
    WHAT = 1  # kind of place for GOTO, KILL and MINE, item for FUEL, INPUT and STORE, else NOTHING
    PLACE = 2  # place of a GOTO that names one, NOTHING for the nearest of the kind


class EventColumn(IntEnum):
    """Columns of ``Out.events`` (B, N, 5), see ``kernels.events``."""

    CODE = 0  # Verb that was carried out
    REASON = 1
    COUNT = 2  # number of items moved
    ITEM = 3  # item moved
    PLACE = 4  # place used


FIRST_ID = EventColumn.ITEM


class OrderEvent(IntEnum):
    """Columns of ``Out.order_events`` (B, 3): counts of the last step."""

    COMPLETED = 0
    EXPIRED = 1
    COOKED = 2  # items cooked by furnaces


class Reason(ReasonCode):
    """Reason codes of refused commands."""

    OK = 0
    F_GONE = 1, "{agent}: there is no {word} right now"
    F_TOO_FAR = 2, "{agent} is too far away for {text}; go there first"
    F_NOT_HELD = 3, "{agent} has no {word}"
    F_OTHER_KIND = 4, "{agent} cannot add {word}: the slot of the furnace holds another kind"
    F_FULL = 5, "{agent} cannot add {word}: the slot of the furnace is full"
    F_NOTHING_COOKED = 6, "{agent}: nothing in the furnace is cooked yet"
    F_TAKEN = 7, "{agent}: another agent got this in the same step"


class Feature(IntEnum):
    """Blocks of an observation, see ``observe.features_of``."""

    BAG = 0
    DISTANCES = 1
    GONE = 2
    FUEL = 3
    INPUT = 4
    OUTPUT = 5
    HEAT = 6
    PROGRESS = 7
    CHEST = 8
    UNSERVED = 9
    DISH = 10
    REMAINING = 11
    TIME = 12


class Param(IntEnum):
    """Entries of ``Tables.params``."""

    INTERVAL = 0
    LIFETIME = 1
    WALK = 2
    RESPAWN = 3
    COOK_STEPS = 4
    HEAT = 5  # half items that one fuel cooks
    N_DISHES = 6
    WALK_TO_TAKE = 7  # 1 if taking out walks to the furnace
