"""The command ``collab-overcooked``. Heavy modules load only when a command needs them, so that help is instant.

Help groups the commands as ``PANELS`` says.
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
    "Analyse": ("score", "report", "sheet", "test", "replay", "render", "show-plan", "plan-study"),
    "Author": ("check", "generate", "describe", "list", "graph"),
}
_panels = {name: panel for panel, names in PANELS.items() for name in names}
for _entry in (*app.registered_commands, *app.registered_groups):
    _callback = getattr(_entry, "callback", None)
    _entry.rich_help_panel = _panels[_entry.name or _callback.__name__.replace("_", "-")]

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
