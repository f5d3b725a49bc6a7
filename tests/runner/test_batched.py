"""Episodes in a batch: every return is that of the episode's record, whatever plays and however many play at once."""

from __future__ import annotations

import numpy as np
import pytest

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.evaluation.crossplay import cross_play
from collab_overcooked.metrics.registry import measure
from collab_overcooked.policies import trained
from collab_overcooked.policies.export import export_policy
from collab_overcooked.policies.policy_file import find_policy, read_policy
from collab_overcooked.policies.registry import make_policy
from collab_overcooked.runner.batched import play_returns
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team

SEEDS = [3, 11, 12, 40]
NETWORK = "ppo:cramped_room"
ROOM = {"layout": "cramped_room", "max_cycles": 90}
CASES = [
    ("Overcooked-v0", ROOM, [NETWORK, NETWORK]),
    ("Overcooked-v0", ROOM | {"obs": "lossless"}, [NETWORK, f"{NETWORK},greedy"]),
    ("Overcooked-v0", ROOM, ["noisy:0.3,greedy", NETWORK]),
    ("Overcooked-v0", ROOM, ["random", "greedy"]),
    ("Overcooked-v0", {"layout": "cramped_room", "max_cycles": 60, "players": 1}, ["greedy"]),
    ("CuisineWorld-v0", {"level": "level_1", "agents": 2, "max_cycles": 40}, ["greedy", "random"]),
    ("CollabCapture-v0", {"max_cycles": 12}, ["greedy", "random", "greedy"]),
]


def one_by_one(env_id, options, specs):
    env = registry.make(env_id, **options)
    records = [play_episode(env, make_team(specs), seed) for seed in SEEDS]
    return [measure(record, ["return"])["return"] for record in records]


@pytest.mark.parametrize(("env_id", "options", "specs"), CASES, ids=lambda part: "-".join(map(str, part)))
def test_returns_are_those_of_records(env_id, options, specs):
    specs = specs[: registry.make(env_id, **options).game.n_agents]
    batched, single = play_returns(env_id, options, specs, SEEDS), one_by_one(env_id, options, specs)
    assert any(value is not None for value in batched), "nothing was played in a batch"
    assert [own if own is not None else value for own, value in zip(batched, single, strict=True)] == single


@pytest.mark.parametrize("specs", [["planner", NETWORK], [NETWORK, "planner"]])
def test_policies_that_do_not_say_so_are_played_one_by_one(specs):
    assert play_returns("Overcooked-v0", ROOM, specs, SEEDS) == [None] * len(SEEDS)
    assert play_returns("KitchenRush-v0", {}, ["random", "random"], SEEDS) == [None] * len(SEEDS)  # turn by turn


def test_an_answer_outside_the_mask_drops_its_episode_alone():
    class Stubborn:
        name, batched = "stubborn", True

        def reset(self, seat, info, seed):
            self.odd = seed % 2

        def act(self, seen):
            return 99 if self.odd else seen.idle_action

        def reply(self, seen):
            return None

    def make(spec):
        return Stubborn() if spec == "stubborn" else make_policy(spec)

    from collab_overcooked.runner.episode import policy_seed

    found = play_returns("Overcooked-v0", ROOM, ["stubborn", "random"], SEEDS, make)
    assert [value is None for value in found] == [bool(policy_seed(seed, 0) % 2) for seed in SEEDS]
    assert 0 < found.count(None) < len(SEEDS)


def test_nearly_equal_logits_are_decided_as_for_a_single_row(tmp_path, monkeypatch):
    """A forward pass of a batch that rounds badly, on a network without preferences, changes no decision."""
    env = collab_overcooked.make("Overcooked-v0", obs="features", layout="cramped_room")
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(6, 96)) * 1e-7, np.zeros(6))]
    export_policy(layers, tmp_path / "flat.npz", env, mode="greedy")
    logits = trained.TrainedPolicy.logits

    def rough(self, observations):
        found = logits(self, observations)
        return found if len(found) == 1 else found + np.float32(3e-5) * (np.arange(6, dtype=np.float32) % 2)

    spec = f"ppo:{tmp_path}/flat.npz"
    with monkeypatch.context() as patch:
        patch.setattr(trained.TrainedPolicy, "logits", rough)
        assert play_returns("Overcooked-v0", ROOM, [spec, "greedy"], SEEDS) == one_by_one(
            "Overcooked-v0", ROOM, [spec, "greedy"]
        )


def test_a_pool_of_networks_earns_the_same_in_batches(tmp_path):
    file = read_policy(find_policy("cramped_room"))
    file.save(tmp_path / "other.npz")
    pool = [NETWORK, f"other=ppo:{tmp_path}/other.npz,greedy", "random"]
    options = {"layout": "cramped_room", "max_cycles": 60}
    tables = [cross_play("Overcooked-v0", pool, options=options, episodes=3, batch_size=size) for size in (1, 2, 128)]
    for table in tables[1:]:
        assert np.array_equal(table.returns, tables[0].returns)
    with pytest.raises(ValueError, match="batch_size must be an integer of at least 1"):
        cross_play("Overcooked-v0", pool, episodes=1, batch_size=0)
