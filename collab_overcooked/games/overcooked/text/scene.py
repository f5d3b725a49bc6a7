"""Scenes of Overcooked: the meaning of each key, and constraints between keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked.envs import scene_codec as codec
from collab_overcooked.envs.scene_codec import Part, Rows
from collab_overcooked.io.schema import boolean_or_bit, integer, list_of, optional, record
from collab_overcooked.kernels.macro_actions import MEDIUM, Macro

from ..engine.constants import (
    FIRST_ROWS,
    INGREDIENTS,
    MEMORY,
    NOT_COOKING,
    NOTHING,
    PATIENCE,
    Action,
    Clock,
    DirectiveHistory,
    Item,
    LayoutSize,
    Terrain,
)
from .kitchen_scene import FACING, MAX_SCORE, SOUP, KitchenScenes, check_places

COUNT = codec.integers(0, MAX_SCORE)

Scene = Mapping[str, Any]


def _running(directives: Sequence[str], steps: int) -> Part:
    """Declare a running directive; it has all its time left, unless the memory says something else."""
    known = codec.names_of(directives, "directive", directives[len(FIRST_ROWS) :])
    running = codec.column("macro_state", Macro.ACTION, codec.optional(known))

    def write(rows: Rows, value: str | None) -> None:
        running.write(rows, value)
        rows["macro_state"][Macro.TIMER] = 0 if value is None else steps

    return running._replace(write=write)


def _past(directives: Sequence[str], position: codec.Codec, cells: int) -> Part:
    chosen = codec.optional(codec.names_of(directives, "directive", directives[1:]), 0)
    place = slice(DirectiveHistory.X, DirectiveHistory.Y + 1)
    columns: dict[str, tuple[int | slice, codec.Codec]] = {
        "timer": (Macro.TIMER, codec.integers(-1, cells)),
        "still": (Macro.STILL, codec.integers(0, PATIENCE + 1)),
        "directive": (DirectiveHistory.DIRECTIVE, codec.names_of(directives, "directive")),
        "away": (DirectiveHistory.AWAY, codec.BOOLEAN),
        "move": (DirectiveHistory.MOVE, codec.members_of(Action, "move")),
        "position": (place, codec.optional(position, [NOTHING, NOTHING])),
        "facing": (DirectiveHistory.FACING, codec.optional(FACING)),
        "last": (
            slice(DirectiveHistory.LAST, DirectiveHistory.LAST + MEMORY),
            codec.vector([chosen] * MEMORY, "directives"),
        ),
        "failed": (
            slice(DirectiveHistory.FAILED, DirectiveHistory.FAILED + MEMORY),
            codec.vector([codec.BOOLEAN] * MEMORY, "booleans"),
        ),
    }
    parts = {key: codec.column("macro_state", *column) for key, column in columns.items()}
    return codec.group(parts, tuple(key for key in parts if key != "failed"))


class OvercookedScenes(KitchenScenes):
    """Scenes of a pool of layouts.

    Gates are in reading order. A soup has ``ingredients``, ``tick`` (-1 until it cooks) and ``time``, its steps of
    cooking.
    """

    dish_name, plated_name, ingredient_names = "dish", SOUP, INGREDIENTS
    where_things_lie = "counters take anything, pots soup, other stations what they prepare"
    _directives: tuple[str, ...]

    def timed(self, tick: int, time: int, in_pot: bool, derived: bool) -> dict[str, Any]:
        return {"tick": tick, "time": time, **({"ready": tick >= time} if derived else {})}

    def tick_of(self, soup: Mapping[str, Any], time: int, in_pot: bool) -> int:
        tick: int = soup.get("tick", time)
        return tick

    def scene_parts(self) -> dict[str, Part]:
        tables, medium = self.compiled.tables, [level == MEDIUM for level in self.compiled.levels]
        cells, position = tables.terrain[0].size, self.position_codec()
        thing = self.thing_parsers() | {
            "tick": integer(NOT_COOKING, MAX_SCORE),
            "time": COUNT.parser,
            "ready": boolean_or_bit,
        }
        player = self.player_parts(thing)
        directed = codec.group(player | {"directive": _running(self._directives, cells)})
        scene = {
            **self.clock_parts(),
            "layout": codec.column("clock", Clock.LAYOUT, codec.names_of(self.compiled.names, "layout")),
            "players": codec.by_entry([directed if macros else codec.group(player) for macros in medium], "players"),
            "objects": self.object_part(thing),
            "gates": self._gates(position),
            "chance": codec.rng_state(),
        }
        scene |= self.change_parts() | self.order_parts()
        if self.compiled.config.order_time is not None:
            known = sorted({soup for row in tables.recipes.tolist() for soup in row if soup})
            scene["order"] = codec.column("clock", Clock.RECIPE, self.soup_codec(known, "order"))
        if any(medium):
            past = _past(self._directives, position, cells)
            none = Part(optional(record({})), lambda rows: None)
            memory = codec.by_entry([past if macros else none for macros in medium], "players")
            scene["memory"] = memory._replace(
                known_to=(), belief=codec.kept
            )  # no secret, but nothing to be shown either
        return scene

    def _gates(self, position: codec.Codec) -> Part:
        tables = self.compiled.tables

        def read(rows: Rows) -> list[dict[str, Any]]:
            frame = tables.frames[k := rows["clock"][Clock.LAYOUT]]
            gates = []
            for x, y in tables.gates[k, : frame[LayoutSize.GATES]].tolist():
                item, _, counter = rows["cells"][y][x]
                limit = int(frame[LayoutSize.GATE_LIMIT])
                gates.append({"position": [x, y], "open": item == Item.OPEN, "counter": counter, "limit": limit})
            return gates

        def write(rows: Rows, value: Sequence[Mapping[str, Any]]) -> None:
            for gate in value:
                x, y = gate["position"]
                if tables.terrain[rows["clock"][Clock.LAYOUT], y, x] != Terrain.GATE:
                    raise ValueError(f"there is no gate at {[x, y]}")
                rows["cells"][y, x] = Item.OPEN if gate.get("open") else Item.NONE, 0, gate.get("counter", 0)

        gate = {"position": position.parser, "open": boolean_or_bit, "counter": COUNT.parser, "limit": COUNT.parser}
        return Part(list_of(record(gate, ["position"]), 0, tables.terrain[0].size, "gates"), read, write)

    def _check_scene(self, scene: dict[str, Any]) -> None:
        k = self.compiled.names.index(scene["layout"])
        for k_gate, gate in enumerate(scene["gates"]):
            if gate["counter"] > (gate["limit"] if gate["open"] else 0):
                allowed = f"counter of an open gate is 0 to {gate['limit']}, of a closed one 0"
                raise ValueError(f"state.gates[{k_gate}]: {allowed}, not {gate['counter']}")
        self.check_things(scene)
        can_stand = self.compiled.tables.floor[k] != NOTHING
        for gate in scene["gates"]:
            x, y = gate["position"]
            can_stand[y, x] = gate["open"]
        check_places(scene["players"], can_stand, "floor or in open gates")
