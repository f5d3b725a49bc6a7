"""The lint script finds what it is there for: each check on a small source with one planted fault."""

from __future__ import annotations

import re

import pytest

from lint.__main__ import findings
from lint.source import Project, Source

RULES = "collab_overcooked/games/craft/engine/rules.py"
RULE = '@kernel\ndef bake(oven):\n    """An oven bakes. Mutates: oven."""\n    oven[0] = 1\n'
CALLER = Source("collab_overcooked/games/craft/engine/step.py", "bake(1)\n")
TEST = Source("tests/games/craft/test_rules.py", "def test_bake_when_empty(): pass\n")
PAGES = {"docs/reference/games/craft.md": "- An oven bakes. `bake`\n"}

FAULTS = {
    "a rule without a docstring": (RULES, "@kernel\ndef bake(oven): pass", "no docstring"),
    "a rule without a call": (RULES, RULE + "@kernel\ndef bake_on():\n  '''.'''", "called nowhere"),
    "a rule without a row": (RULES, RULE.replace("An oven", "Ovens"), "is not on the page"),
    "rules without a kernel": (RULES, "x = 1", "without a kernel"),
    "a rule that reads a file": (RULES, "from pathlib import Path\n" + RULE, "imports? arithmetic only"),
    "a game outside its home": ("collab_overcooked/runner/match.py", "x = 'CraftKitchen'", "names a game"),
    "a circle": ("collab_overcooked/games/craft/engine/step.py", "from . import rules", "import each other"),
    "an absolute import": (CALLER.path, "from collab_overcooked.games.craft.engine import x", "import it relatively"),
    "an import of baselines": (
        "collab_overcooked/runner/match.py",
        "from collab_overcooked.baselines import ppo",
        "only",
    ),
    "text as code": ("collab_overcooked/io/checks.py", "eval('1')", "eval runs text"),
    "a file that is opened": ("collab_overcooked/runner/match.py", "open('a')", "opens a file"),
    "a path that is opened": ("collab_overcooked/runner/match.py", "path.open(encoding='utf-8')", "opens a file"),
    "a file that is read": ("collab_overcooked/runner/match.py", "path.read_bytes()", "opens a file"),
    "a file that is written": ("collab_overcooked/runner/match.py", "path.write_text('a')", "opens a file"),
    "a packed file": ("collab_overcooked/runner/match.py", "gzip.open(path, 'rt')", "opens a file"),
    "a picture without a draft": ("collab_overcooked/runner/match.py", "figure.savefig(path)", "give it a draft"),
    "a probe": ("collab_overcooked/play/rooms.py", "getattr(policy, 'apart', False)", "probes for 'apart'"),
    "a parameter without a use": (
        CALLER.path,
        "@kernel\ndef heat(oven, time):\n    oven[0] = 1",
        "heat never reads time",
    ),
    "a question for an attribute": ("collab_overcooked/io/checks.py", "hasattr(x, 'y')", "probes for 'y'"),
}


def complaints(*sources: Source, pages: dict[str, str] = PAGES) -> list[str]:
    """Return what is found in a small project with more sources."""
    return [str(finding) for finding in findings(Project((CALLER, TEST, *sources), pages))]


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_planted_fault_is_found(fault: tuple[str, str, str]) -> None:
    path, text, complaint = fault
    sources = [Source(path, text)]
    if "import each other" == complaint:
        sources.append(Source(RULES, RULE + "from collab_overcooked.games.craft.engine import step"))
    assert [line for line in complaints(*sources) if re.search(complaint, line)]


def test_sources_without_a_fault_pass() -> None:
    assert not complaints(Source(RULES, RULE))


HEATING = '@kernel\ndef heat(oven):\n    """{sentence} Mutates: oven."""\n    oven[0] = 1\n'
CALL_OF_HEAT = Source("collab_overcooked/games/craft/engine/observe.py", "heat(1)\n")


@pytest.mark.parametrize("row", ["- Ovens heat up. `heat`", "3. Ovens heat up. `heat`"])
def test_a_rule_that_the_page_lists_needs_a_test_of_its_game(row: str) -> None:
    rules = Source(RULES, RULE + HEATING.format(sentence="Ovens heat up."))
    pages = {path: f"{page}{row}\n" for path, page in PAGES.items()}
    untested = "docs/reference/games/craft.md:1: rule heat: no test of tests/games/craft has its name"
    assert complaints(rules, CALL_OF_HEAT, pages=pages) == [untested]
    elsewhere = Source("tests/games/rush/test_rules.py", "def test_heat(): pass\n")
    assert complaints(rules, CALL_OF_HEAT, elsewhere, pages=pages) == [untested]
    test = Source("tests/games/craft/test_ovens.py", "def test_how_ovens_heat_in_time(): pass\n")
    assert not complaints(rules, CALL_OF_HEAT, test, pages=pages)


def test_a_helper_that_the_page_does_not_list_needs_no_test() -> None:
    assert not complaints(Source(RULES, RULE + HEATING.format(sentence="Count the degrees.")), CALL_OF_HEAT)


def test_a_step_of_the_order_of_play_needs_a_test() -> None:
    pages = {path: f"1. Ovens heat up. `begin_step`\n{page}" for path, page in PAGES.items()}
    assert "rule begin_step: no test" in complaints(Source(RULES, RULE), pages=pages)[0]
