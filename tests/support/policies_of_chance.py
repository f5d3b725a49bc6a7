"""Trained policies with random weights, for tests that need some policy file."""

from __future__ import annotations

import itertools

import numpy as np

from collab_overcooked.policies.policy_file import Network, PolicyFile


def a_policy(game, seed=0, memory=0, **more) -> PolicyFile:
    """A network with random weights for a game, with a GRU of a size if it is to have a memory."""
    shape, n_actions = game.single_observation_space.shape, game.n_actions
    rng = np.random.default_rng(seed)
    sizes = [int(np.prod(shape)), 8, n_actions]
    layers = tuple(
        (
            "dense",
            (rng.normal(size=(after, before)) / before**0.5).astype(np.float32),
            rng.normal(size=after).astype(np.float32),
        )
        for before, after in itertools.pairwise(sizes)
    )
    if memory:
        gates = rng.normal(size=(3 * memory, 8 + memory)), rng.normal(size=6 * memory)
        after = rng.normal(size=(n_actions, memory)) * 3  # the state decides, not the last bias alone
        layers = (layers[0], ("gru", *gates), ("dense", after, layers[1][2]))
        layers = tuple((kind, weight.astype(np.float32), bias.astype(np.float32)) for kind, weight, bias in layers)
    meta = {
        "env_id": game.id,
        "env_kwargs": game.kwargs,
        "observation_shape": list(shape),
        "n_actions": n_actions,
        "mode": "sample",
    }
    return PolicyFile(Network(np.ones(shape, np.float32), layers, "relu"), meta | more)
