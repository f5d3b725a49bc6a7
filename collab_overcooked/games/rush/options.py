"""Options of the suite of KitchenRush."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from collab_overcooked.evaluation.suite_options import SuiteOptions
from collab_overcooked.game_spec import NO_TEACHER, PLAIN
from collab_overcooked.io.options import option

DOMAINS = {PLAIN: "KitchenRush-v0", "alien": "AlienRush-v0"}
SCENARIOS = ("easy", "hard")
Attribution = Literal["final", "immediate"]


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of the suite beyond team, seed and options of the environment."""

    domain: tuple[str, ...] = option(tuple(DOMAINS), "Languages: kitchen, alien, or lexicon files.")
    scenario: tuple[str, ...] = option(SCENARIOS, "Scenarios: built-in names or YAML files.")
    teacher: tuple[str, ...] = option(
        (NO_TEACHER,),
        "Between episodes: none, teacher_group[:llm:MODEL[?...]], teacher_individual[...], their placebos "
        "placebo_group[...] and placebo_individual[...], whose feedback is another team's, or several with commas.",
    )
    agents: tuple[int, ...] | None = option(None, "Numbers of agents. Default: that of each scenario.")
    runs: int = option(1, "Runs of each setting, with seeds from --seed on.")
    episodes: int | None = option(None, "Episodes of each run. Default: all of the scenario.")


@dataclass(frozen=True, kw_only=True)
class RushScoring:
    """Options of how actions are counted."""

    attribution: Attribution = option("final", "Positive actions: final or immediate.", allowed=get_args(Attribution))
    losses: bool = option(False, "Search for the orders that each agent's actions cost.")


OPTIONS = SuiteOptions(play=RunOptions, scoring=RushScoring)
