"""Reader of untrusted YAML: plain values with their line numbers, within fixed limits of size and depth."""

from __future__ import annotations

import pickle
import re
from functools import lru_cache
from typing import Any

import yaml

from collab_overcooked.io.checks import shorten

KeyPath = tuple[Any, ...]
Marks = dict[KeyPath, tuple[str, int]]

MAX_CHARACTERS = 2_000_000
MAX_DEPTH = 40
MAX_VALUES = 50_000  # values behind an alias count at every use
EXPONENT = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][-+]?[0-9]+")
OCTAL = re.compile(r"[-+]?0[0-7_]+")
PLAIN_TAGS = {f"tag:yaml.org,2002:{name}": name for name in ("str", "int", "float", "bool", "null", "timestamp")}


class DocumentError(ValueError):
    """Invalid file; the message names file, line or cell, and a remedy."""

    def __init__(self, message: str) -> None:
        super().__init__(shorten(message))


class _Loader(yaml.SafeLoader):
    """Safe loader with limits of depth and number of values."""

    depth = 0
    nodes = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self.depth += 1
        self.nodes += 1
        if self.depth > MAX_DEPTH or self.nodes > MAX_VALUES:
            raise _TooLarge(self.peek_event().start_mark.line + 1, self.depth > MAX_DEPTH)
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


_Loader.add_implicit_resolver(  # YAML 1.1 reads 1e-3 as a string
    "tag:yaml.org,2002:float", re.compile(rf"^{EXPONENT.pattern}\Z"), list("-+.0123456789")
)


class _TooLarge(Exception):
    def __init__(self, line: int, deep: bool) -> None:
        self.line = line
        problem = f"values are nested more than {MAX_DEPTH} deep" if deep else f"more than {MAX_VALUES} values"
        super().__init__(f"{problem}, more than any file of this package needs")


def read_yaml(text: str, name: str) -> tuple[Any, Marks]:
    """Return the values of a YAML text, with file and line of every key path.

    Values are mappings, lists, texts, numbers, booleans and None; dates stay texts.

    Args:
        text: One YAML document.
        name: Name of the file for messages and marks.

    Raises:
        DocumentError: The text is not valid YAML, uses YAML that this package refuses, or is too long.
    """
    if len(text) > MAX_CHARACTERS:
        raise DocumentError(f"{name}: more than {MAX_CHARACTERS} characters, which no file of this package needs")
    values: tuple[Any, Marks] = pickle.loads(_pickled(text, name))  # a fresh copy each time, as callers modify it
    return values


@lru_cache(maxsize=256)
def _pickled(text: str, name: str) -> bytes:
    loader = None
    try:
        loader = _Loader(text)  # already reads the first characters
        return pickle.dumps(_Constructor(name, loader).construct(loader.get_single_node()))
    except _TooLarge as error:
        raise DocumentError(f"{name}, line {error.line}: {error}") from None
    except yaml.MarkedYAMLError as error:
        raise DocumentError(f"{name}{_in_line(error, text)}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise DocumentError(f"{name}, line {line}: not valid YAML: character {chr(error.character)!r}") from None
    finally:
        if loader is not None:
            loader.dispose()


def _in_line(error: yaml.MarkedYAMLError, text: str) -> str:
    """Return the line of an error and what is wrong with it, in words of the file instead of the parser."""
    mark, problem = error.problem_mark, error.problem or ""
    if mark is None:
        return f": not valid YAML: {problem}"
    lines = text.splitlines()
    line = lines[mark.line] if mark.line < len(lines) else ""
    before = line[: mark.column].strip()  # a key where the problem is its colon
    is_colon = problem.startswith("mapping values are not allowed")
    if is_colon and ": " in before:
        what = "a text with a colon and a space needs quotation marks"
    elif is_colon:
        what = "the indentation does not fit the lines before, or the line before lacks its colon"
    elif problem.startswith("expected <block end>") and not before:
        what = "the indentation does not fit the lines before"
    elif "'\\t'" in problem and not before:
        what = "a tab in the indentation; write spaces"
    else:
        around = "" if error.context is None else f"{error.context}"
        since = error.context_mark
        begun = "" if since is None or since.line == mark.line else f" that begins in line {since.line + 1}"
        what = f"not valid YAML: {around}{begun}{': ' if around else ''}{problem}"
    return f", line {mark.line + 1}: {what}"


class _Constructor:
    """Builds plain values from YAML nodes and records their lines."""

    def __init__(self, name: str, loader: _Loader) -> None:
        self.name, self.loader = name, loader
        self.marks: Marks = {}
        self.values = 0

    def construct(self, node: Any) -> tuple[Any, Marks]:
        value = None if node is None else self._value(node, (), ())
        return value, self.marks

    def _error(self, node: Any, message: str) -> DocumentError:
        return DocumentError(f"{self.name}, line {node.start_mark.line + 1}: {message}")

    def _value(self, node: Any, path: KeyPath, around: tuple[Any, ...]) -> Any:
        self.values += 1
        if self.values > MAX_VALUES or len(around) > MAX_DEPTH:  # aliases multiply the composed values
            raise _TooLarge(node.start_mark.line + 1, len(around) > MAX_DEPTH)
        if any(node is other for other in around):
            raise self._error(node, "an alias refers to a value that contains it; write the value out")
        self.marks.setdefault(path, (self.name, node.start_mark.line + 1))
        inside = (*around, node)
        if isinstance(node, yaml.MappingNode):
            self._refuse_tag(node, "map")
            return self._mapping(node, path, inside)
        if isinstance(node, yaml.SequenceNode):
            self._refuse_tag(node, "seq")
            return [self._value(item, (*path, i), inside) for i, item in enumerate(node.value)]
        return self._scalar(node)

    def _refuse_tag(self, node: Any, kind: str) -> None:
        if node.tag != f"tag:yaml.org,2002:{kind}":
            raise self._error(node, f"not valid YAML for this package: type {node.tag!r}; leave the type out")

    def _mapping(self, node: Any, path: KeyPath, inside: tuple[Any, ...]) -> dict[Any, Any]:
        values: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise self._error(key_node, "a key must be a name, not a list or a mapping; write `name: value`")
            key = self._scalar(key_node)
            if key in values:
                raise self._error(key_node, f"duplicate key {key!r}; keep one of them")
            self.marks[(*path, key)] = (self.name, key_node.start_mark.line + 1)
            values[key] = self._value(value_node, (*path, key), inside)
        return values

    def _scalar(self, node: Any) -> Any:
        kind = PLAIN_TAGS.get(node.tag)
        if kind is None:
            raise self._error(node, f"not valid YAML for this package: type {node.tag!r}; write a text or a number")
        if kind in ("str", "timestamp") or (kind in ("int", "float") and ":" in node.value):
            return node.value  # YAML 1.1 reads 1:30 as 90
        if kind == "int" and OCTAL.fullmatch(node.value):
            raise self._error(
                node,
                f"{node.value} with a zero in front is an octal number to some readers and a decimal one to others; "
                f"leave the zero out, or write '{node.value}' for a text",
            )
        try:
            value = self.loader.construct_object(node)
            # An integer may be written as 1e6 or 1.6e5, for example a number of steps.
            return int(value) if kind == "float" and EXPONENT.fullmatch(node.value) and value.is_integer() else value
        except (ValueError, KeyError, IndexError, OverflowError):  # `!!bool x`, a number of 10,000 digits
            quoted = node.value if len(node.value) < 40 else f"{node.value[:40]}..."
            raise self._error(node, f"{quoted!r} cannot be read as {kind}") from None
