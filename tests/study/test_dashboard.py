"""The host's page of a study: who is where, and what its buttons do."""

from __future__ import annotations

import asyncio
import csv
import errno
import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from study.world import QUICK, changed, in_pairs, served
from support.cli_runner import CliRunner

from collab_overcooked.cli import app
from collab_overcooked.study.dashboard import overview
from collab_overcooked.study.journal import JOURNAL, REQUESTS, Journal, add_request, open_requests, study_of
from collab_overcooked.study.reader import read_study
from collab_overcooked.study.results import ExportOptions, StudyResults, export


def join(client: Any, name: str) -> Any:
    client.cookies.clear()
    client.post("/study/consent", data={"PID": name, "agree": "yes"})
    return list(client.host.journal.people.values())[-1]


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("collab_overcooked.study.hosting.SWEEP_INTERVAL", 1e6)  # requests wait for ``take_requests``
    with served(read_study(QUICK), tmp_path) as result:
        yield result


def test_the_host_sees_who_is_where(client: Any) -> None:
    now, clock = [0.0], [1000.0]
    host, journal = client.host, client.host.journal
    host.now, journal.clock = lambda: now[0], lambda: clock[0]
    one, other, third = (join(client, name) for name in ("panel-1", "panel-2", "panel-3"))
    clock[0] += 60
    client.post(f"/study/{one.token}", data={"step": "0"})
    clock[0] += 120
    client.post(f"/study/{one.token}", data={"step": "1", "age": "20"})
    client.post(f"/study/{other.token}", data={"step": "0"})
    host.end(third, "left")
    journal.decline()
    address = f"/study/host/{client.games.token}"
    assert client.get(address).status_code == 200
    result = client.get(f"{address}/data").json()
    rows = {row["id"]: row for row in result["people"]}
    condition = journal.step_of(one).condition
    assert (rows[one.id]["doing"], rows[one.id]["condition"]) == (f"game ({condition})", condition)
    assert (rows[other.id]["doing"], rows[other.id]["step"], rows[other.id]["steps"]) == ("before", 2, 6)
    assert [rows[entry.id]["connection"] for entry in (one, other, third)] == ["page", "page", ""]
    assert rows[third.id]["end"] == "left" and rows[one.id]["minutes"] == 3
    assert (result["completed"], result["limit"], result["under_way"], result["declined"]) == (0, 4, 2, 1)
    assert result["medians"] == [
        {"step": "How", "people": 2, "minutes": 2.0},
        {"step": "before", "people": 1, "minutes": 2.0},
    ]
    assert "panel-" not in json.dumps(result), "the host's screen names nobody"
    now[0] = 5000.0
    assert {row["connection"] for row in client.get(f"{address}/data").json()["people"]} == {"idle", ""}


def test_medians_have_the_time_on_a_step_after_a_skipped_one(tmp_path: Path) -> None:
    content = changed("blocks", 1, to={"form": "before", "show_if": {"first.plays": "yes"}})
    content["forms"]["first"] = {
        "title": "First",
        "items": [{"name": "plays", "choice": ["yes", "no"], "ask": "Do you play?"}],
    }
    content["blocks"] = [{"form": "first"}, content["blocks"][1], content["blocks"][0], content["blocks"][2]]
    with served(read_study(content), tmp_path) as client:
        clock = [1000.0]
        client.host.journal.clock = lambda: clock[0]
        one = join(client, "panel-1")
        for step, answers in enumerate(({"plays": "no"}, {}, {})):
            clock[0] += 60
            client.post(f"/study/{one.token}", data={"step": str(step)} | answers)
        medians = overview(client.host)["medians"]
        pages = [row["seconds"] for row in StudyResults(client.host.journal).pages()]
    assert medians == [{"step": "first", "people": 1, "minutes": 1.0}, {"step": "How", "people": 1, "minutes": 2.0}]
    assert pages == [60.0, 120.0], "as in the export"


def test_the_host_ends_extends_and_exports(client: Any, tmp_path: Path) -> None:
    address = f"/study/host/{client.games.token}"
    one, other = join(client, "a"), join(client, "b")
    client.post(f"{address}/end", data={"id": one.id})
    assert one.end == "stopped" and "ended by its organisers" in client.get(f"/study/{one.token}").text
    assert client.post(f"{address}/raise", data={"name": "limit", "value": "7"}).json()["limit"] == 7
    for what, fields in (
        ("end", {"id": "x"}),
        ("end", {}),
        ("raise", {"name": "limit", "value": "7"}),
        ("raise", {"name": "limit", "value": "-1"}),
        ("raise", {"name": "limit", "value": "9" * 30}),
        ("raise", {"name": "limit", "value": "999999"}),
        ("raise", {"name": "limit", "value": "\u0668"}),
        ("raise", {"name": "minutes", "value": "8"}),
        ("raise", {"name": "seed", "value": "8"}),
        ("forget", {"id": "x"}),
    ):
        assert client.post(f"{address}/{what}", data=fields).status_code == 400
    for name, ids in (("export", {one.id, other.id}), ("export?anonymous=yes", set())):
        content = io.BytesIO(client.get(f"{address}/{name}").content)
        with zipfile.ZipFile(content) as archive, archive.open("participants.csv") as lines:
            rows = list(csv.DictReader(io.TextIOWrapper(lines)))
        assert {row["end"] for row in rows} == {"stopped", ""}
        assert ids <= {row["id"] for row in rows} and (ids or not {one.id, other.id} & {row["id"] for row in rows})
    assert '"a"' not in (tmp_path / JOURNAL).read_text()


def test_strangers_see_nothing_and_end_nobody(client: Any) -> None:
    one = join(client, "a")
    for token in ("x", one.token):
        for path in ("", "/data", "/export"):
            assert client.get(f"/study/host/{token}{path}").status_code == 404
        assert client.post(f"/study/host/{token}/end", data={"id": one.id}).status_code == 404
    address = f"/study/host/{client.games.token}/end"
    foreign = client.post(address, data={"id": one.id}, headers={"origin": "https://elsewhere.example"})
    assert foreign.status_code == 403 and not one.end and client.get(address).status_code == 405


@pytest.mark.parametrize(
    ("what", "known", "status", "most"), [("end", True, 413, 2), ("end", False, 404, 0), ("x", True, 404, 0)]
)
def test_no_more_of_a_body_is_read_than_allowed(client: Any, what: str, known: bool, status: int, most: int) -> None:
    """Asked as the web server asks: the test client reads bodies itself."""
    token = client.games.token if known else "x"
    scope = {
        "type": "http",
        "method": "POST",
        "path": f"/study/host/{token}/{what}",
        "headers": [(b"host", b"localhost")],
    }
    read, sent = [], []

    async def receive() -> dict[str, Any]:
        read.append(b"id=" + b"x" * 997)
        return {"type": "http.request", "body": read[-1], "more_body": len(read) < 200}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(client.app(scope | {"query_string": b"", "root_path": ""}, receive, send))
    assert (sent[0]["status"], len(read)) == (status, most)


def test_who_waits_stands_in_pools(tmp_path: Path) -> None:
    content = in_pairs(wait=300)
    with served(read_study(content), tmp_path) as client:
        now = [0.0]
        client.host.now = lambda: now[0]
        assert overview(client.host)["waiting"] == []
        join(client, "a")
        now[0] = 14.0
        assert overview(client.host)["waiting"] == [{"group": None, "here": 1, "needed": 2, "seconds": 10}]
        now[0] = 20.0
        assert overview(client.host)["waiting"] == [], "the page does not ask any more"


def test_commands_reach_a_study_that_runs(client: Any, tmp_path: Path) -> None:
    """The folder is locked by the server: it takes requests to raise limits and to forget, and deletes them."""
    host, journal = client.host, client.host.journal
    one, other = join(client, "panel-1"), join(client, "panel-2")
    client.post(f"/study/{one.token}", data={"step": "0"})
    client.post(f"/study/{one.token}", data={"step": "1", "age": "20"})
    for command in (["raise", "limit=9"], ["raise", "per_network=30", "limit=12"], ["forget", "panel-1"]):
        done = CliRunner().invoke(app, ["study", command[0], str(tmp_path), *command[1:]])
        assert done.exit_code == 0 and "the running study" in done.output, done.output
    requests = open_requests(tmp_path)
    assert len(requests) == 4 and not any(file.stat().st_mode & 0o077 for file in requests)
    assert b"panel-1" not in b"".join(file.read_bytes() for file in requests), "random ids only"
    for command, complaint in (
        (["raise", "limit=2"], "limit must be above 4"),
        (["raise", "limt=20"], "did you mean limit"),
        (["raise", "limit"], "limits: 'limit' should read name=number"),
        (["raise", "limit=60", "limit="], "limits: 'limit=' should read name=number"),
        (["raise", "limit=many"], "a limit must be a number, not 'many'"),
        (["raise", "limit=60", "limit=70"], "limits: 'limit' is given twice"),
        (["raise", "limit=60", "per_network=1"], "per_network must be above"),
        (["forget", "panel-3"], "unknown participant"),
    ):
        done = CliRunner().invoke(app, ["study", command[0], str(tmp_path), *command[1:]])
        assert done.exit_code == 2 and complaint in " ".join(done.output.split()), done.output
    client.portal.call(host.take_requests)
    assert not open_requests(tmp_path)
    assert (journal.limit, journal.limits["per_network"]) == (12, 30)
    assert list(journal.people) == [other.id] and client.get(f"/study/{one.token}").status_code == 404
    everything = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"panel-1" not in everything and one.id.encode() not in everything and one.token.encode() not in everything


def test_a_request_is_deleted_once_it_is_executed(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The disk is full, or a file is damaged: what was asked for stays, other requests are executed."""
    host, journal = client.host, client.host.journal
    one = join(client, "panel-1")
    add_request(tmp_path, {"forget": "panel-1"})
    (tmp_path / REQUESTS / "damaged.json").write_text('{"raise": "limit"')
    with monkeypatch.context() as full:

        def fail(name: str) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        full.setattr(journal, "forget", fail)
        add_request(tmp_path, {"raise": "limit", "to": 9})
        client.portal.call(host.take_requests)
    assert journal.limit == 9 and one.id in journal.people and len(open_requests(tmp_path)) == 2
    assert "No space left on device" in caplog.text and "damaged.json" in caplog.text
    client.portal.call(host.take_requests)
    assert not journal.people and [file.name for file in open_requests(tmp_path)] == ["damaged.json"]
    add_request(tmp_path, {"forget": "panel-1"})  # as if the process had ended before the file was deleted
    client.portal.call(host.take_requests)
    assert "unknown participant" in caplog.text and len(open_requests(tmp_path)) == 1


def test_limits_are_raised_together_or_not_at_all(tmp_path: Path) -> None:
    """Of a study that does not run: one that runs takes them as in the test above."""
    study = read_study(QUICK)
    with Journal.open(tmp_path, study) as journal:
        before = dict(journal.limits)
    for second in ("per_network=0", "limt=70", "limit=70", "minutes"):
        done = CliRunner().invoke(app, ["study", "raise", str(tmp_path), "limit=60", second])
        assert done.exit_code == 2 and Journal(tmp_path, study).limits == before, done.output
    done = CliRunner().invoke(app, ["study", "raise", str(tmp_path), "quota=6", "quota.helped=7"])
    assert done.exit_code == 2 and "not both" in done.output, done.output
    assert CliRunner().invoke(app, ["study", "raise", str(tmp_path), "limit=60"]).exit_code == 0
    assert Journal(tmp_path, study).limits == before | {"limit": 60}


def test_a_participant_who_plays_is_forgotten_everywhere(rehearsed: tuple[Path, Any], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(rehearsed[0], folder)
    with Journal.open(folder, study_of(folder)) as journal:
        person = next(person for person in journal.people.values() if person.end == "left")
        other = next(person for person in journal.people.values() if person.end == "done")
    for name in (person.id, other.id):
        before = b"".join(path.read_bytes() for path in folder.rglob("*.jsonl"))
        assert before.count(name.encode()) > 3
        done = CliRunner().invoke(app, ["study", "forget", str(folder), name])
        assert done.exit_code == 0 and "identity and answers deleted" in done.output
        after = b"".join(path.read_bytes() for path in folder.rglob("*.jsonl"))
        assert name.encode() not in after
    results = StudyResults.read(folder)
    assert len(results.journal.people) == 4 == len(results.participants())
    rows = results.episodes()
    assert len(rows) == 8 and sum(str(row["id"]).startswith("x-") for row in rows) == 2
    assert all(row["group"] is not None for row in rows), "groups hold the new ids, too"
    export(folder, tmp_path / "out", ExportOptions(aborted=True))


def test_the_host_raises_and_forgets_on_the_page(client: Any) -> None:
    address = f"/study/host/{client.games.token}"
    one = join(client, "a")
    assert client.get(f"{address}/data").json()["limits"]["per_network"] == 20
    raised = client.post(f"{address}/raise", data={"name": "per_network", "value": "21"}).json()
    assert raised["limits"]["per_network"] == 21
    assert client.post(f"{address}/forget", data={"id": one.id}).json()["people"] == []
