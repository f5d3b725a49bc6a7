"""Commands for single episodes: ``replay`` and ``render``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from collab_overcooked.cli.app import OUT, say
from collab_overcooked.cli.options import FLAG
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.files import draft

if TYPE_CHECKING:
    from collab_overcooked.core.record import EpisodeRecord, Step

RecordArg = Annotated[Path, Parameter(help="Record file (.jsonl) or run folder.")]
TaskOpt = Annotated[str | None, Parameter(help="Only episodes of this task.")]


def replay(
    record: RecordArg,
    /,
    *,
    episode: Annotated[int | None, Parameter(help="Index of the episode, from 0.")] = None,
    task: TaskOpt = None,
    check: Annotated[
        bool, FLAG, Parameter(name="--check", help="Only verify that the records replay exactly.")
    ] = False,
    plan: Annotated[
        int | None, Parameter(help="Print the search tree of the joint plan at or before this timestep, and no steps.")
    ] = None,
) -> int:
    """Step through an episode in the terminal, or check that records replay to the same events and rewards."""
    from collab_overcooked.runner.records import read_records

    if check and plan is not None:
        raise ValueError("plan: --check prints no search tree; leave out one of the two")
    records = read_records(record)
    if check:
        return check_records(choose(records, episode, task))
    chosen = choose(records, episode or 0, task)[0]
    if plan is None:
        show_episode(chosen)
    else:
        show_plan(chosen, plan)
    return 0


def show_plan(record: EpisodeRecord, timestep: int) -> None:
    """Print the search tree of a joint plan, for policies such as cots."""
    from collab_overcooked.reporting.plan_trees import tree_text, update_at
    from collab_overcooked.runner.records import about

    with about(record):
        update = update_at(record, timestep)
    OUT.print(tree_text(update))


def choose(records: list[EpisodeRecord], episode: int | None, task: str | None) -> list[EpisodeRecord]:
    """Return the records of a task, or the single record at an index."""
    if task is not None:
        known = dict.fromkeys(record.task for record in records)
        if task not in known:
            raise ValueError(near_matches("task in this file", task, known))
        records = [record for record in records if record.task == task]
    if episode is None:
        return records
    if not 0 <= episode < len(records):
        raise ValueError(f"episode: {episode} does not exist; the episodes are 0 to {len(records) - 1}")
    return [records[episode]]


def check_records(records: Sequence[EpisodeRecord]) -> int:
    """Replay records, print the differences, and return the exit code."""
    from collab_overcooked.runner.replay import first_difference

    bad = 0
    for record in records:
        difference = first_difference(record)
        if difference:
            bad += 1
            OUT.print(f"{record.task}, episode {record.episode}: {difference}")
    steps = sum(record.timesteps for record in records)
    OUT.print(f"{len(records) - bad} of {len(records)} episodes replay to the same events and rewards ({steps} steps)")
    return 1 if bad else 0


def show_episode(record: EpisodeRecord) -> None:
    """Print an episode step by step, waiting for Enter in an interactive terminal."""
    from collab_overcooked import registry
    from collab_overcooked.runner.replay import replay as replayed
    from collab_overcooked.runner.teams import team_text

    team = team_text(record.team.values())
    OUT.print(f"{record.task}, episode {record.episode}, {team}")
    for seat, feedback in enumerate(record.feedback):
        OUT.print(f"agent_{seat} was told:\n{feedback}")
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    for snapshot in replayed(record, render_mode="ansi"):
        if snapshot.timestep:
            for line in step_lines(record.steps[snapshot.timestep - 1]):
                OUT.print(line)
        OUT.print(snapshot.env.render())
        if interactive and not snapshot.over and input("Enter for the next step, q to quit: ").strip() == "q":
            return
    OUT.print(f"{registry.suite_of(record).outcome(record)} after {record.timesteps} timesteps")


def step_lines(step: Step) -> list[str]:
    """Return messages, errors, actions and events of a step, one line each."""
    lines = [""]
    for message in step.messages:
        plan = f"  [plan: {message.plan}]" if message.plan else ""
        speaker = "A voice" if message.agent is None else f"agent_{message.agent}"
        lines.append(f"{speaker} says: {message.say}{plan}")
    lines += [f"agent_{e.agent} refused: {e.action}: {e.code}: {e.message}" for e in step.errors]
    for seat, (action, event) in enumerate(zip(step.action_texts, step.events, strict=True)):
        lines.append(f"agent_{seat}: {action}" + (f"  -> {event.text}" if event else ""))
    return lines


def render(
    record: RecordArg,
    /,
    *,
    out: Annotated[Path, Parameter(help="Output file: .png, .gif or .mp4.")],
    episode: Annotated[int, Parameter(help="Index of the episode, from 0.")] = 0,
    task: TaskOpt = None,
) -> None:
    """Render an episode as GIF or MP4, or its final state as PNG."""
    from collab_overcooked.runner.records import read_records

    if out.suffix not in (".png", ".gif", ".mp4"):
        raise ValueError(f"out: {out} should end in .png, .gif or .mp4")
    chosen = choose(read_records(record), episode, task)[0]
    write_video_of(chosen, out)
    say(f"written: {out}")


def write_video_of(record: EpisodeRecord, out: Path) -> None:
    """Write the video of a record, or a picture of its final state.

    Raises:
        ValueError: MP4 needs an extra that is not installed.
    """
    from collab_overcooked.reporting.video import frames_of_record, write_video

    if out.suffix == ".png":
        from PIL import Image

        with draft(out) as beside:
            Image.fromarray(list(frames_of_record(record))[-1]).save(beside)
        return
    try:
        write_video(frames_of_record(record), out)
    except ImportError as error:  # MP4 needs an extra
        raise ValueError(str(error)) from None
