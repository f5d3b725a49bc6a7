"""Steps, resets and observations of a batch, for all games: the loops over its environments.

A game writes kernels for one environment, which get rows: ``env`` of its state, ``out`` of its outputs. In a row,
numbers that an environment has one of are copies, so the loops write those of ``out`` themselves.
"""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Any

from collab_overcooked.kernels.jit import kernel, row_at, unpack


@kernel
def write_after_end(env, out):
    """After the end, rewards and events are 0. Mutates: out."""
    out.rewards[:] = 0
    out.events[:, :] = 0


class BatchKernels:
    """Kernels of a batch, made of those of one environment.

    Args:
        is_over: Kernel of ``(tables, env)``: whether the episode is over, so that nothing changes any more.
        step_env: Kernel of ``(tables, env, actions, out)``, actions (N,): plays a step, writes events and rewards, and
            returns whether the episode is terminated and whether it is truncated.
        reset_env: Kernel of ``(tables, env, out, limit)``: starts an episode in arrays with their first values.
        observe_env: Kernel of ``(tables, env, out)``: writes observations, and masks unless ``why_refused`` does.
        why_refused: Kernel of ``(tables, env, seat, action)``: the reason code, 0 if the action would be accepted.
        write_after_end: Kernel of ``(env, out)``: writes rewards and events of 0 after the end.

    Attributes:
        step: Kernel of ``(tables, state, actions, out)``, actions (B, N): advances a batch by one timestep.
        reset: Kernel of ``(tables, state, out, which, limit)``, which (B,): starts the episodes it selects.
        observe: Kernel of ``(tables, state, out)``: writes observations and masks where ``out.fresh``; apart from
            ``step``, for shorter compile times.
        why_refused: The kernel, None for games that judge and mask in ways of their own.
    """

    def __init__(
        self,
        is_over: Any,
        step_env: Any,
        reset_env: Any,
        observe_env: Any,
        *,
        why_refused: Any = None,
        write_after_end: Any = write_after_end,
    ) -> None:
        self.step = _step_loop(is_over, step_env, write_after_end)
        self.reset = _reset_loop(reset_env)
        self.observe = _observe_loop(observe_env if why_refused is None else _with_masks(observe_env, why_refused))
        self.why_refused = why_refused


def _step_loop(is_over: Any, step_env: Any, write_after_end: Any) -> Any:
    def step_batch(tables: Any, state: Any, actions: Any, out: Any) -> None:
        state, out = unpack(state), unpack(out)
        terminated, truncated, fresh = out.terminated, out.truncated, out.fresh
        for b in range(fresh.shape[0]):
            env, row = row_at(state, b), row_at(out, b)
            fresh[b] = not is_over(tables, env)
            if fresh[b]:
                terminated[b], truncated[b] = step_env(tables, env, actions[b], row)
            else:
                write_after_end(env, row)

    return _kernel_like(step_batch, step_env, is_over, write_after_end)


def _reset_loop(reset_env: Any) -> Any:
    def reset_batch(tables: Any, state: Any, out: Any, which: Any, limit: Any) -> None:
        state, out = unpack(state), unpack(out)
        for b in range(which.shape[0]):
            env, row = row_at(state, b), row_at(out, b)
            if which[b]:
                reset_env(tables, env, row, limit)

    return _kernel_like(reset_batch, reset_env)


def _observe_loop(observe_env: Any) -> Any:
    def observe_batch(tables: Any, state: Any, out: Any) -> None:
        state, out = unpack(state), unpack(out)
        fresh = out.fresh
        for b in range(fresh.shape[0]):
            env, row = row_at(state, b), row_at(out, b)
            if fresh[b]:
                observe_env(tables, env, row)

    return _kernel_like(observe_batch, observe_env)


def _with_masks(observe_env: Any, why_refused: Any) -> Any:
    def observe_judged(tables: Any, env: Any, out: Any) -> None:
        observe_env(tables, env, out)
        for seat in range(out.masks.shape[0]):
            for action in range(out.masks.shape[1]):
                out.masks[seat, action] = why_refused(tables, env, seat, action) == 0

    return _kernel_like(observe_judged, observe_env, why_refused)


def _kernel_like(loop: Any, *inner: Any) -> Any:
    """Compile a loop over kernels as if the first kernel's module defined it; the cache key covers all sources."""
    functions = [inspect.unwrap(kernel) for kernel in inner]
    first, code = functions[0], functions[0].__code__
    place = {"co_filename": code.co_filename, "co_firstlineno": code.co_firstlineno}
    moved = FunctionType(loop.__code__.replace(**place), loop.__globals__, loop.__name__, closure=loop.__closure__)
    names = [f"{function.__module__}.{function.__qualname__}" for function in functions]
    moved.__module__, moved.__qualname__ = first.__module__, f"{loop.__name__}({', '.join(names)})"
    return kernel(moved, *functions)
