"""Facts on the documentation's pages, made from the code that they describe.

A page says ``<!-- generated: name -->``, what follows up to ``<!-- end -->`` is written by the function of that name
in one of the modules of ``topics``. The prose around it is written by hand.

    python docs/facts.py                # rewrite all pages in place
    python docs/facts.py --check        # exit code 1 if a page is stale
    python docs/facts.py --parity DIR   # replay the recordings in DIR, keep the counts, then rewrite
    python docs/facts.py --cuisineworld # measure the baselines of CuisineWorld, keep the counts, then rewrite
    python docs/facts.py --rush         # measure the baselines of Rush, keep their metrics, then rewrite
    python docs/facts.py --house        # measure the baselines of the household games, in the same way
    python docs/facts.py --plans FOLDER # keep the numbers of benchmarks/plan_study.py in a folder
    python docs/facts.py --craft        # measure the baselines of CraftKitchen, in the same way
    python docs/facts.py --overcooked   # measure the baselines of Overcooked, in the same way
    python docs/facts.py --overcooked-v2 # measure the baselines of OvercookedV2, in the same way
    python docs/facts.py --questions    # let policies answer the built-in questions by playing
    python docs/facts.py --pictures     # draw the pictures of the pages anew (some only: name them)
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from topics import (
    adapters,
    collab_overcooked,
    compare,
    craft,
    cuisineworld,
    cuisineworld_results,
    house,
    language,
    overcooked,
    overcooked_v2,
    package,
    parity,
    partners,
    pictures,
    plans,
    questions,
    rooms,
    rush,
    training,
)
from topics.writing import DOCS

TOPICS = (
    package,
    collab_overcooked,
    parity,
    compare,
    cuisineworld,
    cuisineworld_results,
    house,
    partners,
    plans,
    craft,
    rush,
    rooms,
    training,
    overcooked,
    overcooked_v2,
    language,
    questions,
    adapters,
)
FACTS: dict[str, Callable[[], str]] = {make.__name__: make for topic in TOPICS for make in topic.FACTS}
BLOCK = re.compile(r"(<!-- generated: (?P<name>\w+) -->\n)(?P<body>.*?)(<!-- end -->)", re.DOTALL)
WRITTEN_ELSEWHERE = {"benchmarks"}  # benchmarks/make_tables.py writes these


def pages() -> list[Path]:
    """Return the pages of the repository and all pages of the site."""
    return [DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


def fresh(page: str) -> str:
    """Return a page with its facts written anew.

    Raises:
        ValueError: For a fact that nobody makes.
    """

    def write(match: re.Match[str]) -> str:
        name = match["name"]
        if name in WRITTEN_ELSEWHERE:
            return match[0]
        if name not in FACTS:
            raise ValueError(f"no fact is called {name!r}; known: {', '.join(FACTS)}")
        return f"{match[1]}{made(name)}\n{match[4]}"

    return BLOCK.sub(write, page)


@cache
def made(name: str) -> str:
    """Return a fact, made once."""
    return FACTS[name]()


TASKS: dict[str, Callable[[list[str]], None]] = {
    "--parity": lambda words: parity.measure_parity(Path(*words)),
    "--cuisineworld": lambda _: cuisineworld_results.measure(),
    "--rush": lambda _: rush.measure(),
    "--house": lambda _: house.measure(),
    "--plans": lambda words: plans.keep_results(words),
    "--craft": lambda _: craft.measure(),
    "--overcooked": lambda _: overcooked.measure(),
    "--overcooked-v2": lambda _: overcooked_v2.measure(),
    "--questions": lambda _: questions.measure(),
    "--pictures": pictures.draw,
}
"""What takes time or loads much, and so is done only when asked for."""


def main(arguments: list[str]) -> int:
    """Rewrite the pages, or tell which are stale."""
    task, *words = arguments or ["--check"]
    if task in TASKS:
        TASKS[task](words)
    elif arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    stale = 0
    for path in pages():
        old = path.read_text(encoding="utf-8")
        new = fresh(old)
        if new != old:
            stale += 1
            print(f"{path.relative_to(DOCS.parent)}: {'stale' if '--check' in arguments else 'rewritten'}")
            if "--check" not in arguments:
                path.write_text(new, encoding="utf-8")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
