"""Rewards of a step, computed from its events."""

from __future__ import annotations

from collab_overcooked.games.collab_overcooked.engine.constants import EventColumn
from collab_overcooked.kernels.jit import kernel

TEAM = 0  # row of the reward table that every agent receives
OWN = 1  # row that only the acting agent receives


@kernel
def pay(events, table, rewards):
    """A paid event rewards every agent, and its shaped reward goes to the acting agent. Mutates: rewards."""
    rewards[:] = 0
    for i in range(events.shape[0]):
        code = events[i, EventColumn.CODE]
        rewards[i] += table[OWN, code]
        for j in range(events.shape[0]):
            rewards[j] += table[TEAM, code]
