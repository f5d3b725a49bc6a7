"""Population-based training: members learn with each other; the worst copies the best and perturbs hyperparameters.

Source: Jaderberg et al. 2017, in the form of Carroll et al. 2019: each member trains beside frozen copies of all
members, itself included; then all pairs play, the worst member takes the best one's weights and settings, and each of
the settings that may change does so by one of two factors with probability 1/3.

A generation is a function of the files of the one before, so that a run that was stopped goes on to the same result.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta

from collab_overcooked.baselines.scores import play_games, score
from collab_overcooked.baselines.settings import TrainingSettings, load_game, settings_from, split_settings
from collab_overcooked.baselines.train_logger import BUSY, write_log
from collab_overcooked.baselines.training import Training, check_extension, with_later
from collab_overcooked.envs.api import FullGame
from collab_overcooked.io import schema
from collab_overcooked.io.checks import OptionError
from collab_overcooked.io.documents import placed
from collab_overcooked.io.files import write_atomic
from collab_overcooked.io.structs import Positive, Share, check_fields
from collab_overcooked.policies.policy_file import PolicyFile, halved, read_policy
from collab_overcooked.runner.registrations import JobNeeds, refuse_known_here_only
from collab_overcooked.runner.run import only_writer
from collab_overcooked.runner.workers import RAY, deaths_reported, open_pool, read_workers, terminating

logger = logging.getLogger(__name__)

STATE = "population.json"
CHANGED = ("learning_rate", "entropy", "clip", "gae_lambda", "value_weight", "epochs")
IN_A_MODULE = "put it into a module, named by --import or plugins.import_plugin"  # processes train every member


@dataclass(frozen=True)
class PbtSettings:
    """Settings of a population: training, selection and changes."""

    population: Annotated[int, Meta(ge=2)] = 4  # Members
    generation_steps: Positive = 200_000  # Environment steps of each member between two selections
    selection_games: Positive = 10  # Played by each ordered pair at a selection
    change_probability: Share = 1 / 3  # Of each of the settings that may change
    # One of these is what it is multiplied by; ``gae_lambda`` goes half the way to 0 or to 1 instead, whichever is
    # nearer, up or down
    factors: Annotated[Sequence[Annotated[float, Meta(gt=0)]], Meta(min_length=1)] = (0.75, 1.25)
    # ``"processes"`` of this machine, one for each member, or ``"ray"`` tasks; these need one folder for all machines
    executor: Literal["processes", "ray"] = "processes"

    def __post_init__(self) -> None:
        check_fields(self)


def read_pbt_settings(values: Mapping[str, Any]) -> tuple[PbtSettings, TrainingSettings]:
    """Split values by name into the settings of the population and the initial settings of its members.

    Raises:
        OptionError: A setting is unknown or invalid.
    """
    with placed(values):
        pbt, settings = split_settings(PbtSettings, values)
        for name in ("partners", "target_return"):
            if name in values:
                raise OptionError(name, f"{name}: means nothing to a population")
    return pbt, settings


@dataclass(frozen=True)
class Task:
    """Next generation of a member, with everything that a worker needs."""

    folder: Path  # Of the run
    member: int  # Its number
    parent: int  # Member whose weights it starts from
    generation: int  # Number of the generation to make
    settings: TrainingSettings  # What it learns with
    steps: int  # Environment steps at which the generation ends
    population: int  # Number of members


def file_of(folder: Path, member: int, generation: int, kind: str) -> Path:
    """Return where a member's checkpoint (``"pt"``) or policy (``"npz"``) of a generation is."""
    return folder / f"member_{member}" / f"generation_{generation}.{kind}"


def advance(task: Task) -> None:
    """Train one member for one generation beside all members of the last one."""
    before = task.generation - 1
    partners = [str(file_of(task.folder, k, before, "npz")) for k in range(task.population)]
    training = Training(task.settings.with_values({"partners": tuple(partners)}))
    if before:  # the members of generation 0 are what a new training starts with
        training.load(file_of(task.folder, task.member, before, "pt"), same=False)
        training.load_weights(file_of(task.folder, task.parent, before, "pt"))
    while training.rollouts.steps < task.steps:
        training.update()
    keep(training, task.folder, task.member, task.generation)
    training.save(file_of(task.folder, task.member, task.generation, "pt"))  # last: it says that the member is done


def keep(training: Training, folder: Path, member: int, generation: int) -> None:
    """Write a member's policy."""
    path = file_of(folder, member, generation, "npz")
    (file,) = training.export()
    halved(file).save(path)


def pool_of(pbt: PbtSettings) -> Executor:
    """Return the executor that trains the members in parallel."""
    workers = read_workers(RAY if pbt.executor == RAY else pbt.population)
    return open_pool(workers, pbt.population)


def select(game: FullGame, members: Sequence[PolicyFile], games: int, shaping: float, seed: int) -> list[float]:
    """Return each member's mean return over all pairs that it is a part of, shaped rewards at their present weight.

    Args:
        game: Compiled game of the members.
        members: The population.
        games: Number of games of each ordered pair.
        shaping: Weight of shaped rewards.
        seed: Seed of the games.
    """
    size = len(members)
    totals = np.zeros((size, size))
    for i, j in np.ndindex(size, size):
        played = play_games(game, [members[i]] + [members[j]] * (game.n_agents - 1), games, seed)
        totals[i, j] = (played.returns + shaping * played.shaped).mean()
    return [float(np.mean([totals[k, :], totals[:, k]])) for k in range(size)]


def change(settings: TrainingSettings, pbt: PbtSettings, rng: np.random.Generator) -> TrainingSettings:
    """Return settings with some of the values in ``CHANGED`` changed."""
    values: dict[str, Any] = {}
    for name in CHANGED:
        value, factor = getattr(settings, name), float(rng.choice(pbt.factors))
        if rng.random() >= pbt.change_probability:
            continue
        if name == "gae_lambda":
            step = min(1 - value, value) / 2
            values[name] = value + (step if factor > 1 else -step)
        else:
            values[name] = max(1, round(value * factor)) if name == "epochs" else value * factor
            if name == "learning_rate":
                values["final_learning_rate"] = settings.final_learning_rate * factor
            if name == "entropy":
                values["final_entropy"] = settings.final_entropy * factor
    return settings.with_values(values)


def start(pbt: PbtSettings, settings: TrainingSettings) -> dict[str, Any]:
    """Return the population before its first generation, fit for JSON: members differ in their seeds only."""
    members = [settings.with_values({"seed": settings.seed * 1000 + k}) for k in range(pbt.population)]
    return {
        "generation": 0,
        "settings": settings.to_dict(),
        "breeding": {item.name: getattr(pbt, item.name) for item in fields(PbtSettings)},
        "members": [member.to_dict() for member in members],
        "parents": list(range(pbt.population)),
        "history": [],
        "best": 0,
    }


def run_pbt(pbt: PbtSettings, settings: TrainingSettings, folder: Path, *, command: str = "") -> Path:
    """Train a population in a folder: ``population.json``, ``log.jsonl``, ``member_*/`` and ``policy.npz``, its best.

    A population that is there is continued from its last generation, with more steps beyond its end.

    Args:
        pbt: Population, selection and change.
        settings: Initial settings of the members; ``steps`` counts per member.
        folder: Made if it does not exist.
        command: Kept in the policy file.

    Returns:
        The policy file.

    Raises:
        ValueError: The folder holds a population with other settings, or only this process knows the game.
    """
    refuse_known_here_only(JobNeeds(frozenset({settings.env})), IN_A_MODULE)
    with only_writer(folder, BUSY):
        state = json.loads(json.dumps(start(pbt, settings)))
        path = folder / STATE
        if path.exists():
            there = read_state(path, pbt.population)
            check_extension(path, there["settings"].get("steps"), settings.steps)
            for name in ("settings", "breeding"):
                was = with_later(there[name], state[name]) | {"steps": None}
                now = {**state[name], "steps": None}
                if was != now:
                    raise ValueError(f"{path}: {name} were {there[name]}, now {state[name]}; resume with the same")
            members = [{**member, "steps": settings.steps} for member in there["members"]]
            state = {**there, "settings": state["settings"], "members": members}
            logger.info(f"{folder}: {state['generation']} generations are there, continuing")
        game = load_game(settings.env, settings.options)
        if not state["generation"]:
            for k, values in enumerate(state["members"]):
                keep(Training(settings_from(TrainingSettings, values)), folder, k, 0)
        with terminating(pool_of(pbt)) as pool:
            while state["generation"] * pbt.generation_steps < settings.steps:
                state = next_generation(state, pbt, settings, folder, pool, game)
                write_atomic(path, schema.json_line(state, state_check(pbt.population), indent=1))
                last = state["history"][-1]
                write_log(folder, state["history"])
                logger.info(f"generation {last['generation']}: {', '.join(f'{value:.1f}' for value in last['scores'])}")
                forget(folder, state["generation"] - 2, pbt.population)
        return finish(state, settings, folder, game, command)


def state_check(population: int) -> schema.Parser:
    """Return the check of ``population.json``, for its writer and its reader."""
    member, values = schema.integer(0, population - 1), schema.mapping_of(schema.json_value)
    entry = {
        "generation": schema.integer(1),
        "steps": schema.integer(1, None),
        "scores": schema.tuple_of([schema.number()] * population),
        "best": member,
        "replaced": schema.optional(member),
        "members": schema.tuple_of([schema.record(dict.fromkeys(CHANGED, schema.number(0)), CHANGED)] * population),
    }
    return schema.object_of(
        {
            "generation": schema.integer(),
            "settings": values,
            "breeding": values,
            "members": schema.tuple_of([_check_member] * population),
            "parents": schema.tuple_of([member] * population),
            "history": schema.list_of(schema.object_of(entry)),
            "best": member,
        }
    )


def _check_member(value: Any) -> None:
    schema.mapping_of(schema.json_value)(value)
    try:
        settings_from(TrainingSettings, value)
    except ValueError as error:
        raise schema.SchemaError(str(error)) from None


def read_state(path: Path, population: int) -> dict[str, Any]:
    """Read the state of a population, in the form of ``start``."""
    parsed: dict[str, Any] = schema.read_json(path, state_check(population))
    return parsed


def next_generation(
    state: Mapping[str, Any], pbt: PbtSettings, settings: TrainingSettings, folder: Path, pool: Executor, game: FullGame
) -> dict[str, Any]:
    """Train all members that have not been yet, select, and return the new state."""
    number = state["generation"] + 1
    members = [settings_from(TrainingSettings, values) for values in state["members"]]
    steps = min(number * pbt.generation_steps, settings.steps)
    tasks = [
        Task(folder, k, state["parents"][k], number, member, steps, pbt.population)
        for k, member in enumerate(members)
        if not file_of(folder, k, number, "pt").exists()
    ]

    def advice() -> str:
        left = [str(k) for k in range(pbt.population) if not file_of(folder, k, number, "pt").exists()]
        return f"the same command resumes generation {number}, whose member {' and '.join(left)} is unfinished"

    with deaths_reported(advice):
        list(pool.map(advance, tasks))  # raises what went wrong
    files = [read_policy(file_of(folder, k, number, "npz")) for k in range(pbt.population)]
    rng = np.random.default_rng([settings.seed, number])
    seed = int(rng.integers(2**31))
    scores = select(game, files, pbt.selection_games, settings.shaping_at(steps), seed)
    best, worst = int(np.argmax(scores)), int(np.argmin(scores))
    parents = list(range(pbt.population))
    if best != worst:
        parents[worst] = best
        seeds = members[worst].seed
        members[worst] = change(members[best], pbt, rng).with_values({"seed": seeds})
    entry = {
        "generation": number,
        "steps": steps,
        "scores": scores,
        "best": best,
        "replaced": worst if best != worst else None,
        "members": [{name: getattr(member, name) for name in CHANGED} for member in members],
    }
    return {
        **state,
        "generation": number,
        "members": json.loads(json.dumps([member.to_dict() for member in members])),
        "parents": parents,
        "history": [*state["history"], entry],
        "best": best,
    }


def forget(folder: Path, generation: int, population: int) -> None:
    """Delete the files of a generation that is no longer needed."""
    for member in range(population):
        for kind in ("pt", "npz"):
            file_of(folder, member, generation, kind).unlink(missing_ok=True)


def finish(state: Mapping[str, Any], settings: TrainingSettings, folder: Path, game: FullGame, command: str) -> Path:
    """Write the best member's policy with its score and return the path."""
    file = read_policy(file_of(folder, state["best"], state["generation"], "npz"))
    measured = score(game, [file] * game.n_agents, seed=settings.seed)
    meta = {**file.meta, "algorithm": "pbt", "command": command, "seed": settings.seed, "score": measured}
    PolicyFile(file.network, meta).save(folder / "policy.npz")
    return folder / "policy.npz"
