"""Pictures of pages: differences between frames, icons of orders and captions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from play.world import GAMES

from collab_overcooked.envs.lexicon import plain
from collab_overcooked.registry import make
from collab_overcooked.render import sprites
from collab_overcooked.reporting.pictures import SPRITE, difference, joined, picture_of

PICTURES = st.dictionaries(st.sampled_from(("a", "b", "c:0,0", "s:x", "s:y")), st.integers(0, 3))


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


def test_captions_of_animals_are_shown_on_demand() -> None:
    env = make("CraftKitchen-v0")
    env.reset(seed=0)
    cells = [cell for key, cell in picture_of(env.game, env.scene(), 0).items() if key.startswith("c:")]
    assert {cell["n"] for cell in cells if not cell.get("q")} == {"chest", "furnace", "oak log"}
    assert any(cell.get("q") for cell in cells)


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
