"""Whole episodes of CraftKitchen: as the naive one plays them, with nothing lost, and the facts of the public code."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from games.craft.world import LEVEL, Yard
from support.naive.craft import NaiveCraft

import collab_overcooked
from collab_overcooked.games.craft.engine.constants import Verb
from collab_overcooked.games.craft.engine.solvability import bound
from collab_overcooked.games.craft.engine.spec import load_level
from collab_overcooked.games.craft.env import CraftKitchen
from collab_overcooked.games.craft.text.text import VERBS
from collab_overcooked.kernels.rng import seed_states

USUAL = {"agents": 2, "interval": 4, "lifetime": 6, "walk": 0, "respawn": 1, "cook_steps": 1, "items_per_fuel": 1.0,
         "reach": "told"}  # fmt: skip
VARIANTS = [
    ("field", {}),
    ("house", {"agents": 3, "respawn": 4, "interval": 2, "lifetime": 3}),
    ("butchery", {"agents": 4, "cook_steps": 2, "items_per_fuel": 1.5, "reach": "code"}),
    ("field", {"agents": 1, "walk": 3, "items_per_fuel": 0.5, "cook_steps": 3, "respawn": 2}),
    ("field", {"walk": 5, "reach": "code"}),  # short walks end within reach of places, not at them
]
CHICKEN, MUTTON = "cooked_chicken", "cooked_mutton"


def start(level, seed, options):
    game = CraftKitchen(level=level, **options)
    state, out = game.alloc(1)
    state.rng[:] = seed_states([seed])
    game.reset(state, out, np.ones(1, np.bool_))
    return game, state, out


def likely(rng, game, mask):
    """Draw an action, going less often than what one goes for."""
    legal = np.flatnonzero(mask)
    weights = [0.3 if game.commands[a][0] in (Verb.GOTO, Verb.WAIT) else 1.0 for a in legal]
    return int(rng.choice(legal, p=np.array(weights) / sum(weights)))


@pytest.mark.parametrize(("level", "options"), VARIANTS)
def test_episodes_are_as_the_naive_game_plays_them(level, options):
    options = USUAL | options
    values = dict(load_level(level).document)
    for seed in range(3):
        game, state, out = start(level, seed, options)
        naive, rng = NaiveCraft(values, seed, options | {"max_cycles": 60}), np.random.default_rng(seed)
        for _ in range(game.max_cycles):
            scene = game.scene(state, 0)
            assert {key: scene[key] for key in naive.scene()} == naive.scene()
            legal = [likely(rng, game, mask) for mask in out.masks[0]]
            actions = [int(rng.integers(game.n_actions)) if rng.random() < 0.2 else action for action in legal]
            commands = [(VERBS[verb], word) for verb, word in (game.commands[a] for a in actions)]
            for seat, mask in enumerate(out.masks[0].tolist()):
                verbs = [(VERBS[verb], word) for verb, word in game.commands]
                assert mask == [naive.allowed(seat, *command) for command in verbs]
            game.step(state, np.array([actions], np.int32), out)
            assert (out.events[0, :, 1] == 0).tolist() == naive.play(commands)
            assert out.rewards[0, 0] == naive.completed - scene["completed"]
        assert out.truncated[0]


def test_orders_of_seed_123_are_those_of_the_public_code():
    game, state, out = start("field", 123, {"pace": 1})
    drawn = [order["name"] for order in game.scene(state, 0)["orders"]]
    for step in range(1, 24):
        game.step(state, np.zeros((1, 2), np.int32), out)
        if step % 2 == 0:
            drawn.append(game.scene(state, 0)["orders"][-1]["name"])
    assert [name == CHICKEN for name in drawn[:12]] == [True, False, True, False, False, True, True, *[False] * 3, True,
                                                        True]  # fmt: skip


@pytest.mark.parametrize(("pace", "come", "failed"), [(1, 30, 29), (2, 15, 14), (3, 10, 9), (4, 8, 7), (5, 6, 5)])
def test_an_idle_team_fails_what_expires(pace, come, failed):
    game, state, out = start("field", 0, {"pace": pace})
    for _ in range(60):
        game.step(state, np.zeros((1, 2), np.int32), out)
    scene = game.scene(state, 0)
    assert (scene["expired"], scene["expired"] + len(scene["orders"])) == (failed, come)
    config = game.compiled.config
    assert config.lifetime == int(1.5 * config.interval)


def test_eight_lists_of_commands_deliver_a_chicken():
    env = collab_overcooked.make("CraftKitchen-v0", level="field", pace=5)
    env.reset(seed=123)
    lists = [
        ["goto(bot1, 'chicken')", "goto(bot2, 'oak_log')"],
        ["killMob(bot1, 'chicken')", "mineBlock(bot2, 'oak_log')"],
        ["goto(bot1, 'furnace')", "goto(bot2, 'furnace')"],
        ["putItemFurnace(bot1, 'chicken')", "putFuelFurnace(bot2, 'oak_log')"],
        ["takeOutFurnace(bot1)", "goto(bot2, 'sheep')"],
        ["goto(bot1, 'chest')"],
        [f"putInChest(bot1, '{CHICKEN}')"],
        [],
    ]
    states = [env.command(commands) for commands in lists]
    assert all(all(state.obeyed) and not state.feedback for state in states)
    assert [snapshot.rewards["agent_0"] for snapshot in states] == [0, 0, 0, 0, 0, 0, 1, 0]


def test_no_team_exceeds_the_bound():
    for level, options in VARIANTS:
        game, state, out = start(level, 1, USUAL | options)
        limit = bound(game.compiled)
        rng = np.random.default_rng(1)
        for step in range(60):
            actions = [likely(rng, game, mask) for mask in out.masks[0]]
            game.step(state, np.array([actions], np.int32), out)
            chest = game.scene(state, 0)["chest"]
            assert sum(chest.get(dish, 0) for dish in game.level.dishes) <= limit.delivered[step]


def test_bound_of_the_hand_count():
    """Two agents walk three times, take out once and work five steps for a dish: 23 dishes in 120 steps."""
    results = {pace: bound(CraftKitchen(level="field", pace=pace).compiled) for pace in range(1, 6)}
    assert (results[1].first, results[1].delivered[-1], results[1].served) == (5, 23, 23)
    assert [round(results[pace].ratio, 3) for pace in results] == [0.793, 1, 1, 1, 1]


def test_what_will_be_ordered_is_forgotten_in_beliefs():
    yard = Yard()
    yard.game.reset(yard.state, yard.out, np.ones(1, np.bool_), {"orders": [MUTTON, CHICKEN]})
    assert yard.scene["orders"][0]["name"] == MUTTON
    yard.game.sample_belief(yard.state, 0, np.random.default_rng(0))
    assert (yard.state.forced == -1).all() and not yard.state.stream.any()


def test_levels_files_are_refused_with_reason_and_place():
    good = yaml.safe_load(LEVEL)
    for change, message in [
        ({"dishes": {"stew": "beef"}}, "unknown item that some place gives 'beef'"),
        ({"fuel": ["coal"]}, "unknown item that some place gives 'coal'"),
        ({"chest": [[0]]}, "chest.0 must be a point"),
        ({"starts": [[0, 0]] * 5}, "at most 4 agents can play"),
        ({"mobs": {"oak_log": {"at": [[1, 1]]}}}, "is a block and a mob"),
        ({"agents": 9}, "agents must be an integer from 1 to 3"),
        ({"blocks": {"chest": {"at": [[1, 1]]}}}, "has a separate key"),
        ({"dishes": {"a": "chicken", "b": "chicken"}}, "two dishes are made of chicken"),
        ({"furnaces": 1}, "unknown key 'furnaces'"),
    ]:
        with pytest.raises(ValueError, match=message):
            load_level(good | change)
    for options, message in [
        ({"agents": 4, "level": good}, "agents must be at most 3"),
        ({"items_per_fuel": 0.3}, "items_per_fuel must be a multiple of 0.5"),
        ({"interval": 1, "lifetime": 300}, "lifetime must be at most 200"),
        ({"pace": 6}, "pace must be an integer from 1 to 5"),
    ]:
        with pytest.raises(ValueError, match=message):
            CraftKitchen(**options)
