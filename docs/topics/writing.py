"""What the facts of all games are written with: Markdown, docstrings, files."""

from __future__ import annotations

import ast
import html
import inspect
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

from gymnasium.spaces import Box

import collab_overcooked
from collab_overcooked.kernels.blocks import blocks_of
from collab_overcooked.kernels.reasons import ReasonCode
from collab_overcooked.reporting.results import score_records
from lint.game_rules import rule_sentence

DOCS = Path(__file__).resolve().parent.parent
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
    """Return a value in code font; with a bar as HTML, as Markdown's dialects escape bars in tables differently.

    Spaces of arrays are their dtype and shape: each number has bounds of its own.
    """
    text = f"{value.dtype} {value.shape}" if isinstance(value, Box) else str(value)
    return (
        f"<code>{html.escape(text).replace('|', '&#124;').replace('[', '&#91;')}</code>" if "|" in text else f"`{text}`"
    )


def drawn(rows: Iterable[Iterable[str]]) -> str:
    """Return a grid of characters for a cell of a table."""
    return f"<pre>{'<br>'.join(html.escape(''.join(row)) for row in rows)}</pre>"


def listing(rows: Iterable[tuple[str, str, str]]) -> str:
    """Return options as a Markdown list: name, default in brackets, meaning."""
    return "\n".join(f"- {name}{f' ({default})' if default else ''}: {text}" for name, default, text in rows)


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


def field_comments(documented: type) -> dict[str, str]:
    """Return the comment of each field of a dataclass by its name: behind the field, or on the lines above it."""
    comments: dict[str, str] = {}
    for owner in reversed(documented.__mro__[:-1]):
        above: list[str] = []
        for line in inspect.getsource(owner).split("\n"):
            field = re.match(r"    (\w+): [^#]*(?:#+ (.*))?", line)
            if field and (field[2] or above):
                comments[field[1]] = plain(" ".join([*above, *filter(None, [field[2]])]))
            above = [*above, line.strip("# ")] if line.startswith("    # ") else []
    return comments


def option_table(owner: Any, without: Iterable[str]) -> str:
    """List a constructor's arguments with defaults and docstring entries."""
    if hasattr(owner, "config_class"):
        options = {each.name: each for each in fields(owner.config_class)}
        ordered = [options[name] for name in owner.config_class.names()]
        rows = [(code(each.name), code(repr(each.default)), plain(each.metadata["help"])) for each in ordered]
        return table(("option", "default", "meaning"), rows)
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


def rules_of(rules: ModuleType, steps: Iterable[tuple[str, str]] = ()) -> str:
    """List every rule of a module that is no step of the order of play, as a sentence with its kernel."""
    listed = {name for name, _ in steps}
    source = Path(str(rules.__file__)).read_text(encoding="utf-8")
    heads = {
        number: match[1]
        for number, line in enumerate(source.split("\n"), 1)
        if (match := re.match(r"# -{9,} (.*)", line))
    }
    lines: list[str] = []
    shown = 0
    for node in ast.parse(source).body:
        if not isinstance(node, ast.FunctionDef) or node.name in listed:
            continue
        sentence = rule_sentence(ast.get_docstring(node))
        if not sentence:
            continue
        head = max((number for number in heads if number < node.lineno), default=0)
        if head != shown:
            lines += [""] * bool(lines) + [f"**{heads[head].capitalize()}**", ""]
            shown = head
        lines.append(f"- {sentence} {code(node.name)}")
    return "\n".join(lines)


def calls(statements: Iterable[ast.stmt]) -> list[str]:
    """Return the names of called functions in order."""
    found = [
        (node.lineno, node.func.id)
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    return [name for _, name in sorted(found)]


def steps_of(step: ModuleType, kernel: str = "step_env") -> list[tuple[str, str]]:
    """Return the game's rules that a kernel of a module calls, in order and once, each with its sentence."""
    function = getattr(step, kernel)
    tree = ast.parse(inspect.getsource(getattr(function, "py_func", function)))
    assert isinstance(tree.body[0], ast.FunctionDef)
    found = {name: getattr(step, name, None) for name in calls(tree.body[0].body)}
    own = {name: one for name, one in found.items() if ".games." in getattr(one, "__module__", "")}
    sentences = {name: rule_sentence(inspect.getdoc(one)) for name, one in own.items()}
    return [(name, sentence) for name, sentence in sentences.items() if sentence]


def order_of_play(steps: Iterable[tuple[str, str]]) -> str:
    """List the steps of a game in order."""
    return "\n".join(f"{i}. {sentence} {code(name)}" for i, (name, sentence) in enumerate(steps, 1))


def reason_table(reasons: Iterable[ReasonCode]) -> str:
    """List the reasons of refusals with their numbers and what agents read."""
    refused = filter(None, reasons)
    return table(("reason", "number", "what agents read"), ((code(r.name), int(r), r.sentence) for r in refused), [1])


def feature_table(game: Any) -> str:
    """List what a game declares that an observation shows, with its places."""
    blocks = blocks_of(game.compiled.features)
    rows = ((block.name, len(block.highest), block.content) for block in blocks if len(block.highest))
    return block_table(rows, game.single_observation_space.shape[0])


def block_table(blocks: Iterable[tuple[str, int, str]], length: int) -> str:
    """List the blocks of a flat observation, (name, numbers, content), with their places; they must fill it.

    Objects of the same blocks in a row, such as ``pot0: contents`` and ``pot1: contents``, share one row.
    """
    objects: list[tuple[str, list[tuple[str, int, str]]]] = []
    for name, size, content in blocks:
        owner, _, part = name.rpartition(": ")
        if not owner or not objects or objects[-1][0] != owner:
            objects.append((owner or name, []))
        objects[-1][1].append((part if owner else "", size, content))
    rows: list[tuple[str, str, int, str]] = []
    at = 0
    for parts, alike in groupby(objects, key=lambda entry: entry[1]):
        first, *others = [name for name, _ in alike]
        for part, size, content in parts:
            rows.append((span(at, size), f"{first}: {part}" if part else first, size, content))
            at += size
        if others:
            size = sum(size for _, size, _ in parts)
            each = f"{size} each, " if len(others) > 1 else ""
            named = ", ".join(others) if len(others) < 8 else f"{others[0]} to {others[-1]}"
            rows.append((span(at, size * len(others)), named, size * len(others), f"{each}as {first}"))
            at += size * len(others)
    assert at == length, (at, length)
    return table(("index", "block", "size", "content"), rows, right=(2,))


def span(at: int, size: int) -> str:
    """Return the indices of a block."""
    return f"{at}–{at + size - 1}" if size > 1 else str(at)


# ------------------------------------------------------------------------------------------- measurements


def read_json(name: str) -> Any:
    """Return a kept measurement, None if there is none."""
    path = RESULTS / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def write_json(name: str, value: Mapping[str, Any]) -> None:
    """Keep a measurement with the version that made it; rows of numbers or text stand on one line."""
    text = json.dumps({"version": collab_overcooked.__version__} | dict(value), indent=1)
    lines = re.sub(r"\[\s+([^][{}]*?)\s+\]", lambda row: f"[{' '.join(row[1].split())}]", text)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / name).write_text(lines + "\n", encoding="utf-8")


def played(suite: str, team: str, **options: Any) -> list[Any]:
    """Play a policy in all seats with seed 0, and return the records."""
    return list(collab_overcooked.evaluate(suite, team=f"all={team}", **options))


def measured(suite: str, team: str, **options: Any) -> list[dict[str, Any]]:
    """Play a policy in all seats with seed 0, and return the rows of the suite's data."""
    card, *_ = score_records(played(suite, team, **options))
    rows: list[dict[str, Any]] = card.to_dict()["data"]
    return rows
