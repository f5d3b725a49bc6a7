"""Command ``python -m parity.question_keys FILE``: answer keys of the public question set that no answer can match.

FILE is ``src/reasoning_evals/data/single_turn_trials.csv`` of LLM-Coordination's repository. Its graders take the
letters between the commas of a key as they stand.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

KINDS = ("EC", "TOM", "JP")
OPTION = re.compile(r"^\s*([A-Z])\.\s", re.MULTILINE)


def key_errors(path: Path) -> Iterator[str]:
    """Yield a line for every damaged key or list of options; rows are counted from 0.

    Raises:
        ValueError: If the file is no such table.
    """
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row, values in enumerate(rows):
        for kind in KINDS:
            try:
                question, key = values[f"{kind} Question"], values[f"{kind} Answer Ordinal"]
            except KeyError as error:
                raise ValueError(f"{path}: has no column {error}") from None
            letters = Counter(OPTION.findall(question[question.rfind("Available") :]))
            twice = [letter for letter, count in letters.items() if count > 1]
            if twice:
                yield f"row {row}, {kind}: letters stand there twice: {', '.join(twice)}"
            for part in key.split(","):
                if part not in letters:
                    yield f"row {row}, {kind}: key {part!r} is none of {', '.join(letters)}"


def main(arguments: list[str]) -> int:
    """Print all of them, and how many there are."""
    if len(arguments) != 1:
        print("usage: python -m parity.question_keys FILE", file=sys.stderr)
        return 2
    try:
        found = list(key_errors(Path(arguments[0])))
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join([*found, f"{len(found)} found"]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
