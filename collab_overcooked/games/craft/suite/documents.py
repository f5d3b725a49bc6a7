"""The check of level files, and the command that makes new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from collab_overcooked.games.craft.engine.spec import FOLDER, KEYS, MAX_AGENTS, load_level
from collab_overcooked.io.checks import parse_integer
from collab_overcooked.io.document_kinds import DocumentKind, Finding
from collab_overcooked.io.options import option

MEAT = {"chicken": "chicken", "sheep": "mutton", "pig": "porkchop", "cow": "beef"}  # what each kind of mob gives
TRIES = 1000  # draws of a spot before giving up


@dataclass(frozen=True, kw_only=True)
class LevelOptions:
    """What is shown of levels."""

    agents: tuple[int, ...] = option((1, 2, 3, 4), "Numbers of agents.")


def check_levels(sources: Sequence[str], options: LevelOptions) -> Finding:
    """Show what no team can exceed: the first delivery, dishes in an episode, and CoS at each pace.

    Raises:
        LayoutError: If a level cannot be read.
    """
    from collab_overcooked.games.craft.engine.bound import bound
    from collab_overcooked.games.craft.engine.compile import compile_level
    from collab_overcooked.games.craft.engine.config import PACES, CraftConfig

    lines, values = [], []
    for source in sources:
        level = load_level(source)
        counts = {role: sum(place.role == role for place in level.places) for role in ("furnace", "block", "mob")}
        words = ", ".join(f"{count} {role}{'s' if count != 1 else ''}" for role, count in counts.items())
        lines.append(f"{level.name}: {', '.join(level.dishes)}; {words}; at most {len(level.starts)} agents")
        for agents in options.agents:
            if agents > len(level.starts):
                continue
            found = [
                bound(compile_level(CraftConfig(level=level.document, agents=agents, pace=pace))) for pace in PACES
            ]
            ratios = [round(each.ratio, 4) for each in found]
            shown = ", ".join(f"{ratio:.3f}" for ratio in ratios)
            lines.append(
                f"  {agents} agent{'s' if agents > 1 else ''}: first dish in step {found[0].first} or later, at most "
                f"{found[0].delivered[-1]} dishes, share of orders served at most {shown} at paces 1 to 5"
            )
            values.append(
                {"level": level.name, "agents": agents, "first": found[0].first, "dishes": found[0].delivered[-1]}
                | {"ratios": ratios}
            )
    return Finding("\n".join(lines), values)


LEVEL = DocumentKind(
    "craft-level",
    FOLDER,
    KEYS,
    check_levels,
    "Proves what no team can exceed: the first delivery, dishes in an episode, and CoS at each pace.",
    LevelOptions,
)


@dataclass(frozen=True, kw_only=True)
class LevelGenerator:
    """A level with animals around a yard, and a proof of what no team can exceed on it."""

    seed: int = option(0, "Seed of all that is drawn.")
    dishes: int = option(2, "Kinds of meat that are ordered, 1 to 4.")
    furnaces: int = option(1, "Furnaces, 1 to 4.")
    mobs: int = option(2, "Mobs of each kind, 1 to 8.")
    size: int = option(20, "Width of the square in which all lies, 10 to 100 cells.")

    def write(self, out: Path, command: str) -> Finding:
        """Write the YAML file ``out``, headed by the command that makes it.

        Raises:
            ValueError: For a wish that cannot be.
        """
        if out.suffix not in (".yaml", ".yml"):
            raise ValueError(f"out: {out} should end in .yaml")
        for name, least, most in (("dishes", 1, 4), ("furnaces", 1, 4), ("mobs", 1, 8), ("size", 10, 100)):
            parse_integer(name, getattr(self, name), least, most=most)
        values = self._draw(np.random.default_rng(parse_integer("seed", self.seed, 0)), out.stem)
        given = {"dishes": self.dishes, "furnaces": self.furnaces, "mobs": self.mobs, "size": self.size}
        words = " ".join(f"--{name} {value}" for name, value in {"seed": self.seed, **given}.items())
        text = yaml.safe_dump(values, sort_keys=False, default_flow_style=None, width=120)
        out.write_text(f"# {command} {words}\n{text}", encoding="utf-8")
        return check_levels([str(out)], LevelOptions())

    def _draw(self, rng: np.random.Generator, name: str) -> dict[str, Any]:
        """Return the values of a level; no two things share a spot."""
        half = self.size // 2
        taken: set[tuple[int, int]] = set()

        def spots(count: int, least: int, most: int) -> list[list[int]]:
            """Draw spots whose distance from the centre, along the longer axis, is in a range."""
            found: list[list[int]] = []
            for _ in range(TRIES):
                x, z = (int(value) for value in rng.integers(-most, most + 1, 2))
                if len(found) < count and max(abs(x), abs(z)) >= least and (x, z) not in taken:
                    taken.add((x, z))
                    found.append([x, z])
            if len(found) < count:
                raise ValueError(f"size must leave room for everything, which {self.size} does not")
            return found

        kinds = list(MEAT)[: self.dishes]
        return {
            "name": name,
            "chest": spots(1, 0, half // 2),
            "furnace": spots(self.furnaces, 0, half // 2),
            "blocks": {"oak_log": {"at": spots(1, 0, half)}},
            "mobs": {kind: {"at": spots(self.mobs, half // 2, half), "gives": MEAT[kind]} for kind in kinds},
            "fuel": ["oak_log"],
            "dishes": {f"cooked_{MEAT[kind]}": MEAT[kind] for kind in kinds},
            "starts": spots(MAX_AGENTS, 0, half),
        }
