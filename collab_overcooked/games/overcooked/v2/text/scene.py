"""Scenes of OvercookedV2: the meaning of each key, constraints between keys, and knowledge and beliefs of a player."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from collab_overcooked.envs import scene_codec as codec
from collab_overcooked.envs.api import rows
from collab_overcooked.envs.lexicon import plain
from collab_overcooked.envs.scene_codec import Codec, Part, Rows
from collab_overcooked.envs.seen import SeatView
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.schema import boolean_or_bit, integer, list_of, one_of, optional, record
from collab_overcooked.kernels.grid import Direction

from ...engine.compile import cells_of
from ...engine.constants import (
    BUTTON_TIME,
    FIRST_INGREDIENT,
    HAND_END,
    IDLE,
    MACHINE_WORK,
    MAX_INGREDIENTS,
    NOTHING,
    Clock,
    Item,
    LayoutSize,
    Param,
    Player,
    Terrain,
    Thing,
)
from ...engine.spec import counts_of
from ...engine.state import State, Tables
from ...pool import PREPARED, KitchenPool
from ...text.scene import can_lie, check_places, check_work, decode_work
from ..engine.constants import COOK_TIME, DELIVERY_PAYS, INGREDIENTS, Event
from ..engine.spec import Recipe, names_of, number_of_recipe
from ..engine.step import learn_batch

MAX_SCORE = 10**9
REDRAWN = " The next recipe is drawn anew."
SOUP = "soup"  # in a pot; on a plate it is a dish

Scene = Mapping[str, Any]


def _permutation(names: Sequence[str]) -> Codec:
    def parser(value: Any) -> list[str]:
        listed: list[str] = list_of(one_of(names, "ingredient"), len(names), len(names), "ingredients")(value)
        if len(set(listed)) < len(names):
            raise ValueError(f"seen_as of a player must name each of {', '.join(names)} once, not {listed}")
        return listed

    return Codec(parser, lambda row: [names[kind] for kind in row], lambda value: [names.index(name) for name in value])


def _number(names: Sequence[str]) -> int:
    return number_of_recipe(tuple(map(INGREDIENTS.index, names)))


def _names(soup: int) -> list[str]:
    return [name for name, count in zip(INGREDIENTS, counts_of(soup), strict=False) for _ in range(count)]


def _thing_parsers(names: Sequence[str]) -> dict[str, Any]:
    return {
        "item": one_of([*names, "plate", "dish", SOUP], "item"),
        "ingredients": list_of(one_of(names, "ingredient"), 1, MAX_INGREDIENTS, "ingredients"),
        "work": integer(0, MACHINE_WORK),
        "needs": integer(1, MACHINE_WORK),
        "preparation": one_of([*PREPARED.values()], "preparation"),
    }


def _content(names: Sequence[str], prepare: np.ndarray) -> Codec:
    parser = record(_thing_parsers(names), ["item"])
    return Codec(optional(parser), lambda thing: decode_thing(thing, prepare), encode_thing)


def decode_thing(thing: Sequence[int], prepare: np.ndarray) -> dict[str, Any] | None:
    """Decode what is in a hand or on a counter, see ``Thing``."""
    item, soup, tick = thing
    if item == Item.SOUP:
        return {"item": "dish", "ingredients": _names(soup)}
    if item in (Item.NONE, Item.DISH):
        return {"item": "plate"} if item == Item.DISH else None
    return {"item": INGREDIENTS[item - FIRST_INGREDIENT], **decode_work(item, tick, prepare, derived=True)}


def encode_thing(thing: Mapping[str, Any] | None) -> tuple[int, int, int]:
    """Encode what is in a hand or on a counter, see ``Thing``."""
    if thing is None:
        return Item.NONE, 0, 0
    if thing["item"] in INGREDIENTS:
        return FIRST_INGREDIENT + INGREDIENTS.index(thing["item"]), 0, thing.get("work", 0)
    if thing["item"] == "plate":
        return Item.DISH, 0, 0
    return Item.SOUP, _number(thing.get("ingredients", ())), COOK_TIME


def _decode_pot(pot: Sequence[int], burn: int | None) -> dict[str, Any]:
    _, soup, tick = pot
    is_ready = tick >= COOK_TIME
    left = 0 if tick == IDLE or is_ready else COOK_TIME - tick
    burns = {"burns_in": COOK_TIME + burn - tick} if is_ready and burn is not None else {}
    return {"item": SOUP, "ingredients": _names(soup), "left": left, "ready": is_ready, **burns}


def _encode_pot(soup: Mapping[str, Any], burn: int | None) -> tuple[int, int, int]:
    left = soup.get("left", 0)
    tick = COOK_TIME - left if left else IDLE
    if soup.get("ready"):
        waited = burn - soup["burns_in"] if burn is not None and "burns_in" in soup else 0
        tick = COOK_TIME + waited
    return Item.SOUP, _number(soup.get("ingredients", ())), tick


def _check_thing(place: str, thing: Mapping[str, Any] | None) -> None:
    if thing is not None and thing["item"] in ("dish", SOUP):
        if not thing.get("ingredients"):
            raise ValueError(f"{place}: ingredients of a {thing['item']} are 1 to {MAX_INGREDIENTS}, not []")
        if thing["item"] == SOUP and "left" not in thing:
            raise ValueError(f"{place}: hands hold a dish, not {SOUP}")


class KitchenView(SeatView):
    """Knowledge of one player; teammates' actions are known only with full view."""

    def __init__(self, game: Any, state: Any, seat: int) -> None:
        super().__init__(game, state, seat)
        self.public_actions = self.public_history = game.kwargs["view_radius"] is None

    @property
    def picture_manual(self) -> str:
        return self._say(plain(self._game).picture_manual(self._state, 0, self._seat))

    @property
    def picture_rules(self) -> str:
        return self._say(plain(self._game).picture_rules(self._state, 0, self._seat))

    def consequence(self, event: Any) -> str:
        team = plain(self._game).consequences(event)
        own = ""
        if event.event == Event.SOUP_DELIVERY.name.lower():
            redrawn = self._game.compiled.tables.params[Param.REDRAW] == 1
            own = f"It is the recipe and pays {DELIVERY_PAYS} points.{REDRAWN if redrawn else ''}"
        elif event.event == Event.WRONG_DELIVERY.name.lower():
            wrong = -int(self._game.compiled.tables.params[Param.WRONG_PAYS])
            own = f"It is not the recipe and {f'costs {wrong} points' if wrong else 'pays nothing'}."
        return self._say(" ".join([*([own] if own else []), *team]))


def cells_in_view(tables: Tables, x: int, y: int) -> np.ndarray:
    """Return which cells a player at (x, y) sees, bool (H, W)."""
    radius = tables.params[Param.RADIUS]
    rows, columns = np.indices(tables.terrain.shape[1:])
    near: np.ndarray = np.maximum(abs(columns - x), abs(rows - y)) <= radius
    return near | (radius == NOTHING)


class OvercookedV2Scenes(KitchenPool):
    """Scenes of a pool of layouts; players know the recipe once they have seen it."""

    seat_view = KitchenView

    def scene_parts(self) -> dict[str, Part]:
        tables, names = self.compiled.tables, INGREDIENTS[: self.compiled.kinds]
        height, width = tables.terrain.shape[1:]
        position = codec.vector([codec.integers(0, width - 1), codec.integers(0, height - 1)], "coordinates")
        player = {
            "position": codec.column("players", slice(Player.X, Player.Y + 1), position),
            "facing": codec.column("players", Player.FACING, codec.members_of(Direction, "facing")),
            "holding": codec.column("players", slice(Player.HAND, HAND_END), _content(names, tables.prepare)),
            "knows_recipe": codec.column("players", Player.KNOWS, codec.BOOLEAN),
        }
        n_players = self.compiled.n_players
        orders = codec.by_entry([codec.row("channels", _permutation(names))] * n_players, "players")
        several = len(self.compiled.names) > 1
        layout = codec.column("clock", Clock.LAYOUT, codec.names_of(self.compiled.names, "layout"))
        return {
            "timestep": codec.column("clock", Clock.T, codec.COUNT),
            "limit": codec.span("clock", Clock.LIMIT, 1, MAX_OPTION),
            "served": codec.span("clock", Clock.SERVED, 0, MAX_SCORE),
            "score": codec.span("clock", Clock.SCORE, -MAX_SCORE, MAX_SCORE),
            "delivered": codec.column("clock", Clock.DELIVERED, codec.BOOLEAN),
            **({"layout": layout} if several else {}),
            "recipe": codec.column("clock", Clock.RECIPE, self._recipe()),
            "players": codec.by_entry([codec.group(player)] * n_players, "players"),
            "objects": self._objects(names, position),
            "buttons": self._buttons(position),
            "seen_as": orders._replace(known_to=(), belief=codec.kept),  # no secret, but only arrays show it
            "chance": codec.rng_state(),
            **self.change_parts(),
            **self.order_parts(),
        }

    def layout_of(self, scene: Scene) -> int:
        """Return the number of a scene's layout in the pool."""
        return self.layout_index(scene["layout"]) if "layout" in scene else 0

    def _recipe(self) -> Codec:
        known = {recipe for layout in self.compiled.layouts for recipe in layout.recipes}
        recipes = {number_of_recipe(recipe): names_of(recipe) for recipe in sorted(known)}

        def parser(value: Any) -> list[str]:
            listed: list[str] = list_of(one_of(INGREDIENTS, "ingredient"), 3, 3, "ingredients")(value)
            ordered = sorted(listed, key=INGREDIENTS.index)
            one_of([", ".join(names) for names in recipes.values()], "recipe")(", ".join(ordered))
            return ordered

        return Codec(parser, lambda soup: list(recipes[soup]), _number)

    def _objects(self, names: Sequence[str], position: Codec) -> Part:
        tables, burn = self.compiled.tables, self.compiled.config.burn

        def read(rows: Rows) -> list[dict[str, Any]]:
            objects, k = [], rows["clock"][Clock.LAYOUT]
            for y, line in enumerate(rows["cells"]):
                for x, cell in enumerate(line):
                    is_pot = tables.terrain[k, y, x] == Terrain.POT
                    if cell[Thing.ITEM] != Item.NONE:
                        thing = _decode_pot(cell, burn) if is_pot else decode_thing(cell, tables.prepare)
                        objects.append({"position": [x, y], **(thing or {})})
            return objects

        def write(rows: Rows, value: Sequence[Mapping[str, Any]]) -> None:
            cells, terrain = rows["cells"], tables.terrain[rows["clock"][Clock.LAYOUT]]
            cells[terrain != Terrain.BUTTON] = 0
            for thing in value:
                x, y = thing["position"]
                in_pot = thing["item"] == SOUP
                item = Item.SOUP if in_pot else encode_thing(thing)[Thing.ITEM]
                if (terrain[y, x] == Terrain.POT) != in_pot or not can_lie(item, terrain[y, x], tables.prepare):
                    raise ValueError(
                        f"{thing['item']} cannot lie at {[x, y]}: soup is in pots, all else lies on counters or where "
                        "it is prepared"
                    )
                if cells[y, x, Thing.ITEM] != Item.NONE:
                    raise ValueError(f"two objects lie at {[x, y]}")
                cells[y, x] = _encode_pot(thing, burn) if in_pot else encode_thing(thing)

        more = {"position": position.parser, "left": integer(0, COOK_TIME), "ready": boolean_or_bit}
        if burn is not None:
            more["burns_in"] = integer(1, burn)
        parser = record(_thing_parsers(names) | more, ["position", "item"])
        return Part(list_of(parser, 0, tables.terrain[0].size, "objects"), read, write)

    def _buttons(self, position: Codec) -> Part:
        buttons = [cells_of(grid, Terrain.BUTTON).tolist() for grid in self.compiled.tables.terrain]

        def read(rows: Rows) -> list[dict[str, Any]]:
            cells = buttons[rows["clock"][Clock.LAYOUT]]
            return [{"position": [x, y], "left": rows["cells"][y][x][Thing.TICK]} for x, y in cells]

        def write(rows: Rows, value: Sequence[Mapping[str, Any]]) -> None:
            for button in value:
                if button["position"] not in buttons[rows["clock"][Clock.LAYOUT]]:
                    raise ValueError(f"there is no button at {button['position']}")
                x, y = button["position"]
                rows["cells"][y, x, Thing.TICK] = button["left"]

        parser = record({"position": position.parser, "left": integer(0, BUTTON_TIME - 1)}, ["position", "left"])
        return Part(list_of(parser, 0, max(map(len, buttons)), "buttons"), read, write)

    def _check_scene(self, scene: dict[str, Any]) -> None:
        terrain = self.compiled.tables.terrain[self.layout_of(scene)]
        check_places(scene["players"], terrain == Terrain.FLOOR, "floor")
        for seat, player in enumerate(scene["players"]):
            self._check_thing(f"state.players[{seat}].holding", player["holding"])
        for number, thing in enumerate(scene["objects"]):
            self._check_thing(f"state.objects[{number}]", thing)

    def _check_thing(self, place: str, thing: Mapping[str, Any] | None) -> None:
        _check_thing(place, thing)
        if thing is not None and thing["item"] in INGREDIENTS:
            check_work(place, thing, encode_thing(thing)[Thing.ITEM], self.compiled.tables.prepare)

    def _complete(self, state: State, i: int, scene: Scene) -> tuple[bool, bool]:
        clock = state.clock[i]
        clock[Clock.OVER] = clock[Clock.T] >= clock[Clock.LIMIT]
        learn_batch(self.compiled.tables, rows(state, i, i + 1))
        return False, bool(clock[Clock.OVER])

    def seat_scene(self, scene: dict[str, Any], seat: int) -> dict[str, Any]:
        """Remove parts out of a player's view; None stands for players out of view and an unknown recipe."""
        scene = super().seat_scene(scene, seat)
        me = scene["players"][seat]
        visible = cells_in_view(self.compiled.tables, *me["position"])

        def sees(thing: Mapping[str, Any]) -> bool:
            x, y = thing["position"]
            return bool(visible[y, x])

        others = [{key: value for key, value in player.items() if key != "knows_recipe"} for player in scene["players"]]
        players = [me if j == seat else player if sees(player) else None for j, player in enumerate(others)]
        return {
            **scene,
            "recipe": scene["recipe"] if me["knows_recipe"] else None,
            "players": players,
            "objects": [thing for thing in scene["objects"] if sees(thing)],
            "buttons": [button for button in scene["buttons"] if sees(button)],
        }

    @property
    def facts(self) -> Sequence[str]:
        """The recipe, where players may not see it."""
        hidden = self.compiled.config.view_radius is not None
        return [f"the recipe is {', '.join(names_of(recipe))}" for recipe in self.all_recipes if hidden]

    @property
    def all_recipes(self) -> Sequence[Recipe]:
        """Recipes of all layouts of the pool; none where each has a single one, which is known."""
        layouts = self.compiled.layouts
        if all(len(layout.recipes) == 1 for layout in layouts):
            return []
        return list(dict.fromkeys(recipe for layout in layouts for recipe in layout.recipes))

    def known_fact(self, scene: Scene, seat: int) -> int | None:
        recipe = scene["recipe"]
        return None if recipe is None else [*map(names_of, self.all_recipes)].index(recipe)

    def learn_fact(self, state: State, seat: int, fact: int, then: Scene) -> None:
        """A recipe that has been delivered since may have been replaced."""
        learns = (state.players[:, seat, Player.KNOWS] == 0) & (state.clock[:, Clock.SERVED] == then["served"])
        state.clock[learns, Clock.RECIPE] = number_of_recipe(self.all_recipes[fact])
        state.players[learns, seat, Player.KNOWS] = 1

    def sample_belief(self, state: State, seat: int, rng: np.random.Generator) -> None:
        """Replace hidden state of a player by a sampled belief, in every environment of a batch; see ``Simulator``.

        Nothing lies or cooks out of view, players there are anywhere in their rooms with empty hands, an unknown recipe
        is one of the layout's, and others know it if they see it. The result depends on what the player knows alone.

        Mutates: state.
        """
        if self.compiled.config.changes is not None:
            super().sample_belief(state, seat, rng)  # of secret changes
        tables = self.compiled.tables
        for b in range(len(state.clock)):
            players, me, k = state.players[b], state.players[b, seat], state.clock[b, Clock.LAYOUT]
            visible = cells_in_view(self.compiled.tables, int(me[Player.X]), int(me[Player.Y]))
            state.cells[b, ~visible] = 0
            taken, regions = visible.copy(), tables.regions[k]
            for j, (x, y) in enumerate(tables.starts[k].tolist()):
                if j == seat:
                    continue
                players[j, Player.KNOWS] = 0
                if not visible[players[j, Player.Y], players[j, Player.X]]:
                    room = (regions == regions[y, x]) & ~taken
                    free = np.argwhere(room if room.any() else (regions != NOTHING) & ~taken)
                    row, column = free[rng.integers(len(free))].tolist()
                    players[j] = 0
                    players[j, : Player.HAND] = column, row, rng.integers(4)
                    taken[row, column] = True
            if not me[Player.KNOWS]:
                state.clock[b, Clock.RECIPE] = rng.choice(tables.recipes[k, : tables.frames[k, LayoutSize.RECIPES]])
        learn_batch(tables, state)
