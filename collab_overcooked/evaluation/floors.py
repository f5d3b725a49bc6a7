"""Floors: what the best rule without understanding scores in the settings of comparisons, measured and stored.

``python benchmarks/floors.py`` measures them, in episodes of other seeds than those that comparisons play.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from collab_overcooked.io.files import read_text
from collab_overcooked.io.structs import Count, Name, Number, decode
from collab_overcooked.policies.listed import RULES

STORED = Path(__file__).with_name("floors.json")
BLIND = "always"  # policies without understanding
BEST = "best rule without understanding"
RULE_SPECS = tuple(f"{BLIND}:{rule}" for rule in ("1", "2", *RULES))


class Floor(Struct, frozen=True):
    """What the best of ``RULE_SPECS`` scores in a setting."""

    rule: Name  # Its spec
    score: Number  # Mean over its episodes
    episodes: Count  # Their number


class FloorTable(Struct, frozen=True):
    """All floors, as they are stored."""

    version: Name  # Version of the package that played
    seed: Count  # Seed of the plans
    floors: Mapping[str, Mapping[str, Floor]]  # By suite and setting


@lru_cache(maxsize=1)
def stored_floors() -> FloorTable:
    """Return the measured floors."""
    return decode(read_text(STORED), FloorTable)


def known_floors(game: str) -> Mapping[str, Floor]:
    """Return the measured floors of a suite by setting; those of options other than the defaults are not known."""
    return stored_floors().floors.get(game, {})
