"""The contracts between games and everything that plays them, and copies of moments.

A game is a set of compiled tables with functions over a batch of B environments. Shells own the arrays, check actions
and speak a trainer's dialect; they hold no rule.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import gymnasium
import numpy as np

Arrays = TypeVar("Arrays", bound=tuple[np.ndarray, ...])


class State(Protocol):
    """One moment of B environments: a NamedTuple of arrays with leading axis B, of which shells know one."""

    @property
    def rng(self) -> np.ndarray:
        """Each environment's generator, (B, 3) int32, see ``kernels.rng``."""


class Out(Protocol):
    """What a step writes: a NamedTuple of arrays with leading axis B, of which shells know these.

    It may have ``shaped`` (B, N) as well, each agent's own shaped reward, which shells pass on as ``shaped_reward`` in
    the infos.
    """

    @property
    def observations(self) -> np.ndarray:
        """(B, N, L)."""

    @property
    def masks(self) -> np.ndarray:
        """(B, N, A) int8."""

    @property
    def rewards(self) -> np.ndarray:
        """(B, N) of a floating type."""

    @property
    def terminated(self) -> np.ndarray:
        """(B,) bool."""

    @property
    def truncated(self) -> np.ndarray:
        """(B,) bool."""


class ActionError(ValueError):
    """A text that is no action of a game.

    Attributes:
        code: Reason code, ``F_...``.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class BoundBatch(NamedTuple):
    """A game's functions with the arrays of one batch, which must not be replaced; see ``Game.bind``.

    Attributes:
        step: Does what ``Game.step`` does with these arrays.
        reset: Does what ``Game.reset`` does with them; takes ``which``, ``options`` and ``max_cycles``.
    """

    step: Callable[[], None]
    reset: Callable[..., None]


@runtime_checkable
class Game(Protocol):
    """The engine of a game: what shells and trainers need.

    Attributes:
        id: Registered id.
        kwargs: Options that make this game again.
        n_agents: N.
        n_actions: A, the same for all agents.
        single_observation_space: Box of one agent's observation.
        single_action_space: Discrete(A).
        state_space: Box of the global state.
        max_cycles: Longest episode, in steps.
        exact_masks: Whether masks allow just what a step would accept in the present state.
    """

    id: str
    kwargs: dict[str, Any]
    n_agents: int
    n_actions: int
    single_observation_space: gymnasium.spaces.Box[Any]
    single_action_space: gymnasium.spaces.Discrete
    state_space: gymnasium.spaces.Box[Any]
    max_cycles: int
    exact_masks: bool

    def alloc(self, batch_size: int) -> tuple[Any, Any]:
        """Return ``State`` and ``Out`` of a batch; call ``reset`` before ``step``."""

    def reset(
        self,
        state: Any,
        out: Any,
        which: np.ndarray,
        options: Mapping[str, Any] | None = None,
        max_cycles: int | None = None,
    ) -> None:
        """Start new episodes where ``which`` (B,) bool says so; ``state.rng`` must have been seeded."""

    def step(self, state: Any, actions: np.ndarray, out: Any) -> None:
        """Advance all environments by ``actions`` (B, N) int32; one that is over stays as it is."""

    def observe(self, state: Any, out: Any) -> None:
        """Write observations and masks of a state, which may come from a game that differs in its observations only."""

    def bind(self, state: Any, actions: np.ndarray, out: Any) -> BoundBatch:
        """Return ``step`` and ``reset`` with the arrays of a batch; whoever steps a batch often saves time by it."""
        return BoundBatch(functools.partial(self.step, state, actions, out), functools.partial(self.reset, state, out))

    def rejections(self, state: Any, out: Any) -> np.ndarray:
        """Return why actions of the last step were refused, (B, N) int32, 0 where they were not; a view of ``out``."""

    def state_vector(self, state: Any, i: int) -> np.ndarray:
        """Return the global state of environment ``i``."""

    def state_vectors(self, state: Any) -> np.ndarray:
        """Return the global states of all environments, (B, S)."""
        return np.stack([self.state_vector(state, i) for i in range(len(state.rng))])

    def render(self, state: Any, i: int, mode: str, seat: int | None = None) -> Any:
        """Return a picture, of what a seat may know if one is given: uint8 (H, W, 3) or, for ``"ansi"``, str."""


@runtime_checkable
class TextGame(Protocol):
    """The words of a game, for language agents and people."""

    def names(self) -> list[str]:
        """Return the names of all things that texts can speak of; a lexicon must have words for them."""

    def action_texts(self, state: Any = None, i: int = 0, seat: int = 0) -> list[str]:
        """Return the text of every action of a seat, by id, as it is in environment ``i``, or at the start.

        A seat that has fewer than A actions has no text for the rest; their masks are always 0.
        """

    def action_labels(self, state: Any = None, i: int = 0, seat: int = 0) -> list[str]:
        """Return every action as people read it, by id; ``parse`` reads these as well as the texts."""
        return self.action_texts(state, i, seat)

    def parse(self, text: str, state: Any = None, i: int = 0, seat: int = 0) -> int:
        """Return the id that a text of a seat names in environment ``i``; without a state, at the start.

        Ids from A on are well formed but never possible.

        Raises:
            ActionError: With a reason code and a helpful message.
        """

    def parse_plan(self, plan: str, seat: int = 0) -> tuple[list[str], list[str]]:
        """Return the texts of a seat's plan: actions to carry out step by step, and actions asked of teammates."""

    def idle_action(self, seat: int = 0) -> int:
        """Return the id of doing nothing for one step, for a seat."""
        return 0

    def talk_action(self, seat: int, characters: int) -> int | None:
        """Return the action that a seat owes for words of so many characters; None where words cost nothing."""
        return None

    def talk_actions(self, seat: int) -> Sequence[int]:
        """Return all actions that pay for words and do nothing else; empty where words cost nothing."""
        return ()

    def orderable(self) -> Sequence[str]:
        """Return the names of what may be ordered from outside, see ``order_next``; empty where nothing may."""
        return ()

    def order_next(self, state: Any, i: int, names: Sequence[str]) -> None:
        """Let these be the next orders to come in environment ``i``, in turn; after them the game's own come again.

        Raises:
            ValueError: For a name that is not in ``orderable``, or too many.
        """
        raise ValueError("nothing can be ordered in this game")

    def check(self, state: Any, i: int, seat: int, action: int, earlier: Sequence[int] = ()) -> tuple[str, str]:
        """Return reason code (``"OK"`` if accepted) and message for an action of a seat in environment ``i``.

        ``earlier`` are the actions that the seats before it take in the same step, where these are known; they matter
        to games that carry them out one after the other.
        """

    def describe(self, state: Any, i: int, seat: int) -> str:
        """Return what a seat sees, in words."""

    def seen(self, state: Any, i: int, seat: int) -> Any:
        """Return what a seat may know of environment ``i``, an ``envs.seen.SeatView``.

        Its words are made from the state when they are first read: give a copy if the environment goes on.
        """

    def manual(self, state: Any = None, i: int = 0, seat: int = 0) -> str:
        """Return what a seat should know of the rules in environment ``i``; without a state, at the start.

        Empty if there is none for the game's options.
        """
        return ""


@runtime_checkable
class Replayable(Protocol):
    """What records of a game are written from."""

    def events(self, out: Any, i: int) -> list[dict[str, Any] | None]:
        """Return what each agent brought about in the last step, in words."""

    def is_success(self, out: Any, i: int) -> bool:
        """Tell whether the last step brought the success of an episode; its end is that where nothing can be lost."""
        return bool(out.terminated[i])

    def scene(self, state: Any, i: int) -> dict[str, Any]:
        """Return environment ``i`` as words and numbers fit for JSON."""

    def seat_scene(self, scene: dict[str, Any], seat: int) -> dict[str, Any]:
        """Return a scene without what a seat may not know; pictures and words for the seat are made from it."""
        return scene


@runtime_checkable
class FullGame(Game, TextGame, Replayable, Protocol):
    """A game that any policy can play, in numbers or words, and that can be recorded; all of this package are."""


@runtime_checkable
class SequentialGame(Game, Protocol):
    """A game in which an agent's action takes effect before the next agent of the same step chooses.

    Played whole steps at a time it gives the same results for the same actions.
    """

    def seat_to_act(self, state: Any, i: int) -> int:
        """Return whose turn it is in environment ``i``: 0 unless some seats have acted in this step already."""

    def act_seat(self, state: Any, actions: np.ndarray, out: Any) -> None:
        """Let the seat whose turn it is take its action of ``actions`` (B, N) int32 in every environment.

        It is never the last seat's turn: ``step`` lets all that have not yet acted do so, and ends the step.
        """


def clone(state: Arrays, i: int) -> Arrays:
    """Return a copy of environment ``i`` as a batch of one."""
    return type(state)(*(array[i : i + 1].copy() for array in state))


def restore(state: Any, i: int, snapshot: Any) -> None:
    """Write a clone back into environment ``i``."""
    for array, saved in zip(state, snapshot, strict=True):
        array[i] = saved[0]


def rows(arrays: Arrays, start: int, stop: int) -> Arrays:
    """Return views of environments ``start`` to ``stop - 1`` of a state or an out."""
    return type(arrays)(*(array[start:stop] for array in arrays))


class Snapshot(NamedTuple):
    """A moment of one environment, single or in a batch: state, out and living agents."""

    state: Any
    out: Any
    agents: tuple[str, ...]
