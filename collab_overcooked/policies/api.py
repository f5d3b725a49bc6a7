"""What a policy is, and what it gets to see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from collab_overcooked.envs.api import Game


def compiled_of(game: Game, env_id: str) -> Any:
    """Return what a game compiled, its tables among it, for a policy that knows them.

    Raises:
        ValueError: If it is another game.
    """
    if game.id != env_id:
        raise ValueError(f"this policy plays {env_id} only, not {game.id}")
    return getattr(game, "compiled")  # noqa: B009  (not part of the Game protocol)


class Message(NamedTuple):
    """What one agent said to the others.

    Attributes:
        agent: Its seat.
        say: Its words.
        plan: The plan it announced with them; without words and plan nothing is heard, but its tokens count.
        tokens: Language-model tokens that the message took, for the record.
        last: Whether it has nothing to add unless somebody else says something new.
    """

    agent: int
    say: str
    plan: str
    tokens: int | None = None
    last: bool = False


@dataclass(frozen=True)
class Decision:
    """What a policy wants.

    Attributes:
        action: Action id; None to follow ``plan``.
        plan: Actions as text, separated by semicolons, carried out one after the other; ``request('<action>')``
            entries ask a teammate and are never carried out by the one who writes them.
        say: Opens a conversation with the teammates before anything is carried out; empty for none.
        tokens: Language-model tokens that this decision took, for the record.
    """

    action: int | None = None
    plan: str = ""
    say: str = ""
    tokens: int | None = None


@dataclass(frozen=True)
class EnvInfo:
    """What is known before the first step.

    Attributes:
        env_id: Registered id.
        game: The compiled game: names, action texts, and true dynamics for search (see ``envs.api.Game``).
        task: Name of the episode's first order; empty if the game has no tasks.
        team: Policy names by seat.
    """

    env_id: str
    game: Game
    task: str
    team: tuple[str, ...]


@dataclass(frozen=True)
class View:
    """One seat's view of one moment. Words are made only when somebody reads them.

    Attributes:
        seat: Index of the agent.
        game: The compiled game.
        state: The true state as a batch of one; a copy, free to be stepped by search policies.
        observation: Array as the environment shows it to this seat.
        mask: int8 (A,) of the actions that would be accepted.
        timestep: Steps taken so far.
        inbox: Messages of this timestep's conversations, in order.
        error: Reason code and message of this decision's refused attempt, if there was one.
        attempt: The refused action's text.
        history: What each seat has brought about so far: pairs of timestep and label of the event.
        plans: Actions that each seat has queued, as texts.
        refused: Seat, action, code and message of what was refused in the step before.
        extras: What else is known; ``feedback`` is what a teacher said of the episode before.
    """

    seat: int
    game: Game
    state: Any
    observation: np.ndarray
    mask: np.ndarray
    timestep: int
    inbox: tuple[Message, ...] = ()
    error: tuple[str, str] | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)
    attempt: str = ""
    history: tuple[tuple[tuple[int, str], ...], ...] = ()
    plans: tuple[tuple[str, ...], ...] = ()
    refused: tuple[tuple[int, str, str, str], ...] = ()

    @cached_property
    def text(self) -> str:
        """The moment in words, as this seat may know it."""
        return self.game.describe(self.state, 0, self.seat)

    @cached_property
    def scene(self) -> dict[str, Any]:
        """The moment as words and numbers."""
        return self.game.scene(self.state, 0)

    @cached_property
    def legal_actions(self) -> dict[str, int]:
        """Texts and ids of the accepted actions."""
        texts = self.game.action_texts(self.state, 0)
        return {texts[action]: int(action) for action in np.flatnonzero(self.mask)}


class Policy(Protocol):
    """A seat's mind. It is asked only when it has a choice; a busy agent simply goes on.

    Attributes:
        name: How teams and tables call it, for example ``"noisy:0.2"``.
    """

    name: str

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Get ready for an episode; everything random must come from ``seed``."""

    def act(self, view: View) -> Decision | int | str:
        """Choose: an action id, an action or plan text, or a full decision."""

    def reply(self, view: View) -> Message | None:
        """Answer the last message of ``view.inbox``; None to end the conversation.

        An answer's plan replaces the actions that this seat still had queued.
        """


@runtime_checkable
class Joining(Protocol):
    """A policy that shares something with teammates of its kind: books, or one mind for several seats."""

    def join(self, team: tuple[Policy, ...]) -> None:
        """Look at all policies of the team, in seat order; called once, when the team is made."""


@runtime_checkable
class Accounting(Protocol):
    """A policy that knows what its answers cost."""

    def account(self) -> dict[str, Any]:
        """Return what this episode took, fit for JSON, for the record."""


@dataclass(frozen=True)
class Lesson:
    """An episode that is over and another follows: what there is to learn from.

    Attributes:
        game: The compiled game.
        record: Record of the episode: its ``steps`` with actions, messages, events and rewards, and its ``metrics``.
        manual: The rules in the words of the game; empty where a game has no manual.
        feedback: What a teacher says of it to this seat; empty without one, and for the teacher itself.
    """

    game: Game
    record: Mapping[str, Any]
    manual: str = ""
    feedback: str = ""

    @property
    def results(self) -> Mapping[str, Any]:
        """Metrics of the episode."""
        found: Mapping[str, Any] = self.record["metrics"]
        return found


@runtime_checkable
class Learner(Policy, Protocol):
    """A policy that wants to hear how an episode went before the next one of the same run.

    A ``reset`` that comes next begins that episode; one without a lesson before it begins a new run.
    """

    def between_episodes(self, lesson: Lesson) -> None:
        """Look back at an episode."""


class Teacher(Protocol):
    """Looks back at an episode and says what to do better in the next one, to all or to each agent.

    Attributes:
        name: How options and records call it.
    """

    name: str

    def teach_group(self, lesson: Lesson) -> str:
        """Return a strategy for the whole group."""

    def teach_individual(self, lesson: Lesson) -> Sequence[str]:
        """Return feedback and a role for each agent, by seat."""
