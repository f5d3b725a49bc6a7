"""The suite of Overcooked: layouts, seats and scores over 400 steps, beside published ones.

A score is what the team's deliveries paid in an episode. Where the seats of a team differ, every episode is played
twice, the second time with the policies in reverse order, as seats are unequal on most layouts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import methodcaller
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar

from collab_overcooked import registry
from collab_overcooked.evaluation.benchmark import Benchmark, Reference, Setting, Summary
from collab_overcooked.evaluation.episode_suite import EpisodeSuite, count_column, load_checked, mean_of, setting_column
from collab_overcooked.evaluation.plans import JobGroup
from collab_overcooked.evaluation.suites import Record, check_names
from collab_overcooked.games.overcooked.engine.spec import layouts, load_kitchen
from collab_overcooked.games.overcooked.env import PROCEDURAL
from collab_overcooked.games.overcooked.suite.documents import LAYOUT
from collab_overcooked.games.overcooked.suite.scoring import (
    AXES,
    HORIZON,
    OVERCOOKED,
    RECORD_FIELDS,
    KitchenRow,
    default_level,
    published,
    score_record,
)
from collab_overcooked.io.checks import near_matches, parse_integer
from collab_overcooked.io.options import NAMES, option
from collab_overcooked.kernels.macro_actions import PRIMITIVE
from collab_overcooked.metrics.intervals import Estimate, mean_of_groups
from collab_overcooked.reporting.result_table import Cell, Column
from collab_overcooked.runner.teams import SWAPPED, both_orders, parse_seats

PUBLISHED_NOTE = (
    "Published numbers ({}) were not measured here: teams of equal agents, or (+ proxy) the named agent in our "
    "policy's seat beside a stand-in for people; behind ± stands the standard error over 5 seeds, not a standard "
    "deviation; LLM-Co (GPT-4) is one game."
)
LAYOUT_NOTES = {
    ("asymmetric_advantages", "asymmetric_advantages_llmco"): "The paper compares learned agents on the 9x5 "
    "asymmetric_advantages with LLM-Co on an 11x5 map; they stand in the rows of their own maps here.",
    ("locked",): "LLM-Co with helper directive on Locked is 220 in the paper's table 4 and 240 in its table 3.",
}


@dataclass(frozen=True, kw_only=True)
class LayoutOptions:
    """Options of the suite beyond team, seed and options of the environment."""

    layouts: str | None = option(
        None, "Layouts, files, folders of files, or procedural. Default: all built-in layouts.", metavar=NAMES
    )
    episodes: int = option(1, "Episodes of each layout and order of seats.")
    max_cycles: int = option(HORIZON, "Steps of an episode.")


def parse_layouts(text: str | None) -> tuple[str, ...]:
    """Read layouts such as ``"all"``, ``"cramped_room,locked"``, ``"my.layout"``, ``"folder"`` or ``"procedural"``."""
    chosen: dict[str, None] = {}
    for word in map(str.strip, (text or "all").split(",")):
        if word not in layouts() and Path(word).is_dir():
            names = sorted(str(path) for path in Path(word).iterdir() if path.name.endswith(LAYOUT.endings))
            if not names:
                raise ValueError(f"layouts: folder {word!r} has no file that ends in {', '.join(LAYOUT.endings)}")
        else:
            names = ordered_layouts() if word == "all" else [word]
        for name in names:
            if name not in (*layouts(), PROCEDURAL) and not name.endswith(LAYOUT.endings):
                raise ValueError(f"layouts: {near_matches('layout', name, [*layouts(), 'all', PROCEDURAL])}")
            chosen[name] = None
    return tuple(chosen)


def _setting_name(layout: str) -> str:
    return layout if layout == PROCEDURAL else load_kitchen(layout).name


def ordered_layouts() -> list[str]:
    """Return the built-in layouts: the papers' first and in their order, with their variants behind them."""
    known = list(dict.fromkeys(name for numbers in published().self_play.values() for name in numbers))
    return sorted(layouts(), key=lambda name: (_first_of_kin(name, known), len(name), name))


def _first_of_kin(name: str, known: Sequence[str]) -> int:
    return next((i for i, other in enumerate(known) if name.startswith(other)), len(known))


class OvercookedSuite(EpisodeSuite):
    """Soups for 400 steps; scores, and the papers' beside them."""

    suite_options = LayoutOptions
    score_metric = "score"
    record_fields = RECORD_FIELDS
    axes = AXES
    set_elsewhere: ClassVar = {
        "layout": "--layouts",
        "obs": "the policies",
        "reward": "the score, which is never shaped",
    }
    row_class = KitchenRow
    table_title = "Score by layout"
    columns = (
        setting_column("Layout"),
        Column("score", "estimate", 1, value=mean_of("score")),
        Column("soups", "number", 1, value=lambda row: fmean(row.values("soups"))),
        count_column(),
    )
    data_columns = columns[1:2]
    leaderboard_notes = ("Return and deliveries: means over the layouts played; comparable only for the same layouts.",)
    listed: ClassVar = {"layouts": lambda _: [(name, load_kitchen(name).description) for name in ordered_layouts()]}

    def derived(self, record: Record) -> Mapping[str, Any]:
        task = record["task"]
        layout, swapped = task.removesuffix(SWAPPED), SWAPPED if task.endswith(SWAPPED) else ""
        if "layout" not in record["env_kwargs"] or layout not in layouts():
            return {}
        return {"task": load_kitchen(record["env_kwargs"]["layout"]).name + swapped}

    def groups(self, team: Sequence[str], suite_options: Any, options: Mapping[str, Any]) -> Iterator[JobGroup]:
        chosen = parse_layouts(suite_options.layouts)
        check_names("layouts", chosen, _setting_name)
        length = {"max_cycles": parse_integer("max_cycles", suite_options.max_cycles, 1), **options}
        if PROCEDURAL not in chosen and options.get("generator") is not None:
            raise ValueError(f"generator: it needs {PROCEDURAL!r} among --layouts, these are {', '.join(chosen)}")
        for layout in chosen:
            played = dict(length) if layout == PROCEDURAL else length | {"generator": None}
            seats = load_checked(OVERCOOKED, **{"layout": layout, **played}).n_agents  # rejects bad option values
            try:
                specs = parse_seats(team, seats)
            except ValueError as error:
                raise ValueError(f"{error} (layout {layout} has {seats} seats)") from None
            for task, seated in both_orders(_setting_name(layout), specs):
                level = default_level(seated)
                kwargs = {} if level == PRIMITIVE else {"action_level": level}
                kwargs |= {name: played[name] for name in length if played[name] == length[name]} | {"layout": layout}
                yield JobGroup(env_id=OVERCOOKED, env_kwargs=kwargs, team=seated, task=task)

    def shipped(self) -> list[str]:
        return layouts()

    def columns_of(self, rows: Sequence[Any]) -> list[Column]:
        names = dict.fromkeys(name for row in rows for name in row.published)
        return [*self.columns, *(Column(name, published=True, value=methodcaller("printed", name)) for name in names)]

    def team_text(self, rows: Sequence[Any]) -> str:
        first = min(rows, key=lambda row: row.swapped)
        return " ".join(f"{seat}={spec}" for seat, spec in first.seats.items())

    def line(self, row: Any) -> dict[str, Cell]:
        line: dict[str, Cell] = {"title": row.title, "layout": row.setting, "swapped": row.swapped, **row.seats}
        line |= {"episodes": len(row.records), "score": row.mean("score"), "soups": fmean(row.values("soups"))}
        names = dict.fromkeys([*published().self_play, *row.published])
        return line | {f"published_{name}": row.published[name][0] if name in row.published else None for name in names}

    def notes(self, rows: Sequence[Any]) -> Iterator[str]:
        agents, names = {name for row in rows for name in row.published}, {row.setting for row in rows}
        yield "Score: points for the team's deliveries in an episode, without shaped reward."
        if any(row.swapped for row in rows):
            yield "Seats swapped: the same policies in reverse order."
        if agents:
            yield PUBLISHED_NOTE.format(published().source)
            if any(name.endswith("+ proxy") for name in agents):
                yield "The papers' proxy is a clone of people's games, proxy:bc here one of noisy and greedy play."
            yield from (note for layouts, note in LAYOUT_NOTES.items() if names & set(layouts))

    def benchmark(self, budget: str) -> Benchmark:
        self_play = published().self_play
        names = (
            [*self_play["PPO_SP"]][:5]
            if budget == "small"
            else list(dict.fromkeys(n for scores in self_play.values() for n in scores))
        )
        episodes = 2 if budget == "small" else 20
        settings = (Setting(name, {"layouts": name, "episodes": episodes}, {"layout": name}) for name in names)
        pairs = Setting(names[0], {"layouts": names[0], "episodes": episodes // 2}, {"layout": names[0]})
        return Benchmark("Overcooked", "score of 400 steps", tuple(settings), pairs, both_orders=True)

    def summary(self, records: Sequence[Record]) -> Summary:
        rows = self.setting_rows(records)
        score = mean_of_groups([row.values("score") for row in rows])
        process = {
            Column("return", "estimate", 1): score,
            Column("deliveries", "estimate", 2): mean_of_groups([row.values("soups") for row in rows]),
            Column("layouts", "estimate", 0): Estimate(len(rows)),
        }
        return Summary(score, process)

    def references(self, benchmark: Benchmark) -> list[Reference]:
        kinds = {"LLM-Co": "language"}
        names = [setting.name for setting in benchmark.settings]
        return [
            Reference(
                who,
                kinds.get(who, "RL"),
                {name: _published_estimate(*by_layout[name]) for name in names if name in by_layout},
            )
            for who, by_layout in published().self_play.items()
        ]

    def reference_remarks(self, benchmark: Benchmark) -> list[str]:
        return [
            f"Published: {published().source}; intervals from their standard errors over 5 seeds, LLM-Co is one game."
        ]

    def default_options(self, team: tuple[str, ...]) -> dict[str, Any]:
        return {"action_level": default_level(team)}

    def outcome(self, record: Record) -> str:
        numbers = score_record(record)
        return f"{numbers['soups']} soup{'s' * (numbers['soups'] != 1)}, score {numbers['score']:g}"

    def training_references(self) -> dict[str, dict[str, Any]]:
        numbers: dict[str, dict[str, Any]] = {}
        for reference in self.references(self.benchmark("full")):
            for layout, figure in reference.scores.items():
                if reference.kind == "RL" and figure is not None:
                    numbers.setdefault(layout, {"measure": "return"})[reference.name] = figure.value
        return numbers

    def describe(self, name: str, kitchen: str, gamma: float) -> str | None:
        return describe_layout(name) if name in layouts() or name.endswith(".layout") else None


def _published_estimate(mean: float, error: float | None) -> Estimate:
    if error is None:
        return Estimate(float(mean))
    return Estimate(float(mean), mean - 1.96 * error, mean + 1.96 * error)


def describe_layout(name: str) -> str:
    """Return a layout's picture, its numbered objects, and the manual for language agents."""
    env = registry.make(OVERCOOKED, layout=name, render_mode="ansi", action_level="medium")
    env.reset(seed=0)
    layout = env.game.layouts[0]
    seats = ", ".join(f"agent_{i} {name}" for i, name in enumerate(env.game.display_names))
    parts = [f"{layout.name}: {layout.description}", f"Seats: {seats}", env.render(), env.game.manual(env.arrays[0])]
    return "\n\n".join(parts)
