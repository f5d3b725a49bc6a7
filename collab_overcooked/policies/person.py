"""The spec ``person``, which no program can play."""

from __future__ import annotations

from collab_overcooked.policies.api import Policy


def from_text(text: str) -> Policy:
    """Raise an error: people cannot be played by a program."""
    raise ValueError("policy 'person' is played by a person: use `collab-overcooked play` or `collab-overcooked study`")
