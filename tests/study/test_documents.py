"""Files of studies by name, as ``check`` reads them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from study.world import CHECKED, QUICK, changed, in_pairs
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.study.documents import remarks
from collab_overcooked.study.reader import read_study


def remarks_of(content: dict[str, Any]) -> list[str]:
    """Return the remarks of a study whose ends have codes and whose partners are told."""
    ends = {end: {"code": "X"} for end in ("done", "stopped", "failed", "inattentive", "unmatched", "partner_left")}
    return remarks(read_study(content | {"finish": ends, "debrief": "Programs."}))


def test_repetitions_of_a_suite_that_change_nothing_are_remarked() -> None:
    content = changed("conditions", "helped", "options", "runs", to=2)  # rush repeats runs of consecutive episodes
    assert remarks_of(content) == [
        "options.runs: 2 has no effect in helped; each group plays 1 round. Write episodes: 2 beside options instead"
    ]
    content["conditions"]["helped"]["episodes"] = 2
    assert not remarks_of(content)


def test_tasks_do_not_come_again_before_all_were_played() -> None:
    content = changed("conditions", "helped", "options", to={"levels": "1", "episodes": 3})
    content["conditions"]["helped"] |= {"suite": "collab-overcooked", "episodes": 5}
    condition = read_study(content).conditions["helped"]
    assert all(len({match.task for match in condition.draw(0, group)}) == 5 for group in range(4))


@pytest.mark.parametrize(
    ("failed", "order", "remark"),
    [
        (1, "balanced", ""),
        (2, "balanced", ""),
        (3, "balanced", "2 attention checks, but failed_checks: 3: nobody can end as inattentive"),
        (1, "between", ""),
        (2, "between", "1 attention check, but failed_checks: 2: nobody can end as inattentive"),
    ],
)
def test_checks_that_cannot_end_a_study_are_remarked(failed: int, order: str, remark: str) -> None:
    check = {"name": "two", "choice": ["one", "two"], "expect": "two", "ask": "Choose two."}
    content = changed("forms", "liked", "items", 0, to=check)
    content["participants"]["failed_checks"] = failed
    content["blocks"][2]["order"] = order
    assert remarks_of(content) == ([remark] if remark else [])


@pytest.mark.parametrize(
    ("participants", "order", "expected"),
    [
        ({"limit": 8, "quota": 4}, "between", []),
        ({"quota": 4}, "between", []),
        ({"limit": 8, "quota": 2}, "between", ["the quotas admit 4 people, below limit 8: the study is full at 4"]),
        ({"limit": 4, "quota": 2}, "balanced", ["the quotas admit 2 people, below limit 4: the study is full at 2"]),
        ({"limit": 4, "quota": {"helped": 1}}, "between", []),
        ({"limit": 4, "quota": 4}, "between", []),
        ({"limit": 4, "quota": 5}, "balanced", ["quota.helped 5, quota.hindered 5: above limit 4 and never reached"]),
        (
            {"limit": 4, "quota": {"helped": 6, "hindered": 2}},
            "between",
            ["quota.helped 6: above limit 4 and never reached"],
        ),
        ({"limit": 7}, "pairs", ["limit 7: no multiple of group 2; the last group needs people beyond it"]),
        (
            {"limit": 4, "quota": {"helped": 3, "hindered": 2}},
            "pairs",
            ["quota.helped 3: no multiple of group 2; the last group needs people beyond it"],
        ),
    ],
)
def test_quotas_and_limits_that_do_not_fit_are_remarked(
    participants: dict[str, Any], order: str, expected: list[str]
) -> None:
    content = changed("participants", to=participants)
    if order == "pairs":
        content = in_pairs(**participants)
        content["play"] = content.get("play", {}) | {"decide_within": 60}
        order = "between"
    content["blocks"][-1]["order"] = order
    assert remarks_of(content) == expected


@pytest.mark.parametrize(
    ("play", "expected"),
    [({}, ["in turns, one person who does nothing keeps"]), ({"decide_within": 60}, []), ({"clock": "ticks"}, [])],
)
def test_pairs_that_wait_without_a_limit_are_remarked(play: dict[str, Any], expected: list[str]) -> None:
    content = in_pairs()
    found = remarks_of(content | {"play": content.get("play", {}) | play})
    assert len(found) == len(expected) and all(map(str.startswith, found, expected)), found


def test_files_and_shipped_names_are_checked(tmp_path: Path) -> None:
    (tmp_path / "quick.yaml").write_text(json.dumps(QUICK))  # JSON is YAML
    done = CliRunner().invoke(app, ["check", str(tmp_path / "quick.yaml")])
    assert done.exit_code == 0 and "2 balanced rows" in done.output, done.output
    assert "each group plays 1 round\n" in done.output
    between = copy.deepcopy(QUICK)
    between["blocks"][2]["order"] = "between"
    (tmp_path / "between.yaml").write_text(json.dumps(between))
    done = CliRunner().invoke(app, ["check", str(tmp_path / "between.yaml")])
    assert "each group plays one of 2 conditions, drawn in balance\n" in done.output, done.output
    done = CliRunner().invoke(app, ["check", "studies"])
    assert done.exit_code == 0 and "10 balanced rows" in done.output, done.output


CODES = {end: {"code": "X"} for end in ("done", "stopped", "failed")}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (QUICK | {"finish": CODES, "debrief": "It was a program."}, []),
        (QUICK | {"finish": CODES}, ["names are hidden (names: blind in helped, hindered), and no debrief"]),
        (
            QUICK | {"finish": CODES, "play": {"metrics": True}},
            ["participants see each other's actions after each round (metrics: true in helped, hindered)"],
        ),
        (QUICK | {"finish": {}, "play": {"show": "words"}}, ["ends without a code in finish: done, stopped, failed"]),
        (
            QUICK | CHECKED | {"finish": CODES, "debrief": "Yes.", "participants": {"id": "PID", "failed_checks": 1}},
            ["ends without a code in finish: inattentive"],
        ),
        (
            changed("forms", "before", "items", 1, to={"name": "a", "choice": ["b", "c"], "accept": ["b"], "ask": "?"})
            | {"finish": CODES, "debrief": "Yes."},
            ["ends without a code in finish: screened"],
        ),
    ],
    ids=["nothing", "blind", "metrics", "no codes", "checks", "screening"],
)
def test_what_a_file_leaves_open_is_remarked(content: dict[str, Any], expected: list[str], tmp_path: Path) -> None:
    found = remarks(read_study(content))
    assert len(found) == len(expected) and all(map(str.startswith, found, expected)), found
    (tmp_path / "open.yaml").write_text(json.dumps(content))
    done = CliRunner().invoke(app, ["check", str(tmp_path / "open.yaml")])
    assert done.exit_code == 0 and done.output.count("remark: ") == len(expected), done.output
