"""Options of the suites of the house games."""

from __future__ import annotations

from dataclasses import dataclass

from collab_overcooked.evaluation.suite_options import SuiteOptions
from collab_overcooked.io.options import option

from .engine.config import LOADS, TASKS


@dataclass(frozen=True, kw_only=True)
class HouseworkOptions:
    """Options of the suite beyond team, seed and options of the environment."""

    tasks: tuple[str, ...] = option(TASKS, "Families of tasks.")
    episodes: int = option(2, "Episodes of each family; 2 as published.")
    agents: int = option(2, "Number of agents.")


@dataclass(frozen=True, kw_only=True)
class TransportOptions:
    """Options of the suite beyond team, seed and options of the environment."""

    tasks: tuple[str, ...] = option(LOADS, "Food, stuff, or both.")
    rooms: tuple[int, ...] = option((8, 6), "Sizes of houses.")
    containers: tuple[int, ...] = option((5, 2), "Numbers of containers.")
    episodes: int = option(3, "Episodes of each setting; 3 as published.")
    agents: int = option(2, "Number of agents.")


HOUSEWORK_OPTIONS = SuiteOptions(play=HouseworkOptions)
TRANSPORT_OPTIONS = SuiteOptions(play=TransportOptions)
