"""The only functions that make texts of others safe to stand in terminals, pages, Markdown and spreadsheets."""

from __future__ import annotations

import html
import json
import re
from typing import Any

from rich.text import Text

from collab_overcooked.io.text import harmless_values, one_line

# A cell that a spreadsheet would compute, if need be after it has made a wide sign a usual one.
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")

MAX_LABEL = 60


def terminal_text(text: str, style: str = "") -> Text:
    """Return a text that rich prints as it is, in its line and in a style."""
    return Text(one_line(text), style)


def html_text(value: object) -> str:
    """Return a text that is safe in a page, in elements and in quoted attributes."""
    return html.escape(one_line(str(value)))


def chart_label(text: str) -> str:
    """Return a text that is short enough to stand in a chart."""
    text = one_line(text)
    return text if len(text) <= MAX_LABEL else f"{text[: MAX_LABEL - 3]}..."


def json_in_markup(value: Any) -> str:
    """Return JSON without characters that could end the element of a page that it stands in."""
    text = json.dumps(harmless_values(value), ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def markdown_text(text: str) -> str:
    """Return a text that stays in its line and its cell, and becomes neither link, image nor markup of a page."""
    return re.sub(r"([\\`|\[\]])", r"\\\1", html.escape(one_line(text), quote=False))


def markdown_code(text: str) -> str:
    """Return a text as code in a line."""
    return f"`{html.escape(one_line(text), quote=False).replace('`', chr(39))}`"


def file_cell(text: str) -> str:
    """Return a text for a cell of a file; one that a spreadsheet would compute is led by an apostrophe."""
    text = one_line(text)
    return f"'{text}" if _FORMULA.match(text) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip()
