"""Check of level files, and the generator of levels."""

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
from collab_overcooked.io.files import write_atomic
from collab_overcooked.io.options import option

MEAT = {"chicken": "chicken", "sheep": "mutton", "pig": "porkchop", "cow": "beef"}  # what each kind of mob gives
TRIES = 1000  # draws of a spot before giving up


@dataclass(frozen=True, kw_only=True)
class LevelOptions:
    """Numbers of agents that a level is checked for."""

    agents: tuple[int, ...] = option((1, 2, 3, 4), "Numbers of agents.")


def check_levels(sources: Sequence[str], options: LevelOptions) -> Finding:
    """Compute limits that no team can exceed: first delivery, dishes in an episode, and CoS at each pace."""
    from collab_overcooked.games.craft.engine.bound import bound
    from collab_overcooked.games.craft.engine.compile import compile_level
    from collab_overcooked.games.craft.engine.config import PACES, CraftConfig

    lines, values = [], []
    for source in sources:
        level = load_level(source)
        counts = {role: sum(place.role == role for place in level.places) for role in ("furnace", "block", "mob")}
        counted = ", ".join(f"{count} {role}{'s' if count != 1 else ''}" for role, count in counts.items())
        lines.append(f"{level.name}: {', '.join(level.dishes)}; {counted}; at most {len(level.starts)} agents")
        for agents in options.agents:
            if agents > len(level.starts):
                continue
            bounds = [
                bound(compile_level(CraftConfig(level=level.document, agents=agents, pace=pace))) for pace in PACES
            ]
            ratios = [round(limit.ratio, 4) for limit in bounds]
            ratios_text = ", ".join(f"{ratio:.3f}" for ratio in ratios)
            lines.append(
                f"  {agents} agent{'s' if agents > 1 else ''}: first dish in step {bounds[0].first} or later, at most "
                f"{bounds[0].delivered[-1]} dishes, share of orders served at most {ratios_text} at paces 1 to 5"
            )
            values.append(
                {"level": level.name, "agents": agents, "first": bounds[0].first, "dishes": bounds[0].delivered[-1]}
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
    """Level with animals around a yard, with proven limits on what a team can achieve."""

    seed: int = option(0, "Random seed.")
    dishes: int = option(2, "Kinds of meat in orders, 1 to 4.")
    furnaces: int = option(1, "Furnaces, 1 to 4.")
    mobs: int = option(2, "Mobs of each kind, 1 to 8.")
    size: int = option(20, "Width of the level in cells, 10 to 100.")

    def write(self, out: Path, command: str) -> Finding:
        """Write the YAML file ``out``, headed by the command that makes it."""
        if out.suffix not in (".yaml", ".yml"):
            raise ValueError(f"out: {out} should end in .yaml")
        for name, least, most in (("dishes", 1, 4), ("furnaces", 1, 4), ("mobs", 1, 8), ("size", 10, 100)):
            parse_integer(name, getattr(self, name), least, most=most)
        values = self._draw(np.random.default_rng(parse_integer("seed", self.seed, 0)), out.stem)
        wishes = {"dishes": self.dishes, "furnaces": self.furnaces, "mobs": self.mobs, "size": self.size}
        arguments = " ".join(f"--{name} {value}" for name, value in {"seed": self.seed, **wishes}.items())
        text = yaml.safe_dump(values, sort_keys=False, default_flow_style=None, width=120)
        write_atomic(out, f"# {command} {arguments}\n{text}".encode())
        return check_levels([str(out)], LevelOptions())

    def _draw(self, rng: np.random.Generator, name: str) -> dict[str, Any]:
        half = self.size // 2
        taken: set[tuple[int, int]] = set()

        def spots(count: int, least: int, most: int) -> list[list[int]]:
            drawn: list[list[int]] = []
            for _ in range(TRIES):
                x, z = (int(value) for value in rng.integers(-most, most + 1, 2))
                if len(drawn) < count and max(abs(x), abs(z)) >= least and (x, z) not in taken:
                    taken.add((x, z))
                    drawn.append([x, z])
            if len(drawn) < count:
                raise ValueError(f"size must leave room for everything, which {self.size} does not")
            return drawn

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
