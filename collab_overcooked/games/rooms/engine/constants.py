"""Codes and column names of the arrays of room games.

Shape letters: B environment, N player, R room, K neighbour of a room, D door, G generator, A action.

Actions are integers: 0 stays, ``1 + room`` moves there, ``R + 1`` uses the button or the generator of the room.
"""

from __future__ import annotations

from enum import IntEnum

from collab_overcooked.kernels.reasons import ReasonCode

NOTHING = -1
STAY = 0
FREE = 0  # passage without a door; ``1 + door`` is a passage with a door, NOTHING is no passage
NEVER = 1_000_000  # turns to an outcome that cannot be forced
TURNS = 30  # of an episode
UNREACHABLE = 255  # as a distance
MAX_DOORS = 8
MAX_PLAYERS = 8
MAX_ROOMS = 64


class Goal(IntEnum):
    """Goals of the players."""

    CAPTURE = 0
    ESCAPE = 1


class Player(IntEnum):
    """Columns of ``State.players`` (B, N, 5)."""

    ROOM = 0
    ACTIVE = 1  # 0 once caught
    SEEN = 2  # 1 if the killer had it in sight in its last decision
    FIXING = 3  # 1 if it is reported to have worked on a generator in the last turn
    BEFORE = 4  # its room before the last turn


class Generator(IntEnum):
    """Columns of ``State.generators`` (B, G, 3)."""

    ROOM = 0
    PROGRESS = 1  # fixes so far, including those beyond the needed ones
    FIXER = 2  # seat whose fixes count if one player must do them all, else NOTHING


class Sighting(IntEnum):
    """Columns of ``State.sightings`` (B, N, M, 2): when and where a player last saw another one or the adversary."""

    ROOM = 0
    TURN = 1


class Clock(IntEnum):
    """Columns of ``State.clock`` (B, 6)."""

    T = 0  # turns played
    LIMIT = 1  # turns until truncation
    OUTCOME = 2  # see Outcome
    ADVERSARY = 3  # room of thief or killer
    TARGET = 4  # seat that the killer chases in the coming turn, NOTHING if it is unaware
    DOORS = 5  # bit d is 1 if door d is open


class Outcome(IntEnum):
    """Outcomes of an episode."""

    RUNNING = 0
    SUCCESS = 1  # the thief was caught, or a survivor escaped
    LOST = 2
    TIME_OUT = 3


class RoomColumn(IntEnum):
    """Columns of ``Tables.rooms`` (R, 3)."""

    BUTTON = 0  # door toggled by the button in the room, or NOTHING
    EXIT = 1  # 1 for an exit
    NUMBER = 2  # number of the room; for rooms with names, the position in the list from 1


class EventColumn(IntEnum):
    """Columns of ``Out.events`` (B, N, 8), see ``kernels.events``: each player's action and its outcome."""

    CODE = 0  # see Event
    REASON = 1  # see Reason
    CAUGHT = 2  # 1 if it caught the thief, or was caught
    COMPLETED = 3  # 1 if its fix was the last one that a generator needed
    ESCAPED = 4  # 1 if it reached an exit while the gate was open
    ROOM = 5  # its room after the turn
    ADVERSARY = 6  # room of thief or killer after the turn
    SUBJECT = 7  # door or generator used


class Event(IntEnum):
    """Effects of actions."""

    STAYED = 0
    MOVED = 1
    PRESSED = 2
    FIXED = 3


class Reason(ReasonCode):
    """Reason codes of refused actions."""

    OK = 0
    NO_PASSAGE = 1, "There is no passage to that room from {room}."
    DOOR_CLOSED = 2, "The door to that room is closed."
    NOTHING_TO_USE = 3, "There is nothing to use in {room}."
    OUT_OF_GAME = 4, "You were caught and are out of the game; you can only wait."


class Feature(IntEnum):
    """Blocks of an observation, see ``observe.features_of``."""

    OWN_ROOM = 0
    ROOM = 1
    AGO = 2
    ACTIVE = 3
    FIXING = 4
    TARGET = 5
    DOORS = 6
    FIXES = 7
    GENERATOR_ROOM = 8
    GATE = 9
    FROM_HERE = 10
    FROM_ADVERSARY = 11
    TURNS_LEFT = 12


class Param(IntEnum):
    """Entries of ``Tables.params`` (14,)."""

    GOAL = 0  # see Goal
    N_PLAYERS = 1
    ADVERSARY = 2  # see Adversary
    ADVERSARY_START = 3
    DOORS_START = 4  # bits, see Clock.DOORS
    EXCHANGE = 5  # see Exchange
    FIXES = 6  # fixes needed per generator
    FIX_BY_ONE = 7  # 1 if the same player must do all of them
    LOSS_BY_ALL = 8  # 1 if the game is lost once all players are caught, 0 if one is enough
    RANDOM_GENERATORS = 9
    REWARD = 10  # see Reward
    SIGHT = 11  # see Sight
    FIX_FLAGS = 12  # 1 if, of several players fixing in one room, only the first is reported to have worked
    N_DOORS = 13


class Adversary(IntEnum):
    """Policies of thief and killer."""

    CODED = 0  # as in the code of 2024
    DISTANCE = 1  # the coded thief, with graph distances instead of differences of room numbers
    CLOSEST = 2  # by the current room of the closest player, as in the text of 2023


class Exchange(IntEnum):
    """When a player and the adversary meet by exchanging rooms."""

    NEVER = 0
    LATER = 1  # in all turns except the first
    ALWAYS = 2


class Reward(IntEnum):
    """Values of the option ``reward``."""

    SPARSE = 0  # 1 for success, -1 for a loss
    TIMED = 1  # the same, minus 0.01 per turn


class Sight(IntEnum):
    """Values of the option ``sight``."""

    ALL = 0
    ROOM = 1  # the player's room and those behind open passages
