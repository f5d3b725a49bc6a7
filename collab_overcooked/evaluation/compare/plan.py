"""Who plays what, where: the draw of a comparison, settled before anything is played and kept beside the records."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from collab_overcooked import __version__, registry
from collab_overcooked.errors import near_matches
from collab_overcooked.evaluation.benchmark import BUDGETS, Arena, Contest
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.policies.api import EnvInfo, Policy
from collab_overcooked.policies.policy_file import shipped_policies
from collab_overcooked.policies.registry import kind_of, make_policy
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.runner.episode import Limits
from collab_overcooked.runner.jobs import Evaluation, cached_env
from collab_overcooked.runner.records import RecordError, write_whole
from collab_overcooked.runner.teams import MakePolicy

DRAW = "comparison.json"
SCRIPTED = (
    "random",
    "noisy:0.1",
    "greedy",
    "planner",
    "scheduler",
    "solver",
    "selfish",
)  # that need neither key nor file


@dataclass(frozen=True)
class Entry:
    """One team in one arena, with a run folder of its own.

    Attributes:
        game: Name of the suite.
        arena: Name of the arena.
        team: The policy of the first seat and that of all others.
        folder: Below that of the comparison.
        paired: Whether it is part of the cross-play.
    """

    game: str
    arena: str
    team: tuple[str, str]
    folder: str
    paired: bool = False

    @property
    def words(self) -> list[str]:
        """The team as suites read it."""
        first, others = self.team
        return [f"all={others}"] if first == others else [f"agent_0={first}", f"all={others}"]


@dataclass(frozen=True)
class Absence:
    """Why a policy is not on a board.

    Attributes:
        game: Name of the suite.
        arena: Name of the arena.
        policy: Its text.
        reason: In words.
    """

    game: str
    arena: str
    policy: str
    reason: str


@dataclass(frozen=True)
class Draw:
    """All that a comparison consists of.

    Attributes:
        games: Names of the suites.
        policies: Texts.
        budget: One of ``contests.BUDGETS``.
        episodes: Instead of what the budget says; None for that.
        seed: Of all plans.
        crossplay: Whether every policy plays with every other.
        limits: Bounds of conversations and corrections.
        entries: What is played.
        absences: What is not, and why.
        version: Of the package.
    """

    games: tuple[str, ...]
    policies: tuple[str, ...]
    budget: str = "small"
    episodes: int | None = None
    seed: int = 0
    crossplay: bool = True
    limits: Limits = field(default_factory=Limits)
    entries: tuple[Entry, ...] = ()
    absences: tuple[Absence, ...] = ()
    version: str = __version__

    def contest(self, game: str) -> Contest:
        """Return what is compared in a game, with the number of episodes that was asked for."""
        contest: Contest = registry.load_suite(game).contest(self.budget)
        if self.episodes is None:
            return contest

        def changed(arena: Arena) -> Arena:
            return replace(arena, given={**arena.given, contest.repeats: self.episodes})

        return replace(contest, arenas=tuple(map(changed, contest.arenas)), pairs=changed(contest.pairs))

    def plans(self) -> dict[Entry, Evaluation]:
        """Return what the entries play; checks and reads everything again."""
        return {entry: self.plan(entry) for entry in self.entries}

    def plan(self, entry: Entry) -> Evaluation:
        """Return what an entry plays."""
        contest = self.contest(entry.game)
        arena = contest.pairs if entry.paired else next(one for one in contest.arenas if one.name == entry.arena)
        return plan_evaluation(entry.game, entry.words, seed=self.seed, limits=self.limits, **arena.given)

    def write(self, out: Path) -> None:
        """Write the draw into the folder of the comparison."""
        out.mkdir(parents=True, exist_ok=True)
        write_whole(out / DRAW, json.dumps(asdict(self), indent=1).encode() + b"\n")


def read_draw(out: Path) -> Draw:
    """Read the draw of a comparison.

    Raises:
        RecordError: If the folder holds none, or a damaged one.
    """
    path = out / DRAW
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        entries = tuple(Entry(**{**own, "team": tuple(own["team"])}) for own in values.pop("entries"))
        absences = tuple(Absence(**own) for own in values.pop("absences"))
        lists = {name: tuple(values.pop(name)) for name in ("games", "policies")}
        return Draw(**values | lists | {"limits": Limits(**values["limits"]), "entries": entries, "absences": absences})
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise RecordError(f"{path}: is no draw of a comparison: {error}") from None


def default_policies() -> tuple[str, ...]:
    """Return all policies that need neither key nor file."""
    return (*SCRIPTED, *(f"ppo:{name}" for name in shipped_policies()))


def make_draw(
    policies: Sequence[str] | None = None,
    games: Sequence[str] | None = None,
    *,
    budget: str = "small",
    episodes: int | None = None,
    seed: int = 0,
    crossplay: bool = True,
    limits: Limits | None = None,
    make: MakePolicy | None = None,
) -> Draw:
    """Settle who plays what.

    Args:
        policies: Texts; all that need neither key nor file if None.
        games: Names of suites; all with games of their own if None.
        budget: One of ``contests.BUDGETS``.
        episodes: Instead of what the budget says.
        seed: Of all plans.
        crossplay: Whether every policy plays with every other.
        limits: Bounds of conversations and corrections.
        make: Turns policy texts into policies; the registry of policies if None.

    Raises:
        ValueError: For an unknown policy, game or budget, one that is named twice, or a bad number.
    """
    known = list(registry.first_suites())
    chosen = tuple(known if games is None else games)
    specs = default_policies() if policies is None else tuple(policies)
    for game in chosen:
        if game not in known:
            raise ValueError(near_matches("game", game, known))
    _check_names(specs, chosen)
    if budget not in BUDGETS:
        raise ValueError(near_matches("budget", budget, BUDGETS))
    draw = Draw(chosen, specs, budget, episodes, seed, crossplay, limits or Limits())
    players = {spec: (make or make_policy)(spec) for spec in specs}
    entries: list[Entry] = []
    absences: list[Absence] = []
    for game in chosen:
        contest = draw.contest(game)
        for arena in contest.arenas:
            reasons = _reasons(draw, game, arena, players)
            entries += [
                Entry(game, arena.name, (spec, spec), f"{game}/{_slug(arena.name)}/{_slug(spec)}")
                for spec, reason in reasons.items()
                if reason is None
            ]
            absences += [Absence(game, arena.name, spec, reason) for spec, reason in reasons.items() if reason]
        if crossplay:
            reasons = _reasons(draw, game, contest.pairs, players)
            entries += _pairs(game, contest, [spec for spec, reason in reasons.items() if reason is None])
    return replace(draw, entries=tuple(entries), absences=tuple(absences))


def _check_names(policies: Sequence[str], games: Sequence[str]) -> None:
    for spec in policies:
        kind_of(spec)
    for name, values in (("policies", policies), ("games", games)):
        for value in values:
            if values.count(value) > 1:
                raise ValueError(f"{name}: {value!r} is given twice")


def _pairs(game: str, contest: Contest, specs: Sequence[str]) -> list[Entry]:
    """Return the teams of the cross-play, every policy with itself among them; nothing for a single policy."""
    if len(specs) < 2:
        return []
    teams = [
        (one, other)
        for i, one in enumerate(specs)
        for j, other in enumerate(specs)
        if i <= j or not contest.both_orders
    ]
    return [
        Entry(game, contest.pairs.name, team, f"{game}/crossplay/{'+'.join(map(_slug, team))}", True) for team in teams
    ]


def _reasons(draw: Draw, game: str, arena: Arena, players: Mapping[str, Policy]) -> dict[str, str | None]:
    """Return for each policy why it does not play an arena; None if it does."""
    plan = plan_evaluation(game, ["all=random"], seed=draw.seed, limits=draw.limits, **arena.given)
    job = plan.jobs[0]
    env = cached_env(job.env_id, job.env_kwargs)
    return {spec: _reason(player, env.game, job.task, arena) for spec, player in players.items()}


def _reason(player: Policy, game: Any, task: str, arena: Arena) -> str | None:
    trained: Mapping[str, Any] = getattr(player, "trained_on", {})
    try:
        simulator = Simulator(game, game.alloc(1)[0], 0)
        player.reset(0, EnvInfo(game.id, game, task, (player.name,) * game.n_agents, simulator), 0)
    except ValueError as error:
        return str(error)
    for name, wanted in arena.axes.items():
        own = trained.get(name)
        if own is not None and wanted not in (own if isinstance(own, list | tuple) else [own]):
            return f"trained on {name} {own}"
    return None


def _slug(text: str) -> str:
    """Return a text as the name of a folder; should two be alike, their run folders refuse to be mixed."""
    return re.sub(r"[^A-Za-z0-9._=]+", "-", text)
