"""Time the numpy-2 fork of overcooked_ai; runs in the environment of its own that `run.py` makes, prints one JSON line.

Its core environment and the lossless encoding for both players are timed, the fastest public way to what our step
returns; the package's Gymnasium and marlenv classes do the same and more. Actions are drawn beforehand and not timed,
resets are.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import statistics
import sys
import time
from importlib.metadata import version

with contextlib.redirect_stdout(io.StringIO()):  # pygame greets
    from overcooked.mdp.actions import Action
    from overcooked.mdp.overcooked_env import OvercookedEnv
    from overcooked.mdp.overcooked_mdp import OvercookedGridworld

LAYOUTS = {"counter_circuit": "counter_circuit_o_1order"}  # its names of our layouts, where they differ
STEPS = 400  # of one timed round: an episode


def measure(layout: str, seconds: float) -> float:
    """Return the median rate over episodes."""
    mdp = OvercookedGridworld.from_layout_name(LAYOUTS.get(layout, layout), old_dynamics=True)
    env = OvercookedEnv.from_mdp(mdp, horizon=STEPS, info_level=0)
    choice = random.Random(0)
    rates: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(rates) < 3:
        actions = [tuple(choice.choices(Action.ALL_ACTIONS, k=2)) for _ in range(STEPS)]
        start = time.perf_counter()
        env.reset()
        for joint in actions:
            state, _, _, _ = env.step(joint)
            mdp.lossless_state_encoding(state)
        rates.append(STEPS / (time.perf_counter() - start))
    return statistics.median(rates)


def main(layouts: list[str], seconds: float) -> None:
    """Print all rates."""
    rates = [
        {"layout": layout, "batch": 1, "how": "step and encode", "rate": measure(layout, seconds)} for layout in layouts
    ]
    print(json.dumps({"versions": {name: version(name) for name in ("overcooked", "numpy")}, "rates": rates}))


if __name__ == "__main__":
    options = json.loads(sys.argv[1])
    main(options["layouts"], options["seconds"])
