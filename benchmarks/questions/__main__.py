"""Generate a question set from random scenes, with answers proven by search; deterministic for a seed.

python -m benchmarks.questions --seed 7 --games CollabCapture-v0 --out mine.jsonl
python -m benchmarks.questions   # the built-in set, in minutes
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from benchmarks.questions.generate import GENERATORS, generate
from collab_overcooked.io.checks import parse_integer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="random seed")
    parser.add_argument("--games", nargs="+", choices=list(GENERATORS), help="environment ids; all by default")
    parser.add_argument("--states", type=int, help="states drawn of each layout; by default those of the built-in set")
    parser.add_argument("--out", type=Path, default=Path("questions.jsonl"), help="file to write")
    options = parser.parse_args()
    states = None if options.states is None else parse_integer("states", options.states, 1)
    questions = generate(parse_integer("seed", options.seed, 0), options.games, states)
    questions.write(options.out)
    counts = Counter((item.scene.env_id, item.part) for item in questions.items)
    for (env_id, part), count in counts.items():
        print(f"{env_id}, {part}: {count} items")
    print(f"written: {options.out}, {len(questions.items)} items")


if __name__ == "__main__":
    main()
