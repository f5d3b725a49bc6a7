"""The multi-agent transformer: who reads what, training, files, and play in all seats."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest
import torch
from baselines.test_training import COOKING, quiet

from collab_overcooked.baselines.mat import TeamTransformer
from collab_overcooked.baselines.memory import Inputs
from collab_overcooked.baselines.scores import play_games
from collab_overcooked.baselines.training import Training
from collab_overcooked.kernels.rng import derive_seeds
from collab_overcooked.policies.policy_file import PolicyFile, TeamNetwork, read_policy
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.match import cached_env, cached_team

JOINT = COOKING.with_values({"weights": "joint", "batch_size": 160})


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mat")
    quiet(JOINT.with_values({"steps": 640}), folder)
    return folder / "policy.npz"


def test_a_seat_reads_all_observations_and_the_actions_before_its_own():
    torch.manual_seed(0)
    network = TeamTransformer((5,), 4, 3, 8, "tanh", np.ones(5, np.float32))
    with torch.no_grad():
        network.policy_head[-1].weight.mul_(100)
    observations, actions = torch.randn(6, 5), torch.tensor([[0, 1, 2], [3, 2, 1]])

    def logits(actions, observations=observations):
        return network.decode(network.encode(observations), actions).detach()

    for seat in range(3):
        other = actions.clone()
        other[0, seat] = 3
        changed = (logits(other) - logits(actions)).abs().amax(-1) > 1e-6
        assert changed[0].tolist() == [later > seat for later in range(3)] and not changed[1].any()
        seen = observations.clone()
        seen[seat] += 1
        changed = (logits(actions, seen) - logits(actions)).abs().amax(-1) > 1e-6
        assert changed[0].all() and not changed[1].any()


def test_log_probabilities_of_a_rollout_are_those_of_the_gradient_step():
    training = Training(JOINT)
    learner = training.learners[0]
    with torch.no_grad():
        learner.network.policy_head[-1].weight.mul_(100)
    training.rollouts.collect(training.learners, 0.0)
    rollout = learner.rollout
    assert np.take_along_axis(rollout.masks, rollout.actions[..., None], -1).all() and not rollout.masks.all()
    batches = list(rollout.minibatches(training.generator))
    assert sum(len(batch.actions) for batch in batches) == rollout.actions.size * JOINT.epochs
    for batch in batches:
        log_probs, values, _ = learner.network(batch.inputs)
        again = log_probs.gather(-1, batch.actions[:, None]).squeeze(-1)
        assert torch.allclose(again, batch.log_probs, atol=1e-5)
        assert torch.allclose(values, batch.returns - batch.advantages, atol=1e-4)
    assert np.abs(rollout.log_probs).std() > 0.1


@pytest.mark.nightly
def test_learning_improves_the_return():
    training = Training(JOINT.with_values({"environments": 64, "rollout": 60, "batch_size": 512, "steps": 60_000}))
    training.update()
    first = training.mean_return
    while not training.over:
        training.update()
    assert training.mean_return > first + 0.5


def test_the_exported_network_is_the_trained_one_and_resuming_changes_nothing(tmp_path, trained):
    quiet(JOINT.with_values({"steps": 320}), tmp_path)
    quiet(JOINT.with_values({"steps": 640}), tmp_path)
    file = read_policy(tmp_path / "policy.npz")
    assert (file.meta["algorithm"], file.meta["steps"], type(file.network)) == ("mat", 640, TeamNetwork)
    network = Training(JOINT).learners[0].network
    same = TeamTransformer.from_file(PolicyFile(network.actor(), file.meta))
    observations = np.random.default_rng(0).integers(0, 3, (6, *network.input_shape)).astype(np.float32)
    yes = torch.ones(len(observations), dtype=torch.bool)
    inputs = Inputs(torch.from_numpy(observations), torch.zeros(len(yes), 0), yes, yes, torch.zeros(len(yes), 0))
    assert all(torch.equal(a, b) for a, b in zip(network(inputs), same(inputs), strict=True))


def test_it_plays_in_batches_as_alone_and_only_in_all_seats(trained):
    file, spec, seeds = read_policy(trained), f"mat:{trained},greedy", derive_seeds(7, 4)
    env = cached_env(JOINT.env, JOINT.options)
    together = play_games(env.game, [file] * 2, 4, 7, "greedy").returns
    alone = [play_episode(env, cached_team((spec, spec), None), seed).steps for seed in seeds]
    assert [sum(np.mean(step.rewards) for step in steps) for steps in alone] == pytest.approx(together.tolist())
    with pytest.raises(ValueError, match="plays all seats of a team; 'random' cannot sit beside it"):
        play_episode(env, cached_team((spec, "random"), None), 0)
    other = cached_env("CuisineWorld-v0", {"level": "level_4", "agents": 2})
    with pytest.raises(ValueError, match="trained on another variant of CuisineWorld-v0"):
        play_episode(other, cached_team((spec, spec), None), 0)


def test_files_that_do_not_fit_are_refused(tmp_path, trained):
    with pytest.raises(ValueError, match="chooses for a whole team; seat it as all=mat:FILE"):
        make_policy(f"ppo:{trained}")
    with pytest.raises(ValueError, match="chooses for a whole team"):
        Training(COOKING.with_values({"partners": (str(trained),)})).update()
    quiet(COOKING.with_values({"steps": 320}), tmp_path)
    with pytest.raises(ValueError, match="chooses for one seat; use ppo:"):
        make_policy(f"mat:{tmp_path}/policy.npz")
    with pytest.raises(ValueError, match="unknown mode 'gredy'; did you mean greedy"):
        make_policy(f"mat:{trained},gredy")
    file = read_policy(trained)
    for size, text in (([16, 3], "of width 16 has"), ([15, 2], "of width 15 has"), ([5000, 2], "too few for width")):
        layer = ("transformer", file.network.layers[0][1], np.array(size, np.float32))
        broken = PolicyFile(dataclasses.replace(file.network, layers=(layer,)), file.meta)
        with pytest.raises(ValueError, match=text):
            TeamTransformer.from_file(broken)
    with pytest.raises(ValueError, match="too few for width"):  # before memory is taken
        TeamTransformer.from_file(PolicyFile(file.network, {**file.meta, "n_actions": 1 << 20}))


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"partners": ["a"]}, "'joint' is for self-play"),
        ({"memory": "gru:8"}, "memory: not with weights='joint'"),
        ({"critic": "central"}, "a transformer's value reads all seats"),
        ({"trunk": []}, "its last layer is the width"),
    ],
)
def test_settings_that_do_not_fit_are_refused(values, text):
    with pytest.raises(ValueError, match=text):
        JOINT.with_values(values)


def test_without_torch_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "collab_overcooked.baselines.mat")
    with pytest.raises(ValueError, match=r"needs torch: pip install 'collab-overcooked\[rl\]'"):
        make_policy("mat:x.npz")
