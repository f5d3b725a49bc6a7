"""People who play together are one unit: tests of a study and its sample size count groups, not their members."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from study.world import QUICK, factorial
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.metrics.hypothesis_tests import independent_test, one_way_anova, paired_test, tukey_comparisons
from collab_overcooked.reporting.significance import factorial_table, significance_tables
from collab_overcooked.study.journal import Journal
from collab_overcooked.study.reader import read_study
from collab_overcooked.study.results import StudyResults

Fun = Callable[[int, int, str], int | None]
"""Answer of a member in a condition; None leaves the question open."""
TALK = {"talk": [True, False]}  # as YAML reads on and off


def dyads(
    folder: Path,
    fun: Fun,
    groups: int = 4,
    factors: Any = TALK,
    *,
    size: int = 2,
    ends: Mapping[tuple[int, int], str] = {},
    **block: Any,
) -> Path:
    """Let pairs of people, or larger groups, answer after their games, which differ between groups or within them."""
    content = factorial(**(block or {"order": "between"})) | {"factors": factors}
    content["participants"] = {**QUICK["participants"], "group": size, "limit": 120}
    content["cell"]["options"]["agents"] = [size]
    content["cell"] |= {"team": ["all=person"], "label": " ".join(f"{{{name}}}" for name in factors)}
    content["forms"]["liked"]["items"][0]["optional"] = True
    content["forms"]["liked"]["items"].append({"name": "again", "choice": ["yes", "no"], "ask": "Again?"})
    with Journal.open(folder, read_study(content)) as journal:
        for group in range(groups):
            pair = [journal.join({"PID": f"p{group}.{member}"}) for member in range(size)]
            journal.form_group([person.id for person in pair], group)
            for member, person in enumerate(pair):
                while (step := journal.step_of(person)) is not None:
                    answers = {"fun": fun(group, member, step.condition), "again": "yes"}
                    journal.passed(person) if step.kind == "play" else journal.answered(person, answers)
                journal.end(person, ends.get((group, member), "done"))
    return folder


def rows_of(folder: Path, *text: str) -> dict[str, Any]:
    """Return the first row of each table of ``significance``, by title, and its notes and title."""
    pytest.importorskip("scipy", reason="the extra 'stats' is not installed")
    done = CliRunner().invoke(app, ["significance", str(folder), "--metrics", "liked.fun", "--format", "json", *text])
    assert done.exit_code == 0, done.output
    means, *tests = json.loads(done.stdout)
    return {"means": means} | {card["title"]: card["tables"][0]["rows"][0] for card in tests}


def test_equal_answers_in_each_pair_are_tested_as_the_pairs_are(tmp_path: Path) -> None:
    found = rows_of(dyads(tmp_path / "run", lambda group, member, condition: (5, 3, 4, 2)[group]))
    expected = independent_test([5, 4], [3, 2])
    tested = found["Tests of independent samples"]
    assert (tested["n first"], tested["n second"], tested["df"]) == (2, 2, pytest.approx(2))
    assert tested["p"] == pytest.approx(expected.p) and expected.p > 0.1
    assert tested["g"]["value"] == pytest.approx(expected.effect.value)
    assert found["Factorial tests"]["df"] == "1, 2" and found["Factorial tests"]["p"] == pytest.approx(expected.p)
    assert [row["n"] for row in found["means"]["tables"][0]["rows"]] == [2, 2]
    assert found["means"]["notes"][1] == (
        "Units (n) are groups of 2 people: answers are averaged within a group, as its members are not independent."
    )


def test_conditions_within_pairs_are_compared_by_the_means_of_pairs(tmp_path: Path) -> None:
    """One member of the first pair left the question open after one game: that pair is represented by the other."""
    on = {(0, 0): 3, (0, 1): 5, (1, 0): 3, (1, 1): 4, (2, 0): 5, (2, 1): 5}
    off = {(0, 0): 2, (0, 1): None, (1, 0): 1, (1, 1): 1, (2, 0): 5, (2, 1): 3}
    folder = dyads(
        tmp_path / "run", lambda g, m, condition: (on if condition == "on" else off)[g, m], 3, order="balanced"
    )
    tested = rows_of(folder)["Paired tests"]
    expected = paired_test([1, 2.5, 1])
    assert tested["pairs"] == 3 and tested["difference"]["value"] == pytest.approx(1.5)
    assert (tested["p"], tested["d_z"]["value"]) == (pytest.approx(expected.p), pytest.approx(expected.effect.value))


def test_groups_with_answers_of_some_members_only_are_counted(tmp_path: Path) -> None:
    """Who left is no member whose answers count, nor is one who answered after fewer games than another did."""

    def note(name: str, fun: Fun, **groups: Any) -> str:
        found = rows_of(dyads(tmp_path / name, fun, **groups))["means"]["notes"][1]
        return str(found).partition("not independent.")[2].strip()

    everybody: Fun = lambda group, member, condition: group + 1  # noqa: E731
    assert note("complete", everybody) == ""
    left = {(0, 0): "left", (2, 1): "inattentive", (3, 0): "left", (3, 1): "left"}
    assert note("left", everybody, groups=5, ends=left) == "2 of 4 groups: answers of one member only."
    half: Fun = lambda group, member, condition: None if (group, member, condition) == (1, 0, "off") else 1  # noqa: E731
    assert note("half", half, order="balanced") == "1 of 4 groups: answers of one member only."
    assert note("nobody", lambda group, member, condition: group if group else None) == ""
    gone = {(0, 0): "left", (1, 0): "left", (2, 0): "left", (2, 1): "left"}
    assert note("three", everybody, size=3, ends=gone) == (
        "1 of 4 groups: answers of one member only. 2 of 4 groups: answers of 2 members only."
    )


def test_conditions_are_headed_as_such_beside_groups_of_people(tmp_path: Path) -> None:
    folder = dyads(
        tmp_path / "run", lambda group, *_: (1, 3, 5, 2, 3, 4)[group], 6, {"amount": ["none", "some", "all"]}
    )
    found = rows_of(folder)
    assert [row["Condition"] for row in found["means"]["tables"][0]["rows"]] == ["none", "some", "all"]
    assert found["Analyses of variance"]["conditions"] == 3


def test_three_conditions_between_pairs_are_compared_by_the_means_of_pairs(tmp_path: Path) -> None:
    given = (1, 3, 5, 2, 3, 4)
    folder = dyads(tmp_path / "run", lambda group, member, _: given[group], 6, {"amount": ["none", "some", "all"]})
    found = rows_of(folder)
    lists = {name: [given[k], given[k + 3]] for k, name in enumerate(("none", "some", "all"))}
    assert found["Analyses of variance"]["p"] == pytest.approx(one_way_anova(lists).p)
    assert found["Tukey's comparisons"]["p"] == pytest.approx(next(iter(tukey_comparisons(lists))).p)


def test_a_factor_between_pairs_and_one_within_are_tested_on_pairs(tmp_path: Path) -> None:
    given = {"few_on": (2, 4), "few_off": (1, 2), "many_on": (3, 5), "many_off": (4, 3)}
    folder = dyads(
        tmp_path / "run",
        lambda group, member, condition: given[condition][group // 2],
        factors={"amount": ["few", "many"]} | TALK,
        between=["amount"],
    )
    found = rows_of(folder)["Factorial tests"]
    expected = independent_test([1.5, 3], [3.5, 4])
    assert (found["effect"], found["df"], found["F"]) == ("amount", "1, 2", pytest.approx(expected.t**2))


def test_chance_is_significant_as_often_as_it_says(tmp_path: Path) -> None:
    """Members of a pair answer alike and no condition has an effect: 5 % of such studies are significant."""
    pytest.importorskip("scipy", reason="the extra 'stats' is not installed")
    results = StudyResults.read(dyads(tmp_path / "run", lambda group, member, _: 3, 16))
    group_of = {name: number for number, members in enumerate(results.journal.groups) for name in members}
    given = [event for event in results.journal.events if event["event"] == "answered"]
    levels = {name: dict(condition.levels) for name, condition in results.journal.study.conditions.items()}
    rng, studies, significant = np.random.default_rng(1), 200, np.zeros(2)
    for _ in range(studies):
        of_pairs = rng.normal(size=16)
        for event in given:
            event["answers"]["fun"] = of_pairs[group_of[event["id"]]] + rng.normal(scale=0.3)
        measured = results.samples(["liked.fun"])
        (table, _), *_ = significance_tables(measured)
        ps = [table.rows[0][8], factorial_table(measured, levels).rows[0][4]]
        significant += [float(p) < 0.05 for p in ps]
    assert (np.abs(significant / studies - 0.05) < 0.03).all(), significant / studies


def test_the_size_of_a_study_is_a_number_of_groups(tmp_path: Path) -> None:
    pytest.importorskip("scipy", reason="the extra 'stats' is not installed")
    folder = dyads(tmp_path / "run", lambda group, member, _: (1, 4, 2, 2, 3, 5, 4, 3, 3, 1, 5, 2)[group], 12)
    command = ["study", "power", str(folder), "--metrics", "liked.fun", "--effect", "1.5", "--simulations", "200"]
    done = CliRunner().invoke(app, [*command, "--format", "json"])
    assert done.exit_code == 0, done.output
    (card,) = json.loads(done.stdout)
    rows = card["tables"][0]["rows"]
    needed = min(row["units"] for row in rows if row["power"] >= 0.8)
    assert f"{needed} groups ({2 * needed} people) per cell ({4 * needed} people in all)" in card["title"]
    assert all(abs(row["false positives"] - 0.05) < 0.06 for row in rows), rows
    shown = CliRunner().invoke(app, command).output
    assert "groups per cell" in shown and "Units (n) are groups of 2 people" in " ".join(shown.split())


def test_what_is_no_number_is_refused_by_what_it_is(tmp_path: Path) -> None:
    folder = dyads(tmp_path / "run", lambda group, member, _: group + 1 if group else None)
    for name, reason in (
        ("liked.again", "cannot test liked.again, a question of kind choice; scales and numbers are tested"),
        ("liked.why", "cannot test liked.why, a question of kind text; scales and numbers are tested"),
    ):
        done = CliRunner().invoke(app, ["significance", str(folder), "--metrics", name])
        assert done.exit_code == 2 and reason in " ".join(done.output.split()), done.output


def test_a_condition_that_nobody_completed_is_named(tmp_path: Path) -> None:
    folder = dyads(tmp_path / "run", lambda group, member, _: member + 1, 1)
    found = rows_of(folder)
    assert found["means"]["notes"][2] == "off: nobody completed." and "Factorial tests" not in found
    command = ["study", "power", str(folder), "--metrics", "liked.fun", "--effect", "1"]
    assert CliRunner().invoke(app, command).exit_code == 2


def test_who_was_forgotten_is_no_participant_of_the_answers(tmp_path: Path) -> None:
    folder = dyads(tmp_path / "run", lambda group, member, _: group + 1)
    done = CliRunner().invoke(app, ["study", "forget", str(folder), "p0.0"])
    assert done.exit_code == 0, done.output
    found = rows_of(folder)
    assert found["means"]["notes"][0] == (
        "Values are of 7 participants who completed the study (end=done), games also of 1 who did and were forgotten, "
        "without their answers."
    )
    assert [row["n"] for row in found["means"]["tables"][0]["rows"]] == [2, 2], "the other member stands for the pair"


def test_results_of_bots_begin_with_that(rehearsed: tuple[Path, Any], tmp_path: Path) -> None:
    pytest.importorskip("scipy", reason="the extra 'stats' is not installed")
    folder = str(rehearsed[0])
    shown = CliRunner().invoke(app, ["significance", folder]).output
    assert "bots of a rehearsal, not people" in " ".join(shown.split("Means")[0].split())
    with pytest.raises(ValueError, match="holds a rehearsal by bots"):
        Journal.open(folder, read_study(QUICK))
    people = dyads(tmp_path / "run", lambda group, member, _: group + 1)
    assert "rehearsal" not in CliRunner().invoke(app, ["significance", str(people)]).output
    both = [f"{folder}/conditions/helped", f"{folder}/conditions/hindered"]
    assert "same people are not independent" in " ".join(
        CliRunner().invoke(app, ["significance", *both]).output.split()
    )
