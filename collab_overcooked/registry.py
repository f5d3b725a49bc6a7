"""The one table of environment ids; PettingZoo's and Gymnasium's registries are filled from it."""

from __future__ import annotations

import difflib
import importlib
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

NAMESPACE = "collab_overcooked"


@dataclass(frozen=True)
class EnvRecord:
    """What is known of an environment without importing it.

    Attributes:
        id: Public id, for example ``"CollabOvercooked-v0"``.
        module: Module in PettingZoo's form, with ``env``, ``raw_env`` and ``parallel_env``.
        game: ``"package.module:class"`` of the compiled game behind it.
        summary: One line for listings.
    """

    id: str
    module: str
    game: str
    summary: str


RECORDS: tuple[EnvRecord, ...] = (
    EnvRecord(
        id="CollabOvercooked-v0",
        module="collab_overcooked.envs.collab_overcooked_v0",
        game="collab_overcooked.envs.collab_overcooked.env:CollabOvercooked",
        summary="Chef and helper share recipe knowledge and utensils unequally; 30 tasks in 6 levels.",
    ),
    EnvRecord(
        id="CuisineWorld-v0",
        module="collab_overcooked.envs.cuisineworld_v0",
        game="collab_overcooked.envs.cuisineworld.env:CuisineWorld",
        summary="Any number of cooks serve a queue of orders before they expire; 33 dishes in 13 levels.",
    ),
)


def near_matches(kind: str, name: object, known: Iterable[str]) -> str:
    """Say that a name is unknown, and which known names come near it.

    Args:
        kind: What the name stands for, for example ``"task"``.
        name: The unknown value.
        known: All allowed names.

    Returns:
        One sentence fit for an error message.
    """
    known = list(known)
    close = difflib.get_close_matches(str(name), known, n=4, cutoff=0.4)
    if close:
        return f"unknown {kind} {name!r}; did you mean {', '.join(close)}?"
    shown = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
    return f"unknown {kind} {name!r}; known: {shown}"


def looks_like(name: object, known: Iterable[str]) -> bool:
    """Tell whether a name is probably a misspelling of a known one."""
    return bool(difflib.get_close_matches(str(name), list(known), n=1, cutoff=0.75))


def registered() -> list[str]:
    """Return the ids of all environments."""
    return [record.id for record in RECORDS]


def find(env_id: str) -> EnvRecord:
    """Return the record of an id, with or without the namespace.

    Raises:
        ValueError: If the id is unknown; the message lists near matches.
    """
    name = env_id.removeprefix(f"{NAMESPACE}/")
    for record in RECORDS:
        if record.id == name:
            return record
    raise ValueError(near_matches("environment id", env_id, registered()))


def game_class(env_id: str) -> Any:
    """Return the class behind an id, not yet compiled."""
    module, _, name = find(env_id).game.partition(":")
    return getattr(importlib.import_module(module), name)


def load_game(env_id: str, **kwargs: Any) -> Any:
    """Compile the game behind an id (a ``collab_overcooked.envs.api.Game``).

    Raises:
        ValueError: For an unknown id, option or option value.
    """
    game = game_class(env_id)
    check_options(kwargs, inspect.signature(game).parameters)
    return game(**kwargs)


def check_options(kwargs: Iterable[str], known: Iterable[str]) -> None:
    """Refuse misspelt options before they become Python's own TypeError, which names no alternative.

    Raises:
        ValueError: Naming the first unknown option and near matches.
    """
    known = list(known)
    for name in kwargs:
        if name not in known:
            raise ValueError(near_matches("option", name, known))


def make(env_id: str, **kwargs: Any) -> Any:
    """Make a PettingZoo ParallelEnv.

    Args:
        env_id: One of ``registered``.
        **kwargs: Options of the environment and of the shell (``render_mode``, ``max_cycles``, ``mask_in``,
            ``text_info``).

    Raises:
        ValueError: For an unknown id, option or option value.
    """
    return importlib.import_module(find(env_id).module).parallel_env(**kwargs)


VEC_OPTIONS = {
    "native": ("num_threads", "max_cycles"),
    "gymnasium": ("num_threads", "max_cycles", "autoreset_mode", "render_mode"),
    "sb3": ("num_threads", "max_cycles", "render_mode"),
}


def make_vec(
    env_id: str, num_envs: int = 1, kind: Literal["native", "gymnasium", "sb3"] = "native", **kwargs: Any
) -> Any:
    """Make a batch of environments that one kernel call steps.

    Args:
        env_id: One of ``registered``.
        num_envs: Number of environments E.
        kind: ``"native"`` for arrays ``[E, A, ...]``, ``"gymnasium"`` or ``"sb3"`` for vector
            environments with the agents flattened into the environment axis (E * A rows).
        **kwargs: Options of the environment, ``num_threads`` and ``max_cycles``; for Gymnasium and SB3
            ``render_mode``, for Gymnasium ``autoreset_mode``.

    Raises:
        ValueError: For an unknown id, kind, option or option value.
    """
    from collab_overcooked.envs import vector

    kinds: dict[str, Any] = {"native": vector.BatchEnv, "gymnasium": vector.VectorEnv, "sb3": vector.sb3_vec_env}
    if kind not in kinds:
        raise ValueError(near_matches("kind", kind, kinds))
    check_options(kwargs, [*inspect.signature(game_class(env_id)).parameters, *VEC_OPTIONS[kind]])
    shell = {name: kwargs.pop(name) for name in VEC_OPTIONS[kind] if name in kwargs}
    return kinds[kind](load_game(env_id, **kwargs), num_envs, **shell)


def register_everywhere() -> None:
    """Register all ids with Gymnasium and, where it has a registry, with PettingZoo."""
    import gymnasium
    import pettingzoo

    for record in RECORDS:
        gym_id = f"{NAMESPACE}/{record.id}"
        if gym_id not in gymnasium.registry:
            gymnasium.register(
                id=gym_id,
                entry_point="collab_overcooked.envs.vector:make_central_control",
                vector_entry_point="collab_overcooked.envs.vector:make_gymnasium_vec",
                kwargs={"env_id": record.id},
            )
        if hasattr(pettingzoo, "register") and gym_id not in pettingzoo.parallel_registry:
            pettingzoo.register("parallel", gym_id, f"{record.module}:parallel_env")
            pettingzoo.register("aec", gym_id, f"{record.module}:env")
