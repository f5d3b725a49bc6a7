"""Studies: files, orders, questionnaires, the journal, pages by requests, a rehearsal through sockets, and export."""

from __future__ import annotations

import copy
import csv
import itertools
import json
import random
import re
import resource
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from study.world import QUICK, served
from support.cli_runner import CliRunner

from collab_overcooked import registry
from collab_overcooked.cli import app
from collab_overcooked.io.documents import LayoutError, builtin_names
from collab_overcooked.io.options import NoOptions
from collab_overcooked.policies.llm.settings import parse_settings
from collab_overcooked.runner.records import read_records
from collab_overcooked.study.bots import Bot, PageForm
from collab_overcooked.study.design import FOLDER, Bonus, End, Study
from collab_overcooked.study.documents import check_studies, differences
from collab_overcooked.study.forms import FormItem, Questionnaire
from collab_overcooked.study.journal import JOURNAL, PEOPLE, Journal
from collab_overcooked.study.order import ORDERS, balanced_square, latin_square, rows_of
from collab_overcooked.study.pages import consent_page, end_page, form_page, paragraphs
from collab_overcooked.study.reader import default_per_network, read_study
from collab_overcooked.study.results import ExportOptions, StudyResults, export
from collab_overcooked.study.texts import END_TEXTS, PAGE_TEXTS, blanks, default_texts

DOCS = Path(__file__).parents[2] / "docs"
WITHIN, GUIDE = DOCS / "examples" / "studies" / "within.yaml", DOCS / "how_to" / "study.md"


def changed(*path: Any, to: Any) -> dict[str, Any]:
    """Return the quick study with another value somewhere."""
    values: dict[str, Any] = copy.deepcopy(QUICK)
    place: Any = values
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return values


@pytest.fixture(scope="module")
def study() -> Study:
    return read_study(QUICK)


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


# ------------------------------------------------------------------------------------------- orders


@pytest.mark.parametrize("n", range(1, 8))
def test_in_a_latin_square_every_condition_has_every_place_once(n: int) -> None:
    assert all(sorted(column) == list(range(n)) for column in zip(*latin_square(n), strict=True))


@pytest.mark.parametrize("n", range(2, 8))
def test_in_a_balanced_square_every_condition_follows_every_other_equally_often(n: int) -> None:
    rows = balanced_square(n)
    assert len(rows) == rows_of("balanced", n) == (n if n % 2 == 0 else 2 * n)
    follow = Counter(pair for row in rows for pair in itertools.pairwise(row))
    assert set(follow.values()) == {len(rows) * (n - 1) // (n * (n - 1))} and len(follow) == n * (n - 1)
    assert all(len(set(Counter(column).values())) == 1 for column in zip(*rows, strict=True))


def test_drawn_orders_depend_on_group_and_seed_alone() -> None:
    drawn = [ORDERS["random"](6, group, 3) for group in range(20)]
    assert drawn == [ORDERS["random"](6, group, 3) for group in range(20)]
    assert len(set(map(tuple, drawn))) > 15 and all(sorted(entry) == list(range(6)) for entry in drawn)


# ------------------------------------------------------------------------------------------- files


def by_pace(**block: Any) -> Study:
    conditions = {
        name: {"suite": "cuisineworld", "team": ["agent_0=person", "all=greedy"], "episodes": 3, "options": options}
        for name, options in {
            "slow": {"levels": "level_1,level_3,level_5", "agents": [2], "alphas": [1.0]},
            "fast": {"levels": "level_5,level_1,level_3", "agents": [2], "alphas": [3.0]},
        }.items()
    }
    content = {key: value for key, value in QUICK.items() if key not in ("conditions", "blocks", "forms")}
    return read_study({**content, "conditions": conditions, "blocks": [{"play": ["slow", "fast"], **block}]})


def test_conditions_of_a_block_draw_the_same_tasks_and_seeds() -> None:
    def drawn(study: Study, group: int) -> list[list[tuple[str, int]]]:
        return [
            [(match.env_kwargs["level"], match.seed) for match in c.draw(0, group)] for c in study.conditions.values()
        ]

    matched = [drawn(by_pace(), group) for group in range(8)]
    assert all(slow == fast and len(set(slow)) == 3 for slow, fast in matched)
    assert len({tuple(slow) for slow, _ in matched}) == 8, "groups draw separately"
    for block in ({"match": "none"}, {"order": "between"}):
        assert not any(slow == fast for slow, fast in (drawn(by_pace(**block), group) for group in range(8)))
    with pytest.raises(ValueError, match=r"match must be none where the order is between"):
        by_pace(match="tasks", order="between")
    content = copy.deepcopy(QUICK)
    content["conditions"]["helped"]["options"]["scenario"] = ["easy", "hard"]
    assert read_study(content).blocks[2].match == "none"
    content["blocks"][2]["match"] = "tasks"
    with pytest.raises(ValueError, match=r"match must be none: the conditions have \[2, 1\] different episodes"):
        read_study(content)


def test_what_conditions_differ_in_is_shown() -> None:
    conditions = by_pace().conditions.values()
    assert differences(list(conditions)) == {"alpha": ["1.0", "3.0"]}
    quick = copy.deepcopy(QUICK)
    quick["conditions"]["helped"]["play"] = {"clock": "turns"}
    quick["conditions"]["hindered"]["team"] = ["agent_0=person"] + [f"agent_{k}=random" for k in (1, 2)]
    quick["conditions"]["hindered"]["options"]["agents"] = [3]
    values = differences(list(read_study(quick).conditions.values()))
    assert values["agent_2"] == ["no seat", "random"] and values["play.clock"] == ["turns", "game"], values
    lines = check_studies([str(WITHIN)], NoOptions()).text
    assert "helped | random: the same tasks and seeds; agent_1: greedy | random" in lines


@pytest.mark.parametrize("name", builtin_names(FOLDER))
def test_shipped_studies_can_be_run(name: str) -> None:
    result = read_study(name)
    groups = result.limit // result.group
    for group in range(groups):
        assert len(result.steps(group)) == len(result.steps(0))
        for condition in result.conditions.values():
            assert len({match.seed for match in condition.draw(result.seed, group)}) == condition.episodes


@pytest.mark.parametrize("name", builtin_names(FOLDER))
def test_bots_can_answer_every_question_of_shipped_studies(name: str) -> None:
    study, bot = read_study(name), Bot("", "", 0)
    for form in study.forms.values():
        page = PageForm(form_page(study, form, "/", 0, 1, {}, {}))
        for _ in range(20):
            values: dict[str, list[str]] = {}
            for field, value in bot.fill(page):
                values.setdefault(field, []).append(value)
            assert not form.read(values, study.texts)[1], (form.name, values)
        refused = form.read({}, study.texts)[1]
        assert PageForm(form_page(study, form, "/", 0, 1, {}, refused)).refused is bool(refused)


def test_the_shipped_protocols_are_the_papers() -> None:
    """Five conditions of one person each; five pairs with two of the tasks of each of six levels."""
    alone = read_study("mindagent_partners")
    assert [len(condition.matches[0].team) for condition in alone.conditions.values()] == [
        1,
        2,
        3,
        4,
        2,
    ] and alone.limit == 12
    assert parse_settings(alone.partners["commander"].removeprefix("llm:")).temperature == 0.1  # appendix C
    items = {item.name: item.ask for item in alone.forms["teamwork"].items}
    assert items["dependence"].startswith("What I did next depended on what my partners")
    assert "How many partners" in items["agents"]  # the manipulation check
    pairs = read_study("collab_overcooked_pairs")
    assert (pairs.limit, pairs.group, len(pairs.conditions)) == (10, 2, 6)
    drawn = [match for entry in pairs.conditions.values() for match in entry.draw(0, 3)]
    rules = registry.presets()["collab-paper"].options
    assert all(rules.items() <= {"action_level": "medium", **match.env_kwargs}.items() for match in drawn)
    free = [entry.draw(0, 1)[0].env_kwargs.get("talk") for entry in read_study("cots_partner").conditions.values()]
    assert free == ["free", None], "searching costs no step, as in the original"
    assert len(drawn) == len({match.task for match in drawn}) == 12 and [match.level for match in drawn[::2]] == list(
        range(1, 7)
    )


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (("title",), 3, "title must be a text, not 3"),
        (("colour",), "red", "unknown key 'colour'"),
        (("participants", "group"), 2, "has 1 seats of people (person), but participants.group is 2"),
        (("participants", "id"), "my id", "must be the name of an address parameter"),
        (("partners", "mate"), "gredy", "did you mean greedy"),
        (("partners", "mate"), "person", "cannot be a partner"),
        (("play", "show"), "film", "unknown show 'film'"),
        (("play", "colour"), 1, "unknown key 'colour'; known: "),
        (("conditions", "helped", "suite"), "rusch", "did you mean rush"),
        (("conditions", "helped", "options", "scenario"), ["easi"], "easi"),
        (("conditions", "helped", "options", "scenario"), "easy", "options.scenario must be a list of texts"),
        (("conditions", "helped", "options", "episodes"), "1", "options.episodes must be an integer, not '1'"),
        (("conditions", "helped", "team"), ["agent_0=person"], "no policy for agent_1"),
        (("conditions", "unused"), QUICK["conditions"]["helped"], "conditions.unused is in no block"),
        (("blocks", 2, "play"), ["helped", "hinderd"], "blocks.2.play.1 must be one of helped, hindered"),
        (("blocks", 2, "order"), "even", "blocks.2.order must be one of balanced, latin, random, fixed, between"),
        (("blocks", 2, "after"), "hated", "blocks.2.after must be one of"),
        (("blocks", 0), {"page": {"title": "a", "text": "b"}, "form": "before"}, "must have one of page, form, play"),
        (("forms", "liked", "items", 0, "likert"), 1, "must be an integer from 2 to 11"),
        (("forms", "liked", "items", 0, "choice"), ["a"], "must have one of likert, choice"),
        (("forms", "liked", "items", 0, "expect"), 6, "forms.liked.items.0.expect must be among 1, 2, 3, 4, 5, not 6"),
        (("forms", "before", "items", 0, "expect"), 9, "expect must be an integer from 18 to 99"),
        (("forms", "liked", "within"), 2, "forms.liked.within must be an integer from 5"),
        (("blocks", 0, "page", "seconds"), -1, "seconds must be an integer from 0"),
        (("participants", "per_network"), 0, "per_network must be an integer of at least 1"),
        (("participants", "idle"), 5, "participants.idle must be"),
        (("forms", "liked", "items", 1, "name"), "fun", "is the name of two questions"),
        (("forms", "liked", "items", 1, "name"), "no name", "must be a name of at most 40 letters"),
        (("forms", "before", "items", 0, "number"), [9, 1], "the smallest and the largest number"),
        (("finish", "done", "url"), "javascript:alert(1)", "must be an address that starts with https://"),
        (("finish", "done", "url"), "https://a.org/{token}", "unknown value in finish.done.url 'token'"),
        (("finish", "dune"), {}, "did you mean done"),
        (("bonus",), {"most": 2}, "bonus must have per_point, per_round, or both"),
        (("bonus",), {"per_rounds": 1, "most": 2}, "unknown key 'per_rounds'; did you mean per_round"),
        (("bonus",), {"per_round": -1, "most": 2}, "bonus.per_round must be a number of at least 0, not -1"),
        (("play", "fullscreen"), "yes", "fullscreen must be true or false, not 'yes'"),
        (("play", "fullscren"), True, "did you mean fullscreen"),
        (("words",), {"send": "Senden {0}"}, "must contain no braces other than: none"),
    ],
)
def test_what_cannot_work_is_refused(path: tuple[Any, ...], value: Any, complaint: str) -> None:
    with pytest.raises(LayoutError) as error:
        read_study(changed(*path, to=value))
    assert complaint in str(error.value)


@pytest.mark.parametrize(
    ("path", "value", "line", "complaint"),
    [
        (
            ("conditions", "helped", "options", "scenario"),
            "easy",
            "scenario: easy",
            "must be a list of texts, not 'easy'",
        ),
        (("conditions", "helped", "options", "episodes"), "1", "episodes: '1'", "must be an integer, not '1'"),
        (("conditions", "helped", "options", "scenario"), ["easi"], "scenario:", "did you mean easy?"),
        (("conditions", "helped", "options", "epsodes"), 1, "epsodes: 1", "did you mean episodes?"),
        (("conditions", "helped", "set"), {"max_cycles": "x"}, "max_cycles: x", "not 'x'"),
        (
            ("conditions", "helped", "limits"),
            {"max_messages": -1},
            "max_messages: -1",
            "an integer from 1 to 1000, not -1",
        ),
        (("conditions", "helped", "limits"), {"max_message": 1}, "max_message: 1", "did you mean max_messages?"),
        (("conditions", "helped", "team"), ["agent_0=person"], "team:", "no policy for agent_1"),
        (("conditions", "helped", "suite"), "rusch", "suite: rusch", "did you mean rush?"),
        (("conditions", "helped", "play"), {"tick": "fast"}, "tick: fast", "a number of seconds from 0.03 to 10"),
        (("play", "show"), "film", "show: film", "unknown show 'film'"),
    ],
)
def test_errors_name_the_line_and_the_file_once(
    path: tuple[Any, ...], value: Any, line: str, complaint: str, tmp_path: Path
) -> None:
    text = yaml.safe_dump(changed(*path, to=value), sort_keys=False)
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(LayoutError) as error:
        read_study(tmp_path / "mine.yaml")
    message = str(error.value)
    number = next(i for i, entry in enumerate(text.splitlines(), 1) if entry.strip().startswith(line))
    assert message.startswith(f"mine.yaml, line {number}: ") and complaint in message
    assert message.count("mine.yaml") == 1 and not re.search(r"NoneType|tuple|\bint\b|\bstr\b", message)


def test_partners_can_be_replaced() -> None:
    result = read_study(QUICK, {"mate": "random"})
    assert result.conditions["helped"].matches[0].team == ("person", "random")
    with pytest.raises(ValueError, match="unknown partner of the study 'mat'; did you mean mate"):
        read_study(QUICK, {"mat": "random"})


def test_files_and_shipped_names_are_checked(tmp_path: Path) -> None:
    (tmp_path / "quick.yaml").write_text(json.dumps(QUICK))  # JSON is YAML
    done = CliRunner().invoke(app, ["check", str(tmp_path / "quick.yaml")])
    assert done.exit_code == 0 and "2 balanced rows" in done.output, done.output
    done = CliRunner().invoke(app, ["check", "studies"])
    assert done.exit_code == 0 and "10 balanced rows" in done.output, done.output


# ------------------------------------------------------------------------------------------- questionnaires


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
        with pytest.raises(LayoutError, match=f"unknown value in finish.done.{key} 'token'"):
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


CHECKED = {
    "blocks": [{"form": "check"}, QUICK["blocks"][2]],
    "forms": {
        "liked": QUICK["forms"]["liked"],
        "check": {
            "title": "Check",
            "within": 60,
            "items": [
                {"name": "two", "choice": ["one", "two"], "expect": "two", "ask": "Choose two."},
                {"name": "both", "many": ["one", "two", "three"], "expect": ["one", "two"], "ask": "Tick one and two."},
                {"name": "four", "likert": 5, "expect": 4, "ask": "Choose 4."},
                {"name": "age", "number": [1, 99], "ask": "Age?"},
            ],
        },
    },
}
ATTENTIVE = {"two": "two", "both": ["two", "one"], "four": "4", "age": "20"}


@pytest.mark.parametrize(
    ("answers", "failed", "end"),
    [
        ({}, 0, ""),
        ({"two": "one"}, 1, ""),
        ({"two": "one", "both": ["one"]}, 2, "inattentive"),
        ({"two": "one", "both": ["one", "two", "three"], "four": "5"}, 3, "inattentive"),
    ],
)
def test_attention_checks_are_counted_and_end_the_study(
    answers: dict[str, Any], failed: int, end: str, tmp_path: Path
) -> None:
    participants = QUICK["participants"] | {"failed_checks": 2}
    content = QUICK | CHECKED | {"participants": participants, "finish": {"inattentive": {"code": "CHECKS"}}}
    with served(read_study(content), tmp_path) as client:
        home = client.post("/study/consent", data={"PID": "p", "agree": "yes"}).url.path
        page = client.post(home, data={"step": "0"} | ATTENTIVE | answers)
        (person,) = client.host.journal.people.values()
        assert (person.failed_checks, person.end) == (failed, end) and ("CHECKS" in page.text) is bool(end)
        again = Journal(tmp_path, client.host.study)
        assert again.people[person.id].failed_checks == failed


def test_a_questionnaire_whose_time_is_over_is_taken_as_it_is(tmp_path: Path) -> None:
    with served(read_study(QUICK | CHECKED), tmp_path) as client:
        journal, clock = client.host.journal, [100.0]
        journal.clock = lambda: clock[0]
        page = client.post("/study/consent", data={"PID": "p", "agree": "yes"})
        home = page.url.path
        assert 'data-timer="most" data-left="60"' in page.text and "Time left: 60 s" in page.text
        clock[0] = 140.0
        page = client.post(home, data={"step": "0", "two": "two", "age": "200"})
        assert 'data-left="20"' in page.text and "from 1 to 99" in page.text, "the clock does not begin anew"
        clock[0] = 161.0
        client.post(home, data={"step": "0", "two": "two", "age": "200"})
        (answered,) = [event for event in journal.events if event["event"] == "answered"]
        assert answered["answers"] == {"two": "two", "both": None, "four": None, "age": None}


def test_a_page_is_read_for_its_time(tmp_path: Path) -> None:
    content = changed("blocks", 0, "page", "seconds", to=30)
    with served(read_study(content), tmp_path) as client:
        journal, clock = client.host.journal, [100.0]
        journal.clock = lambda: clock[0]
        page = client.post("/study/consent", data={"PID": "p", "agree": "yes"})
        home = page.url.path
        assert 'data-timer="least" data-left="30"' in page.text
        clock[0] = 129.0
        assert 'data-left="1"' in client.post(home, data={"step": "0"}).text
        clock[0] = 130.0
        assert "Age?" in client.post(home, data={"step": "0"}).text


# ------------------------------------------------------------------------------------------- the journal


def test_a_study_goes_on_where_it_was(study: Study, tmp_path: Path) -> None:
    notes: list[str] = []
    with Journal.open(tmp_path, study, notes.append) as journal:
        one, other = (journal.join({"PID": name}) for name in ("a", "b"))
        journal.passed(one)
        journal.answered(one, {"age": 30, "games": ["chess"]})
        journal.form_group([one.id])
        journal.decline()
        journal.end(other, "left")
        journal.end(other, "done")  # the first end stays
    with (tmp_path / JOURNAL).open("a") as file:
        file.write('{"event": "passed", "id"')  # as a process leaves it that is killed
    with Journal.open(tmp_path, study, notes.append) as journal:
        again, gone = journal.by_token(one.token), journal.by_token(other.token)
        assert again is not None and (again.id, again.step, again.group) == (one.id, 2, 0)
        assert gone is not None and gone.end == "left" and journal.by_token("x") is None
        assert (journal.joined, journal.declined) == (2, 1)
        step = journal.step_of(again)
        assert step is not None and (step.kind, step.condition) == ("play", "helped")
    assert len(notes) == 1 and "dropped" in notes[0]


def test_two_writers_and_other_studies_are_refused(study: Study, tmp_path: Path) -> None:
    with Journal.open(tmp_path, study):
        with pytest.raises(BlockingIOError, match="another process runs a study in this folder"):
            Journal.open(tmp_path, study)
    with pytest.raises(ValueError, match="title was 'Quick <b>study</b>', now 'Other'"):
        Journal.open(tmp_path, read_study(changed("title", to="Other")))


def test_who_somebody_is_stands_in_one_file_that_only_the_owner_reads(study: Study, tmp_path: Path) -> None:
    with Journal.open(tmp_path, study) as journal:
        person = journal.join({"PID": "panel-77", "STUDY": "s"})
        journal.answered(person, {"age": 30})
        assert (tmp_path / PEOPLE).stat().st_mode & 0o077 == 0
        assert (
            "panel-77" not in (tmp_path / JOURNAL).read_text() and person.token not in (tmp_path / JOURNAL).read_text()
        )
        journal.forget(person.id)
        with pytest.raises(ValueError, match="unknown participant"):
            journal.forget(person.id)
        twice = [journal.join({"PID": "panel-78", "STUDY": "s"}) for _ in range(2)]
        assert journal.forget("panel-78") == [entry.id for entry in twice]
    everything = "".join(path.read_text() for path in (tmp_path / PEOPLE, tmp_path / JOURNAL))
    assert "panel-7" not in everything and "30" not in [
        str(v) for v in json.loads(everything.splitlines()[1])["answers"]
    ]
    with Journal.open(tmp_path, study) as journal:
        assert not journal.people and journal.joined == 3


# ------------------------------------------------------------------------------------------- pages and sockets


@pytest.fixture
def client(study: Study, tmp_path: Path) -> Any:
    """A browser at the pages of the quick study."""
    with served(study, tmp_path) as result:
        yield result


def test_nothing_is_stored_before_consent_and_nothing_after_a_refusal(client: Any, tmp_path: Path) -> None:
    page = client.get("/study?PID=p1&STUDY=s1&OTHER=o1")
    assert page.status_code == 200 and 'name="PID" value="p1"' in page.text and "o1" not in page.text
    assert not (tmp_path / JOURNAL).exists() and not (tmp_path / PEOPLE).exists()
    page = client.post("/study/consent", data={"PID": "p1", "STUDY": "s1", "agree": "no"})
    assert "nothing was stored" in page.text
    (line,) = (tmp_path / JOURNAL).read_text().splitlines()
    assert json.loads(line).keys() == {"time", "event"} and not (tmp_path / PEOPLE).exists()


def test_a_participant_goes_from_page_to_page_once(client: Any, tmp_path: Path) -> None:
    page = client.post("/study/consent", data={"PID": "p1", "agree": "yes"})
    assert "Read this." in page.text and "Step 1 of 6" in page.text
    home = page.url.path
    assert client.get("/study?PID=p1").url.path == home, "who comes again with the cookie is back at their place"
    page = client.post(home, data={"step": "0"})
    assert "Age?" in page.text
    assert "Age?" in client.post(home, data={"step": "0"}).text, "sent twice"
    wrong = client.post(home, data={"step": "1", "age": "12"})
    assert wrong.url.path == home and "from 18 to 99" in wrong.text and 'value="12"' in wrong.text
    assert wrong.history[0].status_code == 303, "Back leads to a page, not to a form that was sent"
    assert "from 18 to 99" in client.get(home).text
    page = client.post(home, data={"step": "1", "age": "20", "games": ["chess"]})
    assert f'href="{home}/play"' in page.text and "you play: A" in page.text
    kinds = [json.loads(line)["event"] for line in (tmp_path / JOURNAL).read_text().splitlines()]
    assert [kind for kind in kinds if kind != "opened"] == ["joined", "passed", "answered", "grouped"]


def test_everybody_can_leave_is_debriefed_and_can_delete_what_is_stored(tmp_path: Path) -> None:
    values = {**QUICK, "debrief": "Your partner was a program.", "finish": {"left": {"code": "L-1"}}}
    with served(read_study(values), tmp_path) as client:
        page = client.post("/study/consent", data={"PID": "p1", "agree": "yes"})
        home = page.url.path
        assert f'href="{home}/leave"' in page.text and "program" not in page.text
        assert "Age?" in client.post(home, data={"step": "0"}).text
        client.post(home, data={"step": "1", "age": "42"})
        game = client.get(home).text
        assert f'href="{home}/leave"' in game and client.get(f"{home}/delete").url.path == home, "not before the end"
        assert "cannot come back" in client.get(f"{home}/leave").text and "/play" in client.get(home).text
        last = client.post(f"{home}/leave").text
        assert "Your partner was a program." in last and "L-1" in last and f"{home}/delete" in last
        stored = [tmp_path / name for name in (JOURNAL, PEOPLE)]
        assert "42" in stored[0].read_text() and "p1" in stored[1].read_text()
        client.get(f"{home}/delete")
        assert "p1" in stored[1].read_text(), "a link alone deletes nothing"
        assert "L-1" in client.post(f"{home}/delete").text
        assert '"age"' not in stored[0].read_text() and not stored[1].read_text()
        assert client.get(home).status_code == 404


def test_boxes_are_ticked_and_needs_are_said_before_consent(tmp_path: Path) -> None:
    values = {**QUICK, "boxes": ["I am <18> or older", "I agree"], "needs": {"width": 800, "mouse": True}}
    with served(read_study(values), tmp_path) as client:
        page = client.get("/study?PID=p1").text
        assert "800 pixels, a mouse" in page and "keyboard" not in page and "&lt;18&gt;" in page
        assert "I agree" in client.get("/study/copy").text and "<script" not in client.get("/study/copy").text
        page = client.post("/study/consent", data={"PID": "p1", "agree": "yes", "box0": "yes"})
        assert "tick all" in page.text and not (tmp_path / JOURNAL).exists()
        page = client.post("/study/consent", data={"PID": "p1", "agree": "yes", "box0": "yes", "box1": "yes"})
        assert "Read this." in page.text
    assert read_study(values).consent_version != read_study(QUICK).consent_version


def test_ids_of_panels_are_cut(client: Any, tmp_path: Path) -> None:
    client.post("/study/consent", data={"PID": "p\n\u202e" + "x" * 5000, "STUDY": "s", "agree": "yes"})
    (line,) = (tmp_path / PEOPLE).read_text().splitlines()
    assert json.loads(line)["kept"] == {"PID": "p " + "x" * 98, "STUDY": "s"}


def test_strangers_and_foreign_pages_are_refused(client: Any, tmp_path: Path) -> None:
    assert client.get("/study/nobody").status_code == client.get("/study/nobody/news").status_code == 404
    assert client.get("/study").status_code == 403, "without the panel's id"
    for unfilled in ("{{%PID%}}", "${e://Field/PID}", "%SURVEY_CODE%", " "):
        assert client.get("/study", params={"PID": unfilled}).status_code == 403, "the panel has not filled it in"
    origin = {"origin": "https://elsewhere.example"}
    assert client.post("/study/consent", data={"PID": "x", "agree": "yes"}, headers=origin).status_code == 403
    assert client.get("/study?PID=x", headers={"host": "evil.example"}).status_code == 403
    assert client.post("/study/consent", content=b"agree=" + b"x" * 70_000).status_code == 413
    assert client.get("/study/page/..%2Fserver.py").status_code == 404
    headers = client.get("/study?PID=x").headers
    assert "default-src 'none'" in headers["content-security-policy"] and headers["referrer-policy"] == "same-origin"
    assert not (tmp_path / PEOPLE).exists()


def test_a_stranger_cannot_fill_the_disk(client: Any, tmp_path: Path) -> None:
    from collab_overcooked.study import server

    client.host.now = lambda: 0.0
    for _ in range(server.MAX_ANSWERS):
        assert client.post("/study/consent", data={"agree": "no"}).status_code == 200
    for agree in ("no", "yes"):
        page = client.post("/study/consent", data={"PID": "p1", "agree": agree})
        assert page.status_code == 429 and "wait a minute" in page.text
    assert len((tmp_path / JOURNAL).read_text().splitlines()) == server.MAX_ANSWERS
    assert not (tmp_path / PEOPLE).exists()


@pytest.mark.parametrize(("limit", "group", "most"), [(4, 1, 2), (8, 1, 2), (12, 2, 4), (100, 1, 25), (500, 2, 60)])
def test_one_network_takes_a_share_of_the_places(limit: int, group: int, most: int) -> None:
    assert default_per_network(limit, group) == most


def test_a_stranger_cannot_fill_the_study(tmp_path: Path) -> None:
    """Two of eight people may come from one network at once, and two more in an hour."""
    content = changed("participants", to={"id": "PID", "keep": ["STUDY"], "limit": 8})
    with served(read_study(content), tmp_path) as client:
        now = [0.0]
        client.host.now = lambda: now[0]
        joined = [client.post("/study/consent", data={"PID": f"p{n}", "agree": "yes"}).status_code for n in range(5)]
        assert joined == [200, 200, 429, 429, 429]
        now[0] = 1801.0
        joined = [client.post("/study/consent", data={"PID": f"p{n}", "agree": "yes"}).status_code for n in range(5, 8)]
        assert joined == [200, 429, 429] and len(client.host.journal.people) == 3


def test_ids_of_panels_are_no_passwords(client: Any, study: Study) -> None:
    """Whoever knows an id gets nothing of the participant who came with it; the cookie of the first visit is needed."""
    home = client.post("/study/consent", data={"PID": "p1", "agree": "yes"}).url.path
    cookie = client.cookies
    assert client.get("/study?PID=p1").url.path == client.get("/study").url.path == home
    (name,) = cookie
    header = client.post("/study/consent", data={"PID": "p1", "agree": "yes"}, follow_redirects=False).headers
    assert {"HttpOnly", "Path=/study", "SameSite=lax"} <= set(header["set-cookie"].split("; "))
    token = client.cookies[name]
    client.cookies.clear()
    displayed = client.get("/study?PID=p1")
    assert displayed.url.path == "/study" and token not in displayed.text
    fresh = client.post("/study/consent", data={"PID": "p1", "agree": "yes"})
    assert fresh.url.path != home and token not in fresh.text and "Read this." in fresh.text
    one, other = client.host.journal.with_panel_id("p1")
    assert (one.step, other.step) == (0, 0) and one.token != other.token
    assert client.get("/study?PID=p2").url.path == "/study", "another one at the same computer"
    client.cookies.clear()
    client.host.end(one, "done")
    again = client.post("/study/consent", data={"PID": "p1", "agree": "yes"})
    assert again.status_code == 403 and "already taken part" in again.text and "XYZ" not in again.text


def test_cookies_are_sent_by_encrypted_connections_alone_where_there_are_any(client: Any) -> None:
    for base, secure in (("http://localhost", False), ("https://localhost", True)):
        client.cookies.clear()
        sent = {"PID": f"p{secure}", "agree": "yes"}
        result = client.post(f"{base}/study/consent", data=sent, follow_redirects=False)
        assert ("Secure" in result.headers["set-cookie"].split("; ")) is secure


def test_drop_outs_free_their_places(client: Any) -> None:
    """Four are to complete the study, one more may be under way; who is idle for half an hour does not count."""
    now, host = [0.0], client.host
    host.now = lambda: now[0]

    def join(name: str) -> int:
        client.cookies.clear()
        return int(client.post("/study/consent", data={"PID": name, "agree": "yes"}).status_code)

    assert [join(f"a{n}") for n in range(6)] == [200] * 5 + [403]
    people = list(host.journal.people.values())
    host.end(people[0], "left")
    assert [join("b0"), join("b1")] == [200, 403]
    now[0] = 1000.0
    client.get(f"/study/{people[1].token}")
    now[0] = 1900.0  # all but one have been idle
    assert (host.completed, host.under_way) == (0, 1)
    assert [join(f"c{n}") for n in range(5)] == [200] * 4 + [403]
    for person in [entry for entry in host.journal.people.values() if not entry.end][-4:]:
        host.end(person, "done")
    page = client.get("/study?PID=x")
    assert page.status_code == 403 and "all the participants" in page.text
    host.journal.extend(2)
    assert client.get("/study?PID=x").status_code == 200


def test_the_rows_of_drop_outs_are_dealt_out_again(study: Study, tmp_path: Path) -> None:
    from collab_overcooked.play.host import Host
    from collab_overcooked.study.hosting import StudyHost

    content = changed("blocks", 2, "order", to="between")
    with Journal.open(tmp_path, read_study(content)) as journal:
        host = StudyHost(journal, Host())
        people = [journal.join({"PID": str(n)}) for n in range(7)]
        for n, person in enumerate(people):
            host.match(person)
            if n < 3:
                host.end(person, "left" if n % 2 == 0 else "done")
        played = [[step.condition for step in journal.steps_of(item) if step.kind == "play"] for item in people]
        assert played == [["helped"], ["hindered"], ["helped"], ["helped"], ["helped"], ["hindered"], ["helped"]]
    with Journal.open(tmp_path, read_study(content)) as journal:
        again = list(journal.people.values())
        assert [[s.condition for s in journal.steps_of(entry) if s.kind == "play"] for entry in again] == played
        host.close()


@pytest.mark.parametrize(
    ("address", "other", "alike"),
    [
        ("10.0.0.1", "10.0.0.2", False),
        ("2001:db8::1", "2001:db8:0:0:ff::7", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("", "name", False),
    ],
)
def test_networks_are_told_apart(address: str, other: str, alike: bool) -> None:
    from collab_overcooked.study.server import _network_of

    assert (_network_of(address) == _network_of(other)) is alike


@pytest.fixture(scope="module")
def rehearsed(study: Study, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A study that four bots took part in, through pages and sockets."""
    pytest.importorskip("uvicorn", reason="needs the extra play")
    pytest.importorskip("websockets", reason="needs the extra play")
    from collab_overcooked.study.rehearsal import rehearse

    folder = tmp_path_factory.mktemp("study") / "quick"
    return folder, rehearse(study, 4, folder, leavers=2)


def test_bots_take_part_through_pages_and_sockets(rehearsed: tuple[Path, Any]) -> None:
    folder, result = rehearsed
    assert not result.errors and result.ends == {"done": 4} and result.episodes == 8
    people = StudyResults.read(folder).journal.people.values()
    done = {person.id for person in people if person.end == "done"}
    orders = Counter(
        tuple(
            event["condition"]
            for event in map(json.loads, (folder / JOURNAL).read_text().splitlines())
            if event["event"] == "answered" and event["condition"] and event["id"] == name
        )
        for name in done
    )
    assert orders == {("helped", "hindered"): 2, ("hindered", "helped"): 2}
    assert [column.name for column in result.tasks.columns] == ["Task", "helped", "hindered"]
    assert [row[1:] for row in result.tasks.rows] == [(4, 4)]


@pytest.mark.parametrize("anonymous", [False, True])
def test_every_aborted_episode_is_exported(rehearsed: tuple[Path, Any], tmp_path: Path, anonymous: bool) -> None:
    """Two participants left the same task, each after they had been cut off in it."""
    folder, _ = rehearsed
    command = ["study", "export", str(folder), "--out", str(tmp_path), "--with-aborted"]
    done = CliRunner().invoke(app, command + ["--anonymous"] * anonymous)
    assert done.exit_code == 0, done.output
    files = [path for path in (tmp_path / "records").glob("*_aborted.jsonl")]
    aborted = [record for path in files for record in read_records(path)]
    assert [record.ended for record in aborted] == ["left", "left"]
    assert len({(record.task, record.episode) for record in read_records(files[0])}) == len(read_records(files[0]))
    assert all(person.disconnects for record in aborted for person in record.people.values())


def test_a_participant_who_leaves_the_same_task_twice_is_exported_twice(
    rehearsed: tuple[Path, Any], tmp_path: Path
) -> None:
    """The server was stopped during a game; its participant came back to the task and left."""
    folder = tmp_path / "old"
    shutil.copytree(rehearsed[0], folder)
    (file, *_) = [path for path in folder.glob("conditions/*/aborted.jsonl") if path.stat().st_size]
    first = json.loads(file.read_text().splitlines()[0])
    earlier = first | {"people": {name: one | {"session": "s-0"} for name, one in first["people"].items()}}
    file.write_text(f"{json.dumps(earlier)}\n{file.read_text()}")
    export(folder, tmp_path / "out", ExportOptions(aborted=True))
    exported = read_records(tmp_path / "out" / "records" / f"{file.parent.name}_aborted.jsonl")
    assert len(exported) == len(file.read_text().splitlines()) > 1
    assert len({(record.task, record.episode) for record in exported}) == len(exported)
    assert [record.people for record in exported].count(exported[0].people) == 1


def test_answers_to_questions_that_a_form_no_longer_has_are_exported(
    study: Study, rehearsed: tuple[Path, Any], tmp_path: Path
) -> None:
    folder = tmp_path / "old"
    shutil.copytree(rehearsed[0], folder)
    journal = folder / JOURNAL
    journal.write_text(journal.read_text().replace('"age":', '"years":').replace('"form":"liked"', '"form":"hated"'))
    for cut in (False, True):
        options = ExportOptions(cut_text=cut)
        export(folder, tmp_path / "out", options)
        with (tmp_path / "out" / "answers.csv").open() as file:
            rows = list(csv.DictReader(file))
        old = [row for row in rows if row["item"] == "years" or row["form"] == "hated"]
        assert bool(old) == (not cut) and all(row["value"] or not row["code"] for row in old)
        assert rows and not any(row["code"] for row in old)


def test_a_rehearsal_misses_codes_and_a_bonus_follows_the_scores(
    study: Study, rehearsed: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from collab_overcooked.study import pages
    from collab_overcooked.study.rehearsal import rehearse

    results = StudyResults.read(rehearsed[0])
    assert {row["bonus"] for row in results.participants()} == {None}
    assert {row["bonus"] for row in results.episodes()} == {None}
    results.journal.study = replace(study, bonus=Bonus(100.0, per_point=0.5))
    scores = Counter[str]()
    for row in results.episodes():
        scores[str(row["id"])] += row["completed"]
    paid = {row["id"]: row["bonus"] for row in results.participants() if row["end"] == "done"}
    assert paid == {name: 0.5 * score for name, score in scores.items()} and any(paid.values())
    results.journal.study = replace(study, bonus=Bonus(100.0, per_point=0.5, per_round=0.1))
    for row in results.episodes():
        assert row["bonus"] == pytest.approx(0.1 + 0.5 * row["completed"])
    paid = {row["id"]: row["bonus"] for row in results.participants() if row["end"] == "done"}
    assert paid == {name: pytest.approx(0.2 + 0.5 * score) for name, score in scores.items()}
    results.journal.study = replace(study, bonus=Bonus(0.25, per_point=0.5))
    assert all(row["bonus"] <= 0.25 for row in results.participants())
    assert all(str(row["joined"]).endswith("+00:00") for row in results.participants())
    monkeypatch.setattr(pages, "end_page", lambda study, *others: pages.message_page(study, "no code"))
    errors = rehearse(replace(study, blocks=study.blocks[:2]), 1, tmp_path / "quick").errors
    assert any("did not see the code XYZ" in error for error in errors), errors


def test_a_head_chef_takes_part_without_a_seat(study: Study, tmp_path: Path) -> None:
    from collab_overcooked.study.rehearsal import rehearse

    content = changed("participants", to={"id": "PID", "group": 2, "wait": 20})
    result = content["conditions"].pop("hindered")
    content["conditions"]["helped"] = result | {"voice": True, "team": ["agent_0=person", "all=greedy"]}
    content["blocks"] = [{"play": ["helped"], "after": "liked"}]
    del content["forms"]["before"], content["finish"]
    outcome = rehearse(read_study(content), 2, tmp_path / "chef")
    assert not outcome.errors and outcome.ends == {"done": 2} and outcome.episodes == 1
    (record,) = read_records(tmp_path / "chef" / "conditions" / "helped")
    assert record.people.keys() == {"agent_0", "voice"}
    assert {m.say for step in record.steps for m in step.messages if m.agent is None} == {"Hurry!"}
    with pytest.raises(LayoutError, match=r"1 seats of people \(person\) and a voice"):
        read_study(content | {"participants": {"id": "PID"}})


def test_games_of_people_are_ordinary_records(rehearsed: tuple[Path, Any]) -> None:
    run: Callable[..., Any] = CliRunner().invoke
    folder = str(rehearsed[0] / "conditions" / "helped")
    assert run(app, ["replay", folder, "--check"]).exit_code == 0
    done = run(app, ["score", folder, "--format", "json"])
    assert done.exit_code == 0 and "agent_0=person all=greedy" in done.stdout, done.output


def test_people_stand_on_leaderboards(rehearsed: tuple[Path, Any], tmp_path: Path) -> None:
    labels = ["--policies", "random", "--games", "rush", "--episodes", "1", "--no-crossplay", "--workers", "1"]
    people = ["--people", str(rehearsed[0] / "conditions" / "helped")]
    done = CliRunner().invoke(app, ["compare", *labels, *people, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    kinds = {
        policy["policy"]: policy["kind"]
        for policy in json.loads((tmp_path / "report.json").read_text())["games"][0]["policies"]
    }
    assert kinds == {"random": "scripted", "agent_0=person all=greedy": "human"}


def test_conditions_of_a_study_are_tested(rehearsed: tuple[Path, Any]) -> None:
    pytest.importorskip("scipy", reason="the extra 'stats' is not installed")
    done = CliRunner().invoke(app, ["significance", str(rehearsed[0]), "--format", "json"])
    assert done.exit_code == 0, done.output
    rows = {row["Measure"]: row for card in json.loads(done.stdout)[1:] for row in card["tables"][0]["rows"]}
    assert rows["liked.fun"]["pairs"] == rows["completed"]["pairs"] == 4
    assert "before.age" not in rows, "it belongs to no condition"


def test_tests_are_those_of_scipy_on_the_exported_tables(tmp_path: Path) -> None:
    """Twelve people answer under three conditions; what `significance` prints follows from `answers.csv` alone."""
    stats = pytest.importorskip("scipy.stats", reason="the extra 'stats' is not installed")
    content = changed("participants", to={"id": "PID", "keep": ["STUDY"], "limit": 20})
    content["conditions"]["third"] = content["conditions"]["helped"] | {"label": "C"}
    content["blocks"] = [{"play": list(content["conditions"]), "after": "liked"}]
    del content["forms"]["before"]
    draw = random.Random(5)
    with Journal.open(tmp_path / "run", read_study(content)) as journal:
        for n in range(12):
            person = journal.join({"PID": f"p{n}"})
            journal.form_group([person.id])
            while (step := journal.step_of(person)) is not None:
                fun = {"helped": 3, "hindered": 1, "third": 2}.get(step.condition, 0) + draw.randint(0, 2)
                journal.passed(person) if step.kind == "play" else journal.answered(person, {"fun": fun, "why": ""})
            journal.end(person, "done")

    def run(*text: str) -> str:
        done = CliRunner().invoke(app, [*text])
        assert done.exit_code == 0, done.output
        return str(done.stdout)

    cards = json.loads(run("significance", str(tmp_path / "run"), "--format", "json"))
    rows = [row for card in cards for table in card["tables"] for row in table["rows"]]
    run("study", "export", str(tmp_path / "run"), "--out", str(tmp_path / "out"), "--anonymous")
    with (tmp_path / "out" / "answers.csv").open() as file:
        answers = [row for row in csv.DictReader(file) if row["item"] == "fun"]
    samples = {
        name: [float(row["value"]) for row in sorted(answers, key=lambda row: row["id"]) if row["condition"] == name]
        for name in content["conditions"]
    }
    one_way = next(row for row in rows if row.get("analysis") == "one-way")
    expected = stats.f_oneway(*samples.values())
    assert one_way["df"] == "2, 33" and len({row["id"] for row in answers}) == 12
    assert (one_way["F"], one_way["p"]) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))
    tukey = {row["first less second"]: row["p"] for row in rows if "first less second" in row}
    result = stats.tukey_hsd(*samples.values())
    for (i, one), (k, other) in itertools.combinations(enumerate(samples), 2):
        assert tukey[f"{one} - {other}"] == pytest.approx(result.pvalue[i, k])


def test_exports_name_people_only_if_asked(rehearsed: tuple[Path, Any], tmp_path: Path) -> None:
    folder, _ = rehearsed
    ids = {json.loads(line)["id"] for line in (folder / PEOPLE).read_text().splitlines()}

    def export(name: str, *text: str) -> str:
        done = CliRunner().invoke(app, ["study", "export", str(folder), "--out", str(tmp_path / name), *text])
        assert done.exit_code == 0, done.output
        return "".join(path.read_text() for path in (tmp_path / name).rglob("*") if path.is_file())

    plain = export("plain")
    assert all(entry in plain for entry in ids) and "bot0" not in plain
    anonymous = export("anonymous", "--anonymous", "--cut-text")
    assert not any(item in anonymous for item in ids) and "text of bot" not in anonymous and "bot0" not in anonymous
    assert "bot0" in export("named", "--with-panel-ids", "--format", "jsonl")
    both = ["study", "export", str(folder), "--out", str(tmp_path / "x"), "--anonymous", "--with-panel-ids"]
    assert CliRunner().invoke(app, both).exit_code == 2


def test_every_column_of_an_export_is_in_its_codebook(rehearsed: tuple[Path, Any], tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["study", "export", str(rehearsed[0]), "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    with (tmp_path / "codebook.csv").open() as file:
        known = {row["name"] for row in csv.DictReader(file)}
    for name in ("participants", "answers", "pages", "episodes", "decisions"):
        with (tmp_path / f"{name}.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert rows and set(rows[0]) <= known, set(rows[0]) - known
    with (tmp_path / "episodes.csv").open() as file:
        assert Counter(row["place"] for row in csv.DictReader(file)) == {"0": 4, "1": 4}
    replayed = CliRunner().invoke(app, ["replay", str(tmp_path / "records" / "helped.jsonl"), "--check"])
    assert replayed.exit_code == 0, replayed.output


@pytest.fixture
def tables(rehearsed: tuple[Path, Any], tmp_path: Path) -> dict[str, list[dict[str, str]]]:
    """Tables of the rehearsed study, by name."""
    done = CliRunner().invoke(app, ["study", "export", str(rehearsed[0]), "--out", str(tmp_path / "tables")])
    assert done.exit_code == 0, done.output
    names = ("participants", "answers", "pages", "episodes", "decisions", "codebook")
    texts = {name: (tmp_path / "tables" / f"{name}.csv").read_text("utf-8") for name in names}
    return {name: list(csv.DictReader(text.splitlines())) for name, text in texts.items()}


def test_each_decision_of_a_person_is_a_row(tables: dict[str, list[dict[str, str]]]) -> None:
    decisions = tables["decisions"]
    counted = Counter((row["id"], row["condition"], row["task"], row["episode"]) for row in decisions)
    expected = {
        (row["id"], row["condition"], row["task"], row["episode"]): int(row["decisions"]) for row in tables["episodes"]
    }
    assert counted == expected and sum(counted.values()) > 8
    for row in decisions:
        assert row["choice"] and int(row["options"]) > 1 and len(row["state"]) == 16 and float(row["seconds"]) >= 0
        assert row["agent"] == "agent_0" and int(row["timestep"]) >= 1
    assert len({row["state"] for row in decisions}) > len(counted), "states change within a round"


def test_times_of_rounds_pages_and_answers_follow_each_other(tables: dict[str, list[dict[str, str]]]) -> None:
    def time_of(text: str) -> datetime:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", text), text
        return datetime.fromisoformat(text)

    for name in ("answers", "pages", "episodes"):
        assert tables[name] and all(time_of(row["started"]) <= time_of(row["answered"]) for row in tables[name])
    for row in tables["pages"]:
        between = time_of(row["answered"]) - time_of(row["started"])
        assert float(row["seconds"]) == pytest.approx(between.total_seconds(), abs=0.0015)
    played = {(row["id"], row["condition"]): row for row in tables["pages"] if row["kind"] == "play"}
    assert len(played) == len(tables["episodes"]) == 8
    for row in tables["episodes"]:
        page = played[row["id"], row["condition"]]
        assert time_of(page["started"]) <= time_of(row["started"]) and time_of(row["answered"]) <= time_of(
            page["answered"]
        )
        assert row["window"] == "large" and row["focus_losses"] == "0"
    person = next(row["id"] for row in tables["participants"] if row["end"] == "done")
    kinds = [(row["kind"], row["name"]) for row in tables["pages"] if row["id"] == person]
    assert kinds == [
        ("page", "How"),
        ("form", "before"),
        ("play", ""),
        ("form", "liked"),
        ("play", ""),
        ("form", "liked"),
    ]
    assert {row["window"] for row in tables["participants"]} == {"large"}


def test_anonymous_tables_and_records_have_no_times_of_day(rehearsed: tuple[Path, Any], tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["study", "export", str(rehearsed[0]), "--out", str(tmp_path), "--anonymous"])
    assert done.exit_code == 0, done.output
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "codebook.csv"]
    assert len(files) == 8 and not [
        path for path in files if re.search(r"T\d\d:\d\d|started|session", path.read_text())
    ]


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


@pytest.mark.parametrize(("width", "size"), [("320", "small"), ("599", "small"), ("600", "medium"), ("1024", "large")])
def test_pages_report_the_window_and_losses_of_the_focus(client: Any, width: str, size: str) -> None:
    home = client.post("/study/consent", data={"PID": "p1", "agree": "yes"}).url.path
    journal = client.host.journal
    client.post(home, data={"step": "0", "window": width, "focus_losses": "3"})
    client.post(home, data={"step": "1", "age": "20", "window": "<b>", "focus_losses": "-1"})
    first, second = StudyResults(journal).pages()
    assert (first["window"], first["focus_losses"]) == (size, 3)
    assert (second["window"], second["focus_losses"]) == (None, None)
    assert StudyResults(journal).participants()[0]["window"] == size


@pytest.mark.filterwarnings("ignore")  # of statsmodels, about few random answers
def test_the_snippet_of_the_docs_reads_the_tables(
    tables: dict[str, list[dict[str, str]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("statsmodels", reason="the extra 'dev' is not installed")
    (code,) = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    number = {row["id"]: int(row["number"]) for row in tables["participants"]}
    slower = {"helped": 0.0, "hindered": 0.5}
    for row in tables["decisions"]:  # else the fit would depend on how fast this machine is
        seconds = 1 + 0.3 * number[row["id"]] + 0.2 * (7 * int(row["timestep"]) % 5) + slower[row["condition"]]
        row["seconds"] = f"{seconds:.3f}"
    with (tmp_path / "tables" / "decisions.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(tables["decisions"][0]))
        writer.writeheader()
        writer.writerows(tables["decisions"])
    names: dict[str, Any] = {}
    exec(code, names)
    model = names["model"]
    assert model.nobs == len(tables["decisions"]) and len(model.model.group_labels) == 4
    assert model.fe_params["C(condition)[T.hindered]"] > 0
    assert names["scales"].shape == (8, 1) and names["scales"]["fun"].between(1, 5).all()


def test_waits_end_without_any_page(study: Study, tmp_path: Path) -> None:
    """Somebody closes the waiting room, and nobody asks for news any more."""
    from collab_overcooked.play.host import Host
    from collab_overcooked.study.hosting import StudyHost

    now = [0.0]
    pair = replace(study, group=2, wait=60.0, blocks=study.blocks[2:])
    with Journal.open(tmp_path, pair) as journal:
        host = StudyHost(journal, Host(), now=lambda: now[0])
        one = journal.join({"PID": "a"})
        host.news(one)
        now[0] = 59.0
        host.end_waits()
        assert not one.end
        now[0] = 60.0
        host.end_waits()
        assert one.end == "unmatched" and json.loads((tmp_path / JOURNAL).read_text().splitlines()[-1])["id"] == one.id


def test_the_waiting_room_counts_who_looks_at_it(tmp_path: Path) -> None:
    content = changed("participants", to={"id": "PID", "group": 2})
    for condition in content["conditions"].values():
        condition["team"] = ["all=person"]
    content["blocks"], content["finish"] = [content["blocks"][2]], {}
    del content["forms"]["before"]
    with served(read_study(content), tmp_path) as client:
        for name in "ab":
            client.cookies.clear()
            client.post("/study/consent", data={"PID": name, "agree": "yes"})
        assert len(client.host.journal.groups) == 1


EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "examples" / "studies").glob("*.yaml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_of_the_docs_are_short_and_run(path: Path, tmp_path: Path) -> None:
    from collab_overcooked.study.rehearsal import rehearse

    pytest.importorskip("uvicorn", reason="needs the extra play")
    assert len(path.read_text("utf-8").splitlines()) <= 20
    study = read_study(path)
    result = rehearse(study, 2, tmp_path / "out")
    assert not result.errors and set(result.ends) <= {"done", "inattentive"}
    results = StudyResults.read(tmp_path / "out")
    played = {name: len(records) for name, records in results.records.items()}
    assert sum(played.values()) == result.episodes == (2 if path.stem == "between" else 2 * len(study.conditions))
    if path.stem == "between":
        assert set(played.values()) == {1}, "each of two people plays another condition"


def test_there_is_an_example_of_each_pattern() -> None:
    assert [path.stem for path in EXAMPLES] == ["between", "three_partners", "within"]


def test_tables_without_rows_have_their_columns(study: Study, rehearsed: tuple[Path, Any], tmp_path: Path) -> None:
    with Journal.open(tmp_path / "run", study) as journal:
        journal.decline()
    columns = {}
    for name, folder in (("empty", tmp_path / "run"), ("full", rehearsed[0])):
        done = CliRunner().invoke(app, ["study", "export", str(folder), "--out", str(tmp_path / name)])
        assert done.exit_code == 0, done.output
        tables = ("participants", "answers", "pages", "episodes", "decisions", "messages")
        columns[name] = {t: (tmp_path / name / f"{t}.csv").read_text().split("\n")[0].split(",") for t in tables}
    for table, empty in columns["empty"].items():
        full = columns["full"][table]
        assert empty == (full if table != "episodes" else [name for name in full if name in empty]), table


def test_a_study_that_is_not_filled_in_is_rehearsed_only(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["study", "run", "cots_partner", "--out", str(tmp_path / "x"), "--port", "0"])
    assert done.exit_code == 2 and not (tmp_path / "x").exists()
    message = " ".join(done.output.split())
    assert "consent, finish.done.code, finish.done.url, finish.failed.code, finish.failed.url" in message


def test_visits_of_a_preview_do_not_count_and_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("starlette", reason="needs the extra play")
    pytest.importorskip("httpx2", reason="needs httpx2 for starlette's test client")
    from starlette.testclient import TestClient

    joined: list[int] = []

    def visit(web: Any, address: str, port: int, ready: Callable[[int], None]) -> None:
        ready(8000)
        with TestClient(web, base_url="http://127.0.0.1") as client:
            for n in range(6):
                fields = {"PID": f"p{n}", "agree": "yes"}
                joined.append(client.post("/study/consent", data=fields, follow_redirects=False).status_code)

    monkeypatch.setattr("collab_overcooked.play.server.serve", visit)
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mine.yaml"
    file.write_text(
        json.dumps({**QUICK, "consent": "REPLACE", "participants": {"id": "PID", "keep": ["STUDY"], "limit": 2}})
    )
    done = CliRunner().invoke(app, ["study", "run", str(file), "--preview"])
    assert done.exit_code == 0 and joined == [303] * 6, done.output
    assert list(tmp_path.iterdir()) == [file]


def test_people_who_miss_each_other_are_told(study: Study, tmp_path: Path) -> None:
    """Nobody else comes: the waiting room closes after its time; in a group whose member left it closes at once."""
    from collab_overcooked.play.host import Host
    from collab_overcooked.study.hosting import StudyHost

    now = [0.0]
    pair = replace(study, group=2, wait=60.0, blocks=study.blocks[2:])
    with Journal.open(tmp_path, pair) as journal:
        host = StudyHost(journal, Host(), now=lambda: now[0])
        one, other, late = (journal.join({"PID": name}) for name in "abc")
        assert host.news(one).go == "" and "1 of 2" in host.news(one).text
        now[0] = 61.0
        assert host.news(one).go == f"/study/{one.token}" and one.end == "unmatched"
        journal.form_group([other.id, late.id])
        assert "1 of 2" in host.news(other).text
        host.end(late, "left")
        assert host.news(other).go and other.end == "partner_left"
        host.close()


def test_nobody_joins_halfway_when_the_disk_is_full(tmp_path: Path) -> None:
    """At every byte: who is refused leaves nothing, who joined before stays, and others join when there is room."""
    journal = Journal.open(tmp_path, read_study(QUICK), lambda text: None)
    first = journal.join({})
    files = sorted(path for path in tmp_path.iterdir() if path.suffix == ".jsonl")
    before = {path: path.read_bytes() for path in files}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for room in range(min(map(len, before.values())), max(map(len, before.values())) + 60, 7):
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
        try:
            with pytest.raises(OSError, match="too large"):
                journal.join({})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert {path: path.read_bytes() for path in files} == before and list(journal.people) == [first.id]
    second = journal.join({})
    journal.close()
    assert list(Journal(tmp_path, read_study(QUICK)).people) == [first.id, second.id]


def test_a_study_teaches_participants_nothing_unless_it_says_so() -> None:
    for play, expected in (({}, False), ({"replay": True}, True)):
        study = read_study(QUICK | {"play": play})
        assert {c.settings.replay for c in study.conditions.values()} == {expected}
