"""The command ``collab-overcooked``.

A command's module is imported when it is used, and heavy modules only by its function, so that ``--help`` is fast.
"""

from cyclopts import Group

from collab_overcooked.cli.app import app, commands

PANELS = {
    "Play": {"play": "play:play_app", "study": "study:study_app"},
    "Train": {name: f"training:{name}" for name in ("train", "plot", "crossplay")},
    "Evaluate": {
        "evaluate": "evaluate:evaluate_app",
        "compare": "compare:compare",
        "partners": "partners:partners_app",
        "questions": "questions:questions_app",
    },
    "Analyse": {
        "score": "score:score_app",
        "report": "score:report_app",
        "summarize": "summarize:summarize",
        "significance": "significance:significance",
        "replay": "episodes:replay",
        "render": "episodes:render",
        "show-plan": "plans:show_plan",
        "export": "export:export",
        "results": "results_file:results_app",
    },
    "Author": {
        "check": "documents:check_app",
        "generate": "documents:generate_app",
        "describe": "inspect:describe",
        "list": "inspect:list_names",
        "new-game": "new_game:new_game",
        "warm": "warm:warm",
    },
}
for _panel, _places in PANELS.items():
    _group = Group.create_ordered(_panel)
    for _name, _place in _places.items():
        _flags = (
            {} if _place.endswith("_app") else {"help_flags": commands.help_flags}
        )  # a function would get the meta app's
        commands.command(f"collab_overcooked.cli.{_place}", name=_name, group=_group, **_flags)

__all__ = ["app"]
