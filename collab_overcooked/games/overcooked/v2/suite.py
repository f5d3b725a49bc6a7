"""The suite of OvercookedV2: the paper's options on its layouts, also with all in view, beside published scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import product
from typing import Any, ClassVar

from collab_overcooked import registry
from collab_overcooked.evaluation.benchmark import ComparisonBudget
from collab_overcooked.evaluation.suites import Listing, load_checked
from collab_overcooked.io.checks import check_distinct, near_matches, parse_integer
from collab_overcooked.io.files import read_shipped_yaml
from collab_overcooked.io.options import read_names
from collab_overcooked.reporting.result_table import Column
from collab_overcooked.runner.match import Match
from collab_overcooked.runner.teams import both_orders, parse_seats

from ..documents import pool_of
from ..engine.constants import HORIZON
from ..pool import PROCEDURAL
from ..suite import SoupSuite, layout_settings
from .documents import ENV_ID
from .engine.spec import layouts, load_kitchen

PAPER = (
    "grounded_coord_simple",
    "grounded_coord_ring",
    "test_time_simple",
    "test_time_wide",
    "demo_cook_simple",
    "demo_cook_wide",
)
CHANGING = {"hidden_split": "hidden_split_left+hidden_split_right", "mixed": "mixed_first+mixed_second"}
"""Pools of built-in kitchens that change, by name; a kitchen of them is no layout of its own."""
MIXED = {"changes": 200, "notice": 20, "order_time": 150, "burn": 80}
"""Options of the kitchen that has all rules at once."""
RADIUS = 2
VIEWS = ("paper", "all")
ALL_SEEN = ", all in view"


def paper_options(layout: str) -> dict[str, Any]:
    """Return the paper's options for a layout; the classic ones have none, and pools those of their first layout.

    Other pools have a view and a recipe that is drawn anew.
    """
    if layout == CHANGING["mixed"]:
        return {"view_radius": RADIUS, **MIXED}
    layout, *others = pool_of(layout)
    if layout == PROCEDURAL or (others and layout not in PAPER):
        return {"view_radius": RADIUS, "redraw_recipe": True}
    if layout not in PAPER:
        return {"redraw_recipe": True} if len(load_kitchen(layout).recipes) > 1 else {}
    options = {"view_radius": RADIUS, "negative_rewards": True, "redraw_recipe": True}
    options |= {"random_start": True} if layout != "demo_cook_simple" else {}
    return options | ({"delivery_light": True} if layout.startswith("test_time") else {})


@cache
def published() -> Mapping[str, Mapping[str, Sequence[float]]]:
    """Return published mean and standard deviation by method and layout."""
    values: Mapping[str, Any] = read_shipped_yaml("games/overcooked/v2/published.yaml")
    cross_play: Mapping[str, Mapping[str, Sequence[float]]] = values["cross_play"]
    return cross_play


def _printed(method: str, row: Any) -> str | None:
    numbers, played = published()[method].get(row.setting), row.records[0].env_kwargs
    if numbers is None or played != {**paper_options(row.setting), "layout": row.setting, "max_cycles": HORIZON}:
        return None
    return "{:g} ± {:g}".format(*numbers)


def describe_layout(name: str) -> str:
    """Return a layout's picture, its seats, and the manual for language agents."""
    env = registry.make(ENV_ID, layout=name, render_mode="ansi")
    env.reset(seed=0)
    layout = load_kitchen(name)
    seats = ", ".join(f"agent_{i} {seat}" for i, seat in enumerate(env.game.display_names))
    head = f"{layout.name}: {layout.description}\n\nSeats: {seats}"
    return f"{head}\n\n{env.render()}\n\n{env.game.manual(env.arrays[0])}"


class OvercookedV2Suite(SoupSuite):
    """Soups for 400 steps where not all players know the recipe."""

    axes = ("layout", "view_radius", "negative_rewards", "redraw_recipe", "random_start", "delivery_light")
    set_elsewhere: ClassVar = {
        "layout": "--layouts",
        "view_radius": "--views",
        "reward": "the score, which is never shaped",
    }
    title = "OvercookedV2"
    outcome_text = "{soups} soups, score {score:g}"
    score_note = "Score: points for the team's deliveries and buttons in an episode, without shaped reward."
    budgets: ClassVar = {
        "small": ComparisonBudget(layout_settings(PAPER[::2]), {"episodes": 2}, {"episodes": 1}),
        "full": ComparisonBudget(layout_settings(PAPER), {"episodes": 50}, {"episodes": 25}),
    }
    listed: ClassVar = {
        "layouts": Listing(
            lambda _: layouts(), lambda name, _: load_kitchen(name).description, lambda name, _: describe_layout(name)
        )
    }

    def matches(self, team: Sequence[str], suite_options: Any, options: Mapping[str, Any]) -> Iterator[Match]:
        parts = {part for pool in CHANGING.values() for part in pool_of(pool)}
        names = {"paper": PAPER, "all": tuple(name for name in layouts() if name not in parts)}
        names |= {name: (pool,) for name, pool in CHANGING.items()}
        chosen = [
            layout for name in read_names("layouts", suite_options.layouts) for layout in names.get(name, (name,))
        ]
        check_distinct("layouts", chosen)
        steps = HORIZON if suite_options.max_cycles is None else suite_options.max_cycles
        length = {"max_cycles": parse_integer("max_cycles", steps, 1)}
        for layout, view in product(chosen, read_names("views", suite_options.views)):
            for member in pool_of(layout) if layout != PROCEDURAL else ():
                if member not in layouts() and not member.endswith((".yaml", ".yml")):
                    raise ValueError(f"layouts: {near_matches('layout', member, [*layouts(), *names, PROCEDURAL])}")
            if view not in VIEWS:
                raise ValueError(f"views: {near_matches('view', view, VIEWS)}")
            pool = pool_of(layout) if "+" in layout else layout
            kwargs = {**length, **paper_options(layout), **options, "layout": pool}
            hidden = view == "all" and kwargs.pop("view_radius", None) is not None
            specs = parse_seats(team, load_checked(ENV_ID, **kwargs).n_agents)
            name = layout + ALL_SEEN * hidden
            for task, seated in both_orders(name, specs):
                yield Match(env_id=ENV_ID, env_kwargs=kwargs, team=seated, task=task)

    def columns_of(self, rows: Sequence[Any]) -> list[Column]:
        methods = [method for method in published() if any(_printed(method, row) for row in rows)]
        printed = (Column(method, published=True, value=partial(_printed, method)) for method in methods)
        return [*super().columns_of(rows), *printed]

    def notes(self, rows: Sequence[Any]) -> Iterator[str]:
        yield from super().notes(rows)
        if any(_printed("FCP", row) for row in rows):
            yield (
                "FCP was not measured here: mean and standard deviation of cross-play, Gessler et al. 2025, table 2."
            )
