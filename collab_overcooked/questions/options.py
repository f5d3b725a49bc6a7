"""Options of the suite of questions."""

from __future__ import annotations

from dataclasses import dataclass

from collab_overcooked.evaluation.suite_options import SuiteOptions
from collab_overcooked.io.options import NAMES, option
from collab_overcooked.questions.items import KINDS, PARTS

WORDS, PLAY = "words", "play"
WAYS = (WORDS, PLAY)
STATE = "state"  # what a run can withhold
AUTO = "auto"


@dataclass(frozen=True, kw_only=True)
class QuestionOptions:
    """Options of the suite."""

    file: str | None = option(
        None, "Question set, or LLM-Coordination's public table (.csv). Default: the built-in one."
    )
    games: str | None = option(None, "Environment ids, comma-separated. Default: all.", metavar=NAMES)
    kinds: str | None = option(
        None, f"Question kinds, comma-separated: {', '.join(KINDS)}. Default: all.", metavar=NAMES
    )
    parts: str | None = option(None, f"Parts, comma-separated: {', '.join(PARTS)}. Default: both.", metavar=NAMES)
    skills: str | None = option(
        None, "Skills, comma-separated: items that need any of them. Default: all.", metavar=NAMES
    )
    items: str | None = option(None, "Item ids, comma-separated. Default: all.", metavar=NAMES)
    answers: str = option(
        AUTO,
        f"{WORDS}: choose a letter; {PLAY}: play on from the scene (not for facts); "
        f"{AUTO}: {WORDS} for language models, {PLAY} for other policies.",
        allowed=(AUTO, *WAYS),
        flag="--answer-by",
    )
    without: str | None = option(
        None,
        f"{STATE}: withhold the state: models answer from rules, question and choices (--answer-by {WORDS} only).",
        allowed=(STATE,),
    )
    samples: int = option(1, "Answers per item.")


OPTIONS = SuiteOptions(play=QuestionOptions)
