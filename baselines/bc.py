"""Behaviour cloning in one file, offline: imitate the actions in a data set that ``export npz`` has written.

    collab-overcooked evaluate overcooked --layouts cramped_room --team all=greedy --episodes 20 --out runs/greedy
    collab-overcooked export npz runs/greedy --set obs=features --out data/greedy
    python baselines/bc.py --data data/greedy --seed 0 --out runs/bc-0

Writes ``returns.csv`` (steps of the optimiser, mean return of the clone's episodes with itself, their number, seconds,
loss and agreement on held-out rows) and ``policy.npz``, which any command seats as
``--team all=ppo:runs/bc-0/policy.npz``.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import collab_overcooked


def parse() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser("bc", formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with data.npz and dataset.json")
    parser.add_argument("--set", nargs="*", default=["obs=features"], help="NAME=VALUE of the observation in the data")
    parser.add_argument("--steps", type=float, default=3e3, help="steps of the optimiser")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/bc"), help="folder")
    parser.add_argument("--batch", type=int, default=256, help="rows of a step")
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--weight-decay", type=float, default=1e-4)
    parser.add_argument("--held-out", type=float, default=0.1, help="share of the episodes to measure agreement on")
    parser.add_argument("--evaluations", type=int, default=10, help="rows of returns.csv")
    parser.add_argument("--episodes", type=int, default=20, help="episodes of an evaluation")
    return parser.parse_args()


def read_options(pairs: list[str]) -> dict[str, object]:
    """Return NAME=VALUE pairs as options of the environment; integers become numbers."""
    options: dict[str, object] = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        options[name] = int(value) if value.lstrip("-").isdecimal() else value
    return options


class Clone(nn.Module):
    """Logits of an agent's actions by its observation."""

    scale: torch.Tensor

    def __init__(self, observation: int, n_actions: int, scale: np.ndarray) -> None:
        super().__init__()
        self.register_buffer("scale", torch.from_numpy(scale))
        sizes = (observation, 64, 64, n_actions)
        layers = [
            part for inputs, outputs in itertools.pairwise(sizes) for part in (nn.Linear(inputs, outputs), nn.ReLU())
        ]
        self.network = nn.Sequential(*layers[:-1])

    def forward(self, observations: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
        """Return logits (B, A) of raw observations (B, F)."""
        return self.network(observations * self.scale).masked_fill(~masks, -1e9)

    def layers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the layers for raw observations: the first one includes the scale."""
        dense = [layer for layer in self.network if isinstance(layer, nn.Linear)]
        weights = [layer.weight.detach().numpy() for layer in dense]
        weights[0] = weights[0] * self.scale.numpy()
        return [(weight, layer.bias.detach().numpy()) for weight, layer in zip(weights, dense, strict=True)]


def read_data(folder: Path, held_out: float, seed: int) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Return the rows in which an agent had a choice: those to learn from, and those of held-out episodes."""
    with np.load(folder / "data.npz") as archive:
        observations, masks = archive["observations"][0], archive["infos.legals"][0].astype(np.bool_)
        actions = archive["actions"][0]
        ends = (archive["terminals"][0] | archive["truncations"][0]).any(1)
    episode = np.concatenate([[0], np.cumsum(ends)[:-1]])
    count = int(episode[-1]) + 1
    drawn = np.random.default_rng(seed).permutation(count)[: round(held_out * count)]
    chooses = masks.sum(-1) > 1
    parts = []
    for rows in (~np.isin(episode, drawn), np.isin(episode, drawn)):
        chosen = chooses & rows[:, None]
        flat = observations[chosen].reshape(int(chosen.sum()), -1).astype(np.float32)
        arrays = {"observations": flat, "masks": masks[chosen], "actions": actions[chosen].astype(np.int64)}
        parts.append({name: torch.from_numpy(array) for name, array in arrays.items()})
    return parts[0], parts[1]


@torch.no_grad()
def play(clone: Clone, batch: Any, seed: int) -> list[float]:
    """Return the returns of an episode in each environment, all seats played by the clone, which draws its actions."""
    observations, infos = batch.reset(seed=seed)
    sums = np.zeros(batch.num_envs)
    while not batch.over.all():
        flat = torch.from_numpy(observations.reshape(batch.num_envs * batch.n_agents, -1).astype(np.float32))
        masks = torch.from_numpy(infos["action_mask"].reshape(len(flat), -1).astype(bool))
        actions = torch.distributions.Categorical(logits=clone(flat, masks)).sample()
        observations, rewards, _, _, infos = batch.step(actions.reshape(batch.num_envs, -1).numpy())
        sums += rewards.mean(1)
    return sums.tolist()


@torch.no_grad()
def measure(clone: Clone, rows: dict[str, torch.Tensor]) -> tuple[float, float]:
    """Return the mean loss, and how often the likeliest action is the recorded one; NaN without rows."""
    logits = clone(rows["observations"], rows["masks"])
    loss = nn.functional.cross_entropy(logits, rows["actions"])
    return float(loss), float((logits.argmax(-1) == rows["actions"]).float().mean())


def main() -> None:
    """Clone, log and export."""
    args = parse()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    about = json.loads((args.data / "dataset.json").read_text("utf-8"))["episodes"][0]
    options = {**about["env_kwargs"], **read_options(args.set)}
    batch = collab_overcooked.make_vec(about["env_id"], args.episodes, kind="native", **options)
    known, held_out = read_data(args.data, args.held_out, args.seed)
    scale = 1.0 / known["observations"].abs().amax(0).clamp(min=1.0).numpy()
    clone = Clone(scale.size, int(batch.single_action_space.n), scale)
    optimizer = torch.optim.AdamW(clone.parameters(), lr=args.lr, weight_decay=args.weight_decay)
    steps, began = int(args.steps), time.perf_counter()
    rows_at = {round(k * steps / args.evaluations) for k in range(1, args.evaluations + 1)}
    args.out.mkdir(parents=True, exist_ok=True)
    with (args.out / "returns.csv").open("w", newline="") as file:
        log = csv.writer(file)
        log.writerow(("steps", "return", "episodes", "seconds", "loss", "agreement"))
        for step in range(1, steps + 1):
            chosen = torch.randint(len(known["actions"]), (args.batch,))
            logits = clone(known["observations"][chosen], known["masks"][chosen])
            optimizer.zero_grad()
            nn.functional.cross_entropy(logits, known["actions"][chosen]).backward()
            optimizer.step()
            if step in rows_at:
                mean = float(np.mean(play(clone, batch, seed=args.seed)))
                loss, agreement = measure(clone, held_out if len(held_out["actions"]) else known)
                seconds = time.perf_counter() - began
                log.writerow((step, round(mean, 3), args.episodes, *(round(x, 4) for x in (seconds, loss, agreement))))
                file.flush()
                print(f"{step:>8,} steps  return {mean:8.2f}  agreement {agreement:.3f}  {seconds:6.0f} s", flush=True)
    path = collab_overcooked.export_policy(clone.layers(), args.out / "policy.npz", batch, activation="relu")
    print(f"written: {path}")


if __name__ == "__main__":
    main()
