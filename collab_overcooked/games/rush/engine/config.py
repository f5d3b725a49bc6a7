"""Options of Kitchen Rush and Alien Rush."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collab_overcooked.io.config import Config, checked_by_game, choice, integer

from .constants import MAX_AGENTS, MAX_TURNS, MAX_WORKERS, Mask, Reward

OWN_TEXTS, PAPER_TEXTS = "own", "paper"


@dataclass(frozen=True)
class RushConfig(Config):
    """Options of a Rush game."""

    scenario: str | Path | Mapping[str, Any] = checked_by_game(
        "easy", "Built-in scenario, path of a YAML file, or the values of such a file."
    )
    agents: int | None = integer(None, "Number of agents. Default: the scenario's (2).", least=1, most=MAX_AGENTS)
    workers: int | None = integer(None, "Workers per agent. Default: the scenario's (2).", least=1, most=MAX_WORKERS)
    max_turns: int | None = integer(None, "Turns per episode. Default: the scenario's (10).", least=1, most=MAX_TURNS)
    episode: int | None = checked_by_game(
        None, "Play only this episode of the scenario (counted from 0). Default: all episodes in turn."
    )
    mask: str = choice(
        "valid",
        '``"valid"`` (every action that the rules accept in this state, including those that ruin an order),'
        ' ``"safe"`` (without those that ruin an order) or ``"paper"`` (also those on finished and ruined orders, which'
        " are refused: the paper's second convention is not to choose them).",
        [mask.name.lower() for mask in Mask],
    )
    reward: str = choice(
        "sparse",
        '``"sparse"`` (finished and ruined orders) or ``"shaped"`` (also each step towards an order).',
        [reward.name.lower() for reward in Reward],
    )
    order: str = choice(
        "shuffled",
        'Order of the numbered actions in texts: ``"shuffled"`` (drawn from what the seat reads, so that no position'
        ' stands for an action) or ``"game"`` (the original\'s).',
        ("shuffled", "game"),
    )
    texts: str = choice(
        OWN_TEXTS,
        '``"own"`` (a manual with all rules) or ``"paper"`` (a manual that tells what the paper\'s figure 8 tells; an'
        " only stove is called ``stoves``, and doing nothing is listed last).",
        (OWN_TEXTS, PAPER_TEXTS),
    )
