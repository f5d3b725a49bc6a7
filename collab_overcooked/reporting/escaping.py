"""Escaping of untrusted text for terminals, HTML, Markdown and spreadsheets; the only functions that do so."""

from __future__ import annotations

import html
import json
import re
from typing import Any

from markupsafe import Markup
from rich.text import Text

from collab_overcooked.io.text import harmless_values, one_line

# Text that a spreadsheet would evaluate as a formula; some normalise full-width signs first.
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")

MAX_LABEL = 60


def terminal_text(text: str, style: str = "") -> Text:
    """Return text that rich prints verbatim on one line in a style."""
    return Text(one_line(text), style)


def html_text(value: object) -> str:
    """Escape text for HTML elements and quoted attributes."""
    return html.escape(one_line(str(value)))


def chart_label(text: str) -> str:
    """Shorten text to fit into a chart."""
    text = one_line(text)
    return text if len(text) <= MAX_LABEL else f"{text[: MAX_LABEL - 3]}..."


def json_in_markup(value: Any) -> Markup:
    """Serialise a value as JSON that is safe inside a script element."""
    text = json.dumps(harmless_values(value), ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def markdown_text(text: str) -> str:
    """Escape text for a Markdown table cell: no line breaks, links, images or markup."""
    return re.sub(r"([\\`|\[\]])", r"\\\1", html.escape(one_line(text), quote=False))


def markdown_code(text: str) -> str:
    """Return text as inline Markdown code."""
    return f"`{html.escape(one_line(text), quote=False).replace('`', chr(39))}`"


def file_cell(text: str) -> str:
    """Return text for a cell of a CSV file; formulas are prefixed with an apostrophe."""
    text = one_line(text)
    return f"'{text}" if _FORMULA.match(text) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip()
