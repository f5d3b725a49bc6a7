"""Pictures of pages: sprites as SVG, differences between frames, and nothing that a seat may not know."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hidden import hide, reach

from collab_overcooked.core.record import Event
from collab_overcooked.envs.lexicon import plain
from collab_overcooked.play.menus import likeliest_first
from collab_overcooked.play.people import SendQueue
from collab_overcooked.play.settings import PlaySettings
from collab_overcooked.play.shown import done_by, frame_of, question_of
from collab_overcooked.policies.api import AgentView
from collab_overcooked.registry import load_game, make
from collab_overcooked.render import sprites
from collab_overcooked.render.model import Cook, Icon
from collab_overcooked.render.svg import cook_svg, icon_svg, station_svg, svg_strokes
from collab_overcooked.reporting.naming import single_names
from collab_overcooked.reporting.pictures import SPRITE, difference, joined, picture_of

GAMES: dict[str, tuple[str, dict[str, Any]]] = {
    "kitchen": ("CollabOvercooked-v0", {"task": "boiled_egg"}),
    "level": ("CuisineWorld-v0", {"level": "level_3", "agents": 2}),
    "yard": ("CraftKitchen-v0", {"level": "field"}),
    "layout": ("Overcooked-v0", {"layout": "cramped_room"}),
    "scenario": ("KitchenRush-v0", {"scenario": "easy"}),
    "home": ("Housework-v0", {"agents": 2}),
    "house": ("Transport-v0", {}),
    "capture": ("CollabCapture-v0", {}),
    "escape": ("CollabEscape-v0", {}),
}
PICTURES = st.dictionaries(st.sampled_from(("a", "b", "c:0,0", "s:x", "s:y")), st.integers(0, 3))


def parsed(markup: str) -> Any:
    return ElementTree.fromstring(f"<svg>{markup}</svg>")


def test_pictures_speak_the_language_of_the_actions() -> None:
    env = make("AlienRush-v0", scenario="easy")
    env.reset(seed=0)
    state = env.clone_state().state
    labels = " ".join(env.game.action_labels(state, 0, 0))
    picture = picture_of(env.game, env.game.seat_scene(env.scene(), 0), 0)
    targets = {target for key, cell in picture.items() if key.startswith("c:") for target in cell.get("t", ())}
    assert targets and all(target in labels for target in targets)
    foreign = str({key: value for key, value in picture.items() if not key.startswith("s:")})
    assert not [name for name in plain(env.game).names() if len(name) > 6 and name in foreign]


@pytest.mark.parametrize("scenario", ["easy", "hard"])
def test_every_noun_of_an_invented_vocabulary_has_a_strange_sprite_that_no_other_has(scenario: str) -> None:
    env = make("AlienRush-v0", scenario=scenario)
    env.reset(seed=0)
    picture, looks = picture_of(env.game, env.game.seat_scene(env.scene(), 0), 0), dict[str, set[str]]()
    for cell in (cell for key, cell in picture.items() if key.startswith("c:")):
        name = (cell.get("n") or cell["l"][0]).rstrip("0123456789 ")
        looks.setdefault(name, set()).add(cell["s"] if "n" in cell else cell["i"][0])
    assert len(looks) > 10 and all(len(named) == 1 for named in looks.values())
    drawn = set.union(*looks.values())
    assert len(drawn) == len(looks)
    assert not {SPRITE + look for look in drawn} & set(picture_of(plain(env.game), env.scene(), None))


def test_rendered_pictures_of_alien_rush_show_no_plain_names_and_no_plain_sprites() -> None:
    env = make("AlienRush-v0", scenario="easy", render_mode="ansi")
    env.reset(seed=0)
    text = env.render()
    assert not [name for name in plain(env.game).names() if len(name) > 6 and name in text]
    scene = env.scene()
    translated, known = env.game.drawing(scene), plain(env.game).drawing(scene)
    drawn, undisguised = (
        {cell.sprite for _, cell in drawing.parts[0].cells if cell.caption} for drawing in (translated, known)
    )
    assert drawn and all(sprite.startswith(sprites.STRANGE) for sprite in drawn) and not drawn & undisguised
    state = env.clone_state().state
    colours, plain_colours = (game.render(state, 0, "rgb_array") for game in (env.game, plain(env.game)))
    assert (colours != plain_colours).any()


def test_strange_sprites_differ() -> None:
    markups = {svg_strokes(sprites.strange_strokes(number), {}) for number in range(sprites.STRANGE_KINDS)}
    assert len(markups) == sprites.STRANGE_KINDS


def test_captions_of_animals_are_shown_on_demand() -> None:
    env = make("CraftKitchen-v0")
    env.reset(seed=0)
    cells = [cell for key, cell in picture_of(env.game, env.scene(), 0).items() if key.startswith("c:")]
    assert {cell["n"] for cell in cells if not cell.get("q")} == {"chest", "furnace", "oak log"}
    assert any(cell.get("q") for cell in cells)


@pytest.mark.parametrize("name", sprites.sprite_names())
def test_every_sprite_is_svg_with_a_colour_for_every_shape(name: str) -> None:
    colours = dict.fromkeys(
        ("main", "accent", "flesh", "shade", "dark", "light", "coat", "coat_dark", "skin"), "#123456"
    )
    colours |= dict.fromkeys(("first", "second", "third"), "#123456")
    shapes = [
        entry
        for entry in parsed(svg_strokes(sprites.strokes_of(name), colours)).iter()
        if entry.tag not in ("svg", "g")
    ]
    assert len(shapes) == 2 * len(sprites.strokes_of(name))
    for shape in shapes:
        painted = [shape.get("fill"), shape.get("stroke")]
        assert any(colour and re.fullmatch(r"#[0-9a-fA-F]{6}", colour) for colour in painted), (name, shape.attrib)
        assert "nan" not in str(shape.attrib) and "style" not in shape.attrib


def test_items_and_agents_look_different_and_letters_are_escaped() -> None:
    foods = [Icon(foods=("onion",), **how) for how in ({}, {"finish": "boiled"}, {"plated": True}, {"faded": True})]
    markup = [icon_svg(icon) for icon in (*foods, Icon(foods=("glimmer",)), Icon("soup", ("onion",), garnish=True))]
    markup += [cook_svg(Cook(0, "A", facing)) for facing in ("", "north", "west")] + [station_svg("wok_of_doom")]
    assert len(set(markup)) == len(markup) and all(map(len, map(parsed, markup)))
    assert "<b>" not in cook_svg(Cook(0, "<b>"))


@given(PICTURES, PICTURES, PICTURES)
def test_differences_lead_from_picture_to_picture(one: Any, two: Any, three: Any) -> None:
    def applied(picture: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
        kept = {key: value for key, value in picture.items() if key not in change.get("drop", ())}
        return kept | json.loads(json.dumps(change["put"]))

    def seen(picture: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in picture.items() if not key.startswith(SPRITE)}

    first, second = difference(one, two), difference(two, three)
    assert seen(applied(one, first)) == seen(two)
    assert seen(applied(one, joined(first, second))) == seen(applied(applied(one, first), second)) == seen(three)


@pytest.mark.parametrize("name", GAMES)
def test_what_a_seat_may_not_know_changes_no_byte_of_its_frames(name: str) -> None:
    env_id, options = GAMES[name]
    game = load_game(env_id, **options)
    outboxes = {(seat, side): SendQueue() for seat in range(game.n_agents) for side in range(2)}
    settings = PlaySettings()
    for steps in (0, 3, 8):
        state, _ = reach(game, 5, steps)
        for seat in range(game.n_agents):
            sent = []
            for side, snapshot in enumerate((state, hide(game, state, seat, np.random.default_rng(steps)))):
                out = game.alloc(1)[1]
                game.observe(snapshot, out)
                seen = AgentView.of(game, snapshot, out, seat, steps)
                frame = frame_of(game, seen, settings, outboxes[seat, side])
                sent.append(json.dumps([frame, question_of(seen, "act", 1, settings)], allow_nan=False))
            assert sent[0] == sent[1], (name, seat, steps)


@pytest.mark.parametrize("name", GAMES)
def test_no_frame_shows_a_sprite_that_the_page_lacks(name: str) -> None:
    env_id, options = GAMES[name]
    game, has = load_game(env_id, **options), set()
    before: dict[str, Any] = {}
    for steps in range(6):
        state, _ = reach(game, 1, steps)
        after = picture_of(game, game.scene(state, 0), None)
        change = difference(before, after)
        has |= {key.removeprefix(SPRITE) for key in change["put"] if key.startswith(SPRITE)}
        before = before | after
        assert used_sprites(after) <= has
        assert any(key == "board" for key in after), "every game has a board"


def used_sprites(picture: dict[str, Any]) -> set[str]:
    """Names of ten hexadecimal digits anywhere outside of the sprites themselves."""
    message = json.dumps({key: value for key, value in picture.items() if not key.startswith(SPRITE)})
    return set(re.findall(r'"([0-9a-f]{10})"', message))


def test_menus_begin_with_what_is_new_and_useful_and_end_with_waiting() -> None:
    actions = ["noop", "wait(3)", "get pork storage0", "get beef storage0", "get rice storage0", "goto pan0"]
    assert likeliest_first(actions, (), ["porkSteak"]) == [
        "get pork storage0", "goto pan0", "get beef storage0", "get rice storage0", "noop", "wait(3)",
    ]  # fmt: skip
    assert likeliest_first(["put pan0", *actions], actions, ["porkSteak"])[:2] == ["put pan0", "get pork storage0"]


def test_menus_of_rush_offer_no_cooking_that_ruins_an_order_first() -> None:
    env = make("KitchenRush-v0")
    env.reset(seed=1)

    def first() -> str:
        state, out = env.arrays
        seen = AgentView.of(env.game, state, out, 0, 0)
        menu = question_of(seen, "act", 0, PlaySettings())["legal"]
        assert menu[-1] == "do nothing" and menu[-2].startswith("cook ")
        return menu[0]

    assert first() == "take the ingredients of Fettucine Alfredo at pantry"
    env.step({"agent_0": env.game.parse(first()), "agent_1": 0})
    assert first() == "cook Fettucine Alfredo at stove"


def test_menus_of_alien_rush_do_not_tell_what_ruins_an_order() -> None:
    game = load_game("AlienRush-v0")
    assert not AgentView.of(game, *reach(game, 1, 0), 0, 0).view.unlikely


def test_menus_of_cuisineworld_begin_with_what_serves_an_order() -> None:
    env = make("CuisineWorld-v0", level="level_3", agents=2)
    env.reset(seed=1, options={"orders": ["salmonSushi"]})
    earlier: list[str] = []
    for action in (
        "goto storage0", "get salmon storage0", "goto chopboard0", "put chopboard0", "activate chopboard0",
        "get chopboard0", "goto mixer0", "put mixer0", "goto storage0", "get rice storage0", "goto pot0", "put pot0",
        "activate pot0", *["noop"] * 3, "get pot0", "goto mixer0", "put mixer0", "activate mixer0", "noop",
        "get mixer0", "goto servingtable0", "put servingtable0",
    ):  # fmt: skip
        seen = AgentView.of(env.game, *env.arrays, 0, 0)
        menu = question_of(seen, "act", 0, PlaySettings(), earlier=earlier)["legal"]
        likely = [text for text in menu if env.game.parse(text) not in seen.view.unlikely and text != "noop"]
        assert action == "noop" or (action in likely[:3] and menu[: len(likely)] == likely), (action, menu)
        env.step({"agent_0": env.game.parse(action), "agent_1": 0})
        earlier = menu
    assert env.scene()["accomplished"] == ["salmonSushi"]


def test_menus_of_cuisineworld_throw_away_only_what_no_order_needs() -> None:
    env = make("CuisineWorld-v0", level="level_1", agents=2)
    env.reset(seed=1, options={"orders": ["salmonMeatcake"]})

    def menu_after(*actions: str) -> list[str]:
        for action in actions:
            env.step({"agent_0": env.game.parse(action), "agent_1": 0})
        return list(question_of(AgentView.of(env.game, *env.arrays, 0, 0), "act", 0, PlaySettings())["legal"])

    menu = menu_after("goto storage0", "get salmon storage0")
    assert menu[0].startswith("goto blender") and menu.index("put storage0") > menu.index("goto blender1")
    assert menu_after("put storage0", "get beef storage0")[0] == "put storage0"
    assert menu_after("goto blender0")[0] == "goto storage0"


def test_what_was_done_in_a_home_names_things_as_the_seat_knows_them() -> None:
    game = load_game("Housework-v0")
    state, out = reach(game, 0, 40)
    view = AgentView.of(game, state, out, 0, 40).view
    known = next(text for text in view.action_texts if re.fullmatch(r"pick up (?!thing)\w+ \d+", text))
    number = known.split()[-1]
    labels = [f"pick up thing {number}", "pick up thing 0"]
    step = SimpleNamespace(events=[Event(label=label) for label in labels])
    assert done_by(step, view, 0) == [[0, known]]


def whole_picture(name: str) -> dict[str, Any]:
    env_id, options = GAMES[name]
    env = make(env_id, **options)
    env.reset(seed=0)
    return picture_of(env.game, env.scene(), None)


def test_pages_show_little_of_the_walls_around_a_home_and_places_stay_beside_each_other() -> None:
    picture = whole_picture("home")
    cells = {key: value for key, value in picture.items() if key.startswith("c:")}
    floor = [cell for cell in cells.values() if cell.get("w")]
    for axis, length in zip("xy", picture["board"]["size"], strict=True):
        assert min(cell[axis] for cell in floor) == 0.25 and max(cell[axis] for cell in floor) == length - 1.25
    assert all(f"c:{cell['x'] - 1:g},{cell['y']:g}" in cells for cell in floor)


@pytest.mark.parametrize(("name", "last"), [("level", "chopboard"), ("yard", "furnace")])
def test_an_order_shows_icons_of_what_it_needs(name: str, last: str) -> None:
    cards = [value for key, value in whole_picture(name).items() if key.startswith("k:") and value.get("k") == "order"]
    *icons, (_, tool, *_) = cards[0]["l"][-1]["l"]
    assert any(span[0] == "s" for span in icons) and last in tool


@pytest.mark.parametrize(
    ("env_id", "single", "several"),
    [
        ("CollabOvercooked-v0", {"chopping_board0", "pot0"}, set()),
        ("CuisineWorld-v0", {"storage0"}, {"pot0", "mixer1"}),
        ("CollabCapture-v0", set(), {"room 1"}),
    ],
)
def test_a_number_tells_nothing_where_there_is_one_such_thing(env_id: str, single: set, several: set) -> None:
    env = make(env_id)
    env.reset(seed=0)
    names = set(single_names(env.game.seen(env.clone_state().state, 0, 0)))
    assert single <= names and not several & names
