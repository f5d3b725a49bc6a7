"""Rewards of players: the team's deliveries, and their own shaped reward if it was asked for."""

from __future__ import annotations

from collab_overcooked.kernels.jit import kernel


@kernel
def pay(sparse, shaped, with_shaping, rewards):
    """Every player gets what all deliveries paid; own shaped reward comes on top where it counts. Mutates: rewards."""
    team = 0.0
    for i in range(sparse.shape[0]):
        team += sparse[i]
    for i in range(rewards.shape[0]):
        rewards[i] = team + shaped[i] if with_shaping == 1 else team
