# /// script
# requires-python = ">=3.11"
# dependencies = ["collab-overcooked", "torchrl>=0.14", "torch"]
# ///
"""TorchRL's PettingZooWrapper: masked PPO with one network for all agents.

TorchRL groups agents by the part of their name before the number, so ``agent_0`` and ``agent_1`` become the group
``agent``; it takes the mask out of the info and puts it into the tensordict.
"""

import sys
from typing import Any

import torch
from tensordict.nn import TensorDictModule
from torchrl.collectors import Collector
from torchrl.envs import PettingZooWrapper
from torchrl.modules import MaskedCategorical, MultiAgentMLP, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import collab_overcooked


class Widen(torch.nn.Module):
    """Bytes to floats, then the network."""

    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Apply it."""
        return self.network(observation.float())


def train(env_id: str, timesteps: int, **options: Any) -> int:
    """Train with PPO and return the steps taken."""
    torch.manual_seed(0)
    env = PettingZooWrapper(collab_overcooked.make(env_id, **options), done_on_any=True)
    agents = len(env.group_map["agent"])
    observations = env.observation_spec["agent", "observation"].shape[-1]
    actions = env.full_action_spec_unbatched["agent", "action"].space.n

    def network(outputs: int) -> torch.nn.Module:
        layers = MultiAgentMLP(
            observations, outputs, agents, centralized=False, share_params=True, depth=2, num_cells=64
        )
        return Widen(layers)

    keys = {"observation": ("agent", "observation"), "mask": ("agent", "action_mask"), "logits": ("agent", "logits")}
    actor = ProbabilisticActor(
        TensorDictModule(network(actions), in_keys=[keys["observation"]], out_keys=[keys["logits"]]),
        spec=env.full_action_spec_unbatched,
        in_keys={"logits": keys["logits"], "mask": keys["mask"]},
        out_keys=[("agent", "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=("agent", "action_log_prob"),
    )
    critic = ValueOperator(network(1), in_keys=[keys["observation"]], out_keys=[("agent", "state_value")])
    loss = ClipPPOLoss(actor, critic, normalize_advantage=True)
    loss.set_keys(
        action=("agent", "action"),
        sample_log_prob=("agent", "action_log_prob"),
        value=("agent", "state_value"),
        reward=("agent", "reward"),
        done=("agent", "done"),
        terminated=("agent", "terminated"),
    )
    advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
    advantage.set_keys(
        value=("agent", "state_value"),
        reward=("agent", "reward"),
        done=("agent", "done"),
        terminated=("agent", "terminated"),
    )
    optimiser = torch.optim.Adam(loss.parameters(), lr=3e-4)
    taken = 0
    collector = Collector(env, actor, frames_per_batch=128, total_frames=timesteps)
    for batch in collector:
        advantage(batch)
        for _ in range(2):
            terms = loss(batch)
            optimiser.zero_grad()
            (terms["loss_objective"] + terms["loss_critic"] + terms["loss_entropy"]).backward()
            optimiser.step()
        taken += batch.numel()
    collector.shutdown()
    return taken


if __name__ == "__main__":
    budget = int(sys.argv[1]) if len(sys.argv) > 1 else 512
    for name, chosen in (("CollabOvercooked-v0", {"task": "boiled_egg"}), ("CuisineWorld-v0", {"level": "level_1"})):
        print(f"{name}: {train(name, budget, **chosen)} steps")
