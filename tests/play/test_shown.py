"""What a person is shown of a moment: frames, questions and what was done."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from play.world import GAMES
from support.hidden import hide, reach

from collab_overcooked.games.house.suite import HouseEvent
from collab_overcooked.play.clock import in_seconds
from collab_overcooked.play.people import SendQueue
from collab_overcooked.play.settings import PlaySettings
from collab_overcooked.play.shown import frame_of, news_of, question_of
from collab_overcooked.policies.api import AgentView
from collab_overcooked.registry import load_game
from collab_overcooked.reporting.pictures import SPRITE, difference, picture_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It cooks for 10 or 20 steps.", "It cooks for 1.5 or 3 s."),
        ("2 soups, last in step 388; over after 400 steps.", "2 soups, last after 58.2 s; over after 60 s."),
        ("Step by step, 2 soups.", "Step by step, 2 soups."),
    ],
)
def test_texts_of_games_in_real_time_tell_seconds(text: str, expected: str) -> None:
    assert in_seconds(text, 0.15) == expected


@pytest.mark.parametrize("name", GAMES)
def test_what_a_seat_may_not_know_changes_no_byte_of_its_frames(name: str) -> None:
    env_id, options = GAMES[name]
    game = load_game(env_id, **options)
    outboxes = {(seat, side): SendQueue() for seat in range(game.n_agents) for side in range(2)}
    settings = PlaySettings()
    for steps in (0, 3, 8):
        state, _ = reach(game, 5, steps)
        for seat in range(game.n_agents):
            sent = []
            for side, snapshot in enumerate((state, hide(game, state, seat, np.random.default_rng(steps)))):
                out = game.alloc(1)[1]
                game.observe(snapshot, out)
                seen = AgentView.of(game, snapshot, out, seat, steps)
                frame = frame_of(game, seen, settings, outboxes[seat, side])
                sent.append(json.dumps([frame, question_of(seen, "act", 1, settings)], allow_nan=False))
            assert sent[0] == sent[1], (name, seat, steps)


def event_with(label: str) -> HouseEvent:
    return HouseEvent(label=label, reason="OK", ended="done", ticks=1, saw=0, delivered=0, spoken=0)


def test_what_was_done_in_a_home_names_things_as_the_seat_knows_them() -> None:
    game = load_game("Housework-v0")
    state, out = reach(game, 0, 40)
    view = AgentView.of(game, state, out, 0, 40).view
    known = next(text for text in view.action_texts if re.fullmatch(r"pick up (?!thing)\w+ \d+", text))
    number = known.split()[-1]
    labels = [f"pick up thing {number}", "pick up thing 0"]
    step = SimpleNamespace(events=[event_with(label) for label in labels], order_changes=[])
    assert news_of(step, view, 0) == [[0, 0, known, ""]]


@pytest.mark.parametrize("name", GAMES)
def test_no_frame_shows_a_sprite_that_the_page_lacks(name: str) -> None:
    env_id, options = GAMES[name]
    game, has = load_game(env_id, **options), set()
    before: dict[str, Any] = {}
    for steps in range(6):
        state, _ = reach(game, 1, steps)
        after = picture_of(game, game.scene(state, 0), None)
        change = difference(before, after)
        has |= {key.removeprefix(SPRITE) for key in change["put"] if key.startswith(SPRITE)}
        before = before | after
        assert used_sprites(after) <= has
        assert any(key == "board" for key in after), "every game has a board"


def used_sprites(picture: dict[str, Any]) -> set[str]:
    """Names of ten hexadecimal digits anywhere outside of the sprites themselves."""
    message = json.dumps({key: value for key, value in picture.items() if not key.startswith(SPRITE)})
    return set(re.findall(r'"([0-9a-f]{10})"', message))
