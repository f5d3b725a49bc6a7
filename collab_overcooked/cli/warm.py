"""Command ``warm``: compile the kernels of games ahead of their use."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from collab_overcooked import registry
from collab_overcooked.cli.app import OUT, say


def warm(*games: Annotated[str, Parameter(help="Environment ids. Default: all.")]) -> None:
    """Compile the kernels of games in parallel, so that no first step waits for them."""
    from collab_overcooked.io.processes import available_cores
    from collab_overcooked.runner.workers import Workers, open_pool, terminating

    ids = games or tuple(registry.registered())
    for name in ids:
        registry.find(name)  # refuses unknown ones before any process starts
    workers = min(available_cores(), len(ids))
    say(f"compiling {len(ids)} games in {workers} processes")
    with terminating(open_pool(Workers(workers), workers)) as pool:
        for name, seconds in zip(ids, pool.map(compile_kernels, ids), strict=True):
            OUT.print(f"{name}: {f'{seconds:.1f} s' if seconds else 'compiled already'}")


def compile_kernels(env_id: str) -> float:
    """Take a step in an environment and return the processor time of compiling, in seconds."""
    from collab_overcooked.kernels.jit import compile_seconds

    env = registry.make(env_id)
    env.reset(seed=0)
    env.step(dict.fromkeys(env.agents, 0))
    return compile_seconds()
