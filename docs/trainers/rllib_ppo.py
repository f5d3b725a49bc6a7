# /// script
# requires-python = ">=3.11"
# dependencies = ["collab-overcooked", "ray[rllib]>=2.40", "torch"]
# ///
"""RLlib's ParallelPettingZooEnv: masked PPO with one module for all agents.

RLlib's masking module wants ``observations`` beside ``action_mask``, which ``mask_in="rllib"`` gives.
"""

import sys
from typing import Any

import gymnasium
import numpy as np
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import ParallelPettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

import collab_overcooked


class Floats(ParallelPettingZooEnv):
    """RLlib's networks want floats."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        space = env.observation_space(self.possible_agents[0])
        wide = gymnasium.spaces.Box(-np.inf, np.inf, space["observations"].shape, np.float32)
        seen = gymnasium.spaces.Dict({"observations": wide, "action_mask": space["action_mask"]})
        self.observation_spaces = dict.fromkeys(self.possible_agents, seen)
        self.action_spaces = {agent: env.action_space(agent) for agent in self.possible_agents}
        self.observation_space = gymnasium.spaces.Dict(self.observation_spaces)

    def _wide(self, observations: dict[str, Any]) -> dict[str, Any]:
        for observation in observations.values():
            observation["observations"] = observation["observations"].astype(np.float32)
        return observations

    def reset(self, **kwargs: Any) -> Any:
        """Start."""
        observations, infos = super().reset(**kwargs)
        return self._wide(observations), infos

    def step(self, action_dict: dict[str, Any]) -> Any:
        """Advance."""
        observations, *others = super().step(action_dict)
        return self._wide(observations), *others


def train(env_id: str, timesteps: int, **options: Any) -> int:
    """Train for one iteration, in this process, and return the steps taken."""
    register_env("kitchen", lambda _: Floats(collab_overcooked.make(env_id, mask_in="rllib", **options)))
    config = (
        PPOConfig()
        .environment("kitchen", disable_env_checking=True)  # the check draws actions without looking at masks
        .env_runners(num_env_runners=0)
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, *_, **__: "shared")
        .rl_module(
            rl_module_spec=MultiRLModuleSpec(
                rl_module_specs={"shared": RLModuleSpec(module_class=ActionMaskingTorchRLModule)}
            )
        )
        .training(train_batch_size=timesteps, minibatch_size=64, num_epochs=2)
        .debugging(seed=0)
    )
    algorithm = config.build_algo()
    try:
        result = algorithm.train()
    finally:
        algorithm.stop()
    return int(result["env_runners"]["num_env_steps_sampled"])


if __name__ == "__main__":
    budget = int(sys.argv[1]) if len(sys.argv) > 1 else 512
    for name, chosen in (("CollabOvercooked-v0", {"task": "boiled_egg"}), ("CuisineWorld-v0", {"level": "level_1"})):
        print(f"{name}: {train(name, budget, **chosen)} steps")
