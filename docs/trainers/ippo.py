"""IPPO in one file: every agent is an independent PPO learner (de Witt et al. 2020) with shared weights.

    python docs/trainers/ippo.py --env ID --set NAME=VALUE --seed 0 --out runs/ippo-0

Writes ``returns.csv`` (steps, mean return of the episodes that ended since the last row, their number, seconds) and
``policy.npz``, which any command seats as ``--team all=ppo:runs/ippo-0/policy.npz``.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import collab_overcooked


def parse() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser("ippo", formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--env", required=True, help="environment id")
    parser.add_argument("--set", nargs="*", default=[], help="NAME=VALUE options of it, as for the command train")
    parser.add_argument("--steps", type=float, default=8e5, help="environment steps")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/ippo"), help="folder")
    parser.add_argument("--envs", type=int, default=128, help="environments E")
    parser.add_argument("--rollout", type=int, default=100, help="steps T of an update")
    parser.add_argument("--minibatches", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--lr", type=float, default=1e-3, help="falls to a tenth")
    parser.add_argument("--entropy", type=float, default=0.02, help="falls to a quarter")
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--gae", type=float, default=0.95)
    parser.add_argument("--clip", type=float, default=0.2)
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


def mlp(*sizes: int, last: float) -> nn.Sequential:
    """Return dense layers with relu between them, orthogonal weights and a small last layer."""
    layers: list[nn.Module] = []
    for number, (inputs, outputs) in enumerate(itertools.pairwise(sizes), start=2):
        layer = nn.Linear(inputs, outputs)
        nn.init.orthogonal_(layer.weight, last if number == len(sizes) else 2**0.5)
        nn.init.zeros_(layer.bias)
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


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


class Agent(nn.Module):
    """Actor and critic of an agent's observation."""

    scale: torch.Tensor

    def __init__(self, observation: int, n_actions: int, scale: np.ndarray) -> None:
        super().__init__()
        self.register_buffer("scale", torch.from_numpy(scale))
        self.actor = mlp(observation, 128, 64, n_actions, last=0.01)
        self.critic = mlp(observation, 128, 64, 1, last=1.0)

    def value(self, observations: torch.Tensor) -> torch.Tensor:
        """Return values (B,) of observations (B, F)."""
        return self.critic(observations * self.scale).squeeze(-1)

    def policy(self, observations: torch.Tensor, masks: torch.Tensor) -> torch.distributions.Categorical:
        """Return the policy over the actions that the masks allow."""
        logits = self.actor(observations * self.scale)
        return torch.distributions.Categorical(logits=logits.masked_fill(~masks, -1e9), validate_args=False)

    def layers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the actor's layers for raw observations: the first one includes the scale."""
        dense = [layer for layer in self.actor if isinstance(layer, nn.Linear)]
        weights = [layer.weight.detach().numpy() for layer in dense]
        weights[0] = weights[0] * self.scale.numpy()
        return [(weight, layer.bias.detach().numpy()) for weight, layer in zip(weights, dense, strict=True)]


class Rollouts:
    """Collects T steps of E environments; rows are agents, R = E * N."""

    def __init__(self, batch: Any, args: argparse.Namespace) -> None:
        self.batch, self.args = batch, args
        self.rows = batch.num_envs * batch.n_agents
        observations, infos = batch.reset(seed=args.seed)
        self.observations, self.masks = self._rows(observations, infos)
        self.sums = np.zeros(batch.num_envs)
        self.returns: list[float] = []

    def _rows(self, observations: np.ndarray, infos: dict) -> tuple[torch.Tensor, torch.Tensor]:
        flat = torch.from_numpy(observations.reshape(self.rows, -1).astype(np.float32))
        return flat, torch.from_numpy(infos["action_mask"].reshape(self.rows, -1).astype(bool))

    @torch.no_grad()
    def collect(self, agent: Agent, shaping: float) -> dict[str, torch.Tensor]:
        """Return observations, masks, actions, log_probs, values, advantages and targets, (T, R, ...) each."""
        args, batch, steps = self.args, self.batch, []
        for _ in range(args.rollout):
            policy = agent.policy(self.observations, self.masks)
            actions = policy.sample()
            values = agent.value(self.observations)
            seen = self.observations, self.masks, actions, policy.log_prob(actions), values
            shape = batch.num_envs, batch.n_agents
            observations, rewards, terminated, truncated, infos = batch.step(actions.reshape(shape).numpy())
            self.sums += rewards.mean(1)
            paid = args.reward_scale * (rewards + shaping * infos.get("shaped_reward", 0.0))
            paid = torch.from_numpy(paid.reshape(-1).astype(np.float32))
            over = terminated | truncated
            if truncated.any():  # the episode would go on: add what the critic expects of the rest
                rest = agent.value(self._rows(observations, infos)[0])
                paid += args.gamma * rest * torch.from_numpy(np.repeat(truncated & ~terminated, batch.n_agents))
            ends = torch.from_numpy(np.repeat(over, batch.n_agents).astype(np.float32))
            if over.any():
                self.returns += self.sums[over].tolist()
                self.sums[over] = 0.0
                observations, infos = batch.reset(which=over.copy())
            self.observations, self.masks = self._rows(observations, infos)
            steps.append((*seen, paid, ends))
        names = ("observations", "masks", "actions", "log_probs", "values", "rewards", "ends")
        data = {name: torch.stack(parts) for name, parts in zip(names, zip(*steps, strict=True), strict=True)}
        return self._add_advantages(data, agent.value(self.observations))

    def _add_advantages(self, data: dict[str, torch.Tensor], after: torch.Tensor) -> dict[str, torch.Tensor]:
        """Add generalised advantage estimates and value targets."""
        args, advantage = self.args, torch.zeros(self.rows)
        data["advantages"] = torch.zeros_like(data["values"])
        for t in reversed(range(args.rollout)):
            goes_on = 1.0 - data["ends"][t]
            error = data["rewards"][t] + args.gamma * goes_on * after - data["values"][t]
            advantage = error + args.gamma * args.gae * goes_on * advantage
            data["advantages"][t], after = advantage, data["values"][t]
        data["targets"] = data["advantages"] + data["values"]
        return data


def update(
    agent: Agent, optimizer: torch.optim.Optimizer, data: dict[str, torch.Tensor], args: Any, entropy: float
) -> None:
    """Learn from a rollout by PPO's clipped objective."""
    data = {name: array.flatten(0, 1) for name, array in data.items()}
    rows = len(data["actions"])
    for _ in range(args.epochs):
        for chosen in torch.randperm(rows).split(-(-rows // args.minibatches)):
            part = {name: array[chosen] for name, array in data.items()}
            policy = agent.policy(part["observations"], part["masks"])
            advantages = (part["advantages"] - part["advantages"].mean()) / (part["advantages"].std() + 1e-8)
            ratio = (policy.log_prob(part["actions"]) - part["log_probs"]).exp()
            clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
            gain = torch.min(ratio * advantages, clipped * advantages).mean()
            error = (agent.value(part["observations"]) - part["targets"]).square().mean()
            loss = 0.5 * error - gain - entropy * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


def main() -> None:
    """Train, log and export."""
    args = parse()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    batch = collab_overcooked.make_vec(args.env, args.envs, kind="native", **read_options(args.set))
    scale = observed_scale(batch, args.seed)
    agent = Agent(scale.size, int(batch.single_action_space.n), scale)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.lr, eps=1e-5)
    rollouts, began = Rollouts(batch, args), time.perf_counter()
    args.out.mkdir(parents=True, exist_ok=True)
    with (args.out / "returns.csv").open("w", newline="") as file:
        log = csv.writer(file)
        log.writerow(("steps", "return", "episodes", "seconds"))
        for done in range(0, int(args.steps), args.rollout * args.envs):
            left = 1.0 - done / args.steps
            for group in optimizer.param_groups:
                group["lr"] = args.lr * (0.1 + 0.9 * left)
            shaping = max(0.0, 1.0 - (1.0 - left) / args.shaping) if args.shaping else 0.0
            data = rollouts.collect(agent, shaping)
            update(agent, optimizer, data, args, args.entropy * (0.25 + 0.75 * left))
            if rollouts.returns:
                mean, count = float(np.mean(rollouts.returns)), len(rollouts.returns)
                seconds = time.perf_counter() - began
                log.writerow((done + args.rollout * args.envs, round(mean, 3), count, round(seconds, 1)))
                file.flush()
                print(f"{done + args.rollout * args.envs:>10,} steps  return {mean:8.2f}  {seconds:6.0f} s", flush=True)
                rollouts.returns = []
    path = collab_overcooked.export_policy(agent.layers(), args.out / "policy.npz", batch, activation="relu")
    print(f"written: {path}")


if __name__ == "__main__":
    main()
