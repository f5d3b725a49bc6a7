"""The command ``export``: datasets for other libraries."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from collab_overcooked.cli.app import read_settings, say
from collab_overcooked.cli.options import FLAG, Settings, several
from collab_overcooked.io.checks import check_distinct, near_matches, parse_integer
from collab_overcooked.io.files import DRAFT, check_distinct_files, draft_folder, remove_drafts, write_atomic

if TYPE_CHECKING:
    from collab_overcooked.core.record import EpisodeRecord

CHAT = "chat"


def export(
    form: Annotated[str, Parameter(name="FORMAT", help="Format: npz, parquet, minari or chat.")],
    /,
    *runs: Annotated[Path, Parameter(name="RUN", required=True, help="Run folders or record files (.jsonl).")],
    out: Annotated[Path, Parameter(help="Folder of the dataset; it must be new or empty.")] = Path("runs/dataset"),
    settings: Settings = None,
    seat: Annotated[int | None, Parameter(help="View of one seat. Default: all agents.")] = None,
    tasks: Annotated[list[str] | None, several("Tasks of the records. Default: all.")] = None,
    agent: Annotated[
        str, Parameter(help="Chats: switches of the agent that is asked, see LLM policies. Default: that of evaluate.")
    ] = "",
    conversations: Annotated[
        bool, FLAG, Parameter(name="--conversations", help="Chats: one of each seat and episode; needs channel=tools.")
    ] = False,
    people: Annotated[
        bool, FLAG, Parameter(name="--people", help="Include games of people who consented to it; ids are left out.")
    ] = False,
) -> None:
    """Export records as a dataset: NumPy arrays, Parquet, Minari, or chats for fine-tuning.

    Observations are computed by replaying the records; --set chooses their encoding, for example obs=features.
    """
    from collab_overcooked.export.formats import FORMATS
    from collab_overcooked.export.trajectories import read_trajectories
    from collab_overcooked.runner.records import RECORDS

    if form not in (*FORMATS, CHAT):
        raise ValueError(near_matches("format", form, (*FORMATS, CHAT)))
    check_distinct_files("export", runs, within=RECORDS)
    check_distinct("tasks", tasks or ())
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out {out}: exists and is not a folder; nothing is overwritten")
    with _new_dataset(out):
        if form == CHAT:
            if settings or seat is not None:
                raise ValueError(f"format {CHAT}: --set and --seat are for the other formats")
            _export_chats(runs, tasks, people, out, agent, conversations)
            return
        if agent or conversations:
            raise ValueError(f"format {form}: --agent and --conversations are for chats")
        records = chain.from_iterable(_read(runs, tasks).values())
        episodes = read_trajectories(list(records), read_settings(settings), people)
        first = next(episodes)
        agents = first.game.n_agents
        if seat is not None:
            parse_integer("--seat", seat, 0, most=agents - 1)
        with draft_folder(out) as beside:
            described = FORMATS[form](beside, chain([first], episodes), seat)
    say(f"written: {out}, {len(described)} episodes, {sum(episode['steps'] for episode in described)} steps")


@contextmanager
def _new_dataset(out: Path) -> Iterator[None]:
    """Hold the lock of the folder of a dataset, which must hold nothing else."""
    from collab_overcooked.runner.run import LOCK, only_writer

    def check() -> None:
        if any(path.name != LOCK and not path.name.startswith(DRAFT) for path in out.iterdir()):
            raise ValueError(f"--out {out}: exists and is not an empty folder; nothing is overwritten")

    if out.exists():
        check()  # before its lock is taken, which may be that of a run
    with only_writer(out, "another export writes to this folder; wait for it, or choose another folder"):
        check()  # which another export may have filled in between
        remove_drafts(out)
        yield


def _read(runs: Sequence[Path], tasks: Sequence[str] | None) -> dict[Path, list[EpisodeRecord]]:
    """Read the records of the chosen tasks by run; each task is one of some run."""
    from collab_overcooked.runner.records import read_packed

    records = {run: read_packed(run) for run in runs}
    known = list(dict.fromkeys(record.task for read in records.values() for record in read))
    chosen = tasks or known
    for name in chosen:
        if name not in known:
            raise ValueError(near_matches("task", name, known))
    return {run: [record for record in read if record.task in chosen] for run, read in records.items()}


def _export_chats(
    runs: Sequence[Path], tasks: Sequence[str] | None, people: bool, out: Path, agent: str, conversations: bool
) -> None:
    from collab_overcooked.export.chats import exchange_chats, record_chats, record_conversations
    from collab_overcooked.export.trajectories import check_people
    from collab_overcooked.reporting.exchanges import EXCHANGES

    for run in runs:
        if (run / EXCHANGES).exists() and (agent or conversations or tasks):
            raise ValueError(
                f"{run}: its chats are those of its models, all of them; --agent, --conversations and --tasks are for "
                "other runs"
            )
    records = _read(runs, tasks)
    for read in records.values():
        check_people(read, people)
    chats_of, count = record_conversations if conversations else record_chats, 0

    def lines() -> Iterator[bytes]:
        nonlocal count
        for run, read in records.items():
            stored = run / EXCHANGES
            for chat in exchange_chats(stored) if stored.exists() else chats_of(read, agent):
                count += 1
                yield json.dumps(chat, ensure_ascii=False).encode() + b"\n"

    write_atomic(out / "chats.jsonl", lines())
    say(f"written: {out / 'chats.jsonl'}, {count} chats")
