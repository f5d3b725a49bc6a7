"""Policies with a memory: it is the same in rollouts, in the learner and in play, and ends with the episode."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support.policies_of_chance import a_policy

from collab_overcooked import registry
from collab_overcooked.baselines.memory import Inputs, Memory
from collab_overcooked.baselines.settings import TrainingSettings
from collab_overcooked.baselines.training import Training, train
from collab_overcooked.envs.critic_state import CriticState
from collab_overcooked.policies.policy_file import REFUSED, read_policy
from collab_overcooked.runner.batched import play_batch
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import make_team

SMALL = {"environments": 32, "rollout": 20, "batch_size": 160, "epochs": 1, "trunk": (8,), "heads": (8,)}
COOKING = TrainingSettings(  # macro actions: busy agents have no choice; an episode has 25 steps
    "CollabOvercooked-v0", 1280, {"level": 1}, memory="gru:8", sequence=10, **SMALL
)
SEEDS = [3, 11, 12, 40]


def collected(settings: TrainingSettings = COOKING) -> Training:
    """Return a training with a rollout that begins in the middle of episodes, of a network with preferences."""
    training = Training(settings)
    for learner in training.learners:
        torch.nn.init.normal_(learner.network.policy_head[-1].weight)
    for _ in range(2):
        training.rollouts.collect(training.learners, 1.0)
    return training


def relearned_difference(training: Training) -> float:
    """Return the largest difference of log probabilities and values between the learner and the rollout."""
    (learner,) = training.learners
    differences, values = [], learner.rollout.values.copy()
    learner.rollout.returns[...] = values  # in the order of a minibatch
    for batch in learner.rollout.minibatches(torch.Generator()):
        log_probs, values, _ = learner.network(batch.inputs)
        differences.append(values - batch.returns)
        differences.append(log_probs.gather(-1, batch.actions[:, None]).squeeze(-1) - batch.log_probs)
    return max(difference.abs().max().item() for difference in differences)


def replayed_difference(training: Training) -> float:
    """Return the largest difference of log probabilities between the exported network, row by row, and the rollout."""
    rollout, network = training.learners[0].rollout, training.export()[0].network
    names = ("observations", "states", "starts", "masks", "actions", "log_probs")
    observations, states, starts, masks, actions, log_probs = (getattr(rollout, name) for name in names)
    largest, state = 0.0, states[:1, 0]
    for row, t in np.ndindex(actions.shape[1], len(actions)):
        state = states[:1, row] if t == 0 else state
        if starts[t, row]:
            state = network.initial_state(1)
        logits, after = network.forward(observations[t, row][None], state)
        masked = np.where(masks[t, row], logits[0].astype(float), float(REFUSED))
        log_prob = masked[actions[t, row]] - np.logaddexp.reduce(masked)
        largest = max(largest, abs(log_prob - log_probs[t, row]))
        state = after if masks[t, row].sum() > 1 else state
    return largest


@pytest.mark.parametrize("critic", ["local", "central", "concat"])
def test_the_learner_recomputes_what_the_rollout_computed(critic):
    training = collected(COOKING.with_values({"critic": critic}))
    buffer = training.learners[0].rollout
    starts = buffer.starts.reshape(2, 10, -1)[:, 1:]
    assert starts.any() and not starts.all(), "no episode starts inside a sequence"
    assert buffer.choices.any() and not buffer.choices.all(), "no seat is without a choice"
    assert buffer.states[0].any(), "the rollout does not begin in the middle of an episode"
    assert relearned_difference(training) < 1e-5
    assert replayed_difference(training) < 1e-4


def test_a_central_critic_reads_the_state_and_not_the_observation(tmp_path):
    """Its value is the same for all seats, follows the state, and is no part of the policy file."""
    training = collected(COOKING.with_values({"critic": "central", "memory": ""}))
    buffer = training.learners[0].rollout
    values = buffer.values.reshape(*buffer.central.shape[:2], -1)
    # equal but for the order of sums, which a matrix product may choose by row
    assert np.allclose(values[..., 0], values[..., 1], rtol=0, atol=1e-5) and values.std() > 0.01
    local = Training(COOKING.with_values({"memory": ""})).export()[0].network
    shapes = [weight.shape for _, weight, _ in training.export()[0].network.layers]
    assert shapes == [weight.shape for _, weight, _ in local.layers]
    batch = training.rollouts.batch
    assert np.array_equal(training.rollouts._central(), CriticState(batch.game).of(batch.state, batch.out))


@pytest.mark.parametrize("everywhere", [False, True])
def test_a_memory_that_outlasts_its_episode_is_noticed(monkeypatch, everywhere):
    forward = Memory.forward

    def forgetful(self, features, inputs):
        return forward(self, features, inputs._replace(starts=torch.zeros_like(inputs.starts)))

    if everywhere:
        monkeypatch.setattr(Memory, "forward", forgetful)
    training = collected()
    assert (replayed_difference(training) > 1e-2) == everywhere
    monkeypatch.setattr(Memory, "forward", forgetful)
    assert (relearned_difference(training) > 1e-2) != everywhere  # the rollout errs as the learner does


def test_the_gradient_by_hand_is_that_of_differences():
    torch.manual_seed(0)
    memory, steps, rows = Memory(3, 4).double(), 5, 6
    starts, choices = torch.rand(steps * rows) < 0.3, torch.rand(steps * rows) < 0.7

    def outputs(features, state, weight, bias):
        inputs, parameters = Inputs(features, state, starts, choices, features), {"weight": weight, "bias": bias}
        return torch.func.functional_call(memory, parameters, (features, inputs))[0]

    shapes = (steps * rows, 3), (rows, 4), memory.weight.shape, memory.bias.shape
    parts = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    assert torch.autograd.gradcheck(outputs, parts)


def test_it_computes_the_gru_of_torch():
    memory, reference = Memory(3, 4), torch.nn.GRU(3, 4)
    with torch.no_grad():
        torch.nn.init.normal_(memory.bias)
        for name, part in zip(("weight_ih_l0", "weight_hh_l0"), memory.weight.split([3, 4], 1), strict=True):
            getattr(reference, name).copy_(part)
        for name, part in zip(("bias_ih_l0", "bias_hh_l0"), memory.bias.split(12), strict=True):
            getattr(reference, name).copy_(part)
    features, state = torch.randn(5, 2, 3), torch.randn(2, 4)
    no, yes = torch.zeros(10), torch.ones(10, dtype=torch.bool)
    outputs, last = memory(features.flatten(0, 1), Inputs(features, state, no, yes, features))
    expected, expected_last = reference(features, state[None])
    torch.testing.assert_close(outputs.view(5, 2, 4), expected)
    torch.testing.assert_close(last, expected_last[0])


@pytest.mark.parametrize("mode", ["sample", "greedy"])
@pytest.mark.parametrize("env_id", ["CollabOvercooked-v0", pytest.param("CollabCapture-v0", marks=pytest.mark.slow)])
def test_single_episodes_are_those_of_the_batch(tmp_path, env_id, mode):
    env = registry.make(env_id)
    a_policy(env.game, memory=8).save(tmp_path / "policy.npz")
    specs = [f"ppo:{tmp_path}/policy.npz,{mode}"] * env.game.n_agents
    decided = play_batch(env_id, {}, specs, SEEDS)
    team = make_team(specs)  # one after the other with the same policies
    records = [play_episode(env, team, seed) for seed in SEEDS]
    for record, batched in zip(records, decided, strict=True):
        assert [step.actions for step in record.steps] == batched.actions.tolist()


def test_a_greedy_partner_plays_in_a_training_as_in_an_episode(tmp_path):
    """Its hidden state follows it from seat to seat and starts anew with each episode."""
    game = registry.load_game(COOKING.env, **COOKING.options)
    a_policy(game, memory=8, mode="greedy").save(tmp_path / "partner.npz")
    training = Training(COOKING.with_values({"partners": (str(tmp_path / "partner.npz"),)}))
    rollouts, (partner,) = training.rollouts, training.partners
    expected, act, checked = {}, partner.act, []

    def watched(observations, masks, rng, state):
        actions, after = act(observations, masks, rng, state)
        for k, start in enumerate(rollouts.starts.tolist()):  # one partner in each environment
            before = np.zeros(8) if start else expected[k]
            assert np.array_equal(state[k], before)
            expected[k] = after[k] if masks[k].sum() > 1 else before
            checked.append(start)
        return actions, after

    partner.act = watched
    for _ in range(3):
        rollouts.collect(training.learners, 0.0)
    assert 32 < sum(checked) < len(checked)


@pytest.mark.parametrize(
    "values", [{"masks": False}, {"weights": "own", "critic": "central"}, {"copy_rate": 0.1}], ids=str
)
def test_files_of_all_kinds_of_training_keep_the_memory(tmp_path, values):
    outcome = train(COOKING.with_values(values), tmp_path, bar=False)
    for path in outcome.policies:
        file = read_policy(path)
        assert file.network.memory == 8
        assert [kind for kind, *_ in file.network.layers] == ["dense", "gru", "dense", "dense"]
