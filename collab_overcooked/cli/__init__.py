"""The command ``collab-overcooked``. Heavy modules load only when a command needs them, so that help is instant.

Commands are listed in the order in which their modules are imported here.
"""

from collab_overcooked.cli import compare, episodes, evaluate, inspect, layouts, score, training
from collab_overcooked.cli.app import app

__all__ = ["app", "compare", "episodes", "evaluate", "inspect", "layouts", "score", "training"]
