"""Every item of the built-in set, answered again from its text alone by ``naive.question_texts``."""

from __future__ import annotations

import pytest
from support.naive.question_texts import Unclear, answers

from collab_overcooked.questions.items import read_questions
from collab_overcooked.questions.source import source_of

ITEMS = read_questions().items


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


def test_a_few_items():
    assert differences(ITEMS[::140]) == {}


@pytest.mark.slow
def test_items_of_every_group():
    """One of each game and kind, others than above."""
    groups = {(item.scene.env_id, item.kind): item for item in ITEMS[1::2]}
    assert differences(groups.values()) == {}


@pytest.mark.nightly
def test_all_items():
    assert differences(ITEMS) == {}
