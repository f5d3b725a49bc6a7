"""Results of a study: records, tables, codebook and tests of its conditions."""

from __future__ import annotations

import csv
import itertools
import json
import random
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs
from study.world import changed, factorial, three_conditions
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.core.record import MessageEntry
from collab_overcooked.metrics.registry import metrics_of
from collab_overcooked.reporting.sample_sizes import SAME_PEOPLE
from collab_overcooked.runner.records import RECORDS, read_records
from collab_overcooked.study.columns import COLUMNS_OF, OF_PARTICIPANTS, PER_CONDITION, PER_PERSON, answer_column
from collab_overcooked.study.design import Study
from collab_overcooked.study.journal import JOURNAL, PEOPLE, Journal, study_of
from collab_overcooked.study.reader import read_study
from collab_overcooked.study.results import ExportOptions, StudyResults, columns_of, export

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = DOCS / "how_to" / "study.md"


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
    note = SAME_PEOPLE.partition(":")[0]
    assert note not in (tmp_path / "report.md").read_text(), "each person has one game in this condition"
    every = shutil.copytree(rehearsed[0] / "conditions" / "helped", tmp_path / "twice")
    (every / RECORDS).write_text(
        re.sub(r'("people":{"agent_0":{"id":)"[^"]+"', r'\1"p-1"', (every / RECORDS).read_text())
    )
    done = CliRunner().invoke(app, ["compare", "--report-only", str(tmp_path), "--people", str(every)])
    assert done.exit_code == 0 and note in (tmp_path / "report.md").read_text(), done.output


def test_conditions_of_a_study_are_tested(rehearsed: tuple[Path, Any]) -> None:
    pytest.importorskip("scipy", reason="the extra 'stats' is not installed")
    done = CliRunner().invoke(app, ["significance", str(rehearsed[0]), "--format", "json"])
    assert done.exit_code == 0, done.output
    rows = {row["Measure"]: row for card in json.loads(done.stdout)[1:] for row in card["tables"][0]["rows"]}
    assert rows["liked.fun"]["pairs"] == rows["completed"]["pairs"] == 4
    assert "before.age" not in rows, "it belongs to no condition"


def significance(folder: Path, *text: str) -> list[dict[str, Any]]:
    done = CliRunner().invoke(app, ["significance", str(folder), "--format", "json", *text])
    assert done.exit_code == 0, done.output
    cards: list[dict[str, Any]] = json.loads(done.stdout)
    return cards


def answered_study(folder: Path, ends: list[str]) -> Path:
    """Let a person answer after both games for each end; those who do not complete the study have no fun."""
    content = changed("participants", to={"id": "PID", "keep": ["STUDY"], "limit": 20})
    content["blocks"] = [{"play": list(content["conditions"]), "after": "liked"}]
    del content["forms"]["before"]
    with Journal.open(folder, read_study(content)) as journal:
        for n, end in enumerate(ends):
            person = journal.join({"PID": f"p{n}"})
            journal.form_group([person.id])
            while (step := journal.step_of(person)) is not None:
                fun = 3 + (step.condition == "helped") + n % 2 * (step.condition == "hindered") if end == "done" else 1
                journal.passed(person) if step.kind == "play" else journal.answered(person, {"fun": fun, "why": ""})
            if end:
                journal.end(person, end)
    return folder


def test_those_who_did_not_complete_a_study_are_left_out_and_counted(tmp_path: Path) -> None:
    pytest.importorskip("scipy", reason="the extra 'stats' is not installed")
    folder = answered_study(tmp_path / "run", ["done", "left", "done", "screened", "", "done", "left"])
    means, *_ = significance(folder)
    rows = {row["Condition"]: row for row in means["tables"][0]["rows"]}
    assert {name: (row["n"], row["mean"]["value"]) for name, row in rows.items()} == {
        "helped": (3, 4.0),
        "hindered": (3, pytest.approx(10 / 3)),
    }
    assert means["notes"] == [
        "Values are of 3 participants who completed the study (end=done); left out: 2 left, 1 screened, 1 unfinished."
    ]
    nobody = answered_study(tmp_path / "nobody", ["left"])
    with pytest.raises(ValueError, match="no participant has completed the study"):
        StudyResults.read(nobody).samples([])


def test_games_of_people_who_left_are_no_samples(rehearsed: tuple[Path, Any]) -> None:
    results = StudyResults.read(rehearsed[0])
    every = results.samples(["steps"])["steps"]
    someone = next(iter(results.completed))
    for event in results.journal.events:
        if event["event"] == "ended" and event["id"] == someone:
            event["how"] = "left"
    fewer = results.samples(["steps"])["steps"]
    assert {name: len(units) - 1 for name, units in every.items()} == {name: len(fewer[name]) for name in every}


def test_questions_are_named_as_metrics_are(rehearsed: tuple[Path, Any]) -> None:
    pytest.importorskip("scipy", reason="the extra 'stats' is not installed")
    means, *_ = significance(rehearsed[0], "--metrics", "liked.fun,steps")
    assert {row["Measure"] for row in means["tables"][0]["rows"]} == {"liked.fun", "steps"}
    wrong = CliRunner().invoke(app, ["significance", str(rehearsed[0]), "--metrics", "liked.fund"])
    assert wrong.exit_code == 2 and "unknown metric 'liked.fund'; did you mean liked.fun" in wrong.output


def test_success_is_compared_where_a_game_has_a_goal(rehearsed: tuple[Path, Any], monkeypatch: Any) -> None:
    from collab_overcooked import registry

    results = StudyResults.read(rehearsed[0])
    (record, *_) = results.records["helped"]
    suite = registry.suite_of(record)
    for has_success in (True, False):
        monkeypatch.setattr(type(suite), "has_success", has_success)
        assert ("success" in results.samples([])) is has_success


def test_commands_for_runs_name_the_conditions_of_a_study(rehearsed: tuple[Path, Any]) -> None:
    folder = rehearsed[0]
    for command in ("score", "report", "replay"):
        done = CliRunner().invoke(app, [command, str(folder)])
        said = " ".join(done.output.split())
        assert done.exit_code == 2 and f"such as {folder / 'conditions' / 'helped'}" in said, said


def test_tests_are_those_of_scipy_on_the_exported_tables(tmp_path: Path) -> None:
    """Twelve people answer under three conditions; what `significance` prints follows from `answers.csv` alone."""
    stats = pytest.importorskip("scipy.stats", reason="the extra 'stats' is not installed")
    draw, least = random.Random(5), {"helped": 3, "hindered": 1, "third": 2}
    study = three_conditions(tmp_path / "run", lambda condition: least[condition] + draw.randint(0, 2))

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
        for name in study.conditions
    }
    (variances,) = (row for row in rows if "analysis" in row)
    answered = np.array(list(samples.values()))
    rest = answered - answered.mean(axis=0) - answered.mean(axis=1, keepdims=True) + answered.mean()
    explained = 12 * ((answered.mean(axis=1) - answered.mean()) ** 2).sum()
    assert (variances["analysis"], variances["n"], variances["df"]) == ("repeated measures", 12, "2, 22")
    assert variances["F"] == pytest.approx((explained / 2) / ((rest**2).sum() / 22))
    pairs = {row["first less second"]: row["p"] for row in rows if "first less second" in row}
    for one, other in itertools.combinations(samples, 2):
        expected = stats.ttest_rel(samples[one], samples[other])
        assert pairs[f"{one} - {other}"] == pytest.approx(expected.pvalue)


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
        book = list(csv.DictReader(file))
    assert {row["type"] for row in book} == {"text", "integer", "number", "time"} and all(
        row["meaning"] for row in book
    )
    for name in ("participants", "answers", "pages", "episodes", "decisions", "tidy"):
        with (tmp_path / f"{name}.csv").open() as file:
            rows = list(csv.DictReader(file))
        known = {row["name"] for row in book if name != "tidy" or row["table"] == name}
        assert rows and set(rows[0]) <= known, set(rows[0]) - known
    with (tmp_path / "episodes.csv").open() as file:
        assert Counter(row["place"] for row in csv.DictReader(file)) == {"0": 4, "1": 4}
    replayed = CliRunner().invoke(app, ["replay", str(tmp_path / "records" / "helped.jsonl"), "--check"])
    assert replayed.exit_code == 0, replayed.output


@pytest.mark.parametrize(
    "options", [{}, {"anonymous": True}, {"cut_text": True}, {"panel_ids": True}, {"anonymous": True, "cut_text": True}]
)
def test_the_codebook_describes_what_is_exported(
    options: dict[str, bool], rehearsed: tuple[Path, Any], tmp_path: Path
) -> None:
    written = export(rehearsed[0], tmp_path, ExportOptions(**options))
    with (tmp_path / "codebook.csv").open() as file:
        book = [(row["table"], row["name"]) for row in csv.DictReader(file)]
    for name in {Path(file).stem for file in written if file.endswith(".csv")} - {"codebook"}:
        with (tmp_path / f"{name}.csv").open() as file:
            header = next(csv.reader(file))
        assert set(header) <= {column for table, column in book if table == name}, name
        described = {column for table, column in book if table == name and not set(".=") & set(column)}
        assert described == set(header), name
    tables = {"participants", "answers", "pages", "episodes", "decisions", "tidy"}
    assert {table for table, _ in book} == tables | (set() if options.get("cut_text") else {"messages"})
    assert ("number" in (tmp_path / "participants.csv").read_text().splitlines()[0].split(",")) is True


def test_an_export_without_text_has_nothing_that_somebody_typed(rehearsed: tuple[Path, Any], tmp_path: Path) -> None:
    """As an action, in a message, as an answer to a partner that plans, or repeated by a model."""
    typed = "my name is Ann Smith"
    folder = tmp_path / "run"
    shutil.copytree(rehearsed[0], folder)
    (file, *_) = [path for path in folder.glob("conditions/*/records.jsonl") if path.stat().st_size]
    first, *others = map(json.loads, file.read_text().splitlines())
    error = {"agent": 0, "action": typed, "code": "F_NO_ACTION", "message": f"unknown action {typed!r}"}
    first["steps"][0]["errors"] = [error]
    first["steps"][0]["messages"] = [{"agent": 0, "say": typed, "plan": typed}]
    node = {"parent": -1, "plan": "noop", "messages": [typed], "visits": 1, "reward": 0, "value": 0, "solved": False}
    update = {"timestep": 0, "seat": 1, "calls": 1, "characters": 1, "trigger": "first", "rating": None}
    update |= {"searched": True, "plan": "noop", "nodes": [node], "chosen": 0, "depth": 1}
    update["answers"] = [{"seat": 0, "plan": "noop", "text": typed, "score": 1}]
    first["plan_updates"] = {"agent_1": [update]}
    usage = {"model": "m", "calls": 1, "prompt_tokens": 1, "completion_tokens": 1, "latencies": [], "dollars": None}
    usage |= {"trouble": {}, "exhausted": "", "unusable": {"plan": {"count": 1, "sample": typed}}}
    first["accounts"] = {"agent_1": usage}
    file.write_text("".join(f"{json.dumps(line)}\n" for line in (first, *others)))
    inputs = [json.loads(line) for line in (file.parent / "inputs.jsonl").read_text().splitlines()]
    (person,) = first["people"].values()
    place = {"session": person["session"], "number": person.get("number", 0)}
    decision = next(line for line in inputs if "state" in line and line.items() >= place.items())
    decision["choice"] = typed
    (file.parent / "inputs.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in inputs))
    choices = {}
    for cut in (False, True):
        out = tmp_path / str(cut)
        written = export(folder, out, ExportOptions(cut_text=cut))
        holding = {name for name in written if typed in (out / name).read_text()}
        record = f"records/{file.parent.name}.jsonl"
        assert holding == (set() if cut else {record, "messages.csv", "decisions.csv"})
        with (out / "decisions.csv").open() as table:
            choices[cut] = [row["choice"] for row in csv.DictReader(table)]
        assert read_records(out / record)[0].steps[0].errors[0].code == "F_NO_ACTION"
    assert typed in choices[False]
    assert choices[True] == ["" if choice == typed else choice for choice in choices[False]], "actions are no texts"


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
    played = {
        (row["id"], row["condition"]): row
        for row in tables["pages"]
        if row["kind"] == "play" and row["completed"] == "1"
    }
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
    assert len(files) == 9 and not [
        path for path in files if re.search(r"T\d\d:\d\d|started|session", path.read_text())
    ]


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
    people = tables["participants"]
    completed = [row for row in people if row["end"] == "done"]
    completed[0]["end"] = "left"  # whose decisions and answers stay in the tables
    with (tmp_path / "tables" / "participants.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(people[0]))
        writer.writeheader()
        writer.writerows(people)
    names: dict[str, Any] = {}
    exec(code, names)
    model = names["model"]
    counted = [row for row in tables["decisions"] if row["id"] != completed[0]["id"]]
    assert model.nobs == len(counted) < len(tables["decisions"]) and len(model.model.group_labels) == 3
    assert model.fe_params["C(condition)[T.hindered]"] > 0
    assert names["scales"].shape == (6, 1) and names["scales"]["liked", "fun"].between(1, 5).all()


def test_the_analyses_of_the_docs_in_r_have_one_row_for_each_answer(
    rehearsed: tuple[Path, Any], tmp_path: Path
) -> None:
    """Everybody plays two rounds of each condition, and answers once after both."""
    folder = tmp_path / "twice"
    play_again(rehearsed[0], folder)
    export(folder, tmp_path / "out", ExportOptions())
    with (tmp_path / "out" / "tidy.csv").open() as file:
        tidy = list(csv.DictReader(file))
    blocks = re.findall(r"^```r\n(.*?)^```", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    for code in blocks:
        assert 'tidy <- subset(read.csv("tables/tidy.csv", na.strings = ""), end == "done")' in code
        assert re.search(r"^model <- .* data = answers\)$", code, re.MULTILINE), "of the table of answers"
        (chosen,) = re.findall(r"^answers <- unique\(tidy\[c\((.*)\)\]\)$", code, re.MULTILINE)
        replaced = {"answer_partner_trust": "answer_liked_fun", "talk": "condition", "partner": "condition"}
        columns = [replaced.get(name, name) for name in re.findall('"([^"]+)"', chosen)]
        kept = {tuple(row[name] for name in columns) for row in tidy}
        assert len(tidy) == 16 and len(kept) == 8 and {"id", "condition", "answer_liked_fun"} <= set(columns)


def test_the_codebook_says_where_answers_are_repeated(rehearsed: tuple[Path, Any], tmp_path: Path) -> None:
    folder = tmp_path / "twice"
    play_again(rehearsed[0], folder)
    export(folder, tmp_path / "out", ExportOptions())
    with (tmp_path / "out" / "codebook.csv").open() as file:
        book = {(row["table"], row["name"]): row for row in csv.DictReader(file)}
    assert book["tidy", "answer_liked_fun"]["meaning"] == f"Fun? {PER_CONDITION}"
    assert book["tidy", "answer_before_age"]["meaning"] == f"Age? {PER_PERSON}"
    assert book["answers", "liked.fun"]["meaning"] == "Fun?"
    assert {row["unit"] for (_, name), row in book.items() if name == "bonus"} == {"currency of the study"}
    with (tmp_path / "out" / "tidy.csv").open() as file:
        tidy = list(csv.DictReader(file))
    for columns, rounds in ((("id", "condition"), 2), (("id",), 4)):
        name = "answer_liked_fun" if len(columns) == 2 else "answer_before_age"
        given: dict[tuple[str, ...], list[str]] = {}
        for row in tidy:
            given.setdefault(tuple(row[column] for column in columns), []).append(row[name])
        assert all(len(many) == rounds and len(set(many)) == 1 and many[0] for many in given.values())


def test_the_codebook_has_no_columns_that_no_table_has(rehearsed: tuple[Path, Any], tmp_path: Path) -> None:
    """A question that nobody was asked, and metrics that no game measured, have no column in the tables."""
    folder = tmp_path / "old"
    shutil.copytree(rehearsed[0], folder)
    journal = folder / JOURNAL
    journal.write_text(journal.read_text().replace('"games":', '"hobbies":'))
    export(folder, tmp_path / "some", ExportOptions())
    for file in folder.glob("conditions/*/records.jsonl"):
        file.write_text("")
    export(folder, tmp_path / "none", ExportOptions())
    described: dict[str, set[str]] = {}
    for name in ("some", "none"):
        with (tmp_path / name / "codebook.csv").open() as file:
            described[name] = {row["name"] for row in csv.DictReader(file) if row["table"] in ("episodes", "tidy")}
        with (tmp_path / name / "tidy.csv").open() as file:
            header = set(next(csv.reader(file)))
        columns = {column for column in described[name] if not set(".=") & set(column)}
        assert columns == header - {"answer_before_hobbies"}, name
    assert "answer_before_age" in described["some"] - described["none"]
    assert "answer_before_games" not in described["some"] and "answer_before_games" not in described["none"]
    measured = described["some"] & set(metrics_of("KitchenRush-v0"))
    assert measured - described["none"], "metrics of games that were played"


def test_no_table_has_texts_for_true_and_false(tables: dict[str, list[dict[str, str]]], tmp_path: Path) -> None:
    """R reads ``True`` as a text, and the codebook says that these columns are numbers."""
    with (tmp_path / "tables" / "tidy.csv").open() as file:
        tidy = list(csv.DictReader(file))
    assert {row["early"] for row in tidy} <= {"0", "1"}
    cells = {value for rows in (*tables.values(), tidy) for row in rows for value in row.values()}
    assert not cells & {"True", "False", "None", "nan"}


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="there is no R on this machine")
def test_the_analysis_of_the_docs_in_r_is_that_of_significance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("scipy.stats", reason="the extra 'stats' is not installed")
    pytest.importorskip("uvicorn", reason="needs the extra play")
    from collab_overcooked.study.rehearsal import rehearse

    content = factorial(between=["partner"])
    content["forms"] = {"partner": {"title": "Partner", "items": [{"name": "trust", "likert": 7, "ask": "Trust?"}]}}
    content["blocks"][0]["after"] = "partner"
    outcome = rehearse(read_study(content), 8, tmp_path / "run")
    assert not outcome.errors and outcome.ends == {"done": 8}
    export(tmp_path / "run", tmp_path / "tables", ExportOptions())
    code, _ = re.findall(r"^```r\n(.*?)^```", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    code += """
cat("levels", levels(tidy$talk), levels(tidy$partner), "\\n")
for (part in summary(model)) {
  for (term in rownames(part[[1]])) cat(trimws(term), part[[1]][term, "F value"], "\\n")
}
"""
    (tmp_path / "analysis.R").write_text(code)
    monkeypatch.chdir(tmp_path)
    done = subprocess.run(["Rscript", "--vanilla", "analysis.R"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and not done.stderr, done.stderr
    printed = dict(line.split(" ", 1) for line in done.stdout.splitlines() if line.count(" ") and line[0].isalpha())
    assert printed["levels"].split() == ["on", "off", "mate", "random"], "as in the study file"
    shown = CliRunner().invoke(app, ["significance", str(tmp_path / "run"), "--format", "json"])
    assert shown.exit_code == 0, shown.output
    rows = [row for card in json.loads(shown.stdout) for table in card["tables"] for row in table["rows"]]
    tested = {row["effect"]: row["F"] for row in rows if row["Measure"] == "partner.trust" and "effect" in row}
    assert len(tested) == 3
    for effect, f in tested.items():
        assert float(printed[effect.replace(" × ", ":")]) == pytest.approx(f, rel=1e-4), effect


def test_tables_without_rows_have_their_columns(study: Study, rehearsed: tuple[Path, Any], tmp_path: Path) -> None:
    with Journal.open(tmp_path / "run", study) as journal:
        journal.decline()
    columns = {}
    for name, folder in (("empty", tmp_path / "run"), ("full", rehearsed[0])):
        done = CliRunner().invoke(app, ["study", "export", str(folder), "--out", str(tmp_path / name)])
        assert done.exit_code == 0, done.output
        tables = ("participants", "answers", "pages", "episodes", "decisions", "messages", "tidy")
        columns[name] = {t: (tmp_path / name / f"{t}.csv").read_text().split("\n")[0].split(",") for t in tables}
    for table, empty in columns["empty"].items():
        full = columns["full"][table]
        known_from_rows = {*metrics_of("KitchenRush-v0"), *(name for name in full if name.startswith("answer_"))}
        if table in ("episodes", "tidy"):
            full = [name for name in full if name in COLUMNS_OF[table] or name not in known_from_rows]
        assert empty == full, table


def test_all_tables_have_the_declared_columns(rehearsed: tuple[Path, Any], tmp_path: Path) -> None:
    study = study_of(rehearsed[0])
    written = export(rehearsed[0], tmp_path, ExportOptions())
    tables = {Path(name).stem: (tmp_path / name).read_text() for name in written if name.endswith(".csv")}
    assert tables.keys() == COLUMNS_OF.keys()
    headers = {name: next(csv.reader([text.splitlines()[0]])) for name, text in tables.items()}
    metrics = [name for name in metrics_of("KitchenRush-v0") if name in headers["episodes"]]
    for name in COLUMNS_OF.keys() - {"tidy"}:
        assert len(tables[name].splitlines()) > 1, f"{name} has no rows"
        own = [metric for metric in metrics if name == "episodes" and metric not in COLUMNS_OF[name]]
        assert headers[name] == columns_of(name, study, own)
    answers = [answer_column(form.name, item.name) for form in study.forms.values() for item in form.items]
    assert set(headers["tidy"]) == {*headers["episodes"], *OF_PARTICIPANTS, *answers}


@pytest.mark.parametrize("table", sorted(COLUMNS_OF.keys() - {"tidy"}))
@pytest.mark.parametrize("change", ["add", "remove"])
def test_rows_with_other_columns_than_declared_are_refused(
    rehearsed: tuple[Path, Any], table: str, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = StudyResults.read(rehearsed[0])
    declared = COLUMNS_OF[table]
    columns = (*declared, "extra") if change == "add" else declared[:-1]
    monkeypatch.setitem(COLUMNS_OF, table, columns)
    with pytest.raises(ValueError, match=f"{table}: must have the columns"):
        getattr(results, table)()


def test_the_tidy_table_is_read_as_it_is(rehearsed: tuple[Path, Any], tmp_path: Path) -> None:
    """One row for each episode and participant, with answers and types that the codebook states."""
    pandas = pytest.importorskip("pandas", reason="the extra 'dev' is not installed")
    export(rehearsed[0], tmp_path, ExportOptions())
    tidy = pandas.read_csv(tmp_path / "tidy.csv")
    assert len(tidy) == 8 and not tidy.duplicated(["id", "condition", "task", "episode"]).any()
    assert set(tidy.groupby("condition").size()) == {4} and (tidy["end"] == "done").all()
    assert (
        tidy["answer_liked_fun"].between(1, 5).all() and tidy.groupby("id")["answer_before_age"].nunique().eq(1).all()
    )
    book = pandas.read_csv(tmp_path / "codebook.csv").query("table == 'tidy'").set_index("name")
    for name in tidy.columns:
        if tidy[name].notna().any():
            is_text = book.loc[name, "type"] in ("text", "time")
            assert pandas.api.types.is_numeric_dtype(tidy[name]) != is_text, name


def test_people_who_decline_are_refused_or_leave_have_rows(study: Study, tmp_path: Path) -> None:
    clock = [1000.0]
    with Journal.open(tmp_path / "run", study) as journal:
        journal.clock = lambda: clock[0]
        journal.decline()
        journal.refuse("full_now")
        person = journal.join({"PID": "p"})
        journal.form_group([person.id], 0)
        journal.opened(person)
        clock[0] += 12.5
        journal.passed(person)
        journal.opened(person)
        clock[0] += 30
        journal.end(person, "left")
    export(tmp_path / "run", tmp_path / "out", ExportOptions(anonymous=True, panel_ids=False))
    with (tmp_path / "out" / "participants.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["end"], bool(row["id"])) for row in rows] == [("left", True), ("declined", False), ("full_now", False)]
    assert rows[0]["conditions"] == "helped; hindered"
    assert [rows[0][f"seconds_{n}"] for n in range(1, 7)] == ["12.5", "30.0", "", "", "", ""]
    with (tmp_path / "out" / "pages.csv").open() as file:
        assert [(row["name"], row["completed"]) for row in csv.DictReader(file)] == [("How", "1"), ("before", "0")]


def play_again(played: Path, folder: Path) -> None:
    """Copy a study; in the copy everybody has played the same task twice."""
    shutil.copytree(played, folder)
    for file in folder.glob("conditions/*/records.jsonl"):
        records = [json.loads(line) for line in file.read_text().splitlines()]
        again = [record | {"episode": record["episode"] + len(records)} for record in records]
        file.write_text("".join(f"{json.dumps(record)}\n" for record in (*records, *again)))


def test_rounds_are_numbered_for_each_group(rehearsed: tuple[Path, Any], tmp_path: Path) -> None:
    """Everybody plays the same task again; the numbers of the records go on over all groups."""
    folder = tmp_path / "twice"
    play_again(rehearsed[0], folder)
    for options in ([], ["--anonymous"]):
        done = CliRunner().invoke(app, ["study", "export", str(folder), "--out", str(tmp_path / "out"), *options])
        assert done.exit_code == 0, done.output
        for table in ("episodes", "tidy"):
            with (tmp_path / "out" / f"{table}.csv").open() as file:
                rows = list(csv.DictReader(file))
            played: dict[tuple[str, str], list[str]] = {}
            for row in rows:
                played.setdefault((row["id"], row["condition"]), []).append(row["round"])
            assert len(played) == 8 and set(map(tuple, played.values())) == {("1", "2")}
            assert {row["episode"] for row in rows} == set("01234567")


def say(results: StudyResults, *senders: int | None) -> None:
    """Keep one round, whose only messages are those before its first step."""
    record = results.records["helped"][0]
    steps = [structs.replace(step, messages=[]) for step in record.steps]
    steps[0].messages.extend(MessageEntry(agent=sender, say="hello", plan="west") for sender in senders)
    results.records = {"helped": [record.replace(steps=steps)]}


def test_a_decision_and_a_message_name_the_round(rehearsed: tuple[Path, Any]) -> None:
    results = StudyResults.read(rehearsed[0])
    say(results, 0)
    assert [row["round"] for row in results.messages()] == [1]
    assert {row["round"] for row in results.decisions()} == {1}


def test_what_a_round_does_not_measure_is_empty(rehearsed: tuple[Path, Any]) -> None:
    """Rush has no success; in real time decisions take no time, and what is said has no plan but a key."""
    results = StudyResults.read(rehearsed[0])
    say(results, 0, 0, 1, None)
    row = results.episodes()[0]
    assert row["success"] is None and float(row["seconds"]) > 0  # type: ignore[arg-type]
    assert (row["messages_sent"], row["messages"]) == (2, 4)
    plans = [(row["agent"], row["plan"]) for row in results.messages()]
    assert plans == [("agent_0", "west"), ("agent_0", "west"), ("agent_1", "west"), ("voice", "west")]
    record = results.records["helped"][0]
    in_real_time = structs.replace(record.people["agent_0"], clock="ticks")
    results.records["helped"][0] = record.replace(people={"agent_0": in_real_time})
    assert results.episodes()[0]["seconds"] is None
    assert [row["plan"] for row in results.messages()] == [None, None, "west", "west"]
