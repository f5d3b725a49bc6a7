"""Files of studies by name, as ``check`` reads them."""

from __future__ import annotations

import json
from pathlib import Path

from study.world import QUICK
from support.cli_runner import CliRunner

from collab_overcooked.cli import app


def test_files_and_shipped_names_are_checked(tmp_path: Path) -> None:
    (tmp_path / "quick.yaml").write_text(json.dumps(QUICK))  # JSON is YAML
    done = CliRunner().invoke(app, ["check", str(tmp_path / "quick.yaml")])
    assert done.exit_code == 0 and "2 balanced rows" in done.output, done.output
    done = CliRunner().invoke(app, ["check", "studies"])
    assert done.exit_code == 0 and "10 balanced rows" in done.output, done.output
