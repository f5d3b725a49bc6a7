"""The commands ``study run``, ``rehearse``, ``export``, ``payments``, ``power``, ``forget`` and ``raise``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from collab_overcooked.cli.app import OUT, command_group, say
from collab_overcooked.cli.evaluate import policy_factory
from collab_overcooked.cli.options import FLAG, LlmOptions, as_options, several
from collab_overcooked.cli.play import ServerOptions, allowed_names, base_url
from collab_overcooked.cli.results import FormatOpt
from collab_overcooked.io.checks import refuse_twice
from collab_overcooked.io.options import PAIRS, option

FileArg = Annotated[str, Parameter(help="Study file, or name of a built-in study.")]
FolderArg = Annotated[Path, Parameter(help="Results folder of a study.")]
MAX_VISITS = 100_000  # of a preview
PROLIFIC = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")  # parameters that Prolific fills in
study_app = command_group("study", "Run a study with people, rehearse it with bots, export its results.")


ResumedOpt = Annotated[
    Path | None, Parameter(help="Results folder; an interrupted study is resumed. Default: runs/study/NAME.")
]
PreviewOpt = Annotated[
    bool, FLAG, Parameter(help="Take part yourself: no visit counts, and all results are deleted at the end.")
]
PartnerOpt = Annotated[list[str] | None, several("Override policies of partners: name=policy ...", PAIRS)]


@as_options
@dataclass(frozen=True, kw_only=True)
class StudyServerOptions(ServerOptions):
    """Options of a study's server."""

    port: int = option(8000, "Port; 0 selects a free one.")


def read_partners(pairs: Sequence[str] | None) -> dict[str, str]:
    """Parse ``name=policy`` arguments, whose code may be imported from now on."""
    from collab_overcooked.policies.specs import PolicySpec

    partners: dict[str, str] = {}
    for pair in pairs or ():
        name, equals, spec = pair.partition("=")
        if not equals or not spec:
            raise ValueError(f"partner: {pair!r} should read name=policy")
        refuse_twice("partner", name, partners)
        partners[name] = PolicySpec.parse(spec).permit().text
    return partners


@study_app.command(name="run")
def run_study(
    file: FileArg,
    /,
    *,
    out: ResumedOpt = None,
    partner: PartnerOpt = None,
    preview: PreviewOpt = False,
    server: StudyServerOptions = StudyServerOptions(),
    llm_options: LlmOptions = LlmOptions(),
) -> None:
    """Serve a study until Ctrl+C; run the same command again to resume it."""
    from collab_overcooked.play.host import keep_links
    from collab_overcooked.play.server import serve
    from collab_overcooked.study.app import make_study_app
    from collab_overcooked.study.documents import check_filled_in
    from collab_overcooked.study.journal import Journal
    from collab_overcooked.study.reader import read_study

    names = allowed_names(server.address, server.public_name, server.yes)
    study = read_study(file, read_partners(partner))
    if preview:
        if out is not None:
            raise ValueError("out: a preview keeps no results; leave out one of --out and --preview")
        study = replace(study, limit=MAX_VISITS, per_network=MAX_VISITS)
    else:
        check_filled_in(study)
    with (
        _folder(None) if preview else nullcontext(out or Path("runs") / "study" / study.name) as folder,
        policy_factory(list(study.partners.values()), llm_options, folder) as make,
        Journal.open(folder, study) as journal,
    ):
        web, games, host = make_study_app(journal, make, names)
        if not preview:
            keep_links(folder, games, ())

        def ready(port: int) -> None:
            base = base_url(server, port)
            query = "&".join(f"{name}=ID" for name in study.parameters)
            say(f"participants: {base}/study{'?' if query else ''}{query}")
            if study.panel_id == PROLIFIC[0]:
                filled_in = "&".join(f"{name}={{{{%{name}%}}}}" for name in study.parameters if name in PROLIFIC)
                say(f"address for Prolific: {base}/study?{filled_in}")
            say(f"host: {base}/study/host/{games.token}")
            if not preview:
                places = journal.limits["per_network"] or study.per_network
                every = f"{60 / places:.3g} min"
                say(f"network: at most {places:g} people of one network at once, then one every {every} (per_network)")
            say(f"results: {'none, this is a preview' if preview else folder}\nPress Ctrl+C to stop.")

        try:
            serve(web, server.address, server.port, ready)
        finally:
            host.close()


@study_app.command(name="rehearse")
def rehearse_study(
    file: FileArg,
    bots: Annotated[int, Parameter(help="Number of bots.")],
    /,
    *,
    out: Annotated[Path | None, Parameter(help="Folder for the results; must not exist.")] = None,
    partner: PartnerOpt = None,
    real_time: Annotated[
        bool, FLAG, Parameter(name="--real-time", help="Play at the pace of people, to measure how late steps are.")
    ] = False,
) -> int:
    """Run a study with bots through its pages and sockets; programs replace language models."""
    from collab_overcooked.io.checks import parse_integer
    from collab_overcooked.study.bots import LEAVING
    from collab_overcooked.study.reader import read_study
    from collab_overcooked.study.rehearsal import LEAVERS, rehearse, stand_ins

    chosen = stand_ins(read_study(file)) | read_partners(partner)
    study = read_study(file, chosen)
    with _folder(out) as folder:
        report = rehearse(
            study,
            parse_integer("bots", bots, 1, most=1000),
            folder,
            leavers=LEAVERS,
            ways=tuple(LEAVING),
            real_time=real_time,
        )
    ends = ", ".join(f"{count} {end}" for end, count in report.ends.items())
    OUT.print(f"{study.name}: {bots} bots: {ends}; {report.episodes} episodes, all replayed")
    report.tasks.show(OUT)
    times = {"requests": report.requests, "decisions": report.answers}
    if real_time:
        times["lateness of steps"] = report.ticks
    for what, (middle, most) in times.items():
        if most:
            OUT.print(f"{what}: {middle:.1f} ms, 95 % below {most:.1f} ms")
    OUT.print(f"memory: {report.memory} MiB at most")
    for error in report.errors:
        say(f"error: {error}")
    if not report.ends.get("done"):
        say("warning: no bot ended as done, so the end was not rehearsed; bots answer at random: let more take part")
    return int(bool(report.errors))


@contextmanager
def _folder(out: Path | None) -> Any:
    import tempfile

    if out is not None:
        if out.exists():
            raise ValueError(f"out: {out} already exists; a rehearsal needs a new folder")
        yield out
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "study"


@study_app.command(name="export")
def export_study(
    folder: FolderArg,
    /,
    *,
    out: Annotated[Path, Parameter(help="Output folder.")],
    form: Annotated[str, Parameter(name="--format", help="Format of the tables: csv or jsonl.")] = "csv",
    anonymous: Annotated[bool, FLAG, Parameter(name="--anonymous", help="Replace ids and omit times of day.")] = False,
    cut_text: Annotated[bool, FLAG, Parameter(name="--cut-text", help="Omit all text that people typed.")] = False,
    panel_ids: Annotated[
        bool, FLAG, Parameter(name="--with-panel-ids", help="Include panel ids (for example Prolific) in the export.")
    ] = False,
    aborted: Annotated[
        bool, FLAG, Parameter(name="--with-aborted", help="Include records and messages of aborted episodes.")
    ] = False,
) -> None:
    """Export tables, codebook and records of a study, which may still be running."""
    from collab_overcooked.study.results import ExportOptions, export

    options = ExportOptions(form=form, anonymous=anonymous, cut_text=cut_text, panel_ids=panel_ids, aborted=aborted)
    say(f"written: {', '.join(str(out / name) for name in export(folder, out, options))}")


@study_app.command(name="payments")
def list_payments(
    folder: FolderArg,
    /,
    *,
    out: Annotated[Path, Parameter(help="Output folder, for example payments.")],
    ends: Annotated[
        list[str] | None, several("Ends that are paid, such as done,partner_left. Default: done.", name="--ends")
    ] = None,
) -> None:
    """Write the lists of approvals and bonuses that Prolific takes, of those who completed a study; nothing is sent."""
    from collab_overcooked.study.payments import payments
    from collab_overcooked.study.results import StudyResults

    paid = payments(StudyResults.read(folder), ends or ("done",))
    for name in paid.left_out:
        say(f"left out: {name}, whose panel id is invalid")
    total = sum(paid.bonuses.values())
    say(f"approve: {len(paid.bonuses)} participants; bonus: {total:.2f} in all")
    say(f"written: {', '.join(map(str, paid.write(out)))}")


@study_app.command(name="power")
def study_power(
    folder: FolderArg,
    /,
    *,
    metric: Annotated[str, Parameter(name="--metrics", help="One metric of the games, or question FORM.QUESTION.")],
    effect: Annotated[
        float,
        Parameter(
            help="Smallest effect of interest in units of the metric: the first level of a factor minus the last, with "
            "those between halfway; for an interaction, the difference of such differences. Power is that of the F "
            "test over all levels."
        ),
    ],
    term: Annotated[
        str | None, Parameter(help="Factor, or interaction such as partner:talk. Default: the first factor.")
    ] = None,
    power: Annotated[float, Parameter(help="Power to reach.")] = 0.8,
    alpha: Annotated[float, Parameter(help="Level of significance.")] = 0.05,
    simulations: Annotated[int, Parameter(help="Simulated studies of each size.")] = 500,
    seed: Annotated[int, Parameter(help="Random seed.")] = 0,
    form: FormatOpt = "table",
) -> None:
    """Estimate how many participants a study needs, by simulation from rehearsed or piloted data."""
    from collab_overcooked.cli.results import write_cards
    from collab_overcooked.io.checks import parse_integer
    from collab_overcooked.study.power import power_card
    from collab_overcooked.study.results import StudyResults

    parse_integer("simulations", simulations, 10, most=100_000)
    results = StudyResults.read(folder)
    factors = None if term is None else tuple(term.split(":"))
    card = power_card(results, metric, effect, factors, power, alpha=alpha, simulations=simulations, seed=seed)
    write_cards([card], form)


@study_app.command(name="forget")
def forget_participant(
    folder: FolderArg, name: Annotated[str, Parameter(help="Participant id or panel id.")], /
) -> None:
    """Delete the identity and the answers of a participant, also while the study runs."""
    from collab_overcooked.study.journal import Journal, add_request, study_of

    study = study_of(folder)
    try:
        with Journal.open(folder, study) as journal:
            forgotten = journal.forget(name)
    except BlockingIOError:  # the running study does it, within SWEEP_INTERVAL
        forgotten = Journal(folder, study).named(name)
        for participant in forgotten:
            add_request(folder, {"forget": participant})
        say(f"{', '.join(forgotten)}: the running study deletes identity and answers within 5 seconds")
        return
    say(f"{', '.join(forgotten)}: identity and answers deleted; anonymous records of the games remain")


@study_app.command(name="raise")
def raise_limits(
    folder: FolderArg,
    pairs: Annotated[
        list[str],
        Parameter(help="Limits: name=number, for example limit=60, quota.CONDITION=20 or quota=20 for all conditions."),
    ],
    /,
) -> None:
    """Raise limits of a study, also while it runs: limit, margin, per_network, idle, wait, minutes, and quotas."""
    from collab_overcooked.study.journal import Journal, add_request, read_limit, study_of

    study = study_of(folder)
    wanted: dict[str, float] = {}
    for pair in pairs:
        name, equals, number = pair.partition("=")
        if not equals or not number:
            raise ValueError(f"limits: {pair!r} should read name=number")
        refuse_twice("limits", name, wanted)
        wanted[name] = read_limit(number)
    if "quota" in wanted and any(name.startswith("quota.") for name in wanted):
        raise ValueError("limits: give quota or quota.CONDITION, not both")
    journal = Journal(folder, study)
    for name, value in wanted.items():
        journal.check_limit(name, value)
    try:
        with Journal.open(folder, study) as journal:
            for name, value in wanted.items():
                journal.raise_limit(name, value)
    except BlockingIOError:
        for name, value in wanted.items():
            add_request(folder, {"raise": name, "to": value})
        say("the running study takes the limits within 5 seconds")
        return
    say(f"raised: {', '.join(pairs)}")
