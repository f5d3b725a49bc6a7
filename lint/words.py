"""Words: names, docstrings, messages, help texts and prompts use the field's terms, each with its replacement."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from lint.source import PACKAGE, Finding, Project, Source, any_of, bound_names, prose_of, texts_of

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
    | {(f"games/house/{name}.py", "home"): "a place in the game" for name in ("policies/planner", "text/text")}
)
ALLOWED |= {
    ("games/rooms/questions/facts.py", "nobody"): "a choice of the built-in question items",
    ("games/overcooked/questions/text.py", "nobody"): "rules and descriptions of the built-in question items",
    ("games/collab_overcooked/text/text.py", "somebody"): "a message of refusals, part of language agents' prompts",
    ("games/collab_overcooked/suite/tables.py", "in words"): "name of a kind of initiation in tables and records",
    ("games/collab_overcooked/suite/collaboration.py", "in words"): "the same",
}
"""(file below the package, word) -> why it stays."""

CHECKED = (PACKAGE, "benchmarks/", "docs/examples/", "lint/", "tests/")


def _allowed(source: Source, word: str) -> bool:
    return (source.path.removeprefix(f"{PACKAGE}/"), word) in ALLOWED


def names(project: Project) -> Iterator[Finding]:
    """Names that code binds are terms of the field; beside the package only variables are checked."""
    banned = any_of(rf"(?:{pattern})\Z" for pattern in BANNED_NAMES)
    replacements = list(BANNED_NAMES.values())
    for source in project.sources:
        if not source.path.startswith(CHECKED):
            continue
        for line, name in bound_names(source) if source.in_package else _variables(source):
            match = banned.match(name)
            if match and not _allowed(source, name):
                yield Finding(source.path, line, f"{name}; write {replacements[int(match.lastgroup[1:])]}")


def _variables(source: Source) -> Iterator[tuple[int, str]]:
    for node in source.nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id.islower():
            if node.id not in ("home", "homes"):  # places, of which tests speak
                yield node.lineno, node.id


def phrases(project: Project) -> Iterator[Finding]:
    """Texts of the package and of its pages are standard English."""
    banned = any_of(BANNED_PHRASES, re.IGNORECASE)
    replacements = list(BANNED_PHRASES.values())
    texts = [(source.path, text) for source in project.sources if source.in_package for text in texts_of(source)]
    texts += [(path, text) for path, page in project.pages.items() for text in prose_of(page)]
    for path, (line, text) in texts:
        for match in banned.finditer(text):
            if (path.removeprefix(f"{PACKAGE}/"), match.group().lower()) not in ALLOWED:
                yield Finding(path, line, f"{match.group()!r}; write {replacements[int(match.lastgroup[1:])]}")


def summaries(project: Project) -> Iterator[Finding]:
    """Summary lines start with a verb or name the thing; they are no relative clauses."""
    for source in project.modules:
        for node in source.nodes:
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                summary = ast.get_docstring(node) or ""
                if INVERTED.match(summary):
                    yield Finding(source.path, getattr(node, "lineno", 1), summary.partition("\n")[0])


def exceptions(project: Project) -> Iterator[Finding]:
    """Exceptions to the list name files that exist."""
    paths = {source.path for source in project.sources}
    for path, word in ALLOWED:
        if f"{PACKAGE}/{path}" not in paths:
            yield Finding("lint/words.py", 1, f"{path} is gone, {word!r} need not be allowed there")


CHECKS = (names, phrases, summaries, exceptions)
