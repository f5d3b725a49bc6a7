"""The gradient by hand is the one of autograd, whose loss can be read; ``test_ppo`` compares that with SB3."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch

import collab_overcooked
from collab_overcooked.baselines.dense_gradient import DenseGradient
from collab_overcooked.baselines.ppo import PPO, LossWeights, Minibatch, ppo_loss
from collab_overcooked.baselines.rollouts import observation_scale
from collab_overcooked.baselines.settings import TrainingSettings
from collab_overcooked.baselines.training import Training

ROOM = {"layout": "cramped_room", "obs": "features", "max_cycles": 9}
SMALL = {"environments": 4, "rollout": 20, "batch_size": 80, "trunk": (24, 16), "heads": (8,)}
SETTINGS = TrainingSettings("Overcooked-v0", 400, ROOM, **SMALL)
WEIGHTS = LossWeights(clip=0.2, entropy=0.1, value=0.7, start=0.0)
COVERED: dict[str, tuple[dict[str, Any], dict[str, float]]] = {
    "features": ({}, {}),
    "pictures": ({"options": ROOM | {"obs": "lossless"}}, {}),
    "all-columns": ({}, {}),
    "no-masks": ({"masks": False}, {}),
    "no-trunk": ({"trunk": ()}, {}),
    "no-heads": ({"heads": ()}, {}),
    "no-layers": ({"trunk": (), "heads": ()}, {}),
    "deep": ({"heads": (12, 8)}, {}),
    "no-entropy": ({}, {"entropy": 0.0}),
    "no-value": ({}, {"value": 0.0}),
    "wide-clip": ({}, {"clip": 10.0}),
    "start": ({}, {"start": 0.5}),
    "history": ({"history": 2}, {}),
    "own": ({"weights": "own"}, {}),
}


def learner_of(settings: TrainingSettings) -> PPO:
    """Return a learner with a rollout whose ratios, advantages and returns are random."""
    training = Training(settings)
    training.rollouts.collect(training.learners, 1.0)
    learner, generator = training.learners[0], torch.Generator().manual_seed(0)
    rollout = learner.rollout
    for array, spread in ((rollout.log_probs, 0.3), (rollout.advantages, 1.0), (rollout.returns, 1.0)):
        array += spread * torch.randn(array.shape, generator=generator).numpy()
    for parameter in learner.network.parameters():  # the last layers start near 0
        parameter.data += 0.1 * torch.randn(parameter.shape, generator=generator)
    return learner


def held_to_another(batch: Minibatch) -> Minibatch:
    """Return a minibatch with log probabilities of a policy to start from."""
    assert batch.inputs.masks is not None
    logits = torch.randn(batch.inputs.masks.shape, generator=torch.Generator().manual_seed(1))
    return batch._replace(start_log_probs=logits.masked_fill(~batch.inputs.masks, -1e8).log_softmax(-1))


@pytest.mark.parametrize("name", COVERED)
def test_gradients_and_losses_are_those_of_autograd(name):
    values, changed = COVERED[name]
    learner, weights = learner_of(SETTINGS.with_values(values)), WEIGHTS._replace(**changed)
    columns = set()
    if name == "all-columns":
        learner.rollout.observations[0, 0] = 1
    for batch in learner.rollout.minibatches(learner.generator):
        held = held_to_another(batch) if weights.start else batch
        columns.add(batch.inputs.columns is not None)
        advantages, gradient = batch.advantages, learner.optimizer.gradient
        gradient.zero_()
        loss, expected_losses = ppo_loss(learner.network, held, advantages, weights)
        loss.backward()
        expected = gradient.clone()
        gradient.zero_()
        losses = learner.dense_gradient.backward(held, advantages, weights)
        assert (gradient - expected).norm() <= 1e-5 * expected.norm()
        torch.testing.assert_close(losses, expected_losses, rtol=1e-5, atol=1e-6)
    assert columns == {bool(learner.settings.trunk) and name not in ("all-columns", "history")}


@pytest.mark.parametrize("value_only", [False, True])
def test_weights_after_40_steps_are_those_of_autograd(value_only):
    learner = learner_of(SETTINGS.with_values({"epochs": 20}))
    before, reached = copy.deepcopy(learner.state_dict()), []
    batches = list(learner.rollout.minibatches(learner.generator))
    for dense_gradient in (learner.dense_gradient, None):
        learner.load_state_dict(before)
        learner.dense_gradient = dense_gradient
        for batch in batches:
            learner._gradient_step(batch, 1e-3, 0.01, 0.0, value_only)
        reached.append(torch.nn.utils.parameters_to_vector(learner.network.parameters()).detach().clone())
    start = torch.cat([weight.flatten() for name, weight in before["network"].items() if name != "scale"])
    assert len(batches) == 40
    assert (reached[0] - start).norm() > 0.1
    assert (reached[0] - reached[1]).norm() <= 1e-5 * (reached[1] - start).norm()


@pytest.mark.parametrize(
    ("values", "device", "is_covered"),
    [
        ({}, "cpu", True),
        ({}, "meta", False),
        ({"activation": "tanh"}, "cpu", False),
        ({"activation": "tanh", "trunk": ()}, "cpu", False),
        ({"memory": "gru:8", "sequence": 10}, "cpu", False),
        ({"critic": "central"}, "cpu", False),
        ({"weights": "joint"}, "cpu", False),
        ({"convolutions": (4,), "options": ROOM | {"obs": "lossless"}}, "cpu", False),
    ],
)
def test_autograd_learns_what_is_not_covered(values, device, is_covered):
    settings = SETTINGS.with_values(values)
    game = collab_overcooked.registry.load_game(settings.env, layout="cramped_room", obs=settings.options["obs"])
    scale = observation_scale(game, 0, False)
    learner = PPO(settings, game, 8, scale, torch.device(device), torch.Generator())
    assert isinstance(learner.dense_gradient, DenseGradient) == is_covered
