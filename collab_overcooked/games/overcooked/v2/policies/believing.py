"""Play of OvercookedV2 by policies of Overcooked: first find out the recipe, then cook it as if it were an order.

Players who do not know the recipe go where an indicator can be seen, else press a button or wait where one can be seen,
else guess; a guess that turned out to be wrong is not repeated. A player who knows it presses a button for those who
cannot see an indicator from their rooms. Soups that are not the recipe are put on counters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from collab_overcooked.envs.lexicon import plain
from collab_overcooked.games.overcooked.engine.constants import Action
from collab_overcooked.games.overcooked.v2.engine.constants import INGREDIENTS, MAX_INGREDIENTS
from collab_overcooked.games.overcooked.v2.policies.kitchen import (
    Cell,
    Walks,
    can_become,
    cells_that_see,
    is_useful,
    kitchen_of,
    scene_of,
)
from collab_overcooked.games.overcooked.v2.policies.memory import Memory
from collab_overcooked.kernels.grid import Direction
from collab_overcooked.policies.api import EnvInfo, Policy, Seen, Silent, compiled_of
from collab_overcooked.policies.search.simulator import Simulator

GAME = "OvercookedV2-v0"
PATIENCE = 3  # failed moves after which a player steps anywhere
MAX_WAIT = 60  # steps that a player waits for a button before it guesses, and between two presses for the same recipe

Scene = Mapping[str, Any]


class BelievingPolicy(Silent):
    """Plays a policy of Overcooked in the kitchen as it is remembered, with the recipe that is known or guessed.

    Args:
        name: Name in teams.
        make: Makes the policy of Overcooked.
    """

    needs_simulator = False

    def __init__(self, name: str, make: Callable[[], Policy]) -> None:
        self.name, self._make = name, make

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Forget the last episode."""
        self._compiled = compiled_of(plain(info.game), GAME)
        self._seat, self._info, self._seed = seat, info, seed
        self._walks = Walks(self._compiled)
        self._memory = Memory(self._compiled, self._walks, seat, seed)
        self._cooked: tuple[str, ...] = ()  # soup for which the policy was reset
        self._player: Policy = self._make()
        self._state: Any = None
        self._pressed = -MAX_WAIT  # step of the last press
        self._rng = np.random.default_rng(seed)
        self._last: tuple[Cell, int, int] = (0, 0), 0, 0  # position, facing and action of the step before
        self._jammed = 0  # steps for which the same move has failed
        self._ignorant = 0  # steps without the recipe
        self._blocked = False  # whether something useless lies where the hand's content should go

    def act(self, seen: Seen) -> int:
        """Return an action for what the seat knows."""
        scene = self._memory.update(seen.scene)
        me = scene["players"][seen.seat]
        spot, facing = tuple(me["position"]), int(Direction[me["facing"].upper()])
        blocked = {
            tuple(p["position"]) for p in seen.scene["players"] if p and p is not seen.scene["players"][seen.seat]
        }
        self._ignorant = 0 if scene["recipe"] else self._ignorant + 1

        def use(targets: list[Cell]) -> int | None:
            reachable = [cell for cell in targets if self._walks.is_reachable(cell, spot)]
            return self._walks.use(spot, facing, reachable, blocked, int(Action.INTERACT))

        action = self._find_out(scene, spot, blocked, use)
        if action is None:
            action = self._work(seen, scene, me["holding"], use)
        chosen = seen.idle_action if action is None or not seen.mask[action] else action
        self._jammed = self._jammed + 1 if chosen < Action.STAY and self._last == (spot, facing, chosen) else 0
        self._last = spot, facing, chosen
        return int(self._rng.integers(Action.STAY)) if self._jammed >= PATIENCE else chosen

    def _find_out(self, scene: Scene, spot: Cell, blocked: set[Cell], use: Any) -> int | None:
        """Return a move towards knowing the recipe, or to tell others; None if there is nothing to be done for it."""
        walks, cells, now = self._walks, self._walks.cells, scene["timestep"]
        buttons = [cell for cell in cells.get("L", []) if walks.is_reachable(cell, spot)]
        displays = cells_that_see(walks, self._compiled, cells.get("R", []))
        if scene["recipe"] is not None:
            starts = [tuple(player["position"]) for player in scene["players"]]
            in_need = any(not self._in_room(displays, start) for start in starts)
            is_due = self._pressed < self._memory.since or now - self._pressed >= MAX_WAIT
            if not (buttons and in_need and is_due and self._in_room(displays, spot)):
                return None
        elif here := self._in_room(displays, spot):
            return walks.step(spot, here, blocked)
        elif not buttons or len(scene["players"]) > 1:
            lookouts = self._in_room(cells_that_see(walks, self._compiled, cells.get("L", [])), spot)
            if not lookouts or self._ignorant > MAX_WAIT:
                return None
            step = walks.step(spot, lookouts, blocked)
            return int(Action.STAY) if step is None else step
        if scene["players"][self._seat]["holding"]:
            return self._drop(scene, use)
        action: int | None = use(buttons)
        self._pressed = now if action == Action.INTERACT else self._pressed
        return action

    def _in_room(self, cells: set[Cell], spot: Cell) -> set[Cell]:
        return {cell for cell in cells if self._walks.region(cell) == self._walks.region(spot)}

    def _work(self, seen: Seen, scene: Scene, held: Any, use: Any) -> int | None:
        """Return an action of the policy, unless something useless is in the way of it."""
        target, shared = self._target(scene), self._walks.shared
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
        elif self._is_crowded(scene, seen.seat) and (action := use(self._walks.cells["B"])) is not None:
            return int(action)
        chosen = self._cook(seen, scene, target)
        self._blocked = bool(held and not seen.mask[chosen])
        if self._blocked:
            return self._drop(scene, use)
        is_stuck = chosen == Action.STAY and not held and shared and shared <= lying.keys()
        return self._tidy(scene, list(shared), use) if is_stuck else chosen

    def _is_crowded(self, scene: Scene, seat: int) -> bool:
        """Return whether a further ingredient could be put nowhere: hands that hold one could not take a plate."""
        x, y = scene["players"][seat]["position"]
        free = [cell for cell in self._private(scene) if self._walks.is_reachable(cell, (x, y))]
        pots = [thing for thing in scene["objects"] if thing["item"] == "soup"]
        is_full = [pot["ready"] or pot["left"] or len(pot["ingredients"]) == MAX_INGREDIENTS for pot in pots]
        return len(free) <= 1 and sum(map(bool, is_full)) == len(self._walks.cells["P"])

    def _tidy(self, scene: Scene, cells: list[Cell], use: Any) -> int | None:
        """Return a move to take something off the counters between rooms, if there is another counter for it."""
        action: int | None = use(cells) if use(self._private(scene)) is not None else None
        return action

    def _drop(self, scene: Scene, use: Any) -> int | None:
        taken = [tuple(thing["position"]) for thing in scene["objects"]]
        action: int | None = use(self._private(scene))
        return use([cell for cell in self._walks.shared if cell not in taken]) if action is None else action

    def _private(self, scene: Scene) -> list[Cell]:
        """Return the empty counters that are not between rooms."""
        taken = {tuple(thing["position"]) for thing in scene["objects"]} | self._walks.shared
        return [cell for cell in self._walks.cells["W"] if cell not in taken]

    def _target(self, scene: Scene) -> tuple[str, ...]:
        """Return the soup to cook: the recipe, or what makes room for it where no pot can become the recipe."""
        recipe = self._memory.guess
        pots = [thing["ingredients"] for thing in scene["objects"] if thing["item"] == "soup"]
        if len(pots) < len(self._walks.cells["P"]) or any(can_become(pot, recipe) for pot in pots):
            return recipe
        full = pots[0] + [pots[0][-1]] * (MAX_INGREDIENTS - len(pots[0]))
        return tuple(sorted(full, key=INGREDIENTS.index))

    def _cook(self, seen: Seen, scene: Scene, recipe: tuple[str, ...]) -> int:
        game = kitchen_of(self._compiled, recipe)
        state = game.state_of(scene_of(scene, recipe))
        if recipe != self._cooked:  # plans for another recipe are of no use
            self._cooked, self._state, self._player = recipe, state, self._make()
            simulator = Simulator(game, state, seen.seat)
            self._player.reset(seen.seat, EnvInfo(game.id, game, "", self._info.team, simulator), self._seed)
        for array, values in zip(self._state, state, strict=True):
            array[:] = values
        out = game.alloc(1)[1]
        game.observe(self._state, out)
        action = self._player.act(Seen.of(game, self._state, out, seen.seat, seen.timestep))
        return int(action)  # type: ignore[arg-type]
