"""Conformance check that kernels compile, with advice for authors if they do not."""

from __future__ import annotations

import linecache
import re
from pathlib import Path

import numpy as np

from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.envs.lexicon import plain
from collab_overcooked.testing.report import Skip, Subject

_COLOURS = re.compile(r"\x1b\[\d*m")
_PLACE = re.compile(r'File "[^"]*?([^/\\"]+)", line (\d+):\n(.*?)\n *\^', re.DOTALL)
_LOWERED = re.compile(r" at (\S+\.py) \((\d+)\)")  # errors behind the frontend quote no source
ADVICE = {
    r"Unknown attribute '\w+' of type IntEnum": "use a member of the enumeration",
    r"Unknown attribute '\w+' of type ArraysAddress": "name an array that State, Tables or Out declares",
    r"Untyped global name": "decorate functions that kernels call with @kernel; constants are numbers or enumerations",
    r"Cannot unify": "give a variable one type throughout: numbers and tuples cannot share a name",
    r"No definition for lowering": "write arrays by index, state.room[b, Room.SERVED] = 1, not state.room = ...",
    r"NRT required|static_setitem": "arithmetic on whole arrays allocates; write numbers by index, or one into a slice",
    r"function setitem": "write numbers by index, state.room[b, Room.SERVED] = 1; copy arrays by a loop",
    r"cannot be stored|Use of unsupported|opcode": "leave out try, with, comprehensions, lambdas and f-strings",
}
"""Remedies by parts of numba's error messages."""
OTHERWISE = "kernels handle numbers, tuples of arrays, arrays by index, loops, and functions decorated with @kernel"


def check_kernels(subject: Subject) -> str:
    """Check that all kernels of resets, steps and observations compile."""
    game = plain(subject.need_game())
    if not isinstance(game, CompiledGame):
        raise Skip("the game has no kernels")
    try:
        state, out = game.alloc(1)
        game.reset(state, out, np.ones(1, np.bool_))
        actions = out.masks.argmax(2).astype(np.int32)
        game.step(state, actions, out)
    except Exception as error:
        if sentence := explain(error):
            raise AssertionError(sentence) from None
        raise
    calls = (*game.step_calls(state, actions, out), *game.observe_calls(state, out))
    return f"resets, {', '.join(kernel.__name__ for kernel, _ in calls)} compile"


def explain(error: Exception) -> str:
    """Return location, cause and remedy of a compilation error; empty for errors of other kinds."""
    text = _COLOURS.sub("", str(error))
    if not type(error).__module__.startswith("numba.") and "No definition for lowering" not in text:
        return ""
    problem = text.rpartition("(step: nopython frontend)")[2].strip().partition("\n")[0] or text.partition("\n")[0]
    advice = next((advice for pattern, advice in ADVICE.items() if re.search(pattern, text)), OTHERWISE)
    place, lowered = _PLACE.search(text), _LOWERED.findall(text)
    if place is not None:
        file, line, source = place.groups()
        lines = source.splitlines()
    elif lowered:
        path, line = lowered[0]  # the innermost, as callers follow
        file, lines = Path(path).name, _lines_of_kernel(path, int(line))
    else:
        return f"a kernel does not compile: {problem}; {advice}"
    kernel = next((re.findall(r"def (\w+)", line)[0] for line in lines if "def " in line), "a kernel")
    return f"{kernel} does not compile, {file}:{line}, `{lines[-1].strip()}`: {problem}; {advice}"


def _lines_of_kernel(path: str, last: int) -> list[str]:
    """Return the lines of a source from the ``def`` above a line to that line."""
    lines = linecache.getlines(path)[:last]
    starts = [number for number, line in enumerate(lines) if line.startswith("def ")]
    return lines[starts[-1] :] if starts else lines[-1:] or [""]
