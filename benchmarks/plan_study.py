"""Compare ways to search joint plans on the same seeded scenes of every game with sub-plans, without language models.

    python benchmarks/plan_study.py FOLDER --scenes 30 --seed 4242              # all ways, kept in FOLDER/results.json
    python benchmarks/plan_study.py FOLDER --ablations                          # parts of cots, FOLDER/ablations.json
    python benchmarks/plan_study.py FOLDER --game Housework-v0 --scenes 198     # one game; the others in the file stay

Finished episodes in the folder are not played again; games and ways that the file has stay in it, and ``--way`` plays
some ways only, so that a study of many scenes can be played part by part. ``python docs/facts.py --plans FOLDER`` puts
the numbers on the documentation's pages.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from collab_overcooked import __version__, registry
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.io.checks import near_matches, parse_integer
from collab_overcooked.metrics.intervals import Estimate, mean_ci
from collab_overcooked.metrics.paired import paired_difference
from collab_overcooked.metrics.registry import measure
from collab_overcooked.policies.search.subplans import SubplanStudy
from collab_overcooked.reporting.plan_trees import all_updates
from collab_overcooked.reporting.result_table import Column, ResultTable, estimate_json
from collab_overcooked.runner.env_variants import variant_of
from collab_overcooked.runner.episode import Limits, episode_seed
from collab_overcooked.runner.match import Match, MatchPlan

SCENES = 30
BOUND = "planner"
WAYS = ("cots", "cots:mode=dfs", "cots:mode=talk", "cots:mode=cot", "greedy", BOUND)
ABLATIONS = (
    "cots:reward=0",
    "cots:update=0",
    "cots:n=1",
    "cots:n=2",
    "cots:n=4",
    "cots:keep=2",
    "cots:keep=4",
    "cots:profile=released",
    "cots:stop=0.9",
    "cots:fallback=root",
)
FIRST = WAYS[0]  # what all others are compared with
MAX_NAMED = 6  # values of an option that scenes differ in
COSTS = ("looks", "searches", "plans", "calls", "characters", "depth")


def studied(game: str) -> SubplanStudy:
    """Return what a game's teams are compared in.

    Raises:
        ValueError: If it offers no sub-plans.
    """
    result: SubplanStudy = registry.load_entry(registry.find(game).subplans).study[game]
    return result


def studied_games() -> list[str]:
    """Return the ids of the games that offer sub-plans."""
    return [record.id for record in registry.games() if record.subplans]


# ------------------------------------------------------------------------------------------- playing


def study_plan(env_id: str, spec: str, scenes: int, seed: int, options: Mapping[str, Any]) -> MatchPlan:
    """Return seeded scenes of one game for one policy in all seats.

    Args:
        env_id: Registered id.
        spec: Policy of all seats.
        scenes: How many, spread evenly over those of the game.
        seed: Of the scenes.
        options: Further options of the environment.
    """
    study = studied(env_id)
    kinds, needed = study.scenes, study.bound if spec == BOUND else {}
    matches = []
    for number in range(scenes):
        name, entry = kinds[number % len(kinds)]
        kwargs, episode = {**entry, **options, **needed}, number // len(kinds)
        team = (spec,) * registry.load_game(env_id, **kwargs).n_agents
        matches.append(
            Match(
                env_id=env_id,
                env_kwargs=kwargs,
                team=team,
                task=name,
                first=episode,
                seed=episode_seed(seed, name, episode),
            )
        )
    suite = next(iter(registry.find(env_id).suites))
    played, first = tuple(matches), tuple(matches[: len(kinds)])
    return MatchPlan(suite=suite, seed=seed, options=options, limits=Limits(), templates=first, matches=played)


def run_study(
    folder: Path,
    games: Sequence[str] = (),
    ways: Sequence[str] = WAYS,
    scenes: int = SCENES,
    seed: int = 0,
    workers: int = 1,
    options: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Play what is missing and return all numbers, fit for JSON.

    Args:
        folder: Of the runs; finished episodes in it are kept.
        games: Ids; all that offer sub-plans if empty.
        ways: Policies; the first one is what the others are compared with.
        scenes: Of each game.
        seed: Of the scenes.
        workers: Processes.
        options: Further options of the environments.
        progress: Called with a line after each run.

    Raises:
        ValueError: For an unknown game, or one without sub-plans.
    """
    parse_integer("scenes", scenes, 1)
    parse_integer("seed", seed, 0)
    for game in games:
        if game not in studied_games():
            raise ValueError(near_matches("game with sub-plans", game, studied_games()))
    results: dict[str, Any] = {}
    for game in games or studied_games():
        records = {}
        for way in ways:
            if way == BOUND and BOUND not in registry.find(game).policies:
                continue
            plan = study_plan(game, way, scenes, seed, options or {})
            out = folder / game / way.replace(":", "_").replace(",", "_").replace("=", "-")
            records[way] = evaluate(plan, out, workers=workers)
            progress(f"{game} {way}: {len(records[way])} scenes")
        results[game] = {"scenes": scenes, "seed": seed, **compare_ways(studied(game), records)}
    return {"version": __version__, "games": results}


# ------------------------------------------------------------------------------------------- comparing


def varied(study: SubplanStudy) -> list[str]:
    """Return the options that a study's scenes differ in."""
    return sorted({name for _, entry in study.scenes for name in entry if entry[name] != study.scenes[0][1].get(name)})


def variant_title(study: SubplanStudy, records: Sequence[EpisodeRecord]) -> str:
    """Return the game that was played with every option that differs from its default and is equal in all scenes."""
    return "; ".join(dict.fromkeys(variant_of(record, varied(study)).title for record in records))


def compare_ways(study: SubplanStudy, records: Mapping[str, Sequence[EpisodeRecord]]) -> dict[str, Any]:
    """Return scores, costs, and differences to the first way on the same scenes."""
    rows = {}
    for way, played in records.items():
        updates = [u for record in played for u in all_updates(record)]
        searched = [u for u in updates if u.searched]
        rows[way] = {
            "variant": variant_title(study, played),
            "values": [round(float(measure(record, [study.metric])[study.metric]), 4) for record in played],
            "searches": len(searched) / len(played),
            "looks": len(updates) / len(played),
            **{name: _mean([getattr(u, name) for u in searched]) for name in ("calls", "characters", "depth")},
            "plans": _mean([len(u.nodes) for u in searched]),
            "first_draft": _mean([float(u.chosen == 0) for u in searched]),
            "solved": _mean([float(u.nodes[0].solved) for u in searched]),
        }
    return {
        "metric": study.metric,
        "better": study.better,
        "heading": study.heading,
        "scale": study.scale,
        "varied": {
            name: list(dict.fromkeys(str(entry.get(name)) for _, entry in study.scenes)) for name in varied(study)
        },
        "ways": with_differences(rows),
    }


def with_differences(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return rows with their scores, and their differences to the first way, from the values of the scenes."""
    first = rows.get(FIRST, {}).get("values")
    compared = {}
    for way in sorted(rows, key=lambda way: way != FIRST):
        values = rows[way]["values"]
        difference = None
        if first is not None and way != FIRST:
            difference = paired_difference([list(zip(values, first, strict=True))])
        compared[way] = {
            **rows[way],
            "score": estimate_json(mean_ci(values)),
            "difference": None if difference is None else estimate_json(difference.mean),
            "p": None if difference is None else round(difference.p, 4),
        }
    return compared


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None


def verdict(study: Mapping[str, Any], ablation: Mapping[str, Any]) -> str:
    """Say whether a way is better or worse than the first one, as far as the interval tells."""
    difference = ablation["difference"]
    if difference is None or difference["low"] is None:
        return ""
    if difference["low"] == difference["high"] == 0:
        return "equal in every scene"
    if difference["low"] <= 0 <= difference["high"]:
        return "no difference shown"
    return "better" if (difference["value"] > 0) == (study["better"] == "higher") else "worse"


def title_of(study: Mapping[str, Any]) -> str:
    """Return what was played, on how many scenes of which kinds and with which seed."""
    kinds = [
        f"{name} {', '.join(values)}" if len(values) <= MAX_NAMED else f"{len(values)} values of {name}"
        for name, values in study["varied"].items()
    ]
    return f"{study['ways'][FIRST]['variant']}: {study['scenes']} scenes, seed {study['seed']}, {'; '.join(kinds)}"


def study_table(study: Mapping[str, Any]) -> ResultTable:
    """Return scores with their differences to the first way on the same scenes, and what they cost.

    Rows that were played with other options than the first one name theirs.
    """
    scale, first = study["scale"], next(iter(study["ways"]))
    default = study["ways"][first]["variant"]
    heads = (
        Column("Team"),
        Column(study["heading"], "estimate", 1, scale=scale),
        Column(f"more than {first}", "estimate", 1, scale=scale),
        Column("verdict"),
        *(Column(name, "number", 1) for name in COSTS),
    )
    rows = []
    for way, entry in study["ways"].items():
        costs = [None if entry[name] is None else float(entry[name]) for name in COSTS]
        name = way if entry["variant"] == default else f"{way} ({entry['variant']})"
        rows.append((name, _estimate(entry["score"]), _estimate(entry["difference"]), verdict(study, entry), *costs))
    return ResultTable(heads, tuple(rows), title_of(study))


def _estimate(ends: Mapping[str, Any] | None) -> Estimate | None:
    return None if ends is None else Estimate(ends["value"], ends["low"], ends["high"])


# ------------------------------------------------------------------------------------------- files


def join_studies(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> dict[str, Any]:
    """Return a study with the games, and the ways to play the same scenes, that only an older file has."""
    games = dict((old or {}).get("games", {}))
    for game, study in new["games"].items():
        before = games.get(game, {})
        same = all(before.get(key) == study[key] for key in ("scenes", "seed", "metric", "varied"))
        kept = {way: row for way, row in before["ways"].items() if "values" in row} if same else {}
        games[game] = {**study, "ways": with_differences({**kept, **study["ways"]})}
    return {**new, "games": games}


def main(text: Sequence[str]) -> None:
    """Play, write the file, print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of the runs; finished episodes in it are kept")
    parser.add_argument("--game", action="append", default=[], help="with sub-plans; all of them if not given")
    parser.add_argument("--way", action="append", default=[], help="policy to play, in its own run; default: all ways")
    parser.add_argument("--scenes", type=int, default=SCENES, help="of each game")
    parser.add_argument("--seed", type=int, default=0, help="of the scenes")
    parser.add_argument("--ablations", action="store_true", help="parts of cots left out or changed instead")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    value = parser.parse_args(text)
    ways = value.way or ((FIRST, *ABLATIONS) if value.ablations else WAYS)
    try:
        new = run_study(value.folder, value.game, ways, value.scenes, value.seed, value.workers)
    except ValueError as error:
        parser.error(str(error))
    path = value.folder / ("ablations.json" if value.ablations else "results.json")
    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    joined = join_studies(old, new)
    path.write_text(json.dumps(joined, indent=1) + "\n", encoding="utf-8")
    for game in new["games"]:
        study_table(joined["games"][game]).show(Console())
    print(f"written: {path}")


if __name__ == "__main__":
    main(sys.argv[1:])
