"""Time JaxMARL's Overcooked and OvercookedV2 on the CPU; runs where `run.py` says, prints one JSON line.

Many steps are one compiled loop, as trainers do it; the observations are part of what the loop carries, so that they
cannot be optimised away. (One compiled call a step was slower at every batch size.) Actions and random keys are drawn
beforehand and not timed; resets at the end of an episode are JaxMARL's own and are. JAX may use all cores that the
process has.
"""

from __future__ import annotations

import json
import sys
import warnings
from importlib.metadata import version

import jax
import jax.numpy as jnp
from jax_timing import median_rate

warnings.simplefilter("ignore")  # JaxMARL advertises its second version

import jaxmarl  # noqa: E402
from jaxmarl.environments.overcooked import overcooked_layouts  # noqa: E402

LAYOUTS = {  # its names of our layouts
    "cramped_room": "cramped_room",
    "asymmetric_advantages": "asymm_advantages",
    "coordination_ring": "coord_ring",
    "forced_coordination": "forced_coord",
    "counter_circuit": "counter_circuit",
}
V2 = {  # layouts of OvercookedV2, with the options of its paper
    "grounded_coord_simple": {
        "agent_view_size": 2,
        "negative_rewards": True,
        "sample_recipe_on_delivery": True,
        "random_agent_positions": True,
    }
}
STEPS = 100  # of one timed call


def measure(layout: str, batch: int, seconds: float) -> float:
    """Return the rate of a batch."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if layout in V2:
            env = jaxmarl.make("overcooked_v2", layout=layout, **V2[layout])
        else:
            env = jaxmarl.make("overcooked", layout=overcooked_layouts[LAYOUTS[layout]])
    key = jax.random.PRNGKey(0)
    observations, states = jax.jit(jax.vmap(env.reset))(jax.random.split(key, batch))
    keys = jax.random.split(key, STEPS * batch).reshape(STEPS, batch, 2)
    drawn = jax.random.randint(key, (2, STEPS, batch), 0, 6, jnp.uint32)
    actions = {"agent_0": drawn[0], "agent_1": drawn[1]}
    step = jax.vmap(env.step)

    @jax.jit
    def roll(states, observations):
        def body(carry, drawn):
            states, _, earned = carry
            now, keys = drawn
            observations, states, rewards, _, infos = step(keys, states, now)
            earned += rewards["agent_0"].sum() + infos["shaped_reward"]["agent_0"].sum()
            return (states, observations, earned), None

        return jax.lax.scan(body, (states, observations, 0.0), (actions, keys))[0]

    return median_rate(lambda: roll(states, observations), STEPS * batch, seconds)


def main(layouts: list[str], batches: list[int], seconds: float) -> None:
    """Print all rates."""
    rates = [
        {"layout": layout, "batch": batch, "how": "compiled loop", "rate": measure(layout, batch, seconds)}
        for layout in layouts
        for batch in batches
    ]
    print(json.dumps({"versions": {name: version(name) for name in ("jaxmarl", "jax", "jaxlib")}, "rates": rates}))


if __name__ == "__main__":
    options = json.loads(sys.argv[1])
    main(options["layouts"], options["batches"], options["seconds"])
