"""The command ``collab-overcooked``. Heavy modules load only when a command needs them, so that help is instant.

Commands are listed in the order in which their modules are imported here.
"""

from collab_overcooked.cli import (
    compare,
    documents,
    episodes,
    evaluate,
    inspect,
    plans,
    play,
    questions,
    score,
    sheet,
    significance,
    study,
    training,
)
from collab_overcooked.cli.app import app

__all__ = [
    "app",
    "compare",
    "documents",
    "episodes",
    "evaluate",
    "inspect",
    "plans",
    "play",
    "questions",
    "score",
    "sheet",
    "significance",
    "study",
    "training",
]
