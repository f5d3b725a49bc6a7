"""Recurrent PPO in one file: independent learners with shared weights and a GRU, for games that hide information.

The memory stays as it is in steps without a choice (one legal action), as commands ask a policy only where it has one.

    python baselines/ppo_rnn.py --env ID --set NAME=VALUE --seed 0 --out runs/ppo_rnn-0

Writes ``returns.csv`` (steps, mean return of the episodes that ended since the last row, their number, seconds) and
``policy.pt``, which any command seats as
``--team all=baselines/ppo_rnn.py:recurrent:runs/ppo_rnn-0/policy.pt``.
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
    parser = argparse.ArgumentParser("ppo_rnn", formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--env", required=True, help="environment id")
    parser.add_argument("--set", nargs="*", default=[], help="NAME=VALUE options of it, as for the command train")
    parser.add_argument("--steps", type=float, default=8e5, help="environment steps")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/ppo_rnn"), help="folder")
    parser.add_argument("--envs", type=int, default=128, help="environments E")
    parser.add_argument("--rollout", type=int, default=50, help="steps T of an update")
    parser.add_argument("--minibatches", type=int, default=4)
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
    rng, largest = np.random.default_rng(seed), np.ones(int(np.prod(batch.single_observation_space.shape)), np.float32)
    observations, infos = batch.reset(seed=seed)
    for _ in range(steps):
        masks = infos["action_mask"]
        observations, _, _, _, infos = batch.step((rng.random(masks.shape) * masks).argmax(-1))
        largest = np.maximum(largest, np.abs(observations.astype(np.float32)).reshape(-1, largest.size).max(0))
        if batch.over.any():
            batch.reset(which=batch.over.copy())
    return 1.0 / largest


class Agent(nn.Module):
    """Encoder, GRU, and on it actor and critic of an agent's observations."""

    scale: torch.Tensor

    def __init__(self, observation: int, n_actions: int, scale: np.ndarray, hidden: int = 64) -> None:
        super().__init__()
        self.hidden = hidden
        self.register_buffer("scale", torch.from_numpy(scale))
        self.encoder = mlp(observation, 128, 64, last=2**0.5)
        self.memory = nn.GRUCell(64, hidden)
        self.actor, self.critic = mlp(hidden, 64, n_actions, last=0.01), mlp(hidden, 64, 1, last=1.0)

    def remember(self, encoded: torch.Tensor, masks: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        """Return the memory (B, H) after encoded observations; that of rows without a choice does not change."""
        chooses = masks.sum(-1, keepdim=True) > 1
        return torch.where(chooses, self.memory(encoded, before), before)

    def encode(self, observations: torch.Tensor) -> torch.Tensor:
        """Return encodings of raw observations."""
        return torch.tanh(self.encoder(observations * self.scale))

    def policy(self, memory: torch.Tensor, masks: torch.Tensor) -> torch.distributions.Categorical:
        """Return the policy over the actions that the masks allow."""
        logits = self.actor(memory).masked_fill(~masks, -1e9)
        return torch.distributions.Categorical(logits=logits, validate_args=False)

    def value(self, memory: torch.Tensor) -> torch.Tensor:
        """Return values of memories."""
        return self.critic(memory).squeeze(-1)

    def unroll(self, part: dict[str, torch.Tensor]) -> torch.Tensor:
        """Return the memories (T, R, H) of a rollout of rows, from the memory before it; episodes start from zeros."""
        encoded, memory, memories = self.encode(part["observations"]), part["memory"][0], []
        for t in range(len(encoded)):
            memory = self.remember(encoded[t], part["masks"][t], memory)
            memories.append(memory)
            memory = memory * (1.0 - part["ends"][t])[:, None]
        return torch.stack(memories)


class Recurrent:
    """The trained policy in any seat of any command.

    Args:
        weights: File that training has written.
        mode: ``"sample"`` or ``"greedy"``.
    """

    def __init__(self, weights: str, mode: str = "sample") -> None:
        saved = torch.load(weights, weights_only=True)
        about, arrays = saved["collab_overcooked"], saved["state_dict"]
        names = ("obs", "axes", "size")
        self.observation = {name: about["env_kwargs"][name] for name in names if about["env_kwargs"].get(name)}
        self.agent = Agent(arrays["scale"].numel(), about["n_actions"], arrays["scale"].numpy())
        self.agent.load_state_dict(arrays)
        self.name, self.mode = f"ppo_rnn:{Path(weights).parent.name}", mode

    def reset(self, seat: int, info: Any, seed: int) -> None:
        """Forget; draws derive from the seed."""
        self.memory = torch.zeros(1, self.agent.hidden)
        self.rng = np.random.default_rng([seed, seat])

    @torch.no_grad()
    def act(self, seen: Any) -> int:
        """Return an action."""
        observation = torch.from_numpy(seen.observation.reshape(1, -1).astype(np.float32))
        mask = torch.from_numpy(seen.mask[None].astype(bool))
        self.memory = self.agent.remember(self.agent.encode(observation), mask, self.memory)
        probabilities = self.agent.policy(self.memory, mask).probs[0].double().numpy()
        if self.mode == "greedy":
            return int(probabilities.argmax())
        return int(self.rng.choice(len(probabilities), p=probabilities / probabilities.sum()))

    def reply(self, seen: Any) -> None:
        """Say nothing."""


def recurrent(text: str) -> Recurrent:
    """Return the policy of a spec, ``FILE.pt`` or ``FILE.pt,greedy``."""
    weights, _, mode = text.partition(",")
    return Recurrent(weights, mode or "sample")


class Rollouts:
    """Collects T steps of E environments; rows are agents, R = E * N."""

    def __init__(self, batch: Any, args: argparse.Namespace, hidden: int) -> None:
        self.batch, self.args = batch, args
        self.rows = batch.num_envs * batch.n_agents
        observations, infos = batch.reset(seed=args.seed)
        self.observations, self.masks = self._rows(observations, infos)
        self.memory = torch.zeros(self.rows, hidden)
        self.sums = np.zeros(batch.num_envs)
        self.returns: list[float] = []

    def _rows(self, observations: np.ndarray, infos: dict) -> tuple[torch.Tensor, torch.Tensor]:
        flat = torch.from_numpy(observations.reshape(self.rows, -1).astype(np.float32))
        return flat, torch.from_numpy(infos["action_mask"].reshape(self.rows, -1).astype(bool))

    def _remember(self, agent: Agent) -> torch.Tensor:
        return agent.remember(agent.encode(self.observations), self.masks, self.memory)

    @torch.no_grad()
    def collect(self, agent: Agent, shaping: float) -> dict[str, torch.Tensor]:
        """Return observations, masks, memories before them, actions, ... and targets, (T, R, ...) each."""
        args, batch, steps = self.args, self.batch, []
        for _ in range(args.rollout):
            before, self.memory = self.memory, self._remember(agent)
            policy = agent.policy(self.memory, self.masks)
            actions = policy.sample()
            values = agent.value(self.memory)
            seen = self.observations, self.masks, before, actions, policy.log_prob(actions), values
            shape = batch.num_envs, batch.n_agents
            observations, rewards, terminated, truncated, infos = batch.step(actions.reshape(shape).numpy())
            self.sums += rewards.mean(1)
            paid = args.reward_scale * (rewards + shaping * infos.get("shaped_reward", 0.0))
            paid = torch.from_numpy(paid.reshape(-1).astype(np.float32))
            over = terminated | truncated
            if truncated.any():  # the episode would go on: add what the critic expects of the rest
                self.observations, self.masks = self._rows(observations, infos)
                rest = agent.value(self._remember(agent))
                paid += args.gamma * rest * torch.from_numpy(np.repeat(truncated & ~terminated, batch.n_agents))
            ends = torch.from_numpy(np.repeat(over, batch.n_agents).astype(np.float32))
            if over.any():
                self.returns += self.sums[over].tolist()
                self.sums[over] = 0.0
                observations, infos = batch.reset(which=over.copy())
            self.observations, self.masks = self._rows(observations, infos)
            self.memory = self.memory * (1.0 - ends)[:, None]
            steps.append((*seen, paid, ends))
        names = ("observations", "masks", "memory", "actions", "log_probs", "values", "rewards", "ends")
        data = {name: torch.stack(parts) for name, parts in zip(names, zip(*steps, strict=True), strict=True)}
        return self._add_advantages(data, agent.value(self._remember(agent)))

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
    """Learn from a rollout by PPO's clipped objective; a minibatch has whole sequences of some rows."""
    rows = data["actions"].shape[1]
    for _ in range(args.epochs):
        for chosen in torch.randperm(rows).split(-(-rows // args.minibatches)):
            part = {name: array[:, chosen] for name, array in data.items()}
            memories = agent.unroll(part)
            policy = agent.policy(memories, part["masks"])
            advantages = (part["advantages"] - part["advantages"].mean()) / (part["advantages"].std() + 1e-8)
            ratio = (policy.log_prob(part["actions"]) - part["log_probs"]).exp()
            clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
            gain = torch.min(ratio * advantages, clipped * advantages).mean()
            error = (agent.value(memories) - part["targets"]).square().mean()
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
    rollouts, began = Rollouts(batch, args, agent.hidden), time.perf_counter()
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
    path = collab_overcooked.export_policy(agent, args.out / "policy.pt", batch, mode="sample")
    print(f"written: {path}")


if __name__ == "__main__":
    main()
