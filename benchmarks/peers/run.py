"""Time our Overcooked against its peers in one run, and write `results/peers.json`.

python benchmarks/peers/run.py                   # what `make bench-peers` does
python benchmarks/peers/run.py --seconds 1       # shorter, rougher

Each peer gets a virtual environment of its own, made once below `.cache/peers` from the package index. The programs run
one after the other, round by round, so that a machine that slows down does so for all; the median over rounds counts.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import cpuinfo  # comes with pytest-benchmark

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CACHE = ROOT / ".cache" / "peers"
RESULTS = HERE.parent / "results" / "peers.json"
PEERS = {  # program -> requirement
    "overcooked_ai": "overcooked==0.2.1",
    "jaxmarl_cpu": "jaxmarl==0.2.0",
}
LAYOUTS = ["cramped_room", "counter_circuit"]
BATCHES = {"ours": [1, 64, 1024, 4096], "jaxmarl_cpu": [1, 64, 1024, 4096, 16384]}
CACHES = {  # what the compilers of ours and of JAX keep between the rounds
    "NUMBA_CACHE_DIR": str(CACHE / "numba"),
    "JAX_COMPILATION_CACHE_DIR": str(CACHE / "jax"),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
}


def interpreter(program: str) -> Path:
    """Return the Python that runs a program; a peer's is made if need be."""
    if program not in PEERS:
        return Path(sys.executable)
    folder = CACHE / program
    python = folder / "bin" / "python"
    stamp = folder / "installed.txt"
    if not stamp.exists() or stamp.read_text() != PEERS[program]:
        print(f"installing {PEERS[program]} into {folder.relative_to(ROOT)}")
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", PEERS[program]], check=True)
        stamp.write_text(PEERS[program])
    return python


def run(program: str, seconds: float) -> dict[str, Any]:
    """Run a program and return the JSON of its last line."""
    options = {"layouts": LAYOUTS, "seconds": seconds}
    if program in BATCHES:
        options["batches"] = BATCHES[program]
    command = [interpreter(program), HERE / f"{program}.py", json.dumps(options)]
    environment = os.environ | CACHES | {"JAX_PLATFORMS": "cpu"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def median(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the versions and each rate's median; programs print their rates in the same order every time."""
    rates = [
        {**same[0], "rate": statistics.median(rate["rate"] for rate in same)}
        for same in zip(*(entry["rates"] for entry in rounds), strict=True)
    ]
    return {"versions": rounds[0]["versions"], "rates": rates}


def best(results: dict[str, Any], program: str, layout: str, how: str | None = None) -> dict[str, Any]:
    """Return a program's fastest measurement on a layout."""
    problems = [rate for rate in results[program]["rates"] if rate["layout"] == layout and how in (None, rate["how"])]
    return max(problems, key=lambda rate: rate["rate"])


def compare(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Return how many times faster our best is than each peer's, by layout."""
    ratios = []
    for layout in LAYOUTS:
        for how in ("batch", "ParallelEnv"):
            actual = best(results, "ours", layout, how)
            for program in PEERS if how == "batch" else ("overcooked_ai",):  # one environment against one environment
                peer = best(results, program, layout)
                ratios.append({"layout": layout, "ours": actual, "peer": program, "theirs": peer})
                ratios[-1]["ratio"] = actual["rate"] / peer["rate"]
    return ratios


def machine() -> dict[str, Any]:
    """Return what the rates depend on."""
    return {
        "cpu": cpuinfo.get_cpu_info().get("brand_raw", platform.processor()),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    programs = ["ours", *PEERS]
    CACHE.mkdir(parents=True, exist_ok=True)
    problems: dict[str, list[dict[str, Any]]] = {program: [] for program in programs}
    for number in range(options.rounds):
        for program in programs:
            print(f"round {number + 1} of {options.rounds}: {program}", flush=True)
            problems[program].append(run(program, options.seconds))
    results = {program: median(rounds) for program, rounds in problems.items()}
    text = json.dumps({"machine": machine(), "ratios": compare(results), "programs": results}, indent=1)
    RESULTS.write_text(text + "\n")
    print(f"written: {RESULTS.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
