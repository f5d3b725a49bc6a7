"""Texts of pages in the language of the study."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from study.world import QUICK, served

from collab_overcooked.play.server import page_file
from collab_overcooked.study.journal import Journal
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


def test_german_texts_address_people_in_one_form() -> None:
    formal = re.compile(r"\b(?:Sie|Ihnen|Ihr|Ihre[mnrs]?)\b")
    assert not formal.findall(page_file("words.de.json"))


@pytest.mark.parametrize(
    ("language", "said"), [("de", "Regeln und Aktionen, sind auf Englisch."), ("en", ""), ("en-GB", "")]
)
def test_participants_are_told_once_that_the_game_is_in_english(language: str, said: str, tmp_path: Path) -> None:
    with served(read_study(QUICK | {"language": language}), tmp_path) as client:
        before = client.get("/study?PID=p").text
        first = client.post("/study/consent", data={"PID": "p", "agree": "yes"})
        form = client.post(first.url.path, data={"step": "0"}).text
        game = client.post(first.url.path, data={"step": "1", "age": "20"}).text
    assert 'class="button" href' in game, "it is the page before the first task"
    assert [text.count("Englisch") for text in (before, first.text, form, game)] == [int(bool(said)), 0, 0, 0]
    assert said in before and "in English" not in before


@pytest.mark.parametrize(
    ("code", "pay"), [("C9", "the completion code for people who leave"), ("", "no completion code")]
)
def test_who_leaves_is_told_what_ends_before(code: str, pay: str, tmp_path: Path) -> None:
    """One sentence on the task, the study and pay, on the page and in the game, and for whom they end."""
    finish = {"left": {"code": code}} if code else {}
    with served(read_study(QUICK | {"finish": finish}), tmp_path / "alone") as client:
        home = client.post("/study/consent", data={"PID": "p", "agree": "yes"}).url.path
        asked = client.get(f"{home}/leave").text
        assert f"If you leave now, this task and the study end for you for good, and you get {pay}" in asked
        (person,) = client.host.journal.people.values()
        assert not person.end, "it has only been asked"
        client.post(home, data={"step": "0"})
        client.post(home, data={"step": "1", "age": "20"})
        client.get(f"{home}/play")
        (session,) = client.games.sessions.values()
        assert session.people[0].leaving_text == client.host.journal.leaving_text(person)
    content = QUICK | {"finish": finish, "participants": QUICK["participants"] | {"group": 2}}
    content["conditions"] = {
        name: condition | {"team": ["all=person"]} for name, condition in QUICK["conditions"].items()
    }
    with Journal.open(tmp_path / "pair", read_study(content)) as journal:
        one, two = (journal.join({"PID": name}) for name in ("a", "b"))
        assert "for you for good" in journal.leaving_text(one), "nobody waits yet"
        journal.form_group([one.id, two.id])
        assert f"for you and for everyone you play with, and you get {pay}" in journal.leaving_text(one)
        while any(step.kind == "play" for step in journal.steps_of(one)[one.step :]):
            journal.passed(one)
        assert "for you for good" in journal.leaving_text(one), "the others need nobody any more"
