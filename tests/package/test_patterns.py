"""Every regular expression of the package takes time that is linear in the length of its text, whatever the text.

The patterns are found in the source: first arguments of the functions of ``re``, with the names of their modules filled
in. For each, texts are built of its own pieces, repeated, and matched at two lengths with the methods that the package
calls. What is compared is the growth of the thread's processor time, the least of several measurements, and only where
it is long enough to be measured: a machine that is slow, or busy with something else, changes both lengths alike.
"""

from __future__ import annotations

import ast
import importlib
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser
from typing import Any

import pytest

import collab_overcooked

pytestmark = pytest.mark.nightly
ROOT = Path(collab_overcooked.__file__).parent
METHODS = ("match", "fullmatch", "search", "findall", "finditer", "split", "sub")
PLACEHOLDER = "wait"  # stands for what is only known when the program runs: names of agents, words of a lexicon
LENGTHS = [2**k for k in range(6, 15)]  # characters; a quadratic pattern makes 10**8 steps for the longest
FLOOR = 0.004  # seconds of the longer of two texts; a linear pattern seldom takes as long for any of them
GROWTH = 8.0  # times that of the short text; linear is 4, quadratic 16, half way between on a logarithmic scale
HUNG = 600.0  # processor seconds after which a match is interrupted; no verdict on any other depends on it
FEW = 64  # texts a pattern


# ------------------------------------------------------------------------------------------- finding the patterns


@dataclass(frozen=True)
class Found:
    """A pattern of the source, and the methods it is matched with."""

    where: str
    pattern: str
    flags: int
    methods: tuple[str, ...]


def _known(node: ast.expr, names: dict[str, Any]) -> Any:
    """Return the value of an expression of names of its module, and the placeholder if it needs others."""
    try:
        return eval(compile(ast.Expression(node), "pattern", "eval"), dict(names))
    except Exception:
        return PLACEHOLDER


def _text_of(node: ast.expr, names: dict[str, Any]) -> Any:
    if isinstance(node, ast.JoinedStr):
        parts = (v.value if isinstance(v, ast.Constant) else _known(v.value, names) for v in node.values)
        return "".join(map(str, parts))
    if isinstance(node, ast.BinOp):
        return _text_of(node.left, names) + _text_of(node.right, names)
    return _known(node, names)


def _called(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            yield owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", ""), node


@cache
def patterns() -> tuple[Found, ...]:
    """Return the patterns of all modules."""
    trees = {path: ast.parse(path.read_text("utf-8")) for path in sorted(ROOT.rglob("*.py"))}
    used: dict[str, set[str]] = {}  # methods by name of a compiled pattern
    for tree in trees.values():
        for owner, call in _called(tree):
            if call.func.attr in METHODS:  # type: ignore[attr-defined]
                used.setdefault(owner, set()).add(call.func.attr)  # type: ignore[attr-defined]
    results = []
    for path, tree in trees.items():
        calls = [call for owner, call in _called(tree) if owner == "re" and call.func.attr in (*METHODS, "compile")]  # type: ignore[attr-defined]
        if not calls:
            continue
        module = ".".join(("collab_overcooked", *path.relative_to(ROOT).with_suffix("").parts))
        names = vars(importlib.import_module(module.removesuffix(".__init__")))
        targets = {
            id(node.value): getattr(target, "attr", getattr(target, "id", ""))
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            for target in node.targets
        }
        for call in calls:
            flags = [*call.args[1:], *(key.value for key in call.keywords if key.arg == "flags")]
            method = call.func.attr  # type: ignore[attr-defined]
            value = _known(flags[-1], names) if flags and (method == "compile" or call.keywords) else 0
            methods = (method,)
            if method == "compile":
                methods = tuple(sorted(used.get(targets.get(id(call), ""), ("search",))))
            value = int(value) if isinstance(value, int) else 0
            results.append(
                Found(f"{path.relative_to(ROOT)}:{call.lineno}", _text_of(call.args[0], names), value, methods)
            )
    return tuple(results)


# ------------------------------------------------------------------------------------------- texts from a pattern


def _members(items: Any) -> str:
    """Return a character of a set."""
    labels = {codes.CATEGORY_SPACE: " \n", codes.CATEGORY_DIGIT: "1", codes.CATEGORY_WORD: "a1_"}
    negated = any(op is codes.NEGATE for op, _ in items)
    accepted = re.compile("[" + "".join(map(_class_text, items)) + "]") if negated else None
    if accepted is not None:
        return next((c for c in "a (1\n;:'\"" if accepted.match(c)), "a")
    op, value = items[0]
    if op is codes.LITERAL:
        return chr(value)
    if op is codes.RANGE:
        return chr(value[0])
    return labels.get(value, "(")[0]


def _class_text(item: Any) -> str:
    op, value = item
    names = {codes.CATEGORY_SPACE: r"\s", codes.CATEGORY_DIGIT: r"\d", codes.CATEGORY_WORD: r"\w"}
    if op is codes.NEGATE:
        return "^"
    if op is codes.LITERAL:
        return re.escape(chr(value))
    if op is codes.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    return names.get(value, "")


class Pieces:
    """Short texts that a pattern, and each beginning of it, matches; and what its repetitions repeat."""

    def __init__(self, tree: Any) -> None:
        self.begins: dict[str, None] = {"": None}
        self.units: dict[str, None] = {}
        self._walk(tree, "")

    def _walk(self, tree: Any, before: str) -> str:
        """Return the least text that a part matches behind another; a group in it counts once."""
        for op, value in tree:
            if op is codes.LITERAL:
                before += chr(value)
            elif op is codes.NOT_LITERAL or op is codes.ANY:
                before += "a"
            elif op is codes.IN:
                before += _members(value)
            elif op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
                low, high, body = value
                unit = self._walk(body, before)[len(before) :]
                if high is codes.MAXREPEAT or high > 8:
                    self.units |= dict.fromkeys(self._all(body) or [unit])
                before += unit * max(low, 1)
            elif op is codes.SUBPATTERN:
                before = self._walk(value[3], before)
            elif op is codes.ATOMIC_GROUP:
                before = self._walk(value, before)
            elif op is codes.BRANCH:
                ends = [self._walk(branch, before) for branch in value[1]]
                before = ends[0]
                self.begins |= dict.fromkeys(ends)
            self.begins[before] = None
        return before

    def _all(self, body: Any) -> list[str]:
        """Return every kind of character that a repeated set has, as blanks and line ends can mean different things."""
        if len(body) != 1 or body[0][0] is not codes.IN or body[0][1][0][0] is codes.NEGATE:
            return []
        results = [_members([item]) for item in body[0][1]]
        return [*results, *("\n" for item in body[0][1] if item[1] is codes.CATEGORY_SPACE)]


def texts(result: Found) -> dict[tuple[str, str, str], Callable[[int], str]]:
    """Return ways to write a text of some length: a beginning, a unit over and over, an end that matches nothing."""
    pieces = Pieces(parser.parse(result.pattern, result.flags))
    units = {*pieces.units, *filter(None, pieces.begins), *(f"{b}{u}" for b in pieces.begins for u in pieces.units)}
    units |= {" ", "a", "1", "\\", '"', "(", "a("}
    chosen = [
        (begin, unit, end)
        for end in ("\x00", "")
        for begin in sorted(pieces.begins, key=len)
        for unit in sorted(units, key=lambda unit: (len(unit), unit))
    ]
    chosen = chosen[:: max(1, len(chosen) // FEW)] + [("", unit, "\x00") for unit in sorted(units)][:FEW]
    last = max(pieces.begins, key=len)
    chosen += [(begin, unit, "\x00") for begin in pieces.begins for unit in pieces.units][: 2 * FEW]
    chosen += [(last, unit, "\x00") for unit in pieces.units]
    return {
        key: lambda n, key=key: key[0] + key[1] * (n // len(key[1])) + key[2]  # type: ignore[misc]
        for key in dict.fromkeys(chosen)
    }


# ------------------------------------------------------------------------------------------- measuring growth


def _seconds(method: str, pattern: re.Pattern[str], text: str) -> float:
    """Return the processor time of this thread that one match takes."""
    act = getattr(pattern, method)
    begin = time.thread_time()
    if method == "sub":
        act("", text)
    elif method == "finditer":
        for _ in act(text):
            pass
    else:
        act(text)
    return time.thread_time() - begin


def grows(method: str, pattern: re.Pattern[str], write: Callable[[int], str]) -> bool:
    """Tell whether the time grows faster than the text does, from the first length on that can be measured."""
    for length in LENGTHS:
        long = write(length)
        if _seconds(method, pattern, long) < FLOOR:
            continue
        short = write(length // 4)
        for attempt in (2, 3, 5):
            slow = min(_seconds(method, pattern, long) for _ in range(attempt))
            if slow < FLOOR or slow < GROWTH * min(_seconds(method, pattern, short) for _ in range(4 * attempt)):
                break
        else:
            return True
    return False


def too_slow(result: Found) -> list[str]:
    """Return the texts over which a pattern takes more than linear time."""
    pattern, bad = re.compile(result.pattern, result.flags), []
    for key, write in texts(result).items():
        for method in result.methods:
            if grows(method, pattern, write):
                bad.append(f"{method} over {key[0]!r} + n * {key[1]!r} + {key[2]!r}")
                return bad
    return bad


@pytest.fixture(autouse=True)
def interrupted_if_it_hangs() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise AssertionError(f"one pattern took {HUNG:g} s of processor time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, HUNG)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


QUADRATIC = {
    r"request\s*\(\s*(['\"]?)(.*)\1\s*\)": "fullmatch",
    r"\\+(?:u[\da-f]{4}|n)|.": "sub",
    r"([A-Za-z]+)([ _])(and)(?=([ _])([A-Za-z]+))": "sub",
    r"\w+\([^)]*\)": "findall",
    r"system.*(role|instruction)|role.*system": "search",
    r"\s+$": "search",
    r"\W*(?:OPTION\s+)?\W*([A-Z])\W*": "fullmatch",
}


@pytest.mark.parametrize("pattern", QUADRATIC)
def test_patterns_that_take_more_than_linear_time_are_found(pattern):
    flags = int(re.DOTALL)
    assert too_slow(Found("here", pattern, flags, (QUADRATIC[pattern],)))


def test_all_patterns_are_found():
    results = {one.where.partition(":")[0] for one in patterns()}
    files = (path for path in ROOT.rglob("*.py") if re.search(r"^import re$", path.read_text("utf-8"), re.MULTILINE))
    assert {str(path.relative_to(ROOT)) for path in files} <= results
    assert all(isinstance(one.pattern, str | bytes) for one in patterns())


def test_the_time_of_a_pattern_grows_no_faster_than_its_text():
    bad = {}
    for outcome in patterns():
        if isinstance(outcome.pattern, bytes):
            outcome = Found(outcome.where, outcome.pattern.decode("latin-1"), outcome.flags, outcome.methods)
        bad[outcome.where] = too_slow(outcome)
    assert not any(bad.values()), "these take more than linear time"
