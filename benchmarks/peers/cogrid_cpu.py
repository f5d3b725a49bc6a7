"""Time CoGrid's Overcooked on the CPU; runs in the environment of its own that `run.py` makes, prints one JSON line.

One environment of its numpy backend by the PettingZoo API, and batches of its JAX backend, 100 steps in one compiled
loop that carries the observations. Both write CoGrid's own features of both players; its steps do not reset by
themselves, so batches are timed without resets. JAX may use all cores that the process has.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from cogrid.backend._dispatch import _reset_backend_for_testing as forget_backend  # two backends in one process
from cogrid.envs import registry
from jax_timing import median_rate

LAYOUTS = {  # its names of our layouts
    "cramped_room": "Overcooked-CrampedRoom-V0",
    "counter_circuit": "Overcooked-CounterCircuit-V0",
}
STEPS = 100  # of one timed call
ACTIONS = 7


def make(layout: str, backend: str) -> Any:
    """Return an environment after a reset."""
    forget_backend()
    env = registry.make(LAYOUTS[layout], backend=backend)
    env.reset(seed=0)
    return env


def measure_env(layout: str, seconds: float) -> float:
    """Return the rate of one environment of the numpy backend."""
    env = make(layout, "numpy")
    drawn = np.random.default_rng(0).integers(0, ACTIONS, (STEPS, 2)).tolist()
    joints = [dict(zip(env.possible_agents, joint, strict=True)) for joint in drawn]

    def play() -> None:
        env.reset(seed=0)
        for joint in joints:
            env.step(joint)

    return median_rate(play, STEPS, seconds)


def measure_batch(layout: str, batch: int, seconds: float) -> float:
    """Return the rate of a batch of the JAX backend."""
    env = make(layout, "jax")
    step, reset = env.jax_step, env.jax_reset
    key = jax.random.key(0)
    observations, states, _ = jax.jit(jax.vmap(reset))(jax.random.split(key, batch))
    keys = jax.random.split(key, STEPS * batch).reshape(STEPS, batch)
    drawn = jax.random.randint(key, (2, STEPS, batch), 0, ACTIONS, jnp.int32)

    @jax.jit
    def roll(states: Any, observations: Any) -> Any:
        def body(carry: Any, drawn: Any) -> Any:
            states, _, earned = carry
            keys, first, second = drawn
            observations, states, rewards, *_ = jax.vmap(step)(keys, states, {0: first, 1: second})
            earned += sum(jnp.sum(reward) for reward in jax.tree.leaves(rewards))
            return (states, observations, earned), None

        return jax.lax.scan(body, (states, observations, 0.0), (keys, drawn[0], drawn[1]))[0]

    return median_rate(lambda: roll(states, observations), STEPS * batch, seconds)


def main(layouts: list[str], batches: list[int], seconds: float) -> None:
    """Print all rates."""
    rates = []
    for layout in layouts:
        rates += [
            {"layout": layout, "batch": batch, "how": "compiled loop", "rate": measure_batch(layout, batch, seconds)}
            for batch in batches
        ]
        rates.append({"layout": layout, "batch": 1, "how": "one environment", "rate": measure_env(layout, seconds)})
    print(json.dumps({"versions": {name: version(name) for name in ("cogrid", "jax")}, "rates": rates}))


if __name__ == "__main__":
    options = json.loads(sys.argv[1])
    main(options["layouts"], options["batches"], options["seconds"])
