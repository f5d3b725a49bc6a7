"""The commands ``study run``, ``study rehearse``, ``study export`` and ``study forget``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from collab_overcooked.cli.app import OUT, app, say
from collab_overcooked.cli.options import LlmOptions, MultiValueCommand, expand_options
from collab_overcooked.cli.play import ADDRESS, allowed_names, beside
from collab_overcooked.io.options import PAIRS, option

FileArg = Annotated[str, typer.Argument(help="Study file, or the name of a shipped one.")]
FolderArg = Annotated[Path, typer.Argument(help="Folder of a study.")]
study_app = typer.Typer(no_args_is_help=True)
app.add_typer(study_app, name="study", help="Run a study with people, rehearse it with bots, and export its results.")


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """Where a study is served, who plays in it, and where it is kept."""

    out: Path | None = option(None, "Folder, runs/study/NAME if not given; a study that was stopped goes on there.")
    partner: list[str] | None = option(None, "Other policies for partners of the study: name=policy ...", metavar=PAIRS)
    address: str = option(ADDRESS, "Network address; any but this machine's own needs --yes.")
    port: int = option(8000, "Port; 0 for a free one.")
    public_name: list[str] | None = option(None, "Host name under which others reach this machine, or a proxy.")
    yes: bool = option(False, "Let other machines reach the pages.")


def read_partners(words: Sequence[str] | None) -> dict[str, str]:
    """Read ``name=policy`` words.

    Raises:
        ValueError: For a word without ``=``.
    """
    found = {}
    for word in words or ():
        name, equals, spec = word.partition("=")
        if not equals or not spec:
            raise ValueError(f"partner: {word!r} should read name=policy")
        found[name] = spec
    return found


def run_study(file: FileArg, server: ServerOptions, llm_options: LlmOptions) -> None:
    """Serve a study until Ctrl+C; the same command goes on with it."""
    from collab_overcooked.play.server import serve
    from collab_overcooked.study.design import read_study
    from collab_overcooked.study.documents import check_filled_in
    from collab_overcooked.study.journal import Journal
    from collab_overcooked.study.rehearsal import study_app as make_study_app

    names = allowed_names(server.address, server.public_name, server.yes)
    study = read_study(file, read_partners(server.partner))
    check_filled_in(study)
    out = server.out or Path("runs") / "study" / study.name
    with beside(list(study.partners.values()), llm_options, out) as make, Journal.open(out, study, say) as journal:
        web, games, host = make_study_app(journal, make, names, say)

        def ready(port: int) -> None:
            base = f"http://{(server.public_name or [server.address])[0]}:{port}"
            query = f"?{study.panel_id}=ID" if study.panel_id else ""
            say(f"participants: {base}/study{query}\nhost: {base}/study/host/{games.token}")
            say(f"results: {out}\nCtrl+C stops it.")

        try:
            serve(web, server.address, server.port, ready)
        finally:
            host.close()


_GROUPS = {"server": ServerOptions, "llm_options": LlmOptions}
study_app.command("run", cls=MultiValueCommand)(expand_options(run_study, _GROUPS))


@study_app.command("rehearse", cls=MultiValueCommand)
def rehearse_study(
    file: FileArg,
    bots: Annotated[int, typer.Argument(help="How many take part.")],
    out: Annotated[Path | None, typer.Option(help="Keep the results in this folder, which must be new.")] = None,
    partner: Annotated[list[str] | None, typer.Option(help="Policies for partners.", metavar=PAIRS)] = None,
) -> None:
    """Let bots take part in a study through its pages and sockets; greedy policies play for language models."""
    from collab_overcooked.io.checks import parse_integer
    from collab_overcooked.study.design import read_study
    from collab_overcooked.study.rehearsal import rehearse, stand_ins

    chosen = stand_ins(read_study(file)) | read_partners(partner)
    study = read_study(file, chosen)
    with _folder(out) as folder:
        found = rehearse(study, parse_integer("bots", bots, 1, most=1000), folder, say)
    ends = ", ".join(f"{count} {end}" for end, count in found.ends.items())
    OUT.print(f"{study.name}: {bots} bots: {ends}; {found.episodes} episodes, all replayed")
    times = {"requests": found.requests, "decisions": found.answers, "lateness of ticks": found.ticks}
    for what, (middle, most) in times.items():
        if most:
            OUT.print(f"{what}: {middle:.1f} ms, 95 % below {most:.1f} ms")
    OUT.print(f"memory: {found.memory} MiB at most")
    for error in found.errors:
        say(f"error: {error}")
    raise typer.Exit(int(bool(found.errors) or set(found.ends) - {"done", "screened", "unmatched"} != set()))


@contextmanager
def _folder(out: Path | None) -> Any:
    """Yield a new folder, one that is deleted afterwards if none is named."""
    import tempfile

    if out is not None:
        if out.exists():
            raise ValueError(f"{out}: exists; a rehearsal needs a new folder")
        yield out
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "study"


@study_app.command("export")
def export_study(
    folder: FolderArg,
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    form: Annotated[str, typer.Option("--format", help="Form of the tables: csv or jsonl.")] = "csv",
    anonymous: Annotated[bool, typer.Option("--anonymous", help="Draw new ids, and leave out times of day.")] = False,
    cut_text: Annotated[bool, typer.Option("--cut-text", help="Leave out free answers and messages.")] = False,
    panel_ids: Annotated[bool, typer.Option("--with-panel-ids", help="Add who somebody is in a panel.")] = False,
    aborted: Annotated[bool, typer.Option("--with-aborted", help="Add records of episodes that were left.")] = False,
) -> None:
    """Write tables, codebook and records of a study, also while it is running."""
    from collab_overcooked.study.results import ExportOptions, export

    options = ExportOptions(form=form, anonymous=anonymous, cut_text=cut_text, panel_ids=panel_ids, aborted=aborted)
    say(f"written: {', '.join(str(out / name) for name in export(folder, out, options))}")


@study_app.command("forget")
def forget_participant(
    folder: FolderArg, name: Annotated[str, typer.Argument(help="Random id of a participant, or id in the panel.")]
) -> None:
    """Delete who a participant is, and the answers that were given; stop the study first."""
    from collab_overcooked.study.journal import Journal, study_of

    with Journal.open(folder, study_of(folder), say) as journal:
        forgotten = journal.forget(name)
    say(f"{', '.join(forgotten)}: the link to a person and the answers are deleted; games stay and name nobody")
