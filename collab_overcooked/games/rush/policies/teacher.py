"""Scripted teacher of Rush: names idle workers, ruined and unfinished orders, refusals and unequal work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.envs.lexicon import translator_of
from collab_overcooked.policies.api import Lesson, Policy
from collab_overcooked.policies.parameters import refuse_text

from ..engine.constants import Reason
from ..text.episode_record import RushEvent, RushRecord

UNEQUAL = 0.75  # balance below which work counts as unequal


class ScriptedTeacher:
    """Describes mistakes and assigns roles, in the vocabulary of the game."""

    name = "scripted"

    def teach_group(self, lesson: Lesson) -> str:
        notes = Notes(lesson.record)
        lines = [notes.summary(), *notes.mistakes(), *notes.idleness(), *notes.contributions()]
        lines += ["Strategy: " + " ".join(notes.roles()), "Collect ingredients before cooking, and count the cooking."]
        return translator_of(lesson.game)("\n".join(lines))

    def teach_individual(self, lesson: Lesson) -> list[str]:
        notes, say = Notes(lesson.record), translator_of(lesson.game)
        lessons = []
        for seat, role in enumerate(notes.roles()):
            remarks = [*notes.mistakes(seat), *notes.idleness(seat), *notes.contributions(seat)]
            lines = [notes.summary(), *(remarks or ["You did your part."]), f"Your role: {role}"]
            lessons.append(say("\n".join(lines)))
        return lessons


def from_text(text: str, make: Callable[[str], Policy]) -> ScriptedTeacher:
    """Create the teacher; it takes no text."""
    refuse_text(ScriptedTeacher.name, text)
    return ScriptedTeacher()


class Notes:
    """Feedback on an episode of Rush."""

    def __init__(self, record: EpisodeRecord) -> None:
        if not isinstance(record, RushRecord) or "positive" not in record.metrics:
            raise ValueError(f"the scripted teacher teaches Rush, not {record.env_id}")
        self.orders, self.metrics = record.orders, record.metrics
        self.seats = range(len(record.team))
        self.events: list[tuple[int, RushEvent]] = [
            (seat, event) for step in record.steps for seat, event in enumerate(step.events)
        ]
        attempts = ((error.agent, error.code) for step in record.steps for error in step.errors)
        self.refused = [(seat, event.reason) for seat, event in self.events if event.reason != "OK"]
        self.refused += [(seat, code) for seat, code in attempts if code in Reason.__members__]  # before the step

    def summary(self) -> str:
        """Return a sentence on the outcome."""
        finished, ruined, turns = (self.metrics[name] for name in ("completed", "ruined", "turns"))
        left = [order.name for order in self.orders if not order.finished and not order.ruined]
        rest = f" Not finished: {', '.join(left)}." if left else ""
        return f"{finished} of {len(self.orders)} orders were finished and {ruined} ruined in {turns} turns.{rest}"

    def mistakes(self, seat: int | None = None) -> Iterator[str]:
        """Yield sentences on ruined orders and refused actions, of all seats or of one."""
        collected: set[str | None] = set()
        for who, event in self.events:
            if event.event == "TAKE_INGREDIENTS" and event.advanced:
                collected.add(event.order)
            if event.ruined and seat in (None, who):
                known = event.order in collected
                why = "more often than its recipe says" if known else "before its ingredients were collected"
                yield f"agent_{who} ruined {event.order} in turn {event.turn + 1}: it was cooked {why}."
        for (who, reason), times in sorted(Counter(self.refused).items()):
            if seat in (None, who):
                yield f"agent_{who} was refused {_times(times)}: {reason.replace('_', ' ').lower()}."

    def idleness(self, seat: int | None = None) -> Iterator[str]:
        """Yield sentences on workers that did nothing in some turns, of all seats or of one."""
        idle = Counter((who, event.worker) for who, event in self.events if event.event == "NO_ACTION")
        for (who, worker), times in sorted(idle.items()):
            if seat in (None, who):
                yield f"Worker {worker} of agent_{who} did nothing in {times} of {self.metrics['turns']} turns."

    def contributions(self, seat: int | None = None) -> Iterator[str]:
        """Yield a sentence on the shares of useful work, if they were unequal."""
        useful, balance = self.metrics["positive"], self.metrics["balance"]
        if balance is None or balance >= UNEQUAL:
            return
        shares = [f"agent_{who} did {useful[who]}" for who in self.seats if seat in (None, who)]
        yield f"The work was unequal: of {sum(useful)} useful actions {', '.join(shares)}."

    def roles(self) -> Sequence[str]:
        """Return a role for each seat: the orders of the next list are divided among the agents."""
        places = range(1, len(self.orders) + 1)
        roles = []
        for seat in self.seats:
            numbers = [str(place) for place in places if (place - 1) % len(self.seats) == seat]
            listed = f"order{'s' * (len(numbers) != 1)} {', '.join(numbers)} of the list"
            share = listed if numbers else "whatever the others leave"
            roles.append(f"agent_{seat} takes {share}, with all its workers in every turn.")
        return roles


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
