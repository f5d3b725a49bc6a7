"""The commands ``check`` and ``generate`` for layouts, lexicons and studies; games define their options."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from collab_overcooked import registry
from collab_overcooked.cli.app import OUT, UsageError, app, list_import, say
from collab_overcooked.cli.options import MultiValueCommand, expand_options
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.document_kinds import DocumentKind, Finding
from collab_overcooked.io.documents import LayoutError, load_file

Files = Annotated[
    list[str], typer.Argument(help="Files or built-in names, or a plural such as 'layouts' for all built-in ones.")
]
Out = Annotated[Path, typer.Option(help="File or folder to write.")]
Json = Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")]


class FileCommands(TyperGroup):
    """Group of the command ``check``: the kind of the first file determines the options."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the plurals of all kinds."""
        return [kind.plural for kind in document_kinds()]

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand:
        """Return the help entry of a kind of file."""
        return TyperCommand(cmd_name, help=next(k.summary for k in document_kinds() if k.plural == cmd_name))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Resolve the check by the kind of the first file, which remains an argument."""
        command = check_command(recognise(args[0]).name)
        return args[0], list_import(command), args

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reject options given before FILE: it is unclear which command they belong to."""
        if args and args[0].startswith("-") and args[0] != "--help":
            raise UsageError("Missing file: name it first, then the options of its kind", ctx)
        return super().parse_args(ctx, args)


class GameCommands(TyperGroup):
    """Group of the command ``generate``, with a subcommand for each game that has a generator."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the ids of the games that have a generator."""
        return [record.id for record in registry.games() if record.generator]

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand:
        """Return the help entry of a game."""
        return TyperCommand(cmd_name, help=(generator_of(cmd_name).__doc__ or "").split("\n")[0])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Resolve the subcommand from the first game named on the command line."""
        return args[0], list_import(generate_command(registry.find(args[0]).id)), args[1:]


app.add_typer(
    typer.Typer(cls=FileCommands, no_args_is_help=True),
    name="check",
    help="Check a kitchen, level, layout, map, scenario, lexicon or study: FILE, a built-in name, or all of a kind.",
)
app.add_typer(
    typer.Typer(cls=GameCommands, no_args_is_help=True),
    name="generate",
    help="Generate new layouts or scenarios of a game.",
)


# ------------------------------------------------------------------------------------------- kinds of files


ANY_GAME = ("collab_overcooked.cli.lexicons:LEXICON", "collab_overcooked.study.documents:STUDY")


@cache
def document_kinds() -> tuple[DocumentKind, ...]:
    """Return all kinds of files: those of every game, lexicons and studies."""
    entries = dict.fromkeys(entry for record in registry.games() for entry in record.documents)
    return tuple(registry.load_entry(entry) for entry in (*entries, *ANY_GAME))


def recognise(source: str) -> DocumentKind:
    """Return the kind of a built-in name, a plural, or a file, which is recognised by its ending and keys."""
    kinds = document_kinds()
    for kind in kinds:
        if source == kind.plural or source in kind.names():
            return kind
    if not any(source.endswith(kind.endings) for kind in kinds):
        known = [*(kind.plural for kind in kinds), *(name for kind in kinds for name in kind.names())]
        raise LayoutError(f"{near_matches('file or name', source, known)}; or give the path of a .yaml file")
    path, seen = Path(source), set()
    while True:
        fitting = [kind for kind in kinds if source.endswith(kind.endings)]
        if len(fitting) == 1:
            return fitting[0]
        doc = load_file(path, "document")
        base = doc.get("extends")
        for kind in kinds:
            if isinstance(base, str) and (base in kind.names() or base in kind.bases):
                return kind
        if not isinstance(base, str) or path.resolve() in seen:
            break
        seen.add(path.resolve())
        path = path.parent / base
    best = max(kinds, key=lambda kind: (sum(key in kind.keys for key in doc), -len(kind.keys)))
    if not any(key in best.keys for key in doc):
        raise LayoutError(f"{doc.source}: has no key of a {', '.join(kind.name for kind in kinds)}")
    return best


@cache
def check_command(kind_name: str) -> Any:
    """Return the command that checks files of a kind."""
    kind = next(kind for kind in document_kinds() if kind.name == kind_name)

    def check(files: Files, options: Any, to_dict: Json = False) -> None:
        everything = files == [kind.plural]
        finding = kind.check(kind.names() if everything else files, options)
        show(finding, to_dict)
        raise typer.Exit(int(not finding.ok and not everything))  # built-in files document what they lack

    check.__doc__ = f"{kind.summary} Exit code 1 if a file does not hold what it claims."
    return make_command(check, kind.options)


def make_command(function: Any, options: type) -> Any:
    """Return a standalone command with the fields of a dataclass as options."""
    alone = typer.Typer(add_completion=False)
    alone.command(cls=MultiValueCommand)(expand_options(function, {"options": options}))
    return typer.main.get_command(alone)


def show(finding: Finding, to_dict: bool) -> None:
    """Print a finding as text or as JSON; the values of a single file are not wrapped in a list."""
    single = isinstance(finding.values, list) and len(finding.values) == 1
    values = finding.values[0] if single else finding.values  # type: ignore[index]
    OUT.print(json.dumps(values, indent=1) if to_dict else finding.text)


# ------------------------------------------------------------------------------------------- generators


def generator_of(env_id: str) -> Any:
    """Return the generator class of a game, a ``io.document_kinds.Generator``."""
    entry = registry.find(env_id).generator
    if not entry:
        available = ", ".join(record.id for record in registry.games() if record.generator)
        raise ValueError(f"{env_id} has no generator; these games have one: {available}")
    return registry.load_entry(entry)


@cache
def generate_command(env_id: str) -> Any:
    """Return the command that generates files of a game."""
    generator = generator_of(env_id)

    def generate(options: Any, out: Out, to_dict: Json = False) -> None:
        finding = options.write(out, f"collab-overcooked generate {env_id}")
        show(finding, to_dict)
        say(f"written: {out}")
        raise typer.Exit(int(not finding.ok))

    generate.__doc__ = f"Write {(generator.__doc__ or '').lower()[:1]}{(generator.__doc__ or '')[1:]}"
    return make_command(generate, generator)
