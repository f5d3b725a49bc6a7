"""The command ``collab-overcooked``.

Heavy modules are imported only by the commands that need them, so that ``--help`` is fast. ``PANELS`` defines how
``--help`` groups the commands.
"""

from cyclopts import Group

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
from collab_overcooked.cli.app import app, commands

PANELS = {
    "Play": ("play", "study"),
    "Train": ("train", "plot", "baselines", "crossplay"),
    "Evaluate": ("evaluate", "compare", "partners", "questions"),
    "Analyse": ("score", "report", "summarize", "significance", "replay", "render", "show-plan", "export"),
    "Author": ("check", "generate", "describe", "list"),
}
for _panel, _names in PANELS.items():
    _group = Group.create_ordered(_panel)
    for _name in _names:
        commands[_name].group = _group

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
