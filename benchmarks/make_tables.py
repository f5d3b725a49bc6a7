"""Condense pytest-benchmark's output into `results/steps.json`, and write the tables of `docs/reference/benchmarks.md`.

python benchmarks/make_tables.py .cache/benchmark.json   # new measurements, then tables
python benchmarks/make_tables.py --add NEW.json          # those of a part of the benchmarks; the others stay
python benchmarks/make_tables.py                         # tables only
python benchmarks/make_tables.py --check                 # exit code 1 if a table is stale
"""

from __future__ import annotations

import json
import platform
import statistics
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "steps.json"
PEERS = RESULTS.with_name("peers.json")
THREADS = RESULTS.with_name("threads.json")
SCORES = RESULTS.with_name("time_to_score.json")
PEER_NAMES = {
    "jaxmarl_cpu": "JaxMARL on CPU",
    "overcooked_ai": "overcooked_ai (numpy-2 fork `overcooked`)",
    "cogrid_cpu": "CoGrid",
}
SIDES = {  # of the time to a score: who learns, from what
    "ours": ("PPO, built-in configuration", "96 features"),
    "ours_lossless": ("PPO, the same with grids", "grid (lossless encoding)"),
    "jaxmarl": ("JaxMARL's IPPO, its own configuration", "grid (lossless encoding)"),
}
PAGE = ROOT / "docs" / "reference" / "benchmarks.md"
README = ROOT / "README.md"
BEGIN, END = "<!-- generated: benchmarks -->", "<!-- end -->"
OPTIONS = ("action_level", "stepping", "obs", "kitchen", "level", "layout", "scenario", "agents", "players", "workers")
OPTIONS += ("rooms", "items", "preset", "sight")
MEASURED = ("median_seconds", "seconds", "steps_per_second", "states", "joint_actions", "median", "late")
MEASURED += ("decisions", "searches", "plans")
PACKAGES = ("collab-overcooked", "numba", "numpy", "gymnasium", "pettingzoo")


def condense(raw: dict[str, Any]) -> dict[str, Any]:
    """Keep what the tables need: machine, versions, and the median of every benchmark."""
    cpu = raw["machine_info"].get("cpu", {})
    return {
        "machine": {
            "cpu": cpu.get("brand_raw", platform.processor()),
            "cores": cpu.get("count"),
            "system": platform.system(),
            "python": platform.python_version(),
        },
        "versions": {name: version(name) for name in PACKAGES},
        "results": [{**bench["extra_info"], "median_seconds": bench["stats"]["median"]} for bench in raw["benchmarks"]],
    }


def added(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return all measurements, old ones where there are no new ones of the same."""

    def key(result: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in result.items() if name not in MEASURED}

    measured = [key(result) for result in new["results"]]
    return new | {"results": [r for r in old["results"] if key(r) not in measured] + new["results"]}


def rate(result: dict[str, Any]) -> float:
    """Return environment steps per second."""
    return result.get("steps_per_second") or result["steps"] / result["median_seconds"]


def speed_table(data: dict[str, Any]) -> str:
    """Return the Markdown table of the step rates of every game with default options, on one thread."""
    names = list(dict.fromkeys(result["env"] for result in data["results"] if "env" in result))
    plain = [result for result in data["results"] if result["kind"] != "batch" or not options(result)]
    sizes = sorted({result["batch"] for result in plain if result["kind"] == "batch"})
    lines = [
        f"| game | {' | '.join(f'batch of {size:,}' for size in sizes)} | `ParallelEnv` | compiler off "
        "| first step, s | with compiling, s |",
        f"|---|{'---:|' * (len(sizes) + 4)}",
    ]
    for env_id in names:
        results = [result for result in plain if result.get("env") == env_id]
        batches = {r["batch"]: rate(r) for r in results if r["kind"] == "batch" and r["threads"] == 1}
        single = {r["kind"]: rate(r) for r in results if r["kind"] in ("ParallelEnv", "plain Python")}
        first = {r["kind"]: r["seconds"] for r in results if r["kind"].startswith("first")}
        rates = [*(batches[size] for size in sizes), single["ParallelEnv"], single["plain Python"]]
        seconds = [first["first step, warm cache"], first["first step, cold cache"]]
        cells = [*(f"{value:,.0f}" for value in rates), *(f"{value:.1f}" for value in seconds)]
        lines.append(f"| `{env_id}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def option_table(data: dict[str, Any]) -> str:
    """Return the Markdown table of the step rates with other options, on one thread."""
    lines = ["| game | options | steps per second |", "|---|---|---:|"]
    for result in data["results"]:
        if result["kind"] == "batch" and result["threads"] == 1 and options(result):
            lines.append(f"| `{result['env']}` | {options(result)} | {rate(result):,.0f} |")
    return "\n".join(lines)


def options(result: dict[str, Any]) -> str:
    """Name the options of a batch that differ from their defaults."""
    return ", ".join(f"{key} {result[key]}" for key in OPTIONS if key in result)


def exact_table(data: dict[str, Any]) -> str:
    """Return the Markdown table of the exact values of room games; empty if none were timed."""
    results = [result for result in data["results"] if result["kind"] == "exact values"]
    heads = ("map of rooms", "preset", "from", "states", "joint actions", "milliseconds")
    lines = [f"| {' | '.join(heads)} |", "|---|---|---|---:|---:|---:|"]
    for result in results:
        start = "all placements" if result["everywhere"] else "the start"
        lines.append(
            f"| {result['map']} | {result['preset']} | {start} | {result['states']:,} | "
            f"{result['joint_actions']:,} | {result['median_seconds'] * 1e3:,.1f} |"
        )
    heading = "Exact values of room games, over all reachable states:"
    return "\n".join([heading, "", *lines]) if results else ""


def decision_table(data: dict[str, Any]) -> str:
    """Return the Markdown table of how long policies decide; empty if none were timed."""
    decisions = [result for result in data["results"] if result["kind"] == "decision"]
    if not decisions:
        return ""
    lines = ["| policy | game | decisions | median ms | 90th percentile ms |", "|---|---|---:|---:|---:|"]
    for one in decisions:
        times = f"{1e3 * one['median']:.1f} | {1e3 * one['late']:.1f}"
        lines.append(f"| `{one['policy']}` | `{one['game']}` | {one['decisions']} | {times} |")
    return "\n".join(
        ["## Decisions and searches", "", "Time of a decision of policies that search, on one core:", "", *lines]
    )


def search_table(data: dict[str, Any]) -> str:
    """Return the Markdown table of what searches of joint plans cost; empty if none were timed."""
    searches = [result for result in data["results"] if result["kind"] == "plan search"]
    if not searches:
        return ""
    lines = ["| game | searches | plans of a tree | median ms | 90th percentile ms |", "|---|---:|---:|---:|---:|"]
    for one in searches:
        times = f"{1e3 * one['median']:.1f} | {1e3 * one['late']:.1f}"
        lines.append(f"| `{one['game']}` | {one['searches']} | {one['plans']:.1f} | {times} |")
    heading = "Time of a search of `cots` with programs, on one core, rating included:"
    return "\n".join([heading, "", *lines])


def peer_table(data: dict[str, Any]) -> str:
    """Return the Markdown table of our Overcooked and OvercookedV2 beside others'."""
    lines = ["| layout | this package | steps/s | peer | steps/s | ratio |", "|---|---|---:|---|---:|---:|"]
    for row in data["ratios"]:
        package = row["ours"]
        peer = row["theirs"]
        low, high = row["spread"]
        how = f"batch of {package['batch']:,}" if package["how"] == "batch" else package["how"]
        other = f"batch of {peer['batch']:,}" if peer["how"] == "compiled loop" else peer["how"]
        lines.append(
            f"| `{row['layout']}` | {how} | {package['rate']:,.0f} "
            f"| {PEER_NAMES[row['peer']]}, {other} | {peer['rate']:,.0f} "
            f"| {row['ratio']:,.1f}x ({low:,.1f}–{high:,.1f}) |"
        )
    return "\n".join(lines)


def peers_part(data: dict[str, Any]) -> list[str]:
    """Return the part of the page that compares Overcooked with its peers."""
    return [
        "## Other implementations of Overcooked",
        "",
        f"Medians of the rounds of one run on one core (`make bench-peers`, {data['machine']['date']}), in brackets",
        "the lowest and the highest ratio of a round, each program with its best batch size: random actions, lossless",
        "observations of both players, resets included. Ours writes action masks too; CoGrid writes features of its",
        "own, and its batches do not reset. `grounded_coord_simple` is of OvercookedV2.",
        "",
        peer_table(data),
        "",
        measured_on(data["machine"], *(program["versions"] for program in data["programs"].values())),
        "",
    ]


def readme_part(peers: dict[str, Any], scores: dict[str, Any]) -> str:
    """Return the README's sentences on peers: environment steps on one core, and the time to a score.

    The shares of steps and of steps per second say where the share of the time comes from.
    """
    rows = [row for row in peers["ratios"] if row["ours"]["how"] == "batch"]
    texts = []
    for name in ("jaxmarl_cpu", "cogrid_cpu"):
        compared = [row for row in rows if row["peer"] == name]
        ratios = [row["ratio"] for row in compared]
        low = min(row["spread"][0] for row in compared)
        high = max(row["spread"][1] for row in compared)
        texts.append(f"{_span(min(ratios), max(ratios))} times ({low:,.1f} to {high:,.1f} in single rounds)")
    time, steps, pace = (share(scores, quantity) for quantity in (seconds, environment_steps, steps_per_second))
    return (
        f"On one CPU core, batches of Overcooked and OvercookedV2 step {texts[0]}\n"
        f"as fast as JaxMARL on CPU and {texts[1]} as fast as CoGrid. PPO with grid observations reaches\n"
        f"a mean return of {scores['target']:.0f} on `{scores['layout']}` in {time:.2f} of the time of "
        f"JaxMARL's script with its own settings ({len(scores['jaxmarl'])} seeds): it needs {steps:.2f}\n"
        f"of the environment steps, at {pace:.2f} of the steps per second. JaxMARL is made for GPUs, on which neither "
        "was measured\n([benchmarks](docs/reference/benchmarks.md))."
    )


def seconds(runs: list[dict[str, Any]]) -> float:
    """Return the mean time to a score from the start of the process."""
    return mean(runs, "seconds")


def environment_steps(runs: list[dict[str, Any]]) -> float:
    """Return the mean number of environment steps to a score."""
    return mean(runs, "steps")


def steps_per_second(runs: list[dict[str, Any]]) -> float:
    """Return the rate of environment steps after the start-up."""
    return mean(runs, "steps") / (mean(runs, "seconds") - mean(runs, "before_first_step"))


def share(scores: dict[str, Any], quantity: Callable[[list[dict[str, Any]]], float]) -> float:
    """Return a quantity of our PPO with grid observations, as a share of JaxMARL's."""
    return quantity(scores["ours_lossless"]) / quantity(scores["jaxmarl"])


def _span(low: float, high: float) -> str:
    return f"{low:,.0f}" + (f" to {high:,.0f}" if round(high) > round(low) else "")


def threads_part(data: dict[str, Any]) -> list[str]:
    """Return the part of the page that says what a second thread does to batches."""
    rows = {(row["env"], row["batch"]): row["ratio"] for row in data["rows"]}
    sizes = sorted({size for _, size in rows})
    lines = [f"| game | {' | '.join(f'{size:,}' for size in sizes)} |", f"|---|{'---:|' * len(sizes)}"]
    for env_id in dict.fromkeys(env_id for env_id, _ in rows):
        ratios = (f"{rows[env_id, size]:.2f}" if (env_id, size) in rows else "" for size in sizes)
        lines.append(f"| `{env_id}` | {' | '.join(ratios)} |")
    return [
        "## Two threads",
        "",
        f"Rate with `num_threads=2` over that with 1, by size of the batch, on {data['cores']} cores ({data['date']},",
        "`make bench-threads`). Batches use the second thread where they measure that it is faster.",
        "",
        *lines,
        "",
    ]


def score_part(data: dict[str, Any]) -> list[str]:
    """Return the part of the page that says how long training takes to a mean return."""
    time, taken, pace = (share(data, quantity) for quantity in (seconds, environment_steps, steps_per_second))
    assert all(run["reached"] for side in SIDES for run in data[side])
    lines = [
        f"| to a mean return of {data['target']:.0f} on `{data['layout']}` | observations | seconds, each seed | "
        "of these start-up | environment steps | steps per second after that |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for side, (who, what) in SIDES.items():
        each = ", ".join(f"{run['seconds']:.1f}" for run in data[side])
        before = f"{mean(data[side], 'before_first_step'):.1f}"
        steps, per_second = environment_steps(data[side]), steps_per_second(data[side])
        lines.append(f"| {who} | {what} | {each} | {before} | {steps:,.0f} | {per_second:,.0f} |")
    return [
        "## Time to a score",
        "",
        "From the start of the process; means over seeds where there is one number. JaxMARL compiles, our kernels come",
        "from the cache on disk; ours is one thread, JAX may use all cores. Only rows with grid observations are",
        f"comparable: ours takes {time:.2f} of JaxMARL's time, with {taken:.2f} of its environment steps at",
        f"{pace:.2f} of its steps per second. Settings and start-up make the difference: per step JaxMARL is faster.",
        "No GPU was used.",
        "",
        *lines,
        "",
        measured_on(data["machine"], *(data[side][0]["versions"] for side in ("ours", "jaxmarl")))
        + " `benchmarks/time_to_score.py` measures again and says what it needs.",
        "",
    ]


def mean(runs: list[dict[str, Any]], name: str) -> float:
    """Return a number's mean over runs."""
    return statistics.mean(run[name] for run in runs)


def measured_on(machine: dict[str, Any], *versions: dict[str, str]) -> str:
    """Name what the numbers depend on."""
    cpu = f" of {machine['cpu']}" if "cpu" in machine else ""
    numbers = ", ".join(f"{name} {number}" for part in versions for name, number in part.items())
    return f"Measured on {machine['cores']} cores{cpu}, Python {machine['python']}, {numbers}."


def page(data: dict[str, Any], threads: dict[str, Any], peers: dict[str, Any], scores: dict[str, Any]) -> str:
    """Return the whole generated part of a page."""
    results = data["results"]
    tes = next(r for r in results if r["kind"] == "TES")
    parts = []
    for table in (exact_table(data), decision_table(data), search_table(data)):
        parts += [table, ""] if table else []
    return "\n".join(
        [
            speed_table(data),
            "",
            "Batches of 1,024 with other options:",
            "",
            option_table(data),
            "",
            *parts,
            *threads_part(threads),
            *peers_part(peers),
            *score_part(scores),
            f"TES: {tes['pairs'] / tes['median_seconds'] / 1e6:.1f} million history-reference pairs per second.",
            "",
            measured_on(data["machine"], data["versions"]) + " `make bench` measures again.",
        ]
    )


def rewritten(text: str, content: str) -> str:
    """Return a page with the generated part replaced."""
    before, rest = text.split(BEGIN, 1)
    return f"{before}{BEGIN}\n{content}\n{END}{rest.split(END, 1)[1]}"


def main(arguments: list[str]) -> int:
    """Run the command line."""
    check = "--check" in arguments
    for name in arguments:
        if not name.startswith("--"):
            new = condense(json.loads(Path(name).read_text()))
            result = added(json.loads(RESULTS.read_text()), new) if "--add" in arguments else new
            RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    data, threads, peers, scores = (json.loads(path.read_text()) for path in (RESULTS, THREADS, PEERS, SCORES))
    contents = {PAGE: page(data, threads, peers, scores), README: readme_part(peers, scores)}
    stale = [path for path, content in contents.items() if rewritten(path.read_text(), content) != path.read_text()]
    for path in stale:
        print(f"{'stale' if check else 'written'}: {path.relative_to(ROOT)}")
        if not check:
            path.write_text(rewritten(path.read_text(), contents[path]))
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
