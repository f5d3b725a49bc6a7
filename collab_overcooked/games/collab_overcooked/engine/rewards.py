"""Rewards read the step's events and nothing else."""

from __future__ import annotations

from collab_overcooked.games.collab_overcooked.engine.constants import EventColumn
from collab_overcooked.kernels.jit import kernel

TEAM = 0  # row of the reward table that every agent receives
OWN = 1  # row that only the acting agent receives


@kernel
def pay(events, table, rewards):
    """A paid event earns every agent the team's share and its doer the shaped extra. Mutates: rewards."""
    rewards[:] = 0
    for i in range(events.shape[0]):
        code = events[i, EventColumn.CODE]
        rewards[i] += table[OWN, code]
        for j in range(events.shape[0]):
            rewards[j] += table[TEAM, code]
