"""Checks of the kind ``torchrl``, run by ``test_trainers.py`` in environments that have TorchRL."""

from __future__ import annotations

import numpy as np
import torch
from torchrl.collectors import Collector
from torchrl.envs import PettingZooWrapper, check_env_specs

import collab_overcooked

ROOM = {"layout": "cramped_room", "obs": "features"}
GAMES = (
    ("Overcooked-v0", {**ROOM, "state": "concat"}),
    ("CollabCapture-v0", {}),
    ("Housework-v0", {}),
    ("Overcooked-v0", {"layout": ["cramped_room", "coordination_ring"], "partners": ["greedy", "random"]}),
)


def check_specs() -> None:
    for env_id, options in GAMES:
        env = collab_overcooked.make_vec(env_id, 3, "torchrl", max_cycles=7, **options)
        check_env_specs(env, seed=0)
    check_env_specs(PettingZooWrapper(collab_overcooked.make("Overcooked-v0", **ROOM), done_on_any=True))


def check_steps_are_those_of_the_batch() -> None:
    """The same seeds and actions give the same arrays, final observations included, over several episodes."""
    options = {**ROOM, "max_cycles": 5, "state": "global"}
    env = collab_overcooked.make_vec("Overcooked-v0", 4, "torchrl", **options)
    batch = collab_overcooked.make_vec("Overcooked-v0", 4, "native", **options)
    env.set_seed(3)
    played = env.rollout(13, break_when_any_done=False)
    observations, infos = batch.reset(seed=3, copy=True)
    for t in range(13):
        step = played[:, t]
        assert np.array_equal(step["agents", "observation"], observations)
        assert np.array_equal(step["agents", "action_mask"], infos["action_mask"])
        observations, rewards, terminated, truncated, infos = batch.step(step["agents", "action"].numpy(), copy=True)
        after = step["next"]
        assert np.array_equal(after["agents", "observation"], observations)
        assert np.array_equal(after["state"], batch.states())
        assert np.array_equal(after["agents", "reward"][..., 0], rewards)
        assert np.array_equal(after["terminated"][:, 0], terminated)
        assert np.array_equal(after["truncated"][:, 0], truncated)
        assert np.array_equal(after["done"][:, 0], np.full(4, t % 5 == 4))
        for name in ("rejected", "shaped_reward"):
            assert np.array_equal(after["agents", "info", name], infos[name]), name
        if batch.over.any():
            observations, infos = batch.reset(which=batch.over, copy=True)


def check_ends() -> None:
    """Success terminates and the step limit truncates, each environment on its own."""
    env = collab_overcooked.make_vec("CollabCapture-v0", 64, "torchrl")
    env.set_seed(0)
    played = env.rollout(120, break_when_any_done=False)["next"]
    assert played["terminated"].any()
    assert played["truncated"].any()
    assert not (played["terminated"] & played["truncated"]).any()
    assert torch.equal(played["done"], played["terminated"] | played["truncated"])
    assert len({tuple(row.nonzero()[:, 0].tolist()) for row in played["done"]}) > 1


def check_resets_and_steps_of_some() -> None:
    env = collab_overcooked.make_vec("Overcooked-v0", 3, "torchrl", max_cycles=4, **ROOM)
    env.set_seed(0)
    first = env.reset()
    moved = env.step(env.rand_action(first.clone()))["next"]
    some = torch.tensor([[True], [False], [True]])
    again = env.reset(moved.clone().set("_reset", some))
    assert torch.equal(again["agents", "observation"][1], moved["agents", "observation"][1])
    assert torch.equal(again["agents", "observation"][0], first["agents", "observation"][0])
    ends = [env.step(env.rand_action(again.clone()))["next", "done"][:, 0].tolist() for _ in range(4)]
    assert ends == [[False] * 3, [False] * 3, [False, True, False], [True] * 3]
    assert env.rollout(9, break_when_all_done=True).shape == (3, 4)
    env.reset()
    try:
        env.step(env.rand_action(env.reset()).set("_step", some))
    except ValueError as error:
        assert "running environments" in str(error)
    else:
        raise AssertionError("a step of some running environments was accepted")


def check_random_actions_are_legal() -> None:
    env = collab_overcooked.make_vec("CuisineWorld-v0", 4, "torchrl", level="level_1")
    for played in Collector(env, env.rand_action, frames_per_batch=200, total_frames=400):
        legal = played["agents", "action_mask"].gather(-1, played["agents", "action"][..., None])
        assert legal.all()


if __name__ == "__main__":
    for check in (
        check_specs,
        check_steps_are_those_of_the_batch,
        check_ends,
        check_resets_and_steps_of_some,
        check_random_actions_are_legal,
    ):
        check()
        print(f"passed: {check.__name__}", flush=True)
