"""The table of suites: what is evaluated in each game, how it is planned, written down, scored and told of.

Adding a game means a line here and a module with its suite; nothing else in this package knows games by name.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from collab_overcooked import registry
from collab_overcooked.errors import near_matches

if TYPE_CHECKING:
    from collab_overcooked.evaluation.benchmark import Contest, Reference, Standing
    from collab_overcooked.reporting.scorecard import Scorecard
    from collab_overcooked.runner.episode import Chronicle, Limits
    from collab_overcooked.runner.jobs import Evaluation

Record = Mapping[str, Any]
Listing = Callable[[str], list[tuple[str, str]]]
"""Takes a kitchen; returns names and what they are."""


class Suite(ABC):
    """What is evaluated in one game, or in games that differ in their words alone.

    Attributes:
        succeeds: Whether an episode can succeed as a whole.
    """

    succeeds = False

    @abstractmethod
    def plan(
        self, team: Sequence[str], *, seed: int, options: Mapping[str, Any], limits: Limits, **given: Any
    ) -> Evaluation:
        """Check everything that a user can get wrong, and return what is to be played.

        Args:
            team: ``seat=policy`` words.
            seed: Of the evaluation.
            options: Further options of the environment.
            limits: Bounds of conversations and corrections.
            **given: What the user said, of what the suite ``takes``.

        Raises:
            ValueError: Naming the field, its value and what is allowed.
        """

    @abstractmethod
    def metrics(self, record: Record) -> dict[str, Any]:
        """Return the metrics of one episode, as they stand in its record.

        Raises:
            ValueError: For a field that metrics cannot read.
        """

    @abstractmethod
    def score(self, records: Sequence[Record], definitions: Any) -> Sequence[Scorecard]:
        """Score records of this game.

        Raises:
            ValueError: For a field that metrics cannot read.
        """

    @abstractmethod
    def outcome(self, record: Record) -> str:
        """Say how an episode ended, for example ``"delivered"`` or ``"4 completed, 1 ruined"``."""

    @abstractmethod
    def contest(self, budget: str) -> Contest:
        """Return what a comparison of policies plays.

        Args:
            budget: One of ``contests.BUDGETS``.
        """

    @abstractmethod
    def standing(self, records: Sequence[Record]) -> Standing:
        """Return what the episodes of one team come to, in one arena of the contest or in several."""

    def references(self, contest: Contest) -> Sequence[Reference]:
        """Return published numbers of the contest's arenas."""
        return ()

    def remarks(self, contest: Contest) -> Sequence[str]:
        """Return sentences that belong under the leaderboard."""
        return ()

    def chronicle(self) -> Chronicle | None:
        """Return a new chronicle for an episode; None where records need nothing more."""
        return None

    def fully_succeeded(self, record: Record) -> bool:
        """Tell whether nothing is left to wish for."""
        return bool(record["success"])

    def episode_name(self, record: Record) -> str:
        """Return what a record's episode is called."""
        return str(record["task"])

    def listings(self) -> Mapping[str, Listing]:
        """Return what can be listed, by its plural: ``"tasks"``, ``"levels"``."""
        return {}

    def described(self, kitchen: str) -> Sequence[str]:
        """Return the names that ``describe`` knows."""
        return ()

    def describe(self, name: str, kitchen: str, gamma: float) -> str | None:
        """Describe a task, a level, or whatever else the game has by that name; None if there is no such thing."""
        return None


@dataclass(frozen=True)
class SuiteRecord:
    """One suite of the table.

    Attributes:
        name: As on the command line.
        env_ids: Registered ids of its games.
        entry: ``"package.module:class"``.
        takes: What users can say of it beyond team, seed, environment options and limits.
    """

    name: str
    env_ids: tuple[str, ...]
    entry: str
    takes: tuple[str, ...]


SUITES: tuple[SuiteRecord, ...] = (
    SuiteRecord(
        "collab-overcooked",
        ("CollabOvercooked-v0",),
        "collab_overcooked.games.collab_overcooked.suite:CollabOvercookedSuite",
        ("levels", "tasks", "episodes", "kitchen", "gamma"),
    ),
    SuiteRecord(
        "initiations",
        (),  # its records are of the game above, and scored alike
        "collab_overcooked.games.collab_overcooked.initiations:InitiationSuite",
        ("levels", "tasks", "episodes", "kitchen", "gamma"),
    ),
    SuiteRecord(
        "cuisineworld",
        ("CuisineWorld-v0",),
        "collab_overcooked.games.cuisineworld.suite:CuisineWorldSuite",
        ("levels", "agents", "alphas", "runs", "episodes"),
    ),
    SuiteRecord(
        "overcooked",
        ("Overcooked-v0",),
        "collab_overcooked.games.overcooked.suite:OvercookedSuite",
        ("layouts", "horizon", "episodes"),
    ),
    SuiteRecord(
        "rush",
        ("KitchenRush-v0", "AlienRush-v0"),
        "collab_overcooked.games.rush.suite:RushSuite",
        ("domain", "scenario", "teacher", "agents", "runs", "episodes"),
    ),
)


def suite_record(name: str) -> SuiteRecord:
    """Return the line of a suite, by its name or by the id of one of its environments.

    Raises:
        ValueError: If it is unknown; the message lists near matches.
    """
    for record in SUITES:
        if name == record.name or name in record.env_ids:
            return record
    raise ValueError(near_matches("suite", name, [record.name for record in SUITES]))


def find_suite(name: str) -> Suite:
    """Return a suite by its name or by the id of one of its environments.

    Raises:
        ValueError: If it is unknown; the message lists near matches.
    """
    return _load(suite_record(name).entry)


@cache
def _load(entry: str) -> Suite:
    module, _, name = entry.partition(":")
    suite = getattr(importlib.import_module(module), name)()
    assert isinstance(suite, Suite)
    return suite


def chronicle_of(env_id: str) -> Chronicle | None:
    """Return a new chronicle for an episode of a game; None where records need nothing more."""
    return find_suite(env_id).chronicle() if any(env_id in record.env_ids for record in SUITES) else None


def takers(option: str) -> str:
    """Return the names of the suites that take something, with commas between them."""
    return ", ".join(record.name for record in SUITES if option in record.takes)


def check_options(env_id: str, options: Mapping[str, Any], elsewhere: Mapping[str, str]) -> dict[str, Any]:
    """Check extra options of the environment by name.

    Args:
        env_id: Registered id.
        options: Given options.
        elsewhere: Options of the environment that are chosen in another way, and how.

    Raises:
        ValueError: For an option that the game does not have, or that is chosen in another way.
    """
    known = [key for key in registry.game_options(env_id) if key not in elsewhere]
    for key in options:
        if key in elsewhere:
            raise ValueError(f"option {key!r} is set by {elsewhere[key]}")
        if key not in known:
            raise ValueError(near_matches("option", key, known))
    return dict(options)


def check_names(what: str, files: Iterable[str], name_of: Callable[[str], str]) -> None:
    """Refuse files that are called alike inside, as their records would be, too.

    Args:
        what: What they are, for messages.
        files: Shipped names or paths.
        name_of: Reads one, and returns what it is called.

    Raises:
        ValueError: Naming two of them.
    """
    named: dict[str, str] = {}
    for file in files:
        name = name_of(file)
        if named.setdefault(name, file) != file:
            raise ValueError(f"{what}: {named[name]} and {file} are both called {name!r}; rename one")
