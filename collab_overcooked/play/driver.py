"""Drive one episode: questions go to people and policies, answers to the episode, and every state to the pages."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from msgspec import to_builtins

from collab_overcooked.core.record import EpisodeRecord, Step
from collab_overcooked.envs.api import State, clone, refusal_code, restore
from collab_overcooked.play import shown
from collab_overcooked.play.async_policy import AsyncPolicy
from collab_overcooked.play.clock import TickClock
from collab_overcooked.play.keys import idle_or, key_actions
from collab_overcooked.play.people import Person
from collab_overcooked.play.practice import Goal, Practice
from collab_overcooked.play.settings import LEAVING, TICKS, PlaySettings
from collab_overcooked.policies.api import AgentView, Capabilities, Decision, Message, Policy
from collab_overcooked.policies.specs import make_known_policy
from collab_overcooked.reporting.naming import page_names, renaming
from collab_overcooked.reporting.pictures import places_of
from collab_overcooked.runner.decisions import Answer, Ask
from collab_overcooked.runner.episode import Episode, Event, Started, Stepped
from collab_overcooked.runner.teams import Team

HASH_DIGITS = 16  # of the hash of a state
MAX_SAID = 200  # messages that a page shows
POLL = 0.2  # seconds between looks at time limits and lost connections
Log = Callable[[Mapping[str, Any]], None]


class Abandoned(Exception):
    """Raised to end an episode early; the message gives the reason."""


class Practised(Exception):
    """Raised when all people have reached the goal of a practice episode."""


class EpisodeDriver:
    """Driver of one episode with people.

    Args:
        env: The environment.
        team: Policies by seat, a ``PersonSeat`` for each person.
        people: By seat.
        voice: Person who speaks without a seat, or None.
        watchers: People who only watch; the list may grow during the game.
        settings: Settings of the game; the clock is ``"turns"`` or ``"ticks"``.
        log: Called with every input of a person, for ``inputs.jsonl``.
        now: Returns seconds.
        goal: Goal of practice; None for a game that counts.
    """

    def __init__(
        self,
        env: Any,
        team: Team,
        people: Mapping[int, Person],
        voice: Person | None,
        watchers: Sequence[Person],
        settings: PlaySettings,
        log: Log,
        *,
        now: Callable[[], float] = time.monotonic,
        goal: Goal | None = None,
    ) -> None:
        self.env = env
        self.game = env.game
        self.team = team
        self.people = people
        self.voice = voice
        self.watchers = watchers
        self.settings = settings
        self._log = log
        self._now = now
        self.clock = TickClock(settings.tick, now) if settings.clock == TICKS else None
        self.timestep = 0
        self.late: list[float] = []  # seconds from a tick's deadline until its frames were sent
        self._keys = {seat: key_actions(self.game, seat) for seat in people}
        self._thinkers = {seat: AsyncPolicy(policy) for seat, policy in enumerate(team.policies) if seat not in people}
        self._mirrors: dict[int, Any] = {}  # states that simulators look at, by seat
        idle = {seat: self.game.action_texts(None, 0, seat)[self.game.idle_action(seat)] for seat in people}
        tutorials = {seat: self.game.tutorial_for(seat) for seat in people}
        self.practice = None if goal is None else Practice(goal, idle, tutorials)
        self._started: Started | None = None
        self._busy_until = dict.fromkeys(people, 0)  # timesteps at which seats have carried out their plans
        self._why: str | None = None  # reason for abandoning the episode
        self._step: Step | None = None
        # In this episode, for those who come later: what each seat has heard, and all messages by None
        self._said: dict[int | None, deque[Any]] = {seat: deque(maxlen=MAX_SAID) for seat in (None, *people)}
        self._run: Episode | None = None
        self._asked = False  # whether a person was asked in this step
        self._reading = False  # whether the episode reads a plan, in a thread
        self._newcomers: list[Person] = []  # who has come meanwhile
        self._checks: dict[str, asyncio.Task[None]] = {}  # the last answer that is being read, by agent

    @property
    def partner_waits(self) -> int:
        """Number of decisions that policies did not take in time."""
        return sum(thinker.waits for thinker in self._thinkers.values())

    @property
    def _seatless(self) -> list[Person]:
        """Watchers and the voice, who see the whole state."""
        return [*self.watchers, self.voice] if self.voice is not None else list(self.watchers)

    async def play(self, run: Episode, begin: Callable[[], Awaitable[None]]) -> EpisodeRecord:
        """Play an episode to its end; ``begin`` is waited for when everything is ready for the first step."""
        answer: Answer = None
        self._run = run
        while True:
            event = await self._send(run, answer)
            if isinstance(event, EpisodeRecord):
                return event
            self._check()
            if isinstance(event, Started):
                answer = await self._begin(event, begin)
            elif isinstance(event, Stepped):
                answer = await self._stepped(event)
            else:
                answer = await self._answer(event)

    async def _send(self, run: Episode, answer: Answer) -> Event | EpisodeRecord:
        """Send an answer to the episode; returns the next event, or the record at the end.

        Plans are texts from people. They are parsed in a thread, so that other games do not wait; a person who
        connects meanwhile is sent the state after the step.
        """

        def send() -> Event | EpisodeRecord:
            try:
                return run.send(answer)
            except StopIteration as over:
                record: EpisodeRecord = over.value
                return record

        if not isinstance(answer, Decision | Message) or not answer.plan:
            return send()
        self._reading = True
        try:
            return await _finish(asyncio.create_task(asyncio.to_thread(send)))
        finally:
            self._reading = False
            while self._newcomers:
                self.show(self._newcomers.pop())

    def abandon(self, why: str) -> None:
        """Abandon the episode for a reason, a sentence."""
        self._why = self._why or why
        if self.clock is not None:
            self.clock.go_on()

    def skip(self, seat: int) -> None:
        """End practice for one seat, which idles until the teammates are done."""
        if self.practice is not None:
            self.practice.skip(seat)

    def _has_skipped(self, seat: int | None) -> bool:
        return self.practice is not None and seat is not None and self.practice.has_skipped(seat)

    def _check(self) -> None:
        if self.practice is not None and self.practice.over:
            raise Practised
        if self._why is not None:
            raise Abandoned(self._why)

    async def _begin(self, started: Started, begin: Callable[[], Awaitable[None]]) -> Message | None:
        self._started = started
        for seat, policy in enumerate(self.team.policies):
            if seat not in self.people:
                await asyncio.to_thread(self._reset, policy, seat)
        self._show_all(complete=True)
        await begin()
        for person in self.people.values():
            person.started = time.time()
        if self.voice is not None:
            self.voice.started = time.time()
        self._check()
        if self.clock is not None:
            self.clock.start()
            await self.clock.wait(1)
        return await self._ask_voice()

    def _reset(self, policy: Policy, seat: int) -> None:
        assert self._started is not None
        if Capabilities.of(policy).needs_simulator:
            self._mirrors[seat] = clone(self.env.arrays[0], 0)
        self._started.reset_policy(policy, seat, self.team.names, self._mirrors.get(seat))

    async def _stepped(self, event: Stepped) -> Message | None:
        self.timestep = event.timestep
        self._step = event.step
        asked = self._asked
        self._asked = False
        for seat, said in self._said.items():
            said.extend(self._heard(seat))
        for person in self.people.values():
            if person.ahead:  # the seat had no choice after all
                person.question = person.answered = None
                person.ahead = False
        self._show_all()
        if self.practice is not None:
            reached = self.practice.reached(event.step)
            self._show_progress(self.people.values())
            if reached:
                raise Practised
        if self.clock is not None:
            self.late.append(self.clock.behind(self.timestep))
            if self.env.agents:
                await self.clock.wait(self.timestep + 1)
                self._check()
        elif not asked and self.people and self.env.agents and self.settings.pace:
            await asyncio.sleep(self.settings.pace)  # else a long walk is over before anybody has seen it
        return await self._ask_voice()

    async def _answer(self, ask: Ask) -> Answer:
        person = self.people.get(ask.seat)
        if person is None or ask.seat in self._thinkers:  # a policy, or one that has taken a seat over
            return await self._think(ask)
        if self._has_skipped(ask.seat):
            return Decision(action=ask.seen.idle_action) if ask.kind == "act" else None
        if person.is_lost(self.settings, self._now()):
            return await self._without(ask)
        if self.clock is not None:
            return self._from_keys(person, ask)
        return await self._from_question(person, ask)

    async def _think(self, ask: Ask) -> Answer:
        thinker = self._thinkers[ask.seat]
        mirror = self._mirrors.get(ask.seat)
        if mirror is not None and not thinker.busy:
            restore(mirror, 0, self.env.clone_state().state)
        self._notify_waiting(ask)
        return await thinker.answer(ask, None if self.clock is None else self.clock.tick / 2)

    def _from_keys(self, person: Person, ask: Ask) -> Answer:
        seen = ask.seen
        if ask.kind == "reply":
            return None  # in real time messages are not answered in turn
        key = person.keys.take()
        action = idle_or(self._keys[ask.seat], key, seen.mask, seen.idle_action)
        say = person.speech.popleft() if person.speech else ""
        person.counts["decisions"] += key is not None
        if key is not None or say:
            entry = {"agent": person.agent, "id": person.id, "timestep": self.timestep, "took": key, "say": say}
            if key is not None:
                entry |= self._choice(ask, seen.view.action_texts[action])
            self._log(entry)
        return Decision(action=action, say=say)

    async def _from_question(self, person: Person, ask: Ask) -> Answer:
        self._asked = True
        if ask.kind == "act" and not (ask.seen.inbox or ask.seen.error) and person.ahead:
            asked_at = person.asked_at  # everybody chooses at once: this one was asked before
        else:
            asked_at = self._put_question(person, ask.seen, ask.kind)
        person.ahead = False
        if ask.kind == "act":
            self._ask_ahead(ask.seat)
        self._notify_waiting(ask)
        try:
            answer = await self._wait(person, asked_at)
        finally:
            person.question = person.answered = None
        seconds = round(self._now() - asked_at, 3)
        if answer is None and self._has_skipped(ask.seat):
            return Decision(action=ask.seen.idle_action) if ask.kind == "act" else None
        if answer is None and person.is_lost(self.settings, self._now()):
            return await self._without(ask)
        if ask.kind == "act" and answer:
            actions = [action for action in answer["plan"].split(";") if action.strip()]
            self._busy_until[ask.seat] = self.timestep + max(1, len(actions))
        person.seconds += seconds
        decided = answer is not None
        person.counts["decisions" if decided else "timeouts"] += 1
        answer = answer or {"plan": "", "say": "", "last": False}
        entry = {"agent": person.agent, "id": person.id, "timestep": self.timestep, "seconds": seconds, **answer}
        if ask.kind == "act" and decided:
            entry |= self._choice(ask, answer["plan"])
        self._log(entry)
        if ask.kind == "act":
            return Decision(plan=answer["plan"], say=answer["say"], seconds=seconds)
        if not (answer["plan"] or answer["say"]):
            return None
        return Message(ask.seat, answer["say"], answer["plan"], last=answer.get("last", False), seconds=seconds)

    def _choice(self, ask: Ask, text: str) -> dict[str, Any]:
        """Return the context of a decision: a hash of the state and the number of accepted actions."""
        state = sha256(b"".join(array[:1].tobytes() for array in self.env.arrays[0])).hexdigest()[:HASH_DIGITS]
        return {"choice": text, "options": int(ask.seen.mask.sum()), "state": state}

    def _put_question(self, person: Person, seen: AgentView, kind: str) -> float:
        person.turn += 1
        person.counts["refused"] += seen.error is not None
        person.question = shown.question_of(seen, kind, person.turn, self.settings, renaming(self.game))
        person.question |= self._chars_left(seen.seat)
        person.answered = asyncio.get_running_loop().create_future()
        person.asked_at = self._now()
        person.send(person.question)
        return person.asked_at

    def _ask_ahead(self, first: int) -> None:
        snapshot = self.env.clone_state()
        for seat, person in self.people.items():
            if seat <= first or person.question is not None or seat in self._thinkers or not person.here:
                continue
            if self._busy_until[seat] > self.timestep or self._has_skipped(seat):
                continue
            seen = AgentView.of(self.game, snapshot.state, snapshot.out, seat, self.timestep)
            if len(seen.legal_actions) > 1 and not seen.view.public_choices:
                self._put_question(person, seen, "act")
                person.ahead = True

    async def _wait(self, person: Person, asked_at: float) -> dict[str, Any] | None:
        limit = self.settings.decide_within
        assert person.answered is not None
        while not person.answered.done():
            self._check()
            late = limit is not None and self._now() - asked_at >= limit and not person.awaited
            if late or self._has_skipped(person.seat) or person.is_lost(self.settings, self._now()):
                return None
            await asyncio.wait({person.answered}, timeout=POLL)
        answer: dict[str, Any] = person.answered.result()
        return answer

    async def _ask_voice(self) -> Message | None:
        voice = self.voice
        orders: list[str] = []
        if voice is None or not self.env.agents:
            return None
        if self.clock is None and voice.here:
            voice.turn += 1
            voice.question = shown.voice_question(voice.turn, self.timestep, self.game.orderable())
            voice.answered = asyncio.get_running_loop().create_future()
            for other in (*self.people.values(), *self.watchers):
                other.send({"type": "wait", "agent": None, "inbox": []})
            voice.send(voice.question)
            answer = await self._wait(voice, self._now())
            voice.question = voice.answered = None
            if answer is not None:
                if answer["say"]:
                    voice.speech.append(answer["say"])
                orders = answer.get("orders", [])
        if not (voice.speech or orders):
            return None
        message = " ".join(voice.speech)
        voice.speech.clear()
        entry = {"agent": voice.agent, "id": voice.id, "timestep": self.timestep, "say": message}
        if orders:
            entry["orders"] = orders
        self._log(entry)
        return Message(None, message, "", orders=tuple(orders))

    async def _without(self, ask: Ask) -> Answer:
        leave = self.settings.on_leave
        if leave == "end":
            raise Abandoned(f"{page_names(self.game)[ask.seat]} has lost the connection.")
        if leave in LEAVING:
            return Decision(action=ask.seen.idle_action) if ask.kind == "act" else None
        policy = make_known_policy(leave)
        await asyncio.to_thread(self._reset, policy, ask.seat)
        self._thinkers[ask.seat] = AsyncPolicy(policy)
        return await self._think(ask)

    def receive(self, person: Person, message: Mapping[str, Any]) -> None:
        """Handle a message of a person during the episode."""
        kind = message["type"]
        if kind in ("key", "tap", "blur"):
            self._take_key(person, message)
        elif kind in ("act", "reply"):
            self._take_answer(person, message)
        elif kind == "say" and message["say"] and (self.clock is not None or person is self.voice):
            person.speech.append(message["say"])
            person.counts["messages"] += 1

    def _take_key(self, person: Person, message: Mapping[str, Any]) -> None:
        if self.clock is None or person.seat is None:
            return
        if message["type"] == "blur":
            person.keys.clear()
            return
        if message["type"] == "tap":
            person.keys.tap(message["key"])
        elif message["down"]:
            person.keys.press(message["key"])
        else:
            person.keys.release(message["key"])
        key = {name: message[name] for name in ("key", "down") if name in message}
        self._log({"agent": person.agent, "id": person.id, "timestep": self.timestep, **key})

    def _take_answer(self, person: Person, message: Mapping[str, Any]) -> None:
        question, answered = person.question, person.answered
        if question is None or answered is None or answered.done() or message["turn"] != question["turn"]:
            return  # late, or the same again
        answer = {name: message[name] for name in ("plan", "say", "last") if name in message}
        earlier = self._checks.get(person.agent)
        if not message["plan"] and (earlier is None or earlier.done()):
            answered.set_result(answer)
        else:
            check = self._check_answer(person, answered, answer, earlier)
            self._checks[person.agent] = asyncio.get_running_loop().create_task(check)

    async def _check_answer(
        self, person: Person, answered: asyncio.Future[Any], answer: dict[str, Any], earlier: asyncio.Task[None] | None
    ) -> None:
        if earlier is not None:
            await asyncio.wait([earlier])
        if answered.done():
            return
        state = clone(self.env.arrays[0], 0)
        try:
            orders = await asyncio.to_thread(self._check_plan, person.seat, answer["plan"], state)
        except ValueError as error:
            if not answered.done():
                person.counts["refused"] += 1
                message = renaming(self.game)(str(error))
                person.send({"type": "refused", "code": refusal_code(error), "message": message})
            return
        if orders:
            answer["orders"] = orders
        if not answered.done():
            answered.set_result(answer)

    def _check_plan(self, seat: int | None, plan: str, state: State) -> list[str]:
        if not plan:
            return []
        if seat is not None:
            self.game.parse_plan(plan, seat)
            return []
        orders = shown.read_orders(self.game.orderable(), plan)
        self.game.order_next(state, 0, orders)
        return orders

    def _show_all(self, complete: bool = False) -> None:
        state = self.env.clone_state()
        for person in self.people.values():
            self.show(person, state, complete)
        for other in self._seatless:
            self.show(other, state, complete)

    def _show_progress(self, people: Iterable[Person]) -> None:
        """Send people the steps of a tutorial, and the cells of their pictures where the next one is taken."""
        if self.practice is None:
            return
        for person in people:
            progress = None if person.seat is None else self.practice.progress(person.seat)
            if person.seat is None or progress is None:
                continue
            progress["at"] = []
            pattern = self.practice.places(person.seat) if self.settings.show != "words" else ""
            if pattern:
                scene = self.game.seen(self.env.clone_state().state, 0, person.seat).scene
                progress["at"] = places_of(self.game, scene, person.seat, pattern)
            person.send(progress)

    def show(self, person: Person, snapshot: Any = None, complete: bool = True) -> None:
        """Send the current state to one person.

        Args:
            person: Recipient.
            snapshot: Copy of the state, see ``ParallelEnv.clone_state``; None to make one.
            complete: Whether the page shows nothing of this episode yet and needs everything, the talk and the open
                question included; nothing that it shows of an earlier one stays.
        """
        if person.send_queue is None:
            return
        if self._reading:
            self._newcomers.append(person)
            return
        snapshot = snapshot or self.env.clone_state()
        send_queue = person.send_queue
        if complete:
            shown.begin_anew(send_queue)
        if person.seat is None:
            frame = shown.watched(self.env, self._step, self.timestep, send_queue)
        else:
            seen = AgentView.of(self.game, snapshot.state, snapshot.out, person.seat, self.timestep)
            is_first_or_last = self.timestep == 0 or not self.env.agents
            with_text = complete or send_queue.wants_text or self.clock is None or is_first_or_last
            frame = shown.frame_of(self.game, seen, self.settings, send_queue, with_text)
            frame |= self._chars_left(person.seat)
            if self._step is not None:
                frame["news"] = shown.news_of(self._step, seen.view, person.seat, renaming(self.game))
        if complete:
            frame |= {"whole": True, "said": list(self._said[person.seat])}
        elif self._step is not None:
            frame["said"] = self._heard(person.seat)
        person.send(frame)
        if complete:
            if person.question is not None:
                person.send(person.question)
            self._show_progress([person])

    def _chars_left(self, seat: int) -> dict[str, int]:
        left = None if self._run is None else self._run.chars_left(seat)
        return {} if left is None else {"chars_left": left}

    def _notify_waiting(self, ask: Ask) -> None:
        if self.clock is not None:
            return
        assert self._run is not None
        idle = [person for seat, person in self.people.items() if seat != ask.seat and person.question is None]
        for other in (*idle, *self._seatless):
            inbox = ask.seen.inbox if other.seat is None else self._run.heard(other.seat)
            other.send({"type": "wait", "agent": ask.seat, "inbox": shown.talk_of(inbox)})

    def _heard(self, seat: int | None) -> list[dict[str, Any]]:
        """Return the messages of the last step that a seat has heard; all if None."""
        assert self._step is not None and self._run is not None
        if seat is None:
            said: list[dict[str, Any]] = to_builtins(self._step.messages)
            return said
        return shown.talk_of(self._run.heard(seat))


async def _finish(task: asyncio.Task[Any]) -> Any:
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
