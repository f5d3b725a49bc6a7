"""Options of CraftKitchen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collab_overcooked.games.craft.engine.spec import MAX_AGENTS
from collab_overcooked.io.config import Config, boolean, choice, integer, number, unchecked

INTERVALS = (2, 4, 6, 8, 10)  # steps between orders at paces 1 to 5; inferred from rounded numbers of the paper
PACES = tuple(range(1, len(INTERVALS) + 1))


@dataclass(frozen=True)
class CraftConfig(Config):
    """Options of CraftKitchen."""

    level: str | Path | Mapping[str, Any] = unchecked(
        "house", "Built-in level, path of a YAML file, or the values of such a file."
    )
    agents: int | None = integer(None, "Number of agents. Default: the level's.", least=1, most=MAX_AGENTS)
    pace: int = integer(
        3, f"Pace of orders, 1 (fast) to 5: every {', '.join(map(str, INTERVALS))} steps.", least=1, most=len(INTERVALS)
    )
    interval: int | None = integer(None, "Steps between orders. Default: by pace.", least=1)
    alpha: float = number(1.5, "Lifetime of an order as a multiple of the interval, rounded down.", below=100)
    lifetime: int | None = integer(None, "Steps until an order expires. Default: by alpha.", least=1)
    reach: str = choice(
        "told",
        'Reach in cells: ``"told"`` (6 for everything, as in the paper\'s prompts) or ``"code"`` (below 6 for killing, '
        "8 for the chest, and taking out walks to the furnace, as in the public code).",
        ("told", "code"),
    )
    walk: int = integer(0, "Cells that an agent walks per step; 0 for any distance.", least=0)
    respawn: int = integer(1, "Steps until a killed mob or mined block reappears.", least=1, most=1000)
    cook_steps: int = integer(1, "Steps that a furnace needs per item.", least=1, most=1000)
    items_per_fuel: float = number(1.0, "Items that one fuel cooks, a multiple of 0.5.", below=100)
    strict_lists: bool = boolean(True, "Reject the whole list of commands if one of them has an unknown name.")
