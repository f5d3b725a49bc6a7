"""Train networks of different kinds for equal steps, and print what they earn.

    python benchmarks/network_results.py                                  # all games, five seeds, runs/networks
    python benchmarks/network_results.py --game kitchen --seeds 1         # a stage; what is there is not trained again

Each training is a folder below the output folder and continues from its checkpoint. The policies then play games with
seeds of their own; ``results.jsonl`` gets a line for each training, and the table is over the seeds of these lines.
Memory (``gru`` beside ``mlp``) is tried where seats see only what is near. In the kitchen, a room of OvercookedV2 with
views of one cell, the recipe is out of sight at the pot. In the room games with ``sight=room`` observations say what a
seat saw last and when, so there is less to remember; Escape starts without the clone of its configuration, which has no
memory. Central training (``mappo``) and central execution (``mat``, a multi-agent transformer) are tried beside
independent learners with shared weights (``ppo``) in homes and in CuisineWorld.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from collab_overcooked import registry
from collab_overcooked.baselines.scores import score
from collab_overcooked.baselines.settings import TrainingSettings, read_config, settings_from
from collab_overcooked.baselines.training import is_finished, train
from collab_overcooked.io.files import write_atomic
from collab_overcooked.metrics.intervals import mean_ci
from collab_overcooked.policies.policy_file import read_policy

MEMORY: dict[str, dict[str, Any]] = {"mlp": {}, "gru": {"memory": "gru:64"}}
TEAMS: dict[str, dict[str, Any]] = {
    "ppo": {},
    "mappo": {"critic": "central"},
    "mat": {"weights": "joint", "trunk": (64,)},
}
# Configuration, what is changed of it, and the methods
GAMES: dict[str, tuple[str, dict[str, Any], dict[str, dict[str, Any]]]] = {
    "kitchen": (
        "cramped_room",
        {"env": "OvercookedV2-v0", "options": {"layout": "cramped_room_v2", "view_radius": 1}, "sequence": 20},
        MEMORY,
    ),
    "capture": ("collab_capture", {"options": {"preset": "code2024", "sight": "room"}, "sequence": 30}, MEMORY),
    "escape": (
        "collab_escape",
        {"options": {"preset": "code2024", "sight": "room"}, "sequence": 30, "start": ""},
        MEMORY,
    ),
    "transport": ("transport_small", {}, TEAMS),
    "housework": ("housework_set_table", {}, TEAMS),
    "cuisineworld": ("cuisineworld_level_1", {"steps": 600_000}, TEAMS),
}
PLAYED, SEED = 300, 10_000  # games of each policy, and the seed of their batch, which no training has


def settings_of(game: str, method: str, seed: int, steps: int | None) -> TrainingSettings:
    """Return the settings of one training; the configuration's steps if ``steps`` is None."""
    config, changes, methods = GAMES[game]
    values = {**read_config(config), **changes, "seed": seed, **methods[method]}
    return settings_from(TrainingSettings, values | ({"steps": steps} if steps else {}))


def trained(folder: Path, games: list[str], seeds: int, steps: int | None) -> Iterator[dict[str, Any]]:
    """Train what is missing, seed by seed, so that a stopped run has as many of each method; yield the result lines."""
    for seed in range(seeds):
        for game in games:
            for method in GAMES[game][2]:
                settings = settings_of(game, method, seed, steps)
                run = folder / f"{game}-{method}-{seed}"
                if not is_finished(settings, run):
                    train(settings, run, command=f"python benchmarks/network_results.py --game {game}")
                file = read_policy(run / "policy.npz")
                variant = registry.load_game(settings.env, **settings.options)
                measured = score(variant, [file] * variant.n_agents, PLAYED, SEED)
                line = {"game": game, "method": method, "seed": seed, "steps": file.meta["steps"]}
                yield line | {name: measured[name] for name in ("return", "interval", "games")}


def table(lines: list[dict[str, Any]]) -> str:
    """Return the mean return of each method with its interval over the seeds, as Markdown."""
    rows = ["| game | method | seeds | steps | mean return | 95 % interval |", "|---|---|---:|---:|---:|---|"]
    for game, method in dict.fromkeys((line["game"], line["method"]) for line in lines):
        chosen = [line for line in lines if (line["game"], line["method"]) == (game, method)]
        estimate = mean_ci([line["return"] for line in chosen])
        assert estimate is not None
        known = estimate.low is not None and estimate.high is not None
        interval = f"{estimate.low:.3f} to {estimate.high:.3f}" if known else "one seed"
        steps = max(line["steps"] for line in chosen)
        rows.append(f"| {game} | {method} | {len(chosen)} | {steps:,} | {estimate.value:.3f} | {interval} |")
    return "\n".join(rows)


def main() -> None:
    """Train, play and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", nargs="+", choices=GAMES, default=[*GAMES])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, help="of each training; default: those of the configuration")
    parser.add_argument("--out", type=Path, default=Path("runs/networks"))
    options = parser.parse_args()
    path = options.out / "results.jsonl"
    known = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    lines = {(line["game"], line["method"], line["seed"]): line for line in known}
    for line in trained(options.out, options.game, options.seeds, options.steps):
        lines[line["game"], line["method"], line["seed"]] = line
        write_atomic(path, "".join(json.dumps(lines[key]) + "\n" for key in sorted(lines)).encode())
    print(table(list(lines.values())))


if __name__ == "__main__":
    main()
