"""Cooperative multi-agent kitchens: one package for training agents and for evaluating language agents.

Importing the package registers ids (strings) only, with Gymnasium and PettingZoo once these are imported; it compiles
nothing and imports neither numba nor torch. The names of ``__all__`` are public and are imported when they are used;
everything else may move between versions.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from collab_overcooked import registry as _registry
from collab_overcooked.game_spec import GameSpec
from collab_overcooked.registry import make, make_vec, register_game, registered

if TYPE_CHECKING:
    from collab_overcooked.evaluation.compare.run import compare
    from collab_overcooked.evaluation.crossplay import cross_play
    from collab_overcooked.evaluation.run import evaluate
    from collab_overcooked.metrics.registry import register_metric
    from collab_overcooked.policies.api import AgentView, Decision, Message, Policy
    from collab_overcooked.policies.export import export_policy
    from collab_overcooked.policies.registry import register_policy
    from collab_overcooked.policies.specs import make_policy
    from collab_overcooked.reporting.frame import frame
    from collab_overcooked.runner.episode import play_episode
    from collab_overcooked.runner.teams import make_team
    from collab_overcooked.testing import check_game

__version__ = "1.1.0"
__all__ = [
    "AgentView",
    "Decision",
    "GameSpec",
    "Message",
    "Policy",
    "__version__",
    "check_game",
    "compare",
    "cross_play",
    "evaluate",
    "export_policy",
    "frame",
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
    "AgentView": "policies.api",
    "check_game": "testing",
    "compare": "evaluation.compare.run",
    "cross_play": "evaluation.crossplay",
    "evaluate": "evaluation.run",
    "export_policy": "policies.export",
    "frame": "reporting.frame",
    "make_policy": "policies.specs",
    "make_team": "runner.teams",
    "play_episode": "runner.episode",
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
