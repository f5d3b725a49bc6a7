"""Play egos with the partners of a pool, with themselves, and with other seeds of their method."""

from __future__ import annotations

import hashlib
import json
import logging
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta, Struct, structs

from collab_overcooked import __version__, plugins, registry
from collab_overcooked.evaluation.partner_pool import SPLITS, Best, Partner, PartnerPool
from collab_overcooked.io.checks import parse_integer
from collab_overcooked.io.files import file_digest
from collab_overcooked.io.structs import Name, Number, Text
from collab_overcooked.metrics.intervals import mean_ci
from collab_overcooked.policies.named import read_named
from collab_overcooked.policies.policy_file import Family, PolicyFile, read_policy
from collab_overcooked.policies.registry import RECORDS
from collab_overcooked.policies.specs import PolicySpec
from collab_overcooked.runner.episode import derive_seed
from collab_overcooked.runner.match import Match
from collab_overcooked.runner.records import JsonlFormat
from collab_overcooked.runner.run import Run
from collab_overcooked.runner.run_plans import Job, check_episodes
from collab_overcooked.runner.teams import MakePolicy
from collab_overcooked.runner.workers import read_workers, run_jobs

logger = logging.getLogger(__name__)

PARTNER, SELF, CROSS = "partner", "self", "cross"  # who an ego plays with
BEST = "best"  # games beside a partner that find its best response and are never scored
UNSEEN_MEMBER, UNSEEN_FAMILY, ITSELF = "unseen member", "unseen family", "itself"


class PartnerScore(Struct, frozen=True, kw_only=True):
    """Returns of an ego in one seat, beside a partner of a pool, itself or another seed of its method: a line."""

    pool: Name  # Name of the pool
    pool_sha256: Text  # Its digest
    version: Name  # Version of the package
    method: Name  # Name of the ego's method
    ego: Name  # Its policy spec
    sha256: Text  # Digest of its policy file or of its code outside the package; empty for programs of the package
    steps: Annotated[int, Meta(ge=0)] | None  # Environment steps of its training; None for programs
    mode: Name | None  # Mode of a network
    kind: Literal["partner", "self", "cross", "best"]  # Whom it plays with, and what for
    partner: Name  # Name of the partner of the pool, or policy spec of another
    family: Family  # Family of the partner
    seen: Literal["unseen member", "unseen family", "itself"]  # How new the partner is to the ego
    seat: Annotated[int, Meta(ge=0, le=63)]  # Seat of the ego
    returns: Annotated[list[Number], Meta(min_length=1, max_length=1_000_000)]  # Returns by game
    best: Best | None = None  # Best known response to the partner
    lower: Number | None = None  # Mean return of a random ego beside it
    # Number of test partners of the pool; None if the partner is none of them
    test_partners: Annotated[int, Meta(ge=1)] | None = None

    @property
    def key(self) -> tuple[str, str, str, str | None, str, str, int]:
        """Identity of a line: pool, method, ego with its mode, kind, partner and seat of the ego."""
        ego = self.sha256 or self.ego
        return (self.pool_sha256, self.method, ego, self.mode, self.kind, self.partner, self.seat)


FILE = "scores.jsonl"
LINES = JsonlFormat.of(FILE, "cell", PartnerScore, attrgetter("key"))


@dataclass(frozen=True)
class Ego:
    """Policy that is scored: a training seed of a method, or a program."""

    method: str  # Name of the method in tables
    spec: str  # Policy spec
    sha256: str = ""  # Digest of its policy file or of its code outside the package; empty for programs of the package
    # Its policy file, if it is of this package
    file: PolicyFile | None = field(default=None, compare=False, repr=False)

    @property
    def mode(self) -> str | None:
        """Mode of a network, ``"sample"`` or ``"greedy"``; None for programs."""
        if self.file is None:
            return None
        return PolicySpec.parse(self.spec).mode or self.file.mode

    def seen(self, partner: Partner) -> str:
        """Return how novel a partner is: from a family that the ego has not met, or a new member of a known family."""
        if self.file is None and self.spec == partner.policy:
            return ITSELF
        met = {partner.family for partner in self.file.met} if self.file else set()
        return UNSEEN_MEMBER if partner.family in met else UNSEEN_FAMILY


def read_egos(arguments: Sequence[str]) -> list[Ego]:
    """Read egos from texts such as ``"fcp=runs/fcp-*/policy.npz"`` or ``"greedy=greedy"``.

    Args:
        arguments: See ``policies.named.read_named``; each policy of a method is one of its training seeds, and a spec
            alone is its own method.

    Raises:
        ValueError: No ego is named, or a method has a policy twice.
    """
    egos: list[Ego] = []
    for argument in arguments:
        method, specs = read_named(argument)
        for spec in specs:
            parsed = PolicySpec.parse(spec)
            paths = parsed.paths
            file = read_policy(paths[0]) if parsed.name == "ppo" else None
            ego = Ego(method, spec, file_digest(paths[0]) if len(paths) == 1 else _code_digest(parsed), file)
            same = next(
                (other for other in egos if other.method == method and _identity(other) == _identity(ego)), None
            )
            if same is not None:
                raise ValueError(f"ego: {method} has the same policy twice, {same.spec} and {spec}")
            egos.append(ego)
    if not egos:
        raise ValueError("ego: name at least one, for example --ego greedy fcp=runs/fcp-*/policy.npz")
    return egos


def _code_digest(spec: PolicySpec) -> str:
    parts = [spec]
    for part in parts:
        parts += part.players
    records = [part.record for part in parts if part.is_known]
    is_registered = any(record not in RECORDS for record in records)
    used = [(plugins.POLICIES, record.name) for record in records]
    code = plugins.identity(used, spec.modules, imports=is_registered)
    return hashlib.sha256(json.dumps(code).encode()).hexdigest() if code else ""


def _identity(ego: Ego) -> tuple[str, str | None]:
    return (ego.sha256 or ego.spec, ego.mode)


def skip_met(pool: PartnerPool, egos: Sequence[Ego], partners: Sequence[Partner]) -> list[Ego]:
    """Return the egos that are not partners of a pool and never met one in training; log every ego that is skipped.

    Raises:
        ValueError: If there is no other.
    """
    names = {partner.name for partner in partners}
    left, reason = [], ""
    for ego in egos:
        met = [name for name in pool.met_by(ego.file, ego.sha256) if name in names] if ego.file else []
        if not met:
            left.append(ego)
            continue
        reason = (
            f"ego {ego.method}: {ego.spec} was trained beside {', '.join(met)} of pool {pool.name}, or is the same "
            "file; score it with a pool that it has not met"
        )
        logger.warning(f"skipped {reason}")
    if not left:
        raise ValueError(reason)
    return left


def plan_cells(
    pool: PartnerPool,
    egos: Sequence[Ego],
    partners: Sequence[Partner],
    episodes: int,
    among: bool = True,
    kind: str = PARTNER,
) -> Iterator[Job]:
    """Yield the cells of an evaluation.

    Args:
        pool: The pool.
        egos: Policies that are scored.
        partners: Partners of the pool.
        episodes: Games of each cell.
        among: Whether egos also play with themselves and with other seeds of their method.
        kind: ``"partner"`` for games that are scored, ``"best"`` for those that find best responses. The two
            kinds have different seeds. An ego that was trained with one partner of the pool plays only this partner in
            games of kind ``"best"``.
    """
    seats = range(pool.env.game.n_agents)
    seeds = [derive_seed(pool.seed, kind, k) for k in range(episodes)]

    def cell(ego: Ego, seat: int, team: Sequence[str], **line: Any) -> Job:
        score = PartnerScore(
            pool=pool.name,
            pool_sha256=pool.digest,
            version=__version__,
            method=ego.method,
            ego=ego.spec,
            sha256=ego.sha256,
            steps=ego.file.meta.get("steps") if ego.file else None,
            mode=ego.mode,
            seat=seat,
            returns=[],
            **line,
        )
        match = Match(env_id=pool.env_id, env_kwargs=dict(pool.env_kwargs), team=tuple(team), task="partners")
        return Job(tuple(replace(match, first=k, seed=seeds[k]) for k in range(episodes)), score, "returns")

    line: dict[str, Any]
    n_test = len(pool.select("test"))
    for ego in egos:
        beside = [partner for partner in partners if ego.file and partner.met in ego.file.met]
        for partner in beside if kind == BEST and len(beside) == 1 else partners:
            line = {"kind": kind, "partner": partner.name, "family": partner.family, "seen": ego.seen(partner)}
            line |= {"best": partner.best, "lower": partner.lower}
            line |= {"test_partners": n_test if partner.split == "test" else None}
            for seat in pool.seats(partner):
                yield cell(ego, seat, pool.team(partner, ego.spec, seat), **line)
        for other in [candidate for candidate in egos if candidate.method == ego.method] if among else ():
            among_seeds = SELF if other is ego else CROSS
            line = {"kind": among_seeds, "partner": other.spec, "family": "selfplay", "seen": ITSELF}
            for seat in seats if among_seeds == CROSS else (0,):
                yield cell(ego, seat, [ego.spec if k == seat else other.spec for k in seats], **line)


def score(
    pool: PartnerPool,
    egos: Sequence[Ego],
    out: Path,
    *,
    split: str | None = "test",
    families: Sequence[str] | None = None,
    episodes: int | None = None,
    kind: str = PARTNER,
    workers: int | str | None = None,
    make: MakePolicy | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[PartnerScore]:
    """Play all egos beside all partners of a pool, in all seats; lines are appended to ``scores.jsonl`` as they come.

    Args:
        pool: The pool.
        egos: Policies that are scored, see ``read_egos``; those that have met a partner are skipped with a warning.
        out: Folder of the results; an interrupted evaluation is continued, and further egos are added.
        split: Partners of this split; None for all.
        families: Partners of these families; None for all.
        episodes: Games of each cell; the pool's number if None.
        kind: See ``plan_cells``; egos that have met a partner may find best responses.
        workers: See ``workers.read_workers``.
        make: Factory of policies outside the registry or with shared resources, such as language models.
        progress: Called with cells done and cells in all.

    Returns:
        The lines of these egos.

    Raises:
        ValueError: No partner is of this split and these families.
    """
    chosen = read_workers(workers, default=None if make is None else 1)
    partners = pool.select(split, families)
    if not partners:
        there = ", ".join(dict.fromkeys(f"{partner.family} of split {partner.split}" for partner in pool.partners))
        raise ValueError(
            f"pool {pool.name}: no partner of split {split or ' or '.join(SPLITS)} and these families; it has {there}; "
            "choose with --split and --families"
        )
    if kind == PARTNER:
        egos = skip_met(pool, egos, partners)
    episodes = pool.episodes if episodes is None else parse_integer("episodes", episodes, 1)
    seats = sum(len(pool.seats(partner)) for partner in partners)
    others = sum(ego.method == other.method for ego in egos for other in egos) if kind == PARTNER else 0
    check_episodes((len(egos) * seats + others * pool.env.game.n_agents) * episodes)
    cells = list(plan_cells(pool, egos, partners, episodes, kind == PARTNER, kind))
    config = _config(pool, episodes)
    run: Run[PartnerScore] = Run(out, config, lines=LINES)
    with run:
        if run.results:
            logger.info(f"{out}: continuing, {len(run.results)} cells are there")
        pending = [cell for cell in cells if cell.tag.key not in run.results]
        lines = run_jobs(pending, chosen, make)
        for count, (line, returns) in enumerate(lines, len(cells) - len(pending) + 1):
            run.append(structs.replace(line, returns=returns))
            if progress is not None:
                progress(count, len(cells))
        return [run.results[cell.tag.key] for cell in cells]


def _config(pool: PartnerPool, episodes: int) -> dict[str, Any]:
    """Return what must be equal for lines to be added; code of egos is part of their keys."""
    partners = [PolicySpec.parse(pool.spec(partner)) for partner in pool.partners]
    used = {(plugins.POLICIES, partner.record.name) for partner in partners if partner.is_known}
    used.add((plugins.GAMES, registry.find(pool.env_id).id))
    modules = [module for partner in partners for module in partner.modules]
    config = {"pool": pool.name, "pool_sha256": pool.digest, "episodes": episodes, "version": __version__}
    return config | {"plugins": plugins.identity(used, modules, imports=False)}


def find_best_responses(
    pool: PartnerPool,
    egos: Sequence[Ego],
    out: Path,
    episodes: int | None = None,
    *,
    workers: int | str | None = None,
    make: MakePolicy | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> PartnerPool:
    """Return a pool with the best response to each partner among egos, and the return of ``random`` if it is one.

    Args:
        pool: The pool.
        egos: Candidates. One that was trained beside a single partner of the pool plays beside this one alone.
        out: Folder of the lines; an interrupted search is continued.
        episodes: Games per partner and seat, at least 2; the pool's number if None.
        workers: See ``workers.read_workers``.
        make: Factory of policies outside the registry or with shared resources, such as language models.
        progress: Called with cells done and cells in all.

    Raises:
        ValueError: ``episodes`` is less than 2.
    """
    episodes = pool.episodes if episodes is None else episodes
    if episodes < 2:
        raise ValueError(
            f"episodes must be at least 2, not {episodes}: half of them choose the best response, half measure it"
        )
    lines = score(
        pool, egos, out, split=None, kind=BEST, episodes=episodes, workers=workers, make=make, progress=progress
    )
    return replace(pool, partners=best_responses(pool, lines))


def best_responses(pool: PartnerPool, lines: Sequence[PartnerScore], random: str = "random") -> tuple[Partner, ...]:
    """Return the partners of a pool with the best ego of some results, and the random ego's return as lower bound.

    In each seat every other game, from the first on, chooses the best ego, the others measure its return: the highest
    of several means is too high, the mean of further games is not. A best response that a partner already has is
    replaced only if the measured return is higher.

    Args:
        pool: The pool.
        lines: Results of egos beside its partners, of ``score`` with ``kind="best"``.
        random: Method whose return is the lower bound; it is never the best response.
    """
    played: dict[str, dict[tuple[str, str], list[PartnerScore]]] = {}
    for line in lines:
        if line.kind == BEST:
            played.setdefault(line.partner, {}).setdefault((line.method, line.ego), []).append(line)
    partners = []
    for partner in pool.partners:
        egos = played.get(partner.name, {})
        measured, lower, highest = None, partner.lower, -math.inf
        for (method, spec), cells in egos.items():
            if method == random:
                lower = round(float(np.mean([value for cell in cells for value in cell.returns])), 3)
                continue
            chooses = float(np.mean([value for cell in cells for value in cell.returns[::2]]))
            if chooses > highest:
                highest = chooses
                returns = [value for cell in cells for value in cell.returns[1::2]]
                measured = best_of(returns, spec, partner.sha256)
        best = partner.best
        if measured is not None and (best is None or measured.value > best.value):
            best = measured
        partners.append(replace(partner, best=best, lower=lower))
    return tuple(partners)


def best_of(returns: Sequence[float], by: str, sha256: str) -> Best:
    """Return the pool entry of a best response: mean return and 95 % interval.

    Args:
        returns: Returns of its games beside the partner.
        by: Policy spec of the ego, or the name of a training.
        sha256: Digest of the partner's policy file, empty if it has none.
    """
    estimate = mean_ci(returns)
    assert estimate is not None
    ends = [estimate.value if end is None else end for end in (estimate.low, estimate.high)]
    value, low, high = (round(float(number), 3) for number in (estimate.value, *ends))
    return Best(value, low, high, by, len(returns), __version__, sha256)
