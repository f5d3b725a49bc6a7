from __future__ import annotations

import pytest

from collab_overcooked.io.text import join_and, plural, single_spaced


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 steps"), (1.0, "1 step"), (2.5, "2.5 steps"), (3000000, "3000000 steps")]
)
def test_counts_of_nouns(count: float, text: str) -> None:
    assert plural(count, "step") == text


def test_lists_of_names() -> None:
    assert [join_and(names) for names in ([], ["a"], ("a", "b"), iter("abc"))] == ["", "a", "a and b", "a, b and c"]


def test_runs_of_whitespace_are_single_spaces() -> None:
    assert single_spaced(" a\n\tb  c ") == "a b c"
    assert single_spaced(ValueError("a\x1b[31m  b")) == "a[31m b"
