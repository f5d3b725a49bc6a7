"""Commands for trained policies: ``train``, ``plot`` and ``crossplay``."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, Token

from collab_overcooked import registry
from collab_overcooked.cli.app import OUT, read_settings, say
from collab_overcooked.cli.options import Settings, as_options, several
from collab_overcooked.cli.progress import ProgressBar
from collab_overcooked.io.options import PAIRS, option

_FOLDERS = re.compile(r"""[^\s=,:@#'"\[\]]*[/\\]""")
_VALUES = {"--out": 1, "--workers": 1, "--seeds": inf, "--log": inf}  # of options that change no policy


@as_options
@dataclass(frozen=True, kw_only=True)
class FurtherOptions:
    """Options of populations, of several trainings, and of logs."""

    method: str | None = option(None, "How population makes partners: fcp, mep or hsp. Default: fcp.")
    seeds: tuple[int, ...] | None = option(None, "Seeds of several trainings, each in OUT/seed_N; curves over them.")
    workers: str | None = option(None, "Trainings at a time with --seeds, or ray[:ADDRESS]. Default: one per core.")
    log: tuple[str, ...] | None = option(
        None, "Services beside CSV and TensorBoard: wandb (pip install wandb), which gets populations at their end."
    )


def read_count(kind: type[int], tokens: Sequence[Token]) -> int:
    """Parse an integer, which may be written as ``1e6``."""
    value = read_settings([f"value={tokens[0].value}"])["value"]
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{tokens[0].keyword}: {tokens[0].value!r} is not an integer such as 20000 or 2e4")
    return value


def kept_command(arguments: Sequence[str]) -> str:
    """Return the command that policy files keep: the same one wherever the training runs and however many run at once.

    Their digests are what pools and other policies know them by, see ``policies.policy_file.Met``.
    """
    kept, values = ["collab-overcooked"], 0.0
    for argument in arguments:
        name, given, _ = argument.partition("=")
        if name in _VALUES:
            values = 0 if given else _VALUES[name]
        elif values and not argument.startswith("-"):
            values -= 1
        else:
            values = 0
            kept.append(_FOLDERS.sub("", argument))
    return shlex.join(kept)


def train(
    algorithm: Annotated[str, Parameter(help="Algorithm: ppo, pbt, bc, ppo-bc, population, ego, e3t, sa or response.")],
    env: Annotated[str | None, Parameter(help="Environment id. Default: the one in --config.")] = None,
    /,
    *,
    out: Annotated[Path | None, Parameter(help="Run folder. Default: runs/ALGORITHM-ENV.")] = None,
    config: Annotated[str | None, Parameter(help="Built-in configuration or YAML file.")] = None,
    settings: Settings = None,
    hyper: Annotated[list[str] | None, several("Hyperparameters, for example learning_rate=1e-3.", PAIRS)] = None,
    steps: Annotated[
        int | None, Parameter(help="Number of environment steps, for example 1e6.", converter=read_count)
    ] = None,
    seed: Annotated[int | None, Parameter(help="Random seed. Default: 0.")] = None,
    data: Annotated[list[str] | None, several("Records or human games for bc and ppo-bc.")] = None,
    pool: Annotated[list[str] | None, several("Partner pools for ego (partners of split train) or response.")] = None,
    further: FurtherOptions = FurtherOptions(),
) -> None:
    """Train a policy (needs the extra 'rl'); --set configures the environment, --hyper the training.

    The same command resumes an interrupted training; with more --steps it extends a finished one.
    """
    try:
        from collab_overcooked.baselines.commands import train as run
    except ImportError as error:
        raise ValueError(f"training needs further packages ({error}): pip install 'collab-overcooked[rl]'") from None

    given = {"env": env, "steps": steps, "seed": seed, "data": data, "method": further.method, "pool": pool}
    flags = {name: value for name, value in given.items() if value is not None}
    options, hyperparameters = read_settings(settings), read_settings(hyper, "hyper")
    for name in hyperparameters:
        if name in flags or (name == "options" and options):
            other = {"env": "the environment's id", "options": "--set"}.get(name, f"--{name}")
            raise ValueError(f"hyper: {name} is given twice, by {other} and by --hyper {name}=...; keep one of the two")
    if further.seeds and "seed" in {*flags, *hyperparameters}:
        raise ValueError("seeds: --seeds has the seed of every training; leave --seed and --hyper seed=... out")
    overrides = {name: value for name, value in (flags | hyperparameters).items() if value is not None}
    run(
        algorithm,
        config,
        overrides,
        options,
        out,
        kept_command(sys.argv[1:]),
        services=further.log or (),
        seeds=further.seeds or (),
        workers=further.workers,
    )


def plot(
    *runs: Annotated[Path, Parameter(required=True, help="Training folders, or folders of these.")],
    out: Annotated[Path, Parameter(help="Picture or table: .svg, .png or .csv.")] = Path("curves.svg"),
    column: Annotated[str, Parameter(help="Column of the logs, for example eval_return or entropy_loss.")] = "return",
    title: Annotated[str, Parameter(help="Title of the picture.", show_default=False)] = "",
) -> None:
    """Draw learning curves: one for each method, the mean over its seeds with a bootstrap interval.

    Trainings that differ only in the seed at the end of their folder's name (NAME-0, NAME/seed_1) are one method.
    """
    from collab_overcooked.baselines import curves

    drawn = curves.aggregate(curves.training_folders(runs), column)
    curves.plot(drawn, out, title, column)
    OUT.print(curves.table_of_curves(drawn, column).markdown().rstrip())
    say(f"written: {out}")


def crossplay(
    *,
    pool: Annotated[list[str], several("Policies, optionally named: greedy a=ppo:a.npz.")],
    env: Annotated[str, Parameter(help="Environment id.")],
    settings: Settings = None,
    episodes: Annotated[int, Parameter(help="Episodes per ordered pair.")] = 20,
    seed: Annotated[int, Parameter(help="Random seed.")] = 0,
    out: Annotated[Path, Parameter(help="Run folder; the same command resumes it.")] = Path("runs/crossplay"),
    workers: Annotated[
        str | None, Parameter(help="Number of worker processes, or ray[:ADDRESS]. Default: one per core.")
    ] = None,
) -> None:
    """Pair every policy of a pool with every other in both seats: score matrix, intervals and heat map."""
    from collab_overcooked.evaluation.crossplay import cross_play, read_pool
    from collab_overcooked.policies.specs import PolicySpec

    for name, spec in zip(*read_pool(pool), strict=True):
        if PolicySpec.parse(spec).is_language:
            suite = next(iter(registry.find(env).suites), "SUITE")
            raise ValueError(
                f"pool: {name} is a language model; 'compare --games {suite} --policies ...' pairs these with other "
                "policies, and takes an endpoint, budgets and a store"
            )
    with ProgressBar("episodes") as progress:
        result = cross_play(
            env,
            pool,
            options=read_settings(settings),
            episodes=episodes,
            seed=seed,
            workers=workers,
            out=out,
            progress=progress,
        )
    result.write(out)
    OUT.print(result.markdown())
    say(f"written: {out}/crossplay.json, crossplay.md, crossplay.png")
