"""An episode for several callers: each holds an open seat and waits until that seat is asked.

table = Table(Sitting.of_suite("collab-escape", "all=llm:x?agent=choose", episodes=1))
table.start()
turn = table.wait(seat, timeout=60)  # in the thread of the caller that holds the seat
table.answer(seat, model(turn.messages))
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from collab_overcooked.adapters.sitting import Sitting, Turn


class NotAsked(ValueError):
    """An answer of a seat that is not asked; the message says which one is."""


class Table:
    """A sitting that several threads share.

    A seat that leaves answers nothing any more: its agent waits or falls back, as after unusable answers, and the
    others play on. Once all have left, the match is abandoned.

    Args:
        sitting: The match; the table closes it.

    Attributes:
        seats: Indices of the open seats.
    """

    def __init__(self, sitting: Sitting) -> None:
        self.sitting, self.seats = sitting, sitting.seats
        self._changed = threading.Condition()
        self._turn: Turn | None = None
        self._error: Exception | None = None
        self._working = self._closed = False  # whether a thread is at the sitting, which only one may be at a time
        self._gone: set[int] = set()
        self._waits = Counter[int]()  # by seat; a further wait of a seat ends the one before

    def start(self, seed: int | None = None) -> None:
        """Begin the match; all seats are taken again.

        Args:
            seed: See ``Sitting.start``.
        """
        with self._changed:
            self._changed.wait_for(lambda: not self._working)
            self._gone, self._error, self._working = set(), None, True
        self._work(self.sitting.start, seed)

    def wait(self, seat: int, timeout: float | None = None) -> Turn | None:
        """Return the question to a seat, or the end of the match, as soon as there is one.

        An error of the match is raised in every wait.

        Args:
            seat: An open seat.
            timeout: Seconds; None waits as long as it takes.

        Returns:
            The turn; the last turn of a match has this seat's reward. None if another seat is still asked, or if the
            same seat waits anew.
        """
        self._check(seat)
        end = None if timeout is None else time.monotonic() + check_seconds(timeout)
        with self._changed:
            self._waits[seat] += 1
            number = self._waits[seat]
            self._changed.notify_all()
            while self._waits[seat] == number:
                turn = self._current()
                if not self._working and turn is not None and turn.done:
                    return turn._replace(reward=turn.info["rewards"][seat])
                if not self._working and turn is not None and turn.seat == seat:
                    return turn
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    break
                self._changed.wait(left)
            return None

    def answer(self, seat: int, text: str) -> None:
        """Answer the question to a seat.

        Args:
            seat: The seat that is asked.
            text: See ``Sitting.step``.
        """
        self._check(seat)
        with self._changed:
            turn = self._current()
            if self._working or turn is None or turn.seat != seat:
                raise NotAsked(f"agent_{seat} cannot answer: {self._asked()}")
            self._working = True
        self._work(self.sitting.step, text)

    def leave(self, seat: int) -> None:
        """Leave a seat; the last one to leave abandons the match."""
        self._check(seat)
        with self._changed:
            self._gone.add(seat)
            self._changed.notify_all()
            if self._working or self._turn is None:
                return  # whoever is at the sitting goes on without the seat
            self._working = True
        self._work()

    def close(self) -> None:
        """Abandon the match, as soon as the sitting is free."""
        with self._changed:
            self._closed, self._gone = True, set(self.seats)
            self._changed.notify_all()
            if self._working:
                return
            self._working = True
        self._work()

    def _work(self, call: Callable[..., Turn] | None = None, *arguments: Any) -> None:
        """Call the sitting without the lock, then answer for seats that are gone, and let go of it."""
        try:
            turn = self._turn if call is None else call(*arguments)
            while True:
                with self._changed:
                    is_left = self._gone.issuperset(self.seats)
                    self._turn = turn
                    if not is_left and (turn is None or turn.done or turn.seat not in self._gone):
                        return
                if is_left:
                    (self.sitting.close if self._closed else self.sitting.abandon)()
                    return
                turn = self.sitting.step("")
        except Exception as error:
            self._error = error
            raise
        finally:
            with self._changed:
                self._working = False
                self._changed.notify_all()

    def _asked(self) -> str:
        if self._working or self._turn is None:
            return "an answer is being played"
        return "the match is over" if self._turn.done else f"agent_{self._turn.seat} is asked now"

    def _check(self, seat: int) -> None:
        if seat not in self.seats:
            raise ValueError(f"seat must be one of {', '.join(map(str, self.seats))}, the open seats, not {seat!r}")

    def _current(self) -> Turn | None:
        if self._error is not None:
            raise self._error
        if self._turn is None and not self._working:
            raise ValueError("the table was not started; call start()")
        return self._turn


def check_seconds(seconds: float) -> float:
    """Refuse seconds that are no number."""
    if not isinstance(seconds, (int, float)) or seconds != seconds:
        raise ValueError(f"timeout must be a number of seconds, not {seconds!r}")
    return seconds


class SharedTable(Table):
    """A table whose episodes begin once every open seat is taken.

    Args:
        sitting: The match.
        terms: What all who join must agree on, for example suite and match.
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
        end = None if timeout is None else time.monotonic() + check_seconds(timeout)
        with self._changed:
            if self._ready and seed != self._seed:
                raise ValueError(f"seed must be {self._seed!r}, as for the other seats of the table, not {seed!r}")
            self._seed = seed
            is_new, current = seat not in self._ready, self._round
            self._ready.add(seat)
            is_last = self._ready.issuperset(self.seats)
            if is_last:
                self._ready, self._round, self._error = set(), self._round + 1, None
        if is_last:
            self.start(seed)
            return True
        if is_new and self._turn is not None and not self._turn.done:
            self.leave(seat)
        with self._changed:
            left = None if end is None else end - time.monotonic()
            self._changed.wait_for(lambda: self._round > current, left)
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
            is_known = name in self._tables
        created = None if is_known else SharedTable(make(), terms)  # without the lock, as it takes a while
        try:
            with self._lock:
                if created is not None:
                    self._tables.setdefault(name, (created, set()))
                if name in self._tables:
                    return self._take(name, seat, terms)
            return self.sit(name, seat, terms, make)  # the others left in between
        finally:
            if created is not None and self._tables.get(name, (None,))[0] is not created:
                created.close()

    def _take(self, name: str, seat: int | None, terms: Mapping[str, Any]) -> SharedTable:
        table, taken = self._tables[name]
        try:
            for term, value in table.terms.items():
                if terms.get(term) != value:
                    raise ValueError(f"{term} must be {value!r}, as at table {name!r}, not {terms.get(term)!r}")
            seat = only_seat(table) if seat is None else seat
            table._check(seat)
            if seat in taken:
                raise ValueError(f"seat {seat} of table {name!r} is taken")
            taken.add(seat)
            return table
        finally:
            if not taken:
                del self._tables[name]

    def leave(self, name: str, seat: int) -> None:
        """Give up a seat; a table without players is closed."""
        with self._lock:
            table, taken = self._tables[name]
            taken.discard(seat)
            if not taken:
                del self._tables[name]
        if taken:
            table.leave(seat)
        else:
            table.close()


def only_seat(table: Table) -> int:
    """Return the open seat of a table that has one."""
    if len(table.seats) > 1:
        raise ValueError(f"seat must be given: one of {', '.join(map(str, table.seats))}, the open seats")
    return table.seats[0]
