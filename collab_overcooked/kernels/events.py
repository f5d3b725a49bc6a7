"""Event buffers: the event of each agent in the last step, with the same columns in every game.

``Out.events`` is int32 (B, rows, columns). A row belongs to a seat, or to a command in a game that takes lists of them.
Its first columns are those of ``EventField``, with which a game's own ``EventColumn`` starts. Counts, codes and flags
come first and are 0 where nothing happened; ids come last, from the game's ``FIRST_ID`` on, and are NOTHING. A game's
``event_of`` turns a row into a dict.
"""

from __future__ import annotations

from enum import IntEnum

from collab_overcooked.kernels.jit import kernel

NOTHING = -1


class EventField(IntEnum):
    """First columns of ``Out.events`` in every game."""

    CODE = 0  # what the agent brought about, 0 for nothing
    REASON = 1  # why the chosen action was refused, 0 where it was not


@kernel
def clear_event(event, first_id):
    """Clear one row: 0 before column `first_id`, NOTHING from there on. Mutates: event."""
    for column in range(event.shape[0]):
        event[column] = NOTHING if column >= first_id else 0


@kernel
def clear_events(events, first_id):
    """Clear the event buffers of one environment. Mutates: events (rows, columns)."""
    for row in range(events.shape[0]):
        clear_event(events[row], first_id)
