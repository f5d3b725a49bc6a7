"""Columns of the tables of a study, with their entries in the codebook."""

from __future__ import annotations

from collections.abc import Mapping

from collab_overcooked.play.people import MEDIUM, SMALL

TIME, SIZES = "ISO 8601 with milliseconds, UTC", "small, medium or large"
WIDTHS = f"Below {SMALL} pixels it is small, from {MEDIUM} large."
COLUMNS = (
    ("participants", "id", "Random id of a participant; empty for people who declined or were refused.", ""),
    ("participants", "number", "Index in order of consent, from 0.", ""),
    ("participants", "group", "Number of the group that played together; it determined the order of conditions.", ""),
    ("participants", "yoke", "Participants with equal numbers played the same tasks; empty without match: yoked.", ""),
    ("participants", "conditions", "Conditions in the order drawn for the group; empty before it is formed.", ""),
    ("participants", "visit", "Number of this visit of the same panel id, from 1.", ""),
    ("participants", "steps", "Completed steps of the study.", ""),
    ("participants", "failed_checks", "Failed attention checks.", ""),
    ("participants", "end", "How participation ended, or why it did not begin; empty until then.", "see end=..."),
    ("participants", "joined", "Time of consent, or of a refusal; not in anonymous exports.", "ISO 8601, UTC"),
    ("participants", "minutes", "From consent to the end.", "min"),
    ("participants", "bonus", "Bonus by the rule of the study; empty if it pays none.", ""),
    ("participants", "window", f"Width of the window on the first page; empty if unknown. {WIDTHS}", SIZES),
    ("answers", "form", "Questionnaire.", ""),
    ("answers", "condition", "Condition that was played before the questionnaire; empty if it belongs to none.", ""),
    ("answers", "place", "Place of the condition in the participant's order, from 0.", ""),
    ("answers", "item", "Question, see FORM.ITEM.", ""),
    ("answers", "value", "The answer; several are joined with semicolons; empty if left open.", ""),
    ("answers", "code", "The answer as a number, see FORM.ITEM; empty where it is no single one.", ""),
    ("answers", "minute", "Minutes since consent.", "min"),
    ("answers", "started", "When the questionnaire was first shown; not in anonymous exports.", TIME),
    ("answers", "answered", "When it was sent; not in anonymous exports.", TIME),
    ("pages", "step", "Index of the step among the participant's steps, from 0.", ""),
    ("pages", "kind", "What was shown; play stands for a condition with its rounds and waits.", "page, form or play"),
    ("pages", "name", "Title of the page, or name of the questionnaire; empty for a condition.", ""),
    ("pages", "condition", "Condition that is played, or was played before; empty if there is none.", ""),
    ("pages", "place", "Place of the condition in the participant's order, from 0.", ""),
    ("pages", "started", "When the step was first shown; not in anonymous exports.", TIME),
    ("pages", "answered", "When it was completed or left; not in anonymous exports.", TIME),
    ("pages", "seconds", "Time from started to answered.", "s"),
    ("pages", "completed", "0 for the step at which a participant left or was ended.", "0 or 1"),
    ("pages", "retries", "Tries of a questionnaire whose answers were not accepted.", ""),
    ("pages", "window", f"Width of the window; empty if unknown, and for a condition. {WIDTHS}", SIZES),
    ("pages", "focus_losses", "How often the window lost the focus; empty as window is.", ""),
    ("episodes", "condition", "Condition, see condition=...", ""),
    ("episodes", "place", "Place of the condition in the group's order, from 0.", ""),
    ("episodes", "agent", "Seat of the participant.", ""),
    ("episodes", "game", "Id of the game.", ""),
    ("episodes", "task", "Name of the task.", ""),
    ("episodes", "episode", "Index of the record within its task and condition.", ""),
    ("episodes", "team", "Policies by seat; person stands for a participant.", ""),
    ("episodes", "success", "Whether the game's goal was reached.", "0 or 1"),
    ("episodes", "steps", "Environment steps.", "steps"),
    ("episodes", "seconds", "Time the participant took for decisions; 0 in real time.", "s"),
    ("episodes", "decisions", "Decisions, or key presses in real time.", ""),
    ("episodes", "timeouts", "Decisions that were not made in time.", ""),
    ("episodes", "disconnects", "Lost connections.", ""),
    ("episodes", "refused", "Actions that the game refused.", ""),
    ("episodes", "interface", "Interface that was used.", "browser or terminal"),
    ("episodes", "bonus", "Bonus for the round, before the largest sum applies; empty if the study pays none.", ""),
    ("episodes", "started", "When the round began; not in anonymous exports.", TIME),
    ("episodes", "answered", "When the round was over; not in anonymous exports.", TIME),
    ("episodes", "window", f"Width of the window; empty if unknown. {WIDTHS}", SIZES),
    ("episodes", "focus_losses", "How often the window lost the focus during the round.", ""),
    ("episodes", "partner_waits", "Steps in which a policy of the team idled, as it was still computing.", ""),
    ("episodes", "outcome", "How the episode ended, as text.", ""),
    ("decisions", "condition", "Condition, see condition=...", ""),
    ("decisions", "task", "Name of the task; with condition and episode it names the round.", ""),
    ("decisions", "episode", "Index of the record within its task and condition.", ""),
    ("decisions", "agent", "Seat of the participant.", ""),
    ("decisions", "timestep", "Step for which the decision was taken, from 1.", ""),
    ("decisions", "answered", "When it was taken; not in anonymous exports.", TIME),
    ("decisions", "state", "Hash of the state before the step; equal states have equal hashes.", "hexadecimal"),
    ("decisions", "options", "Number of actions that the game accepted.", ""),
    ("decisions", "choice", "Action or plan, as text; with a plan, several actions separated by semicolons.", ""),
    ("decisions", "seconds", "Time that the decision took; empty in real time.", "s"),
    ("messages", "timestep", "Step before which the message was sent, from 1.", ""),
    ("messages", "agent", "Seat of the sender; voice for one without a seat.", ""),
    ("messages", "words", "Text of the message.", ""),
    ("messages", "plan", "Plan that was announced with it.", ""),
)


OF_PARTICIPANTS = ("yoke", "visit", "end", "minutes", "failed_checks")
"""Columns of participants that the tidy table repeats."""
UNITS = ("s", "min", "steps")
INTEGERS = {
    *("number", "group", "yoke", "visit", "failed_checks", "place", "code", "step", "steps", "retries", "focus_losses"),
    *("episode", "success", "completed", "decisions", "timeouts", "disconnects", "refused", "partner_waits"),
    *("timestep", "options"),
}
NUMBERS = {"minutes", "minute", "seconds", "bonus"}
TIMES = {"joined", "started", "answered"}


def type_of(name: str) -> str:
    """Return the type of a column of ``COLUMNS``: ``"integer"``, ``"number"``, ``"time"`` or ``"text"``."""
    types = {"integer": INTEGERS, "number": NUMBERS, "time": TIMES}
    return next((kind for kind, names in types.items() if name in names), "text")


def seconds_of(step: int) -> str:
    """Return the column of participants with the time on a step, counted from 1."""
    return f"seconds_{step}"


def answer_column(form: str, item: str) -> str:
    """Return the column of the tidy table with the answers to a question."""
    return f"answer_{form}_{item}"


COLUMNS_OF: Mapping[str, tuple[str, ...]] = {
    "participants": tuple(name for table, name, *_ in COLUMNS if table == "participants"),
    "answers": (
        *("id", "group", "form", "condition", "place", "item", "value", "code", "minute", "started", "answered"),
    ),
    "pages": (
        *("id", "group", "step", "kind", "name", "condition", "place", "started", "answered", "seconds"),
        *("completed", "retries", "window", "focus_losses"),
    ),
    "episodes": (
        *("id", "group", "condition", "place", "agent", "game", "task", "episode", "team", "success", "steps"),
        *("seconds", "decisions", "timeouts", "disconnects", "refused", "interface", "bonus", "started", "answered"),
        *("window", "focus_losses", "partner_waits", "outcome"),
    ),
    "decisions": (
        *("id", "condition", "task", "episode", "agent", "timestep", "answered", "state", "options", "choice"),
        "seconds",
    ),
    "messages": ("condition", "task", "episode", "timestep", "agent", "words", "plan"),
    "tidy": ("id", "group", "condition", *OF_PARTICIPANTS),
    "codebook": ("table", "name", "type", "unit", "values", "meaning"),
}
"""Columns of tables without rows; episodes have the metrics of their games as further columns."""
