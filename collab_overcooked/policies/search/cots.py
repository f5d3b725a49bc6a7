"""Deliberating team: its seats share one joint plan, and each follows it with its own knowledge.

Source: CoTS (CVPR 2025). The team deliberates when a seat has nothing to do or has a new finding. Each member has the
knowledge of its seat: the planner learns the knowledge of others only from the critics' messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from collab_overcooked import registry
from collab_overcooked.envs.api import FullGame
from collab_overcooked.policies.api import AgentView, Decision, EnvInfo, Message, Policy, simulator_of
from collab_overcooked.policies.parameters import read_options
from collab_overcooked.policies.search.deliberation import (
    DIALOGUE,
    HISTORY,
    Briefing,
    Critique,
    Deliberation,
    Draft,
    PlanFunctions,
    PlanSettings,
    Update,
)
from collab_overcooked.policies.search.partners import (
    Teammate,
    criticise_as_greedy,
    offer_text,
    rating_text,
    read_answer,
    read_partner_rating,
)
from collab_overcooked.policies.search.plan_functions import Walk, programmed_functions, worth
from collab_overcooked.policies.search.plan_tree import Node
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.policies.search.subplans import (
    Findings,
    Plan,
    PlanningView,
    SubPlan,
    SubplanProvider,
    join_findings,
)
from collab_overcooked.policies.specs import PolicySpec


def provider_of(game: FullGame) -> SubplanProvider:
    """Return the sub-plan provider of a game.

    Raises:
        ValueError: The game has no sub-plans.
    """
    entry = registry.find(game.id).subplans
    if not entry:
        known = ", ".join(record.id for record in registry.games() if record.subplans)
        raise ValueError(f"policy 'cots' plays games with sub-plans, {known}, not {game.id}")
    look: SubplanProvider = registry.load_entry(entry)(game)
    return look


class Member:
    """Member of a deliberating team.

    Args:
        seat: Index of the agent.
        simulator: Simulator, used only to get the seat's knowledge at any time.
        look: Sub-plan provider of the game.
        functions: Callables of the member.
    """

    def __init__(self, seat: int, simulator: Simulator, look: SubplanProvider, functions: PlanFunctions) -> None:
        self.seat = seat
        self.simulator = simulator
        self.look = look
        self.functions = functions
        self.queue: list[SubPlan] = []  # remaining sub-plans of the plan, the current one first
        self.running: SubPlan | None = None
        self.history: tuple[str, ...] = ()  # the last sub-plans that it began
        self.waiting = False  # without work since the last plan update
        self.triggers: frozenset[str] = frozenset()  # those at the last rating
        self.known: frozenset[str] = frozenset()  # objects known when the plan was made

    def look_at(self, seen: AgentView, shared: Findings) -> PlanningView:
        """Return the sub-plans, from the seat's observations and shared findings."""
        return self.look(seen, shared) if shared else self.look(seen)

    def see(self, timestep: int) -> AgentView:
        """Return the seat's current knowledge."""
        fork = self.simulator.fork(1, 0, cheat=True)  # no belief needed: AgentView leaves out hidden information
        return AgentView.of(fork.game, fork.state, fork.out, self.seat, timestep)


class SearchTeam:
    """The members of one team in one episode, and their plan.

    Args:
        settings: Settings of deliberation.
    """

    def __init__(self, settings: PlanSettings) -> None:
        self.settings = settings.full()
        self.members: dict[int, Member] = {}
        self.partners: dict[int, Teammate] = {}  # outside the team
        self.restart()

    def restart(self) -> None:
        """Forget the last episode."""
        self.members.clear()
        self.partners.clear()
        self.updates: list[Update] = []
        self.dialogue: tuple[str, ...] = ()
        self.had_plan, self.looked = False, -1
        self.shared: Findings = {}  # among all members in this episode
        self.spoken: dict[int, str] = {}  # seat -> message about the last update
        self.left_out: tuple[str, ...] = ()  # parts that are not in the present plan, with reasons
        self.received = 0  # messages of partners that are in the dialogue
        # The seat that sent the plan for an answer, the search, and what the seat did before
        self.offer: tuple[int, Deliberation, SubPlan | None, tuple[str, ...]] | None = None
        # The seat that asked partners to rate the plan, why and when, and what the seat did before
        self.question: tuple[int, str, int, SubPlan | None, tuple[str, ...]] | None = None

    def enter(self, member: Member, info: EnvInfo) -> None:
        """Add a member; a seat that was added before begins a new episode."""
        if member.seat in self.members:
            self.restart()
        self.members[member.seat] = member
        outside = [seat for seat in range(len(info.team)) if seat not in self.members]
        self.partners = {seat: Teammate(seat, PolicySpec.parse(info.team[seat]).reads_messages) for seat in outside}

    def choose(self, seen: AgentView) -> int:
        """Return a seat's action: the next sub-plan of the team's plan, after an update if necessary."""
        member = self.members[seen.seat]
        view = member.look_at(seen, self.shared)
        self._go_on(member, view)
        self._listen(seen)
        for partner in self.partners.values():
            partner.watch(view)
        trigger = self._trigger(member, view)
        if trigger and self.looked != seen.timestep:
            self.looked = seen.timestep
            self.update_plan(trigger, seen, view)
        return self._begin(member, seen, view)

    def _listen(self, seen: AgentView) -> None:
        received = [message for _, message in seen.past_messages] + list(seen.inbox)
        messages = [message for message in received if message.agent in self.partners and message.say]
        lines = (f"{seen.names[m.agent or 0]}: {m.say}" for m in messages[self.received :])
        self.dialogue = (*self.dialogue, *lines)[-DIALOGUE:]
        self.received = len(messages)

    def _begin(self, member: Member, seen: AgentView, view: PlanningView) -> int:
        option = self._follow(member, seen, view) or self._next(member, seen, view) or self._alone(member, view)
        if option is not None and (member.running is None or member.running.text != option.text):
            member.history = (*member.history, option.text)[-HISTORY:]
        member.running = option
        member.waiting = option is None
        if option is not None and option.action is not None:
            return option.action
        return seen.idle_action if view.idle is None else view.idle

    def _go_on(self, member: Member, view: PlanningView) -> None:
        if member.running is not None:
            option = view.option(member.seat, member.running.text)
            if option is None or option.action is None:
                if member.queue and member.queue[0].text == member.running.text:
                    member.queue.pop(0)
                member.running = None

    def _trigger(self, member: Member, view: PlanningView) -> str:
        if not self.had_plan:
            return "start"
        if view.triggers - member.triggers:
            return "news" if member.running is not None else "free"
        if any(partner.left_plan for partner in self.partners.values()):
            return "partner"
        others_work = any(m.running is not None for m in self.members.values() if m is not member)
        others_work |= any(partner.queue for partner in self.partners.values())
        return "free" if member.running is None and not (member.waiting and others_work) else ""

    def _follow(self, member: Member, seen: AgentView, view: PlanningView) -> SubPlan | None:
        if member.functions.follow is None or member.running is not None:
            return None
        choices = [option for option in view.options[member.seat] if option.action is not None]
        if len(choices) < 2:
            return None
        seats = (*sorted(self.members), *self.partners)
        chosen = member.functions.follow(self._brief(member, seen, view, seats), choices)
        if chosen is not None:
            member.queue = [chosen, *(entry for entry in member.queue if entry != chosen)]
        return chosen

    def _next(self, member: Member, seen: AgentView, view: PlanningView) -> SubPlan | None:
        while member.queue:
            option = view.way_to(member.seat, member.queue[0], member.known)
            if option is not None and option.action is not None:
                return option
            if option is not None and option.load >= 0 and not Walk(view, member.seat).fits(option):
                return None
            self._drop(member, member.queue.pop(0), seen.names)
        return None

    def _drop(self, member: Member, entry: SubPlan, names: Sequence[str]) -> None:
        """Note that a part of the plan has become impossible, unless the seat has begun it before."""
        if entry.text not in member.history:
            self.left_out = (*self.left_out, f"{names[member.seat]}: {entry.text} (no longer possible)")

    def _alone(self, member: Member, view: PlanningView) -> SubPlan | None:
        others = [m for m in self._everybody().values() if m is not member]
        taken = frozenset().union(*(e.uses for m in others for e in (*m.queue, *([m.running] if m.running else []))))
        walk = Walk(view, member.seat)
        spare = [o for o in view.options[member.seat] if o.action is not None and o.value > 0 and not o.uses & taken]
        return max(spare, key=lambda option: worth(walk, option), default=None)

    def update_plan(self, trigger: str, seen: AgentView, view: PlanningView, rating: int | None = None) -> None:
        """Rate the plan and replace it if necessary; running sub-plans are never interrupted.

        Partners who read messages rate it themselves: they are asked first, and nothing changes until they answer. If
        they have not, the team rates it at the next reason to.

        Args:
            trigger: Reason of the update.
            seen: Knowledge of the seat that has it.
            view: Its sub-plans.
            rating: Rating of partners outside the team.
        """
        seats = sorted(self.members)
        looks = {seat: self._look(self.members[seat], seen, view) for seat in seats}
        seats.sort(key=lambda seat: not any(o.value > 0 for row in looks[seat][1].options.values() for o in row))
        for seat in seats:
            member = self.members[seat]
            seen_by_seat, known = looks[seat]
            if seat != seen.seat and np.count_nonzero(seen_by_seat.mask) > 1:  # not asked yet in this step
                self._go_on(member, known)
            member.triggers, member.waiting = known.triggers, False
            for entry in [e for e in member.queue if known.way_to(seat, e, member.known) is None]:
                member.queue.remove(entry)
                self._drop(member, entry, seen.names)
        everybody = (*seats, *self.partners)
        briefings = [self._brief(self.members[seat], *looks[seat], everybody) for seat in seats]
        briefings += [self._brief_for(partner, briefings[0]) for partner in self.partners.values()]
        update = Update(seen.timestep, seen.seat, trigger, rating)
        asks = any(partner.speaks for partner in self.partners.values())
        deliberation = Deliberation(self.settings, self._functions(seats[0]), asks)
        unanswered, self.question = self.question is not None, None
        if asks and rating is None and not unanswered and deliberation.rates(briefings[0], trigger):
            member = self.members[seen.seat]
            self.question = (seen.seat, trigger, seen.timestep, member.running, member.history)
            self.spoken[seen.seat] = rating_text(briefings[0].plan, seen.names)
            return
        before = self._spent()
        plan, path = deliberation.update(briefings, update)
        self._pay(update, before)
        self.shared = deliberation.shared
        self.updates.append(update)
        if plan is not None:
            self._adopt(plan, update, {seat: look for seat, (look, _) in looks.items()})
            self._remember(seats, path, seen.names)
            if asks:
                member = self.members[seen.seat]
                self.offer = (seen.seat, deliberation, member.running, member.history)
                self.spoken[seen.seat] = self._offer_text(seen, plan, path[-1])

    def _adopt(self, plan: Plan, update: Update, looks: Mapping[int, AgentView]) -> None:
        running = self._running()
        self.had_plan, self.left_out = True, tuple(update.left_out)
        for seat, look in looks.items():
            member = self.members[seat]
            member.known = member.look_at(look, self.shared).takes(seat)
            own_part = [row[seat] for row in plan if seat in row]
            at = running.get(seat)
            member.queue = [at, *(e for e in own_part if e != at)] if at is not None else own_part
        for seat, partner in self.partners.items():
            partner.assign([row[seat] for row in plan if seat in row])

    def _pay(self, update: Update, before: tuple[Any, ...]) -> None:
        if spent := self._spent():
            update.characters = (update.characters if update.answers else 0) + spent[0] - before[0]
            update.seconds = round((update.seconds or 0.0) + spent[1] - before[1], 3)

    def _offer_text(self, seen: AgentView, plan: Plan, node: Node) -> str:
        return offer_text(plan, seen.names, node.draft.message, self._may_revise())

    def answer(self, seen: AgentView) -> Message | None:
        """Process partners' answers to a seat's message: a rating of the plan, or a comment on a new plan.

        Returns:
            A new plan after a low rating, a better one after an objection, or the seat's pending message.
        """
        if self.question is not None and (self.question[0], self.question[2]) == (seen.seat, seen.timestep):
            return self._rated(seen)
        if self.offer is None or self.offer[0] != seen.seat or self.updates[-1].timestep != seen.timestep:
            return self.speak(seen.seat)
        seat, deliberation, running, history = self.offer
        answers = self._answers(seen)
        if not answers:
            return None
        self._listen(seen)
        member = self.members[seat]
        update = self.updates[-1]
        before = self._spent()
        view = member.look_at(seen, self.shared)
        planner = self._brief(member, seen, view, (*sorted(self.members), *self.partners))
        critiques = {
            s: read_answer(text, self._brief_for(self.partners[s], planner), seat) for s, text in answers.items()
        }
        plan, path = deliberation.revise(critiques, update)
        self._pay(update, before)
        if plan is None:
            self.offer = None
            return None
        member.running, member.history = running, history
        looks = {s: self._look(self.members[s], seen, view)[0] for s in self.members}
        self._adopt(plan, update, looks)
        action = self._begin(member, seen, view)
        text = self._offer_text(seen, plan, path[-1])
        return Message(seat, text, seen.view.action_texts[action], last=not self._may_revise())

    def _answers(self, seen: AgentView) -> dict[int, str]:
        """Return partners' messages since the seat's last message, by seat."""
        sent = max((k for k, message in enumerate(seen.inbox) if message.agent == seen.seat), default=-1)
        messages = seen.inbox[sent + 1 :]
        return {m.agent: m.say for m in messages if m.agent is not None and m.agent in self.partners and m.say}

    def _rated(self, seen: AgentView) -> Message | None:
        """Process partners' ratings of the plan as ratings of the team; keep the plan if there are none."""
        assert self.question is not None
        seat, trigger, _, running, history = self.question
        ratings = [r for r in map(read_partner_rating, self._answers(seen).values()) if r is not None]
        if not ratings:
            return None
        self.question = None
        self._listen(seen)
        member = self.members[seat]
        view = member.look_at(seen, self.shared)
        now = member.running, member.history
        member.running, member.history = running, history
        self.update_plan(trigger, seen, view, min(ratings))
        if not self.updates[-1].searched:
            member.running, member.history = now
            return None
        action = self._begin(member, seen, view)
        text, is_last = self.spoken.pop(seat), not self._may_revise()
        return Message(seat, text, seen.view.action_texts[action], last=is_last)

    def _may_revise(self) -> bool:
        return self.offer is not None and self.offer[1].may_revise(self.updates[-1])

    def _brief_for(self, partner: Teammate, planner: Briefing) -> Briefing:
        shared = join_findings(planner.shared, planner.view.findings)  # it reports nothing that the planner knows
        return replace(planner, seat=partner.seat, shared=shared, modelled=True)

    def _everybody(self) -> dict[int, Member | Teammate]:
        return {**self.members, **self.partners}

    def _spent(self) -> tuple[Any, ...]:
        spent = [member.functions.spent() for member in self.members.values() if member.functions.spent is not None]
        return tuple(map(sum, zip(*spent, strict=True)))

    def _running(self) -> dict[int, SubPlan]:
        return {seat: m.running for seat, m in self.members.items() if m.running is not None}

    def _brief(self, member: Member, seen: AgentView, view: PlanningView, seats: tuple[int, ...]) -> Briefing:
        everybody = self._everybody()
        return Briefing(
            seat=member.seat,
            members=seats,
            seen=seen,
            view=view,
            running=self._running(),
            left={seat: tuple(everybody[seat].queue) for seat in seats},
            had_plan=self.had_plan,
            known=member.known,
            dialogue=self.dialogue,
            history={seat: everybody[seat].history for seat in seats},
            left_out=self.left_out,
            shared=self.shared,
            look=partial(member.look_at, seen),
        )

    def _functions(self, planner: int) -> PlanFunctions:
        def criticise(briefing: Briefing, draft: Draft, before: Sequence[Node]) -> Critique:
            if briefing.modelled:
                return criticise_as_greedy(briefing, draft, before)
            return self.members[briefing.seat].functions.criticise(briefing, draft, before)

        def rate(briefings: Sequence[Briefing]) -> int | None:
            rater = (briefings[1:] or briefings)[0]  # the critic, whose view the planner's proposal does not bias
            return self.members[rater.seat].functions.rate(briefings)

        return replace(self.members[planner].functions, criticise=criticise, rate=rate)

    def _look(self, member: Member, seen: AgentView, view: PlanningView) -> tuple[AgentView, PlanningView]:
        if member.seat == seen.seat:
            return seen, view
        own_seen = member.see(seen.timestep)
        return own_seen, member.look_at(own_seen, self.shared)

    def speak(self, seat: int) -> Message | None:
        """Return a seat's pending message about the last update, None without one."""
        text = self.spoken.pop(seat, "")
        return Message(seat, text, "", last=True) if text else None

    def account(self, seat: int) -> dict[str, Any]:
        """Return all plan updates for the record, in the account of the first member."""
        return {"updates": [update.to_dict() for update in self.updates]} if seat == min(self.members) else {}

    def _remember(self, seats: Sequence[int], path: Sequence[Node], names: Sequence[str]) -> None:
        talk: list[tuple[int, str]] = []
        for node in path:
            talk += [(seats[0], node.draft.message)] if node.draft.message else []
            critics = seats[1:] or seats
            talk += [(s, c.message) for s, c in zip(critics, node.critiques, strict=False) if c.message]
        self.dialogue = (*self.dialogue, *(f"{names[seat]}: {text}" for seat, text in talk))[-DIALOGUE:]
        if self.settings.charge:
            self.spoken = {}
            for seat, text in talk:
                self.spoken[seat] = f"{self.spoken.get(seat, '')} {text}".strip()


class CotsPolicy:
    """Policy of a deliberating team; seats with the same spec deliberate together.

    The first seat that knows the value of a sub-plan is the planner, all others are critics; a single seat is its own.
    """

    needs_simulator = True

    def __init__(self, settings: PlanSettings | None = None) -> None:
        self.name = "cots"
        self.settings = settings or PlanSettings()
        self.team = SearchTeam(self.settings)

    def join(self, team: tuple[Policy, ...]) -> None:
        """Share the plan with the first seat of the same spec."""
        for mate in team:
            if isinstance(mate, CotsPolicy) and mate.name == self.name:
                self.team = mate.team
                return

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Begin an episode without a plan."""
        self.seat = seat
        self.team.enter(
            Member(seat, simulator_of(info, self.name), provider_of(info.game), programmed_functions()), info
        )

    def act(self, seen: AgentView) -> Decision:
        """Follow the plan; if the game refuses the action because a teammate was faster, wait."""
        if seen.error is not None:
            return Decision(action=seen.idle_action)
        action = self.team.choose(seen)
        return Decision(action=action, say=self.team.spoken.pop(self.seat, ""))

    def reply(self, seen: AgentView) -> Message | None:
        """Answer partners outside the team, or send this seat's pending message about the plan (``charge``)."""
        return self.team.answer(seen)

    def account(self) -> dict[str, Any]:
        """Return the team's plan updates, if this is its first seat."""
        return self.team.account(self.seat)


def from_text(text: str) -> CotsPolicy:
    """Create the policy of a spec such as ``"cots:mode=dfs,n=2"`` from the text after the colon."""
    return CotsPolicy(read_options("cots", text, PlanSettings))
