"""Options of the suite of Overcooked."""

from __future__ import annotations

from dataclasses import dataclass

from collab_overcooked.evaluation.suite_options import SuiteOptions
from collab_overcooked.io.options import NAMES, option

from .engine.constants import HORIZON


@dataclass(frozen=True, kw_only=True)
class KitchenOptions:
    """Options of the suite beyond team, seed and options of the environment."""

    layouts: str | None = option(
        None,
        "Layouts, files, folders of files, pools such as split_left+split_right, or procedural. Default: all built-in"
        " layouts but those of pools.",
        metavar=NAMES,
    )
    episodes: int = option(1, "Episodes of each layout and order of seats.")
    max_cycles: int | None = option(None, f"Steps of an episode. Default: {HORIZON}.")


OPTIONS = SuiteOptions(play=KitchenOptions)
