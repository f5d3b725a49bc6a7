"""Play many whole games at once with trained policies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count as count_up
from typing import Any

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.policies.action_history import ActionHistory
from collab_overcooked.policies.observation import Observer, select_observation
from collab_overcooked.policies.policy_file import PolicyFile

Array = np.ndarray


@dataclass(frozen=True)
class Games:
    """Results of many games.

    Attributes:
        returns: float64 (games,): the seats' mean sum of rewards.
        shaped: float64 (games,): the same of shaped rewards, 0 in games that have none.
        completed: int64 (games,): orders served; None for games that do not count them by themselves.
        expired: int64 (games,): orders that were not served in time; None for games that do not count them.
        events: int64 (games, seats, events): how often each event happened; None for games that do not count them.
    """

    returns: Array
    shaped: Array
    completed: Array | None = None
    expired: Array | None = None
    events: Array | None = None


def play_games(
    game: FullGame,
    team: Sequence[PolicyFile],
    games: int = 100,
    seed: int = 0,
    mode: str | None = None,
    watch: Callable[[int, Any, Array], None] = lambda t, state, over: None,
    starts: Sequence[int] | None = None,
    max_cycles: int | None = None,
) -> Games:
    """Play whole games with trained policies, each with the observations that it was trained on.

    Args:
        game: Compiled game.
        team: Policy of each seat.
        games: Played at once.
        seed: Of environments and policies.
        mode: How all play; each policy's own mode if None.
        watch: Called before each step with its number, the state of all games and which are over, bool (games,).
        starts: Seed of each environment; seed + i if None.
        max_cycles: Length of the games; the game's own if None.
    """
    batch = BatchEnv(game, games, max_cycles=max_cycles)
    observations, infos = batch.reset(seed if starts is None else starts)
    eyes = [_Eyes(game, file, games) for file in team]
    past = ActionHistory(games, game.n_agents, game.n_actions, max(file.history for file in team))
    rng = np.random.default_rng([seed, 2])
    tally = _Tally(game, batch)
    for t in count_up():
        if batch.over.all():
            break
        watch(t, batch.state, batch.over)
        masks, running = infos["action_mask"], ~batch.over
        actions = [
            file.network.act(
                past.append_to(eyes[seat].look(batch.state, observations), file.history)[:, seat],
                masks[:, seat],
                rng,
                mode or file.mode,
            )
            for seat, file in enumerate(team)
        ]
        past.push(np.stack(actions, 1))
        observations, rewards, _, _, infos = batch.step(np.stack(actions, 1))
        tally.add(rewards, infos, running)
    return tally.games()


class _Tally:
    """Sums over the steps of many games.

    Args:
        game: Compiled game.
        batch: The games.
    """

    def __init__(self, game: FullGame, batch: BatchEnv) -> None:
        self._out = batch.out
        self._returns, self._shaped = np.zeros(batch.num_envs), np.zeros(batch.num_envs)
        self._count_orders: Callable[[Any], Array] | None = getattr(game, "order_counts", None)
        self._count_events: Callable[[Any], Array] | None = (
            getattr(game, "event_counts", None) if getattr(game, "event_names", ()) else None
        )
        self._orders = np.zeros((2, batch.num_envs), np.int64)
        self._events = None if self._count_events is None else np.zeros_like(self._count_events(batch.out), np.int64)

    def add(self, rewards: Array, infos: Mapping[str, Array], running: Array) -> None:
        """Add a step of the games that were running before it, bool (games,)."""
        self._returns += rewards.mean(1) * running
        if "shaped_reward" in infos:
            self._shaped += infos["shaped_reward"].mean(1) * running
        if self._count_orders is not None:
            self._orders += self._count_orders(self._out) * running
        if self._count_events is not None and self._events is not None:
            self._events += self._count_events(self._out) * running[:, None, None]

    def games(self) -> Games:
        """Return the sums; None for what the game does not count."""
        completed, expired = (None, None) if self._count_orders is None else self._orders
        return Games(self._returns, self._shaped, completed, expired, self._events)


class _Eyes:
    """Observations of a policy that was trained on another encoding than the environment's.

    Args:
        game: Compiled game.
        file: The policy.
        games: Size of the batch.
    """

    def __init__(self, game: FullGame, file: PolicyFile, games: int) -> None:
        observer = Observer(game, select_observation(game.id, file.meta["env_kwargs"]))
        self._variant: Any = None if observer.same else observer.variant
        self._out = None if observer.same else observer.variant.alloc(games)[1]

    def look(self, state: Any, observations: Array) -> Array:
        """Return the observations (B, N, ...) of a state."""
        if self._out is None:
            return observations
        self._variant.observe(state, self._out)
        return self._out.observations.reshape(*observations.shape[:2], *self._variant.single_observation_space.shape)
