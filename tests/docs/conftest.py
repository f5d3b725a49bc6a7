"""Facts of the documentation, for the tests of its pages."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def facts() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS))  # its modules import each other, as they do when run from the command line
        yield importlib.import_module("facts")
