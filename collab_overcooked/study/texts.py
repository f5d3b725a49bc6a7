"""Texts of a study's pages in English; a study file can replace each of them.

Texts of other languages are in the section ``study`` of the pages' ``words.LANGUAGE.json``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from collab_overcooked.play.server import page_file
from collab_overcooked.play.settings import LANGUAGES

PAGE_TEXTS: Mapping[str, str] = {
    "agree": "I agree and want to take part",
    "decline": "I do not agree",
    "tick": "Please tick all boxes if you want to take part.",
    "copy": "Keep a copy of this page",
    "needs": "You need: {things}.",
    "width": "a window of at least {width} pixels",
    "keyboard": "a keyboard",
    "mouse": "a mouse or a touchpad",
    "english": "The texts of the game itself, such as its rules and actions, are in English.",
    "unfit": "This window is too narrow. Make it wider, or use another device.",
    "no_mouse": "There is no mouse or touchpad. Use another device.",
    "leave": "Leave the study",
    "leave_sure": "If you leave now, this task and the study end for you for good, and {pay}.",
    "leave_sure_all": (
        "If you leave now, this task and the study end for good, for you and for everyone you play with, and {pay}."
    ),
    "leave_code": "you get the completion code for people who leave, which decides what you are paid",
    "leave_no_code": "you get no completion code, so you may not be paid",
    "stay": "Back",
    "delete": "Delete what I answered",
    "delete_sure": "Your answers and your id are deleted for good. Games stay without a link to you.",
    "delete_paid": "Wait until you have been paid: without your id, you may not be paid.",
    "deleted": "Your answers and your id have been deleted.",
    "continue": "Continue",
    "send": "Send answers",
    "step": "Step {step} of {steps}",
    "optional": "(optional)",
    "errors": "Some answers are missing or not allowed:",
    "empty": "Please answer this question.",
    "choose": "Please choose one of the answers shown.",
    "number": "Please give an integer from {low} to {high}.",
    "retry": "Not all answers are right. Please read the explanation again. Tries left: {left}",
    "partner": "Your partner in game {n}",
    "time_left": "Time left: {seconds} s",
    "read_first": "You can continue in {seconds} s.",
    "script": (
        "This study contains games that need JavaScript. Please turn it on, or use another browser, and load this page "
        "again."
    ),
    "long": "Please write at most {most} characters.",
    "waiting": "Waiting for others",
    "waiting_one": (
        "You will play with one other participant. Please keep this page open; the game starts automatically."
    ),
    "waiting_text": (
        "You will play with {others} other participants. Please keep this page open; the game starts automatically."
    ),
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
    "unknown": "This link does not belong to any participant.",
    "missing_id": "The address lacks your id ({name}). Please use the link that the panel gave you.",
    "error": "Sorry",
}
"""Texts by name; names in braces are replaced by values."""

END_TEXTS: Mapping[str, str] = {
    "done": "You have finished. Thank you for taking part.",
    "declined": "You did not give your consent, so nothing was stored. You may close this page.",
    "screened": "Thank you for your answers. They show that this study is not for you.",
    "inattentive": "Some answers show that questions were not read, so the study ends here. Thank you for your time.",
    "unmatched": "No partner joined in time to play with you. Thank you for waiting.",
    "partner_left": "Your partner has left the game, so the study ends here. Thank you for taking part.",
    "left": "You have left the study. Thank you for your time.",
    "stopped": "The study was ended by its organisers. Thank you for taking part.",
    "late": "The time for this study is over, so it ends here. Thank you for taking part.",
    "failed": "Something went wrong on our side. You may close this page.",
    "full": "The study has all the participants that it needs. Thank you for your interest.",
    "full_now": "All places of the study are currently taken. Please try again later; some may become free.",
    "again": "This id has already taken part. To see the last page again, open it in the browser that you used then.",
    "too_many": "Too many people have just joined from your network. Please try again in {minutes} min.",
}
"""Texts of the last page by how participation ended, or why people cannot take part."""


def default_texts(language: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the texts of pages and of ends in a language, in English where there is no file of that language."""
    if language == "en" or language not in LANGUAGES:
        return PAGE_TEXTS, END_TEXTS
    texts = json.loads(page_file(f"words.{language}.json"))["study"]
    return texts["texts"], texts["ends"]


PLACEHOLDER = re.compile(r"\{([\w-]*)\}")
"""A name in braces, which a value replaces."""


def blanks(text: str) -> list[str]:
    """Return the placeholders of a text, ``["step", "steps"]`` for ``"Step {step} of {steps}"``."""
    return PLACEHOLDER.findall(text)


def fill(text: str, /, **values: object) -> str:
    """Replace the placeholders of a text; other braces have no meaning, as texts may come from users."""
    return PLACEHOLDER.sub(lambda match: str(values[match[1]]), text)
