"""The spec ``person``, which no program can play."""

from __future__ import annotations

from collab_overcooked.policies.api import Policy


def from_text(text: str) -> Policy:
    """Refuse to make a policy of a person.

    Raises:
        ValueError: Always; it names the commands that seat people.
    """
    raise ValueError("policy 'person' is played by a person: use `collab-overcooked play` or `collab-overcooked study`")
