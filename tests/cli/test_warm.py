"""Compiling before it is waited for: the command, and what a terminal shows meanwhile."""

from __future__ import annotations

import io

import pytest
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.kernels import caching, rng


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_games_are_compiled_in_processes() -> None:
    done = CliRunner().invoke(app, ["warm", "KitchenRush-v0"])
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("KitchenRush-v0: ")


def test_an_unknown_game_is_refused() -> None:
    done = CliRunner().invoke(app, ["warm", "KitchenRush"])
    assert done.exit_code == 2 and "KitchenRush-v0" in done.output


class Event:
    def __init__(self, dispatcher: object) -> None:
        self.data = {"dispatcher": dispatcher}


def test_a_terminal_is_told_how_far_compiling_is(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    notice = caching._Notice()
    for _ in range(2):
        notice.on_start(Event(rng.draw_below))
    assert "2 of at most" in terminal.getvalue().rpartition("\r")[2]
    notice.on_end(Event(rng.draw_below))
    assert "2 of at most" in terminal.getvalue().rpartition("\r")[2]
    notice.on_end(Event(rng.draw_below))
    assert terminal.getvalue().endswith("\r\033[K")


def test_lines_of_others_stay_when_their_kernels_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    notice = caching._Notice()
    notice.on_start(Event(object()))
    notice.on_end(Event(object()))
    assert terminal.getvalue() == ""


def test_pipes_are_told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.StringIO()
    monkeypatch.setattr("sys.stderr", pipe)
    caching._Notice().on_start(Event(rng.draw_below))
    assert pipe.getvalue() == ""
