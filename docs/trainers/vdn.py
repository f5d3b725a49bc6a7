"""VDN in one file: the team's value is the sum of its agents' values (Sunehag et al. 2018), with shared weights.

    python docs/trainers/vdn.py --env ID --set NAME=VALUE --seed 0 --out runs/vdn-0

Double Q-learning from a replay buffer, with a target network. Writes ``returns.csv`` (steps, mean return of the
episodes that ended since the last row, their number, seconds) and ``policy.npz``, which any command seats as
``--team all=ppo:runs/vdn-0/policy.npz``.
"""

from __future__ import annotations

import argparse
import copy
import csv
import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import collab_overcooked


def parse() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser("vdn", formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--env", required=True, help="environment id")
    parser.add_argument("--set", nargs="*", default=[], help="NAME=VALUE options of it, as for the command train")
    parser.add_argument("--steps", type=float, default=5e5, help="environment steps")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/vdn"), help="folder")
    parser.add_argument("--envs", type=int, default=32, help="environments E")
    parser.add_argument("--buffer", type=int, default=100_000, help="transitions of the team that are kept")
    parser.add_argument("--batch", type=int, default=256, help="transitions of an update")
    parser.add_argument("--every", type=int, default=1, help="steps of all environments between two updates")
    parser.add_argument("--target", type=int, default=200, help="updates between two copies of the target network")
    parser.add_argument("--lr", type=float, default=5e-4)
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--explore", type=float, default=0.5, help="share of the steps until epsilon is 0.05")
    parser.add_argument("--reward-scale", type=float, default=0.1)
    parser.add_argument("--shaping", type=float, default=0.75, help="share of the steps until shaped rewards are gone")
    return parser.parse_args()


def read_options(pairs: list[str]) -> dict[str, object]:
    """Return NAME=VALUE pairs as options of the environment; integers become numbers."""
    options: dict[str, object] = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        options[name] = int(value) if value.lstrip("-").isdecimal() else value
    return options


def observed_scale(batch: Any, seed: int, steps: int = 200) -> np.ndarray:
    """Return one over the largest value of each number of an observation in random play, at most 1, float32 (F,)."""
    rng = np.random.default_rng(seed)
    largest = np.ones(int(np.prod(batch.single_observation_space.shape)), np.float32)
    observations, infos = batch.reset(seed=seed)
    for _ in range(steps):
        masks = infos["action_mask"]
        observations, _, _, _, infos = batch.step((rng.random(masks.shape) * masks).argmax(-1))
        largest = np.maximum(largest, np.abs(observations.astype(np.float32)).reshape(-1, largest.size).max(0))
        if batch.over.any():
            batch.reset(which=batch.over.copy())
    return 1.0 / largest


class Values(nn.Module):
    """Values of an agent's actions by its observation."""

    scale: torch.Tensor

    def __init__(self, observation: int, n_actions: int, scale: np.ndarray) -> None:
        super().__init__()
        self.register_buffer("scale", torch.from_numpy(scale))
        sizes = (observation, 128, 64, n_actions)
        layers = [
            part for inputs, outputs in itertools.pairwise(sizes) for part in (nn.Linear(inputs, outputs), nn.ReLU())
        ]
        self.network = nn.Sequential(*layers[:-1])

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return values (..., A) of raw observations (..., F)."""
        return self.network(observations * self.scale)

    def layers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the layers for raw observations: the first one includes the scale."""
        dense = [layer for layer in self.network if isinstance(layer, nn.Linear)]
        weights = [layer.weight.detach().numpy() for layer in dense]
        weights[0] = weights[0] * self.scale.numpy()
        return [(weight, layer.bias.detach().numpy()) for weight, layer in zip(weights, dense, strict=True)]


class Buffer:
    """The last transitions of the team, as arrays; ``add`` overwrites the oldest ones."""

    def __init__(self, size: int, n_agents: int, observation: int, n_actions: int, dtype: np.dtype) -> None:
        self.arrays = {
            "observations": np.zeros((size, n_agents, observation), dtype),
            "actions": np.zeros((size, n_agents), np.int64),
            "rewards": np.zeros(size, np.float32),
            "next": np.zeros((size, n_agents, observation), dtype),
            "next_masks": np.zeros((size, n_agents, n_actions), np.bool_),
            "goes_on": np.zeros(size, np.float32),
        }
        self.size, self.count = size, 0

    def add(self, **new: np.ndarray) -> None:
        """Add a transition of each environment, (E, ...) each."""
        places = (self.count + np.arange(len(new["rewards"]))) % self.size
        for name, array in new.items():
            self.arrays[name][places] = array
        self.count += len(places)

    def draw(self, count: int, rng: np.random.Generator) -> dict[str, torch.Tensor]:
        """Return drawn transitions."""
        chosen = rng.integers(min(self.count, self.size), size=count)
        return {name: torch.from_numpy(array[chosen]) for name, array in self.arrays.items()}


class Learner:
    """Network, target network and optimiser.

    Args:
        values: The network.
        args: Options of the command line.
    """

    def __init__(self, values: Values, args: argparse.Namespace) -> None:
        self.values = values
        self.target = copy.deepcopy(values)
        self.args = args
        self.updates = 0
        self.optimizer = torch.optim.Adam(values.parameters(), lr=args.lr)

    @torch.no_grad()
    def act(self, observations: np.ndarray, masks: np.ndarray, epsilon: float, rng: np.random.Generator) -> np.ndarray:
        """Return legal actions (E, N), random ones at a share of epsilon."""
        values = self.values(torch.from_numpy(observations.astype(np.float32))).numpy()
        random = rng.random(values.shape)
        scores = np.where(rng.random(values.shape[:2])[..., None] < epsilon, random, values)
        return np.where(masks, scores, -np.inf).argmax(-1)

    def update(self, part: dict[str, torch.Tensor]) -> None:
        """Learn the sum of the agents' values from transitions of the team."""
        chosen = self.values(part["observations"].float()).gather(-1, part["actions"][..., None]).squeeze(-1).sum(-1)
        with torch.no_grad():
            after = part["next"].float()
            best = self.values(after).masked_fill(~part["next_masks"], -torch.inf).argmax(-1, keepdim=True)
            rest = self.target(after).gather(-1, best).squeeze(-1).sum(-1)
            wanted_value = part["rewards"] + self.args.gamma * part["goes_on"] * rest
        self.optimizer.zero_grad()
        nn.functional.smooth_l1_loss(chosen, wanted_value).backward()
        nn.utils.clip_grad_norm_(self.values.parameters(), 10.0)
        self.optimizer.step()
        self.updates += 1
        if self.updates % self.args.target == 0:
            self.target.load_state_dict(self.values.state_dict())


def train(batch: Any, learner: Learner, buffer: Buffer, args: argparse.Namespace) -> Iterator[tuple[int, list[float]]]:
    """Yield steps taken, and the returns of the episodes that have just ended, whenever some have."""
    rng, envs = np.random.default_rng(args.seed), batch.num_envs
    observations, infos = batch.reset(seed=args.seed, copy=True)
    sums = np.zeros(envs)
    for step in range(1, int(args.steps) // envs + 1):
        share = step * envs / args.steps
        epsilon = max(0.05, 1.0 - 0.95 * share / args.explore)
        shaping = max(0.0, 1.0 - share / args.shaping) if args.shaping else 0.0
        flat = observations.reshape(envs, batch.n_agents, -1)
        actions = learner.act(flat, infos["action_mask"].astype(bool), epsilon, rng)
        observations, rewards, terminated, truncated, infos = batch.step(actions, copy=True)
        sums += rewards.mean(1)
        buffer.add(
            observations=flat,
            actions=actions,
            rewards=args.reward_scale
            * (rewards.mean(1) + shaping * infos.get("shaped_reward", np.zeros((1, 1))).sum(1)),
            next=observations.reshape(envs, batch.n_agents, -1),
            next_masks=infos["action_mask"].astype(bool),
            goes_on=1.0 - terminated,  # an episode that is only cut off would go on
        )
        over = terminated | truncated
        if over.any():
            observations, infos = batch.reset(which=over, copy=True)
            yield step * envs, sums[over].tolist()
            sums[over] = 0.0
        if buffer.count >= 10 * args.batch and step % args.every == 0:
            learner.update(buffer.draw(args.batch, rng))


def main() -> None:
    """Train, log and export."""
    args = parse()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    batch = collab_overcooked.make_vec(args.env, args.envs, kind="native", **read_options(args.set))
    n_actions, dtype = int(batch.single_action_space.n), batch.single_observation_space.dtype
    scale = observed_scale(batch, args.seed)
    learner = Learner(Values(scale.size, n_actions, scale), args)
    buffer = Buffer(args.buffer, batch.n_agents, scale.size, n_actions, dtype)
    began = time.perf_counter()
    args.out.mkdir(parents=True, exist_ok=True)
    with (args.out / "returns.csv").open("w", newline="") as file:
        log = csv.writer(file)
        log.writerow(("steps", "return", "episodes", "seconds"))
        for steps, returns in train(batch, learner, buffer, args):
            mean, seconds = float(np.mean(returns)), time.perf_counter() - began
            log.writerow((steps, round(mean, 3), len(returns), round(seconds, 1)))
            file.flush()
            print(f"{steps:>10,} steps  return {mean:8.2f}  {seconds:6.0f} s", flush=True)
    layers = learner.values.layers()
    path = collab_overcooked.export_policy(layers, args.out / "policy.npz", batch, activation="relu", mode="greedy")
    print(f"written: {path}")


if __name__ == "__main__":
    main()
