# /// script
# requires-python = ">=3.11"
# dependencies = ["collab-overcooked", "tianshou>=2.0", "torch"]
# ///
"""Tianshou's PettingZooEnv: one masked DQN for each agent.

Tianshou takes the agent-by-agent form with a Dict observation of ``observation`` and ``action_mask``.
"""

import importlib
import sys
from typing import Any

import numpy as np
import torch
from tianshou.algorithm.modelfree.dqn import DQN, DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net


class Narrow(torch.nn.Module):
    """Takes the array out of Tianshou's batch of array, mask and name."""

    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> Any:
        """Apply the network."""
        rows = obs.obs if hasattr(obs, "obs") else obs
        return self.network(np.asarray(rows, np.float32), state)


def train(module: str, timesteps: int, **options: Any) -> int:
    """Train for one epoch and return the steps taken."""
    torch.manual_seed(0)
    game = importlib.import_module(f"collab_overcooked.envs.{module}")

    def make() -> PettingZooEnv:
        return PettingZooEnv(game.env(mask_in="obs", **options))

    env = make()
    box, actions = env.observation_space["observation"], env.action_space
    learners = []
    for _ in env.agents:
        network = Narrow(Net(state_shape=box.shape, action_shape=actions.n, hidden_sizes=(64, 64)))
        policy = DiscreteQLearningPolicy(model=network, action_space=actions, eps_training=0.1)
        learners.append(DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), target_update_freq=100))
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=learners, env=env)
    copies = DummyVectorEnv([make for _ in range(4)])
    collector = Collector(algorithm, copies, VectorReplayBuffer(10_000, len(copies)), exploration_noise=True)
    result = algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            max_epochs=1,
            epoch_num_steps=timesteps,
            collection_step_num_env_steps=64,
            update_step_num_gradient_steps_per_sample=0.1,
            batch_size=32,
            verbose=False,
            show_progress=False,
        )
    )
    return int(result.train_step)


if __name__ == "__main__":
    budget = int(sys.argv[1]) if len(sys.argv) > 1 else 512
    for name, chosen in (("collab_overcooked_v0", {"task": "boiled_egg"}), ("cuisineworld_v0", {"level": "level_1"})):
        print(f"{name}: {train(name, budget, **chosen)} steps")
