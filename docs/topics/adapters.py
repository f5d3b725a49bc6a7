"""Facts about the adapters for other frameworks, from the last run of ``make test-adapters``."""

from __future__ import annotations

from .writing import code, read_json, table

NAMES = {
    "evaluate": "`collab-overcooked evaluate`",
    "inspect": "inspect_ai",
    "verifiers": "verifiers",
    "openenv": "OpenEnv",
    "mcp": "MCP",
    "trl": "TRL (its contract, without TRL)",
    "textarena": "TextArena",
    "skyrl": "SkyRL",
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


FACTS = (adapters,)
