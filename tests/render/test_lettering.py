"""Text in pictures: wrapped, cut and replaced."""

from __future__ import annotations

from collab_overcooked.render import lettering
from collab_overcooked.render.model import initials


def test_initials_are_letters_where_these_tell_agents_apart():
    assert initials(["Bob", "Alice"]) == ["B", "A"]
    assert initials(["Ann", "Abe", "Bob"]) == ["0", "1", "B"]
    assert initials(["agent0", "agent1"]) == ["0", "1"]


def test_wrapped_text_fits_and_loses_no_word():
    text = "please put the eggplant slices into the pot - Donaudampfschifffahrtsgesellschaft"
    lines = lettering.wrap_text(text, 12, 120)
    assert all(lettering.text_width(line, 12) <= 120 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_text_the_font_cannot_write_is_replaced():
    assert lettering.plain_text("“cr\u00e8me” \u2013 br\u00fbl\u00e9e\n\u4e2d") == '"creme" - brulee ?'
