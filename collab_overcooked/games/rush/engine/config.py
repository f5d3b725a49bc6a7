"""Options of Kitchen Rush and Alien Rush."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collab_overcooked.games.rush.engine.constants import MAX_AGENTS, MAX_TURNS, MAX_WORKERS, Mask, Reward
from collab_overcooked.io.config import Config, choice, integer, unchecked


@dataclass(frozen=True)
class RushConfig(Config):
    """Options of a Rush game."""

    scenario: str | Path | Mapping[str, Any] = unchecked(
        "easy", "Shipped scenario, path of a YAML file, or the values of such a file."
    )
    agents: int | None = integer(None, "Number of agents; the scenario's own (2) if None.", least=1, most=MAX_AGENTS)
    workers: int | None = integer(
        None, "Workers of each agent; the scenario's own (2) if None.", least=1, most=MAX_WORKERS
    )
    max_turns: int | None = integer(
        None, "Turns of an episode; the scenario's own (10) if None.", least=1, most=MAX_TURNS
    )
    episode: int | None = unchecked(
        None, "Number, from 0 on, of the only episode that is played; all of them in turn if None."
    )
    mask: str = choice(
        "valid",
        '``"valid"`` (all that a step would carry out in the present state, ruinous actions too) or ``"safe"`` (without'
        " those that ruin an order).",
        [each.name.lower() for each in Mask],
    )
    reward: str = choice(
        "sparse",
        '``"sparse"`` (orders finished and ruined) or ``"shaped"`` (each step towards an order as well).',
        [each.name.lower() for each in Reward],
    )
