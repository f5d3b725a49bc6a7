"""Messages from pages are read strictly, and floods of them are refused."""

from __future__ import annotations

import json
import random

import pytest
from play.world import Time

from collab_overcooked.play.messages import BURST, FIELDS, MAX_BYTES, MAX_TEXT, MessageError, Rate, read_message


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
