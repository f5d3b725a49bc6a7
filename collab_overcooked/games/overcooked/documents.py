"""Layout files of Overcooked: proofs that soup can be served, par scores, and generated layouts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from collab_overcooked import registry
from collab_overcooked.evaluation.par_score import NO_POLICY, play_par
from collab_overcooked.io.document_kinds import DocumentFinding, DocumentKind
from collab_overcooked.io.files import write_atomic
from collab_overcooked.io.options import option

from .engine.constants import HORIZON
from .engine.generate import (
    GeneratorConfig,
    generate,
    layout_text,
    orders_to_prove,
    prove_layout,
    read_generator_config,
)
from .engine.solvability import DISPENSERS, floors_in_cycle, list_untouched, works_anywhere
from .engine.spec import FOLDER, KEYS, Layout, load_kitchen


def pool_of(layout: str) -> list[str]:
    """Return the layouts of a pool such as ``"split_left+split_right"``, the first one first."""
    return layout.split("+")


def par_score(layout: Layout, policy: str) -> int:
    """Return the score of a team of one policy in every seat, after 400 steps from the layout's own start.

    Pots start by themselves where all orders can be filled so.
    """
    dynamics = "auto" if layout.cooks_by_itself else "explicit"
    env = play_par("Overcooked-v0", policy, layout=layout.document.content, dynamics=dynamics, max_cycles=HORIZON)
    return int(env.scene()["score"])


@dataclass(frozen=True, kw_only=True)
class LayoutOptions:
    """Options of the check of a layout."""

    par: str = option("greedy", f"Policy that plays it, or {NO_POLICY}.")


def check_layouts(sources: Sequence[str], options: LayoutOptions) -> DocumentFinding:
    """Prove that soup can be served in each layout, and play it; ``A+B`` is a kitchen that changes."""
    checks = [_check_cycle(source) if "+" in source else _check_layout(source, options.par) for source in sources]
    text = "\n".join(check.text for check in checks)
    return DocumentFinding(text, [check.values for check in checks], all(check.ok for check in checks))


def _check_cycle(source: str) -> DocumentFinding:
    """Prove each layout of a kitchen that changes, wherever players may stand when it begins."""
    pool = [load_kitchen(name) for name in pool_of(source)]
    dynamics = "auto" if all(layout.cooks_by_itself for layout in pool) else "explicit"
    contents = [layout.document.content for layout in pool]
    registry.load_game("Overcooked-v0", layout=contents, changes={"after": "delivery"}, dynamics=dynamics)  # or refuses
    floors = floors_in_cycle([layout.grid for layout in pool], [layout.starts for layout in pool])
    works = {
        layout.name: works_anywhere(layout.grid, cells, orders_to_prove(layout), layout.prepare)
        for layout, cells in zip(pool, floors, strict=True)
    }
    lines = [f"{source}: {len(pool)} layouts in turn"]
    for name, is_proved in works.items():
        claim = "soup can be served from wherever a change may leave the players"
        lines.append(f"  {name}: {claim if is_proved else f'could not prove that {claim}'}")
    return DocumentFinding("\n".join(lines), {"name": source, "works": works}, all(works.values()))


def _check_layout(source: str, policy: str) -> DocumentFinding:
    layout = load_kitchen(source)
    proof = prove_layout(layout)
    subtasks = [] if proof is None else [str(subtask) for subtask in proof.subtasks]
    score = None if policy == NO_POLICY else par_score(layout, policy)
    lines = [f"{layout.name}: {layout.width} x {layout.height}, {len(layout.starts)} players"]
    untouched = [f"{kind} at {cell}" for kind, cell in list_untouched(layout.grid, layout.starts)]
    lines += [f"  {line}" for line in subtasks or _tried(layout)]
    lines += [f"  note: {station}: no player can stand beside it" for station in untouched]
    lines += [f"  note: orders with {name} cannot be filled: no player gets at any" for name in _missing(layout)]
    if score is not None:
        lines.append(f"{policy} serves {score} points in {HORIZON} steps")
    if score == 0 and proof is not None:
        lines.append(f"  the subtasks above serve soup all the same; {policy} does not find them")
    values: dict[str, Any] = {"name": layout.name, "proof": subtasks, "policy": policy, "score": score}
    values["unreachable"] = untouched
    return DocumentFinding("\n".join(lines), values, proof is not None or bool(score))


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
class LayoutGenerator(GeneratorConfig):
    """Solvable layouts with a par score, one file per layout."""

    count: int = option(8, "Number of layouts.")
    par: str = option("planner", f"Policy whose score becomes the par score, or {NO_POLICY}.")

    def write(self, out: Path, command: str) -> DocumentFinding:
        """Draw layouts and write each to a file of the folder ``out``."""
        layouts = generate(
            read_generator_config({entry.name: getattr(self, entry.name) for entry in fields(GeneratorConfig)})
        )
        lines, values = [], []
        for layout in layouts:
            score = None if self.par == NO_POLICY else par_score(layout, self.par)
            write_atomic(out / f"{layout.name}.yaml", layout_text(layout.document.content, score).encode())
            lines.append(layout.name + ("" if score is None else f", par {score}"))
            values.append({"name": layout.name, "par": score})
        return DocumentFinding("\n".join(lines), values)
