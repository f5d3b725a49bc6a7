"""Who takes part in a study: checks, limits of time, drop-outs and waiting rooms."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from play.world import Player, first_legal
from study.world import ATTENTIVE, CHECKED, QUICK, changed, in_pairs, served

from collab_overcooked.play.session import UNDECIDED
from collab_overcooked.study.design import Study
from collab_overcooked.study.journal import JOURNAL, Journal
from collab_overcooked.study.reader import read_study
from collab_overcooked.study.results import StudyResults


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
    host.journal.raise_limit("limit", 6)
    assert client.get("/study?PID=x").status_code == 200


def allocate(content: dict[str, Any], folder: Path, leave: Callable[[int], bool]) -> list[str]:
    """Return the conditions of 40 groups of a study between groups, some of which leave at once."""
    from collab_overcooked.play.host import Host
    from collab_overcooked.study.hosting import StudyHost

    with Journal.open(folder, read_study(content)) as journal:
        host = StudyHost(journal, Host())
        for n in range(40):
            person = journal.join({"PID": str(n)})
            host.match(person)
            if leave(n):
                host.end(person, "left")
        host.close()
    with Journal.open(folder, read_study(content)) as journal:
        people = list(journal.people.values())
        played = [[step.condition for step in journal.steps_of(person) if step.kind == "play"] for person in people]
        table = StudyResults.read(folder).participants()
    assert [[row["conditions"]] for row in table] == played
    return [condition for (condition,) in played]


def test_conditions_are_allocated_at_random_in_balanced_blocks(study: Study, tmp_path: Path) -> None:
    content = changed("blocks", 2, "order", to="between")
    given = allocate(content, tmp_path / "all", lambda n: False)
    pairs = list(zip(given[::2], given[1::2], strict=True))
    assert {frozenset(pair) for pair in pairs} == {frozenset({"helped", "hindered"})}, "each block has both"
    assert 0 < sum(pair[0] == "helped" for pair in pairs) < len(pairs), "no block tells the next"
    assert allocate(content, tmp_path / "again", lambda n: False) == given, "the study's seed draws them"
    assert allocate({**content, "seed": 1}, tmp_path / "other", lambda n: False) != given


def test_the_rows_of_drop_outs_are_dealt_out_again(study: Study, tmp_path: Path) -> None:
    content = changed("blocks", 2, "order", to="between")
    given = allocate(content, tmp_path, lambda n: n % 3 == 0)
    stayed = Counter(condition for n, condition in enumerate(given) if n % 3)
    assert abs(stayed["helped"] - stayed["hindered"]) <= 1 and len(stayed) == 2


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


def test_a_full_disk_does_not_end_the_checks_of_waits(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from collab_overcooked.play.host import Host
    from collab_overcooked.study import hosting

    monkeypatch.setattr(hosting, "SWEEP_INTERVAL", 0.0)
    with Journal.open(tmp_path, study) as journal:
        host = hosting.StudyHost(journal, Host())
        checks = iter([OSError("No space left on device"), ValueError("damaged"), asyncio.CancelledError()])

        def fail() -> None:
            raise next(checks)

        monkeypatch.setattr(host, "end_waits", fail)
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(host.sweep())
    assert caplog.messages == ["No space left on device", "damaged"]


def test_a_group_waits_while_too_many_games_are_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is full for longer than people wait for each other: nobody of them is absent."""
    content = in_pairs(wait=20)
    with served(read_study(content), tmp_path) as client:
        now = [0.0]
        client.host.now = lambda: now[0]

        def news(person: Any) -> str:
            return str(client.get(f"/study/{person.token}/news").json()["go"])

        with monkeypatch.context() as full:
            full.setattr("collab_overcooked.play.host.MAX_SESSIONS", 0)
            for name in "ab":
                client.cookies.clear()
                client.post("/study/consent", data={"PID": name, "agree": "yes"})
            people = list(client.host.journal.people.values())
            for _ in range(10):
                now[0] += 10.0
                assert [news(person) for person in people] == ["", ""]
                client.portal.call(client.host.end_waits)
            assert not client.games.sessions and [person.end for person in people] == ["", ""]
        assert all(news(person).startswith("/s/") for person in people)
        (session,) = client.games.sessions.values()
        assert [player.id for player in session.people] == [person.id for person in people]


def test_the_waiting_room_counts_who_looks_at_it(tmp_path: Path) -> None:
    content = in_pairs()
    with served(read_study(content), tmp_path) as client:
        for name in "ab":
            client.cookies.clear()
            client.post("/study/consent", data={"PID": name, "agree": "yes"})
        assert len(client.host.journal.groups) == 1


def test_people_who_miss_each_other_are_told(tmp_path: Path) -> None:
    """Nobody else comes: the waiting room closes after its time; in a group whose member left it closes at once."""
    from collab_overcooked.play.host import Host
    from collab_overcooked.study.hosting import StudyHost

    now = [0.0]
    content = changed("participants", to={"id": "PID", "group": 2, "wait": 60})
    for condition in content["conditions"].values():
        condition["team"] = ["all=person"]
    content["blocks"] = content["blocks"][2:]
    del content["forms"]["before"], content["finish"]
    pair = read_study(content)
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


def test_quotas_close_cells_and_the_study(tmp_path: Path) -> None:
    """Three complete the one condition and one the other; who leaves makes room, and the quota can be raised."""
    content = changed("blocks", to=[{"play": ["helped", "hindered"], "order": "between", "after": "liked"}])
    del content["forms"]["before"]
    content["participants"] |= {"quota": {"helped": 3, "hindered": 1}, "limit": 50, "margin": 0}
    content["finish"]["full"] = {"code": "FULL-{id}", "url": "https://example.org/full"}
    with served(read_study(content), tmp_path) as client:
        host, journal = client.host, client.host.journal

        def join(n: int) -> Any:
            client.cookies.clear()
            return client.post("/study/consent", data={"PID": f"p{n}", "agree": "yes"})

        for n in range(4):
            assert join(n).status_code == 200
            host.match(list(journal.people.values())[-1])
        given = Counter(journal.conditions_of(person)[0] for person in journal.people.values())
        assert given == {"helped": 3, "hindered": 1}
        assert join(4).status_code == 403 and host.refusal() == "full_now"
        first, *others = journal.people.values()
        host.end(first, "left")
        assert join(5).status_code == 200
        last = list(journal.people.values())[-1]
        host.match(last)
        assert journal.conditions_of(last) == journal.conditions_of(first), "the place that became free"
        for person in (*others, last):
            host.end(person, "done")
        page = join(6)
        assert page.status_code == 403 and "FULL-p6" in page.text and "https://example.org/full" in page.text
        journal.raise_limit("quota.hindered", 2)
        assert join(7).status_code == 200
        host.match(list(journal.people.values())[-1])
        cells = {cell["condition"]: cell for cell in host.cells()}
        assert (cells["hindered"]["under_way"], cells["hindered"]["quota"], cells["helped"]["completed"]) == (1, 2, 3)
        assert journal.refused == {"full_now": 1, "full": 1}
        with pytest.raises(ValueError, match=r"quota.hindered must be above 2"):
            journal.raise_limit("quota.hindered", 2)
        with pytest.raises(ValueError, match="did you mean margin"):
            journal.raise_limit("margins", 2)
        for quota in (3, 5):  # below the one quota, above both
            journal.raise_limit("quota", quota)
        with pytest.raises(ValueError, match=r"^quota must be above 5"):
            journal.raise_limit("quota", 5)
    with Journal.open(tmp_path, read_study(content)) as again:
        assert again.limits["quota.hindered"] == again.limits["quota.helped"] == 5
        assert [event["name"] for event in again.events if event["event"] == "raised"] == [
            f"quota.{name}" for name in ("hindered", "hindered", "helped", "hindered")
        ]
        assert again.refused == {"full_now": 1, "full": 1}


def test_every_refusal_has_a_page_with_its_code(tmp_path: Path) -> None:
    content = changed("participants", to=QUICK["participants"] | {"per_network": 1})
    content["finish"] |= {how: {"code": f"CODE-{how}"} for how in ("too_many", "again", "full_now")}
    with served(read_study(content), tmp_path) as client:

        def join(name: str) -> str:
            client.cookies.clear()
            return str(client.post("/study/consent", data={"PID": name, "agree": "yes"}).text)

        join("a")
        assert "CODE-too_many" in join("b")
        client.host.journal.raise_limit("per_network", 9)
        assert "CODE-" not in join("b")
        client.host.end(next(iter(client.host.journal.people.values())), "left")
        assert "CODE-again" in join("a")
        for name in "cdef":
            page = join(name)
        assert "CODE-" not in page and "CODE-full_now" in join("g")
        assert client.host.journal.refused == {"too_many": 1, "again": 1, "full_now": 1}


def test_the_time_for_the_whole_study_is_limited(tmp_path: Path) -> None:
    content = changed("participants", to=QUICK["participants"] | {"minutes": 30})
    content["finish"]["late"] = {"code": "LATE"}
    with served(read_study(content), tmp_path) as client:
        journal, clock = client.host.journal, [100.0]
        journal.clock = lambda: clock[0]
        client.post("/study/consent", data={"PID": "a", "agree": "yes"})
        client.cookies.clear()
        client.post("/study/consent", data={"PID": "b", "agree": "yes"})
        one, other = journal.people.values()
        clock[0] += 30 * 60 - 1
        assert "Read this" in client.get(f"/study/{one.token}").text
        journal.raise_limit("minutes", 31)
        clock[0] += 1
        assert "Read this" in client.get(f"/study/{one.token}").text
        clock[0] += 60
        assert "LATE" in client.get(f"/study/{one.token}").text and one.end == "late"
        assert not other.end
        client.host.end_waits()
        assert other.end == "late", "without any page"


def live_pair(practice: bool = False, **play: Any) -> Study:
    """Return a study in which pairs play two short rounds in real time."""
    content = in_pairs()
    kitchen = {"suite": "overcooked", "options": {"layouts": "cramped_room", "episodes": 1}, "set": {"max_cycles": 12}}
    content["conditions"] = {"helped": {"label": "A", "team": ["all=person"], "episodes": 2, **kitchen}}
    content["blocks"] = [{"play": ["helped"], "after": "liked", "practice": practice}]
    content["play"] = {"clock": "ticks", "tick": 0.03, "countdown": 0.0, "on_leave": "end", **play}
    return read_study(content)


def play_live(client: Any, players: Callable[[Any], Sequence[Player]]) -> list[Any]:
    """Let two people play until taking part has ended for both, or a form follows; returns the participants."""
    for name in "ab":
        client.cookies.clear()
        client.post("/study/consent", data={"PID": name, "agree": "yes"})
    people = list(client.host.journal.people.values())
    assert all(client.get(f"/study/{person.token}/news").status_code == 200 for person in people)
    (session,) = client.games.sessions.values()

    async def together() -> None:
        tasks = [asyncio.create_task(player.run()) for player in players(session)]
        while not all(person.end or person.step for person in people):
            await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()

    client.portal.call(lambda: asyncio.wait_for(together(), 120))
    return people


def acts(*messages: dict[str, Any], practises: bool = True) -> Callable[[dict[str, Any]], dict[str, Any] | None]:
    """Return a player who sends messages in turn with every frame, and none if there are none."""
    in_practice = [False]

    def choose(message: dict[str, Any]) -> dict[str, Any] | None:
        if message["type"] == "welcome":
            in_practice[0] = bool(message["goal"])
        if message["type"] == "frame" and messages and (practises or not in_practice[0]):
            return messages[message["timestep"] % len(messages)]
        return first_legal(message)

    return choose


KEY, SAY = {"type": "tap", "key": "left"}, {"type": "say", "say": "onions"}


@pytest.mark.parametrize(
    ("one", "other", "ends"),
    [
        ([KEY], [], ["partner_left", "left"]),
        ([KEY, SAY], [], ["partner_left", "left"]),
        ([], [], ["left", "left"]),
        ([KEY], [SAY], ["", ""]),
    ],
    ids=["keys", "talk", "nobody", "both"],
)
def test_a_round_in_which_a_person_does_nothing_is_the_last_of_the_group(
    one: list[Any], other: list[Any], ends: list[str], tmp_path: Path
) -> None:
    """Who does nothing has left; the partner is neither asked to play again nor to practise again."""
    players: list[Player] = []

    def seated(session: Any) -> list[Player]:
        players.extend(Player(session, p, acts(*m)) for p, m in zip(session.people, (one, other), strict=True))
        return players

    with served(live_pair(), tmp_path) as client:
        people = play_live(client, seated)
        assert [person.end for person in people] == ends
        results = StudyResults.read(tmp_path)
        ended = players[0].of_type("over")[-1]
        assert not ended["more"] and ended["next"] == f"/study/{people[0].token}"
        if ends[0]:
            assert ended["outcome"] == UNDECIDED and players[0].of_type("over") == [ended]
            assert not results.records["helped"] and [record.ended for record in results.aborted["helped"]] == [
                "abandoned"
            ]
        said = {(row["words"], row["ended"]) for row in results.messages(aborted=True)}
        assert said == ({("onions", "abandoned" if ends[0] else "")} if SAY in (*one, *other) else set())
        assert len(results.messages()) == 0 or not ends[0]


def test_who_does_nothing_in_practice_can_still_play(tmp_path: Path) -> None:
    with served(live_pair(practice=True), tmp_path) as client:
        chosen = [acts(KEY), acts(KEY, practises=False)]
        people = play_live(
            client, lambda session: [Player(session, p, c) for p, c in zip(session.people, chosen, strict=True)]
        )
        assert [person.end for person in people] == ["", ""]


@pytest.mark.parametrize("on_leave", ["end", "idle"])
def test_a_pair_that_is_gone_has_left(on_leave: str, tmp_path: Path) -> None:
    """Both close their tabs during the countdown, when no seat is asked for anything."""

    class Leaver(Player):
        async def run(self) -> None:
            self.session.connect(self.person, self.send_queue)
            while (message := await self.send_queue.get()) is not None and message["type"] != "countdown":
                if answer := first_legal(message):
                    self.session.receive(self.person, answer)
            self.session.disconnect(self.person, self.send_queue)

    with served(live_pair(countdown=0.3, grace=0.5, on_leave=on_leave), tmp_path) as client:
        people = play_live(client, lambda session: [Leaver(session, p, first_legal) for p in session.people])
        assert [person.end for person in people] == ["left", "left"] and client.host.under_way == 0
