"""A small study of a quick game."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from collab_overcooked.study.design import Study
from collab_overcooked.study.journal import Journal
from collab_overcooked.study.reader import read_study

QUICK: dict[str, Any] = {
    "title": "Quick <b>study</b>",
    "consent": "Do you agree?\n\n- to one\n- to two",
    "participants": {"id": "PID", "keep": ["STUDY"], "wait": 20, "limit": 4, "per_network": 20},
    "partners": {"mate": "greedy"},
    "play": {"show": "words", "names": "blind"},
    "conditions": {
        name: {
            "label": label,
            "suite": "rush",
            "team": ["agent_0=person", f"all={partner}"],
            "options": {"scenario": ["easy"], "domain": ["kitchen"], "episodes": 1},
        }
        for name, label, partner in (("helped", "A", "mate"), ("hindered", "B", "random"))
    },
    "blocks": [
        {"page": {"title": "How", "text": "Read this."}},
        {"form": "before"},
        {"play": ["helped", "hindered"], "after": "liked"},
    ],
    "forms": {
        "before": {
            "title": "You",
            "items": [
                {"name": "age", "number": [18, 99], "ask": "Age?"},
                {"name": "games", "many": ["cards", "chess"], "optional": True, "ask": "Which?"},
            ],
        },
        "liked": {
            "title": "This one",
            "items": [
                {"name": "fun", "likert": 5, "low": "none", "high": "much", "ask": "Fun?"},
                {"name": "why", "text": "free", "optional": True, "ask": "Why?"},
            ],
        },
    },
    "finish": {"done": {"code": "XYZ", "url": "https://example.org/back?cc=XYZ&id={id}&s={STUDY}"}},
}


CHECKED = {
    "blocks": [{"form": "check"}, QUICK["blocks"][2]],
    "forms": {
        "liked": QUICK["forms"]["liked"],
        "check": {
            "title": "Check",
            "within": 60,
            "items": [
                {"name": "two", "choice": ["one", "two"], "expect": "two", "ask": "Choose two."},
                {"name": "both", "many": ["one", "two", "three"], "expect": ["one", "two"], "ask": "Tick one and two."},
                {"name": "four", "likert": 5, "expect": 4, "ask": "Choose 4."},
                {"name": "age", "number": [1, 99], "ask": "Age?"},
            ],
        },
    },
}
ATTENTIVE = {"two": "two", "both": ["two", "one"], "four": "4", "age": "20"}


def changed(*path: Any, to: Any) -> dict[str, Any]:
    """Return the quick study with another value somewhere."""
    values: dict[str, Any] = copy.deepcopy(QUICK)
    place: Any = values
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return values


def three_conditions(folder: Path, fun: Callable[[str], int]) -> Study:
    """Let twelve people answer under three conditions.

    Args:
        folder: Of the study.
        fun: Their answer by condition.
    """
    content = changed("participants", to={"id": "PID", "keep": ["STUDY"], "limit": 20})
    content["conditions"]["third"] = content["conditions"]["helped"] | {"label": "C"}
    content["blocks"] = [{"play": list(content["conditions"]), "after": "liked"}]
    del content["forms"]["before"]
    study = read_study(content)
    with Journal.open(folder, study) as journal:
        for n in range(12):
            person = journal.join({"PID": f"p{n}"})
            journal.form_group([person.id])
            while (step := journal.step_of(person)) is not None:
                answers = {"fun": fun(step.condition), "why": ""}
                journal.passed(person) if step.kind == "play" else journal.answered(person, answers)
            journal.end(person, "done")
    return study


def in_pairs(**participants: Any) -> dict[str, Any]:
    """Return the quick study with games of two people alone, without questions before them."""
    content = changed("participants", to={"id": "PID", "group": 2, **participants})
    for condition in content["conditions"].values():
        condition["team"] = ["all=person"]
    content["blocks"], content["finish"] = [content["blocks"][2]], {}
    del content["forms"]["before"]
    return content


@contextlib.contextmanager
def served(study: Study, folder: Path) -> Any:
    """Yield a browser without a script, whose attributes ``host`` and ``games`` are those of its server."""
    pytest.importorskip("starlette", reason="needs the extra play")
    pytest.importorskip("httpx2", reason="needs httpx2 for starlette's test client")
    from starlette.testclient import TestClient

    from collab_overcooked.study.app import make_study_app

    with Journal.open(folder, study) as journal:
        web, games, host = make_study_app(journal)
        with TestClient(web, base_url="http://localhost") as result:
            result.host, result.games = host, games
            try:
                yield result
            finally:
                host.close()


def factorial(**block: Any) -> dict[str, Any]:
    """Return a study of two factors, a partner and talk, without a page."""
    content = {key: copy.deepcopy(value) for key, value in QUICK.items() if key != "conditions"}
    content["factors"] = {"partner": ["mate", "random"], "talk": [True, False]}  # as YAML reads on and off
    content["cell"] = {**copy.deepcopy(QUICK["conditions"]["helped"]), "team": ["agent_0=person", "all={partner}"]}
    content["blocks"] = [{"play": "cells", "after": "liked", **block}]
    del content["forms"]["before"]
    return content
