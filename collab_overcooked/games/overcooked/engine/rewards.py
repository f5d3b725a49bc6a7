"""Rewards of players: the team's deliveries, and with reward="shaped" each player's shaped reward."""

from __future__ import annotations

from collab_overcooked.kernels.jit import kernel


@kernel
def pay(sparse, shaped, with_shaping, rewards):
    """Every player gets the value of all deliveries, plus its shaped reward if enabled. Mutates: rewards."""
    team = 0.0
    for i in range(sparse.shape[0]):
        team += sparse[i]
    for i in range(rewards.shape[0]):
        rewards[i] = team + shaped[i] if with_shaping == 1 else team
