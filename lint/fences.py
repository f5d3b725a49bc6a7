"""Fences around the architecture: imports, and rules that are documented, called and tested."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import product

from lint.game_rules import RULE_FILES, listed_rules, rule_sentence
from lint.source import PACKAGE, Finding, Project, Source, within

RULES_MAY_IMPORT = ("__future__", "numpy", f"{PACKAGE}.kernels", f"{PACKAGE}.io.checks")
"""A rules module is plain arithmetic: with anything else in it, it could not be compiled and tested alone."""

GAME_NAMES = re.compile(
    r"CollabOvercooked|Collab-Overcooked|CollabCapture|CollabEscape|collab_(capture|escape)|"
    r"Cuisine ?World|cuisine_?world|(Kitchen|Alien) ?Rush|(kitchen|alien)_rush"
    r"|Overcooked(V2)?-v0|overcooked_v2|Overcooked-AI|\bRush\b|CraftKitchen|craft_kitchen|Housework|Transport-v0|C-WAH|TDW-MAT"
    r"|games\.(collab_overcooked|cuisineworld|overcooked|rush|rooms|house|craft)|games/\w+/"
)


def rules(project: Project) -> Iterator[Finding]:
    """Each rule that a page lists has a test of its name; kernels have a docstring, a call and, if rules, a row."""
    for source in project.modules:
        if source.in_game and source.parts[-1] in RULE_FILES:
            yield from _problems_of_module(source)
            for node in source.kernels:
                for problem in _problems_of_kernel(node, project, source.in_game):
                    yield Finding(source.path, node.lineno, f"kernel {node.name}: {problem}")
    for game in sorted({source.in_game for source in project.modules} - {""}):
        tests = project.tests_of(game)
        for path, page in project.pages_of(game).items():
            for name in listed_rules(page):
                if not any(re.fullmatch(rf"test_(\w+_)?{name.strip('_')}(_\w+)?", test) for test in tests):
                    yield Finding(path, 1, f"rule {name}: no test of tests/games/{game} has its name")


def _problems_of_module(source: Source) -> Iterator[Finding]:
    if not source.kernels:
        yield Finding(source.path, 1, "a rules module without a kernel")
    engines = {".".join(source.parts[:-1]), f"{PACKAGE}.games.{source.in_game}.engine"}  # which variants share
    names = product(sorted(engines), ("constants", "rules", "directives"))
    allowed = (*RULES_MAY_IMPORT, *map(".".join, names))
    for name in source.imports:
        if not within(name, allowed):
            yield Finding(source.path, 1, f"rules import arithmetic only: {name} is none of {allowed}")


def _problems_of_kernel(node: ast.FunctionDef, project: Project, game: str) -> Iterator[str]:
    if not ast.get_docstring(node):
        yield "no docstring"
    if node.name not in project.calls:
        yield "called nowhere in the package"
    sentence = rule_sentence(ast.get_docstring(node))
    listed = [listed_rules(page).get(node.name, set()) for page in project.pages_of(game).values()]
    if sentence and sentence not in set().union(*listed):
        yield "a rule whose sentence is not on the page of its game: run docs/facts.py"


def homes(project: Project) -> Iterator[Finding]:
    """No game is named outside its folders."""
    for source in project.modules:
        is_own = source.parts[1] in ("games", "layouts", "registry.py") or re.fullmatch(r"\w+_v0.py", source.parts[-1])
        if not is_own:
            for number, line in enumerate(source.text.splitlines(), start=1):
                if GAME_NAMES.search(line):
                    yield Finding(source.path, number, f"names a game outside its home: {line.strip()}")


def circles(project: Project) -> Iterator[Finding]:
    """No two files import each other."""
    imported = {source.module: set(source.imports) for source in project.modules}
    for names in imported.values():
        names |= {name.rpartition(".")[0] for name in names}
    for source in project.modules:
        for other in imported[source.module] & imported.keys():
            if source.module < other and source.module in imported[other]:
                yield Finding(source.path, 1, f"{source.module} and {other} import each other")


def imports_in_games(project: Project) -> Iterator[Finding]:
    """Modules of a game import each other relatively, so that a folder can be moved and copied."""
    for source in project.modules:
        game = f"{PACKAGE}.games.{source.in_game}"
        for node in source.nodes if source.in_game else ():
            if isinstance(node, ast.ImportFrom) and node.module and not node.level and within(node.module, [game]):
                yield Finding(source.path, node.lineno, f"{node.module}: import it relatively, it is of this game")


def baselines(project: Project) -> Iterator[Finding]:
    """Only the command line imports baselines."""
    for source in project.modules:
        if source.parts[1] not in ("baselines", "cli"):
            if names := [name for name in source.imports if within(name, f"{PACKAGE}.baselines")]:
                yield Finding(source.path, 1, f"only the command line imports baselines: {names}")


def evaluated_text(project: Project) -> Iterator[Finding]:
    """No module runs text as code, but the compiler of kernels, which lists the fields of a NamedTuple."""
    for source in project.modules:
        if source.parts[1:] == ("kernels", "jit.py"):
            continue
        for node in source.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("eval", "exec"):
                yield Finding(source.path, node.lineno, f"{node.func.id} runs text as code")


FILE_MODULES = [
    f"{PACKAGE}/{name}.py"
    for name in ("io/files", "io/journal", "io/file_lock", "kernels/cache_folders", "kernels/caching")
]
"""Modules that may open files; those of ``kernels`` lie below ``io`` and read what they wrote themselves."""
DRAFTS = {f"{PACKAGE}.io.files.{name}" for name in ("draft", "draft_folder", "write_atomic")}
FILE_CALLS = {"read_text", "read_bytes", "write_text", "write_bytes", "fdopen", "mkstemp", "truncate", "fsync", "flock"}
OPENERS = {"os", "io", "gzip", "bz2", "lzma", "codecs", "builtins"}
WRITERS = {"savefig", "savez", "savez_compressed", "to_csv", "to_parquet", "ParquetWriter", "get_writer", "imwrite"}


def files(project: Project) -> Iterator[Finding]:
    """Files are opened by `io.files` and `io.journal` alone, and libraries write to drafts."""
    for source in project.modules:
        if source.path in FILE_MODULES:
            continue
        for node in source.nodes:
            if not isinstance(node, ast.Call):
                continue
            if _opens(node):
                yield Finding(source.path, node.lineno, "opens a file: use io.files, or io.journal to append")
            elif getattr(node.func, "attr", "") in WRITERS and not DRAFTS.intersection(source.imports):
                yield Finding(source.path, node.lineno, "a library writes a file: give it a draft of io.files")


def _opens(call: ast.Call) -> bool:
    if isinstance(call.func, ast.Name):
        return call.func.id == "open"
    if not isinstance(call.func, ast.Attribute):
        return False
    owner = getattr(call.func.value, "id", "")
    if call.func.attr == "open":
        mode = call.args[0] if call.args else ast.Constant("r")
        return owner in OPENERS or (isinstance(mode, ast.Constant) and re.fullmatch("[rwaxbt+]+", str(mode.value)))
    return call.func.attr in FILE_CALLS or (call.func.attr == "load" and owner in ("json", "pickle"))


PROBES = {
    "cli/app": "notes of an exception, which few have",
    "envs/api": "an optional field of outputs, and methods of games with turns",
    "envs/batch": "functions that some operating systems lack",
    "envs/seen": "an array of states, which games without macro actions lack",
    "io/files": "constants that some operating systems lack",
    "io/processes": "attributes of modules of any kind, and functions that some operating systems lack",
    "kernels/": "types of numba, which share no base class",
    "plugins": "modules of authors",
    "policies/api": "capabilities that the class of an author may leave out",
    "policies/export": "models and environments of other packages",
    "policies/llm/transport": "errors of several clients",
    "policies/networks": "models of other packages",
    "policies/parameters": "declarations that the class of an author may leave out",
    "policies/torch_threads": "a library that another thread may be importing",
    "policies/registry": "declarations that the class of an author may leave out",
    "evaluation/partner_batch": "names of functions that make partners",
    "runner/env_variants": "a default that the class of an author may leave out",
    "runner/workers": "functions that some operating systems lack",
    "registry": "a function that some versions of PettingZoo lack",
    "testing/": "environments of other packages",
}
"""Modules and folders that may ask an object whether it has an attribute, and the objects."""


def probes(project: Project) -> Iterator[Finding]:
    """Attributes are declared, by a base class or a protocol, and not probed."""
    folders = [place for place in PROBES if place.endswith("/")]
    for source in project.modules:
        path = "/".join(source.parts[1:]).removesuffix(".py")
        if path in PROBES or path.startswith(("games/", "baselines/", *folders)):
            continue
        for node in source.nodes:
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "hasattr"):
                if isinstance(name := node.args[1], ast.Constant):
                    message = f"probes for {name.value!r}: declare it, or add the module to PROBES with a reason"
                    yield Finding(source.path, node.lineno, message)


def parameters(project: Project) -> Iterator[Finding]:
    """Kernels read all their parameters: a `BatchKernels` passes each of them what it has."""
    for source in project.sources:
        for node in source.kernels if source.parts[0] != "tests" else ():
            read = {name.id for part in node.body for name in ast.walk(part) if isinstance(name, ast.Name)}
            for parameter in node.args.args:
                if parameter.arg not in read:
                    yield Finding(source.path, node.lineno, f"{node.name} never reads {parameter.arg}")


CHECKS = (rules, homes, circles, baselines, imports_in_games, evaluated_text, files, probes, parameters)
