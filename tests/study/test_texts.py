"""Texts of pages in the language of the study."""

from __future__ import annotations

from study.world import QUICK

from collab_overcooked.study.reader import read_study
from collab_overcooked.study.texts import END_TEXTS, PAGE_TEXTS, blanks, default_texts


def test_a_german_study_has_german_pages_and_ends() -> None:
    german = read_study({**QUICK, "language": "de"})
    pages, ends = default_texts("de")
    assert pages.keys() == PAGE_TEXTS.keys() and ends.keys() == END_TEXTS.keys()
    for texts, english in ((pages, PAGE_TEXTS), (ends, END_TEXTS)):
        assert not [name for name in texts if set(blanks(texts[name])) != set(blanks(english[name]))]
        assert not [name for name in texts if texts[name] == english[name]]
    assert german.texts["agree"] == pages["agree"] and german.ends["done"].text in (
        ends["done"],
        QUICK.get("finish", {}).get("done", {}).get("text"),
    )
    assert {condition.settings.language for condition in german.conditions.values()} == {"de"}
    assert {condition.settings.language for condition in read_study(QUICK).conditions.values()} == {""}
    assert default_texts("fr") == (PAGE_TEXTS, END_TEXTS)
