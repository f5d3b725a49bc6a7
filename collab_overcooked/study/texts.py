"""Texts of a study's pages; a study file can replace each of them, for example to translate them."""

from __future__ import annotations

import re
from collections.abc import Mapping

PAGE_TEXTS: Mapping[str, str] = {
    "agree": "I agree and want to take part",
    "decline": "I do not agree",
    "continue": "Continue",
    "send": "Send answers",
    "step": "Step {step} of {steps}",
    "optional": "(optional)",
    "errors": "Some answers are missing or not allowed:",
    "empty": "Please answer this question.",
    "choose": "Please choose one of the answers shown.",
    "number": "Please give an integer from {low} to {high}.",
    "rank": "Please use each place from 1 to {most} once.",
    "place": "Place",
    "time_left": "Time left: {seconds} s",
    "read_first": "You can continue in {seconds} s.",
    "script": (
        "This study contains games that need JavaScript. Please turn it on, or use another browser, and load this page "
        "again."
    ),
    "long": "Please write at most {most} characters.",
    "waiting": "Waiting for others",
    "waiting_text": "You will play with {others} more. Please keep this page open; the game starts automatically.",
    "here": "{here} of {needed} people are here. Time left: at most {minutes} min.",
    "starting": "Everyone is here. The game is starting.",
    "open_game": "Open the game",
    "check": "Check again",
    "game": "The game",
    "game_text": "Next you play: {label}. When the game is over, follow the link at its end.",
    "offline": "Connection lost. Reconnecting ...",
    "code": "Your completion code:",
    "back": "Go back to the panel",
    "end": "The end",
    "full": "The study has all the participants that it needs. Thank you for your interest.",
    "full_now": "All places of the study are currently taken. Please try again later; some may become free.",
    "again": ("This id has already taken part. To see the last page again, open it in the browser that you used then."),
    "too_many": "Too many people have just joined from your network. Please wait a minute and try again.",
    "unknown": "This link does not belong to any participant.",
    "missing_id": "The address lacks your id ({name}). Please use the link that the panel gave you.",
    "error": "Sorry",
}
"""Texts by name; names in braces are replaced by values."""

_BLANK = re.compile(r"\{(\w+)\}")


def blanks(text: str) -> list[str]:
    """Return the placeholders of a text, ``["step", "steps"]`` for ``"Step {step} of {steps}"``."""
    return _BLANK.findall(text)


def fill(text: str, **values: object) -> str:
    """Replace the placeholders of a text; other braces have no meaning, as texts may come from users."""
    return _BLANK.sub(lambda match: str(values[match[1]]), text)
