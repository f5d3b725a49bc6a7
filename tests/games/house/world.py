"""Homes as diagrams for tests: draw a plan, say where things are, let agents act, compare what comes out.

A plan has a digit for the room of a cell and ``#`` for walls; it is the upper left corner of an otherwise solid home.
Furniture, things and agents are placed by column and row. What is not mentioned does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import yaml
from support.scenes import write_scene

from collab_overcooked.games.house.engine.compile import CLOSED
from collab_overcooked.games.house.engine.constants import NOTHING, Known, KnownPlace
from collab_overcooked.games.house.engine.state import State
from collab_overcooked.games.house.env import Housework, Transport
from collab_overcooked.kernels.rng import seed_states

TWO_ROOMS = """
#########
#000#111#
#000#111#
#0000111#
#########
"""


@lru_cache
def game_of(kind: str, options: str) -> Any:
    return {"housework": Housework, "transport": Transport}[kind](**yaml.safe_load(options))


class GameKind:
    """A home that starts as drawn.

    Args:
        plan: Diagram of the rooms.
        agents: Column and row of each agent.
        furniture: Column and row by name; those of ``opened`` are open.
        things: Where things are by name and number: furniture, column and row, or an agent's number.
        goal: Name of the goal place.
        wants: How many of each kind.
        opened: Names of open containers.
        knows: What all agents know at the start: ``"nothing"`` (they look around first) or ``"all"``.
        kind: ``"housework"`` or ``"transport"``.
        options: Of the game.
    """

    def __init__(
        self,
        plan: str = TWO_ROOMS,
        agents: Sequence[tuple[int, int]] = ((1, 1), (7, 1)),
        furniture: Mapping[str, tuple[int, int]] | None = None,
        things: Mapping[str, Any] | None = None,
        goal: str = "fridge",
        wants: Mapping[str, int] | None = None,
        opened: Sequence[str] = (),
        knows: str = "all",
        kind: str = "housework",
        seed: int = 0,
        **options: Any,
    ) -> None:
        self.game = game_of(kind, yaml.safe_dump({"agents": len(agents), "stepping": "tick", **options}))
        self.state, self.out = self.game.alloc(1)
        self.state.rng[:] = seed_states([seed])
        self.game.reset(self.state, self.out, np.ones(1, np.bool_))
        self.sizes = self.game.compiled.sizes
        self.labels = [self.game.place_label(p) for p in range(self.sizes.places)]
        scene = self.game.scene(self.state, 0)
        scene["grid"] = self._grid(plan)
        self.spots = {}
        self._rooms(scene)
        self._furnish(scene, furniture or {goal: (1, 3)}, opened)
        self._place(scene, things or {}, agents)
        scene["goal_place"] = self.place(goal)
        scene["goals"] = [{"name": name, "need": need, "have": 0} for name, need in (wants or {"apple": 1}).items()]
        scene["paid"] = 0
        self.know(scene, knows)
        write_scene(self.game, self.state, self.out, scene)

    def _grid(self, plan: str) -> list[str]:
        rows = [row.strip() for row in plan.strip().splitlines()]
        rows += [""] * (self.sizes.height - len(rows))
        return [row.ljust(self.sizes.width, "#") for row in rows]

    def _rooms(self, scene: dict[str, Any]) -> None:
        for r, room in enumerate(scene["rooms"]):
            cells = [(x, y) for y, row in enumerate(scene["grid"]) for x, c in enumerate(row) if c == str(r)] or [
                (1, 1)
            ]
            xs, ys = [x for x, _ in cells], [y for _, y in cells]
            room["box"] = [min(xs), min(ys), max(xs), max(ys)]
            scene["places"][r] |= {"at": list(cells[len(cells) // 2]), "room": r}

    def _furnish(self, scene: dict[str, Any], furniture: Mapping[str, Any], opened: Sequence[str]) -> None:
        for p in range(self.sizes.rooms, self.sizes.places):
            scene["places"][p] |= {"kind": "none", "at": [0, 0], "room": 0, "open": True}
        for name, (x, y) in furniture.items():
            shut = name.rstrip(" 0123456789") in CLOSED
            kind = "bed" if name == "bed" else "container" if shut else "surface"
            room = int(scene["grid"][y][x])
            scene["places"][self.place(name)] |= {
                "kind": kind, "at": [x, y], "room": room, "open": not shut or name in opened, "free": 9,
            }  # fmt: skip

    def _place(self, scene: dict[str, Any], things: Mapping[str, Any], agents: Any) -> None:
        nowhere = {"name": "apple", "role": "target", "rel": "none", "parent": 0, "in_view": True}
        scene["things"] = [dict(nowhere) for _ in range(self.sizes.things)]
        hands: list[list[Any]] = [[] for _ in agents]
        for phrase, where in things.items():
            name, _, number = phrase.rpartition(" ")
            o = int(number)
            box = self.game.id == "Transport-v0" and ("basket" in name or name in ("bowl", "plate", "tray"))
            thing = {"name": name, "role": "container" if box else "target", "rel": "at", "in_view": True}
            if isinstance(where, int):
                hands[where].append(o)
                thing |= {"rel": "held", "parent": where}
            elif isinstance(where, str):
                thing["parent"] = self.place(where)
            else:
                thing["parent"] = p = self.sizes.rooms + self.sizes.furniture + o
                room = int(scene["grid"][where[1]][where[0]])
                scene["places"][p] |= {"kind": "spot", "at": list(where), "room": room, "free": 0}
            scene["things"][o] |= thing
        for (x, y), agent, held in zip(agents, scene["agents"], hands, strict=True):
            room = int(scene["grid"][y][x])
            del agent["ways"]
            agent |= {"at": [x, y], "room": room, "hands": [*held, None, None][:2], "running": [NOTHING, 0, 0]}

    def know(self, scene: dict[str, Any], knows: str) -> None:
        for seat, known in enumerate(scene["known"]):
            known["mates"] = [[NOTHING] * 4 for _ in scene["agents"]]
            for p, place in enumerate(scene["places"]):
                plain = place["kind"] in ("centre", "spot")
                state = KnownPlace.OPEN if plain or place["open"] else KnownPlace.CLOSED
                message = knows == "all" and place["kind"] != "none"
                known["places"][p] = int(state if plain or message else KnownPlace.UNKNOWN)
            for o, thing in enumerate(scene["things"]):
                place = scene["places"][thing["parent"]]
                seen = knows == "all" and thing["rel"] == "at" and (place["open"] or place["kind"] == "none")
                known["things"][o] = [int(Known.SEEN), thing["parent"], 0, 1] if seen else [0, NOTHING, 0, 0]
                if thing["rel"] == "held":
                    status = Known.MINE if thing["parent"] == seat else Known.MATE if knows == "all" else Known.UNKNOWN
                    known["things"][o] = [int(status), thing["parent"], 0, 1]
            known["rooms"] = [2 if knows == "all" else 0] * self.sizes.rooms

    def place(self, name: str) -> int:
        """Return the number of a piece of furniture, or of a room's centre."""
        return self.labels.index(name)

    @property
    def row(self) -> State:
        """Return the arrays of the only environment."""
        return State(*(array[0] for array in self.state))

    @property
    def rules(self) -> tuple[Any, State]:
        """Return what rule functions take first, for the only environment."""
        return self.game.compiled.tables, self.row

    def act(self, *texts: str) -> list[Any]:
        """Let all agents act by texts; returns the events."""
        actions = [self.game.parse(text, self.state, 0, seat) for seat, text in enumerate(texts)]
        self.game.step(self.state, np.array([actions], np.int32), self.out)
        return self.game.events(self.out, 0)

    def run(self, *texts: str, most: int = 400) -> list[Any]:
        """Let all agents act until all are free again; returns the last events."""
        events = self.act(*texts)
        for _ in range(most):
            if not self.busy():
                return events
            events = self.act(*("wait" for _ in texts))
        raise AssertionError("an action does not end")

    def busy(self) -> bool:
        return bool((self.state.macro_state[0, :, 0] != NOTHING).any())

    def at(self, seat: int = 0) -> tuple[int, int]:
        x, y = self.game.scene(self.state, 0)["agents"][seat]["at"]
        return x, y

    def hands(self, seat: int = 0) -> list[Any]:
        scene = self.game.scene(self.state, 0)
        return [None if o is None else scene["things"][o]["name"] for o in scene["agents"][seat]["hands"]]

    def where(self, o: int) -> str:
        """Return how a thing is related to what, for example ``"at fridge"``."""
        thing = self.game.scene(self.state, 0)["things"][o]
        at_place = thing["rel"] in ("at", "delivered")
        return f"{thing['rel']} {self.labels[thing['parent']] if at_place else thing['parent']}"

    def mask(self, seat: int = 0) -> set[str]:
        texts = self.game.action_texts(self.state, 0, seat)
        return {texts[action] for action in np.flatnonzero(self.out.masks[0, seat])}

    def knows(self, seat: int = 0) -> dict[str, Any]:
        scene: dict[str, Any] = self.game.seat_scene(self.game.scene(self.state, 0), seat)
        return scene
