"""Episodes of one team in a batch: the returns of ``play_episode``, without records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from collab_overcooked import registry
from collab_overcooked.envs.api import FullGame, SequentialGame
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.envs.shells import split_options
from collab_overcooked.metrics.registry import episode_return
from collab_overcooked.policies.batched import ALONE, Seat, make_seat
from collab_overcooked.policies.registry import make_policy
from collab_overcooked.runner.episode import policy_seed
from collab_overcooked.runner.teams import MakePolicy, make_team

Array = np.ndarray


def play_batch(
    game: FullGame,
    specs: Sequence[str],
    seeds: Sequence[int],
    max_cycles: int | None = None,
    make: MakePolicy | None = None,
) -> list[float | None]:
    """Play an episode for each seed at once.

    Args:
        game: Compiled game.
        specs: Policy specs in seat order.
        seeds: Seeds of the environments, as for ``play_episode``.
        max_cycles: Step limit; the game's own if None.
        make: Factory of policies; the registry of policies if None.

    Returns:
        The return of each episode, equal to that of its record; None for episodes that have to be played one by one:
        all where seats act one after the other or a policy may speak, and those in which an answer was refused.

    Raises:
        ValueError: If a policy cannot play the game.
    """
    nothing: list[float | None] = [None] * len(seeds)
    if isinstance(game, SequentialGame):
        return nothing
    batch, make = BatchEnv(game, len(seeds), max_cycles=max_cycles), make or make_policy
    observations, infos = batch.reset(list(seeds))
    names, seats = make_team(specs, make).names, []
    for number, spec in enumerate(specs):
        policy_seeds = [policy_seed(seed, number) for seed in seeds]
        seat = make_seat(lambda spec=spec: make(spec), game, batch.state, number, names, policy_seeds)  # type: ignore[misc]
        if seat is None:
            return nothing
        seats.append(seat)
    dropped, lengths = np.zeros(len(seeds), np.bool_), np.zeros(len(seeds), np.int64)
    rewards: list[Array] = []
    while not (over := batch.over | dropped).all():
        actions = _decide(seats, over, observations, infos["action_mask"], len(rewards))
        dropped |= (actions == ALONE).any(1)
        lengths += ~over
        observations, paid, _, _, infos = batch.step(np.maximum(actions, 0))
        rewards.append(paid.astype(np.float64))
    paid = np.array(rewards)
    return [None if dropped[k] else episode_return(paid[: lengths[k], k].tolist()) for k in range(len(seeds))]


def _decide(seats: Sequence[Seat], over: Array, observations: Array, masks: Array, timestep: int) -> Array:
    """Return the actions of all seats, int64 (E, N); a seat is asked where it has a choice."""
    actions = masks.argmax(-1)  # the only action of seats without a choice
    for number, seat in enumerate(seats):
        mask = masks[:, number]
        asked = np.flatnonzero((np.count_nonzero(mask, axis=1) > 1) & ~over)
        if len(asked):
            actions[asked, number] = seat.act(asked, observations[:, number], mask, timestep)
    return actions


def play_returns(
    env_id: str,
    env_kwargs: Mapping[str, object],
    specs: Sequence[str],
    seeds: Sequence[int],
    make: MakePolicy | None = None,
) -> list[float | None]:
    """Play an episode for each seed at once in an environment of some options; see ``play_batch``."""
    shell, options = split_options(env_kwargs)
    return play_batch(registry.load_game(env_id, **options), specs, seeds, shell.get("max_cycles"), make)
