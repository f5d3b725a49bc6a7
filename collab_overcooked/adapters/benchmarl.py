"""BenchMARL: any registered id as a task on the native batch; importing it imports torchrl and benchmarl."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from benchmarl.environments.common import TaskClass
from torchrl.data import Composite
from torchrl.envs import DTypeCastTransform

from collab_overcooked.envs.torchrl import GROUP
from collab_overcooked.registry import make_vec


class CollabTask(TaskClass):
    """A task of BenchMARL whose environments are one TorchRL environment on the native batch.

    Observations become float32. Masks go to algorithms that use them. With ``state`` in the options, centralised
    critics and mixers get ``BatchEnv.states``, without it the observations of all agents.

    Args:
        name: Registered id of the environment.
        config: Options of ``make_vec(..., kind="torchrl")``, those of the environment included.

    Raises:
        ValueError: From ``get_env_fun``, for an unknown id, option or option value.
    """

    def get_env_fun(self, num_envs: int, continuous_actions: bool, seed: int | None, device: Any) -> Callable[[], Any]:
        name, config = self.name, dict(self.config)

        def make() -> Any:
            env = make_vec(name, num_envs, "torchrl", device=device, **config)
            env.set_seed(seed)
            return env

        return make

    def supports_continuous_actions(self) -> bool:
        return False

    def supports_discrete_actions(self) -> bool:
        return True

    def max_steps(self, env: Any) -> int:
        return int(env.batch.max_cycles or env.batch.game.max_cycles)

    def has_render(self, env: Any) -> bool:
        return True

    def group_map(self, env: Any) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = env.group_map
        return groups

    def get_env_transforms(self, env: Any) -> list[Any]:
        key = (GROUP, "observation")
        return [DTypeCastTransform(env.observation_spec[key].dtype, torch.float32, in_keys=[key])]

    def observation_spec(self, env: Any) -> Any:
        return _of_group(env, "observation")

    def info_spec(self, env: Any) -> Any:
        return _of_group(env, "info")

    def action_mask_spec(self, env: Any) -> Any:
        return _of_group(env, "action_mask")

    def action_spec(self, env: Any) -> Any:
        return env.full_action_spec_unbatched

    def state_spec(self, env: Any) -> Any:
        spec = env.full_observation_spec_unbatched
        return Composite(state=spec["state"].clone(), shape=spec.shape) if "state" in spec.keys() else None

    @staticmethod
    def env_name() -> str:
        return "collab_overcooked"


def _of_group(env: Any, name: str) -> Any:
    spec = env.full_observation_spec_unbatched
    group = Composite({name: spec[GROUP, name].clone()}, shape=spec[GROUP].shape)
    return Composite({GROUP: group}, shape=spec.shape)
