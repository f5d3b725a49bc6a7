"""Facts on the built-in question set."""

from __future__ import annotations

from collections.abc import Callable

from collab_overcooked.questions.balance import BASELINES, baselines
from collab_overcooked.questions.items import GENERATED, KINDS, PARTS, read_questions
from collab_overcooked.questions.scoring import cards

from .writing import code, played, read_json, table, write_json

RESULT_FILE = "questions.json"
POLICIES = ("random", "greedy", "planner")
COLUMNS = ("n", "Accuracy", "Chance", "Above chance", "No choice")
GAMES = ("Overcooked-v0", "CollabCapture-v0", "CollabEscape-v0")


def question_set() -> str:
    """Return counts, choices and chance of the built-in items."""
    items = read_questions().items
    rows = []
    for game in dict.fromkeys(item.scene.env_id for item in items):
        for part in PARTS:
            group = [item for item in items if (item.scene.env_id, item.part) == (game, part)]
            counts = [sum(item.kind == kind for item in group) for kind in KINDS]
            choices = sum(len(item.choices) for item in group) / len(group)
            chance = sum(item.random_accuracy for item in group) / len(group)
            rows.append((code(game), part, *counts, f"{choices:.1f}", f"{chance:.2f}".lstrip("0")))
    heads = ("game", "part", *KINDS, "choices", "chance")
    return table(heads, rows, range(2, len(heads)))


def question_baselines() -> str:
    """Return the accuracies of answers without the state, by game and kind, of the generated part."""
    items = [item for item in read_questions().items if item.part == GENERATED]
    rows = []
    for game in dict.fromkeys(item.scene.env_id for item in items):
        for kind in KINDS:
            group = [item for item in items if (item.scene.env_id, item.kind) == (game, kind)]
            blind = baselines([(item.choices, item.correct) for item in group])
            rows.append((code(game), kind, len(group), *(f"{100 * share:.0f}" for share in blind.values())))
    heads = ("game", "kind", "items", *BASELINES)
    return table(heads, rows, range(2, len(heads)))


def question_accuracies() -> str:
    """Show how policies that answer by playing do on the built-in items."""
    kept = read_json(RESULT_FILE)
    rows = [(code(row["game"]), code(row["policy"]), *(row[name] for name in COLUMNS)) for row in kept["results"]]
    heads = ("game", "policy", *(name.lower() for name in COLUMNS))
    return f"Set `{kept['set']}`, version {kept['version']}.\n\n" + table(heads, rows, range(2, len(heads)))


def measure() -> None:
    """Let policies answer all built-in items that can be answered by playing, and keep their accuracies."""
    results = []
    for game in GAMES:
        for policy in POLICIES:
            (card,) = cards(played("questions", policy, games=game, answers="play"))
            assert card.data is not None
            cells = {}
            for column, cell in zip(card.data.columns, card.data.rows[0], strict=True):
                value, interval = column.text(cell)
                cells[column.name] = f"{value} ({interval})" if interval else value
            results.append({"game": game, "policy": policy} | {name: cells[name] for name in COLUMNS})
    name = read_questions().name
    write_json(RESULT_FILE, {"set": name, "results": results})


FACTS: tuple[Callable[[], str], ...] = (question_set, question_baselines, question_accuracies)
