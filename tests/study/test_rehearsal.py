"""Rehearsals: bots take part through pages and sockets."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from study.world import CHECKED, QUICK, changed, in_pairs
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.io.documents import DocumentError
from collab_overcooked.reporting.result_table import ResultTable
from collab_overcooked.runner.records import read_records
from collab_overcooked.study.bots import PRACTICE_MOVES, Bot
from collab_overcooked.study.design import Bonus, Study
from collab_overcooked.study.documents import remarks
from collab_overcooked.study.journal import JOURNAL, Journal
from collab_overcooked.study.reader import read_study
from collab_overcooked.study.rehearsal import TICK, Progress, hurried, stand_ins
from collab_overcooked.study.results import StudyResults


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
    with pytest.raises(DocumentError, match=r"1 seats of people \(person\) and a voice"):
        read_study(content | {"participants": {"id": "PID"}})


def test_ends_of_a_working_study_are_no_errors_and_others_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bots tick one of two boxes that an attention check expects, which ends their study."""
    from collab_overcooked.study import rehearsal

    content = QUICK | CHECKED | {"participants": QUICK["participants"] | {"failed_checks": 1}}
    content["finish"] = {"inattentive": {"code": "CHECKS"}}
    (tmp_path / "checked.yaml").write_text(json.dumps(content))
    done = CliRunner().invoke(app, ["study", "rehearse", str(tmp_path / "checked.yaml"), "2"])
    assert done.exit_code == 0 and "2 bots: 2 inattentive" in done.output and "error" not in done.output, done.output
    monkeypatch.setattr(rehearsal, "EXPECTED_ENDS", ("done",))
    report = rehearsal.rehearse(read_study(content), 2, tmp_path / "out")
    assert report.errors == ["bots that stay: 2 ended as inattentive"]


def test_leaving_is_rehearsed_where_most_bots_are_screened_out(tmp_path: Path) -> None:
    """Bots that answered at random would be screened out, or their partners would, and nobody would leave a game."""
    from collab_overcooked.study.rehearsal import rehearse

    letters = list("abcdefgh")
    sees = {"name": "sees", "choice": letters, "accept": ["h"], "ask": "Sees?"}
    reads = {"name": "reads", "many": letters, "expect": ["b", "g"], "ask": "Tick b and g."}
    content = in_pairs(failed_checks=1, wait=20)
    content["forms"]["start"] = {"title": "Start", "items": [sees, reads]}
    content["blocks"] = [{"form": "start"}, *content["blocks"]]
    content["finish"] = {"screened": {"code": "S"}}
    outcome = rehearse(read_study(content), 2, tmp_path / "run", leavers=1, ways=("game", "page"))
    assert not outcome.errors and outcome.ends == {"screened": 2}, "only those that leave know the answers"
    ends = Counter(person.end for person in StudyResults.read(tmp_path / "run").journal.people.values())
    assert ends == {"screened": 2, "left": 2, "partner_left": 2}


EXAMPLES = sorted((Path(__file__).parents[2] / "docs" / "examples" / "studies").glob("*.yaml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_of_the_docs_are_short_and_run(path: Path, tmp_path: Path) -> None:
    from collab_overcooked.study.rehearsal import rehearse

    pytest.importorskip("uvicorn", reason="needs the extra play")
    assert len(path.read_text("utf-8").splitlines()) <= 20
    study = read_study(path)
    left_open = ("names are hidden", "ends without a code")
    assert all(remark.startswith(left_open) for remark in remarks(study)), remarks(study)
    result = rehearse(study, 2 * study.group, tmp_path / "out")
    assert not result.errors and set(result.ends) <= {"done", "inattentive"}
    results = StudyResults.read(tmp_path / "out")
    played = {name: len(records) for name, records in results.records.items()}
    expected = {
        "between": {"helper": 1, "stranger": 1},  # each of two people plays another condition
        "factorial": {"person_on": 1, "person_off": 1, "program_on": 2, "program_off": 2},  # two pairs
    }
    assert played == expected.get(path.stem, dict.fromkeys(study.conditions, 2)) and result.episodes == sum(
        played.values()
    )


def test_there_is_an_example_of_each_pattern() -> None:
    assert [path.stem for path in EXAMPLES] == ["between", "dyads", "factorial", "three_partners", "within"]


def test_models_that_search_are_replaced_by_a_program_that_searches() -> None:
    assert stand_ins(read_study("cots_partner")) == {"planner": "cots", "talker": "greedy"}


def test_practice_of_bots_is_short(tmp_path: Path) -> None:
    """Bots that play at random would repeat the tutorial of a kitchen until its last round is over."""
    from collab_overcooked.study.rehearsal import rehearse

    options = {"layouts": "cramped_room", "episodes": 1, "max_cycles": 20}
    kitchen = {"label": "A", "suite": "overcooked", "team": ["agent_0=person", "agent_1=random"], "options": options}
    content = changed("conditions", "helped", to=kitchen)
    del content["conditions"]["hindered"], content["forms"]["before"]
    content["play"] |= {"clock": "turns", "show": "picture"}
    content["blocks"] = [{"play": ["helped"], "after": "liked", "practice": True}]
    outcome = rehearse(read_study(content), 1, tmp_path / "run")
    assert not outcome.errors and outcome.ends == {"done": 1}
    practice = read_records(tmp_path / "run" / "conditions" / "helped" / "tutorials.jsonl")
    assert [record.ended for record in practice] == ["practised"] and practice[0].timesteps <= PRACTICE_MOVES + 1


def test_games_of_bots_make_no_pauses(study: Study) -> None:
    slow = read_study(changed("play", to={"show": "words", "tick": 0.5, "pace": 2, "countdown": 5}))
    settings = [condition.settings for condition in hurried(slow).conditions.values()]
    assert {(each.tick, each.pace, each.countdown) for each in settings} == {(TICK, 0.0, 0.0)}
    assert {each.show for each in settings} == {"words"}


@pytest.mark.parametrize(("ends", "warned"), [({"screened": 4}, True), ({"done": 1, "screened": 3}, False)])
def test_a_rehearsal_that_nobody_completes_is_warned_about(
    ends: dict[str, int], warned: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from collab_overcooked.study import rehearsal

    result = rehearsal.Rehearsal(ends, [], 0, ResultTable((), ()), (0.0, 0.0), (0.0, 0.0), (4.0, 9.0), 1)
    paces = []
    monkeypatch.setattr(rehearsal, "rehearse", lambda *_, real_time, **__: paces.append(real_time) or result)
    (tmp_path / "quick.yaml").write_text(json.dumps(QUICK))
    done = CliRunner().invoke(app, ["study", "rehearse", str(tmp_path / "quick.yaml"), "4"])
    assert done.exit_code == 0 and ("no bot ended as done" in done.output) is warned
    assert "lateness" not in done.output, "a pace that no person would play at"
    done = CliRunner().invoke(app, ["study", "rehearse", str(tmp_path / "quick.yaml"), "4", "--real-time"])
    assert "lateness of steps: 4.0 ms, 95 % below 9.0 ms" in done.output and paces == [False, True]


def test_progress_names_the_step_and_the_time_left(tmp_path: Path) -> None:
    content = changed("blocks", to=[{"play": ["helped", "hindered"], "after": "liked"}])
    del content["forms"]["before"]
    with Journal.open(tmp_path / "run", read_study(content)) as journal:
        bots = [Bot("", "", n, leaves) for n, leaves in enumerate(["page", "tab", "", ""])]
        people = [journal.join({"PID": f"p{n}"}) for n in range(4)]
        for bot, person in zip(bots, people, strict=True):
            bot.own_page = f"http://localhost/study/{person.token}"
            journal.form_group([person.id], 0)
        clock = [0.0]
        progress = Progress(journal, [bots[:1], bots[1:2], bots[2:]], lambda: clock[0])
        first, second = (step.condition for step in journal.steps_of(people[2]) if step.kind == "play")
        assert progress.text() == f"0 of 2 bots are through, 0 of 2 that leave, step 1 of 4 (game {first})"
        progress.current, clock[0] = 2, 60.0  # one of three games in a row is over
        begun = "0 of 2 bots are through, 2 of 2 that leave"
        assert progress.text() == f"{begun}, step 1 of 4 (game {first}), about 2 min left"
        for person in people[2:]:
            journal.passed(person)
        assert progress.text() == f"{begun}, step 2 of 4 (form liked), about 30 s left"
        for person in people[2:]:
            journal.answered(person, {"fun": 1, "why": ""})
        assert f"step 3 of 4 (game {second})" in progress.text()
        journal.end(people[2], "done")
        assert progress.text().startswith("1 of 2 bots are through")
