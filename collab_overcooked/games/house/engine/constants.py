"""Codes and names of array columns of the household games."""

from __future__ import annotations

from enum import IntEnum

from collab_overcooked.kernels.reasons import ReasonCode

NOTHING = -1
HANDS = 2
CONTAINER_ROOM = 3  # things that a carried container holds
FREE_AT_GOAL = 30  # things that fit into a goal place, more than any home has
MESSAGE = 500  # characters of a message block; longer messages cost one more
MAX_NEED = 100  # things of a class that a goal may name
BLOCKS = 4  # message blocks that one action can pay for


class GameKind(IntEnum):
    """The two games that share these rules, ``Param.GAME``."""

    HOUSEWORK = 0
    TRANSPORT = 1


class Feature(IntEnum):
    """Blocks of an observation, see ``observe.features_of``."""

    TIME = 0
    SEAT = 1
    TASK = 2
    HANDS = 3
    CONTENTS = 4
    BUSY = 5
    LEFT = 6
    ROOM_TYPE = 7
    ROOM_KNOWN = 8
    ROOM_WAY = 9
    PRESENT = 10
    PLACE_CLASS = 11
    PLACE_KNOWN = 12
    PLACE_WAY = 13
    GOAL_PLACE = 14
    THING_CLASS = 15
    ROLE = 16
    STATUS = 17
    THING_ROOM = 18
    THING_WAY = 19
    GOAL_CLASS = 20
    NEED = 21
    SEEN_THERE = 22
    SEEN = 23
    MATE_ROOM = 24
    MATE_HANDS = 25
    SINCE = 26


class Param(IntEnum):
    """Columns of ``Tables.params``."""

    GAME = 0  # see GameKind
    TASK = 1  # family that every episode has, NOTHING to draw one
    LIMIT = 2  # ticks of an episode
    EVENT_STEPS = 3  # 1: a step lasts until something happens, 0: one tick
    PREEMPT = 4  # 1: seats may replace what they are doing
    AUTO_OPEN = 5  # 1: a closed goal container is opened with full hands
    PAID_TALK = 6  # 1: words cost an action
    LOST = 7  # 1: containers are gone once delivered
    MISS = 8  # per cent of first sightings that are missed
    CONTAINERS = 9  # transport: containers of a scene
    CONTAINER_ROOMS = 10  # transport: rooms that they lie in
    TARGETS = 11  # housework: most goal items; transport: all of them
    DOORS = 12  # doors beside those that connect all rooms
    REACH = 13  # cells of path within which things can be taken
    NEAR = 14  # cells to which sub-plans walk
    PUT_NEAR = 15  # the same at the goal place
    PUT_REACH = 16  # cells within which things can be put at the goal place
    GRID_WIDTH = 17  # cells
    LIVING_ROOM = 18  # type of room
    DISHWASHER = 19  # class of place


class Verb(IntEnum):
    """Verbs of actions; those up to ``SAY`` are primitive, with their ticks in ``Tables.cost``."""

    WAIT = 0
    WALK = 1  # one cell towards a place
    WALK_TO = 2  # one cell towards a thing
    GRAB = 3
    OPEN = 4
    CLOSE = 5
    PUT = 6  # what a hand holds, at the goal place
    PUT_AT = 7  # what the first full hand holds, at a place
    PUT_IN = 8  # a thing into the container in the other hand
    LOOK = 9  # turn around
    SAY = 10
    GO = 11  # sub-plans from here on: go to a room
    EXPLORE = 12  # the present room
    CHECK = 13  # walk to a container and open it
    FETCH = 14  # walk to a thing and take it
    DELIVER = 15  # walk to the goal place and put everything there


class Kind(IntEnum):
    """Kinds of places."""

    NONE = 0  # this slot is not used
    CENTRE = 1  # of a room
    SURFACE = 2
    CONTAINER = 3
    BED = 4
    SPOT = 5  # where a thing lies


class Place(IntEnum):
    """Columns of ``State.places``; the first R places are the centres of the rooms."""

    KIND = 0
    CLASS = 1  # index of its name, NOTHING for centres and spots
    ROOM = 2
    CELL = 3
    OPEN = 4
    FREE = 5  # things that still fit


class Furniture(IntEnum):
    """Columns of ``Tables.furniture``."""

    ROOM = 0
    KIND = 1
    CLASS = 2  # index of its name
    FREE = 3  # things that fit
    OPTIONAL = 4  # 1: a home may lack it


class Row(IntEnum):
    """Columns of ``Tables.catalogue``."""

    VERB = 0
    ARG = 1


class Family(IntEnum):
    """Columns of ``Tables.families`` in Housework."""

    PLACE = 0  # class of the goal place
    CLASSES = 1  # how many classes of things follow
    CLASS = 2  # of the first one; the others follow in pairs
    MOST = 3  # things of it


class Load(IntEnum):
    """Columns of ``Tables.families`` in Transport, the first ones of several classes of things."""

    TARGET = 0  # two triples
    CONTAINER = 6  # one triple
    ROOM = 9  # type of room where the share of ``Tables.shares`` is


class Side(IntEnum):
    """Columns of ``Out.rects``: the first and last column and row of a rectangle of cells."""

    LEFT = 0
    TOP = 1
    RIGHT = 2
    BOTTOM = 3


class Room(IntEnum):
    """Columns of ``State.rooms``: type, and the first and last column and row of its floor."""

    TYPE = 0
    LEFT = 1
    TOP = 2
    RIGHT = 3
    BOTTOM = 4


class Rel(IntEnum):
    """Relations of a thing to its parent."""

    NONE = 0  # there is no such thing
    AT = 1  # at a place
    HELD = 2  # by an agent
    INSIDE = 3  # a carried container
    DELIVERED = 4  # at the goal place, for good


class Role(IntEnum):
    """Roles of things."""

    TARGET = 0
    CONTAINER = 1


class Thing(IntEnum):
    """Columns of ``State.things``."""

    CLASS = 0
    ROLE = 1
    REL = 2
    PARENT = 3
    IN_VIEW = 4  # 1: seen on entering its room, 0: only on looking around


class Agent(IntEnum):
    """Columns of ``State.agents``."""

    CELL = 0
    LEFT_HAND = 1
    RIGHT_HAND = 2
    VERB = 3  # primitive in progress
    ARG = 4
    LEFT = 5  # its ticks left, 0 for none
    AIM = 6  # room in which a sub-plan started
    ROOM = 7  # that the agent saw last
    SPOKE = 8  # 1: its last action was to speak
    MESSAGES = 9
    FAILED = 10  # actions that came to nothing


class Goal(IntEnum):
    """Columns of ``State.goals``: class, number needed and number delivered."""

    CLASS = 0
    NEED = 1
    HAVE = 2


class World(IntEnum):
    """Columns of ``State.world``."""

    T = 0  # ticks
    LIMIT = 1
    STEPS = 2
    MAX_STEPS = 3  # steps after which the episode is truncated
    OVER = 4
    TASK = 5
    GOAL = 6  # goal place
    BEST = 7  # most wanted things that were ever at the goal place; each new one pays


class Known(IntEnum):
    """Believed status of a thing, ``Belief.STATUS``."""

    UNKNOWN = 0
    SEEN = 1  # at a place
    MINE = 2
    MATE = 3  # in another agent's hands
    GONE = 4  # not where it was
    DONE = 5  # at the goal place


class Belief(IntEnum):
    """Columns of ``State.know_things``."""

    STATUS = 0
    PLACE = 1
    TICK = 2  # seen last
    NOTICED = 3


class KnownRoom(IntEnum):
    """Knowledge of a room."""

    NONE = 0
    PART = 1  # was inside
    ALL = 2


class KnownPlace(IntEnum):
    """Knowledge of a place."""

    UNKNOWN = 0
    CLOSED = 1
    OPEN = 2  # or a surface
    CHECKED = 3  # closed, but was seen open


class Mate(IntEnum):
    """Columns of ``State.know_mates``: time, room and held things when another agent was last seen."""

    ROOM = 0
    LEFT_HAND = 1
    RIGHT_HAND = 2
    TICK = 3


class Event(IntEnum):
    """Effects of actions, ``EventColumn.CODE``; the largest value of a step counts."""

    NONE = 0
    WAITED = 1
    WALKED = 2
    SPOKE = 3
    ENTERED = 4
    SAW = 5
    EXPLORED = 6
    OPENED = 7
    CLOSED = 8
    FAILED = 9
    GRASPED = 10
    PUT = 11
    PUT_IN = 12
    DELIVERED = 13


class EventColumn(IntEnum):
    """Columns of ``Out.events``; the first four as in every game."""

    CODE = 0
    REASON = 1
    PRIMITIVE = 2
    ENDED = 3  # see kernels.macro_actions.Outcome
    TICKS = 4  # of the step
    SAW = 5  # things seen anew
    DELIVERED = 6  # wanted things that came to the goal place
    WHY = 7  # reason of a failure
    GOAL_SEEN = 8  # 1: the goal place was found
    ACTION = 9  # that ended, or is going on
    THING = 10  # that was handled


FIRST_ID = EventColumn.ACTION


class Reason(ReasonCode):
    """Reason codes of refused and failed actions."""

    OK = 0
    F_BUSY = 1, "You are still busy; you can only continue."
    F_UNKNOWN = 2, "You do not know where that is."
    F_TOO_FAR = 3, "That is too far away."
    F_HANDS_FULL = 4, "Both of your hands are full."
    F_HANDS_EMPTY = 5, "There is nothing in your hand for that."
    F_THERE = 6, "You are already there."
    F_NOT_CLOSED = 7, "That is not closed."
    F_NOT_OPEN = 8, "That is not open."
    F_NO_ROOM = 9, "There is no room left in it."
    F_NO_CONTAINER = 10, "You hold no container."
    F_ONE_CONTAINER = 11, "You already hold a container."
    F_NO_USE = 12, "That would change nothing."
    F_SPOKE = 13, "You have just spoken."
    F_NO_ACTION = 14, "There is no such action."
    F_GONE = 15, "It is no longer there."
    F_CONFLICT = 16, "Another agent handled it at the same time."
