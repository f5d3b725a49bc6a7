"""What agents see of CuisineWorld: masks against the judge, features against a plain encoder, original numbers."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from games.cuisineworld.world import LEVEL, Kitchen, plain_game
from support.naive.cuisineworld import NaiveWorld

from collab_overcooked import make_vec
from collab_overcooked.games.cuisineworld.engine.observe import content_number
from collab_overcooked.games.cuisineworld.engine.spec import levels, load_level
from collab_overcooked.games.cuisineworld.env import CuisineWorld
from collab_overcooked.testing import random_legal


def plain_features(game, scene, seat):
    """The feature vector in words of the scene."""
    level, n = game.level, game.n_agents
    numbers = []
    for k in range(n):
        agent = scene["agents"][(seat + k) % n]
        numbers += [agent["holding"] == name for name in level.items]
        numbers += [agent["location"] == name for name in level.locations]
        numbers.append(agent["busy"] > 0)
    for name, tool in scene["tools"].items():
        if not name.startswith("storage"):
            numbers += [tool["content"].count(item) for item in level.items]
            numbers += [tool["busy"], tool["ready"], len(tool["content"])]
    for q in range(game.sizes["Q"]):
        order = scene["orders"][q] if q < len(scene["orders"]) else {"name": None, "remaining": 0}
        numbers += [order["name"] == name for name in level.order_names]
        numbers.append(255 if order["remaining"] is None else order["remaining"])
    interval = game.timing.interval
    numbers += [scene["timestep"], scene["limit"] - scene["timestep"], max(0, interval - scene["timer"])]
    return np.minimum(np.array(numbers, int), 255)


@pytest.mark.parametrize(("level", "agents"), [("level_0", 1), ("level_3", 2), ("level_11", 4), ("test", 3)])
def test_features_are_those_of_a_plain_encoder(level, agents):
    source = plain_game(LEVEL, agents=agents).kwargs["level"] if level == "test" else level
    batch = make_vec("CuisineWorld-v0", 2, level=source, agents=agents, alpha=1.0, beta=20)
    batch.reset(4)
    rng = np.random.default_rng(0)
    offered = np.zeros(batch.game.n_actions)
    for _ in range(59):
        offered += batch.out.masks.sum(axis=(0, 1))
        batch.step(random_legal(batch, rng, 1 / (1 + offered)))
        for i, seat in itertools.product(range(2), range(agents)):
            expected = plain_features(batch.game, batch.scene(i), seat)
            assert np.array_equal(batch.out.observations[i, seat], expected)


def test_features_show_an_order_without_end_as_255():
    kitchen = Kitchen("order MaxJr -1\norder cheeseBurger 400")
    kitchen.play("noop_agent0")
    expected = plain_features(kitchen.game, kitchen.scene, 1)
    assert np.array_equal(kitchen.out.observations[0, 1], np.minimum(expected, 255))
    assert (kitchen.out.observations[0, 1] == 255).sum() == 3  # two orders, and the steps left of a million


def original_list(naive: NaiveWorld, i: int) -> list[str]:
    """The original's legal list, in its order."""
    agent, tools = naive.agents[i], naive.tools
    place, tool = agent["at"], tools[agent["at"]]
    lines = ["noop"] + [f"goto {name}" for name in tools if name != place]
    role, content = tool["tool"].role, tool["content"]
    if tool["busy"]:
        return lines
    if agent["item"]:
        grown = sorted({*content, agent["item"]})
        full = any(r.tool == tool["kind"] and sorted(r.ingredients) == grown for r in naive.recipes)
        return lines + [f"put {place}"] * (role != "cook" or not content or full)
    if role == "storage":
        return lines + [f"get {name} {place}" for name in naive.level.base_ingredients]
    if role == "table":
        return lines
    lines += [f"get {place}"] * bool(content)
    return lines + [f"activate {place}"] * (not content or naive.matching(tool, content) is not None)


@pytest.mark.parametrize("level", levels())
def test_original_masks_are_its_lists(level):
    game = CuisineWorld(level, agents=2, alpha=1.0, mask="original")
    state, out = game.alloc(1)
    state.rng[:] = 0
    game.reset(state, out, np.ones(1, np.bool_))
    python = random.Random(0)
    naive = NaiveWorld(game.level, 2, game.timing, lambda: python.choice(game.level.order_names))
    texts, rng = game.action_texts(), random.Random(5)
    for _ in range(60):
        chosen = []
        for i in range(2):
            allowed = [texts[action] for action in np.flatnonzero(out.masks[0, i])]
            assert allowed == original_list(naive, i)
            others = [text for text in allowed if not text.startswith("goto")]
            chosen.append(rng.choice(others if rng.random() < 0.6 else allowed))
        commands = [game.command_text(i, texts.index(text)) for i, text in enumerate(chosen)]
        game.command(state, out, commands)
        naive.step(commands)


@pytest.mark.parametrize("level", levels())
def test_content_number_is_the_exact_sum_rounded_once(level):
    compiled = CuisineWorld(level, agents=2).compiled
    objects = sorted([*compiled.level.base_ingredients, *compiled.level.recipes])
    for recipe in load_level(level).recipes_here:
        for size in range(len(recipe.ingredients) + 1):
            for content in itertools.permutations(recipe.ingredients, size):
                items = np.array([compiled.level.items.index(name) for name in content] + [-1], np.int32)
                tool = np.array([0, 0, 0, size], np.int32)
                expected = float(sum(2 ** objects.index(name) for name in content)) if content else -1.0
                assert content_number(tool, items, compiled.tables.objects) == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"agents": 3}, "2 agents"),
        ({"agents": 2, "max_open_orders": 7}, "6 orders"),
        ({"agents": 2, "level": {"extends": "level_0", "kitchen": ["storage", "servingtable"] + ["blender"] * 4}}, "3"),
    ],
)
def test_original_numbers_refuse_what_they_cannot_hold(options, message):
    with pytest.raises(ValueError, match=message):
        CuisineWorld(**{"level": "level_0", "obs": "original64", **options})
