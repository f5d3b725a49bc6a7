"""Keys that people hold and tap, and what they mean in a game."""

from __future__ import annotations

from collab_overcooked import registry
from collab_overcooked.play.keys import HeldKeys, key_actions


def test_the_newest_key_counts_and_nothing_queues() -> None:
    keys = HeldKeys()
    assert keys.take() is None
    keys.press("up")
    keys.press("left")
    assert [keys.take(), keys.take()] == ["left", "left"]  # held
    keys.release("left")
    assert keys.take() == "up"
    for _ in range(9):
        keys.press("up")  # repetition of a keyboard
    keys.release("up")
    assert keys.take() is None


def test_a_tap_shorter_than_a_tick_counts_once() -> None:
    keys = HeldKeys()
    keys.press("act")
    keys.release("act")
    assert [keys.take(), keys.take()] == ["act", None]
    keys.tap("up")
    keys.clear()
    assert keys.take() is None


def test_keys_of_games_follow_from_their_words() -> None:
    kitchen = registry.load_game("Overcooked-v0")
    texts = kitchen.action_texts()
    assert {key: texts[action] for key, action in key_actions(kitchen, 0).items()} == {
        **{"up": "north", "down": "south", "left": "west", "right": "east", "act": "interact", "stay": "stay"}
    }
    assert key_actions(registry.load_game("CuisineWorld-v0"), 0) == {}
