"""One language model that commands several seats, in games whose prompts are made for it.

Each step it sees the state, what became of its last commands, and a short window of what came before; its commands are
judged by the game alone. Rules, recipes and a demonstration stand before all that. Source: MindAgent's dispatcher.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from collab_overcooked.policies.api import Decision, EnvInfo, Message, Seen
from collab_overcooked.policies.llm.answers import Unreadable, commands_schema, visible
from collab_overcooked.policies.llm.client import ChatMessage, UnusableReply
from collab_overcooked.policies.llm.session import ModelSession
from collab_overcooked.policies.llm.settings import Value

MAX_IGNORED = 10  # messages about commands of one answer that are not carried out


class CommandLanguage(ABC):
    """How a game is commanded by one model.

    Args:
        info: Of the episode.

    Attributes:
        few: Steps of a demonstration that is cut down.
    """

    few: ClassVar[int]

    def __init__(self, info: EnvInfo) -> None:
        self.game: Any = info.game

    @classmethod
    @abstractmethod
    def find(cls, text: str) -> Iterator[tuple[int, str]]:
        """Yield seat and command of all commands in a text, wherever they stand."""

    @classmethod
    @abstractmethod
    def name(cls, seat: int) -> str:
        """Return what commands call a seat."""

    @classmethod
    @abstractmethod
    def idle(cls, seat: int) -> str:
        """Return the command to do nothing."""

    @abstractmethod
    def feedback(self, refusals: Sequence[str], last: Mapping[int, str]) -> str:
        """Return what is said of the last commands, by what was refused of them."""

    @abstractmethod
    def examples(self, agents: int) -> tuple[tuple[str, str], ...]:
        """Return states and commands, a line each, of a short game on another level."""

    @abstractmethod
    def facts(self, demo: bool) -> dict[str, Any]:
        """Return what the game's own templates use, with or without a demonstration."""

    @classmethod
    def read(cls, text: str, seats: Sequence[int]) -> dict[int, str]:
        """Return the commands of an answer by seat, the first for each of the seats.

        Raises:
            Unreadable: If there is none.
        """
        found: dict[int, str] = {}
        for seat, command in cls.find(visible(text)):
            if seat in seats:
                found.setdefault(seat, command)
        if not found:
            raise Unreadable(f"Write one command for each agent, a line each, such as {cls.idle(seats[0])}.")
        return found

    @classmethod
    def ignored(cls, text: str, seats: Sequence[int], agents: int) -> list[str]:
        """Return a message for each command of an answer that is not carried out, beside those of ``read``.

        Args:
            text: The answer.
            seats: Whose commands were asked for.
            agents: Number of agents in the game.
        """
        first: dict[int, str] = {}
        messages = []
        for seat, command in cls.find(visible(text)):
            if seat in seats and seat not in first:
                first[seat] = command
            elif seat in seats:
                messages.append(f"{command} was ignored: {cls.name(seat)} had a command already, {first[seat]}.")
            elif seat < agents:
                messages.append(f"{command} was ignored: you do not command {cls.name(seat)}.")
            else:
                messages.append(f"{command} was ignored: there is no {cls.name(seat)}.")
        return list(dict.fromkeys(messages))[:MAX_IGNORED]

    def legal(self, seen: Seen, seat: int) -> list[str]:
        """Return the commands that the game would accept from a seat now."""
        commands: list[str] = seen.view.commands(seat)  # type: ignore[attr-defined]
        return commands

    def demonstration(self, kind: str, agents: int) -> tuple[tuple[str, str], ...]:
        """Return states and commands of a short game on another level.

        Args:
            kind: ``"full"``, ``"few"`` or ``"off"``.
            agents: Number of agents in it, 0 for as many as play.
        """
        if kind == "off":
            return ()
        pairs = self.examples(agents or self.game.n_agents)
        return pairs[: self.few] if kind == "few" else pairs


class CentralAgent:
    """Commands its seats. Seats join it as they are reset; the first one's session is asked and counts the usage."""

    def __init__(self, session: ModelSession, values: Mapping[str, Value], language: CommandLanguage) -> None:
        self.session, self.on, self.language = session, values, language
        self.seats: list[int] = []
        self._window: deque[tuple[str, str]] = deque(maxlen=int(values["history"]))
        self._timestep = -1
        self._commands: dict[int, str] = {}
        self._ignored: list[str] = []  # messages about commands of the last answer

    def command(self, seen: Seen) -> str | None:
        """Return what a seat is to do; None if there was no usable answer in this step.

        The first seat that asks in a step gets an answer made for all of them.
        """
        if seen.timestep != self._timestep or seen.error is not None:
            self._timestep = seen.timestep
            self._ask(seen)
        return self._commands.get(seen.seat)

    def _ask(self, seen: Seen) -> None:
        state = self._state(seen)
        self._commands, self._ignored = {}, []
        schema = None
        if self.session.settings.answer == "schema":
            names = {self.language.name(seat): self.language.legal(seen, seat) for seat in self.seats}
            schema = commands_schema(names)
        try:
            chat = [*self._fixed(), *self._before(), ChatMessage("user", state)]
            self._commands = self.session.ask(chat, self._read, schema)
        except UnusableReply:
            pass
        lines = "\n".join(self._commands.get(seat, self.language.idle(seat)) for seat in self.seats)
        self._window.append((state, lines))

    def _read(self, text: str) -> dict[int, str]:
        commands = self.language.read(text, self.seats)
        self._ignored = self.language.ignored(text, self.seats, self.session.info.game.n_agents)
        return commands

    def _before(self) -> list[ChatMessage]:
        return [
            turn
            for state, lines in self._window
            for turn in (ChatMessage("user", state), ChatMessage("assistant", lines))
        ]

    def _state(self, seen: Seen) -> str:
        """Return the moment, headed by what became of the last commands; what others do in this step comes last."""
        feedback: str | None = None
        if self.on["feedback"] and seen.error is not None:
            feedback = self.language.feedback([seen.error[1], *self._ignored], {})
        elif self.on["feedback"]:
            refusals = [message for _, _, _, message in seen.refused if message]
            feedback = self.language.feedback([*refusals, *self._ignored], self._commands)
        others = [(self.language.name(seat), text) for seat, text in seen.earlier if seat not in self.seats]
        return self.session.prompts.fill("state", state=seen.text, feedback=feedback, earlier=others)

    def _fixed(self) -> list[ChatMessage]:
        """Return what stands before every question: rules, demonstration, and who is to be commanded."""
        demo = self.language.demonstration(str(self.on["demo"]), int(self.on["demo_agents"]))
        fill = self.session.prompts.fill
        facts = self.language.facts(bool(demo)) | {
            "hints": self.on["hints"],
            "seats": self.seats,
            "json": self.session.settings.answer == "schema",
        }
        turns = [ChatMessage("user", fill("rules", **facts))]
        for state, commands in demo:
            shown = fill("state", state=state, feedback=None, earlier=[])
            turns += [ChatMessage("user", shown), ChatMessage("assistant", commands)]
        return [*turns, ChatMessage("user", fill("begin", **facts))]


class CommandedSeat:
    """A seat that does what a central agent says."""

    def __init__(self, agent: CentralAgent, seat: int) -> None:
        self.agent = agent
        agent.seats.append(seat)

    def act(self, seen: Seen) -> Decision:
        """Return the command for this seat; a refused one is reported to the central agent in the next step."""
        if seen.error is not None and not self.agent.on["correct"]:
            return Decision(action=seen.idle_action)
        command = self.agent.command(seen)
        cost = self.agent.session.take_cost()
        return Decision(action=seen.idle_action, **cost) if command is None else Decision(plan=command, **cost)

    def reply(self, seen: Seen) -> Message | None:
        """Have nothing to say: one model needs no messages."""
        return None
