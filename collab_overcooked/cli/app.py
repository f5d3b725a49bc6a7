"""The command line application: error handling, output streams and parsing of option values."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import App, CoercionError, CycloptsError, Group, Parameter, UnknownCommandError, UnusedCliTokensError
from rich.console import Console
from rich.text import Text

from collab_overcooked import __version__
from collab_overcooked.io.checks import refuse_twice
from collab_overcooked.io.redaction import redact
from collab_overcooked.io.text import harmless


class TextConsole(Console):
    """Console that prints text without markup, redacts keys and strips terminal control sequences."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print strings and rich renderables."""
        super().print(*(Text(redact(harmless(item))) if isinstance(item, str) else item for item in objects), **options)

    def on_broken_pipe(self) -> None:
        """End without an error if the reader of the output has gone, as in ``collab-overcooked list tasks | head``.

        Raises:
            SystemExit: Always, with code 0.
        """
        try:
            super().on_broken_pipe()
        except SystemExit:
            raise SystemExit(0) from None


OUT = TextConsole(soft_wrap=True, highlight=False)
ERR = TextConsole(stderr=True, soft_wrap=True, highlight=False)
MAX_LINE = 2_000  # characters of an error message, which may quote user input


def error_line(message: str) -> str:
    """Return an error message on one line."""
    line = " ".join(message.split())
    return "error: " + (line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}...")


def usage_error(error: CycloptsError) -> str:
    """Return the line about a command line that cannot be parsed."""
    if isinstance(error, CoercionError) and error.msg:  # of our own readers, which name the option
        return error_line(str(error.msg))
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens and error.root_input_tokens:
        end = error.root_input_tokens.index(error.unused_tokens[0])
        *_, name, value, word = ["", "", *error.root_input_tokens[: end + 1]]
        if name.startswith("--"):
            return error_line(f"{name} takes one value, got {f'{value} {word}'!r}")
    if isinstance(error, UnknownCommandError) and error.unused_tokens and error.unused_tokens[0].startswith("-"):
        names = [name for name in error.app or () if not name.startswith("-")]
        return error_line(f"name what it is about before {error.unused_tokens[0]}: one of {', '.join(names)}")
    if isinstance(error, UnknownCommandError) and error.unused_tokens and error.app is not commands:
        word = error.unused_tokens[0]
        if word in commands:
            return error_line(f"{error} {word!r} is a command of its own: collab-overcooked {word}")
    return error_line(str(error))


PARSING: dict[str, Any] = {
    "name": "collab-overcooked",
    "help_format": "plaintext",
    "group_parameters": Group.create_ordered("Options"),
    "default_parameter": Parameter(negative=(), allow_repeating=False, show_choices=False),
    "error_console": ERR,
    "error_formatter": usage_error,
    "suppress_keyboard_interrupt": False,
}
commands = App(
    help="Benchmarks of cooperation: kitchens, homes, pursuit and escape.",
    help_epilogue="Options of every command: --import MODULE_OR_FILE imports what registers games, policies or "
    "metrics; --traceback shows the traceback of errors.",
    version=f"collab-overcooked {__version__}",
    **PARSING,
)
# An app of its own rather than a meta app: plug-ins are imported before the modules of commands, which list their games
app = App(help_flags=(), version_flags=(), **PARSING)
for _option in ("--help", "--version"):
    commands[_option].group = commands.group_parameters


def command_group(name: str, help: str) -> App:
    """Return a command that has subcommands."""
    return App(name=name, help=help, group_parameters=commands.group_parameters)


FIRST_STEPS = """Benchmarks of cooperation: kitchens, homes, pursuit and escape.

  Train      collab-overcooked train ppo --config cramped_room --out runs/cramped_room
  Evaluate   collab-overcooked evaluate collab-overcooked --team all=llm:MODEL --levels 1 --budget calls=200
  Play       collab-overcooked play overcooked --layouts cramped_room --team agent_0=person agent_1=greedy

Run collab-overcooked --help for all commands, and collab-overcooked COMMAND --help for the options of a command."""


@app.default
def run(
    *arguments: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
    traceback: Annotated[bool, Parameter(help="Show the traceback of errors.", show_default=False)] = False,
    plugins: Annotated[
        list[str] | None,
        Parameter(
            name="--import",
            negative=(),
            allow_repeating=True,
            help="Import a module or .py file that registers games, policies or metrics.",
            metavar="MODULE_OR_FILE",
        ),
    ] = None,
) -> Any:
    """Import plug-ins, run a command, and report its errors on one line."""
    from collab_overcooked.plugins import import_plugin
    from collab_overcooked.registry import check_working_folder

    _replace_what_cannot_be_shown(sys.stdout)
    _show_messages()
    try:
        check_working_folder()
        for plugin in plugins or ():
            import_plugin(plugin)
        if not arguments:
            OUT.print(FIRST_STEPS)
            return None
        if not arguments[0].startswith("-") and arguments[0] in commands:
            command = commands[arguments[0]]
            if command.default_command is not None:
                command.help = None  # its docstring begins with this line and says more
            elif len(arguments) == 1:
                commands([*arguments, "--help"], result_action="return_value")
                return 2  # a subcommand is missing
        return commands(arguments, result_action="return_value")
    except BrokenPipeError:  # of what is written past the console
        sys.stderr.close()
        return 0
    except (ValueError, OSError) as error:
        if traceback:
            raise
        ERR.print(error_line(os_error_text(error) if isinstance(error, OSError) else str(error)))
        return 2
    except KeyboardInterrupt as interrupt:  # commands that can resume say so, see ``runner.run.resumable``
        ERR.print("; ".join(["stopped", *getattr(interrupt, "__notes__", [])]))
        return 130


def _replace_what_cannot_be_shown(stream: Any) -> None:
    """Replace characters that a stream cannot encode with question marks instead of raising an error."""
    if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
        stream.reconfigure(errors="replace")


def os_error_text(error: OSError) -> str:
    """Return the message of an operating system error with its file name."""
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason


class _Messages(logging.Handler):
    """Prints messages of the package on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


def _show_messages() -> None:
    log = logging.getLogger("collab_overcooked")
    if not any(isinstance(handler, _Messages) for handler in log.handlers):
        log.addHandler(_Messages())
        log.setLevel(logging.INFO)


def say(message: str) -> None:
    """Print a status message to stderr; results go to stdout."""
    ERR.print(message)


def read_settings(pairs: Sequence[str] | None, option: str = "set") -> dict[str, Any]:
    """Parse ``key=value`` arguments. Values are YAML, so numbers, booleans and lists have their natural types.

    Args:
        pairs: The arguments; none if None.
        option: Name of their option, for messages.

    Raises:
        ValueError: For an argument of another form, or a key that is given twice.
    """
    from collab_overcooked.io.documents import DocumentError, read_value

    settings: dict[str, Any] = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise ValueError(f"{option}: {pair!r} should read key=value")
        refuse_twice(option, key, settings)
        try:
            settings[key] = read_value(value)
        except DocumentError:
            raise ValueError(f"{option}: cannot read the value of {pair!r:.80}") from None
    return settings


def read_numbers(name: str, text: str, kind: type[int] | type[float]) -> list[float]:
    """Parse comma-separated numbers."""
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        example = "2,3,4" if kind is int else "1.0,2.5"
        raise ValueError(f"{name}: cannot read {text!r}; write for example {example}") from None
