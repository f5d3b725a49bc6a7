"""Languages of pages: every file has every word. Texts of games stay in English."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from collab_overcooked import registry
from collab_overcooked.core.limits import SENTENCES
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


def test_pages_say_of_messages_what_prompts_say() -> None:
    assert words("en")["page"]["message_rules"] == SENTENCES


def test_every_game_has_a_name_and_a_goal() -> None:
    ids = {env_id.partition("-v")[0] for first_suite in registry.first_suites().values() for env_id in first_suite}
    assert words("en")["games"].keys() == ids


def test_patterns_of_labels_name_groups_that_they_have() -> None:
    for pattern, template in json.loads(page_file("labels.json"))["patterns"]:
        groups = re.compile(pattern).groups
        assert all(1 <= int(number) <= groups for number in re.findall(r"\{(\d)\??\}", template)), pattern


def test_lines_of_scripts_and_styles_are_short() -> None:
    """Of at most 120 characters, but for template literals, which no formatter breaks."""
    package = Path(str(files("collab_overcooked")))
    pages = [path for suffix in ("js", "css") for path in package.glob(f"*/page/*.{suffix}")]
    assert {"play.js", "study.css", "picture.js"} <= {path.name for path in pages}
    long = [
        f"{path.name}:{number}"
        for path in pages
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > 120 and "`" not in line
    ]
    assert not long
