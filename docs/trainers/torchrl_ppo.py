# /// script
# requires-python = ">=3.11"
# dependencies = ["collab-overcooked", "torchrl>=0.11", "torch"]
# ///
"""TorchRL on the native batch: masked PPO with one network for all agents.

Agents are stacked in the group ``agents``; all agents of an environment share ``done`` and ``terminated``, which the
losses need in the shape of the rewards.
"""

import sys
from typing import Any

import torch
from tensordict.nn import TensorDictModule
from torchrl.collectors import Collector
from torchrl.modules import MaskedCategorical, MultiAgentMLP, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import collab_overcooked

ENVS = 8


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
    env = collab_overcooked.make_vec(env_id, ENVS, kind="torchrl", **options)
    agents = len(env.group_map["agents"])
    observations = env.observation_spec["agents", "observation"].shape[-1]
    actions = env.full_action_spec["agents", "action"].space.n

    def network(outputs: int) -> torch.nn.Module:
        layers = MultiAgentMLP(
            observations, outputs, agents, centralized=False, share_params=True, depth=2, num_cells=64
        )
        return Widen(layers)

    keys = {"observation": ("agents", "observation"), "mask": ("agents", "action_mask"), "logits": ("agents", "logits")}
    actor = ProbabilisticActor(
        TensorDictModule(network(actions), in_keys=[keys["observation"]], out_keys=[keys["logits"]]),
        spec=env.full_action_spec_unbatched,
        in_keys={"logits": keys["logits"], "mask": keys["mask"]},
        out_keys=[("agents", "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=("agents", "action_log_prob"),
    )
    critic = ValueOperator(network(1), in_keys=[keys["observation"]], out_keys=[("agents", "state_value")])
    loss = ClipPPOLoss(actor, critic, normalize_advantage=True)
    loss.set_keys(
        action=("agents", "action"),
        sample_log_prob=("agents", "action_log_prob"),
        value=("agents", "state_value"),
        reward=("agents", "reward"),
        done=("agents", "done"),
        terminated=("agents", "terminated"),
    )
    advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
    advantage.set_keys(
        value=("agents", "state_value"),
        reward=("agents", "reward"),
        done=("agents", "done"),
        terminated=("agents", "terminated"),
    )
    optimiser = torch.optim.Adam(loss.parameters(), lr=3e-4)
    taken = 0
    collector = Collector(env, actor, frames_per_batch=128, total_frames=timesteps)
    for batch in collector:
        shape = batch["next", "agents", "reward"].shape
        for end in ("done", "terminated"):
            batch["next", "agents", end] = batch["next", end].unsqueeze(-2).expand(shape)
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
