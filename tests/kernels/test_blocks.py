"""Blocks of observations: where they lie, and what bounds them."""

from __future__ import annotations

from collab_overcooked.kernels.blocks import Block, Objects, blocks_of, highest_of, numbered, spans_of, start_of

POT = (Block("items", [(3, 3), (4, 2)]), Block("timer", (300,)))
END = (Block("end", (1,)),)
KINDS = [Objects((Block("clock", (9,)),)), Objects(POT, numbered("pot", 2)), Objects(POT, ()), Objects(END)]


def test_blocks_of_each_object_lie_one_after_the_other() -> None:
    spans = spans_of(KINDS)
    assert [start_of(spans, block, k) for k in range(2) for block in (1, 2)] == [1, 3, 4, 6]
    assert (start_of(spans, 0, 0), start_of(spans, 5, 0)) == (0, 7)
    names = ["clock", "pot 0: items", "pot 0: timer", "pot 1: items", "pot 1: timer", "end"]
    assert [block.name for block in blocks_of(KINDS)] == names


def test_bounds_of_numbers_stop_at_255() -> None:
    assert highest_of(blocks_of(KINDS)).tolist() == [9, 3, 3, 255, 4, 2, 255, 1]
