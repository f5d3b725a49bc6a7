"""Hostile texts in every field of records and in names of policies: no page, terminal, table or file obeys them."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import sys
import unicodedata
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from attacks.records import PLANS, SHORT, write_records
from msgspec import to_builtins
from rich.console import Console
from support.records import from_json

from collab_overcooked.cli.app import ERR, TextConsole, error_line, say
from collab_overcooked.cli.episodes import check_records, show_episode
from collab_overcooked.core.record import history_of
from collab_overcooked.evaluation.compare import page as comparison_page
from collab_overcooked.evaluation.compare.leaderboard import read_comparison
from collab_overcooked.evaluation.compare.plan import ComparisonPlan, Entry, read_plan
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.registry import load_suite
from collab_overcooked.reporting import report, scorecard
from collab_overcooked.reporting.plan_trees import report_section, tree_text, update_at
from collab_overcooked.reporting.results import score_records
from collab_overcooked.runner.records import derived_fields, read_records

pytestmark = pytest.mark.attacks

PAYLOADS = (
    "<evil>",
    '"><evil onload="evil()">',
    "' evil='1",
    '" evil="1',
    "</script><evil>",
    "</title></style></textarea><evil>",
    "<!--<script>",
    "]]><evil>",
    "&lt;evil&gt;&#60;evil&#62;",
    "\x1b]0;evil\x07\x1b[31mred\x1b[2J\x9b31m",
    "abc\u202e\u2066cba\u200b\u200d\U000e0041\ufeff",
    "a\r\nb\u2028c\x85d\x00e",
    "=cmd|' /C evil'!A0",
    "\uff1d1+1",
    "@SUM(A1)",
    "![evil](http://evil/x.png) [x](javascript:evil) `b` | c",
    "$\\evil$ {{7*7}} [red]x[/red] :smile: \\",
    "%s %(x)s {0.__class__} \\[bold",
)
EACH = 3  # records of a game, which begin with different payloads
ACTED_UPON = frozenset(("event", "reason"))  # words that decide how an event is written


class Markup(HTMLParser):
    """Collects the elements and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.values: list[str] = []
        self.scripts = 0
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.names |= {tag, *(name for name, _ in attrs)}
        self.values += [f"{name}={value}" for name, value in attrs if name in ("href", "src", "style", "id", "class")]

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data[:80]}")


def hidden(text: str) -> list[str]:
    """Return characters that nobody sees and terminals obey."""
    return [c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]


def is_harmless(page: str) -> None:
    result = Markup(page)
    assert not [name for name in result.names if "evil" in name or name.startswith("on") or name in ("base", "iframe")]
    assert not [value for value in result.values if "evil" in value or "javascript" in value]
    assert result.scripts == 3  # episodes, exchanges, the player
    assert not hidden(page)
    replays = re.search(r'id="replays">(.*?)</script>', page, re.DOTALL)
    assert replays is not None and not hidden("".join(texts_of(json.loads(replays[1]))))


def texts_of(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    entries = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for entry in entries for text in texts_of(entry)]


def poisoned(value: Any, number: int) -> Any:
    """Return a value with a payload at the end, or instead, of each of its texts."""
    payload = PAYLOADS[number % len(PAYLOADS)]
    if isinstance(value, str):
        return payload if number % 2 else value + payload
    if isinstance(value, list):
        return [poisoned(entry, number + i) for i, entry in enumerate(value)]
    if isinstance(value, dict):
        return {k: v if k in ACTED_UPON else poisoned(v, number + i) for i, (k, v) in enumerate(value.items())}
    return value


def hostile(record: dict[str, Any], number: int) -> dict[str, Any]:
    """Return a record whose free texts are payloads; what the game itself must know stays."""
    free = {
        name: poisoned(record[name], number) for name in ("team", "version", "feedback", "accounts", "plan_updates")
    }
    steps = [step | {"action_texts": poisoned(step["action_texts"], t)} for t, step in enumerate(record["steps"])]
    for t, step in enumerate(steps):
        step["events"] = poisoned(step["events"], number + t)
        payload = PAYLOADS[(number + t) % len(PAYLOADS)]
        step["messages"] = [{"agent": None if t % 2 else 0, "conversation": 0, "say": payload, "plan": payload}]
        step["errors"] = [{"agent": 0, "action": payload, "code": payload, "message": payload}]
    for account in free["accounts"].values():
        account["trouble"] = {PAYLOADS[number % len(PAYLOADS)]: 1}
    payload = PAYLOADS[number % len(PAYLOADS)]
    known = {} if "Collab" in record["env_id"] or "item" in record else {"task": poisoned(record["task"], number)}
    known |= {name: payload for name in ("teacher", "scenario") if name in record}
    known = {name: value for name, value in known.items() if name not in derived_fields(from_json(record))}
    if "teacher" in known:  # is a part of the task's name, which is checked
        known |= {"task": derived_fields(from_json(record | known))["task"]}
    values = record | free | known | {"steps": steps}
    return values | {"history": to_builtins(history_of(from_json(values).steps, len(record["team"])))}


CHOSEN = [pytest.param(suite, id=suite, marks=() if suite in SHORT else pytest.mark.nightly) for suite in PLANS]


@pytest.fixture(scope="module", params=CHOSEN)
def records(request, donors, tmp_path_factory):
    first = EACH * list(PLANS).index(request.param)
    every = [hostile(donors[request.param], number) for number in range(first, first + EACH)]
    folder = write_records(tmp_path_factory.mktemp("hostile"), every)
    return read_records(folder)


def is_markup_free(page: str) -> None:
    result = Markup(page)
    assert not [name for name in result.names if "evil" in name or name.startswith("on")] and not result.scripts
    assert not hidden(page)


def test_no_page_has_markup_of_texts(records, tmp_path):
    is_harmless(report.build_report(records, score_records(records)))


def test_tables_in_files_have_neither_formulas_nor_markup(records):
    cards = score_records(records)
    written = scorecard.markdown(cards)
    assert not hidden(written) and "<evil" not in written
    assert not re.search(r"(?<!\\)(?:\\\\)*\[evil|(?<!\\)\]\(", re.sub(r"`[^`\n]*`", "", written)), "a link"
    for line in written.splitlines():
        assert not [cell for cell in line.split("|") if re.match(r"\s*[=@\uff1d]", cell)], line
    text = scorecard.csv_text(cards)
    assert not hidden(text)
    for row in csv.reader(io.StringIO(text)):
        assert not [cell for cell in row if re.match(r"\s*[=@\uff1d]", cell)], row
    assert scorecard.json_text(cards).isascii()


def test_terminals_get_text_alone(records, monkeypatch):
    out = io.StringIO()
    console = TextConsole(file=out, soft_wrap=True, highlight=False, width=200)
    monkeypatch.setattr("collab_overcooked.cli.episodes.OUT", console)
    monkeypatch.setattr(sys.modules["collab_overcooked.cli.app"], "ERR", console)
    for card in score_records(records):
        card.show(Console(file=out, width=200))
    for record in records[:4]:
        show_episode(record)
        check_records([record])
        console.print(tree_text(update_at(record, 0)))
        is_markup_free(report_section([record]))
        ERR.print(error_line(f"{record.task}: {record.team['agent_0']}"))
        say(record.version)
    assert not hidden(out.getvalue())
    assert "[red]x[/red] :smile:" in out.getvalue() or "evil" in out.getvalue()


@pytest.fixture(scope="module")
def comparison(donors, tmp_path_factory):
    """A comparison of policies with hostile names, read from its folder."""
    folder = tmp_path_factory.mktemp("comparison")
    setting = load_suite("rush").benchmark("small").settings[0]
    match = plan_evaluation("rush", ["all=random"], **setting.suite_options).matches[0]
    policies = tuple(f"ppo:{' '.join(PAYLOADS[i::4])}.npz" for i in range(4))
    entries = [Entry("rush", setting.name, (one, one), f"own/{i}") for i, one in enumerate(policies)]
    entries += [
        Entry("rush", setting.name, (one, other), f"pairs/{i}-{j}", True)
        for i, one in enumerate(policies)
        for j, other in enumerate(policies)
    ]
    ComparisonPlan(("rush",), policies, entries=tuple(entries)).write(folder)
    for entry in entries:
        team = dict(zip(donors["rush"]["team"], entry.team, strict=True))
        write_records(folder / entry.folder, [donors["rush"] | {"team": team, "task": match.task}])
    return read_comparison(read_plan(folder), folder)


def test_names_of_policies_become_no_markup_of_a_comparison(comparison):
    is_harmless(comparison_page.page(comparison))
    written = comparison_page.markdown(comparison)
    assert not hidden(written) and "<evil" not in written
    out = io.StringIO()
    comparison_page.show(Console(file=out, width=200), comparison)
    assert not hidden(out.getvalue())


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")
@pytest.mark.browser
def test_a_browser_finds_no_element_of_texts_either(records, comparison, tmp_path):
    pages = (report.build_report(records, score_records(records)), comparison_page.page(comparison))
    for number, page in enumerate(pages):
        path = Path(tmp_path / f"{number}.html")
        path.write_text(page, "utf-8")
        flags = ("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=4000", "--dump-dom")
        profile = f"--user-data-dir={tmp_path / 'profile'}"
        done = subprocess.run(["chromium", *flags, profile, f"file://{path}"], capture_output=True, timeout=120)
        tree = done.stdout.decode("utf-8")
        assert 'data-ready="yes"' in tree, "the page's own script runs to its end"
        is_harmless(tree)
