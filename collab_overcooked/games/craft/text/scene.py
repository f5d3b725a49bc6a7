"""Scenes of CraftKitchen: the meaning of each key, and constraints between keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked.envs import scene_codec as codec
from collab_overcooked.envs.order_game import OrderGame
from collab_overcooked.envs.scene_codec import Part
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.schema import integer, one_of, record
from collab_overcooked.kernels.orders import HISTORY_SLOTS

from ..engine.compile import Compiled
from ..engine.constants import FARTHEST_OUT, NOTHING, STACK, Clock, Furnace, Param
from ..engine.spec import FURNACE, Level

MAX_ITEMS = 10**6  # of a kind in a bag or the chest


class CraftScene(OrderGame):
    """Scenes of a level."""

    compiled: Compiled
    level: Level

    def scene_parts(self) -> dict[str, Part]:
        """Declare the keys of scenes.

        ``gone`` has the steps until a place's mob or block is back, ``served`` the dishes of the chest that went to
        orders, ``accomplished`` the orders in turn.
        """
        level, params = self.level, self.compiled.tables.params
        dish = codec.names_of(self.orderable(), "order")
        items = codec.counts(level.items, MAX_ITEMS, "item")
        corners = zip(*level.corners, strict=True)
        at = codec.vector(
            [codec.integers(low - FARTHEST_OUT, high + FARTHEST_OUT) for low, high in corners], "coordinates"
        )
        agent = codec.group({"at": codec.row("agents", at), "bag": codec.row("bags", items)})
        places = {place.name: place.gives for place in level.places}
        respawn = max(int(params[Param.RESPAWN]) - 1, 1)
        furnaces = [place.name for place in level.places if place.role == FURNACE]
        lifetime, required = codec.integers(1, int(params[Param.LIFETIME])), ("name", "remaining")
        return {
            "timestep": codec.column("clock", Clock.T, codec.COUNT),
            "limit": codec.span("clock", Clock.LIMIT, 1, MAX_OPTION),
            **codec.columns("clock", codec.COUNT, completed=Clock.COMPLETED, expired=Clock.EXPIRED),
            "orders": codec.open_orders(dish, lifetime, self.sizes["Q"], Clock.OPEN, required),
            "agents": codec.by_entry([agent] * self.n_agents, "agents"),
            "gone": codec.row(
                "gone", codec.counts(tuple(places), respawn, "block or mob", [name for name in places if places[name]])
            ),
            "furnaces": codec.by_name(furnaces, self._furnace(), "furnace"),
            "chest": codec.row("chest", items),
            "served": codec.row("served", codec.counts(self.orderable(), MAX_ITEMS, "dish")),
            "accomplished": codec.row("history", codec.sequence(dish, HISTORY_SLOTS, "orders")),
            "forced": codec.forced_orders(dish, Clock.FORCED),
            "chance": codec.rng_state(MAX_OPTION),  # the stream is drawn again from its beginning
        }

    def _furnace(self) -> Part:
        level, params = self.level, self.compiled.tables.params

        def slot(first: int, allowed: Sequence[str]) -> Part:
            stack = codec.Codec(
                record({"item": one_of(allowed, "item"), "count": integer(1, STACK)}, ("item", "count")),
                lambda row: {"item": level.items[row[0]], "count": row[1]},
                lambda value: [level.items.index(value["item"]), value["count"]],
            )
            return codec.column("furnaces", slice(first, first + 2), codec.optional(stack, [NOTHING, 0]))

        return codec.group(
            {
                "fuel": slot(Furnace.FUEL, level.fuel),
                "input": slot(Furnace.INPUT, tuple(level.dishes.values())),
                "output": slot(Furnace.OUTPUT, self.orderable()),
                "heat": codec.span("furnaces", Furnace.HEAT, 0, int(params[Param.HEAT]) - 1),
                "progress": codec.span("furnaces", Furnace.PROGRESS, 0, int(params[Param.COOK_STEPS]) - 1),
            }
        )

    def _check_scene(self, scene: dict[str, Any]) -> None:
        codec.check_forced(scene)
        self._check_orders(scene)
        spots = {place.at for place in self.level.places}
        for k, agent in enumerate(scene["agents"]):
            if not self.compiled.config.walk and tuple(agent["at"]) not in {*spots, self.level.starts[k]}:
                raise ValueError(f"state.agents[{k}].at must be the agent's start or a place, not {agent['at']}")
        length = min(scene["completed"], HISTORY_SLOTS)
        if len(scene["accomplished"]) != length:
            raise ValueError(f"state.accomplished must list {length} orders, not {len(scene['accomplished'])}")
        for dish, count in scene["served"].items():
            if count > scene["chest"].get(dish, 0):
                raise ValueError(f"state.served.{dish} must be at most what the chest has, not {count}")

    def _check_orders(self, scene: Mapping[str, Any]) -> None:
        """Refuse orders that leave no free slot for the next one."""
        interval, lifetime = (int(self.compiled.tables.params[k]) for k in (Param.INTERVAL, Param.LIFETIME))
        born = [scene["timestep"] - lifetime + order["remaining"] for order in scene["orders"]]
        for k, t in enumerate(born):
            if t % interval or t in born[:k]:
                raise ValueError(
                    f"state.orders[{k}].remaining must be that of an order of its own, one for every {interval} steps, "
                    f"not {scene['orders'][k]['remaining']} at step {scene['timestep']}"
                )
