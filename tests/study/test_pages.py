"""Pages of a study: texts, complaints, ends and labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from study.world import CHECKED, QUICK, changed

from collab_overcooked.io.documents import DocumentError
from collab_overcooked.study.design import End, Study
from collab_overcooked.study.forms import FormItem, Questionnaire
from collab_overcooked.study.pages import consent_page, end_page, form_page, paragraphs
from collab_overcooked.study.reader import read_study
from collab_overcooked.study.texts import PAGE_TEXTS


def test_pages_show_texts_as_texts_and_complaints_beside_their_fields(study: Study) -> None:
    form = study.forms["before"]
    page = form_page(study, form, "/study/x", 1, 4, {"age": ["<i>7"]}, {"age": "Too <young>."})
    assert "&lt;b&gt;study" in page and "<b>study" not in page and 'value="&lt;i&gt;7"' in page
    assert 'aria-invalid="true" aria-describedby="age-error"' in page and 'href="#age"' in page
    assert "Too &lt;young&gt;." in page and 'role="alert"' in page and '<html lang="en">' in page
    parts = [("p", "One two."), ("ul", ["a", "b <x>"]), ("h2", "Head")]
    assert paragraphs("One\ntwo.\n\n- a\n- b <x>\n\n# Head") == parts
    page = consent_page(replace(study, consent="One\ntwo.\n\n- a\n- b <x>\n\n# Head"), {})
    assert "<p>One two.</p>" in page and "<ul><li>a</li><li>b &lt;x&gt;</li></ul>" in page and "<h2>Head</h2>" in page
    assert "built-in" not in page, "texts of pages have names of methods, such as copy"


def test_ends_name_the_id_in_every_text() -> None:
    texts = {"text": "Thank you, {id} of {STUDY}.", "code": "C-{id}", "url": "https://a.org/?id={id}"}
    page = end_page(read_study(changed("finish", "done", to=texts)), End(**texts), {"PID": "a<b", "STUDY": "s"})
    assert "Thank you, a&lt;b of s." in page and ">C-a&lt;b</code>" in page and "?id=a%3Cb" in page
    for key in texts:
        with pytest.raises(DocumentError, match=f"unknown value in finish.done.{key} 'token'"):
            read_study(changed("finish", "done", to=texts | {key: "https://a.org/{token}"}))


def test_javascript_is_asked_for_before_consent_where_games_need_it(study: Study) -> None:
    page = consent_page(study, {})
    assert "<noscript>" in page and '<button name="agree" value="yes" disabled>' in page
    assert '<script src="/study/page/study.js"' in page
    page = consent_page(replace(study, blocks=study.blocks[:2]), {})
    assert "<noscript>" not in page and "disabled" not in page and "<script" not in page


def test_the_way_back_carries_kept_values_and_nothing_else(study: Study) -> None:
    page = end_page(study, study.ends["done"], {"PID": "a&b/c", "STUDY": "s 1"})
    assert 'href="https://example.org/back?cc=XYZ&amp;id=a%26b%2Fc&amp;s=s%201"' in page and ">XYZ</code>" in page


@pytest.mark.parametrize("name", ["SESSION-ID", "text", "self", "study"])
def test_kept_values_of_any_name_stand_on_the_last_page(name: str) -> None:
    content = changed("participants", to={"id": "PID", "keep": [name]})
    content["finish"] = {"done": {"text": f"Thank you, {{id}} of {{{name}}}."}}
    study = read_study(content)
    assert "Thank you, a of b." in end_page(study, study.ends["done"], {"PID": "a", name: "b"})


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        (("Blue team", "Red team"), {"helped": "Blue team", "hindered": "Red team"}),
        (("One", "One"), {"helped": "Your partner in game {}", "hindered": "Your partner in game {}"}),
    ],
)
def test_questions_about_conditions_show_their_labels_and_keep_their_names(labels: Any, shown: dict[str, str]) -> None:
    conditions = {
        name: value | {"label": label} for (name, value), label in zip(QUICK["conditions"].items(), labels, strict=True)
    }
    study = read_study({**QUICK, "conditions": conditions})
    item = FormItem("best", "choice", "Which?", options=tuple(conditions))
    for group in (0, 1):
        steps = study.steps(group)
        played = [step.condition for step in steps if step.kind == "play"]
        page = form_page(study, Questionnaire("f", "F", "", (item,)), "/x", 0, 1, {}, {}, labels=study.labels_of(steps))
        for name, label in shown.items():
            assert f"<span>{label.format(played.index(name) + 1)}</span>" in page and f">{name}<" not in page
    assert item.read(["hindered"], PAGE_TEXTS) == "hindered"


def test_answers_have_labels_and_a_choice_expects_one_of_them() -> None:
    item = {"name": "again", "ask": "Again?", "choice": {"y": "Yes, I would", "n": "No"}, "expect": "y"}
    checked = {**CHECKED["forms"], "check": {"title": "Check", "items": [item]}}
    study = read_study({**QUICK, **CHECKED, "forms": checked})
    page = form_page(study, study.forms["check"], "/x", 0, 1, {}, {})
    assert 'value="y"' in page and "<span>Yes, I would</span>" in page
    assert study.forms["check"].items[0].meaning() == "y: Yes, I would (code 1); n: No (code 2)"
    with pytest.raises(ValueError, match="expect must be one answer"):
        read_study(
            {**QUICK, **CHECKED, "forms": checked | {"check": {"title": "C", "items": [item | {"expect": ["y", "n"]}]}}}
        )
