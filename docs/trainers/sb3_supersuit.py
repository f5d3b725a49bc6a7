# /// script
# requires-python = ">=3.11"
# dependencies = ["collab-overcooked", "stable-baselines3>=2.4", "sb3-contrib>=2.4", "supersuit>=3.9", "torch"]
# ///
"""Stable-Baselines3 through SuperSuit: one shared policy, every agent of every copy is one row.

SuperSuit hands on observations, not methods, so that MaskablePPO finds no masks there: ``Masked`` takes them out of the
observation. For speed, ``make_vec(..., kind="sb3")`` does all of this in one kernel call.
"""

import sys
from typing import Any

import supersuit
from sb3_contrib import MaskablePPO
from stable_baselines3.common.utils import set_random_seed
from stable_baselines3.common.vec_env import VecEnvWrapper

import collab_overcooked


class Masked(VecEnvWrapper):
    """A VecEnv of Dict observations with ``action_mask``, as MaskablePPO wants it."""

    def reset(self) -> Any:
        """Start; remember the masks."""
        return self._seen(self.venv.reset())

    def step_wait(self) -> Any:
        """Advance; remember the masks."""
        observations, *others = self.venv.step_wait()
        return self._seen(observations), *others

    def _seen(self, observations: Any) -> Any:
        self._masks = observations["action_mask"].astype(bool)
        return observations

    def has_attr(self, attr_name: str) -> bool:
        """Say that there are masks."""
        return attr_name == "action_masks" or super().has_attr(attr_name)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Return the masks; everything else goes to the rows."""
        if method_name == "action_masks":
            return list(self._masks)
        return super().env_method(method_name, *args, indices=indices, **kwargs)


def train(env_id: str, timesteps: int, **options: Any) -> MaskablePPO:
    """Train on four copies of an environment and return the model."""
    set_random_seed(0)
    env = collab_overcooked.make(env_id, mask_in="obs", **options)
    rows = supersuit.pettingzoo_env_to_vec_env_v1(env)
    rows = supersuit.concat_vec_envs_v1(rows, 4, num_cpus=0, base_class="stable_baselines3")
    rows.venv.reset(seed=0)  # the vector that SuperSuit wraps: copies get seeds 0 to 3
    model = MaskablePPO("MultiInputPolicy", Masked(rows), n_steps=32, batch_size=64)
    return model.learn(timesteps)


if __name__ == "__main__":
    budget = int(sys.argv[1]) if len(sys.argv) > 1 else 512
    for name, chosen in (("CollabOvercooked-v0", {"task": "boiled_egg"}), ("CuisineWorld-v0", {"level": "level_1"})):
        trained = train(name, budget, **chosen)
        print(f"{name}: {trained.num_timesteps} steps")
