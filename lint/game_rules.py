"""Which kernels of a game are rules: those whose sentence the reference page of the game lists.

A kernel of a module of rules, or a step of the order of play, is a rule unless its docstring begins with one of
``HELPER_VERBS``: helpers compute or clear what rules speak of. `docs/topics/writing.py` lists rules by this definition,
and `lint/fences.py` asks for their tests.
"""

from __future__ import annotations

import inspect
import re

RULE_FILES = ("rules.py", "directives.py", "macro_actions.py")
HELPER_VERBS = ("Clear", "Count", "Decide", "Execute", "Mark", "Return", "Store", "Turn")
ROW = re.compile(r"^(?:- |\d+\. )(?P<sentence>.+) `(?P<kernel>\w+)`$", re.MULTILINE)


def rule_sentence(docstring: str | None) -> str:
    """Return the sentence of a rule as Markdown, without what the kernel mutates; empty for a helper."""
    paragraph = inspect.cleandoc(docstring or "").partition("\n\n")[0]
    sentence = " ".join(paragraph.split()).partition(" Mutates:")[0].replace("``", "`")
    return "" if sentence.partition(" ")[0] in HELPER_VERBS else sentence


def listed_rules(page: str) -> dict[str, set[str]]:
    """Return the sentences that a page lists, by kernel; variants of a game share names."""
    rules: dict[str, set[str]] = {}
    for row in ROW.finditer(page.replace("\\|", "|")):
        rules.setdefault(row["kernel"], set()).add(row["sentence"])
    return rules
