"""Languages of pages: every file has every word. Texts of games stay in English."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from collab_overcooked import registry
from collab_overcooked.play.server import page_file
from collab_overcooked.play.settings import LANGUAGES

OTHERS = [language for language in LANGUAGES if language != "en"]


def words(language: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(page_file(f"words.{language}.json"))
    return result


def shape(value: Any) -> Any:
    """Keys and the placeholders of texts."""
    if isinstance(value, dict):
        return {key: shape(part) for key, part in value.items()}
    return sorted(re.findall(r"\{\w+\}", value)) if isinstance(value, str) else None


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_has_the_words_and_games_of_english(language: str) -> None:
    here, english = words(language), words("en")
    assert here["language"] == language and shape(here["page"]) == shape(english["page"])
    assert shape(here["games"]) == shape(english["games"])
    same = [key for key, text in here["page"].items() if text == english["page"][key] and len(str(text)) > 12]
    assert not same, "still English"


def test_every_game_has_a_name_and_a_goal() -> None:
    ids = {env_id.partition("-v")[0] for first_suite in registry.first_suites().values() for env_id in first_suite}
    assert words("en")["games"].keys() == ids


def test_patterns_of_labels_name_groups_that_they_have() -> None:
    for pattern, template in json.loads(page_file("labels.json"))["patterns"]:
        groups = re.compile(pattern).groups
        assert all(1 <= int(number) <= groups for number in re.findall(r"\{(\d)\??\}", template)), pattern
