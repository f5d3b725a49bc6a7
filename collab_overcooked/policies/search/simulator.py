"""Simulation for policies that search: batches of copies of the present state with new random seeds.

A simulator never reveals what the game is going to draw: the generators of all copies are seeded anew, so that a
search over many copies sees many futures, none of which is the true one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from collab_overcooked.envs.api import FullGame, Out, State, clone, rows
from collab_overcooked.envs.batch import read_actions
from collab_overcooked.envs.channel import quiet_arrays
from collab_overcooked.io.checks import parse_integer
from collab_overcooked.kernels.rng import Rng

Array = np.ndarray


@runtime_checkable
class PartiallyObserved(Protocol):
    """Game whose state contains hidden information: unseen objects of teammates, or future orders."""

    def sample_belief(self, state: State, seat: int, rng: np.random.Generator) -> None:
        """Replace everything that a seat does not know by a sample of its belief, in every environment of a batch."""


@runtime_checkable
class UnequallyKnown(Protocol):
    """A game whose tables hold more than a seat may know: recipes that only some seats were given."""

    def known_to(self, seat: int) -> FullGame:
        """Return the game as a seat knows it, for arrays of the same shapes; tables lack all that it does not know."""


class Fork:
    """A batch of copies of an environment that is stepped by the game's own kernels.

    Args:
        game: Compiled game.
        state: Its state, a NamedTuple of arrays with leading axis B.
        out: Outputs of a step, with leading axis B.
        base: Fork whose first rows these are; None for an independent fork.

    Attributes:
        game: As given.
        state: As given; free to be changed.
        out: As given; ``observations`` are valid after ``step`` and ``observe``, not after ``take`` and ``advance``.
    """

    def __init__(self, game: FullGame, state: State, out: Out, base: Fork | None = None) -> None:
        self.game: Any = game  # those of this package are full games, see ``envs.api.FullGame``
        self.state: Any = state
        self.out: Any = out
        self._base = base or self
        self._step: Callable[[], None] | None = None  # bound when first used
        self._advance: Callable[[int], None] | None = None  # for the first rows; only the base has it
        actions = np.zeros((len(state.rng), game.n_agents), np.int32) if base is None else base._actions
        self._actions: Array = actions[: len(state.rng)]

    def __len__(self) -> int:
        """Return B."""
        return len(self.state.rng)

    @property
    def rewards(self) -> Array:
        """Rewards of the last step (B, N)."""
        rewards: Array = self.out.rewards
        return rewards

    @property
    def masks(self) -> Array:
        """Action masks int8 (B, N, A) of the present states."""
        masks: Array = self.out.masks
        return masks

    @property
    def terminated(self) -> Array:
        """Terminated episodes, bool (B,)."""
        terminated: Array = self.out.terminated
        return terminated

    @property
    def truncated(self) -> Array:
        """Truncated episodes, bool (B,)."""
        truncated: Array = self.out.truncated
        return truncated

    def step(self, actions: Array) -> None:
        """Advance all copies by ``actions`` (B, N) int32 in one call; one whose episode is over stays as it is."""
        if self._step is None:
            self._step = self.game.bind(self.state, self._actions, self.out).step
        read_actions(actions, self._actions, self.game.n_actions)
        self._step()

    def advance(self, actions: Array) -> None:
        """Advance like ``step`` without updating observations and masks; faster if a game supports it."""
        base = self._base
        if base._advance is None:
            base._advance = self.game.bind_rows(base.state, base._actions, base.out)
        read_actions(actions, self._actions, self.game.n_actions)
        base._advance(len(self))

    def act_seat(self, actions: Array) -> None:
        """Let the seat whose turn it is act in all copies of a ``SequentialGame``; ``step`` ends the timestep."""
        read_actions(actions, self._actions, self.game.n_actions)
        self.game.act_seat(self.state, self._actions, self.out)

    def observe(self) -> None:
        """Update observations and masks after the state was edited."""
        self.game.observe(self.state, self.out)

    def first(self, count: int) -> Self:
        """Return the first ``count`` copies; they share memory with this fork."""
        return type(self)(self.game, rows(self.state, 0, count), rows(self.out, 0, count), self._base)

    def take(self, source: Fork, which: Sequence[int] | Array) -> Self:
        """Overwrite the first copies with the copies of another fork, including their random state.

        Args:
            source: Fork to copy from; not this fork.
            which: Rows of the source, possibly repeated.

        Returns:
            The copies that were written, sharing memory with this fork.
        """
        target = self.first(len(which))
        for copy, original in zip(target.state, source.state, strict=True):
            np.take(original, which, axis=0, out=copy, mode="clip")  # the other modes copy twice
        for name, copy, original in zip(target.out._fields, target.out, source.out, strict=True):
            if name != "observations":  # large, and of no use to most searches
                np.take(original, which, axis=0, out=copy, mode="clip")
        return target

    def repeat(self, which: Sequence[int] | Array) -> Self:
        """Return new copies of rows of this fork, their random state included."""
        return empty_fork(self.game, len(which)).take(self, which)  # type: ignore[return-value]


class Simulator:
    """Access of a policy that searches to the env that it plays in; always reflects the present state.

    Args:
        game: Compiled game of the env.
        state: The env's state arrays; the first environment counts. Never changed.
        seat: Seat whose belief the copies are sampled from.
        learn: Adds to copies of the state what the seat was told, before its beliefs are sampled. Mutates its argument.
    """

    def __init__(self, game: FullGame, state: State, seat: int, learn: Callable[[Any], None] | None = None) -> None:
        self.game: Any = game
        self._learn = learn
        self.seat, self._live = seat, state
        self._known: Any = game.known_to(seat) if isinstance(game, UnequallyKnown) else game
        self._believes = isinstance(game, PartiallyObserved)

    @property
    def env(self) -> int:
        """Id of the env, the key under which the policies of its seats share data."""
        return id(self._live)

    def quiet(self, learn: Callable[[Any], None] | None = None) -> Simulator:
        """Return the simulator of the game without its channel, in which a seat knows what it was told."""
        return Simulator(self.game.quiet, quiet_arrays(self._live), self.seat, learn)

    @property
    def state(self) -> Any:
        """The present state as a batch of one, without future random draws; a copy, for policies that read it."""
        state = clone(self._live, 0)
        self._forget(state, 0, False)
        return state

    def fork(self, n: int, seed: int, cheat: bool = False) -> Fork:
        """Return copies of the present state.

        Args:
            n: Number of copies.
            seed: Seed of all future random draws, which differ between copies.
            cheat: Also copy state and use rules that the seat does not know, for upper bounds; future random draws
                stay unknown.

        Raises:
            ValueError: If n is below 1 or the seed below 0.
        """
        fork = empty_fork(self.game if cheat else self._known, parse_integer("n", n, 1))
        for copy, live in zip(fork.state, self._live, strict=True):
            copy[:] = live[:1]
        self._forget(fork.state, parse_integer("seed", seed, 0), cheat)
        fork.observe()
        return fork

    def _forget(self, state: State, seed: int, cheat: bool) -> None:
        sequence = np.random.SeedSequence(seed)
        seeds = sequence.generate_state(2 * len(state.rng), np.uint32).view(np.int32)
        state.rng[:, [Rng.LOW, Rng.HIGH]] = seeds.reshape(-1, 2)
        state.rng[:, Rng.COUNT] = 0
        if self._learn is not None and not cheat:
            self._learn(state)
        if self._believes and not cheat:
            self.game.sample_belief(state, self.seat, np.random.default_rng(sequence))


def empty_fork(game: FullGame, n: int) -> Fork:
    """Return memory for ``n`` copies, to be filled by ``Fork.take``."""
    return Fork(game, *game.alloc(n))
