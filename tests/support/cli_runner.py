"""Runs commands of the command line inside the test's process, and keeps what they print."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any
from unittest import mock

import pydantic  # noqa: F401  cyclopts checks types by it as soon as any library has imported it
from rich.console import Console

from collab_overcooked.reporting.result_table import ResultTable


class _Stream(io.StringIO):
    """Stream that also writes to another one, which holds the output of both streams in its order."""

    def __init__(self, both: io.StringIO) -> None:
        super().__init__()
        self.both = both

    def write(self, text: str) -> int:
        self.both.write(text)
        return super().write(text)


@dataclass(frozen=True)
class Result:
    """What a command has printed, and how it ended."""

    exit_code: int
    stdout: str
    stderr: str
    output: str  # both, in the order of writing
    exception: BaseException | None  # what it raised instead of ending


@dataclass(frozen=True)
class CliRunner:
    """Runs commands, with changes to the environment if there are any."""

    env: Mapping[str, str] | None = None

    def invoke(
        self,
        app: Callable[[Sequence[str]], Any],
        words: Sequence[str] = (),
        *,
        catch_exceptions: bool = True,
        env: Mapping[str, str] | None = None,
        input: str = "",
    ) -> Result:
        both = io.StringIO()
        out, err, code, raised = _Stream(both), _Stream(both), 0, None
        changed = mock.patch.dict(os.environ, {**(self.env or {}), **(env or {})})
        with redirect_stdout(out), redirect_stderr(err), mock.patch("sys.stdin", io.StringIO(input)), changed:
            try:
                app(list(words))
            except SystemExit as end:
                code = int(end.code or 0)
            except Exception as error:
                if not catch_exceptions:
                    raise
                code, raised = 1, error
        return Result(code, out.getvalue(), err.getvalue(), both.getvalue(), raised)


def run(*words: object) -> Result:
    """Run a command of the package; what it raises passes through."""
    from collab_overcooked.cli import app

    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def printed(table: ResultTable) -> str:
    """Return what a table shows in a terminal of 100 columns."""
    out = io.StringIO()
    table.show(Console(file=out, width=100))
    return out.getvalue()


SMALL = ["evaluate", "rush", "--domain", "kitchen", "--scenario", "easy", "--episodes", "1", "--no-report", "--set"]
SMALL += ["max_turns=1", "--team", "all=llm:m?memory=off,tokens=512"]


def run_small(*text: object) -> Result:
    """Evaluate a language model for a turn of Kitchen Rush, with further words of the command line."""
    from collab_overcooked.cli import app

    return CliRunner().invoke(app, [str(word) for word in (*SMALL, *text)])
