"""The suite of Overcooked: layouts, seats and scores over 400 steps, beside published ones.

A score is what the team's deliveries paid in an episode. Where the seats of a team differ, every episode is played
twice, the second time with the policies in reverse order, as seats are unequal on most layouts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from statistics import fmean
from typing import Any, ClassVar

from collab_overcooked import registry
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.evaluation.benchmark import Benchmark, ComparisonBudget, Reference, Setting
from collab_overcooked.evaluation.suites import (
    Listing,
    SettingRow,
    Suite,
    by_setting,
    check_names,
    count_column,
    load_checked,
    mean_of,
    setting_column,
)
from collab_overcooked.io.checks import near_matches, parse_integer, refuse_twice
from collab_overcooked.io.files import list_folder
from collab_overcooked.io.text import plural
from collab_overcooked.kernels.macro_actions import MEDIUM, PRIMITIVE
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.policies.specs import PolicySpec
from collab_overcooked.reporting.result_table import Cell, Column
from collab_overcooked.runner.env_variants import variant_of
from collab_overcooked.runner.match import Match
from collab_overcooked.runner.teams import SWAPPED, both_orders, parse_seats

from .documents import LAYOUT, pool_of
from .engine.constants import HORIZON, Clock
from .engine.spec import layouts, load_kitchen
from .pool import PROCEDURAL
from .scoring import (
    LONG_DIRECTIVE,
    OvercookedRecord,
    Printed,
    phases_of,
    published,
    published_beside,
    published_layouts,
    score_record,
)

OVERCOOKED = "Overcooked-v0"
OF_DIRECTIVES = ("text_rules", "stalemate")  # options that only change what language models choose from


class KitchenLogger:
    """Logger of changing kitchens of an episode."""

    def begin(self, env: ParallelEnv) -> None:
        """Log the first kitchen."""
        self.kitchens: list[list[Any]] = []
        if env.arrays[0].changes.shape[1]:
            self.kitchens.append([0, self._name(env)])

    def step(self, env: ParallelEnv) -> dict[str, Any]:
        """Log a change; the step gets no additional fields."""
        if self.kitchens and self._name(env) != self.kitchens[-1][1]:
            self.kitchens.append([int(env.arrays[0].clock[0, Clock.T]), self._name(env)])
        return {}

    def end(self) -> dict[str, Any]:
        """Return the kitchens with the steps before each, for the record."""
        return {"kitchens": self.kitchens} if self.kitchens else {}

    @staticmethod
    def _name(env: ParallelEnv) -> str:
        name: str = env.layout_names[env.arrays[0].clock[0, Clock.LAYOUT]]
        return name


def default_level(team: Sequence[str]) -> str | dict[str, str]:
    """Return the default ``action_level`` of a team: language models and blind rules, their floor, give directives."""
    parsed = [PolicySpec.parse(spec) for spec in team]
    directs = [spec.is_language or spec.is_blind for spec in parsed]
    if all(directs) or not any(directs):
        return MEDIUM if all(directs) else PRIMITIVE
    return {f"agent_{seat}": MEDIUM for seat, is_choosing in enumerate(directs) if is_choosing}


def mean_recovery(row: SettingRow) -> float | None:
    """Return the mean of ``recovery``; None if no kitchen changes, or to none that earns anything."""
    steps = row.values("recovery")
    return fmean(steps) if steps else None


def mean_frozen(row: SettingRow) -> float | None:
    """Return the mean of ``frozen``, all seats together; None if no seat chooses directives."""
    directed = any(record.env_kwargs.get("action_level", PRIMITIVE) != PRIMITIVE for record in row.records)
    return fmean(map(sum, row.values("frozen"))) if directed else None  # type: ignore[arg-type]


class KitchenRow(SettingRow):
    """Scores of Overcooked, and published ones."""

    @cached_property
    def published(self) -> Mapping[str, Printed]:
        """Published numbers that were measured in the same way, by agent."""
        changed = variant_of(self.records[0]).changed
        # Published scores of language models were measured by the public code's rules, others without directives.
        speaks = default_level(self.team) != PRIMITIVE
        is_default = not [name for name in changed if name not in OF_DIRECTIVES or not speaks]
        is_built_in = self.records[0].env_kwargs.get("layout") == self.setting  # no custom file of the same name
        return published_beside(self.team, self.setting) if is_default and is_built_in else {}

    def line(self, columns: Sequence[Column]) -> dict[str, Cell]:
        line: dict[str, Cell] = {"title": self.title, "layout": self.setting, "swapped": self.swapped, **self.seats}
        line["episodes"] = len(self.records)
        cells = {column.name: column.value(self) for column in columns if column.value}
        line |= {name: cell for name, cell in cells.items() if cell is not None}
        agents = dict.fromkeys([*published()["self_play"], *self.published])
        return line | {f"published_{agent}": self.published.get(agent, (None,))[0] for agent in agents}


def _printed(agent: str, row: KitchenRow) -> str | None:
    if agent not in row.published:
        return None
    mean, error = row.published[agent]
    return f"{mean:g}" if error is None else f"{mean:g} ± {error:g}"


PUBLISHED_NOTE = (
    "Published numbers ({}) were not measured here: teams of equal agents, or (+ proxy) the named agent in our "
    "policy's seat beside a stand-in for people; behind ± stands, on the five layouts of Carroll et al., the standard "
    "error over 5 seeds (the paper says standard deviation), and elsewhere what the paper calls a standard deviation; "
    "LLM-Co (GPT-4) is one game."
)
LAYOUT_NOTES = {
    ("asymmetric_advantages", "asymmetric_advantages_llmco"): "The paper compares learned agents on the 9x5 "
    "asymmetric_advantages with LLM-Co on an 11x5 map; they stand in the rows of their own maps here.",
    ("locked",): "LLM-Co with helper directive on Locked is 220 in the paper's table 4 and 240 in its table 3.",
}


CHANGING = {
    "split": "split_left+split_right",
    "outage": "outage_off+outage_on",
    "passage": "passage_north+passage_south",
}
"""Pools of built-in kitchens that change, by name; a kitchen of them is no layout of its own."""


def parse_layouts(text: str | None) -> tuple[str, ...]:
    """Read layouts such as ``"all"``, ``"cramped_room,locked"``, ``"my.layout"``, ``"folder"`` or ``"procedural"``.

    Layouts with a ``+`` between them are one pool, for kitchens that change.

    Raises:
        ValueError: A layout is unknown, or a folder has none.
    """
    chosen: dict[str, None] = {}
    for word in map(str.strip, (text or "all").split(",")):
        if word not in layouts() and (files := list_folder(word)) is not None:
            names = [str(path) for path in files if path.name.endswith(LAYOUT.endings)]
            if not names:
                raise ValueError(f"layouts: folder {word!r} has no file that ends in {', '.join(LAYOUT.endings)}")
        else:
            parts = {part for pool in CHANGING.values() for part in pool_of(pool)}
            names = [name for name in ordered_layouts() if name not in parts] if word == "all" else [word]
        for name in names:
            for member in pool_of(name):
                if member not in (*layouts(), PROCEDURAL) and not member.endswith(LAYOUT.endings):
                    raise ValueError(f"layouts: {near_matches('layout', member, [*layouts(), 'all', PROCEDURAL])}")
            refuse_twice("layouts", name, chosen)
            chosen[name] = None
    return tuple(chosen)


def _setting_name(layout: str) -> str:
    return layout if layout == PROCEDURAL else "+".join(load_kitchen(member).name for member in pool_of(layout))


def ordered_layouts() -> list[str]:
    """Return the built-in layouts: the papers' first and in their order, with their variants behind them."""
    known = published_layouts()

    def first_of_kin(name: str) -> int:
        return next((i for i, other in enumerate(known) if name.startswith(other)), len(known))

    return sorted(layouts(), key=lambda name: (first_of_kin(name), len(name), name))


def layout_settings(names: Iterable[str]) -> list[Setting]:
    """Return the settings of comparisons on some layouts."""
    return [Setting(name, {"layouts": name}, {"layout": name}) for name in names]


SCORE = Column("score", "estimate", 1, value=mean_of("score"))
SOUPS = Column("soups", "number", 1, value=lambda row: fmean(row.values("soups")))
FROZEN = Column("frozen", "number", 1, value=mean_frozen)
RECOVERY = Column("recovery", "number", 1, value=mean_recovery)


class SoupSuite(Suite):
    """Soups for 400 steps, on each layout with both orders of seats."""

    score_metric = "score"
    delivered = "soups"
    record_class = OvercookedRecord
    logger_class = KitchenLogger
    decisive: ClassVar = {
        "soup_delivery .*": "{player} delivered a soup, last in step {step}.",
        "press .*": "{player} pressed a button, last in step {step}.",
    }
    endings: ClassVar = {
        "soups": "The time was over after {steps} steps; soups: {soups}, score: {score:g}.",
        "": "The time was over after {steps} steps, before a soup of the recipe was delivered.",
    }
    table_title = "Score by layout"
    columns = (setting_column("Layout"), SCORE, SOUPS, count_column())
    data_columns: ClassVar[tuple[Column, ...]] = (SCORE,)
    score_note: ClassVar[str]  # Sentence on the score, under the table
    # Columns of tables in which some row has a value, and sentences on them where one is not 0
    optional_columns: ClassVar[Mapping[Column, str]] = {
        RECOVERY: "Recovery: steps after a change of the kitchen until 80 % of the new kitchen's usual points per step."
    }
    measure = "score of 400 steps"
    benchmark_fields: ClassVar = {"both_orders": True}
    process: ClassVar = {
        Column("return", "estimate", 1): by_setting("score"),
        Column("deliveries", "estimate", 2): by_setting("soups"),
    }

    def columns_of(self, rows: Sequence[Any]) -> list[Column]:
        found = [column for column in self.optional_columns if any(cell is not None for cell in _cells(column, rows))]
        return [*self.columns, *found]

    def notes(self, rows: Sequence[Any]) -> Iterator[str]:
        yield self.score_note
        yield from (note for column, note in self.optional_columns.items() if any(_cells(column, rows)))


def _cells(column: Column, rows: Sequence[SettingRow]) -> list[Cell]:
    return [column.value(row) for row in rows] if column.value else []


class OvercookedSuite(SoupSuite):
    """Soups for 400 steps; scores, and the papers' beside them."""

    axes = ("layout",)
    set_elsewhere: ClassVar = {
        "layout": "--layouts",
        "obs": "the policies",
        "reward": "the score, which is never shaped",
    }
    row_class = KitchenRow
    data_columns = (SCORE, SOUPS, FROZEN, RECOVERY)
    score_note = "Score: points for the team's deliveries in an episode, without shaped reward."
    optional_columns: ClassVar = {
        FROZEN: f"Frozen: steps, all seats together, in which a directive had run for over {LONG_DIRECTIVE} steps, so "
        "that its player had no choice.",
        **SoupSuite.optional_columns,
    }
    title = "Overcooked"
    process: ClassVar = SoupSuite.process | {Column("layouts", "estimate", 0): lambda rows: Estimate(len(rows))}
    budgets: ClassVar = {
        "small": ComparisonBudget(
            lambda: layout_settings([*published()["self_play"]["PPO_SP"]][:5]), {"episodes": 2}, {"episodes": 1}
        ),
        "full": ComparisonBudget(lambda: layout_settings(published_layouts()), {"episodes": 20}, {"episodes": 10}),
    }
    leaderboard_notes = ("Return and deliveries: means over the layouts played; comparable only for the same layouts.",)
    team_defaults: ClassVar = {"action_level": default_level}
    listed: ClassVar = {
        "layouts": Listing(
            lambda _: ordered_layouts(),
            lambda name, _: load_kitchen(name).description,
            lambda name, _: describe_layout(name),
            endings=LAYOUT.endings,
        )
    }

    def derived(self, record: EpisodeRecord) -> Mapping[str, Any]:
        task = record.task
        layout, swapped = task.removesuffix(SWAPPED), SWAPPED if task.endswith(SWAPPED) else ""
        if "layout" not in record.env_kwargs or layout not in layouts():
            return {}
        return {"task": load_kitchen(record.env_kwargs["layout"]).name + swapped}

    def matches(self, team: Sequence[str], suite_options: Any, options: Mapping[str, Any]) -> Iterator[Match]:
        chosen = parse_layouts(suite_options.layouts)
        check_names("layouts", chosen, _setting_name)
        steps = HORIZON if suite_options.max_cycles is None else suite_options.max_cycles
        length = {"max_cycles": parse_integer("max_cycles", steps, 1), **options}
        if PROCEDURAL not in chosen and options.get("generator") is not None:
            raise ValueError(f"generator: it needs {PROCEDURAL!r} among --layouts, these are {', '.join(chosen)}")
        for layout in chosen:
            played = dict(length) if layout == PROCEDURAL else length | {"generator": None}
            pool = pool_of(layout) if "+" in layout else layout
            game: Any = load_checked(OVERCOOKED, **{"layout": pool, **played})  # rejects bad option values
            seats, prepares = game.n_agents, bool(game.layouts[0].prepare)  # which directives do not know
            try:
                specs = parse_seats(team, seats)
            except ValueError as error:
                raise ValueError(f"{error} (layout {layout} has {seats} seats)") from None
            for task, seated in both_orders(_setting_name(layout), specs):
                level = PRIMITIVE if prepares else default_level(seated)
                kwargs = {} if level == PRIMITIVE else {"action_level": level}
                kwargs |= {name: played[name] for name in length if played[name] == length[name]} | {"layout": pool}
                yield Match(env_id=OVERCOOKED, env_kwargs=kwargs, team=seated, task=task)

    def columns_of(self, rows: Sequence[Any]) -> list[Column]:
        agents = dict.fromkeys(agent for row in rows for agent in row.published)
        printed = (Column(agent, published=True, value=partial(_printed, agent)) for agent in agents)
        return [*super().columns_of(rows), *printed]

    def notes(self, rows: Sequence[Any]) -> Iterator[str]:
        agents = {agent for row in rows for agent in row.published}
        names = {row.setting for row in rows}
        yield from super().notes(rows)
        if any(row.swapped for row in rows):
            yield "Seats swapped: the same policies in reverse order."
        if agents:
            yield PUBLISHED_NOTE.format(published()["source"])
            if any(agent.endswith("+ proxy") for agent in agents):
                yield "The papers' proxy is a clone of people's games, proxy:bc here one of noisy and greedy play."
            yield from (note for layouts, note in LAYOUT_NOTES.items() if names & set(layouts))

    def references(self, benchmark: Benchmark) -> list[Reference]:
        kinds = {"LLM-Co": "language"}
        names = [setting.name for setting in benchmark.settings]
        references = []
        for agent, by_layout in published()["self_play"].items():
            scores = {name: _published_estimate(*by_layout[name]) for name in names if name in by_layout}
            references.append(Reference(agent, kinds.get(agent, "RL"), scores))
        return references

    def reference_remarks(self, benchmark: Benchmark) -> list[str]:
        source = published()["source"]
        return [f"Published: {source}; intervals from their standard errors over 5 seeds, LLM-Co is one game."]

    def outcome(self, record: Any) -> str:
        numbers = score_record(record)
        score = f"{plural(numbers['soups'], 'soup')}, score {numbers['score']:g}"
        phases = [f"{sum(points):g} in {name}" for name, points in phases_of(record)]
        return f"{score} ({', '.join(phases)})" if phases else score

    def training_references(self) -> dict[str, dict[str, Any]]:
        numbers: dict[str, dict[str, Any]] = {}
        for reference in self.references(self.benchmark("full")):
            for layout, figure in reference.scores.items():
                if reference.kind == "RL" and figure is not None:
                    named = (layout, f"pbt_{layout}") if reference.name == "PBT" else (layout,)
                    for configuration in named:
                        numbers.setdefault(configuration, {"measure": "return"})[reference.name] = figure.value
        return numbers


def _published_estimate(mean: float, error: float | None) -> Estimate:
    if error is None:
        return Estimate(float(mean))
    return Estimate(float(mean), mean - 1.96 * error, mean + 1.96 * error)


def describe_layout(name: str) -> str:
    """Return a layout's picture, its numbered objects, and the manual for language agents."""
    action_level = PRIMITIVE if load_kitchen(name).prepare else MEDIUM  # directives know no preparation
    env = registry.make(OVERCOOKED, layout=name, render_mode="ansi", action_level=action_level)
    env.reset(seed=0)
    game: Any = env.game
    layout = game.layouts[0]
    seats = ", ".join(f"agent_{i} {name}" for i, name in enumerate(env.game.display_names))
    parts = [f"{layout.name}: {layout.description}", f"Seats: {seats}", env.render(), env.game.manual(env.arrays[0])]
    return "\n\n".join(parts)
