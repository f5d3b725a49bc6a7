"""Measure the working tree beside a commit, in turn in one sitting, and print the ratios.

python benchmarks/against.py                               # all step benchmarks beside the last commit
python benchmarks/against.py main~5 --only Overcooked      # some, by words of pytest's -k
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "against"


def measure(tree: Path, name: str, only: str, seconds: float) -> dict[str, float]:
    """Return the median seconds of each benchmark of a tree, by its name."""
    out = CACHE / f"{name}.json"
    command = [sys.executable, "-m", "pytest", "benchmarks/test_steps.py", "-q", "-p", "no:cacheprovider"]
    command += ["-m", "", "-k", only, "--benchmark-enable", f"--benchmark-json={out}"]
    command += [f"--benchmark-max-time={seconds}", "--benchmark-min-rounds=3"]
    settings = {"PYTHONPATH": str(tree), "NUMBA_CACHE_DIR": str(CACHE / f"numba_{name}")}
    subprocess.run(command, cwd=tree, env=os.environ | settings, stdout=subprocess.DEVNULL, check=True)
    return {result["name"]: result["stats"]["median"] for result in json.loads(out.read_text())["benchmarks"]}


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit", nargs="?", default="HEAD", help="to compare with")
    parser.add_argument("--only", default="batch_step", help="expression of pytest's -k")
    parser.add_argument("--rounds", type=int, default=3, help="of both trees, in turn")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each benchmark in a round")
    options = parser.parse_args()
    base = CACHE / "tree"
    CACHE.mkdir(parents=True, exist_ok=True)
    if base.exists():  # a measurement that was killed has left it
        subprocess.run(["git", "worktree", "remove", "--force", base], cwd=ROOT, check=False)
        shutil.rmtree(base, ignore_errors=True)
    subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=True)
    subprocess.run(["git", "worktree", "add", "--force", "--detach", base, options.commit], cwd=ROOT, check=True)
    try:
        trees = {"before": base, "after": ROOT}
        rounds: dict[str, list[dict[str, float]]] = {name: [] for name in trees}
        for number in range(options.rounds):
            for name, tree in trees.items():
                print(f"round {number + 1} of {options.rounds}, {name}", file=sys.stderr, flush=True)
                rounds[name].append(measure(tree, name, options.only, options.seconds))
    finally:
        subprocess.run(["git", "worktree", "remove", "--force", base], cwd=ROOT, check=True)
    common = [name for name in rounds["before"][0] if name in rounds["after"][0]]
    medians = {name: [statistics.median(r[name] for r in rounds[side]) for side in trees] for name in common}
    print("rate after / rate before\n")
    for name, (before, after) in sorted(medians.items(), key=lambda entry: entry[1][0] / entry[1][1]):
        print(f"{before / after:6.2f}  {name}")


if __name__ == "__main__":
    main()
