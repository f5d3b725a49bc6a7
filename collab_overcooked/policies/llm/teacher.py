"""A teacher between episodes: a model that reads what happened and writes to the whole group or to each student.

Its two ways are the conditions ``teacher_group`` and ``teacher_individual`` of a paper; the texts are our own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from collab_overcooked import registry
from collab_overcooked.envs.lexicon import translator_of
from collab_overcooked.envs.seen import seat_names
from collab_overcooked.policies.api import EnvInfo, Lesson, Policy
from collab_overcooked.policies.llm.agents import LanguagePolicy
from collab_overcooked.policies.llm.answers import Unreadable, fields_schema, read_fields, shorten, visible
from collab_overcooked.policies.llm.budget import UsageMeter
from collab_overcooked.policies.llm.client import ChatMessage, UnusableReply
from collab_overcooked.policies.llm.connection import KIND, Connection
from collab_overcooked.policies.llm.prompts import Prompts
from collab_overcooked.policies.llm.session import ModelSession
from collab_overcooked.policies.llm.settings import AgentSettings

SEAT = -1  # of the teacher, who has none
MAX_LESSON = 2_000  # characters
MAX_HISTORY = 250  # lines that are shown of an episode, the last ones
DIGITS = 2  # of results behind the point


class LanguageTeacher:
    """A language model that teaches."""

    def __init__(self, settings: AgentSettings, connection: Connection) -> None:
        self.name = f"llm:{settings.model}"
        self.settings, self.connection = settings, connection
        self._usage = UsageMeter()

    def teach_group(self, lesson: Lesson) -> str:
        """Return a strategy for all; empty if the model has no usable answer."""
        try:
            return self._ask(lesson, individual=False)["all"]
        except UnusableReply:
            return ""

    def teach_individual(self, lesson: Lesson) -> Sequence[str]:
        """Return a text for each seat; empty ones if the model has no usable answer."""
        names = seat_names(lesson.game)
        try:
            told = self._ask(lesson, individual=True)
        except UnusableReply:
            return [""] * len(names)
        return [told[name] for name in names]

    def account(self) -> dict[str, Any]:
        """Return what the last lesson took."""
        return {"model": self.settings.model, "agent": "teacher", **self._usage.to_dict(SEAT)}

    def _ask(self, lesson: Lesson, individual: bool) -> dict[str, str]:
        game, record = lesson.game, lesson.record
        names, json = seat_names(game), self.settings.json
        self._usage = UsageMeter(prices=self.connection.prices)
        info = EnvInfo(game.id, game, record["task"], tuple(record["team"].values()))
        prompts = Prompts(game.id, self.settings.prompts)
        session = ModelSession(self.settings, self.connection.client, self._usage, prompts, SEAT, info, record["seed"])
        words = prompts.fill(
            "teach", names=names, manual=lesson.manual, episodes=_episodes(lesson), individual=individual, json=json
        )
        if not individual:
            return {"all": session.ask([ChatMessage("user", words)], _lesson)}
        schema = fields_schema(names) if json else None
        found = session.ask([ChatMessage("user", words)], partial(read_fields, names=names, needed=names), schema)
        return {name: shorten(text, MAX_LESSON) for name, text in found.items()}


def _lesson(text: str) -> str:
    words = shorten(visible(text), MAX_LESSON)
    if not words:
        raise Unreadable("Write at least one sentence.")
    return words


def _episodes(lesson: Lesson) -> list[dict[str, Any]]:
    """Return the run's episodes, the last one last: ``history``, ``results``, and who was ``told`` what.

    What all were told alike stands once, under an empty name.
    """
    names, found = seat_names(lesson.game), []
    for record, told in (*lesson.earlier, (lesson.record, ())):
        words = {"": told[0]} if len(set(told)) == 1 else dict(zip(names, told, strict=False))
        history = _history(lesson.game, record)[-MAX_HISTORY:]
        found.append({"history": history, "results": _results(lesson.game, record), "told": words})
    return found


def _history(game: Any, record: Mapping[str, Any]) -> list[str]:
    """Return an episode in the game's own words, or who did what in each step and what was refused."""
    entry = registry.find(game.id).recap
    if entry:
        say = translator_of(game)
        return [say(line) for line in registry.load_entry(entry)(game, record)]
    names, lines = seat_names(game), []
    for t, step in enumerate(record["steps"], start=1):
        actions = [f"{names[seat]} {action}" for seat, action in enumerate(step["action_texts"])]
        refusals = [f"refused to {names[error['agent']]}: {error['message']}" for error in step["errors"]]
        lines.append(f"{t}. " + "; ".join([*actions, *refusals]))
    return lines


def _results(game: Any, record: Mapping[str, Any]) -> list[str]:
    say = translator_of(game)
    plain = {name: value for name, value in record["metrics"].items() if isinstance(value, (int, float, list, str))}
    return [say(f"{name.replace('_', ' ')}: {_rounded(value)}") for name, value in plain.items()]


def _rounded(value: Any) -> Any:
    """Return a result without needless digits; lists are by agent."""
    if isinstance(value, list):
        return ", ".join(str(_rounded(own)) for own in value)
    return round(value, DIGITS) if isinstance(value, float) else value


def from_text(text: str, make: Callable[[str], Policy]) -> LanguageTeacher:
    """Make the teacher of ``"teacher_group:llm:gpt-4o"``.

    Args:
        text: What follows the last word's colon, as in the spec of a language policy.
        make: Makes language policies; the teacher reaches its model in the way that they do.

    Raises:
        ValueError: For a text that language policies do not take, or if ``make`` makes others.
    """
    model = make(f"{KIND}:{text}")
    if not isinstance(model, LanguagePolicy):
        raise ValueError(f"teacher {KIND}:{text}: a language policy is needed, not {model.name!r}")
    return LanguageTeacher(model.settings, model.connection)
