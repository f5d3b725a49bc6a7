"""The command ``play``: people in seats of a team, at pages or in the terminal; a subcommand for every suite."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import cache, partial
from pathlib import Path
from typing import Any

import typer

from collab_overcooked import registry
from collab_overcooked.cli.app import app, read_settings, say
from collab_overcooked.cli.evaluate import SuiteCommands, language_models, refuse_llm_options
from collab_overcooked.cli.options import LimitOptions, LlmOptions, MultiValueCommand, expand_options
from collab_overcooked.io.options import PAIRS, SEATS, option

ADDRESS = "127.0.0.1"
ROOMS = "rooms"


@dataclass(frozen=True, kw_only=True)
class PlayOptions:
    """Who plays what, and where it is kept."""

    team: list[str] | None = option(
        None, "A person or policy per seat; a person and greedy if not given. A link for each person.", metavar=SEATS
    )
    out: Path | None = option(None, "Run folder, runs/play/SUITE if not given; records are added to what is there.")
    seed: int | None = option(None, "Seed; drawn if not given.")
    settings: list[str] | None = option(None, "Further environment options.", flag="--set", metavar=PAIRS)
    practice: bool = option(False, "Practise first: three short episodes, which are kept apart from the records.")
    voice: bool = option(False, "A link for somebody who speaks to all and has no seat.")
    terminal: bool = option(False, "Play in this terminal; needs the extra screen, or use --lines.")
    lines: bool = option(False, "Play in this terminal line by line, for screen readers and pipes.")
    address: str = option(ADDRESS, "Network address; any but this machine's own needs --yes.")
    port: int = option(0, "Port; a free one if not given.")
    public_name: list[str] | None = option(None, "Host name under which others reach this machine, or a proxy.")
    yes: bool = option(False, "Let other machines reach the pages.")
    open_page: bool = option(True, "Open the page in a browser.", flag="--open")


@dataclass(frozen=True, kw_only=True)
class HowOptions:
    """How people play; see ``play.settings.PlaySettings``."""

    clock: str = option("game", "turns, ticks (real time), or game: what suits the game.")
    tick: float = option(0.15, "Seconds of a step in real time.")
    show: str = option("both", "What people see: words, picture or both.")
    menu: str = option("legal", "Actions on offer: legal, vocabulary or none.")
    names: str = option("shown", "Whether people are told who plays beside them: shown or blind.")
    decide_within: float | None = option(None, "Seconds for a decision in turns, after which the seat idles.")
    grace: float = option(60.0, "Seconds that a lost connection is waited for.")
    on_leave: str = option("idle", "What a seat does after that: idle, pause, end, or a policy that plays on.")
    language: str = option("", "Language of pages: en or de. Default: everybody chooses.")
    metrics: bool = option(True, "Show the metrics of an episode that is over.")
    replay: bool = option(
        True,
        "Let people watch an episode that is over: what their seat saw.",
        flag="--show-replay/--no-replay",  # --replay is the file of a language model's answers
    )


class PlayCommands(SuiteCommands):
    """One command for each suite whose episodes people can play."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of the suite, or of the suite of the game, that is named first."""
        command = rooms_command() if args[0] == ROOMS else play_command(args[0])
        return command.name, command, args[1:]

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all suites, and of the start page."""
        return [ROOMS, *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return what a listing shows of a suite, or of the start page."""
        return rooms_command() if cmd_name == ROOMS else super().get_command(ctx, cmd_name)


@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """Where pages are served, and where games are kept."""

    out: Path | None = option(None, "Folder of run folders, one for each suite. Default: runs/play.")
    address: str = option(ADDRESS, "Network address; any but this machine's own needs --yes.")
    port: int = option(0, "Port; a free one if not given.")
    public_name: list[str] | None = option(None, "Host name under which others reach this machine, or a proxy.")
    yes: bool = option(False, "Let other machines reach the pages.")
    open_page: bool = option(True, "Open the page in a browser.", flag="--open")


@cache
def rooms_command() -> Any:
    """Return the command that serves the start page, at which rooms of every game are opened."""

    def run(pages: PageOptions, how: HowOptions) -> None:
        from collab_overcooked.play.recording import PlayFolder
        from collab_overcooked.play.rooms import Rooms
        from collab_overcooked.play.settings import PlaySettings

        out, folders = pages.out or Path("runs") / "play", dict[str, PlayFolder]()

        def folder(suite: str) -> PlayFolder:
            if suite not in folders:
                folders[suite] = PlayFolder(out / suite, suite, note=say)
            return folders[suite]

        try:
            serve_pages(None, pages, Rooms(folder, PlaySettings(**asdict(how))))
        finally:
            for own in folders.values():
                own.close()

    run.__doc__ = "Serve a start page with all games: open rooms, and hand out their links and QR codes."
    alone = typer.Typer(add_completion=False)
    alone.command(ROOMS, cls=MultiValueCommand)(expand_options(run, {"pages": PageOptions, "how": HowOptions}))
    return typer.main.get_command(alone)


@cache
def play_command(name: str) -> Any:
    """Return the command that lets people play a suite.

    Raises:
        ValueError: If it is unknown; the message lists near matches.
    """
    suite = registry.load_suite(name)
    name = suite.name  # it may have been named by a game

    def run(
        play: PlayOptions, suite_options: Any, how: HowOptions, limits: LimitOptions, llm_options: LlmOptions
    ) -> None:
        with session_of(name, play, suite_options, how, limits, llm_options) as sessions:
            if play.terminal or play.lines:
                from collab_overcooked.play.terminal import play_here

                play_here(sessions(), lines=play.lines)
            else:
                serve_pages(sessions, play)

    run.__doc__ = f"{registry.suites()[name].summary}\n\nLets people play its episodes, in the browser or the terminal."
    groups = {
        "suite_options": suite.suite_options,
        "play": PlayOptions,
        "how": HowOptions,
        "limits": LimitOptions,
        "llm_options": LlmOptions,
    }
    alone = typer.Typer(add_completion=False)
    alone.command(name, cls=MultiValueCommand)(expand_options(run, groups))
    return typer.main.get_command(alone)


app.add_typer(
    typer.Typer(cls=PlayCommands, no_args_is_help=True),
    name="play",
    help="Play a suite's episodes as a person, in the browser or the terminal, beside people or policies.",
)


@contextmanager
def session_of(
    suite: str, play: PlayOptions, suite_options: Any, how: HowOptions, limits: LimitOptions, llm_options: LlmOptions
) -> Any:
    """Yield what makes the session; a folder is open as long."""
    from collab_overcooked.play.recording import PlayFolder
    from collab_overcooked.play.session import Session, check_jobs
    from collab_overcooked.play.settings import PlaySettings

    settings = PlaySettings(**asdict(how))
    jobs, team = planned_jobs(suite, play, suite_options, limits)
    check_jobs(jobs, play.voice)
    out = play.out or Path("runs") / "play" / suite
    with beside(team, llm_options, out) as make:
        folder = PlayFolder(out, suite, note=say)
        played = True
        try:
            yield lambda: Session(jobs, settings, folder=folder, voice=play.voice, make=make, practice=play.practice)
        except ValueError:
            played = False
            raise
        finally:
            folder.close()
            kept = len(folder.run.records)
            if played:
                say(f"{out}: {kept} episode{'s' * (kept != 1)}; collab-overcooked score {out}")


@contextmanager
def beside(team: Sequence[str], llm_options: LlmOptions, out: Path) -> Any:
    """Yield what makes policies beside people: None for the registry, or one that reaches language models.

    Raises:
        ValueError: If one of them cannot be made; people who have come already could not play.
    """
    from collab_overcooked.policies.registry import PERSON, is_language, make_policy

    def check(make: Any) -> None:
        for spec in dict.fromkeys(team):
            if spec != PERSON:
                make(spec)

    if not any(map(is_language, team)):
        refuse_llm_options(llm_options)
        check(make_policy)
        yield None
        return
    with language_models(llm_options, None, out) as shared:
        check(shared["make"])
        yield shared["make"]


def planned_jobs(suite: str, play: PlayOptions, suite_options: Any, limits: LimitOptions) -> Any:
    """Return the episodes of the first team with two seats or more, or of the first, and that team."""
    import secrets

    from collab_overcooked.evaluation.suites import plan_evaluation
    from collab_overcooked.runner.episode import Limits

    words = play.team or ["agent_0=person", "all=greedy"]
    plan = plan_evaluation(
        suite,
        words,
        seed=secrets.randbelow(2**31) if play.seed is None else play.seed,
        options=read_settings(play.settings),
        limits=Limits(**asdict(limits)),
        **options_for(suite_options, words),
    )
    teams = plan.teams()
    team = next((team for team in teams if len(team) > 1), teams[0])
    return [job for job in plan.jobs if job.team == team], team


def options_for(suite_options: Any, team: Sequence[str]) -> dict[str, Any]:
    """Return a suite's options; of several numbers of agents the one that fits a team which names each of its seats."""
    from collab_overcooked.runner.teams import ALL

    given = {own.name: getattr(suite_options, own.name) for own in fields(suite_options)}
    seats = {word.partition("=")[0] for word in team}
    sizes = given.get("agents")
    if isinstance(sizes, (list, tuple)) and ALL not in seats and len(seats) in sizes:
        given["agents"] = (len(seats),)
    return given


# ------------------------------------------------------------------------------------------- pages


def allowed_names(address: str, public_name: Sequence[str] | None, yes: bool) -> list[str]:
    """Return the host names under which a server is known.

    Raises:
        ValueError: If other machines are let in without a word.
    """
    from collab_overcooked.play.server import LOOPBACK, is_loopback

    if not is_loopback(address) and not yes:
        raise ValueError(
            f"address: {address} lets other machines reach the pages, without encryption and with nothing but the "
            "links to keep strangers out; add --yes if that is meant, and put a proxy with TLS in front of it"
        )
    return [*LOOPBACK, *(public_name or ()), *([] if is_loopback(address) else [address])]


def serve_pages(sessions: Any, play: PlayOptions | PageOptions, rooms: Any = None) -> None:
    """Serve pages until the command is interrupted.

    Args:
        sessions: Makes the session that is played; None to open rooms at the host's page only.
        play: Where pages are served.
        rooms: Opens rooms at the host's page.

    Raises:
        ValueError: If the extra is missing, or other machines are let in without a word.
    """
    from collab_overcooked.play.host import Host
    from collab_overcooked.play.rooms import with_rematch
    from collab_overcooked.play.server import is_loopback, make_app, serve

    names = allowed_names(play.address, play.public_name, play.yes)
    host = Host(say, rooms=rooms)
    session = None if sessions is None else with_rematch(sessions())

    def ready(port: int) -> None:
        shown = play.address if is_loopback(play.address) or not play.public_name else play.public_name[0]
        base = f"http://{shown}:{port}"
        people = [] if session is None else session.people
        for person in people:
            say(f"{person.agent}: {base}/s/{person.token}")
        say(f"host: {base}/h/{host.token}\nCtrl+C ends it.")
        if play.open_page:
            webbrowser.open(f"{base}/s/{people[0].token}" if len(people) == 1 else f"{base}/h/{host.token}")

    started = None if session is None else partial(host.add, session)
    serve(make_app(host, names=names, started=started), play.address, play.port, ready)
