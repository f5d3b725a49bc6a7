"""Cells of a matrix of policies, which cross-play and partner pools fill: the returns of games of one team."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from collab_overcooked.runner.batched import play_returns
from collab_overcooked.runner.teams import MakePolicy


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Games of one team, played at once where its policies allow it, with the same returns as one by one."""

    env_id: str  # Registered id
    env_kwargs: Mapping[str, Any]  # Options of the environment
    team: tuple[str, ...]  # Policy specs in seat order
    seeds: tuple[int, ...]  # Of the environment, by game
    line: Mapping[str, Any]  # What the line of the results says besides the returns

    def run(self, make: MakePolicy | None = None) -> list[dict[str, Any]]:
        """Play the games."""
        return [{**self.line, "returns": play_returns(self.env_id, self.env_kwargs, self.team, self.seeds, make)}]
