"""Kinds of batches for ``make_vec``: native arrays, and environments of Gymnasium, SB3 and TorchRL."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from collab_overcooked.envs.api import Game
from collab_overcooked.envs.batch import BatchEnv
from collab_overcooked.envs.gymnasium import VectorEnv
from collab_overcooked.io.checks import near_matches, parse_integer

OPTIONS = {
    "native": ("num_threads", "max_cycles", "state", "partners"),
    "gymnasium": ("num_threads", "max_cycles", "state", "partners", "autoreset_mode", "render_mode"),
    "sb3": ("num_threads", "max_cycles", "state", "partners", "render_mode"),
    "torchrl": ("num_threads", "max_cycles", "state", "partners", "device", "render_mode"),
    "sync": ("max_cycles", "render_mode"),
    "async": ("max_cycles", "render_mode"),
}
"""Options of each kind besides those of the game; the last two are Gymnasium's own vector environments."""
KINDS = ("native", "gymnasium", "sb3", "torchrl")
PARTNERS = "collab_overcooked.evaluation.partner_batch"  # above this layer, loaded when used


def parse_kind(kind: Any, vectorization_mode: Any) -> str:
    """Return the kind of a batch, one of ``OPTIONS``.

    Args:
        kind: Name of the kind, in upper or lower case.
        vectorization_mode: One of Gymnasium's modes or its name.

    Raises:
        ValueError: The kind is unknown, or the mode belongs to another kind.
    """
    chosen = kind.lower() if isinstance(kind, str) else kind
    if not isinstance(chosen, str) or chosen not in KINDS:
        raise ValueError(near_matches("kind", kind, KINDS))
    if vectorization_mode is None:
        return chosen
    mode = _parse_mode(vectorization_mode)
    if chosen in ("sb3", "torchrl"):
        raise ValueError(f"vectorization_mode is for the kind 'gymnasium', not {kind!r}")
    return "gymnasium" if mode == "vector_entry_point" else mode


def _parse_mode(mode: object) -> str:
    from gymnasium.envs.registration import VectorizeMode

    modes = [mode.value for mode in VectorizeMode]
    name = mode.value if isinstance(mode, VectorizeMode) else mode
    if name not in modes:
        raise ValueError(near_matches("vectorization_mode", name, modes))
    return str(name)


def make_wrapped(gym_id: str, num_envs: int, mode: str, options: Mapping[str, Any]) -> Any:
    """Return one of Gymnasium's vector environments over single environments with central control."""
    import gymnasium

    return gymnasium.make_vec(gym_id, parse_integer("num_envs", num_envs, 1), vectorization_mode=mode, **options)


def make_batch(game: Game, num_envs: int, kind: str, options: Mapping[str, Any]) -> Any:
    """Create a batch of a kind returned by ``parse_kind``."""
    wrapper = {name: value for name, value in options.items() if name in ("autoreset_mode", "device", "render_mode")}
    of_batch: dict[str, Any] = {name: value for name, value in options.items() if name not in wrapper}
    maker: Any = BatchEnv
    if of_batch.get("partners") is None:
        of_batch.pop("partners", None)
    else:
        maker = importlib.import_module(PARTNERS).PartnerBatch
    batch = maker(game, num_envs, **of_batch)
    if kind == "native":
        return batch
    if kind == "torchrl":
        return _torchrl_class()(batch, states="state" in options, **wrapper)
    return VectorEnv(batch, **wrapper) if kind == "gymnasium" else _sb3_class()(batch, **wrapper)


def _sb3_class() -> Any:
    try:
        from collab_overcooked.envs.sb3 import SB3VecEnv
    except ImportError as error:
        raise ImportError(
            "this needs Stable-Baselines3; install it with: pip install 'collab-overcooked[rl]'"
        ) from error
    return SB3VecEnv


def _torchrl_class() -> Any:
    try:
        from collab_overcooked.envs.torchrl import TorchRLEnv
    except ImportError as error:
        raise ImportError("this needs TorchRL; install it with: pip install torchrl") from error
    return TorchRLEnv
