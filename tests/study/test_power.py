"""Tests of the factors of a study, and the number of participants that it needs."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from study.world import QUICK, factorial, three_conditions
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.reporting.significance import factorial_design
from collab_overcooked.study.journal import Journal
from collab_overcooked.study.power import power_card
from collab_overcooked.study.reader import read_study
from collab_overcooked.study.results import StudyResults


def pilot(folder: Path, people: int = 24, **block: Any) -> Path:
    """Answer a study of two factors; a helpful partner is more fun, above all with talk."""
    draw = random.Random(3)
    with Journal.open(folder, read_study(factorial(**block))) as journal:
        for n in range(people):
            person, mood = journal.join({"PID": f"p{n}"}), draw.gauss(0, 0.5)
            journal.form_group([person.id], n)
            while (step := journal.step_of(person)) is not None:
                if step.kind == "play":
                    journal.passed(person)
                    continue
                levels = journal.study.conditions[step.condition].levels
                mean = 2.5 + (levels["partner"] == "mate") + (levels["talk"] == "on") * (levels["partner"] == "mate")
                fun = max(1, min(5, round(mean + mood + draw.gauss(0, 0.7))))
                journal.answered(person, {"fun": fun, "why": ""})
            journal.end(person, "done")
    return folder


@pytest.mark.parametrize("block", [{"order": "between"}, {"between": ["partner"]}, {}], ids=str)
def test_factors_are_tested_as_statsmodels_does(
    block: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pd = pytest.importorskip("pandas", reason="the extra 'dev' is not installed")
    smf = pytest.importorskip("statsmodels.formula.api", reason="the extra 'stats' is not installed")
    from statsmodels.stats.anova import AnovaRM, anova_lm

    folder = pilot(tmp_path / "run", **block)
    read = Mock(wraps=StudyResults.read)
    monkeypatch.setattr(StudyResults, "read", read)
    done = CliRunner().invoke(app, ["significance", str(folder), "--format", "json"])
    assert done.exit_code == 0, done.output
    read.assert_called_once_with(folder)
    rows = [row for card in json.loads(done.stdout) for table in card["tables"] for row in table["rows"]]
    found = {row["effect"]: row for row in rows if "effect" in row}
    assert list(found) == ["partner", "talk", "partner × talk"]
    answers = pd.DataFrame([row for row in StudyResults.read(folder).answers() if row["item"] == "fun"])
    answers["value"] = answers["value"].astype(float)
    if not block:
        table = AnovaRM(answers, "value", "id", within=["partner", "talk"]).fit().anova_table
        expected = {name.replace(":", " × "): table.loc[name, "F Value"] for name in table.index}
    elif "order" in block:
        fitted = anova_lm(smf.ols("value ~ C(partner, Sum) * C(talk, Sum)", answers).fit(), typ=3)
        expected = {"talk": fitted.loc["C(talk, Sum)", "F"], "partner": fitted.loc["C(partner, Sum)", "F"]}
    else:
        wide = answers.pivot_table("value", ["id", "partner"], "talk").reset_index()
        wide["score"] = wide["on"] - wide["off"]
        fitted = anova_lm(smf.ols("score ~ C(partner, Sum)", wide).fit(), typ=3)
        expected = {"talk": fitted.loc["Intercept", "F"], "partner × talk": fitted.loc["C(partner, Sum)", "F"]}
    for name, f in expected.items():
        assert found[name]["F"] == pytest.approx(f), name


def power(folder: Path, *text: str) -> Any:
    return CliRunner().invoke(
        app, ["study", "power", str(folder), "--metrics", "liked.fun", "--simulations", "60", *text]
    )


def test_the_number_of_participants_follows_from_the_pilot(tmp_path: Path) -> None:
    pytest.importorskip("statsmodels", reason="the extra 'stats' is not installed")
    between = pilot(tmp_path / "between", order="between")
    within = pilot(tmp_path / "within")

    def units(folder: Path, *text: str) -> int:
        done = power(folder, "--format", "json", *text)
        assert done.exit_code == 0, done.output
        (card,) = json.loads(done.stdout)
        rows = card["tables"][0]["rows"]
        return int(min(row["units"] for row in rows if row["power"] >= 0.8))

    small, large = units(between, "--effect", "0.5"), units(between, "--effect", "1")
    assert small > 2 * large > 4, "half of an effect takes about four times as many"
    assert units(within, "--effect", "0.5") < 4 * small, "people are their own controls"
    assert units(between, "--effect", "1", "--term", "partner:talk") > large
    shown = " ".join(power(between, "--effect", "1").output.split())
    assert f"{large} participants per cell ({4 * large} in all)" in shown
    assert "for partner (mate - random) = 1" in shown
    shown = " ".join(power(between, "--effect", "1", "--term", "partner:talk").output.split())
    assert "for partner (mate - random) × talk (on - off) = 1" in shown


def test_an_effect_on_three_conditions_is_that_of_the_first_and_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one between is halfway; the effect is named by its levels, and its sign is that of their difference."""
    pytest.importorskip("scipy", reason="the extra 'stats' is not installed")
    draw = random.Random(4)
    study = three_conditions(tmp_path / "run", lambda condition: draw.randint(1, 5))
    results = StudyResults.read(tmp_path / "run")
    samples = results.samples(["liked.fun"])["liked.fun"]
    design = factorial_design(samples, {name: {"condition": name} for name in study.conditions})
    drawn: list[Any] = []
    monkeypatch.setattr(design, "test", lambda term, tables: drawn.append(tables))
    design.power(("condition",), 2.0, 4000, simulations=1)
    ((table,),) = [tables.values() for tables in drawn]
    first, between, last = table.mean(axis=0)
    assert first - last == pytest.approx(2, abs=0.15) and between == pytest.approx((first + last) / 2, abs=0.15)
    monkeypatch.undo()
    card = power_card(results, "liked.fun", 2.0, simulations=20)
    assert "for condition (helped - third) = 2" in card.title
    assert any("halfway" in note and "F test over all levels" in note for note in card.notes)


def test_power_of_a_small_pilot_stands_beside_its_false_positives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of four people, one extreme: small simulated studies often miss that one, and are significant by chance."""
    pytest.importorskip("scipy", reason="the extra 'stats' is not installed")
    values = {"helped": (6.0, 7.0, 2.0, 7.0), "hindered": (6.0, 6.0, 7.0, 5.0)}
    trust = {name: {("person", str(n)): value for n, value in enumerate(many)} for name, many in values.items()}
    with Journal.open(tmp_path, read_study(QUICK)) as journal:
        journal.end(journal.join({"PID": "p"}), "done")
    results = StudyResults.read(tmp_path)
    monkeypatch.setattr(results, "samples", lambda metrics: {"liked.fun": trust})
    card = power_card(results, "liked.fun", 2.0, simulations=200)
    (table,) = card.tables
    by_units = {units: by_chance for units, _, by_chance in table.rows}
    assert by_units[4] > 0.15 and by_units[16] < 0.12, by_units
    assert any("False positives" in note for note in card.notes)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (["--effect", "0"], "effect must not be 0"),
        (["--effect", "1", "--power", "1.5"], "power must be between 0 and 1, not 1.5"),
        (["--effect", "1", "--term", "talk:colour"], "unknown term 'talk:colour'"),
        (["--effect", "1", "--metrics", "liked.fund"], "did you mean liked.fun"),
        (["--effect", "1", "--simulations", "1"], "simulations must be an integer from 10"),
        (["--effect", "1", "--format", "pdf"], "unknown format 'pdf'"),
    ],
)
def test_what_cannot_be_estimated_is_refused(text: list[str], complaint: str, tmp_path: Path) -> None:
    pytest.importorskip("statsmodels", reason="the extra 'stats' is not installed")
    measure = [] if "--metrics" in text else ["--metrics", "liked.fun"]
    done = CliRunner().invoke(app, ["study", "power", str(pilot(tmp_path / "run")), *measure, *text])
    assert done.exit_code == 2 and complaint in " ".join(done.output.split()), done.output
