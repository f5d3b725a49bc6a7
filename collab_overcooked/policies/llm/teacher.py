"""Teacher between episodes: a model that reads the last episode and writes feedback to the team or to each agent.

Its two modes are the conditions ``teacher_group`` and ``teacher_individual`` of a paper; the texts are our own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from collab_overcooked import registry
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.envs.lexicon import translator_of
from collab_overcooked.policies.api import EnvInfo, Lesson, Policy
from collab_overcooked.policies.llm.agents import LanguagePolicy
from collab_overcooked.policies.llm.answers import PROSE, Answer, Unreadable, fields_schema, read_fields, shorten
from collab_overcooked.policies.llm.budget import UsageMeter
from collab_overcooked.policies.llm.client import KIND, Client
from collab_overcooked.policies.llm.exchange import ChatMessage, UnusableReply
from collab_overcooked.policies.llm.markup import visible
from collab_overcooked.policies.llm.prompts import Prompts
from collab_overcooked.policies.llm.session import ModelSession
from collab_overcooked.policies.llm.settings import AgentSettings

SEAT = -1  # of the teacher, which has no seat
MAX_LESSON = 2_000  # characters
MAX_HISTORY = 250  # maximum number of lines about an episode, the last ones
DIGITS = 2  # decimal places of results


class LanguageTeacher:
    """A language model that teaches."""

    def __init__(self, settings: AgentSettings, client: Client) -> None:
        self.name = f"llm:{settings.model}"
        self.settings, self.client = settings, client
        self._usage = UsageMeter()

    def teach_group(self, lesson: Lesson) -> str:
        """Return a strategy for the team; empty without a usable answer."""
        try:
            return self._ask(lesson, individual=False)["all"]
        except UnusableReply:
            return ""

    def teach_individual(self, lesson: Lesson) -> Sequence[str]:
        """Return feedback for each seat; empty without a usable answer."""
        names = lesson.game.display_names
        try:
            feedback = self._ask(lesson, individual=True)
        except UnusableReply:
            return [""] * len(names)
        return [feedback[name] for name in names]

    def account(self) -> dict[str, Any]:
        """Return the cost of the last lesson."""
        return {"model": self.settings.model, "agent": "teacher", **self._usage.to_dict(SEAT)}

    def _ask(self, lesson: Lesson, individual: bool) -> dict[str, str]:
        game, record = lesson.game, lesson.record
        names, json = game.display_names, self.settings.json
        self._usage = UsageMeter(prices=self.client.prices)
        info = EnvInfo(game.id, game, record.task, record.specs)
        prompts = Prompts(game.id, self.settings.prompts)
        session = ModelSession(self.settings, self.client, self._usage, prompts, SEAT, info, record.seed)
        prompt = prompts.fill(
            "teach", names=names, manual=lesson.manual, episodes=_episodes(lesson), individual=individual, json=json
        )
        if not individual:
            return {"all": session.ask([ChatMessage("user", prompt)], _lesson)}
        schema = fields_schema(names) if json else None
        answer = session.ask([ChatMessage("user", prompt)], partial(read_fields, names=names, needed=names), schema)
        return {name: shorten(text, MAX_LESSON) for name, text in answer.items()}


def _lesson(text: str) -> Answer:
    lesson = shorten(visible(text), MAX_LESSON)
    if not lesson:
        raise Unreadable("Write at least one sentence.")
    return Answer(lesson, PROSE)


def _episodes(lesson: Lesson) -> list[dict[str, Any]]:
    names, episodes = lesson.game.display_names, []
    past: list[tuple[EpisodeRecord, tuple[str, ...]]] = [*lesson.earlier, (lesson.record, ())]
    for record, feedback in past:
        by_name = {"": feedback[0]} if len(set(feedback)) == 1 else dict(zip(names, feedback, strict=False))
        history = _history(lesson.game, record)[-MAX_HISTORY:]
        episodes.append(
            {"history": history, "results": _results(lesson.game, record, lesson.meanings), "told": by_name}
        )
    return episodes


def _history(game: Any, record: EpisodeRecord) -> list[str]:
    entry = registry.find(game.id).recap
    if entry:
        say = translator_of(game)
        return [say(line) for line in registry.load_entry(entry)(game, record)]
    names, lines = game.display_names, []
    for t, step in enumerate(record.steps, start=1):
        actions = [f"{names[seat]} {action}" for seat, action in enumerate(step.action_texts)]
        refusals = [f"refused to {names[error.agent]}: {error.message}" for error in step.errors]
        lines.append(f"{t}. " + "; ".join([*actions, *refusals]))
    return lines


def _results(game: Any, record: EpisodeRecord, meanings: Mapping[str, str]) -> list[str]:
    say = translator_of(game)
    plain = {name: value for name, value in record.metrics.items() if isinstance(value, (int, float, list, str))}
    told = {name: f" ({_of_one(meanings[name])})" if name in meanings else "" for name in plain}
    return [say(f"{name.replace('_', ' ')}: {_rounded(value)}{told[name]}") for name, value in plain.items()]


def _of_one(meaning: str) -> str:
    """Return a metric's meaning for one episode, without its symbol in the paper."""
    text = re.sub(r"^[A-Z][A-Z+=-]: |^Share of episodes ", "", meaning).rstrip(".")
    return text[:1].lower() + text[1:]


def _rounded(value: object) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(str(_rounded(item)) for item in value)
    return round(value, DIGITS) if isinstance(value, float) else value


def from_text(text: str, make: Callable[[str], Policy]) -> LanguageTeacher:
    """Create the teacher of a spec such as ``"teacher_group:llm:gpt-4o"``.

    Args:
        text: Spec of the model without prefix, as in the spec of a language policy.
        make: Factory of language policies, whose client the teacher uses.

    Raises:
        ValueError: The spec does not name a language policy.
    """
    model = make(f"{KIND}:{text}")
    if not isinstance(model, LanguagePolicy):
        raise ValueError(f"teacher {KIND}:{text}: must be a language policy, not {model.name!r}")
    return LanguageTeacher(model.settings, model.client)
