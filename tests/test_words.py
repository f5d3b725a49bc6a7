"""Words: names, docstrings, messages, help texts and prompts use the field's terms; see CONTRIBUTING.md.

Each banned word has its replacement.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "collab_overcooked"
FILES = sorted(path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".j2"))

BANNED_NAMES = {
    r"own|ours|theirs|hers|his": "the thing itself: option, event, seat, record ...",
    r"found|given|each|told|said|made|wanted|shown": "the thing itself, or parsed, result, value, item ...",
    r"usual|usual_\w+|\w+_usual": "default",
    r"words|\w+_words|words_\w+": "text, label, description",
    r"moment|moments|\w+_moment|moment_\w+|\w+_moments": "state, snapshot, step",
    r"whole|flag|anything|or_none": "integer, boolean, unchecked, optional",
    r"chance|\w*_chance|chance_\w+": "rng, draw, probability",
    r"(MOST|LONGEST|LARGEST|DEEPEST|FEWEST|LEAST)(_\w+)?": "MAX_*, MIN_*",
    r"_?(tell|hear|heard|tells|hears)(_\w+)?": "notify, log, receive, message",
    r"as_json|to_json": "to_dict for a dict, to_json for a string",
    r"home|homes": "folder, owner (as a place in a game: allowed in games/house)",
}
"""Regular expression of a whole identifier -> replacement. Identifiers are what code binds: variables, arguments,
functions, classes, attributes."""

BANNED_PHRASES = {
    r"\blikewise\b": "say it again, or 'also'",
    r"\b(of )?one's own\b": "custom",
    r"\bthat which\b": "what the thing is called",
    r"\bin words\b|\bin plain words\b": "as text",
    r"\bthe usual\b|\busually\b": "the default, by default",
    r"\bunless told otherwise\b|\bif not told\b|\bif not given\b|\bif none is named\b": "by default",
    r"\bwhole numbers?\b": "integer(s)",
    r"\bof chance\b|\bby chance\b": "random",
    r"\bshall\b": "must, or the imperative",
    r"\bnobody\b|\bsomebody\b": "name the actor",
    r"\bthis very\b|\bone another\b|\bamong them\b|\bwhereof\b|\bthereof\b|\bhereby\b": "plain English",
    r"\bif need be\b": "if necessary",
    r"\bmoments?\b": "state, step, snapshot",
}
"""Regular expression -> replacement, in docstrings, comments, messages, help texts and prompts."""

INVERTED = re.compile(r"(What|Who|Whose|Whom|Those|One|How|Whether|Where|Whatever)\b")
"""A summary line starts with a verb or names the thing; it is not a relative clause."""

ALLOWED: dict[tuple[str, str], str] = (
    {
        ("policies/llm/store.py", "moment"): "key of stored exchanges, which stay readable",
        ("io/options.py", "flag"): "argparse's and click's term for a name such as --steps",
    }
    | {
        (
            f"games/cuisineworld/engine/{name}.py",
            "wanted",
        ): "an array of State: shaped rewards that items can still earn"
        for name in ("rules", "state", "step")
    }
    | {
        (f"games/house/{name}.py", "home"): "a place in the game"
        for name in ("policies/mhp", "policies/planner", "text/text")
    }
)
ALLOWED |= {
    ("games/rooms/questions/facts.py", "nobody"): "a choice of the built-in question items",
    ("games/overcooked/questions/text.py", "nobody"): "rules and descriptions of the built-in question items",
    ("games/collab_overcooked/text/text.py", "somebody"): "a message of refusals, part of language agents' prompts",
    ("games/collab_overcooked/suite/due_tables.py", "in words"): "name of a kind of initiation in tables and records",
    ("games/collab_overcooked/suite/metrics/initiations.py", "in words"): "the same",
}
"""(file below the package, word) -> why it stays."""


def bound_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and name of everything that a module binds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and text of strings, docstrings and comments of a module, or of the lines of a prompt."""
    text = path.read_text("utf-8")
    if path.suffix == ".j2":
        yield from enumerate(text.splitlines(), start=1)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
    for number, line in enumerate(text.splitlines(), start=1):
        if "#" in line:
            yield number, line.partition("#")[2]


def allowed(path: Path, word: str) -> bool:
    return (path.relative_to(PACKAGE).as_posix(), word) in ALLOWED


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".py"], ids=name_of)
def test_names_are_terms_of_the_field(path):
    results = [
        f"line {line}: {name}; write {better}"
        for line, name in bound_names(ast.parse(path.read_text("utf-8")))
        for banned, better in BANNED_NAMES.items()
        if re.fullmatch(banned, name) and not allowed(path, name)
    ]
    assert not results


@pytest.mark.parametrize("folder", ["benchmarks", "docs/examples", "tests"])
def test_variables_beside_the_package_are_terms_of_the_field(folder):
    """Constants, attributes and names of fixtures are not checked, nor homes, of which tests speak as places."""
    banned = re.compile("|".join(pattern for pattern in BANNED_NAMES if not pattern.startswith("home")))
    problems = [
        f"{path.relative_to(ROOT)}, line {node.lineno}: {node.id}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id.islower()
        if banned.fullmatch(node.id)
    ]
    assert not problems


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_texts_are_standard_english(path):
    results = [
        f"line {line}: {match.group()!r}; write {better}"
        for line, text in texts(path)
        for banned, better in BANNED_PHRASES.items()
        for match in re.finditer(banned, text, re.IGNORECASE)
        if not allowed(path, match.group().lower())
    ]
    assert not results


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".py"], ids=name_of)
def test_summary_lines_name_the_thing(path):
    tree = ast.parse(path.read_text("utf-8"))
    documented = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    summaries = [(getattr(node, "lineno", 1), ast.get_docstring(node) or "") for node in documented]
    assert not [f"line {line}: {text.splitlines()[0]}" for line, text in summaries if INVERTED.match(text)]


def test_the_words_are_checked_somewhere():
    assert BANNED_NAMES and FILES and all((PACKAGE / path).exists() for path, _ in ALLOWED)
