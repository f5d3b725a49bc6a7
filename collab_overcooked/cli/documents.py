"""The commands ``check`` and ``generate`` for layouts, lexicons and studies; games define their options."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from collab_overcooked import registry
from collab_overcooked.cli.app import OUT, command_group, say
from collab_overcooked.cli.options import FLAG, as_options, given_values, merge_options
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.document_kinds import DocumentFinding, DocumentKind
from collab_overcooked.io.documents import DocumentError, load_file

File = Annotated[
    str,
    Parameter(
        name="FILE",
        required=True,
        help="Files or built-in names, or a plural such as 'layouts' for all built-in ones; A+B is a kitchen that "
        "changes from layout A to B and back.",
    ),
]
Out = Annotated[Path, Parameter(help="File or folder to write.")]
Json = Annotated[bool, FLAG, Parameter(name="--json", help="Print the figures as JSON.")]


ANY_GAME = ("collab_overcooked.cli.lexicons:LEXICON", "collab_overcooked.study.documents:STUDY")


@cache
def document_kinds() -> tuple[DocumentKind, ...]:
    """Return all kinds of files: files of every game, lexicons and studies."""
    entries = dict.fromkeys(entry for record in registry.games() for entry in record.documents)
    return tuple(registry.load_entry(entry) for entry in (*entries, *ANY_GAME))


def recognise(source: str) -> DocumentKind:
    """Return the kind of a built-in name, a plural, or a file, which is recognised by its ending and keys.

    Layouts of one pool, such as ``A+B``, are recognised by the first one.
    """
    kinds = document_kinds()
    if not Path(source).exists():
        source = source.partition("+")[0]
    for kind in kinds:
        if source == kind.plural or source in kind.names():
            return kind
    if not any(source.endswith(kind.endings) for kind in kinds):
        known = [*(kind.plural for kind in kinds), *(name for kind in kinds for name in kind.names())]
        raise DocumentError(f"{near_matches('file or name', source, known)}; or give the path of a .yaml file")
    fitting = [kind for kind in kinds if source.endswith(kind.endings)]
    return fitting[0] if len(fitting) == 1 else _recognise_keys(Path(source), kinds)


def _recognise_keys(path: Path, kinds: tuple[DocumentKind, ...]) -> DocumentKind:
    seen = set()
    while True:
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
        raise DocumentError(f"{doc.source}: has no key of a {', '.join(kind.name for kind in kinds)}")
    return best


CheckOptions = merge_options("CheckOptions", [kind.options for kind in document_kinds()])


def check(
    *files: File,
    options: CheckOptions = CheckOptions(),  # type: ignore[valid-type]
    as_json: Json = False,
) -> int:
    """Check files: layouts, levels, maps, scenarios, kitchens, lexicons and studies.

    Exit code 1 if a file does not hold what it claims, 2 if one cannot be read.
    """
    given = given_values(options)
    plurals = {kind.plural: kind for kind in document_kinds()}
    if len(files) == 1 and files[0] in plurals:
        kind = plurals[files[0]]
        show(kind.check(kind.names(), options_of(kind, given)), as_json)
        return 0  # built-in files document what they lack
    fixed = plurals.get(files[0])  # such as 'layouts': files that need not be recognised
    if len(files) == 1:
        kind = recognise(files[0])
        finding = kind.check(list(files), options_of(kind, given))
        show(finding, as_json)
        return int(not finding.ok)
    codes, values = [0], list[Any]()
    for file in files[1:] if fixed else files:
        try:
            kind = fixed or recognise(file)
            finding = kind.check([file], options_of(kind, given))
        except (ValueError, OSError) as error:  # the others are checked all the same
            reason = str(error) if file in str(error) else f"{file}: {error}"
            finding = DocumentFinding(f"CANNOT BE READ: {reason}", [{"file": file, "error": str(error)}], ok=False)
            codes.append(2)
        codes.append(int(not finding.ok))
        values += finding.values if isinstance(finding.values, list) else [finding.values]
        if not as_json:
            show(finding, as_json)
    if as_json:
        show(DocumentFinding("", values), as_json)
    return max(codes)


def options_of(kind: DocumentKind, given: Mapping[str, Any]) -> Any:
    """Return the options of a kind of file.

    Raises:
        ValueError: For an option of another kind, or a value that is not allowed.
    """
    names = [field.name for field in fields(kind.options)]
    for name in given:
        if name not in names:
            allowed = ", ".join(f"--{other}" for other in names) or "no option"
            raise ValueError(f"--{name} is not for {kind.plural}, which take {allowed}")
    return kind.options(**given)


def show(finding: DocumentFinding, as_json: bool) -> None:
    """Print a finding as text or as JSON; the values of a single file are not wrapped in a list."""
    single = isinstance(finding.values, list) and len(finding.values) == 1
    values = finding.values[0] if single else finding.values  # type: ignore[index]
    OUT.print(json.dumps(values, indent=1) if as_json else finding.text)


def generator_of(env_id: str) -> Any:
    """Return the generator class of a game, a ``io.document_kinds.Generator``."""
    entry = registry.find(env_id).generator
    if not entry:
        available = ", ".join(record.id for record in registry.games() if record.generator)
        raise ValueError(f"{env_id} has no generator; these games have one: {available}")
    return registry.load_entry(entry)


def generate_command(env_id: str) -> Callable[..., int]:
    """Return the command that generates files of a game."""
    generator = as_options(generator_of(env_id))

    def generate(*, options: generator = generator(), out: Out, as_json: Json = False) -> int:  # type: ignore[valid-type]
        finding = options.write(out, f"collab-overcooked generate {env_id}")  # type: ignore[attr-defined]
        show(finding, as_json)
        say(f"written: {out}")
        return int(not finding.ok)

    summary = generator_of(env_id).__doc__ or ""
    generate.__doc__ = f"Write {summary[:1].lower()}{summary[1:]}"
    return generate


generate_app = command_group("generate", "Generate new layouts or scenarios of a game.")
for _record in registry.games():
    if _record.generator:
        generate_app.command(generate_command(_record.id), name=_record.id)
