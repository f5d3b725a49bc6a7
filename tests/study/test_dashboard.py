"""The host's page of a study: who is where, and what its buttons do."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from study.world import QUICK, changed, served

from collab_overcooked.study.dashboard import overview
from collab_overcooked.study.journal import JOURNAL
from collab_overcooked.study.reader import read_study


def join(client: Any, name: str) -> Any:
    client.cookies.clear()
    client.post("/study/consent", data={"PID": name, "agree": "yes"})
    return list(client.host.journal.people.values())[-1]


@pytest.fixture
def client(tmp_path: Path) -> Any:
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


def test_the_host_ends_extends_and_exports(client: Any, tmp_path: Path) -> None:
    address = f"/study/host/{client.games.token}"
    one, other = join(client, "a"), join(client, "b")
    client.post(f"{address}/end", data={"id": one.id})
    assert one.end == "stopped" and "ended by its organisers" in client.get(f"/study/{one.token}").text
    assert client.post(f"{address}/extend", data={"places": "3"}).json()["limit"] == 7
    for what, fields in (
        ("end", {"id": "x"}),
        ("end", {}),
        ("extend", {"places": "0"}),
        ("extend", {"places": "-1"}),
        ("extend", {"places": "9" * 30}),
        ("extend", {"places": "00000000599999999999"}),
        ("extend", {"places": "\u0665"}),
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


def test_who_waits_stands_in_pools(tmp_path: Path) -> None:
    content = changed("participants", to={"id": "PID", "group": 2, "wait": 300})
    for condition in content["conditions"].values():
        condition["team"] = ["all=person"]
    content["blocks"], content["finish"] = [content["blocks"][2]], {}
    del content["forms"]["before"]
    with served(read_study(content), tmp_path) as client:
        now = [0.0]
        client.host.now = lambda: now[0]
        assert overview(client.host)["waiting"] == []
        join(client, "a")
        now[0] = 14.0
        assert overview(client.host)["waiting"] == [{"group": None, "here": 1, "needed": 2, "seconds": 10}]
        now[0] = 20.0
        assert overview(client.host)["waiting"] == [], "the page does not ask any more"
