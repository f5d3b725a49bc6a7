"""Rematches: the people of a session that is over agree on another one, and their links lead there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from collab_overcooked.play.messages import AGAIN, REMATCHES, SWAP
from collab_overcooked.play.people import WATCHER, Person


class Rematch:
    """Agreement of the people of a session on a session that follows.

    Args:
        people: People of the session that is over.
        watchers: Its watchers, who follow; the list may change.
        agents: Number of seats.
        make: Returns a session with the same people, given one of ``messages.REMATCHES``.

    Attributes:
        begin: Begins to play the session that follows; set by the host.
    """

    def __init__(
        self, people: Sequence[Person], watchers: Sequence[Person], agents: int, make: Callable[[str], Any]
    ) -> None:
        self.make = make
        self.begin: Callable[[Any], None] | None = None
        self._people = people
        self._watchers = watchers
        self._agents = agents

    def show_all(self) -> None:
        """Send all people the choices, the people who have chosen, and the people still missing."""
        for person in (*self._people, *self._watchers):
            person.send(self.status(person))

    def status(self, person: Person) -> dict[str, Any]:
        """Return the message about the rematch to one person."""
        answerable = self.begin is not None and not self._missing() and person.role != WATCHER
        return {
            "type": "rematch",
            "offers": list(REMATCHES) if answerable and person.rematch is None else [],
            "wishes": [[other.seat, other.rematch] for other in self._people if other.rematch is not None],
            "waiting": [other.seat for other in self._people if other.rematch is None],
            "missing": [other.seat for other in self._missing() if other is not person],
            "link": person.following,
        }

    def wish(self, person: Person, how: str) -> None:
        """Note a person's choice, and begin the next session once everybody has chosen."""
        if how not in self.status(person)["offers"]:
            return
        person.rematch = how
        if all(other.rematch is not None for other in self._people):
            self._begin()
        self.show_all()

    def _missing(self) -> list[Person]:
        several = len(self._people) > 1  # a person alone who has ended the game is still at the page
        return [person for person in self._people if not person.here or (several and person.gone)]

    def _begin(self) -> None:
        how = SWAP if any(person.rematch == SWAP for person in self._people) else AGAIN
        following = self.make(how)
        assert self.begin is not None
        try:
            self.begin(following)
        except ValueError as error:  # too many sessions; people may ask again
            for person in self._people:
                person.rematch = None
                person.send({"type": "refused", "code": "busy", "message": str(error)})
            return
        for person in self._people:
            seat = None if person.seat is None else (person.seat - (how == SWAP)) % self._agents
            successor = following.voice if seat is None else following.seats[seat]
            person.following = f"/s/{successor.token}"
        for watcher in self._watchers:
            watcher.following = f"/s/{following.watch().token}"
