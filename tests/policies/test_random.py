from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from collab_overcooked.policies.api import EnvInfo
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.registry import load_game


def draws(game: Any, seen: Any, seat: int, seed: int, count: int) -> list[int]:
    policy: Any = make_policy("random")
    policy.reset(seat, EnvInfo(game.id, game, "", ("random", "random")), seed)
    return [policy.act(seen) for _ in range(count)]


def test_it_draws_evenly_from_the_mask_and_from_its_seed_alone(start: Any, see: Any) -> None:
    game = load_game("CollabOvercooked-v0")
    seen = see(game, start(game), 1)
    accepted = np.flatnonzero(seen.mask)
    drawn = draws(game, seen, 1, 7, 100 * len(accepted))
    counts = np.array([drawn.count(action) for action in accepted])
    assert counts.sum() == len(drawn) and counts.min() > 60 and counts.max() < 140
    assert drawn[:50] == draws(game, seen, 1, 7, 50)
    assert drawn[:50] != draws(game, seen, 1, 8, 50)
    assert drawn[:50] != draws(game, seen, 0, 7, 50)


@pytest.mark.parametrize("kitchen", ["paper", "shared_floor", "three_agents"])
@pytest.mark.parametrize("level", ["medium", "primitive"])
def test_it_plays_every_kitchen_without_a_refused_action(play: Any, kitchen: str, level: str) -> None:
    first = play("random", 5, kitchen=kitchen, action_level=level)
    assert first == play("random", 5, kitchen=kitchen, action_level=level)
    assert not any(step.errors for step in first.steps)
