"""Steps, resets and observations of a batch, for all games: the loops over its environments.

A game writes kernels for one environment, which get rows: ``env`` of its state, ``out`` of its outputs. In a row,
numbers that an environment has one of are copies, so the loops write those of ``out`` themselves.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from enum import EnumType
from types import FunctionType
from typing import Any

from collab_overcooked.kernels.jit import compiled_form, define, kernel, row_at, unpack

SHOWN = ("observations", "masks", "terminated", "truncated", "fresh")  # outputs that stay after the end


def is_over(tables: Any, env: Any) -> bool:
    """Return whether an episode is over: the state's column OVER is not 0."""
    name, column = _over_column(type(env))
    return bool(getattr(env, name)[column] != 0)


@compiled_form(is_over)
def _compiled_is_over(tables: Any, env: Any) -> Any:
    name, column = _over_column(getattr(env, "arrays", env).instance_class)
    return define(f"def read(tables: Any, env: Any): return env.{name}[{column}] != 0")


def _over_column(state: Any) -> tuple[str, int]:
    for name, (axes, *_) in state._field_defaults.items():
        if len(axes) == 1 and isinstance(axes[0], EnumType) and "OVER" in axes[0].__members__:
            return name, int(axes[0]["OVER"])
    raise TypeError(f"{state.__qualname__} has no column OVER; give is_over to BatchKernels")


def write_after_end(env: Any, out: Any) -> None:
    """Write what a step gives after the end: the declared ``fill`` of every output that is not shown."""
    for name, column, value in _fills(type(out)):
        getattr(out, name)[..., column:] = value


@compiled_form(write_after_end)
def _compiled_write_after_end(env: Any, out: Any) -> Any:
    types = dict(zip(out.fields, out.types, strict=True))
    lines = ["def write(env: Any, out: Any):"]
    for name, column, value in _fills(out.instance_class):
        places = ":, " * (types[name].ndim - 1) + f"{column}:"
        lines.append(f"    out.{name}[{places}] = {value}")
    return define("\n".join(lines))


def _fills(out: Any) -> list[tuple[str, int, int]]:
    fills = []
    for name, (_, _, fill) in out._field_defaults.items():
        if name not in SHOWN and fill is not None:
            columns = fill if isinstance(fill, Mapping) else {0: fill}
            fills += [(name, int(column), int(value)) for column, value in columns.items()]
    return fills


class BatchKernels:
    """Kernels of a batch, made of those of one environment.

    Each kernel has those of the named parameters that it reads, in any order.

    Args:
        step_env: Kernel of ``(tables, env, actions, out)``, actions (N,): plays a step, writes events and rewards, and
            returns whether the episode is terminated and whether it is truncated.
        reset_env: Kernel of ``(tables, env, out, limit)``: starts an episode in arrays with their first values.
        observe_env: Kernel of ``(tables, env, out)``: writes observations, and masks unless ``why_refused`` does.
        why_refused: Kernel of ``(tables, env, seat, action)``: the reason code, 0 if the action would be accepted.
        is_over: Kernel of ``(tables, env)``: whether the episode is over, so that nothing changes any more; by
            default whether the column ``OVER`` of the state is set.
        write_after_end: Kernel of ``(env, out)``: writes that nothing happens after the end; by default the ``fill``
            that each output declares.

    Attributes:
        step: Kernel of ``(tables, state, actions, out)``, actions (B, N): advances a batch by one timestep.
        reset: Kernel of ``(tables, state, out, which, limit)``, which (B,): starts the episodes it selects.
        observe: Kernel of ``(tables, state, out)``: writes observations and masks where ``out.fresh``; apart from
            ``step``, for shorter compile times.
        why_refused: The kernel, None for games that judge and mask in ways of their own.
    """

    def __init__(
        self,
        step_env: Any,
        reset_env: Any,
        observe_env: Any,
        *,
        why_refused: Any = None,
        is_over: Any = is_over,
        write_after_end: Any = write_after_end,
    ) -> None:
        step_env = _with_parameters(step_env, "tables", "env", "actions", "out")
        is_over = _with_parameters(is_over, "tables", "env")
        write_after_end = _with_parameters(write_after_end, "env", "out")
        observe_env = _with_parameters(observe_env, "tables", "env", "out")
        self.why_refused = None
        if why_refused is not None:
            self.why_refused = _with_parameters(why_refused, "tables", "env", "seat", "action")
            observe_env = _with_masks(observe_env, self.why_refused)
        self.step = _step_loop(is_over, step_env, write_after_end)
        self.reset = _reset_loop(_with_parameters(reset_env, "tables", "env", "out", "limit"))
        self.observe = _observe_loop(observe_env)


def _with_parameters(function: Any, *names: str) -> Any:
    """Return a kernel with these parameters, which passes on those that the function has."""
    original = inspect.unwrap(function)
    own = list(inspect.signature(original).parameters)
    if own == list(names):
        return function
    if not set(own) <= set(names):
        raise TypeError(f"{original.__qualname__}: parameters of this kernel are {', '.join(names)}, not {own}")
    source = f"def passing({', '.join(names)}): return function({', '.join(own)})"
    return _kernel_like(define(source, function=function), function)


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
    moved.__module__ = first.__module__
    moved.__qualname__ = f"{loop.__name__}({', '.join(names)})"
    return kernel(moved, *functions)
