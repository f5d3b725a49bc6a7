"""Factors of a study: cells, orders within and between groups, columns, and people or programs as partners."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from study.world import QUICK, factorial

from collab_overcooked.io.documents import DocumentError
from collab_overcooked.study.documents import study_facts
from collab_overcooked.study.journal import Journal, study_of
from collab_overcooked.study.reader import read_study
from collab_overcooked.study.results import ExportOptions, StudyResults, export


def test_all_cells_become_conditions_named_by_their_levels() -> None:
    study = read_study(factorial())
    assert list(study.conditions) == ["mate_on", "mate_off", "random_on", "random_off"]
    assert study.factors == {"partner": ("mate", "random"), "talk": ("on", "off")}
    teams = {name: condition.matches[0].team[1] for name, condition in study.conditions.items()}
    assert teams == {"mate_on": "greedy", "mate_off": "greedy", "random_on": "random", "random_off": "random"}
    limits = {name: condition.matches[0].limits.max_messages for name, condition in study.conditions.items()}
    assert limits == {"mate_on": 6, "mate_off": 0, "random_on": 6, "random_off": 0}


def test_an_address_parameter_is_no_column_of_a_factor() -> None:
    content = factorial()
    content["participants"] = QUICK["participants"] | {"keep": ["STUDY", "partner"]}
    with pytest.raises(DocumentError, match=r"keep\.1 must be a name that neither exports nor the consent page use"):
        read_study(content)


def test_levels_change_keys_and_numbers_fill_placeholders() -> None:
    content = factorial()
    content["factors"] = {"agents": [2, 3], "pace": {"slow": {"play": {"pace": 1.0}}, "fast": {"play": {"pace": 0.0}}}}
    content["cell"] |= {"team": ["agent_0=person", "all=greedy"], "play": {"grace": 9.0}}
    content["cell"]["options"] |= {"agents": ["{agents}"]}
    study = read_study(content)
    found = {
        name: (len(one.matches[0].team), one.settings.pace, one.settings.grace)
        for name, one in study.conditions.items()
    }
    assert found == {
        "agents2_slow": (2, 1.0, 9.0),
        "agents2_fast": (2, 0.0, 9.0),
        "agents3_slow": (3, 1.0, 9.0),
        "agents3_fast": (3, 0.0, 9.0),
    }


def test_limits_of_messages_are_levels_of_a_factor() -> None:
    content = factorial()
    content["factors"]["talk"] = {
        "free": {},
        "short": {"limits": {"max_chars": 40, "max_episode_chars": 400}},
        "slow": {"limits": {"message_delay": 2, "message_loss": 0.1}},
        "mute": {"limits": {"messages_to": "nobody"}},
    }
    study = read_study(content)
    limits = {name: condition.matches[0].limits.changed() for name, condition in study.conditions.items()}
    assert limits["mate_free"] == {}
    assert limits["mate_short"] == {"max_chars": 40, "max_episode_chars": 400}
    assert limits["random_slow"] == {"message_delay": 2, "message_loss": 0.1}
    assert limits["mate_mute"] == {"messages_to": "nobody"}
    assert "limits.message_delay" in str(study_facts(study))
    content["factors"]["talk"]["slow"]["limits"]["message_loss"] = 2
    with pytest.raises(DocumentError, match="message_loss"):
        read_study(content)


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (("factors", "colour"), ["red", "blue"], "factors.colour changes nothing: write {colour} in cell"),
        (("factors", "partner"), ["mate"], "factors.partner must have at least two levels"),
        (("factors", "partner"), ["mate", "mate"], "factors.partner must be levels that differ"),
        (("factors", "talk"), ["on", "loud"], "factors.talk must be a list of on and off"),
        (("factors", "partner"), ["mate", "a b"], "level 'a b' must be a name"),
        (("factors", "task"), ["a", "b"], "is a column of the table"),
        (("cell", "team"), ["agent_0=person", "agent_1={partner}", "agent_1={partnr}"], "did you mean partner?"),
        (("cell", "voice"), True, "nobody would hear the voice"),
        (("blocks", 0, "between"), ["talks"], "blocks.0.between.0 must be one of partner, talk"),
        (("conditions",), {"mate_on": QUICK["conditions"]["helped"]}, "is the name of a cell, too"),
        (("factors",), None, "cell needs factors"),
    ],
)
def test_factors_that_cannot_work_are_refused(path: tuple[Any, ...], value: Any, complaint: str) -> None:
    content = factorial()
    place: Any = content
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    if complaint.startswith("nobody"):
        content["participants"] |= {"group": 2}
    with pytest.raises(DocumentError) as error:
        read_study(content)
    assert complaint in str(error.value)


def test_a_factor_varies_between_groups_and_another_within() -> None:
    study = read_study(factorial(between=["partner"]))
    orders = Counter(tuple(step.condition for step in study.steps(row) if step.kind == "play") for row in range(4))
    assert set(orders) == {
        ("mate_on", "mate_off"),
        ("mate_off", "mate_on"),
        ("random_on", "random_off"),
        ("random_off", "random_on"),
    }
    assert study.period == 4 and study_facts(study)["rows"] == [4]


def test_tables_have_a_column_for_each_factor(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "run", read_study(factorial(between=["partner"]))) as journal:
        person = journal.join({"PID": "p"})
        journal.form_group([person.id], 1)
        journal.passed(person)
        journal.answered(person, {"fun": 3})
    assert study_of(tmp_path / "run").factors == {"partner": ("mate", "random"), "talk": ("on", "off")}
    export(tmp_path / "run", tmp_path / "tables", ExportOptions())
    tables = {
        path.stem: list(csv.DictReader(path.read_text().splitlines())) for path in (tmp_path / "tables").glob("*.csv")
    }
    (row,) = tables["participants"]
    assert (row["conditions"], row["partner"], row["talk"]) == ("random_on; random_off", "random", "")
    (answer,) = tables["answers"]
    assert (answer["condition"], answer["partner"], answer["talk"]) == ("random_on", "random", "on")
    header = (tmp_path / "tables" / "episodes.csv").read_text().splitlines()[0].split(",")
    assert header[header.index("condition") :][1:3] == ["partner", "talk"]


def test_partners_are_people_or_programs_within_one_study(tmp_path: Path) -> None:
    """Groups of two are allocated: they play with each other, or each with the program."""
    from collab_overcooked.study.rehearsal import rehearse

    pytest.importorskip("uvicorn", reason="needs the extra play")
    content = factorial(order="between")
    content["factors"] = {"partner": ["person", "mate"]}
    content["participants"] |= {"group": 2}
    study = read_study(content)
    assert {name: condition.people for name, condition in study.conditions.items()} == {"person": 2, "mate": 1}
    outcome = rehearse(study, 4, tmp_path / "run")
    assert not outcome.errors and outcome.ends == {"done": 4}
    results = StudyResults.read(tmp_path / "run")
    assert {name: len(records) for name, records in results.records.items()} == {"person": 1, "mate": 2}
    rows = results.episodes()
    assert Counter(row["partner"] for row in rows) == {"person": 2, "mate": 2}
    assert all(row["group"] is not None for row in rows)
