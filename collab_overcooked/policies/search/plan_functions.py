"""Programmed proposer, critic and rater of joint plans: deterministic and without language models.

Each uses its own seat's knowledge. The planner learns the critics' knowledge only from their hints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from math import exp

from collab_overcooked.policies.search.deliberation import (
    HIGHEST,
    LOWEST,
    STEPS,
    Briefing,
    Critique,
    Draft,
    PlanFunctions,
)
from collab_overcooked.policies.search.plan_tree import Node
from collab_overcooked.policies.search.subplans import (
    Plan,
    PlanningView,
    SubPlan,
    join_findings,
    plan_text,
    without_clashes,
)

FULL = 4.0  # value of delivering a full load, on the scale of the household games
LOAD_POWER = 2  # half a load is worth a quarter of a full one
ASIDE = 0.1  # weight of the steps of seats that finish earlier
RATINGS = (0.8, 0.95)  # shares of a new plan's merit below which a plan is rated 3 and 4
LOSS = 8.0  # points lost by a plan without any gain
FAR = 1000.0  # steps of an impossible sub-plan
SAME_TARGET = "SAME_TARGET"
SWAP = "SWAP"
IDLE = "IDLE"
KNOWN = "I_KNOW"
HANDS_FULL = "HANDS_FULL"


def programmed_functions() -> PlanFunctions:
    """Return plan functions that are programs."""
    return PlanFunctions(propose, criticise, rate, lambda briefing, draft: without_clashes(draft.plan))


class Walk:
    """Walk of one seat through a plan: its place and load."""

    def __init__(self, view: PlanningView, seat: int) -> None:
        self.view, self.seat = view, seat
        self.place = view.places.get(seat)
        self.held = view.held.get(seat, 0)
        self.moved = False
        self.capacity = view.capacity(seat)

    def has_room(self) -> bool:
        """Return whether another object can be carried."""
        return self.held < self.capacity

    def fits(self, option: SubPlan) -> bool:
        """Return whether the free capacity allows a sub-plan."""
        return self.held > 0 if option.load < 0 else self.held + max(option.load, option.hands) <= self.capacity

    def cost(self, option: SubPlan) -> float:
        """Return the steps of a sub-plan from here."""
        if not self.moved:
            current = self.view.option(self.seat, option.text)
            if current is not None:
                return current.cost
        if self.place is None or option.place is None:
            return option.cost
        return self.view.travel(self.place, option.place if option.start is None else option.start) + option.work

    def value(self, option: SubPlan) -> float:
        """Return the value of a sub-plan; the value of a delivery grows with the load."""
        if option.load >= 0:
            return option.value
        return option.value * (FULL if self.seat in self.view.urgent else (self.held / self.capacity) ** LOAD_POWER)

    def take(self, option: SubPlan) -> float:
        """Advance to the end of a sub-plan; returns its cost."""
        cost = self.cost(option)
        self.capacity += option.widens
        self.held = 0 if option.load < 0 else min(self.held + option.load, self.capacity)
        self.place = option.place if option.place is not None else self.place
        self.moved = True
        return cost


def loads(view: PlanningView, plan: Plan, members: Sequence[int]) -> dict[int, float]:
    """Return the steps of each seat's part of a plan."""
    steps = {}
    for seat in members:
        walk = Walk(view, seat)
        steps[seat] = sum(walk.take(row[seat]) for row in plan if seat in row)
    return steps


def merit(view: PlanningView, plan: Plan, members: Sequence[int]) -> float:
    """Return the discounted gain of a plan; entries beyond a seat's capacity gain nothing."""
    return sum(seat_merit(view, seat, [row[seat] for row in plan if seat in row]) for seat in members)


def seat_merit(view: PlanningView, seat: int, entries: Sequence[SubPlan]) -> float:
    """Return the discounted gain of one seat's part of a plan; impossible entries gain nothing."""
    walk, steps, gained = Walk(view, seat), 0.0, 0.0
    for entry in entries:
        known = view.option(seat, entry.text)
        if known is not None and walk.fits(known):
            value = walk.value(known)
            steps += walk.take(known)
            gained += value * exp(-steps / view.scale)
    return gained


def duration(steps: Mapping[int, float]) -> float:
    """Return the duration of a plan: the steps of the slowest seat, plus a small weight on the sum of all steps."""
    return max(steps.values(), default=0.0) + ASIDE * sum(steps.values())


def best_loads(view: PlanningView, plan: Plan, members: Sequence[int]) -> float:
    """Return the shortest duration over all assignments of the same sub-plans to members."""
    rows = [[row.get(seat) for seat in members] for row in plan]
    assignments: list[list[Sequence[SubPlan | None]]] = []
    if len(members) == 2:  # each row may be exchanged by itself
        for turns in product((False, True), repeat=len(rows)):
            assignments.append([row[::-1] if turned else row for row, turned in zip(rows, turns, strict=True)])
    else:  # one permutation for all rows
        for order in permutations(range(len(members))):
            assignments.append([[row[k] for k in order] for row in rows])

    def as_row(entries: Sequence[SubPlan | None]) -> dict[int, SubPlan]:
        return {seat: entry for seat, entry in zip(members, entries, strict=True) if entry is not None}

    plans = [tuple(map(as_row, assigned)) for assigned in assignments]
    return min(duration(loads(view, other, members)) for other in plans if _is_open(view, plan, other))


def _is_open(view: PlanningView, plan: Plan, other: Plan) -> bool:
    return all(
        entry == row.get(seat) or entry.load < 0 or view.option(seat, entry.text) is not None
        for row, changed in zip(plan, other, strict=True)
        for seat, entry in changed.items()
    )


def propose(briefing: Briefing, path: Sequence[Node], nodes: Sequence[Node], n: int) -> list[Draft]:
    """Return the plan of a greedy auction, or new variants of the last plan of a path.

    That plan itself is proposed once more, after the changes requested by critics and before all others, so that it
    competes with changes that no critic requested.
    """
    if not path:
        return [draft_of(briefing, auction(briefing))]
    known = {plan_text(node.draft.plan, briefing.seen.names) for node in nodes}
    if len(path) < 2 or path[-2].draft.plan != path[-1].draft.plan:
        known.discard(plan_text(path[-1].draft.plan, briefing.seen.names))
    drafts = []
    for plan in changes(briefing, path[-1]):
        text = plan_text(plan, briefing.seen.names)
        if plan and text not in known:
            known.add(text)
            drafts.append(draft_of(briefing, plan))
        if len(drafts) == n:
            break
    return drafts


def draft_of(briefing: Briefing, plan: Plan) -> Draft:
    """Return a draft with text and the planner's new findings."""
    text = plan_text(plan, briefing.seen.names)
    first = plan[0].get(briefing.seat) if plan else None
    messages = [f"I would {first.text}."] if first else []
    return Draft(plan, text, " ".join([*messages, *(f.text for f in briefing.news.values())]), briefing.news)


def auction(briefing: Briefing) -> Plan:
    """Assign sub-plans step by step, each time the pair of seat and sub-plan with the highest value per step."""
    view = briefing.view
    rows: list[dict[int, SubPlan]] = []
    walks = {seat: Walk(view, seat) for seat in briefing.members}
    taken: set[str] = set()
    for number in range(min(STEPS, view.steps)):
        row = {seat: option for seat, option in briefing.running.items() if number == 0}
        for seat, option in row.items():
            walks[seat].take(option)
            taken |= option.uses
        while len(row) < len(briefing.members):
            best = max(_bids(view, walks, row, taken, rows), key=lambda bid: bid[0], default=None)
            if best is None:
                break
            _, seat, option = best
            row[seat] = option
            walks[seat].take(option)
            taken |= option.uses
        rows.append(row)
    return without_clashes(tuple(row for row in rows if row))


def _bids(
    view: PlanningView,
    walks: Mapping[int, Walk],
    row: Mapping[int, SubPlan],
    taken: set[str],
    rows: list[dict[int, SubPlan]],
) -> Iterator[tuple[float, int, SubPlan]]:
    for seat, walk in walks.items():
        if seat in row:
            continue
        done = {row[seat].text for row in rows if seat in row}
        for option in view.options[seat]:
            open_to = option.value > 0 and not option.uses & taken and walk.fits(option)
            if open_to and (option.text not in done or option.load < 0):
                yield worth(walk, option), seat, option


def worth(walk: Walk, option: SubPlan) -> float:
    """Return the value per step."""
    return walk.value(option) / (1.0 + walk.cost(option))


def changes(briefing: Briefing, node: Node) -> Iterator[Plan]:
    """Yield candidates: a new plan after new findings, critics' changes, the plan itself, other changes by merit."""
    plan: Plan = node.draft.plan
    running, view = briefing.running, briefing.view
    if any(critique.findings for critique in node.critiques):
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
    others = (*_shorter(briefing, plan), *replacements(briefing, plan), *_reordered(briefing, plan))
    yield from sorted(others, key=lambda other: -merit(view, other, briefing.members))


def _with(briefing: Briefing, plan: Plan, seat: int, option: SubPlan) -> Plan:
    entries = [option, *(row[seat] for row in plan if seat in row and row[seat] != option)]
    entries = entries[: min(STEPS, briefing.view.steps)]
    others = [{s: e for s, e in row.items() if s != seat and not e.uses & option.uses} for row in plan]
    length = max(len(entries), len(others))
    rows = [dict(others[k]) if k < len(others) else {} for k in range(length)]
    for k, entry in enumerate(entries):
        rows[k][seat] = entry
    return without_clashes(tuple(row for row in rows if row))


def _shorter(briefing: Briefing, plan: Plan) -> Iterator[Plan]:
    members = [seat for seat in briefing.members if seat not in briefing.running]
    steps = duration(loads(briefing.view, plan, members))
    for a, b in ((a, b) for k, a in enumerate(members) for b in members[k + 1 :]):
        other = {a: b, b: a}
        for number in range(len(plan) + 1):
            turned: Plan = tuple(
                {other.get(seat, seat): option for seat, option in row.items()} if number in (k, len(plan)) else row
                for k, row in enumerate(plan)
            )
            if _is_open(briefing.view, plan, turned) and duration(loads(briefing.view, turned, members)) < steps:
                yield turned


def _free(view: PlanningView, seat: int, taken: frozenset[str], walk: Walk) -> list[SubPlan]:
    return [o for o in view.options[seat] if o.value > 0 and not o.uses & taken and walk.fits(o)]


def replacements(briefing: Briefing, plan: Plan) -> Iterator[Plan]:
    """Yield a plan with one option more, put before an entry of a member or in its place."""
    view, most = briefing.view, min(STEPS, briefing.view.steps)
    used = {entry.text for row in plan for entry in row.values()}
    for seat in briefing.members:
        entries = [row[seat] for row in plan if seat in row]
        first = int(seat in briefing.running)
        spare = [o for o in view.options[seat] if o.value > 0 and (o.load < 0 or o.text not in used)]
        for option in spare:
            if option.load < 0 and option in entries:
                continue
            for k in range(first, min(most, len(entries) + 1)):
                yield _with_entries(plan, seat, [*entries[:k], option, *entries[k:]][:most])
                if k < len(entries):
                    yield _with_entries(plan, seat, [*entries[:k], option, *entries[k + 1 :]])


def _reordered(briefing: Briefing, plan: Plan) -> Iterator[Plan]:
    for seat in briefing.members:
        entries = [row[seat] for row in plan if seat in row]
        for k in range(int(seat in briefing.running), len(entries)):
            yield _with_entries(plan, seat, [*entries[:k], *entries[k + 1 :]])
            for later in range(k + 1, len(entries)):
                turned = list(entries)
                turned[k], turned[later] = entries[later], entries[k]
                yield _with_entries(plan, seat, turned)


def _with_entries(plan: Plan, seat: int, entries: Sequence[SubPlan]) -> Plan:
    length = max(len(plan), len(entries))
    rows = [{s: e for s, e in plan[k].items() if s != seat} if k < len(plan) else {} for k in range(length)]
    for k, entry in enumerate(entries):
        rows[k][seat] = entry
    return without_clashes(tuple(row for row in rows if row))


def criticise(briefing: Briefing, draft: Draft, before: Sequence[Node]) -> Critique:
    """Score a plan with one seat's knowledge.

    Distances: its duration against the best assignment of the same entries. Division of work: its merit against that
    of the critic's own proposal, less for clashes and impossible entries.
    """
    plan, view, members = draft.plan, briefing.view, briefing.members
    steps = loads(view, plan, members)
    total, best = duration(steps), best_loads(view, plan, members)
    distance = score_of(best / total) if total else float(LOWEST)
    hints = list(_hints(briefing, plan, best < total - 0.5))
    ideal = max(merit(view, auction(briefing), members), merit(view, plan, members))
    task = score_of(merit(view, plan, members) / ideal) if ideal else float(HIGHEST)
    task = max(task - _clashes(plan) - _impossible(briefing, plan), LOWEST)
    messages = [_message(briefing, hints), *(finding.text for finding in briefing.news.values())]
    return Critique(distance, task, " ".join(messages), tuple(hints), briefing.news)


def score_of(share: float) -> float:
    """Return the score of a plan with a share of the best plan's merit."""
    return max(HIGHEST - LOSS * (1.0 - share), LOWEST)


def _clashes(plan: Plan) -> int:
    kept = sum(len(row) for row in without_clashes(plan))
    return sum(len(row) for row in plan) - kept


def _impossible(briefing: Briefing, plan: Plan) -> int:
    view, count = briefing.view, 0
    for seat in briefing.members:
        walk = Walk(view, seat)
        for number, entry in enumerate(row[seat] for row in plan if seat in row):
            if number > 0 or seat not in briefing.running:
                is_own = seat == briefing.seat
                count += not walk.fits(entry) or (is_own and view.way_to(seat, entry, briefing.known) is None)
            walk.take(entry)
    return count


def _hints(briefing: Briefing, plan: Plan, shorter: bool) -> Iterator[tuple[str, int, SubPlan | None]]:
    for seat in (briefing.seat, *(member for member in briefing.members if member != briefing.seat)):
        if seat not in briefing.running:
            yield from _hints_for(briefing, plan, seat)
    if shorter:
        yield SWAP, briefing.seat, None
    if _clashes(plan):
        yield SAME_TARGET, briefing.seat, None


def _hints_for(briefing: Briefing, plan: Plan, seat: int) -> Iterator[tuple[str, int, SubPlan | None]]:
    view, entries = briefing.view, [row[seat] for row in plan if seat in row]
    walk = Walk(view, seat)
    taken = frozenset().union(*(e.uses for row in plan for s, e in row.items() if s != seat))
    spare = [o for o in _free(view, seat, taken, walk) if o.action is not None or seat != briefing.seat]
    best = max(spare, key=lambda option: worth(walk, option), default=None)
    if entries and not walk.fits(entries[0]):
        yield HANDS_FULL, seat, best
    elif best is not None and not entries:
        yield IDLE, seat, best
    elif best is not None and best != entries[0] and worth(walk, best) > worth(walk, entries[0]) + 1e-9:
        yield KNOWN, seat, best


def _message(briefing: Briefing, hints: Sequence[tuple[str, int, SubPlan | None]]) -> str:
    templates = {
        KNOWN: "{} could do better: {}.",
        IDLE: "{} would have nothing to do, but could {}.",
        HANDS_FULL: "The hands of {} do not allow that: {}.",
        SAME_TARGET: "Two of us would want the same.",
        SWAP: "Our ways would be shorter with some entries changed between us.",
    }
    names = briefing.seen.names
    sentences = (templates[code].format(names[seat], o.text if o else "wait") for code, seat, o in hints)
    return " ".join(sentences) or "I agree."


def rate(briefings: Sequence[Briefing]) -> int:
    """Rate the current plan with the knowledge of all members: 1 to replace it, 5 to keep it.

    1: there is no plan, it is finished, or it ignores a load that a seat must deliver now. 2: an entry has become
    impossible, or a seat without entries has useful work. Otherwise the merit of the rest is compared with a new plan
    of the same length from all shared knowledge: 3 below 80 per cent of it, 4 below 95 per cent, else 5.
    """
    planner = briefings[0]
    if not planner.had_plan or not any(planner.left.values()) or any(map(_is_late, briefings)):
        return LOWEST
    if any(_is_stuck(briefing, briefings) for briefing in briefings):
        return 2
    informed = planner.receive(join_findings(*(briefing.view.findings for briefing in briefings)))
    left = {seat: max(len(planner.left.get(seat, ())), 1) for seat in planner.members}
    plan = tuple({s: e for s, e in row.items() if k < left[s]} for k, row in enumerate(auction(informed)))
    fresh = merit(informed.view, plan, planner.members)
    share = merit(informed.view, planner.plan, planner.members) / fresh if fresh else 1.0
    return 3 if share < RATINGS[0] else 4 if share < RATINGS[1] else HIGHEST


def _is_late(briefing: Briefing) -> bool:
    entries = briefing.left.get(briefing.seat, ())
    return briefing.seat in briefing.view.urgent and not any(entry.load < 0 for entry in entries)


def _is_stuck(briefing: Briefing, briefings: Sequence[Briefing]) -> bool:
    """Return whether a later entry of a seat is impossible, or it cannot continue although there is work for it."""
    view = briefing.view
    seat = briefing.seat
    entries = briefing.left.get(briefing.seat, ())
    ways = [view.way_to(seat, entry, briefing.known) for entry in entries]
    if seat in briefing.running or (ways and ways[0] is not None and ways[0].action is not None):
        return None in ways[1:]
    taken = _taken(briefing.left, seat)
    return any(_free(member.view, seat, taken, Walk(member.view, seat)) for member in briefings)


def _taken(left: Mapping[int, Sequence[SubPlan]], but: int | None = None) -> frozenset[str]:
    return frozenset().union(*(entry.uses for seat, entries in left.items() if seat != but for entry in entries))
