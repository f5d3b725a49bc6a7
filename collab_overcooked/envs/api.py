"""Protocols between games and their users, and snapshots of states.

A game is a set of compiled tables with functions over a batch of B environments. Envs own the arrays, check actions and
implement a trainer's interface; they contain no rules.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeGuard, TypeVar, runtime_checkable

import gymnasium
import numpy as np

from collab_overcooked.game_spec import PLAIN
from collab_overcooked.io.config import Config


class ArrayTuple(Protocol):
    """A NamedTuple of arrays with leading axis B."""

    @property
    def _fields(self) -> tuple[str, ...]: ...

    @property
    def _field_defaults(self) -> dict[str, Any]: ...

    def __init__(self, *arrays: np.ndarray) -> None: ...

    def _asdict(self) -> dict[str, np.ndarray]: ...

    def __iter__(self) -> Iterator[np.ndarray]: ...


Arrays = TypeVar("Arrays", bound=ArrayTuple)


class State(ArrayTuple, Protocol):
    """State of B environments: a NamedTuple of arrays with leading axis B. Envs access only ``rng``."""

    @property
    def rng(self) -> np.ndarray:
        """State of each environment's random generator, (B, 3) int32, see ``kernels.rng``."""


class Out(ArrayTuple, Protocol):
    """Outputs of a step: a NamedTuple of arrays with leading axis B. Envs access only these.

    An optional field ``shaped`` (B, N) holds each agent's shaped reward, see ``shaped_rewards``, which envs return as
    ``shaped_reward`` in the infos.
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


class CompiledOut(Out, Protocol):
    """Outputs of a step of a ``CompiledGame``."""

    @property
    def events(self) -> np.ndarray:
        """(B, N, columns) int32, the first of which are ``kernels.events.EventField``."""

    @property
    def fresh(self) -> np.ndarray:
        """(B,) bool: environments whose observations and masks are to be written."""


StateT = TypeVar("StateT", bound=State)
OutT = TypeVar("OutT", bound=Out)
CompiledOutT = TypeVar("CompiledOutT", bound=CompiledOut)
StateT_contra = TypeVar("StateT_contra", bound=State, contravariant=True)
OutT_contra = TypeVar("OutT_contra", bound=Out, contravariant=True)


class ActionError(ValueError):
    """Text that is not an action of the game.

    Attributes:
        code: Reason code, ``F_...``.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def refusal_code(error: ValueError) -> str:
    """Return the reason code of text that a game refuses; ``"UNREADABLE"`` without one."""
    return error.code if isinstance(error, ActionError) else "UNREADABLE"


class BoundBatch(NamedTuple):
    """A game's functions bound to the arrays of one batch, which must not be replaced; see ``Game.bind``."""

    step: Callable[[], None]  # ``Game.step`` with these arrays
    reset: Callable[..., None]  # ``Game.reset`` with these arrays; takes ``which``, ``options`` and ``max_cycles``
    act: Callable[[], None] | None = None  # ``SequentialGame.act_seat`` with these arrays, if it is faster bound


@runtime_checkable
class Game(Protocol[StateT, OutT]):
    """Engine of a game, as required by envs and trainers.

    Its parameters are the classes of its state and out; a game without them takes any.

    Attributes:
        config_class: Class of its options.
        id: Registered id.
        kwargs: Options that recreate this game.
        n_agents: N.
        n_actions: A, the same for all agents.
        single_observation_space: Box of one agent's observation.
        single_action_space: Discrete(A).
        state_space: Box of the global state.
        max_cycles: Maximum length of an episode in steps.
        exact_masks: Whether masks allow exactly the actions that a step would accept in the current state if the other
            agents waited.
        compiled: Compiled data of the game, with its read-only ``tables``.
        layout_names: Layouts of a pool from which episodes draw; empty for games with one layout.
        deterministic: Whether nothing is left to chance by these options, so that seeds change nothing.
    """

    config_class: type[Config]
    id: str
    kwargs: dict[str, Any]
    n_agents: int
    n_actions: int
    single_observation_space: gymnasium.spaces.Box[Any]
    single_action_space: gymnasium.spaces.Discrete
    state_space: gymnasium.spaces.Box[Any]
    max_cycles: int
    exact_masks: bool
    compiled: Any
    layout_names: tuple[str, ...] = ()
    deterministic: bool = False

    def alloc(self, batch_size: int) -> tuple[StateT, OutT]:
        """Return ``State`` and ``Out`` of a batch; call ``reset`` before ``step``."""

    def reset(
        self,
        state: StateT,
        out: OutT,
        which: np.ndarray,
        options: Mapping[str, Any] | None = None,
        max_cycles: int | None = None,
    ) -> None:
        """Start new episodes in the environments selected by ``which`` (B,) bool; ``state.rng`` must be seeded."""

    def step(self, state: StateT, actions: np.ndarray, out: OutT) -> None:
        """Advance all environments by ``actions`` (B, N) int32; finished ones do not change."""

    def observe(self, state: StateT, out: OutT) -> None:
        """Write observations and masks of a state, possibly of a game that differs only in its observations."""

    def bind(self, state: StateT, actions: np.ndarray, out: OutT) -> BoundBatch:
        """Return ``step`` and ``reset`` bound to the arrays of a batch, which makes frequent calls faster."""
        return BoundBatch(functools.partial(self.step, state, actions, out), functools.partial(self.reset, state, out))

    def bind_rows(self, state: StateT, actions: np.ndarray, out: OutT) -> Callable[[int], None]:
        """Return a function of ``n`` that advances the first ``n`` environments of a batch by one timestep.

        The function need not write observations and masks.
        """
        return lambda n: self.step(rows(state, 0, n), actions[:n], rows(out, 0, n))

    def layout_numbers(self, state: StateT) -> np.ndarray:
        """Return the number of each environment's layout in ``layout_names``, (B,) int32, a view of the state."""
        raise NotImplementedError

    def bind_observe(self, state: StateT, out: OutT) -> Callable[[], None]:
        """Return ``observe`` bound to the arrays of a batch, which makes frequent calls faster."""
        return functools.partial(self.observe, state, out)

    def rejections(self, state: StateT, out: OutT) -> np.ndarray:
        """Return the last step's reason codes, (B, N) int32, 0 for accepted actions; a view of ``out``."""

    def state_vector(self, state: StateT, i: int) -> np.ndarray:
        """Return the global state of environment ``i``."""

    def state_vectors(self, state: StateT) -> np.ndarray:
        """Return the global states of all environments, (B, S)."""
        return np.stack([self.state_vector(state, i) for i in range(len(state.rng))])

    def render(self, state: StateT, i: int, mode: str, seat: int | None = None) -> Any:
        """Render the full state or a seat's knowledge of it: uint8 (H, W, 3) or, for ``"ansi"``, str."""


@runtime_checkable
class TextGame(Protocol[StateT_contra]):
    """Text interface of a game, for language agents and people.

    Attributes:
        has_duration: Whether steps differ in length, so that ``clock`` does not count them.
        language: Name of the lexicon that texts use by default; ``PLAIN`` for none.
        tutorial: Steps of a guided first round: the name of a text on pages, a regular expression for the event that
            completes the step, its ``signature`` after ``"team: "`` if it is a teammate's, and one for the places
            that the page marks on the board, see ``render.model.BoardCell.names``, empty if it marks none.
    """

    has_duration: bool = False
    language: str = PLAIN
    tutorial: tuple[tuple[str, str, str], ...] = ()

    @property
    def display_names(self) -> tuple[str, ...]:
        """Names of the seats in texts."""

    def tutorial_for(self, seat: int) -> tuple[tuple[str, str, str], ...]:
        """Return the steps of ``tutorial`` that a seat can complete."""
        return self.tutorial

    def names(self) -> list[str]:
        """Return the names of all objects that texts can mention; a lexicon must translate them."""

    def action_texts(self, state: StateT_contra | None = None, i: int = 0, seat: int = 0) -> list[str]:
        """Return the text of every action of a seat, by id, in environment ``i``; without a state, at the start.

        A seat with fewer than A actions has no text for the rest; their masks are always 0.
        """

    def action_labels(self, state: StateT_contra | None = None, i: int = 0, seat: int = 0) -> list[str]:
        """Return the label of every action for people, by id; ``parse`` accepts labels as well as texts."""
        return self.action_texts(state, i, seat)

    def parse(self, text: str, state: StateT_contra | None = None, i: int = 0, seat: int = 0) -> int:
        """Return the id of a seat's action text in environment ``i``; without a state, at the start.

        Ids from A on stand for texts that are well formed but never possible.

        Raises:
            ActionError: With a reason code and a helpful message.
        """

    def parse_plan(self, plan: str, seat: int = 0) -> tuple[list[str], list[str]]:
        """Return the texts of a seat's plan: actions to execute step by step, and actions requested of teammates."""

    def join_plan(self, actions: Sequence[str]) -> tuple[str, ...]:
        """Return the actions of a plan in their written form, the inverse of ``parse_plan``."""
        return tuple(actions)

    def idle_action(self, seat: int = 0) -> int:
        """Return the id of a seat's action that does nothing for one step."""
        return 0

    def talk_action(self, seat: int, characters: int) -> int | None:
        """Return the action that pays for a message of this length; None in games where messages are free."""
        return None

    def talk_actions(self, seat: int) -> Sequence[int]:
        """Return all actions that only pay for messages; empty in games where messages are free."""
        return ()

    def orderable(self) -> Sequence[str]:
        """Return the names that ``order_next`` accepts; empty in games without external orders."""
        return ()

    def order_next(self, state: StateT_contra, i: int, names: Sequence[str]) -> None:
        """Set the next orders of environment ``i``; after them the game draws its own orders again.

        Raises:
            ValueError: For a name that is not in ``orderable``, or too many.
        """
        raise ValueError("this game does not accept orders")

    def turn_order(self, state: StateT_contra, i: int) -> Sequence[int]:
        """Return the seats in the order in which their commands of the next step are carried out, if it can be set."""
        return ()

    def set_turn_order(self, state: StateT_contra, i: int, seats: Sequence[int]) -> None:
        """Set the order in which the seats' commands of the next step are carried out; later steps have the default.

        Raises:
            ValueError: If a seat is missing, or the game has a fixed order.
        """
        raise ValueError("turn_order: the order of the seats is fixed in this game")

    def check(
        self, state: StateT_contra, i: int, seat: int, action: int, earlier: Sequence[int] = ()
    ) -> tuple[str, str]:
        """Return reason code (``"OK"`` if accepted) and message for an action of a seat in environment ``i``.

        ``earlier`` are the known actions in the same step by seat, -1 for unknown ones; they matter in games that
        execute actions one after the other, for the seats before this one in turn order.
        """

    def describe(self, state: StateT_contra, i: int, seat: int) -> str:
        """Describe a seat's observation as text."""

    def clock(self, state: StateT_contra, i: int, timestep: int) -> str:
        """Return the time of environment ``i`` after ``timestep`` steps as its texts name it, such as ``"turn 2"``."""
        return f"timestep {timestep}"

    def seen(self, state: StateT_contra, i: int, seat: int) -> Any:
        """Return a seat's knowledge of environment ``i``, an ``envs.seen.SeatView``.

        Its texts are generated from the state on first access: pass a copy if the environment continues.
        """

    def manual(self, state: StateT_contra | None = None, i: int = 0, seat: int = 0) -> str:
        """Return the rules for a seat in environment ``i``; without a state, at the start.

        Empty if the game's options have no manual.
        """
        return ""


@runtime_checkable
class Replayable(Protocol[StateT_contra, OutT_contra]):
    """Source of a game's records.

    Attributes:
        events_are_bits: Whether the codes of ``event_numbers`` are bits, several in a step, not numbers.
        event_names: Names of the events that ``event_numbers`` encodes; empty for games that do not count events.
    """

    events_are_bits: bool = False

    @property
    def event_names(self) -> tuple[str, ...]:
        return ()

    def event_numbers(self, out: OutT_contra) -> np.ndarray:
        """Return the event code of each seat in the last step, (B, N) int32."""
        raise NotImplementedError

    def events(self, out: OutT_contra, i: int) -> list[dict[str, Any] | None]:
        """Return each agent's event of the last step as a dict of texts and numbers."""

    def is_success(self, out: OutT_contra, i: int) -> bool:
        """Return whether the last step made the episode a success; in games that cannot be lost, its end is one."""
        return bool(out.terminated[i])

    def scene(self, state: StateT_contra, i: int) -> dict[str, Any]:
        """Return environment ``i`` as JSON values."""

    def seat_scene(self, scene: dict[str, Any], seat: int) -> dict[str, Any]:
        """Return a scene without hidden information; a seat's pictures and texts are made from it."""
        return scene


@runtime_checkable
class FullGame(Game[StateT, OutT], TextGame[StateT], Replayable[StateT, OutT], Protocol[StateT, OutT]):
    """A game for all policies, with arrays, texts and records; all games of this package implement it."""

    @property
    def quiet(self) -> Any:
        """The game without its channel, see ``envs.channel``; the game itself if it has none."""
        return self


@runtime_checkable
class SequentialGame(Game[StateT, OutT], Protocol[StateT, OutT]):
    """Game in which agents act in turn within a step: each action takes effect before the next agent chooses.

    Playing complete steps at a time gives the same results for the same actions.
    """

    def seat_to_act(self, state: StateT, i: int) -> int:
        """Return the seat to act in environment ``i``: 0 unless some seats have already acted in this step."""

    def act_seat(self, state: StateT, actions: np.ndarray, out: OutT) -> None:
        """Apply the action of the seat to act, from ``actions`` (B, N) int32, in every environment.

        Never called for the last seat: ``step`` applies the remaining actions and ends the step.
        """


def is_sequential(game: Any) -> TypeGuard[SequentialGame]:
    """Return whether a game has turns; ``isinstance`` of a protocol takes longer than a step."""
    return hasattr(game, "act_seat")


def clone(state: Arrays, i: int) -> Arrays:
    """Return a copy of environment ``i`` as a batch of one."""
    return type(state)(*(array[i : i + 1].copy() for array in state))


def restore(state: Arrays, i: int, snapshot: Arrays) -> None:
    """Write a clone back into environment ``i``."""
    for array, saved in zip(state, snapshot, strict=True):
        array[i] = saved[0]


def rows(arrays: Arrays, start: int, stop: int) -> Arrays:
    """Return views of environments ``start`` to ``stop - 1`` of a state or an out."""
    return type(arrays)(*(array[start:stop] for array in arrays))


def shaped_rewards(out: Out) -> np.ndarray | None:
    """Return each agent's shaped reward of the last step (B, N), a view; None in games without shaped rewards."""
    return getattr(out, "shaped", None)


class Snapshot(NamedTuple):
    """Snapshot of one environment, single or in a batch: state, out and live agents."""

    state: State
    out: Out
    agents: tuple[str, ...]
