"""Options of the suite of CraftKitchen."""

from __future__ import annotations

from dataclasses import dataclass

from collab_overcooked.evaluation.suite_options import SuiteOptions
from collab_overcooked.io.options import option

from .engine.constants import PACES

EPISODES = 3  # of one run


@dataclass(frozen=True, kw_only=True)
class CraftOptions:
    """Options of the suite beyond team, seed and options of the environment."""

    levels: tuple[str, ...] = option(("house",), "Built-in levels or YAML files.")
    agents: tuple[int, ...] = option((1, 2, 3, 4), "Numbers of agents.")
    paces: tuple[int, ...] = option(PACES, "Paces of orders, 1 (fast) to 5.")
    runs: int = option(1, "Runs of each setting, with order seeds from --seed on.")
    episodes: int = option(EPISODES, "Episodes of each run.")


OPTIONS = SuiteOptions(play=CraftOptions)
