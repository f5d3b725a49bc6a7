"""Codes and column names of the CuisineWorld arrays.

Shape letters: B environment, N agent, L location (tool instance), T serving table, I item, R recipe, M order of the
level, Q order slot, C command slot.
"""

from __future__ import annotations

from enum import IntEnum

from collab_overcooked.kernels.reasons import ReasonCode

NOTHING = -1
UNLIMITED = -1  # a lifetime or remaining time without end; an interval without new orders
PAPER_ALPHAS = (1.0, 1.5, 2.0, 2.5, 3.0)  # the paper's five conditions, tau_int,(1) to (5)


class Agent(IntEnum):
    """Columns of ``State.agents`` (B, N, 4)."""

    PLACE = 0
    ITEM = 1  # held item, NOTHING for empty hands
    BUSY = 2  # steps for which only noops are accepted
    PAID = 3  # 1 if the shaped reward for the held item has been paid


class Tool(IntEnum):
    """Columns of ``State.tools`` (B, L, 4 + capacity): state of a location."""

    BUSY = 0  # steps for which it cannot be used
    READY = 1  # 1 if the content may be taken
    PAID = 2  # 1 if the shaped reward for the content has been paid
    COUNT = 3  # number of items; those of serving tables are in ``State.served``
    CONTENT = 4  # first of the item columns


class Clock(IntEnum):
    """Columns of ``State.clock`` (B, 11)."""

    T = 0  # steps taken
    LIMIT = 1  # steps until truncation
    OVER = 2  # 1 after the last step
    TIMER = 3  # steps since the last turn of the order timer
    OPEN = 4  # open orders
    COMPLETED = 5
    FAILED = 6  # steps in which an order expired, the count of the paper's tables
    EXPIRED = 7  # orders that expired
    REFUSED = 8  # commands that failed
    NOOPS = 9
    FORCED = 10  # forced orders used up


class Role(IntEnum):
    """Roles of locations."""

    COOK = 0
    STORAGE = 1
    TABLE = 2


class Place(IntEnum):
    """Columns of ``Tables.places`` (L, 12): properties of a location."""

    KIND = 0
    ROLE = 1
    CAPACITY = 2
    BUSY = 3  # steps for which an activation blocks it
    BUSY_AGENT = 4  # 1 if the activating agent is blocked for as long
    OPEN = 5  # 1 if the content may always be taken
    TABLE = 6  # index among the serving tables, or NOTHING
    GET = 7  # action id of taking from it (at a storage, of the first ingredient), NOTHING if that is never possible
    PUT = 8
    ACTIVATE = 9  # NOTHING if that is never possible
    FIRST_RECIPE = 10
    RECIPES_END = 11  # one after the last recipe of the kind


class Code(IntEnum):
    """Columns of ``Tables.codes`` (L, 3): a location in the original's 64 numbers."""

    LOCATION = 0  # its number
    CONTENT = 1  # index of its content
    BUSY = 2  # index of the flag of tools of its kind at work


class Number(IntEnum):
    """Indices in the original's 64 numbers; times begin within the orders, of which six overlap with them."""

    ORDER = 0
    REMAINING = 5
    T = 10
    MAX_STEPS = 11
    LOCATION = 12  # of the first agent; each has three numbers
    ITEM = 13
    BUSY = 14
    TOOL = 18  # contents of three tools of a kind and their flag, kind after kind


AGENT_NUMBERS, KIND_NUMBERS = 3, 4  # numbers of an agent and of a kind of tools among them


class Menu(IntEnum):
    """Columns of ``Tables.menu`` (M, 3 + longest order)."""

    RANK = 0  # rank of the name in alphabetical order
    LIFETIME = 1
    COUNT = 2
    ITEM = 3  # first of the items that complete it


class Verb(IntEnum):
    """Kinds of commands."""

    NOOP = 0
    GOTO = 1
    GET = 2
    PUT = 3
    ACTIVATE = 4


class Row(IntEnum):
    """Columns of ``Tables.catalogue`` (commands, 3)."""

    VERB = 0
    PLACE = 1
    ITEM = 2  # of a get at a storage


class EventColumn(IntEnum):
    """Columns of ``Out.events`` (B, C, 4), see ``kernels.events``: the last step's commands, in order of execution.

    Only the first ``OrderEvent.GIVEN`` rows are valid.
    """

    CODE = 0  # catalogue row, 0 for noop
    REASON = 1  # Reason of its refusal, 0 if it was carried out
    AGENT = 2
    ITEM = 3  # item held by the agent when its turn came


class Completion(IntEnum):
    """Columns of ``Out.completions`` (B, Q, 3): orders completed in the last step, in queue order."""

    ORDER = 0
    PLACE = 1
    REMAINING = 2


class OrderEvent(IntEnum):
    """Columns of ``Out.order_events`` (B, 5): counts of the last step's orders and commands."""

    COMPLETED = 0
    EXPIRED = 1
    DRAWN = 2  # order added in the step, or NOTHING
    LAST_CALL = 3  # the original's game-over flag: 1 in the step after the last one
    GIVEN = 4  # number of commands; -n for a voided list of n


class Reason(ReasonCode):
    """Reasons of a refused command, in the order in which they are checked, with the original's messages."""

    OK = 0
    TIRED = 1, ""  # goto of a busy agent, refused without a message
    NOT_THERE = 2, "agent{agent} is not located in {place}"
    NOT_READY = 3, "agent{agent} is not allowed to pick up from {place} at this point"
    NO_DISH = 4, "{item} is not any dish needed in this level and cannot be put on {place}"
    PUT_WASTE = 5, "putting {item} into {place} will result in waste"
    AGENT_BUSY = 6, "agent{agent} is occupied therefore cannot take any actions other than noop"
    GET_HOLDING = 7, "agent{agent} is holding objects, therefore cannot get objects from the tool"
    GET_OCCUPIED = 8, "{place} is occupied, therefore agent{agent} cannot get objects from the tool"
    NOT_BASE = 9, "agent{agent} can only pickup base ingredients from the storage"
    GET_EMPTY = 10, "{place} is empty, you cannot get anything from there"
    PUT_EMPTY_HANDED = 11, "agent{agent} is not holding objects, therefore cannot put objects into the tool"
    PUT_OCCUPIED = 12, "{place} is occupied, therefore cannot put objects into it"
    FULL = 13, "{place} reaches maximum capacity"
    ACTIVATE_HOLDING = 14, "agent{agent} is holding objects, therefore cannot activate tools"
    ACTIVATE_OCCUPIED = 15, "{place} is occupied, therefore cannot be activated"
    ACTIVATE_EMPTY = 16, "{place} is empty, therefore cannot be activated"
    ACTIVATE_WASTE = 17, "activating {place} will result in waste"


class Feature(IntEnum):
    """Blocks of an observation, see ``observe.features_of``."""

    ITEM = 0
    LOCATION = 1
    AGENT_BUSY = 2
    CONTENT = 3
    BUSY = 4
    READY = 5
    COUNT = 6
    ORDER = 7
    REMAINING = 8
    T = 9
    STEPS_LEFT = 10
    TIMER = 11


class Param(IntEnum):
    """Entries of ``Tables.params``."""

    N_BASE = 0  # base ingredients are the first items
    N_ITEMS = 1
    INTERVAL = 2
    MAX_STEPS = 3
    ENCODING = 4
    MASK = 5
    N_ORDERS = 6


class Encoding(IntEnum):
    """Observation encodings."""

    FEATURES = 0
    ORIGINAL64 = 1


class Mask(IntEnum):
    """Values of the option ``mask``."""

    EXACT = 0  # every command that the rules accept in this state
    ORIGINAL = 1  # the commands that the original lists
