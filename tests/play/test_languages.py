"""Languages of pages: every file has every word, and every action of every game is written in it."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from play.test_pictures import GAMES

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


@pytest.mark.parametrize("language", OTHERS)
def test_sentences_have_the_holes_of_their_english_templates(language: str) -> None:
    sentences = words(language)["sentences"]
    assert sentences
    for template, sentence in sentences.items():
        assert set(re.findall(r"\{\w+\*?\}", sentence)) <= set(re.findall(r"\{\w+\*?\}", template)), template


@pytest.mark.parametrize("language", LANGUAGES)
def test_patterns_are_read_and_name_groups_that_they_have(language: str) -> None:
    for pattern, template in words(language)["patterns"]:
        groups = re.compile(pattern).groups
        assert all(1 <= int(number) <= groups for number in re.findall(r"\{(\d)\??\}", template)), pattern


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("name", GAMES)
def test_every_action_is_written_in_every_language(name: str, language: str) -> None:
    """No action stays as the game writes it; digits, codes of places and proper names apart."""
    env_id, options = GAMES[name]
    env = registry.make(env_id, **options)
    env.reset(seed=0)
    data = words(language)
    patterns = [re.compile(pattern) for pattern, _ in data["patterns"]]
    state = env.clone_state().state
    rng, seen = np.random.default_rng(0), set()
    for seat in range(env.game.n_agents):
        labels = env.game.action_labels(state, 0, seat)
        seen |= {labels[int(k)] for k in rng.permutation(len(labels))[:120]}
    left = [text for text in sorted(seen) if text not in data["terms"] and not any(p.fullmatch(text) for p in patterns)]
    assert left == []


DISHES = {
    "CollabOvercooked-v0": [{}],
    "CuisineWorld-v0": [{"level": f"level_{number}"} for number in range(13)],
    "CraftKitchen-v0": [{}],
}


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("env_id", DISHES)
def test_names_of_several_words_are_translated_as_a_whole(env_id: str, language: str) -> None:
    """Word by word, adjectives would lack their endings and compounds would stay apart."""
    terms = words(language)["terms"]
    names = {name for options in DISHES[env_id] for name in registry.make(env_id, **options).game.names()}
    spaced = {re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.replace("_", " ")).lower() for name in names}
    several = {name for name in spaced if " " in name and not name[-1].isdecimal()}
    assert several and sorted(several - {term.replace("_", " ") for term in terms}) == []
