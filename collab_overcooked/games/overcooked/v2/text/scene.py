"""Scenes of OvercookedV2: the meaning of each key, constraints between keys, and knowledge and beliefs of a player."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from collab_overcooked.envs import scene_codec as codec
from collab_overcooked.envs.api import rows
from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.envs.lexicon import plain
from collab_overcooked.envs.scene_codec import Codec, Part, Rows
from collab_overcooked.envs.seen import SeatView
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.schema import boolean_or_bit, integer, list_of, one_of, optional, record
from collab_overcooked.kernels.grid import Direction

from ...engine.constants import NOTHING
from ...text.scene import check_places
from ..engine.compile import bits_of, kinds_of
from ..engine.constants import (
    BUTTON_TIME,
    COOK_TIME,
    COOKED,
    DISH,
    INGREDIENTS,
    MAX_INGREDIENTS,
    PLATE,
    Cell,
    Clock,
    Event,
    Param,
    Player,
    Terrain,
)
from ..engine.spec import names_of
from ..engine.state import State, Tables
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


def _bits(names: Sequence[str]) -> int:
    return bits_of(tuple(map(INGREDIENTS.index, names)))


def _thing_parsers(names: Sequence[str]) -> dict[str, Any]:
    return {
        "item": one_of([*names, "plate", "dish", SOUP], "item"),
        "ingredients": list_of(one_of(names, "ingredient"), 1, MAX_INGREDIENTS, "ingredients"),
    }


def _content(names: Sequence[str]) -> Codec:
    parser = record(_thing_parsers(names), ["item"])
    return Codec(optional(parser), decode_content, encode_content)


def decode_content(bits: int) -> dict[str, Any] | None:
    """Decode the content of a hand or counter."""
    listed = [INGREDIENTS[kind] for kind in kinds_of(bits)]
    if bits & COOKED:
        return {"item": "dish" if bits & PLATE else SOUP, "ingredients": listed}
    return None if bits == 0 else {"item": "plate" if bits & PLATE else listed[0]}


def encode_content(thing: Mapping[str, Any] | None) -> int:
    """Encode the content of a hand or counter as a bit field."""
    if thing is None:
        return 0
    if thing["item"] in INGREDIENTS:
        return _bits([thing["item"]])
    return PLATE if thing["item"] == "plate" else _bits(thing.get("ingredients", ())) | DISH


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
        if event.event == Event.SOUP_DELIVERY.name.lower():
            redrawn = self._game.compiled.tables.params[Param.REDRAW] == 1
            return self._say(f"It is the recipe and pays {event.sparse:g} points.{REDRAWN if redrawn else ''}")
        if event.event == Event.WRONG_DELIVERY.name.lower():
            paid = f"costs {-event.sparse:g} points" if event.sparse else "pays nothing"
            return self._say(f"It is not the recipe and {paid}.")
        return ""


def cells_in_view(tables: Tables, x: int, y: int) -> np.ndarray:
    """Return which cells a player at (x, y) sees, bool (H, W)."""
    radius = tables.params[Param.RADIUS]
    rows, columns = np.indices(tables.terrain.shape)
    near: np.ndarray = np.maximum(abs(columns - x), abs(rows - y)) <= radius
    return near | (radius == NOTHING)


class OvercookedV2Scenes(CompiledGame):
    """Scenes of a layout; players know the recipe once they have seen it."""

    seat_view = KitchenView

    def scene_parts(self) -> dict[str, Part]:
        tables, names = self.compiled.tables, INGREDIENTS[: self.compiled.layout.kinds]
        height, width = tables.terrain.shape
        position = codec.vector([codec.integers(0, width - 1), codec.integers(0, height - 1)], "coordinates")
        player = {
            "position": codec.column("players", slice(Player.X, Player.Y + 1), position),
            "facing": codec.column("players", Player.FACING, codec.members_of(Direction, "facing")),
            "holding": codec.column("players", Player.HAND, _content(names)),
            "knows_recipe": codec.column("players", Player.KNOWS, codec.BOOLEAN),
        }
        orders = codec.by_entry([codec.row("channels", _permutation(names))] * len(tables.starts), "players")
        return {
            "timestep": codec.column("clock", Clock.T, codec.COUNT),
            "limit": codec.span("clock", Clock.LIMIT, 1, MAX_OPTION),
            "served": codec.span("clock", Clock.SERVED, 0, MAX_SCORE),
            "score": codec.span("clock", Clock.SCORE, -MAX_SCORE, MAX_SCORE),
            "delivered": codec.column("clock", Clock.DELIVERED, codec.BOOLEAN),
            "recipe": codec.column("clock", Clock.RECIPE, self._recipe()),
            "players": codec.by_entry([codec.group(player)] * len(tables.starts), "players"),
            "objects": self._objects(names, position),
            "buttons": self._buttons(position),
            "seen_as": orders._replace(known_to=(), belief=codec.kept),  # no secret, but only arrays show it
            "chance": codec.rng_state(),
        }

    def _recipe(self) -> Codec:
        recipes = {bits_of(recipe): names_of(recipe) for recipe in self.compiled.layout.recipes}

        def parser(value: Any) -> list[str]:
            listed: list[str] = list_of(one_of(INGREDIENTS, "ingredient"), 3, 3, "ingredients")(value)
            ordered = sorted(listed, key=INGREDIENTS.index)
            one_of([", ".join(names) for names in recipes.values()], "recipe")(", ".join(ordered))
            return ordered

        return Codec(parser, lambda bits: list(recipes[bits]), lambda value: _bits(value))

    def _objects(self, names: Sequence[str], position: Codec) -> Part:
        terrain, object_cells = self.compiled.tables.terrain, self.compiled.tables.object_cells.tolist()

        def read(rows: Rows) -> list[dict[str, Any]]:
            objects = []
            for x, y in object_cells:
                bits, timer = rows["cells"][y][x]
                if bits and terrain[y, x] == Terrain.POT:
                    soup = {"item": SOUP, "ingredients": [INGREDIENTS[kind] for kind in kinds_of(bits)]}
                    objects.append({"position": [x, y], **soup, "left": timer, "ready": bool(bits & COOKED)})
                elif bits:
                    objects.append({"position": [x, y], **(decode_content(bits) or {})})
            return objects

        def write(rows: Rows, value: Sequence[Mapping[str, Any]]) -> None:
            cells = rows["cells"]
            cells[terrain != Terrain.BUTTON] = 0
            for thing in value:
                x, y = thing["position"]
                place = Terrain.POT if thing["item"] == SOUP else Terrain.COUNTER
                if terrain[y, x] != place:
                    raise ValueError(
                        f"{thing['item']} cannot lie at {[x, y]}: soup is in pots, all else lies on counters"
                    )
                if cells[y, x, Cell.CONTENT]:
                    raise ValueError(f"two objects lie at {[x, y]}")
                bits = encode_content(thing)
                if place == Terrain.POT:
                    bits = bits ^ DISH | (COOKED if thing.get("ready") else 0)
                cells[y, x] = bits, thing.get("left", 0)

        more = {"position": position.parser, "left": integer(0, COOK_TIME), "ready": boolean_or_bit}
        parser = record(_thing_parsers(names) | more, ["position", "item"])
        return Part(list_of(parser, 0, terrain.size, "objects"), read, write)

    def _buttons(self, position: Codec) -> Part:
        cells = [list(cell) for cell in self.compiled.layout.cells("L")]

        def read(rows: Rows) -> list[dict[str, Any]]:
            return [{"position": [x, y], "left": rows["cells"][y][x][Cell.TIMER]} for x, y in cells]

        def write(rows: Rows, value: Sequence[Mapping[str, Any]]) -> None:
            for button in value:
                if button["position"] not in cells:
                    raise ValueError(f"there is no button at {button['position']}")
                x, y = button["position"]
                rows["cells"][y, x, Cell.TIMER] = button["left"]

        parser = record({"position": position.parser, "left": integer(0, BUTTON_TIME - 1)}, ["position", "left"])
        return Part(list_of(parser, 0, len(cells), "buttons"), read, write)

    def _check_scene(self, scene: dict[str, Any]) -> None:
        check_places(scene["players"], self.compiled.tables.terrain == Terrain.FLOOR, "floor")
        for seat, player in enumerate(scene["players"]):
            _check_thing(f"state.players[{seat}].holding", player["holding"])
        for number, thing in enumerate(scene["objects"]):
            _check_thing(f"state.objects[{number}]", thing)

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
        hidden = self.compiled.config.view_radius is not None and len(self.compiled.layout.recipes) > 1
        recipes = map(names_of, self.compiled.layout.recipes if hidden else ())
        return [f"the recipe is {', '.join(recipe)}" for recipe in recipes]

    def known_fact(self, scene: Scene, seat: int) -> int | None:
        recipe = scene["recipe"]
        return None if recipe is None else [*map(names_of, self.compiled.layout.recipes)].index(recipe)

    def learn_fact(self, state: State, seat: int, fact: int, then: Scene) -> None:
        """A recipe that has been delivered since may have been replaced."""
        learns = (state.players[:, seat, Player.KNOWS] == 0) & (state.clock[:, Clock.SERVED] == then["served"])
        state.clock[learns, Clock.RECIPE] = self.compiled.tables.recipes[fact]
        state.players[learns, seat, Player.KNOWS] = 1

    def sample_belief(self, state: State, seat: int, rng: np.random.Generator) -> None:
        """Replace hidden state of a player by a sampled belief, in every environment of a batch; see ``Simulator``.

        Nothing lies or cooks out of view, players there are anywhere in their rooms with empty hands, an unknown recipe
        is one of the layout's, and others know it if they see it. The result depends on what the player knows alone.

        Mutates: state.
        """
        tables = self.compiled.tables
        for b in range(len(state.clock)):
            players, me = state.players[b], state.players[b, seat]
            visible = cells_in_view(self.compiled.tables, int(me[Player.X]), int(me[Player.Y]))
            state.cells[b, ~visible] = 0
            taken = visible.copy()
            for j, (x, y) in enumerate(tables.starts.tolist()):
                if j == seat:
                    continue
                players[j, Player.KNOWS] = 0
                if not visible[players[j, Player.Y], players[j, Player.X]]:
                    room = (tables.regions == tables.regions[y, x]) & ~taken
                    free = np.argwhere(room if room.any() else (tables.regions != NOTHING) & ~taken)
                    row, column = free[rng.integers(len(free))].tolist()
                    players[j] = column, row, rng.integers(4), 0, 0
                    taken[row, column] = True
            if not me[Player.KNOWS]:
                state.clock[b, Clock.RECIPE] = rng.choice(tables.recipes)
        learn_batch(tables, state)
