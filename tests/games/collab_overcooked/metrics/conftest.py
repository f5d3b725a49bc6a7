from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from collab_overcooked.games.collab_overcooked.suite.collaboration import References
from parity.original_evaluation import references_by_agent

SHARED = Path(__file__).resolve().parents[5] / "shared"
GOLDEN = SHARED / "golden" / "collab_overcooked"
FACTS = SHARED / "spec" / "collab_overcooked"


def read_facts(path: Path) -> Any:
    if not path.is_file():
        pytest.skip(f"recorded facts are not here: {path.name} in {path.parent.name}")
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


@pytest.fixture(scope="session")
def paper_foods() -> list[str]:
    facts = read_facts(FACTS / "tasks.json")
    recipes = [recipe for kind, table in facts["synthesis"].items() if kind != "none" for recipe in table]
    return facts["raw_ingredients"] + [recipe["output"] for recipe in recipes]


@pytest.fixture(scope="session")
def paper_references() -> dict[str, References]:
    tasks = read_facts(FACTS / "rats.json")["tasks"]
    return {name: references_by_agent(task["references"]) for name, task in tasks.items()}


@pytest.fixture(scope="session")
def golden_tes() -> dict[str, Any]:
    return read_facts(GOLDEN / "golden_tes.json.gz")


@pytest.fixture(scope="session")
def golden_cases() -> list[dict[str, Any]]:
    return read_facts(GOLDEN / "golden_eval.json.gz")["cases"]
