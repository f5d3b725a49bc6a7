"""Keys of states: one integer for everything that future turns depend on."""

from __future__ import annotations

from collab_overcooked.kernels.jit import kernel

from .constants import Adversary, Clock, Exchange, Generator, Goal, Param, Player
from .state import Tables

MAX_KEYS = 1 << 62  # of a game, so that keys fit into int64


def count_keys(tables: Tables) -> int:
    """Return the number of different keys that states of a game can have; all are at least 0 and below it."""
    params = [int(value) for value in tables.params]
    n_players = len(tables.starts)
    n_rooms = len(tables.rooms)
    n_generators = len(tables.generators)
    coded = params[Param.GOAL] == Goal.ESCAPE and params[Param.ADVERSARY] == Adversary.CODED
    player, target = (2 * (n_rooms + 1), n_players + 1) if coded else (n_rooms + 1, 1)
    fixer = n_players + 1 if params[Param.FIX_BY_ONE] == 1 else 1
    generator = n_rooms * (params[Param.FIXES] + 1) * fixer
    doors, is_first = 1 << params[Param.N_DOORS], 2
    count: int = player**n_players * n_rooms * target * generator**n_generators * doors * is_first
    return count


@kernel
def state_key(tables, env, is_first):
    """Return everything that future turns depend on, as one integer below ``count_keys``."""
    players, generators, clock = env.players, env.generators, env.clock
    params, n_rooms = tables.params, tables.passages.shape[0]
    coded = params[Param.GOAL] == Goal.ESCAPE and params[Param.ADVERSARY] == Adversary.CODED
    n_players = players.shape[0]
    fixes = params[Param.FIXES]
    key = 0
    for n in range(n_players):
        at = players[n, Player.ROOM] if players[n, Player.ACTIVE] == 1 else n_rooms
        key = key * (n_rooms + 1) + at
        if coded:
            key = key * 2 + players[n, Player.SEEN]
    key = key * n_rooms + clock[Clock.ADVERSARY]
    if coded:
        key = key * (n_players + 1) + clock[Clock.TARGET] + 1
    for g in range(generators.shape[0]):
        key = key * n_rooms + generators[g, Generator.ROOM]
        key = key * (fixes + 1) + min(generators[g, Generator.PROGRESS], fixes)
        if params[Param.FIX_BY_ONE] == 1:
            key = key * (n_players + 1) + generators[g, Generator.FIXER] + 1
    key = (key << params[Param.N_DOORS]) + clock[Clock.DOORS]
    return key * 2 + (1 if is_first and params[Param.EXCHANGE] == Exchange.LATER else 0)
