"""Kinds of files that users write, and generators of such files: what a game tells the commands check and generate."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from collab_overcooked.io.documents import builtin_names
from collab_overcooked.io.options import NoOptions


@dataclass(frozen=True)
class Finding:
    """What a check found.

    Attributes:
        text: For a terminal.
        values: The same, fit for JSON.
        ok: Whether the files hold what they claim.
    """

    text: str
    values: Mapping[str, Any] | Sequence[Any]
    ok: bool = True


@dataclass(frozen=True)
class DocumentKind:
    """One kind of file.

    Attributes:
        name: Singular, for example ``"level"``.
        folder: Of the shipped ones, below ``layouts``.
        keys: That a file of this kind may hold at its top level.
        check: Takes names or paths and options; raises LayoutError for a file that cannot be read.
        options: Frozen dataclass of the check's options, with fields made by ``io.options.option``.
        summary: What the check says, in a sentence.
        endings: Of the files' names.
        bases: Shipped files that others extend and that are none of the kind themselves.
    """

    name: str
    folder: str
    keys: Collection[str]
    check: Callable[[Sequence[str], Any], Finding]
    summary: str
    options: type = NoOptions
    endings: tuple[str, ...] = (".yaml", ".yml")
    bases: tuple[str, ...] = ()

    @property
    def plural(self) -> str:
        """Name of all shipped ones together."""
        return f"{self.name.removesuffix('y')}ies" if self.name.endswith("y") else f"{self.name}s"

    def names(self) -> list[str]:
        """Return the names of the shipped ones."""
        return [name for name in builtin_names(self.folder) if name not in self.bases]


class Generator(Protocol):
    """A frozen dataclass of options, made by ``io.options.option``, that writes files."""

    def write(self, out: Path, command: str) -> Finding:
        """Write what was asked for.

        Args:
            out: File or folder.
            command: The command's first words, for a comment in what is written.
        """
