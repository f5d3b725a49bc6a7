"""Files that pages show are those of docs/examples."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
EXAMPLES = {path.name: path for path in (DOCS / "examples").rglob("*.yaml")}
SHOWN = [
    (page, name, body)
    for page in sorted(DOCS.rglob("*.md"))
    for name, body in re.findall(r'^```yaml title="([^"]+)"\n(.*?)^```', page.read_text("utf-8"), re.M | re.S)
    if name in EXAMPLES
]


def test_pages_show_an_example_of_each_kind() -> None:
    kinds = {EXAMPLES[name].parent.name for _, name, _ in SHOWN}
    assert kinds >= {"examples", "layouts", "scenarios"} and len(SHOWN) >= 7


@pytest.mark.parametrize(("page", "name", "body"), SHOWN, ids=[name for _, name, _ in SHOWN])
def test_a_shown_file_is_the_example(page: Path, name: str, body: str) -> None:
    assert body == EXAMPLES[name].read_text("utf-8"), f"{page.relative_to(DOCS)} shows another {name}"
