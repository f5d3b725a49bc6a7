"""What is known of a game without importing it: its record, of which the registry keeps one for every game."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class SuiteRecord(NamedTuple):
    """What is known of a suite without importing it.

    Attributes:
        entry: ``"package.module:class"``, an ``evaluation.suites.Suite``.
        summary: One line for listings.
    """

    entry: str
    summary: str


class TeacherRecord(NamedTuple):
    """What is known of a teacher without importing it.

    Attributes:
        entry: ``"package.module:function"``, called with the text behind the name and with what makes policies.
        kind: See ``policies.registry.PolicyRecord``.
        summary: One line for listings.
    """

    entry: str
    kind: str
    summary: str


class PresetRecord(NamedTuple):
    """How a paper evaluated its language agents.

    Attributes:
        words: Of the agents, as in their specs.
        options: Of the environment.
        scoring: Options of how the suite counts.
        summary: One line for listings.
    """

    words: Mapping[str, Any]
    options: Mapping[str, Any]
    scoring: Mapping[str, Any]
    summary: str


@dataclass(frozen=True)
class GameRecord:
    """What is known of a game without importing it. Every module and class is named by a string.

    Attributes:
        id: Public id.
        game: ``"package.module:class"`` of the compiled game behind it.
        summary: One line for listings.
        module: Module in PettingZoo's form, with ``env``, ``raw_env`` and ``parallel_env``; empty if these are to
            be made, see ``pettingzoo_module``.
        suites: Suites that are played with it, by name; the first one scores its records and is compared.
        policies: What makes policies of its own, by role (``"greedy"``, ``"planner"``): ``"package.module:class"``, or
            a function of the text of a spec; see ``policies.specs.load_factory``.
        prompts: ``"package:folder"`` of its prompt templates; empty if the common ones are enough.
        language_agents: ``"package.module:class"`` of the game's side of the language agents that are made for it, by
            kind (``"partner"``, ``"dispatch"``); the first kind plays unless another is asked for.
        presets: ``"package.module:object"`` of how a paper evaluated its language agents, a ``PresetRecord``, by the
            name that stands behind ``preset`` in their specs.
        teachers: Those who know the game and speak between its episodes, by name.
        documents: ``"package.module:object"`` of its kinds of files, each a ``io.document_kinds.DocumentKind``.
        generator: ``"package.module:class"`` that makes such files, a ``io.document_kinds.Generator``; empty if none.
        graph: ``"package.module:function"`` that draws a graph of a subject to a file; empty if there is none.
        metrics: ``"package.module:object"`` of its own metrics, a ``metrics.registry.MetricSet``; empty if it has none.
        human_games: Module that reads games of people in a public format; empty if there is none.
        questions: ``"package.module:object"`` that makes and words questions about its moments, a
            ``questions.source.QuestionSource``; empty if there is none.
        recap: ``"package.module:function"`` that tells a teacher an episode in plain words, from game and record; empty
            where the actions of the steps say enough.
        subplans: ``"package.module:class"`` that is called with the compiled game and returns a
            ``policies.search.subplans.SubplanProvider``, from which teams plan together; empty if there is none.
    """

    id: str
    game: str
    summary: str
    module: str = ""
    suites: Mapping[str, SuiteRecord] = field(default_factory=dict)
    policies: Mapping[str, str] = field(default_factory=dict)
    prompts: str = ""
    language_agents: Mapping[str, str] = field(default_factory=dict)
    presets: Mapping[str, str] = field(default_factory=dict)
    teachers: Mapping[str, TeacherRecord] = field(default_factory=dict)
    documents: tuple[str, ...] = ()
    generator: str = ""
    graph: str = ""
    metrics: str = ""
    human_games: str = ""
    questions: str = ""
    recap: str = ""
    subplans: str = ""
