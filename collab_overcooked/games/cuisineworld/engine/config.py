"""Options of CuisineWorld."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from collab_overcooked.games.cuisineworld.engine.constants import Encoding, Mask
from collab_overcooked.games.cuisineworld.engine.spec import (
    DEFAULT_ALPHA,
    DEFAULT_BETA,
    MAX_AGENTS,
    MAX_FACTOR,
    MAX_ORDERS,
)
from collab_overcooked.io.config import OBS_REASON, Config, choice, integer, number, unchecked


@dataclass(frozen=True)
class CuisineWorldConfig(Config):
    """Options of a CuisineWorld."""

    presentation: ClassVar = {"obs": OBS_REASON}

    level: str | Path | Mapping[str, Any] = unchecked(
        "level_3", "Shipped level, path of a YAML file, or the values of such a file."
    )
    agents: int | None = integer(None, "Number of agents; the level's own if None.", least=1, most=MAX_AGENTS)
    alpha: float | None = number(
        DEFAULT_ALPHA,
        "Time that work in a dish is given, the paper's tau (1.0, 1.5, 2.0, 2.5 or 3.0 there); None for the interval"
        " and lifetimes that stand in the level file.",
        below=MAX_FACTOR,
        optional=True,
    )
    beta: float = number(DEFAULT_BETA, "Lifetime of an order as a multiple of its interval.", below=MAX_FACTOR)
    max_open_orders: int | None = integer(
        None, "Orders that can be open at a time; the level's own (6) if None.", least=1, most=MAX_ORDERS
    )
    turn_order: Sequence[int] | None = unchecked(
        None, "Seats in the order in which their commands are carried out; 0, 1, 2, ... if None."
    )
    obs: str = choice(
        "features",
        '``"features"`` (uint8, any level and number of agents) or ``"original64"`` (the public code\'s 64 numbers,'
        " float64, two agents).",
        [each.name.lower() for each in Encoding],
    )
    mask: str = choice(
        "exact",
        '``"exact"`` (what a step would carry out in the present state) or ``"original"`` (the public code\'s lists,'
        " which lack every partial mixture and hold commands that are refused).",
        [each.name.lower() for each in Mask],
    )
