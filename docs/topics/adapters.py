"""Facts about the adapters for other frameworks, from the last run of ``make test-adapters``."""

from __future__ import annotations

import csv

from .writing import RESULTS, code, read_json, table

NAMES = {
    "evaluate": "`collab-overcooked evaluate`",
    "inspect": "inspect_ai",
    "verifiers": "verifiers",
    "openenv": "OpenEnv",
    "mcp": "MCP",
}


def adapters() -> str:
    """Show the tested versions, and the same ten episodes in each framework."""
    kept = read_json("adapters.json")
    if kept is None:
        return "Not run yet: `make test-adapters` keeps the results that this table is made from."
    rows = [
        (
            NAMES[name],
            ", ".join(code(version) for version in kept[name].get("versions", ())) or "-",
            kept[name]["episodes"],
            f"{kept[name]['outcome']:.2f}",
            f"{kept[name]['turns']:.1f}",
        )
        for name in NAMES
        if name in kept
    ]
    return table(("framework", "tested versions", "episodes", "outcome", "turns"), rows, right=(2, 3, 4))


def text_training() -> str:
    """Show the curve of docs/examples/train_text.py, one row per seed."""
    file = RESULTS / "train_text.csv"
    if not file.exists():
        return "Not run yet: `python docs/examples/train_text.py --out docs/results/train_text.csv` measures it."
    with file.open() as lines:
        rows = list(csv.DictReader(lines))
    updates = sorted({int(row["update"]) for row in rows})
    tests = {(row["seed"], int(row["update"])): f"{float(row['test']):.2f}" for row in rows}
    curves = [(seed, *(tests.get((seed, update), "") for update in updates)) for seed in sorted({s for s, _ in tests})]
    heads = ("seed", *(f"{update} updates" for update in updates))
    return table(heads, curves, right=range(1, len(heads)))


FACTS = (adapters, text_training)
