"""Replay of an episode for its players: the player of reports, with a seat's view and the messages."""

from __future__ import annotations

from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.play.people import Person
from collab_overcooked.play.session import Session
from collab_overcooked.policies.registry import PERSON
from collab_overcooked.reporting import report
from collab_overcooked.reporting.templates import render

SEAT_NOTE = "Observations and actions of your seat, and all messages."
FULL_NOTE = "Actions and messages of all seats."
POLICY = "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def replay_page(session: Session, person: Person, number: int) -> tuple[str, str] | None:
    """Return the page of an episode and its security policy; None if there is no episode that may be watched.

    A seat sees its own picture, actions, events and refusals, as other episodes may follow; a voice and watchers, who
    saw all, see all.

    Args:
        session: Of which it is an episode.
        person: Who watches.
        number: Among those that came to their end, from 0.
    """
    record = _record_of(session, number)
    if record is None:
        return None
    replays = list(report.replays([record], 1, seat=person.seat))
    player = report.player(FULL_NOTE if person.seat is None else SEAT_NOTE)
    sections = [render("heading.html", title=session.title), player]
    return report.page(session.title, sections, replays), report.page_policy() + POLICY


def _record_of(session: Session, number: int) -> EpisodeRecord | None:
    if not session.replayable or not 0 <= number < len(session.records):
        return None
    record = session.records[number]
    if session.settings.names == "blind":
        team = {agent: spec if spec == PERSON else "partner" for agent, spec in record.team.items()}
        return record.replace(team=team)
    return record
