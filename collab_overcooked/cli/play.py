"""The command ``play``: games with people in the browser, with a subcommand for every suite."""

import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from collab_overcooked import registry
from collab_overcooked.cli.app import command_group, read_settings, say
from collab_overcooked.cli.evaluate import add_suites, policy_factory
from collab_overcooked.cli.options import LimitOptions, LlmOptions, as_options
from collab_overcooked.io.options import PAIRS, SEATS, option
from collab_overcooked.io.text import plural

if TYPE_CHECKING:
    from collab_overcooked.play.rooms import Rooms
    from collab_overcooked.play.session import Session
    from collab_overcooked.runner.match import Match

ADDRESS = "127.0.0.1"
ROOMS = "rooms"


@as_options
@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """Options of a server of pages."""

    address: str = option(ADDRESS, "Network address to listen on; any other than loopback requires --yes.")
    port: int = option(0, "Port; 0 selects a free one.")
    public_name: list[str] | None = option(None, "Host name of this machine, or of a proxy in front of it.")
    yes: bool = option(False, "Confirm that other machines may reach the pages.")


@as_options
@dataclass(frozen=True, kw_only=True)
class PageOptions(ServerOptions):
    """Options of a server of games, which opens a page itself."""

    open_page: bool = option(True, "Open the page in a browser.", flag="--open")


@as_options
@dataclass(frozen=True, kw_only=True)
class PlayOptions:
    """Options of a game with people: team, run folder and server."""

    team: list[str] | None = option(
        None, "A policy or 'person' per seat. Default: agent_0=person all=greedy.", metavar=SEATS
    )
    out: Path | None = option(None, "Run folder; new records are appended. Default: runs/play/SUITE.")
    seed: int | None = option(None, "Random seed. Default: a new one for every run.")
    settings: list[str] | None = option(None, "Environment options.", flag="--set", metavar=PAIRS)
    practice: bool | None = option(
        None,
        "Start with a guided round, recorded in a separate file. Default: pages offer it to new players.",
        flag="--practice/--no-practice",
    )
    voice: bool = option(False, "Add a link for a voice: a person without a seat who can message everyone.")


@as_options
@dataclass(frozen=True, kw_only=True)
class HowOptions:
    """Options of the interface; see ``play.settings.PlaySettings``."""

    clock: str = option("game", "Clock: turns, ticks (real time), or game (the game's default).")
    tick: float = option(0.15, "Seconds per step in real time.")
    show: str = option("both", "Observation: words (text), picture or both.")
    menu: str = option("legal", "Actions in the menu: legal, vocabulary or none.")
    names: str = option("shown", "Names of partners: shown or blind.")
    decide_within: float | None = option(None, "Time limit for a decision in turns, in seconds; then the seat idles.")
    grace: float = option(60.0, "Seconds to wait for a lost connection.")
    on_leave: str = option("idle", "Reaction to a lost connection: idle, pause, end, or a policy that takes over.")
    language: str = option("", "Language of the pages: en or de. Default: each person chooses.")
    metrics: bool = option(True, "Show the metrics of a finished episode.")
    replay: bool = option(
        True,
        "Offer a replay of a finished episode, as seen from the person's seat.",
        flag="--show-replay/--no-replay",  # --replay is the file with a language model's responses
    )


play_app = command_group("play", "Play a suite's episodes as a person in the browser, beside people or policies.")


@play_app.command(name=ROOMS)
def open_rooms(
    *,
    out: Annotated[Path, Parameter(help="Folder with one run folder per suite.")] = Path("runs/play"),
    pages: PageOptions = PageOptions(),
    how: HowOptions = HowOptions(),
) -> None:
    """Serve a start page for all games, to open rooms and share their links and QR codes."""
    from collab_overcooked.play.recording import PlayFolder
    from collab_overcooked.play.rooms import Rooms
    from collab_overcooked.play.settings import PlaySettings

    folders: dict[str, PlayFolder] = {}

    def folder(suite: str) -> PlayFolder:
        if suite not in folders:
            folders[suite] = PlayFolder(out / suite, suite)
        return folders[suite]

    try:
        serve_pages(None, pages, out, Rooms(folder, PlaySettings(**asdict(how))))
    finally:
        for play_folder in folders.values():
            play_folder.close()


def play_command(name: str) -> Callable[..., None]:
    """Return the command that lets people play a suite."""
    kind: type[Any] = as_options(registry.load_suite_options(name).play)

    def run(
        *,
        suite_options: kind = kind(),  # type: ignore[valid-type]
        play: PlayOptions = PlayOptions(),
        pages: PageOptions = PageOptions(),
        how: HowOptions = HowOptions(),
        limits: LimitOptions = LimitOptions(),
        llm_options: LlmOptions = LlmOptions(),
    ) -> None:
        with session_of(name, play, suite_options, how, limits, llm_options) as sessions:
            serve_pages(sessions, pages, play.out or Path("runs") / "play" / name)

    run.__doc__ = f"{registry.suites()[name].summary}\n\nLets people play its episodes in the browser."
    return run


add_suites(play_app, play_command)


@contextmanager
def session_of(
    suite: str, play: PlayOptions, suite_options: Any, how: HowOptions, limits: LimitOptions, llm_options: LlmOptions
) -> "Iterator[Callable[[], Session]]":
    """Yield the function that creates the session; the run folder stays open meanwhile."""
    from collab_overcooked.play.matches import IN_REAL_TIME, check_matches, ignored_in_real_time
    from collab_overcooked.play.recording import PlayFolder
    from collab_overcooked.play.session import Session
    from collab_overcooked.play.settings import PlaySettings
    from collab_overcooked.policies.specs import PolicySpec

    PolicySpec.parse(how.on_leave).permit()
    settings = PlaySettings(**asdict(how))
    matches, team = planned_matches(suite, play, suite_options, limits)
    check_matches(matches, play.voice)
    counted = limits.max_messages not in (0, LimitOptions().max_messages)
    if ignored := ignored_in_real_time(matches[0], settings, counted):
        raise ValueError(f"{ignored}: must {IN_REAL_TIME[ignored]}, or give --clock turns")
    out = play.out or Path("runs") / "play" / suite
    with policy_factory(team, llm_options, out) as make:
        folder = PlayFolder(out, suite)
        played = True
        try:
            yield lambda: Session(matches, settings, folder=folder, voice=play.voice, make=make, practice=play.practice)
        except ValueError:
            played = False
            raise
        finally:
            folder.close()
            kept = len(folder.run.results)
            if played:
                say(f"{out}: {plural(kept, 'episode')}; collab-overcooked score {out}")


def planned_matches(
    suite: str, play: PlayOptions, suite_options: Any, limits: LimitOptions
) -> "tuple[list[Match], tuple[str, ...]]":
    """Return matches and seats of the first team with at least two seats, or else of the first team."""
    import secrets

    from collab_overcooked.evaluation.suites import plan_evaluation
    from collab_overcooked.runner.episode import Limits

    assignments = play.team or ["agent_0=person", "all=greedy"]
    plan = plan_evaluation(
        suite,
        assignments,
        seed=secrets.randbelow(2**31) if play.seed is None else play.seed,
        options=read_settings(play.settings),
        limits=Limits(**asdict(limits)),
        **{**options_for(suite_options, assignments), **people_options(suite, suite_options, play)},
    )
    teams = plan.teams()
    team = next((team for team in teams if len(team) > 1), teams[0])
    matches = [match for match in plan.matches if match.team == team]
    return registry.load_suite(suite).order_for_people(matches), team


def people_options(suite: str, suite_options: Any, play: PlayOptions) -> Mapping[str, Any]:
    """Return the options of a suite for people who choose none of its options but the number of episodes."""
    default = type(suite_options)()
    names = [field.name for field in fields(suite_options) if field.name != "episodes"]
    untouched = all(getattr(suite_options, name) == getattr(default, name) for name in names)
    return registry.load_suite(suite).for_people if untouched and not play.settings else {}


def options_for(suite_options: Any, team: Sequence[str]) -> dict[str, Any]:
    """Return a suite's options; a team that names each seat also selects the number of agents."""
    from collab_overcooked.runner.teams import ALL

    options = {field.name: getattr(suite_options, field.name) for field in fields(suite_options)}
    seats = {word.partition("=")[0] for word in team}
    sizes = options.get("agents")
    if isinstance(sizes, (list, tuple)) and ALL not in seats and len(seats) in sizes:
        options["agents"] = (len(seats),)
    return options


def allowed_names(address: str, public_name: Sequence[str] | None, yes: bool) -> list[str]:
    """Return the host names that a server accepts."""
    from collab_overcooked.play.server import LOOPBACK, is_loopback

    if not is_loopback(address) and not yes:
        raise ValueError(
            f"address: {address} lets other machines reach the pages without encryption, protected only by secret "
            "links; add --yes to confirm, and put a proxy with TLS in front of it"
        )
    return [*LOOPBACK, *(public_name or ()), *([] if is_loopback(address) else [address])]


def base_url(server: ServerOptions, port: int) -> str:
    """Return the start of a server's links, with its public name if it has one, else with its address."""
    host_name = server.public_name[0] if server.public_name else server.address
    return f"http://[{host_name.strip('[]')}]:{port}" if ":" in host_name else f"http://{host_name}:{port}"


def serve_pages(
    sessions: "Callable[[], Session] | None", pages: PageOptions, out: Path, rooms: "Rooms | None" = None
) -> None:
    """Serve pages until the command is interrupted.

    Args:
        sessions: Creates the session to play; None if rooms are opened on the host page only.
        pages: Server options.
        out: Folder of the records, which keeps the links for a restart.
        rooms: Opens rooms on the host page.
    """
    from collab_overcooked.play.host import Host, keep_links
    from collab_overcooked.play.rooms import with_rematch
    from collab_overcooked.play.server import make_app, serve

    names = allowed_names(pages.address, pages.public_name, pages.yes)
    host = Host(rooms=rooms)
    session = None if sessions is None else with_rematch(sessions())
    keep_links(out, host, session.people if session is not None else ())

    def ready(port: int) -> None:
        base = base_url(pages, port)
        people = [] if session is None else session.people
        for person in people:
            say(f"{person.agent}: {base}/s/{person.token}")
        say(f"host: {base}/h/{host.token}\nPress Ctrl+C to stop.")
        if pages.open_page:
            webbrowser.open(f"{base}/s/{people[0].token}" if len(people) == 1 else f"{base}/h/{host.token}")

    started = None if session is None else partial(host.add, session)
    serve(make_app(host, names=names, started=started), pages.address, pages.port, ready)
