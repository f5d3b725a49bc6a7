"""The documentation says what the code does: facts are fresh, code on the pages runs, commands and links exist."""

from __future__ import annotations

import contextlib
import html
import importlib
import importlib.util
import inspect
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote

import pytest

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.metrics import registry as metrics
from collab_overcooked.policies import registry as policies
from parity import collab_overcooked as parity
from parity import cuisineworld as cuisine_parity

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
WITH_FACTS = [ROOT / "CONTRIBUTING.md", *PAGES]
FENCE = re.compile(
    r"(?P<notes>(?:<!-- [^\n]* -->\n)*)```(?P<language>\w+)[^\n]*\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE
)
READ_ONLY = ("list", "describe", "check", "--version")


def page_id(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.fixture(scope="module")
def facts() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS))  # its modules import each other, as they do when run from the command line
        return importlib.import_module("facts")


@dataclass
class Block:
    """A fenced block with the notes above it: ``needs: module``, ``files: name``, ``not run: reason``, ``output``."""

    language: str
    body: str
    line: int
    notes: dict[str, str] = field(default_factory=dict)


def blocks(path: Path) -> Iterator[Block]:
    text = path.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        notes = dict(
            (name.strip(), value.strip())
            for name, _, value in (note.partition(":") for note in re.findall(r"<!-- (.*?) -->", match["notes"]))
        )
        yield Block(match["language"], match["body"], text.count("\n", 0, match.start("body")) + 1, notes)


# ------------------------------------------------------------------------------------------- facts


LASTING = {  # pages whose trees and figures are searched anew, and whose intervals are resampled
    "docs/how_to/plan_search.md": pytest.mark.nightly,
    "docs/archive/originals.md": pytest.mark.slow,
    "docs/archive/partner_results.md": pytest.mark.nightly,
}
CHECKED = [pytest.param(path, id=page_id(path), marks=LASTING.get(page_id(path), ())) for path in WITH_FACTS]


@pytest.mark.parametrize("path", CHECKED)
def test_generated_facts_are_fresh(path: Path, facts: Any) -> None:
    old = path.read_text(encoding="utf-8")
    assert facts.fresh(old) == old, f"{page_id(path)} is stale: run `python docs/facts.py`"


def test_every_fact_is_on_a_page(facts: Any) -> None:
    named = set(re.findall(r"<!-- generated: (\w+) -->", "".join(page.read_text("utf-8") for page in WITH_FACTS)))
    assert set(facts.FACTS) <= named


def test_benchmark_tables_are_those_of_the_results() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "make_tables.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_stale_facts_are_noticed(facts: Any) -> None:
    page = "# A\n\n<!-- generated: time_limits -->\n| level 7 |\n<!-- end -->\n"
    assert "| level 7 |" not in facts.fresh(page)
    with pytest.raises(ValueError, match="no fact is called 'nonsense'"):
        facts.fresh("<!-- generated: nonsense -->\n<!-- end -->")


def test_deviations_that_parity_knows_are_written_down() -> None:
    known = {value for name, value in vars(parity).items() if isinstance(value, str) and re.fullmatch(r"[EC]\d+", name)}
    page = (DOCS / "archive/deviations.md").read_text(encoding="utf-8")
    for kind in {*known, parity.FOREIGN}:
        for tag in re.findall(r"\b[ECM]\d+\b", kind):
            assert f"| {tag} |" in page, f"docs/archive/deviations.md lacks {tag}"


def test_cuisineworld_deviations_are_written_down() -> None:
    values = [value for value in vars(cuisine_parity).values() if isinstance(value, str)]
    tags = {tag for value in values for tag in re.findall(r"^O\d+", value)}
    assert {"O22", "O34"} <= tags
    page = (DOCS / "archive/deviations.md").read_text(encoding="utf-8")
    for tag in {*tags, cuisine_parity.NO_STATE}:
        assert f"| {tag} |" in page, f"docs/archive/deviations.md lacks {tag}"


def test_baseline_counts_are_complete(facts: Any) -> None:
    """Whoever is in the results was measured on every level, with every number of agents, at every pace."""
    from collab_overcooked.games.cuisineworld.engine.constants import PAPER_ALPHAS
    from collab_overcooked.games.cuisineworld.suite.suite import published

    actual = facts.cuisineworld_results
    for team, sizes in json.loads((DOCS / "results" / actual.RESULT_FILE).read_text("utf-8"))["teams"].items():
        assert sorted(sizes) == sorted(map(str, actual.SIZES)), team
        for paces in sizes.values():
            assert set(paces) == {*published().levels, *actual.EXTRA_LEVELS}, team
            assert all(len(counts) == len(PAPER_ALPHAS) for counts in paces.values()), team


# ------------------------------------------------------------------------------------------- code


TINY = ("total_timesteps=600_000", "total_timesteps=16_384")  # the training of the first page, cut short
CODED = [pytest.param(path, id=page_id(path)) for path in PAGES if "```python" in path.read_text("utf-8")]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("path", CODED)
def test_code_on_the_page_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks of a page run one after the other in one namespace; what they print is what the page shows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "GAMES", list(registry.GAMES))  # what a page registers is forgotten again
    monkeypatch.setattr(policies, "_custom", {})
    monkeypatch.setattr(metrics, "_custom", {})
    for example in (DOCS / "examples").glob("*.py"):  # registers again, whoever imported it before
        monkeypatch.delitem(sys.modules, example.stem, raising=False)
    page = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", page)  # dataclasses look up the module of their class
    namespace = page.__dict__
    printed = ""
    for block in blocks(path):
        where = f"{page_id(path)}, line {block.line}"
        if block.language == "text" and "output" in block.notes:
            assert printed == block.body, where
        if block.language != "python" or "not run" in block.notes:
            continue
        needed = block.notes.get("needs")
        if needed and importlib.util.find_spec(needed) is None:
            continue
        for name in block.notes.get("files", "").split():
            shutil.copy(DOCS / "examples" / name, tmp_path)
        printed = run(block.body.replace(*TINY), namespace, where)


def run(code: str, namespace: dict[str, Any], where: str) -> str:
    """Run a block and return what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("default")  # trainers warn about much that is not ours
        exec(compile(code, where, "exec"), namespace)
    return out.getvalue()


@pytest.mark.parametrize("name", [path.name for path in sorted((DOCS / "examples").glob("*.yaml"))])
def test_example_kitchens_can_be_won(name: str) -> None:
    """Every task of the examples is delivered in time by greedy players, and the references give full marks."""
    from collab_overcooked import make
    from collab_overcooked.runner.episode import play_episode
    from collab_overcooked.runner.teams import make_team

    kitchen = str(DOCS / "examples" / name)
    for task in make("CollabOvercooked-v0", kitchen=kitchen).game.kitchen.tasks:
        env = make("CollabOvercooked-v0", kitchen=kitchen, task=task)
        record = play_episode(env, make_team(["greedy", "greedy"]), seed=0, task=task)
        assert record.success, f"{name}: {task}"


def test_example_references_deliver() -> None:
    from collab_overcooked.games.collab_overcooked.engine.spec import load_kitchen
    from collab_overcooked.games.collab_overcooked.policies.reference import reference_steps

    for path in sorted((DOCS / "examples").glob("*.yaml")):
        for name, task in load_kitchen(str(path)).tasks.items():
            game = registry.load_game("CollabOvercooked-v0", kitchen=str(path), task=name)
            for number in range(1, len(task.references) + 1):
                steps = reference_steps(game, number)
                assert steps is not None, f"{path.name}: reference {number} of {name} does not deliver"
                assert steps <= task.reference_time * 1.5 + 1, f"{path.name}: {name} takes {steps} steps"


FILES = sorted(path for kind in ("layouts", "scenarios") for path in (DOCS / "examples" / kind).glob("*.yaml"))


@pytest.mark.parametrize("path", [*FILES, *sorted((DOCS / "examples").glob("*.yaml"))], ids=page_id)
def test_example_files_of_every_game_pass_their_check(path: Path) -> None:
    from support.cli_runner import CliRunner

    from collab_overcooked.cli import app

    result = CliRunner().invoke(app, ["check", str(path)])
    assert result.exit_code == 0, result.output


LEVELS = sorted((DOCS / "examples" / "levels").glob("*.yaml"))


@pytest.mark.parametrize("path", LEVELS, ids=page_id)
def test_example_levels_pass_their_own_check(path: Path) -> None:
    from support.cli_runner import CliRunner

    from collab_overcooked.cli import app

    result = CliRunner().invoke(app, ["check", str(path)])
    assert result.exit_code == 0, result.output
    assert "!" not in result.output


@pytest.mark.parametrize("path", LEVELS, ids=page_id)
def test_every_order_of_the_example_levels_can_be_served(path: Path) -> None:
    """One cook makes every order from base ingredients, recipe by recipe, in the time that the file gives."""
    from collab_overcooked import make

    level = make("CuisineWorld-v0", level=str(path)).game.level
    for order in level.orders:
        env = make("CuisineWorld-v0", level=str(path), agents=1, alpha=None)
        env.reset(seed=0, options={"orders": [order.name]})
        for item in order.items:
            for action in [*cooking(level, item), "goto servingtable0", "put servingtable0"]:
                _, _, _, _, infos = env.step({"agent_0": env.parse(action)})
                assert infos["agent_0"]["rejected"] == 0, f"{order.name}: {action}"
        assert env.scene()["accomplished"] == [order.name]
        assert env.scene()["expired"] == 0


def cooking(level: Any, item: str) -> list[str]:
    """Return the actions after which a lone cook with empty hands holds an item."""
    recipe = level.recipes.get(item)
    if recipe is None:
        return ["goto storage0", f"get {item} storage0"]
    tool = f"{recipe.tool}0"
    actions = []
    for name in recipe.ingredients:
        actions += [*cooking(level, name), f"goto {tool}", f"put {tool}"]
    pause = max(level.tools[recipe.tool].busy - 1, 0)
    return [*actions, f"activate {tool}", *["noop"] * pause, f"get {tool}"]


# ------------------------------------------------------------------------------------------- commands and links


def commands() -> list[Any]:
    results = []
    for path in PAGES:
        for block in blocks(path):
            if block.language not in ("console", "bash", "sh"):
                continue
            for line in block.body.split("\n"):
                text = line.removeprefix("$ ").strip()
                if text.startswith("collab-overcooked "):
                    results.append(pytest.param(text, id=f"{page_id(path)}: {text}"))
    return results


@pytest.mark.parametrize("text", commands())
def test_commands_on_the_pages_exist(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser takes every command as it is written; those that only look around are run, too."""
    from support.cli_runner import CliRunner

    from collab_overcooked.cli import app
    from collab_overcooked.cli.app import commands as root

    for folder in ("", "levels", "scenarios", "layouts", "studies"):
        shutil.copytree(DOCS / "examples" / folder, tmp_path, dirs_exist_ok=True)  # where the pages' reader stands
    shutil.copytree(DOCS / "examples", tmp_path / "docs" / "examples")  # where the README's reader stands
    monkeypatch.chdir(tmp_path)
    line = re.sub(r" --import \S+", "", text)  # which is read before any command
    arguments = shlex.split(line, comments=True)[1:]
    if arguments[0] in READ_ONLY:
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == int(text.endswith("check level_12")), result.output  # which lacks a fryer
        return
    root.parse_args(arguments)


def test_the_api_page_has_every_public_name() -> None:
    entries = re.findall(r"^::: (\S+)\.(\w+)$", (DOCS / "reference/api.md").read_text("utf-8"), re.MULTILINE)
    described = {name: getattr(importlib.import_module(module), name) for module, name in entries}
    for name in {*collab_overcooked.__all__} - {"__version__"}:
        assert described[name] is getattr(collab_overcooked, name)
    assert len(described) == len(entries) <= 32 and all(map(inspect.getdoc, described.values()))


def test_the_citation_names_the_version():
    assert f"\nversion: {collab_overcooked.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


@pytest.mark.parametrize("path", PAGES, ids=page_id)
def test_links_lead_somewhere(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"[a-z]+:", target):
            file = target.partition("#")[0]
            assert not file or (path.parent / file).exists(), f"{page_id(path)} links to {target}"


def test_pages_load_nothing_from_elsewhere() -> None:
    """Readers without a network see the whole site: no web fonts, no scripts of others."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "font: false" in text
    assert "http" not in text


def test_every_page_is_in_the_navigation() -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    listed = re.findall(r"[\w/]+\.md$", nav, re.MULTILINE)
    assert sorted(listed) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


def dead_links(site: Path) -> list[str]:
    """Return the links of a built site to files that are not in it."""
    dead = []
    for page in sorted(site.rglob("*.html")):
        for target in re.findall(r'(?:href|src)="([^"#?]+)', page.read_text("utf-8")):
            is_local = not re.match(r"[a-z]+:|//", target) and page.name != "404.html"
            if is_local and not (page.parent / unquote(html.unescape(target))).exists():
                dead.append(f"{page.relative_to(site)}: {target}")
    return dead


@pytest.mark.slow
def test_site_builds(tmp_path: Path) -> None:
    """``mkdocs build --strict`` turns every warning into a failure: links, anchors, names of the API page."""
    pytest.importorskip("mkdocs", reason="the extra 'docs' is not installed")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    elsewhere = re.findall(r'<(?:script|link)[^>]+(?:src|href)="(https?://[^"]+)"', page)
    assert elsewhere == []
    assert dead_links(tmp_path / "site") == []
    scripts = (tmp_path / "site" / "how_to" / "trainers.html").read_text(encoding="utf-8")
    assert scripts.count('.py"') >= len(list((DOCS / "trainers").glob("*.py")))
