"""Files that users write: lookup by name or path, ``extends``, and reading of checked values.

All kinds of files (kitchens, levels, layouts, scenarios, lexicons, configurations of training and of agents) are read
here, so that every error message names the file, the line, the field, its value and the allowed values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from collab_overcooked.io import schema
from collab_overcooked.io.checks import OptionError, near_matches, quote_value
from collab_overcooked.io.files import MAX_DOCUMENT, read_shipped, read_text
from collab_overcooked.io.schema import MAX_NUMBER, Parser, SchemaError
from collab_overcooked.io.yaml_reader import MAX_DEPTH, DocumentError, Marks, read_yaml

__all__ = ["Document", "DocumentError", "builtin_names", "load_file", "load_layout", "placed", "read_value"]

MAX_CELLS = 2_500  # of a grid; distance tables grow with its square
MISSING: Any = object()


@dataclass(frozen=True)
class Document(Mapping[str, Any]):
    """The values of a file with their line numbers, and readers that check them.

    Readers take the path of a field, for example ``doc.integer("agents", 0, "workers", low=1)``. They return
    ``default`` for a missing field and raise DocumentError if there is no default.
    """

    source: str  # File name as passed by the user
    content: dict[Any, Any]  # The merged mapping
    marks: Marks  # ``(file, line)`` of every key path
    # What the file itself calls a key path, where its keys were translated
    spelled: Mapping[tuple[Any, ...], str] = field(default_factory=dict)

    def __getitem__(self, key: str) -> Any:
        return self.content[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.content)

    def __len__(self) -> int:
        return len(self.content)

    def replace(self, values: Mapping[str, Any]) -> Document:
        """Return a copy of the document with some top-level keys replaced."""
        kept = {path: mark for path, mark in self.marks.items() if path and path[0] not in values}
        return Document(self.source, {**self.content, **values}, kept)

    def at(self, *path: Any) -> Any:
        """Return the value at a key path, None if missing."""
        value: Any = self.content
        for key in path:
            if isinstance(value, list) and isinstance(key, int):
                value = value[key]
            elif isinstance(value, dict) and key in value:
                value = value[key]
            else:
                return None
        return value

    def where(self, *path: Any) -> str:
        """Return ``"file, line n"`` of the longest known prefix of a key path."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.marks:
                file, line = self.marks[path[:end]]
                return f"{file}, line {line}"
        return self.source

    def row_of(self, key: str, row: int) -> str:
        """Return ``"file, line n"`` of a row of a block text such as a grid, or of a list of rows."""
        if (key, row) in self.marks:
            return self.where(key, row)
        if (key,) not in self.marks:
            return self.source
        file, line = self.marks[(key,)]
        value = self.at(key)
        above = rows_of(value)[0] if isinstance(value, str) else 0
        return f"{file}, line {line + 1 + above + row}"

    def error(self, message: str, *path: Any) -> DocumentError:
        """Return an error with file and line."""
        return DocumentError(f"{self.where(*path)}: {message}")

    def refuse(self, requirement: str, *path: Any, of_text: bool = False) -> DocumentError:
        """Return an error with file, line, field, requirement and actual value.

        Args:
            requirement: What the value must be, for example ``"be a text"``.
            *path: Path of the field.
            of_text: Whether a text is due; instead of a truth value the message asks for quotation marks.
        """
        value = self.at(*path)
        known = next((end for end in range(len(path), 0, -1) if path[:end] in self.spelled), 0)
        named = (self.spelled[path[:known]], *path[known:]) if known else path
        name = field_name(named) or "the file"
        if value is None:
            return self.error(f"{name} must {requirement}; it is missing", *path)
        remedy = quotation_remedy(value) if of_text else ""
        return self.error(f"{name} must {requirement}, not {quote_value(value)}{remedy}", *path)

    def _value_at(self, path: Iterable[Any], default: object, requirement: str) -> Any:
        value = self.at(*path)
        if value is None and default is MISSING:
            raise self.refuse(requirement, *path)
        return value

    def text(self, *path: Any, default: Any = MISSING) -> str:
        """Return a string; a blank one counts as missing.

        Raises:
            DocumentError: The value is not a string, or missing without a default.
        """
        value = self._value_at(path, default, "be a text")
        if value is None:
            return default
        if not isinstance(value, str) or (default is MISSING and not value.strip()):
            raise self.refuse("be a text", *path, of_text=True)
        return value

    def rows(self, *path: Any, remedy: str) -> list[str]:
        """Return the rows of a grid, a text or a list, of equal length; ``remedy`` tells how to extend a short one.

        Raises:
            DocumentError: Rows differ in length, or there are too many cells.
        """
        value = self.at(*path)
        if isinstance(value, list) and value and all(isinstance(row, str) for row in value):
            rows = value
        else:
            rows = rows_of(self.text(*path))[1]
        width = max(map(len, rows))
        if width * len(rows) > MAX_CELLS:
            raise self.error(f"a grid of {width} x {len(rows)} cells; the maximum is {MAX_CELLS} cells", *path)
        for y, row in enumerate(rows):
            if len(row) != width:
                where = self.row_of(path[0], y)
                raise DocumentError(f"{where}: grid row {y} has {len(row)} cells, others {width}; {remedy}")
        return rows

    def grid(
        self, symbols: str, starts: str, needed: Iterable[tuple[str, str]], closed: Mapping[str, str], remedy: str
    ) -> list[str]:
        """Return the rows of the entry ``grid``, of equal length.

        Args:
            symbols: Those of cells, but for starts and digits.
            starts: Symbols of starts and digits, which may also stand for cells.
            needed: Symbols of which the grid must have at least one, each with its name.
            closed: Symbols that no edge may have, each with its name.
            remedy: What closes rows and edges, such as "counters X or stations".

        Raises:
            DocumentError: A symbol is unknown or missing, one of ``closed`` lies at the edge, or rows differ in length.
        """
        rows = self.rows("grid", remedy=f"close every row with {remedy}")
        for y, row in enumerate(rows):
            for x, symbol in enumerate(row):
                where = f"{self.row_of('grid', y)}, cell ({x}, {y})"
                if symbol not in symbols + starts:
                    allowed = f"space, a digit or one of {symbols.replace(' ', '')}"
                    place = f"row {y + 1}, column {x + 1} of the grid"
                    raise DocumentError(f"{where}: unknown symbol {symbol!r}; use {allowed} ({place})")
                if symbol in closed and (x in (0, len(row) - 1) or y in (0, len(rows) - 1)):
                    raise DocumentError(
                        f"{where}: {closed[symbol]} at the edge of the grid; close the edge with {remedy}"
                    )
        for choices, what in needed:
            if not any(symbol in row for row in rows for symbol in choices):
                raise DocumentError(f"{self.row_of('grid', 0)}: the grid has no {what}; nothing could ever be served")
        return rows

    def read(self, parser: Parser, *path: Any, default: object = MISSING) -> Any:
        """Return a value as a parser reads it.

        Raises:
            DocumentError: The parser refuses the value.
        """
        value = self.at(*path)
        if value is None and default is not MISSING:
            return default
        try:
            return parser(value)
        except SchemaError as error:
            raise self.refuse(f"be {error.allowed}", *path) from None

    def integer(self, *path: Any, default: object = MISSING, low: int = 0, high: int = MAX_NUMBER) -> Any:
        """Return an integer from ``low`` to ``high``."""
        return self.read(schema.integer(low, high), *path, default=default)

    def number(self, *path: Any, default: object = MISSING, low: float = -MAX_NUMBER, positive: bool = False) -> Any:
        """Return a finite number of at least ``low``, or above 0."""
        return self.read(schema.number(low, above=0 if positive else None), *path, default=default)

    def boolean(self, *path: Any, default: object = False) -> bool:
        """Return true or false."""
        return bool(self.read(schema.boolean, *path, default=default))

    def choice(self, allowed: Collection[str], *path: Any, default: object = MISSING) -> str:
        """Return one of the allowed names."""
        return self.read(schema.one_of(allowed), *path, default=default)

    def listed(self, what: str, *path: Any, default: Any = MISSING) -> list[Any]:
        """Return a list, empty only if it has a default; ``what`` names the entries in messages.

        Raises:
            DocumentError: The value is not a list, or empty without a default.
        """
        value = self._value_at(path, default, f"be a list of {what}")
        if value is None:
            return default
        if not isinstance(value, list) or (not value and default is MISSING):
            raise self.refuse(f"be a list of {what}", *path)
        return value

    def names(
        self, check: Callable[..., Any], *path: Any, default: Any = MISSING, twice: bool = False
    ) -> tuple[str, ...]:
        """Return a list of names that ``check(doc, name, *path)`` accepts; ``twice`` allows repetitions."""
        value = self._value_at(path, default, "be a list of names")
        if value is None:
            return default
        if not isinstance(value, list) or not value:
            raise self.refuse("be a list of names", *path)
        for i, name in enumerate(value):
            check(self, name, *path, i)
            if name in value[:i] and not twice:
                raise self.error(f"{name!r} is listed twice under {field_name(path)}", *path, i)
        return tuple(value)

    def mapping(self, *path: Any, only: Collection[str] | None = None, default: Any = MISSING) -> dict[Any, Any]:
        """Return ``name: value`` lines, empty only if there is a default.

        Args:
            *path: Path of the field; empty for the file itself.
            only: Allowed names.
            default: Value of a missing field.

        Raises:
            DocumentError: The value is not a mapping, has an unknown key, or is empty without a default.
        """
        value = self._value_at(path, default, "hold `name: value` lines")
        if value is None:
            return default
        if not isinstance(value, dict) or (not value and default is MISSING):
            raise self.refuse("hold `name: value` lines", *path)
        for key in value if only is not None else ():
            if key not in only:  # type: ignore[operator]
                within = f" of {field_name(path)}" if path else ""
                raise self.error(near_matches("key", key, sorted(only)) + within, *path, key)  # type: ignore[arg-type]
        return value


def quotation_remedy(value: object) -> str:
    """Return the end of a message about a value in place of a text: how to write yes and no as texts, if it is one."""
    values = value if isinstance(value, list) else [value]
    truth = next((entry for entry in values if isinstance(entry, bool)), None)
    if truth is None:
        return ""
    word = "yes" if truth else "no"
    return f'; write "{word}" in quotation marks (YAML reads {word} as {str(truth).lower()})'


def rows_of(text: str) -> tuple[int, list[str]]:
    """Return the number of blank lines above a grid, and its rows without the indentation of a text within code."""
    lines = text.rstrip().splitlines()
    above = next((i for i, line in enumerate(lines) if line.strip()), 0)
    rows = lines[above:] or [""]
    indent = min((len(row) - len(row.lstrip()) for row in rows[1:]), default=0)
    return above, [rows[0].lstrip(), *(row[indent:] for row in rows[1:])] if indent else rows


def field_name(path: Iterable[Any]) -> str:
    """Return the path of a field as one string, for example ``"agents.0.start"``."""
    return ".".join(map(str, path))


@contextmanager
def placed(values: Mapping[str, Any]) -> Iterator[None]:
    """Convert an OptionError about a value of a document into a DocumentError with file and line.

    Raises:
        DocumentError: Made from an OptionError of the block.
    """
    try:
        yield
    except OptionError as error:
        if isinstance(values, Document) and (error.name,) in values.marks:
            raise values.error(str(error), error.name) from None
        raise


def builtin_names(folder: str) -> list[str]:
    """Return the names of a game's built-in layouts in natural order, ``level_2`` before ``level_10``."""
    root = resources.files("collab_overcooked.layouts") / folder
    names = [entry.name.removesuffix(".yaml") for entry in root.iterdir() if entry.name.endswith(".yaml")]

    def natural_key(name: str) -> list[str]:
        return [part.zfill(9) if part.isdecimal() else part for part in re.split(r"(\d+)", name)]

    return sorted(names, key=natural_key)


def load_layout(source: str | Path | Mapping[str, Any], folder: str, kind: str = "layout") -> Document:
    """Read a layout.

    A file may contain ``extends: other`` (a built-in name or a relative path) and replace top-level keys of that file.

    Args:
        source: Name of a built-in layout, path of a YAML file, or a mapping of values, which may extend a built-in one.
        folder: Game folder of the built-in layouts, below ``layouts``.
        kind: Noun for messages, for example ``"scenario"``; its plural takes an s.

    Raises:
        OptionError: For a list, as pools are made of single layouts.
        DocumentError: For an unknown name, a file that cannot be read, or values that no layout has.
    """
    if isinstance(source, (list, tuple, set)):
        raise OptionError(kind, f"{kind}: takes one name, file or mapping, not a list, {quote_value(source)}")
    if not isinstance(source, Mapping):
        return _load(str(source), folder, kind, None, ())
    content = _plain(source, 0)
    base_name = content.pop("extends", None)
    base = Document("", {}, {}) if base_name is None else _load(str(base_name), folder, kind, None, ())
    merged = base.replace(content)
    return Document(f"inline {kind}", merged.content, merged.marks)


def load_file(path: str | Path, kind: str) -> Document:
    """Read a YAML file that does not extend another file."""
    path = Path(path)
    return _document(read_document(path, kind), path.name, kind)


def read_value(text: str) -> Any:
    """Return a value such as ``3``, ``true`` or ``[1, 2]`` from a command line."""
    return read_yaml(text, "value")[0]


def _plain(value: object, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise DocumentError(f"inline layout: values are nested more than {MAX_DEPTH} deep")
    if isinstance(value, Mapping):
        return {key: _plain(entry, depth + 1) for key, entry in value.items()}
    return [_plain(entry, depth + 1) for entry in value] if isinstance(value, (list, tuple)) else value


def read_document(path: Path, kind: str) -> str:
    """Return the text of a layout, or of another file that a person writes.

    Raises:
        DocumentError: The file cannot be read.
    """
    try:
        return read_text(path, MAX_DOCUMENT)
    except ValueError as error:
        problem = str(error).removeprefix(f"{path}: ").removeprefix("cannot be read: ")
        raise DocumentError(f"cannot read {kind} file {path}: {problem}") from None


def _document(text: str, name: str, kind: str) -> Document:
    values, marks = read_yaml(text, name)
    if not isinstance(values, dict):
        raise DocumentError(f"{name}: a {kind} file holds `key: value` lines, not {type(values).__name__}")
    return Document(name, values, marks)


def _load(source: str, folder: str, kind: str, beside: Path | None, seen: tuple[str, ...]) -> Document:
    text, name, place, directory = _find(source, folder, kind, beside)
    if place in seen:
        raise DocumentError(f"{name}: extends itself through {' -> '.join((*seen, place))}; remove one of these")
    doc = _document(text, name, kind)
    base = doc.content.pop("extends", None)
    if base is None:
        return doc
    if not isinstance(base, str):
        raise doc.error(f"extends takes the name of a {kind}, not {quote_value(base)}", "extends")
    merged = _load(base, folder, kind, directory, (*seen, place)).replace(doc)
    return Document(name, merged.content, merged.marks | doc.marks)


def _find(source: str, folder: str, kind: str, beside: Path | None) -> tuple[str, str, str, Path | None]:
    names = builtin_names(folder)
    if source in names:
        return read_shipped(f"layouts/{folder}/{source}.yaml"), f"{source}.yaml", source, None
    path = Path(source)
    if beside is not None and not path.is_absolute():
        path = beside / path
    if path.suffix not in (".yaml", ".yml"):
        raise DocumentError(
            f"unknown {kind} {quote_value(source)}; built-in {kind}s: {', '.join(names)}; or give a .yaml file"
        )
    text = read_document(path, kind)
    return text, path.name, str(path.resolve()), path.parent
