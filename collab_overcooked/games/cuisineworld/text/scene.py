"""Scenes of CuisineWorld: the meaning of each key, and constraints between keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked.envs import scene_codec as codec
from collab_overcooked.envs.order_game import OrderGame
from collab_overcooked.envs.scene_codec import Part, Rows
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.schema import list_of, mapping_of
from collab_overcooked.kernels.orders import HISTORY_SLOTS

from ..engine.compile import Compiled
from ..engine.constants import NOTHING, UNLIMITED, Agent, Clock, Param, Place, Role
from ..engine.constants import Tool as Column
from ..engine.spec import Level, Timing, Tool
from ..engine.state import State

MAX_COUNTER = 10**9  # of what counts on for ever, such as refused commands
COUNT = codec.integers(0, MAX_COUNTER)


class CuisineScene(OrderGame):
    """Scenes of a level."""

    compiled: Compiled
    level: Level
    timing: Timing

    def scene_parts(self) -> dict[str, Part]:
        """Declare the keys of scenes.

        ``accomplished`` are the completed orders in turn, ``wanted`` is what still earns shaped reward, and an order
        that has no end has None ``remaining``.
        """
        level, max_steps = self.level, int(self.compiled.tables.params[Param.MAX_STEPS])
        order = codec.names_of(level.order_names, "order")
        item = codec.names_of(level.items, "item")
        interval = self.timing.interval
        agent = {
            "location": codec.column("agents", Agent.PLACE, codec.names_of(level.locations, "location")),
            "holding": codec.column("agents", Agent.ITEM, codec.optional(item)),
            "busy": codec.column("agents", Agent.BUSY, COUNT),
            "rewarded": codec.column("agents", Agent.PAID, codec.BOOLEAN),
        }
        tools = {name: self._tool(at) for at, name in enumerate(level.locations)}
        parser = mapping_of(tools[level.locations[0]].parser, level.locations, "location")
        counted = {"failed": Clock.FAILED, "expired": Clock.EXPIRED, "refused": Clock.REFUSED, "noops": Clock.NOOPS}
        return {
            "timestep": codec.span("clock", Clock.T, 0, MAX_OPTION),
            "limit": codec.span("clock", Clock.LIMIT, 1, MAX_OPTION),
            "timer": codec.span("clock", Clock.TIMER, 0, MAX_OPTION if interval == UNLIMITED else interval - 1),
            **codec.columns("clock", COUNT, **counted),
            "completed": codec.read_only(codec.column("clock", Clock.COMPLETED, COUNT)),
            "max_steps": codec.constant(COUNT.parser, max_steps),
            "orders": codec.open_orders(order, codec.optional(COUNT), self.sizes["Q"], Clock.OPEN),
            "agents": codec.by_entry([codec.group(agent)] * self.n_agents, "agents"),
            "tools": codec.group(tools)._replace(parser=parser),
            "accomplished": codec.row("history", codec.sequence(order, HISTORY_SLOTS, "orders")),
            "wanted": self._wanted(),
            "forced": codec.forced_orders(order, Clock.FORCED),
            "chance": codec.rng_state(MAX_OPTION),  # the stream is drawn again from its beginning
        }

    def _wanted(self) -> Part:
        level, n_items = self.level, len(self.level.items)
        products = codec.counts(level.products, MAX_COUNTER, "product")
        items = codec.column("wanted", slice(n_items), codec.counts(level.items, MAX_COUNTER, "item"))
        group = codec.group({"items": items, "mixtures": codec.column("wanted", slice(n_items, None), products)})

        def write(rows: Rows, value: Mapping[str, Any]) -> None:
            group.write(rows, {"items": {}, "mixtures": {}} | dict(value))

        return group._replace(write=write)

    def _tool(self, at: int) -> Part:
        level, places = self.level, self.compiled.tables.places
        most = int(places[places[:, Place.TABLE] != NOTHING, Place.CAPACITY].max())  # a serving table's, the largest
        role, table, capacity = places[at, [Place.ROLE, Place.TABLE, Place.CAPACITY]].tolist()

        def content(rows: Rows) -> Any:
            return rows["tools"][at][Column.CONTENT :] if table == NOTHING else rows["served"][table]

        def read(rows: Rows) -> list[str]:
            return [level.items[item] for item in content(rows)[: rows["tools"][at][Column.COUNT]]]

        def write(rows: Rows, value: Sequence[str]) -> None:
            slots = content(rows)
            room = min(0 if role == Role.STORAGE else capacity, len(slots))
            if len(value) > room:
                raise ValueError(f"content of {level.locations[at]} is {len(value)} items; it takes {room}")
            slots[:] = NOTHING
            slots[: len(value)] = [level.items.index(name) for name in value]
            rows["tools"][at][Column.COUNT] = len(value)

        item = codec.names_of(level.items, "item")
        rest = {
            "busy": codec.column("tools", Column.BUSY, COUNT),
            **codec.columns("tools", codec.BOOLEAN, ready=Column.READY, rewarded=Column.PAID),
        }
        parts = {"content": Part(list_of(item.parser, 0, most, "items"), read, write)}
        return codec.group(parts | {key: codec.entry(part, at) for key, part in rest.items()})

    def _encode(self, state: State, i: int, scene: Mapping[str, Any]) -> None:
        super()._encode(state, i, scene)
        if "accomplished" in scene:
            state.clock[i, Clock.COMPLETED] = scene.get("completed", len(scene["accomplished"]))

    def _check_scene(self, scene: dict[str, Any]) -> None:
        level = self.level
        if len(scene["accomplished"]) != min(scene["completed"], HISTORY_SLOTS):
            raise ValueError(
                f"state.completed must be {len(scene['accomplished'])}, the number of accomplished orders, "
                f"not {scene['completed']}"
            )
        codec.check_forced(scene)
        for k, order in enumerate(scene["orders"]):
            _check_order(f"state.orders[{k}]", order, self.timing.lifetimes[order["name"]])
        for kind, (name, tool) in zip(level.kitchen, scene["tools"].items(), strict=True):
            _check_tool(f"state.tools.{name}", tool, level.tools[kind], level)
        for k, agent in enumerate(scene["agents"]):
            there = level.tools[level.kitchen[self.level.locations.index(agent["location"])]]
            _check_agent(f"state.agents[{k}]", agent, there, scene["tools"][agent["location"]])


def _check_order(place: str, order: Mapping[str, Any], lifetime: int) -> None:
    left = order["remaining"]
    if lifetime == UNLIMITED and left is not None:
        raise ValueError(f"{place}.remaining must be null, not {left}: {order['name']} has no end in this level")
    if lifetime != UNLIMITED and (left is None or left > lifetime):
        raise ValueError(f"{place}.remaining must be an integer from 0 to {lifetime}, not {left}")


def _check_tool(place: str, tool: Mapping[str, Any], kind: Tool, level: Level) -> None:
    content, busy = tool["content"], tool["busy"]
    cooked = bool(content) and _is_made_in(content[0], kind, level)
    if kind.role == "table" and not all(item in level.order_names for item in content):
        sold = [item for item in content if item not in level.order_names]
        raise ValueError(f"{place}.content must be of dishes that can be ordered, not {sold}")
    if kind.role == "cook":
        _check_content(f"{place}.content", content, kind, level)
    always = kind.open or kind.role == "storage"
    if tool["ready"] != always and not (tool["ready"] and cooked):
        raise ValueError(f"{place}.ready must be {str(always).lower()} for such a content, not {tool['ready']}")
    most = kind.busy if len(content) == 1 and cooked and tool["ready"] else 0
    if busy > most:
        raise ValueError(f"{place}.busy must be an integer from 0 to {most}, not {busy}")


def _is_made_in(item: str, kind: Tool, level: Level) -> bool:
    return item in level.recipes and level.recipes[item].tool == kind.kind


def _check_content(place: str, content: Sequence[str], kind: Tool, level: Level) -> None:
    if len(set(content)) < len(content):
        raise ValueError(f"{place} must name each item once, not {content}")
    recipes = [recipe for recipe in level.recipes_here if recipe.tool == kind.kind]
    if content and not any(content == [recipe.product] or set(content) <= {*recipe.ingredients} for recipe in recipes):
        raise ValueError(f"{place} must be part of a recipe of a {kind.kind} or what is made there, not {content}")


def _check_agent(place: str, agent: Mapping[str, Any], kind: Tool, tool: Mapping[str, Any]) -> None:
    if agent["busy"] and not (kind.busy_agent and agent["busy"] == tool["busy"] and agent["holding"] is None):
        most = tool["busy"] if kind.busy_agent and agent["holding"] is None else 0
        raise ValueError(f"{place}.busy must be {f'0 or {most}' if most else 0} at such a tool, not {agent['busy']}")
