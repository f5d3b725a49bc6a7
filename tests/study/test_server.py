"""Pages of a study by requests: consent, steps, leaving, strangers and previews."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from study.world import QUICK, changed, in_pairs, served
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.study.design import Study
from collab_overcooked.study.journal import JOURNAL, PEOPLE
from collab_overcooked.study.reader import read_study
from collab_overcooked.study.results import StudyResults


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
    (person,) = client.host.journal.people.values()
    label = client.host.study.conditions[client.host.journal.step_of(person).condition].label
    assert f'href="{home}/play"' in page.text and f"you play: {label}" in page.text
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
        assert "end for you for good" in client.get(f"{home}/leave").text and "/play" in client.get(home).text
        last = client.post(f"{home}/leave").text
        assert "Wait until you have been paid" in client.get(f"{home}/delete").text
        assert "Your partner was a program." in last and "L-1" in last and f"{home}/delete" in last
        stored = [tmp_path / name for name in (JOURNAL, PEOPLE)]
        assert "42" in stored[0].read_text() and "p1" in stored[1].read_text()
        client.get(f"{home}/delete")
        assert "p1" in stored[1].read_text(), "a link alone deletes nothing"
        assert "L-1" in client.post(f"{home}/delete").text
        assert '"age"' not in stored[0].read_text() and not stored[1].read_text()
        assert client.get(home).status_code == 404


def test_who_is_screened_out_before_the_first_game_is_not_debriefed(tmp_path: Path) -> None:
    screening = {"title": "S", "items": [{"name": "sees", "choice": ["a", "b"], "accept": ["a"], "ask": "Sees?"}]}
    values = {**QUICK, "debrief": "Your partner was a program.", "finish": {}}
    values["forms"] = {"liked": screening}
    values["blocks"] = [{"form": "liked"}, {"play": ["helped", "hindered"], "after": "liked"}]
    last = []
    with served(read_study(values), tmp_path) as client:
        for name, answers in (("early", ["b"]), ("late", ["a", "b"])):
            client.cookies.clear()
            home = client.post("/study/consent", data={"PID": name, "agree": "yes"}).url.path
            person = client.host.journal.by_token(home.rpartition("/")[2])
            for answer in answers:
                page = client.post(home, data={"step": str(person.step), "sees": answer})
                if not person.end:
                    client.host.journal.passed(person)  # the game
            assert person.end == "screened" and f"{home}/delete" in page.text
            last.append(page.text)
    assert ["Your partner was a program." in text for text in last] == [False, True]


@pytest.mark.parametrize(
    ("language", "group", "text"),
    [
        ("en", 2, "You will play with one other participant."),
        ("en", 3, "You will play with 2 other participants."),
        ("de", 2, "Du spielst mit einer anderen Person."),
        ("de", 3, "Du spielst mit 2 anderen Personen."),
    ],
)
def test_the_waiting_room_says_with_how_many_others_people_play(
    language: str, group: int, text: str, tmp_path: Path
) -> None:
    content = in_pairs() | {"language": language}
    content["participants"] |= {"group": group}
    if group == 3:
        for condition in content["conditions"].values():
            condition["options"] |= {"agents": [3]}
    with served(read_study(content), tmp_path) as client:
        assert text in client.post("/study/consent", data={"PID": "p", "agree": "yes"}).text


def test_boxes_are_ticked_and_needs_are_said_before_consent(tmp_path: Path) -> None:
    values = {**QUICK, "boxes": ["I am <18> or older", "I agree"], "needs": {"width": 800, "mouse": True}}
    with served(read_study(values), tmp_path) as client:
        page = client.get("/study?PID=p1").text
        assert "800 pixels, a mouse" in page and "keyboard" not in page and "&lt;18&gt;" in page
        assert 'id="unfit"' in page and 'id="no-mouse"' in page
        assert "I agree" in client.get("/study/copy").text and "<script" not in client.get("/study/copy").text
        page = client.post("/study/consent", data={"PID": "p1", "agree": "yes", "box0": "yes"})
        assert "tick all" in page.text and not (tmp_path / JOURNAL).exists()
        page = client.post("/study/consent", data={"PID": "p1", "agree": "yes", "box0": "yes", "box1": "yes"})
        assert "Read this." in page.text
    with served(read_study({**QUICK, "needs": {"width": 800}}), tmp_path / "wide") as client:
        page = client.get("/study?PID=p1").text
        assert 'id="unfit"' in page and "mouse or" not in page
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
        assert page.status_code == 429 and "try again in 1 min" in page.text
    assert len((tmp_path / JOURNAL).read_text().splitlines()) == server.MAX_ANSWERS
    assert not (tmp_path / PEOPLE).exists()


def test_a_stranger_cannot_fill_the_study(tmp_path: Path) -> None:
    """Two of eight people may come from one network at once, and two more in an hour."""
    content = changed("participants", to={"id": "PID", "keep": ["STUDY"], "limit": 8})
    with served(read_study(content), tmp_path) as client:
        now = [0.0]
        client.host.now = lambda: now[0]
        joined = [client.post("/study/consent", data={"PID": f"p{n}", "agree": "yes"}).status_code for n in range(5)]
        assert joined == [200, 200, 429, 429, 429]
        now[0] = 601.0
        assert "try again in 20 min" in client.post("/study/consent", data={"PID": "p9", "agree": "yes"}).text
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


def test_without_panel_ids_the_cookie_alone_leads_back(tmp_path: Path) -> None:
    content = changed("participants", to={"keep": ["STUDY"]})
    content["finish"] = {}
    with served(read_study(content), tmp_path) as client:
        home = client.post("/study/consent", data={"agree": "yes"}).url.path
        for address in ("/study", "/study?STUDY=s1"):
            assert client.get(address).url.path == home
        assert client.post("/study/consent", data={"agree": "yes"}).url.path == home
        assert len(client.host.journal.people) == 1
        client.cookies.clear()
        assert client.get("/study").url.path == "/study"


@pytest.mark.parametrize(("panel_id", "counted"), [("PID", 2), ("", 1)])
def test_a_refused_person_is_counted_once(panel_id: str, counted: int, tmp_path: Path) -> None:
    """By the panel's id, without one by the network, however often the page is loaded."""
    participants = {"limit": 1, "margin": 0} | ({"id": panel_id} if panel_id else {})
    with served(read_study(changed("participants", to=participants) | {"finish": {}}), tmp_path) as client:
        client.post("/study/consent", data={"PID": "p1", "agree": "yes"})
        client.cookies.clear()
        for name in ("p2", "p3"):
            for _ in range(5):
                assert client.get(f"/study?PID={name}").status_code == 403
            assert client.post("/study/consent", data={"PID": name, "agree": "yes"}).status_code == 403
        assert client.host.journal.refused == {"full_now": counted}
        rows = [row for row in StudyResults.read(tmp_path).participants() if row["end"] == "full_now"]
        assert len(rows) == counted


def test_cookies_are_sent_by_encrypted_connections_alone_where_there_are_any(client: Any) -> None:
    for base, secure in (("http://localhost", False), ("https://localhost", True)):
        client.cookies.clear()
        sent = {"PID": f"p{secure}", "agree": "yes"}
        result = client.post(f"{base}/study/consent", data=sent, follow_redirects=False)
        assert ("Secure" in result.headers["set-cookie"].split("; ")) is secure


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
    done = CliRunner().invoke(app, ["study", "run", str(file), "--preview", "--out", "kept"])
    assert done.exit_code == 2 and "out: a preview keeps no results" in done.output and not joined
    done = CliRunner().invoke(app, ["study", "run", str(file), "--preview"])
    assert done.exit_code == 0 and joined == [303] * 6, done.output
    assert list(tmp_path.iterdir()) == [file]


def test_a_study_that_is_not_filled_in_is_rehearsed_only(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["study", "run", "cots_partner", "--out", str(tmp_path / "x"), "--port", "0"])
    assert done.exit_code == 2 and not (tmp_path / "x").exists()
    message = " ".join(done.output.split())
    assert "consent, finish.done.code, finish.done.url, finish.failed.code, finish.failed.url" in message


@pytest.mark.parametrize(
    ("participants", "query", "for_prolific"),
    [
        (
            {"id": "PROLIFIC_PID", "keep": ["STUDY_ID", "class_name"]},
            "?PROLIFIC_PID=ID&STUDY_ID=ID&class_name=ID",
            "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}",
        ),
        ({"id": "worker"}, "?worker=ID", ""),
        ({}, "", ""),
    ],
)
def test_the_command_prints_addresses_with_all_parameters(
    participants: dict[str, Any], query: str, for_prolific: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collab_overcooked.play.server.serve", lambda web, address, port, ready: ready(port))
    (tmp_path / "quick.yaml").write_text(json.dumps(QUICK | {"participants": participants, "finish": {}}))
    done = CliRunner().invoke(app, ["study", "run", str(tmp_path / "quick.yaml"), "--out", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert f"participants: http://127.0.0.1:8000/study{query}" in lines, done.output
    prolific = [line.removeprefix("address for Prolific: ") for line in lines if "Prolific" in line]
    assert prolific == ([f"http://127.0.0.1:8000/study{for_prolific}"] if for_prolific else [])
