"""The check of layout files, and the command that draws new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from collab_overcooked.games.overcooked.engine.generate import (
    Wishes,
    generate,
    layout_text,
    orders_to_prove,
    prove_layout,
    read_wishes,
)
from collab_overcooked.games.overcooked.engine.solvability import DISPENSERS, list_untouched
from collab_overcooked.games.overcooked.engine.spec import FOLDER, KEYS, Layout, load_kitchen
from collab_overcooked.io.document_kinds import DocumentKind, Finding
from collab_overcooked.io.files import write_atomic
from collab_overcooked.io.options import option

NO_POLICY = "none"


@dataclass(frozen=True, kw_only=True)
class LayoutOptions:
    """Options of the check of a layout."""

    par: str = option("greedy", f"Policy that plays it, or {NO_POLICY}.")


def check_layouts(sources: Sequence[str], options: LayoutOptions) -> Finding:
    """Prove that soup can be served in each layout, and play it."""
    checks = [_check_layout(source, options.par) for source in sources]
    return Finding("\n".join(check.text for check in checks), [c.values for c in checks], all(c.ok for c in checks))


def _check_layout(source: str, policy: str) -> Finding:
    from collab_overcooked.games.overcooked.suite.par_score import STEPS, par_score

    layout = load_kitchen(source)
    proof = prove_layout(layout)
    errands = [] if proof is None else [str(errand) for errand in proof.errands]
    score = None if policy == NO_POLICY else par_score(layout, policy)
    lines = [f"{layout.name}: {layout.width} x {layout.height}, {len(layout.starts)} players"]
    untouched = [f"{kind} at {cell}" for kind, cell in list_untouched(layout.grid, layout.starts)]
    lines += [f"  {line}" for line in errands or _tried(layout)]
    lines += [f"  note: {station}: no player can stand beside it" for station in untouched]
    lines += [f"  note: orders with {name} cannot be filled: no player gets at any" for name in _missing(layout)]
    if score is not None:
        lines.append(f"{policy} serves {score} points in {STEPS} steps")
    if score == 0 and proof is not None:
        lines.append(f"  the errands above serve soup all the same: {policy} does not find them, as it plans otherwise")
    values: dict[str, Any] = {"name": layout.name, "proof": errands, "policy": policy, "score": score}
    values["unreachable"] = untouched
    return Finding("\n".join(lines), values, proof is not None or bool(score))


def _missing(layout: Layout) -> list[str]:
    untouched = [cell for _, cell in list_untouched(layout.grid, layout.starts)]
    ordered = sorted({name for soup in orders_to_prove(layout) for name in soup})
    return [name for name in ordered if not set(layout.cells(DISPENSERS[name])) - set(untouched)]


def _tried(layout: Layout) -> list[str]:
    players, soups = len(layout.starts), [" + ".join(soup) for soup in orders_to_prove(layout)]
    return [
        "could not prove the layout solvable: players may have to make way for each other",
        f"tried every team of 1 to {players} players, each on floor of its own, with hand-overs on counters",
        f"tried the orders {', '.join(soups)}",
    ]


LAYOUT = DocumentKind(
    "layout",
    FOLDER,
    KEYS,
    check_layouts,
    "Proves that soup can be served, and plays it.",
    LayoutOptions,
    endings=(".yaml", ".yml", ".layout"),
)


@dataclass(frozen=True, kw_only=True)
class LayoutGenerator(Wishes):
    """Layouts in which soup can be served, each in a file of its own, with a par score."""

    count: int = option(8, "Number of layouts.")
    par: str = option("planner", f"Policy whose score becomes the par score, or {NO_POLICY}.")

    def write(self, out: Path, command: str) -> Finding:
        """Draw layouts and write each to a file of the folder ``out``."""
        from collab_overcooked.games.overcooked.suite.par_score import par_score

        layouts = generate(read_wishes({entry.name: getattr(self, entry.name) for entry in fields(Wishes)}))
        lines, values = [], []
        for layout in layouts:
            score = None if self.par == NO_POLICY else par_score(layout, self.par)
            write_atomic(out / f"{layout.name}.yaml", layout_text(layout, score).encode())
            lines.append(layout.name + ("" if score is None else f", par {score}"))
            values.append({"name": layout.name, "par": score})
        return Finding("\n".join(lines), values)
