"""Time our Overcooked and OvercookedV2 against their peers in one run, on one core, and write `results/peers.json`.

python benchmarks/peers/run.py                   # what `make bench-peers` does
python benchmarks/peers/run.py --rounds 1        # shorter, without a spread

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
import time
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
    "cogrid_cpu": "cogrid[jax]==0.3.2",
}
CLASSIC, V2 = ["cramped_room", "counter_circuit"], ["grounded_coord_simple"]
LAYOUTS = {"ours": CLASSIC + V2, "overcooked_ai": CLASSIC, "jaxmarl_cpu": CLASSIC + V2, "cogrid_cpu": CLASSIC}
BATCHES = {"ours": [1024, 4096], "jaxmarl_cpu": [1024, 4096], "cogrid_cpu": [1024]}
ALONE = ("ParallelEnv", "one environment", "step and encode")  # measurements of a single environment
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
    """Run a program on one core and return the JSON of its last line."""
    options: dict[str, Any] = {"layouts": LAYOUTS[program], "seconds": seconds}
    if program in BATCHES:
        options["batches"] = BATCHES[program]
    command = [interpreter(program), HERE / f"{program}.py", json.dumps(options)]
    environment = os.environ | CACHES | {"JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, [0]),  # Linux; libraries count this core only
    )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def median(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the versions and each rate's median and rounds; programs print their rates in the same order."""
    rates = [
        {**same[0], "rate": statistics.median(rate["rate"] for rate in same), "rounds": [rate["rate"] for rate in same]}
        for same in zip(*(entry["rates"] for entry in rounds), strict=True)
    ]
    return {"versions": rounds[0]["versions"], "rates": rates}


def best(results: dict[str, Any], program: str, layout: str, alone: bool) -> dict[str, Any] | None:
    """Return a program's fastest measurement of batches, or of an environment alone; None if it has none."""
    found = [rate for rate in results[program]["rates"] if (rate["layout"], rate["how"] in ALONE) == (layout, alone)]
    return max(found, key=lambda rate: float(rate["rate"]), default=None)


def compare(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Return how many times faster our best is than each peer's: batches, then one environment.

    A ratio is that of the medians; its spread is the lowest and the highest ratio of one round.
    """
    ratios = []
    for layout in LAYOUTS["ours"]:
        for alone in (False, True):
            actual = best(results, "ours", layout, alone)
            for program in PEERS:
                peer = best(results, program, layout, alone)
                if actual and peer:
                    rounds = [a / b for a, b in zip(actual["rounds"], peer["rounds"], strict=True)]
                    row = {"layout": layout, "ours": actual, "peer": program, "theirs": peer}
                    row |= {"ratio": actual["rate"] / peer["rate"], "spread": [min(rounds), max(rounds)]}
                    ratios.append(row)
    return ratios


def machine() -> dict[str, Any]:
    """Return what the rates depend on."""
    return {
        "cpu": cpuinfo.get_cpu_info().get("brand_raw", platform.processor()),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d"),
    }


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    measured: dict[str, list[dict[str, Any]]] = {program: [] for program in ("ours", *PEERS)}
    for number in range(options.rounds):
        for program, rounds in measured.items():
            print(f"round {number + 1} of {options.rounds}: {program}", flush=True)
            rounds.append(run(program, options.seconds))
    results = {program: median(rounds) for program, rounds in measured.items()}
    text = json.dumps({"machine": machine(), "ratios": compare(results), "programs": results}, indent=1)
    RESULTS.write_text(text + "\n")
    print(f"written: {RESULTS.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
