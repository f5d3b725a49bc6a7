"""Train baselines with memory in OvercookedV2, let every seed play with every other, and print both scores.

    python benchmarks/v2_results.py                                             # all, three seeds, runs/v2
    python benchmarks/v2_results.py --layout demo_cook_wide --method sp fcp     # a part; what is trained is kept

Methods: self-play (``sp``), state-augmented self-play (``sa``), other-play with two ingredients exchanged (``op``), and
fictitious co-play beside the half-trained and trained policies of self-play (``fcp``). Each training is a command of
the package that goes on where it was stopped. Afterwards every ordered pair of the seeds of a method plays some games
with actions sampled; ``results.jsonl`` has a line for each pair, and the table is made of these lines.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from collab_overcooked import registry
from collab_overcooked.baselines.population import POOL
from collab_overcooked.baselines.scores import play_games
from collab_overcooked.baselines.settings import read_config
from collab_overcooked.io.files import write_atomic
from collab_overcooked.metrics.intervals import mean_ci
from collab_overcooked.policies.policy_file import read_policy

CONFIG = "overcooked_v2"
LAYOUTS: dict[str, dict[str, Any]] = {  # and options of the paper that differ from the configuration's
    "demo_cook_wide": {},
    "demo_cook_simple": {"random_start": False},
    "test_time_simple": {"delivery_light": True},
    "test_time_wide": {"delivery_light": True},
    "grounded_coord_simple": {},
    "grounded_coord_ring": {},
}
USED = ("demo_cook_wide", "demo_cook_simple")  # whose results are on the page
METHODS = ("sp", "sa", "op", "fcp")
PLAYED, SEED = 100, 10_000  # games of each pair, and the seed of their batch, which no training has


def commands(method: str, options: dict[str, Any], seeds: int, steps: int, folder: Path) -> Iterator[list[str]]:
    """Yield the commands of ``train`` that train the seeds of a method, shaped to the end; ``fcp`` needs ``sp``."""
    changes = options | ({"permuted_ingredients": [0, 1]} if method == "op" else {})
    common = ["--config", CONFIG, "--set", *(f"{name}={json.dumps(value)}" for name, value in changes.items())]
    common += ["--out", str(folder / method), "--steps", str(steps), "--hyper", f"shaping_steps={steps}"]
    if method == "sp":
        yield ["population", *common, f"members={seeds}", "--method", "fcp"]
    elif method == "sa":
        yield ["sa", *common, f"seeds={seeds}"]
    else:
        more = ["--pool", str(folder / "sp" / POOL)] if method == "fcp" else []
        numbers = ["--seeds", *map(str, range(seeds)), "--workers", "1"]
        yield ["ego" if method == "fcp" else "ppo", *common, *more, *numbers]


def pairs(layout: str, options: dict[str, Any], method: str, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a line for each ordered pair of the seeds of a method, each with itself included."""
    files = [read_policy(path) for path in sorted((folder / method).glob("*/policy.npz"))]
    game = registry.load_game("OvercookedV2-v0", **options)
    for (i, first), (j, second) in itertools.product(enumerate(files), repeat=2):
        returns = play_games(game, [first, second], PLAYED, SEED).returns
        line = {"layout": layout, "method": method, "steps": first.meta["steps"], "seeds": [i, j]}
        yield line | {"return": round(float(returns.mean()), 3), "games": PLAYED}


def table(lines: Sequence[dict[str, Any]]) -> str:
    """Return the means of each method with itself (95 % over seeds) and between seeds (s.d. over pairs)."""
    heads = ("layout", "method", "seeds", "steps", "with itself (95 %)", "other seeds ± s.d. of pairs")
    rows = [f"| {' | '.join(heads)} |", "|---|---|---:|---:|---:|---:|"]
    for layout, method in dict.fromkeys((line["layout"], line["method"]) for line in lines):
        chosen = [line for line in lines if (line["layout"], line["method"]) == (layout, method)]
        itself = [line["return"] for line in chosen if len(set(line["seeds"])) == 1]
        alone = mean_ci(itself)
        others = [line["return"] for line in chosen if len(set(line["seeds"])) == 2]
        assert alone is not None
        spread = "" if alone.low is None else f" ({alone.low:.1f} to {alone.high:.1f})"
        cross = f"{statistics.mean(others):.1f} ± {statistics.pstdev(others):.1f}" if others else "one seed"
        steps = f"{chosen[0]['steps']:,}"
        rows.append(f"| `{layout}` | {method} | {len(itself)} | {steps} | {alone.value:.1f}{spread} | {cross} |")
    return "\n".join(rows)


def main() -> None:
    """Train, play and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layout", nargs="+", choices=LAYOUTS, default=USED)
    parser.add_argument("--method", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--seeds", type=int, default=3)
    steps = read_config(CONFIG).integer("steps")
    parser.add_argument(
        "--steps", type=int, default=steps, help="of each training; default: those of the configuration"
    )
    parser.add_argument("--out", type=Path, default=Path("runs/v2"))
    chosen = parser.parse_args()
    path = chosen.out / "results.jsonl"
    known = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    lines = {(line["layout"], line["method"], *line["seeds"]): line for line in known}
    for layout, method in itertools.product(chosen.layout, chosen.method):
        options = read_config(CONFIG)["options"] | {"layout": layout} | LAYOUTS[layout]
        for command in commands(method, options, chosen.seeds, chosen.steps, chosen.out / layout):
            subprocess.run([sys.executable, "-m", "collab_overcooked", "train", *command], check=True)
        for line in pairs(layout, options, method, chosen.out / layout):
            lines[layout, method, *line["seeds"]] = line
        write_atomic(path, "".join(json.dumps(line) + "\n" for line in lines.values()).encode())
    print(table(list(lines.values())))


if __name__ == "__main__":
    main()
