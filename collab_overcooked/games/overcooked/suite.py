"""The suite of Overcooked: layouts, seats and scores over 400 steps, beside published ones; layout files.

A score is what the team's deliveries paid in an episode. Where the seats of a team differ, every episode is played
twice, the second time with the policies in reverse order, as seats are unequal on most layouts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from operator import methodcaller
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar

from collab_overcooked import registry
from collab_overcooked.core.record import Event, Step
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.evaluation.benchmark import Benchmark, ComparisonBudget, Reference, Setting
from collab_overcooked.evaluation.par_score import NO_POLICY, play_par
from collab_overcooked.evaluation.suites import (
    EpisodeRecord,
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
from collab_overcooked.io.document_kinds import DocumentFinding, DocumentKind
from collab_overcooked.io.files import list_folder, read_shipped_yaml, write_atomic
from collab_overcooked.io.options import option
from collab_overcooked.io.structs import Count, Name, Number, Text
from collab_overcooked.kernels.macro_actions import MEDIUM, PRIMITIVE
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.metrics.registry import Metric, MetricSet
from collab_overcooked.policies.llm.settings import settings_of
from collab_overcooked.policies.specs import PolicySpec
from collab_overcooked.reporting.result_table import Cell, Column
from collab_overcooked.runner.env_variants import variant_of
from collab_overcooked.runner.match import Match
from collab_overcooked.runner.teams import SWAPPED, both_orders, parse_seats

from .engine.constants import HORIZON, Clock
from .engine.generate import (
    GeneratorConfig,
    generate,
    layout_text,
    orders_to_prove,
    prove_layout,
    read_generator_config,
)
from .engine.solvability import DISPENSERS, floors_in_cycle, list_untouched, works_anywhere
from .engine.spec import FOLDER, KEYS, Layout, layouts, load_kitchen
from .pool import PROCEDURAL
from .text.text import CONTINUE_TEXT

Printed = tuple[float, float | None]
"""A mean and its standard error; None for one game."""
OVERCOOKED = "Overcooked-v0"
PEOPLE = "proxy:bc"  # policy that stands for people
OF_DIRECTIVES = ("text_rules", "stalemate")  # options that only change what language models choose from


class OvercookedEvent(Event, kw_only=True):
    """Event of an agent, with the rewards for it."""

    events: list[Text] = []  # noqa: RUF012  msgspec copies it
    sparse: Number
    shaped: Number

    @property
    def change(self) -> int:
        """Effect on the team's result: the sign of the points."""
        return (self.sparse > 0) - (self.sparse < 0)


class OvercookedStep(Step, kw_only=True):
    """Step of a record."""

    events: Sequence[OvercookedEvent | None]


class OvercookedRecord(EpisodeRecord, kw_only=True):
    """Record of an episode."""

    steps: Sequence[OvercookedStep]
    kitchens: list[tuple[Count, Name]] = []  # noqa: RUF012  Of a kitchen that changes: steps before each, and its name


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


@dataclass(frozen=True)
class Published:
    """Numbers printed in papers, measured by their authors."""

    source: str  # Citation of the papers
    steps: int  # Steps of an episode
    # Agent -> layout -> mean and standard error (printed after ±), None for one game
    self_play: Mapping[str, Mapping[str, Printed]]
    # Agent -> its seat -> layout -> mean and standard error, with a model of human play
    with_human_proxy: Mapping[str, Mapping[int, Mapping[str, Printed]]]
    # Layout -> whether LLM-Co had the helper directive -> mean and standard error
    helper_directive: Mapping[str, Mapping[bool, Printed]]

    @property
    def layouts(self) -> list[str]:
        """Layouts of agents that play with themselves, in the papers' order."""
        return list(dict.fromkeys(name for scores in self.self_play.values() for name in scores))

    def beside(self, team: Sequence[str], layout: str) -> dict[str, Printed]:
        """Return published numbers of similar teams: of equal agents, or of one with a stand-in for people."""
        if len(team) != 2:
            return {}
        people = [seat for seat, spec in enumerate(team) if spec == PEOPLE]
        if people:
            named = {f"{agent} + proxy": by_seat[1 - people[-1]] for agent, by_seat in self.with_human_proxy.items()}
        else:
            named = dict(self.self_play) if team[0] == team[1] else {}
        printed = {agent: by_layout[layout] for agent, by_layout in named.items() if layout in by_layout}
        settings = settings_of(team[0])
        if team[0] == team[1] and settings is not None and layout in self.helper_directive:
            helped = bool(settings.switches.get("helper"))
            if not helped:
                printed.pop("LLM-Co", None)  # of table 4, where it had the directive; table 3 prints both
            printed["LLM-Co with helper" if helped else "LLM-Co without helper"] = self.helper_directive[layout][helped]
        return printed


@cache
def published() -> Published:
    """Read the published numbers."""
    values = read_shipped_yaml("games/overcooked/published.yaml")
    helper = {
        layout: {helped: (score, None) for helped, score in scores.items()}
        for layout, scores in values["helper_directive"].items()
    }
    return Published(values["source"], values["steps"], values["self_play"], values["with_human_proxy"], helper)


def score_record(record: OvercookedRecord) -> dict[str, Any]:
    """Compute points, soups and shaped rewards of one episode from its record."""
    score, soups, shaped = 0.0, 0, [0.0] * len(record.team)
    for step in record.steps:
        for seat, event in enumerate(step.events):
            if event is not None:
                score += event.sparse
                soups += event.event == "soup_delivery"
                shaped[seat] += event.shaped
    return {"score": score, "soups": soups, "shaped": shaped}


SOUP_STEPS = 20  # to cook a soup; one delivered soup for each is the outcome 1
LONG_DIRECTIVE = 20  # steps of a directive from which on its player counts as frozen


def count_frozen(record: OvercookedRecord) -> list[int]:
    """Count the steps of each seat within directives of more than ``LONG_DIRECTIVE`` steps."""
    frozen = [0] * len(record.team)
    running = list(frozen)
    for step in record.steps:
        for seat, text in enumerate(step.action_texts):
            running[seat] = running[seat] + 1 if text == CONTINUE_TEXT else 0
            frozen[seat] += running[seat] >= LONG_DIRECTIVE  # its first step is that of the choice
    return frozen


RECOVERED = 0.8  # share of a kitchen's usual rate


def phases_of(record: OvercookedRecord) -> list[tuple[str, list[float]]]:
    """Return the kitchens of an episode in order, each with the team's points in its steps."""
    points = [sum(event.sparse for event in step.events if event is not None) for step in record.steps]
    ends = [*(start for start, _ in record.kitchens[1:]), len(points)]
    phases = []
    for (start, name), end in zip(record.kitchens, ends, strict=False):  # no kitchens where nothing changes
        if start < end:  # no change in the last step
            phases.append((name, points[start:end]))
    return phases


def measure_recovery(record: OvercookedRecord) -> float | None:
    """Return the mean number of steps after a change until the new kitchen's usual rate is reached by ``RECOVERED``.

    The usual rate of a kitchen is its points per step in the second halves of all its phases. It is reached by the
    first step at which the mean since the change is high enough, or else the phase counts with all its steps. Changes
    to kitchens whose usual rate is 0 do not count; None where no change does.
    """
    phases, late = phases_of(record), dict[str, list[float]]()
    for name, points in phases:
        late.setdefault(name, []).extend(points[len(points) // 2 :])
    steps = []
    for name, points in phases[1:]:
        enough, total = RECOVERED * sum(late[name]) / max(len(late[name]), 1), 0.0
        if enough == 0:
            continue
        for n, paid in enumerate(points, start=1):
            total += paid
            if total >= enough * n:
                steps.append(n)
                break
        else:
            steps.append(len(points))
    return fmean(steps) if steps else None


def measure_soups(record: OvercookedRecord) -> dict[str, Any]:
    """Compute the metrics ``SOUP_METRICS`` of one episode; ``recovery`` only if kitchens change."""
    recovery = {"recovery": measure_recovery(record)} if record.kitchens else {}
    return score_record(record) | recovery


SOUP_METRICS = MetricSet(
    (
        Metric("score", "Points for deliveries.", "points", "higher"),
        Metric("soups", "Soups delivered.", "soups", "higher"),
        Metric("shaped", "Shaped reward of each agent.", "points", "higher"),
        Metric("recovery", "Steps after a change of the kitchen until 80 % of its usual rate.", "steps", "lower"),
    ),
    measure_soups,
    outcome=lambda record: record.metrics["soups"] * SOUP_STEPS / max(1, record.timesteps),
)
METRICS = replace(
    SOUP_METRICS,
    metrics=(
        *SOUP_METRICS.metrics[:-1],
        Metric(
            "frozen", f"Steps of each agent without a choice, beyond {LONG_DIRECTIVE} of a directive.", "steps", "lower"
        ),
        SOUP_METRICS.metrics[-1],
    ),
    measure=lambda record: measure_soups(record) | {"frozen": count_frozen(record)},
)


class SoupRow(SettingRow):
    """Scores on one layout, or in one kitchen that changes, with one order of seats."""

    @cached_property
    def recovery(self) -> float | None:
        """Mean of ``measure_recovery``; None if no kitchen changes, or to none that earns anything."""
        steps = [measure_recovery(record) for record in self.records]  # type: ignore[arg-type]
        known = [value for value in steps if value is not None]
        return fmean(known) if known else None


class KitchenRow(SoupRow):
    """Scores of Overcooked, and published ones."""

    @cached_property
    def published(self) -> Mapping[str, Printed]:
        """Published numbers that were measured in the same way, by agent."""
        changed = variant_of(self.records[0]).changed
        # Published scores of language models were measured by the public code's rules, others without directives.
        speaks = default_level(self.team) != PRIMITIVE
        is_default = not [name for name in changed if name not in OF_DIRECTIVES or not speaks]
        is_built_in = self.records[0].env_kwargs.get("layout") == self.setting  # no custom file of the same name
        return published().beside(self.team, self.setting) if is_default and is_built_in else {}

    @cached_property
    def frozen(self) -> float | None:
        """Mean of ``count_frozen``, all seats together; None if no seat chooses directives."""
        directed = any(record.env_kwargs.get("action_level", PRIMITIVE) != PRIMITIVE for record in self.records)
        return fmean(map(sum, self.values("frozen"))) if directed else None  # type: ignore[arg-type]

    def line(self, columns: Sequence[Column]) -> dict[str, Cell]:
        line: dict[str, Cell] = {"title": self.title, "layout": self.setting, "swapped": self.swapped, **self.seats}
        line |= {"episodes": len(self.records), "score": self.mean("score"), "soups": fmean(self.values("soups"))}
        line |= {} if self.frozen is None else {"frozen": self.frozen}
        line |= {} if self.recovery is None else {"recovery": self.recovery}
        names = dict.fromkeys([*published().self_play, *self.published])
        return line | {
            f"published_{name}": self.published[name][0] if name in self.published else None for name in names
        }

    def printed(self, agent: str) -> str | None:
        """Return a published number as it is printed; None if there is none."""
        if agent not in self.published:
            return None
        mean, error = self.published[agent]
        return f"{mean:g}" if error is None else f"{mean:g} ± {error:g}"


def par_score(layout: Layout, policy: str) -> int:
    """Return the score of a team of one policy in every seat, after 400 steps from the layout's own start.

    Pots start by themselves where all orders can be filled so.
    """
    dynamics = "auto" if layout.cooks_by_itself else "explicit"
    env = play_par(OVERCOOKED, policy, layout=layout.document.content, dynamics=dynamics, max_cycles=HORIZON)
    return int(env.scene()["score"])


@dataclass(frozen=True, kw_only=True)
class LayoutOptions:
    """Options of the check of a layout."""

    par: str = option("greedy", f"Policy that plays it, or {NO_POLICY}.")


def check_layouts(sources: Sequence[str], options: LayoutOptions) -> DocumentFinding:
    """Prove that soup can be served in each layout, and play it; ``A+B`` is a kitchen that changes."""
    checks = [_check_cycle(source) if "+" in source else _check_layout(source, options.par) for source in sources]
    text = "\n".join(check.text for check in checks)
    return DocumentFinding(text, [check.values for check in checks], all(check.ok for check in checks))


def _check_cycle(source: str) -> DocumentFinding:
    """Prove each layout of a kitchen that changes, wherever players may stand when it begins."""
    pool = [load_kitchen(name) for name in pool_of(source)]
    floors = floors_in_cycle([layout.grid for layout in pool], [layout.starts for layout in pool])
    works = {
        layout.name: works_anywhere(layout.grid, cells, orders_to_prove(layout), layout.prepare)
        for layout, cells in zip(pool, floors, strict=True)
    }
    lines = [f"{source}: {len(pool)} layouts in turn"]
    for name, is_proved in works.items():
        claim = "soup can be served from wherever a change may leave the players"
        lines.append(f"  {name}: {claim if is_proved else f'could not prove that {claim}'}")
    return DocumentFinding("\n".join(lines), {"name": source, "works": works}, all(works.values()))


def _check_layout(source: str, policy: str) -> DocumentFinding:
    layout = load_kitchen(source)
    proof = prove_layout(layout)
    subtasks = [] if proof is None else [str(subtask) for subtask in proof.subtasks]
    score = None if policy == NO_POLICY else par_score(layout, policy)
    lines = [f"{layout.name}: {layout.width} x {layout.height}, {len(layout.starts)} players"]
    untouched = [f"{kind} at {cell}" for kind, cell in list_untouched(layout.grid, layout.starts)]
    lines += [f"  {line}" for line in subtasks or _tried(layout)]
    lines += [f"  note: {station}: no player can stand beside it" for station in untouched]
    lines += [f"  note: orders with {name} cannot be filled: no player gets at any" for name in _missing(layout)]
    if score is not None:
        lines.append(f"{policy} serves {score} points in {HORIZON} steps")
    if score == 0 and proof is not None:
        lines.append(f"  the subtasks above serve soup all the same; {policy} does not find them")
    values: dict[str, Any] = {"name": layout.name, "proof": subtasks, "policy": policy, "score": score}
    values["unreachable"] = untouched
    return DocumentFinding("\n".join(lines), values, proof is not None or bool(score))


def _missing(layout: Layout) -> list[str]:
    untouched = [cell for _, cell in list_untouched(layout.grid, layout.starts)]
    ordered = sorted({name for soup in orders_to_prove(layout) for name in soup})
    return [name for name in ordered if not set(layout.cells(DISPENSERS[name])) - set(untouched)]


def _tried(layout: Layout) -> list[str]:
    players, soups = len(layout.starts), [" + ".join(soup) for soup in orders_to_prove(layout)]
    return [
        "could not prove the layout solvable: players may have to make way for each other",
        f"tried every team of 1 to {players} players, each on floor of its own, with hand-overs on counters",
        f"tried the orders {', '.join(soups)}",
    ]


LAYOUT = DocumentKind(
    "layout",
    FOLDER,
    KEYS,
    check_layouts,
    "Proves that soup can be served, and plays it.",
    LayoutOptions,
    endings=(".yaml", ".yml", ".layout"),
)


@dataclass(frozen=True, kw_only=True)
class LayoutGenerator(GeneratorConfig):
    """Solvable layouts with a par score, one file per layout."""

    count: int = option(8, "Number of layouts.")
    par: str = option("planner", f"Policy whose score becomes the par score, or {NO_POLICY}.")

    def write(self, out: Path, command: str) -> DocumentFinding:
        """Draw layouts and write each to a file of the folder ``out``."""
        layouts = generate(
            read_generator_config({entry.name: getattr(self, entry.name) for entry in fields(GeneratorConfig)})
        )
        lines, values = [], []
        for layout in layouts:
            score = None if self.par == NO_POLICY else par_score(layout, self.par)
            write_atomic(out / f"{layout.name}.yaml", layout_text(layout, score).encode())
            lines.append(layout.name + ("" if score is None else f", par {score}"))
            values.append({"name": layout.name, "par": score})
        return DocumentFinding("\n".join(lines), values)


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


def pool_of(layout: str) -> list[str]:
    """Return the layouts of a pool such as ``"split_left+split_right"``, the first one first."""
    return layout.split("+")


def _setting_name(layout: str) -> str:
    return layout if layout == PROCEDURAL else "+".join(load_kitchen(member).name for member in pool_of(layout))


def ordered_layouts() -> list[str]:
    """Return the built-in layouts: the papers' first and in their order, with their variants behind them."""
    known = published().layouts

    def first_of_kin(name: str) -> int:
        return next((i for i, other in enumerate(known) if name.startswith(other)), len(known))

    return sorted(layouts(), key=lambda name: (first_of_kin(name), len(name), name))


def layout_settings(names: Iterable[str]) -> list[Setting]:
    """Return the settings of comparisons on some layouts."""
    return [Setting(name, {"layouts": name}, {"layout": name}) for name in names]


class SoupSuite(Suite):
    """Soups for 400 steps, on each layout with both orders of seats."""

    score_metric = "score"
    delivered = "soups"
    record_class = OvercookedRecord
    row_class: ClassVar[type[SettingRow]] = SoupRow
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
    columns = (
        setting_column("Layout"),
        Column("score", "estimate", 1, value=mean_of("score")),
        Column("soups", "number", 1, value=lambda row: fmean(row.values("soups"))),
        count_column(),
    )
    data_columns = columns[1:2]
    measure = "score of 400 steps"
    benchmark_fields: ClassVar = {"both_orders": True}
    process: ClassVar = {
        Column("return", "estimate", 1): by_setting("score"),
        Column("deliveries", "estimate", 2): by_setting("soups"),
    }


def recovery_columns(rows: Sequence[Any]) -> list[Column]:
    """Return the column of the recovery where kitchens change."""
    return [RECOVERY] if any(row.recovery is not None for row in rows) else []


def recovery_notes(rows: Sequence[Any]) -> Iterator[str]:
    """Say what the recovery is, if it is shown."""
    if any(row.recovery for row in rows):
        yield "Recovery: steps after a change of the kitchen until 80 % of the new kitchen's usual points per step."


FROZEN = Column("frozen", "number", 1, value=lambda row: row.frozen)
RECOVERY = Column("recovery", "number", 1, value=lambda row: row.recovery)


class OvercookedSuite(SoupSuite):
    """Soups for 400 steps; scores, and the papers' beside them."""

    axes = ("layout",)
    set_elsewhere: ClassVar = {
        "layout": "--layouts",
        "obs": "the policies",
        "reward": "the score, which is never shaped",
    }
    row_class = KitchenRow
    title = "Overcooked"
    process: ClassVar = SoupSuite.process | {Column("layouts", "estimate", 0): lambda rows: Estimate(len(rows))}
    budgets: ClassVar = {
        "small": ComparisonBudget(
            lambda: layout_settings([*published().self_play["PPO_SP"]][:5]), {"episodes": 2}, {"episodes": 1}
        ),
        "full": ComparisonBudget(lambda: layout_settings(published().layouts), {"episodes": 20}, {"episodes": 10}),
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
            seats = load_checked(OVERCOOKED, **{"layout": pool, **played}).n_agents  # rejects bad option values
            try:
                specs = parse_seats(team, seats)
            except ValueError as error:
                raise ValueError(f"{error} (layout {layout} has {seats} seats)") from None
            for task, seated in both_orders(_setting_name(layout), specs):
                level = default_level(seated)
                kwargs = {} if level == PRIMITIVE else {"action_level": level}
                kwargs |= {name: played[name] for name in length if played[name] == length[name]} | {"layout": pool}
                yield Match(env_id=OVERCOOKED, env_kwargs=kwargs, team=seated, task=task)

    def columns_of(self, rows: Sequence[Any]) -> list[Column]:
        names = dict.fromkeys(name for row in rows for name in row.published)
        measured = [FROZEN] if any(row.frozen is not None for row in rows) else []
        measured += recovery_columns(rows)
        published_columns = (Column(name, published=True, value=methodcaller("printed", name)) for name in names)
        return [*self.columns, *measured, *published_columns]

    def notes(self, rows: Sequence[Any]) -> Iterator[str]:
        agents, names = {name for row in rows for name in row.published}, {row.setting for row in rows}
        yield "Score: points for the team's deliveries in an episode, without shaped reward."
        if any(row.frozen for row in rows):
            yield (
                f"Frozen: steps, all seats together, in which a directive had run for over {LONG_DIRECTIVE} steps, "
                "so that its player had no choice."
            )
        yield from recovery_notes(rows)
        if any(row.swapped for row in rows):
            yield "Seats swapped: the same policies in reverse order."
        if agents:
            yield PUBLISHED_NOTE.format(published().source)
            if any(name.endswith("+ proxy") for name in agents):
                yield "The papers' proxy is a clone of people's games, proxy:bc here one of noisy and greedy play."
            yield from (note for layouts, note in LAYOUT_NOTES.items() if names & set(layouts))

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

    def outcome(self, record: Any) -> str:
        numbers = score_record(record)
        score = f"{numbers['soups']} soup{'s' * (numbers['soups'] != 1)}, score {numbers['score']:g}"
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
    env = registry.make(OVERCOOKED, layout=name, render_mode="ansi", action_level="medium")
    env.reset(seed=0)
    game: Any = env.game
    layout = game.layouts[0]
    seats = ", ".join(f"agent_{i} {name}" for i, name in enumerate(env.game.display_names))
    parts = [f"{layout.name}: {layout.description}", f"Seats: {seats}", env.render(), env.game.manual(env.arrays[0])]
    return "\n\n".join(parts)
