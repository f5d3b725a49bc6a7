"""Episodes of one team in a batch: the decisions of ``play_episode``, and from these the records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from collab_overcooked.envs.api import is_sequential
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.envs.wrappers import split_options
from collab_overcooked.metrics.registry import episode_return, measure
from collab_overcooked.policies.api import Policy
from collab_overcooked.policies.batch_views import Views
from collab_overcooked.policies.batched import ALONE, ask_seat, make_seat, plays_in_batches
from collab_overcooked.policies.specs import make_known_policy
from collab_overcooked.runner.episode import play_episode, policy_seed
from collab_overcooked.runner.match import cached_env, cached_team
from collab_overcooked.runner.teams import MakePolicy, make_team

Array = np.ndarray


class BatchStep(NamedTuple):
    """A step of a batch of episodes."""

    actions: Array  # int64 (E, N), ``ALONE`` where a seat's answer was refused
    rewards: Array  # (E, N), a view that the next step overwrites
    infos: Mapping[str, Array]  # See ``BatchEnv.step``
    running: Array  # bool (E,), episodes that were not over before the step, and none of whose answers was refused


def play_steps(
    batch: BatchEnv,
    policies: Sequence[Callable[[], Policy]],
    names: tuple[str, ...],
    seeds: Sequence[int],
    watch: Callable[[int, Any, Array], None] = lambda t, state, over: None,
) -> Iterator[BatchStep]:
    """Play an episode for each seed at once; an episode ends early if an answer is refused.

    Args:
        batch: Environment with as many episodes as seeds.
        policies: Function for each seat that returns a new policy for which ``plays_in_batches`` holds.
        names: Names of the policies by seat.
        seeds: Seeds of the environments, as for ``play_episode``.
        watch: Called before each step with its number, the state of all episodes and which are over, bool (E,).
    """
    masks = batch.reset(list(seeds))[1]["action_mask"]
    views = Views(batch)
    seats = [
        make_seat(make, views, seat, names, {k: policy_seed(seed, seat) for k, seed in enumerate(seeds)})
        for seat, make in enumerate(policies)
    ]
    dropped = np.zeros(len(seeds), np.bool_)
    for timestep in count():
        over = batch.over | dropped
        if over.all():
            return
        watch(timestep, batch.state, over)
        actions: Array = masks.argmax(-1)  # the only action of seats without a choice
        views.decide(actions)
        for number, seat in enumerate(seats):
            ask_seat(seat, number, ~over, masks, np.full(len(seeds), timestep), actions)
        dropped |= (actions == ALONE).any(1)
        _, rewards, _, _, infos = batch.step(np.maximum(actions, 0))
        views.advance(np.maximum(actions, 0))
        masks = infos["action_mask"]
        yield BatchStep(actions, rewards, infos, ~(over | dropped))


@dataclass(frozen=True)
class Decided:
    """Decisions of an episode."""

    actions: Array  # int64 (T, N)
    rewards: Array  # float64 (T, N)


def play_batch(
    env_id: str,
    env_kwargs: Mapping[str, Any],
    specs: Sequence[str],
    seeds: Sequence[int],
    make: MakePolicy | None = None,
) -> list[Decided | None]:
    """Play one episode per seed, all in one batch.

    Args:
        env_id: Registered id.
        env_kwargs: Options of the environment.
        specs: Policy specs in seat order.
        seeds: Seeds of the environments, as for ``play_episode``.
        make: Factory of policies; the registry of policies if None.

    Returns:
        The decisions of each episode, equal to those of ``play_episode``; None for episodes that must be played one by
        one: all if seats act in turn or a policy may speak, and those in which an answer was refused.
    """
    game, make = cached_env(env_id, env_kwargs).game, make or make_known_policy
    team = make_team(specs, make)
    if is_sequential(game) or not all(plays_in_batches(policy, game.id) for policy in team.policies):
        return [None] * len(seeds)
    batch = BatchEnv(game, len(seeds), max_cycles=split_options(env_kwargs)[0].get("max_cycles"))
    policies = [partial(make, spec) for spec in specs]
    actions, rewards, running = [], [], []
    for step in play_steps(batch, policies, team.names, seeds):
        actions.append(step.actions)
        rewards.append(step.rewards.astype(np.float64))
        running.append(step.running)
    refused = (np.array(actions) == ALONE).any((0, 2))
    lengths = np.sum(running, 0)
    taken = np.array(actions)
    paid = np.array(rewards)
    return [None if refused[k] else Decided(taken[: lengths[k], k], paid[: lengths[k], k]) for k in range(len(seeds))]


def play_returns(
    env_id: str,
    env_kwargs: Mapping[str, Any],
    specs: Sequence[str],
    seeds: Sequence[int],
    make: MakePolicy | None = None,
) -> list[float]:
    """Return the episode return for each seed; episodes that ``play_batch`` leaves out are played one by one."""
    played = play_batch(env_id, env_kwargs, specs, seeds, make)
    returns = []
    for seed, decided in zip(seeds, played, strict=True):
        if decided is None:
            record = play_episode(cached_env(env_id, env_kwargs), cached_team(tuple(specs), make), seed)
            returns.append(measure(record, ["return"])["return"])
        else:
            returns.append(episode_return(decided.rewards.tolist()))
    return returns
