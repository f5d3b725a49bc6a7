"""Find kitchens in which greedy play serves nothing although soup can be served: generated ones with 1 to 3 rooms.

    python benchmarks/stalled_kitchens.py runs/kitchens --seed 5807 --count 200

Every kitchen is a line of `kitchens.jsonl` there: the score of greedy seats and, where it is 0, of planning ones. The
same call goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import collab_overcooked as co
from collab_overcooked.games.overcooked.engine.generate import generate, read_generator_config
from collab_overcooked.games.overcooked.scoring import score_record

ROOMS = (1, 2, 3)


def kitchens(seed: int, count: int) -> Iterator[dict[str, Any]]:
    """Yield all kitchens, those with equal numbers beside each other; players are as many as rooms, at least two."""
    pools = []
    for rooms in ROOMS:
        options = {"seed": seed, "count": count, "rooms": rooms, "agents": max(rooms, 2)}
        pools.append(generate(read_generator_config(options)))
    for number in range(count):
        for rooms, pool in zip(ROOMS, pools, strict=True):
            yield {"seed": seed, "rooms": rooms, "number": number, "layout": pool[number].document.content}


def score(layout: Any, policy: str, steps: int) -> float:
    """Return the score of seats that play one policy."""
    env = co.make("Overcooked-v0", layout=layout, max_cycles=steps)
    return float(score_record(co.play_episode(env, co.make_team([policy] * env.game.n_agents), 0))["score"])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, help="folder of kitchens.jsonl, a line for each kitchen")
    parser.add_argument("--seed", type=int, default=5807, help="seed of the generator")
    parser.add_argument("--count", type=int, default=200, help="kitchens of every number of rooms")
    parser.add_argument("--steps", type=int, default=400, help="length of an episode")
    parser.add_argument(
        "--planner", default="planner:width=300", help="policy that is asked where greedy serves nothing"
    )
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    out = args.out / "kitchens.jsonl"
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()] if out.exists() else []
    known = {(line["seed"], line["rooms"], line["number"]) for line in lines}
    with out.open("a", encoding="utf-8") as file:
        for kitchen in kitchens(args.seed, args.count):
            layout, line = kitchen.pop("layout"), kitchen
            if (line["seed"], line["rooms"], line["number"]) in known:
                continue
            line["greedy"] = score(layout, "greedy", args.steps)
            if line["greedy"] == 0:
                line |= {"planner": score(layout, args.planner, args.steps), "grid": layout["grid"]}
            lines.append(line)
            file.write(json.dumps(line) + "\n")
            file.flush()
    for rooms in ROOMS:
        of_rooms = [line for line in lines if line["rooms"] == rooms]
        stalled = [line for line in of_rooms if line["greedy"] == 0]
        served = sum(line["planner"] > 0 for line in stalled)
        print(
            f"{rooms} rooms: greedy serves nothing in {len(stalled)} of {len(of_rooms)}, planner in {served} of these"
        )


if __name__ == "__main__":
    main()
