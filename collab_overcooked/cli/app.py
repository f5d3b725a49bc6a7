"""The app of all commands: its errors, where output goes, and how words and numbers are read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

from collab_overcooked import __version__
from collab_overcooked.io.options import PAIRS
from collab_overcooked.io.redaction import redact
from collab_overcooked.io.text import harmless


class TextConsole(Console):
    """Prints texts as they are, without markup, keys and what a terminal would obey."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print texts and what rich draws."""
        super().print(*(Text(redact(harmless(each))) if isinstance(each, str) else each for each in objects), **options)


OUT = TextConsole(soft_wrap=True, highlight=False)
ERR = TextConsole(stderr=True, soft_wrap=True, highlight=False)
MAX_LINE = 2_000  # characters of an error, which may quote what a user gave
UsageError: Any = typer.BadParameter.__base__  # click's, or the copy that newer releases of typer carry


LAZY: dict[str, Callable[[], Any]] = {}
"""Commands whose options are read from the suites: they are made when they are used."""


class Commands(TyperGroup):
    """All commands; the one place that turns what users can get wrong into one line and exit code 2."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is named first."""
        if args[0] in LAZY:
            alone = typer.Typer(add_completion=False)
            kind, function = LAZY[args[0]]()
            alone.command(args[0], cls=kind)(function)
            return args[0], typer.main.get_command(alone), args[1:]
        return super().resolve_command(ctx, args)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Read the options that stand before the command, and those that every command takes."""
        _replace_what_cannot_be_shown(sys.stdout)
        try:
            args = import_plugins(args)
        except ValueError as error:
            if "--traceback" in args:
                raise
            fail(str(error))
        given = list(args)  # reading them takes them out
        try:
            return super().make_context(info_name, args, parent, **extra)
        except UsageError as error:
            if not given:  # shows the help
                raise
            fail(error.format_message())

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except UsageError as error:
            fail(error.format_message())
        except BrokenPipeError:  # `collab-overcooked list tasks | head`
            sys.stderr.close()
            raise typer.Exit(0) from None
        except (ValueError, OSError) as error:
            if ctx.params.get("traceback"):
                raise
            fail(os_words(error) if isinstance(error, OSError) else str(error))
        except KeyboardInterrupt:
            ERR.print("stopped; the same command goes on where it stopped, if it writes to a run folder")
            raise typer.Exit(130) from None


IMPORT = "--import"


def import_plugins(words: Sequence[str]) -> list[str]:
    """Import the modules and files that `--import` names anywhere on the command line.

    They are imported before the command is looked up, as they may register the suite that it names.

    Returns:
        The words without `--import` and its values.

    Raises:
        ValueError: If a value is missing, or one of them cannot be imported.
    """
    from collab_overcooked.plugins import import_plugin

    rest, left = [], iter(words)
    for word in left:
        flag, equals, value = word.partition("=")
        if word == "--":
            rest += [word, *left]
        elif flag != IMPORT:
            rest.append(word)
        else:
            name = value if equals else next(left, "")
            if not name or name.startswith("-"):
                raise ValueError(f"{IMPORT} needs a module or a .py file, not {name!r}")
            import_plugin(name)
    return rest


def _replace_what_cannot_be_shown(stream: Any) -> None:
    """Let a terminal or file that is not UTF-8 show question marks, where Python would end with an error."""
    if getattr(stream, "errors", None) == "strict" and hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")


def fail(message: str) -> None:
    """Print one line and leave with exit code 2."""
    line = " ".join(message.split())
    ERR.print("error: " + (line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}..."))
    raise typer.Exit(2)


def os_words(error: OSError) -> str:
    """Say which file and what is wrong with it."""
    words = error.strerror or str(error)
    return f"{error.filename}: {words}" if error.filename else words


app = typer.Typer(
    cls=Commands,
    name="collab-overcooked",
    help="Benchmarks of cooperation: kitchens, homes, pursuit and escape.",
    add_completion=False,
    pretty_exceptions_enable=False,
)


Settings = Annotated[list[str] | None, typer.Option("--set", help="Further environment options.", metavar=PAIRS)]
KitchenOpt = Annotated[str, typer.Option(help="Shipped kitchen or path of a YAML file.")]
Gamma = Annotated[float, typer.Option(help="Time limit as a multiple of the reference time.")]


def version(value: bool) -> None:
    """Print the version and leave."""
    if value:
        OUT.print(f"collab-overcooked {__version__}")
        raise typer.Exit


FIRST_STEPS = """Benchmarks of cooperation: kitchens, homes, pursuit and escape.

  Train      collab-overcooked train ppo --config cramped_room --out runs/cramped_room
  Evaluate   collab-overcooked evaluate collab-overcooked --team all=llm:MODEL --levels 1 --budget calls=200
  Play       collab-overcooked play overcooked --layouts cramped_room --team agent_0=person agent_1=greedy

collab-overcooked --help lists all commands, COMMAND --help the options of one."""


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    show_version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Print the version.")
    ] = False,
    traceback: Annotated[bool, typer.Option("--traceback", help="Show where errors come from.")] = False,
    plugins: Annotated[
        list[str] | None,
        typer.Option(
            IMPORT,
            help="Import a module or .py file that registers games, policies or metrics; also after the command.",
            metavar="MODULE_OR_FILE",
        ),
    ] = None,
) -> None:
    """Options of every command."""
    if context.invoked_subcommand is None:
        OUT.print(FIRST_STEPS)


def lazy_command(name: str, summary: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Register a command that is made when it is used.

    Returns:
        Decorator of a function that returns the command's class and function.
    """

    def register(make: Callable[[], Any]) -> Callable[[], Any]:
        def listed() -> None:
            """Stand in the list of commands."""

        def made() -> Any:
            kind, function = make()
            function.__doc__ = summary
            return kind, function

        app.command(name, help=summary)(listed)
        LAZY[name] = made
        return make

    return register


def say(message: str) -> None:
    """Tell the user something that is not a result."""
    ERR.print(message)


def read_settings(words: Sequence[str] | None) -> dict[str, Any]:
    """Read ``key=value`` words; values are YAML, so that numbers, booleans and lists are what they look like.

    Raises:
        ValueError: For a word without ``=`` or a value that is no YAML.
    """
    from collab_overcooked.io.documents import LayoutError, read_value

    settings: dict[str, Any] = {}
    for word in words or ():
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise ValueError(f"set: {word!r} should read key=value")
        try:
            settings[key] = read_value(value)
        except LayoutError:
            raise ValueError(f"set: cannot read the value of {word!r:.80}") from None
    return settings


def read_count(text: str) -> int:
    """Read an integer that may be written as ``1e6``.

    Raises:
        typer.BadParameter: If it is none.
    """
    value = read_settings([f"value={text}"])["value"]
    if not isinstance(value, int) or isinstance(value, bool):
        raise typer.BadParameter(f"{text!r} is not an integer such as 20000 or 2e4")
    return value


def read_numbers(name: str, text: str | None, kind: type[int] | type[float]) -> list[float] | None:
    """Read numbers with commas between them.

    Raises:
        ValueError: If one of them is none.
    """
    try:
        return None if text is None else [kind(part) for part in text.split(",")]
    except ValueError:
        example = "2,3,4" if kind is int else "1.0,2.5"
        raise ValueError(f"{name}: cannot read {text!r}; write for example {example}") from None
