"""Layout files of OvercookedV2: an episode with everything in view, and generated layouts."""

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

from ..documents import LayoutOptions, pool_of
from ..engine.constants import HORIZON
from ..engine.generate import GeneratorConfig, layout_text
from .engine.generate import generate, read_config
from .engine.spec import FOLDER, KEYS, fits, load_kitchen

ENV_ID = "OvercookedV2-v0"
PHASE = 100  # steps between two changes of a kitchen that is checked


def check_layouts(sources: Sequence[str], options: LayoutOptions) -> DocumentFinding:
    """Read layouts, and play them with the layout's own recipes in view of all; ``A+B`` changes every 100 steps."""
    lines, values = [], list[dict[str, Any]]()
    for source in sources:
        pool, score = [load_kitchen(name) for name in pool_of(source)], None
        played: dict[str, Any] = {"layout": [layout.document.content for layout in pool]}
        played |= {"changes": PHASE} if len(pool) > 1 else {}
        game = registry.load_game(ENV_ID, **played)  # refuses pools that cannot change
        if options.par != NO_POLICY:
            score = int(play_par(ENV_ID, options.par, **played, max_cycles=HORIZON).scene()["score"])
        height, width = game.compiled.tables.terrain.shape[1:]
        name = "+".join(game.compiled.names)
        line = f"{name}: {width} x {height}, {game.n_agents} players, {len(pool[0].recipes)} recipes"
        in_turn = f" that change every {PHASE}" if len(pool) > 1 else ""
        line += "" if score is None else f"; {options.par} serves {score} points in {HORIZON} steps{in_turn}"
        lines.append(line)
        values.append({"name": name, "policy": options.par, "score": score})
    return DocumentFinding("\n".join(lines), values, all(value["score"] != 0 for value in values))


@dataclass(frozen=True, kw_only=True)
class HiddenRecipeGenerator(GeneratorConfig):
    """Layouts with an indicator in one room, one file per layout; every recipe can be cooked and served in each."""

    count: int = option(8, "Number of layouts.")
    tomatoes: tuple[int, int] = option((1, 1), "Tomato dispensers.")
    par: str = option("greedy", f"Policy that plays them with all in view, or {NO_POLICY}.")

    def write(self, out: Path, command: str) -> DocumentFinding:
        """Draw layouts and write each to a file of the folder ``out``."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(GeneratorConfig)}
        files = []
        for layout in generate(read_config(values)):
            files.append(str(out / f"{layout.name}.yaml"))
            write_atomic(Path(files[-1]), layout_text(layout.document.content).encode())
        played = check_layouts(files, LayoutOptions(par=self.par))
        return DocumentFinding(played.text, played.values)


LAYOUT = DocumentKind(
    "v2-layout", FOLDER, KEYS, check_layouts, "Plays a layout with everything in view.", LayoutOptions, fits=fits
)
