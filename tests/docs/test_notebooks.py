"""Every notebook runs from top to bottom, in a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "notebooks"
NOTEBOOKS = sorted(path.name for path in FOLDER.glob("*.ipynb"))
NEEDS = {"language_model.ipynb": "jinja2", "train.ipynb": "torch", "crossplay.ipynb": "pandas"}


def code_of(name: str) -> list[str]:
    """Return the code cells of a notebook."""
    notebook = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["metadata"]["kernelspec"]["name"]) == (4, "python3")
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "language_model.ipynb" else pytest.mark.nightly)
        for name in NOTEBOOKS
    ],
)
def test_a_notebook_runs(name: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra of its pictures")
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason="needs what the notebook says")
    cells = code_of(name)
    assert cells and not any(line.startswith(("%", "!")) for cell in cells for line in cell.splitlines())
    script = tmp_path / "notebook.py"
    script.write_text("\n\n".join(cells), encoding="utf-8")
    known = os.environ | {"MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, env=known, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    if name == "language_model.ipynb":
        assert "talks: success True" in done.stdout and "silent: success False" in done.stdout
        assert "Bob: Alice, please bring me an egg" in done.stdout and "Alice: Yes, coming." in done.stdout
    if name == "train.ipynb":
        assert "torch:net.py:Net@mine.pt agent_1=greedy" in done.stdout and (tmp_path / "returns.png").exists()
    if name == "crossplay.ipynb":
        assert "best partner of greedy" in done.stdout and (tmp_path / "with_others.png").exists()


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_page_links_each_notebook(name: str) -> None:
    pages = [ROOT / "mkdocs.yml", *(ROOT / "docs").rglob("*.md")]
    assert any(f"notebooks/{name}" in path.read_text(encoding="utf-8") for path in pages)
