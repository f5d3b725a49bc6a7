"""Question sets by file: the built-in one, JSON lines, or a public table of LLM-Coordination's scenarios.

Users bring the table, which is not in the package. A row has a question of each of three kinds, with the state and
lettered options in its text, and a key of letters.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from collab_overcooked.io.files import read_text
from collab_overcooked.questions.items import (
    FACT,
    LETTERS,
    OWN,
    PAPER,
    PARTNER,
    SHIPPED,
    Item,
    QuestionError,
    QuestionSet,
    Scene,
    read_questions,
)

ENDING = ".csv"
KINDS = {"EC": FACT, "TOM": PARTNER, "JP": OWN}
OPTION = re.compile(r"^[ \t]*([A-Z])\.[ \t]+(\S.*?)[ \t]*$", re.MULTILINE)
OPTIONS_FOLLOW = "Available"  # begins the line above the options


def read_set(path: str | Path | None) -> QuestionSet:
    """Read a question set: the built-in one if the path is None, a table if it ends in ``.csv``."""
    path = SHIPPED if path is None else Path(path)
    return read_table(path) if path.suffix == ENDING else read_questions(path)


def read_table(path: Path) -> QuestionSet:
    """Read a table of questions; rows of unknown games and questions without a key are left out.

    Args:
        path: CSV file with the columns ``X Question`` and ``X Answer Ordinal`` for X of ``KINDS``.

    Raises:
        QuestionError: If a column is missing, a key names no option of its question, or no question is left.
    """
    from collab_overcooked.questions.source import games_with_questions  # compiles

    items: list[Item] = []
    for number, row in enumerate(csv.DictReader(io.StringIO(read_text(path, error=QuestionError), newline=""))):
        try:
            items += _items(f"row{number:03d}", row)
        except KeyError as error:
            raise QuestionError(f"{path}: has no column {error}") from None
        except ValueError as error:
            raise QuestionError(f"{path}, row {number}: {error}") from None
    if not items:
        raise QuestionError(f"{path}: has no question of {', '.join(games_with_questions())}")
    return QuestionSet(0, tuple(items), "authors")


def _items(name: str, row: Mapping[str, str]) -> Iterator[Item]:
    from collab_overcooked.questions.source import games_with_questions, source_of

    for column, kind in KINDS.items():
        text, key = row[f"{column} Question"], row[f"{column} Answer Ordinal"]
        games = [env_id for env_id in games_with_questions() if source_of(env_id).word in text.lower()]
        if not games or not key.strip():
            continue
        options = list(OPTION.finditer(text, max(0, text.rfind(OPTIONS_FOLLOW))))
        letters = "".join(option[1] for option in options)
        chosen = [letter.strip() for letter in key.split(",")]
        if letters != LETTERS[: len(letters)] or not set(chosen) <= set(letters):
            raise ValueError(f"{column}: key {key!r} to the options {', '.join(letters) or 'none'}")
        yield Item(
            id=f"{name}-{kind}",
            scene=Scene(f"{name}-{kind}", games[0], {}, {}, text[: options[0].start()].strip()),
            seat=0,
            kind=kind,
            part=PAPER,
            partner="as the authors assume",
            skills=("annotated",),
            question="",
            choices=tuple(option[2] for option in options),
            correct=tuple(map(letters.index, chosen)),
            margin=None,
            unit="",
            evidence={"method": "annotated by the paper's authors"},
        )
