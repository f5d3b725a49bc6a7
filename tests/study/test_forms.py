"""Questionnaires that repeat, branch and vary their order, sliders, and pages in random order."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from study.world import QUICK, served

from collab_overcooked.io.documents import DocumentError
from collab_overcooked.study.bots import Bot, PageForm
from collab_overcooked.study.design import Study
from collab_overcooked.study.forms import FormItem, holds
from collab_overcooked.study.journal import Journal
from collab_overcooked.study.pages import form_page
from collab_overcooked.study.reader import read_study
from collab_overcooked.study.results import StudyResults
from collab_overcooked.study.texts import PAGE_TEXTS

PAYS = {"name": "pays", "choice": ["10", "20"], "accept": ["20"], "ask": "How many points does a soup pay?"}
SURE = {"name": "sure", "slider": [0, 100], "low": "not", "high": "very", "ask": "How sure are you?"}
PLAYS = {"name": "plays", "choice": ["yes", "no"], "ask": "Do you play games?"}
HOURS = {"name": "hours", "number": [1, 99], "ask": "Hours a week?", "show_if": {"asked.plays": "yes"}}
YES = 'write "yes" in quotation marks (YAML reads yes as true)'
NO = 'write "no" in quotation marks (YAML reads no as false)'
AGREE = {"PID": "p", "agree": "yes"}


def study_of_form(*items: dict[str, Any], blocks: list[Any] | None = None, **form: Any) -> dict[str, Any]:
    """Return a study whose first step is the form ``asked``."""
    forms = {"liked": QUICK["forms"]["liked"], "asked": {"title": "Asked", "items": list(items), **form}}
    return {**QUICK, "blocks": [*(blocks or [{"form": "asked"}]), QUICK["blocks"][2]], "forms": forms}


def names_on(page: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r'(?:class="item" id|label for)="(\w+)"', page)))


# ------------------------------------------------------------------------------------------- tries


def test_wrong_answers_may_be_given_again_before_they_screen_out(tmp_path: Path) -> None:
    with served(read_study(study_of_form(PAYS, retry=2)), tmp_path) as client:
        home = client.post("/study/consent", data=AGREE).url.path
        (person,) = client.host.journal.people.values()
        for left in (2, 1):
            page = client.post(home, data={"step": "0", "pays": "10"})
            assert f"Tries left: {left}" in page.text and not PageForm(page.text).refused and not person.end
            assert Journal(tmp_path, client.host.study).people[person.id].retries == 3 - left, "also after a restart"
        client.post(home, data={"step": "0", "pays": "10"})
        assert person.end == "screened"
        (row,) = StudyResults(client.host.journal).pages()
        assert row["retries"] == 2


def test_a_right_answer_goes_on_and_the_next_form_has_all_tries(tmp_path: Path) -> None:
    content = study_of_form(PAYS, blocks=[{"form": "asked"}, {"form": "asked"}], retry=1)
    with served(read_study(content), tmp_path) as client:
        home = client.post("/study/consent", data=AGREE).url.path
        (person,) = client.host.journal.people.values()
        client.post(home, data={"step": "0", "pays": "10"})
        page = client.post(home, data={"step": "0", "pays": "20"})
        assert (person.step, person.retries, person.end) == (1, 0, "") and "Tries left" not in page.text
        answers = [row["value"] for row in StudyResults(client.host.journal).answers()]
        assert answers == ["20"], "tries are no answers"


# ------------------------------------------------------------------------------------------- sliders


@pytest.mark.parametrize(
    ("value", "answer"), [(["0"], 0), (["100"], 100), (["101"], "from 0 to 100"), ([], "answer this")]
)
def test_sliders_take_integers_of_their_span(value: list[str], answer: Any) -> None:
    item = FormItem("sure", "slider", "?", span=(0, 100))
    if isinstance(answer, str):
        with pytest.raises(ValueError, match=answer):
            item.read(value, PAGE_TEXTS)
    else:
        assert item.read(value, PAGE_TEXTS) == item.code(answer) == answer


def test_a_slider_shows_its_ends_and_bots_move_it() -> None:
    study = read_study(study_of_form(SURE))
    page = form_page(study, study.forms["asked"], "/", 0, 1, {}, {})
    assert 'type="range"' in page and 'min="0" max="100"' in page and 'data-moved="0"' in page
    assert ">not</span>" in page and ">very</span>" in page
    assert 0 <= int(dict(Bot("", "", 0).fill(PageForm(page)))["sure"]) <= 100
    kept = form_page(study, study.forms["asked"], "/", 0, 1, {"sure": ["30"]}, {})
    assert 'value="30" data-moved="1"' in kept
    assert study.forms["asked"].items[0].meaning() == "integer from 0 to 100; 0: not; 100: very"


# ------------------------------------------------------------------------------------------- branching


def test_a_question_is_asked_if_another_was_answered_so(tmp_path: Path) -> None:
    for folder, sent, expected in (
        ("no", {"plays": "no"}, {"plays": "no"}),
        ("ignored", {"plays": "no", "hours": "5"}, {"plays": "no"}),
        ("yes", {"plays": "yes", "hours": "5"}, {"plays": "yes", "hours": 5}),
    ):
        with served(read_study(study_of_form(PLAYS, HOURS)), tmp_path / folder) as client:
            page = client.post("/study/consent", data=AGREE)
            assert 'data-show-if="{&#34;plays&#34;: [&#34;yes&#34;]}"' in page.text
            missing = client.post(page.url.path, data={"step": "0", "plays": "yes"})
            assert "answer this question" in missing.text
            client.post(page.url.path, data={"step": "0", **sent})
            rows = StudyResults(client.host.journal).answers()
            assert {row["item"]: row["value"] for row in rows} == expected


def test_pages_and_questions_depend_on_earlier_forms(tmp_path: Path) -> None:
    blocks = [
        {"form": "asked"},
        {"page": {"title": "For players", "text": "Players read this."}, "show_if": {"asked.plays": ["yes"]}},
        {"page": {"title": "For all", "text": "All read this."}},
    ]
    for answer, first in (("yes", "Players read this."), ("no", "All read this.")):
        with served(read_study(study_of_form(PLAYS, blocks=blocks)), tmp_path / answer) as client:
            home = client.post("/study/consent", data=AGREE).url.path
            assert first in client.post(home, data={"step": "0", "plays": answer}).text
            (person,) = client.host.journal.people.values()
            assert Journal(tmp_path / answer, client.host.study).people[person.id].step == person.step
            assert len(StudyResults(client.host.journal).pages()) == 1, "a page that was skipped has no row"
    content = study_of_form(PLAYS)
    content["forms"]["liked"] = {
        "title": "L",
        "items": [{**HOURS, "name": "fun"}, {"name": "x", "text": "free", "ask": "?"}],
    }
    liked = read_study(content).forms["liked"]
    assert [item.name for item in liked.arranged((), {"asked.plays": "no"}).items] == ["x"]
    assert [item.name for item in liked.arranged((), {"asked.plays": "yes"}).items] == ["fun", "x"]


# ------------------------------------------------------------------------------------------- random orders


MANY = [{"name": f"q{n}", "likert": 5, "ask": f"Question {n}?"} for n in range(6)]
SHUFFLE = {"shuffle": [{"page": {"title": f"Page {n}", "text": f"Text {n}."}} for n in range(5)]}


def test_questions_and_pages_come_in_an_order_that_a_restart_keeps(tmp_path: Path) -> None:
    content = study_of_form(*MANY, blocks=[{"form": "asked"}, SHUFFLE], order="random")
    seen = set()
    with served(read_study(content), tmp_path) as client:
        for n in range(5):
            client.cookies.clear()
            page = client.post("/study/consent", data={**AGREE, "PID": f"p{n}"})
            person = list(client.host.journal.people.values())[-1]
            order = names_on(page.text)
            assert sorted(order) == [f"q{k}" for k in range(6)]
            assert names_on(client.get(page.url.path).text) == order
            page = client.post(page.url.path, data={"step": "0"} | dict.fromkeys(order, "3"))
            titles = []
            for step in range(1, 6):
                titles += re.findall(r"<h1>(Page \d)</h1>", page.text)
                page = client.post(page.url.path, data={"step": str(step)})
            assert sorted(titles) == [f"Page {k}" for k in range(5)]
            again = Journal(tmp_path, client.host.study)
            assert again.people[person.id].orders == person.orders and again.steps_of(
                person
            ) == client.host.journal.steps_of(person)
            assert [f"q{k}" for k in person.orders["forms.asked"]] == order
            names = [row["name"] for row in StudyResults(client.host.journal).pages() if row["id"] == person.id]
            assert names == ["asked", *titles]
            seen.add((tuple(order), tuple(titles)))
    assert len(seen) == 5
    (line, *_) = map(json.loads, (tmp_path / "journal.jsonl").read_text().splitlines())
    assert line["event"] == "joined" and line["orders"].keys() == {"forms.asked", "blocks.1"}


def test_the_order_of_the_file_is_kept_without_random_orders(tmp_path: Path) -> None:
    study: Study = read_study(study_of_form(*MANY))
    assert study.draw_orders(3) == {}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (study_of_form(PAYS, retry=-1), "forms.asked.retry must be an integer from 0 to 20, not -1"),
        (study_of_form(PLAYS, retry=1), "forms.asked.retry needs a question with `accept`"),
        (study_of_form(PAYS, retries=1), "unknown key 'retries'; did you mean retry? of forms.asked"),
        (study_of_form(PAYS, order="rnd"), "forms.asked.order must be one of fixed, random"),
        (study_of_form({**SURE, "slider": [5]}), "slider must be a list of two integers"),
        (study_of_form({**SURE, "lo": "x"}), "unknown key 'lo'; did you mean low?"),
        (study_of_form(PLAYS, {**HOURS, "show_iff": {}}), "did you mean show_if?"),
        (study_of_form(PLAYS, {**HOURS, "show_if": {"asked.play": "yes"}}), "did you mean asked.plays?"),
        (study_of_form(PLAYS, {**HOURS, "show_if": {"asked.plays": "maybe"}}), "must be among yes, no, not 'maybe'"),
        (study_of_form(SURE, {**HOURS, "show_if": {"asked.sure": 101}}), "must be from 0 to 100, not 101"),
        (study_of_form(HOURS, PLAYS), "must name an earlier question, not 'asked.plays'"),
        (study_of_form(PLAYS, HOURS, order="random"), "order must be fixed where a question depends on another one"),
        (study_of_form(PLAYS, blocks=[{"form": "asked"}, {"shufle": []}]), "did you mean shuffle?"),
        (
            study_of_form(PLAYS, blocks=[{"form": "asked"}, {"shuffle": [QUICK["blocks"][2]]}]),
            "must have one of page, form, as",
        ),
        (study_of_form(PLAYS, blocks=[{"form": "asked", "show_if": {"liked.why": "a"}}]), "whose answers are text"),
        (study_of_form({**PLAYS, "choice": ["yes", False]}), f"items.0.choice.1 must be a text, not False; {NO}"),
        (
            study_of_form({**PLAYS, "choice": {True: "Yes"}}),
            f"items.0.choice must have texts as options, not True; {YES}",
        ),
        (study_of_form({**PLAYS, "choice": {1: "One"}}), "items.0.choice must have texts as options, not 1"),
        (study_of_form({**PLAYS, "accept": [True]}), f"items.0.accept.0 must be a text, not True; {YES}"),
        (study_of_form({**PLAYS, "expect": True}), f"items.0.expect must be among yes, no, not True; {YES}"),
        (study_of_form(PLAYS, {**HOURS, "show_if": {"asked.plays": True}}), f"must be among yes, no, not True; {YES}"),
        (study_of_form(PLAYS, {**HOURS, "show_if": {"asked.plays": ["yes", False]}}), f"not ['yes', False]; {NO}"),
        (
            study_of_form({"name": "a", "ask": "?", "type": "likert", "points": 7}),
            "items.0 must have one of likert, choice, many, number, slider, text; it has none; unknown: type, points. "
            "Write `likert: 7` instead of `type: likert`",
        ),
        (study_of_form({"name": "a", "ask": "?", "low": "none"}), "number, slider, text; it has none"),
        (study_of_form({**SURE, "likert": 7}), "number, slider, text, not likert and slider"),
    ],
)
def test_forms_that_cannot_work_are_refused(content: dict[str, Any], complaint: str) -> None:
    with pytest.raises(DocumentError) as error:
        read_study(content)
    assert complaint in str(error.value)


ASKED, PAGE = {"form": "asked"}, {"page": {"title": "Keys", "text": "Use them."}}
ON_PLAYS, ON_FUN = {"asked.plays": "yes"}, {"liked.fun": [4, 5]}


@pytest.mark.parametrize(
    ("liked", "blocks", "complaint"),
    [
        (ON_PLAYS, [ASKED, "games"], ""),
        (
            ON_PLAYS,
            ["games", ASKED],
            "forms.liked.items.0.show_if must name a question that is asked earlier, not 'asked.",
        ),
        (ON_PLAYS, ["games", ASKED, {"form": "liked"}], ""),
        ({}, ["games", {**ASKED, "show_if": ON_FUN}], ""),
        ({}, [{**ASKED, "show_if": ON_FUN}, "games"], "blocks.0.show_if must name a question that is asked earlier"),
        (
            {},
            [PAGE, {**PAGE, "show_if": ON_PLAYS}, ASKED, "games"],
            "not 'asked.plays'; questionnaires up to there: none",
        ),
        ({}, [ASKED, {**PAGE, "show_if": ON_FUN}, "games"], "not 'liked.fun'; questionnaires up to there: asked"),
        ({}, [{"shuffle": [{**PAGE, "show_if": ON_PLAYS}, ASKED]}, "games"], ""),
        (
            {},
            [{"shuffle": [PAGE, {**PAGE, "show_if": ON_PLAYS}]}, {"shuffle": [ASKED]}, "games"],
            "blocks.0.shuffle.1.show_if must name a question that is asked earlier",
        ),
        ({}, [{**ASKED, "show_if": ON_PLAYS}, "games"], "not 'asked.plays'; questionnaires up to there: none"),
    ],
)
def test_what_is_shown_depends_on_questions_that_are_asked_before(
    liked: dict[str, Any], blocks: list[Any], complaint: str
) -> None:
    content = study_of_form(PLAYS)
    fun, *others = content["forms"]["liked"]["items"]
    asks_again = fun | {"show_if": liked}
    content["forms"]["liked"] = content["forms"]["liked"] | {"items": [asks_again, *others]}
    content["blocks"] = [QUICK["blocks"][2] if block == "games" else block for block in blocks]
    if not complaint:
        assert read_study(content).forms["liked"].items[0].show_if == tuple(
            (name, (answer,)) for name, answer in liked.items()
        )
        return
    with pytest.raises(DocumentError) as error:
        read_study(content)
    assert complaint in str(error.value)


def test_bots_take_part_in_all_of_it(tmp_path: Path) -> None:
    pytest.importorskip("uvicorn", reason="needs the extra play")
    from collab_overcooked.study.rehearsal import rehearse

    right = {**PAYS, "accept": ["10", "20"]}
    content = study_of_form(PLAYS, HOURS, SURE, right, blocks=[{"form": "asked"}, SHUFFLE], retry=1)
    result = rehearse(read_study(content), 2, tmp_path / "out")
    assert not result.errors and result.ends == {"done": 2}


# ------------------------------------------------------------------------------------------- images and videos


def study_with_files(folder: Path, *items: dict[str, Any], **page: Any) -> Path:
    """Write a study whose first page has an image or a video; returns its file."""
    folder.mkdir(exist_ok=True)
    (folder / "pot.png").write_bytes(b"PNG")
    (folder / "film one.mp4").write_bytes(bytes(range(100)))
    (folder.parent / "secret.png").write_bytes(b"secret")
    content = study_of_form(
        *(items or (PLAYS,)), blocks=[{"page": {"title": "T", "text": "t"} | page}, {"form": "asked"}]
    )
    file = folder / "mine.yaml"
    file.write_text(json.dumps(content))
    return file


def test_images_and_videos_of_the_study_are_shown_and_sent(tmp_path: Path) -> None:
    asked = {**PLAYS, "video": "film one.mp4"}
    file = study_with_files(tmp_path / "mine", asked, image="pot.png", alt="A <pot>")
    with served(read_study(file), tmp_path / "out") as client:
        page = client.post("/study/consent", data=AGREE)
        assert '<img src="/study/files/pot.png" alt="A &lt;pot&gt;">' in page.text
        picture = client.get("/study/files/pot.png")
        assert picture.content == b"PNG" and picture.headers["content-type"] == "image/png"
        assert picture.headers["x-content-type-options"] == "nosniff"
        page = client.post(page.url.path, data={"step": "0"})
        assert '<video src="/study/files/film%20one.mp4"' in page.text
        assert "media-src 'self'" in page.headers["content-security-policy"]
        part = client.get("/study/files/film%20one.mp4", headers={"Range": "bytes=10-19"})
        assert part.status_code == 206 and part.content == bytes(range(10, 20))
        for name in ("mine.yaml", "../secret.png", "..%2Fsecret.png", "%2e%2e/secret.png", "none.png", "/etc/passwd"):
            assert client.get(f"/study/files/{name}").status_code == 404, name
        (tmp_path / "mine" / "pot.png").unlink()
        assert client.get("/study/files/pot.png").status_code == 404


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        (
            {"image": "none.png"},
            "page.image must be a file that exists in the folder of the study file, not 'none.png'",
        ),
        ({"image": "../secret.png"}, "must be a file in the folder of the study file"),
        ({"image": "link.png"}, "must be a file in the folder of the study file"),
        ({"image": "film one.mp4"}, "must be a file with one of the suffixes .png, .jpg, .jpeg, .gif, .webp"),
        ({"image": "pot.svg"}, "must be a file with one of the suffixes"),
        ({"image": "pot.png", "video": "film one.mp4"}, "must have one of image, video, not both"),
        ({"alt": "A pot"}, "page.alt needs an image or a video"),
        ({"imag": "pot.png"}, "unknown key 'imag'; did you mean image?"),
    ],
)
def test_files_outside_the_folder_are_refused(page: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    file = study_with_files(tmp_path / "mine", **page)
    (tmp_path / "mine" / "link.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(DocumentError) as error:
        read_study(file)
    assert complaint in str(error.value) and str(error.value).count("mine.yaml") == 1


# ------------------------------------------------------------------------------------------- answers


@pytest.mark.parametrize(
    ("item", "value", "answer"),
    [
        (FormItem("a", "likert", "?", points=5), ["5"], 5),
        (FormItem("a", "likert", "?", points=5), ["6"], "from 1 to 5"),
        (FormItem("a", "likert", "?", points=5), ["٣"], "from 1 to 5"),
        (FormItem("a", "likert", "?", points=5), [], "answer this"),
        (FormItem("a", "likert", "?", points=5, optional=True), [" "], None),
        (FormItem("a", "number", "?", span=(-3, 9)), ["-3"], -3),
        (FormItem("a", "number", "?", span=(0, 9)), ["1e1"], "from 0 to 9"),
        (FormItem("a", "choice", "?", options=("x", "y")), ["y"], "y"),
        (FormItem("a", "choice", "?", options=("x", "y")), ["z"], "choose one of"),
        (FormItem("a", "choice", "?", options=("x", "y")), ["x", "y"], "choose"),
        (FormItem("a", "likert", "?", points=5), ["1", "2"], "from 1 to 5"),
        (FormItem("a", "many", "?", options=("x", "y")), ["y", "x"], ["y", "x"]),
        (FormItem("a", "many", "?", options=("x", "y")), ["y", "y"], "choose one of"),
        (FormItem("a", "many", "?", options=("x", "y"), optional=True), [], []),
        (FormItem("a", "text", "?"), ["  so\x1b[31m so "], "so[31m so"),
        (FormItem("a", "text", "?"), ["x" * 4001], "at most 4000"),
    ],
)
def test_answers_are_read_strictly(item: FormItem, value: list[str], answer: Any) -> None:
    try:
        result: Any = item.read(value, PAGE_TEXTS)
    except ValueError as error:
        result = str(error)
        assert isinstance(answer, str) and answer in result
        return
    assert result == answer


def test_answers_can_rule_somebody_out() -> None:
    item = FormItem("a", "choice", "?", options=("yes", "no"), accept=("yes",))
    assert item.screens("no") and not item.screens("yes") and not FormItem("a", "text", "?").screens("no")


@pytest.mark.parametrize(("kind", "nothing"), [("choice", None), ("many", [])])
def test_a_question_that_is_left_open_is_no_answer(kind: Any, nothing: Any) -> None:
    """Not even where an option is called None: it excludes nobody, passes no check, and shows no other question."""
    options = ("None", "One")
    item = FormItem("a", kind, "?", options=options, optional=True, accept=("One",))
    assert not item.screens(nothing) and item.screens("None")
    assert FormItem("a", kind, "?", options=options, optional=True, expect=("None",)).fails(nothing)
    assert not holds((("f.a", ("None",)),), {"f.a": nothing}) and holds((("f.a", ("None",)),), {"f.a": "None"})


def test_an_optional_question_screens_by_its_answer_only(tmp_path: Path) -> None:
    content = QUICK | {"blocks": QUICK["blocks"][1:]}
    question = {"name": "sees", "choice": ["yes", "no"], "accept": ["yes"], "optional": True, "ask": "Colours?"}
    content["forms"] = QUICK["forms"] | {"before": {"title": "You", "items": [question]}}
    with served(read_study(content), tmp_path) as client:
        for name, answers, end in (("a", {}, ""), ("b", {"sees": "no"}, "screened")):
            client.cookies.clear()
            home = client.post("/study/consent", data={"PID": name, "agree": "yes"}).url.path
            client.post(home, data={"step": "0"} | answers)
            assert list(client.host.journal.people.values())[-1].end == end


@pytest.mark.parametrize(
    ("item", "answer", "code"),
    [
        (FormItem("a", "likert", "?", points=5), 4, 4),
        (FormItem("a", "number", "?", span=(-3, 9)), -3, -3),
        (FormItem("a", "choice", "?", options=("no", "yes")), "yes", 2),
        (FormItem("a", "choice", "?", options=("no", "yes"), optional=True), None, None),
        (FormItem("a", "many", "?", options=("no", "yes")), ["yes"], None),
        (FormItem("a", "text", "?"), "yes", None),
    ],
)
def test_answers_have_codes(item: FormItem, answer: Any, code: int | None) -> None:
    assert item.code(answer) == code
