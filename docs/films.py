"""Shows the films of the package on the site, whose pages cannot link to files outside of the documentation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

FILMS = Path(__file__).parents[1] / "collab_overcooked" / "play" / "films"


def on_files(files: Files, config: Any) -> Files:
    """Add the films as files of the site."""
    for path in sorted(FILMS.glob("*.gif")):
        files.append(File.generated(config, f"films/{path.name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Link to the films of the site instead of those of the repository."""
    return re.sub(r"\.\./((?:\.\./)*)collab_overcooked/play/films/", r"\1films/", markdown)
