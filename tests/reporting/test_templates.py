"""Templates escape what is put into them, except markup that templates made."""

from __future__ import annotations

import jinja2
import pytest
from markupsafe import Markup

from collab_overcooked.reporting import templates


@pytest.fixture
def write(monkeypatch: pytest.MonkeyPatch):
    """Use templates of a mapping instead of the package's."""

    def use(**texts: str) -> None:
        environment = templates._environment().overlay(loader=jinja2.DictLoader(texts))
        monkeypatch.setattr(templates, "_environment", lambda: environment)

    return use


def test_values_are_escaped_once(write) -> None:
    write(inner="<b>{{ text }}</b>", outer="<p>{{ inner }}</p>")
    inner = templates.render("inner", text="<script>&")
    assert isinstance(inner, Markup) and inner == "<b>&lt;script&gt;&amp;</b>"
    assert templates.render("outer", inner=inner) == "<p><b>&lt;script&gt;&amp;</b></p>"


def test_values_cannot_hide_text_by_control_characters(write) -> None:
    write(page="{{ text }}")
    assert "\u202e" not in templates.render("page", text="a\u202eb\x1b[31m")
    assert "\x1b" not in templates.render("page", text="a\u202eb\x1b[31m")


def test_names_break_behind_underscores_and_colons(write) -> None:
    write(page="{{ name | breakable }}")
    assert templates.render("page", name="ppo:cramped_room<") == "ppo:<wbr>cramped_<wbr>room&lt;"


def test_a_variable_that_is_missing_is_an_error(write) -> None:
    write(page="{{ nothing }}")
    with pytest.raises(jinja2.UndefinedError, match="nothing"):
        templates.render("page")
