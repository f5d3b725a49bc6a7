"""Kernels that do not compile: the only failure, with place and reason."""

from __future__ import annotations

import sys
import types

import pytest
from testing.planted import relay

from collab_overcooked import registry
from collab_overcooked.kernels.batch_kernels import BatchKernels
from collab_overcooked.testing import ConformanceError, check_game


def helper(x):
    return x


@relay.kernel
def misspelt(tables, env, out):
    """Mutates: env."""
    env.room[relay.Room.SERVD] = 1


@relay.kernel
def replaced(tables, env, out):
    """Mutates: env."""
    env.room = 1


@relay.kernel
def undecorated(tables, env, out):
    """Mutates: env."""
    env.room[0] = helper(1)


@relay.kernel
def two_types(tables, env, out):
    """Mutates: env."""
    x = 1
    if env.room[0] > 3:
        x = (1, 2)
    env.room[0] = x


@relay.kernel
def array_arithmetic(tables, env, out):
    """Mutates: out."""
    out.rewards[:] += 1


@pytest.mark.parametrize(
    ("kernel", "sentence"),
    [
        (
            misspelt,
            r"misspelt does not compile, test_compile_check.py:\d+, `env.room\[relay.Room.SERVD\] = 1`: .*SERVD",
        ),
        (replaced, r"a kernel does not compile: .*\.room = .*; write arrays by index"),
        (undecorated, r"undecorated does not compile, .*'helper'.*; decorate functions that kernels call with @kernel"),
        (two_types, r"two_types does not compile, .*'x.*; give a variable one type"),
        (
            array_arithmetic,
            r"array_arithmetic does not compile, .*check.py:\d+, `out.rewards\[:\] \+= 1`: .*; arithmetic on whole",
        ),
    ],
)
def test_a_kernel_that_does_not_compile_is_the_only_failure(monkeypatch, kernel, sentence):
    module = types.ModuleType("planted")
    batch_kernels = BatchKernels(
        relay.step_env, relay.reset_env, kernel, is_over=relay.is_over, why_refused=relay.why_refused
    )
    module.game = type("Broken", (relay.Relay,), {"id": "Planted-v0", "batch_kernels": batch_kernels})
    monkeypatch.setitem(sys.modules, "planted", module)
    record = registry.GameSpec("Planted-v0", "planted:game", "A broken game.")
    monkeypatch.setattr(registry, "GAMES", [*registry.GAMES, record])
    with pytest.raises(ConformanceError, match=sentence) as caught:
        check_game("Planted-v0", episodes=1)
    assert [result.check for result in caught.value.report.results] == ["kernels"]
