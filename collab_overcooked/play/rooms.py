"""Rooms: sessions that a host opens at the start page, with a link and a QR code for each person, and rematches."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from msgspec import Struct

from collab_overcooked import registry
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.structs import Name, Positive
from collab_overcooked.play.keys import key_actions
from collab_overcooked.play.matches import check_matches
from collab_overcooked.play.messages import AGAIN, SWAP
from collab_overcooked.play.recording import PlayFolder
from collab_overcooked.play.rematch import Rematch
from collab_overcooked.play.session import Session
from collab_overcooked.play.settings import PlaySettings
from collab_overcooked.policies.registry import PERSON
from collab_overcooked.runner.match import Match

MAX_CHOICES = 60  # layouts or tasks of a game that the start page offers
MIXED = "any"


class RoomOrder(Struct, frozen=True, forbid_unknown_fields=True):
    """Order of a room by the host."""

    game: Name  # Id of an environment
    task: Name = MIXED  # One of ``choices``; ``"any"`` for a random one
    people: Positive = 1  # Seats of people; a scripted partner has the others
    practice: bool = False  # Whether practice comes first; if not, people choose

    def __post_init__(self) -> None:
        if self.game not in playable():
            raise ValueError(near_matches("game", self.game, playable()))
        if self.task != MIXED and self.task not in choices(self.game):
            raise ValueError(near_matches("task", self.task, choices(self.game)))
        if self.people > seats_of(self.game):
            raise ValueError(f"people must be an integer from 1 to {seats_of(self.game)}, not {self.people}")


@lru_cache(maxsize=1)
def playable() -> tuple[str, ...]:
    """Return the ids of all games that people can play."""
    return tuple(env_id for env_ids in registry.first_suites().values() for env_id in env_ids)


@lru_cache(maxsize=64)
def matches_of(game: str) -> tuple[Match, ...]:
    """Return a match of every layout, level or task of a game, for its smallest team of several."""
    suite = next(name for name, env_ids in registry.first_suites().items() if game in env_ids)
    plan = plan_evaluation(suite, ["all=greedy"], **registry.load_suite(suite).for_people)
    matches = [match for match in plan.matches if match.env_id == game]
    size = min((len(match.team) for match in matches if len(match.team) > 1), default=1)
    first: dict[str, Match] = {}
    for match in matches:
        if len(match.team) == size:
            first.setdefault(match.task, match)
    return tuple(first.values())


def choices(game: str) -> list[str]:
    """Return the layouts, levels or tasks of a game."""
    return [match.task for match in matches_of(game)][:MAX_CHOICES]


def seats_of(game: str) -> int:
    """Return how many agents play a game."""
    return len(matches_of(game)[0].team)


def listing() -> list[dict[str, Any]]:
    """Return the games of the start page, without importing them."""
    records = [registry.find(game) for game in playable()]
    return [
        {"game": r.id, "title": r.id.partition("-v")[0], "minutes": r.minutes, "difficulty": r.difficulty}
        for r in records
    ]


def details(game: str) -> dict[str, Any]:
    """Return the seats and tasks of a game, and whether people play it in real time; imports the game.

    Raises:
        ValueError: The game is unknown.
    """
    if game not in playable():
        raise ValueError(near_matches("game", game, playable()))
    match = matches_of(game)[0]
    real_time = bool(key_actions(registry.make(game, **match.env_kwargs).game, 0))
    return {"seats": len(match.team), "choices": choices(game), "real_time": real_time}


class Rooms:
    """Opens sessions on demand, each written to the folder of its suite.

    Args:
        folder: Returns the folder of a suite; None to write nothing.
        settings: How games are played.
    """

    def __init__(self, folder: Callable[[str], PlayFolder] | None, settings: PlaySettings) -> None:
        self._folder, self._settings = folder, settings

    def open(self, order: RoomOrder) -> Session:
        """Return a new session."""
        matches = [match for match in matches_of(order.game) if order.task in (MIXED, match.task)]
        match = matches[secrets.randbelow(len(matches))]
        team = tuple(PERSON if seat < order.people else "greedy" for seat in range(len(match.team)))
        suite = next(name for name, env_ids in registry.first_suites().items() if order.game in env_ids)
        folder = None if self._folder is None else self._folder(suite)
        matches = [replace(match, team=team, seed=secrets.randbelow(2**31))]
        check_matches(matches)
        return with_rematch(Session(matches, self._settings, folder=folder, practice=order.practice or None))


def with_rematch(session: Session) -> Session:
    """Let a session be followed by another one with the same people."""
    session.rematch = Rematch(
        session.people,
        session.watchers,
        len(session.matches[0].team),
        lambda how: with_rematch(rematch_of(session, how)),
    )
    return session


def rematch_of(session: Session, how: str = AGAIN) -> Session:
    """Return a session that follows another one, with new seeds.

    Args:
        session: The session that is over.
        how: ``"again"`` plays the same matches; ``"swap"`` moves the team on by one seat.
    """
    team: Sequence[str] = session.matches[0].team
    team = (*team[1:], team[0]) if how == SWAP else team
    matches = [replace(match, team=tuple(team), seed=secrets.randbelow(2**31)) for match in session.matches]
    new = Session(matches, session.settings, folder=session.folder, voice=session.voice is not None, make=session.make)
    new.history = [*session.history, *session.records]
    return new
