"""Facts about CraftKitchen on the documentation's pages; ``facts.py`` writes them there."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from collab_overcooked import registry
from collab_overcooked.games.craft.engine import rules, step
from collab_overcooked.games.craft.engine.constants import PACES, Reason
from collab_overcooked.games.craft.engine.solvability import upper_bounds
from collab_overcooked.games.craft.engine.spec import levels
from collab_overcooked.games.craft.suite import published, score_record, score_records

from .writing import (
    code,
    feature_table,
    first_line,
    option_table,
    order_of_play,
    played,
    read_json,
    reason_table,
    rules_of,
    steps_of,
    table,
    write_json,
)

RESULT_FILE = "craft.json"
CRAFT = "CraftKitchen-v0"
LEVELS = ("field", "house")
STEPS = [("command_agents", first_line(step.command_agents)), *steps_of(step, "pass_time")]
TEAMS = {  # policy -> numbers of agents
    "random": (2,),
    "greedy:ahead=0": (2,),
    "greedy": (1, 2, 3, 4),
    "planner:ahead=0": (2,),
    "planner": (2,),
}


@cache
def game(**options: Any) -> Any:
    """Return a compiled game."""
    return registry.load_game(CRAFT, **options)


def craft_specs() -> str:
    """List what a trainer asks first."""
    own = game()
    rows = [
        ("agents", "1 to 4; the level's own (2) if `agents` is not given"),
        ("actions", f"{code(own.single_action_space)}; {game(level='field').n_actions} on `field`"),
        ("observation", code(own.single_observation_space)),
        ("global state", f"`env.state()`, float32 {own.state_space.shape}"),
        ("reward", "1 for every order served, to all agents; `shaped_reward` in the infos"),
        ("episode", "truncated after 60 steps"),
    ]
    return table(("", code(CRAFT)), rows)


def craft_options() -> str:
    """List the options."""
    return option_table(registry.game_class(CRAFT), ())


def craft_rules() -> str:
    """List the rules in the words of their kernels."""
    return rules_of(rules, STEPS)


def craft_order_of_play() -> str:
    """List what happens in a step, in order."""
    return order_of_play(STEPS)


def craft_reasons() -> str:
    """List why commands are refused."""
    return reason_table(Reason)


def craft_features() -> str:
    """List the blocks of an observation with their places."""
    return feature_table(game())


def craft_bounds() -> str:
    """List the proven bounds, which are the same on all built-in levels."""
    rows = []
    for agents in (1, 2, 3, 4):
        (bounds,) = {tuple(upper_bounds(level, agents, {})) for level in levels()}
        rows.append((agents, *(f"{ratio:.3f}" for ratio in bounds), f"{sum(bounds) / len(bounds):.3f}"))
    return table(("agents", *(f"pace {pace}" for pace in PACES), "CoS"), rows, right=range(7))


def craft_results() -> str:
    """Show what the baselines reach, beside the published row."""
    measured = read_json(RESULT_FILE)
    if measured is None:
        return "Not measured yet: `python docs/facts.py --craft` measures and writes this table."
    rows = [
        (
            *map(code, (own["level"], own["team"])),
            own["agents"],
            *own["cells"],
            f"{own['cos']:.3f}",
            f"{own['stocked']:.0%}",
        )
        for own in measured["results"]
    ]
    shares = (f"{share:.3f}" for share in published()["shares"])
    rows.append(("the real game", f"{published()['model']}, published", 2, *shares, f"{published()['cos']:.3f}", ""))
    heads = ("level", "team", "agents", *(f"pace {pace}" for pace in PACES), "CoS", "from stock")
    return table(heads, rows, right=range(2, 10))


def measure() -> None:
    """Play the baselines through the suite, and keep their scores."""
    results = []
    for team, sizes in {**TEAMS, "ppo:craft_kitchen_field": (2,)}.items():
        for level in LEVELS if not team.startswith("ppo") else LEVELS[:1]:
            for agents in sizes:
                records = played("craft", team, agents=(agents,), levels=(level,))
                (result,) = score_records(records)
                own = [score_record(record) for record in records]
                served = max(sum(each["completed"] for each in own), 1)
                scores = result.tables[agents]
                score = scores.cos(level)
                results.append(
                    {
                        "level": level,
                        "team": team,
                        "agents": agents,
                        "cells": [str(scores.cell(level, pace)) for pace in PACES],
                        "cos": round(score.value, 4) if score else 0.0,
                        "stocked": round(sum(each["stocked"] for each in own) / served, 4),
                    }
                )
    write_json(RESULT_FILE, {"results": results})


FACTS: tuple[Callable[[], str], ...] = (
    craft_specs,
    craft_options,
    craft_rules,
    craft_order_of_play,
    craft_reasons,
    craft_features,
    craft_bounds,
    craft_results,
)
