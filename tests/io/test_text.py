from __future__ import annotations

import pytest

from collab_overcooked.io.text import join_and, plural


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 steps"), (1.0, "1 step"), (2.5, "2.5 steps"), (3000000, "3000000 steps")]
)
def test_counts_of_nouns(count: float, text: str) -> None:
    assert plural(count, "step") == text


def test_lists_of_names() -> None:
    assert [join_and(names) for names in ([], ["a"], ("a", "b"), iter("abc"))] == ["", "a", "a and b", "a, b and c"]
