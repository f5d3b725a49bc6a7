"""Read layout files so that every complaint can name file and line.

Files are YAML, read with the safe loader. A file may say ``extends: other`` (a shipped name or a path beside it) and
replace top-level keys of the other file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

Path_ = tuple[Any, ...]


class LayoutError(ValueError):
    """A layout file that cannot work; the message names file, line or cell, and a remedy."""


@dataclass(frozen=True)
class Document:
    """The values of a layout file and where each of them stands.

    Attributes:
        source: Name of the file as the user gave it.
        values: The merged mapping.
        marks: ``(file, line)`` of every key path.
    """

    source: str
    values: dict[str, Any]
    marks: dict[Path_, tuple[str, int]]

    def at(self, *path: Any) -> Any:
        """Return the value of a key path, None where there is none."""
        value: Any = self.values
        for key in path:
            if isinstance(value, list) and isinstance(key, int):
                value = value[key]
            elif isinstance(value, dict) and key in value:
                value = value[key]
            else:
                return None
        return value

    def text(self, *path: Any, default: str | None = None) -> str:
        """Return the text of a key path.

        Raises:
            LayoutError: If something else stands there, or nothing and there is no default.
        """
        value = self.at(*path)
        if value is None and default is not None:
            return default
        if not isinstance(value, str) or not value.strip():
            raise self.error(f"{path[-1]} must be a text, not {value!r}", *path)
        return value

    def where(self, *path: Any) -> str:
        """Return ``"file, line n"`` of the longest known beginning of a key path."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.marks:
                file, line = self.marks[path[:end]]
                return f"{file}, line {line}"
        return self.source

    def error(self, message: str, *path: Any) -> LayoutError:
        """Make an error that says where."""
        return LayoutError(f"{self.where(*path)}: {message}")

    def row_of(self, key: str, row: int) -> str:
        """Return ``"file, line n"`` of a row of a block text such as the grid."""
        if (key,) not in self.marks:
            return self.source
        file, line = self.marks[(key,)]
        return f"{file}, line {line + 1 + row}"


def shipped(folder: str) -> list[str]:
    """Return the names of the layouts that come with the package for a game."""
    root = resources.files("collab_overcooked.layouts") / folder
    return sorted(entry.name.removesuffix(".yaml") for entry in root.iterdir() if entry.name.endswith(".yaml"))


def load_layout(source: str | Path | Mapping[str, Any], folder: str, kind: str = "layout") -> Document:
    """Read a layout.

    Args:
        source: Name of a shipped layout, path of a YAML file, or the values of one.
        folder: Game folder of the shipped layouts, for example ``"collab_overcooked"``.
        kind: What messages call it, for example ``"scenario"``; its plural takes an s.

    Raises:
        LayoutError: If the name is unknown or the file cannot be read as a mapping without duplicate keys.
    """
    if isinstance(source, Mapping):
        return inline_layout(source, folder, kind)
    return _load(str(source), folder, kind, None, ())


def inline_layout(values: Mapping[str, Any], folder: str, kind: str = "layout") -> Document:
    """Take a layout that is given as a mapping instead of a file; it may extend a shipped one.

    Raises:
        LayoutError: If the extended layout is unknown or cannot be read.
    """
    own = dict(values)
    base = own.pop("extends", None)
    if base is None:
        return Document("inline layout", own, {})
    below = _load(str(base), folder, kind, None, ())
    kept = {path: mark for path, mark in below.marks.items() if path and path[0] not in own}
    return Document("inline layout", below.values | own, kept)


def _load(source: str, folder: str, kind: str, beside: Path | None, seen: tuple[str, ...]) -> Document:
    text, name, place, directory = _read(source, folder, kind, beside)
    if place in seen:
        raise LayoutError(f"{name}: extends itself through {' -> '.join((*seen, place))}; break the circle")
    marks: dict[Path_, tuple[str, int]] = {}
    try:
        node = yaml.compose(text, yaml.SafeLoader)
        values = _construct(node, (), marks, name)
    except yaml.YAMLError as error:
        raise LayoutError(f"{name}: not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(values, dict):
        raise LayoutError(f"{name}: a layout file holds `key: value` lines, not {type(values).__name__}")
    base = values.pop("extends", None)
    if base is None:
        return Document(name, values, marks)
    if not isinstance(base, str):
        raise LayoutError(f"{name}, line {marks[('extends',)][1]}: extends takes the name of a layout, not {base!r}")
    below = _load(base, folder, kind, directory, (*seen, place))
    kept = {path: mark for path, mark in below.marks.items() if path and path[0] not in values}
    return Document(name, below.values | values, kept | marks)


def _read(source: str, folder: str, kind: str, beside: Path | None) -> tuple[str, str, str, Path | None]:
    """Return text, name for messages, full place (which tells files of one name apart) and folder of a layout."""
    names = shipped(folder)
    if source in names:
        text = (resources.files("collab_overcooked.layouts") / folder / f"{source}.yaml").read_text("utf-8")
        return text, f"{source}.yaml", source, None
    path = Path(source)
    if beside is not None and not path.is_absolute():
        path = beside / path
    if path.suffix not in (".yaml", ".yml"):
        raise LayoutError(f"unknown {kind} {source!r}; shipped {kind}s: {', '.join(names)}; or give a .yaml file")
    try:
        return path.read_text("utf-8"), path.name, str(path.resolve()), path.parent
    except (OSError, UnicodeDecodeError) as error:
        raise LayoutError(f"cannot read {kind} file {source}: {getattr(error, 'strerror', None) or error}") from None


def _construct(node: Any, path: Path_, marks: dict[Path_, tuple[str, int]], name: str) -> Any:
    """Build plain values from YAML nodes, noting lines and refusing duplicate keys."""
    if node is None:
        return None
    marks.setdefault(path, (name, node.start_mark.line + 1))
    if isinstance(node, yaml.MappingNode):
        values: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = yaml.SafeLoader("").construct_object(key_node, deep=True)
            line = key_node.start_mark.line + 1
            if isinstance(key, (list, dict)):
                raise LayoutError(f"{name}, line {line}: a key must be a name, not {key!r}; write `name: value`")
            if key in values:
                raise LayoutError(f"{name}, line {line}: {key!r} stands here a second time; keep one of them")
            marks[(*path, key)] = (name, line)
            values[key] = _construct(value_node, (*path, key), marks, name)
        return values
    if isinstance(node, yaml.SequenceNode):
        return [_construct(item, (*path, i), marks, name) for i, item in enumerate(node.value)]
    return yaml.SafeLoader("").construct_object(node, deep=True)
