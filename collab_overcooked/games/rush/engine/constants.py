"""Codes and column names of the Rush arrays.

Shape letters: B environment, N agent, E episode of the scenario, P area (pantries, then spicebags, then stoves),
O order slot, K good (ingredients first, then spices), A action.

Actions are integers: 0 is NO_ACTION, ``1 + area * O + order`` uses an area for an order; the area's kind determines the
verb. Episodes with fewer areas or orders than the largest one leave the last indices unused.
"""

from __future__ import annotations

from enum import IntEnum

from collab_overcooked.kernels.reasons import ReasonCode

NOTHING = -1
MAX_AGENTS, MAX_WORKERS, MAX_TURNS = 64, 100, 10_000  # slots then stay below io.config.MAX_OPTION
NO_ACTION = 0


class Kind(IntEnum):
    """Kinds of areas; each kind has the value of its ``Verb``."""

    NONE = 0  # does not exist in this episode
    PANTRY = 1
    SPICEBAG = 2
    STOVE = 3


class Verb(IntEnum):
    """Kinds of actions; values equal those of ``Kind``."""

    NO_ACTION = 0
    TAKE_INGREDIENTS = 1
    TAKE_SPICES = 2
    COOK_MEAL = 3


class Order(IntEnum):
    """Columns of ``State.orders`` (B, O, 6)."""

    INGREDIENTS = 0  # 1 once collected
    SPICES = 1  # 1 once collected, or if the recipe needs none
    COOKED = 2  # times cooked
    FINISHED = 3
    RUINED = 4
    SHAPED = 5  # shaped reward paid so far, in tenths


class Clock(IntEnum):
    """Columns of ``State.clock`` (B, 9)."""

    T = 0  # slots played; a slot is one action of each agent
    TURN = 1  # turns played
    WORKER = 2  # worker whose slot it is, the same index for all agents
    SEAT = 3  # agents that have acted in this slot; above 0 only between the seats of an AEC env
    EPISODE = 4
    FINISHED = 5  # orders
    RUINED = 6  # orders
    LIMIT = 7  # slots until truncation
    OVER = 8  # 1 after the last slot


class Dish(IntEnum):
    """Columns of ``Tables.dishes`` (E, O, 2): requirements of an order other than goods."""

    EXISTS = 0  # 0 for a slot that this episode does not use
    COOK_TIME = 1


class Area(IntEnum):
    """Columns of ``Tables.areas`` (E, P, 2)."""

    KIND = 0
    SPACES = 1  # action spaces per turn


class EventColumn(IntEnum):
    """Columns of ``Out.events`` (B, N, 11), see ``kernels.events``: each agent's action and its outcome."""

    CODE = 0  # see Verb
    REASON = 1  # see Reason
    ADVANCED = 2  # 1 if the agent collected goods or cooked as the recipe asks
    FINISHED = 3
    RUINED = 4
    TENTHS = 5  # shaped reward of this action, in tenths
    EPISODE = 6
    TURN = 7
    WORKER = 8
    AREA = 9  # NOTHING for NO_ACTION
    ORDER = 10  # NOTHING for NO_ACTION


FIRST_ID = 9  # columns of events from here on hold ids


class Reason(ReasonCode):
    """Reason codes of refused actions."""

    OK = 0
    NO_SUCH_AREA = 1, "There is no such area in this episode."
    NO_SUCH_ORDER = 2, "There is no such order in this episode."
    ORDER_FINISHED = 3, "{order} is already finished."
    ORDER_RUINED = 4, "{order} is ruined; nothing more can be done for it."
    ALREADY_COLLECTED = 5, "The {goods} of {order} have been collected already."
    NO_SPACE = 6, "{area} has no action space left in this turn; all its spaces are free again in the next turn."
    OUT_OF_STOCK = 7, "{area} does not have everything that {order} needs: {needs}."


class Feature(IntEnum):
    """Blocks of an observation, see ``observe.features_of``."""

    GOODS = 0
    EXISTS = 1
    COOK_TIME = 2
    INGREDIENTS = 3
    SPICES = 4
    COOKED = 5
    FINISHED = 6
    RUINED = 7
    STOCK = 8
    KIND = 9
    SPACES_LEFT = 10
    SPACES = 11
    TURN = 12
    TURNS_LEFT = 13
    WORKER = 14
    SLOTS_LEFT = 15
    SEAT = 16


class Param(IntEnum):
    """Entries of ``Tables.params`` (8,)."""

    N_AGENTS = 0
    N_INGREDIENTS = 1  # the goods from here on are spices
    WORKERS = 2
    MAX_TURNS = 3
    N_EPISODES = 4
    EPISODE = 5  # the only episode played; NOTHING for all in turn
    MASK = 6
    REWARD = 7


class Mask(IntEnum):
    """Values of the option ``mask``."""

    VALID = 0  # every action that the rules accept in this state, including those that ruin an order
    SAFE = 1  # valid actions that ruin nothing
    PAPER = 2  # valid actions, and those that are refused only because their order is finished or ruined


class Reward(IntEnum):
    """Values of the option ``reward``."""

    SPARSE = 0  # finished and ruined orders
    SHAPED = 1  # also each step towards an order
