"""The command ``collab-overcooked``.

A command's module is imported when it is used, and heavy modules only by its function, so that ``--help`` is fast.
"""

from cyclopts import Group

from collab_overcooked.cli.app import app, commands

PANELS: dict[str, dict[str, tuple[str, str]]] = {  # place of its function or group, and its line in listings
    "Play": {
        "play": ("play:play_app", "Play a suite's episodes as a person in the browser, beside people or policies."),
        "study": ("study:study_app", "Run a study with people, rehearse it with bots, export its results."),
    },
    "Train": {
        "train": (
            "training:train",
            "Train a policy (needs the extra 'rl'); --set configures the environment, --hyper the training.",
        ),
        "plot": (
            "training:plot",
            "Draw learning curves: one for each method, the mean over its seeds with a bootstrap interval.",
        ),
        "crossplay": (
            "training:crossplay",
            "Pair every policy of a pool with every other in both seats: score matrix, intervals and heat map.",
        ),
    },
    "Evaluate": {
        "evaluate": ("evaluate:evaluate_app", "Evaluate a team on a suite: play, write records, print the table."),
        "compare": (
            "compare:compare",
            "Compare scripted, search, trained and language-model policies, with one report for all games.",
        ),
        "partners": ("partners:partners_app", "Evaluate agents beside partners that they have never met."),
        "questions": ("questions:questions_app", "List questions with proven answers."),
    },
    "Analyse": {
        "score": ("score:score", "Score records, with optional alternative definitions."),
        "report": ("score:report", "Rewrite the tables and the report of a run folder, or of trainings."),
        "significance": (
            "significance:significance",
            "Test whether runs, compared policies or conditions of a study differ: pairs, analysis of variance, Tukey.",
        ),
        "communication": (
            "communication:communication",
            "Play the episodes of a run again, also muted and with other messages, and measure its communication.",
        ),
        "replay": (
            "episodes:replay",
            "Step through an episode in the terminal, or check that records replay to the same events and rewards.",
        ),
        "render": ("episodes:render", "Render an episode as GIF or MP4, or its final state as PNG."),
        "export": (
            "export:export",
            "Export records as a dataset: NumPy arrays, Parquet, Minari, or chats for fine-tuning.",
        ),
    },
    "Author": {
        "check": ("documents:check", "Check files: layouts, levels, maps, scenarios, kitchens, lexicons and studies."),
        "generate": ("documents:generate_app", "Generate new layouts or scenarios of a game."),
        "describe": (
            "inspect:describe",
            "Describe an environment, suite, task (recipe, references), kitchen (picture, seats), level, question, ...",
        ),
        "list": ("inspect:list_names", "List environments, policies, metrics, tasks, layouts and other names."),
        "new-game": (
            "new_game:new_game",
            "Write a small game in one file: it plays, trains and passes the conformance checks, and is there to be "
            "edited.",
        ),
        "warm": ("warm:warm", "Compile the kernels of games in parallel, so that no first step waits for them."),
    },
}
for _panel, _places in PANELS.items():
    _group = Group.create_ordered(_panel)
    for _name, (_place, _summary) in _places.items():
        commands.command(f"collab_overcooked.cli.{_place}", name=_name, group=_group, help=_summary)

__all__ = ["app"]
