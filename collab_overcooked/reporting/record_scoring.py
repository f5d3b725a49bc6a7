"""Scoring options of all games."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from collab_overcooked.io.options import option

_WAYS = ("left-out", "counted")


@dataclass(frozen=True, kw_only=True)
class RecordScoring:
    """Scoring options of all games: which episodes count."""

    cut_short: Literal["left-out", "counted"] = option(
        "left-out", "Episodes that a budget cut short: left-out or counted.", allowed=_WAYS
    )
    repetitions: Literal["left-out", "counted"] = option(
        "left-out", "Equal episodes of models that answer alike each time: left-out or counted.", allowed=_WAYS
    )
