"""Speed of stepping, of the PettingZoo wrapper and of the metrics; off by default, run by `make bench`.

Every step uses random legal actions, writes observations and masks, and resets what has ended. Choosing the actions
is not timed.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import collab_overcooked
from collab_overcooked.metrics import trajectory

BATCHES = (1, 64, 1024, 8192)
VARIANTS = {  # options that are timed too, at one batch size
    "CollabOvercooked-v0": ({"action_level": "primitive"}, {"obs": "grid"}, {"kitchen": "shared_floor"}),
    "CuisineWorld-v0": ({"level": "level_9", "agents": 2}, {"level": "level_11", "agents": 4}),
    "CraftKitchen-v0": ({"level": "field", "pace": 1}, {"level": "butchery", "agents": 4}),
    "CollabCapture-v0": ({"sight": "room"}, {"agents": 4}),
    "CollabEscape-v0": ({"sight": "room"}, {"preset": "paper2023"}),
    "KitchenRush-v0": ({"scenario": "hard"}, {"scenario": "hard", "agents": 4, "workers": 3}),
    "AlienRush-v0": ({"scenario": "hard"},),
    "Overcooked-v0": (
        {"layout": "counter_circuit"},
        {"layout": "counter_circuit", "agents": 4},
        {"layout": "locked"},
        {"obs": "features"},
        {"action_level": "medium"},
    ),
    "Housework-v0": ({"action_level": "primitive", "stepping": "tick"}, {"agents": 4, "rooms": 8, "items": 10}),
    "Transport-v0": ({"stepping": "tick"}, {"agents": 4, "rooms": 8}),
}
CASES = [
    pytest.param(env_id, batch, threads, options, id="-".join(map(str, (env_id, batch, threads, *options.values()))))
    for env_id in collab_overcooked.registered()
    for batch in BATCHES
    for options in ({}, *VARIANTS.get(env_id, ()))
    for threads in (1, 2)
    if threads <= batch and (not options or batch == 1024)  # a batch of one cannot be split
]
PLAIN_PYTHON = """
import time, numpy as np, collab_overcooked
env = collab_overcooked.make_vec({env_id!r}, num_envs=1)
_, infos = env.reset(seed=0)
rng, steps, spent = np.random.default_rng(0), 0, 0.0
while steps < 60:
    actions = (rng.random(infos["action_mask"].shape) * infos["action_mask"]).argmax(-1)
    start = time.perf_counter()
    _, _, terminated, truncated, infos = env.step(actions)
    spent += time.perf_counter() - start
    steps += 1
    if (terminated | truncated).any():
        env.reset(which=terminated | truncated)
print(steps / spent)
"""
FIRST_STEP = """
import time
start = time.perf_counter()
import collab_overcooked
env = collab_overcooked.make({env_id!r})
env.reset(seed=0)
env.step(dict.fromkeys(env.agents, 1))
print(time.perf_counter() - start)
"""


def choose(rng: np.random.Generator, masks: np.ndarray) -> np.ndarray:
    return (rng.random(masks.shape, dtype=np.float32) * masks).argmax(-1)


@pytest.mark.parametrize(("env_id", "batch", "threads", "options"), CASES)
def test_batch_step(benchmark, env_id: str, batch: int, threads: int, options: dict) -> None:
    env = collab_overcooked.make_vec(env_id, num_envs=batch, num_threads=threads, **options)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    masks = env.out.masks

    def step(actions: np.ndarray) -> None:
        _, _, terminated, truncated, _ = env.step(actions)
        over = terminated | truncated
        if over.any():
            env.reset(which=over)

    facts = {"env": env_id, "kind": "batch", "batch": batch, "threads": threads, "steps": batch}
    benchmark.extra_info |= facts | options
    rounds = max(30, 20_000 // batch)
    benchmark.pedantic(step, setup=lambda: ((choose(rng, masks),), {}), rounds=rounds, warmup_rounds=20)


@pytest.mark.parametrize("env_id", collab_overcooked.registered())
def test_parallel_env_step(benchmark, env_id: str) -> None:
    env = collab_overcooked.make(env_id)
    state = {"infos": env.reset(seed=0)[1]}
    rng = np.random.default_rng(0)

    def setup() -> tuple:
        masks = np.stack([info["action_mask"] for info in state["infos"].values()])
        return (dict(zip(env.possible_agents, choose(rng, masks).tolist(), strict=True)),), {}

    def step(actions: dict) -> None:
        state["infos"] = env.step(actions)[4]
        if not env.agents:
            state["infos"] = env.reset()[1]

    benchmark.extra_info |= {"env": env_id, "kind": "ParallelEnv", "steps": 1}
    benchmark.pedantic(step, setup=setup, rounds=20_000, warmup_rounds=500)


@pytest.mark.parametrize("env_id", collab_overcooked.registered())
def test_plain_python_step(benchmark, env_id: str) -> None:
    """The same rules without the compiler, in a process of its own: the baseline of the speed table."""
    command = [sys.executable, "-c", PLAIN_PYTHON.format(env_id=env_id)]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    rates = []

    def run() -> None:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        rates.append(float(done.stdout))

    benchmark.pedantic(run, rounds=1)
    benchmark.extra_info |= {"env": env_id, "kind": "plain Python", "steps_per_second": rates[0]}


@pytest.mark.parametrize("env_id", collab_overcooked.registered())
@pytest.mark.parametrize("cache", ("cold", "warm"))
def test_first_step(benchmark, env_id: str, cache: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Import, make, reset and step in a new process, with and without compiled kernels on disk."""
    folder = tmp_path_factory.getbasetemp() / f"kernels-{env_id}"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
    seconds = []

    def run() -> None:
        command = [sys.executable, "-c", FIRST_STEP.format(env_id=env_id)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        seconds.append(float(done.stdout))

    if cache == "warm":
        run()
        seconds.clear()
    benchmark.pedantic(run, rounds=1 if cache == "cold" else 5)
    benchmark.extra_info |= {"env": env_id, "kind": f"first step, {cache} cache", "seconds": min(seconds)}


def test_tes(benchmark) -> None:
    rng = np.random.default_rng(0)
    texts = [f"action_{k}" for k in range(12)]
    histories = [[texts[k] for k in rng.integers(12, size=rng.integers(0, 40))] for _ in range(20_000)]
    references = [[texts[k] for k in rng.integers(12, size=15)] for _ in range(6)]
    encoded = trajectory.encode(histories, references)
    benchmark.extra_info |= {"kind": "TES", "pairs": len(histories) * len(references)}
    benchmark(trajectory.tes_table, *encoded)
