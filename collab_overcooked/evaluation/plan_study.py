"""Ways to search joint plans, compared on the same seeded scenes of every game that offers sub-plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collab_overcooked import __version__, registry
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.io.checks import near_matches, parse_integer
from collab_overcooked.metrics.intervals import mean_ci
from collab_overcooked.metrics.paired import paired_difference
from collab_overcooked.metrics.registry import measure
from collab_overcooked.policies.search.subplans import Study
from collab_overcooked.reporting.plan_drawing import all_updates
from collab_overcooked.reporting.result_table import estimate_json
from collab_overcooked.runner.episode import Limits, episode_seed
from collab_overcooked.runner.jobs import EpisodeJob, Evaluation

SCENES = 30
WAYS = ("cots", "cots:mode=dfs", "cots:mode=talk", "cots:mode=cot", "greedy", "planner")  # planner: a bound
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


def studied(game: str) -> Study:
    """Return what a game's teams are compared in.

    Raises:
        ValueError: If it offers no sub-plans.
    """
    found: Study = registry.load_entry(registry.find(game).subplans).study[game]
    return found


def studied_games() -> list[str]:
    """Return the ids of the games that offer sub-plans."""
    return [record.id for record in registry.games() if record.subplans]


@dataclass(frozen=True, kw_only=True)
class StudyPlan(Evaluation):
    """Seeded scenes of one game for one team.

    Attributes:
        env_id: Registered id.
        spec: Policy of all seats.
        scenes: How many, spread evenly over those of the game.
    """

    env_id: str
    spec: str
    scenes: int

    def make_jobs(self) -> list[EpisodeJob]:
        """Return all scenes."""
        kinds = studied(self.env_id).scenes
        jobs = []
        for number in range(self.scenes):
            name, own = kinds[number % len(kinds)]
            kwargs = {**own, **self.options}
            jobs.append(
                EpisodeJob(
                    env_id=self.env_id,
                    env_kwargs=kwargs,
                    team=(self.spec,) * registry.load_game(self.env_id, **kwargs).n_agents,
                    task=name,
                    episode=number // len(kinds),
                    seed=episode_seed(self.seed, name, number // len(kinds)),
                    limits=self.limits,
                )
            )
        return jobs


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
    studies = {game: studied(game) for game in games or studied_games()}
    found: dict[str, Any] = {}
    for game, study in studies.items():
        records = {}
        for way in ways:
            plan = StudyPlan(
                suite=next(iter(registry.find(game).suites)),
                env_id=game,
                spec=way,
                scenes=scenes,
                seed=seed,
                options=options or {},
                limits=Limits(),
            )
            out = folder / game / way.replace(":", "_").replace(",", "_").replace("=", "-")
            records[way] = evaluate(plan, out, workers=workers, note=lambda words: None)
            progress(f"{game} {way}: {len(records[way])} scenes")
        found[game] = compare_ways(study, records)
    return {"version": __version__, "scenes": scenes, "seed": seed, "games": found}


def compare_ways(study: Study, records: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """Return scores, costs, and differences to the first way on the same scenes."""
    values = {way: [float(measure(r, [study.metric])[study.metric]) for r in own] for way, own in records.items()}
    first = next(iter(values))
    rows = {}
    for way, own in values.items():
        updates = [u for record in records[way] for u in all_updates(record)]
        searched = [u for u in updates if u["searched"]]
        difference = None if way == first else paired_difference([list(zip(own, values[first], strict=True))])
        rows[way] = {
            "score": estimate_json(mean_ci(own)),
            "difference": None if difference is None else estimate_json(difference.mean),
            "p": None if difference is None else round(difference.p, 4),
            "searches": len(searched) / len(own),
            "looks": len(updates) / len(own),
            **{name: _mean([u[name] for u in searched]) for name in ("calls", "characters", "depth")},
            "plans": _mean([len(u["nodes"]) for u in searched]),
            "first_draft": _mean([float(u["chosen"] == 0) for u in searched]),
            "solved": _mean([float(u["nodes"][0]["solved"]) for u in searched]),
        }
    return {
        "metric": study.metric,
        "better": study.better,
        "heading": study.heading,
        "scale": study.scale,
        "ways": rows,
    }


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None
