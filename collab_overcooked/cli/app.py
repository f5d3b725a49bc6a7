"""The command line application: error handling, output streams and parsing of option values."""

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
    """Console that prints text without markup, redacts keys and strips terminal control sequences."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print strings and rich renderables."""
        super().print(*(Text(redact(harmless(item))) if isinstance(item, str) else item for item in objects), **options)


OUT = TextConsole(soft_wrap=True, highlight=False)
ERR = TextConsole(stderr=True, soft_wrap=True, highlight=False)
MAX_LINE = 2_000  # characters of an error message, which may quote user input
UsageError: Any = typer.BadParameter.__base__  # click's, or the copy that newer releases of typer carry


LAZY: dict[str, Callable[[], Any]] = {}
"""Command name -> factory, for commands whose options come from the suites; built on first use."""


class Commands(TyperGroup):
    """Top-level command group. Turns user errors into one line on stderr and exit code 2."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Resolve the command named first, building it if it is lazy."""
        if args[0] in LAZY:
            alone = typer.Typer(add_completion=False)
            kind, function = LAZY[args[0]]()
            alone.command(args[0], cls=kind)(function)
            return args[0], list_import(typer.main.get_command(alone)), args[1:]
        name, command, rest = super().resolve_command(ctx, args)
        return name, list_import(command), rest

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Import plug-ins, then parse the options before the command."""
        _replace_what_cannot_be_shown(sys.stdout)
        try:
            args = import_plugins(args)
        except ValueError as error:
            if "--traceback" in args:
                raise
            fail(str(error))
        arguments = list(args)  # parsing consumes args
        try:
            return super().make_context(info_name, args, parent, **extra)
        except UsageError as error:
            if not arguments:  # shows the help
                raise
            fail(error.format_message())

    def invoke(self, ctx: Any) -> Any:
        """Run a command and report its errors."""
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
            fail(os_error_text(error) if isinstance(error, OSError) else str(error))
        except KeyboardInterrupt as interrupt:  # commands that can resume say so, see ``runner.records.resumable``
            ERR.print("; ".join(["stopped", *getattr(interrupt, "__notes__", [])]))
            raise typer.Exit(130) from None


IMPORT = "--import"
IMPORT_HELP = "Import a module or .py file that registers games, policies or metrics; also {} the command."


def list_import(command: Any) -> Any:
    """Add ``--import``, which ``import_plugins`` reads, to the help of a command or of the commands of a group."""
    for below_it in getattr(command, "commands", {"": command}).values():
        if all(IMPORT not in parameter.opts for parameter in below_it.params):
            below_it.params.append(_import_option())
    return command


def _import_option() -> Any:
    def listed(
        plugins: Annotated[list[str] | None, typer.Option(IMPORT, help=IMPORT_HELP.format("before"))] = None,
    ) -> None:
        """Stand for a command that has the option."""

    alone = typer.Typer(add_completion=False)
    alone.command()(listed)
    option = next(one for one in typer.main.get_command(alone).params if IMPORT in one.opts)
    option.metavar, option.expose_value = "MODULE_OR_FILE", False
    return option


def import_plugins(arguments: Sequence[str]) -> list[str]:
    """Import the modules and files given with `--import` anywhere on the command line.

    This happens before the command is resolved, because a plug-in may register the suite that the command names.

    Returns:
        The arguments without `--import` and its values.
    """
    from collab_overcooked.plugins import import_plugin

    remaining, unread = [], iter(arguments)
    for argument in unread:
        option, equals, value = argument.partition("=")
        if argument == "--":
            remaining += [argument, *unread]
        elif option != IMPORT:
            remaining.append(argument)
        else:
            name = value if equals else next(unread, "")
            if not name or name.startswith("-"):
                raise ValueError(f"{IMPORT} needs a module or a .py file, not {name!r}")
            import_plugin(name)
    return remaining


def _replace_what_cannot_be_shown(stream: Any) -> None:
    """Replace characters that a stream cannot encode with question marks instead of raising an error."""
    if getattr(stream, "errors", None) == "strict" and hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")


def fail(message: str) -> None:
    """Print an error on one line and exit with code 2."""
    line = " ".join(message.split())
    ERR.print("error: " + (line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}..."))
    raise typer.Exit(2)


def os_error_text(error: OSError) -> str:
    """Return the message of an operating system error with its file name."""
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason


app = typer.Typer(
    cls=Commands,
    name="collab-overcooked",
    help="Benchmarks of cooperation: kitchens, homes, pursuit and escape.",
    add_completion=False,
    pretty_exceptions_enable=False,
)


Settings = Annotated[list[str] | None, typer.Option("--set", help="Environment options.", metavar=PAIRS)]
KitchenOpt = Annotated[str, typer.Option(help="Built-in kitchen or path of a YAML file.")]
Gamma = Annotated[float, typer.Option(help="Time limit as a multiple of the reference time.")]


def version(value: bool) -> None:
    """Print the version and exit."""
    if value:
        OUT.print(f"collab-overcooked {__version__}")
        raise typer.Exit


FIRST_STEPS = """Benchmarks of cooperation: kitchens, homes, pursuit and escape.

  Train      collab-overcooked train ppo --config cramped_room --out runs/cramped_room
  Evaluate   collab-overcooked evaluate collab-overcooked --team all=llm:MODEL --levels 1 --budget calls=200
  Play       collab-overcooked play overcooked --layouts cramped_room --team agent_0=person agent_1=greedy

Run collab-overcooked --help for all commands, and collab-overcooked COMMAND --help for the options of a command."""


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    show_version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Print the version.")
    ] = False,
    traceback: Annotated[bool, typer.Option("--traceback", help="Show the traceback of errors.")] = False,
    plugins: Annotated[
        list[str] | None,
        typer.Option(
            IMPORT,
            help=IMPORT_HELP.format("after"),
            metavar="MODULE_OR_FILE",
        ),
    ] = None,
) -> None:
    """Handle the options that precede the command."""
    if context.invoked_subcommand is None:
        OUT.print(FIRST_STEPS)


def lazy_command(name: str, summary: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Register a command that is built when it is first used.

    Returns:
        Decorator of a function that returns the command's class and function.
    """

    def register(make: Callable[[], Any]) -> Callable[[], Any]:
        def placeholder() -> None:
            """Placeholder in the list of commands."""

        def make_documented() -> Any:
            kind, function = make()
            function.__doc__ = summary
            return kind, function

        app.command(name, help=summary)(placeholder)
        LAZY[name] = make_documented
        return make

    return register


def say(message: str) -> None:
    """Print a status message to stderr; results go to stdout."""
    ERR.print(message)


def read_settings(pairs: Sequence[str] | None) -> dict[str, Any]:
    """Parse ``key=value`` arguments. Values are YAML, so numbers, booleans and lists have their natural types."""
    from collab_overcooked.io.documents import LayoutError, read_value

    settings: dict[str, Any] = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise ValueError(f"set: {pair!r} should read key=value")
        try:
            settings[key] = read_value(value)
        except LayoutError:
            raise ValueError(f"set: cannot read the value of {pair!r:.80}") from None
    return settings


def read_count(text: str) -> int:
    """Parse an integer, which may be written as ``1e6``."""
    value = read_settings([f"value={text}"])["value"]
    if not isinstance(value, int) or isinstance(value, bool):
        raise typer.BadParameter(f"{text!r} is not an integer such as 20000 or 2e4")
    return value


def read_numbers(name: str, text: str | None, kind: type[int] | type[float]) -> list[float] | None:
    """Parse comma-separated numbers."""
    try:
        return None if text is None else [kind(part) for part in text.split(",")]
    except ValueError:
        example = "2,3,4" if kind is int else "1.0,2.5"
        raise ValueError(f"{name}: cannot read {text!r}; write for example {example}") from None
