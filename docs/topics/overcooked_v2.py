"""Facts about OvercookedV2 on the documentation's pages; ``facts.py`` writes them there."""

from __future__ import annotations

from typing import Any

from collab_overcooked import registry
from collab_overcooked.games.overcooked.v2.engine import rules, step
from collab_overcooked.games.overcooked.v2.engine.compile import planes_of
from collab_overcooked.games.overcooked.v2.engine.constants import Event
from collab_overcooked.games.overcooked.v2.engine.spec import layouts, load_kitchen
from collab_overcooked.games.overcooked.v2.env import OvercookedV2
from collab_overcooked.games.overcooked.v2.suite import ALL_SEEN, PAPER, published
from collab_overcooked.kernels.blocks import starts_of

from .writing import (
    block_table,
    code,
    drawn,
    measured,
    option_table,
    order_of_play,
    read_json,
    rules_of,
    steps_of,
    table,
    write_json,
)

ENV_ID = "OvercookedV2-v0"
RESULT_FILE = "overcooked_v2.json"


def overcooked_v2_specs() -> str:
    """List what a trainer asks first."""
    game = registry.load_game(ENV_ID)
    rows = [
        ("agents", "2; 1 in `long_room`"),
        ("actions", f"{code(game.single_action_space)}: {', '.join(map(code, game.action_texts()))}"),
        ("observation", f"{code(game.single_observation_space)}"),
        ("global state", code(f"float32 {game.state_space.shape}")),
        ("reward", "float32: points of the team; own shaped reward in `info[agent]['shaped_reward']`"),
        ("episode", f"truncated after {game.max_cycles} steps (`max_cycles`); never terminated"),
    ]
    return table(("", "with the default layout, `grounded_coord_simple`"), rows)


def overcooked_v2_options() -> str:
    """List the game's constructor arguments."""
    return option_table(OvercookedV2, ())


def overcooked_v2_planes() -> str:
    """List the channels of an observation with the ingredients of the default layout."""
    game: Any = registry.load_game(ENV_ID)
    blocks = planes_of(game.compiled.kinds)
    return block_table(((b.name, len(b.highest), b.content) for b in blocks), int(starts_of(blocks)[-1]))


def overcooked_v2_events() -> str:
    """List the events."""
    return ", ".join(code(event.name.lower()) for event in Event)


def overcooked_v2_rules() -> str:
    """List the rules that differ from Overcooked."""
    return rules_of(rules, steps_of(step))


def overcooked_v2_order_of_play() -> str:
    """List the calls of ``step_env`` in order."""
    return order_of_play(steps_of(step))


def overcooked_v2_layouts() -> str:
    """Draw all layouts with their recipes."""
    parts = []
    for name in layouts():
        layout = load_kitchen(name)
        rows = [list(row) for row in layout.grid]
        for letter, (x, y) in zip("ab", layout.starts, strict=False):
            rows[y][x] = letter
        recipes = ", ".join(code("".join(map(str, recipe))) for recipe in layout.recipes)
        parts.append((code(name), drawn(rows), recipes))
    return table(("layout", "grid", "recipes"), parts)


TEAMS = {"random": 10, "greedy": 10, "planner": 2}  # policy -> episodes


def measure() -> None:
    """Play baselines with the paper's options and with all in view, and keep the mean scores."""
    scores = {}
    for team, episodes in TEAMS.items():
        rows = measured("overcooked-v2", team, views=("paper", "all"), episodes=episodes)
        scores[team] = {row["setting"]: row["score"]["value"] for row in rows}
    write_json(RESULT_FILE, {"teams": scores})


def overcooked_v2_results() -> str:
    """Show scores of the baselines beside published ones."""
    scores = (read_json(RESULT_FILE) or {"teams": {}})["teams"]
    rows = []
    for layout in PAPER:
        cells = [
            f"{scores[team][name]:.0f}" if name in scores.get(team, {}) else "–"
            for name in (layout, layout + ALL_SEEN)
            for team in TEAMS
        ]
        theirs = [
            "{:g} ± {:g}".format(*numbers[layout]) if layout in numbers else "–" for numbers in published().values()
        ]
        rows.append((code(layout), *cells, *theirs))
    heads = [*map(code, TEAMS), *(f"{code(team)}, all in view" for team in TEAMS)]
    names = ("layout", *heads, *(f"{name} cross-play, published" for name in published()))
    return table(names, rows, right=range(1, len(names)))


FACTS = (
    overcooked_v2_results,
    overcooked_v2_specs,
    overcooked_v2_options,
    overcooked_v2_events,
    overcooked_v2_planes,
    overcooked_v2_rules,
    overcooked_v2_order_of_play,
    overcooked_v2_layouts,
)
