"""Measure what the best rule without understanding scores in every setting of comparisons.

    python benchmarks/floors.py FOLDER                       # all games
    python benchmarks/floors.py FOLDER --games rush,craft    # some; floors of the others stay
    python benchmarks/floors.py FOLDER --episodes 12         # of each task instead of those of comparisons

Finished episodes in the folder are not played again. The seed differs from those that comparisons use, so that no
episode of a floor is one that is scored. The result is ``collab_overcooked/reporting/floors.json``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from msgspec import json

from collab_overcooked import __version__, registry
from collab_overcooked.evaluation.compare.leaderboard import GREEDY, Leaderboard, plays_of
from collab_overcooked.evaluation.compare.plan import ComparisonPlan, is_blind
from collab_overcooked.evaluation.compare.run import compare
from collab_overcooked.game_spec import LEGAL
from collab_overcooked.io.files import read_text, write_atomic
from collab_overcooked.io.structs import decode, encode
from collab_overcooked.reporting.floors import RULE_SPECS, STORED, Floor, FloorTable, RuleScore, play_of

SEED = 7_654_321


LEGAL_LISTS = f",shuffled,{LEGAL}"  # after a rule, for lists of legal actions where the game's menu has others too


def rules_of(game: str) -> tuple[str, ...]:
    """Return the specs of all rules for a suite, for lists of legal actions as well if its games list others too."""
    menus = {registry.find(env_id).menu for env_id in registry.first_suites()[game]}
    return RULE_SPECS if menus == {LEGAL} else (*RULE_SPECS, *(f"{spec}{LEGAL_LISTS}" for spec in RULE_SPECS))


def floors_of(plan: ComparisonPlan, board: Leaderboard) -> dict[str, Floor]:
    """Return the best rule of each setting with its score, and that of ``greedy``; the first one of equals."""
    sign = 1 if board.benchmark.lower_is_better else -1
    floors: dict[str, Floor] = {}
    for setting in board.benchmark.settings:
        scores = {line.policy: score for line in board.lines if (score := line.scores.get(setting.name)) is not None}
        blind = [line for line in board.lines if is_blind(line.policy) and line.policy in scores]
        blind.sort(key=lambda line: sign * scores[line.policy].value)
        legal = [line.policy for line in blind if line.policy.endswith(LEGAL_LISTS)]
        lines = [line for line in blind if line.policy not in legal]
        if lines:
            best = RuleScore(lines[0].policy, round(scores[lines[0].policy].value, 4))
            greedy = scores.get(GREEDY)
            plays = tuple(sorted(plays_of(plan.planned(board.game, ["all=random"], setting))))
            floors[setting.name] = Floor(
                best.rule,
                best.score,
                episodes=sum(play_of(record) in plays for record in lines[0].records),
                plays=plays,
                version=__version__,
                greedy=None if greedy is None else round(greedy.value, 4),
                legal=RuleScore(legal[0], round(scores[legal[0]].value, 4)) if legal else None,
            )
    return floors


def main() -> None:
    """Play all rules in the chosen games and store the floors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--games", default=",".join(registry.first_suites()))
    parser.add_argument("--episodes", type=int)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--out", type=Path, default=STORED)
    chosen = parser.parse_args()
    known = decode(read_text(chosen.out), FloorTable).floors if chosen.out.exists() else {}
    floors = {game: dict(of_game) for game, of_game in known.items()}
    for game in chosen.games.split(","):
        out = chosen.folder / game
        played = compare(
            [*rules_of(game), GREEDY],
            [game],
            out,
            seed=SEED,
            crossplay=False,
            workers=chosen.workers,
            episodes=chosen.episodes,
        )
        floors[game] = floors_of(played.plan, played.leaderboards[0])
        table = FloorTable(SEED, dict(sorted(floors.items())))
        write_atomic(chosen.out, json.format(encode(table), indent=1) + b"\n")


if __name__ == "__main__":
    main()
