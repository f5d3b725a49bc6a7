"""Options of the suites of the room games."""

from __future__ import annotations

from dataclasses import dataclass

from collab_overcooked.evaluation.suite_options import SuiteOptions
from collab_overcooked.io.options import NAMES, option

from .engine.config import PRESETS

OWN = "own"  # map or adversary of the preset


@dataclass(frozen=True, kw_only=True)
class RoomOptions:
    """Options of the room suites beyond team, seed and options of the environment."""

    presets: str = option("code2024", f"Presets: {', '.join(PRESETS)}.", metavar=NAMES)
    maps: str = option(OWN, f"Maps or files; {OWN!r} is the preset's.", metavar=NAMES)
    adversaries: str = option(OWN, f"Kinds of the adversary; {OWN!r} is the preset's.", metavar=NAMES)
    episodes: int = option(3, "Episodes of each setting and order of seats; the original plays 3.")


OPTIONS = SuiteOptions(play=RoomOptions)
