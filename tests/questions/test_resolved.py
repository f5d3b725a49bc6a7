"""Every item of the built-in set, answered again from its text alone by ``naive.question_texts``."""

from __future__ import annotations

import pytest
from naive.question_texts import Unclear, answers

from collab_overcooked.questions.items import KINDS, read_questions
from collab_overcooked.questions.source import source_of

ITEMS = read_questions().items
KITCHENS = tuple(item for item in ITEMS if item.scene.env_id == "Overcooked-v0" and item.kind != "fact")
OTHERS = tuple(item for item in ITEMS if item not in KITCHENS)
ESCAPES = [item for item in OTHERS if item.scene.env_id == "CollabEscape-v0" and item.kind != "fact"]
TEN_ROOMS = [item for item in ESCAPES if item.scene.options.get("map") != "themed_rooms"]


def texts(item):
    source = source_of(item.scene.env_id)
    return source.rules(item), source.describe(item), item.question, item.choices


def answered(item):
    """The answer of the text: no item, no scene and no evidence get to the solver."""
    try:
        return answers(*texts(item))
    except (Unclear, AssertionError, ValueError, KeyError) as error:
        return f"{type(error).__name__}: {error}"


def differences(items):
    results = {item.id: (answered(item), list(item.correct)) for item in items}
    return {name: pair for name, pair in results.items() if pair[0] != pair[1]}


def test_facts_of_all_games_and_actions_of_the_room_games():
    assert {(item.scene.env_id, item.kind) for item in OTHERS} >= {
        (game, kind)
        for game in ("CollabCapture-v0", "CollabEscape-v0")
        for kind in KINDS
    } | {("Overcooked-v0", "fact")}  # fmt: skip
    assert differences([item for item in OTHERS if item not in TEN_ROOMS]) == {}


@pytest.mark.slow
def test_actions_in_the_ten_rooms_of_escape():
    assert len(TEN_ROOMS) > 60 and differences(TEN_ROOMS) == {}


def test_actions_in_kitchens_that_are_decided_soonest():
    soonest = sorted(KITCHENS, key=lambda item: (item.evidence["best"], item.id))
    assert differences([item for item in soonest if item.evidence["best"] <= 3][:6]) == {}


@pytest.mark.nightly
def test_actions_in_all_kitchens():
    assert any("gate" in item.scene.options["layout"] for item in KITCHENS)
    assert differences(KITCHENS) == {}
