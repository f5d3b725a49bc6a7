"""Markup of pages, from templates that escape whatever is put into them, except markup that templates made."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup, escape

from collab_overcooked.io.text import harmless, one_line

FOLDERS = ("reporting/page", "study/page")


def render(template: str, **values: Any) -> Markup:
    """Fill a template.

    Args:
        template: Name of a file below one of ``FOLDERS``.
        **values: Its variables.
    """
    return Markup(_environment().get_template(template).render(values))


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader("collab_overcooked", folder) for folder in FOLDERS]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["breakable"] = _breakable
    return environment


def _harmless(value: Any) -> Any:
    return value if isinstance(value, Markup) else harmless(str(value))


def _breakable(name: str) -> Markup:
    return Markup(re.sub(r"([_:])", r"\1<wbr>", str(escape(one_line(name)))))
