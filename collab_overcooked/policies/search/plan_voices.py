"""Proposer, critic and rater of joint plans that are programs: deterministic, and no model is asked.

Each speaks from its own seat's knowledge. The planner knows what the critics know only by their hints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from math import exp

from collab_overcooked.policies.search.deliberation import HIGHEST, LOWEST, STEPS, Briefing, Critique, Draft, Voices
from collab_overcooked.policies.search.plan_tree import Node
from collab_overcooked.policies.search.subplans import (
    Plan,
    PlanningView,
    SubPlan,
    join_findings,
    plan_text,
    without_clashes,
)

FULL = 4.0  # value of bringing full hands home, on the scale of the household games
LOAD_POWER = 2  # bringing home half of a load is worth a quarter of a full one
ASIDE = 0.1  # weight of the steps of seats that are done earlier
RATINGS = (0.8, 0.95)  # shares of a fresh plan below which a plan is rated 3 and 4
LOSS = 8.0  # points that a plan would lose by gaining nothing
FAR = 1000.0  # steps of what cannot be done
SAME_TARGET, SWAP, IDLE, KNOWN, HANDS_FULL = "SAME_TARGET", "SWAP", "IDLE", "I_KNOW", "HANDS_FULL"


def voices() -> Voices:
    """Return the voices that are programs."""
    return Voices(propose, criticise, rate, lambda briefing, draft: without_clashes(draft.plan))


# ------------------------------------------------------------------------------------------- what plans cost


class Walk:
    """One seat's way through a plan: where it is, and what it carries."""

    def __init__(self, moment: PlanningView, seat: int) -> None:
        self.moment, self.seat = moment, seat
        self.place, self.held, self.moved = moment.places.get(seat), moment.held.get(seat, 0), False
        self.capacity = moment.capacity(seat)

    def has_room(self) -> bool:
        """Return whether one thing more can be carried."""
        return self.held < self.capacity

    def fits(self, option: SubPlan) -> bool:
        """Return whether the hands allow a sub-plan."""
        return self.held > 0 if option.load < 0 else self.held + max(option.load, option.hands) <= self.capacity

    def cost(self, option: SubPlan) -> float:
        """Return the steps of a sub-plan from here."""
        if not self.moved:
            own = self.moment.option(self.seat, option.text)
            if own is not None:
                return own.cost
        if self.place is None or option.place is None:
            return option.cost
        return self.moment.travel(self.place, option.place if option.start is None else option.start) + option.work

    def value(self, option: SubPlan) -> float:
        """Return what a sub-plan is worth: bringing things home is worth more the more there are."""
        if option.load >= 0:
            return option.value
        return option.value * (FULL if self.seat in self.moment.urgent else (self.held / self.capacity) ** LOAD_POWER)

    def take(self, option: SubPlan) -> float:
        """Go on to the end of a sub-plan; returns its cost."""
        cost = self.cost(option)
        self.capacity += option.widens
        self.held = 0 if option.load < 0 else min(self.held + option.load, self.capacity)
        self.place, self.moved = option.place if option.place is not None else self.place, True
        return cost


def loads(moment: PlanningView, plan: Plan, members: Sequence[int]) -> dict[int, float]:
    """Return the steps of each seat's part of a plan."""
    steps = {}
    for seat in members:
        walk = Walk(moment, seat)
        steps[seat] = sum(walk.take(row[seat]) for row in plan if seat in row)
    return steps


def merit(moment: PlanningView, plan: Plan, members: Sequence[int]) -> float:
    """Return what a plan gains, discounted by the steps until then; what hands do not allow gains nothing."""
    return sum(seat_merit(moment, seat, [row[seat] for row in plan if seat in row]) for seat in members)


def seat_merit(moment: PlanningView, seat: int, entries: Sequence[SubPlan]) -> float:
    """Return what one seat's part of a plan gains; what it cannot do, as far as is known, gains nothing."""
    walk, steps, gained = Walk(moment, seat), 0.0, 0.0
    for entry in entries:
        known = moment.option(seat, entry.text)
        if known is not None and walk.fits(known):
            value = walk.value(known)
            steps += walk.take(known)
            gained += value * exp(-steps / moment.scale)
    return gained


def duration(steps: Mapping[int, float]) -> float:
    """Return how long a plan takes: until the last seat is done, and a little for the steps of the others."""
    return max(steps.values(), default=0.0) + ASIDE * sum(steps.values())


def best_loads(moment: PlanningView, plan: Plan, members: Sequence[int]) -> float:
    """Return the shortest duration with which the members could share the same sub-plans."""
    rows = [[row.get(seat) for seat in members] for row in plan]
    if len(members) == 2:
        orders = product((False, True), repeat=len(rows))
        shared = ([row[::-1] if turned else row for row, turned in zip(rows, turns, strict=True)] for turns in orders)
    else:
        shared = ([[row[k] for k in order] for row in rows] for order in permutations(range(len(members))))
    return min(
        duration(
            loads(
                moment,
                tuple({seat: e for seat, e in zip(members, row, strict=True) if e is not None} for row in own),
                members,
            )
        )
        for own in shared
    )


# ------------------------------------------------------------------------------------------- proposing


def propose(briefing: Briefing, path: Sequence[Node], nodes: Sequence[Node], n: int) -> list[Draft]:
    """Return the plan of a greedy auction, or changes of the last plan of a path that are not in the tree yet.

    Behind what the critics have asked for, that plan itself is among them, unless it was said twice already: it stays
    in the race against changes that nobody has asked for.
    """
    if not path:
        return [draft_of(briefing, auction(briefing))]
    known = {plan_text(node.draft.plan, briefing.seen.names) for node in nodes}
    if len(path) < 2 or path[-2].draft.plan != path[-1].draft.plan:
        known.discard(plan_text(path[-1].draft.plan, briefing.seen.names))
    found = []
    for plan in changes(briefing, path[-1]):
        text = plan_text(plan, briefing.seen.names)
        if plan and text not in known:
            known.add(text)
            found.append(draft_of(briefing, plan))
        if len(found) == n:
            break
    return found


def draft_of(briefing: Briefing, plan: Plan) -> Draft:
    """Return a plan with words and what the planner has found since it spoke last."""
    words = plan_text(plan, briefing.seen.names)
    first = plan[0].get(briefing.seat) if plan else None
    said = [f"I would {first.text}."] if first else []
    return Draft(plan, words, " ".join([*said, *(f.text for f in briefing.news.values())]), briefing.news)


def auction(briefing: Briefing) -> Plan:
    """Share sub-plans out step by step: the pair of seat and sub-plan that is worth most for its steps comes first."""
    moment = briefing.moment
    rows: list[dict[int, SubPlan]] = []
    walks = {seat: Walk(moment, seat) for seat in briefing.members}
    taken: set[str] = set()
    for number in range(min(STEPS, moment.steps)):
        row = {seat: each for seat, each in briefing.running.items() if number == 0}
        for seat, each in row.items():
            walks[seat].take(each)
            taken |= each.uses
        while len(row) < len(briefing.members):
            best = max(_bids(moment, walks, row, taken, rows), key=lambda bid: bid[0], default=None)
            if best is None:
                break
            _, seat, option = best
            row[seat] = option
            walks[seat].take(option)
            taken |= option.uses
        rows.append(row)
    return without_clashes(tuple(row for row in rows if row))


def _bids(
    moment: PlanningView,
    walks: Mapping[int, Walk],
    row: Mapping[int, SubPlan],
    taken: set[str],
    rows: list[dict[int, SubPlan]],
) -> Iterator[tuple[float, int, SubPlan]]:
    for seat, walk in walks.items():
        if seat in row:
            continue
        done = {own[seat].text for own in rows if seat in own}
        for option in moment.options[seat]:
            open_to = option.value > 0 and not option.uses & taken and walk.fits(option)
            if open_to and (option.text not in done or option.load < 0):
                yield worth(walk, option), seat, option


def worth(walk: Walk, option: SubPlan) -> float:
    """Return value for steps."""
    return walk.value(option) / (1.0 + walk.cost(option))


def changes(briefing: Briefing, node: Node) -> Iterator[Plan]:
    """Yield a plan in view of what was told, what critics ask for, the plan itself, and other changes, best first."""
    plan: Plan = node.draft.plan
    running, moment = briefing.running, briefing.moment
    if any(critique.tells for critique in node.critiques):
        yield auction(briefing)
    asked = []
    for critique in node.critiques:
        for code, seat, option in critique.hints:
            if option is not None and seat not in running:
                asked.append(_with(briefing, plan, seat, option))
            elif code == SWAP:
                asked += _shorter(briefing, plan)
    yield from asked
    yield plan
    others = (*_shorter(briefing, plan), *_replaced(briefing, plan), *_reordered(briefing, plan))
    yield from sorted(others, key=lambda each: -merit(moment, each, briefing.members))


def _with(briefing: Briefing, plan: Plan, seat: int, option: SubPlan) -> Plan:
    """Put a sub-plan at the head of a seat's entries; others let go of what it uses."""
    own = [option, *(row[seat] for row in plan if seat in row and row[seat] != option)]
    own = own[: min(STEPS, briefing.moment.steps)]
    others = [{s: e for s, e in row.items() if s != seat and not e.uses & option.uses} for row in plan]
    length = max(len(own), len(others))
    rows = [dict(others[k]) if k < len(others) else {} for k in range(length)]
    for k, entry in enumerate(own):
        rows[k][seat] = entry
    return without_clashes(tuple(row for row in rows if row))


def _shorter(briefing: Briefing, plan: Plan) -> Iterator[Plan]:
    """Yield plans in which two seats have changed entries, in one step or in all, that take fewer steps."""
    members = [seat for seat in briefing.members if seat not in briefing.running]
    steps = duration(loads(briefing.moment, plan, members))
    for a, b in ((a, b) for k, a in enumerate(members) for b in members[k + 1 :]):
        other = {a: b, b: a}
        for number in range(len(plan) + 1):
            turned: Plan = tuple(
                {other.get(seat, seat): each for seat, each in row.items()} if number in (k, len(plan)) else row
                for k, row in enumerate(plan)
            )
            if duration(loads(briefing.moment, turned, members)) < steps:
                yield turned


def _free(moment: PlanningView, seat: int, taken: frozenset[str], walk: Walk) -> list[SubPlan]:
    """Return the useful sub-plans of a seat that nobody has, and that its hands allow."""
    return [o for o in moment.options[seat] if o.value > 0 and not o.uses & taken and walk.fits(o)]


def _replaced(briefing: Briefing, plan: Plan) -> Iterator[Plan]:
    """Yield plans with one entry replaced by, or preceded by, a sub-plan that nobody has."""
    moment, most = briefing.moment, min(STEPS, briefing.moment.steps)
    taken = frozenset().union(*(entry.uses for row in plan for entry in row.values()))
    used = {entry.text for row in plan for entry in row.values()}
    for seat in briefing.members:
        own = [row[seat] for row in plan if seat in row]
        first = int(seat in briefing.running)
        spare = [o for o in moment.options[seat] if o.value > 0 and (o.load < 0 or o.text not in used)]
        for option in spare:
            if option.load < 0 and option in own:
                continue
            for k in range(first, most):
                for cut in (0, 1):
                    entries = [*own[:k], option, *own[k + cut :]][:most]
                    if k <= len(own) and (cut == 0 or not option.uses & taken or k < len(own)):
                        yield _with_entries(plan, seat, entries)


def _reordered(briefing: Briefing, plan: Plan) -> Iterator[Plan]:
    """Yield plans with two entries of a seat in the other order, or with one entry left out."""
    for seat in briefing.members:
        own = [row[seat] for row in plan if seat in row]
        for k in range(int(seat in briefing.running), len(own)):
            yield _with_entries(plan, seat, [*own[:k], *own[k + 1 :]])
            for later in range(k + 1, len(own)):
                turned = list(own)
                turned[k], turned[later] = own[later], own[k]
                yield _with_entries(plan, seat, turned)


def _with_entries(plan: Plan, seat: int, entries: Sequence[SubPlan]) -> Plan:
    """Return a plan with one seat's entries exchanged."""
    length = max(len(plan), len(entries))
    rows = [{s: e for s, e in plan[k].items() if s != seat} if k < len(plan) else {} for k in range(length)]
    for k, entry in enumerate(entries):
        rows[k][seat] = entry
    return without_clashes(tuple(row for row in rows if row))


# ------------------------------------------------------------------------------------------- criticising


def criticise(briefing: Briefing, draft: Draft, before: Sequence[Node]) -> Critique:
    """Score a plan by what one seat knows.

    Distances: its ways against the best sharing of the same entries. Division of work: what it gains, against what the
    critic would propose, less for clashes and impossible entries.
    """
    plan, moment, members = draft.plan, briefing.moment, briefing.members
    steps = loads(moment, plan, members)
    total, best = duration(steps), best_loads(moment, plan, members)
    distance = _score(best / total) if total else float(LOWEST)
    hints = list(_hints(briefing, plan, best < total - 0.5))
    ideal = max(merit(moment, auction(briefing), members), merit(moment, plan, members))
    task = _score(merit(moment, plan, members) / ideal) if ideal else float(HIGHEST)
    task = max(task - _clashes(plan) - _impossible(briefing, plan), LOWEST)
    said = [_said(briefing, hints), *(finding.text for finding in briefing.news.values())]
    return Critique(distance, task, " ".join(said), tuple(hints), briefing.news)


def _score(share: float) -> float:
    """Return the score of a share of the best: 5 for all of it, 3 for three quarters, 1 for half or less."""
    return max(HIGHEST - LOSS * (1.0 - share), LOWEST)


def _clashes(plan: Plan) -> int:
    """Count entries that use what an earlier one has."""
    kept = sum(len(row) for row in without_clashes(plan))
    return sum(len(row) for row in plan) - kept


def _impossible(briefing: Briefing, plan: Plan) -> int:
    """Count entries that hands do not allow, or that the critic itself cannot do."""
    moment, found = briefing.moment, 0
    for seat in briefing.members:
        walk = Walk(moment, seat)
        for number, entry in enumerate(row[seat] for row in plan if seat in row):
            if number > 0 or seat not in briefing.running:
                own = seat == briefing.seat
                found += not walk.fits(entry) or (own and moment.way_to(seat, entry, briefing.known) is None)
            walk.take(entry)
    return found


def _hints(briefing: Briefing, plan: Plan, shorter: bool) -> Iterator[tuple[str, int, SubPlan | None]]:
    """Yield what a critic would change: what it knows to be better, what hands do not allow, who is idle, long ways."""
    for seat in (briefing.seat, *(each for each in briefing.members if each != briefing.seat)):
        if seat not in briefing.running:
            yield from _hints_for(briefing, plan, seat)
    if shorter:
        yield SWAP, briefing.seat, None
    if _clashes(plan):
        yield SAME_TARGET, briefing.seat, None


def _hints_for(briefing: Briefing, plan: Plan, seat: int) -> Iterator[tuple[str, int, SubPlan | None]]:
    moment, own = briefing.moment, [row[seat] for row in plan if seat in row]
    walk = Walk(moment, seat)
    taken = frozenset().union(*(e.uses for row in plan for s, e in row.items() if s != seat))
    spare = [o for o in _free(moment, seat, taken, walk) if o.action is not None or seat != briefing.seat]
    best = max(spare, key=lambda option: worth(walk, option), default=None)
    if own and not walk.fits(own[0]):
        yield HANDS_FULL, seat, best
    elif best is not None and not own:
        yield IDLE, seat, best
    elif best is not None and best != own[0] and worth(walk, best) > worth(walk, own[0]) + 1e-9:
        yield KNOWN, seat, best


def _said(briefing: Briefing, hints: Sequence[tuple[str, int, SubPlan | None]]) -> str:
    """Return hints in words."""
    words = {
        KNOWN: "{} could do better: {}.",
        IDLE: "{} would have nothing to do, but could {}.",
        HANDS_FULL: "The hands of {} do not allow that: {}.",
        SAME_TARGET: "Two of us would want the same.",
        SWAP: "Our ways would be shorter with some entries changed between us.",
    }
    names = briefing.seen.names
    return " ".join(words[code].format(names[seat], o.text if o else "wait") for code, seat, o in hints) or "I agree."


# ------------------------------------------------------------------------------------------- rating


def rate(briefings: Sequence[Briefing]) -> int:
    """Rate the present plan from what all members know: 1 to replace it, 5 to keep it.

    1 without a plan, with nothing left of it, or if a seat has to bring home what it carries and is not to; 2 if an
    entry has become impossible, or a seat has nothing left and could do something; else by what the rest of the plan
    gains, against a plan of the same length made from all that is known by now: 3 below 80 per cent of it, 4 below 95.
    """
    planner = briefings[0]
    if not planner.had_plan or not any(planner.left.values()) or any(map(_is_late, briefings)):
        return LOWEST
    if any(_is_stuck(own, briefings) for own in briefings):
        return 2
    informed = planner.hear(join_findings(*(own.moment.findings for own in briefings)))
    left = {seat: max(len(planner.left.get(seat, ())), 1) for seat in planner.members}
    plan = tuple({s: e for s, e in row.items() if k < left[s]} for k, row in enumerate(auction(informed)))
    fresh = merit(informed.moment, plan, planner.members)
    share = merit(informed.moment, planner.plan, planner.members) / fresh if fresh else 1.0
    return 3 if share < RATINGS[0] else 4 if share < RATINGS[1] else HIGHEST


def _is_late(own: Briefing) -> bool:
    """Return whether a seat must bring home what it carries, which is not in the plan."""
    return own.seat in own.moment.urgent and not any(entry.load < 0 for entry in own.left.get(own.seat, ()))


def _is_stuck(own: Briefing, briefings: Sequence[Briefing]) -> bool:
    """Return whether a later entry of a seat is impossible, or it cannot go on while somebody knows of work for it."""
    moment, seat, entries = own.moment, own.seat, own.left.get(own.seat, ())
    ways = [moment.way_to(seat, entry, own.known) for entry in entries]
    if seat in own.running or (ways and ways[0] is not None and ways[0].action is not None):
        return None in ways[1:]
    taken = _taken(own.left, seat)
    return any(_free(each.moment, seat, taken, Walk(each.moment, seat)) for each in briefings)


def _taken(left: Mapping[int, Sequence[SubPlan]], but: int | None = None) -> frozenset[str]:
    """Return what the seats use in what they still have to do, one of them left out."""
    return frozenset().union(*(entry.uses for seat, own in left.items() if seat != but for entry in own))
