"""Results of conformance checks, and the environment under test."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from collab_overcooked.envs.api import FullGame

Rejected = Callable[[Any, str, Any], bool]


@dataclass(frozen=True)
class Result:
    """Result of one check."""

    check: str  # Name of the check
    status: Literal["passed", "failed", "skipped"]  # ``"passed"``, ``"failed"`` or ``"skipped"``
    sentence: str  # Description of the check, of the failure, or of the reason for skipping


@dataclass(frozen=True)
class Report:
    """All results of one environment."""

    subject: str  # Name and options of the environment
    results: tuple[Result, ...]  # Results in the order of ``CHECKS``

    def having(self, status: str) -> tuple[Result, ...]:
        """Return the results with a status."""
        return tuple(result for result in self.results if result.status == status)

    @property
    def ok(self) -> bool:
        """True if no check failed."""
        return not self.having("failed")

    def __str__(self) -> str:
        counts = ", ".join(f"{len(self.having(status))} {status}" for status in ("passed", "failed", "skipped"))
        lines = [f"  {result.status:8}{result.check:15}{result.sentence}" for result in self.results]
        return "\n".join([f"{self.subject}: {counts}", *lines])


class ConformanceError(AssertionError):
    """An environment failed checks; the message has one sentence for each.

    Attributes:
        report: All results.
    """

    def __init__(self, report: Report) -> None:
        failures = report.having("failed")
        lines = [f"  {result.check}: {result.sentence}" for result in failures]
        super().__init__("\n".join([f"{report.subject} fails {len(failures)} checks:", *lines]))
        self.report = report


class Skip(Exception):
    """A check does not apply; the message says why."""


def expect(condition: Any, sentence: str) -> None:
    """Fail the running check with a sentence unless the condition holds."""
    if not condition:
        raise AssertionError(sentence)


@dataclass(frozen=True)
class Subject:
    """An environment under test."""

    name: str  # Name and options
    make: Callable[..., Any]  # Factory of a ParallelEnv; keyword arguments are further options
    make_aec: Callable[..., Any]  # Factory of the AEC env
    game: FullGame | None  # Compiled game, for registered environments only
    wrapper: dict[str, Any]  # Options of ``ParallelEnv``, for registered environments only
    is_rejected: Rejected | None  # ``is_rejected(env, agent, action)``, called after the step with the agent's action
    seed: int  # First seed
    episodes: int  # Number of episodes per check
    versions: Mapping[str, int]  # Number of compiled versions of each kernel before the checks

    def need_game(self) -> FullGame:
        """Return the compiled game, or skip.

        Raises:
            Skip: The environment has no compiled game.
        """
        if self.game is None:
            raise Skip("only environments registered with this package have a compiled game")
        return self.game

    def need_exact_masks(self) -> None:
        """Skip if the game declares that its masks are not exact.

        Raises:
            Skip: The masks are not exact.
        """
        if self.game is not None and not self.game.exact_masks:
            raise Skip("the game declares that its masks are not exact")

    def accepts(self, name: str) -> bool:
        """Return whether the environment accepts an option."""
        parameters = inspect.signature(self.make).parameters
        return name in parameters or any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())

    def need_option(self, name: str) -> None:
        """Skip if the environment does not accept an option.

        Raises:
            Skip: The option is not accepted.
        """
        if not self.accepts(name):
            raise Skip(f"the environment does not accept the option {name}")
