"""Measure every training of a folder and print its scores beside published ones.

    python benchmarks/train_results.py runs/train --out docs/results/baselines.json --ship FOLDER

Trainings are folders named ``CONFIGURATION-SEED``, as `make train-all` writes them. Other configurations stay in the
file.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from collab_overcooked import __version__, registry
from collab_overcooked.baselines.scores import GAMES, score
from collab_overcooked.baselines.settings import read_config, shipped_configs
from collab_overcooked.baselines.train_logger import read_log
from collab_overcooked.io.files import read_text, write_atomic
from collab_overcooked.io.structs import decode
from collab_overcooked.policies.policy_file import MODES, PolicyFile, read_policy
from collab_overcooked.runner.env_variants import Variant, changed_options

CURVE = 40  # points of a learning curve that are kept
Say = Callable[[str], None]


class _Start(Struct):
    start: str | None = None


def published() -> dict[str, dict[str, Any]]:
    """Return by configuration what is measured, and what trained agents were published with, by agent."""
    numbers = {
        name: dict(reference)
        for suite in registry.suites()
        for name, reference in registry.load_suite(suite).training_references().items()
    }
    return dict(sorted(numbers.items(), key=lambda item: str(item[1]["measure"])))


def gather(folder: Path, games: int = GAMES, say: Say = print) -> dict[str, Any]:
    """Measure all trainings in a folder whose names are ``CONFIGURATION-SEED``, but those that others start from.

    Args:
        folder: Holds the runs.
        games: Played with each policy.
        say: Called with each result.

    Returns:
        Results by configuration, fit for JSON: for each seed the command, steps and scores of sampled and of greedy
        play, and the learning curve as pairs of steps and mean return.
    """
    results: dict[str, Any] = {}
    parts = {decode(read_text(path), _Start).start or "" for path in folder.glob("*/settings.json")}
    for run in sorted(folder.iterdir()) if folder.is_dir() else ():
        named = re.fullmatch(r"(?P<config>.+)-(?P<seed>\d+)", run.name)
        files = sorted(run.glob("policy*.npz"))
        if named is None or not files or any(Path(part).parent.name == run.name for part in parts):
            continue
        entry = measure([read_policy(file) for file in files], games)
        entry["curve"] = curve(read_log(run))
        results.setdefault(named["config"], {})[named["seed"]] = entry
        say(f"{run.name}: {entry['sample']['return']} sampled, {entry['greedy']['return']} greedy")
    if not results:
        raise ValueError(f"{folder}: holds no finished training named CONFIGURATION-SEED")
    return results


def measure(files: Sequence[PolicyFile], games: int = GAMES) -> dict[str, Any]:
    """Return where policies come from and how they play together."""
    meta = files[0].meta
    game = registry.load_game(meta["env_id"], **meta["env_kwargs"])
    team = files if len(files) == game.n_agents else [files[0]] * game.n_agents
    origin = {name: meta[name] for name in ("env_id", "env_kwargs", "algorithm", "command", "seed", "steps", "version")}
    return origin | {mode: score(game, team, games, seed=1000, mode=mode) for mode in MODES}


def curve(log: Sequence[Mapping[str, Any]]) -> list[list[float]]:
    """Return at most ``CURVE`` points of a log: steps and mean return."""
    lines = [line for line in log if line.get("return") is not None and "steps" in line]
    chosen = np.unique(np.linspace(0, len(lines) - 1, min(CURVE, len(lines))).astype(int)).tolist() if lines else []
    return [[lines[k]["steps"], round(lines[k]["return"], 2)] for k in chosen]


def table(results: Mapping[str, Any]) -> str:
    """Return results as a Markdown table.

    Seeds and every option that differs from its default are named. Policies trained with other options than their
    configuration's, or by another version of the package, have rows of their own, the former without published numbers.
    Scores are the mean and, in brackets, that of each seed from the lowest on: seeds may fall into groups, which an
    interval of the mean hides.
    """
    numbers = published()
    head = "| configuration | game | measure | seeds | steps | sampled | greedy | published | reached |"
    lines = [head, "|---|---|---|---:|---:|---:|---:|---|---|"]
    order = [*(name for name in numbers if name in results), *(name for name in results if name not in numbers)]
    for name in order:
        variants: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
        for seed, run in results[name].items():
            variants.setdefault((_variant(name, run), run["version"]), {})[seed] = run
        for (variant, version), runs in variants.items():
            known = numbers.get(name, {"measure": "return"})
            if variant != _variant(name, {}):
                known = {"measure": known["measure"]}
            title = name if version == __version__ else f"{name} (version {version})"
            lines.append(f"| {' | '.join(_row(title, variant, runs, known))} |")
    return "\n".join(lines) + "\n"


def _variant(name: str, run: Mapping[str, Any]) -> str:
    config = read_config(name) if name in shipped_configs() else {"env": run.get("env_id", ""), "options": {}}
    env_id = run.get("env_id", config["env"])
    if not env_id:
        return ""
    return Variant(env_id, changed_options(env_id, run.get("env_kwargs", config["options"]))).title


def _row(name: str, variant: str, by_seed: Mapping[str, Mapping[str, Any]], known: Mapping[str, Any]) -> list[str]:
    runs, measure = list(by_seed.values()), known["measure"]
    values = {mode: [run[mode][measure] for run in runs] for mode in MODES}
    others = {who: value for who, value in known.items() if who != "measure"}
    mean = float(np.mean(values["sample"]))  # as those who published played
    return [
        name,
        variant,
        measure,
        ", ".join(sorted(by_seed, key=int)),
        f"{max(run['steps'] for run in runs):,}",
        *(_spread(values[mode], measure) for mode in MODES),
        ", ".join(f"{who} {value}" for who, value in others.items()) or "none",
        ", ".join(f"{who}: {'yes' if mean >= value else 'no'}" for who, value in others.items()),
    ]


def _spread(values: Sequence[float], what: str) -> str:
    digits = 3 if what == "success" else 1
    mean = f"{np.mean(values):.{digits}f}"
    if len(values) == 1:
        return mean
    return f"{mean} ({', '.join(f'{value:.{digits}f}' for value in sorted(values))})"


def ship(results: Mapping[str, Any], runs: Path, folder: Path) -> list[Path]:
    """Copy the policy of the median seed of each configuration, named after it, with the score that it was measured at.

    All of them draw their actions: the likeliest ones may wait for each other for ever, above all beside a stranger.

    Args:
        results: From ``gather``.
        runs: The folder that was gathered.
        folder: Where to.

    Returns:
        The files written. Configurations with a policy for each seat are left out: a name is one policy.
    """
    written = []
    for name, entries in results.items():
        what = published().get(name, {"measure": "return"})["measure"]
        seed = median_seed(entries, what)
        path = runs / f"{name}-{seed}" / "policy.npz"
        if path.exists():
            file = read_policy(path)
            meta = {**file.meta, "mode": "sample", "score": entries[seed]["sample"]}
            PolicyFile(file.network, meta).save(folder / f"{name}.npz")
            written.append(folder / f"{name}.npz")
    return written


def median_seed(entries: Mapping[str, Mapping[str, Any]], measure: str) -> str:
    """Return the seed of the median score of sampled play, of two the lower one."""
    ranked = sorted(entries, key=lambda seed: (entries[seed]["sample"][measure], int(seed)))
    return ranked[(len(ranked) - 1) // 2]


def write(results: Mapping[str, Any], path: Path) -> None:
    """Write results as JSON."""
    text = json.dumps(results, indent=1)
    flat = re.sub(r"\[\s+([\d.eE+-]+),\s+([\d.eE+-]+)\s+\]", r"[\1, \2]", text)  # a point a line
    write_atomic(path, flat.encode() + b"\n")


def main() -> None:
    """Measure, print the table, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="?", type=Path, default=Path("runs/train"), help="Folder of the trainings.")
    parser.add_argument("--out", type=Path, help="JSON output file.")
    parser.add_argument("--games", type=int, default=GAMES, help="Games of each policy with itself.")
    parser.add_argument("--ship", type=Path, help="Folder for the policy of the median seed of each configuration.")
    chosen = parser.parse_args()
    try:
        trained = gather(chosen.runs, chosen.games)
    except ValueError as error:
        parser.error(str(error))
    if chosen.out is not None:
        known = json.loads(read_text(chosen.out)) if chosen.out.exists() else {}
        write(known | trained, chosen.out)
        print(f"written: {chosen.out}")
    if chosen.ship is not None:
        print("written: " + ", ".join(map(str, ship(trained, chosen.runs, chosen.ship))))
    print(table(trained))


if __name__ == "__main__":
    main()
