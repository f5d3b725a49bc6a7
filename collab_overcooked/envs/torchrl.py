"""A batch as a TorchRL environment with the batch size [E]; importing it imports torch and torchrl."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from tensordict import TensorDict
from torchrl.data import Bounded, Categorical, Composite, Unbounded
from torchrl.envs import EnvBase

from collab_overcooked.envs.batch import BatchEnv, Infos, ResetOptions
from collab_overcooked.envs.wrappers import check_render_mode, wrapper_text

GROUP = "agents"


class TorchRLEnv(EnvBase):
    """A batch as a TorchRL environment of E environments, whose agents are stacked in one group.

    The entries follow TorchRL's vectorised multi-agent environments such as VMAS:

    - ``("agents", "observation")`` (E, N, ...), ``("agents", "action_mask")`` bool (E, N, A), and
      ``("agents", "info")`` with the infos of ``BatchEnv`` (E, N).
    - ``("agents", "action")`` int64 (E, N) and ``("agents", "reward")`` float32 (E, N, 1).
    - ``"done"``, ``"terminated"`` and ``"truncated"`` bool (E, 1), as all agents of an environment end together.
    - ``"state"`` float32 (E, S), the input of a centralised critic, if ``states``.

    A step never resets: its ``"next"`` entries hold the final observation, and TorchRL's collectors, rollouts and
    ``step_and_maybe_reset`` restart finished environments with the entry ``"_reset"``, bool (E, 1) or (E,). Finished
    environments that are not restarted ignore their actions and pay 0. ``rand_action`` draws legal actions.

    ``set_seed(s)`` seeds environment i with s + i at the next reset, and ``reset(options=...)`` takes the options of
    ``BatchEnv.reset``. The attribute ``batch`` has everything else, for example ``env.batch.set_shaping(0.5)``.

    Args:
        batch: Environments to play.
        states: Add the entry ``"state"``.
        device: Device of all tensors. The batch itself runs on the CPU.
        render_mode: Mode of ``render``.

    Attributes:
        group_map: Names of the agents by group.
    """

    def __init__(
        self, batch: BatchEnv, states: bool = False, device: torch.device | str = "cpu", render_mode: str | None = None
    ) -> None:
        shape = (batch.num_envs, batch.n_agents)
        super().__init__(device=torch.device(device), batch_size=torch.Size(shape[:1]))
        self.batch = batch
        self.states = states
        self.render_mode = check_render_mode(render_mode)
        self.group_map = {GROUP: list(batch.possible_agents)}
        self._next_seed: int | None = None
        n_actions = int(batch.single_action_space.n)
        infos = {
            name: Unbounded((*shape, *array.shape[2:]), dtype=torch.from_numpy(array[:0].copy()).dtype)
            for name, array in batch._observed(copy=False)[1].items()
            if name != "action_mask"
        }
        group = {
            "observation": _bounded(batch.single_observation_space, shape),
            "action_mask": Categorical(2, shape=(*shape, n_actions), dtype=torch.bool),
            "info": Composite(infos, shape=shape),
        }
        observed: dict[str, Any] = {GROUP: Composite(group, shape=shape)}
        if states:
            observed["state"] = _bounded(batch.state_space, shape[:1])
        action = Categorical(n_actions, shape=shape, dtype=torch.int64)
        reward = Unbounded((*shape, 1), dtype=torch.float32)
        ends = ("done", "terminated", "truncated")
        flags = {name: Categorical(2, shape=(*shape[:1], 1), dtype=torch.bool) for name in ends}
        self.observation_spec = Composite(observed, shape=shape[:1]).to(self.device)
        self.action_spec = _grouped("action", action, shape).to(self.device)
        self.reward_spec = _grouped("reward", reward, shape).to(self.device)
        self.done_spec = Composite(flags, shape=shape[:1]).to(self.device)

    def __repr__(self) -> str:
        extent = f"{self.batch.num_envs} environments of {', '.join(self.batch.possible_agents)}"
        return wrapper_text(
            type(self).__name__, self.batch.game, extent, max_cycles=self.batch.max_cycles, render_mode=self.render_mode
        )

    def _set_seed(self, seed: int | None) -> None:
        self._next_seed = seed

    def _reset(self, tensordict: Any = None, options: ResetOptions = None, **_: Any) -> Any:
        which = None
        if tensordict is not None and "_reset" in tensordict.keys():
            which = tensordict["_reset"].reshape(-1).cpu().numpy()
        seed, self._next_seed = self._next_seed, None
        return self._tensors(*self.batch.reset(seed, options, which, copy=True))

    def _step(self, tensordict: Any) -> Any:
        if "_step" in tensordict.keys():  # rollouts with break_when_all_done skip environments that are over
            waiting = ~tensordict["_step"].reshape(-1).cpu().numpy()
            if (waiting & ~self.batch.over).any():
                raise ValueError("_step must select all running environments; a batch steps them together")
        actions = tensordict[GROUP, "action"].cpu().numpy()
        observations, rewards, _, _, infos = self.batch.step(actions, copy=True)
        tensors = self._tensors(observations, infos)
        tensors[GROUP, "reward"] = torch.from_numpy(rewards.astype(np.float32)[..., None])
        return tensors

    def _tensors(self, observations: np.ndarray, infos: Infos) -> Any:
        batch = self.batch
        group: dict[str, Any] = {
            "observation": torch.from_numpy(observations),
            "action_mask": torch.from_numpy(infos.pop("action_mask").astype(np.bool_)),
            "info": {name: torch.from_numpy(array) for name, array in infos.items()},
        }
        ends = {"done": batch.over, "terminated": batch.out.terminated, "truncated": batch.out.truncated}
        entries: dict[str, Any] = {name: torch.tensor(array)[:, None] for name, array in ends.items()}
        if self.states:
            entries["state"] = torch.from_numpy(batch.states())
        shape = (batch.num_envs, batch.n_agents)
        group["info"] = TensorDict(group["info"], batch_size=shape)
        entries[GROUP] = TensorDict(group, batch_size=shape)
        return TensorDict(entries, batch_size=self.batch_size).to(self.device)

    def rand_action(self, tensordict: Any = None) -> Any:
        """Write actions, each drawn uniformly from the agent's mask, into a tensordict, a new one if None."""
        masks = torch.from_numpy(self.batch.action_masks().astype(np.float32))
        drawn = torch.multinomial(masks.flatten(0, 1), 1).reshape(masks.shape[:2]).to(self.device)
        actions = TensorDict({GROUP: TensorDict({"action": drawn}, batch_size=drawn.shape)}, batch_size=self.batch_size)
        return actions.to(self.device) if tensordict is None else tensordict.update(actions)

    def render(self, mode: str | None = None) -> Any:
        """Return a picture of environment 0 in a mode, ``render_mode`` if None; see ``BatchEnv.render``."""
        return self.batch.render(0, mode or self.render_mode)

    def close(self, *, raise_if_closed: bool = True) -> None:
        """Stop the threads."""
        self.batch.close()
        super().close(raise_if_closed=raise_if_closed)


def _grouped(name: str, spec: Any, shape: tuple[int, int]) -> Any:
    return Composite({GROUP: Composite({name: spec}, shape=shape)}, shape=shape[:1])


def _bounded(box: Any, shape: tuple[int, ...]) -> Any:
    low, high = (torch.from_numpy(bound.copy()).expand(*shape, *box.shape) for bound in (box.low, box.high))
    return Bounded(low, high, shape=(*shape, *box.shape), dtype=low.dtype)
