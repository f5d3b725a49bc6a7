"""Central agent: one language model that commands several seats, in games with prompts for it.

In each step the prompt contains the state, the feedback on the last commands, and a short window of earlier steps,
after rules, recipes and a demonstration. Only the game validates the commands. Source: MindAgent's dispatcher.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from collab_overcooked.kernels.rng import seed_states
from collab_overcooked.policies.api import AgentView, Decision, EnvInfo, Message
from collab_overcooked.policies.llm.answers import LINE, Answer, Unreadable, commands_schema, read_object
from collab_overcooked.policies.llm.exchange import ChatMessage, UnusableReply
from collab_overcooked.policies.llm.markup import visible
from collab_overcooked.policies.llm.session import ModelSession, joined
from collab_overcooked.policies.llm.settings import Value
from collab_overcooked.policies.search.simulator import Simulator

MAX_IGNORED = 10  # messages about ignored commands of one answer
_NO_PROSE = re.compile(  # of a line without its commands
    r"(?:[\W\d_]|\b(?:agent|bot)\d*\b|\b(?:commands?|actions?|answer)\s*:)*(?:(?:#|//).*)?", re.IGNORECASE
)


def demonstrate(
    game: Any, policy: Callable[[], Any], seed: int, steps: int, is_last: Callable[[Any], bool] = lambda state: False
) -> tuple[tuple[str, str], ...]:
    """Return states and commands, one line each, of the first steps of a game that a policy plays in all seats."""
    state, out = game.alloc(1)
    state.rng[:] = seed_states([seed])
    game.reset(state, out, np.ones(1, np.bool_))
    team = [policy() for _ in range(game.n_agents)]
    info = EnvInfo(game.id, game, "", tuple(member.name for member in team), Simulator(game, state, 0))
    for seat, member in enumerate(team):
        member.reset(seat, info, 0)
    pairs: list[tuple[str, str]] = []
    for timestep in range(steps):
        actions = [member.act(AgentView.of(game, state, out, seat, timestep)) for seat, member in enumerate(team)]
        lines = "\n".join(game.command_text(seat, action) for seat, action in enumerate(actions))
        pairs.append((game.describe(state, 0, 0), lines))
        if is_last(state):
            break
        game.step(state, np.array([actions], np.int32), out)
    return tuple(pairs)


class CommandLanguage(ABC):
    """A game's command syntax and prompts for a central agent.

    Args:
        info: Information about the episode.
    """

    few: ClassVar[int]  # Number of steps in a shortened demonstration
    pattern: ClassVar[re.Pattern[str]]  # A command in a text

    def __init__(self, info: EnvInfo) -> None:
        self.game: Any = info.game

    @classmethod
    @abstractmethod
    def command(cls, match: re.Match[str]) -> tuple[int, str]:
        """Return seat and command of a match of ``pattern``."""

    @classmethod
    @abstractmethod
    def name(cls, seat: int) -> str:
        """Return the name of a seat in commands."""

    @classmethod
    @abstractmethod
    def idle(cls, seat: int) -> str:
        """Return the command that does nothing."""

    @abstractmethod
    def feedback(self, refusals: Sequence[str], last: Mapping[int, str], served: Sequence[str]) -> str:
        """Return the feedback on the last commands, given the refusals and the dishes that were served since."""

    @abstractmethod
    def examples(self, agents: int) -> tuple[tuple[str, str], ...]:
        """Return states and commands, one line each, of a short game on another level."""

    @abstractmethod
    def variables(self, demo: bool) -> dict[str, Any]:
        """Return the variables of the game's templates, with or without a demonstration."""

    def why_void(self, commands: Sequence[str]) -> str | None:
        """Return the original's message if it rejects a whole list of commands; otherwise None."""
        return None

    @classmethod
    def find(cls, text: str) -> Iterator[tuple[int, str]]:
        """Yield seat and command of all commands in a list: the values of JSON, else lines of nothing but commands.

        Of several blocks of such lines, between which there is prose, the last one in a code fence counts, or the last
        one. Commands within prose are none.
        """
        text = visible(text)
        answer = read_object(text, cls._names_in(text))
        lines = [str(value) for value in answer.value.values()] if answer else cls._last_block(text)
        for line in lines:
            yield from map(cls.command, cls.pattern.finditer(line))

    @classmethod
    def _names_in(cls, text: str) -> list[str]:
        return list(dict.fromkeys(cls.name(cls.command(match)[0]) for match in cls.pattern.finditer(text)))

    @classmethod
    def _last_block(cls, text: str) -> list[str]:
        blocks: dict[bool, list[str]] = {}  # the last one outside of fences, and inside
        fenced = goes_on = False
        for line in filter(str.strip, text.splitlines()):
            is_fence = line.lstrip().startswith("```")
            fenced ^= is_fence
            is_command = cls.pattern.search(line) and _NO_PROSE.fullmatch(cls.pattern.sub("", line))
            if is_command:
                blocks[fenced] = [*(blocks.get(fenced, []) if goes_on else []), line]
            goes_on = bool(is_command)
        return blocks.get(True) or blocks.get(False) or []

    @classmethod
    def read(cls, text: str, seats: Sequence[int]) -> dict[int, str]:
        """Return the first command of a list for each of the seats.

        Raises:
            Unreadable: There is no list of commands.
        """
        commands: dict[int, str] = {}
        for seat, command in cls.find(text):
            if seat in seats:
                commands.setdefault(seat, command)
        if not commands:
            raise Unreadable(f"Write one command for each agent, a line each, such as {cls.idle(seats[0])}.")
        return commands

    @classmethod
    def ignored(cls, text: str, seats: Sequence[int], agents: int) -> list[str]:
        """Return a message for each ignored command of an answer.

        Args:
            text: The answer.
            seats: Seats whose commands were requested.
            agents: Number of agents in the game.
        """
        first: dict[int, str] = {}
        messages = []
        for seat, command in cls.find(text):
            if seat in seats and seat not in first:
                first[seat] = command
            elif seat in seats:
                messages.append(f"{command} was ignored: {cls.name(seat)} had a command already, {first[seat]}.")
            elif seat < agents:
                messages.append(f"{command} was ignored: you do not command {cls.name(seat)}.")
            else:
                messages.append(f"{command} was ignored: there is no {cls.name(seat)}.")
        return list(dict.fromkeys(messages))[:MAX_IGNORED]

    def legal(self, seen: AgentView, seat: int) -> list[str]:
        """Return the commands that the game would accept from a seat in this state."""
        commands: list[str] = seen.view.commands(seat)  # type: ignore[attr-defined]
        return commands

    def demonstration(self, kind: str, agents: int) -> tuple[tuple[str, str], ...]:
        """Return states and commands of a short game on another level.

        Args:
            kind: ``"full"``, ``"few"`` or ``"off"``.
            agents: Number of agents in the demonstration, 0 for the number in the game.
        """
        if kind == "off":
            return ()
        pairs = self.examples(agents or self.game.n_agents)
        return pairs[: self.few] if kind == "few" else pairs


class CentralAgent:
    """Agent that commands its seats. Seats join it on reset; the first one's session sends all requests."""

    def __init__(self, session: ModelSession, values: Mapping[str, Value], language: CommandLanguage) -> None:
        self.session = session
        self.on = values
        self.language = language
        self.seats: list[int] = []
        self._window: deque[tuple[str, str]] = deque(maxlen=int(values["history"]))
        self._timestep = -1
        self._commands: dict[int, str] = {}
        self._ignored: list[str] = []  # messages about commands of the last answer
        self._voided: list[str] = []  # its commands, if they were voided as a whole
        self._served: Counter[str] = Counter()  # at the last request

    def command(self, seen: AgentView) -> str | None:
        """Return the command for a seat; None if there was no usable reply in this step.

        The first seat in a step triggers one request for all seats.
        """
        if seen.timestep != self._timestep or seen.error is not None:
            self._timestep = seen.timestep
            self._ask(seen)
        return self._commands.get(seen.seat)

    @property
    def turn_order(self) -> tuple[int, ...]:
        """Seats in the order of their written commands."""
        return tuple(self._commands)

    def _ask(self, seen: AgentView) -> None:
        state = self._state(seen)
        self._commands = {}
        self._ignored = []
        self._voided = []
        schema = None
        if self.session.settings.answer == "schema":
            names = {self.language.name(seat): self.language.legal(seen, seat) for seat in self.seats}
            schema = commands_schema(names)
        try:
            rules = self._fixed()
            chat = [*rules, *self._before(), ChatMessage("user", state)]
            fixed = len(joined(rules)) - 1
            self._commands = self.session.ask(chat, self._read, schema, fixed=fixed)
        except UnusableReply:
            pass
        idle = [self.language.idle(seat) for seat in self.seats if seat not in self._commands]
        lines = self._voided or [*self._commands.values(), *idle]
        self._window.append((state, "\n".join(lines)))

    def _read(self, text: str) -> Answer:
        listed = [command for _, command in self.language.find(text)]
        void = self.language.why_void(listed) if listed and self.on["lists"] == "whole" else None
        if void is not None:
            self._ignored, self._voided = [void] if void else [], listed[: len(self.seats)]
            return Answer({}, LINE)
        commands = self.language.read(text, self.seats)
        self._ignored = self.language.ignored(text, self.seats, self.session.info.game.n_agents)
        answer = read_object(visible(text), [self.language.name(seat) for seat in self.seats])
        return Answer(commands, LINE if answer is None else answer.how)

    def _before(self) -> list[ChatMessage]:
        return [
            turn
            for state, lines in self._window
            for turn in (ChatMessage("user", state), ChatMessage("assistant", lines))
        ]

    def _state(self, seen: AgentView) -> str:
        feedback: str | None = None
        if self.on["feedback"] and seen.error is not None:
            feedback = self.language.feedback([seen.error[1], *self._ignored], {}, [])
        elif self.on["feedback"]:
            refusals = [message for _, _, _, message in seen.refused if message]
            served = Counter(seen.scene.get("accomplished", ()))
            news = [*(served - self._served).elements()]
            feedback = self.language.feedback([*refusals, *self._ignored], self._commands, news)
            self._served = served
        others = [(self.language.name(seat), text) for seat, text in seen.earlier if seat not in self.seats]
        return self.session.prompts.fill("state", state=seen.text, feedback=feedback, earlier=others)

    def _fixed(self) -> list[ChatMessage]:
        demo = self.language.demonstration(str(self.on["demo"]), int(self.on["demo_agents"]))
        fill = self.session.prompts.fill
        values = self.language.variables(bool(demo)) | {
            "hints": self.on["hints"],
            "times": self.on["times"],
            "seats": self.seats,
            "json": self.session.settings.answer == "schema",
        }
        turns = [ChatMessage("user", fill("rules", **values))]
        for state, commands in demo:
            state_text = fill("state", state=state, feedback=None, earlier=[])
            turns += [ChatMessage("user", state_text), ChatMessage("assistant", commands)]
        return [*turns, ChatMessage("user", fill("begin", **values))]


class CommandedSeat:
    """Seat that executes the commands of a central agent."""

    def __init__(self, agent: CentralAgent, seat: int) -> None:
        self.agent = agent
        agent.seats.append(seat)

    def act(self, seen: AgentView) -> Decision:
        """Return the command for this seat; a refusal is reported to the central agent in the next step."""
        if seen.error is not None and not self.agent.on["correct"]:
            return Decision(action=seen.idle_action)
        command = self.agent.command(seen)
        cost = self.agent.session.take_cost()
        if command is None:
            return Decision(action=seen.idle_action, **cost)
        return Decision(plan=command, turn_order=self.agent.turn_order, **cost)

    def reply(self, seen: AgentView) -> Message | None:
        """Return None: a single model needs no messages."""
        return None
