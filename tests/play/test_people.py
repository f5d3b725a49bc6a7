"""What waits to be sent to a person."""

from __future__ import annotations

import asyncio

from collab_overcooked.play.people import MAX_WAITING, SendQueue


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
