"""Train agents to play with partners never met, and partners apart from them, and score all.

    python benchmarks/partner_results.py coordination_ring                  # egos and scores
    python benchmarks/partner_results.py coordination_ring --stage fcp hsp  # some of it
    python benchmarks/partner_results.py coordination_ring --print          # the commands only

Every stage is a command of the package that goes on where it was stopped, so the same call resumes all of it. The
stages ``apart`` and ``members`` train further partners and put them into the built-in pool, ``responses`` trains a
response to each network, ``best`` measures egos, programs and a random ego beside every partner in games that are never
scored, ``fill`` writes the best responses into the pool and all scores into one file: they are for those who rebuild a
pool, and run only if they are named.
"""

from __future__ import annotations

import argparse
import json
import math
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from msgspec import structs

from collab_overcooked import registry
from collab_overcooked.baselines.population import POOL, play_all_seats
from collab_overcooked.baselines.settings import read_config
from collab_overcooked.evaluation.partner_pool import (
    Partner,
    PartnerPool,
    make_partner,
    pool_names,
    read_partner_pool,
    write_partner_pool,
)
from collab_overcooked.evaluation.partner_scores import FILE, LINES, PARTNER, PartnerScore, best_of, best_responses
from collab_overcooked.evaluation.partner_table import read_scores
from collab_overcooked.io.files import write_atomic
from collab_overcooked.io.structs import decode, encode
from collab_overcooked.policies.policy_file import PARTNERS, SHIPPED, PolicyFile, halved, policy_path, read_policy
from collab_overcooked.runner.records import read_lines

POOLS = Path(registry.__file__).parent / "layouts" / "pools"
CONFIGS = {
    "small_corridor": "coordination_ring",
    "kitchen_rush": "kitchen_rush_easy",
}  # where it is not the pool's name
PREFERENCES = read_config("hsp_coordination_ring").mapping("grid")
METHODS = ("sp", "sa", "e3t", "fcp", "hsp", "fcp_gru", "fcp_clone", "fcp_clone_alone", "clone")
MEMORY = "memory=gru:64"
LETS_GO = ("value_updates=0", "start_kl=0")  # from the first update on, as the published egos were trained
REMEMBERED = 20  # steps at most through which gradients of a memory go back
CLONED = "noisy:0.2:greedy"  # whose games an ego may start from
HISTORY = 5  # steps whose actions an ego reads
PUBLIC = ("Overcooked-v0", "CuisineWorld-v0")  # games in which seats see what the others do
PROGRAM_FAMILIES = ("scripted", "search", "noisy")  # which play one episode at a time
APART = 7  # seed of the partners that no ego may meet
CHANGING = ("apart", "members", "responses", "best", "fill")  # stages that rebuild the pool
APART_BY = ("its other half", "itself")  # best responses of the trainings of the partners, whose games are not scored
RESPONSE_STEPS = 500_000  # of a response that starts from the built-in policy of the layout
NETWORKS = "networks.yaml"  # pool of the partners that are networks; each has a response
PROGRAMS, UNSCORED = "programs.yaml", "unscored.yaml"  # pools of programs: of those of split test, and of the rest
CHOOSING = {NETWORKS: 50, PROGRAMS: 20, UNSCORED: 6}  # games per seat of each candidate for their best response
RESPONSE = {"environments": 32, "batch_size": 640, "entropy": 0.01}  # in which it differs from self-play
Words = Sequence[object]


@dataclass(frozen=True)
class Study:
    """Trainings and scores for one pool.

    Attributes:
        name: Built-in pool.
        out: Folder.
        steps: Environment steps of a training; two thirds of it for a pair with preferences.
        ego_steps: Environment steps of FCP, HSP and E3T, which learn more slowly than self-play.
        seeds: Training seeds of each method; the population has as many members.
        apart: Members that are trained apart, of each family.
        games: Games per partner and seat.
        programs: Programs that are scored and may be best responses.
    """

    name: str
    out: Path
    steps: int
    ego_steps: int
    seeds: int
    apart: int
    games: int
    programs: Sequence[str]

    @property
    def config(self) -> str:
        """Name of the configuration of the trainings."""
        return CONFIGS.get(self.name, self.name)

    @property
    def pool(self) -> PartnerPool:
        """The built-in pool as it is now."""
        return read_partner_pool(self.name)

    @property
    def has_preferences(self) -> bool:
        """Whether the game has the events that preferences are about."""
        return self.pool.env_id == "Overcooked-v0"

    # ---------------------------------------------------------------------------------------- commands

    def train(
        self, algorithm: str, out: str, steps: int | None = None, hyper: Words = (), more: Words = ()
    ) -> list[str]:
        """Return a command of ``train``."""
        steps, config = steps or self.steps, read_config(self.config)
        shaping = [f"shaping_steps={steps * 4 // 5}"] if "shaping_steps" in config else []
        layout = self.pool.env_kwargs.get("layout")
        options = ["--set", f"layout={layout}"] if layout else []
        values = [*shaping, *hyper]
        extra = [*options, *(["--hyper", *values] if values else []), "--steps", steps, *more, "--out", self.out / out]
        return ["train", algorithm, "--config", self.config, *map(str, extra)]

    def population(self, out: str, members: int, seed: int = 0) -> list[str]:
        """Return the command that trains members of several skills."""
        return self.train("population", out, None, [f"members={members}"], ["--method", "fcp", "--seed", seed])

    def preferring(self, out: str, members: int, chosen: int, seed: int = 0) -> list[str]:
        """Return the command that trains members with preferences."""
        grid = json.dumps(dict(PREFERENCES))
        hyper = ["weights=own", f"members={members}", f"chosen={chosen}", f"grid={grid}"]
        return self.train("population", out, self.steps * 2 // 3, hyper, ["--method", "hsp", "--seed", seed])

    def ego(self, out: str, *populations: str, memory: bool = False, start: str = "", itself: bool = True) -> list[str]:
        """Return the command that trains egos beside populations, or beside copies of themselves if there are none.

        Egos with memory play three in ten episodes with ``itself``, a copy of themselves; they may start from a clone.
        """
        more = [] if not populations else ["--pool", *(self.out / name / POOL for name in populations)]
        seeds = ["--seeds", *range(self.seeds), "--workers", 1]
        hyper = [f"history={HISTORY}"] if self.pool.env_id in PUBLIC else []
        if memory:
            config = read_config(self.config)
            common = math.gcd(config.integer("rollout"), config.integer("batch_size"))
            steps = next(number for number in range(REMEMBERED, 0, -1) if common % number == 0)
            hyper = [MEMORY, f"sequence={steps}", *(("copy_rate=1", "copy_share=0.3") if itself else ())]
            hyper += [f"start={self.out / start}/policy.npz", *LETS_GO] if start else []
        return self.train("ego" if populations else "e3t", out, self.ego_steps, hyper, [*more, *seeds])

    def clone(self) -> list[list[str]]:
        """Return the commands that clone the scripted policy, which errs in a fifth of its decisions, with memory."""
        config, games = read_config(self.config), self.out / "clone_games"
        sizes = [MEMORY, *(f"{name}={config[name]}".replace(" ", "") for name in ("trunk", "heads"))]
        options = [f"{name}={value}" for name, value in config.mapping("options").items()]
        play = ["evaluate", "overcooked", "--layouts", self.pool.env_kwargs["layout"], "--team", f"all={CLONED}"]
        train = ["train", "bc", self.pool.env_id, "--set", *options, "--data", games, "--hyper", *sizes]
        episodes = ("--episodes", self.games, "--no-report")
        commands = [[*play, *episodes, "--out", games], [*train, "--out", self.out / "clone"]]
        return [list(map(str, command)) for command in commands]

    def respond(self) -> list[str]:
        """Return the command that trains a response to each network, from the built-in policy of the layout."""
        hyper = [f"start={self.config}", *LETS_GO, *(f"{name}={value}" for name, value in RESPONSE.items())]
        return self.train("response", "responses", RESPONSE_STEPS, hyper, ["--pool", self.out / NETWORKS])

    def divide(self) -> None:
        """Write pools of the networks and of the programs, beside which a training takes hours."""
        pool = self.pool
        partners: dict[str, list[Partner]] = {name: [] for name in (NETWORKS, PROGRAMS, UNSCORED)}
        for one in pool.partners:
            is_network = pool.spec(one).startswith("ppo:")
            partners[NETWORKS if is_network else PROGRAMS if one.split == "test" else UNSCORED].append(one)
        for name, chosen in partners.items():
            write_partner_pool(self.out / name, replace(pool, partners=tuple(chosen)))

    def best(self, pool: str, episodes: int) -> list[str]:
        """Return the command that measures programs, the first seed of each method and a random ego."""
        first = [ego.replace("*", "0") for ego in self.egos()]
        options = ["--episodes", episodes, "--out", self.out / "best" / Path(pool).stem]
        return list(
            map(str, ["partners", "best", "--pool", self.out / pool, "--ego", *first, *self.programs, *options])
        )

    def score(self, out: str, families: Words, egos: Sequence[str], games: int) -> list[str]:
        """Return the command that scores egos beside partners of some families."""
        options = ["--families", *families, "--episodes", games, "--out", self.out / "score" / out]
        return list(map(str, ["partners", "score", "--pool", self.name, "--ego", *egos, *options]))

    def scores(self) -> list[list[str]]:
        """Return the commands that score all egos; methods of several seeds play fewer games each beside programs."""
        families = dict.fromkeys(one.family for one in self.pool.select("test"))
        programs = [name for name in families if name in PROGRAM_FAMILIES]
        networks = [name for name in families if name not in programs]
        several = [ego for ego in self.egos() if "*" in ego]
        alone = [*(ego for ego in self.egos() if "*" not in ego), *self.programs]
        return [
            self.score("networks", networks, [*several, *alone], self.games),
            self.score("programs", programs, several, max(1, self.games * 2 // 5)),
            self.score("alone", programs, alone, self.games),
        ]

    def stages(self) -> Iterator[tuple[str, Sequence[list[str] | Callable[[], None]]]]:
        """Yield all stages in their order: commands, or functions for what has no command."""
        alone = not self.has_preferences
        chosen = max(1, self.seeds * 3 // 5)
        yield "population", [self.population("population", self.seeds)]
        yield "preferences", [] if alone else [self.preferring("preferences", max(1, self.seeds - 1), chosen)]
        apart = [self.population("held_out_selfplay", self.apart, APART)]
        apart += [] if alone else [self.preferring("held_out_preferences", 2 * self.apart, self.apart, APART)]
        yield "apart", apart
        yield "members", [self.add_members]
        yield "e3t", [self.ego("e3t")]
        yield "sa", [self.train("sa", "sa", None, [f"seeds={self.seeds}"])]
        yield "fcp", [self.ego("fcp", "population")]
        yield "hsp", [] if alone else [self.ego("hsp", "population", "preferences")]
        yield "fcp_gru", [self.ego("fcp_gru", "population", memory=True)]
        yield "clone", [] if alone else self.clone()
        yield "fcp_clone", [] if alone else [self.ego("fcp_clone", "population", memory=True, start="clone")]
        stranger = self.ego("fcp_clone_alone", "population", memory=True, start="clone", itself=False)
        yield "fcp_clone_alone", [] if alone else [stranger]
        yield "responses", [self.divide, self.respond()]
        yield "best", [self.divide, *(self.best(pool, episodes) for pool, episodes in CHOOSING.items())]
        yield "score", self.scores()
        yield "fill", [self.fill]
        filled = (self.out / FILE).exists()
        tables = [str(self.out)] if filled else sorted(map(str, self.out.glob("score/*")))
        yield "table", [["partners", "table", *tables, "--out", str(self.out / "table")]]

    def egos(self) -> list[str]:
        """Return the egos that are trained so far, as ``--ego`` takes them."""
        folders = {"sp": "population/member_*", "sa": "sa/member_*", "clone": "clone"}
        patterns = {method: f"{folders.get(method, f'{method}/seed_*')}/policy.npz" for method in METHODS}
        return [f"{method}={self.out}/{text}" for method, text in patterns.items() if any(self.out.glob(text))]

    # ---------------------------------------------------------------------------------------- the pool

    def add_members(self) -> None:
        """Put the members that were trained apart into the package and its pool.

        They replace the built-in policy of the layout, which a seed of the population may train once more, weight by
        weight.
        """
        pool = self.pool  # read once, as the files of its partners are about to change
        partners = [one for one in pool.partners if one.family not in ("selfplay", "preference")]
        for folder in ("held_out_selfplay", "held_out_preferences"):
            if (self.out / folder / POOL).exists():
                trained = read_partner_pool(self.out / folder / POOL)
                partners += [self._ship(trained, one) for one in trained.partners if "untrained" not in one.name]
        write_partner_pool(POOLS / f"{self.name}.yaml", replace(pool, partners=tuple(partners)))

    def _ship(self, trained: PartnerPool, partner: Partner) -> Partner:
        """Write a partner's file into the package; its first best response is its other half, or itself."""
        file = halved(read_policy(policy_path(trained.spec(partner).removeprefix("ppo:"))))
        name = f"{partner.family}_{partner.name.removeprefix('member_')}"
        path = SHIPPED / PARTNERS / f"{self.name}_{name}.npz"
        path.parent.mkdir(exist_ok=True)
        command = f"python benchmarks/partner_results.py {self.name} --steps {self.steps} --stage apart"
        PolicyFile(file.network, {**file.meta, "command": command}).save(path)
        shipped = make_partner(name, f"ppo:{PARTNERS}/{path.stem}", partner.family)
        if partner.best is not None:
            best = structs.replace(partner.best, by="its other half", sha256=shipped.sha256)
        else:
            games = play_all_seats(trained.env.game, file, [file], self.games, APART)
            returns = np.concatenate([one.returns for one in games]).tolist()
            best = best_of(returns, "itself", shipped.sha256)
        return replace(shipped, best=best)

    def fill(self) -> None:
        """Write the best response to each partner into the pool, and all scores with them as one file of lines."""
        files = [path for path in (self.out / "responses" / FILE, *self.out.glob(f"best/*/{FILE}")) if path.exists()]
        played = [line for path in files for line, _ in read_lines(path, LINES, lambda line: (line.key, ()))]
        apart = [
            replace(one, best=one.best if one.best and one.best.by in APART_BY else None) for one in self.pool.partners
        ]
        pool = replace(self.pool, partners=tuple(apart))
        partners = tuple(map(_shortened, best_responses(pool, self._named(played))))
        write_partner_pool(POOLS / f"{self.name}.yaml", replace(pool, partners=partners))
        best = {one.name: {"best": one.best, "lower": one.lower} for one in partners}
        folders = sorted(self.out.glob("score/*"))
        kept = [
            structs.replace(line, **(best[line.partner] if line.kind == PARTNER else {}))
            for line in self._named(read_scores(folders) if folders else [])
        ]
        write_atomic(self.out / FILE, b"".join(encode(line) + b"\n" for line in kept))

    def _named(self, lines: Sequence[PartnerScore]) -> list[PartnerScore]:
        """Return lines whose policy files are named below the folder."""
        return decode(encode(lines).replace(f"{self.out}/".encode(), b""), list[PartnerScore])


def _shortened(partner: Partner) -> Partner:
    """Return a partner whose best ego is named after its training instead of its file."""
    best = partner.best
    by = best and best.by.removeprefix("ppo:").removesuffix("/policy.npz") if best and "/" in best.by else None
    return partner if best is None or by is None else replace(partner, best=structs.replace(best, by=by))


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pool", choices=pool_names())
    parser.add_argument("--out", type=Path, help="folder; default: runs/partners/POOL")
    parser.add_argument("--steps", type=int, help="of each training; default: those of the configuration")
    parser.add_argument("--ego-steps", type=int, help="of fcp, hsp and e3t; default: --steps")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--apart", type=int, default=4, help="members of each family that are trained apart")
    parser.add_argument("--games", type=int, default=50, help="per partner and seat")
    parser.add_argument(
        "--programs", nargs="+", help="scored beside the trained egos; default: greedy and planner, if they play"
    )
    parser.add_argument("--stage", nargs="+", help="stages; default: all that leave the pool as it is")
    parser.add_argument("--print", action="store_true", help="print the commands and run nothing")
    return parser


def main() -> None:
    """Run the stages that were asked for."""
    parser = make_parser()
    options = parser.parse_args()
    out = options.out or Path("runs/partners") / options.pool
    played = registry.find(read_partner_pool(options.pool).env_id).policies
    programs = options.programs or [name for name in ("greedy", "planner") if name in played]
    study = Study(
        name=options.pool,
        out=out,
        steps=options.steps or 0,
        ego_steps=options.ego_steps or 0,
        seeds=options.seeds,
        apart=options.apart,
        games=options.games,
        programs=programs,
    )
    steps = study.steps or read_config(study.config).integer("steps")
    study = replace(study, steps=steps, ego_steps=study.ego_steps or steps)
    names = [name for name, _ in study.stages()]
    unknown = sorted(set(options.stage or ()) - set(names))
    if unknown:
        parser.error(f"stage: {', '.join(unknown)}; allowed: {', '.join(names)}")
    chosen = options.stage or [name for name in names if name not in CHANGING]
    failed = []
    for name, commands in study.stages():  # one after the other, as later commands name what earlier ones trained
        for command in commands if name in chosen else ():
            print("$", shlex.join(["collab-overcooked", *command]) if isinstance(command, list) else name, flush=True)
            if options.print:
                continue
            if not isinstance(command, list):
                command()
            elif subprocess.run([sys.executable, "-m", "collab_overcooked", *command], check=False).returncode:
                failed.append(name)  # pairs with preferences may earn nothing; the other stages do not need them
    if failed:
        sys.exit(f"failed: {', '.join(dict.fromkeys(failed))}; the other stages are done")


if __name__ == "__main__":
    main()
