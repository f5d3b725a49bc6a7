"""Codes and column names of the arrays that Overcooked and OvercookedV2 share.

Shape letters: B environment, K layout of the pool, N player, H rows and W columns of the largest layout, P pots,
G gates. A soup is one number: two bits for the count of each kind of ingredient, onions first.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from collab_overcooked.kernels.reasons import ReasonCode

NOTHING = -1
NOT_COOKING = -1  # tick of a soup that is not cooking yet
MAX_INGREDIENTS = 3  # of a soup
MAX_PLAYERS = 4
INGREDIENTS = ("onion", "tomato")
BUTTON_TIME = 10  # steps for which a button shows the recipe, with that of the press
HORIZON = 400  # steps of an episode, the common choice in the literature


class Action(IntEnum):
    """Primitive actions; the first four are the directions of ``kernels.grid``."""

    NORTH = 0
    SOUTH = 1
    EAST = 2
    WEST = 3
    STAY = 4
    INTERACT = 5


class Terrain(IntEnum):
    """Kinds of cells."""

    FLOOR = 0
    COUNTER = 1
    BELT_NORTH = 2  # counters that move what lies on them, in the order of kernels.grid.Direction
    BELT_SOUTH = 3
    BELT_EAST = 4
    BELT_WEST = 5
    BOARD = 6  # prepares ingredients by hand
    GRILL = 7  # by itself
    BLENDER = 8  # by itself, once it is started
    POT = 9
    SERVING = 10
    WALL = 11  # also around layouts smaller than the largest one of a pool
    GATE = 12
    INDICATOR = 13  # shows the recipe
    BUTTON = 14  # shows the recipe for a while
    DISHES = 15  # dispenser, as all from here on, in the order of Item
    ONIONS = 16
    TOMATOES = 17
    CARROTS = 18  # from here on OvercookedV2 only
    MUSHROOMS = 19
    POTATOES = 20
    CUCUMBERS = 21
    LEEKS = 22
    PEAS = 23
    APPLES = 24
    BANANAS = 25


FIRST_BELT, LAST_BELT = int(Terrain.BELT_NORTH), int(Terrain.BELT_WEST)
BELTS = {"^": Terrain.BELT_NORTH, "v": Terrain.BELT_SOUTH, ">": Terrain.BELT_EAST, "<": Terrain.BELT_WEST}
FIRST_STATION, LAST_STATION = int(Terrain.BOARD), int(Terrain.BLENDER)
PREPARING = {"C": Terrain.BOARD, "H": Terrain.GRILL, "M": Terrain.BLENDER}  # stations that prepare ingredients
PREPARING_SYMBOLS = {kind.name.lower(): symbol for symbol, kind in PREPARING.items()}  # by name
BOARD_WORK = 3  # interacts that prepare an ingredient at a board
MACHINE_WORK = 10  # steps that it takes on a grill or in a blender
WORK = {Terrain.BOARD: BOARD_WORK, Terrain.GRILL: MACHINE_WORK, Terrain.BLENDER: MACHINE_WORK}
FIRST_DISPENSER = int(Terrain.DISHES)
FIRST_PILE = int(Terrain.ONIONS)  # of ingredients
SYMBOLS = {
    " ": Terrain.FLOOR,
    "X": Terrain.COUNTER,
    "O": Terrain.ONIONS,
    "T": Terrain.TOMATOES,
    "D": Terrain.DISHES,
    "P": Terrain.POT,
    "S": Terrain.SERVING,
    "W": Terrain.WALL,
    "G": Terrain.GATE,
    **BELTS,
    **PREPARING,
}


class Item(IntEnum):
    """Contents of a hand, a counter or a pot."""

    NONE = 0
    SOUP = 1
    OPEN = 2  # no object: the mark of an open gate's cell
    DISH = 3
    ONION = 4
    TOMATO = 5
    CARROT = 6  # from here on OvercookedV2 only
    MUSHROOM = 7
    POTATO = 8
    CUCUMBER = 9
    LEEK = 10
    PEA = 11
    APPLE = 12
    BANANA = 13


FIRST_INGREDIENT = int(Item.ONION)
COUNT_MASK = 3  # mask of the count of one kind in a soup


class Thing(IntEnum):
    """The three numbers of an object, alike in hands and on cells; all 0 for none."""

    ITEM = 0
    SOUP = 1  # what is in a soup
    # Of a soup: NOT_COOKING, then steps of cooking; of an ingredient: work done to prepare it; of an open gate: its
    # counter; of a button: steps for which it shows the recipe
    TICK = 2


class Player(IntEnum):
    """Columns of ``State.players`` (B, N, 7)."""

    X = 0
    Y = 1
    FACING = 2  # kernels.grid.Direction
    HAND = 3  # first of the three columns of ``Thing``
    SOUP = 4
    TICK = 5
    KNOWS = 6  # 1 once the player has seen the current recipe, where recipes are hidden


HAND_END = Player.HAND + len(Thing)


class Clock(IntEnum):
    """Columns of ``State.clock`` (B, 8)."""

    T = 0  # steps taken
    LIMIT = 1  # steps at which the episode is cut off
    OVER = 2  # 1 after the last step
    LAYOUT = 3  # index in the pool
    SERVED = 4  # soups delivered, paid or not; in OvercookedV2 those of the recipe
    SCORE = 5  # points of the team; burnt soup, expired orders and buttons cost some
    RECIPE = 6  # soup of the hidden recipe or of the order that stands, else 0
    DELIVERED = 7  # 1 if the last step delivered that soup; OvercookedV2


class LayoutSize(IntEnum):
    """Columns of ``Tables.frames`` (K, 11): the sizes of a layout."""

    HEIGHT = 0
    WIDTH = 1
    POTS = 2
    GATES = 3
    GATE_LIMIT = 4  # counter at which an unoccupied gate closes
    OBJECT_CELLS = 5
    RECIPES = 6  # that are drawn, hidden ones or orders
    KINDS = 7  # of ingredients, where recipes are hidden
    BUTTONS = 8
    BELTS = 9
    STATIONS = 10  # that prepare ingredients


class Param(IntEnum):
    """Entries of ``Tables.params``: the options that hold for all layouts of a pool."""

    AUTO_START = 0  # 1 where a pot starts by itself at three ingredients
    GATE_PAUSE = 1  # 1 if a gate's counter pauses while a player stands on it
    GATE_ANYONE = 2  # 1 where full hands open gates too
    GATE_RESET = 3  # 1 where gates are closed at a reset
    RANDOM_START = 4
    SHAPED = 5  # 1 where the shaped reward is a part of the reward
    MACROS = 6  # 1 where some players choose directives instead of primitive actions
    RULES = 7  # see Rules
    STALEMATE = 8  # see Stalemate
    CHANGES = 9  # see ChangeTime
    CHANGE_LOW = 10  # steps between two changes of the kitchen, at least
    CHANGE_HIGH = 11  # at most
    NOTICE = 12  # steps for which a change is announced, 0 for secret changes
    BURN = 13  # steps after which ready soup in a pot burns, NOTHING for never
    BURN_COST = 14  # points that a burnt soup costs the team
    WRONG_PAYS = 15  # points for a soup that is not the hidden recipe
    REDRAW = 16  # 1 where the recipe or order is drawn anew once it is delivered or its time is over
    RANDOM_STATE = 17
    LIGHT = 18  # 1 where serving cells show a delivery of the hidden recipe
    RADIUS = 19  # of the view that decides who knows a hidden recipe, NOTHING for the whole map
    CHANNELS = 20  # of a picture of OvercookedV2, without room for more
    FULL_WAITS = 21  # 1 where a pot that is full at the start of an episode waits for an interact
    ORDER_TIME = 22  # steps for which an order stands, NOTHING for ever
    ORDER_COST = 23  # points that an order costs the team if nobody delivers it
    SOUP_BURNT = 24  # bit of this event in EventColumn.CODE; ORDER_EXPIRED is the next one


class ChangeTime(IntEnum):
    """When a kitchen changes into the next of the pool, option ``changes``."""

    NEVER = 0
    TIMED = 1  # a number of steps after the last change, fixed or drawn
    DELIVERY = 2  # after a delivery


class Change(IntEnum):
    """Columns of ``State.changes`` (B, 3), which has none where kitchens never change."""

    FIRST = 0  # index of the layout in which the episode started
    SINCE = 1  # steps since the last change, or since the start
    LEFT = 2  # steps to a change that is announced, 1 while one waits for players to leave cells, 0 otherwise


class Order(IntEnum):
    """Columns of ``State.order`` (B, 1), which has none where orders stand for ever; ``Clock.RECIPE`` is its soup."""

    LEFT = 0  # steps until the next order replaces it


class Shaping(IntEnum):
    """Entries of ``Tables.shaping``: shaped rewards by event."""

    POTTING = 0
    DISH = 1
    SOUP = 2


class Effect(IntEnum):
    """What an interact does, in both lineages; their events follow from it."""

    NONE = 0
    TAKE = 1  # from a dispenser
    DROP = 2  # on a counter
    PICKUP = 3  # from a counter
    POTTING = 4
    START = 5
    SOUP_PICKUP = 6  # from a pot
    DELIVERY = 7
    OPEN = 8
    PRESS = 9
    WORK = 10  # at a station that prepares ingredients


class KitchenEvent(IntEnum):
    """Base class of the events of a player in a step: each is a bit of ``EventColumn.CODE``, with a label in histories.

    Members are written ``ONION_PICKUP = 5, "take onion"``; one without a label is not told. Events that cost the team
    points happen to all players and have a sentence, too. All lineages have ``SOUP_BURNT`` and, next to it,
    ``ORDER_EXPIRED``, see ``Param.SOUP_BURNT``.
    """

    label: str
    loss: str

    def __new__(cls, code: int, label: str = "", loss: str = "") -> KitchenEvent:
        member = int.__new__(cls, code)
        member._value_ = code
        member.label = label
        member.loss = loss
        return member


class Event(KitchenEvent):
    """Events of Overcooked, in the original's order with own ones last."""

    TOMATO_PICKUP = 0, "take tomato"
    USEFUL_TOMATO_PICKUP = 1
    TOMATO_DROP = 2, "put tomato down"
    USEFUL_TOMATO_DROP = 3
    POTTING_TOMATO = 4, "put tomato in pot"
    ONION_PICKUP = 5, "take onion"
    USEFUL_ONION_PICKUP = 6
    ONION_DROP = 7, "put onion down"
    USEFUL_ONION_DROP = 8
    POTTING_ONION = 9, "put onion in pot"
    DISH_PICKUP = 10, "take dish"
    USEFUL_DISH_PICKUP = 11
    DISH_DROP = 12, "put dish down"
    USEFUL_DISH_DROP = 13
    SOUP_PICKUP = 14, "take soup"
    SOUP_DELIVERY = 15, "deliver soup"
    SOUP_DROP = 16, "put soup down"
    OPTIMAL_ONION_POTTING = 17
    OPTIMAL_TOMATO_POTTING = 18
    VIABLE_ONION_POTTING = 19
    VIABLE_TOMATO_POTTING = 20
    CATASTROPHIC_ONION_POTTING = 21
    CATASTROPHIC_TOMATO_POTTING = 22
    USELESS_ONION_POTTING = 23
    USELESS_TOMATO_POTTING = 24
    SOUP_BURNT = 25, "soup burns", "Nobody took the soup out of its pot in time"
    ORDER_EXPIRED = 26, "order expires", "Nobody delivered the order in time"
    PREPARATION = 27, "prepare ingredient"  # interact with an ingredient at a station


class EventColumn(IntEnum):
    """Columns of ``Out.events`` (B, N, 4), see ``kernels.events``."""

    CODE = 0  # bit e for Event e
    REASON = 1  # why the chosen action was refused, see Reason
    PRIMITIVE = 2  # primitive action carried out
    ENDED = 3  # how the player's directive ended, see kernels.macro_actions.Outcome


FIRST_ID = 4  # columns of events from here on would hold ids


class Reason(ReasonCode):
    """Reason codes of refused actions: directives that cannot be chosen, interacts without effect."""

    OK = 0
    RUNNING = 1, "{me} is still busy with {current!r}; only `continue` is possible until it ends."
    NOT_RUNNING = 2, "{me} has no running directive to continue; choose a directive."
    ABSENT = 3, "There is no {object} in this kitchen."
    INACCESSIBLE = 4, "{me} cannot get to {object} from here."
    HANDS_FULL = 5, "{me} holds {held}; that needs an empty hand."
    HANDS_EMPTY = 6, "{me} holds nothing."
    WRONG_ITEM = 7, "{me} holds {held}, which does not go there."
    EMPTY = 8, "There is nothing on or in {object}."
    TAKEN = 9, "There is already something on {object}."
    FARTHER = 10, "Put things down on the nearest empty counter; {object} is farther away."
    REFUSES = 11, "{object} takes nothing right now: it is full, cooking or done."
    NOT_READY = 12, "The soup in {object} will not be ready when {me} arrives."
    OPEN = 13, "{object} is already open."
    NO_EFFECT = 14, "An interact with the cell at ({x}, {y}) would change nothing right now."
    # a number that only players of another action level have
    NO_SUCH_ACTION = 15, "This player has no action with that number."


# First event of each Item's kind; a useful one has the next number. Plain ints, as kernels index with numbers.
PICKUPS = (
    NOTHING,
    int(Event.SOUP_PICKUP),
    NOTHING,
    int(Event.DISH_PICKUP),
    int(Event.ONION_PICKUP),
    int(Event.TOMATO_PICKUP),
)
DROPS = (NOTHING, int(Event.SOUP_DROP), NOTHING, int(Event.DISH_DROP), int(Event.ONION_DROP), int(Event.TOMATO_DROP))


class Rules(IntEnum):
    """Rules of directives, option ``text_rules``."""

    STRICT = 0
    ORIGINAL = 1


class Stalemate(IntEnum):
    """Who gives way in the original's rules of directives, option ``stalemate``."""

    CODE = 0  # all but the first player step aside
    PAPER = 1  # the same, and whoever is stuck chooses again


class Kind(IntEnum):
    """Kinds of numbered objects, in the order of the action list."""

    ONIONS = 0
    TOMATOES = 1
    DISHES = 2
    POT = 3
    SERVING = 4
    GATE = 5
    SHARED = 6  # counter that a layout names for handing over
    COUNTER = 7


LETTERS = "otpcdgsk"  # of Kind, in order
TERRAINS = tuple(Terrain.COUNTER if kind == Kind.SHARED else Terrain[kind.name] for kind in Kind)


class Object(IntEnum):
    """Columns of ``Tables.objects`` (K, M, 5); x and y are NOTHING where a layout lacks the object."""

    KIND = 0
    NUMBER = 1
    X = 2
    Y = 3
    SOUP = 4  # 1 where the original's rules let soup be put on a shared counter


class Verb(IntEnum):
    """Verbs of directives."""

    CONTINUE = 0
    WAIT = 1
    AWAY = 2
    TAKE = 3
    PUT = 4
    LOAD = 5
    DELIVER = 6
    OPEN = 7
    START = 8


class Row(IntEnum):
    """Columns of ``Tables.catalogue`` (A, 2)."""

    VERB = 0
    SLOT = 1  # row of the object, NOTHING for none


FIRST_ROWS = ((Verb.CONTINUE, NOTHING), (Verb.WAIT, NOTHING), (Verb.AWAY, NOTHING))
WAIT, AWAY = 1, 2
VERBS = (  # of Kind, in order
    *[(Verb.TAKE,)] * 3,
    (Verb.PUT, Verb.LOAD),
    (Verb.DELIVER,),
    (Verb.OPEN,),
    *[(Verb.TAKE, Verb.PUT)] * 2,
)


class DirectiveHistory(IntEnum):
    """Own columns of ``State.macro_state`` (B, N, 19), behind those of ``kernels.macro_actions.Macro``: the past."""

    DIRECTIVE = 3
    MOVE = 4  # primitive action
    X = 5
    Y = 6
    FACING = 7
    AWAY = 8  # 1 after a move away, see macro_actions.resolve_standoff; original rules only
    LAST = 9  # directives chosen last, the latest first, 0 for none; then MEMORY - 1 more
    FAILED = 14  # 1 for each of them that ended without effect, 0 for the latest; then MEMORY - 1 more


MEMORY = 5  # directives that a player remembers
MACRO_COLUMNS = int(DirectiveHistory.FAILED) + MEMORY
NO_PAST = {
    DirectiveHistory.DIRECTIVE: WAIT,
    DirectiveHistory.MOVE: 0,
    DirectiveHistory.X: NOTHING,
    DirectiveHistory.AWAY: 0,
}  # at the start of an episode
PATIENCE = 5  # steps without a move or turn after which a strict directive ends


class PotCounts(NamedTuple):
    """Pots of a layout in a step, counted before any player interacts."""

    total: int
    full: int
    with_food: int  # those that need a dish


class Path(IntEnum):
    """Layers of the scratch memory ``Out.paths`` (B, 4, H, W)."""

    FLOOR = 0  # 0 no floor, FREE, or TAKEN by another player
    DISTANCE = 1  # moves from the player, NOTHING where there is no way
    FIRST = 2  # direction of the first move
    QUEUE = 3


FREE = 1
TAKEN = 2
BLOCKED = 1 << 12  # added to the distance of an object whose only reachable side is another player's cell


# Plain ints: numba cannot unify an enum member with a computed direction.
NORTH, SOUTH, EAST, WEST, STAY, INTERACT = (int(action) for action in Action)
SIDES = (NORTH, SOUTH, WEST, EAST)
AWAY_ORDER = (WEST, NORTH, SOUTH, EAST)


class Encoding(IntEnum):
    """Observations by name."""

    LOSSLESS = 0
    JAXMARL = 1
    GATES = 2
    FEATURES = 3


class View(IntEnum):
    """Entries of ``Tables.views``: how a picture lies in memory."""

    ENCODING = 0
    RADIUS = 1  # of the window around a player, or NOTHING for the whole map
    WIDTH = 2  # of the picture
    HEIGHT = 3
    STEP_X = 4  # from a number to its neighbour in x, in y and in the next channel
    STEP_Y = 5
    STEP_CHANNEL = 6
    MAP_X = 7  # the same in ``Tables.template``, which shows the whole map
    MAP_Y = 8
    MAP_CHANNEL = 9
    CHANNELS = 10
    CHANGES = 11  # channel of the countdown to a change, the changing cells are the next one; NOTHING without
    BURN = 12  # Param.BURN
    ORDER = 13  # first channel of the order that stands: its counts in Overcooked, and its steps; NOTHING without
    WORK = 14  # channel of the work done on ingredients, in Overcooked from those behind the players'; NOTHING without


class Channel(IntEnum):
    """Channels of ``lossless`` and ``jaxmarl`` after the players'; the last four on maps with walls or gates."""

    POTS = 0
    COUNTERS = 1
    ONIONS = 2  # dispensers
    TOMATOES = 3  # dispensers
    DISHES = 4  # dispensers
    SERVINGS = 5
    POT_ONIONS = 6  # in idle pots
    POT_TOMATOES = 7
    SOUP_ONIONS = 8  # in soup that cooks or is ready
    SOUP_TOMATOES = 9
    TIME_LEFT = 10  # of soup that cooks
    READY = 11
    DISH = 12
    ONION = 13
    TOMATO = 14
    URGENT = 15
    WALLS = 16
    GATES = 17
    GATE_OPEN = 18
    GATE_COUNTER = 19


class GateChannel(IntEnum):
    """Channels of ``gates`` after those of the players."""

    POTS = 0
    COUNTERS = 1
    ONIONS = 2  # dispensers
    DISHES = 3  # dispensers
    SERVINGS = 4
    GATES = 5
    POT_ONIONS = 6
    POT_TICK = 7
    SOUP = 8  # outside pots
    DISH = 9
    ONION = 10
    GATE_OPEN = 11
    GATE_COUNTER = 12


PLAYER_CHANNELS = 5  # of each player: where it stands, then one for each facing
URGENT_STEPS = 40  # fewer than this many steps are left


class Feature(IntEnum):
    """Blocks of numbers of one player in ``features``, in order; see ``observation_layout.features_of``."""

    FACING = 0
    HELD = 1
    WAYS = 2
    SOUP = 3
    SERVING = 4
    COUNTER = 5
    POT = 6  # see PotFeature
    POT_WAY = 7
    SECOND_POT = 8
    SECOND_WAY = 9
    WALLS = 10
    END = 11  # the number of all


class PotFeature(IntEnum):
    """Numbers of a pot in ``features``."""

    EXISTS = 0
    EMPTY = 1
    FULL = 2
    COOKING = 3
    READY = 4
    ONIONS = 5
    TOMATOES = 6
    LEFT = 7
    WAY = 8  # first of two


class NearestObject(IntEnum):
    """Columns of ``Tables.nearest``: nearest objects of a pose."""

    ONIONS = 0
    TOMATOES = 1
    DISHES = 2
    SERVING = 3
    POT = 4
    SECOND_POT = 5
