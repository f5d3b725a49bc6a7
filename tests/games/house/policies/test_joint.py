"""Sub-plans of teams in homes drawn as diagrams: what is worth doing, and what changes by what teammates tell."""

from __future__ import annotations

from typing import Any

from games.house.world import GameKind

from collab_overcooked.games.house.policies.joint import HouseSubplans
from collab_overcooked.policies.api import AgentView
from collab_overcooked.policies.search.deliberation import Briefing
from collab_overcooked.policies.search.plan_functions import auction, rate
from collab_overcooked.policies.search.subplans import Findings, PlanningView, plan_text

NAMES = ("Alice", "Bob")


def start(**options: Any) -> GameKind:
    """Return a home whose agents have looked around where they are, and know nothing else."""
    home = GameKind(**{"knows": "nothing", **options})
    home.act(*("wait" for _ in options.get("agents", range(2))))
    return home


def look(home: GameKind, seat: int = 0, message: Findings | None = None) -> PlanningView:
    return HouseSubplans(home.game)(AgentView.of(home.game, home.state, home.out, seat), message)


def texts(state: PlanningView, seat: int = 0) -> set[str]:
    return {option.text for option in state.options[seat] if option.value > 0}


def action_of(home: GameKind, snapshot: PlanningView, text: str, seat: int = 0) -> str | None:
    option = snapshot.option(seat, text)
    if option is None or option.action is None:
        return None
    return str(home.game.action_texts(home.state, 0, seat)[option.action])


def rooms(home: GameKind) -> list[str]:
    return [room["name"] for room in home.knows(0)["rooms"]]


def apart(**further: Any) -> GameKind:
    """Return a home where only Bob sees the goal place; Alice has both hands full."""
    values: dict[str, Any] = {
        "furniture": {"fridge": (7, 3)},
        "things": {"apple 0": 0, "apple 1": 0},
        "wants": {"apple": 2},
    }
    return start(**(values | further))


def test_a_cook_with_full_hands_goes_to_a_goal_place_that_only_a_teammate_has_found() -> None:
    home = apart()
    assert look(home).option(0, "transport") is None
    message = look(home, 1).findings
    informed = look(home, 0, message)
    assert action_of(home, informed, "transport") == f"go to {rooms(home)[1]}"
    deliver = informed.option(0, "transport")
    assert deliver is not None and deliver.via == f"search {rooms(home)[1]}"
    home.run(f"go to {rooms(home)[1]}", "wait")
    assert action_of(home, look(home, 0, message), "transport") == "transport"


def test_full_hands_open_no_containers() -> None:
    furniture = {"fridge": (7, 3), "stove": (1, 3)}
    home = apart(furniture=furniture, things={"apple 0": 0, "apple 1": 0}, wants={"apple": 3})
    snapshot = look(home)
    check = snapshot.option(0, "check stove")
    assert check is not None and check.action is None and check.hands == 1
    members = (0, 1)
    briefing = Briefing(0, members, AgentView.of(home.game, home.state, home.out, 0), snapshot, {}, {}, False)
    assert all("check" not in row[0].text for row in auction(briefing) if 0 in row)


def test_two_may_search_the_same_room_if_one_looks_for_the_goal_place_with_full_hands() -> None:
    home = apart(wants={"apple": 3}, furniture={"fridge": (7, 3)}, agents=((1, 1), (3, 1)))
    state = look(home)
    search = f"search {rooms(home)[1]}"
    entry, mate = state.option(0, search), state.option(1, search)
    assert entry is not None and mate is not None and not entry.uses & mate.uses


def test_nothing_is_searched_once_everything_is_known() -> None:
    furniture = {"fridge": (1, 3), "stove": (2, 3), "coffee table": (3, 1)}
    home = start(furniture=furniture, things={"apple 0": "coffee table"}, wants={"apple": 1})
    assert "pick up apple 0" in texts(look(home))
    assert not any(text.startswith(("check", "search")) for text in texts(look(home)))
    more = start(furniture=furniture, things={"apple 0": "coffee table"}, wants={"apple": 2})
    assert any(text.startswith("check") for text in texts(look(more)))


def test_rooms_are_searched_while_the_goal_place_is_unknown() -> None:
    home = start(
        furniture={"fridge": (7, 3), "coffee table": (3, 1)},
        things={"apple 0": "coffee table"},
        wants={"apple": 1},
        agents=((1, 1), (2, 1)),
    )
    assert f"search {rooms(home)[1]}" in texts(look(home))


def test_what_a_teammate_says_it_carries_is_no_longer_missing() -> None:
    home = start(things={"apple 0": 1}, furniture={"fridge": (1, 3), "stove": (2, 3)})
    assert "check stove" in texts(look(home))
    assert "check stove" not in texts(look(home, 0, look(home, 1).findings))


def test_what_a_teammate_has_searched_is_not_searched_again() -> None:
    furniture = {"fridge": (1, 3), "stove": (7, 3)}
    home = start(furniture=furniture, wants={"apple": 1})
    search = f"search {rooms(home)[1]}"
    assert search in texts(look(home))
    message = texts(look(home, 0, look(home, 1).findings))
    assert search not in message and "check stove" in message
    home.run("wait", "check stove")
    assert "check stove" not in texts(look(home, 0, look(home, 1).findings))


def test_a_thing_known_by_a_message_is_fetched_from_its_room_unless_it_is_gone() -> None:
    home = start(
        things={"apple 0": "kitchen table"},
        furniture={"fridge": (1, 3), "kitchen table": (7, 1)},
        knows="nothing",
        agents=((1, 1), (6, 3)),
    )
    message = look(home, 1).findings
    assert "pick up apple 0" not in texts(look(home))
    assert action_of(home, look(home, 0, message), "pick up apple 0") == f"go to {rooms(home)[1]}"
    home.run("wait", "pick up apple 0")
    later = look(home, 0, message | look(home, 1).findings)
    assert "pick up apple 0" not in texts(later)
    home.run("wait", "transport")
    home.run(f"go to {rooms(home)[1]}", "wait")
    assert "pick up apple 0" not in texts(look(home, 0, message))  # she sees that it is not there


def test_both_hands_are_filled_before_things_are_brought_home() -> None:
    home = start(
        knows="all",
        things={"apple 0": "coffee table", "apple 1": "coffee table"},
        furniture={"fridge": (7, 3), "coffee table": (3, 1)},
        wants={"apple": 2},
        agents=((1, 1),),
    )
    seen = AgentView.of(home.game, home.state, home.out, 0)
    plan = auction(Briefing(0, (0,), seen, look(home), {}, {}, False))
    assert plan_text(plan, NAMES).endswith("3. Alice: transport")


def test_a_container_that_comes_into_sight_makes_a_far_plan_stale() -> None:
    """Alice was to search the other room; the stove beside her, seen since, is nothing to take but worth a look."""
    furniture = {"fridge": (1, 3), "stove": (2, 1)}
    home = start(furniture=furniture, wants={"apple": 2}, agents=((1, 1),))
    seen = AgentView.of(home.game, home.state, home.out, 0)
    snapshot = look(home)
    far = snapshot.option(0, f"search {rooms(home)[1]}")
    assert far is not None
    assert rate([Briefing(0, (0,), seen, snapshot, {}, {0: (far,)}, had_plan=True)]) <= 3


def test_findings_hold_only_what_a_seat_has_observed() -> None:
    furniture = {"fridge": (7, 3), "kitchen table": (7, 1)}
    home = apart(things={"apple 0": "kitchen table"}, agents=((1, 1), (6, 3)), furniture=furniture)
    assert "apple 0" not in look(home).findings and "fridge" not in look(home).findings
    assert {"apple 0", "fridge", "Bob"} <= set(look(home, 1).findings)
    assert "apple 0" not in look(home, 0, look(home, 1).findings).findings  # hearsay is not told on
