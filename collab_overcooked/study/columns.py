"""Columns of the tables of a study, with their entries in the codebook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from collab_overcooked.play.people import MEDIUM, SMALL

TIME, SIZES = "ISO 8601 with milliseconds, UTC", "small, medium or large"
ROUND = "Round of the group within its condition, from 1; one that was begun again counts once."
EPISODE = "Running number of the record within its task and condition, over all groups, from 0; see round."
CURRENCY = "currency of the study"
PER_CONDITION = "(Asked after the condition; repeated in each of its rounds.)"
PER_PERSON = "(Asked apart from the conditions; repeated in every row of the participant.)"
WIDTHS = f"Below {SMALL} pixels it is small, from {MEDIUM} large."


@dataclass(frozen=True)
class StudyColumn:
    """Column of one or several tables."""

    table: str  # First table with the column
    name: str  # Name, unique in each table
    type: Literal["text", "integer", "number", "time"]  # Type of the cells
    meaning: str  # Description
    values: str = ""  # Possible values or their format; empty if the type says enough
    unit: str = ""  # Unit; empty if there is none
    also: tuple[str, ...] = ()  # Further tables with the column


COLUMNS = (
    StudyColumn(
        "participants",
        "id",
        "text",
        "Random id of a participant; empty for people who declined or were refused.",
        also=("answers", "pages", "episodes", "decisions"),
    ),
    StudyColumn("participants", "number", "integer", "Index in order of consent, from 0."),
    StudyColumn(
        "participants",
        "group",
        "integer",
        "Number of the group that played together; it determined the order of conditions.",
        also=("answers", "pages", "episodes"),
    ),
    StudyColumn(
        "participants",
        "yoke",
        "integer",
        "Participants with equal numbers played the same tasks; empty without match: yoked.",
    ),
    StudyColumn(
        "participants", "conditions", "text", "Conditions in the order drawn for the group; empty before it is formed."
    ),
    StudyColumn("participants", "visit", "integer", "Number of this visit of the same panel id, from 1."),
    StudyColumn("participants", "steps", "integer", "Completed steps of the study."),
    StudyColumn("participants", "failed_checks", "integer", "Failed attention checks."),
    StudyColumn(
        "participants",
        "end",
        "text",
        "How participation ended, or why it did not begin; empty until then.",
        values="see end=...",
    ),
    StudyColumn(
        "participants",
        "joined",
        "time",
        "Time of consent, or of a refusal; not in anonymous exports.",
        values="ISO 8601, UTC",
    ),
    StudyColumn("participants", "minutes", "number", "From consent to the end.", unit="min"),
    StudyColumn(
        "participants", "bonus", "number", "Bonus by the rule of the study; empty if it pays none.", unit=CURRENCY
    ),
    StudyColumn(
        "participants",
        "window",
        "text",
        f"Width of the window on the first page; empty if unknown. {WIDTHS}",
        values=SIZES,
    ),
    StudyColumn("answers", "form", "text", "Questionnaire."),
    StudyColumn(
        "answers",
        "condition",
        "text",
        "Condition that was played before the questionnaire; empty if it belongs to none.",
    ),
    StudyColumn("answers", "place", "integer", "Place of the condition in the participant's order, from 0."),
    StudyColumn("answers", "item", "text", "Question, see FORM.ITEM."),
    StudyColumn("answers", "value", "text", "The answer; several are joined with semicolons; empty if left open."),
    StudyColumn(
        "answers", "code", "integer", "The answer as a number, see FORM.ITEM; empty where it is no single one."
    ),
    StudyColumn("answers", "minute", "number", "Minutes since consent.", unit="min"),
    StudyColumn(
        "answers", "started", "time", "When the questionnaire was first shown; not in anonymous exports.", values=TIME
    ),
    StudyColumn("answers", "answered", "time", "When it was sent; not in anonymous exports.", values=TIME),
    StudyColumn("pages", "step", "integer", "Number of the step among the participant's steps, from 1."),
    StudyColumn(
        "pages",
        "kind",
        "text",
        "What was shown; play stands for a condition with its rounds and waits.",
        values="page, form or play",
    ),
    StudyColumn("pages", "name", "text", "Title of the page, or name of the questionnaire; empty for a condition."),
    StudyColumn(
        "pages", "condition", "text", "Condition that is played, or was played before; empty if there is none."
    ),
    StudyColumn("pages", "place", "integer", "Place of the condition in the participant's order, from 0."),
    StudyColumn("pages", "started", "time", "When the step was first shown; not in anonymous exports.", values=TIME),
    StudyColumn("pages", "answered", "time", "When it was completed or left; not in anonymous exports.", values=TIME),
    StudyColumn("pages", "seconds", "number", "Time from started to answered.", unit="s"),
    StudyColumn(
        "pages", "completed", "integer", "0 for the step at which a participant left or was ended.", values="0 or 1"
    ),
    StudyColumn("pages", "retries", "integer", "Tries of a questionnaire whose answers were not accepted."),
    StudyColumn(
        "pages", "window", "text", f"Width of the window; empty if unknown, and for a condition. {WIDTHS}", values=SIZES
    ),
    StudyColumn("pages", "focus_losses", "integer", "How often the window lost the focus; empty as window is."),
    StudyColumn("episodes", "condition", "text", "Condition, see condition=..."),
    StudyColumn("episodes", "place", "integer", "Place of the condition in the group's order, from 0."),
    StudyColumn("episodes", "round", "integer", ROUND),
    StudyColumn("episodes", "agent", "text", "Seat of the participant."),
    StudyColumn("episodes", "game", "text", "Id of the game."),
    StudyColumn("episodes", "task", "text", "Name of the task."),
    StudyColumn("episodes", "episode", "integer", EPISODE),
    StudyColumn("episodes", "team", "text", "Policies by seat; person stands for a participant."),
    StudyColumn(
        "episodes",
        "success",
        "integer",
        "Whether the game's goal was reached; empty in games without one.",
        values="0 or 1",
    ),
    StudyColumn("episodes", "steps", "integer", "Environment steps.", unit="steps"),
    StudyColumn(
        "episodes", "seconds", "number", "Time the participant took for decisions; empty in real time.", unit="s"
    ),
    StudyColumn("episodes", "decisions", "integer", "Decisions, or key presses in real time."),
    StudyColumn("episodes", "timeouts", "integer", "Decisions that were not made in time."),
    StudyColumn("episodes", "disconnects", "integer", "Lost connections."),
    StudyColumn("episodes", "refused", "integer", "Actions that the game refused."),
    StudyColumn(
        "episodes",
        "messages_sent",
        "integer",
        "Messages that the participant sent; the metric messages counts those of all agents.",
    ),
    StudyColumn("episodes", "interface", "text", "Interface that was used.", values="browser or terminal"),
    StudyColumn(
        "episodes",
        "bonus",
        "number",
        "Bonus for the round, before the largest sum applies; empty if the study pays none.",
        unit=CURRENCY,
    ),
    StudyColumn("episodes", "started", "time", "When the round began; not in anonymous exports.", values=TIME),
    StudyColumn("episodes", "answered", "time", "When the round was over; not in anonymous exports.", values=TIME),
    StudyColumn("episodes", "window", "text", f"Width of the window; empty if unknown. {WIDTHS}", values=SIZES),
    StudyColumn("episodes", "focus_losses", "integer", "How often the window lost the focus during the round."),
    StudyColumn(
        "episodes", "partner_waits", "integer", "Steps in which a policy of the team idled, as it was still computing."
    ),
    StudyColumn("episodes", "outcome", "text", "How the episode ended, as text."),
    StudyColumn("decisions", "condition", "text", "Condition, see condition=...", also=("messages",)),
    StudyColumn(
        "decisions",
        "task",
        "text",
        "Name of the task; with condition and episode it names the round.",
        also=("messages",),
    ),
    StudyColumn("decisions", "episode", "integer", EPISODE, also=("messages",)),
    StudyColumn("decisions", "round", "integer", ROUND, also=("messages",)),
    StudyColumn("decisions", "agent", "text", "Seat of the participant."),
    StudyColumn("decisions", "timestep", "integer", "Step for which the decision was taken, from 1."),
    StudyColumn("decisions", "answered", "time", "When it was taken; not in anonymous exports.", values=TIME),
    StudyColumn(
        "decisions",
        "state",
        "text",
        "Hash of the state before the step; equal states have equal hashes.",
        values="hexadecimal",
    ),
    StudyColumn("decisions", "options", "integer", "Number of actions that the game accepted."),
    StudyColumn(
        "decisions",
        "choice",
        "text",
        "Action or plan, as text; with a plan, several actions separated by semicolons; with --cut-text, empty where "
        "it is none of the game.",
    ),
    StudyColumn("decisions", "seconds", "number", "Time that the decision took; empty in real time.", unit="s"),
    StudyColumn("messages", "timestep", "integer", "Step before which the message was sent, from 1."),
    StudyColumn("messages", "agent", "text", "Seat of the sender; voice for one without a seat."),
    StudyColumn("messages", "words", "text", "Text of the message."),
    StudyColumn("messages", "plan", "text", "Plan that was announced with it; empty of people in real time."),
    StudyColumn(
        "messages",
        "ended",
        "text",
        "How an aborted round ended: a person left, or took no decision in it; empty for a round that counts.",
        values="left | abandoned",
    ),
)
"""Columns in the order of the tables and of the codebook."""
OF_PARTICIPANTS = ("yoke", "visit", "end", "minutes", "failed_checks")
"""Columns of participants that the tidy table repeats."""


SECONDS = "seconds_"  # begins the columns of participants with the times on their steps


def seconds_of(step: int) -> str:
    """Return the column of participants with the time on a step, counted from 1."""
    return f"{SECONDS}{step}"


def answer_column(form: str, item: str) -> str:
    """Return the column of the tidy table with the answers to a question."""
    return f"answer_{form}_{item}"


def _names_by_table() -> dict[str, tuple[str, ...]]:
    names: dict[str, tuple[str, ...]] = {}
    for column in COLUMNS:
        for table in (column.table, *column.also):
            names[table] = (*names.get(table, ()), column.name)
    names["tidy"] = (*names["episodes"], *OF_PARTICIPANTS)
    names["codebook"] = ("table", "name", "type", "unit", "values", "meaning")
    return names


COLUMNS_OF: Mapping[str, tuple[str, ...]] = _names_by_table()
"""Names of the columns by table. ``results.columns_of`` adds those that depend on the study and its games; rows of the
tidy table also have a column for each question."""
