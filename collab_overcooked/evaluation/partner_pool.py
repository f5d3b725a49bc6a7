"""Files of partner pools: the partners with seats and families, and the return of the best response to each.

A pool is a YAML file, built-in below ``layouts/pools`` or the user's own. A partner is a policy spec; if the spec names
a policy file, the entry holds the SHA-256 of that file, so that a pool always means the same partners and an agent that
was trained beside one of them can be refused (see ``policies.policy_file.Met``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct, field, to_builtins

from collab_overcooked import registry
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.io.checks import differing_options, near_matches
from collab_overcooked.io.documents import Document, builtin_names, load_layout
from collab_overcooked.io.files import file_digest, write_atomic
from collab_overcooked.io.structs import Name, Number, Positive, Text
from collab_overcooked.metrics.intervals import Estimate
from collab_overcooked.policies.policy_file import FAMILIES, Met, PolicyFile, read_policy
from collab_overcooked.policies.specs import PolicySpec, make_known_policy
from collab_overcooked.reporting.result_table import Cell, Column, ResultTable
from collab_overcooked.runner.env_variants import effective_options
from collab_overcooked.runner.episode import Started
from collab_overcooked.runner.match import cached_env
from collab_overcooked.runner.run_plans import MAX_EPISODES

FOLDER = "pools"
SPLITS = ("train", "validation", "test")
TRAIN_FAMILIES = ("selfplay", "population", "preference", "noisy")  # no ego may train beside the others
KEYS = ("title", "env", "options", "episodes", "seed", "partners")
PARTNER_KEYS = ("name", "policy", "sha256", "family", "split", "seat", "best", "lower")
BEST_KEYS = ("return", "low", "high", "by", "games", "version", "sha256")
ANY = "any"
MAX_PARTNERS = 1_000


class Best(Struct, frozen=True, omit_defaults=True):
    """Mean return of the best known ego beside a partner."""

    value: Number = field(name="return")  # Mean return
    low: Number  # Lower end of its 95 % interval
    high: Number  # Upper end
    by: Name  # Policy spec of that ego, or the name of a training
    games: Positive  # Number of games
    version: Text = ""  # Version of the package; empty in files of versions before 1.1
    sha256: Text = ""  # Digest of the partner's policy file in these games; empty for partners without a file


@dataclass(frozen=True)
class Partner:
    """Partner of a pool."""

    name: str  # Unique in the pool
    policy: str  # Policy spec; relative paths of policy files are relative to the folder of the pool's file
    family: str  # One of ``policy_file.FAMILIES``
    split: str = "test"  # ``"train"``, ``"validation"``, by which settings are chosen, or ``"test"``
    seat: int | None = None  # Seat that the partner takes; None for any
    sha256: str = ""  # Digest of the policy file that the spec names; empty for policies without a file
    best: Best | None = None  # Best known response; None before it is measured
    # Mean return of a random ego beside the partner, which counts as a share of 0; None before it is measured
    lower: float | None = None

    @property
    def met(self) -> Met:
        """Entry of this partner in the files of policies that were trained beside it."""
        return Met(self.policy if not self.sha256 else self.name, self.sha256, self.family)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of a file."""
        optional = {"sha256": self.sha256, "best": self.best and to_builtins(self.best), "lower": self.lower}
        return {
            "name": self.name,
            "policy": self.policy,
            "family": self.family,
            "split": self.split,
            "seat": ANY if self.seat is None else self.seat,
            **{key: value for key, value in optional.items() if value not in (None, "")},
        }


@dataclass(frozen=True)
class PartnerPool:
    """Partners for one variant of a game."""

    name: str  # Name of the built-in pool, or stem of the file
    env_id: str  # Registered id
    env_kwargs: Mapping[str, Any]  # Options of the environment
    partners: tuple[Partner, ...]  # Partners in the order of the file
    title: str = ""  # One line for listings
    episodes: int = 100  # Games per partner and seat
    seed: int = 0  # Random seed of all games
    # Absolute folder that relative paths in specs start from; None for built-in pools, which have none
    folder: Path | None = None

    @property
    def env(self) -> ParallelEnv:
        """Environment of the games."""
        return cached_env(self.env_id, self.env_kwargs)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the pool's partners and options; the order of keys and measured best responses do not matter."""
        played = {"env": self.env_id, "options": dict(self.env_kwargs), "episodes": self.episodes, "seed": self.seed}
        partners = [asdict(replace(partner, best=None, lower=None)) for partner in self.partners]
        return sha256(json.dumps({**played, "partners": partners}, sort_keys=True).encode()).hexdigest()

    def partner(self, name: str) -> Partner:
        """Return a partner.

        Raises:
            ValueError: The partner is unknown.
        """
        for partner in self.partners:
            if partner.name == name:
                return partner
        names = [partner.name for partner in self.partners]
        raise ValueError(f"pool {self.name}: {near_matches('partner', name, names)}")

    def select(self, split: str | None = None, families: Collection[str] | None = None) -> tuple[Partner, ...]:
        """Return the partners of a split and of some families; None for all."""
        return tuple(
            partner
            for partner in self.partners
            if split in (None, partner.split) and (families is None or partner.family in families)
        )

    def spec(self, partner: Partner) -> str:
        """Return the partner's spec with the paths of its files resolved, for ``make_known_policy``."""
        return partner.policy if self.folder is None else PolicySpec.parse(partner.policy).resolve(self.folder).text

    def seats(self, partner: Partner) -> tuple[int, ...]:
        """Return the seats that an ego takes beside a partner: all, or all but the partner's own."""
        return tuple(seat for seat in range(self.env.game.n_agents) if seat != partner.seat)

    def team(self, partner: Partner, ego: str, seat: int) -> tuple[str, ...]:
        """Return the specs of a team with the ego in one seat and the partner in all other seats."""
        spec = self.spec(partner)
        return tuple(ego if k == seat else spec for k in range(self.env.game.n_agents))

    def met_by(self, file: PolicyFile, digest: str) -> list[str]:
        """Return the names of the partners that a trained policy has met, or is itself.

        Args:
            file: The policy.
            digest: SHA-256 of its file.
        """
        hashes = {met.sha256 for met in file.met if met.sha256} | {digest}
        specs = {met.policy for met in file.met if not met.sha256}
        return [
            partner.name
            for partner in self.partners
            if partner.sha256 in hashes or (not partner.sha256 and partner.policy in specs)
        ]


def make_partner(name: str, policy: str, family: str, folder: Path | None = None, **fields: Any) -> Partner:
    """Create a partner, with the digest of the policy file that its spec names.

    Args:
        name: Unique in the pool.
        policy: Policy spec.
        family: One of ``policy_file.FAMILIES``.
        folder: Folder that relative paths start from; None for the current one.
        **fields: Other fields of `Partner`.
    """
    spec = PolicySpec.parse(policy)
    paths = (spec if folder is None else spec.resolve(folder)).paths
    return Partner(name, policy, family, sha256=_digest(paths), **fields)


def _digest(paths: Sequence[Path]) -> str:
    if not paths:
        return ""
    digests = [file_digest(path) for path in paths]
    return digests[0] if len(digests) == 1 else sha256("".join(digests).encode()).hexdigest()


def pool_names() -> list[str]:
    """Return the names of the built-in pools."""
    return builtin_names(FOLDER)


def read_partner_pool(source: str | Path) -> PartnerPool:
    """Read a pool and check it: fields, environment, unique names, policies, files and their digests.

    Args:
        source: Name of a built-in pool, or path of a YAML file.
    """
    built_in = str(source) in pool_names()
    name, folder = (str(source), None) if built_in else (Path(source).stem, Path(source).parent.resolve())
    return _read_pool(load_layout(source, FOLDER, "pool"), name, folder)


def _read_pool(doc: Document, name: str, folder: Path | None) -> PartnerPool:
    doc.mapping(only=KEYS)
    entries = doc.listed("partners", "partners")
    if len(entries) > MAX_PARTNERS:
        raise doc.error(f"partners: {len(entries)} entries; at most {MAX_PARTNERS} are allowed", "partners")
    pool = PartnerPool(
        name=name,
        env_id=doc.text("env"),
        env_kwargs=doc.mapping("options", default={}),
        partners=tuple(_read_partner(doc, k) for k in range(len(entries))),
        title=doc.text("title", default=""),
        episodes=doc.integer("episodes", default=100, low=1, high=MAX_EPISODES),
        seed=doc.integer("seed", default=0),
        folder=folder,
    )
    _check_env(doc, pool)
    _check_partners(doc, pool)
    return pool


def _read_partner(doc: Document, k: int) -> Partner:
    at = ("partners", k)
    entry = doc.mapping(*at, only=PARTNER_KEYS)
    family = doc.choice(FAMILIES, *at, "family")
    split = doc.choice(SPLITS, *at, "split", default="test")
    if split == "train" and family not in TRAIN_FAMILIES:
        raise doc.error(
            f"family {family} is for validation and test; split train takes {', '.join(TRAIN_FAMILIES)}", *at, "split"
        )
    return Partner(
        name=doc.text(*at, "name"),
        policy=doc.text(*at, "policy"),
        family=family,
        split=split,
        seat=None if entry.get("seat", ANY) == ANY else doc.integer(*at, "seat", high=63),
        sha256=doc.text(*at, "sha256", default=""),
        best=_read_best(doc, *at, "best") if "best" in entry else None,
        lower=doc.number(*at, "lower", default=None, low=-1e9),
    )


def _read_best(doc: Document, *at: Any) -> Best:
    doc.mapping(*at, only=BEST_KEYS)
    value, low, high = (doc.number(*at, key, low=-1e9) for key in ("return", "low", "high"))
    if not low <= value <= high:
        raise doc.error(f"best: the interval from {low:g} to {high:g} does not hold the return {value:g}", *at)
    version, digest = (doc.text(*at, key, default="") for key in ("version", "sha256"))
    return Best(value, low, high, doc.text(*at, "by"), doc.integer(*at, "games", low=1), version, digest)


def _check_env(doc: Document, pool: PartnerPool) -> None:
    try:
        registry.find(pool.env_id)
    except ValueError as error:
        raise doc.error(str(error), "env") from None
    try:
        pool.env  # noqa: B018  (made once, to check the options)
    except ValueError as error:
        raise doc.error(f"options: {error}", "options") from None
    if pool.env.game.n_agents < 2:
        raise doc.error("options: partners need an environment of at least 2 agents, not 1", "options")


def _check_partners(doc: Document, pool: PartnerPool) -> None:
    names: dict[str, int] = {}
    seats = pool.env.game.n_agents
    for k, partner in enumerate(pool.partners):
        at = ("partners", k)
        if names.setdefault(partner.name, k) != k:
            raise doc.error(f"name {partner.name!r} is given to two partners; names must be unique", *at, "name")
        if partner.seat is not None and partner.seat >= seats:
            raise doc.error(f"seat must be {ANY} or an integer from 0 to {seats - 1}, not {partner.seat}", *at, "seat")
        try:
            digest = _digest(PolicySpec.parse(pool.spec(partner)).check().paths)
            _check_training(pool, partner)
        except ValueError as error:
            raise doc.error(f"partner {partner.name!r}: {error}", *at, "policy") from None
        if digest != partner.sha256:
            has = f"{digest[:12]}..." if digest else "no file"
            expected = f"{partner.sha256[:12]}..." if partner.sha256 else "none"
            raise doc.error(
                f"partner {partner.name!r}: {partner.policy} has SHA-256 {has}, the pool says {expected}: "
                f"it is another file; restore it, or write sha256: {digest or 'nothing'}",
                *(*at, "sha256" if partner.sha256 else "policy"),
            )
        if partner.best and partner.best.sha256 not in ("", digest):
            raise doc.error(
                f"partner {partner.name!r}: best was measured beside another file, with SHA-256 "
                f"{partner.best.sha256[:12]}...; measure it again with 'partners best', or delete best and lower",
                *(*at, "best"),
            )


def _check_training(pool: PartnerPool, partner: Partner) -> None:
    here = effective_options(pool.env_id, pool.env_kwargs)
    for path in PolicySpec.parse(pool.spec(partner)).paths:
        if path.suffix != ".npz":  # files of other libraries do not say
            continue
        meta = read_policy(path).meta
        if meta["env_id"] != pool.env.game.id:
            raise ValueError(f"{path} was trained on {meta['env_id']}, the pool is for {pool.env.game.id}")
        there = effective_options(meta["env_id"], meta["env_kwargs"])
        axes = [option for option in registry.load_suite(meta["env_id"]).axes if option in here]
        trained, expected = differing_options(
            *({name: options.get(name) for name in axes} for options in (there, here))
        )
        if trained:
            raise ValueError(f"{path} was trained with {trained}, the pool is for {expected}")


def check_players(pool: PartnerPool) -> None:
    """Check that every partner can be seated in the pool's environment, in every seat that it may take."""
    env, seats = pool.env, range(pool.env.game.n_agents)
    env.reset(seed=pool.seed)
    for partner in pool.partners:
        spec = pool.spec(partner)
        try:
            policy = make_known_policy(spec)
            for seat in seats if partner.seat is None else (partner.seat,):
                Started(env, "", pool.seed).reset_policy(policy, seat, (spec,) * len(seats))
        except ValueError as error:
            raise ValueError(f"pool {pool.name}: partner {partner.name!r} cannot play {pool.env_id}: {error}") from None


def pool_table(pools: Iterable[PartnerPool]) -> ResultTable:
    """Return a row for each pool: environment, options and partners by family."""
    columns = tuple(map(Column, ("pool", "environment", "options", "partners")))
    rows = []
    for pool in pools:
        counts = Counter(partner.family for partner in pool.partners)
        families = ", ".join(f"{count} {family}" for family, count in counts.items())
        options = ", ".join(f"{name}={value}" for name, value in pool.env_kwargs.items())
        rows.append((pool.name, pool.env_id, options, families))
    return ResultTable(columns, tuple(rows))


def partner_table(pool: PartnerPool) -> ResultTable:
    """Return a row for each partner of a pool."""
    columns = (
        *map(Column, ("partner", "policy", "family", "split", "seat")),
        Column("best response", "estimate", 1),
        Column("by"),
        Column("random ego", "number", 1),
    )
    rows: list[tuple[Cell, ...]] = []
    for partner in pool.partners:
        best, seat = partner.best, ANY if partner.seat is None else str(partner.seat)
        estimate = Estimate(best.value, best.low, best.high) if best else None
        names = (partner.name, partner.policy, partner.family, partner.split, seat)
        rows.append((*names, estimate, best.by if best else None, partner.lower))
    return ResultTable(columns, tuple(rows))


def write_partner_pool(path: Path, pool: PartnerPool) -> None:
    """Write a pool that ``read_partner_pool`` accepts.

    Args:
        path: YAML file; relative paths in specs are relative to its folder.
        pool: The pool; its ``name`` and ``folder`` are those of the path.
    """
    values: dict[str, Any] = {"title": pool.title} if pool.title else {}
    values |= {"env": pool.env_id, "options": dict(pool.env_kwargs), "episodes": pool.episodes, "seed": pool.seed}
    values |= {"partners": [partner.to_dict() for partner in pool.partners]}
    _read_pool(load_layout(values, FOLDER, "pool"), path.stem, path.parent.resolve())
    text: str = yaml.safe_dump(values, sort_keys=False, default_flow_style=None, width=120)
    write_atomic(path, text.encode())
