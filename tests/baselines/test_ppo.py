"""The learner: advantages, gradient steps and devices."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import collab_overcooked
from collab_overcooked.baselines.ppo import LOSSES, PPO, choose_device
from collab_overcooked.baselines.rollouts import observation_scale
from collab_overcooked.baselines.settings import TrainingSettings
from collab_overcooked.baselines.training import Training

ROOM = {"layout": "cramped_room", "obs": "features"}
SMALL = {"environments": 4, "rollout": 20, "batch_size": 160, "epochs": 3, "trunk": (), "heads": (8,)}
SETTINGS = TrainingSettings("Overcooked-v0", 400, {**ROOM, "max_cycles": 9}, masks=False, **SMALL)


def collected(settings: TrainingSettings) -> PPO:
    """Return a learner with a full rollout in which rewards are not 0."""
    training = Training(settings)
    training.rollouts.bonus = lambda rollout: (
        np.random.default_rng(0).normal(size=rollout.rewards.shape).astype(np.float32)
    )
    training.rollouts.collect(training.learners, 1.0)
    return training.learners[0]


def test_advantages_are_sums_of_errors_up_to_the_end_of_the_episode():
    rollout = collected(SETTINGS).rollout
    last_values, last_starts = np.arange(8, dtype=np.float32), np.arange(8) % 3 == 0
    rollout.finish(last_values, last_starts)
    values = [*rollout.values.tolist(), last_values.tolist()]
    starts = [*rollout.starts.tolist(), last_starts.tolist()]
    assert rollout.starts[1:].any() and rollout.rewards.std() > 0.5
    for t, row in np.ndindex(20, 8):
        expected, weight = 0.0, 1.0
        for k in range(t, 20):
            following = 0.0 if starts[k + 1][row] else values[k + 1][row]
            expected += weight * (rollout.rewards[k, row].item() + 0.99 * following - values[k][row])
            weight *= 0.99 * 0.95
            if starts[k + 1][row]:
                break
        assert rollout.advantages[t, row].item() == pytest.approx(expected, abs=1e-4)
        assert rollout.returns[t, row].item() == pytest.approx(expected + values[t][row], abs=1e-4)


def test_updates_are_those_of_stable_baselines3():
    """Whole rollouts as minibatches, so that the order of rows changes sums by rounding alone."""
    sb3 = pytest.importorskip("stable_baselines3", reason="needs Stable-Baselines3, of the rl extra")
    from stable_baselines3.common.logger import Logger

    learner = collected(SETTINGS.with_values({"entropy": 0.1, "value_weight": 0.7, "max_grad_norm": 0.3}))
    network, rollout = learner.network, learner.rollout
    network.scale[...] = 1.0
    rollout.log_probs += 0.3 * np.random.default_rng(1).normal(size=(20, 8)).astype(
        np.float32
    )  # otherwise no ratio is clipped
    model = sb3.PPO(
        "MlpPolicy",
        collab_overcooked.make_vec("Overcooked-v0", 4, "sb3", **ROOM),
        learning_rate=1e-3,
        n_steps=20,
        batch_size=160,
        n_epochs=3,
        ent_coef=0.1,
        vf_coef=0.7,
        max_grad_norm=0.3,
        policy_kwargs={"net_arch": [8], "activation_fn": torch.nn.ReLU},
        device="cpu",
    )
    modules = (model.policy.mlp_extractor.policy_net[0], model.policy.action_net)
    pairs = dict(zip(modules, (network.policy_head[0], network.policy_head[2]), strict=True))
    modules = (model.policy.mlp_extractor.value_net[0], model.policy.value_net)
    pairs |= dict(zip(modules, (network.value_head[0], network.value_head[2]), strict=True))
    for reference, module in pairs.items():
        reference.load_state_dict(module.state_dict())
    before = network.policy_head[0].weight.clone()
    for name in ("observations", "values", "log_probs", "advantages", "returns"):
        getattr(model.rollout_buffer, name)[...] = getattr(rollout, name)
    model.rollout_buffer.actions[..., 0] = rollout.actions
    model.rollout_buffer.full = True
    model.set_logger(Logger(folder=None, output_formats=[]))
    model.train()
    losses = learner.update(left=1.0)
    for reference, module in pairs.items():
        for name, weight in reference.named_parameters():
            assert torch.allclose(weight, getattr(module, name), atol=1e-5)
    assert (network.policy_head[0].weight - before).abs().max() > 1e-3
    assert losses["clip_fraction"] > 0.1
    for name in set(LOSSES) - {"approx_kl"}:  # there of the last pass alone
        assert losses[name] == pytest.approx(model.logger.name_to_value[f"train/{name}"], abs=1e-4)


def test_learning_rate_and_entropy_bonus_go_to_their_final_values():
    learner, rates = collected(SETTINGS.with_values({"learning_rate": 1e-3, "final_learning_rate": 1e-4})), []
    learner.optimizer.step = lambda rate, max_norm: rates.append(rate)
    for left in (1.0, 0.5, 0.0):
        learner.update(left)
    assert rates == pytest.approx([1e-3] * 3 + [5.5e-4] * 3 + [1e-4] * 3)


def test_a_minibatch_of_one_step_leaves_the_weights_finite():
    learner = collected(SETTINGS.with_values({"batch_size": 159, "epochs": 1}))
    learner.update(1.0)
    assert all(weight.isfinite().all() for weight in learner.network.parameters())


def test_the_device_is_a_gpu_where_there_is_one(monkeypatch):
    for there in (False, True):
        monkeypatch.setattr(torch.cuda, "is_available", lambda there=there: there)
        assert choose_device("auto").type == ("cuda" if there else "cpu")
        assert choose_device("cpu").type == "cpu"
    assert choose_device("cuda").type == "cuda"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="device: 'cuda' is not available"):
        choose_device("cuda")


@pytest.mark.parametrize(
    "values", [{}, {"masks": True, "memory": "gru:8", "sequence": 10, "critic": "central"}], ids=["dense", "memory"]
)
def test_everything_that_learns_is_on_the_device_of_the_settings(values):
    """Tensors of "meta" hold no numbers, and operations that mix them with others fail."""
    settings = SETTINGS.with_values(values)
    game = collab_overcooked.registry.load_game(settings.env, **ROOM)
    device, generator = torch.device("meta"), torch.Generator()
    learner = PPO(settings, game, 8, observation_scale(game, 0, False), device, generator)
    rollout = learner.rollout
    assert {tensor.device for tensor in learner.network.parameters()} == {device}
    with torch.no_grad():
        log_probs, values, state = learner.network(rollout.inputs(0))
    assert (log_probs.shape, values.shape, state.shape) == ((8, 6), (8,), (8, settings.memory_size))
    rollout.finish(np.zeros(8, np.float32), np.zeros(8, np.bool_))
    learner.network.reads_columns = False  # which columns are used depends on numbers
    for batch in rollout.minibatches(generator):
        assert learner._gradient_step(batch, 1e-3, 0.01, 0.0, False).device == device
