"""Planning in OvercookedV2: Overcooked's search for deliveries, once the recipe is known or guessed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from collab_overcooked.games.overcooked.policies.planner import REPLAN_WIDTH, PlannerPolicy
from collab_overcooked.games.overcooked.v2.policies.believing import BelievingPolicy
from collab_overcooked.policies.specs import read_options


@dataclass(frozen=True)
class PlannerOptions:
    """Widths of the searches."""

    width: int = REPLAN_WIDTH  # Nodes kept per step of the first plan for a recipe
    replan: int = REPLAN_WIDTH  # Nodes kept when a plan was left


def from_text(text: str) -> BelievingPolicy:
    """Create the policy from the text after the colon of a spec such as ``"planner:width=200"``."""
    options = read_options("planner", text, PlannerOptions)
    make = partial(PlannerPolicy, options.width, options.replan)
    make()  # which refuses widths that cannot be
    return BelievingPolicy("planner", make)
