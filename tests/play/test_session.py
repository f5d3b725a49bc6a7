"""Sessions: turns and ticks, talk, refusals, coming back, leaving, records."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections import Counter
from itertools import count, product
from typing import Any

import pytest
from play.world import ESCAPE, KITCHEN, Player, first_legal, lines, matches, play

from collab_overcooked import registry
from collab_overcooked.core.limits import Limits
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.play.messages import read_message
from collab_overcooked.play.people import SendQueue
from collab_overcooked.play.practice import TUTORIAL
from collab_overcooked.play.recording import ABORTED, INPUTS
from collab_overcooked.play.settings import PlaySettings
from collab_overcooked.policies.specs import PolicySpec, make_policy
from collab_overcooked.runner.records import read_records
from collab_overcooked.runner.replay import first_difference


def test_a_game_of_a_person_is_an_ordinary_record(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    (player,) = play(session)
    (record,) = read_records(session.folder.path)
    assert record.team == {"agent_0": "person", "agent_1": "greedy"} and first_difference(record) is None
    facts = record.people["agent_0"]
    assert facts.id == session.people[0].id and facts.clock == "turns" and facts.decisions > 0
    assert all(step.seconds[0] is not None and step.seconds[1] is None for step in record.steps)
    suite = registry.suite_of(record)
    assert suite.score([record], registry.load_suite_options(suite.name).scoring()) and record.metrics
    (over,) = player.of_type("over")
    assert over["outcome"] == suite.outcome(record) and over["lost"] is not record.success
    assert [line["agent"] for line in lines(session, INPUTS)] == ["agent_0"] * facts.decisions


def test_each_decision_is_logged_with_the_state_and_its_options(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    play(session)
    (record,) = read_records(session.folder.path)
    facts = record.people["agent_0"]
    assert (facts.session, facts.number) == (session.id, 1) and 0 < facts.started <= facts.answered
    for line in lines(session, INPUTS):
        assert (line["session"], line["number"]) == (facts.session, facts.number)
        assert line["choice"] == line["plan"] and line["options"] > 1 and len(line["state"]) == 16


def test_pages_report_the_window_and_losses_of_the_focus(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    (person,) = session.people
    for lost in (False, True, True):
        session.receive(person, read_message(json.dumps({"type": "window", "width": 500, "lost": lost})))
    entry = person.entry()
    assert (entry["window"], entry["focus_losses"], entry["answered"]) == ("small", 2, 0)
    person.begin()
    assert (person.entry()["window"], person.entry()["focus_losses"]) == ("small", 0), "losses are those of an episode"


def test_episodes_of_the_same_task_are_numbered_on(make_session) -> None:
    session = make_session(["all=person"], **ESCAPE)
    session.matches = session.matches * 2
    play(session)
    assert [record.episode for record in read_records(session.folder.path)] == [0, 1]


def test_series_of_episodes_go_on_in_one_environment(make_session) -> None:
    what = {"suite": "rush", "scenario": ["hard"], "domain": ["kitchen"], "episodes": 2}
    session = make_session(["agent_0=person", "agent_1=greedy"], **what)
    (player,) = play(session)
    records = read_records(session.folder.path)
    assert [record.episode for record in records] == [0, 1] and not any(map(first_difference, records))
    assert [record.round for record in records] == [0, 1], "the second is not the first one again"
    assert [over["more"] for over in player.of_type("over")][:2] == [True, False]


def test_only_people_play_people() -> None:
    assert PolicySpec.parse("person").kind == "human"
    with pytest.raises(ValueError, match="collab-overcooked play"):
        make_policy("person")


def test_two_people_hear_each_other(make_session) -> None:
    def talker(message):
        answer = first_legal(message)
        return answer | {"say": "the left room"} if answer and answer["type"] == "act" else answer

    def replier(message):
        answer = first_legal(message)
        return answer | {"say": "I come"} if answer and answer["type"] == "reply" and message["inbox"] else answer

    session = make_session(["all=person"], **ESCAPE)
    players = play(session, [talker, replier])
    (record,) = session.records
    reply = Counter((m.agent, m.say) for step in record.steps for m in step.messages)
    assert reply[0, "the left room"] and reply[1, "I come"]
    replies = [ask for ask in players[1].of_type("ask") if ask["kind"] == "reply"]
    assert replies[0]["inbox"][0]["say"] == "the left room"


def test_a_refused_action_is_explained_and_asked_again(make_session) -> None:
    tried = []

    def stubborn(message):
        answer = first_legal(message)
        if answer and answer["type"] == "act" and not tried:
            tried.append(message["turn"])
            return answer | {"plan": "fly to the moon"}
        return answer

    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    (player,) = play(session, stubborn)
    first, second = player.of_type("ask")[:2]
    assert second["turn"] == first["turn"] + 1 and second["timestep"] == first["timestep"]
    assert second["attempt"] == "fly to the moon" and second["error"][1]
    assert session.records[0].steps[0].errors[0].agent == 0
    assert session.records[0].people["agent_0"].refused == 1


def test_late_and_repeated_answers_are_ignored(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)

    def twice(message):
        answer = first_legal(message)
        if answer and answer["type"] == "act":
            session.receive(session.people[0], answer)
            session.receive(session.people[0], answer | {"turn": answer["turn"] - 1})
        return answer

    play(session, twice)
    (record,) = session.records
    assert record.people["agent_0"].decisions == len(record.steps)


def test_who_does_not_decide_in_time_idles(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], how={"decide_within": 1.0}, **ESCAPE)
    seconds = iter(range(0, 10**9, 3))
    session._now = lambda: float(next(seconds))
    over = []
    session._on_over = over.append
    play(session, lambda message: first_legal(message) if message["type"] == "state" else None)
    (record,) = over
    assert record.people["agent_0"].timeouts == len(record.steps)
    assert {step.action_texts[0] for step in record.steps} == {"wait"}
    assert record.ended == "abandoned" and not session.records, "nobody decided anything, so it counts nowhere"


def test_a_voice_without_a_seat_is_heard_by_all(make_session) -> None:
    def speak(message):
        if message["type"] == "ask" and message["kind"] == "voice":
            return {"type": "reply", "turn": message["turn"], "plan": "", "say": "hurry", "last": False}
        return first_legal(message)

    session = make_session(["all=greedy"], voice=True, **ESCAPE)
    play(session, speak)
    replies = [m for step in session.records[0].steps for m in step.messages]
    assert replies and {(m.agent, m.say) for m in replies} == {(None, "hurry")}


@pytest.mark.parametrize(
    ("suite", "what"),
    [
        ("cuisineworld", {"levels": "level_3", "agents": (2,), "alphas": (2.0,), "episodes": 1}),
        ("craft", {"paces": (1,), "agents": (2,), "episodes": 1}),
    ],
)
def test_a_voice_orders_what_comes_next(make_session, suite, what) -> None:
    refused = []

    def chef(message):
        if message["type"] == "refused":
            refused.append(message["message"])
        elif message["type"] == "ask" and message["kind"] == "voice":
            answer = {"type": "reply", "turn": message["turn"], "plan": "", "say": "", "last": False}
            if message["timestep"] == 1:  # in other cases than those of the menu
                return answer | {"plan": "; ".join([message["actions"][-1].upper()] * 3), "say": "hurry"}
            if message["timestep"] == 2 and not refused:
                session.receive(session.voice, answer | {"plan": "pizza funghi"})
                session.receive(session.voice, answer | {"plan": ";".join([message["actions"][0]] * 150)})
            return answer
        return first_legal(message)

    session = make_session(["all=greedy"], voice=True, suite=suite, **what)
    (player,) = play(session, chef)
    (record,) = session.records
    known = player.of_type("ask")[0]["actions"]
    assert [t for t, step in enumerate(record.steps) if step.ordered] == [1]
    assert record.steps[1].ordered == [known[-1]] * 3
    assert record.options["orders"][1:4] == [known[-1]] * 3
    assert "order" in refused[0] and "at most" in refused[1]
    assert first_difference(read_records(session.folder.path)[0]) is None


def test_nothing_can_be_ordered_where_nothing_is_drawn() -> None:
    env = registry.make("CollabEscape-v0")
    env.reset(seed=0)
    with pytest.raises(ValueError, match="does not accept orders"):
        env.order_next(["soup"])


def test_real_time_takes_keys_and_keeps_chat(make_session) -> None:
    def mash(message):
        if message["type"] == "frame" and message["timestep"] == 2:
            return {"type": "key", "key": "left", "down": True}
        if message["type"] == "frame" and message["timestep"] == 5:
            return {"type": "say", "say": "onion"}
        return first_legal(message)

    session = make_session(["agent_0=person", "agent_1=greedy"])
    play(session, mash)
    (record,) = session.records
    assert (record.people["agent_0"].clock, record.people["agent_0"].tick) == ("ticks", 0.03)
    assert [step.action_texts[0] for step in record.steps][-4:] == ["west"] * 4
    assert [m.say for step in record.steps for m in step.messages] == ["onion"]
    assert first_difference(record) is None


@pytest.mark.parametrize(
    ("how", "by_text"), [({}, False), ({"show": "picture"}, False), ({"show": "words"}, True), ({"menu": "none"}, True)]
)
def test_rules_have_positions_and_spellings_for_those_who_play_by_text(make_session, how, by_text: bool) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], how=how)
    (player,) = play(session)
    assert ("(column, row)" in player.of_type("welcome")[0]["manual"]) == by_text


def test_a_person_comes_back_to_the_same_moment(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    person = session.people[0]

    async def story() -> None:
        running = asyncio.create_task(session.run())
        first, second = SendQueue("test"), SendQueue("test")
        session.connect(person, first)
        while (message := await first.get())["type"] != "ask":
            if answer := first_legal(message):
                session.receive(person, answer)
        session.disconnect(person, first)
        await asyncio.sleep(0.01)
        session.connect(person, second)
        again = [await second.get() for _ in range(3)]
        assert [m["type"] for m in again] == ["welcome", "frame", "ask"]
        assert again[2] == message and again[1]["text"] and again[1]["picture"]["put"]["board"]
        third = Player(session, person, first_legal)
        await asyncio.gather(third.run(), running)
        taken = [await second.get() for _ in range(second.waiting)]
        assert [m and m["type"] for m in taken][-2:] == ["taken_over", None]

    asyncio.run(asyncio.wait_for(story(), 60))
    assert session.records[0].people["agent_0"].disconnects == 1
    assert first_difference(session.records[0]) is None


def test_every_round_begins_with_a_whole_frame_that_follows_no_other(make_session) -> None:
    session = make_session(["all=person"], rounds=2 * matches(["all=person"], **ESCAPE), **ESCAPE)

    def talk(message: dict[str, Any]) -> dict[str, Any] | None:
        answer = first_legal(message)
        return answer | {"say": "hello"} if answer and message["type"] == "ask" else answer

    for player in play(session, talk):
        frames = player.of_type("frame")
        beginnings = [frame for frame in frames if "whole" in frame]
        assert [frame["timestep"] for frame in beginnings] == [0, 0]
        assert all(frame["said"] == [] for frame in beginnings)
        assert all("board" in frame["picture"]["put"] for frame in beginnings)
        assert any(frame["said"] for frame in frames)
    send_queue = SendQueue("test")
    old = {"type": "frame", "timestep": 9, "said": ["hello"], "text": "old", "picture": {"put": {"r": 1}}}
    new = {"type": "frame", "timestep": 0, "said": [], "picture": {"put": {"board": 1}}, "whole": True}
    for frame in (old, dict(new)):
        send_queue.put(frame)
    assert send_queue.waiting == 1 and asyncio.run(send_queue.get()) == new


def test_who_comes_back_is_told_what_was_said(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], voice=True, **ESCAPE)
    person, voice = session.people

    async def story() -> None:
        running = asyncio.create_task(session.run())
        speaker = Player(
            session,
            voice,
            lambda asked: (first_legal(asked) or {}) | {"say": "run"} if asked["type"] == "ask" else first_legal(asked),
        )
        first, second = SendQueue("test"), SendQueue("test")
        speaking = asyncio.create_task(speaker.run())
        session.connect(person, first)
        while (message := await first.get())["type"] != "ask" or message["timestep"] < 2:
            if answer := first_legal(message):
                session.receive(person, answer)
        session.disconnect(person, first)
        session.connect(person, second)
        while (message := await second.get())["type"] != "frame":
            pass
        assert message["whole"] and [entry["say"] for entry in message["said"]].count("run") >= 1
        session.stop()
        await asyncio.gather(running, speaking)

    asyncio.run(asyncio.wait_for(story(), 60))


@pytest.mark.parametrize("leave", ["idle", "greedy", "end"])
def test_a_seat_whose_person_does_not_come_back(make_session, leave) -> None:
    session = make_session(["all=person"], how={"grace": 0.0, "on_leave": leave}, **ESCAPE)
    left, stays = session.people

    async def story() -> None:
        other = Player(session, stays, first_legal)
        gone = Player(
            session,
            left,
            lambda message: first_legal(message) if message["type"] == "state" or other.of_type("ask") else None,
        )
        tasks = [asyncio.create_task(player.run()) for player in (other, gone)]
        running = asyncio.create_task(session.run())
        while not gone.of_type("ask"):
            await asyncio.sleep(0.001)
        session.disconnect(left, gone.send_queue)
        await running
        await asyncio.wait(tasks, timeout=1)

    asyncio.run(asyncio.wait_for(story(), 60))
    assert len(session.records) == (leave != "end") and len(lines(session, ABORTED)) == (leave == "end")


def test_who_leaves_ends_the_game_and_the_other_is_told(make_session) -> None:
    session = make_session(["all=person"], **ESCAPE)
    session.people[1].next = "/finish"

    def leaver(message):
        return {"type": "leave"} if message["type"] == "ask" else first_legal(message)

    players = play(session, [leaver, first_legal])
    over = players[1].of_type("over")[0]
    assert over["left"] and over["outcome"].endswith("has left.") and over["next"] == "/finish"
    assert players[0].of_type("over")[0]["outcome"] == "You have left."
    (aborted,) = lines(session, ABORTED)
    assert aborted["ended"] == "left" and not (session.folder.path / "records.jsonl").exists()


def test_an_error_of_a_policy_reaches_people(make_session) -> None:
    class Broken:
        name = "greedy"

        def reset(self, seat, info, seed) -> None: ...

        def act(self, seen):
            raise RuntimeError("no key")

        def reply(self, seen): ...

    session = make_session(["agent_0=person", "agent_1=greedy"], make=lambda spec: Broken(), **ESCAPE)
    (player,) = play(session)
    assert str(session.error) == "no key" and "technical" in player.of_type("over")[0]["outcome"]
    assert "no key" not in json.dumps(player.got), "errors may name what pages must not know"


def test_a_page_gets_nothing_that_its_seat_may_not_know(make_session) -> None:
    """The helper of Collab-Overcooked is never sent the recipe, nor a partner's history, plan or menu."""
    what = {"suite": "collab-overcooked", "tasks": ["baked_bell_pepper"]}
    session = make_session(["agent_0=greedy", "agent_1=person"], **what)
    (player,) = play(session)
    session.env.reset(seed=0)  # the order may be delivered by now
    chef = session.env.game.seen(session.env.clone_state().state, 0, 0)
    sent = json.dumps(player.got)
    assert chef.recipe or "recipe" in chef.text.lower()
    for line in (chef.recipe or "").splitlines():
        assert len(line) < 12 or line not in sent
    for key in ("seed", "state_vector", "rng", '"scene"', "action_mask"):
        assert key not in sent


def test_the_same_bytes_whatever_a_seat_may_not_know() -> None:
    """Two moments that differ in hidden chance alone are sent alike."""
    from collab_overcooked.envs.api import clone
    from collab_overcooked.play.shown import frame_of, question_of
    from collab_overcooked.policies.api import AgentView

    for suite in ("overcooked", "cuisineworld", "collab-overcooked", "collab-escape", "rush", "housework"):
        plan = plan_evaluation(suite, ["all=random"])
        match = next(match for match in plan.matches if len(match.team) > 1)
        env = registry.make(match.env_id, **match.env_kwargs)
        env.reset(seed=3)
        other = clone(env.arrays[0], 0)
        other.rng[:] += 1
        settings = PlaySettings()
        for seat in range(env.game.n_agents):
            pages = []
            for state in (clone(env.arrays[0], 0), other):
                seen = AgentView.of(env.game, state, env.arrays[1], seat)
                sent = [frame_of(env.game, seen, settings, SendQueue()), question_of(seen, "act", 1, settings)]
                pages.append(json.dumps(sent))
            assert pages[0] == pages[1], (suite, seat)


def test_words_alone_or_the_picture_alone(make_session) -> None:
    for show, has, lacks in (("words", "text", "picture"), ("picture", "picture", "text")):
        session = make_session(["agent_0=person", "agent_1=greedy"], how={"show": show, "names": "blind"}, **ESCAPE)
        (player,) = play(session)
        frames = player.of_type("frame")
        assert all(has in frame and lacks not in frame for frame in frames)
        assert "greedy" not in json.dumps(player.of_type("welcome"))


def test_a_watcher_sees_and_does_nothing(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    watcher, send_queue = session.watch(), SendQueue("test")
    session.connect(watcher, send_queue)
    session.receive(watcher, {"type": "leave"})
    play(session)
    kinds = Counter(message["type"] for message in send_queue._queue)
    assert kinds["frame"] and not kinds["ask"] and session.records


def test_what_people_write_is_read_in_a_thread_and_others_are_served_meanwhile(make_session, monkeypatch) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    loops, read = [], threading.Event()

    def parse_plan(plan: str, seat: int = 0) -> tuple[list[str], list[str]]:
        try:
            asyncio.get_running_loop()
            loops.append(plan)  # the event loop would stand still
        except RuntimeError:
            assert read.wait(60)
        return [plan], []

    def answer(message):
        result = first_legal(message)
        if result and result["type"] == "act":
            monkeypatch.setattr(session.driver.game, "parse_plan", parse_plan, raising=False)
            read.clear()
            asyncio.get_running_loop().call_later(0.01, read.set)  # nobody would, if the loop waited for the reader
        return result

    play(session, answer)
    assert session.records and not loops


def test_the_first_step_waits_until_the_goal_was_read(make_session) -> None:
    session, ready = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE), []

    def reader(message):
        if message["type"] == "ask":
            assert ready
        if message["type"] == "state" and message["state"] == "ready":
            ready.append(message)
        return first_legal(message)

    (player,) = play(session, reader)
    welcome = player.of_type("welcome")[0]
    assert "2 generators" in welcome["objective"] and welcome["limit"] == 30 and session.records


def test_the_card_names_the_goals_of_the_episode_that_follows(make_session) -> None:
    objectives = set()
    for seed in range(3):
        session = make_session(["agent_0=person", "all=random"], suite="housework", episodes=1, seed=seed)
        (player,) = play(session, lambda each: {"type": "leave"} if each["type"] == "ask" else first_legal(each))
        picture = player.of_type("frame")[0]["picture"]["put"]
        needed = re.findall(r"'([a-z ]+) 0 of (\d+)", str([card for key, card in picture.items() if key[0] == "k"]))
        objective = player.of_type("welcome")[0]["objective"]
        assert needed and all(f"{name} ({count})" in objective for name, count in needed), (objective, picture)
        objectives.add(objective)
    assert len(objectives) > 1


@pytest.mark.parametrize(("partner", "talks"), [("greedy", False), ("late:4:greedy", False), ("person", True)])
def test_pages_know_whether_a_partner_reads(make_session, partner, talks) -> None:
    session = make_session(["agent_0=person", f"agent_1={partner}"], practice=True, **ESCAPE)
    welcome = play(session, lambda message: {"type": "leave"} if message["type"] == "frame" else None)[0].got
    (first, *_) = [message for message in welcome if message["type"] == "welcome"]
    assert first["talks"] is talks and first["team"] == ["human", "human" if talks else "scripted"]
    assert [goal.name for goal in session._practice] == [TUTORIAL, *(["speak"] if talks else [])]


def test_pages_say_what_holds_for_messages(make_session) -> None:
    limits = Limits(max_chars=40, max_episode_chars=400, message_loss=0.1)
    session = make_session(["all=person"], limits=limits, **ESCAPE)
    welcome = play(session, lambda message: {"type": "leave"} if message["type"] == "frame" else None)[0].got
    (first, *_) = [message for message in welcome if message["type"] == "welcome"]
    assert first["max_chars"] == 40
    assert first["message_rules"] == [("max_chars", {"n": 40}), ("chars_left", {"n": 400}), ("lost", {"n": 10})]


def test_pages_name_people_where_a_game_numbers_them(make_session) -> None:
    what = {"suite": "cuisineworld", "levels": "level_3", "agents": (2,), "alphas": (2.0,), "episodes": 1}
    session = make_session(["agent_0=person", "agent_1=greedy"], **what)
    (player,) = play(session)
    assert player.of_type("welcome")[0]["names"] == ["Alice", "Bob"]
    sent = json.dumps([message for message in player.got if message["type"] in ("welcome", "frame", "over")])
    assert "Alice" in sent and "agent0" not in sent and "agent1" not in sent
    assert "agent0" in json.dumps(session.env.game.describe(session.env.arrays[0], 0, 0))  # prompts keep the paper's


def test_a_cook_asks_for_what_a_teammate_can_do_and_waits_by_a_number(make_session) -> None:
    session = make_session(["all=person"], suite="collab-overcooked", tasks=["boiled_egg"])
    chef, helper = play(session)
    question, fetch = chef.of_type("ask")[0], "pickup(egg,ingredient_dispenser)"
    assert fetch in question["requests"] and fetch not in question["actions"]
    assert question["waits"] == [f"wait({n})" for n in range(1, 6)]
    assert "egg" in helper.of_type("welcome")[0]["supplies"] and not chef.of_type("welcome")[0]["supplies"]
    assert all(not message["recipe"] for message in helper.of_type("frame"))


def test_one_answer_walks_and_uses_what_is_not_legal_yet(make_session) -> None:
    """The page sends the keys' actions as one plan, as a click on the onions does."""
    session = make_session(["agent_0=person", "agent_1=greedy"], how={"clock": "turns"})
    moves: dict[str, str] = {}

    def click(message):
        moves.update(message.get("moves", {}))
        answer = first_legal(message)
        if message["type"] == "ask" and message["timestep"] == 0:
            assert moves["act"] not in message["legal"]
            return answer | {"plan": "; ".join(moves[key] for key in ("up", "left", "act"))}
        return answer

    (player,) = play(session, click)
    steps = session.records[0].steps
    assert [step.action_texts[0] for step in steps[:3]] == ["north", "west", "interact"]
    assert steps[2].events[0].event == "onion_pickup" and not player.of_type("refused")


@pytest.mark.parametrize(
    ("leaves_at", "clock"), [*product(["ready", "ask", "over"], ["turns", "ticks"]), ("countdown", "ticks")]
)
def test_a_game_whose_people_are_all_gone_waits_for_them(make_session, leaves_at: str, clock: str) -> None:
    """Nothing is played for nobody, and nothing that nobody played is kept as a person's game."""
    overs: list[dict[str, Any]] = []
    how = {"grace": 0.0, "clock": clock, "countdown": 0.1 if leaves_at == "countdown" else 0.0}
    what = KITCHEN if clock == "ticks" else ESCAPE
    session = make_session(["agent_0=person", "agent_1=greedy"], how=how, on_over=overs.append, **what)
    session.matches = session.matches * 2

    def is_reached(message: dict[str, Any]) -> bool:
        kind = "frame" if (leaves_at, clock) == ("ask", "ticks") else leaves_at
        return message["type"] == kind or (message["type"] == "state" and message["state"] == kind)

    def press(message: dict[str, Any]) -> dict[str, Any] | None:
        if clock == "ticks" and message["type"] == "frame":
            return {"type": "key", "key": "left", "down": True}
        return first_legal(message)

    async def visit() -> None:
        playing = asyncio.create_task(session.run())
        person, send_queue = session.people[0], SendQueue("test")
        session.connect(person, send_queue)
        while not is_reached(message := await asyncio.wait_for(send_queue.get(), 60)):
            if answer := press(message):
                session.receive(person, answer)
        session.disconnect(person, send_queue)
        await asyncio.sleep(0.3)
        played, step = len(overs), session.driver.timestep if session.driver else 0
        await asyncio.sleep(0.3)
        assert not playing.done() and (len(overs), session.driver.timestep if session.driver else 0) == (played, step)
        await asyncio.gather(playing, Player(session, person, press).run())

    asyncio.run(visit())
    assert len(overs) == 2
    for record in overs:
        decided = record.people["agent_0"].decisions
        assert (record.ended == "abandoned") == (decided == 0)
    assert session.records == [record for record in overs if not record.ended]


def test_the_page_says_how_long_a_game_has_been_compiled(make_session, monkeypatch) -> None:
    seconds, load, waited = count(7), registry.make, threading.Event()

    def make(*names: Any, **options: Any) -> Any:
        assert waited.wait(60)
        return load(*names, **options)

    def compile_seconds() -> int:
        number = next(seconds)
        if number >= 10:
            waited.set()
        return number

    monkeypatch.setattr("collab_overcooked.play.session.compile_seconds", compile_seconds)
    monkeypatch.setattr("collab_overcooked.play.session.LOADING", 0.01)
    session = make_session(["agent_0=person", "agent_1=greedy"], **KITCHEN)
    monkeypatch.setattr(registry, "make", make)
    (player,) = play(session)
    times = [message["compiling"] for message in player.of_type("loading")]
    assert times == sorted(times) and times[-1] >= 3 and session.error is None
