"""HTML pages of a study: plain forms that work with keyboard and screen reader, without external resources.

Texts from study files and participants are escaped.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from collab_overcooked.io.text import harmless
from collab_overcooked.study.design import Block, End, Needs, Study
from collab_overcooked.study.forms import FormItem, Questionnaire
from collab_overcooked.study.media import Media
from collab_overcooked.study.texts import fill

FieldValues = Mapping[str, Sequence[str]]
"""Submitted values of a page's fields."""


def _text(value: object) -> str:
    return html.escape(harmless(str(value)))


def page(
    study: Study,
    title: str,
    body: str,
    *,
    step: tuple[int, int] | None = None,
    script: bool = False,
    leave: str = "",
) -> str:
    """Return a complete page.

    Args:
        study: Study that sets language and title.
        title: Heading.
        body: Markup below it.
        step: Number of this step, from 1, and of all steps.
        script: Whether the page needs its script.
        leave: Address for leaving the study; empty for no link.
    """
    place = fill(study.texts["step"], step=step[0], steps=step[1]) if step else ""
    return "\n".join(
        [
            "<!DOCTYPE html>",
            f'<html lang="{_text(study.language)}">',
            '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{_text(title)} · {_text(study.title)}</title>",
            '<link rel="icon" href="data:,"><link rel="stylesheet" href="/study/page/study.css">',
            '<script src="/study/page/study.js" defer></script>' if script else "",
            "</head><body>",
            f'<header><p>{_text(study.title)}</p><p class="soft">{_text(place)}</p></header>',
            f"<main><h1>{_text(title)}</h1>",
            body,
            "</main>",
            f'<footer><a href="{_text(leave)}">{_text(study.texts["leave"])}</a></footer>' if leave else "",
            "</body></html>",
        ]
    )


def prose(text: str) -> str:
    """Return a text as markup: an empty line ends a paragraph, ``- `` begins a list entry, ``# `` a heading."""
    blocks, entries = [], []
    for paragraph in harmless(text).strip().split("\n\n"):
        lines = [line.strip() for line in paragraph.split("\n") if line.strip()]
        plain = []
        for line in lines:
            if line.startswith("- "):
                entries.append(f"<li>{html.escape(line[2:])}</li>")
            elif line.startswith("# "):
                blocks.append(f"<h2>{html.escape(line[2:])}</h2>")
            elif entries:  # continues the previous entry
                entries[-1] = entries[-1].removesuffix("</li>") + f" {html.escape(line)}</li>"
            else:
                plain.append(html.escape(line))
        blocks += [f"<p>{' '.join(plain)}</p>"] if plain else []
        blocks += [f"<ul>{''.join(entries)}</ul>"] if entries else []
        entries = []
    return "".join(blocks)


def _post(target: str, fields: Mapping[str, object], inner: str) -> str:
    hidden = "".join(f'<input type="hidden" name="{_text(k)}" value="{_text(v)}">' for k, v in fields.items())
    return f'<form method="post" action="{_text(target)}" novalidate>{hidden}{inner}</form>'


WINDOW_FIELDS = '<input type="hidden" name="window"><input type="hidden" name="focus_losses">'
"""Fields that the page's script fills in: width of the window in pixels, and how often it lost the focus."""


def consent_page(study: Study, kept: Mapping[str, str], complaint: str = "") -> str:
    """Return the consent page.

    Args:
        study: The study.
        kept: Parameters of its address.
        complaint: Error message; empty for none.
    """
    script = study.has_games or study.needs != Needs()
    off = " disabled" if script else ""  # the page's script enables it
    notice = f'<noscript><p class="errors">{_text(study.texts["script"])}</p></noscript>' if off else ""
    buttons = (
        f'<p class="buttons"><button name="agree" value="yes"{off}>{_text(study.texts["agree"])}</button>'
        f'<button class="second" name="agree" value="no">{_text(study.texts["decline"])}</button></p>'
    )
    error = f'<p class="errors" role="alert">{_text(complaint)}</p>' if complaint else ""
    boxes = "".join(_option("checkbox", f"box{i}", "yes", text, ()) for i, text in enumerate(study.boxes))
    fields = f'<div class="choices">{boxes}</div>' if boxes else ""
    copy = f'<p><a href="/study/copy" download="consent.html">{_text(study.texts["copy"])}</a></p>'
    body = (
        notice + error + prose(study.consent) + _needs(study) + _post("/study/consent", kept, fields + buttons) + copy
    )
    return page(study, study.title, body, script=script)


def _needs(study: Study) -> str:
    needs, texts = study.needs, study.texts
    things = [fill(texts["width"], width=needs.width)] if needs.width else []
    things += [texts[name] for name, needed in (("keyboard", needs.keyboard), ("mouse", needs.mouse)) if needed]
    if not things:
        return ""
    return (
        f'<p id="needs" data-width="{needs.width}" data-mouse="{int(needs.mouse)}">'
        f"{_text(fill(texts['needs'], things=', '.join(things)))}</p>"
        f'<p id="unfit" class="errors" role="status" hidden>{_text(texts["unfit"])}</p>'
    )


def consent_copy(study: Study) -> str:
    """Return the consent text as a page to keep, which needs no other file."""
    boxes = "".join(f"<li>{_text(box)}</li>" for box in study.boxes)
    body = f"<h1>{_text(study.title)}</h1>{prose(study.consent)}{_needs(study)}<ul>{boxes}</ul>"
    head = f'<meta charset="utf-8"><title>{_text(study.title)}</title>'
    return f'<!DOCTYPE html>\n<html lang="{_text(study.language)}"><head>{head}</head><body>{body}</body></html>\n'


def text_page(study: Study, block: Block, target: str, step: int, steps: int, left: int | None = None) -> str:
    """Return the page of a block, whose button is enabled after ``left`` seconds."""
    assert block.page is not None
    title, text = block.page
    button = f'<p class="buttons"><button>{_text(study.texts["continue"])}</button></p>'
    timer = _timer(study, "read_first", left, "least") if left else ""
    body = prose(text) + _media(block.media) + _post(target, {"step": step}, WINDOW_FIELDS + timer + button)
    return page(study, title, body, step=(step + 1, steps), script=True, leave=f"{target}/leave")


def _media(media: Media | None) -> str:
    if media is None:
        return ""
    source, alt = f"/study/files/{_text(quote(media.file))}", _text(media.alt)
    if media.kind == "image":
        return f'<p><img src="{source}" alt="{alt}"></p>'
    return f'<p><video src="{source}" aria-label="{alt}" controls preload="auto"></video></p>'


def _timer(study: Study, name: str, left: int, kind: str) -> str:
    text = study.texts[name]
    return (
        f'<p class="soft" role="timer" data-timer="{kind}" data-left="{left}" data-text="{_text(text)}">'
        f"{_text(fill(text, seconds=left))}</p>"
    )


def form_page(
    study: Study,
    form: Questionnaire,
    target: str,
    step: int,
    steps: int,
    values: FieldValues,
    complaints: Mapping[str, str],
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
    errors = f'<p class="errors" role="alert">{_text(notice)}</p>' if notice else ""
    if complaints:
        names = {item.name: item.ask for item in form.items}
        links = "".join(f'<li><a href="#{name}">{_text(names[name])}</a></li>' for name in complaints)
        errors = f'<div class="errors" role="alert"><p>{_text(study.texts["errors"])}</p><ul>{links}</ul></div>'
    items = "".join(
        _item(study, item, values.get(item.name, ()), complaints.get(item.name, ""), labels) for item in form.items
    )
    button = f'<p class="buttons"><button>{_text(study.texts["send"])}</button></p>'
    timer = "" if left is None else _timer(study, "time_left", left, "most")
    body = errors + prose(form.text) + _post(target, {"step": step}, WINDOW_FIELDS + timer + items + button)
    return page(study, form.title, body, step=(step + 1, steps), script=True, leave=f"{target}/leave")


def waiting_page(study: Study, token: str, others: int) -> str:
    """Return the waiting room; its script polls for news."""
    texts = study.texts
    text = _text(fill(texts["waiting_text"], others=others))
    address = _text(f"/study/{token}")
    body = (
        f'<p>{text}</p><p id="news" role="status" data-news="{address}/news" data-offline="{_text(texts["offline"])}">'
        f'</p><p><a class="button" href="{address}">{_text(texts["check"])}</a></p>'
    )
    return page(study, texts["waiting"], body, script=True, leave=f"{address}/leave")


def game_page(study: Study, label: str, target: str, step: int, steps: int) -> str:
    """Return the page before a game."""
    texts = study.texts
    text = _text(fill(texts["game_text"], label=label))
    body = (
        f'<p>{text}</p><p class="buttons"><a class="button" href="{_text(target)}/play">{_text(texts["open_game"])}</a>'
        "</p>"
    )
    return page(study, texts["game"], body, step=(step + 1, steps), leave=f"{target}/leave")


def sure_page(study: Study, what: str, target: str) -> str:
    """Return a page that asks whether to ``"leave"`` or to ``"delete"`` all answers."""
    texts = study.texts
    buttons = (
        f'<p class="buttons"><button>{_text(texts[what])}</button>'
        f'<a class="button second" href="{_text(target)}">{_text(texts["stay"])}</a></p>'
    )
    return page(study, texts[what], f"<p>{_text(texts[f'{what}_sure'])}</p>" + _post(f"{target}/{what}", {}, buttons))


def end_page(study: Study, end: End, kept: Mapping[str, str], target: str = "") -> str:
    """Return the last page: thanks, the completion code, the way back, and how to delete all answers.

    Args:
        study: The study.
        end: Content of the page.
        kept: Stored parameters of the participant.
        target: Address of the participant; empty if nothing is stored.
    """
    texts, body = study.texts, prose(end_text(study, end.text, kept))
    if end.code:
        body += f'<p>{_text(texts["code"])} <code class="code">{_text(end_text(study, end.code, kept))}</code></p>'
    if end.url:
        url = end_text(study, end.url, {name: quote(value, safe="") for name, value in kept.items()})
        body += f'<p class="buttons"><a class="button" href="{_text(url)}">{_text(texts["back"])}</a></p>'
    if target:
        body += prose(study.debrief) + f'<p><a href="{_text(target)}/delete">{_text(texts["delete"])}</a></p>'
    return page(study, texts["end"], body)


def end_text(study: Study, text: str, kept: Mapping[str, str]) -> str:
    """Return a text of the last page with the values of a participant."""
    return fill(text, id=kept.get(study.panel_id, ""), **{name: kept.get(name, "") for name in study.keep})


def message_page(study: Study, text: str) -> str:
    """Return a page with an error message."""
    return page(study, study.texts["error"], f"<p>{_text(text)}</p>")


def _item(study: Study, item: FormItem, values: Sequence[str], complaint: str, labels: Mapping[str, str]) -> str:
    optional = f' <span class="soft">{_text(study.texts["optional"])}</span>' if item.optional else ""
    error = f'<p class="error" id="{item.name}-error">{_text(complaint)}</p>' if complaint else ""
    state = f' aria-invalid="true" aria-describedby="{item.name}-error"' if complaint else ""
    depends = ""
    if item.show_if:
        answers = {name.partition(".")[2]: values for name, values in item.show_if}
        depends = f' data-show-if="{_text(json.dumps(answers))}"'
    if item.kind in ("number", "slider", "text"):
        value = _text(values[0]) if values else ""
        attributes = f'id="{item.name}" name="{item.name}"{state}'
        if item.kind == "text":
            field = f'<textarea {attributes} rows="4" maxlength="4000">{value}</textarea>'
        else:
            span = f'data-low="{item.span[0]}" data-high="{item.span[1]}"'
            field = f'<input {attributes} inputmode="numeric" {span} size="8" maxlength="10" value="{value}">'
            if item.kind == "slider":
                limits = f'min="{item.span[0]}" max="{item.span[1]}" {span}'
                field = f'<input type="range" {attributes} {limits} value="{value}" data-moved="{int(bool(value))}">'
                low, high = (f'<span class="end">{_text(end)}</span>' for end in item.ends)
                field = f'<div class="scale">{low}{field}{high}<output for="{item.name}">{value}</output></div>'
        label = f'<label for="{item.name}">{_text(item.ask)}{optional}</label>'
        return f'<div class="item"{depends}>{label}{_media(item.media)}{error}{field}</div>'
    legend = f"<legend>{_text(item.ask)}{optional}</legend>"
    role = "" if item.kind in ("many", "rank") else ' role="radiogroup"'
    inner = f"{legend}{_media(item.media)}{error}{_options(study, item, values, labels)}"
    return f'<fieldset class="item" id="{item.name}" tabindex="-1"{role}{state}{depends}>{inner}</fieldset>'


def _options(study: Study, item: FormItem, values: Sequence[str], labels: Mapping[str, str]) -> str:
    labelled = item.labels or tuple(labels.get(option, option) for option in item.options)
    if item.kind == "rank":
        return _places(study, item, values, labelled)
    kind = "checkbox" if item.kind == "many" else "radio"
    if item.kind != "likert":
        pairs = zip(item.options, labelled, strict=True)
        options = "".join(_option(kind, item.name, option, label, values) for option, label in pairs)
        return f'<div class="choices">{options}</div>'
    points = "".join(_option(kind, item.name, str(n), str(n), values) for n in range(1, item.points + 1))
    low, high = (f'<span class="end">{_text(end)}</span>' for end in item.ends)
    return f'<div class="scale">{low}<div class="points">{points}</div>{high}</div>'


def _places(study: Study, item: FormItem, values: Sequence[str], labels: Sequence[str]) -> str:
    places, rows = [str(place) for place in range(1, len(item.options) + 1)], ""
    for i, option in enumerate(labels):
        chosen = values[i] if i < len(values) else ""
        inner = "".join(f"<option{' selected' if place == chosen else ''}>{place}</option>" for place in ["", *places])
        label = f"{_text(study.texts['place'])}: {_text(option)}"
        field = f'<select name="{item.name}" aria-label="{label}">{inner}</select>'
        rows += f"<label>{field}<span>{_text(option)}</span></label>"
    return f'<div class="choices">{rows}</div>'


def _option(kind: str, name: str, value: str, label: str, values: Iterable[Any]) -> str:
    checked = " checked" if value in values else ""
    return (
        f'<label><input type="{kind}" name="{name}" value="{_text(value)}"{checked}><span>{_text(label)}</span></label>'
    )
