"""The commands ``partners``: pools of partners, and scores of agents beside partners that they have never met."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from collab_overcooked.cli.app import OUT, command_group, say
from collab_overcooked.cli.evaluate import policy_factory
from collab_overcooked.cli.options import LlmOptions, several
from collab_overcooked.cli.progress import ProgressBar
from collab_overcooked.io.checks import parse_integer

partners_app = command_group("partners", "Evaluate agents beside partners that they have never met.")

PoolOpt = Annotated[str, Parameter(help="Built-in pool or path of a YAML file.")]
PoolArg = Annotated[PoolOpt, Parameter(name="POOL")]


@partners_app.command(name="list")
def list_pools() -> None:
    """List the built-in pools with their environments, families and numbers of partners."""
    from collab_overcooked.evaluation.partner_pool import pool_names, pool_table, read_partner_pool

    OUT.print(pool_table([read_partner_pool(name) for name in pool_names()]).markdown())


@partners_app.command(name="show")
def show_pool(pool: PoolArg, /) -> None:
    """Show the partners of a pool: policy, family, split, seat, best response and lower bound."""
    from collab_overcooked.evaluation.partner_pool import partner_table, read_partner_pool

    read = read_partner_pool(pool)
    OUT.print(
        f"{read.name}: {read.title or read.env_id}; {read.episodes} episodes per partner and seat, seed {read.seed}"
    )
    OUT.print(partner_table(read).markdown())


@partners_app.command(name="check")
def check_pools(
    *pools: Annotated[str, Parameter(name="POOL", required=True, help="Built-in pools or paths of YAML files.")],
) -> None:
    """Check pools: fields, environment, unique names, policy files, their digests, and that every partner can play."""
    from collab_overcooked.evaluation.partner_pool import check_players, read_partner_pool

    for source in pools:
        pool = read_partner_pool(source)
        check_players(pool)
        families = ", ".join(dict.fromkeys(partner.family for partner in pool.partners))
        OUT.print(f"{pool.name}: {len(pool.partners)} partners of {families}; SHA-256 {pool.digest[:16]}")


EgoOpt = Annotated[list[str], several("Policies or METHOD=FILE with wildcards, one file per training seed.")]
EpisodesOpt = Annotated[int | None, Parameter(help="Episodes per partner and seat. Default: the pool's.")]
FamiliesOpt = Annotated[list[str] | None, several("Families of partners. Default: all.")]
WorkersOpt = Annotated[
    str | None,
    Parameter(help="Number of worker processes, or ray[:ADDRESS]. Default: one per core, one with language models."),
]


@partners_app.command(name="play")
def play_partner(
    pool: PoolArg,
    partner: Annotated[str, Parameter(help="Name of the partner, as printed by 'partners show'.")],
    /,
    *,
    ego: Annotated[str, Parameter(help="Policy in the seat beside it.")] = "greedy",
    episodes: Annotated[int, Parameter(help="Episodes per seat.")] = 1,
) -> None:
    """Play games beside one partner and print their returns."""
    from collab_overcooked.evaluation.partner_pool import read_partner_pool
    from collab_overcooked.evaluation.partner_scores import plan_cells, read_egos

    parse_integer("episodes", episodes, 1)
    read = read_partner_pool(pool)
    chosen = read.partner(partner)
    for cell in plan_cells(read, read_egos([f"ego={ego}"]), [chosen], episodes, among=False):
        ((line, returns),) = cell.run()
        best = f", best known {chosen.best.value:g} by {chosen.best.by}" if chosen.best else ""
        OUT.print(f"{ego} as agent_{line.seat} with {partner}: {', '.join(f'{r:g}' for r in returns)}{best}")


@partners_app.command(name="score")
def score_egos(
    *,
    pool: PoolOpt,
    ego: EgoOpt,
    out: Annotated[Path, Parameter(help="Results folder; the same command resumes it, other egos are added.")],
    episodes: EpisodesOpt = None,
    split: Annotated[str, Parameter(help="Partners of this split: train, validation or test.")] = "test",
    families: FamiliesOpt = None,
    workers: WorkersOpt = None,
    llm_options: LlmOptions = LlmOptions(),
) -> None:
    """Score egos beside partners that they have not met, in every seat; egos that have met one are skipped.

    Language models, as partners or as egos, keep their exchanges in the results folder; --replay plays from such a
    file.
    """
    from collab_overcooked.evaluation.partner_pool import read_partner_pool
    from collab_overcooked.evaluation.partner_scores import FILE, read_egos, score

    read, egos = read_partner_pool(pool), read_egos(ego)
    specs = [*map(read.spec, read.select(split, families)), *(ego.spec for ego in egos)]
    with policy_factory(specs, llm_options, out) as make, ProgressBar("partners and seats") as progress:
        lines = score(
            read,
            egos,
            out,
            split=split,
            families=families,
            episodes=episodes,
            workers=workers,
            make=make,
            progress=progress,
        )
    say(f"written: {out / FILE}, {len(lines)} lines of these egos; read them with 'partners table {out}'")


@partners_app.command(name="best")
def find_best(
    *,
    pool: PoolOpt,
    ego: EgoOpt,
    out: Annotated[Path, Parameter(help="Results folder; receives the pool with its best responses, too.")],
    episodes: EpisodesOpt = None,
    workers: WorkersOpt = None,
    llm_options: LlmOptions = LlmOptions(),
) -> None:
    """Write a pool that names the best response to each partner and the return of a random ego.

    These games are never scored. Half of them choose the best response, the other half measure it. An ego that was
    trained beside one partner of the pool alone, as by 'train response', plays beside this one.
    """
    from collab_overcooked.evaluation.partner_pool import read_partner_pool, write_partner_pool
    from collab_overcooked.evaluation.partner_scores import find_best_responses, read_egos

    read = read_partner_pool(pool)
    egos = read_egos(["random", *(name for name in ego if name != "random")])
    specs = [*map(read.spec, read.partners), *(ego.spec for ego in egos)]
    with policy_factory(specs, llm_options, out) as make, ProgressBar("partners and seats") as progress:
        measured = find_best_responses(read, egos, out, episodes, workers=workers, make=make, progress=progress)
    path = out / f"{read.name}.yaml"
    partners = [replace(partner, policy=read.spec(partner)) for partner in measured.partners]
    write_partner_pool(path, replace(read, partners=tuple(partners)))
    say(f"written: {path}")


@partners_app.command(name="table")
def show_table(
    *results: Annotated[Path, Parameter(required=True, help="Folders of 'partners score', or files of their lines.")],
    out: Annotated[Path | None, Parameter(help="Folder for table, performance profile and heat map.")] = None,
    resamples: Annotated[int, Parameter(help="Resamples of the intervals.")] = 1000,
) -> None:
    """Compare methods by their scores beside partners that they have not met, with intervals over training seeds."""
    from collab_overcooked.evaluation.partner_table import Scores, read_scores

    scores = Scores(read_scores(results), parse_integer("resamples", resamples, 10))
    OUT.print(scores.markdown())
    if out is not None:
        say(f"written: {', '.join(str(out / name) for name in scores.write(out))}")
