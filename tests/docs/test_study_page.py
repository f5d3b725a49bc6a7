"""The file on the page about studies is a study, and so is the file with each example of its keys added."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from collab_overcooked.study.design import ENDS, KEYS, PARTICIPANTS, REFUSALS
from collab_overcooked.study.documents import remarks
from collab_overcooked.study.reader import read_study

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how_to" / "study.md"
TEXT = PAGE.read_text("utf-8")
WHOLE, *EXAMPLES = [
    yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
]


def extended(example: dict[str, Any]) -> dict[str, Any]:
    """Return the whole file with an example: mappings are joined, blocks are appended, other values replaced.

    A block of games takes the place of the one that plays the same conditions.
    """
    study = dict(WHOLE)
    for key, value in example.items():
        if isinstance(value, dict):
            study[key] = study.get(key, {}) | value
        elif key == "blocks":
            played = [block["play"] for block in value if "play" in block]
            study[key] = [*(block for block in study[key] if block.get("play") not in played), *value]
        else:
            study[key] = value
    return study


@pytest.mark.parametrize("example", [{}, *EXAMPLES], ids=lambda example: "-".join(example) or "file")
def test_examples_are_read(example: dict[str, Any], tmp_path: Path) -> None:
    shutil.copy(PAGE.parents[1] / "pictures" / "play.png", tmp_path / "kitchen.png")
    file = tmp_path / "study.yaml"
    file.write_text(yaml.safe_dump(extended(example), sort_keys=False))
    read_study(file)


def test_the_whole_file_leaves_nothing_open_and_screens_before_games(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(WHOLE, sort_keys=False))
    study = read_study(tmp_path / "study.yaml")
    assert remarks(study) == []
    screens = [name for name, form in study.forms.items() if any(item.accept for item in form.items)]
    kinds = [(step.kind, step.form) for step in study.steps(0)]
    games = [kind for kind, _ in kinds].index("play")
    assert screens and all(("form", name) in kinds[:games] for name in screens)


def test_every_key_is_described() -> None:
    keys = TEXT[TEXT.index("## The file") : TEXT.index("## Built-in studies")]
    missing = [key for key in (*KEYS, *PARTICIPANTS, *ENDS, *REFUSALS) if not re.search(rf"\b{key}\b", keys)]
    assert missing == []
