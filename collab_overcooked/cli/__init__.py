"""The command ``collab-overcooked``.

Heavy modules are imported only by the commands that need them, so that ``--help`` is fast. ``PANELS`` defines how
``--help`` groups the commands.
"""

from collab_overcooked.cli import (
    compare,
    documents,
    episodes,
    evaluate,
    export,
    inspect,
    partners,
    plans,
    play,
    questions,
    score,
    significance,
    study,
    summarize,
    training,
)
from collab_overcooked.cli.app import app

PANELS = {
    "Play": ("play", "study"),
    "Train": ("train", "plot", "baselines", "crossplay"),
    "Evaluate": ("evaluate", "compare", "partners", "questions"),
    "Analyse": ("score", "report", "summarize", "significance", "replay", "render", "show-plan", "export"),
    "Author": ("check", "generate", "describe", "list"),
}
_panels = {name: panel for panel, names in PANELS.items() for name in names}
for _command in app.registered_commands:
    _name = _command.name or getattr(_command.callback, "__name__", "").replace("_", "-")
    _command.rich_help_panel = _panels[_name]
for _group in app.registered_groups:
    _group.rich_help_panel = _panels[str(_group.name)]

__all__ = [
    "app",
    "compare",
    "documents",
    "episodes",
    "evaluate",
    "export",
    "inspect",
    "partners",
    "plans",
    "play",
    "questions",
    "score",
    "significance",
    "study",
    "summarize",
    "training",
]
