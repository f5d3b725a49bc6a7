"""Episodes in a batch: decisions, returns and records are those of single episodes, however many play at once."""

from __future__ import annotations

import numpy as np
import pytest
from support.policies_of_chance import a_policy

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.baselines.scores import play_games
from collab_overcooked.evaluation.crossplay import cross_play
from collab_overcooked.kernels.rng import derive_seeds
from collab_overcooked.metrics.registry import measure
from collab_overcooked.policies import trained
from collab_overcooked.policies.export import export_policy
from collab_overcooked.policies.policy_file import Network, PolicyFile, policy_path, read_policy
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.runner.batched import play_batch, play_returns
from collab_overcooked.runner.episode import play_episode, policy_seed
from collab_overcooked.runner.match import Match
from collab_overcooked.runner.records import dump_line
from collab_overcooked.runner.run_plans import jobs_of
from collab_overcooked.runner.teams import make_team

SEEDS = [3, 11, 12, 40]
NETWORK = "ppo:cramped_room"
ROOM = {"layout": "cramped_room", "max_cycles": 90}
FEATURES = {"layout": "cramped_room", "obs": "features"}
CASES = [
    ("Overcooked-v0", ROOM, [NETWORK, NETWORK]),
    ("Overcooked-v0", ROOM | {"obs": "lossless"}, [NETWORK, f"{NETWORK},greedy"]),
    ("Overcooked-v0", ROOM, ["noisy:0.3:greedy", NETWORK]),
    ("Overcooked-v0", ROOM, ["random", "greedy"]),
    ("Overcooked-v0", {"layout": "cramped_room", "max_cycles": 60, "agents": 1}, ["greedy"]),
    ("CuisineWorld-v0", {"level": "level_1", "agents": 2, "max_cycles": 40}, ["greedy", "random"]),
    ("CollabCapture-v0", {"max_cycles": 12}, ["greedy", "random", "greedy"]),
]


def matches_of(env_id, options, specs):
    names = {"env_id": env_id, "env_kwargs": options, "team": tuple(specs), "task": "some"}
    return [Match(**names, seed=seed, first=seed) for seed in SEEDS]


def one_by_one(env_id, options, specs):
    return [match.run()[0] for match in matches_of(env_id, options, specs)]


def at_once(env_id, options, specs):
    (bundle,) = jobs_of("tag", matches_of(env_id, options, specs), [make_team(specs)])
    tags, records = zip(*bundle.run(), strict=True)
    assert set(tags) == {"tag"}
    return list(records)


def returns_of(records):
    return [measure(record, ["return"])["return"] for record in records]


@pytest.mark.parametrize(("env_id", "options", "specs"), CASES, ids=lambda part: "-".join(map(str, part)))
def test_records_and_returns_are_those_of_single_episodes(env_id, options, specs):
    specs = specs[: registry.make(env_id, **options).game.n_agents]
    assert None not in play_batch(env_id, options, specs, SEEDS), "an episode was not played in the batch"
    single = one_by_one(env_id, options, specs)
    assert play_returns(env_id, options, specs, SEEDS) == returns_of(single)
    assert list(map(dump_line, at_once(env_id, options, specs))) == list(map(dump_line, single))


@pytest.mark.parametrize("specs", [["planner", NETWORK], [NETWORK, "planner"]])
def test_policies_that_do_not_say_so_are_played_one_by_one(specs):
    assert play_batch("Overcooked-v0", ROOM, specs, SEEDS) == [None] * len(SEEDS)
    matches = matches_of("Overcooked-v0", ROOM, specs)
    assert [bundle.matches for bundle in jobs_of(0, matches, [make_team(specs)])] == [(one,) for one in matches]


def test_games_played_turn_by_turn_are_played_one_by_one():
    assert play_batch("KitchenRush-v0", {}, ["random", "random"], SEEDS) == [None] * len(SEEDS)


def test_a_network_that_reads_past_actions(tmp_path):
    """Steps before the start are zeros, and the seat's actions come first, as in a single episode."""
    env = collab_overcooked.make("Overcooked-v0", obs="features", layout="cramped_room")
    rng = np.random.default_rng(0)
    meta = {"env_id": "Overcooked-v0", "env_kwargs": {"obs": "features"}, "n_actions": 6, "mode": "sample"}
    meta |= {"observation_shape": list(env.observation_space("agent_0").shape), "history": {"steps": 3, "agents": 2}}
    weights = rng.normal(size=(6, 96 + 3 * 2 * 6)).astype(np.float32)
    file = PolicyFile(Network(np.float32(0.05), (("dense", weights, np.zeros(6, np.float32)),), "relu"), meta)
    file.save(tmp_path / "past.npz")
    specs = [f"ppo:{tmp_path}/past.npz", "random"]
    assert None not in play_batch("Overcooked-v0", ROOM, specs, SEEDS)
    assert at_once("Overcooked-v0", ROOM, specs) == one_by_one("Overcooked-v0", ROOM, specs)


def test_scores_of_a_training_are_those_of_episodes():
    game, file = registry.load_game("Overcooked-v0", layout="cramped_room"), read_policy(policy_path("cramped_room"))
    played = play_games(game, [file, file], games=2, seed=5)
    env = registry.make("Overcooked-v0", layout="cramped_room")
    records = [play_episode(env, make_team([NETWORK, NETWORK]), seed) for seed in derive_seeds(5, 2)]
    assert played.returns.tolist() == returns_of(records)


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

    played = play_batch("Overcooked-v0", ROOM, ["stubborn", "random"], SEEDS, make)
    assert [value is None for value in played] == [bool(policy_seed(seed, 0) % 2) for seed in SEEDS]
    assert 0 < played.count(None) < len(SEEDS)
    specs = ["stubborn", "random"]
    matches = matches_of("Overcooked-v0", ROOM, specs)
    (bundle,) = jobs_of(0, matches, [make_team(specs, make)])
    assert bundle.run(make) == [(0, record) for match in matches for record in match.run(make)]


def test_nearly_equal_logits_are_decided_as_for_a_single_row(tmp_path, monkeypatch):
    """A forward pass of a batch that rounds badly, on a network without preferences, changes no decision."""
    env = collab_overcooked.make("Overcooked-v0", obs="features", layout="cramped_room")
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(6, 96)) * 1e-7, np.zeros(6))]
    export_policy(layers, tmp_path / "flat.npz", env, mode="greedy")
    forward = trained.TrainedPolicy.forward

    def rough(self, observations, state):
        exact, after = forward(self, observations, state)
        rounding = np.float32(3e-5) * (np.arange(6, dtype=np.float32) % 2)
        return (exact if len(exact) == 1 else exact + rounding), after

    spec = f"ppo:{tmp_path}/flat.npz"
    with monkeypatch.context() as patch:
        patch.setattr(trained.TrainedPolicy, "forward", rough)
        single = one_by_one("Overcooked-v0", ROOM, [spec, "greedy"])
        assert play_returns("Overcooked-v0", ROOM, [spec, "greedy"], SEEDS) == returns_of(single)


def test_roundings_of_a_batch_do_not_add_up_in_a_memory(tmp_path, monkeypatch):
    a_policy(registry.load_game("Overcooked-v0", **FEATURES), memory=8).save(tmp_path / "memory.npz")
    forward = trained.TrainedPolicy.forward

    def rough(self, observations, state):
        logits, after = forward(self, observations, state)
        return logits, after if len(after) == 1 else after + np.float32(0.3)

    specs = [f"ppo:{tmp_path}/memory.npz", "greedy"]
    monkeypatch.setattr(trained.TrainedPolicy, "forward", rough)
    single = one_by_one("Overcooked-v0", ROOM, specs)
    assert at_once("Overcooked-v0", ROOM, specs) == single


def test_a_pool_of_networks_earns_the_same_in_batches(tmp_path):
    file = read_policy(policy_path("cramped_room"))
    file.save(tmp_path / "other.npz")
    pool = [NETWORK, f"other=ppo:{tmp_path}/other.npz,greedy", "random"]
    options = {"layout": "cramped_room", "max_cycles": 60}
    tables = [cross_play("Overcooked-v0", pool, options=options, episodes=3, batch_size=size) for size in (1, 2, 128)]
    for table in tables[1:]:
        assert np.array_equal(table.returns, tables[0].returns)
    with pytest.raises(ValueError, match="batch_size must be an integer of at least 1"):
        cross_play("Overcooked-v0", pool, episodes=1, batch_size=0)
