"""Files of studies by name, as ``check`` reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from study.world import CHECKED, QUICK, changed
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.study.documents import remarks
from collab_overcooked.study.reader import read_study


def test_files_and_shipped_names_are_checked(tmp_path: Path) -> None:
    (tmp_path / "quick.yaml").write_text(json.dumps(QUICK))  # JSON is YAML
    done = CliRunner().invoke(app, ["check", str(tmp_path / "quick.yaml")])
    assert done.exit_code == 0 and "2 balanced rows" in done.output, done.output
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
