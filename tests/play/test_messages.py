"""Keys, the clock, outboxes and messages, with a time of their own."""

from __future__ import annotations

import asyncio
import json
import random

import pytest

from collab_overcooked import registry
from collab_overcooked.play.clock import TickClock, in_seconds
from collab_overcooked.play.keys import HeldKeys, key_actions
from collab_overcooked.play.messages import BURST, FIELDS, MAX_BYTES, MAX_TEXT, MessageError, Rate, read_message
from collab_overcooked.play.people import MAX_WAITING, SendQueue


class Time:
    """Seconds that pass when somebody sleeps, and each sleep lasts too long."""

    def __init__(self, late: float = 0.0) -> None:
        self.seconds, self.late = 100.0, late

    def now(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds + self.late


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


@pytest.mark.parametrize("late", [0.0, 0.004, 0.04])
def test_ticks_do_not_drift(late: float) -> None:
    time = Time(late)
    clock = TickClock(0.15, time.now, time.sleep)
    clock.start()

    async def run() -> None:
        for tick in range(1, 401):
            await clock.wait(tick)
            time.seconds += 0.02  # what a step takes

    asyncio.run(run())
    assert abs(time.seconds - (100 + 400 * 0.15)) < 0.15 and max(clock.late) < 0.05


def test_a_pause_moves_all_deadlines() -> None:
    time = Time()
    clock = TickClock(0.1, time.now, time.sleep)
    clock.start()
    clock.pause()
    time.seconds += 60
    clock.go_on()
    asyncio.run(clock.wait(3))
    assert time.seconds == pytest.approx(160.3)


def test_after_a_sleep_of_the_machine_ticks_do_not_rush() -> None:
    time = Time()
    clock = TickClock(0.1, time.now, time.sleep)
    clock.start()
    time.seconds += 30
    asyncio.run(clock.wait(1))
    asyncio.run(clock.wait(2))
    assert time.seconds == pytest.approx(130.1)


def test_only_the_newest_frame_waits_and_keeps_what_older_ones_brought() -> None:
    send_queue = SendQueue()
    send_queue.put(
        {
            "type": "frame",
            "timestep": 1,
            "said": ["a"],
            "picture": {"put": {"x": 1, "z": 1}, "drop": ["w"]},
            "text": "t",
        }
    )
    send_queue.put({"type": "state"})
    send_queue.put({"type": "frame", "timestep": 2, "said": ["b"], "picture": {"put": {"y": 2}, "drop": ["z"]}})
    first, second = asyncio.run(send_queue.get()), asyncio.run(send_queue.get())
    assert first == {"type": "state"} and second and second["timestep"] == 2
    assert second["said"] == ["a", "b"] and second["text"] == "t"
    assert second["picture"] == {"put": {"x": 1, "y": 2}, "drop": ["w", "z"]}


def test_a_connection_that_nobody_reads_is_ended() -> None:
    send_queue = SendQueue()
    for _ in range(MAX_WAITING + 1):
        send_queue.put({"type": "state"})
    assert send_queue.waiting == 1 and asyncio.run(send_queue.get()) is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "json"),
        ("[" * 3000, "json"),
        ("[]", "type"),
        ('{"type": 3}', "type"),
        ('{"type": "reset"}', "type"),
        ('{"type": "act"}', "field"),
        ('{"type": "act", "turn": true, "plan": "", "say": ""}', "field"),
        ('{"type": "act", "turn": 1, "plan": "", "say": "", "seed": 3}', "field"),
        ('{"type": "key", "key": "quit", "down": true}', "field"),
        (json.dumps({"type": "say", "say": "x" * (MAX_TEXT + 1)}), "size"),
        (json.dumps({"type": "say", "say": "x" * MAX_BYTES}), "size"),
        ('{"type": "say", "say": "\\ud800"}', ""),
    ],
)
def test_messages_are_read_strictly(text: str, code: str) -> None:
    if not code:
        assert read_message(text) == {"type": "say", "say": ""}
        return
    with pytest.raises(MessageError) as caught:
        read_message(text)
    assert caught.value.code == code


def test_random_messages_never_do_more_than_be_refused(attack_seed: int) -> None:
    draw = random.Random(attack_seed)
    values = (None, True, -1, 10**30, 1.5, "", "up", "x" * 1500, [], {}, "\x1b[2J\u202e")
    for _ in range(3000):
        kind = draw.choice([*FIELDS, "x", None])
        names = [*FIELDS.get(kind or "", ()), *draw.sample(["seed", "turn", "key"], draw.randrange(2))]
        text = json.dumps({"type": kind, **{name: draw.choice(values) for name in names}})
        text = text[: draw.randrange(len(text))] if draw.random() < 0.2 else text
        try:
            message = read_message(text)
        except MessageError:
            continue
        assert message["type"] == kind and "\x1b" not in json.dumps(message) and "u202e" not in json.dumps(message)


def test_a_flood_is_refused_and_ends_with_time() -> None:
    time = Time()
    rate = Rate(time.now)
    for _ in range(BURST):
        rate.check()
    with pytest.raises(MessageError, match="a second"):
        rate.check()
    time.seconds += 1
    rate.check()
