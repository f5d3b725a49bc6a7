"""Cooperative multi-agent kitchens: one package for training agents and for evaluating language agents.

Importing the package registers ids (strings) only; it compiles nothing and imports neither numba nor torch. The names
of ``__all__`` are public and are imported when they are used; everything else may move between versions.
``__init__.pyi`` tells type checkers what they are.
"""

from __future__ import annotations

import importlib
from typing import Any

from collab_overcooked import registry as _registry
from collab_overcooked.game_record import GameRecord
from collab_overcooked.registry import make, make_vec, register_game, registered

__version__ = "0.1.0"
__all__ = [
    "Decision",
    "GameRecord",
    "Message",
    "Policy",
    "Seen",
    "__version__",
    "check_game",
    "compare",
    "cross_play",
    "evaluate",
    "export_policy",
    "make",
    "make_policy",
    "make_team",
    "make_vec",
    "play_episode",
    "register_game",
    "register_metric",
    "register_policy",
    "registered",
]

_LAZY = {
    "Decision": "policies.api",
    "Message": "policies.api",
    "Policy": "policies.api",
    "Seen": "policies.api",
    "check_game": "testing",
    "compare": "evaluation.compare.run",
    "cross_play": "evaluation.crossplay",
    "evaluate": "evaluation.run",
    "export_policy": "policies.export",
    "make_policy": "policies.registry",
    "make_team": "runner.teams",
    "play_episode": "runner.episode",
    "register_everywhere": "registry",  # not public any more; old imports go on working
    "register_metric": "metrics.registry",
    "register_policy": "policies.registry",
}
"""Modules of the names that are imported when they are used."""


def __getattr__(name: str) -> Any:
    """Import a public name."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)


def __dir__() -> list[str]:
    return __all__


_registry.register_everywhere()
