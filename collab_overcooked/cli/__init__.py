"""The command ``collab-overcooked``.

Heavy modules are imported only by the commands that need them, so that ``--help`` is fast. ``PANELS`` defines how
``--help`` groups the commands.
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

PANELS = {
    "Play": ("play", "study"),
    "Train": ("train", "baselines", "crossplay"),
    "Evaluate": ("evaluate", "compare", "questions"),
    "Analyse": ("score", "report", "sheet", "test", "replay", "render", "show-plan"),
    "Author": ("check", "generate", "describe", "list", "graph"),
}
_panels = {name: panel for panel, names in PANELS.items() for name in names}
for _command in app.registered_commands:
    _command.rich_help_panel = _panels[_command.name or getattr(_command.callback, "__name__", "").replace("_", "-")]
for _group in app.registered_groups:
    _group.rich_help_panel = _panels[str(_group.name)]

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
