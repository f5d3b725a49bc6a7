"""Measure what the best rule without understanding scores in every setting of comparisons.

    python benchmarks/floors.py FOLDER                       # all games
    python benchmarks/floors.py FOLDER --games rush,craft    # some; floors of the others stay

Finished episodes in the folder are not played again. The seed differs from those that comparisons use, so that no
episode of a floor is one that is scored. The result is ``collab_overcooked/reporting/floors.json``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from msgspec import json

from collab_overcooked import __version__, registry
from collab_overcooked.evaluation.compare.leaderboard import Leaderboard, plays_of
from collab_overcooked.evaluation.compare.plan import ComparisonPlan
from collab_overcooked.evaluation.compare.run import compare
from collab_overcooked.io.files import write_atomic
from collab_overcooked.io.structs import encode
from collab_overcooked.reporting.floors import RULE_SPECS, STORED, Floor, FloorTable, play_of, stored_floors

SEED = 7_654_321


def floors_of(plan: ComparisonPlan, board: Leaderboard) -> dict[str, Floor]:
    """Return the best rule of each setting with its score; the first one of equals."""
    sign = 1 if board.benchmark.lower_is_better else -1
    floors: dict[str, Floor] = {}
    for setting in board.benchmark.settings:
        known = [
            (sign * score.value, line) for line in board.lines if (score := line.scores.get(setting.name)) is not None
        ]
        if known:
            least, line = min(known, key=lambda entry: entry[0])
            plays = tuple(sorted(plays_of(plan.planned(board.game, ["all=random"], setting))))
            count = sum(play_of(record) in plays for record in line.records)
            floors[setting.name] = Floor(line.policy, round(sign * least, 4), count, plays)
    return floors


def main() -> None:
    """Play all rules in the chosen games and store the floors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--games", default=",".join(registry.first_suites()))
    parser.add_argument("--workers", type=int)
    parser.add_argument("--out", type=Path, default=STORED)
    chosen = parser.parse_args()
    floors = {game: dict(known) for game, known in stored_floors().floors.items()} if STORED.exists() else {}
    for game in chosen.games.split(","):
        out = chosen.folder / game
        played = compare(RULE_SPECS, [game], out, seed=SEED, crossplay=False, workers=chosen.workers)
        floors[game] = floors_of(played.plan, played.leaderboards[0])
        table = FloorTable(__version__, SEED, dict(sorted(floors.items())))
        write_atomic(chosen.out, json.format(encode(table), indent=1) + b"\n")


if __name__ == "__main__":
    main()
