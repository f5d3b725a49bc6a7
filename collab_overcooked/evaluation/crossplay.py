"""Cross-play: every pair of policies of a pool, in both seat orders."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup
from msgspec import Struct
from msgspec import field as column

from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.envs.wrappers import split_options
from collab_overcooked.io.checks import parse_integer
from collab_overcooked.io.files import write_atomic
from collab_overcooked.io.options import list_of_names
from collab_overcooked.io.structs import Count, Number
from collab_overcooked.metrics.intervals import Estimate, mean_ci, mean_of_groups
from collab_overcooked.metrics.registry import measure
from collab_overcooked.policies.named import read_named
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.reporting.result_table import Column, ResultTable
from collab_overcooked.runner.env_variants import Variant, changed_options, variant_of
from collab_overcooked.runner.episode import episode_seed
from collab_overcooked.runner.match import Match, cached_env, plugins_of
from collab_overcooked.runner.records import CONFIG, JsonlFormat
from collab_overcooked.runner.run import Run
from collab_overcooked.runner.run_plans import Job, check_episodes
from collab_overcooked.runner.teams import MakePolicy
from collab_overcooked.runner.workers import read_workers, run_jobs

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

logger = logging.getLogger(__name__)

Array = np.ndarray
BATCH = 128  # episodes of a pair that are played at once


@dataclass(frozen=True)
class CrossPlay:
    """Returns of all pairs."""

    env_id: str  # Registered id
    env_kwargs: Mapping[str, Any]  # Options of the environment
    names: tuple[str, ...]  # Names of the policies
    specs: tuple[str, ...]  # What makes them
    # float64 (P, P, episodes): the seats' mean sum of rewards with the first policy in seat 0 and the second in all
    # other seats
    returns: Array
    seed: int  # Seed of the whole evaluation
    # Version or digest of the plug-ins that took part, see ``plugins.identity``
    plugins: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<CrossPlay: {self.title}, {', '.join(self.names)}, {self.returns.shape[-1]} episodes a pair>"

    @property
    def title(self) -> str:
        """Game and all options that differ from their defaults."""
        return Variant(self.env_id, changed_options(self.env_id, self.env_kwargs)).title

    def cell(self, first: int, second: int) -> Estimate:
        """Return mean and 95 % interval of a policy in seat 0 with another in the other seats."""
        return _estimate(self.returns[first, second])

    def pair(self, one: int, other: int) -> Estimate:
        """Return mean and interval of two policies as a team, over both seat orders."""
        if one == other:
            return self.cell(one, one)
        return _estimate(np.concatenate([self.returns[one, other], self.returns[other, one]]))

    def with_others(self, one: int) -> Estimate | None:
        """Return mean and interval of a policy with all other policies of the pool; None for a pool of one."""
        others = [k for k in range(len(self.names)) if k != one]
        played = [np.concatenate([self.returns[one, k], self.returns[k, one]]) for k in others]
        return mean_of_groups([returns.tolist() for returns in played])

    def best_responses(self) -> list[int]:
        """Return the index of each policy's best partner in the pool, which may be the policy itself."""
        means = self._means()
        return [int(means[:, k].argmax()) for k in range(len(self.names))]

    def normalised(self, one: int) -> float | None:
        """Return the mean over partners of the return with a partner divided by the return of its best response.

        The best response is the best policy of the pool, so 1 means the best known play with every partner. None if
        there are no partners, or if no policy earns anything with one of them.
        """
        means, best = self._means(), self.best_responses()
        others = [k for k in range(len(self.names)) if k != one]
        if not others or any(means[best[k], k] <= 0 for k in others):
            return None
        return float(np.mean([means[one, k] / means[best[k], k] for k in others]))

    def _means(self) -> Array:
        means = self.returns.mean(-1)
        return (means + means.T) / 2

    def to_dict(self) -> dict[str, Any]:
        """Return the cross-play as JSON values."""
        numbers = range(len(self.names))
        best = self.best_responses()
        policies = {
            name: {
                "self_play": _numbers(self.cell(i, i)),
                "cross_play": _numbers(self.with_others(i)),
                "best_response": self.names[best[i]],
                "normalised": self.normalised(i),
            }
            for i, name in enumerate(self.names)
        }
        return {
            "env_id": self.env_id,
            "env_kwargs": dict(self.env_kwargs),
            "title": self.title,
            "seed": self.seed,
            "episodes": self.returns.shape[-1],
            "pool": dict(zip(self.names, self.specs, strict=True)),
            **({"plugins": dict(self.plugins)} if self.plugins else {}),
            "matrix": [[_numbers(self.cell(i, j)) for j in numbers] for i in numbers],
            "policies": policies,
            "returns": self.returns.tolist(),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """Return the matrix as a pandas DataFrame: means with the ends of their intervals."""
        return self.table().to_pandas()

    def table(self) -> ResultTable:
        """Return the matrix of mean returns: rows are policies of seat 0, columns the policy of all other seats."""
        numbers = range(len(self.names))
        columns = (Column("seat 0, others"), *(Column(name, "estimate", 1, key=f"with {name}") for name in self.names))
        return ResultTable(columns, tuple((self.names[i], *(self.cell(i, j) for j in numbers)) for i in numbers))

    def policy_table(self) -> ResultTable:
        """Return a table with one row per policy: self-play, cross-play and best response."""
        best = self.best_responses()
        columns = (
            Column("policy"),
            Column("self-play", "estimate", 1),
            Column("with the others", "estimate", 1),
            Column("best response to it"),
            Column("normalised", "number", 2),
        )
        rows = (
            (name, self.cell(i, i), self.with_others(i), self.names[best[i]], self.normalised(i))
            for i, name in enumerate(self.names)
        )
        return ResultTable(columns, tuple(rows))

    def markdown(self) -> str:
        """Return the matrix, and a row for each policy, as Markdown tables."""
        note = f"Mean return with 95 % interval, {self.returns.shape[-1]} episodes a cell, {self.title}."
        return f"{self.table().markdown()}\n\n{self.policy_table().markdown()}\n\n{note}\n"

    def heat_map(self) -> Figure:
        """Return the matrix as a picture."""
        from collab_overcooked.reporting.plots import heat_map

        return heat_map(self.returns.mean(-1), self.names, self.names, ("seat 0", "other seats"), "mean return", 1)

    def svg(self) -> Markup:
        """Return the matrix as an element of a page."""
        from collab_overcooked.reporting.plots import draw_heat_map

        numbers, column = range(len(self.names)), Column("", "estimate", 1)
        cells = (
            f"{self.names[i]} with {self.names[j]}: {column.with_interval(self.cell(i, j))}"
            for i in numbers
            for j in numbers
        )
        text = f"Mean return of every pair of policies. {'; '.join(cells)}"
        return draw_heat_map(self.returns.mean(-1), self.names, ("seat 0", "other seats"), "mean return", text)

    def write(self, folder: Path) -> None:
        """Write ``crossplay.json``, ``crossplay.md`` and ``crossplay.png``."""
        from collab_overcooked.reporting.plots import save_figure

        write_atomic(folder / "crossplay.json", json.dumps(self.to_dict(), indent=1).encode() + b"\n")
        write_atomic(folder / "crossplay.md", self.markdown().encode())
        save_figure(self.heat_map(), folder / "crossplay.png")


def from_records(policies: Sequence[str], records: Sequence[EpisodeRecord], seed: int = 0) -> CrossPlay | None:
    """Return the cross-play that records of teams of at most two kinds hold; None if a pair is missing.

    Args:
        policies: Texts; other teams are left out.
        records: Episodes of one variant of a game; the least that any pair has are counted of each.
        seed: Of the whole evaluation.

    Raises:
        ValueError: The records are of several variants of a game.
    """
    variants = dict.fromkeys(variant_of(record).title for record in records)
    if len(variants) > 1:
        raise ValueError(f"records: cross-play is of one variant of a game, these are of {'; '.join(variants)}")
    parsed: dict[tuple[str, str], list[tuple[str, int, float]]] = {}
    for record in records:
        ego, *others = record.team.values()
        if len(set(others)) == 1 and {ego, others[0]} <= set(policies):
            value = measure(record, ["return"])["return"]
            parsed.setdefault((ego, others[0]), []).append((record.task, record.episode, value))
    pairs = [[parsed.get((policy, other), []) for other in policies] for policy in policies]
    least = min((len(cell) for row in pairs for cell in row), default=0)
    if not least:
        return None
    most = max(len(cell) for row in pairs for cell in row)
    if most > least:
        logger.warning(f"cross-play: pairs have {least} to {most} episodes; the first {least} of each count")

    def first_returns(cell: Sequence[tuple[str, int, float]]) -> list[float]:
        return [value for *_, value in sorted(cell)[:least]]

    returns = np.array([list(map(first_returns, row)) for row in pairs])
    first = records[0]
    options = {
        name: value
        for name, value in first.env_kwargs.items()
        if all(record.env_kwargs.get(name) == value for record in records)
    }
    return CrossPlay(first.env_id, options, tuple(policies), tuple(policies), returns, seed)


def _estimate(returns: Array) -> Estimate:
    estimate = mean_ci(returns.tolist())
    assert estimate is not None
    return estimate


def _numbers(estimate: Estimate | None) -> list[float | None] | None:
    return None if estimate is None else [estimate.value, estimate.low, estimate.high]


def read_pool(texts: str | Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Read policies, see ``policies.named.read_named``; several files of one name are numbered.

    Returns:
        Names and texts.

    Raises:
        ValueError: The pool is empty, or a name is given twice.
    """
    names: list[str] = []
    specs: list[str] = []
    for text in list_of_names(texts):
        name, files = read_named(text)
        names += [name] if len(files) == 1 else [f"{name} {number}" for number in range(1, len(files) + 1)]
        specs += files
    if not names:
        raise ValueError("pool: name at least one policy, for example --pool greedy random")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"pool: {name!r} is given twice; call one of them otherwise with name=policy")
    return tuple(names), tuple(specs)


def cross_play(
    env_id: str,
    pool: str | Sequence[str],
    *,
    options: Mapping[str, Any] | None = None,
    episodes: int = 20,
    seed: int = 0,
    workers: int | str | None = None,
    make: MakePolicy | None = None,
    progress: Callable[[int, int], None] | None = None,
    out: Path | None = None,
    batch_size: int = BATCH,
) -> CrossPlay:
    """Play every pair of policies of a pool, in both seat orders.

    A pair's episode ``k`` has the same environment seed as every other pair's, so that differences are not luck.

    Args:
        env_id: Registered id.
        pool: See ``read_pool``.
        options: Options of the environment.
        episodes: Number of episodes of each ordered pair.
        seed: Seed of the evaluation.
        workers: See ``workers.read_workers``; threads of this process with ``make``.
        make: Turns policy texts into policies; the registry of policies if None.
        progress: Called with episodes done and episodes in all.
        out: Run folder, where each episode is kept as it ends; a cross-play of the same pool that was interrupted there
            is continued, and one of fewer episodes extended; one of more is refused. None to keep nothing.
        batch_size: Most episodes of a pair that are played at once; returns do not depend on it.

    Raises:
        ValueError: For an unknown environment, option or policy, one that cannot play the game, a bad number, or a
            folder with another cross-play in it.
    """
    episodes, seed = parse_integer("episodes", episodes, 1), parse_integer("seed", seed, 0)
    chosen = read_workers(workers, default=None if make is None else 1)
    batch_size = parse_integer("batch_size", batch_size, 1)
    names, specs = read_pool(pool)
    check_episodes(len(specs) ** 2 * episodes)
    for spec in specs:
        (make or make_policy)(spec)  # refuses unknown ones
    game = cached_env(env_id, options or {}).game
    returns = np.zeros((len(names), len(names), episodes))
    named, plugins = dict(zip(names, specs, strict=True)), plugins_of([game.id], specs)
    config = {"env_id": game.id, "env_kwargs": dict(options or {}), "pool": named, "seed": seed, "plugins": plugins}
    if out is not None and (out / "crossplay.json").exists() and not (out / CONFIG).exists():
        raise ValueError(f"{out}: holds crossplay.json but no {CONFIG}; choose another folder")
    run: Run[CellReturn] = Run(out, config, lines=LINES)
    with run:
        done = run.results
        run.check_planned(np.ndindex(returns.shape), lambda cell: f"episode {cell[2]} of cell {cell[:2]}")
        if done:
            logger.info(f"{out}: continuing, {len(done)} episodes are there")
        pairs = np.ndindex(len(specs), len(specs))
        missing = {pair: [k for k in range(episodes) if (*pair, k) not in done] for pair in pairs}
        cells = plan_pairs(game.id, options or {}, specs, missing, seed, batch_size)
        for played, values in run_jobs(cells, chosen, make):
            for cell, value in zip(played, values, strict=True):
                run.append(CellReturn(cell, value))
                if progress is not None:
                    progress(len(done), returns.size)
    returns[:] = np.reshape([done[cell].value for cell in np.ndindex(returns.shape)], returns.shape)
    wrapper, _ = split_options(options or {})
    limit = {name: value for name, value in wrapper.items() if name == "max_cycles"}
    return CrossPlay(game.id, game.kwargs | limit, names, specs, returns, seed, plugins)


def plan_pairs(
    env_id: str,
    options: Mapping[str, Any],
    specs: Sequence[str],
    missing: Mapping[Any, Sequence[int]],
    seed: int,
    batch_size: int,
) -> list[Job]:
    """Return jobs that play the missing episodes of every ordered pair, at most ``batch_size`` episodes each."""
    others = cached_env(env_id, options).game.n_agents - 1
    jobs = []
    for (one, other), episodes in missing.items():
        for first in range(0, len(episodes), batch_size):
            numbers = episodes[first : first + batch_size]
            team = (specs[one], *[specs[other]] * others)
            kind = Match(env_id=env_id, env_kwargs=dict(options), team=team, task="crossplay")
            games = tuple(replace(kind, first=k, seed=episode_seed(seed, kind.task, k)) for k in numbers)
            jobs.append(Job(games, [(one, other, k) for k in numbers], "returns"))
    return jobs


class CellReturn(Struct, frozen=True):
    """Return of an episode, as the journal of a cross-play has it."""

    cell: tuple[Count, Count, Count]  # The policy in seat 0, that in the other seats, and the episode, by number
    value: Number = column(name="return")


LINES = JsonlFormat.of("returns.jsonl", "episode", CellReturn, lambda line: line.cell)
