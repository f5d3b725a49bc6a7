"""The suite of Collab-Overcooked: the 30 tasks of the paper, or the tasks of a custom kitchen file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from collab_overcooked import registry
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.evaluation.benchmark import ComparisonBudget, Setting, Summary, only
from collab_overcooked.evaluation.suites import Listing, Suite, load_checked
from collab_overcooked.io.document_kinds import DocumentFinding, DocumentKind
from collab_overcooked.io.documents import builtin_names
from collab_overcooked.io.options import NoOptions
from collab_overcooked.reporting.result_table import Column
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.match import Match
from collab_overcooked.runner.teams import parse_seats

from ..engine.config import steps_allowed
from ..engine.spec import KEYS
from ..options import CollabScoring
from . import tables
from .scoring import ENV_ID, CollabRecord, TaskInfo, choose_tasks, score_records, task_of, task_references
from .tables import due_cards, gamma_card, scorecard


def check_kitchens(sources: Sequence[str], options: NoOptions) -> DocumentFinding:
    """Prove that every station can be reached, every recipe be made and every task be served."""
    lines, values = [], []
    for source in sources:
        game: Any = registry.load_game(ENV_ID, kitchen=source)
        kitchen = game.kitchen
        counts = {
            "agents": len(kitchen.agents),
            "tasks": len(kitchen.tasks),
            "recipes": len(kitchen.recipes),
            "actions": game.n_actions,
        }
        lines.append(f"OK: {kitchen.name}, " + ", ".join(f"{count} {name}" for name, count in counts.items()))
        values.append({"name": kitchen.name, **counts})
    return DocumentFinding("\n".join(lines), values)


KITCHEN = DocumentKind(
    "kitchen",
    "collab_overcooked",
    KEYS,
    check_kitchens,
    "Proves that stations can be reached, recipes be made and tasks be served.",
)


SETTINGS = [Setting(f"level {level}", {"levels": str(level)}, {"level": level, "task": None}) for level in range(1, 7)]


class CollabOvercookedSuite(Suite):
    """Orders one at a time; process metrics against reference trajectories."""

    record_class = CollabRecord
    has_success = True
    decisive: ClassVar = {"DELIVER .*": "{player} delivered the dish in step {step}."}
    endings: ClassVar = {
        "success": "The order was completed: {task}.",
        "": "The time was over after {steps} steps, and the order was not completed: {task}.",
    }
    score_metric = "success"
    axes = ("task",)

    set_elsewhere: ClassVar = {
        "task": "--tasks",
        "level": "--levels",
        "kitchen": "--kitchen",
        "gamma": "--gamma",
        "orders": "reset options; a suite plays one order at a time",
        "obs": "the policies",
    }
    title, measure = "Collab-Overcooked", "success rate, %"
    budgets: ClassVar = {
        "small": ComparisonBudget(SETTINGS[:3], {"episodes": 2}),
        "full": ComparisonBudget(SETTINGS, {"episodes": 10}),
    }
    benchmark_fields: ClassVar = {"scale": 100.0}
    leaderboard_notes = (
        "SR: orders delivered in time; PC and TES: how much of the references was done, by all and by each agent; "
        "IC and RC: requests that were right, and that were followed; timesteps: of successful episodes.",
        "IC and RC count conversations, as the public code does. Per required action (equations 5 and 6 of the paper) "
        "they are divided by the collaborative actions of the references, and responses count when executed.",
        "Teams that never speak have IC and RC 0 by definition: these two measure conversations.",
    )
    forwarded = ("kitchen", "gamma")
    episode_text = "Level {record.level}, {record.task}"
    listed: ClassVar = {
        "tasks": Listing(
            lambda options: [task.name for task in _by_level(options)],
            lambda name, options: task_of(task_references(options), name).summary,
            lambda name, options: describe_task({**options, "task": name}),
            endings=(),
        ),
        "kitchens": Listing(
            lambda _: builtin_names("collab_overcooked"), lambda *_: "", lambda name, _: describe_kitchen(name)
        ),
        "levels": Listing(
            lambda options: list(dict.fromkeys(str(task.level) for task in _by_level(options))),
            lambda level, options: ", ".join(task.name for task in _by_level(options) if str(task.level) == level),
        ),
    }

    def matches(self, team: Sequence[str], suite_options: Any, options: Mapping[str, Any]) -> Iterator[Match]:
        known = task_references(options)
        tasks = choose_tasks(known, suite_options.levels, suite_options.tasks)
        load_checked(ENV_ID, **options, task=tasks[0])  # rejects bad option values
        specs = parse_seats(team, len(known.display_names))
        for task in tasks:
            kwargs, level = {**options, "task": task}, known.tasks[task].level
            yield Match(env_id=ENV_ID, env_kwargs=kwargs, team=specs, task=task, level=level)

    def score(self, records: Sequence[Any], scoring: Any) -> list[Scorecard]:
        cards = [scorecard(score) for score in score_records(records, scoring)] + due_cards(records, scoring)
        gammas = scoring.gammas if isinstance(scoring, CollabScoring) else ()
        return cards + ([gamma_card(records, gammas)] if len(gammas) > 1 else [])

    comparison_tables = staticmethod(tables.comparison_tables)

    def outcome(self, record: EpisodeRecord) -> str:
        return "delivered" if record.success else "not delivered"

    def derived(self, record: EpisodeRecord) -> Mapping[str, Any]:
        options = record.env_kwargs
        task = (record.options or options).get("task", options.get("task"))
        known = task_references(options).tasks
        if record.task not in known or task not in list(known):
            return {}
        config, _ = registry.read_options(ENV_ID, options)
        limit = steps_allowed(known[task].reference_time, config.gamma, config.time_limit)
        limits = {} if record.max_cycles_given else {"max_cycles": limit}
        return {"task": task, "level": known[task].level, **limits}

    def summary(self, records: Sequence[Any]) -> Summary:
        result = only(score_records(records))
        row = result.levels[-1]
        process = {"SR %": row.value("success_rate"), "PC %": row.value("pc")}
        if process["PC %"] is not None:
            process |= {f"TES {seat} %": row.value("tes", seat) for seat in range(result.n_agents)}
        process |= {"IC %": row.value("ic"), "RC %": row.value("rc")}
        required = {"IC per required action %": "required_ic", "RC per required action, executed %": "required_rc"}
        if row.value("required_ic") is not None:
            process |= {name: row.value(measure) for name, measure in required.items()}
        shares = {Column(name, "estimate", 1, scale=100.0): estimate for name, estimate in process.items()}
        return Summary(process["SR %"], {**shares, Column("timesteps", "estimate", 1): row.value("timesteps")})


def _by_level(options: Mapping[str, Any]) -> list[TaskInfo]:
    return sorted(task_references(options).tasks.values(), key=lambda task: task.level)


def describe_task(env_kwargs: Mapping[str, Any]) -> str:
    """Return recipe, limits and references of one task."""
    from ..text.text import recipe_text

    game: Any = registry.load_game(ENV_ID, **env_kwargs)
    task = game.kitchen.tasks[env_kwargs["task"]]
    behaviours = task_of(task_references(env_kwargs), task.name).behaviours_text("Collaborative behaviours: ")
    lines = [
        f"{task.title} ({task.name}), level {task.level}",
        recipe_text(game.kitchen, task.name),
        *filter(None, [behaviours]),
        f"Reference time: {task.reference_time} timesteps",
        f"Time limit: {game.max_cycles} timesteps (gamma {game.config.gamma:g}, {game.config.time_limit})",
    ]
    for i, reference in enumerate(task.references, start=1):
        lines.append(f"Reference {i}:")
        for seat, (name, plan) in enumerate(zip(game.display_names, reference, strict=True)):
            lines.append(f"  agent_{seat} ({name}): " + "; ".join(plan))
    if not task.references:
        lines.append("No reference trajectories: TES, PC, IC and RC cannot be computed.")
    return "\n".join(lines)


def describe_kitchen(kitchen: str) -> str:
    """Return a kitchen's picture, seats and stations."""
    game: Any = registry.load_game(ENV_ID, kitchen=kitchen)
    rows = [list(row) for row in game.kitchen.grid]
    for seat, agent in enumerate(game.kitchen.agents):
        rows[agent.start[1]][agent.start[0]] = str(seat)
    lines = [f"{game.kitchen.name}: {game.kitchen.description}", "", *("  " + "".join(row) for row in rows), ""]
    for symbol, station in game.kitchen.stations.items():
        what = f"{station.name} ({station.operation}, {station.capacity} items)" if station.name else station.kind
        lines.append(f"  {symbol}  {what}")
    lines.append("  X  counter; digits are the agents' start cells")
    for seat, agent in enumerate(game.kitchen.agents):
        knows = "knows the recipes" if agent.knows_recipes else "does not know the recipes"
        places = ", ".join(game.usable_places(seat))
        lines.append(f"agent_{seat}: {agent.name}, {agent.role}, {knows}; can use {places}")
    for level, names in sorted(game.kitchen.levels().items()):
        lines.append(f"Level {level}: {', '.join(names)}")
    return "\n".join(lines)
