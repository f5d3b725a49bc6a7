"""Recordings of JaxMARL's OvercookedV2: episodes of all layouts with several sets of options.

Random numbers of the original are not imitated: the recorded start is put into the environment, and each step is played
with a seed that draws the recorded recipe. There are no deviations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.games.overcooked.engine.constants import (
    FIRST_INGREDIENT,
    HAND_END,
    NOT_COOKING,
    Item,
    Player,
    Terrain,
)
from collab_overcooked.games.overcooked.engine.spec import counts_of
from collab_overcooked.games.overcooked.v2.engine.constants import COOK_TIME, INGREDIENTS
from collab_overcooked.games.overcooked.v2.env import OvercookedV2
from parity.report import FileReport, Format, Recording, at, expect, has
from parity.rooms import seed_that_draws

PLATE, COOKED = 1, 2  # bits of recorded contents, before two for the count of each ingredient
STATIC = {  # recorded kinds of cells
    Terrain.FLOOR: 0,
    Terrain.COUNTER: 1,
    Terrain.SERVING: 4,
    Terrain.POT: 5,
    Terrain.INDICATOR: 6,
    Terrain.BUTTON: 7,
    Terrain.DISHES: 9,
    **{Terrain(Terrain.ONIONS + kind): 10 + kind for kind in range(len(INGREDIENTS))},
}
OPTIONS = {  # of the original's constructor
    "agent_view_size": "view_radius",
    "negative_rewards": "negative_rewards",
    "sample_recipe_on_delivery": "redraw_recipe",
    "random_agent_positions": "random_start",
    "random_reset": "random_state",
    "indicate_successful_delivery": "delivery_light",
    "op_ingredient_permutations": "permuted_ingredients",
}
ACTIONS = ("east", "south", "west", "north", "stay", "interact")
FACINGS = ("north", "south", "east", "west")

Values = Mapping[str, Any]


def make_recorded(episode: Values) -> tuple[OvercookedV2, ParallelEnv]:
    """Return the game of a recorded episode, and its environment."""
    options = {OPTIONS[name]: value for name, value in episode["options"].items() if name in OPTIONS}
    dynamics = "explicit" if episode["options"].get("start_cooking_interaction") else "auto"
    game = OvercookedV2(layout=episode["layout"], dynamics=dynamics, **options)
    return game, ParallelEnv(game)


def _ingredients(bits: int) -> list[str]:
    return [name for name, count in zip(INGREDIENTS, counts_of(bits >> 2), strict=False) for _ in range(count)]


def _thing(bits: int) -> dict[str, Any] | None:
    """Return what recorded bits of a hand or counter mean: plate, cooked, then the count of each ingredient."""
    if bits & COOKED:
        return {"item": "dish", "ingredients": _ingredients(bits)}
    return None if bits == 0 else {"item": "plate" if bits & PLATE else _ingredients(bits)[0]}


def _bits(thing: Sequence[int], in_pot: bool) -> int:
    """Return the bits by which a thing of our arrays is recorded."""
    item, soup, tick = thing
    if item == Item.SOUP:
        return soup << 2 | (COOKED if tick == COOK_TIME else 0) | (0 if in_pot else PLATE)
    return PLATE if item == Item.DISH else 1 << 2 * (item - FIRST_INGREDIENT + 1) if item != Item.NONE else 0


def _cell(kind: int, thing: Sequence[int]) -> list[int]:
    """Return content and timer by which a cell of our arrays is recorded."""
    item, _, tick = thing
    if kind == Terrain.BUTTON:
        return [0, tick]
    left = COOK_TIME - tick if kind == Terrain.POT and item == Item.SOUP and tick != NOT_COOKING else 0
    return [_bits(thing, kind == Terrain.POT), left]


def scene_of(episode: Values) -> dict[str, Any]:
    """Return the recorded start as a scene."""
    objects = []
    for y, row in enumerate(episode["grid0"]):
        for x, (static, bits, timer) in enumerate(row):
            if bits and static == STATIC[Terrain.POT]:
                soup = {"item": "soup", "ingredients": _ingredients(bits)}
                objects.append({"position": [x, y], **soup, "left": timer, "ready": bool(bits & COOKED)})
            elif bits:
                objects.append({"position": [x, y], **(_thing(bits) or {})})
    scene: dict[str, Any] = {
        "recipe": _ingredients(episode["recipe0"]),
        "players": [
            {"position": [x, y], "facing": FACINGS[facing], "holding": _thing(held)}
            for x, y, facing, held in episode["agents0"]
        ],
        "objects": objects,
    }
    if episode["permutations"]:
        scene["seen_as"] = [[INGREDIENTS[kind] for kind in order] for order in episode["permutations"]]
    return scene


def _draw_recorded(env: ParallelEnv, recipes: Sequence[int], bits: int) -> None:
    """Go on from the same scene with a seed that draws the recorded recipe."""
    chance = {"seed": seed_that_draws(recipes.index(bits), len(recipes)), "draws": 0}
    env.reset(options={"state": {**env.scene(), "chance": chance}})


def _expect_observations(env: ParallelEnv, recorded: Sequence[Sequence[int]]) -> None:
    for seat, numbers in enumerate(recorded):
        expect(f"observation of seat {seat}", env.arrays[1].observations[0, seat].reshape(-1).tolist(), numbers)


def _expect_state(env: ParallelEnv, grid: np.ndarray, agents: Sequence[Sequence[int]], recipe: int) -> None:
    state = env.arrays[0]
    terrain = env.game.compiled.tables.terrain[0].tolist()
    hands = [_bits(hand, False) for hand in state.players[0, :, Player.HAND : HAND_END].tolist()]
    poses = state.players[0, :, : Player.HAND].tolist()
    expect("agents", [[*pose, held] for pose, held in zip(poses, hands, strict=True)], agents)
    pairs = zip(terrain, state.cells[0].tolist(), strict=True)
    cells = [[_cell(*pair) for pair in zip(*row, strict=True)] for row in pairs]
    expect("grid", cells, grid[..., 1:].tolist())
    expect("recipe", env.scene()["recipe"], _ingredients(recipe))


def _replay(episode: Values, report: FileReport) -> None:
    game, env = make_recorded(episode)
    tables = game.compiled.tables
    expect("shape of observations", list(game.single_observation_space.shape), episode["obs_shape"])
    env.reset(seed=0, options={"state": scene_of(episode)})
    grid = np.array(episode["grid0"])
    kinds = [[STATIC[kind] for kind in row] for row in tables.terrain[0].tolist()]
    expect("kinds of cells", kinds, grid[..., 0].tolist())
    _expect_state(env, grid, episode["agents0"], episode["recipe0"])
    _expect_observations(env, episode["obs0"])
    for t, step in enumerate(episode["steps"]):
        with at(f"step {t + 1}, actions {step['a']}"):
            if episode["options"].get("sample_recipe_on_delivery"):
                _draw_recorded(env, tables.recipes[0].tolist(), step["recipe"] >> 2)
            texts = zip(env.agents, step["a"], strict=True)
            _, rewards, *_ = env.step({agent: env.parse(ACTIONS[action]) for agent, action in texts})
            for y, x, *cell in step["grid"]:
                grid[y, x] = cell
            _expect_state(env, grid, step["agents"], step["recipe"])
            expect("rewards", [float(value) for value in rewards.values()], step["r"])
            expect("shaped rewards", env.arrays[1].shaped[0].tolist(), step["shaped"])
            expect("delivery", env.scene()["delivered"], step["light"])
            if "obs" in step:
                _expect_observations(env, step["obs"])
        report.compared += 1


def _compare(recording: Recording, report: FileReport) -> None:
    labelled = (
        (f"{entry['layout']}, {entry['options']}, episode {entry['ep']}", entry) for entry in recording.episodes
    )
    report.run_all(labelled, _replay)


FORMATS = (Format("OvercookedV2, episodes", has("grid0", "recipe0", "steps"), _compare),)
