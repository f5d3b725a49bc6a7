"""Plan of a comparison: policies, games and settings, fixed before anything is played and kept beside the records."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, field, json, structs

from collab_overcooked import __version__, registry
from collab_overcooked.evaluation.benchmark import BUDGETS, Benchmark, NothingToPlay, Setting
from collab_overcooked.evaluation.suites import plan_known_team
from collab_overcooked.io.checks import check_distinct, near_matches, quote_value
from collab_overcooked.io.files import read_text, write_atomic
from collab_overcooked.io.options import list_of_names
from collab_overcooked.io.schema import SchemaError
from collab_overcooked.io.structs import Name, Positive, Text, decode, encode
from collab_overcooked.policies.api import EnvInfo, Policy
from collab_overcooked.policies.policy_file import builtin_policies, is_stand_in
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.policies.shown_game import shown_game
from collab_overcooked.policies.specs import PolicySpec, make_known_policy
from collab_overcooked.policies.trained import NetworkPolicy
from collab_overcooked.reporting.floors import RULE_SPECS
from collab_overcooked.runner.env_variants import env_key
from collab_overcooked.runner.episode import Limits
from collab_overcooked.runner.match import MatchPlan
from collab_overcooked.runner.records import RecordError
from collab_overcooked.runner.teams import MakePolicy

PLAN = "comparison.json"
SCRIPTED = ("random", "noisy:0.1", "greedy", "planner", "selfish", "rhp", "mhp")  # without key and file


class Entry(Struct, frozen=True):
    """Team in a setting, with a separate run folder."""

    game: Name  # Name of the suite
    setting: Name  # Name of the setting
    team: tuple[Name, Name]  # The policy of the first seat and that of all others
    folder: Name  # Below that of the comparison
    paired: bool = False  # Whether it is part of the cross-play

    def __post_init__(self) -> None:
        if Path(self.folder).is_absolute() or ".." in Path(self.folder).parts or "\0" in self.folder:
            raise ValueError(f"folder must be a folder below that of the comparison, not {quote_value(self.folder)}")

    @property
    def assignments(self) -> list[str]:
        """Return the team as ``seat=policy`` texts."""
        first, others = self.team
        return [f"all={others}"] if first == others else [f"agent_0={first}", f"all={others}"]


class Skipped(Struct, frozen=True):
    """Policy that is not on a leaderboard."""

    game: Name  # Name of the suite
    setting: Name  # Name of the setting
    policy: Name  # Its text
    reason: Text  # Sentence that says why


class ComparisonPlan(Struct, frozen=True, forbid_unknown_fields=True):
    """All that a comparison consists of."""

    games: tuple[Name, ...]  # Names of the suites
    policies: tuple[Name, ...]  # Texts
    budget: Name = "small"  # One of ``benchmark.BUDGETS``
    episodes: Positive | None = None  # Instead of what the budget says; None for that
    seed: Annotated[int, Meta(ge=0)] = 0  # Seed of all plans
    crossplay: bool = True  # Whether every policy plays with every other
    limits: Limits = field(default_factory=Limits)  # Bounds of conversations and corrections
    # Options of the environment by suite, instead of the defaults
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    only: tuple[Name, ...] = ()  # Names of the settings of the leaderboards; empty for all of the budget
    entries: tuple[Entry, ...] = ()  # What is played
    skipped: tuple[Skipped, ...] = ()  # What is not, and why
    version: Name = __version__  # Version of the package

    def __post_init__(self) -> None:
        if self.budget not in BUDGETS:
            raise ValueError(near_matches("budget", self.budget, BUDGETS))
        _check_names(self.policies, self.games, self.options)

    def benchmark(self, game: str) -> Benchmark:
        """Return the benchmark of a game, limited to the chosen settings and number of episodes.

        Raises:
            ValueError: A setting is unknown.
        """
        benchmark: Benchmark = registry.load_suite(game).benchmark(self.budget)
        if self.only:
            chosen = tuple(setting for setting in benchmark.settings if setting.name in self.only)
            if not chosen:
                names = [setting.name for setting in benchmark.settings]
                raise ValueError(near_matches(f"setting of {game}", ", ".join(self.only), names))
            benchmark = replace(benchmark, settings=chosen)
        if self.episodes is None:
            return benchmark

        def changed(setting: Setting) -> Setting:
            return replace(setting, suite_options={**setting.suite_options, benchmark.repeats: self.episodes})

        return replace(benchmark, settings=tuple(map(changed, benchmark.settings)), pairs=changed(benchmark.pairs))

    def runs(self, out: Path) -> list[tuple[MatchPlan, Path]]:
        """Return the match plan and run folder of every entry; settings and files are checked again."""
        return [(self.plan_of(entry), out / entry.folder) for entry in self.entries]

    def plan_of(self, entry: Entry) -> MatchPlan:
        """Return the match plan of an entry.

        Raises:
            ValueError: The setting of the entry is unknown.
        """
        benchmark = self.benchmark(entry.game)
        settings = {setting.name: setting for setting in (benchmark.pairs, *benchmark.settings)}
        if not entry.paired and entry.setting not in settings:
            raise ValueError(near_matches(f"setting of {entry.game}", entry.setting, settings))
        return self.planned(entry.game, entry.assignments, benchmark.pairs if entry.paired else settings[entry.setting])

    def planned(self, game: str, team: Sequence[str], setting: Setting) -> MatchPlan:
        """Return the match plan of a team in a setting."""
        options = self.options.get(game, {})
        return plan_known_team(game, team, seed=self.seed, limits=self.limits, options=options, **setting.suite_options)

    def write(self, out: Path) -> None:
        """Write the plan into the folder of the comparison."""
        write_atomic(out / PLAN, json.format(encode(self), indent=1) + b"\n")


def read_plan(out: Path) -> ComparisonPlan:
    """Read the plan of a comparison.

    Raises:
        RecordError: The file is not the plan of a comparison.
    """
    path = out / PLAN
    try:
        return decode(read_text(path, error=RecordError), ComparisonPlan)
    except SchemaError as error:
        raise RecordError(f"{path}: is not a plan of a comparison: {error}") from None


def compared_suites() -> list[str]:
    """Return all suites that comparisons can use: suites of one game, then suites of several games."""
    return [*registry.first_suites(), *registry.COMMON_SUITES]


def default_policies() -> tuple[str, ...]:
    """Return all policies that need neither key nor file, except stand-ins for people."""
    trained = (name for name in builtin_policies() if not is_stand_in(name))
    return (*SCRIPTED, *RULE_SPECS, *(f"ppo:{name}" for name in trained))


def is_blind(spec: str) -> bool:
    """Return whether a policy is a blind rule. Blind rules share a leaderboard line and play no cross-play."""
    return PolicySpec.parse(spec).is_blind


def make_plan(
    policies: str | Sequence[str] | None = None,
    games: str | Sequence[str] | None = None,
    *,
    budget: str = "small",
    episodes: int | None = None,
    seed: int = 0,
    crossplay: bool = True,
    limits: Limits | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    only: Sequence[str] = (),
    make: MakePolicy | None = None,
) -> ComparisonPlan:
    """Plan which policies play which settings of which games.

    Args:
        policies: Texts; all that need neither key nor file if None.
        games: Names of suites; all with a game of their own if None.
        budget: One of ``benchmark.BUDGETS``.
        episodes: Instead of what the budget says.
        seed: Seed of all plans.
        crossplay: Whether every policy plays with every other.
        limits: Bounds of conversations and corrections.
        options: Options of the environment by suite.
        only: Names of settings, such as layouts, of the leaderboards; all of the budget if empty.
        make: Turns policy texts into policies; the registry of policies if None.
    """
    chosen = tuple(registry.first_suites()) if games is None else list_of_names(games)
    specs = default_policies() if policies is None else list_of_names(policies)
    for spec in specs:
        PolicySpec.parse(spec).permit()
    plan = ComparisonPlan(chosen, specs, budget, episodes, seed, crossplay, limits or Limits(), options or {})
    known = {setting.name: None for game in chosen for setting in registry.load_suite(game).benchmark(budget).settings}
    plan = structs.replace(plan, only=_with_commas(list_of_names(only), list(known)))
    players = {spec: (make or make_known_policy)(spec) for spec in specs}
    folders = _folders(specs)
    entries: list[Entry] = []
    skipped: list[Skipped] = []
    for game in chosen:
        benchmark = plan.benchmark(game)
        for setting in benchmark.settings:
            reasons = _reasons(plan, game, setting, players)
            entries += [
                Entry(game, setting.name, (spec, spec), f"{game}/{_slug(setting.name)}/{folders[spec]}")
                for spec, reason in reasons.items()
                if reason is None
            ]
            skipped += [Skipped(game, setting.name, spec, reason) for spec, reason in reasons.items() if reason]
        if crossplay and benchmark.mixed_teams:
            reasons = _reasons(plan, game, benchmark.pairs, players)
            partners = [spec for spec, reason in reasons.items() if reason is None and not is_blind(spec)]
            entries += _pairs(game, benchmark, partners, folders)
    return structs.replace(plan, entries=tuple(entries), skipped=tuple(skipped))


def _with_commas(parts: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Join names of settings that contain a comma, such as "easy, kitchen", after a command line has split them."""
    names: list[str] = []
    while parts:
        ends = range(len(parts), 0, -1)
        end = next((end for end in ends if ", ".join(parts[:end]) in known), 0)
        if not end:
            raise ValueError(near_matches("setting", parts[0], known))
        names.append(", ".join(parts[:end]))
        parts = parts[end:]
    return tuple(names)


def _check_names(policies: Sequence[str], games: Sequence[str], options: Mapping[str, Any]) -> None:
    known = compared_suites()
    for game, allowed in [*((game, known) for game in games), *((game, games) for game in options)]:
        if game not in allowed:
            raise ValueError(near_matches("game", game, allowed))
    for spec in policies:
        PolicySpec.parse(spec).check()
    for name, values in (("policies", policies), ("games", games)):
        check_distinct(name, values)


def _pairs(game: str, benchmark: Benchmark, specs: Sequence[str], folders: Mapping[str, str]) -> list[Entry]:
    if len(specs) < 2:
        return []
    teams = [
        (one, other)
        for i, one in enumerate(specs)
        for j, other in enumerate(specs)
        if i <= j or not benchmark.both_orders
    ]
    return [
        Entry(game, benchmark.pairs.name, team, f"{game}/crossplay/{'+'.join(folders[spec] for spec in team)}", True)
        for team in teams
    ]


def _reasons(plan: ComparisonPlan, game: str, setting: Setting, players: Mapping[str, Policy]) -> dict[str, str | None]:
    reasons: dict[str, str | None] = {}
    games: dict[str, Any] = {}
    for spec, player in players.items():
        try:
            match = plan.planned(game, [f"all={spec}"], setting).matches[0]
        except NothingToPlay as error:
            reasons[spec] = str(error)
            continue
        variant = env_key(match.env_id, match.env_kwargs)  # who plays can decide how
        games[variant] = games.get(variant) or match.load_game()
        reasons[spec] = _reason(player, games[variant], match.task, setting)
    return reasons


def _reason(player: Policy, game: Any, task: str, setting: Setting) -> str | None:
    trained = player.trained_on if isinstance(player, NetworkPolicy) else {}
    try:
        game = shown_game(player, game)
        simulator = Simulator(game, game.alloc(1)[0], 0)
        player.reset(0, EnvInfo(game.id, game, task, (player.name,) * game.n_agents, simulator), 0)
    except ValueError as error:
        return str(error)
    for name, required in setting.axes.items():
        value = trained.get(name)
        if value is not None and required not in (value if isinstance(value, list | tuple) else [value]):
            return f"trained on {name} {value}"
    return None


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._=]+", "-", text)


def _folders(specs: Sequence[str]) -> dict[str, str]:
    """Return a name of a folder for each policy, with a digest where that of another one would be the same."""
    counts = Counter(map(_slug, specs))
    names = {}
    for spec in specs:
        name = _slug(spec)
        names[spec] = name if counts[name] == 1 else f"{name}-{hashlib.sha256(spec.encode()).hexdigest()[:8]}"
    return names
