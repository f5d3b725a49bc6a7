"""Hashes that tell the nodes of a search apart: whole states, and how far the work has come."""

from __future__ import annotations

from typing import Any

import numpy as np

from collab_overcooked.games.collab_overcooked.engine.constants import NOTHING, Agent, Param, Row, Tile, Verb
from collab_overcooked.games.collab_overcooked.policies.order_work import Array, Order
from collab_overcooked.kernels.macro_actions import Macro


def key_columns(order: Order, state: Any) -> Array:
    """Return (n, columns) all that decides how a state goes on, the clock and the names of equal objects left out."""
    book = order.book
    running = state.macro_state[:, :, Macro.ACTION]
    verbs = np.array([row[Row.VERB] for row in book.rows])
    waits = (running > 0) & (verbs[np.maximum(running, 0)] == Verb.WAIT)
    columns = [
        state.agents[:, :, Agent.CELL],
        state.agents[:, :, Agent.FACING],
        state.agents[:, :, Agent.ITEM],
        state.agents[:, :, Agent.PLATED],
        running,
        np.where(waits, state.macro_state[:, :, Macro.TIMER], 0),
    ]
    if book.tables.params[Param.STUCK] > 0:
        columns.append(np.where(running > 0, state.macro_state[:, :, Macro.STILL], 0))
    lying = state.tiles[:, order.counters]
    items, placed = lying[:, :, Tile.ITEM], lying[:, :, Tile.PLACED]
    same = (items[:, :, None] == items[:, None, :]) & (items[:, :, None] != NOTHING)
    columns += [items, lying[:, :, Tile.PLATED], (same & (placed[:, None, :] < placed[:, :, None])).sum(2)]
    cooking = state.tiles[:, book.utensils]
    columns += [cooking[:, :, Tile.ITEM], cooking[:, :, Tile.TIMER]]
    inside = np.sort(cooking[:, :, Tile.CONTENT :], axis=2)
    columns.append(inside.reshape(len(state.tiles), inside.shape[1] * inside.shape[2]))
    return np.concatenate([column.astype(np.int16) for column in columns], axis=1)


def progress(order: Order, state: Any) -> Array:
    """Return (n,) hashes of how far the work has come, wherever the agents and on whichever counters things are."""
    cooking = state.tiles[:, order.book.utensils]
    inside = np.sort(cooking[:, :, Tile.CONTENT :], axis=2)
    columns = [
        state.agents[:, :, Agent.ITEM],
        np.sort(state.tiles[:, order.counters, Tile.ITEM], axis=1),
        cooking[:, :, Tile.ITEM],
        inside.reshape(len(state.tiles), inside.shape[1] * inside.shape[2]),
    ]
    keys = np.concatenate([column.astype(np.int16) for column in columns], axis=1)
    return hash_rows(keys, odd_numbers(keys.shape[1]))


def odd_numbers(count: int) -> Array:
    """Return (count,) fixed random odd uint64 factors for hashing."""
    draw = np.random.default_rng(20250501)
    return np.asarray(draw.integers(1 << 63, dtype=np.uint64, size=count) * np.uint64(2) + np.uint64(1))


def hash_rows(keys: Array, factors: Array) -> Array:
    """Return (n,) 64-bit hashes of key rows: random multilinear, so that two rows agree with probability 2^-60."""
    mixed = keys.astype(np.uint64) * factors
    return mixed.sum(1, dtype=np.uint64)
