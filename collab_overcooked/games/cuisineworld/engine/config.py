"""Options of CuisineWorld."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from collab_overcooked.io.config import OBS_REASON, Config, boolean, checked_by_game, choice, integer, number

from .constants import Encoding, Mask
from .spec import DEFAULT_ALPHA, DEFAULT_BETA, MAX_AGENTS, MAX_FACTOR, MAX_ORDERS


@dataclass(frozen=True)
class CuisineWorldConfig(Config):
    """Options of CuisineWorld."""

    presentation: ClassVar = {"obs": OBS_REASON}

    level: str | Path | Mapping[str, Any] = checked_by_game(
        "level_3", "Built-in level, path of a YAML file, or the values of such a file."
    )
    agents: int | None = integer(None, "Number of agents. Default: the level's.", least=1, most=MAX_AGENTS)
    alpha: float | None = number(
        DEFAULT_ALPHA,
        "Time allowed for the work in a dish, the paper's tau (1.0, 1.5, 2.0, 2.5 or 3.0 there); None for the interval"
        " and lifetimes of the level file.",
        below=MAX_FACTOR,
        optional=True,
    )
    beta: float = number(DEFAULT_BETA, "Lifetime of an order as a multiple of its interval.", below=MAX_FACTOR)
    max_open_orders: int | None = integer(
        None, "Maximum number of open orders. Default: the level's (6).", least=1, most=MAX_ORDERS
    )
    turn_order: Sequence[int] | None = checked_by_game(
        None, "Seats in the order in which their commands are carried out. Default: 0, 1, 2, ..."
    )
    obs: str = choice(
        "features",
        '``"features"`` (uint8, any level and number of agents) or ``"original64"`` (the public code\'s 64 numbers,'
        " float64, two agents).",
        [encoding.name.lower() for encoding in Encoding],
    )
    mask: str = choice(
        "exact",
        '``"exact"`` (every command that the rules accept in this state) or ``"original"`` (the public code\'s lists,'
        " which omit partial mixtures and include commands that are refused).",
        [mask.name.lower() for mask in Mask],
    )
    idle_error: bool = boolean(
        False,
        "Report it as an error if all agents do nothing in a step, as the public code does, even while all wait for a"
        " tool.",
    )
    show_lost: bool = boolean(
        False, "List an order in texts for agents also when its lifetime is 0 and it is lost, as the public code does."
    )
