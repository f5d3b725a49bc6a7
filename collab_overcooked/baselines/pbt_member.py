"""One member of a population: its files, and its training for one generation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from collab_overcooked.baselines.settings import Settings
from collab_overcooked.baselines.training import Training
from collab_overcooked.policies.policy_file import halved


@dataclass(frozen=True)
class Task:
    """One member's next generation; all that a worker needs.

    Attributes:
        folder: Of the run.
        member: Its number.
        parent: Member whose weights it starts from.
        generation: Number of the generation to make.
        settings: What it learns with.
        steps: Environment steps at which the generation ends.
        population: Number of members.
    """

    folder: Path
    member: int
    parent: int
    generation: int
    settings: Settings
    steps: int
    population: int


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
    path.parent.mkdir(parents=True, exist_ok=True)
    (file,) = training.export()
    halved(file).save(path)
