"""An episode for several callers: each holds an open seat and waits until that seat is asked.

table = Table(Sitting.of_suite("collab-escape", "all=llm:x?agent=choose", episodes=1))
table.start()
turn = table.wait(seat, timeout=60)  # in the thread of the caller that holds the seat
table.answer(seat, model(turn.messages))
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from collab_overcooked.adapters.sitting import Sitting, Turn


class NotAsked(ValueError):
    """An answer of a seat that is not asked; the message says which one is."""


class Table:
    """A sitting that several threads share.

    A seat that leaves answers nothing any more: its agent waits or falls back, as after unusable answers, and the
    others play on. Once all have left, the job is abandoned.

    Args:
        sitting: The job; the table closes it.

    Attributes:
        seats: Indices of the open seats.
    """

    def __init__(self, sitting: Sitting) -> None:
        self.sitting, self.seats = sitting, sitting.seats
        self._changed = threading.Condition()  # re-entrant
        self._turn: Turn | None = None
        self._gone: set[int] = set()

    def start(self, seed: int | None = None) -> None:
        """Begin the job; all seats are taken again.

        Args:
            seed: See ``Sitting.start``.
        """
        with self._changed:
            self._gone = set()
            self._turn = self.sitting.start(seed)
            self._changed.notify_all()

    def wait(self, seat: int, timeout: float | None = None) -> Turn | None:
        """Return the question to a seat, or the end of the job, as soon as there is one.

        Args:
            seat: An open seat.
            timeout: Seconds; None waits as long as it takes.

        Returns:
            The turn; the last turn of a job has the reward of this seat. None if another seat is still asked.
        """
        self._check(seat)
        end = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while True:
                turn = self._current()
                if turn.done:
                    return turn._replace(reward=turn.info["rewards"][seat])
                if turn.seat == seat:
                    return turn
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    return None
                self._changed.wait(left)

    def answer(self, seat: int, text: str) -> None:
        """Answer the question to a seat.

        Args:
            seat: The seat that is asked.
            text: See ``Sitting.step``.
        """
        self._check(seat)
        with self._changed:
            turn = self._current()
            if turn.seat != seat:
                asked = "the job is over" if turn.done else f"agent_{turn.seat} is asked now"
                raise NotAsked(f"agent_{seat} cannot answer: {asked}")
            self._turn = self.sitting.step(text)
            self._skip()
            self._changed.notify_all()

    def leave(self, seat: int) -> None:
        """Leave a seat; the last one to leave abandons the job."""
        self._check(seat)
        with self._changed:
            self._gone.add(seat)
            if self._gone.issuperset(self.seats):
                self.sitting.abandon()
            elif self._turn is not None:
                self._skip()
            self._changed.notify_all()

    def close(self) -> None:
        """Abandon the job."""
        self.sitting.close()

    def _check(self, seat: int) -> None:
        if seat not in self.seats:
            raise ValueError(f"seat must be one of {', '.join(map(str, self.seats))}, the open seats, not {seat!r}")

    def _current(self) -> Turn:
        if self._turn is None:
            raise ValueError("the table was not started; call start()")
        return self._turn

    def _skip(self) -> None:
        while not self._current().done and self._current().seat in self._gone:
            self._turn = self.sitting.step("")


class SharedTable(Table):
    """A table whose episodes begin once every open seat is taken.

    Args:
        sitting: The job.
        terms: What all who join must agree on, for example suite and job.
    """

    def __init__(self, sitting: Sitting, terms: Mapping[str, Any]) -> None:
        super().__init__(sitting)
        self.terms = dict(terms)
        self._ready: set[int] = set()
        self._round, self._seed = 0, None  # type: int, int | None

    def join(self, seat: int, seed: int | None = None, timeout: float | None = None) -> bool:
        """Take a seat for the next episode; an episode that the seat still plays goes on without it.

        Args:
            seat: An open seat.
            seed: Seed of the episode, by which all seats agree.
            timeout: Seconds to wait for the other seats; None waits as long as it takes.

        Returns:
            Whether the episode has begun. If not, the seat stays taken: join again to wait on.
        """
        self._check(seat)
        with self._changed:
            if self._ready and seed != self._seed:
                raise ValueError(f"seed must be {self._seed!r}, as for the other seats of the table, not {seed!r}")
            self._seed = seed
            if seat not in self._ready:
                self._ready.add(seat)
                if self._turn is not None and not self._turn.done:
                    self.leave(seat)
            if self._ready.issuperset(self.seats):
                self._ready, self._round = set(), self._round + 1
                self.start(seed)
                return True
            current = self._round
            self._changed.wait_for(lambda: self._round > current, timeout)
            return self._round > current


class Lobby:
    """Tables by name, for callers that come one after the other."""

    def __init__(self) -> None:
        self._tables: dict[str, tuple[SharedTable, set[int]]] = {}
        self._lock = threading.Lock()

    def sit(self, name: str, seat: int | None, terms: Mapping[str, Any], make: Callable[[], Sitting]) -> SharedTable:
        """Return the table with a name, which exists as long as a seat is taken.

        Args:
            name: Name of the table.
            seat: Seat to take; None for the only one of a team with one open seat.
            terms: See ``SharedTable``.
            make: Makes the sitting of a new table.
        """
        with self._lock:
            if name not in self._tables:
                self._tables[name] = (SharedTable(make(), terms), set())
            table, taken = self._tables[name]
            try:
                for term, value in table.terms.items():
                    if terms.get(term) != value:
                        raise ValueError(f"{term} must be {value!r}, as at table {name!r}, not {terms.get(term)!r}")
                seat = only_seat(table) if seat is None else seat
                table._check(seat)
                if seat in taken:
                    raise ValueError(f"seat {seat} of table {name!r} is taken")
            except ValueError:
                self._drop_empty(name)
                raise
            taken.add(seat)
            return table

    def leave(self, name: str, seat: int) -> None:
        """Give up a seat; a table without players is closed."""
        with self._lock:
            table, taken = self._tables[name]
            taken.discard(seat)
            table.leave(seat)
            self._drop_empty(name)

    def _drop_empty(self, name: str) -> None:
        table, taken = self._tables[name]
        if not taken:
            table.close()
            del self._tables[name]


def only_seat(table: Table) -> int:
    """Return the open seat of a table that has one."""
    if len(table.seats) > 1:
        raise ValueError(f"seat must be given: one of {', '.join(map(str, table.seats))}, the open seats")
    return table.seats[0]
