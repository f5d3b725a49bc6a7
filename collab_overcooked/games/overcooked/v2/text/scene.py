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
from collab_overcooked.io.schema import boolean_or_bit, integer, list_of, one_of, record

from ...engine.compile import cells_of
from ...engine.constants import BUTTON_TIME, NOT_COOKING, NOTHING, Clock, LayoutSize, Param, Player, Terrain, Thing
from ...engine.state import State, Tables
from ...text.kitchen_scene import KitchenScenes, check_places
from ..engine.constants import COOK_TIME, DELIVERY_PAYS, INGREDIENTS, Event
from ..engine.spec import Recipe, names_of, number_of_recipe
from ..engine.step import learn_batch

REDRAWN = " The next recipe is drawn anew."

Scene = Mapping[str, Any]


def _permutation(names: Sequence[str]) -> Codec:
    def parser(value: Any) -> list[str]:
        listed: list[str] = list_of(one_of(names, "ingredient"), len(names), len(names), "ingredients")(value)
        if len(set(listed)) < len(names):
            raise ValueError(f"seen_as of a player must name each of {', '.join(names)} once, not {listed}")
        return listed

    return Codec(parser, lambda row: [names[kind] for kind in row], lambda value: [names.index(name) for name in value])


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


class OvercookedV2Scenes(KitchenScenes):
    """Scenes of a pool of layouts; players know the recipe once they have seen it.

    Soup in a pot has ``left``, the steps that it still cooks, and ``ready``; soup on a plate is a dish.
    """

    seat_view = KitchenView
    dish_name, plated_name = "plate", "dish"
    where_things_lie = "soup is in pots, all else lies on counters or where it is prepared"

    @property
    def ingredient_names(self) -> Sequence[str]:
        return INGREDIENTS[: self.compiled.kinds]

    def timed(self, tick: int, time: int, in_pot: bool, derived: bool) -> dict[str, Any]:
        if not in_pot:
            return {}
        is_ready = tick >= time
        return {"left": 0 if tick == NOT_COOKING or is_ready else time - tick, "ready": is_ready}

    def tick_of(self, soup: Mapping[str, Any], time: int, in_pot: bool) -> int:
        left: int = soup.get("left", 0)
        if not in_pot or soup.get("ready"):
            return time
        return time - left if left else NOT_COOKING

    def scene_parts(self) -> dict[str, Part]:
        names, thing = self.ingredient_names, self.thing_parsers()
        player = self.player_parts(thing)
        player["knows_recipe"] = codec.column("players", Player.KNOWS, codec.BOOLEAN)
        n_players = self.compiled.n_players
        orders = codec.by_entry([codec.row("channels", _permutation(names))] * n_players, "players")
        several = len(self.compiled.names) > 1
        recipes = sorted({number_of_recipe(recipe) for layout in self.layouts for recipe in layout.recipes})
        layout = codec.column("clock", Clock.LAYOUT, codec.names_of(self.compiled.names, "layout"))
        return {
            **self.clock_parts(),
            "delivered": codec.column("clock", Clock.DELIVERED, codec.BOOLEAN),
            **({"layout": layout} if several else {}),
            "recipe": codec.column("clock", Clock.RECIPE, self.soup_codec(recipes, "recipe")),
            "players": codec.by_entry([codec.group(player)] * n_players, "players"),
            "objects": self.object_part(thing | {"left": integer(0, COOK_TIME), "ready": boolean_or_bit}),
            "buttons": self._buttons(self.position_codec()),
            "seen_as": orders._replace(known_to=(), belief=codec.kept),  # no secret, but only arrays show it
            "chance": codec.rng_state(),
            **self.change_parts(),
            **self.order_parts(),
        }

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
        self.check_things(scene)

    def _complete(self, state: State, i: int, scene: Scene) -> tuple[bool, bool]:
        ends = super()._complete(state, i, scene)
        learn_batch(self.compiled.tables, rows(state, i, i + 1))
        return ends

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
            players = state.players[b]
            me = state.players[b, seat]
            k = state.clock[b, Clock.LAYOUT]
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
