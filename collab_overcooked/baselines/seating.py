"""Seats of learners and partners in a batch: seats and partners are drawn anew for every episode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from collab_overcooked.baselines.settings import TrainingSettings

Array = np.ndarray
KEPT = 0.95  # share of a running mean that a new return leaves


def learner_rows(settings: TrainingSettings, n_agents: int) -> list[int]:
    """Return the number of rows of each learner."""
    if settings.weights == "own":
        return [settings.environments] * n_agents
    return [settings.environments * (1 if settings.has_partners else n_agents)]


class SeatAssignment:
    """Flat rows ``e * N + i`` of each learner and of each partner.

    Roles are numbered: role r of environment e sits in seat ``(first[e] + r) % N``. Learners hold the first roles and
    partners the others, each drawn with the same probability or by ``settings.priority``, but the learner's copy beside
    others with its own.
    ``first`` is drawn where seats matter: beside partners, and where learners are paid differently. Each learner then
    has one row per environment, always in the same column of its buffer, so that a change of seats between two episodes
    does not break advantages.

    Args:
        settings: Says whether learners share weights and how they are paid.
        n_agents: N.
        partner_seats: For each fixed policy its only seat, or None for any seat; in games of two agents.

    Attributes:
        first: int64 (E,), seat of role 0.
        partner: int64 (E, N), partner in each role, -1 for learners.
        learners: Rows of each learner, one per environment; ``slice(None)`` if one learner holds all seats.
        partners: Rows of each partner in this step, some possibly empty.
        means: Running mean of the returns beside each partner, float64 (partners,), -inf before the first.
    """

    def __init__(self, settings: TrainingSettings, n_agents: int, partner_seats: Sequence[int | None]) -> None:
        self.environments = settings.environments
        self.n_agents = n_agents
        self.n_partners = len(partner_seats)
        if n_agents > 2 and any(seat is not None for seat in partner_seats):
            raise ValueError(f"partners: beside {n_agents} agents a partner must be trained for any seat, not for one")
        self._only_seat = np.array([-1 if seat is None else seat for seat in partner_seats], np.int64)
        self.n_learners = len(learner_rows(settings, n_agents))
        self._copy_share = settings.copy_share if settings.copy_rate and self.n_partners > 1 else None
        self._priority, self.means = settings.priority, np.full(self.n_partners, -np.inf)
        self.all_seats = self.n_learners == 1 and not self.n_partners
        self.drawn = bool(self.n_partners or settings.preferences)
        self.first = np.zeros(self.environments, np.int64)
        self.partner = np.full((self.environments, n_agents), -1, np.int64)
        self._assign()

    def draw(self, which: Array, rng: np.random.Generator) -> None:
        """Draw seats and partners of environments, bool (E,), that start an episode."""
        count = int(which.sum())
        if not self.drawn or not count:
            return
        self.first[which] = rng.integers(self.n_agents, size=count)
        if self.n_partners:
            roles = (count, self.n_agents - self.n_learners)
            others = self.n_partners - (self._copy_share is not None)  # the copy is the last partner
            if self._priority:
                partner = rng.choice(others, roles, p=self.probabilities(others))
            else:
                partner = rng.integers(others, size=roles)
            if self._copy_share is not None:
                partner[rng.random(roles) < self._copy_share] = others
            self.partner[which, self.n_learners :] = partner
            only = self._only_seat[self.partner[:, 1]]
            self.first = np.where(which & (only >= 0), (only - 1) % self.n_agents, self.first)
        self._assign()

    def probabilities(self, others: int) -> Array:
        """Return the probability of each of the first partners under ``settings.priority``, float64 (others,)."""
        _, ranks = np.unique(-self.means[:others], return_inverse=True)  # dense, 0 beside whom most is earned
        weights: Array = (1.0 + ranks) ** self._priority
        return weights / weights.sum()

    def note(self, environment: int, earned: float) -> None:
        """Take the return of an environment's episode into the means of its partners."""
        for k in set(self.partner[environment].tolist()) - {-1}:
            known = np.isfinite(self.means[k])
            self.means[k] = KEPT * self.means[k] + (1 - KEPT) * earned if known else earned

    def _assign(self) -> None:
        start = np.arange(self.environments) * self.n_agents
        rows = start[:, None] + (self.first[:, None] + np.arange(self.n_agents)) % self.n_agents
        self.learners: list[Any] = [slice(None)] if self.all_seats else list(rows[:, : self.n_learners].T)
        self.partners = [rows[self.partner == k] for k in range(self.n_partners)]

    @property
    def held(self) -> Array:
        """Partner in each seat, int64 (E, N), -1 for learners."""
        seats = (np.arange(self.n_agents) - self.first[:, None]) % self.n_agents  # role of each seat
        return np.take_along_axis(self.partner, seats, axis=1)

    def save(self) -> dict[str, Array]:
        """Return the seats, as arrays."""
        return {"first": self.first, "partner": self.partner, "means": self.means}

    def load(self, arrays: dict[str, Array]) -> None:
        """Restore the state that ``save`` returned."""
        self.first[...] = arrays["first"]
        self.partner[...] = arrays["partner"]
        self.means[...] = arrays["means"]
        self._assign()
