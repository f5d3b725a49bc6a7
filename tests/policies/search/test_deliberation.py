"""Deliberation with plan functions whose answers are written down."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from collab_overcooked.policies.search.cots import from_text
from collab_overcooked.policies.search.deliberation import (
    Briefing,
    Critique,
    Deliberation,
    Draft,
    PlanFunctions,
    PlanSettings,
    Update,
)
from collab_overcooked.policies.search.plan_functions import (
    Walk,
    auction,
    changes,
    criticise,
    merit,
    programmed_functions,
    rate,
    replacements,
)
from collab_overcooked.policies.search.plan_tree import Node
from collab_overcooked.policies.search.subplans import Finding, Plan, PlanningView, SubPlan, plan_text, without_clashes

NAMES = ("Ann", "Ben", "Cem")


def thing(name: str, at: int, value: float = 3.0, **further: Any) -> SubPlan:
    return SubPlan(f"fetch {name}", 1, float(at), value, frozenset({name}), at, 0.0, 1, **further)


def planning_view(options: dict[int, list[SubPlan]], places: dict[int, int], **further: Any) -> PlanningView:
    """Return the view of a team on a line of numbered places."""
    here = {
        seat: [dataclasses.replace(o, cost=abs(o.place - places[seat])) for o in option]  # type: ignore[operator]
        for seat, option in options.items()
    }
    return PlanningView(here, places, room=2, travel=lambda a, b: abs(a - b), steps=3, **further)


def briefing(own: PlanningView, seat: int = 0, members: Sequence[int] = (0, 1), **further: Any) -> Briefing:
    value: dict[str, Any] = {"running": {}, "left": {}, "had_plan": False} | further
    return Briefing(seat, tuple(members), SimpleNamespace(names=NAMES), own, **value)  # type: ignore[arg-type]


class Script:
    """Plan functions whose scores are given one after the other; it counts who is asked."""

    def __init__(self, scores: Sequence[tuple[int, int] | None], rating: int | None = 1, known: int = 99) -> None:
        self.scores, self.rating, self.left = list(scores), rating, known
        self.asked: list[str] = []

    def plan_functions(self) -> PlanFunctions:
        return PlanFunctions(self.propose, self.criticise, self.rate, self.write)

    def propose(self, own: Briefing, path: Sequence[Node], nodes: Sequence[Node], n: int) -> list[Draft]:
        self.asked.append("propose")
        count = min(n, self.left)
        self.left -= count
        plans = [({0: thing(f"{len(nodes)}-{k}", 1)},) for k in range(count)]
        return [Draft(plan, plan_text(plan, NAMES), "I think") for plan in plans]

    def criticise(self, own: Briefing, draft: Draft, before: Sequence[Node]) -> Critique:
        self.asked.append("criticise")
        score = self.scores.pop(0)
        return Critique(None, None) if score is None else Critique(*score, "hm")

    def rate(self, briefings: Sequence[Briefing]) -> int | None:
        self.asked.append("rate")
        return self.rating

    def write(self, own: Briefing, draft: Draft) -> Plan:
        self.asked.append("write")
        return draft.plan


def search(script: Script, had_plan: bool = True, members: int = 2, **settings: Any) -> tuple[Plan | None, Update]:
    empty = planning_view({seat: [] for seat in range(members)}, dict.fromkeys(range(members), 0))
    left = {0: (thing("old", 1),)} if had_plan else {}
    values = [briefing(empty, seat, range(members), had_plan=had_plan, left=left) for seat in range(members)]
    update = Update(0, 0, "start")
    plan, _ = Deliberation(PlanSettings(**settings), script.plan_functions()).update(values, update)
    return plan, update


def test_calls_are_eight_with_one_expansion_and_twelve_with_two() -> None:
    one = search(Script([(2, 2), (2, 2), (4, 3), (2, 2)]))[1]
    assert (one.calls, len(one.nodes), one.chosen, one.depth) == (8, 4, 2, 1)
    two = search(Script([(2, 2)] * 7))[1]
    assert (two.calls, len(two.nodes), two.nodes[-1]["parent"]) == (12, 7, 1)


def test_a_solved_first_draft_is_expanded_once_all_the_same() -> None:
    update = search(Script([(5, 5), (2, 2), (2, 2), (2, 2)]))[1]
    assert len(update.nodes) == 4
    assert update.nodes[0]["solved"]


@pytest.mark.parametrize(("profile", "chosen"), [("paper", 1), ("released", 0)])
def test_fallbacks_of_the_profiles(profile: str, chosen: int) -> None:
    scores = [(2, 2), (3, 3), (2, 3), (2, 3)]
    update = search(Script(scores), profile=profile, depth=1)[1]
    assert update.chosen == chosen
    assert search(Script(scores), profile=profile, depth=1, fallback="root")[1].chosen == 0


@pytest.mark.parametrize(
    ("profile", "rating", "kept"),
    [("paper", 3, False), ("paper", 4, True), ("paper", None, True), ("released", 3, True), ("released", 2, False)],
)
def test_thresholds_of_the_profiles(profile: str, rating: int | None, kept: bool) -> None:
    script = Script([(5, 5)] * 4, rating)
    plan, update = search(script, had_plan=True, profile=profile)
    assert (plan is None) == kept
    assert update.searched != kept
    assert update.calls == (1 if kept else 8)


def test_without_a_plan_one_is_searched_whatever_the_rating() -> None:
    script = Script([(5, 5)] * 4, None)
    plan, update = search(script, had_plan=False)
    assert plan is not None and update.rating is None
    assert "rate" not in script.asked  # there is nothing to rate


def test_unreadable_critiques_count_as_a_tenth() -> None:
    update = search(Script([None] * 7))[1]
    assert {node["reward"] for node in update.nodes} == {0.1}
    assert not any(node["solved"] for node in update.nodes)


def test_scores_beyond_their_scale_are_clipped() -> None:
    assert Critique(9, -3).reward == 0.6


def test_other_ways_to_search() -> None:
    one = Script([])
    assert (search(one, mode="cot")[1].calls, one.asked) == (3, ["rate", "propose", "write"])
    talk = search(Script([(2, 2), (1, 1), (2, 2)]), mode="talk")[1]
    assert ([node["parent"] for node in talk.nodes], talk.chosen) == ([-1, 0, 1], 2)
    soon = search(Script([(2, 2), (4, 4)]), mode="talk")[1]
    assert (len(soon.nodes), soon.chosen) == (2, 1)
    deep = search(Script([(2, 2)] * 13), mode="dfs")[1]
    assert [node["parent"] for node in deep.nodes] == [-1, 0, 1, 1, 1, 0, 5, 5, 5, 0, 9, 9, 9]
    assert {node["visits"] for node in deep.nodes} == {1}
    first = search(Script([(2, 2), (2, 2), (2, 2), (4, 3)]), mode="dfs")[1]
    assert (len(first.nodes), first.chosen) == (4, 3)


def test_proposers_that_have_nothing_more_to_say_end_the_search() -> None:
    assert len(search(Script([(2, 2)], known=1))[1].nodes) == 1


def test_ablations() -> None:
    flat = search(Script([(5, 5)] * 7), reward=0)[1]
    assert {node["reward"] for node in flat.nodes} == {0.0}
    script = Script([(5, 5)] * 4, rating=5)
    assert search(script, had_plan=True, update=0)[0] is not None
    assert "rate" not in script.asked


def test_three_members_have_two_critics() -> None:
    update = search(Script([(2, 2), (4, 4)] * 4), members=3, depth=1)[1]
    assert update.calls == 1 + 3 + 1 + 6 + 1
    assert update.nodes[0]["reward"] == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mode=dsf", "mode must be one of cot, cots, dfs, talk"),
        ("n=0", "n must be an integer from 1 to 16, not 0"),
        ("n=two", "n must be an integer"),
        ("stop=1.5", "stop must be a number from 0 to 1"),
        ("branches=3", "parameter of policy cots"),
    ],
)
def test_bad_settings(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_text(text)


def test_the_auction_gives_each_thing_to_one_seat_only() -> None:
    things = [thing("cup", 2), thing("pan", 8), thing("jug", 9)]
    result = planning_view({0: things, 1: things}, {0: 0, 1: 10})
    plan = auction(briefing(result))
    assert plan_text(plan, NAMES) == "1. Ann: fetch cup; Ben: fetch jug\n2. Ben: fetch pan"


def test_busy_seats_go_on_with_what_they_do() -> None:
    things = [thing("cup", 2), thing("pan", 8)]
    result = planning_view({0: things, 1: things}, {0: 0, 1: 10})
    plan = auction(briefing(result, running={1: thing("cup", 2)}))
    assert plan[0][1].text == "fetch cup"
    assert plan[0][0].text == "fetch pan"


def test_a_clash_is_taken_out_of_a_plan() -> None:
    cup, pan = thing("cup", 1), thing("pan", 2)
    assert without_clashes(({0: cup, 1: cup}, {0: pan, 1: cup})) == ({0: cup}, {0: pan})


def test_scores_of_a_plan_by_hand() -> None:
    things = [thing("cup", 2), thing("pan", 8)]
    result = briefing(planning_view({0: things, 1: things}, {0: 0, 1: 10}), seat=1)
    good = criticise(result, Draft(({0: things[0], 1: things[1]},)), ())
    assert (good.distance, good.task, good.message) == (5, 5, "I agree.")
    crossed = criticise(result, Draft(({0: things[1], 1: things[0]},)), ())
    assert crossed.distance == 1  # two steps each at best, eight so
    assert crossed.task == pytest.approx(5 - 8 * (1 - math.exp(-0.3)))  # all is gained six steps later
    assert "changed between us" in crossed.message
    idle = criticise(result, Draft(({0: things[0]},)), ())
    assert (idle.task, idle.hints[0][0]) == (1, "IDLE")  # half of what there is to gain


def test_what_only_the_critic_knows_reaches_the_planner_as_a_hint() -> None:
    planner = briefing(planning_view({0: [thing("cup", 2)], 1: []}, {0: 0, 1: 10}))
    critic = briefing(planning_view({0: [thing("cup", 2)], 1: [thing("jug", 9)]}, {0: 0, 1: 10}), seat=1)
    plan = auction(planner)
    reply = criticise(critic, Draft(plan), ())
    assert reply.hints[0] == ("IDLE", 1, thing("jug", 9))
    node = Node(-1, 0, "", draft=Draft(plan), critiques=(reply,))
    assert plan_text(next(iter(changes(planner, node))), NAMES) == "1. Ann: fetch cup; Ben: fetch jug"


def test_no_plan_in_a_tree_uses_a_thing_twice() -> None:
    things = [thing(f"t{k}", k) for k in range(7)]
    result = planning_view({seat: things for seat in range(3)}, {0: 0, 1: 3, 2: 6})
    values = [briefing(result, seat, range(3)) for seat in range(3)]
    plan, path = Deliberation(PlanSettings(stop=1.0, depth=4), programmed_functions()).update(
        values, update := Update(0, 0, "start")
    )
    assert plan is not None
    assert len(update.nodes) > 3
    assert len({node["plan"] for node in update.nodes}) >= len(update.nodes) - 1  # the first plan may be said again
    for text in (update.plan, *(node["plan"] for node in update.nodes)):
        taken = [part.partition(": ")[2] for line in text.splitlines() for part in line.partition(" ")[2].split("; ")]
        assert len(set(taken)) == len(taken)
    assert path[-1].depth == update.depth


def test_ratings() -> None:
    things = [thing("cup", 2), thing("pan", 8)]
    result = planning_view({0: things, 1: things}, {0: 0, 1: 10})
    names = result.takes(0)

    def rated(
        left: Mapping[int, Sequence[SubPlan]], had_plan: bool = True, own: PlanningView = result, **more: Any
    ) -> int:
        return rate([briefing(own, seat, left=left, had_plan=had_plan, known=names, **more) for seat in (0, 1)])

    full = {0: (things[0],), 1: (things[1],)}
    assert rated({}, False) == 1
    assert rated({0: (), 1: ()}) == 1
    assert rated(full) == 5
    assert rated({0: (things[0],), 1: ()}) == 2  # Ben could fetch the pan
    assert rated({0: things, 1: ()}) == 4  # there is nothing left for Ben, who is nearer to the pan
    blind = briefing(planning_view({0: things, 1: []}, {0: 0, 1: 10}), 1, left={0: (things[0],), 1: ()}, had_plan=True)
    assert rate([blind]) == 5  # Ben knows of nothing to do,
    assert rate([dataclasses.replace(blind, seat=0, view=result), blind]) == 2  # but Ann does
    assert rated(full, own=dataclasses.replace(result, urgent=frozenset({0}))) == 1
    near = thing("hat", 1, value=9.0)
    seen = planning_view({0: [*things, near], 1: things}, {0: 0, 1: 10})
    assert rated(full, own=seen) == 3  # worth more, and nobody is to fetch it


def test_news_that_are_nothing_to_take_make_a_plan_stale() -> None:
    """A room is entered and a container beside the seat turns out to be worth more than the next part of its plan."""
    far = SubPlan("search attic", 1, 30.0, 1.0, frozenset({"attic"}), 30)
    near = SubPlan("check chest", 1, 1.0, 1.0, frozenset({"chest"}), 1, hands=1)
    before, after = (planning_view({0: entry, 1: []}, {0: 0, 1: 50}) for entry in ([far], [far, near]))
    left = {0: (far,), 1: ()}
    assert rate([briefing(before, seat, left=left, had_plan=True) for seat in (0, 1)]) == 5
    assert rate([briefing(after, seat, left=left, had_plan=True) for seat in (0, 1)]) == 3
    assert rate([briefing(after, 0, left={0: (near,), 1: ()}, had_plan=True)]) == 5


def test_what_needs_a_free_hand_is_not_for_full_hands() -> None:
    chest = SubPlan("check chest", None, 1.0, 1.0, frozenset({"chest"}), 1, hands=1)
    full = planning_view({0: [chest], 1: []}, {0: 0, 1: 0}, held={0: 2})
    assert not Walk(full, 0).fits(chest) and Walk(full, 1).fits(chest)
    assert criticise(briefing(full), Draft(({0: chest},)), ()).hints[0][0] == "HANDS_FULL"
    assert not auction(briefing(full))


def test_a_container_makes_room_for_what_follows() -> None:
    box = SubPlan("fetch box", 1, 1.0, 2.0, frozenset({"box"}), 1, load=1, widens=3)
    result = planning_view({0: [box]}, {0: 0}, held={0: 1})
    walk = Walk(result, 0)
    walk.take(box)
    assert walk.has_room() and walk.capacity == 5


def test_rewards_tell_plans_apart_that_are_nearly_as_good() -> None:
    """Every entry that is a little farther than need be costs something: rewards do not saturate."""
    things = [thing(f"t{k}", k) for k in (2, 3, 5, 8)]
    result = briefing(planning_view({0: things, 1: things}, {0: 0, 1: 10}), seat=1)
    rewards = [criticise(result, Draft(({0: entry, 1: things[3]},)), ()).reward for entry in things[:3]]
    assert 1.0 >= rewards[0] > rewards[1] > rewards[2]


def test_changes_of_a_plan_are_many_and_the_best_come_first() -> None:
    things = [thing(f"t{k}", k) for k in range(7)]
    result = briefing(planning_view({0: things, 1: things}, {0: 0, 1: 6}))
    plan = auction(result)
    results = [change for change in changes(result, Node(-1, 0, "", draft=Draft(plan))) if change != plan]
    assert len({plan_text(entry, NAMES) for entry in results}) > 20
    gains = [merit(result.view, item, result.members) for item in results]
    assert gains == sorted(gains, reverse=True)


def test_a_change_puts_one_option_into_the_plan_that_is_changed() -> None:
    things = [thing(f"t{k}", k) for k in range(5)]
    result = briefing(planning_view({0: things, 1: things}, {0: 0, 1: 4}))
    plan: Plan = ({0: things[0], 1: things[4]}, {0: things[1]})
    kept = {entry.text for row in plan for entry in row.values()}
    for change in replacements(result, plan):
        texts = [entry.text for row in change for entry in row.values()]
        assert len(set(texts)) == len(texts), "nothing is fetched twice"
        assert len({*texts} - kept) == 1 and len(kept - {*texts}) <= 1


def test_what_critics_have_found_is_heard_by_all_and_planned_with() -> None:
    """Only Ben has seen the jug. The first draft goes without it, the plan that wins has it."""
    cup, jug = thing("cup", 2), thing("jug", 3)
    results = {"jug": Finding("The jug is here.", jug)}

    def look(message: Mapping[str, Finding], findings: Mapping[str, Finding]) -> PlanningView:
        known = [cup, *(finding.data for finding in message.values())]
        return planning_view({0: known, 1: known}, {0: 0, 1: 4}, findings=findings)

    members = []
    for seat, entry in enumerate(({}, results)):
        see = partial(look, findings=entry)
        members.append(briefing(see(entry), seat, look=see))
    for mode, knows in (("cots", True), ("cot", False)):
        update = Update(0, 0, "start")
        deliberation = Deliberation(PlanSettings(mode=mode), programmed_functions())
        deliberation.update(members, update)
        assert ("jug" in update.plan) == knows
        assert ("jug" in deliberation.shared) == knows
        assert "jug" not in update.nodes[0]["plan"]


def test_impossible_entries_make_a_plan_poor() -> None:
    cup, pan, gone = thing("cup", 2), thing("pan", 8), thing("fan", 5, via="search hall")
    hall = SubPlan("search hall", 1, 3.0, 1.0, frozenset({"hall"}), 5)
    result = planning_view({0: [cup, pan, hall], 1: [cup, pan, hall]}, {0: 0, 1: 10})

    def rated(first: tuple[SubPlan, ...], known: frozenset[str] = frozenset(), **more: Any) -> int:
        left = {0: first, 1: (pan,)}
        return rate(
            [briefing(result, seat, left=left, had_plan=True, known=result.takes(0) | known, **more) for seat in (0, 1)]
        )

    assert rated((gone,)) != 2 and rated((cup, gone)) >= 4  # it can look for it in the hall
    assert rated((gone,), frozenset({gone.text})) == 2  # it knew it, and it is gone
    assert rated((cup, gone), frozenset({gone.text})) == 2
    assert rated((gone,), frozenset({gone.text}), running={0: gone}) != 2  # what runs is not cut
    critic = briefing(result, 0, known=frozenset({gone.text}))
    possible, impossible = (criticise(critic, Draft(({0: cup, 1: pan}, {0: last})), ()) for last in (hall, gone))
    assert possible.task > impossible.task


def test_hints_keep_to_the_longest_plan_that_makes_sense() -> None:
    cup, pan = thing("cup", 2), thing("pan", 8)
    result = dataclasses.replace(planning_view({0: [cup, pan], 1: []}, {0: 7, 1: 10}), steps=1)
    node = Node(-1, 0, "", draft=Draft(({0: cup},)), critiques=(Critique(3, 3, "", (("I_KNOW", 0, pan),)),))
    assert plan_text(next(iter(changes(briefing(result), node))), NAMES) == "1. Ann: fetch pan"


@pytest.mark.parametrize(("reaches", "swapped"), [(True, True), (False, False)])
def test_entries_are_swapped_only_between_seats_that_can_take_them_over(reaches: bool, swapped: bool) -> None:
    near, far = thing("near", 1), thing("far", 9)
    state = planning_view({0: [near, far], 1: [near, far] if reaches else [far]}, {0: 9, 1: 1})
    plan: Plan = ({0: near, 1: far},)
    draft = Draft(plan, plan_text(plan, NAMES))
    critique = criticise(briefing(state, seat=1), draft, ())
    assert ("SWAP" in [code for code, _, _ in critique.hints]) == swapped
    assert (critique.distance == 5) == (not swapped)
