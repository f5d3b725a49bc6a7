"""A session: people, each with a link, and policies, who play a list of episodes.

The states are ``waiting`` (people are still to come), ``ready`` (people have to confirm), ``playing``, ``paused``,
``over`` (an episode is over and another follows) and ``closed``.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from collab_overcooked import registry
from collab_overcooked.core.record import EpisodeRecord, PersonEntry
from collab_overcooked.io.structs import convert
from collab_overcooked.kernels.jit import compile_seconds
from collab_overcooked.metrics.registry import game_metrics
from collab_overcooked.play.async_policy import PersonSeat
from collab_overcooked.play.clock import in_seconds
from collab_overcooked.play.driver import POLL, Abandoned, EpisodeDriver, Practised
from collab_overcooked.play.ending import numbers_of, par_of, summary_of
from collab_overcooked.play.keys import clock_of, key_actions, key_labels
from collab_overcooked.play.matches import check_matches
from collab_overcooked.play.people import SEAT, VOICE, WATCHER, Person, SendQueue
from collab_overcooked.play.practice import BEGINS_AGAIN, COUNTS_NOW, TUTORIAL_ROUNDS, PractiseFirst, Round, goals_for
from collab_overcooked.play.recording import ABORTED, TUTORIALS, PlayFolder
from collab_overcooked.play.rematch import Rematch
from collab_overcooked.play.settings import TICKS, TURNS, Clock, PlaySettings
from collab_overcooked.play.warming import decide_once
from collab_overcooked.policies.api import Policy
from collab_overcooked.policies.registry import PERSON
from collab_overcooked.policies.specs import PolicySpec, make_known_policy
from collab_overcooked.reporting.naming import page_names, renaming, single_names
from collab_overcooked.reporting.pictures import picture_of
from collab_overcooked.runner.episode import Episode, accounts_of
from collab_overcooked.runner.match import Match
from collab_overcooked.runner.teams import MakePolicy, make_team

MAX_WATCHERS = 20
ADJUSTING = ("text", "skip", "pause", "window")
LOADING = 0.5  # seconds between messages about getting a game ready
ABANDONED = "abandoned"  # end of an episode in which a person decided and said nothing
UNDECIDED = "This episode does not count, as a person took no decision in it."


class Session:
    """People and policies who play episodes.

    Args:
        matches: Episodes to play, from ``plan_evaluation(...).matches``; ``person`` in the team stands for a person.
        settings: Settings; ``PlaySettings()`` by default.
        folder: Folder of records and inputs; None to write nothing.
        voice: Whether a person without a seat takes part.
        make: Makes the policies beside people; the registry of policies if None.
        practice: Whether episodes of practice come first; None lets people choose before the first episode. With
            ``settings.tutorial`` there are no others.
        on_over: Called with every record, an abandoned one included, which has ``ended``; may stop the session.
        now: Returns seconds.

    Attributes:
        people: People in seats, then the voice; hand out ``person.token``.
        watchers: People who only watch; see ``watch``.
        state: See above.
        records: Records of completed episodes.
        error: Exception that stopped the session, or None.
        history: Records of earlier sessions of the same people, each of which was followed by a rematch.
        rematch: Agreement on a session that follows; None if none may follow.
    """

    def __init__(
        self,
        matches: Sequence[Match],
        settings: PlaySettings | None = None,
        *,
        folder: PlayFolder | None = None,
        voice: bool = False,
        make: MakePolicy | None = None,
        practice: bool | None = False,
        on_over: Callable[[EpisodeRecord], None] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        check_matches(matches, voice)
        self.id = f"s-{secrets.token_hex(4)}"
        self.matches = matches
        self.settings = settings or PlaySettings()
        self.folder = folder
        self.make = make or make_known_policy
        self._on_over = on_over
        self._now = now
        self.seats = {seat: Person(SEAT, seat) for seat, spec in enumerate(matches[0].team) if spec == PERSON}
        self.voice = Person(VOICE) if voice else None
        self.people = list(self.seats.values())
        if self.voice is not None:
            self.people.append(self.voice)
        self._practice = self._goals() if practice or self.settings.tutorial else []
        self._offers_practice = practice is None
        self._practisers = set[str]()  # ids of those who have chosen it
        self.watchers: list[Person] = []
        self.state = "waiting"
        self.records: list[EpisodeRecord] = []
        self.error: Exception | None = None
        self.rematch: Rematch | None = None
        self.history: list[EpisodeRecord] = []
        self.driver: EpisodeDriver | None = None
        self.env: Any = None
        self.used_at = now()
        self._game: Any = None
        self._clock: Clock = TURNS
        self._number = 0
        self._loading: dict[str, Any] = {"type": "loading", "compiling": 0, "seconds": 0}
        self._round = self._rounds()[0]
        self._stopped: str | None = None
        self._over: dict[str, Any] | None = None
        self._par: asyncio.Task[None] | None = None  # computes what programs reach
        self._changed = asyncio.Event()

    @property
    def title(self) -> str:
        """Name of the game."""
        return self.matches[0].env_id.partition("-v")[0]

    @property
    def talks(self) -> bool:
        """True if another person or a policy may read the messages of a person."""
        if not self.matches[0].limits.max_messages:
            return False
        others = [PolicySpec.parse(spec) for spec in self.matches[0].team if spec != PERSON]
        return self.voice is not None or len(self.people) > 1 or any(spec.reads_messages for spec in others)

    @property
    def is_practice(self) -> bool:
        """True if the present episode, or the last one, is practice."""
        return self._round.goal is not None

    @property
    def replayable(self) -> bool:
        """True if people may watch their episodes; with ``show="words"`` they see no pictures afterwards either."""
        return self.settings.replay and self.settings.show != "words"

    def name_of(self, person: Person) -> str:
        """Return the name of a person on pages; that in records until the game is loaded."""
        if self._game is None or person.seat is None:
            return person.agent
        return page_names(self._game)[person.seat]

    @property
    def episodes(self) -> int:
        """Number of episodes in all."""
        return len(self._rounds())

    def _goals(self) -> list[Any]:
        return list(goals_for(registry.game_class(self.matches[0].env_id), self.talks))

    def _rounds(self) -> list[Round]:
        first = self.matches[0]
        rounds = [Round(first, 0, first.keys[0], goal) for goal in self._practice]
        if not self.settings.tutorial:
            rounds += [Round(match, i, key) for match in self.matches for i, key in enumerate(match.keys)]
        return rounds

    def watch(self) -> Person:
        """Return a new watcher with a view of the whole state.

        Raises:
            ValueError: The session has ``MAX_WATCHERS`` watchers.
        """
        gone = [watcher for watcher in self.watchers if watcher.was_here and not watcher.here]
        if len(self.watchers) >= MAX_WATCHERS and gone:
            self.watchers.remove(min(gone, key=lambda watcher: watcher.left_at or 0))
        if len(self.watchers) >= MAX_WATCHERS:
            raise ValueError(f"a session has at most {MAX_WATCHERS} watchers")
        self.watchers.append(Person(WATCHER))
        return self.watchers[-1]

    async def run(self) -> list[EpisodeRecord]:
        """Play all episodes and return the records of finished ones."""
        try:
            while self._number < self.episodes and self._stopped is None:
                round_ = self._rounds()[self._number]
                if self._number:
                    await self._until_ready()  # players still see the previous round's result and title
                await self._prepare(round_)
                await self._gather()
                if self._stopped is None:
                    await self._play(round_)
        finally:
            self._close()
        return self.records

    def stop(self, why: str = "The host has ended the session.") -> None:
        """End the session; an episode that is played is abandoned."""
        self._stopped = self._stopped or why
        if self.driver is not None:
            self.driver.abandon(why)
        self._changed.set()

    def pause(self, on: bool) -> None:
        """Stop the clock of real-time play, or let it go on."""
        clock = None if self.driver is None else self.driver.clock
        if clock is None or self.state not in ("playing", "paused"):
            return
        if on:
            clock.pause()
            self._enter("paused")
        else:
            clock.go_on()
            self._enter("playing")

    async def _prepare(self, round_: Round) -> None:
        match = round_.match
        self._round = round_
        if round_.number and self.env is not None:
            return

        def make() -> Any:
            decide_once(match, self.make, self.settings.on_leave)
            env = registry.make(match.env_id, **match.env_kwargs)
            env.reset(seed=0)
            env.step({agent: env.game.idle_action(seat) for seat, agent in enumerate(env.possible_agents)})
            env.reset(seed=match.seed)  # the card before the first step says what this episode asks for
            scene = env.scene()
            picture_of(env.game, scene, None)  # draws in this thread what the others would have to wait for
            for seat in self.seats:
                picture_of(env.game, env.game.seat_scene(scene, seat), seat)
            return env

        since = self._now()
        compiled = compile_seconds()
        making = asyncio.create_task(asyncio.to_thread(make))
        while not making.done():
            self._loading |= {"compiling": round(compile_seconds() - compiled), "seconds": int(self._now() - since)}
            if self._game is None:
                self._send_all(self._loading)
            await asyncio.wait([making], timeout=LOADING)
        self.env = making.result()
        self._game = self.env.game
        self._clock = clock_of(self.settings, self._game, self.seats)
        for person in (*self.people, *self.watchers):
            person.send(self._welcome(person))

    async def _gather(self) -> None:
        if self._number == 0:
            await self._until(lambda: all(person.was_here for person in self.people), "waiting")
        for person in self.people:
            person.begin()
        self._over = None

    async def _until_ready(self) -> None:
        for person in self.people:
            person.ready = False
        await self._until(
            lambda: all(person.ready or person.is_lost(self.settings, self._now()) for person in self.people), "ready"
        )

    async def _until(self, condition: Callable[[], bool], state: str) -> None:
        self._enter(state)
        while self._stopped is None and not condition():
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), POLL)

    async def _play(self, round_: Round) -> None:
        self._number += 1
        match = round_.match
        team = await asyncio.to_thread(make_team, match.team, self._make_policy)
        run = Episode(
            self.env,
            match.team,
            match.seed,
            episode=round_.key[1],
            task=round_.key[0],
            level=match.level,
            limits=match.limits,
            fresh=round_.number == 0,
            accounts=lambda: accounts_of(self.env, team),
        )
        self.driver = EpisodeDriver(
            self.env,
            team,
            self.seats,
            self.voice,
            self.watchers,
            replace(self.settings, clock=self._clock),
            self._log,
            now=self._now,
            goal=round_.goal,
        )
        try:
            record = await self.driver.play(run, self._begin)
            metrics = await asyncio.to_thread(lambda: game_metrics(match.env_id).measure(record))
            record = record.replace(metrics=metrics)
        except PractiseFirst:
            run.close()
            self._practice = self._goals()
            self._number = 0
            self.driver = None
            return
        except Practised:
            record = run.close().replace(ended="practised")
        except Abandoned as error:
            record = run.close()
            self._stopped = str(error)
        except Exception as error:  # of a policy or the game: people are notified, and their record is kept
            record = run.close()
            self._stopped = "The game was stopped by a technical error."
            self.error = error
        except asyncio.CancelledError:
            self._send_over(self._write(run.close().replace(people=self._people_entries())))
            raise
        if not record.ended and not all(person.took_part for person in self.seats.values()):
            record = record.replace(ended=ABANDONED)
        again = not record.ended and self._repeats()
        record = await asyncio.to_thread(self._write, record.replace(people=self._people_entries()))
        comment = ""
        if again:
            comment = BEGINS_AGAIN
        elif self._number < self.episodes and self._rounds()[self._number].goal is None:
            comment = COUNTS_NOW
        self._send_over(record, comment)
        if self.rematch is not None and self.settings.metrics and self.records[-1:] == [record]:
            self._par = asyncio.create_task(self._send_par(round_))

    def _repeats(self) -> bool:
        practice = None if self.driver is None else self.driver.practice
        if practice is None or not practice.fails or self._practice.count(practice.goal) >= TUTORIAL_ROUNDS:
            return False
        self._practice.insert(self._number, practice.goal)
        return True

    def _make_policy(self, spec: str) -> Policy:
        return PersonSeat() if spec == PERSON else self.make(spec)

    async def _begin(self) -> None:
        if self._number == 1 and not self._practisers:
            await self._until_ready()
            self._offers_practice = False
            if self._practisers and self._stopped is None:
                raise PractiseFirst
        seconds = self.settings.countdown if self._clock == TICKS else 0
        if seconds and self._stopped is None:
            self._send_all({"type": "countdown", "seconds": seconds})
            await asyncio.sleep(seconds)
        self._enter("playing")
        if self.people[0].awaited:  # all have left during the countdown
            self.pause(True)

    def _people_entries(self) -> dict[str, PersonEntry]:
        how: dict[str, Any] = {
            "clock": self._clock,
            "session": self.id,
            "number": self._number,
            "show": self.settings.show,
            "menu": self.settings.menu,
            "names": self.settings.names,
            "partner_waits": 0 if self.driver is None else self.driver.partner_waits,
        }
        if self._clock == TICKS:
            how["tick"] = self.settings.tick
        return convert({person.agent: person.entry() | how for person in self.people}, dict[str, PersonEntry])

    def _write(self, record: EpisodeRecord) -> EpisodeRecord:
        if self.folder is None:
            return record
        if self.is_practice:
            self.folder.add_apart(TUTORIALS, record)
            return record
        if record.ended:
            self.folder.add_apart(ABORTED, record)
            return record
        return self.folder.add(record)

    def _send_over(self, record: EpisodeRecord, comment: str = "") -> None:
        left = record.ended == "left"
        over: dict[str, Any] = {
            "type": "over",
            "left": left,
            "more": not left and self._number < self.episodes,
            "practice": self.is_practice,
            "outcome": renaming(self._game)(self._outcome_text(record, comment)),
            "lost": False,
            "metrics": {},
            "replay": "",
        }
        if not record.ended and not self.is_practice:
            over["lost"] = registry.suite_of(record).has_success and not record.success
            if self.settings.metrics:
                over["metrics"] = numbers_of(record.metrics)
                over |= summary_of(self._game, record, [*self.history, *self.records])
            if self.replayable:
                over["replay"] = f"replay/{len(self.records)}"
            self.records.append(record)
        self._over = over
        if self._on_over is not None:
            self._on_over(record)
        for person in (*self.people, *self.watchers):
            person.send(self._over_for(person))

    def _outcome_text(self, record: EpisodeRecord, comment: str) -> str:
        if record.ended == "left":
            return self._stopped or ""
        if self.is_practice:
            return comment
        if record.ended == ABANDONED:
            return UNDECIDED
        return "" if record.ended else registry.suite_of(record).outcome(record)

    async def _send_par(self, round_: Round) -> None:
        over = self._over
        outcome = await par_of(round_.match, round_.key)
        if outcome and over is not None and self._over is over:  # else the next episode has begun
            over["par"] = renaming(self._game)(outcome)
            self._send_all({"type": "par", "par": over["par"]})

    def _close(self) -> None:
        self._enter("closed")
        closing = {"type": "closing", "why": self._stopped or ""}
        for person in (*self.people, *self.watchers):
            person.send(closing if self._over is None else self._over_for(person))
        self._show_rematch()

    def _show_rematch(self) -> None:
        if self.rematch is not None and self.state == "closed":
            self.rematch.show_all()

    def _over_for(self, person: Person) -> dict[str, Any]:
        assert self._over is not None
        outcome = "You have left." if self._over["left"] and person.gone else self._over["outcome"]
        more = self._over["more"] and self._stopped is None
        return self._over | {"more": more, "next": "" if more else person.next, "outcome": outcome}

    def _log(self, entry: Mapping[str, Any]) -> None:
        if self.folder is not None:
            self.folder.add_input({"session": self.id, "number": self._number, **entry})

    def connect(self, person: Person, send_queue: SendQueue) -> None:
        """Connect a person and send the complete current state."""
        self.used_at = self._now()
        person.connect(send_queue)
        if self._game is not None:
            person.send(self._welcome(person))
        else:
            person.send(self._loading)
        if self.driver is not None:
            self.driver.show(person)
        if self._over is not None:
            person.send(self._over_for(person))
        self._await_people()
        self._changed.set()
        self._send_state()
        self._show_rematch()

    def _await_people(self) -> None:
        """Let the game wait while all people are gone; the host ends it if that lasts too long."""
        alone = not any(person.here for person in self.people)
        if alone != self.people[0].awaited:
            for person in self.people:
                person.awaited = alone
            self.pause(alone)

    def disconnect(self, person: Person, send_queue: SendQueue) -> None:
        """Lose a person's connection; a game whose people are all gone waits."""
        self.used_at = self._now()
        if not person.disconnect(send_queue, self._now) or person in self.watchers:
            return
        self._await_people()
        self._send_state()
        self._show_rematch()
        with contextlib.suppress(RuntimeError):  # without a loop no state is sent
            asyncio.get_running_loop().call_later(self.settings.grace + POLL, self._send_state)

    def receive(self, person: Person, message: Mapping[str, Any]) -> None:
        """Take a message of a person, as ``messages.read_message`` returns it."""
        self.used_at = self._now()
        kind = message["type"]
        if person.role == WATCHER:
            return
        if kind == "leave":
            person.gone = True
            self.stop(f"{self.name_of(person)} has left.")
            self._show_rematch()
        elif kind in ("ready", "practise"):
            if kind == "practise" and self._offers_practice:
                self._practisers.add(person.id)
            if not person.ready:
                person.ready = True
                self._changed.set()
                self._send_state()
        elif kind in ADJUSTING:
            self._adjust(person, message)
        elif kind == "rematch":
            if self.rematch is not None and self.state == "closed":
                self.rematch.wish(person, message["how"])
        elif self.driver is not None and self.state != "closed":
            self.driver.receive(person, message)

    def _adjust(self, person: Person, message: Mapping[str, Any]) -> None:
        if message["type"] == "text" and person.send_queue is not None:
            person.send_queue.wants_text = message["on"]
        elif message["type"] == "window":
            person.note_window(message["width"], message["lost"])
        elif message["type"] == "skip" and self.driver is not None and person.seat is not None:
            self.driver.skip(person.seat)
        elif message["type"] == "pause" and len(self.people) == 1:  # else one could stop the others' game
            self.pause(message["on"])

    def _welcome(self, person: Person) -> dict[str, Any]:
        game = self._game
        seat = person.seat
        settings = self.settings
        named = renaming(game)
        view = None if seat is None else game.seen(self.env.clone_state().state, 0, seat)
        by_text = settings.show == "words" or settings.menu == "none"
        rules = "" if view is None else named(view.rules if by_text else view.picture_rules)
        if self._clock == TICKS and not by_text:
            rules = in_seconds(rules, settings.tick)
        limits = self.matches[0].limits
        message_rules = []
        if seat is not None and self.talks:
            message_rules = limits.rules(seat, page_names(game), limits.max_episode_chars)
        specs = [PolicySpec.parse(spec) for spec in self.matches[0].team]
        team = [spec.kind if spec.is_known else "scripted" for spec in specs]
        return {
            "type": "welcome",
            "id": person.id,
            "game": self.title,
            "role": person.role,
            "seat": seat,
            "names": list(page_names(game)),
            "post": "" if view is None else view.role,
            "team": team if settings.names == "shown" else ["?" for _ in team],
            "manual": rules,
            "clock": self._clock,
            "tick": settings.tick,
            "keys": list(key_actions(game, seat)) if seat is not None and self._clock == TICKS else [],
            "show": settings.show,
            "menu": settings.menu,
            "fullscreen": settings.fullscreen,
            "language": settings.language,
            "leaving_text": person.leaving_text,
            "single": [] if view is None else single_names(view),
            "supplies": [] if view is None else list(view.supplies),
            "moves": {} if view is None or seat is None or self._clock == TICKS else key_labels(game, view, seat),
            "goal": "" if self._round.goal is None else self._round.goal.name,
            "offers_practice": seat is not None and self._offers_practice,
            "objective": "" if view is None else named(view.objective),
            "limit": None if view is None else view.limit,
            "talks": self.talks,
            "message_rules": message_rules,
            "max_chars": limits.max_chars,
            "episodes": self.episodes,
        }

    def _enter(self, state: str) -> None:
        self.state = state
        self._send_state()

    def _send_state(self) -> None:
        self._send_all(
            {
                "type": "state",
                "state": self.state,
                "number": max(1, self._number),
                "here": {person.agent: person.here for person in self.people},
                "ready": {person.agent: person.ready for person in self.people},
                "lost": [person.agent for person in self.people if person.is_lost(self.settings, self._now())],
            }
        )

    def _send_all(self, message: dict[str, Any]) -> None:
        for person in (*self.people, *self.watchers):
            person.send(message)
