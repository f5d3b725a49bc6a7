"""The command ``collab-overcooked``. Heavy modules load only when a command needs them, so that help is instant.

Commands are listed in the order in which their modules are imported here.
"""

from collab_overcooked.cli import playing, scoring, episodes, training, looking, files  # noqa: I001
from collab_overcooked.cli.shell import app

__all__ = ["app", "episodes", "files", "looking", "playing", "scoring", "training"]
