"""The commands ``check`` and ``generate`` for layouts, lexicons and studies; games define their options."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from collab_overcooked import registry
from collab_overcooked.cli.app import CHOOSERS, OUT, choose, command_group, is_asking, say
from collab_overcooked.cli.options import FLAG, as_options, set_options
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.document_kinds import DocumentFinding, DocumentKind
from collab_overcooked.io.documents import LayoutError, load_file

File = Annotated[
    str,
    Parameter(
        name="FILE", required=True, help="Files or built-in names, or a plural such as 'layouts' for all built-in ones."
    ),
]
Out = Annotated[Path, Parameter(help="File or folder to write.")]
Json = Annotated[bool, FLAG, Parameter(name="--json", help="Print the figures as JSON.")]


check_app = command_group(
    "check", "Check a kitchen, level, layout, map, scenario, lexicon or study: FILE, a built-in name, or all of a kind."
)
generate_app = command_group("generate", "Generate new layouts or scenarios of a game.")


def choose_kind(arguments: list[str]) -> list[str]:
    """Prepare the check of the kind of file that is named first."""
    summaries = {kind.plural: kind.summary for kind in document_kinds()}
    if is_asking(arguments):
        choose(check_app, summaries)
        return arguments
    if arguments[0].startswith("-"):
        raise ValueError("Missing file: name it first, then the options of its kind")
    files = list(takewhile(lambda word: not word.startswith("-"), arguments))
    kind = next((kind for kind in map(_kind_of, files) if kind is not None), None) or recognise(files[0])
    choose(check_app, summaries, kind.plural, partial(check_command, kind))
    return [kind.plural, *arguments]


def choose_game(arguments: list[str]) -> list[str]:
    """Prepare the generator of the game that is named first."""
    summaries = {
        record.id: (generator_of(record.id).__doc__ or "").split("\n")[0]
        for record in registry.games()
        if record.generator
    }
    if is_asking(arguments):
        choose(generate_app, summaries)
        return arguments
    env_id = registry.find(arguments[0]).id
    choose(generate_app, summaries, env_id, partial(generate_command, env_id))
    return [env_id, *arguments[1:]]


CHOOSERS |= {"check": choose_kind, "generate": choose_game}


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
    fitting = [kind for kind in kinds if kind.fits is None or kind.fits(doc)]
    best = max(fitting, key=lambda kind: (kind.fits is not None, sum(key in kind.keys for key in doc), -len(kind.keys)))
    if not any(key in best.keys for key in doc):
        raise LayoutError(f"{doc.source}: has no key of a {', '.join(kind.name for kind in kinds)}")
    return best


def _kind_of(source: str) -> DocumentKind | None:
    try:
        return recognise(source)
    except (ValueError, OSError):
        return None


def check_command(kind: DocumentKind) -> Callable[..., int]:
    """Return the command that checks files of a kind."""

    def check(*files: File, options: object = kind.options(), to_dict: Json = False) -> int:
        if files == (kind.plural,):
            show(kind.check(kind.names(), options), to_dict)
            return 0  # built-in files document what they lack
        if len(files) == 1:
            finding = kind.check(list(files), options)
            show(finding, to_dict)
            return int(not finding.ok)
        fixed = kind if files[0] == kind.plural else None  # such as 'layouts': files that need not be recognised
        codes, values = [0], list[Any]()
        for file in files[1:] if fixed else files:
            try:
                file_kind = fixed or recognise(file)
                finding = file_kind.check([file], options if file_kind is kind else file_kind.options())
            except (ValueError, OSError) as error:  # the others are checked all the same
                reason = str(error) if file in str(error) else f"{file}: {error}"
                finding = DocumentFinding(f"CANNOT BE READ: {reason}", [{"file": file, "error": str(error)}], ok=False)
                codes.append(2)
            codes.append(int(not finding.ok))
            values += finding.values if isinstance(finding.values, list) else [finding.values]
            if not to_dict:
                show(finding, to_dict)
        if to_dict:
            show(DocumentFinding("", values), to_dict)
        return max(codes)

    check.__doc__ = f"{kind.summary} Exit code 1 if a file does not hold what it claims, 2 if one cannot be read."
    set_options(check, {"options": as_options(kind.options)})
    return check


def show(finding: DocumentFinding, to_dict: bool) -> None:
    """Print a finding as text or as JSON; the values of a single file are not wrapped in a list."""
    single = isinstance(finding.values, list) and len(finding.values) == 1
    values = finding.values[0] if single else finding.values  # type: ignore[index]
    OUT.print(json.dumps(values, indent=1) if to_dict else finding.text)


def generator_of(env_id: str) -> Any:
    """Return the generator class of a game, a ``io.document_kinds.Generator``."""
    entry = registry.find(env_id).generator
    if not entry:
        available = ", ".join(record.id for record in registry.games() if record.generator)
        raise ValueError(f"{env_id} has no generator; these games have one: {available}")
    return registry.load_entry(entry)


def generate_command(env_id: str) -> Callable[..., int]:
    """Return the command that generates files of a game."""
    generator = generator_of(env_id)

    def generate(*, options: Any = generator(), out: Out, to_dict: Json = False) -> int:
        finding = options.write(out, f"collab-overcooked generate {env_id}")
        show(finding, to_dict)
        say(f"written: {out}")
        return int(not finding.ok)

    generate.__doc__ = f"Write {(generator.__doc__ or '').lower()[:1]}{(generator.__doc__ or '')[1:]}"
    set_options(generate, {"options": as_options(generator)})
    return generate
