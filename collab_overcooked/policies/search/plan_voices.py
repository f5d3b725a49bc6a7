"""Proposer, critic and rater of joint plans that are programs: deterministic, and no model is asked.

Each speaks from its own seat's knowledge. The planner knows what the critics know only by their hints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product

from collab_overcooked.policies.search.deliberation import HIGHEST, LOWEST, STEPS, Briefing, Critique, Draft, Voices
from collab_overcooked.policies.search.plan_tree import Node
from collab_overcooked.policies.search.subplans import Moment, Plan, SubPlan, plan_text, without_clashes

FULL = 4.0  # value of bringing full hands home, on the scale of the household games
FAR = 1000.0  # steps of what cannot be done
SAME_TARGET, SWAP, IDLE, KNOWN, HANDS_FULL = "SAME_TARGET", "SWAP", "IDLE", "I_KNOW", "HANDS_FULL"


def voices() -> Voices:
    """Return the voices that are programs."""
    return Voices(propose, criticise, rate, lambda briefing, draft: without_clashes(draft.plan))


# ------------------------------------------------------------------------------------------- what plans cost


class Walk:
    """One seat's way through a plan: where it is, and what it carries."""

    def __init__(self, moment: Moment, seat: int) -> None:
        self.moment, self.seat = moment, seat
        self.place, self.held, self.moved = moment.places.get(seat), moment.held.get(seat, 0), False

    def has_room(self) -> bool:
        """Return whether one thing more can be carried."""
        return self.held < self.moment.room

    def fits(self, option: SubPlan) -> bool:
        """Return whether the hands allow a sub-plan."""
        return self.held > 0 if option.load < 0 else self.held + option.load <= self.moment.room

    def cost(self, option: SubPlan) -> float:
        """Return the steps of a sub-plan from here."""
        if not self.moved:
            own = self.moment.option(self.seat, option.text)
            if own is not None:
                return own.cost
        if self.place is None or option.place is None:
            return option.cost
        return self.moment.travel(self.place, option.place) + option.work

    def value(self, option: SubPlan) -> float:
        """Return what a sub-plan is worth: bringing things home is worth more the more there are."""
        if option.load >= 0:
            return option.value
        return option.value * (FULL if self.seat in self.moment.urgent else (self.held / self.moment.room) ** 2)

    def take(self, option: SubPlan) -> float:
        """Go on to the end of a sub-plan; returns its cost."""
        cost = self.cost(option)
        self.held = 0 if option.load < 0 else min(self.held + option.load, self.moment.room)
        self.place, self.moved = option.place if option.place is not None else self.place, True
        return cost


def loads(moment: Moment, plan: Plan, members: Sequence[int]) -> dict[int, float]:
    """Return the steps of each seat's part of a plan."""
    steps = {}
    for seat in members:
        walk = Walk(moment, seat)
        steps[seat] = sum(walk.take(row[seat]) for row in plan if seat in row)
    return steps


def best_loads(moment: Moment, plan: Plan, members: Sequence[int]) -> float:
    """Return the fewest steps in which the members could share the same sub-plans."""
    rows = [[row.get(seat) for seat in members] for row in plan]
    if len(members) == 2:
        orders = product((False, True), repeat=len(rows))
        shared = ([row[::-1] if turned else row for row, turned in zip(rows, turns, strict=True)] for turns in orders)
    else:
        shared = ([[row[k] for k in order] for row in rows] for order in permutations(range(len(members))))
    return min(
        sum(
            loads(
                moment,
                tuple({seat: e for seat, e in zip(members, row, strict=True) if e is not None} for row in own),
                members,
            ).values()
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
    """Return a plan with words."""
    words = plan_text(plan, briefing.seen.names)
    first = plan[0].get(briefing.seat) if plan else None
    return Draft(plan, words, f"I would {first.text}." if first else "")


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
    moment: Moment,
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
    """Yield what critics ask for, the plan itself, ways shortened between two seats, and worse entries replaced."""
    plan: Plan = node.draft.plan
    running = briefing.running
    for critique in node.critiques:
        for code, seat, option in critique.hints:
            if option is not None and seat not in running:
                yield _with(briefing, plan, seat, option)
            elif code == SWAP:
                yield from _shorter(briefing, plan)
    yield plan
    yield from _shorter(briefing, plan)
    yield from _replaced(briefing, plan)


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
    steps = sum(loads(briefing.moment, plan, members).values())
    for a, b in ((a, b) for k, a in enumerate(members) for b in members[k + 1 :]):
        other = {a: b, b: a}
        for number in range(len(plan) + 1):
            turned: Plan = tuple(
                {other.get(seat, seat): each for seat, each in row.items()} if number in (k, len(plan)) else row
                for k, row in enumerate(plan)
            )
            if sum(loads(briefing.moment, turned, members).values()) < steps:
                yield turned


def _free(moment: Moment, seat: int, taken: frozenset[str], walk: Walk) -> list[SubPlan]:
    """Return the useful sub-plans of a seat that nobody has, and that its hands allow."""
    return [o for o in moment.options[seat] if o.value > 0 and not o.uses & taken and walk.fits(o)]


def _replaced(briefing: Briefing, plan: Plan) -> Iterator[Plan]:
    """Yield plans with the least worthy entry of each seat replaced by the best sub-plan that nobody has."""
    moment = briefing.moment
    taken = frozenset().union(*(entry.uses for row in plan for entry in row.values()))
    used = {entry.text for row in plan for entry in row.values()}
    for seat in briefing.members:
        walk = Walk(moment, seat)
        spare = [o for o in _free(moment, seat, taken, walk) if o.text not in used]
        own = [
            (worth(walk, row[seat]), k) for k, row in enumerate(plan) if seat in row and k >= (seat in briefing.running)
        ]
        for option in sorted(spare, key=lambda o: -worth(walk, o))[:2]:
            if own:
                _, k = min(own)
                yield tuple({**row, seat: option} if at == k else row for at, row in enumerate(plan))
            elif seat not in briefing.running:
                yield _with(briefing, plan, seat, option)


# ------------------------------------------------------------------------------------------- criticising


def criticise(briefing: Briefing, draft: Draft, before: Sequence[Node]) -> Critique:
    """Score a plan by what one seat knows: its ways against the best sharing, and how evenly work is divided."""
    plan, moment, members = draft.plan, briefing.moment, briefing.members
    steps = loads(moment, plan, members)
    total, best = sum(steps.values()), best_loads(moment, plan, members)
    distance = LOWEST + round((HIGHEST - LOWEST) * min(1.0, best / total)) if total else LOWEST
    hints = list(_hints(briefing, plan, best < total - 0.5))
    spread = max(steps.values()) - min(steps.values()) if len(steps) > 1 else 0.0
    uneven = round(2 * spread / max(steps.values())) if any(steps.values()) else 0
    lost = _clashes(plan) + uneven + _impossible(briefing, plan) + sum(code in (IDLE, KNOWN) for code, _, _ in hints)
    task = min(max(HIGHEST - lost, LOWEST), HIGHEST)
    return Critique(distance, task, _said(briefing, hints), tuple(hints))


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
    entry has become impossible, or a seat has nothing left and could do something; 3 if something to take has been
    found that is not in it, 4 if all hands are full then.
    """
    planner = briefings[0]
    if not planner.had_plan or not any(planner.left.values()) or any(map(_is_late, briefings)):
        return LOWEST
    if any(_is_stuck(own, briefings) for own in briefings):
        return 2
    taken, known = _taken(planner.left), frozenset().union(*(own.known for own in briefings))
    if not any(_has_found(own, taken, known) for own in briefings):
        return HIGHEST
    return 3 if any(not own.left.get(own.seat) or Walk(own.moment, own.seat).has_room() for own in briefings) else 4


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


def _has_found(own: Briefing, taken: frozenset[str], known: frozenset[str]) -> bool:
    """Return whether a seat knows of something useful to take that nobody knew of, and that is not in the plan."""
    offers = own.moment.options[own.seat]
    return any(o.load > 0 and o.value > 0 and not o.uses & taken and o.text not in known for o in offers)


def _taken(left: Mapping[int, Sequence[SubPlan]], but: int | None = None) -> frozenset[str]:
    """Return what the seats use in what they still have to do, one of them left out."""
    return frozenset().union(*(entry.uses for seat, own in left.items() if seat != but for entry in own))
