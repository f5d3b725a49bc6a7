"""Options of the suite of CuisineWorld."""

from __future__ import annotations

from dataclasses import dataclass

from collab_overcooked.evaluation.suite_options import SuiteOptions
from collab_overcooked.io.options import NAMES, option

from .engine.constants import PAPER_ALPHAS

PAPER_AGENTS = (2, 3, 4)
EPISODES = 3  # of one run


@dataclass(frozen=True, kw_only=True)
class OrderOptions:
    """Options of the suite beyond team, seed and options of the environment."""

    levels: str | None = option(None, "Levels such as 0-4, easy or my.yaml. Default: the paper's.", metavar=NAMES)
    agents: tuple[int, ...] = option(PAPER_AGENTS, "Numbers of agents.")
    alphas: tuple[float, ...] = option(PAPER_ALPHAS, "Paces of orders; a larger one gives more time.")
    runs: int = option(1, "Runs of each setting, with order seeds from --seed on.")
    episodes: int = option(EPISODES, "Episodes of each run.")


@dataclass(frozen=True, kw_only=True)
class OrderScoring:
    """Options of how orders are counted."""

    counting: str = option("orders", "Failures: all expired orders, or steps with any.", allowed=("orders", "steps"))


OPTIONS = SuiteOptions(play=OrderOptions, scoring=OrderScoring, show=("more",))
