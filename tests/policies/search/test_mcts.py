"""Tree search plays every game: legally, the same for the same seed, and better than by chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import collab_overcooked
from collab_overcooked.policies.search.mcts import MctsPolicy, MctsSettings, TreeSearch, from_text
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.registry import registered

KITCHEN = {
    "name": "last slots",
    "workers": 1,
    "max_turns": 4,
    "episodes": [
        {
            "recipes": {
                "Salad": {"ingredients": {"lettuce": 1}, "cook_time": 0},
                "Soup": {"ingredients": {"carrot": 1}, "cook_time": 2},
                "Stew": {"ingredients": {"carrot": 1}, "cook_time": 4},
            },
            "pantries": [{"id": 0, "spaces": 2, "stock": {"lettuce": 1, "carrot": 3}}],
            "spicebags": [{"id": 1, "spaces": 1, "stock": {}}],
            "stoves": [{"id": 2, "spaces": 2}],
        }
    ],
}


def decide(env: Any, seat: int, rng: np.random.Generator, **settings: Any) -> int:
    return TreeSearch(Simulator(env.game, env.arrays[0], seat), MctsSettings(**settings), rng).decide()


def play(
    env_id: str, seed: int, steps: int, settings: dict[str, Any] | None, **options: Any
) -> tuple[float, list[Any]]:
    """Play with mcts in all seats, or by chance without settings; return the rewards' sum and the actions."""
    env = collab_overcooked.make(env_id, **options)
    env.reset(seed=seed)
    rngs = [np.random.default_rng([seed, seat]) for seat in range(env.game.n_agents)]
    total, chosen = 0.0, []
    while env.agents and len(chosen) < steps:
        masks = [env.action_mask(agent) for agent in env.agents]
        if settings is None:
            actions = [int(rng.choice(np.flatnonzero(mask))) for rng, mask in zip(rngs, masks, strict=True)]
        else:
            actions = [decide(env, seat, rng, **settings) for seat, rng in enumerate(rngs)]
        assert all(mask[action] for mask, action in zip(masks, actions, strict=True))
        _, rewards, *_ = env.step(dict(zip(env.agents, actions, strict=True)))
        total += sum(rewards.values()) / len(rewards)
        chosen.append(actions)
    return total, chosen


@pytest.mark.parametrize("env_id", registered())
def test_every_game_is_played_legally_and_the_same_for_the_same_seed(env_id):
    settings = {"simulations": 12, "depth": 6, "batch": 5}
    once = play(env_id, 3, 4, settings)
    assert once == play(env_id, 3, 4, settings)


@pytest.mark.parametrize("teammates", ["search", "random", "idle"])
def test_the_winning_move_is_found(teammates):
    """In the last slot only one action finishes an order."""
    env = collab_overcooked.make("KitchenRush-v0", scenario=KITCHEN)
    env.reset(seed=0, options={"state": {"turn": 3}})
    texts = env.game.action_texts(env.arrays[0])
    action = decide(env, 0, np.random.default_rng(0), simulations=100, teammates=teammates)
    assert "Salad" in texts[action] and int(env.action_mask("agent_0")[action]) == 1
    _, rewards, *_ = env.step({"agent_0": action, "agent_1": env.game.idle_action()})
    assert rewards["agent_0"] > 0


def test_two_steps_are_looked_ahead():
    """One seat alone has two slots left: the soup needs both of them, once it has begun; all else comes too late."""
    env = collab_overcooked.make("KitchenRush-v0", scenario=KITCHEN, agents=1)
    orders = [
        {"name": "Soup", "ingredients": 1},
        {"name": "Salad", "ruined": 1, "cooked": 1},
        {"name": "Stew", "ingredients": 1},
    ]
    env.reset(seed=0, options={"state": {"turn": 2, "orders": orders}})
    rng = np.random.default_rng(0)
    total = 0.0
    while env.agents:
        _, rewards, *_ = env.step({"agent_0": decide(env, 0, rng, simulations=200)})
        total += rewards["agent_0"]
    assert total > 0


def test_rush_is_played_better_than_by_chance():
    """Two rounds: the worst of search beats the best of chance."""
    best_by_draw = max(play("KitchenRush-v0", seed, 99, None)[0] for seed in range(4))
    worst = min(play("KitchenRush-v0", seed, 99, {"simulations": 60, "depth": 20})[0] for seed in range(2))
    assert worst > best_by_draw


def test_cuisineworld_is_played_better_than_by_chance():
    best_by_draw = max(play("CuisineWorld-v0", seed, 99, None, level="level_0")[0] for seed in range(4))
    result, _ = play("CuisineWorld-v0", 0, 99, {"simulations": 20, "depth": 20}, level="level_0")
    assert result > best_by_draw + 20  # two dishes


def test_specs_set_parameters():
    settings = from_text("simulations=7, depth=3,discount=0.5,teammates=idle").settings
    assert settings == MctsSettings(simulations=7, depth=3, discount=0.5, teammates="idle")
    assert from_text("").settings == MctsSettings()
    assert MctsPolicy.needs_simulator


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("simulation=5", "did you mean simulations"),
        ("simulations=0", "at least 1"),
        ("simulations=many", "integer"),
        ("discount=2", "from 0 to 1"),
        ("exploration=x", "must be a number"),
        ("teammates=idel", "teammates must be one of idle, random, search"),
        ("payoff=theirs", "team"),
    ],
)
def test_bad_specs_are_refused_with_what_is_allowed(text, message):
    with pytest.raises(ValueError, match=message):
        from_text(text)
