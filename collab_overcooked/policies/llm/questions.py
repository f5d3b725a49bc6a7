"""Questions with lettered choices, put to a model."""

from __future__ import annotations

from collab_overcooked.policies.api import Choice, Question
from collab_overcooked.policies.llm.answers import letter_schema, read_letter, shorten
from collab_overcooked.policies.llm.client import ChatMessage, UnusableReply
from collab_overcooked.policies.llm.session import ModelSession

MAX_KEPT = 2_000  # characters of an answer that stand in the record


def answer_question(session: ModelSession, question: Question, thinks: bool) -> Choice:
    """Ask for one of the choices; an answer that cannot be read is asked for again as often as the session allows.

    Args:
        session: Model and prompts.
        question: What is asked.
        thinks: Whether the model writes its thoughts before it answers.
    """
    json, said = session.settings.json, ""
    values = {"question": question, "thinks": thinks, "json": json}
    chat = [ChatMessage("system", session.prompts.fill("question_rules", **values))]
    chat.append(ChatMessage("user", session.prompts.fill("question", **values)))

    def read(text: str) -> int:
        nonlocal said
        said = shorten(text, MAX_KEPT)
        return read_letter(text, question.choices)

    try:
        number: int | None = session.ask(chat, read, letter_schema(len(question.choices), thinks) if json else None)
    except UnusableReply:
        number = None
    return Choice(number, said, **session.take_cost())
