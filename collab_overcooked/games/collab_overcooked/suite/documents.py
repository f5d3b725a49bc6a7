"""The check of kitchen files."""

from __future__ import annotations

from collections.abc import Sequence

from collab_overcooked.games.collab_overcooked.engine.spec import KEYS
from collab_overcooked.io.document_kinds import DocumentKind, Finding
from collab_overcooked.io.options import NoOptions


def check_kitchens(sources: Sequence[str], options: NoOptions) -> Finding:
    """Prove that every station can be reached, every recipe be made and every task be served."""
    from collab_overcooked.games.collab_overcooked.env import CollabOvercooked

    lines, values = [], []
    for source in sources:
        game = CollabOvercooked(kitchen=source)
        kitchen = game.kitchen
        counts = {
            "agents": len(kitchen.agents),
            "tasks": len(kitchen.tasks),
            "recipes": len(kitchen.recipes),
            "actions": game.n_actions,
        }
        lines.append(f"OK: {kitchen.name}, " + ", ".join(f"{count} {name}" for name, count in counts.items()))
        values.append({"name": kitchen.name, **counts})
    return Finding("\n".join(lines), values)


KITCHEN = DocumentKind(
    "kitchen",
    "collab_overcooked",
    KEYS,
    check_kitchens,
    "Proves that stations can be reached, recipes be made and tasks be served.",
)
