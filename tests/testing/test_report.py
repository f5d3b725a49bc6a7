"""Reports of checks, and what a check needs of its environment."""

from __future__ import annotations

from typing import Any

import pytest

from collab_overcooked.testing.report import ConformanceError, Report, Result, Skip, Subject, expect

REPORT = Report(
    "Kitchen-v0",
    (
        Result("seeds", "passed", "equal seeds give equal episodes"),
        Result("ends", "failed", "agent_0 is terminated twice"),
        Result("state", "skipped", "there is no state"),
    ),
)


def test_a_report_counts_and_lists_its_results() -> None:
    first, *lines = str(REPORT).splitlines()
    assert first == "Kitchen-v0: 1 passed, 1 failed, 1 skipped"
    assert [line.split()[:2] for line in lines] == [["passed", "seeds"], ["failed", "ends"], ["skipped", "state"]]
    assert not REPORT.ok and Report("x", REPORT.results[:1]).ok


def test_the_error_has_a_sentence_for_each_failure_alone() -> None:
    error = ConformanceError(REPORT)
    assert str(error) == "Kitchen-v0 fails 1 checks:\n  ends: agent_0 is terminated twice"
    assert error.report is REPORT


def subject(make: Any) -> Subject:
    return Subject("x", make, None, None, {}, None, 0, 1, {})  # type: ignore[arg-type]


def test_options_are_those_of_the_function_that_makes_the_environment() -> None:
    some = subject(lambda max_cycles=1: None)
    some.need_option("max_cycles")
    with pytest.raises(Skip, match="does not accept the option seed"):
        some.need_option("seed")
    assert subject(lambda **options: None).accepts("seed")


def test_environments_of_others_have_no_game_and_are_taken_to_have_exact_masks() -> None:
    with pytest.raises(Skip, match="compiled game"):
        subject(None).need_game()
    subject(None).need_exact_masks()


def test_expect_fails_with_its_sentence() -> None:
    expect([1], "never")
    with pytest.raises(AssertionError, match=r"^it is empty$"):
        expect([], "it is empty")
