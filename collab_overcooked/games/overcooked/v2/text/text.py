"""Texts for language agents and people: descriptions, the manual, refusals and events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from collab_overcooked.io.text import plural

from ...engine.constants import BELTS, BUTTON_TIME, MAX_INGREDIENTS, PREPARING, Clock, Param, Reason, Terrain
from ...engine.state import State
from ...text.kitchen_scene import warning_text
from ...text.text import (
    MOVES,
    MOVES_SEEN,
    NAMES,
    PRIMITIVE_TEXTS,
    TURNING,
    counted,
    greeting,
    prepared_text,
    with_article,
)
from ..engine.constants import BUTTON_PAYS, COOK_TIME, DELIVERY_PAYS, INGREDIENTS
from ..engine.spec import Layout, Recipe, names_of
from .scene import OvercookedV2Scenes

THINGS = (
    *INGREDIENTS,
    "plate",
    "dish",
    "soup",
    "pot",
    "recipe",
    "indicator",
    "button",
    "counter",
    "pile",
    "ingredient",
)
_INTERACT = (
    "{} works on the cell that you face: it takes from a pile or a counter, puts what you hold on an empty counter or "
    "into a pot, loads ready soup on the plate in your hand, delivers soup, and presses buttons."
)
NO_EFFECT = "An interact with the cell ahead would change nothing right now."
KINDS_OF_CELLS = {  # that a change may bring
    Terrain.FLOOR: "floor",
    Terrain.COUNTER: "a counter",
    Terrain.POT: "a pot",
    Terrain.SERVING: "a serving cell",
    Terrain.WALL: "a wall",
    Terrain.INDICATOR: "a recipe indicator",
    Terrain.BUTTON: "a button",
    Terrain.DISHES: "a plate pile",
    Terrain.BOARD: "a board",
    Terrain.GRILL: "a grill",
    Terrain.BLENDER: "a blender",
    **{kind: f"a belt to the {kind.name.removeprefix('BELT_').lower()}" for kind in BELTS.values()},
    **{Terrain(Terrain.ONIONS + kind): f"a pile of {name}" for kind, name in enumerate(INGREDIENTS)},
}
PREPARING_TITLES = {symbol: kind.name.capitalize() for symbol, kind in PREPARING.items()}
TITLES = {"P": "pots", "B": "plate piles", "X": "serving cells", "R": "recipe indicators", "L": "buttons"}
TITLES |= {symbol: f"{kind.name.lower()}s" for symbol, kind in PREPARING.items()}

Scene = Mapping[str, Any]


def recipe_text(names: Sequence[str]) -> str:
    """Return the text of ingredients with their counts."""
    return ", ".join(counted(names.count(name), name) for name in dict.fromkeys(names))


def thing_text(thing: Mapping[str, Any] | None) -> str:
    """Return the text of an object in a hand or on a counter."""
    if thing is None:
        return "nothing"
    if thing["item"] == "dish":
        return f"a dish of soup of {recipe_text(thing['ingredients'])}"
    if "needs" in thing:
        return prepared_text(thing["item"], thing["work"], thing["needs"], thing["preparation"])
    return with_article(thing["item"])


def pot_text(pot: Mapping[str, Any]) -> str:
    """Return the text of a pot with ingredients."""
    state = "not cooking"
    if pot["ready"]:
        state = ", ".join(filter(None, ["ready", warning_text(pot)]))
    elif pot["left"]:
        state = f"cooking, {plural(pot['left'], 'step')} left"
    count = len(pot["ingredients"])
    return f"{count} of {MAX_INGREDIENTS} ingredients ({recipe_text(pot['ingredients'])}), {state}"


def unknown_text(recipes: Sequence[Recipe]) -> str:
    """Return the text of a recipe that is not known, one of several."""
    listed = "; ".join(recipe_text(names_of(recipe)) for recipe in recipes)
    return f"you have not seen it; it is one of: {listed}"


def stations_of(layout: Layout) -> Iterator[tuple[str, str, str]]:
    """Yield the symbol, the title and the cells of each kind of station that a layout has."""
    titles = TITLES | {str(kind): f"{INGREDIENTS[kind]} piles" for kind in range(layout.kinds)}
    for symbol, title in titles.items():
        if cells := layout.cells(symbol):
            yield symbol, title, ", ".join(map(str, cells))


class OvercookedV2Text(OvercookedV2Scenes):
    """Texts of a pool of layouts."""

    texts, things, kinds_of_cells = PRIMITIVE_TEXTS, THINGS, KINDS_OF_CELLS
    order_noun = "recipe"

    @property
    def display_names(self) -> tuple[str, ...]:
        return NAMES[: self.n_agents]

    def _explain(self, state: State, i: int, seat: int, action: int, reason: int) -> str:
        return NO_EFFECT if reason == Reason.NO_EFFECT else super()._explain(state, i, seat, action, reason)

    def describe(self, state: State, i: int, seat: int) -> str:
        scene = self.seat_scene(self.scene(state, i), seat)
        recipe, layout = scene["recipe"], self.layouts[state.clock[i, Clock.LAYOUT]]
        lines = [
            f"You are {NAMES[seat]}. Step {scene['timestep']} of {scene['limit']}; earned so far: {scene['score']}.",
            f"Recipe: {unknown_text(layout.recipes) if recipe is None else recipe_text(recipe)}.",
            *([f"It stands for {plural(scene['order_left'], 'more step')}."] if "order_left" in scene else []),
            *(["The last step delivered the recipe."] if scene["delivered"] else []),
            *self.change_lines(state, i, [tuple(player["position"]) for player in scene["players"] if player]),
        ]
        rows = [list(row) for row in layout.grid]
        for j, player in sorted(enumerate(scene["players"]), key=lambda entry: entry[0] != seat):
            name = "You are" if j == seat else f"{NAMES[j]} is"
            if player is None:
                lines.append(f"{NAMES[j]} is out of view.")
                continue
            x, y = player["position"]
            rows[y][x] = chr(ord("a") + j)
            lines.append(
                f"{name} {rows[y][x]} at ({x}, {y}), facing {player['facing']}, "
                f"holding {thing_text(player['holding'])}."
            )
        lines += ["Map:", *("".join(row) for row in rows)]
        lines += self._in_view(scene, seat)
        return "\n".join(lines)

    def _in_view(self, scene: Scene, seat: int) -> Iterator[str]:
        radius, (x, y) = self.compiled.config.view_radius, scene["players"][seat]["position"]
        if radius is not None:
            grid = self.layouts[self.layout_of(scene)].grid
            height, width = len(grid), len(grid[0])
            (left, right), (top, bottom) = (
                (max(at - radius, 0), min(at + radius, size - 1)) for at, size in ((x, width), (y, height))
            )
            yield f"You see columns {left} to {right} and rows {top} to {bottom}."
        for thing in scene["objects"]:
            at = "({}, {})".format(*thing["position"])
            is_pot = thing["item"] == "soup"
            place = "Pot" if is_pot else self._place_name(scene, thing)
            yield f"{place} {at}: {pot_text(thing) if is_pot else thing_text(thing)}."
        if not scene["objects"]:
            yield "Nothing lies on the counters and in the pots that you see."
        for button in scene["buttons"]:
            if button["left"]:
                place = "({}, {})".format(*button["position"])
                left = plural(button["left"], "more step")
                yield f"Button {place}: shows the recipe for {left}."

    def _place_name(self, scene: Scene, thing: Mapping[str, Any]) -> str:
        """Return what a thing lies on that is not in a pot."""
        x, y = thing["position"]
        symbol = self.layouts[self.layout_of(scene)].grid[y][x]
        return "Belt" if symbol in BELTS else PREPARING_TITLES.get(symbol, "Counter")

    def manual(self, state: State | None = None, i: int = 0, seat: int = 0) -> str:
        k, steps = (0, self.max_cycles) if state is None else state.clock[i, [Clock.LAYOUT, Clock.LIMIT]].tolist()
        layout = self.layouts[k]
        lines = [
            *self._what_to_know(layout, steps, seat),
            "",
            f"The kitchen is {layout.name}. Positions as (column, row), and letters on the map:",
            *(f"- {symbol} {title}: {cells}" for symbol, title, cells in stations_of(layout)),
            "- W counters; blank cells are floor; small letters are players",
            *self.belt_rules(layout.grid, {}),
            "",
            MOVES,
            _INTERACT.format("interact"),
        ]
        return "\n".join(lines)

    def picture_manual(self, state: State, i: int, seat: int) -> str:
        """Return the manual for language agents that see pictures: without the letters of the map."""
        layout = self.layouts[state.clock[i, Clock.LAYOUT]]
        lines = [
            *self._what_to_know(layout, int(state.clock[i, Clock.LIMIT]), seat),
            "",
            f"The kitchen is {layout.name}. Positions as (column, row) from (0, 0) at the top left:",
            *(f"- {title}: {cells}" for _, title, cells in stations_of(layout)),
            *self.belt_rules(layout.grid, {}),
            "",
            MOVES_SEEN,
            _INTERACT.format("interact"),
        ]
        return "\n".join(lines)

    def picture_rules(self, state: State, i: int, seat: int) -> str:
        """Return the rules for a player who sees pictures: without positions and the spelling of actions."""
        layout = self.layouts[state.clock[i, Clock.LAYOUT]]
        know = self._what_to_know(layout, int(state.clock[i, Clock.LIMIT]), seat)
        return "\n".join([*know, TURNING, _INTERACT.format('"Use"')])

    def _what_to_know(self, layout: Layout, steps: int, seat: int) -> list[str]:
        redraws = self.compiled.tables.params[Param.REDRAW] == 1
        return [
            greeting(seat, self.n_agents),
            f"Earn as many points as possible as a team in {steps} steps. Soup of the recipe pays {DELIVERY_PAYS} "
            "points.",
            f"The recipe is one of: {'; '.join(recipe_text(names_of(recipe)) for recipe in layout.recipes)}. "
            f"It is drawn at random{', and drawn again after each delivery of it' if redraws else ''}.",
            *self.order_rules(),
            *self._knowledge(layout),
            *self._rules(),
            *self.change_rules(),
        ]

    def _knowledge(self, layout: Layout) -> Iterator[str]:
        radius, symbols = self.compiled.config.view_radius, set("".join(layout.grid))
        if radius is not None:
            yield (
                f"You see {radius} cells in each direction. Other players, things and the recipe outside of that are "
                f"not shown to you{'; the others see as far' * (self.n_agents > 1)}."
            )
        if len(layout.recipes) == 1:
            return
        if "R" in symbols:
            yield "A recipe indicator shows the recipe to all players who have it in view."
        if "L" in symbols:
            yield (
                f"Pressing a button with empty hands costs the team {-BUTTON_PAYS} points. The button then shows the "
                f"recipe for {BUTTON_TIME - 1} steps to all players who have it in view."
            )

    def _rules(self) -> Iterator[str]:
        start = "It starts by itself with the third one"
        if self.compiled.config.dynamics == "explicit":
            start = "Interact with empty hands to start it, also with fewer"
        wrong = -int(self.compiled.tables.params[Param.WRONG_PAYS])
        yield (
            f"A pot takes up to {MAX_INGREDIENTS} ingredients of any kind, one at a time. {start}; it cooks for "
            f"{COOK_TIME} steps. It can only be emptied onto a plate when the soup is ready."
        )
        yield from self.pot_rules()
        yield (
            "Deliver soup on a plate at a serving cell. Any other soup than the recipe is taken away and "
            f"{f'costs the team {wrong} points' if wrong else 'pays nothing'}."
        )
        yield "You can hold one thing. Players cannot walk through each other, counters or stations."
        if self.compiled.config.delivery_light:
            yield "Serving cells light up for one step after a delivery of the recipe."
