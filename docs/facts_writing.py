"""What the facts of all games are written with: Markdown, docstrings, files."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

DOCS = Path(__file__).resolve().parent
RESULTS = DOCS / "results"
EXAMPLES = DOCS / "examples"


def table(heads: Iterable[str], rows: Iterable[Iterable[object]], right: Iterable[int] = ()) -> str:
    """Return a Markdown table; columns in ``right`` are aligned to the right."""
    names, flush = list(heads), set(right)
    lines = [
        "| " + " | ".join(names) + " |",
        "|" + "|".join("---:" if i in flush else "---" for i in range(len(names))) + "|",
    ]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def code(value: object) -> str:
    """Return a value in code font."""
    return f"`{value}`"


def plain(words: str) -> str:
    """Turn the double backticks of docstrings into Markdown's single ones."""
    return re.sub(r":\w+:`~?([^`]+)`", r"`\1`", words).replace("``", "`")


def first_line(documented: Any) -> str:
    """Return the first sentence of a docstring as Markdown, without what it says of mutation."""
    paragraph = (inspect.getdoc(documented) or "").split("\n\n")[0]
    return plain(" ".join(paragraph.split()).partition(" Mutates:")[0])


def section(documented: Any, name: str) -> dict[str, str]:
    """Return the entries of a section (Args, Attributes) of a Google docstring, in order."""
    entries: dict[str, str] = {}
    lines = (inspect.getdoc(documented) or "").split("\n")
    start = lines.index(f"{name}:") + 1 if f"{name}:" in lines else len(lines)
    key = ""
    for line in lines[start:]:
        if line and not line.startswith(" "):
            break
        entry = re.match(r"    \*{0,2}(\w+): (.*)", line)
        if entry:
            key = entry[1]
            entries[key] = entry[2]
        elif key and line.strip():
            entries[key] += " " + line.strip()
    return {key: plain(words) for key, words in entries.items()}


def option_table(owner: Any, without: Iterable[str]) -> str:
    """List a constructor's arguments with defaults and docstring entries."""
    words = section(owner, "Args")
    rows = [
        (code(name), code(repr(parameter.default)), words[name])
        for name, parameter in inspect.signature(owner).parameters.items()
        if name not in without
    ]
    return table(("option", "default", "meaning"), rows)


def template(words: str) -> str:
    """Show a message template with its holes in italics."""
    return re.sub(r"\{(\w+)(!r)?\}", r"*\1*", words)


def rules_of(rules: ModuleType) -> str:
    """List every rule of a module as a sentence with its function."""
    source = Path(str(rules.__file__)).read_text(encoding="utf-8")
    heads = {
        number: match[1]
        for number, line in enumerate(source.split("\n"), 1)
        if (match := re.match(r"# -{9,} (.*)", line))
    }
    parts: list[tuple[int, list[tuple[str, str]]]] = []
    rows: list[tuple[str, str]] = []
    at = 0
    for node in ast.parse(source).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        head = max((number for number in heads if number < node.lineno), default=0)
        if head != at and rows:
            parts.append((at, rows))
            rows = []
        at = head
        rows.append((first_line(getattr(rules, node.name)), code(node.name)))
    parts.append((at, rows))
    return "\n\n".join(
        f"**{heads[head].capitalize()}**\n\n" + table(("rule", "function"), rows) for head, rows in parts
    )


def calls(statements: Iterable[ast.stmt]) -> list[str]:
    """Return the names of called functions in order."""
    found = [
        (node.lineno, node.func.id)
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    return [name for _, name in sorted(found)]


def write_json(name: str, value: Mapping[str, Any]) -> None:
    """Keep a measurement."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / name).write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def example(name: str) -> str:
    """Show an example file."""
    return f'```yaml title="{name}"\n{(EXAMPLES / name).read_text(encoding="utf-8").rstrip()}\n```'
