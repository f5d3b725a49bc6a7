"""A small study, its pages, and a rehearsal of it, for all tests of studies."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from study.world import QUICK, served
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.study.design import Study
from collab_overcooked.study.reader import read_study


@pytest.fixture(scope="session")
def study() -> Study:
    return read_study(QUICK)


@pytest.fixture
def client(study: Study, tmp_path: Path) -> Any:
    """A browser at the pages of the quick study."""
    with served(study, tmp_path) as result:
        yield result


@pytest.fixture(scope="session")
def rehearsed(study: Study, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A study that four bots took part in, through pages and sockets."""
    pytest.importorskip("uvicorn", reason="needs the extra play")
    pytest.importorskip("websockets", reason="needs the extra play")
    from collab_overcooked.study.rehearsal import rehearse

    folder = tmp_path_factory.mktemp("study") / "quick"
    return folder, rehearse(study, 4, folder, leavers=2)


@pytest.fixture
def tables(rehearsed: tuple[Path, Any], tmp_path: Path) -> dict[str, list[dict[str, str]]]:
    """Tables of the rehearsed study, by name."""
    done = CliRunner().invoke(app, ["study", "export", str(rehearsed[0]), "--out", str(tmp_path / "tables")])
    assert done.exit_code == 0, done.output
    names = ("participants", "answers", "pages", "episodes", "decisions", "codebook")
    texts = {name: (tmp_path / "tables" / f"{name}.csv").read_text("utf-8") for name in names}
    return {name: list(csv.DictReader(text.splitlines())) for name, text in texts.items()}
