"""Batches with one learner in each environment and policies in the other seats, for trainers of single agents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from collab_overcooked.envs.api import FullGame, Snapshot, shaped_rewards
from collab_overcooked.envs.batch import BatchEnv, ResetOptions
from collab_overcooked.evaluation.partner_pool import read_partner_pool
from collab_overcooked.io.checks import parse_integer, quote_value
from collab_overcooked.policies.api import Policy
from collab_overcooked.policies.batch_views import Views
from collab_overcooked.policies.batched import ALONE, Seat, ask_seat, make_seat, plays_in_batches
from collab_overcooked.policies.specs import PolicySpec, make_known_policy

Array = np.ndarray
Infos = dict[str, Any]
LEARNER = "learner"


class PolicySeats:
    """Policies in seats of a batch, which may change with every episode.

    Args:
        batch: The environments, at the start of their episodes.
        makers: For each policy a function that returns a new one, for which ``plays_in_batches`` holds; None for those
            that are never begun.
        names: Names of the policies.
    """

    def __init__(self, batch: BatchEnv, makers: Sequence[Callable[[], Policy] | None], names: Sequence[str]) -> None:
        self._batch = batch
        self._makers = makers
        self._names = names
        self._views, self._timestep = Views(batch), np.zeros(batch.num_envs, np.int64)
        self._seats: dict[tuple[int, int], Seat] = {}  # by policy and seat

    def restart(self, started: Array) -> None:
        """Forget the past of episodes, bool (E,), that begin anew; ``begin`` seats their policies."""
        self._views.restart(started)
        self._timestep[started] = 0

    def begin(self, k: int, seat: int, e: int, seed: int) -> None:
        """Put policy k into a seat of environment e."""
        if (k, seat) in self._seats:
            self._seats[k, seat].restart(e, seed)
        else:
            n, make = self._batch.game.n_agents, self._makers[k]
            assert make is not None
            names = tuple("?" if other != seat else self._names[k] for other in range(n))
            self._seats[k, seat] = make_seat(make, self._views, seat, names, {e: seed})

    def act(self, held: Array) -> Array:
        """Return actions, int64 (E, N), of the policies in ``held``, int64 (E, N); other seats take any legal one.

        Raises:
            ValueError: A policy chose an action outside its mask.
        """
        masks = self._batch.out.masks
        actions: Array = masks.argmax(-1).astype(np.int64)  # the only action of seats without a choice
        running = ~self._batch.over
        for (k, number), seat in self._seats.items():
            ask_seat(seat, number, running & (held[:, number] == k), masks, self._timestep, actions)
            if (actions[:, number] == ALONE).any():
                raise ValueError(f"partners: {self._names[k]} answered with something else than an action of its mask")
        return actions

    def advance(self, joint: Array) -> None:
        """Log the actions (E, N) of a step."""
        self._views.advance(joint)
        self._timestep += 1


class PartnerBatch(BatchEnv):
    """Batch in which a learner plays one seat of each environment and partner policies play the other seats.

    The learner's seat and the partners are drawn anew for every episode, each with the same probability, and stay
    unknown to the partners. All arrays are those of a ``BatchEnv`` with N = 1: the learner's. ``states`` are the whole
    game's. Infos have ``seat``, the learner's, and ``partner``, of the seat after it, the number in ``partner_names``,
    both int32 (E, 1). The seed of ``reset`` seeds draws and partners, too.

    Args:
        game: Compiled game.
        num_envs: E.
        partners: Policy specs, such as ``"greedy"`` and ``"ppo:FILE"``; ``"POOL#NAME"`` for a partner of a pool and
            ``"POOL"`` for all of its split ``train``; or functions without arguments that return a new ``Policy``.
        options: Options of ``BatchEnv``.

    Attributes:
        partner_names: Names of the partners that are drawn.

    Raises:
        ValueError: For a game of one agent, no partners, an unknown one, or one that cannot play in a batch, see
            ``policies.batched.plays_in_batches``.
    """

    def __init__(self, game: FullGame, num_envs: int, partners: Any, **options: Any) -> None:
        super().__init__(game, num_envs, **options)
        if game.n_agents < 2:
            raise ValueError(f"partners: this {game.id} has one agent; choose a game of two or more, such as agents=2")
        if isinstance(partners, (str, bytes)) or not isinstance(partners, Sequence) or not partners:
            raise ValueError(f"partners must be a list of policy specs or functions, not {quote_value(partners)}")
        entries = [entry for partner in partners for entry in _entries(partner, game)]
        self.partner_names = tuple(name for name, _, _ in entries)
        self._makers = [make for _, make, _ in entries]
        self._only_seat = np.array([-1 if seat is None else seat for _, _, seat in entries])
        for name, make, _ in entries:
            if not plays_in_batches(make(), game.id):
                raise ValueError(
                    f"partners: {name} cannot play in a batch of environments of {game.id}; "
                    "policy files, random and policies with batched = True can"
                )
        self._rng = np.random.default_rng()
        self._seat = np.zeros(self.num_envs, np.int64)
        self._partner = np.full((self.num_envs, game.n_agents), -1)  # by seat
        self._policies: PolicySeats | None = None
        self.n_agents, self.possible_agents = 1, [LEARNER]

    def reset(
        self,
        seed: int | Sequence[int] | None = None,
        options: ResetOptions = None,
        which: Array | Sequence[bool] | None = None,
        copy: bool = False,
    ) -> tuple[Array, Infos]:
        """Start episodes with new seats and partners; see ``BatchEnv.reset``."""
        super().reset(seed, options, which)
        if seed is not None:
            first = seed if np.ndim(seed) == 0 else list(seed)  # type: ignore[arg-type]
            self._rng = np.random.default_rng([parse_integer("seed", n, 0) for n in np.atleast_1d(first).tolist()])
        started = np.ones(self.num_envs, np.bool_) if which is None else np.asarray(which)
        self._draw(started)
        return self._observed(copy)

    def _draw(self, started: Array) -> None:
        if self._policies is None:
            self._policies = PolicySeats(self, self._makers, self.partner_names)
        self._policies.restart(started)
        n = self.game.n_agents
        for e in np.flatnonzero(started).tolist():
            self._seat[e] = self._rng.integers(n)
            drawn = self._rng.integers(len(self._makers), size=n)
            if (seat := self._only_seat[drawn[0]]) >= 0:  # of two agents
                self._seat[e] = (seat + 1) % n
            self._partner[e] = np.roll(drawn, self._seat[e] + 1)
            self._partner[e, self._seat[e]] = -1
            for seat, k in enumerate(self._partner[e].tolist()):
                if k >= 0:
                    self._policies.begin(k, seat, e, int(self._rng.integers(2**31)))

    def step(self, actions: Any, copy: bool = False) -> tuple[Array, Array, Array, Array, Infos]:
        """Advance by the learners' actions (E, 1) and their partners' actions; see ``BatchEnv.step``.

        Raises:
            ValueError: The batch was not reset, or actions have another shape.
        """
        requested = np.asarray(actions)
        if requested.shape != (self.num_envs, 1):
            raise ValueError(f"actions must have shape {(self.num_envs, 1)} (environments, 1), not {requested.shape}")
        if self._policies is None:
            raise ValueError("call reset before step")
        joint = self._policies.act(self._partner).astype(np.result_type(requested, np.int64))
        joint[np.arange(self.num_envs), self._seat] = requested[:, 0]
        _, rewards, terminated, truncated, _ = super().step(joint)
        self._policies.advance(joint)
        ended = (terminated.copy(), truncated.copy()) if copy else (terminated, truncated)
        return (
            self._of_agents(self.out.observations.reshape(self._shape)),
            self._of_agents(rewards),
            *ended,
            self._infos(),
        )

    def _of_agents(self, array: Array) -> Array:
        rows: Array = array[np.arange(self.num_envs), self._seat][:, None]
        return rows

    def _observed(self, copy: bool) -> tuple[Array, Infos]:
        return self._of_agents(self.out.observations.reshape(self._shape)), self._infos()

    def _infos(self) -> Infos:
        infos: Infos = {
            "action_mask": self._of_agents(self.out.masks),
            "rejected": self._of_agents(self.game.rejections(self.state, self.out)),
        }
        if (shaped := shaped_rewards(self.out)) is not None:
            infos["shaped_reward"] = self._of_agents(shaped)
        if self.layout_names:
            infos["layout"] = self.layout_numbers()[:, None].copy()
        after = (self._seat + 1) % self.game.n_agents
        partner = self._partner[np.arange(self.num_envs), after]
        return infos | {"seat": self._seat[:, None].astype(np.int32), "partner": partner[:, None].astype(np.int32)}

    def restore(self, i: int, snapshot: Snapshot) -> None:
        """Raise an error: partners would continue with memory of a different episode."""
        raise ValueError("a batch with partners cannot be restored; restore a batch without, and ask policies yourself")

    def action_masks(self) -> Array:
        """Return the learners' masks as a new array, bool (E, 1, A)."""
        return self._of_agents(self.out.masks).astype(np.bool_)


def _entries(partner: Any, game: FullGame) -> list[tuple[str, Callable[[], Policy], int | None]]:
    if callable(partner):
        return [(str(getattr(partner, "__name__", partner)), partner, None)]
    if not isinstance(partner, str):
        raise ValueError(f"partners must be policy specs or functions that return a policy, not {quote_value(partner)}")
    source, mark, name = partner.partition("#")
    if not mark and PolicySpec.parse(partner).permit().is_known:
        return [(partner, partial(make_known_policy, partner), None)]
    pool = read_partner_pool(source)
    if pool.env_id != game.id:
        raise ValueError(f"partners: the pool {source} is for {pool.env_id}, not {game.id}")
    chosen = [pool.partner(name)] if mark else list(pool.select("train"))
    if not chosen:
        raise ValueError(f"partners: the pool {source} has no partner of split train; name one, {source}#NAME")
    if game.n_agents > 2 and any(partner.seat is not None for partner in chosen):
        raise ValueError(f"partners: the pool {source} has partners of one seat, for games of two agents")
    return [
        (f"{source}#{partner.name}", partial(make_known_policy, pool.spec(partner)), partner.seat) for partner in chosen
    ]
