from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.naive import trajectory as naive

from collab_overcooked.metrics.sequences import match_common_subsequences, match_prefixes
from collab_overcooked.metrics.trajectory import encode, ites, normal_form, rouge_l, tes, tes_batch, tes_table

B2 = 0.9025
action = st.sampled_from(["a()", "b()", "c()", "x()"])
history = st.lists(action, max_size=7)
reference = st.lists(action, min_size=1, max_size=6)
references = st.lists(reference, min_size=1, max_size=3)


def test_listing_4_of_the_paper() -> None:
    expected = list("abcde")
    played = list("abcex")  # "d" is missing: the prefix stops after 3, the common subsequence goes on to "e"
    assert tes(played, [expected]).value == pytest.approx(0.6, abs=1e-12)
    assert rouge_l(played, [expected]) == pytest.approx(0.8, abs=1e-12)


def test_parts_by_hand() -> None:
    score = tes(["a", "x", "b"], [["a", "b", "c", "d"]])
    assert score.value == pytest.approx(1.9025 * 2 / (4 + B2 * 3), abs=1e-12)
    assert score.completeness == 0.5
    assert score.efficiency == pytest.approx(2 / 3)
    assert score.redundancy == pytest.approx(1 / 3)


def test_the_prefix_may_skip_in_the_history_but_not_in_the_reference() -> None:
    assert tes(["b", "c"], [["a", "b", "c"]]).value == 0.0
    assert tes(["x", "a", "x", "b", "x", "c"], [["a", "b", "c"]]).completeness == 1.0


def test_empty_history_scores_zero() -> None:
    score = tes([], [["a"], ["b"]])
    assert (score.value, score.completeness, score.efficiency, score.reference) == (0.0, 0.0, 0.0, 0)


def test_best_reference_counts_and_the_first_wins_ties() -> None:
    assert tes(["b"], [["a"], ["b"]]).reference == 1
    assert tes(["a"], [["a", "b"], ["a", "c"]]).reference == 0


def test_beta_weighs_the_history_length() -> None:
    assert tes(["a", "x"], [["a"]], beta=2.0).value == pytest.approx(5 / (1 + 4 * 2))
    assert rouge_l(["a", "x"], [["a"]], beta=2.0) == pytest.approx(5 / (1 + 4 * 2))


def test_normal_form() -> None:
    assert normal_form(" pickup( egg, counter ) ") == "pickup(egg,counter)"
    assert normal_form("deliver_soup()") == normal_form("deliver()") == "deliver()"
    assert normal_form("Deliver()") == "Deliver()"
    assert tes(["pickup(egg, counter)", "deliver_soup()"], [["pickup(egg,counter)", "deliver()"]]).value == 1.0


def test_ites_by_hand() -> None:
    ref = [["a", "b", "c", "d"]]
    assert ites(["a"], ["b"], ref) == pytest.approx(1.9025 * (2 / (4 + 2 * B2) - 1 / (4 + B2)))
    assert ites(["a"], ["x"], ref) == pytest.approx(1.9025 * (1 / (4 + 2 * B2) - 1 / (4 + B2)))
    assert ites(["a"], ["x"], ref) < 0
    assert ites(["x"], ["x"], ref) == 0.0  # nothing matched yet, so nothing to lose


def test_ites_may_change_reference() -> None:
    refs = [["a", "b", "c", "d"], ["x", "y"]]
    assert ites(["a"], ["x", "y"], refs) == pytest.approx(1.9025 * (2 / (2 + 3 * B2) - 1 / (4 + B2)))


@pytest.mark.parametrize(
    ("refs", "beta", "field"),
    [([], 0.95, "references"), ([["a"], []], 0.95, r"references\[1\]"), (["a"], 0.95, "references"),
     ("abc", 0.95, "references"), ([["a"]], 0.0, "beta"), ([["a"]], float("nan"), "beta")],
)  # fmt: skip
def test_bad_input_is_named(refs: list[list[str]], beta: float, field: str) -> None:
    with pytest.raises(ValueError, match=field):
        tes(["a"], refs, beta)
    with pytest.raises(ValueError, match=field):
        rouge_l(["a"], refs, beta)


def test_kernels_ignore_padding() -> None:
    histories = np.array([[0, 1, 2, 2], [0, 0, 0, 0]], np.int32)
    lengths = np.array([2, 0], np.int32)
    refs = np.array([[0, 1, 2, 2], [1, 2, 0, 0]], np.int32)
    ref_lengths = np.array([3, 1], np.int32)
    matched = np.full((2, 2), 9, np.int32)
    match_prefixes(histories, lengths, refs, ref_lengths, matched)
    assert matched.tolist() == [[2, 1], [0, 0]]
    match_common_subsequences(histories, lengths, refs, ref_lengths, np.full(5, 9, np.int32), matched)
    assert matched.tolist() == [[2, 1], [0, 0]]


def test_an_empty_batch_has_no_rows() -> None:
    assert len(tes_batch([], [["a"]])) == 0


def test_actions_unknown_to_the_references_do_not_match_each_other_or_padding() -> None:
    played, lengths, coded, _ = encode([["q", "r"]], [["a"], ["a", "b"]])
    assert lengths.tolist() == [2]
    assert not set(played.ravel().tolist()) & set(coded.ravel().tolist())


@given(history, references)
@settings(max_examples=200, deadline=None)
def test_tes_equals_the_naive_one(played: list[str], refs: list[list[str]]) -> None:
    value, best = naive.tes(played, refs)
    score = tes(played, refs)
    assert score.value == pytest.approx(float(value), abs=1e-12)
    assert score.reference == best
    matched = naive.longest_prefix(played, refs[best])
    assert score.completeness == matched / len(refs[best])
    assert score.efficiency == (matched / len(played) if played else 0.0)


@given(history, references)
@settings(max_examples=200, deadline=None)
def test_rouge_l_equals_the_naive_one(played: list[str], refs: list[list[str]]) -> None:
    assert rouge_l(played, refs) == pytest.approx(float(naive.rouge_l(played, refs)), abs=1e-12)


@given(history, references)
@settings(deadline=None)
def test_tes_is_a_share_and_one_only_for_a_reference(played: list[str], refs: list[list[str]]) -> None:
    value = tes(played, refs).value
    assert 0.0 <= value <= 1.0
    assert (value == 1.0) == (played in refs)
    assert value <= rouge_l(played, refs) + 1e-12


@given(reference)
@settings(deadline=None)
def test_playing_a_reference_scores_exactly_one(ref: list[str]) -> None:
    assert tes(ref, [ref]).value == 1.0


@given(st.lists(history, max_size=5), references)
@settings(deadline=None)
def test_a_batch_equals_its_single_scores(played: list[list[str]], refs: list[list[str]]) -> None:
    batch = tes_batch(played, refs)
    assert [batch[i] for i in range(len(batch))] == [tes(one, refs) for one in played]
    values, matched = tes_table(*encode(played, refs))
    assert values.shape == matched.shape == (len(played), len(refs))
    assert values.max(axis=1).tolist() == batch.value.tolist()


@given(history, history, references)
@settings(deadline=None)
def test_ites_telescopes(first: list[str], second: list[str], refs: list[list[str]]) -> None:
    total = ites([], first, refs) + ites(first, second, refs)
    assert total == pytest.approx(tes(first + second, refs).value, abs=1e-12)
