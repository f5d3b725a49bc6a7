"""Facts about Rush and about lexicons on the documentation's pages; ``facts.py`` writes them there."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from collab_overcooked import registry
from collab_overcooked.envs.lexicon import load_lexicon
from collab_overcooked.games.rush.engine import rules, step
from collab_overcooked.games.rush.engine.constants import Reason
from collab_overcooked.games.rush.engine.spec import INGREDIENTS, SPICES, load_scenario, scenarios
from collab_overcooked.games.rush.env import KitchenRush
from collab_overcooked.games.rush.suite.scoring import RushRow, rows_of
from collab_overcooked.games.rush.text import text
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.reporting.result_table import Column, estimate_json

from .writing import (
    code,
    feature_table,
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

ENV_ID = "KitchenRush-v0"
RESULT_FILE = "rush.json"
BASELINES = {"random": 100, "greedy": 1, "planner": 1, "selfish": 1}  # runs; all but the first always play alike
PAPER_RECIPES = ("Fettucine Alfredo", "Spaghetti Aglio e Olio", "Mac and Cheese")


@cache
def game(**options: Any) -> KitchenRush:
    """Return the compiled game."""
    compiled: Any = registry.load_game(ENV_ID, **options)
    return compiled


# ------------------------------------------------------------------------------------------- environments


def rush_specs() -> str:
    """List what a trainer asks first."""
    easy, hard = game(), game(scenario="hard")
    rows = [
        ("agents", f"any number from 1 on; {easy.n_agents} if `agents` is not given"),
        ("step", "one slot: every agent acts once, with its present worker"),
        ("actions", f"{code(easy.single_action_space)} (`easy`), {code(hard.single_action_space)} (`hard`)"),
        (
            "observation",
            f"{code(easy.single_observation_space)} (`easy`), {code(hard.single_observation_space)} (`hard`)",
        ),
        ("global state", f"`env.state()`, {code(f'float32 {hard.state_space.shape}')} (`hard`)"),
        ("reward", "float32, the same number for every agent"),
        (
            "episode",
            f"terminated once all orders are decided, truncated after {easy.max_cycles} steps (10 turns of 2 slots)",
        ),
    ]
    return table(("", "with the default options"), rows)


def rush_options() -> str:
    """List the game's constructor arguments."""
    return option_table(KitchenRush, ())


def rush_features() -> str:
    """List the blocks of the observation of a scenario with their places."""
    return feature_table(game(scenario="hard"))


# ------------------------------------------------------------------------------------------- actions and words


def rush_actions() -> str:
    """List the ranges of actions of a scenario."""
    ours = game(scenario="hard")
    texts = ours.action_texts()
    rows: list[tuple[Any, ...]] = [("0", 1, "do nothing", code(texts[0]))]
    for at, area in enumerate(ours.scenario.episodes[0].areas):
        first = ours.compiled.action(at, 0)
        orders = ours.compiled.n_orders
        rows.append((f"{first}–{first + orders - 1}", orders, f"{area.name}, for each order", code(texts[first])))
    return table(("id", "number", "what", "first of them"), rows, right=(1,))


def rush_reasons() -> str:
    """List why the game refuses an action."""
    return reason_table(Reason)


def rush_words() -> str:
    """List the words of Alien Rush that the paper prints."""
    lexicon = load_lexicon("alien")
    groups = {
        "ingredients": INGREDIENTS,
        "spices": SPICES,
        "things": ("order", "recipe", "ingredient", "spice", "cook", "meal", "pantry", "spicebag", "stove"),
        "endings": ("ingredients", "cooked", "cooking"),
        "actions": ("TAKE_INGREDIENTS", "TAKE_SPICES", "COOK_MEAL"),
        "recipe": PAPER_RECIPES[:1],
    }
    rows = [(name, ", ".join(f"{word} *{lexicon.exchange(word)}*" for word in words)) for name, words in groups.items()]
    return table(("", "words"), rows)


# ------------------------------------------------------------------------------------------- rules


def rush_rules() -> str:
    """List every rule."""
    return rules_of(rules, steps_of(step))


def rush_order_of_play() -> str:
    """List what happens in a slot, in order."""
    return order_of_play(steps_of(step))


# ------------------------------------------------------------------------------------------- scenarios, baselines


def rush_scenarios() -> str:
    """Show the built-in scenarios."""
    parts = []
    for name in scenarios():
        scenario = load_scenario(name)
        lines = [f"### {name}", scenario.description]
        episode = scenario.episodes[0]
        rows: list[tuple[Any, ...]] = []
        for order in episode.orders:
            recipe = episode.recipes[order]
            who = " (paper)" if order in PAPER_RECIPES else ""
            rows.append((order + who, text.counts(recipe.ingredients), text.counts(recipe.spices), recipe.cook_time))
        areas = [f"{area.name}, {area.spaces} a turn: {text.counts(area.stock)}" for area in episode.areas]
        shown = "; ".join(entry.removesuffix(": none") for entry in areas)
        lines.append(f"Areas of the first episode with their action spaces and stock: {shown}.")
        lines.append(table(("order", "ingredients", "spices", "cook time"), rows, right=(3,)))
        parts.append("\n\n".join(lines))
    return "\n\n".join(parts)


def rush_results() -> str:
    """Show the metrics of the baselines."""
    measured = read_json(RESULT_FILE)
    if measured is None:
        return "Not measured yet: `python docs/facts.py --rush` measures and writes this table."
    teams, rows = measured["teams"], []
    for name in scenarios():
        for team, settings in teams.items():
            score = settings[name]
            useful, ruining, vain = (_pair(score[kind]) for kind in ("positive", "negative", "neutral"))
            numbers = [_mean(score[kind]) for kind in ("completed", "ruined", "turns")]
            early = f"{100 * score['early']['value']:.0f}"
            balance = _mean(score["balance"])
            rows.append((code(name), code(team), score["runs"], *numbers, early, useful, ruining, vain, balance))
    heads = ("scenario", "team", "runs", "CR", "RR", "turns", "ended early %", "A+", "A−", "A=", "balance")
    return table(heads, rows, right=range(2, len(heads)))


def _mean(ends: dict[str, float | None]) -> str:
    value, interval = Column("", "estimate", 2).text(Estimate(ends["value"] or 0.0, ends["low"], ends["high"]))
    return f"{value} ({interval})" if interval else value


def _pair(agents: list[dict[str, float]]) -> str:
    return " / ".join(f"{own['value']:.1f}" for own in agents)


def measure() -> None:
    """Play the baselines on the built-in scenarios through the suite, and keep their metrics."""
    teams = {}
    for team, runs in BASELINES.items():
        options: dict[str, Any] = {"scenario": scenarios(), "domain": ["kitchen"], "runs": runs}
        rows = rows_of({"": played("rush", team, **options)})
        teams[team] = {row.scenario: _kept(row) for row in rows}
    write_json(RESULT_FILE, {"teams": teams})


def _kept(row: RushRow) -> dict[str, Any]:
    """Return what the page shows of a row."""
    group = {name: estimate_json(row.mean(name)) for name in ("completed", "ruined", "turns", "early", "balance")}
    seats = {
        name: [estimate_json(row.mean(name, seat)) for seat in range(row.agents)]
        for name in ("positive", "negative", "neutral")
    }
    return {"runs": len(row.runs), **group, **seats}


FACTS: tuple[Callable[[], str], ...] = (
    rush_specs,
    rush_options,
    rush_features,
    rush_actions,
    rush_reasons,
    rush_words,
    rush_rules,
    rush_order_of_play,
    rush_scenarios,
    rush_results,
)
