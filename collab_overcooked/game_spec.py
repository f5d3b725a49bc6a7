"""Records of games for the registry: everything that is available without importing a game."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class SuiteEntry(NamedTuple):
    """Description of a suite, available without importing it."""

    entry: str  # ``"package.module:class"``, an ``evaluation.suites.Suite``
    summary: str  # One line for listings
    # ``"package.module:object"``, an ``evaluation.suite_options.SuiteOptions``; its module imports no kernels
    options: str = "collab_overcooked.evaluation.suite_options:DEFAULT"


PLAIN = "kitchen"
"""Name of the language of texts without a lexicon."""
MENUS = LEGAL, VOCABULARY = "legal", "vocabulary"
"""What lists of actions contain: those that are possible now, or all that the seat can ever take."""
NO_TEACHER = "none"
"""Mode of teaching without a teacher."""


class TeacherEntry(NamedTuple):
    """Description of a teacher, available without importing it."""

    entry: str  # ``"package.module:function"``, called with the text after the name and the factory of policies
    kind: str  # See ``policies.registry.PolicyEntry``
    summary: str  # One line for listings


class PresetEntry(NamedTuple):
    """Settings of a paper's evaluation of language agents."""

    switches: Mapping[str, Any]  # Switches of the agents, as in their specs
    options: Mapping[str, Any]  # Options of the environment
    scoring: Mapping[str, Any]  # Scoring options of the suite
    summary: str  # One line for listings


@dataclass(frozen=True)
class GameSpec:
    """Description of a game, available without importing it. Modules and classes are named by strings.

    Attributes:
        id: Public id.
        game: ``"package.module:class"`` of the game.
        summary: One line for listings.
        module: Module in PettingZoo's form, with ``env``, ``raw_env`` and ``parallel_env``; if empty, it is created,
            see ``pettingzoo_module``.
        suites: Suites of the game by name; the first one scores its records and is used by 'compare'.
        policies: Factories of its policies by role (``"greedy"``, ``"planner"``): ``"package.module:class"``, or a
            function of the text of a spec; see ``policies.parameters.load_factory``.
        prompts: ``"package:folder"`` of its prompt templates; empty if it uses only the common ones.
        language_agents: ``"package.module:class"`` of the game's part of language agents by kind (``"partner"``,
            ``"dispatch"``); the first kind is the default.
        presets: Presets by name, the value of ``preset`` in specs.
        teachers: Teachers that are specific to the game, by name.
        documents: ``"package.module:object"`` of its kinds of files, each a ``io.document_kinds.DocumentKind``.
        generator: ``"package.module:class"`` that writes such files, a ``io.document_kinds.Generator``; empty if none.
        metrics: ``"package.module:object"`` of its metrics, a ``metrics.registry.MetricSet``; empty if none.
        human_games: Module that reads games of people in a public format; empty if none.
        questions: ``"package.module:object"`` that generates questions about its states, a
            ``questions.source.QuestionSource``; empty if none.
        recap: ``"package.module:function"`` that summarises an episode for a teacher, from game and record; empty if
            the actions of the steps suffice.
        subplans: ``"package.module:class"`` that is called with the compiled game and returns a
            ``policies.search.subplans.SubplanProvider`` for joint planning; empty if none.
        menu: Actions that language agents choose from: ``"legal"`` ones, or the whole ``"vocabulary"`` of the seat,
            where a rule that understands nothing scores well among possible actions.
        minutes: About how long people play one episode; 0 if unknown.
        difficulty: For people, from 1 (easy) to 3 (hard); 0 if unknown.
    """

    id: str
    game: str
    summary: str
    module: str = ""
    suites: Mapping[str, SuiteEntry] = field(default_factory=dict)
    policies: Mapping[str, str] = field(default_factory=dict)
    prompts: str = ""
    language_agents: Mapping[str, str] = field(default_factory=dict)
    presets: Mapping[str, PresetEntry] = field(default_factory=dict)
    teachers: Mapping[str, TeacherEntry] = field(default_factory=dict)
    documents: tuple[str, ...] = ()
    generator: str = ""
    metrics: str = ""
    human_games: str = ""
    questions: str = ""
    recap: str = ""
    subplans: str = ""
    menu: str = LEGAL
    minutes: int = 0
    difficulty: int = 0
