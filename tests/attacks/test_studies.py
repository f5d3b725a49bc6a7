"""Hostile studies: words of pages, settings, and mutated journals, of which every command says what is wrong."""

from __future__ import annotations

import copy
import json
import random
import shutil

import pytest
from attacks.mutations import mutate
from study.world import QUICK

from collab_overcooked.io.documents import DocumentError
from collab_overcooked.study import pages
from collab_overcooked.study.journal import JOURNAL, PEOPLE, Journal, study_of
from collab_overcooked.study.reader import read_study
from collab_overcooked.study.results import ExportOptions, StudyResults, export
from collab_overcooked.study.texts import PAGE_TEXTS, fill

pytestmark = pytest.mark.attacks

MUTATIONS = 16


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a study in which two people took part."""
    path = tmp_path_factory.mktemp("study") / "quick"
    with Journal.open(path, read_study(QUICK)) as journal:
        for number in range(2):
            person = journal.join({"PID": f"panel-{number}"})
            journal.form_group([person.id])
            journal.passed(person)
            journal.answered(person, {"age": 30, "games": ["cards"]})
        journal.end(person, "left")
        journal.decline()
    return path


def used(path):
    """Do what all commands do that read the folder of a study."""
    result = StudyResults.read(path)
    result.samples(())
    export(path, path / "out", ExportOptions())
    for name in list(result.journal.people):
        Journal(path, study_of(path)).forget(name)


@pytest.mark.parametrize("name", [JOURNAL, PEOPLE, "config.json"])
def test_mutated_journals_are_used_or_refused(folder, name, attack_seed, tmp_path):
    rng, refused = random.Random(f"{name}{attack_seed}"), 0
    lines = [json.loads(line) for line in (folder / name).read_text().splitlines()] if name != "config.json" else []
    full = lines or json.loads((folder / name).read_text())
    for _ in range(MUTATIONS):
        path = tmp_path / "study"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(folder, path)
        value = mutate(rng, full, [full])
        try:
            text = "".join(f"{json.dumps(line)}\n" for line in value) if lines else json.dumps(value)
        except (ValueError, TypeError):
            continue
        (path / name).write_text(text)
        try:
            used(path)
        except ValueError as error:
            assert str(path) in str(error), error
            refused += 1
    assert refused


@pytest.mark.parametrize("line", ["{}", '{"event": "joined"}', '{"event": ["x"]}', "[]", '{"event": "ended", "id": 5}'])
def test_lines_of_journals_that_are_none_are_named(folder, line, tmp_path):
    shutil.copytree(folder, tmp_path / "study")
    (tmp_path / "study" / JOURNAL).write_text(line + "\n")
    with pytest.raises(ValueError, match=r"journal\.jsonl, line 1: "):
        StudyResults.read(tmp_path / "study")


PLAY = [("on_leave", 5), ("on_leave", [1]), ("on_leave", "nope"), ("metrics", "x"), ("tutorial", []), ("clock", {})]


@pytest.mark.parametrize(("name", "value"), PLAY)
def test_settings_of_other_types_are_refused(name, value):
    with pytest.raises(DocumentError, match=name):
        read_study({**QUICK, "play": {name: value}})


@pytest.mark.parametrize("text", ["{step.__class__}", "{0}", "{step!r:>9999999999}", "{step", "{nope}", "{{step}}"])
def test_words_of_a_study_are_no_programs(text):
    with pytest.raises(DocumentError, match=r"words\.step must contain no braces other than: {step}, {steps}"):
        read_study({**QUICK, "words": {"step": text}})


def test_what_is_filled_in_is_not_filled_again():
    assert fill(PAGE_TEXTS["here"], here="{needed}", needed=2, minutes=3).startswith("{needed} of 2 people")
    assert fill("{a}{b}", a="{b}", b="{a}") == "{b}{a}"


def test_names_in_a_study_become_no_markup():
    evil = '"><script>evil()</script>\x1b[31m\u202e'
    study = copy.deepcopy(QUICK)
    study |= {"title": evil, "consent": evil, "words": {"agree": evil, "continue": evil}}
    study["forms"]["before"] |= {"title": evil, "text": evil}
    study["forms"]["before"]["items"][0]["ask"] = study["forms"]["before"]["items"][1]["many"][0] = evil
    study["finish"]["done"] |= {"text": evil, "code": evil}
    result = read_study(study)
    displayed = [
        pages.consent_page(result, {"PID": evil}),
        pages.form_page(result, result.forms["before"], "/x", 0, 1, {"age": [evil]}, {"age": evil}),
        pages.end_page(result, result.ends["done"], {"PID": evil, "STUDY": evil}),
        pages.message_page(result, evil),
    ]
    for page in displayed:
        assert "<script>" not in page and "evil()&lt;/script&gt;" in page
        assert "\x1b" not in page and "\u202e" not in page
