"""Codes and column names of the Rush arrays.

Shape letters: B environment, N agent, E episode of the scenario, P area (pantries, then spicebags, then stoves),
O order slot, K good (ingredients first, then spices), A action.

Actions are numbers: 0 is NO_ACTION, ``1 + area * O + order`` uses an area for an order; the kind of the area says what
is done there. Episodes with fewer areas or orders than the largest one leave the last of them unused.
"""

from __future__ import annotations

from enum import IntEnum

NOTHING = -1
MAX_AGENTS, MAX_WORKERS, MAX_TURNS = 64, 100, 10_000  # slots then stay below io.config.MAX_OPTION
NO_ACTION = 0


class Kind(IntEnum):
    """What an area is; also what is done there, see ``Verb``."""

    NONE = 0  # does not exist in this episode
    PANTRY = 1
    SPICEBAG = 2
    STOVE = 3


class Verb(IntEnum):
    """Kinds of actions, by the kind of their area."""

    NO_ACTION = 0
    TAKE_INGREDIENTS = 1
    TAKE_SPICES = 2
    COOK_MEAL = 3


class Order(IntEnum):
    """Columns of ``State.orders`` (B, O, 6)."""

    INGREDIENTS = 0  # 1 once they are collected
    SPICES = 1  # 1 once they are collected, or where the recipe asks for none
    COOKED = 2  # times
    FINISHED = 3
    RUINED = 4
    SHAPED = 5  # tenths of shaped reward that it has paid


class Clock(IntEnum):
    """Columns of ``State.clock`` (B, 9)."""

    T = 0  # slots played: one action of each agent
    TURN = 1  # turns played
    WORKER = 2  # whose slot it is, the same number for all agents
    SEAT = 3  # agents that have acted in the present slot, which only play agent by agent can see above 0
    EPISODE = 4
    FINISHED = 5  # orders
    RUINED = 6  # orders
    LIMIT = 7  # slots at which the episode is cut off
    OVER = 8  # 1 after the last slot


class Dish(IntEnum):
    """Columns of ``Tables.dishes`` (E, O, 2): what an order asks for beside goods."""

    EXISTS = 0  # 0 for a slot that the episode leaves unused
    COOK_TIME = 1


class Area(IntEnum):
    """Columns of ``Tables.areas`` (E, P, 2)."""

    KIND = 0
    SPACES = 1  # actions that it takes in a turn


class EventColumn(IntEnum):
    """Columns of ``Out.events`` (B, N, 11), see ``kernels.events``: what each agent did in the last slot."""

    CODE = 0  # see Verb
    REASON = 1  # see Reason
    ADVANCED = 2  # 1 where it collected something or cooked as the recipe asks
    FINISHED = 3
    RUINED = 4
    TENTHS = 5  # shaped reward that the order paid for it
    EPISODE = 6
    TURN = 7
    WORKER = 8
    AREA = 9  # NOTHING for NO_ACTION
    ORDER = 10  # NOTHING for NO_ACTION


FIRST_ID = 9  # columns of events from here on hold ids


class Reason(IntEnum):
    """Why an action is refused."""

    OK = 0
    NO_SUCH_AREA = 1
    NO_SUCH_ORDER = 2
    ORDER_FINISHED = 3
    ORDER_RUINED = 4
    ALREADY_COLLECTED = 5
    NO_SPACE = 6
    OUT_OF_STOCK = 7


class Param(IntEnum):
    """Entries of ``Tables.params`` (8,)."""

    N_AGENTS = 0
    N_INGREDIENTS = 1  # the goods from here on are spices
    WORKERS = 2
    MAX_TURNS = 3
    N_EPISODES = 4
    EPISODE = 5  # the only one played, NOTHING for all in turn
    MASK = 6
    REWARD = 7


class Mask(IntEnum):
    """Which actions masks allow."""

    VALID = 0  # all that a step would carry out in the present state, ruinous ones too
    SAFE = 1  # those of them that ruin nothing


class Reward(IntEnum):
    """What is rewarded."""

    SPARSE = 0  # orders finished and ruined
    SHAPED = 1  # each step towards an order as well
