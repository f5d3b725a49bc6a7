"""The driver of an episode: whom it asks, which answers count, and what becomes of those who leave."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from play.world import Time, first_legal

from collab_overcooked import make
from collab_overcooked.core.limits import Limits
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.play import driver as module
from collab_overcooked.play.async_policy import PersonSeat
from collab_overcooked.play.clock import TickClock
from collab_overcooked.play.driver import Abandoned, EpisodeDriver, Practised
from collab_overcooked.play.people import VOICE, WATCHER, Person, SendQueue
from collab_overcooked.play.practice import Goal
from collab_overcooked.play.settings import PlaySettings
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.runner.episode import Episode
from collab_overcooked.runner.teams import make_team

STEPS = 4
Respond = Callable[["Table", Person, dict[str, Any]], None]


def take_first(table: Table, person: Person, message: dict[str, Any]) -> None:
    """Answer a question with the first action of its menu."""
    answer = first_legal(message)
    if answer is not None:
        table.driver.receive(person, answer)


class Table:
    """An episode of a small kitchen with people at some seats, all of whom respond by one function.

    Attributes:
        got: Messages by person, in the order in which they were sent.
        log: Inputs of people.
        time: What the driver takes for the time.
    """

    def __init__(
        self,
        team: Sequence[str] = ("person", "random"),
        *,
        voice: bool = False,
        watched: bool = False,
        goal: Goal | None = None,
        settings: Mapping[str, Any] | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.limits = limits
        self.env = make("Overcooked-v0", layout="cramped_room", max_cycles=STEPS)
        self.specs, self.log, self.time = tuple(team), list[Mapping[str, Any]](), Time()
        seats = make_team(team, lambda spec: PersonSeat() if spec == "person" else make_policy(spec))
        self.people = {seat: Person(seat=seat) for seat, spec in enumerate(team) if spec == "person"}
        self.voice = Person(VOICE) if voice else None
        self.watchers = [Person(WATCHER)] if watched else []
        chosen = PlaySettings(**{"clock": "turns", "pace": 0.0, **(settings or {})})
        self.driver = EpisodeDriver(
            self.env,
            seats,
            self.people,
            self.voice,
            self.watchers,
            chosen,
            self.log.append,
            now=self.time.now,
            goal=goal,
        )
        self.got: dict[Person, list[dict[str, Any]]] = {}

    def play(self, respond: Respond = take_first) -> EpisodeRecord:
        """Play the episode to its end; returns the record."""
        return asyncio.run(self._play(respond))

    async def _play(self, respond: Respond) -> EpisodeRecord:
        everybody = [*self.people.values(), *self.watchers, *([self.voice] if self.voice else [])]
        readers = [asyncio.create_task(self._read(person, respond)) for person in everybody if person.left_at is None]
        await asyncio.sleep(0)
        run = Episode(self.env, self.specs, 7, task="cramped_room", limits=self.limits)

        async def begin() -> None:
            pass

        try:
            return await self.driver.play(run, begin)
        finally:
            run.close()
            for person in everybody:
                if person.send_queue is not None:
                    person.send_queue.put(None)
            await asyncio.gather(*readers)

    async def _read(self, person: Person, respond: Respond) -> None:
        person.send_queue = queue = SendQueue("test")
        person.was_here = True
        while (message := await queue.get()) is not None:
            self.got.setdefault(person, []).append(message)
            respond(self, person, message)

    def of_type(self, person: Person, kind: str) -> list[dict[str, Any]]:
        """Return the messages of one type that a person has got."""
        return [message for message in self.got.get(person, ()) if message["type"] == kind]


def test_play_takes_the_answer_of_every_question() -> None:
    table = Table()
    record = table.play()
    (person,) = table.people.values()
    assert record.timesteps == STEPS and person.counts["decisions"] == STEPS
    chosen = [table.of_type(person, "ask")[k]["actions"][0] for k in range(STEPS)]
    assert [entry["choice"] for entry in table.log] == chosen
    assert [entry["timestep"] for entry in table.log] == list(range(STEPS))
    assert all(len(entry["state"]) == module.HASH_DIGITS and entry["options"] > 1 for entry in table.log)


def test_play_asks_people_who_choose_at_once_before_one_of_them_has_answered() -> None:
    waiting: list[Callable[[], None]] = []

    def when_both_are_asked(table: Table, person: Person, message: dict[str, Any]) -> None:
        if message["type"] == "ask":
            waiting.append(lambda: take_first(table, person, message))
        if len(waiting) == 2:
            for answer in waiting:
                answer()
            waiting.clear()

    table = Table(["person", "person"])
    assert table.play(when_both_are_asked).timesteps == STEPS
    assert [person.counts["decisions"] for person in table.people.values()] == [STEPS, STEPS]


def test_receive_takes_no_answer_to_another_question_and_no_second_one() -> None:
    seen: list[str] = []

    def answer_three_times(table: Table, person: Person, message: dict[str, Any]) -> None:
        answer = first_legal(message)
        if answer is None:
            return
        seen.append(answer["plan"])
        table.driver.receive(person, {**answer, "turn": answer["turn"] - 1, "plan": message["actions"][-1]})
        table.driver.receive(person, answer)
        table.driver.receive(person, {**answer, "plan": message["actions"][-1]})

    table = Table()
    assert table.play(answer_three_times).timesteps == STEPS
    assert [entry["choice"] for entry in table.log] == seen


def test_an_action_that_the_game_does_not_know_is_asked_for_once_more() -> None:
    def misspell_first(table: Table, person: Person, message: dict[str, Any]) -> None:
        if message["type"] == "ask" and message["error"] is None:
            table.driver.receive(person, {"type": "act", "turn": message["turn"], "plan": "fly away", "say": ""})
        else:
            take_first(table, person, message)

    table = Table()
    record = table.play(misspell_first)
    (person,) = table.people.values()
    questions = table.of_type(person, "ask")
    assert [question["error"] is not None for question in questions] == [False, True] * STEPS
    assert [entry["choice"] for entry in table.log] == ["fly away", questions[1]["actions"][0]] * STEPS
    assert record.timesteps == STEPS and person.counts["refused"] == STEPS


def test_a_plan_that_cannot_be_read_is_refused_and_the_question_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse_plan(plan: str, seat: int = 0) -> Any:
        if plan == "?":
            raise ValueError("a plan has at least a word")
        return read(plan, seat)

    def write_nothing_first(table: Table, person: Person, message: dict[str, Any]) -> None:
        if message["type"] == "ask":
            table.driver.receive(person, {"type": "act", "turn": message["turn"], "plan": "?", "say": ""})
        elif message["type"] == "refused":
            assert person.question is not None
            take_first(table, person, person.question)

    table = Table()
    read = table.env.game.parse_plan
    monkeypatch.setattr(table.env.game, "parse_plan", parse_plan)
    assert table.play(write_nothing_first).timesteps == STEPS
    (person,) = table.people.values()
    assert len(table.of_type(person, "refused")) == len(table.of_type(person, "ask")) == STEPS
    assert person.counts["decisions"] == person.counts["refused"] == STEPS


def test_a_decision_that_takes_too_long_is_to_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "POLL", 0.0)

    def let_time_pass(table: Table, person: Person, message: dict[str, Any]) -> None:
        table.time.seconds += 6.0 if message["type"] == "ask" else 0.0

    table = Table(settings={"decide_within": 5.0})
    record = table.play(let_time_pass)
    (person,) = table.people.values()
    assert (
        person.counts["timeouts"] == STEPS
        and person.counts["decisions"] == 0
        and person.seconds == pytest.approx(6.0 * STEPS)
    )
    idle = table.env.game.action_texts(None, 0, 0)[table.env.game.idle_action(0)]
    assert [step.action_texts[0] for step in record.steps] == [idle] * STEPS


def leave(table: Table) -> None:
    """Let everybody at a seat leave long ago."""
    for person in table.people.values():
        person.left_at = table.time.seconds - 1000.0


def test_a_person_who_is_gone_idles() -> None:
    table = Table(settings={"on_leave": "idle"})
    leave(table)
    record = table.play()
    assert record.timesteps == STEPS and not table.log
    idle = table.env.game.action_texts(None, 0, 0)[table.env.game.idle_action(0)]
    assert {step.action_texts[0] for step in record.steps} == {idle}


def test_a_person_who_is_gone_ends_the_episode() -> None:
    table = Table(settings={"on_leave": "end"})
    leave(table)
    with pytest.raises(Abandoned, match="has lost the connection"):
        table.play()


def test_a_policy_takes_the_seat_of_a_person_who_is_gone() -> None:
    table = Table(settings={"on_leave": "greedy"})
    leave(table)
    record, both = table.play(), Table(["greedy", "random"]).play()
    actions = [[step.action_texts[0] for step in played.steps] for played in (record, both)]
    assert actions[0] == actions[1]


def test_abandon_ends_the_episode_with_its_first_reason() -> None:
    def give_up(table: Table, person: Person, message: dict[str, Any]) -> None:
        if message["type"] == "ask":
            table.driver.abandon("Enough.")
            table.driver.abandon("Too late.")
            take_first(table, person, message)

    table = Table()
    with pytest.raises(Abandoned, match=r"^Enough\.$"):
        table.play(give_up)
    assert table.driver.timestep == 0


def test_practice_ends_when_its_goal_is_reached_or_skipped() -> None:
    table = Table(goal=Goal("steps", 2, lambda step, seat, idle: True))
    with pytest.raises(Practised):
        table.play()
    assert table.driver.timestep == 2

    def skip(table: Table, person: Person, message: dict[str, Any]) -> None:
        if message["type"] == "ask":
            table.driver.skip(0)

    never = Table(goal=Goal("never", 1, lambda step, seat, idle: False))
    with pytest.raises(Practised):
        never.play(skip)
    assert never.driver.timestep == 0


def test_show_sends_a_newcomer_the_whole_state_and_the_open_question() -> None:
    def connect_again(table: Table, person: Person, message: dict[str, Any]) -> None:
        if message["type"] == "ask" and message["turn"] == 2 and table.of_type(person, "ask")[-2]["turn"] == 1:
            table.driver.show(person)
            return
        take_first(table, person, message)

    table = Table()
    assert table.play(connect_again).timesteps == STEPS
    (person,) = table.people.values()
    assert [message["turn"] for message in table.of_type(person, "ask")] == [1, 2, 2, 3, 4]
    frames = table.of_type(person, "frame")
    assert [frame.get("whole", False) for frame in frames] == [True, False, True, False, False, False]


def test_watchers_see_every_state_and_whose_turn_it_is() -> None:
    table = Table(watched=True)
    table.play()
    (watcher,) = table.watchers
    assert len(table.of_type(watcher, "frame")) == STEPS + 1 and not table.of_type(watcher, "ask")
    assert {message["agent"] for message in table.of_type(watcher, "wait")} == {0, 1}


def test_a_voice_is_asked_before_every_step_and_heard_by_the_team() -> None:
    def speak(table: Table, person: Person, message: dict[str, Any]) -> None:
        if person is table.voice and "turn" in message:
            answer = {"type": "act", "turn": message["turn"], "plan": "", "say": f"step {message['turn']}"}
            table.driver.receive(person, answer)
        else:
            take_first(table, person, message)

    table = Table(voice=True)
    record = table.play(speak)
    said = [message.say for step in record.steps for message in step.messages if message.agent is None]
    assert said == [f"step {k}" for k in range(1, STEPS + 1)]


@pytest.mark.parametrize("to", ["all", "one-way"])
def test_pages_show_what_their_seat_hears_and_watchers_everything(to: str) -> None:
    def speak(table: Table, person: Person, message: dict[str, Any]) -> None:
        if message["type"] == "ask" and message["kind"] == "act":
            words = f"{person.agent} in {message['timestep']}"
            answer = {"type": "act", "turn": message["turn"], "plan": message["actions"][0], "say": words}
            table.driver.receive(person, answer)
        else:
            take_first(table, person, message)

    table = Table(("person", "person"), watched=True, limits=Limits(messages_to=to, message_delay=1))
    table.play(speak)
    chef, mate = table.people.values()
    one, other = ({f"{who} in {t}" for t in range(STEPS)} for who in ("agent_0", "agent_1"))
    last = {f"agent_0 in {STEPS - 1}", f"agent_1 in {STEPS - 1}"}
    shown = {}
    for person in (chef, mate, *table.watchers):
        frames = [entry["say"] for frame in table.of_type(person, "frame") for entry in frame.get("said", ())]
        early = [m["say"] for kind in ("ask", "wait") for each in table.of_type(person, kind) for m in each["inbox"]]
        assert set(early) <= set(frames)
        shown[person] = set(frames)
    assert shown[chef] == one | (other - last if to == "all" else set())
    assert shown[mate] == other | (one - last)
    assert shown[table.watchers[0]] == one | other
    late = [entry for frame in table.of_type(mate, "frame") for entry in frame.get("said", ()) if entry["say"] in one]
    assert len(late) == STEPS - 1


def test_in_real_time_keys_choose_and_nobody_is_asked() -> None:
    table = Table(settings={"clock": "ticks", "tick": 0.1})
    table.driver.clock = TickClock(0.1, table.time.now, table.time.sleep)
    (person,) = table.people.values()
    key, action = next((key, text) for key, text in table.driver._keys[0].items())
    table.driver.receive(person, {"type": "tap", "key": key})
    table.driver.receive(person, {"type": "say", "say": "hello"})
    record = table.play(lambda table, person, message: None)
    assert record.timesteps == STEPS and not table.of_type(person, "ask")
    tapped, decided = table.log[0], table.log[1]
    assert tapped["key"] == key and decided["took"] == key and decided["say"] == "hello"
    assert person.counts == {"decisions": 1, "messages": 1}
    idle = table.env.game.action_texts(None, 0, 0)[table.env.game.idle_action(0)]
    assert [step.action_texts[0] == idle for step in record.steps] == [False, True, True, True], action
    assert not any("chars_left" in frame for frame in table.of_type(person, "frame"))


def test_frames_in_real_time_have_the_characters_left_of_the_episode() -> None:
    table = Table(settings={"clock": "ticks", "tick": 0.1}, limits=Limits(max_episode_chars=8))
    table.driver.clock = TickClock(0.1, table.time.now, table.time.sleep)
    (person,) = table.people.values()
    table.driver.receive(person, {"type": "say", "say": "hello"})
    table.play(lambda table, person, message: None)
    left = [frame["chars_left"] for frame in table.of_type(person, "frame") if frame["timestep"]]
    assert left == [3] * STEPS
