"""Codes and column names of the Collab-Overcooked arrays.

Shape letters: B environment, N agent, S station, I item, R recipe.
"""

from __future__ import annotations

from enum import IntEnum

from collab_overcooked.kernels.reasons import ReasonCode

NOTHING = -1
DISH = 0  # the empty plate is item 0; foods follow
MAX_GAMMA = 10_000


class Agent(IntEnum):
    """Columns of ``State.agents`` (B, N, 4)."""

    CELL = 0  # floor cell index
    FACING = 1
    ITEM = 2  # held item, NOTHING for an empty hand
    PLATED = 3  # 1 where the held food lies on a dish


class Cell(IntEnum):
    """Columns of ``Tables.cells`` (F, 10)."""

    NEIGHBOUR = 0  # floor cells beside it, first of one a direction, NOTHING for none
    FACED = 4  # stations beside it, first of one a direction, NOTHING for none
    X = 8
    Y = 9


class Paths(IntEnum):
    """First axis of ``Tables.paths`` (2, P, P)."""

    STEPS = 0  # fewest from pose to pose
    FIRST = 1  # the first of them


class MacroState(IntEnum):
    """Own columns of ``State.macro_state`` (B, N, 4), behind those of ``kernels.macro_actions.Macro``."""

    REASON = 3  # why the last chosen action was refused, 0 when it was not


class Tile(IntEnum):
    """Columns of ``State.tiles`` (B, S, 7 + capacity): content of a counter or utensil."""

    ITEM = 0  # on a counter the object, in a utensil the product once started
    PLATED = 1
    PLACED = 2  # running number of the placement; earlier placed food is picked up first
    COUNT = 3  # items in a utensil
    TIMER = 4  # steps processed; 0 before the start
    TIME = 5  # steps the started recipe needs
    STARTED = 6  # 1 between a start and the tick that judges it
    CONTENT = 7  # first of `capacity` item columns


class Clock(IntEnum):
    """Columns of ``State.clock`` (B, 5)."""

    T = 0  # steps taken
    LIMIT = 1  # steps at which the episode is cut off
    DELIVERED = 2  # rewarded deliveries
    PLACEMENTS = 3  # placements so far, the source of Tile.PLACED
    OVER = 4  # 1 after the last step


class EventColumn(IntEnum):
    """Columns of ``Out.events`` (B, N, 9), see ``kernels.events``."""

    CODE = 0  # see Event
    REASON = 1  # why the chosen action was refused, 0 when it was not
    PRIMITIVE = 2  # primitive action carried out
    ENDED = 3  # how the agent's macro action ended, see kernels.macro_actions.Outcome
    MOVED = 4  # 1 where cell or facing changed
    ITEM = 5
    STATION = 6
    PARAMETER = 7  # what an INTERACT named: an item, START or NOTHING
    TARGET = 8  # floor cell stood on after the step


FIRST_ID = 5  # columns of events from here on hold ids


class Event(IntEnum):
    """Events of an agent in a step."""

    NONE = 0
    PICKUP = 1
    PLACE = 2
    PUT = 3
    START = 4
    START_WRONG = 5
    FILL = 6
    DELIVER = 7
    DELIVER_WRONG = 8
    FILL_AS_PUT = 9  # a dish was filled and a put is logged; preset "original" only
    PUT_NO_EFFECT = 10  # a put is logged and nothing moved; preset "original" only


class Primitive(IntEnum):
    """Primitive actions; the first four are the directions."""

    NORTH = 0
    SOUTH = 1
    EAST = 2
    WEST = 3
    STAY = 4
    INTERACT = 5


# Plain ints for kernels that mix them with computed directions, which numba cannot unify with an enum member.
STAY = int(Primitive.STAY)
INTERACT = int(Primitive.INTERACT)

START = -2  # parameter of an INTERACT that starts the faced utensil
WAIT_ONE = 1  # action id of wait(1)
FIRST_NAMED = 7  # primitive action 6 is start, 7 + i is interact with item i


class Verb(IntEnum):
    """Kinds of medium-level actions, which are macro actions."""

    CONTINUE = 0
    WAIT = 1
    PLACE = 2
    DELIVER = 3
    PUT = 4
    OPERATE = 5
    FILL = 6
    PICKUP = 7


class Row(IntEnum):
    """Columns of ``Tables.catalogue`` (actions, 3)."""

    VERB = 0
    ITEM = 1  # of a pickup; the number of steps of a wait
    GROUP = 2


class GridChannel(IntEnum):
    """Channels of ``obs="grid"`` between those of kinds and those of items."""

    OWN_FACING = 0  # one a direction
    MATE_FACING = 4  # one a direction
    PLATED = 8
    STEPS_DONE = 9  # of a utensil that cooks or is ready, like the next three
    STEPS_LEFT = 10
    COOKING = 11
    READY = 12
    TIME_LEFT = 13  # of the episode, on the serving cell


class Group(IntEnum):
    """Places an action can name; each utensil is a group of its own from UTENSIL on."""

    COUNTER = 0
    INGREDIENTS = 1
    DISHES = 2
    SERVING = 3
    UTENSIL = 4


class Kind(IntEnum):
    """Kinds of stations."""

    COUNTER = 0
    INGREDIENTS = 1
    DISHES = 2
    SERVING = 3
    UTENSIL = 4


class Log(IntEnum):
    """Entries of utensils in the log of actions."""

    EFFECTS = 0  # what happened
    PUTS = 1  # puts that find it full, too
    ALL_AS_PUTS = 2  # these, and what a dish does there, as puts


class Station(IntEnum):
    """Columns of ``Tables.stations`` (S, 11)."""

    KIND = 0
    UTENSIL = 1  # utensil kind (row of the recipe book), NOTHING for other stations
    CAPACITY = 2
    GROUP = 3
    GOAL = 4  # first of four poses from which the station can be used, NOTHING where there is none
    X = 8
    Y = 9
    LOG = 10  # see Log


class Access(IntEnum):
    """Values of ``Tables.access`` (N, S)."""

    NONE = 0
    PRIVATE = 1  # no other agent can use the station
    SOME = 2  # others can, but more can use another counter in reach
    SHARED = 3  # as many as can use any counter in reach


class Recipe(IntEnum):
    """Columns of ``Tables.recipes`` (R, 4 + capacity)."""

    UTENSIL = 0
    PRODUCT = 1
    TIME = 2
    COUNT = 3
    INPUT = 4


class Food(IntEnum):
    """Columns of ``Tables.foods`` (I, 5)."""

    RAW = 0
    SERVED = 1  # 1 where the food may be ordered
    NEEDS_DISH = 2
    UTENSIL = 3  # utensil kind that makes it, NOTHING for raw food
    SOUNDS_SERVED = 4  # 1 where its name contains that of a food which the original has on its list of dishes


class Task(IntEnum):
    """Columns of ``Tables.tasks`` (tasks, 3)."""

    ITEM = 0
    WEIGHT = 1  # running sum of the sampling weights
    LIMIT = 2


class Feature(IntEnum):
    """Blocks of an observation, see ``observe.features_of``."""

    HELD = 0
    PLATED = 1
    X = 2
    Y = 3
    FACING = 4
    BUSY = 5
    ORDER = 6
    RECIPE = 7
    CONTENTS = 8
    STATE = 9
    STEPS_DONE = 10
    STEPS_LEFT = 11
    COUNTERS = 12
    PLATED_ON_COUNTERS = 13
    T = 14
    TIME_LEFT = 15


class Param(IntEnum):
    """Entries of ``Tables.params``."""

    N_UTENSILS = 0
    REFILL = 1  # 1 where delivered orders are replaced
    LOOKAHEAD = 2  # orders on display
    STUCK = 3
    FIRST_COUNTER_PICKUP = 4  # action id of pickup(item 0, counter)
    FIRST_RAW_PICKUP = 5  # action id of the first ingredient's pickup from its dispenser
    FIRST_PUT = 6  # action ids of put, operate, fill: one a utensil each
    ENCODING = 7
    FULL_KNOWLEDGE = 8
    WIDTH = 9
    HEIGHT = 10
    DISH_PICKUP = 11
    KNOWERS = 12  # bit mask of the agents who know the recipes
    SHOW_LIMIT = 13  # 1 where agents see how much time is left
    ORIGINAL = 14  # 1 with the preset "original"
    FILLERS = 15  # bit mask of the agents who may fill dishes
    SPARE = 16  # planes behind those of a grid, for which there is room
    PLACE = 17  # action id of place_obj_on_counter()
    DELIVER = 18  # action id of deliver()


class Status(IntEnum):
    """State of a utensil."""

    EMPTY = 0
    FILLING = 1
    COOKING = 2
    READY = 3


class Reason(ReasonCode):
    """Why the game refuses an action; 0 where it does not."""

    OK = 0
    BUSY = 1, "{me} is still busy with {current}; only `continue` is possible until it is done."
    NOT_BUSY = 2, "{me} is not carrying anything out that could be continued; choose an action."
    NO_EFFECT = 3, "Interacting here changes nothing."
    # a number that only seats of another action level have
    NO_SUCH_ACTION = 4, "No action of this seat has that number."
    PICK_COOKING = 10, "{place} is still at work; wait until it is done before taking {item}."
    PICK_NEEDS_DISH = 11, "{item} has to leave {place} on a dish: hold a dish and use fill_dish_with_food({place})."
    PICK_NOT_ON_COUNTER = 12, "No {item} lies on a counter that {me} can use; somebody has to place it there first."
    PICK_UNREACHABLE = 14, "{me} cannot use {place}; a teammate has to hand {item} over on a counter."
    PICK_HANDS_FULL = 15, "{me} holds {held}; place it somewhere before picking up {item}."
    PICK_NOT_IN_UTENSIL = 16, "{place} does not hold finished {item}."
    PUT_COOKING = 20, "{place} is at work and takes nothing now."
    PUT_READY = 21, "{place} holds finished food; take it out first."
    PUT_UNREACHABLE = 22, "{me} cannot use {place}; a teammate has to do it."
    PUT_EMPTY_HANDED = 23, "{me} holds nothing to put into {place}."
    PUT_DISH = 24, "A dish cannot go into {place}; place it on a counter."
    PUT_FULL = 25, "{place} is full; start it or leave it."
    PLACE_EMPTY_HANDED = 30, "{me} holds nothing to place."
    PLACE_NO_COUNTER = 31, "Every counter that {me} can use is taken."
    FILL_NOT_NEEDED = 40, "The current order goes without a dish; pick it up from {place}."
    FILL_NO_DISH = 41, "{me} needs an empty dish in hand to fill it at {place}."
    FILL_NOT_READY = 42, "{place} is neither at work nor ready; there is nothing to fill a dish with."
    FILL_UNREACHABLE = 43, "{me} cannot use {place}; a teammate has to do it."
    # the interface "paper" has no such action for the agent
    FILL_NOT_LISTED = 44, "{me} does not fill dishes; pass the food on, or leave it to a teammate."
    DELIVER_NOT_FINISHED = 50, "{held} is not an order as it is; only finished orders can be delivered."
    DELIVER_EMPTY_HANDED = 51, "{me} holds nothing to deliver."
    DELIVER_UNREACHABLE = 52, "{me} cannot use the serving station; hand the food over on a counter."
    OP_UNREACHABLE = 60, "{me} cannot use {place}; a teammate has to do it."
    OP_EMPTY = 61, "{place} is empty; put something in first."
    OP_BUSY = 62, "{place} has already been started."
    OP_HANDS_FULL = 63, "{me} holds {held}; starting {place} takes an empty hand."


FORMER_REASONS = {"PICK_CHEF_DISPENSER": Reason.PICK_UNREACHABLE.name}  # names in scenes of version 1.0.0


class Encoding(IntEnum):
    """Observation encodings."""

    FEATURES = 0
    GRID = 1
