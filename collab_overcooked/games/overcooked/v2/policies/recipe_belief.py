"""Play of OvercookedV2 by policies of Overcooked: first find out the recipe, then cook it as if it were an order.

Players who do not know the recipe go where an indicator can be seen, else press a button or wait where one can be seen,
else guess; a guess that turned out to be wrong is not repeated. A player who knows it presses a button for those who
cannot see an indicator from their rooms. Soups that are not the recipe are put on counters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from collab_overcooked import registry
from collab_overcooked.envs.lexicon import plain
from collab_overcooked.io.structs import Positive
from collab_overcooked.kernels.grid import OFFSETS, Direction
from collab_overcooked.kernels.paths import shortest_paths
from collab_overcooked.policies.api import AgentView, EnvInfo, Planning, Policy, PolicyBase, compiled_of
from collab_overcooked.policies.parameters import read_options, refuse_text
from collab_overcooked.policies.search.simulator import Simulator

from ...engine.compile import belts_ahead
from ...engine.constants import MAX_INGREDIENTS, NOTHING, Action, LayoutSize, Param
from ...policies.greedy import GreedyPolicy
from ...policies.planner import REPLAN_WIDTH, PlannerOptions, PlannerPolicy
from ..engine.compile import Compiled
from ..engine.config import OvercookedV2Config
from ..engine.constants import COOK_TIME, INGREDIENTS
from ..engine.spec import Layout, names_of
from ..text.scene import OvercookedV2Scenes, cells_in_view

GAME = "OvercookedV2-v0"

Cell = tuple[int, int]
Recipe = Sequence[str]


KEPT = ("dynamics", "burn", "burn_cost")  # options of the game that hold while its recipe is cooked


def kitchen_of(layout: Layout, recipe: Recipe, config: OvercookedV2Config) -> Any:
    """Return the game of a layout with all in view, in which a recipe is the only one."""
    return _kitchen_of(layout, tuple(map(INGREDIENTS.index, recipe)), *(getattr(config, name) for name in KEPT))


@lru_cache(maxsize=64)
def _kitchen_of(layout: Layout, recipe: tuple[int, ...], *kept: Any) -> Any:
    content = {key: value for key, value in layout.document.content.items() if key != "possible_recipes"}
    options = dict(zip(KEPT, kept, strict=True))
    return registry.load_game(GAME, layout=content | {"recipes": [list(recipe)]}, **options)


def scene_of(scene: Mapping[str, Any], recipe: Recipe) -> dict[str, Any]:
    """Return a scene in which all players have positions as one with a known recipe, without useless things."""
    objects = [(thing["position"], _shown(thing, recipe)) for thing in scene["objects"]]

    def shown_player(player: Mapping[str, Any]) -> dict[str, Any]:
        holding = _shown(player["holding"], recipe)
        return {"position": player["position"], "facing": player["facing"], "holding": holding}

    return {
        "timestep": scene["timestep"],
        "limit": scene["limit"],
        "players": list(map(shown_player, scene["players"])),
        "objects": [{**thing, "position": place} for place, thing in objects if thing],
    }


def _shown(thing: Mapping[str, Any] | None, recipe: Recipe) -> Mapping[str, Any] | None:
    """Return a thing if it is of use for a recipe; a useless pot is shown as one that has just begun to cook."""
    if thing is None or is_useful(thing, recipe):
        return thing
    return {"item": "soup", "ingredients": list(recipe), "left": COOK_TIME} if thing["item"] == "soup" else None


def is_useful(thing: Mapping[str, Any], recipe: Recipe) -> bool:
    """Return whether a thing in a hand or on a counter is of use for a recipe."""
    names = thing.get("ingredients", () if thing["item"] == "plate" else (thing["item"],))
    return can_become(names, recipe)


def can_become(ingredients: Recipe, recipe: Recipe) -> bool:
    """Return whether a pot with these ingredients can still become the recipe."""
    return all(ingredients.count(name) <= recipe.count(name) for name in ingredients)


class ShortestPaths:
    """Shortest paths on the floor of a layout.

    Args:
        compiled: The pool of layouts.
        k: Number of the layout.
    """

    def __init__(self, compiled: Compiled, k: int) -> None:
        tables, layout = compiled.tables, compiled.layouts[k]
        self.layout, self.regions = layout, tables.regions[k]
        self.floor = {(x, y) for x, y in layout.cells(" ")}
        edges = {cell: {self.region(spot) for spot in self.beside(cell)} for cell in layout.cells("W")}
        between = {cell for cell, regions in edges.items() if len(regions) > 1}
        belts = [(x, y) for x, y in tables.belts[k, : tables.frames[k, LayoutSize.BELTS]].tolist()]
        ends = {cell for belt in belts for cell in belts_ahead(layout.name, tables.terrain[k], belt)}
        self.shared = between | {*belts} | ends  # where things are handed over
        self.cells = {symbol: layout.cells(symbol) for symbol in {symbol for row in layout.grid for symbol in row}}

    def beside(self, target: Cell) -> set[Cell]:
        """Return the floor cells next to a cell."""
        return {(target[0] + dx, target[1] + dy) for dx, dy in OFFSETS} & self.floor

    def is_reachable(self, target: Cell, start: Cell) -> bool:
        """Return whether a cell is next to the floor that a start belongs to."""
        return any(self.region(cell) == self.region(start) for cell in self.beside(target))

    def region(self, cell: Cell) -> int:
        """Return the number of the floor that a cell belongs to."""
        return int(self.regions[cell[1], cell[0]])

    def step(self, start: Cell, goals: set[Cell], blocked: set[Cell]) -> int | None:
        """Return the first move of a shortest walk to one of several cells; None if there is none or it is reached."""
        open_floor = self.floor - blocked

        def beside(cell: Cell) -> list[Cell]:
            return [near for dx, dy in OFFSETS if (near := (cell[0] + dx, cell[1] + dy)) in open_floor]

        first = next((first for cell, (_, first) in shortest_paths(start, beside).items() if cell in goals), start)
        return None if first == start else OFFSETS.index((first[0] - start[0], first[1] - start[1]))

    def use(self, start: Cell, facing: int, targets: Sequence[Cell], blocked: set[Cell], interact: int) -> int | None:
        """Return the next action of a walk to the nearest of several cells to interact with; None without a way."""
        for direction, (dx, dy) in enumerate(OFFSETS):
            if (start[0] + dx, start[1] + dy) in targets:
                return interact if facing == direction else direction
        goals = set().union(*(self.beside(target) for target in targets)) if targets else set()
        return self.step(start, goals, blocked)


def cells_that_see(paths: ShortestPaths, compiled: Compiled, targets: Sequence[Cell]) -> set[Cell]:
    """Return the floor cells from which one of several cells is in view."""
    radius = compiled.config.view_radius
    if radius is None:
        return set(paths.floor) if targets else set()
    return {cell for cell in paths.floor if any(np.abs(np.subtract(cell, other)).max() <= radius for other in targets)}


Scene = Mapping[str, Any]


class Memory:
    """Knowledge of a seat from all its scenes in an episode."""

    def __init__(self, game: OvercookedV2Scenes, paths: ShortestPaths, seat: int, seed: int) -> None:
        self._game = game
        self._compiled = game.compiled
        self._paths = paths
        self._seat = seat
        self._rng = np.random.default_rng(seed)
        self._objects: dict[tuple[int, int], dict[str, Any]] = {}
        self._others: dict[int, dict[str, Any]] = {}
        self._before: Scene | None = None
        self._all = [tuple(names_of(recipe)) for recipe in paths.layout.recipes]
        self._possible = list(self._all)
        self.since = 0  # step after the last delivery of the recipe
        self.guess = self._draw()  # one of the possible recipes; the recipe, if it is known

    def enter(self, paths: ShortestPaths) -> None:
        """Go on in another layout: what lay on cells that changed is lost."""
        before = self._paths.layout.grid
        same = {(x, y) for x, y in self._objects if before[y][x] == paths.layout.grid[y][x]}
        self._objects = {cell: thing for cell, thing in self._objects.items() if cell in same}
        self._paths = paths

    def _draw(self) -> tuple[str, ...]:
        return self._possible[int(self._rng.integers(len(self._possible)))]

    def update(self, scene: Scene) -> dict[str, Any]:
        """Update beliefs from a seat's scene, and return the scene completed by beliefs about cells out of view."""
        visible = cells_in_view(self._compiled.tables, *scene["players"][self._seat]["position"])
        hidden = {cell: thing for cell, thing in self._objects.items() if not visible[cell[1], cell[0]]}
        k = self._game.layout_of(scene)
        self._objects = {tuple(thing["position"]): thing for thing in scene["objects"]}
        for cell, thing in hidden.items():
            later = self._game.pot_later(thing, k) if thing["item"] == "soup" else thing
            if later is not None:
                self._objects[cell] = {**later, "position": list(cell)}
        self._learn(scene)
        self._before = scene
        players = [player or self._believed(j, visible, scene["players"]) for j, player in enumerate(scene["players"])]
        self._others = {j: player for j, player in enumerate(players) if j != self._seat}
        return {**scene, "players": players, "objects": list(self._objects.values())}

    def _believed(self, seat: int, visible: np.ndarray, players: Any) -> dict[str, Any]:
        start = self._paths.layout.starts[seat]
        last: dict[str, Any] = {"position": list(start), "facing": "north", "holding": None}
        last = self._others.get(seat, last)
        taken = {tuple(player["position"]) for player in players if player}
        x, y = map(int, last["position"])
        if not visible[y, x]:
            return last
        unseen = [cell for cell in sorted(self._paths.floor - taken) if not visible[cell[1], cell[0]]]
        region = self._paths.region((x, y))
        free = [cell for cell in unseen if self._paths.region(cell) == region] or unseen
        ways = [(abs(column - x) + abs(row - y), column, row) for column, row in free]
        return {**last, "position": list(min(ways)[1:])}

    def _learn(self, scene: Scene) -> None:
        before = self._before or scene
        held = before["players"][self._seat]["holding"]
        now = scene["players"][self._seat]["holding"]
        dish = tuple(held["ingredients"]) if held and held["item"] == "dish" and not now else None
        ended = self._before is not None and scene.get("order_left", -1) >= before.get("order_left", 0)
        if scene["served"] > before["served"] or ended:
            self.since = scene["timestep"]
            if self._compiled.tables.params[Param.REDRAW] == 1:
                self._possible = list(self._all)
                self.guess = self._draw()
            elif dish in self._all:
                self._possible = [dish]
        elif dish and self._faced_serving(before):
            self._possible = [recipe for recipe in self._possible if recipe != dish] or self._possible
        if scene["recipe"] is not None:
            self._possible = [tuple(scene["recipe"])]
        if self.guess not in self._possible:
            self.guess = self._draw()

    def _faced_serving(self, scene: Scene) -> bool:
        me = scene["players"][self._seat]
        dx, dy = OFFSETS[Direction[me["facing"].upper()]]
        return (me["position"][0] + dx, me["position"][1] + dy) in self._paths.layout.cells("X")


PATIENCE = 3  # failed moves after which a player steps anywhere
MAX_WAIT = 60  # steps that a player waits for a button before it guesses, and between two presses for the same recipe


class RecipeBeliefPolicy(PolicyBase):
    """Plays a policy of Overcooked in the kitchen as it is remembered, with the recipe that is known or guessed.

    Args:
        name: Name in teams.
        make: Makes the policy of Overcooked.
    """

    needs_simulator = False

    def __init__(self, name: str, make: Callable[[], Policy]) -> None:
        self.name, self._make = name, make
        if isinstance(make(), Planning):
            self.intent: int | None = None  # that of the policy behind it; None while it finds out the recipe

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        self._game: Any = plain(info.game)
        self._compiled = compiled_of(self._game, GAME)
        self._seat = seat
        self._info = info
        self._seed = seed
        self._layout = NOTHING
        self._cooked: tuple[str, ...] = ()  # soup for which the policy was reset
        self._player: Policy = self._make()
        self._state: Any = None
        self._pressed = -MAX_WAIT  # step of the last press
        self._rng = np.random.default_rng(seed)
        self._last: tuple[Cell, int, int] = (0, 0), 0, 0  # position, facing and action of the step before
        self._jammed = 0  # steps for which the same move has failed
        self._ignorant = 0  # steps without the recipe
        self._blocked = False  # whether something useless lies where the hand's content should go

    def _enter(self, k: int) -> None:
        paths = ShortestPaths(self._compiled, k)
        if self._layout == NOTHING:
            self._memory = Memory(self._game, paths, self._seat, self._seed)
        else:
            self._memory.enter(paths)
        self._layout = k
        self._paths = paths
        self._cooked = ()

    def act(self, seen: AgentView) -> int:
        k = self._game.layout_of(seen.scene)
        if k != self._layout:
            self._enter(k)
        scene = self._memory.update(seen.scene)
        me = scene["players"][seen.seat]
        spot, facing = tuple(me["position"]), int(Direction[me["facing"].upper()])
        blocked = {
            tuple(p["position"]) for p in seen.scene["players"] if p and p is not seen.scene["players"][seen.seat]
        }
        self._ignorant = 0 if scene["recipe"] else self._ignorant + 1

        def use(targets: list[Cell]) -> int | None:
            reachable = [cell for cell in targets if self._paths.is_reachable(cell, spot)]
            return self._paths.use(spot, facing, reachable, blocked, int(Action.INTERACT))

        action = self._find_out(scene, spot, blocked, use)
        works = action is None
        if works:
            action = self._work(seen, scene, me["holding"], use)
        if isinstance(self._player, Planning):
            self.intent = self._player.intent if works else None
        chosen = seen.idle_action if action is None or not seen.mask[action] else action
        self._jammed = self._jammed + 1 if chosen < Action.STAY and self._last == (spot, facing, chosen) else 0
        self._last = spot, facing, chosen
        return int(self._rng.integers(Action.STAY)) if self._jammed >= PATIENCE else chosen

    def _find_out(self, scene: Scene, spot: Cell, blocked: set[Cell], use: Any) -> int | None:
        paths = self._paths
        cells = self._paths.cells
        now = scene["timestep"]
        buttons = [cell for cell in cells.get("L", []) if paths.is_reachable(cell, spot)]
        displays = cells_that_see(paths, self._compiled, cells.get("R", []))
        if scene["recipe"] is not None:
            asking = [player for seat, player in enumerate(scene["players"]) if seat not in self._info.told]
            in_need = any(not self._in_room(displays, tuple(player["position"])) for player in asking)
            is_due = self._pressed < self._memory.since or now - self._pressed >= MAX_WAIT
            if not (buttons and in_need and is_due and self._in_room(displays, spot)):
                return None
        elif here := self._in_room(displays, spot):
            return paths.step(spot, here, blocked)
        elif not buttons or len(scene["players"]) > 1:
            lookouts = self._in_room(cells_that_see(paths, self._compiled, cells.get("L", [])), spot)
            if not lookouts or self._ignorant > MAX_WAIT:
                return None
            step = paths.step(spot, lookouts, blocked)
            return int(Action.STAY) if step is None else step
        if scene["players"][self._seat]["holding"]:
            return self._drop(scene, use)
        action: int | None = use(buttons)
        self._pressed = now if action == Action.INTERACT else self._pressed
        return action

    def _in_room(self, cells: set[Cell], spot: Cell) -> set[Cell]:
        return {cell for cell in cells if self._paths.region(cell) == self._paths.region(spot)}

    def _work(self, seen: AgentView, scene: Scene, held: Any, use: Any) -> int | None:
        target, shared = self._target(scene), self._paths.shared
        lying = {tuple(thing["position"]): thing for thing in scene["objects"]}
        if held:
            known = (self._memory.guess,) if held["item"] == "dish" else ("plate", *target)
            if (tuple(held.get("ingredients", ())) or held["item"]) not in known:
                return self._drop(scene, use)
            if self._blocked and (action := self._drop(scene, use)) is not None:
                return action
        elif useless := [cell for cell in shared & lying.keys() if not is_useful(lying[cell], target)]:
            if (action := self._tidy(scene, useless, use)) is not None:
                return action
        elif self._is_crowded(scene, seen.seat) and (action := use(self._paths.cells["B"])) is not None:
            return int(action)
        chosen = self._cook(seen, scene, target)
        self._blocked = bool(held and not seen.mask[chosen])
        if self._blocked:
            return self._drop(scene, use)
        is_stuck = chosen == Action.STAY and not held and shared and shared <= lying.keys()
        return self._tidy(scene, list(shared), use) if is_stuck else chosen

    def _is_crowded(self, scene: Scene, seat: int) -> bool:
        """Return whether all pots are full and at most one counter is free, so that hands may stay full."""
        x, y = scene["players"][seat]["position"]
        free = [cell for cell in self._private(scene) if self._paths.is_reachable(cell, (x, y))]
        pots = [thing for thing in scene["objects"] if thing["item"] == "soup"]
        is_full = [pot["ready"] or pot["left"] or len(pot["ingredients"]) == MAX_INGREDIENTS for pot in pots]
        return len(free) <= 1 and sum(map(bool, is_full)) == len(self._paths.cells["P"])

    def _tidy(self, scene: Scene, cells: list[Cell], use: Any) -> int | None:
        """Return a move to take something off the counters between rooms, if there is another counter for it."""
        action: int | None = use(cells) if use(self._private(scene)) is not None else None
        return action

    def _drop(self, scene: Scene, use: Any) -> int | None:
        taken = [tuple(thing["position"]) for thing in scene["objects"]]
        action: int | None = use(self._private(scene))
        return use([cell for cell in self._paths.shared if cell not in taken]) if action is None else action

    def _private(self, scene: Scene) -> list[Cell]:
        taken = {tuple(thing["position"]) for thing in scene["objects"]} | self._paths.shared
        return [cell for cell in self._paths.cells["W"] if cell not in taken]

    def _target(self, scene: Scene) -> tuple[str, ...]:
        """Return the soup to cook: the recipe, or a soup that empties a pot if no pot can become the recipe."""
        recipe = self._memory.guess
        pots = [thing["ingredients"] for thing in scene["objects"] if thing["item"] == "soup"]
        if len(pots) < len(self._paths.cells["P"]) or any(can_become(pot, recipe) for pot in pots):
            return recipe
        full = pots[0] + [pots[0][-1]] * (MAX_INGREDIENTS - len(pots[0]))
        return tuple(sorted(full, key=INGREDIENTS.index))

    def _cook(self, seen: AgentView, scene: Scene, recipe: tuple[str, ...]) -> int:
        game = kitchen_of(self._paths.layout, recipe, self._compiled.config)
        state = game.state_of(scene_of(scene, recipe))
        if recipe != self._cooked:  # plans for another recipe are of no use
            self._cooked, self._state, self._player = recipe, state, self._make()
            self._out = game.alloc(1)[1]
            simulator = Simulator(game, state, seen.seat)
            self._player.reset(seen.seat, EnvInfo(game.id, game, "", self._info.team, simulator), self._seed)
        for array, values in zip(self._state, state, strict=True):
            array[:] = values
        game.observe(self._state, self._out)  # bound kernels could not be copied with the policy
        action = self._player.act(AgentView.of(game, self._state, self._out, seen.seat, seen.timestep))
        return int(action)  # type: ignore[arg-type]


def greedy_from_text(text: str) -> RecipeBeliefPolicy:
    """Create the policy; it takes no parameters."""
    refuse_text("greedy", text)
    return RecipeBeliefPolicy("greedy", GreedyPolicy)


@dataclass(frozen=True)
class BeliefOptions(PlannerOptions):
    """Widths of the searches, of which there is one for each recipe."""

    width: Positive = REPLAN_WIDTH  # Nodes kept per step of the first plan for a recipe


def planner_from_text(text: str) -> RecipeBeliefPolicy:
    """Create the policy from the text after the colon of a spec such as ``"planner:width=200"``."""
    options = read_options("planner", text, BeliefOptions)
    return RecipeBeliefPolicy("planner", partial(PlannerPolicy, options))
