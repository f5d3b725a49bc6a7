"""Reasons for which a game refuses actions."""

from __future__ import annotations

from enum import IntEnum


class ReasonCode(IntEnum):
    """Base class of the reasons of a game: each is a code, 0 for accepted actions, with a sentence for agents.

    Members are written ``FULL = 5, "{place} is full."``, and games fill the fields. Without a
    sentence, the name is used: ``F_TOO_FAR = 2`` reads "Too far.".
    """

    _sentence: str | None

    def __new__(cls, code: int, sentence: str | None = None) -> ReasonCode:
        member = int.__new__(cls, code)
        member._value_, member._sentence = code, sentence
        return member

    @property
    def sentence(self) -> str:
        """What agents read."""
        if self._sentence is not None:
            return self._sentence
        return f"{self.name.removeprefix('F_').replace('_', ' ').capitalize()}." if self else "Accepted."
