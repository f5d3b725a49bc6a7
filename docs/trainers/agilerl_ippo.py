# /// script
# requires-python = ">=3.11"
# dependencies = ["collab-overcooked", "agilerl>=2.5", "peft", "torch"]
# ///
"""AgileRL's IPPO: it reads the masks from the infos, as ParallelEnv gives them, and pins pettingzoo below 1.27.

Its 2.58 imports peft without asking for it, hence the line above.
"""

import sys
from typing import Any

import numpy as np
import torch
from agilerl.algorithms import IPPO
from agilerl.training.train_multi_agent_on_policy import train_multi_agent_on_policy
from agilerl.vector.pz_async_vec_env import AsyncPettingZooVecEnv

import collab_overcooked


class MaskedIPPO(IPPO):
    """IPPO as of 2.58, but for its comparison of mask arrays with None, which numpy refuses."""

    def extract_action_masks(self, infos: dict[str, Any]) -> dict[str, torch.Tensor]:
        """Return the masks of each group of agents, (agents * environments, actions), agents first."""
        masks: dict[str, list[np.ndarray]] = {}
        for agent in self.agent_ids:
            info = infos[agent]
            masks.setdefault(self.get_group_id(agent), []).append(np.atleast_2d(info["action_mask"]))
        return {group: torch.as_tensor(np.concatenate(rows), dtype=torch.float32) for group, rows in masks.items()}


def train(env_id: str, timesteps: int, **options: Any) -> int:
    """Train one agent on two copies of an environment and return the steps taken."""
    torch.manual_seed(0)
    env = AsyncPettingZooVecEnv([lambda: collab_overcooked.make(env_id, **options) for _ in range(2)])
    try:
        agents = env.possible_agents
        learner = MaskedIPPO(
            observation_spaces=[env.single_observation_space(agent) for agent in agents],
            action_spaces=[env.single_action_space(agent) for agent in agents],
            agent_ids=agents,
            batch_size=64,
            learn_step=64,
        )
        population, _ = train_multi_agent_on_policy(
            env,
            env_name=env_id,
            algo="IPPO",
            pop=[learner],
            max_steps=timesteps,
            evo_steps=timesteps,
            eval_steps=16,
            verbose=False,
        )
    finally:
        env.close()
    return int(population[0].steps)


if __name__ == "__main__":
    budget = int(sys.argv[1]) if len(sys.argv) > 1 else 512
    for name, chosen in (("CollabOvercooked-v0", {"task": "boiled_egg"}), ("CuisineWorld-v0", {"level": "level_1"})):
        print(f"{name}: {train(name, budget, **chosen)} steps")
