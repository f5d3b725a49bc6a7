"""Kinds of files that users write, and generators of such files, as declared by games for 'check' and 'generate'."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Protocol

import yaml

from collab_overcooked.io.documents import builtin_names
from collab_overcooked.io.files import write_atomic
from collab_overcooked.io.options import NoOptions


@dataclass(frozen=True)
class DocumentFinding:
    """Result of a check."""

    text: str  # Report for a terminal
    values: Mapping[str, Any] | Sequence[Any]  # The same report as JSON values
    ok: bool = True  # Whether the files passed


@dataclass(frozen=True)
class DocumentKind:
    """A kind of file that users write."""

    name: str  # Singular, for example ``"level"``
    folder: str  # Folder of the built-in files, below ``layouts``
    keys: Collection[str]  # Allowed top-level keys
    # Function of names or paths and options; raises DocumentError for a file that cannot be read
    check: Callable[[Sequence[str], Any], DocumentFinding]
    summary: str  # Description of the check in one sentence
    options: type = NoOptions  # Frozen dataclass of the check's options, with fields made by ``io.options.option``
    endings: tuple[str, ...] = (".yaml", ".yml")  # File name extensions
    bases: tuple[str, ...] = ()  # Built-in files that others extend but that are not of this kind themselves
    # Whether values are of this kind, if keys alone do not tell it from another kind
    fits: Callable[[Mapping[Any, Any]], bool] | None = None

    @property
    def plural(self) -> str:
        """Plural of the name."""
        return f"{self.name.removesuffix('y')}ies" if self.name.endswith("y") else f"{self.name}s"

    def names(self) -> list[str]:
        """Return the names of the built-in files."""
        return [name for name in builtin_names(self.folder) if name not in self.bases]


class Generator(Protocol):
    """A frozen dataclass of options, made by ``io.options.option``, that writes files."""

    def write(self, out: Path, command: str) -> DocumentFinding:
        """Write the files.

        Args:
            out: File or folder to write.
            command: Command line, for a comment in the files.
        """


def check_yaml_path(out: Path) -> None:
    """Check that a file to be written is named like a YAML file."""
    if out.suffix not in (".yaml", ".yml"):
        raise ValueError(f"out: {out} should end in .yaml")


def write_generated(out: Path, values: Mapping[str, Any], command: str, options: Any) -> None:
    """Write a generated file, with the command line that generates it again as a comment.

    Args:
        out: YAML file.
        values: Values of the file.
        command: Command without its options.
        options: The ``Generator``.
    """
    values_by_option = {entry.name.replace("_", "-"): getattr(options, entry.name) for entry in fields(options)}
    arguments = " ".join(f"--{name} {value}" for name, value in values_by_option.items())
    text = yaml.safe_dump(dict(values), sort_keys=False, default_flow_style=None, width=120)
    write_atomic(out, f"# {command} {arguments}\n{text}".encode())
