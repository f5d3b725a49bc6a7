"""How the programs of peers on JAX time a compiled call; imported from the same folder in their environments."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import jax


def median_rate(call: Callable[[], object], steps: int, seconds: float) -> float:
    """Return environment steps per second of a call that does so many, compiled beforehand."""
    jax.block_until_ready(call())
    rates: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(rates) < 3:
        start = time.perf_counter()
        jax.block_until_ready(call())
        rates.append(steps / (time.perf_counter() - start))
    return statistics.median(rates)
