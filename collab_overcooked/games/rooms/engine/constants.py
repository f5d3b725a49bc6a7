"""Codes and column names of the arrays of room games.

Shape letters: B environment, N player, R room, K neighbour of a room, D door, G generator, A action.

Actions are numbers: 0 stays, ``1 + room`` moves there, ``R + 1`` uses the button or the generator of the room.
"""

from __future__ import annotations

from enum import IntEnum

NOTHING = -1
STAY = 0
FREE = 0  # a passage without a door; ``1 + door`` is one with a door, NOTHING is none
NEVER = 1_000_000  # turns to an end that cannot be forced
UNREACHABLE = 255  # as a distance
MAX_DOORS = 8
MAX_PLAYERS = 8
MAX_ROOMS = 64


class Goal(IntEnum):
    """What the players are to do."""

    CAPTURE = 0
    ESCAPE = 1


class Player(IntEnum):
    """Columns of ``State.players`` (B, N, 5)."""

    ROOM = 0
    ACTIVE = 1  # 0 once it was caught
    SEEN = 2  # whether the killer had it in sight in its last decision
    FIXING = 3  # whether it is said to have worked on a generator in the last turn
    BEFORE = 4  # its room before the last turn


class Generator(IntEnum):
    """Columns of ``State.generators`` (B, G, 3)."""

    ROOM = 0
    PROGRESS = 1  # fixes so far; those after the last one needed count on
    FIXER = 2  # seat whose fixes count where one player must do them all, else NOTHING


class Clock(IntEnum):
    """Columns of ``State.clock`` (B, 6)."""

    T = 0  # turns played
    LIMIT = 1  # turns after which the episode is cut off
    OUTCOME = 2  # see Outcome
    ADVERSARY = 3  # room of thief or killer
    TARGET = 4  # seat that the killer goes for in the coming turn, NOTHING if it is unaware
    DOORS = 5  # bit d is 1 where door d is open


class Outcome(IntEnum):
    """How an episode ended."""

    RUNNING = 0
    SUCCESS = 1  # the thief was caught, or a survivor escaped
    LOST = 2
    TIME_OUT = 3


class RoomColumn(IntEnum):
    """Columns of ``Tables.rooms`` (R, 3)."""

    BUTTON = 0  # door that the button in the room toggles, NOTHING if there is none
    EXIT = 1  # 1 for an exit
    NUMBER = 2  # its number, the place in the list from 1 on where rooms have names


class EventColumn(IntEnum):
    """Columns of ``Out.events`` (B, N, 8), see ``kernels.events``: what each player did in the last turn."""

    CODE = 0  # see Deed
    REASON = 1  # see Reason
    CAUGHT = 2  # 1 where it caught the thief, or was caught
    COMPLETED = 3  # 1 where its fix was the last one that a generator needed
    ESCAPED = 4  # 1 where it reached an exit with the gate open
    ROOM = 5  # where it is now
    ADVERSARY = 6  # where thief or killer is now
    SUBJECT = 7  # door or generator that it used


FIRST_ID = 5  # columns of events from here on hold ids


class Deed(IntEnum):
    """What a player brought about."""

    STAYED = 0
    MOVED = 1
    PRESSED = 2
    FIXED = 3


class Reason(IntEnum):
    """Why an action is refused."""

    OK = 0
    NO_PASSAGE = 1
    DOOR_CLOSED = 2
    NOTHING_TO_USE = 3
    OUT_OF_GAME = 4


class Param(IntEnum):
    """Entries of ``Tables.params`` (15,)."""

    GOAL = 0  # see Goal
    N_PLAYERS = 1
    HORIZON = 2
    ADVERSARY = 3  # see Adversary
    ADVERSARY_START = 4
    DOORS_START = 5  # bits, see Clock.DOORS
    EXCHANGE = 6  # see Exchange
    FIXES = 7  # that a generator needs
    FIX_BY_ONE = 8  # 1 if the same player must do all of them
    LOSS_BY_ALL = 9  # 1 if the game is lost when everybody is caught, 0 if one is enough
    RANDOM_GENERATORS = 10
    REWARD = 11  # see Reward
    SIGHT = 12  # see Sight
    FIX_FLAGS = 13  # 1 if only the first of two who fix in one room is said to have worked
    N_DOORS = 14


class Adversary(IntEnum):
    """How thief or killer decides."""

    CODED = 0  # as the code of 2024
    DISTANCE = 1  # the thief as coded, with numbers of passages for differences of room numbers
    CLOSEST = 2  # by where the closest player is now, as the text of 2023 says
    WORST = 3  # against the players' best play


class Exchange(IntEnum):
    """Whether a player and the adversary that exchange rooms meet."""

    NEVER = 0
    LATER = 1  # in all turns but the first
    ALWAYS = 2


class Reward(IntEnum):
    """What is rewarded."""

    SPARSE = 0  # 1 for success, -1 for a loss
    TIMED = 1  # and 0.01 less for every turn


class Sight(IntEnum):
    """What players see."""

    ALL = 0
    ROOM = 1  # their own room and those next to it
