"""Options of the suite of OvercookedV2."""

from __future__ import annotations

from dataclasses import dataclass

from collab_overcooked.evaluation.suite_options import SuiteOptions
from collab_overcooked.io.options import NAMES, option

from ..engine.constants import HORIZON


@dataclass(frozen=True, kw_only=True)
class KitchenOptions:
    """Options of the suite beyond team, seed and options of the environment."""

    layouts: str = option(
        "paper",
        "Layouts; 'paper' for the six new ones of the paper, 'all', or kitchens that change: 'hidden_split', 'mixed'.",
        metavar=NAMES,
    )
    views: str = option("paper", "Views: 'paper', and 'all' for players who see everything.", metavar=NAMES)
    episodes: int = option(10, "Episodes of each setting and order of seats.")
    max_cycles: int | None = option(None, f"Steps of an episode. Default: {HORIZON}.")


OPTIONS = SuiteOptions(play=KitchenOptions)
