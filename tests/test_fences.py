"""Fences around the architecture: who may import whom, and that every rule is told, used and tested."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from test_conformance import OPTIONS

from collab_overcooked.registry import game_class, registered

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "collab_overcooked"
MODULES = sorted(PACKAGE.rglob("*.py"))
TOOLS = [  # without scripts for other people's trainers, which are read from top to bottom
    path
    for place in ("benchmarks", "docs/examples", "docs/topics", "docs")
    for path in sorted((ROOT / place).glob("*.py"))
]
RULES = [
    path for path in MODULES if "games" in path.parts and path.name in ("rules.py", "directives.py", "macro_actions.py")
]

# A rules module is plain arithmetic: with anything else in it, it could not be compiled and tested alone.
RULES_MAY_IMPORT = ("__future__", "numpy", "collab_overcooked.kernels", "collab_overcooked.io.checks")


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def is_kernel(node: ast.FunctionDef) -> bool:
    return any(isinstance(mark, ast.Name) and mark.id == "kernel" for mark in node.decorator_list)


def kernels(path: Path) -> list[ast.FunctionDef]:
    return [node for node in tree_of(path).body if isinstance(node, ast.FunctionDef) and is_kernel(node)]


def sentence_of(node: ast.FunctionDef) -> str:
    """First line of a docstring, without what the function mutates."""
    return (ast.get_docstring(node) or "").partition("\n")[0].partition(" Mutates:")[0].replace("``", "`")


@functools.cache
def page_of(game: str) -> str:
    """Documentation of a game, with table cells as they are written in code."""
    return (ROOT / "docs" / "games" / f"{game}.md").read_text("utf-8").replace("\\|", "|")


def called_names(tree: ast.Module) -> Iterator[str]:
    """Names of the functions that a module calls; a function's calls of itself do not count."""
    for top in tree.body:
        for node in ast.walk(top):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", None))
            if name is not None and name != getattr(top, "name", None):
                yield name


def imported_names(path: Path) -> Iterator[str]:
    """Absolute dotted names that a module imports, lazily or not: `from a import b` gives `a.b`."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


@pytest.fixture(scope="module")
def calls() -> set[str]:
    return {name for path in MODULES for name in called_names(tree_of(path))}


@pytest.fixture(scope="module")
def test_names() -> list[str]:
    result = (re.findall(r"^\s*def (test_\w+)", p.read_text("utf-8"), re.M) for p in ROOT.glob("tests/**/*.py"))
    return [name for names in result for name in names]


def test_import_contracts_hold():
    code = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", RULES, ids=relative)
def test_every_rule_has_a_sentence(path):
    assert kernels(path), "a rules module without a kernel"
    missing = [node.name for node in kernels(path) if not ast.get_docstring(node)]
    assert not missing, f"no docstring: {missing}"


@pytest.mark.parametrize("path", RULES, ids=relative)
def test_every_rule_is_called(path, calls):
    unused = [node.name for node in kernels(path) if node.name not in calls]
    assert not unused, f"called nowhere in the package: {unused}"


@pytest.mark.parametrize("path", RULES, ids=relative)
def test_every_rule_has_a_test_of_its_name(path, test_names):
    def is_tested(rule: str) -> bool:
        pattern = re.compile(rf"test_(\w+_)?{re.escape(rule.strip('_'))}(_\w+)?")
        return any(pattern.fullmatch(name) for name in test_names)

    untested = [node.name for node in kernels(path) if not is_tested(node.name)]
    assert not untested, f"no test named test_<rule>...: {untested}"


@pytest.mark.parametrize("path", RULES, ids=relative)
def test_every_rule_is_on_the_page_of_its_game(path):
    """Each rule's sentence, without what it mutates, stands beside its name."""
    page = page_of(path.relative_to(PACKAGE).parts[1])
    missing = [node.name for node in kernels(path) if f"| {sentence_of(node)} | `{node.name}` |" not in page]
    assert not missing, f"docs/games lacks the sentence of {missing}: run docs/facts.py"


@pytest.mark.parametrize("env_id", registered())
def test_every_option_is_played_by_conformance(env_id):
    """Ids that share a class of options share its cases; a value that is the default shows nothing."""
    config = game_class(env_id).config_class
    alike = [other for other in registered() if game_class(other).config_class is config]
    cases = [case for other in alike for case in OPTIONS.get(other, ())]
    default = {field.name: field.default for field in fields(config)}
    played = {name for case in cases for name, value in case.items() if value != default.get(name)}
    unplayed = default.keys() - played
    assert not unplayed, f"no case of tests/test_conformance.py has another value of {unplayed}"


@pytest.mark.parametrize("env_id", registered())
def test_every_option_is_on_the_page_of_its_game(env_id):
    game = game_class(env_id)
    page = page_of(game.__module__.split(".")[2])
    missing = [name for name in game.config_class.names() if f"| `{name}` |" not in page]
    assert not missing, f"docs/games says nothing of {missing}: run docs/facts.py"


@pytest.mark.parametrize("path", RULES, ids=relative)
def test_rules_import_arithmetic_only(path):
    game = ".".join(path.relative_to(ROOT).parts[:-1])
    allowed = (*RULES_MAY_IMPORT, *(f"{game}.{name}" for name in ("constants", "rules", "directives")))
    foreign = [name for name in imported_names(path) if not any(within(name, ok) for ok in allowed)]
    assert not foreign, f"{relative(path)} imports {foreign}; allowed: {allowed}"


# ------------------------------------------------------------------------------------------- one home per game

GAME_NAMES = re.compile(
    r"CollabOvercooked|Collab-Overcooked|CollabCapture|CollabEscape|collab_(capture|escape)|"
    r"Cuisine ?World|cuisine_?world|(Kitchen|Alien) ?Rush|(kitchen|alien)_rush"
    r"|Overcooked-v0|Overcooked-AI|\bRush\b|CraftKitchen|craft_kitchen|Housework|Transport-v0|C-WAH|TDW-MAT"
    r"|games\.(collab_overcooked|cuisineworld|overcooked|rush|rooms|house|craft)|games/\w+/"
)


def is_a_games_own(path: Path) -> bool:
    parts = path.relative_to(PACKAGE).parts
    return parts[0] in ("games", "layouts") or parts == ("registry.py",) or bool(re.fullmatch(r"\w+_v0.py", parts[-1]))


@pytest.mark.parametrize("path", [path for path in MODULES if not is_a_games_own(path)], ids=relative)
def test_no_game_is_named_outside_its_home(path):
    lines = enumerate(path.read_text("utf-8").splitlines(), start=1)
    assert not [f"line {number}: {line.strip()}" for number, line in lines if GAME_NAMES.search(line)]


def test_no_two_files_import_each_other():
    def module(path: Path) -> str:
        return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")

    imported = {module(path): set(imported_names(path)) for path in MODULES}
    for names in imported.values():
        names |= {name.rpartition(".")[0] for name in names}
    pairs = [(one, other) for one in imported for other in imported[one] & imported.keys() if one < other]
    assert not [(one, other) for one, other in pairs if one in imported[other]]


# ------------------------------------------------------------------------------------------- sizes

MOST_LINES, MOST_STATEMENT_LINES, MOST_PARAMETERS = 500, 40, 12


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree_of(path)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def length_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines without the docstring."""
    first = function.body[0]
    message = first.end_lineno - first.lineno + 1 if ast.get_docstring(function) else 0
    return function.end_lineno - function.lineno + 1 - message


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    result = function.args
    names = [*result.posonlyargs, *result.args, *result.kwonlyargs, *filter(None, (result.vararg, result.kwarg))]
    return len([entry for entry in names if entry.arg not in ("self", "cls")])


@pytest.mark.parametrize("path", [*MODULES, *TOOLS], ids=relative)
def test_modules_and_functions_are_small(path):
    assert path.read_text("utf-8").count("\n") <= MOST_LINES
    assert not [(entry.name, length_of(entry)) for entry in functions(path) if length_of(entry) > MOST_STATEMENT_LINES]
    assert not [
        (function.name, parameters_of(function))
        for function in functions(path)
        if parameters_of(function) > MOST_PARAMETERS
    ]


# ------------------------------------------------------------------------------------------- who imports what


def test_only_the_command_line_imports_baselines():
    inside = (PACKAGE / "baselines", PACKAGE / "cli")
    outside = [path for path in MODULES if not any(path.is_relative_to(place) for place in inside)]
    imports = {relative(path): list(imported_names(path)) for path in outside}
    baselines = "collab_overcooked.baselines"
    assert not [path for path, names in imports.items() if any(within(name, baselines) for name in names)]


@pytest.mark.parametrize("name", ["eval", "exec"])
def test_no_module_runs_text_as_code(name):
    def calls_it(path: Path) -> bool:
        nodes = (node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call))
        return any(isinstance(node.func, ast.Name) and node.func.id == name for node in nodes)

    assert not [relative(path) for path in MODULES if calls_it(path)]


def test_importing_the_package_loads_no_compiler_and_no_trainer():
    code = "import sys, collab_overcooked; print(*({'numba', 'torch', 'stable_baselines3'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_version_is_the_installed_one():
    from importlib.metadata import version

    import collab_overcooked

    assert collab_overcooked.__version__ == version("collab-overcooked")
