"""Facts about CuisineWorld on the documentation's pages; ``facts.py`` writes them there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.games.cuisineworld.engine import rules, step
from collab_overcooked.games.cuisineworld.engine.constants import Reason
from collab_overcooked.games.cuisineworld.engine.spec import Level, levels, load_level
from collab_overcooked.games.cuisineworld.env import CuisineWorld

from .writing import (
    DOCS,
    code,
    feature_table,
    first_line,
    option_table,
    order_of_play,
    reason_table,
    rules_of,
    steps_of,
    table,
)

ENV_ID = "CuisineWorld-v0"
EXTRA_LEVELS = ("level_6", "level_12_fryer")  # the paper has no numbers of them
SIZES = (2, 3, 4)  # numbers of agents


@cache
def game(**options: Any) -> CuisineWorld:
    """Return the compiled game."""
    compiled: Any = registry.load_game(ENV_ID, **options)
    return compiled


# ------------------------------------------------------------------------------------------- environments


def cuisineworld_specs() -> str:
    """List what a trainer asks first."""
    ours = game()
    lengths = ", ".join(f"{game(agents=n).single_observation_space.shape[0]} with {n} agents" for n in SIZES)
    rows = [
        ("central agent", f'`gymnasium.make("{registry.NAMESPACE}/{ENV_ID}")`, actions `MultiDiscrete`'),
        ("agents", f"any number from 1 on; {ours.n_agents} if `agents` is not given"),
        ("actions", f"{code(ours.single_action_space)}, the same for all agents"),
        ("observation, features", f"{code(ours.single_observation_space)}; {lengths}"),
        ("observation, original64", code(game(agents=2, obs="original64").single_observation_space)),
        ("global state", f"`env.state()`, {code(f'float32 {ours.state_space.shape}')}"),
        ("reward", "float64, the same number for every agent"),
        ("episode", f"truncated after {ours.max_cycles} steps (`max_cycles`); never terminated"),
        ("orders", f"at most {ours.sizes['Q']} open at a time (`max_open_orders`)"),
    ]
    return table(("", "with the default level, `level_3`"), rows)


def cuisineworld_options() -> str:
    """List the game's constructor arguments."""
    return option_table(CuisineWorld, ())


# ------------------------------------------------------------------------------------------- observations


def cuisineworld_features() -> str:
    """List the blocks of the flat observation of the default game with their places."""
    return feature_table(game(agents=2))


# ------------------------------------------------------------------------------------------- actions and words


def cuisineworld_actions() -> str:
    """List the ranges of the catalogue of the default level."""
    texts = game().action_texts()
    groups: dict[str, list[int]] = {}
    for action, words in enumerate(texts):
        verb, *rest = words.split()
        form = " ".join([verb, *("item", "location")[2 - len(rest) :]])
        groups.setdefault(form, []).append(action)
    rows = []
    for form, members in groups.items():
        first = members[0]
        command = game().command_text(0, first)
        rows.append((_spans(members), len(members), code(form), code(texts[first]), code(command)))
    return table(("id", "number", "kind", "first of them", "as a command of agent 0"), rows, right=(1,))


def _spans(numbers: Sequence[int]) -> str:
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(f"{a}–{b}" if a < b else str(a) for a, b in spans)


def cuisineworld_reports() -> str:
    """List why the game refuses a command."""
    return reason_table(Reason)


# ------------------------------------------------------------------------------------------- rules


def cuisineworld_rules() -> str:
    """List every rule."""
    return rules_of(rules, steps_of(step))


def cuisineworld_order_of_play() -> str:
    """List the calls of ``step_env`` in order."""
    return order_of_play(steps_of(step))


def cuisineworld_rewards() -> str:
    """List the parts of the reward in the order in which they are added."""
    rows = [
        ("every step", f"{step.STEP_COST:g}"),
        ("each order completed in this step", f"{step.COMPLETION:g} + its remaining time before the tick"),
        ("every command of the step was carried out", f"{step.ALL_ACCEPTED:g}"),
    ]
    shaping = (rules.reward_ingredients, rules.reward_mixtures, rules.reward_products)
    rows += [(first_line(rule), "shaping") for rule in shaping]
    return table(("for", "reward"), rows)


# ------------------------------------------------------------------------------------------- levels


def cuisineworld_tools() -> str:
    """List the kinds of tools."""
    rows = []
    for tool in load_level().tools.values():
        cook = tool.role == "cook"
        taken = "always" if tool.open or tool.role == "storage" else "after an activation" if cook else "never"
        agent = "yes" if tool.busy_agent else "no" if cook else "–"
        rows.append((code(tool.kind), tool.capacity or "no limit", tool.busy if cook else "–", agent, taken))
    return table(("kind", "items it takes", "busy steps", "agent busy, too", "may be emptied"), rows, right=(1, 2))


def cuisineworld_levels() -> str:
    """Show all levels with their orders, the recipe tree of each, and the work in it."""
    rows: list[tuple[Any, ...]] = []
    for name in levels():
        level = load_level(name)
        kitchen = ", ".join(f"{n} {kind}" if n > 1 else kind for kind, n in Counter(level.kitchen).items())
        orders = (f"{code(dish)} {_made(level, dish)} {level.work(dish)}" for dish in level.order_names)
        features = game(level=name, agents=2).single_observation_space.shape[0]
        actions = game(level=name).n_actions
        rows.append(
            (code(name), level.paper_class, level.agents, actions, features, kitchen, "; ".join(orders) + _note(level))
        )
    heads = ("level", "class", "agents", "actions", "features, 2 agents", "kitchen", "orders, recipe and work")
    return table(heads, rows, right=(2, 3, 4))


def _note(level: Level) -> str:
    from collab_overcooked.games.cuisineworld.engine.solvability import prove_solvability

    problems = prove_solvability(level).problems
    return f". `check` reports: {'; '.join(problems)}" if problems else ""


def _made(level: Level, item: str) -> str:
    """Write a recipe tree in a line: ``mixer(bread, pan(beef))``."""
    recipe = level.recipes.get(item)
    if recipe is None:
        return item
    return f"{recipe.tool}({', '.join(_made(level, part) for part in recipe.ingredients)})"


# ------------------------------------------------------------------------------------------- pictures

# Two agents of the paper's appendix H, level_9 with alpha 1: the commands of its first steps.
APPENDIX_H = (
    "goto storage0, get lettuce storage0, goto chopboard0, put chopboard0, activate chopboard0, goto storage0, "
    "get cheese storage0, goto mixer0, put mixer0, goto storage0, get bread storage0, goto mixer0",
    "goto storage0, get beef storage0, goto pan0, put pan0, activate pan0, get pan0, "
    "noop, get pan0, goto chopboard0, get chopboard0, put mixer0, goto mixer0",
)


def draw_pictures() -> None:
    """Draw a moment of a game."""
    from PIL import Image

    env = collab_overcooked.make(ENV_ID, level="level_9", agents=2, alpha=1.0, render_mode="rgb_array")
    env.reset(seed=0)
    for pair in zip(*(words.split(", ") for words in APPENDIX_H), strict=True):
        env.step({agent: env.parse(words) for agent, words in zip(env.agents, pair, strict=True)})
    Image.fromarray(env.render()).quantize(255).save(DOCS / "pictures" / "cuisineworld.png", optimize=True)


FACTS: tuple[Callable[[], str], ...] = (
    cuisineworld_specs,
    cuisineworld_options,
    cuisineworld_features,
    cuisineworld_actions,
    cuisineworld_reports,
    cuisineworld_rules,
    cuisineworld_order_of_play,
    cuisineworld_rewards,
    cuisineworld_tools,
    cuisineworld_levels,
)
