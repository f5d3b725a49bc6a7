"""Multiple-choice questions to a model."""

from __future__ import annotations

from collab_overcooked.policies.api import Choice, Question
from collab_overcooked.policies.llm.answers import Answer, shorten
from collab_overcooked.policies.llm.choices import letter_schema, read_letter
from collab_overcooked.policies.llm.exchange import ChatMessage, UnusableReply
from collab_overcooked.policies.llm.session import ModelSession

MAX_KEPT = 2_000  # characters of an answer in the record


def answer_question(session: ModelSession, question: Question, thinks: bool) -> Choice:
    """Request one of the choices, with the session's repetitions after unreadable answers.

    Args:
        session: Session with the model.
        question: Question to ask.
        thinks: Whether the model writes its thoughts before its answer.
    """
    json, answer = session.settings.json, ""
    values = {"question": question, "thinks": thinks, "json": json}
    chat = [ChatMessage("system", session.prompts.fill("question_rules", **values))]
    chat.append(ChatMessage("user", session.prompts.fill("question", **values)))

    def read(text: str) -> Answer:
        nonlocal answer
        answer = shorten(text, MAX_KEPT)
        return read_letter(text, question.choices)

    try:
        number: int | None = session.ask(chat, read, letter_schema(len(question.choices), thinks) if json else None)
    except UnusableReply:
        number = None
    return Choice(number, answer, **session.take_cost())
