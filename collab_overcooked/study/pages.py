"""HTML pages of a study: plain forms that work with keyboard and screen reader, without external resources."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType, SimpleNamespace
from typing import Any
from urllib.parse import quote

from collab_overcooked.io.text import harmless
from collab_overcooked.reporting.templates import render
from collab_overcooked.study.design import MINUTES, Block, End, Needs, Study
from collab_overcooked.study.forms import FormItem, Questionnaire
from collab_overcooked.study.texts import fill

FieldValues = Mapping[str, Sequence[str]]
"""Submitted values of a page's fields."""


def _page(template: str, study: Study, title: str = "", **values: Any) -> str:
    needs, texts = study.needs, study.texts
    things = [fill(texts["width"], width=needs.width)] if needs.width else []
    things += [text for text, needed in ((texts["keyboard"], needs.keyboard), (texts["mouse"], needs.mouse)) if needed]
    facts: dict[str, Any] = {"study": study, "title": title, "texts": SimpleNamespace(**texts), "things": things}
    facts |= {"fill": fill, "paragraphs": paragraphs}
    return render(f"study_{template}.html", **facts | {"step": None, "script": False, "leave": ""} | values)


def paragraphs(text: str) -> list[tuple[str, Any]]:
    """Return the parts of a text: an empty line ends a paragraph, ``- `` begins a list entry, ``# `` a heading.

    Returns:
        Names of HTML elements, ``"p"``, ``"h2"`` or ``"ul"``, and the text of each; a list of texts for ``"ul"``.
    """
    parts: list[tuple[str, Any]] = []
    for paragraph in harmless(text).strip().split("\n\n"):
        entries: list[str] = []
        plain: list[str] = []
        for line in (line.strip() for line in paragraph.split("\n") if line.strip()):
            if line.startswith("- "):
                entries.append(line[2:])
            elif line.startswith("# "):
                parts.append(("h2", line[2:]))
            elif entries:  # continues the previous entry
                entries[-1] += f" {line}"
            else:
                plain.append(line)
        parts += [("p", " ".join(plain))] if plain else []
        parts += [("ul", entries)] if entries else []
    return parts


def consent_page(study: Study, kept: Mapping[str, str], complaint: str = "") -> str:
    """Return the consent page.

    Args:
        study: The study.
        kept: Parameters of its address.
        complaint: Error message; empty for none.
    """
    script = study.has_games or study.needs != Needs()
    translated = study.language.partition("-")[0].lower() == "en"
    facts = {"kept": kept, "complaint": complaint, "script": script, "translated": translated}
    return _page("consent", study, study.title, **facts)


def consent_copy(study: Study) -> str:
    """Return the consent text as a self-contained page for participants to keep."""
    return _page("copy", study)


def text_page(study: Study, block: Block, target: str, step: int, steps: int, left: int | None = None) -> str:
    """Return the page of a block, whose button is enabled after ``left`` seconds."""
    assert block.page is not None
    title, text = block.page
    place = {"target": target, "leave": f"{target}/leave", "step": step, "steps": steps}
    return _page("text", study, title, text=text, media=block.media, left=left, script=True, **place)


def form_page(
    study: Study,
    form: Questionnaire,
    target: str,
    step: int,
    steps: int,
    values: FieldValues,
    complaints: Mapping[str, str],
    *,
    left: int | None = None,
    labels: Mapping[str, str] = MappingProxyType({}),
    notice: str = "",
) -> str:
    """Return a questionnaire with submitted values and error messages.

    Args:
        study: The study.
        form: The questionnaire.
        target: Address that takes the answers.
        step: Index of the step.
        steps: Number of steps.
        values: Submitted values by item.
        complaints: Error messages by item.
        left: Seconds after which it is submitted; None for no limit.
        labels: Labels of the conditions, by name, for options that name them.
        notice: Text above the questions, for example that they are asked again; empty for none.
    """

    def labels_of(item: FormItem) -> list[str]:
        return [labels.get(option, option) for option in item.options]

    def shown_if(item: FormItem) -> str:
        return json.dumps({name.partition(".")[2]: answers for name, answers in item.show_if})

    return _page(
        "form",
        study,
        form.title,
        form=form,
        target=target,
        step=step,
        steps=steps,
        values=values,
        complaints=complaints,
        asks={item.name: item.ask for item in form.items},
        left=left,
        labels_of=labels_of,
        shown_if=shown_if,
        notice=notice,
        script=True,
        leave=f"{target}/leave",
    )


def waiting_page(study: Study, token: str, others: int) -> str:
    """Return the waiting room; its script polls for news."""
    target = f"/study/{token}"
    title = study.texts["waiting"]
    return _page("waiting", study, title, target=target, others=others, script=True, leave=f"{target}/leave")


def game_page(study: Study, label: str, target: str, step: int, steps: int) -> str:
    """Return the page before a game."""
    place = {"target": target, "leave": f"{target}/leave", "step": step, "steps": steps}
    return _page("game", study, study.texts["game"], label=label, **place)


def sure_page(study: Study, what: str, question: str, target: str) -> str:
    """Return a page that asks whether to ``"leave"`` or to ``"delete"`` all answers."""
    return _page("sure", study, study.texts[what], what=what, question=question, target=target)


def end_page(study: Study, end: End, kept: Mapping[str, str], target: str = "", debrief: str = "") -> str:
    """Return the last page: thanks, the completion code, the way back, the debrief, and how to delete all answers.

    Args:
        study: The study.
        end: Content of the page.
        kept: Stored parameters of the participant; for ``too_many`` also ``minutes``, after which to try again.
        target: Address of the participant; empty if nothing is stored.
        debrief: Text on what participants were not told before; empty for none.
    """
    texts = {name: end_text(study, text, kept) for name, text in (("text", end.text), ("code", end.code))}
    url = end_text(study, end.url, {name: quote(value, safe="") for name, value in kept.items()})
    return _page("end", study, study.texts["end"], url=url, target=target, debrief=debrief, **texts)


def end_text(study: Study, text: str, kept: Mapping[str, str]) -> str:
    """Return a text of the last page with the values of a participant."""
    return fill(text, id=kept.get(study.panel_id, ""), **{name: kept.get(name, "") for name in (*study.keep, MINUTES)})


def message_page(study: Study, text: str) -> str:
    """Return a page with an error message."""
    return _page("message", study, study.texts["error"], text=text)
