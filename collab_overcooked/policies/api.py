"""Policy API: requests, knowledge and answers of policies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.envs.api import FullGame, Out, State
from collab_overcooked.envs.seen import SeatView
from collab_overcooked.policies.search.simulator import Simulator


def compiled_of(game: FullGame, *env_ids: str) -> Any:
    """Return the compiled data of a game, including its tables, for a policy of one or several games.

    Raises:
        ValueError: The game is another.
    """
    if game.id not in env_ids:
        raise ValueError(f"this policy plays {' and '.join(env_ids)} only, not {game.id}")
    return game.compiled


class Message(NamedTuple):
    """A message of one agent to its teammates.

    Attributes:
        agent: Seat of the sender; None for a message from outside the team.
        say: Text of the message.
        plan: Announced plan. With an empty text it is executed, and others see it only if the seat's plans are public.
        tokens: Language-model tokens used for the message, for the record.
        last: Whether the sender stays silent from now on unless another agent sends a new message.
        seconds: Time used for the message, for the record; None for programs.
        exchanges: Links to the language-model exchanges of the message, for the record.
        orders: Names of the next orders, from outside the team; see ``TextGame.order_next``.
        public: Show the seat's queued actions to the teammates from now on; see ``Decision.public``.
    """

    agent: int | None
    say: str
    plan: str
    tokens: int | None = None
    last: bool = False
    seconds: float | None = None
    exchanges: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    public: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the part of the message that teammates receive, as JSON values."""
        return {"agent": self.agent, "say": self.say, "plan": self.plan}


@dataclass(frozen=True)
class Decision:
    """A policy's answer: an action or a plan, and optionally a message.

    Attributes:
        action: Action id; None to follow ``plan``.
        plan: Actions as text, separated by semicolons, executed one after the other; ``request('<action>')`` entries
            ask a teammate and are never executed by the sender.
        say: Message that opens a conversation with the teammates before any action is executed; empty for none.
        tokens: Language-model tokens used for the decision, for the record.
        seconds: Time used for the decision, for the record; None for programs.
        exchanges: Links to the language-model exchanges of the decision, for the record.
        turn_order: Seats of a policy that answers for several, in the order in which their commands of this step are
            carried out, in games in which it can be set; the others keep their turns.
        public: Show the seat's queued actions to the teammates from now on, with or without a message.
        last: Whether the message closes the conversation that it opens: each teammate answers once, and the sender is
            not asked again.
    """

    action: int | None = None
    plan: str = ""
    say: str = ""
    tokens: int | None = None
    seconds: float | None = None
    exchanges: tuple[str, ...] = ()
    turn_order: tuple[int, ...] = ()
    public: bool = False
    last: bool = False


def as_decision(answer: object) -> Decision:
    """Return a policy's answer as a decision; its action may still lie outside the action space.

    Raises:
        ValueError: The answer is not an action id, a text or a ``Decision``.
    """
    if isinstance(answer, str):
        return Decision(plan=answer)
    if isinstance(answer, Decision) and answer.action is None:
        return answer
    action = answer.action if isinstance(answer, Decision) else answer
    if isinstance(action, bool) or not isinstance(action, (int, np.integer)):
        raise ValueError(f"a policy answered {answer!r}; it must be an action id, a text or a Decision")
    return answer if isinstance(answer, Decision) else Decision(action=int(action))


@dataclass(frozen=True)
class EnvInfo:
    """Information before the first step.

    Attributes:
        env_id: Registered id.
        game: The compiled game: names, action texts, rules (see ``envs.api.Game``).
        task: Name of the episode's first order; empty if the game has no tasks.
        team: Policy names by seat.
        simulator: Simulator of the current state, for policies that need one; None for all others.
        told: Seats that are told over a channel what this seat knows, see ``policies.speakers``.
        messages: Whether messages reach the teammates; False where the episode's limits allow none.
        message_delay: Steps after which messages are heard.
    """

    env_id: str
    game: FullGame
    task: str
    team: tuple[str, ...]
    simulator: Simulator | None = None
    told: frozenset[int] = frozenset()
    messages: bool = True
    message_delay: int = 0


def simulator_of(info: EnvInfo, policy: str) -> Simulator:
    """Return the simulator of an episode.

    Raises:
        ValueError: The policy did not declare that it needs a simulator.
    """
    if info.simulator is None:
        raise ValueError(f"policy {policy!r} needs a simulator; it must set needs_simulator = True")
    return info.simulator


@dataclass(frozen=True)
class AgentView:
    """Knowledge of one seat in one state. Texts are generated on first access.

    It does not expose the state or the seed: two states that differ only in hidden information are indistinguishable.

    Attributes:
        seat: Index of the agent.
        timestep: Steps taken so far.
        observation: The seat's observation array.
        mask: int8 (A,) of the actions that would be accepted.
        view: The game's view for the seat.
        plan: Texts of the actions that the seat itself has queued.
        announced: Remaining announced plan of each seat; empty without one, and for the seat itself.
        running: Text of the action that the seat has already chosen in this timestep, which its answer cannot change;
            empty before it has chosen.
        inbox: Messages that the seat has heard in this timestep, its own included, in order.
        past_messages: Timestep and message of what it has heard in earlier timesteps.
        message_rules: What holds for its messages, as sentences, where the episode's limits differ from the defaults;
            see ``runner.conversation.Limits``.
        error: Reason code and message of this decision's refused attempt, if any.
        attempt: Text of the refused action.
        refused: Seat, action, code and message of refusals in the previous step: those of the seat, in some games
            those of all seats.
        earlier: Seat and action text of each seat that has already chosen in this step, in games where this is known.
        history: Events of each seat so far: pairs of timestep and label.
        starts: Timestep at which the action of each event in ``history`` began, by seat.
        clocks: Time before each step so far and now, as the game's texts name it, by timestep.
        feedback: A teacher's feedback on the previous episode.
        past_actions: Action ids of all seats in earlier steps, oldest first, at most
            ``action_history.MAX_PAST_ACTIONS``; empty in games where a seat does not see what others do.
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
    message_rules: tuple[str, ...] = ()
    error: tuple[str, str] | None = None
    attempt: str = ""
    refused: tuple[tuple[int, str, str, str], ...] = ()
    earlier: tuple[tuple[int, str], ...] = ()
    history: tuple[tuple[tuple[int, str], ...], ...] = ()
    starts: tuple[tuple[int, ...], ...] = ()
    clocks: tuple[str, ...] = ()
    feedback: str = ""
    past_actions: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def of(cls, game: FullGame, state: State, out: Out, seat: int, timestep: int = 0) -> AgentView:
        """Return a seat's knowledge of the first environment of a batch, without messages."""
        return cls(seat, timestep, out.observations[0, seat], out.masks[0, seat], game.seen(state, 0, seat))

    @property
    def text(self) -> str:
        """The state as text."""
        return self.view.text

    @property
    def manual(self) -> str:
        """The game's manual, empty if it has none."""
        return self.view.manual

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all seats in texts."""
        return self.view.names

    @property
    def scene(self) -> dict[str, Any]:
        """The seat's scene, as JSON values."""
        return self.view.scene

    @cached_property
    def legal_actions(self) -> dict[str, int]:
        """Texts and ids of the accepted actions."""
        texts = self.view.action_texts
        return {texts[action]: int(action) for action in np.flatnonzero(self.mask)}

    @property
    def idle_action(self) -> int:
        """Id of the action that does nothing for one step, or of the first accepted action if that is refused."""
        action = self.view.idle_action
        return action if self.mask[action] else int(np.flatnonzero(self.mask)[0])

    def to_dict(self) -> dict[str, Any]:
        """Return the seat's knowledge as JSON values; actions as texts, with ids if legal."""
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
            "message_rules": list(self.message_rules),
            "error": list(self.error) if self.error else None,
            "attempt": self.attempt,
            "refused": [list(refusal) for refusal in self.refused],
            "earlier": [list(choice) for choice in self.earlier],
            "history": [[list(event) for event in events] for events in self.history],
            "starts": [list(starts) for starts in self.starts],
            "clocks": list(self.clocks),
            "feedback": self.feedback,
            "past_actions": [list(actions) for actions in self.past_actions],
        }


class Policy(Protocol):
    """A policy that controls one seat. It is asked only when it has a choice; a busy agent continues by itself.

    Its ``Capabilities`` are further attributes, which its class may leave out.

    Attributes:
        name: Name in teams and tables, for example ``"noisy:0.2"``.
    """

    name: str

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Prepare for an episode. All randomness must derive from ``seed``."""

    def act(self, seen: AgentView) -> Decision | int | str:
        """Choose: an action id, an action or plan text, or a full decision."""

    def reply(self, seen: AgentView) -> Message | None:
        """Answer the last message of ``seen.inbox``; None to end the conversation.

        An answer's plan replaces the queued actions of this seat.
        """


class PolicyBase:
    """Base class of policies without messages."""

    def reply(self, seen: AgentView) -> Message | None:
        """Return None: no answer."""
        return None


class Capabilities(NamedTuple):
    """Capabilities of a policy, which it declares by attributes of these names; a missing attribute has its default.

    Attributes:
        needs_simulator: It gets a simulator in ``EnvInfo``; all others know only what they have seen.
        apart: It never opens a conversation and may be asked in a separate thread, concurrently with other seats in the
            same state.
        batched: It answers with action ids by observation, mask, view and simulator alone, so that many of its episodes
            can be played at once; networks need not say so.
        observation: Options of the observation that it was trained on; None for that of the environment.
        speaks: In games with a channel it chooses symbols with its actions and hears those of others, see
            ``envs.channel``; all others play the game without the channel, and say nothing.
    """

    needs_simulator: bool = False
    apart: bool = False
    batched: bool = False
    observation: Mapping[str, Any] | None = None
    speaks: bool = False

    @classmethod
    def of(cls, policy: Policy) -> Capabilities:
        """Return the capabilities that a policy declares now."""
        values: list[Any] = [getattr(policy, name, default) for name, default in cls._field_defaults.items()]
        return cls(*values)


@runtime_checkable
class Planning(Protocol):
    """A policy that tells what it is after.

    Attributes:
        intent: Number of the subgoal or target of its last decision, as the policy counts them; None for none.
    """

    intent: int | None


@runtime_checkable
class TeamAware(Protocol):
    """A policy that shares resources with teammates of its kind, for example a budget or one model."""

    def join(self, team: tuple[Policy, ...]) -> None:
        """Receive all policies of the team, in seat order; called once, when the team is created."""


@runtime_checkable
class ReportsUsage(Protocol):
    """A policy that reports the cost of its answers."""

    def account(self) -> dict[str, Any]:
        """Return the cost of this episode for the record, as JSON values.

        Deliberating teams add ``updates`` of their plans, which the record stores separately.
        """


@dataclass(frozen=True)
class Question:
    """A multiple-choice question about a state."""

    rules: str  # Rules of the game as text
    state: str  # Complete state as text
    text: str  # Text of the question
    choices: tuple[str, ...]  # Texts of the choices; the first one has the letter A
    # Draws the state as the asked seat sees it: uint8 (H, W, 3); None if there is no picture
    picture: Callable[[], np.ndarray] | None = None


class Choice(NamedTuple):
    """Answer to a multiple-choice question."""

    number: int | None  # Index of the choice; None if the answer is missing or unreadable
    text: str  # Text of the answer
    tokens: int | None = None  # Language-model tokens used for it; None without a language model
    exchanges: tuple[str, ...] = ()  # Links to the language-model exchanges


@runtime_checkable
class AnswersQuestions(Protocol):
    """A policy that answers questions, after a ``reset`` for the seat that is asked."""

    def answer(self, question: Question) -> Choice:
        """Pick a choice."""


@dataclass(frozen=True)
class Lesson:
    """A finished episode of a series, as input for learning before the next one.

    Attributes:
        game: The compiled game.
        record: Record of the episode: its ``steps`` with actions, messages, events and rewards, and its ``metrics``.
        manual: The game's manual; empty if it has none.
        feedback: A teacher's feedback for this seat; empty without one, and for the teacher itself.
        earlier: Earlier episodes of the run, each with the feedback by seat.
        meanings: Meanings of the metrics of records by name, one line each.
    """

    game: FullGame
    record: EpisodeRecord
    manual: str = ""
    feedback: str = ""
    earlier: tuple[tuple[EpisodeRecord, tuple[str, ...]], ...] = ()
    meanings: Mapping[str, str] = field(default_factory=dict)

    @property
    def results(self) -> Mapping[str, Any]:
        """Metrics of the episode."""
        metrics: Mapping[str, Any] = self.record.metrics
        return metrics


@runtime_checkable
class Learner(Policy, Protocol):
    """A policy that learns between the episodes of a run.

    The next ``reset`` begins the next episode of the run; a ``reset`` without a lesson before it begins a new run.
    """

    def between_episodes(self, lesson: Lesson) -> None:
        """Learn from a finished episode."""


class Teacher(Protocol):
    """Gives feedback on an episode for the next one, to the team or to each agent.

    Attributes:
        name: Name in options and records.
    """

    name: str

    def teach_group(self, lesson: Lesson) -> str:
        """Return a strategy for the team."""

    def teach_individual(self, lesson: Lesson) -> Sequence[str]:
        """Return feedback and a role for each agent, by seat."""
