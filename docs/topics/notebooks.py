"""Notebooks as pages: their text and code, which tests run from the notebooks themselves."""

from __future__ import annotations

import json

from topics.writing import DOCS


def notebook_train() -> str:
    """Return the notebook on training as Markdown."""
    return _cells("train.ipynb")


def notebook_crossplay() -> str:
    """Return the notebook on cross-play as Markdown."""
    return _cells("crossplay.ipynb")


def _cells(name: str) -> str:
    """Return the cells of a notebook; its headings are one level down, below the page's title."""
    notebook = json.loads((DOCS / "notebooks" / name).read_text("utf-8"))
    parts = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"]).rstrip()
        if cell["cell_type"] == "code":
            text = f"<!-- not run: the notebook is -->\n```python\n{text}\n```"
        else:
            text = "\n".join(f"#{line}" if line.startswith("#") else line for line in text.splitlines())
        parts.append(text)
    return "\n\n".join(parts)


FACTS = (notebook_train, notebook_crossplay)
