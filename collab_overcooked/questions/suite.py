"""Suite of questions: items, policies and ways of answering."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

from collab_overcooked.evaluation.benchmark import BUDGETS, ComparisonBudget, NothingToPlay, Setting, Summary
from collab_overcooked.evaluation.suites import Suite
from collab_overcooked.io.checks import near_matches
from collab_overcooked.policies.registry import LANGUAGE
from collab_overcooked.policies.specs import PolicySpec, make_known_policy
from collab_overcooked.questions.answering import QuestionMatch, QuestionRecord, make_match, why_not
from collab_overcooked.questions.items import OWN, SHIPPED, Item, QuestionSet, choose_items, read_questions
from collab_overcooked.questions.options import AUTO, PLAY, WORDS
from collab_overcooked.questions.scoring import accuracy, cards
from collab_overcooked.questions.sets import read_set
from collab_overcooked.questions.source import games_with_questions
from collab_overcooked.reporting.result_table import Column
from collab_overcooked.reporting.scorecard import Scorecard


@lru_cache(maxsize=4)
def _read(path: str) -> QuestionSet:
    return read_set(path)


def games_asked() -> list[str]:
    """Return the games of the built-in questions."""
    asked = {item.scene.env_id for item in read_questions().items}
    return [game for game in games_with_questions() if game in asked]


def _settings() -> list[Setting]:
    return [Setting(game, {"games": game}) for game in games_asked()]


class QuestionSuite(Suite):
    """Questions about game states, scored by accuracy."""

    record_class = QuestionRecord
    has_success = True
    score_metric = "success"
    title, measure = "Questions", "accuracy in per cent"
    budgets: ClassVar = dict.fromkeys(BUDGETS, ComparisonBudget(_settings, {"kinds": OWN, "answers": PLAY}))
    repeats = "samples"
    benchmark_fields: ClassVar = {"mixed_teams": False, "scale": 100.0}

    def matches(self, team: Sequence[str], suite_options: Any, options: Mapping[str, Any]) -> list[QuestionMatch]:
        if options:
            raise ValueError(f"option {next(iter(options))!r} is set by each item's scene")
        spec = read_spec(team)
        way = suite_options.answers
        if way == AUTO:
            way = WORDS if PolicySpec.parse(spec).kind == LANGUAGE else PLAY
        if suite_options.without and way == PLAY:
            raise ValueError(f"without: policies that play see the state; use it with --answer-by {WORDS}")
        questions = _read(str(suite_options.file or SHIPPED))
        names = ("games", "kinds", "parts", "skills", "items")
        chosen = choose_items(questions, **{name: getattr(suite_options, name) for name in names})
        items = answerable(chosen, spec, way)
        return [make_match(item, spec, way, questions.name, suite_options.without) for item in items]

    def score(self, records: Sequence[Any], scoring: Any) -> list[Scorecard]:
        return cards(records)

    def outcome(self, record: Any) -> str:
        letter = record.answer.letter or "no choice"
        return f"{letter}, {'right' if record.success else 'wrong'}"

    def summary(self, records: Sequence[Any]) -> Summary:
        score, expected = accuracy(records)
        return Summary(score, {Column("chance", "estimate", 2): expected})


def read_spec(team: Sequence[str]) -> str:
    """Return the spec of the policy that answers, written ``llm:M`` or ``all=llm:M``.

    Raises:
        ValueError: Several policies are given.
    """
    if len(team) != 1:
        raise ValueError(f"team: one policy answers all questions, not {len(team)}; write for example all=planner")
    spec = team[0].removeprefix("all=").strip()
    return PolicySpec.parse(spec).check().text


def answerable(items: Iterable[Item], spec: str, way: str) -> tuple[Item, ...]:
    """Return the items that a policy can answer.

    Raises:
        ValueError: The way of answering is unknown.
        NothingToPlay: The policy can answer none of the items.
    """
    policy = None if way == WORDS or PolicySpec.parse(spec).kind == LANGUAGE else make_known_policy(spec)
    if way == WORDS and PolicySpec.parse(spec).kind != LANGUAGE:
        raise ValueError(f"answer-by: {near_matches('way of ' + spec, WORDS, (PLAY,))}")
    reasons: dict[tuple[str, str, str], str] = {}
    chosen = []
    for item in items:
        key = item.scene.env_id, str(item.scene.options), str(item.kind)
        if key not in reasons:
            reasons[key] = why_not(item, spec, way, policy)
        chosen += [] if reasons[key] else [item]
    if not chosen:
        raise NothingToPlay(f"questions: {spec} can answer none of them: {'; '.join(dict.fromkeys(reasons.values()))}")
    return tuple(chosen)
