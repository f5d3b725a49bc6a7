"""Kinds of batches for ``make_vec``: native arrays, Gymnasium's and SB3's vector environments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collab_overcooked.envs.api import Game
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.envs.gymnasium import VectorEnv
from collab_overcooked.io.checks import near_matches, parse_integer

OPTIONS = {
    "native": ("num_threads", "max_cycles", "state"),
    "gymnasium": ("num_threads", "max_cycles", "state", "autoreset_mode", "render_mode"),
    "sb3": ("num_threads", "max_cycles", "state", "render_mode"),
    "sync": ("max_cycles", "render_mode"),
    "async": ("max_cycles", "render_mode"),
}
"""Options of each kind besides those of the game; the last two are Gymnasium's own vector environments."""
KINDS = ("native", "gymnasium", "sb3")


def parse_kind(kind: Any, vectorization_mode: Any) -> str:
    """Return the kind of a batch, one of ``OPTIONS``.

    Args:
        kind: Name of the kind, in upper or lower case.
        vectorization_mode: One of Gymnasium's modes or its name.
    """
    chosen = kind.lower() if isinstance(kind, str) else kind
    if not isinstance(chosen, str) or chosen not in KINDS:
        raise ValueError(near_matches("kind", kind, KINDS))
    if vectorization_mode is None:
        return chosen
    mode = _parse_mode(vectorization_mode)
    if chosen == "sb3":
        raise ValueError(f"vectorization_mode is for the kind 'gymnasium', not {kind!r}")
    return "gymnasium" if mode == "vector_entry_point" else mode


def _parse_mode(mode: Any) -> str:
    from gymnasium.envs.registration import VectorizeMode

    modes = [mode.value for mode in VectorizeMode]
    name = getattr(mode, "value", mode)
    if name not in modes:
        raise ValueError(near_matches("vectorization_mode", name, modes))
    return str(name)


def make_wrapped(gym_id: str, num_envs: int, mode: str, options: Mapping[str, Any]) -> Any:
    """Return one of Gymnasium's vector environments over single environments with central control."""
    import gymnasium

    return gymnasium.make_vec(gym_id, parse_integer("num_envs", num_envs, 1), vectorization_mode=mode, **options)


def make_batch(game: Game, num_envs: int, kind: str, options: Mapping[str, Any]) -> Any:
    """Create a batch of a kind returned by ``parse_kind``."""
    makers: dict[str, Any] = {"native": BatchEnv, "gymnasium": VectorEnv, "sb3": _make_sb3_vec_env}
    return makers[kind](game, num_envs, **options)


def _make_sb3_vec_env(
    game: Any,
    num_envs: int,
    num_threads: int | None = None,
    render_mode: str | None = None,
    max_cycles: int | None = None,
    state: str = "global",
) -> Any:
    try:
        from collab_overcooked.envs.sb3 import SB3VecEnv
    except ImportError as error:
        raise ImportError(
            "this needs Stable-Baselines3; install it with: pip install 'collab-overcooked[rl]'"
        ) from error
    return SB3VecEnv(BatchEnv(game, num_envs, num_threads, max_cycles, state), render_mode)
