"""The contract of policies: what they are asked, what they see, what they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from collab_overcooked.envs.api import FullGame
from collab_overcooked.envs.seen import SeatView
from collab_overcooked.policies.search.simulator import Simulator


def compiled_of(game: FullGame, env_id: str) -> Any:
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
        agent: Its seat; None for a voice that has none.
        say: Its words.
        plan: The plan it announced with them; without words the others do not hear of it, but it is carried out.
        tokens: Language-model tokens that the message took, for the record.
        last: Whether it has nothing to add unless somebody else says something new.
        seconds: Time that it took, for the record; None for programs.
        exchanges: Links of the language-model exchanges that it took, for the record.
        orders: Names of the orders that are to come next, from a voice without a seat; see ``TextGame.order_next``.
    """

    agent: int | None
    say: str
    plan: str
    tokens: int | None = None
    last: bool = False
    seconds: float | None = None
    exchanges: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return what the others hear, fit for JSON."""
        return {"agent": self.agent, "say": self.say, "plan": self.plan}


@dataclass(frozen=True)
class Decision:
    """What a policy wants.

    Attributes:
        action: Action id; None to follow ``plan``.
        plan: Actions as text, separated by semicolons, carried out one after the other; ``request('<action>')``
            entries ask a teammate and are never carried out by the one who writes them.
        say: Opens a conversation with the teammates before anything is carried out; empty for none.
        tokens: Language-model tokens that this decision took, for the record.
        seconds: Time that it took, for the record; None for programs.
        exchanges: Links of the language-model exchanges that it took, for the record.
    """

    action: int | None = None
    plan: str = ""
    say: str = ""
    tokens: int | None = None
    seconds: float | None = None
    exchanges: tuple[str, ...] = ()


@dataclass(frozen=True)
class EnvInfo:
    """What is known before the first step.

    Attributes:
        env_id: Registered id.
        game: The compiled game: names, action texts, rules (see ``envs.api.Game``).
        task: Name of the episode's first order; empty if the game has no tasks.
        team: Policy names by seat.
        simulator: The present moment, at any time, for policies that need to simulate; None for all others.
    """

    env_id: str
    game: FullGame
    task: str
    team: tuple[str, ...]
    simulator: Simulator | None = None


def simulator_of(info: EnvInfo, policy: str) -> Simulator:
    """Return the simulator of an episode.

    Raises:
        ValueError: If there is none; the message names the policy.
    """
    if info.simulator is None:
        raise ValueError(f"policy {policy!r} needs a simulator; it must say so with needs_simulator = True")
    return info.simulator


@dataclass(frozen=True)
class Seen:
    """What one seat may know at one moment. Words are made only when somebody reads them.

    Nothing in it leads to the state or the seed: two moments that differ in what the seat may not know look the same.

    Attributes:
        seat: Index of the agent.
        timestep: Steps taken so far.
        observation: Array as the environment shows it to this seat.
        mask: int8 (A,) of the actions that would be accepted.
        view: What the game lets the seat know.
        plan: Actions that the seat itself has queued, as texts.
        announced: By seat, what is left of the plan that the seat has announced; empty without one, and for itself.
        running: Action that the seat has chosen in this timestep already, which what it answers cannot change; empty
            before it has chosen.
        inbox: Messages of this timestep's conversations, in order.
        past_messages: Timestep and message of what was said in earlier timesteps.
        error: Reason code and message of this decision's refused attempt, if there was one.
        attempt: The refused action's text.
        refused: Seat, action, code and message of what was refused in the step before; the seat's own refusals, in
            some games everybody's.
        earlier: Seat and action text of each seat that has chosen in this step already, in games where that is known.
        history: What each seat has brought about so far: pairs of timestep and label of the event.
        feedback: What a teacher said of the episode before.
    """

    seat: int
    timestep: int
    observation: np.ndarray
    mask: np.ndarray
    view: SeatView = field(repr=False)
    plan: tuple[str, ...] = ()
    announced: tuple[tuple[str, ...], ...] = ()
    running: str = ""
    inbox: tuple[Message, ...] = ()
    past_messages: tuple[tuple[int, Message], ...] = ()
    error: tuple[str, str] | None = None
    attempt: str = ""
    refused: tuple[tuple[int, str, str, str], ...] = ()
    earlier: tuple[tuple[int, str], ...] = ()
    history: tuple[tuple[tuple[int, str], ...], ...] = ()
    feedback: str = ""

    @classmethod
    def of(cls, game: FullGame, state: Any, out: Any, seat: int, timestep: int = 0) -> Seen:
        """Return what a seat sees of the first environment of a batch, in silence."""
        return cls(seat, timestep, out.observations[0, seat], out.masks[0, seat], game.seen(state, 0, seat))

    @property
    def text(self) -> str:
        """The moment in words."""
        return self.view.text

    @property
    def manual(self) -> str:
        """The rules in the game's own words, empty where it has none."""
        return self.view.manual

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all seats in texts."""
        return self.view.names

    @property
    def scene(self) -> dict[str, Any]:
        """The moment as words and numbers."""
        return self.view.scene

    @cached_property
    def legal_actions(self) -> dict[str, int]:
        """Texts and ids of the accepted actions."""
        texts = self.view.action_texts
        return {texts[action]: int(action) for action in np.flatnonzero(self.mask)}

    @property
    def idle_action(self) -> int:
        """Id of doing nothing for one step, or of the first accepted action where that is refused."""
        action = self.view.idle_action
        return action if self.mask[action] else int(np.flatnonzero(self.mask)[0])

    def to_dict(self) -> dict[str, Any]:
        """Return all that the seat may know, fit for JSON; actions as texts, with ids where they are legal."""
        view = self.view
        return {
            "seat": self.seat,
            "name": view.names[self.seat],
            "role": view.role,
            "names": list(view.names),
            "timestep": self.timestep,
            "limit": view.limit,
            "text": view.text,
            "manual": view.manual,
            "recipe": view.recipe,
            "orders": list(view.orders),
            "vocabulary": list(view.vocabulary),
            "legal_actions": self.legal_actions,
            "idle_action": self.idle_action,
            "observation": self.observation.tolist(),
            "mask": self.mask.tolist(),
            "plan": list(self.plan),
            "announced": [list(plan) for plan in self.announced],
            "running": self.running,
            "inbox": [message.to_dict() for message in self.inbox],
            "past_messages": [[timestep, message.to_dict()] for timestep, message in self.past_messages],
            "error": list(self.error) if self.error else None,
            "attempt": self.attempt,
            "refused": [list(refusal) for refusal in self.refused],
            "earlier": [list(choice) for choice in self.earlier],
            "history": [[list(event) for event in events] for events in self.history],
            "feedback": self.feedback,
        }


class Policy(Protocol):
    """A policy that controls one seat. It is asked only when it has a choice; a busy agent simply goes on.

    A policy with a class attribute ``needs_simulator = True`` finds a simulator in ``EnvInfo``; others know what they
    have seen and nothing else. One with an attribute ``apart = True`` never opens a conversation and may be asked in a
    thread of its own, while other seats that decide on the same moment are asked.

    Attributes:
        name: How teams and tables call it, for example ``"noisy:0.2"``.
    """

    name: str

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Get ready for an episode; everything random must come from ``seed``."""

    def act(self, seen: Seen) -> Decision | int | str:
        """Choose: an action id, an action or plan text, or a full decision."""

    def reply(self, seen: Seen) -> Message | None:
        """Answer the last message of ``seen.inbox``; None to end the conversation.

        An answer's plan replaces the actions that this seat still had queued.
        """


class Silent:
    """What policies inherit that have nothing to say."""

    def reply(self, seen: Seen) -> Message | None:
        """Have nothing to say."""
        return None


@runtime_checkable
class TeamAware(Protocol):
    """A policy that shares something with teammates of its kind: what they use, or one model for all."""

    def join(self, team: tuple[Policy, ...]) -> None:
        """Look at all policies of the team, in seat order; called once, when the team is made."""


@runtime_checkable
class ReportsUsage(Protocol):
    """A policy that knows what its answers cost."""

    def account(self) -> dict[str, Any]:
        """Return what this episode took, fit for JSON, for the record.

        Teams that deliberate add ``updates``, what became of their plans; the record keeps those apart.
        """


@dataclass(frozen=True)
class Question:
    """A question about a moment, with choices to pick from.

    Attributes:
        rules: Of the game, in words.
        moment: The whole moment in words.
        text: What is asked.
        choices: In words; the first one has the letter A.
    """

    rules: str
    moment: str
    text: str
    choices: tuple[str, ...]


class Choice(NamedTuple):
    """What was answered to a question.

    Attributes:
        number: Of the choice; None if the answer cannot be read, or there is none.
        words: The answer as it came.
        tokens: Language-model tokens that it took; None if none was asked.
        exchanges: Links of the language-model exchanges that it took.
    """

    number: int | None
    words: str
    tokens: int | None = None
    exchanges: tuple[str, ...] = ()


@runtime_checkable
class AnswersQuestions(Protocol):
    """A policy that answers questions in words, after a ``reset`` for the seat that is asked."""

    def answer(self, question: Question) -> Choice:
        """Pick a choice."""


@dataclass(frozen=True)
class Lesson:
    """An episode that is over and another follows: what there is to learn from.

    Attributes:
        game: The compiled game.
        record: Record of the episode: its ``steps`` with actions, messages, events and rewards, and its ``metrics``.
        manual: The rules in the words of the game; empty where a game has no manual.
        feedback: What a teacher says of it to this seat; empty without one, and for the teacher itself.
        earlier: The run's episodes before it, each with what every seat was told after it.
    """

    game: FullGame
    record: Mapping[str, Any]
    manual: str = ""
    feedback: str = ""
    earlier: tuple[tuple[Mapping[str, Any], tuple[str, ...]], ...] = ()

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
