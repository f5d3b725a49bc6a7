"""Sources of the repository, each file read and parsed once."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "collab_overcooked"
PLACES = (PACKAGE, "benchmarks", "docs", "tests", "lint", "parity")
SCRIPTS = ("benchmarks/peers/", "docs/trainers/", "docs/notebooks/", "tests/trainers/")  # read from top to bottom


@dataclass(frozen=True)
class Finding:
    """A line that breaks a rule of this project."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


class Source:
    """A file with its syntax tree, or a prompt template.

    Args:
        path: Relative to the repository, with slashes.
        text: Its content.
    """

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text
        self.parts = tuple(path.split("/"))
        self.tree = ast.parse(text if path.endswith(".py") else "", filename=path)

    @functools.cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the tree."""
        return list(ast.walk(self.tree))

    @functools.cached_property
    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """All functions and methods."""
        return [node for node in self.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]

    @functools.cached_property
    def kernels(self) -> list[ast.FunctionDef]:
        """Top-level functions that numba compiles."""
        return [
            node
            for node in self.tree.body
            if isinstance(node, ast.FunctionDef)
            and any(isinstance(mark, ast.Name) and mark.id == "kernel" for mark in node.decorator_list)
        ]

    @functools.cached_property
    def imports(self) -> list[str]:
        """Absolute dotted names that running code imports, lazily or not: ``from a import b`` gives ``a.b``."""
        result = []
        blocks = [node for node in self.nodes if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
        for_types = {statement for block in blocks for statement in block.body}
        for node in self.nodes:
            if node in for_types:
                continue
            if isinstance(node, ast.Import):
                result += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = self.parts[: len(self.parts) - node.level] if node.level else ()
                module = ".".join([*base, *([node.module] if node.module else [])])
                result += [f"{module}.{alias.name}" for alias in node.names]
        return result

    @property
    def module(self) -> str:
        """Dotted name."""
        return self.path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")

    @property
    def in_package(self) -> bool:
        """Whether it is a part of the package."""
        return self.parts[0] == PACKAGE

    @property
    def in_game(self) -> str:
        """Folder of the game that it belongs to; empty outside the games."""
        return self.parts[2] if self.parts[:2] == (PACKAGE, "games") and len(self.parts) > 3 else ""


@dataclass(frozen=True)
class Project:
    """All sources of a repository.

    Args:
        sources: Python files and prompt templates.
        pages: Documentation, by path.
    """

    sources: tuple[Source, ...]
    pages: dict[str, str]

    @classmethod
    def read(cls, root: Path) -> Project:
        """Read and parse every source below a repository."""
        paths = [path for place in PLACES for end in ("py", "j2") for path in sorted((root / place).rglob(f"*.{end}"))]
        names = [path.relative_to(root).as_posix() for path in paths]
        sources = [
            Source(name, path.read_text("utf-8"))
            for name, path in zip(names, paths, strict=True)
            if not name.startswith(SCRIPTS)
        ]
        pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
        return cls(tuple(sources), {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in pages})

    def pages_of(self, folder: str) -> dict[str, str]:
        """Return the documentation of all games in a folder, by path."""
        page = re.compile(rf"docs/reference/games/{folder}(_\w+)?\.md")
        return {path: text for path, text in self.pages.items() if page.fullmatch(path)}

    @functools.cached_property
    def modules(self) -> list[Source]:
        """Python files of the package."""
        return [source for source in self.sources if source.in_package and source.path.endswith(".py")]

    def tests_of(self, folder: str) -> list[str]:
        """Return the names of the tests of all games in a folder."""
        sources = [source for source in self.sources if source.path.startswith(f"tests/games/{folder}/")]
        names = (node.name for source in sources for node in source.functions)
        return [name for name in names if name.startswith("test_")]

    @functools.cached_property
    def calls(self) -> set[str]:
        """Names of the functions that the package calls; a function's calls of itself do not count."""
        result = set()
        for source in self.modules:
            for top in source.tree.body:
                calls = (node for node in ast.walk(top) if isinstance(node, ast.Call))
                names = {getattr(node.func, "id", getattr(node.func, "attr", None)) for node in calls}
                result |= names - {getattr(top, "name", None)}
        return {name for name in result if name}


def within(name: str, packages: str | Iterable[str]) -> bool:
    """Return whether a dotted name is one of the packages or below it."""
    names = (packages,) if isinstance(packages, str) else packages
    return any(name == package or name.startswith(package + ".") for package in names)
