"""A team that deliberates: its seats share one joint plan and follow it, each by what it knows itself.

Source: CoTS (CVPR 2025). The team deliberates when a seat has nothing to do or has found something new. Each member
sees what its seat may know: what the planner does not know reaches it by the critics' words only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from collab_overcooked import registry
from collab_overcooked.envs.api import FullGame
from collab_overcooked.policies.api import Decision, EnvInfo, Message, Policy, Seen, simulator_of
from collab_overcooked.policies.search.deliberation import (
    DIALOGUE,
    HISTORY,
    Briefing,
    Deliberation,
    PlanSettings,
    Update,
    Voices,
)
from collab_overcooked.policies.search.plan_tree import Node
from collab_overcooked.policies.search.plan_voices import Walk, voices, worth
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.policies.search.subplans import Findings, PlanningView, SubPlan, SubplanProvider
from collab_overcooked.policies.specs import read_options


def look_of(game: FullGame) -> SubplanProvider:
    """Return how seats of a game see what could be done.

    Raises:
        ValueError: If the game offers no sub-plans, or not with these options.
    """
    entry = registry.find(game.id).subplans
    if not entry:
        known = ", ".join(record.id for record in registry.games() if record.subplans)
        raise ValueError(f"policy 'cots' plays games that offer sub-plans, {known}, not {game.id}")
    look: SubplanProvider = registry.load_entry(entry)(game)
    return look


class Member:
    """One seat of a deliberating team.

    Args:
        seat: Its index.
        simulator: By which it sees what it may know at any time, and nothing else.
        look: Of the game.
        voices: Its own, for what it says.
    """

    def __init__(self, seat: int, simulator: Simulator, look: SubplanProvider, voices: Voices) -> None:
        self.seat, self.simulator, self.look, self.voices = seat, simulator, look, voices
        self.queue: list[SubPlan] = []  # what it still has to do of the plan, the present one first
        self.running: SubPlan | None = None
        self.history: tuple[str, ...] = ()  # the last sub-plans that it began
        self.waiting = False  # since the last look at the plan, as there was nothing for it to do
        self.facts: frozenset[str] = frozenset()  # that it had found when the plan was rated last
        self.known: frozenset[str] = frozenset()  # what it knew of that can be taken when the plan was made

    def look_at(self, seen: Seen, told: Findings) -> PlanningView:
        """Return what could be done, as far as the seat has observed it or was told."""
        return self.look(seen, told) if told else self.look(seen)

    def see(self, timestep: int) -> Seen:
        """Return what the seat may know now."""
        fork = self.simulator.fork(1, 0, cheat=True)  # a belief need not be drawn: Seen leaves out what is hidden
        return Seen.of(fork.game, fork.state, fork.out, self.seat, timestep)


class Team:
    """The members of one team in one episode, and their plan.

    Args:
        settings: How it deliberates.
    """

    def __init__(self, settings: PlanSettings) -> None:
        self.settings = settings.full()
        self.members: dict[int, Member] = {}
        self.restart()

    def restart(self) -> None:
        """Forget the last episode."""
        self.members.clear()
        self.updates: list[Update] = []
        self.dialogue: tuple[str, ...] = ()
        self.had_plan, self.looked = False, -1
        self.told: Findings = {}  # what all members have heard in this episode
        self.said: dict[int, str] = {}  # by seat, what it has to say aloud of the last update

    def enter(self, member: Member) -> None:
        """Let a seat take part; the first one to come back begins a new episode."""
        if member.seat in self.members:
            self.restart()
        self.members[member.seat] = member

    # ---------------------------------------------------------------------------------------- deciding

    def choose(self, seen: Seen) -> int:
        """Return what a seat does now: the present plan's next part, after a look at the plan if there is reason."""
        member = self.members[seen.seat]
        moment = member.look_at(seen, self.told)
        self._go_on(member, moment)
        trigger = self._trigger(member, moment)
        if trigger and self.looked != seen.timestep:
            self.looked = seen.timestep
            self.look_at_plan(trigger, seen, moment)
        option = self._follow(member, seen, moment) or self._next(member, moment) or self._alone(member, moment)
        if option is not None and (member.running is None or member.running.text != option.text):
            member.history = (*member.history, option.text)[-HISTORY:]
        member.running = option
        member.waiting = option is None
        if option is not None and option.action is not None:
            return option.action
        return seen.idle_action if moment.idle is None else moment.idle

    def _go_on(self, member: Member, moment: PlanningView) -> None:
        """Notice that what a seat was at is over, or cannot go on."""
        if member.running is not None:
            own = moment.option(member.seat, member.running.text)
            if own is None or own.action is None:
                if member.queue and member.queue[0].text == member.running.text:
                    member.queue.pop(0)
                member.running = None

    def _trigger(self, member: Member, moment: PlanningView) -> str:
        if not self.had_plan:
            return "start"
        if moment.facts - member.facts:
            return "news" if member.running is not None else "free"
        others_work = any(m.running is not None for m in self.members.values() if m is not member)
        return "free" if member.running is None and not (member.waiting and others_work) else ""

    def _follow(self, member: Member, seen: Seen, moment: PlanningView) -> SubPlan | None:
        """Ask the seat's own voice which sub-plan carries out its part of the plan, if it is free to begin one."""
        if member.voices.follow is None or member.running is not None:
            return None
        choices = [option for option in moment.options[member.seat] if option.action is not None]
        if len(choices) < 2:
            return None
        chosen = member.voices.follow(self._brief(member, seen, moment, tuple(sorted(self.members))), choices)
        if chosen is not None:
            member.queue = [chosen, *(entry for entry in member.queue if entry != chosen)]
        return chosen

    def _next(self, member: Member, moment: PlanningView) -> SubPlan | None:
        """Return the first part of the plan that the seat can begin, or by which it gets to know of it.

        A part for which its hands are not free yet stays: the seat gets rid of what it holds first.
        """
        while member.queue:
            own = moment.way_to(member.seat, member.queue[0], member.known)
            if own is not None and own.action is not None:
                return own
            if own is not None and own.load >= 0 and not Walk(moment, member.seat).fits(own):
                return None
            member.queue.pop(0)
        return None

    def _alone(self, member: Member, moment: PlanningView) -> SubPlan | None:
        """Return the best that a seat can do beside the plan, None if there is nothing."""
        others = [m for m in self.members.values() if m is not member]
        taken = frozenset().union(*(e.uses for m in others for e in (*m.queue, *([m.running] if m.running else []))))
        walk = Walk(moment, member.seat)
        spare = [o for o in moment.options[member.seat] if o.action is not None and o.value > 0 and not o.uses & taken]
        return max(spare, key=lambda option: worth(walk, option), default=None)

    # ---------------------------------------------------------------------------------------- the plan

    def look_at_plan(self, trigger: str, seen: Seen, moment: PlanningView) -> None:
        """Rate the plan, and replace it if that is what comes of it; running sub-plans are never cut."""
        seats = sorted(self.members)
        looks = {seat: self._look(self.members[seat], seen, moment) for seat in seats}
        seats.sort(key=lambda seat: not any(o.value > 0 for own in looks[seat][1].options.values() for o in own))
        for seat in seats:
            member = self.members[seat]
            own, known = looks[seat]
            if seat != seen.seat and np.count_nonzero(own.mask) > 1:  # nobody has asked it yet in this step
                self._go_on(member, known)
            member.facts, member.waiting = known.facts, False
            member.queue = [e for e in member.queue if known.way_to(seat, e, member.known) is not None]
        running = self._running()
        briefings = [self._brief(self.members[seat], *looks[seat], tuple(seats)) for seat in seats]
        update = Update(seen.timestep, seen.seat, trigger)
        deliberation = Deliberation(self.settings, self._voices(seats[0]))
        plan, path = deliberation.update(briefings, update)
        self.told = deliberation.told
        self.updates.append(update)
        if plan is not None:
            self.had_plan = True
            for seat in seats:
                self.members[seat].known = self.members[seat].look_at(looks[seat][0], self.told).takes(seat)
                own_part = [row[seat] for row in plan if seat in row]
                at = running.get(seat)
                self.members[seat].queue = [at, *(e for e in own_part if e != at)] if at is not None else own_part
            self._remember(seats, path, seen.names)

    def _running(self) -> dict[int, SubPlan]:
        return {seat: m.running for seat, m in self.members.items() if m.running is not None}

    def _brief(self, member: Member, seen: Seen, moment: PlanningView, seats: tuple[int, ...]) -> Briefing:
        """Return what a member brings to a deliberation."""
        return Briefing(
            seat=member.seat,
            members=seats,
            seen=seen,
            moment=moment,
            running=self._running(),
            left={seat: tuple(self.members[seat].queue) for seat in seats},
            had_plan=self.had_plan,
            known=member.known,
            dialogue=self.dialogue,
            history={seat: self.members[seat].history for seat in seats},
            told=self.told,
            look=partial(member.look_at, seen),
        )

    def _voices(self, planner: int) -> Voices:
        """Return the planner's voices, with every critic speaking for itself."""
        first = self.members[planner].voices
        return replace(first, criticise=lambda own, *said: self.members[own.seat].voices.criticise(own, *said))

    def _look(self, member: Member, seen: Seen, moment: PlanningView) -> tuple[Seen, PlanningView]:
        """Return what a member sees at the moment of the one that was asked, by its own knowledge."""
        if member.seat == seen.seat:
            return seen, moment
        own = member.see(seen.timestep)
        return own, member.look_at(own, self.told)

    def speak(self, seat: int) -> Message | None:
        """Return what a seat has to say aloud of the last update, None if nothing."""
        words = self.said.pop(seat, "")
        return Message(seat, words, "", last=True) if words else None

    def account(self, seat: int) -> dict[str, Any]:
        """Return all looks at the plan for the record, in the account of the first member."""
        return {"updates": [each.to_dict() for each in self.updates]} if seat == min(self.members) else {}

    def _remember(self, seats: Sequence[int], path: Sequence[Node], names: Sequence[str]) -> None:
        """Keep the last messages on the way to the plan that won."""
        talk: list[tuple[int, str]] = []
        for node in path:
            talk += [(seats[0], node.draft.message)] if node.draft.message else []
            critics = seats[1:] or seats
            talk += [(s, c.message) for s, c in zip(critics, node.critiques, strict=False) if c.message]
        self.dialogue = (*self.dialogue, *(f"{names[seat]}: {words}" for seat, words in talk))[-DIALOGUE:]
        if self.settings.charge:
            self.said = {}
            for seat, words in talk:
                self.said[seat] = f"{self.said.get(seat, '')} {words}".strip()


class CotsPolicy:
    """One seat of a team that deliberates; seats with the same spec deliberate together.

    The first seat that knows what anything is good for is the planner, all others are critics; one alone is its own.
    """

    needs_simulator = True

    def __init__(self, settings: PlanSettings | None = None) -> None:
        self.name = "cots"
        self.settings = settings or PlanSettings()
        self.team = Team(self.settings)

    def join(self, team: tuple[Policy, ...]) -> None:
        """Share the plan with the first seat of the same spec."""
        own = next(mate for mate in team if isinstance(mate, CotsPolicy) and mate.name == self.name)
        self.team = own.team

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Begin an episode without a plan.

        Raises:
            ValueError: If the game offers no sub-plans, or the seat has primitive actions.
        """
        self.seat = seat
        self.team.enter(Member(seat, simulator_of(info, self.name), look_of(info.game), voices()))

    def act(self, seen: Seen) -> Decision:
        """Follow the plan; where the game refuses that, because a teammate was faster, do nothing."""
        if seen.error is not None:
            return Decision(action=seen.idle_action)
        action = self.team.choose(seen)
        return Decision(action=action, say=self.team.said.pop(self.seat, ""))

    def reply(self, seen: Seen) -> Message | None:
        """Say aloud what this seat has said of the plan, where that is asked for."""
        return self.team.speak(self.seat)

    def account(self) -> dict[str, Any]:
        """Return the team's looks at its plan, if this is its first seat."""
        return self.team.account(self.seat)


def from_text(text: str) -> CotsPolicy:
    """Make the policy of a spec such as ``"cots:mode=dfs,n=2"``; the text is what follows the colon.

    Raises:
        ValueError: For an unknown parameter or a value that it cannot have.
    """
    return CotsPolicy(read_options("cots", text, PlanSettings))
