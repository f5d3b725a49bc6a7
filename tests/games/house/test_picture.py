"""Floor plans: what is drawn of a home, and what an agent sees of it."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from support.hidden import hide, reach

from collab_overcooked.games.house.engine.compile import FOOD, PLACES, STUFF, THINGS
from collab_overcooked.games.house.text.picture import FURNITURE, OPEN, SHADED, folded, icon_of, known_picture, picture
from collab_overcooked.registry import load_game
from collab_overcooked.render.model import Cook, Icon
from collab_overcooked.render.sprites import find_food, sprite_names


def sprites_of(drawing: Any) -> dict[tuple[int, int], str]:
    return {spot: cell.sprite for spot, cell in drawing.parts[0].cells}


def test_things_of_a_task_look_different() -> None:
    looks = {name: (icon_of(name).sprite or find_food(name).sprite, find_food(name).main) for name in THINGS}
    assert {sprite for sprite, _ in looks.values()} <= set(sprite_names())
    for names in (("plate", "fork"), FOOD, STUFF):
        assert len({looks[name] for name in names}) == len(names)


@pytest.mark.parametrize("env_id", ["Housework-v0", "Transport-v0"])
def test_rooms_that_were_not_entered_are_shaded(env_id: str) -> None:
    game = load_game(env_id)
    state, _ = reach(game, 3, 6)
    scene = game.seen(state, 0, 0).scene
    displayed, full = (
        sprites_of(known_picture(scene, ("Alice", "Bob"))),
        sprites_of(picture(game.scene(state, 0), ("A", "B"))),
    )
    scene = folded(scene, "me")
    for (x, y), sprite in displayed.items():
        room = scene["grid"][y][x]
        dark = room != "#" and scene["rooms"][int(room)]["known"] == "none"
        assert (sprite == SHADED["none"]) == dark
    assert SHADED["none"] in displayed.values() and SHADED["none"] not in full.values()


def test_closed_containers_are_told_from_open_ones() -> None:
    game = load_game("Housework-v0", task="set_table")
    scene = game.scene(reach(game, 3, 0)[0], 0)
    place = next(
        p for p in scene["places"] if p["kind"] == "container" and p is not scene["places"][scene["goal_place"]]
    )
    spot = tuple(folded(scene, "agents")["places"][scene["places"].index(place)]["at"])
    shut = dict(picture(scene, ("A", "B")).parts[0].cells)[spot]
    assert shut.sprite == FURNITURE[place["name"].rstrip("0123456789 ")] and not shut.back
    place["open"] = True
    assert dict(picture(scene, ("A", "B")).parts[0].cells)[spot].back == OPEN


def test_all_furniture_has_a_sprite_of_its_own() -> None:
    assert FURNITURE.keys() >= set(PLACES) and {*FURNITURE.values(), OPEN, "goal_flag"} <= set(sprite_names())


def test_the_strip_of_the_goal_never_counts_beyond_it_and_is_complete_at_the_end() -> None:
    game = load_game("Housework-v0")
    state, _ = reach(game, 3, 6)
    scene = game.seen(state, 0, 0).scene
    first, *others = scene["goals"]
    assert not scene["goal"]["reached"]

    def strip(seen: int, reached: bool) -> str:
        goals = [first | {"need": 1, "seen": seen}, *others]
        drawing = known_picture(
            scene | {"goals": goals, "goal": scene["goal"] | {"reached": reached}}, ("Alice", "Bob")
        )
        (card,) = [card for card in drawing.parts[1].cards if card.kind == "goal"]
        return str(card.lines[1].left[1].text)

    name = first["name"]
    assert [strip(2, False), strip(0, False), strip(0, True)] == [f"{name} 1 of 1", f"{name} 0 of 1", f"{name} 1 of 1"]


NAMES = ("Alice", "Bob")


@pytest.mark.parametrize("env_id", ["Housework-v0", "Transport-v0"])
@pytest.mark.parametrize("seed", range(4))
def test_the_map_shows_only_what_the_seat_knows(env_id: str, seed: int) -> None:
    game = load_game(env_id)
    state, _ = reach(game, seed, 5 * seed)
    scene = game.seen(state, 0, 0).scene
    overview = known_picture(scene, NAMES).parts[0].overview
    other = game.seen(hide(game, state, 0, np.random.default_rng(seed)), 0, 0).scene
    assert known_picture(other, NAMES).parts[0].overview == overview
    assert [name for *_, name in overview.areas] == [room["name"] for room in scene["rooms"]]
    needed, scene = {goal["name"] for goal in scene["goals"]}, folded(scene, "me")
    finds = [thing["at"] for thing in scene["things"].values() if thing["status"] == "seen" and thing["name"] in needed]
    assert [list(at) for at, part in overview.marks if isinstance(part, Icon)] == finds
    assert ("goal_flag" in [part for _, part in overview.marks]) == scene["goal"]["found"]


def test_a_partner_is_on_the_board_where_it_was_last_seen_and_listed_before() -> None:
    game = load_game("Housework-v0")
    scene = copy.deepcopy(game.seen(reach(game, 3, 0)[0], 0, 0).scene)
    for mates in ({}, {1: {"room": 2, "hands": [None, None], "tick": 4}}):
        board, column = known_picture(scene | {"mates": mates}, NAMES).parts
        (card,) = [card for card in column.cards if isinstance(card.icon, Cook) and card.icon.seat == 1]
        assert card.lines[0].left[0].text == "Bob"
        assert ("not seen yet" in card.lines[0].left[1].text) == (not mates)
        assert not [part for _, part in board.overview.marks if isinstance(part, Cook)], "pages add those of the board"
        left, top, right, bottom = folded(scene, "me")["rooms"][2]["box"]
        (seen,) = [at for at, cook in board.cooks if cook.seat == 1] or [None]
        assert (seen is not None) == bool(mates)
        assert seen is None or (left <= seen[0] <= right and top <= seen[1] <= bottom)


def test_empty_floor_is_drawn_shorter_and_nothing_else_is_lost() -> None:
    game = load_game("Transport-v0")
    scene = game.scene(reach(game, 1, 0)[0], 0)
    less = folded(scene, "agents")
    assert len(less["grid"]) * len(less["grid"][0]) < len(scene["grid"]) * len(scene["grid"][0]) / 2
    for before, after in zip(scene["places"], less["places"], strict=True):
        (x, y), (left, top) = before["at"], after["at"]
        assert scene["grid"][y][x] == less["grid"][top][left]
    assert {*"".join(scene["grid"])} == {*"".join(less["grid"])}
