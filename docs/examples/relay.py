"""Relay, a whole game in one file: two couriers on both sides of a shelf hand on parcels of the ordered colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from types import SimpleNamespace
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from collab_overcooked import registry
from collab_overcooked._jit import kernel
from collab_overcooked.core import schema
from collab_overcooked.core.config import MOST, Config, whole
from collab_overcooked.core.rng import chance_form, chance_of, draw_below, set_chance
from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.evaluation.episode_suite import EpisodeSuite
from collab_overcooked.render.model import Board, Cell, Cook, Icon, Sheet

HOLDING = ("nothing", "red", "blue")  # 0 for empty hands and an empty shelf
EVENTS = ("waited", "moved", "moved", "took", "took", "put")
Action = IntEnum("Action", "WAIT LEFT RIGHT TAKE_RED TAKE_BLUE PUT", start=0)
Reason = IntEnum("Reason", "OK F_WALL F_HANDS_FULL F_NOT_HERE F_HANDS_EMPTY F_SHELF_FULL", start=0)
WORDS = ("Accepted.", "There is a wall.", "The hands are full.", "That is not to be had here.", "The hands are empty.",
         "The shelf is full.")  # fmt: skip
Room = IntEnum("Room", "SHELF ORDER SERVED T LIMIT OVER", start=0)


@dataclass(frozen=True)
class RelayConfig(Config):
    """Options of Relay."""

    max_steps: int = whole(40, "Steps of an episode.", least=1)


class Tables(NamedTuple):
    """What is read only."""

    ends: np.ndarray  # (2, 2) int32: first and last cell of each seat; the shelf is cell 3


class State(NamedTuple):
    """One moment of B environments."""

    cell: np.ndarray  # (B, 2) int32
    held: np.ndarray  # (B, 2) int32, see HOLDING
    room: np.ndarray  # (B, 6) int32, see Room
    rng: np.ndarray  # (B, 3) int32


class Out(NamedTuple):
    """What a step writes."""

    observations: np.ndarray  # (B, 2, 8) uint8
    masks: np.ndarray  # (B, 2, 6) int8
    rewards: np.ndarray  # (B, 2) float32
    terminated: np.ndarray  # (B,) bool
    truncated: np.ndarray  # (B,) bool
    done: np.ndarray  # (B, 2, 3) int32: action, reason, whether it was a delivery
    fresh: np.ndarray  # (B,) bool: to be observed


@kernel
def why_refused(ends, action, seat, cell, held, room):
    """Walls stop couriers, hands hold one parcel, and parcels lie at the left end and on the shelf."""
    first, last = ends[seat, 0], ends[seat, 1]
    if action == Action.LEFT or action == Action.RIGHT:
        return Reason.F_WALL if cell[seat] == (first if action == Action.LEFT else last) else Reason.OK
    if action == Action.PUT:
        if held[seat] == 0:
            return Reason.F_HANDS_EMPTY
        if cell[seat] != last:
            return Reason.F_NOT_HERE
        return Reason.F_SHELF_FULL if seat == 0 and room[Room.SHELF] > 0 else Reason.OK
    if action != Action.WAIT:
        if held[seat] > 0:
            return Reason.F_HANDS_FULL
        there = seat == 0 or room[Room.SHELF] == action - Action.RIGHT
        return Reason.OK if cell[seat] == first and there else Reason.F_NOT_HERE
    return Reason.OK


@kernel
def apply(action, seat, cell, held, room, rng):
    """Seat 0 puts parcels on the shelf, seat 1 delivers them, and orders count. Mutates: cell, held, room, rng."""
    if action == Action.LEFT or action == Action.RIGHT:
        cell[seat] += 1 if action == Action.RIGHT else -1
    elif action == Action.PUT:
        parcel, held[seat] = held[seat], 0
        if seat == 0:
            room[Room.SHELF] = parcel
        elif parcel == room[Room.ORDER]:
            room[Room.SERVED] += 1
            room[Room.ORDER] = 1 + draw_below(rng, 2)
            return 1
    elif action != Action.WAIT:
        held[seat] = action - Action.RIGHT
        if seat == 1:
            room[Room.SHELF] = 0
    return 0


@kernel
def step_batch(tables, state, actions, out):
    """Both couriers are judged by the same moment, then act; deliveries of orders pay both. Mutates: state, out."""
    cell, held, room, rng, ends = state.cell, state.held, state.room, state.rng, tables.ends
    done, rewards, truncated, fresh = out.done, out.rewards, out.truncated, out.fresh
    for b in range(room.shape[0]):
        fresh[b], paid = room[b, Room.OVER] == 0, 0
        for seat in range(2):
            done[b, seat, 0] = actions[b, seat] if fresh[b] else 0
            done[b, seat, 1] = why_refused(ends, done[b, seat, 0], seat, cell[b], held[b], room[b])
        for seat in range(2):
            accepted = fresh[b] and done[b, seat, 1] == Reason.OK
            done[b, seat, 2] = apply(done[b, seat, 0], seat, cell[b], held[b], room[b], rng[b]) if accepted else 0
            paid += done[b, seat, 2]
        rewards[b, 0], rewards[b, 1] = paid, paid
        if fresh[b]:
            room[b, Room.T] += 1
            truncated[b] = room[b, Room.T] >= room[b, Room.LIMIT]
            room[b, Room.OVER] = truncated[b]


@kernel
def reset_batch(tables, state, out, which, limit):
    """An episode starts with empty hands beside the walls and a new order. Mutates: state, out."""
    cell, held, room, rng, ends = state.cell, state.held, state.room, state.rng, tables.ends
    done, rewards, truncated, fresh = out.done, out.rewards, out.truncated, out.fresh
    for b in range(room.shape[0]):
        fresh[b] = which[b]
        if which[b]:
            cell[b, 0], cell[b, 1], truncated[b] = ends[0, 0], ends[1, 1], False
            held[b, :], room[b, :], done[b, :, :], rewards[b, :] = 0, 0, 0, 0
            room[b, Room.ORDER] = 1 + draw_below(rng[b], 2)
            room[b, Room.LIMIT] = limit


@kernel
def observe_batch(tables, state, out):
    """Couriers see everything, their own things first. Mutates: out."""
    cell, held, room, ends = state.cell, state.held, state.room, tables.ends
    observations, masks, fresh = out.observations, out.masks, out.fresh
    for b in range(room.shape[0]):
        for seat in range(2 if fresh[b] else 0):
            seen = observations[b, seat]
            for k in range(2):
                at = (seat + k) % 2
                seen[2 * k], seen[2 * k + 1] = cell[b, at], held[b, at]
            seen[4], seen[5], seen[6] = room[b, Room.SHELF], room[b, Room.ORDER], seat
            seen[7] = min(room[b, Room.LIMIT] - room[b, Room.T], 255)
            for action in range(6):
                masks[b, seat, action] = why_refused(ends, action, seat, cell[b], held[b], room[b]) == Reason.OK


class Relay(CompiledGame):
    """Bring parcels of the ordered colour from the left end to the right end, over a shelf that nobody can pass."""

    id = "Relay-v0"
    config_class = RelayConfig
    texts = ("wait", "left", "right", "take red", "take blue", "put")
    n_agents, n_actions, exact_masks = 2, 6, True
    global_state = ("cell", "held", "room")
    step_kernels, observe_kernels = (step_batch,), (observe_batch,)

    def __init__(self, *values: Any, **options: Any) -> None:
        config = RelayConfig.read(values, options)
        self.kwargs, self.max_cycles = config.as_json(), config.max_steps
        self.compiled = SimpleNamespace(tables=Tables(np.array([[0, 2], [4, 6]], np.int32)))
        self._set_spaces(gymnasium.spaces.Box(0, 255, (8,), np.uint8))

    def alloc(self, batch_size: int) -> tuple[State, Out]:
        sizes = {"cell": 2, "held": 2, "room": len(Room), "rng": 3}
        state = State(**{name: np.zeros((batch_size, size), np.int32) for name, size in sizes.items()})
        shapes = ((2, 8), np.uint8), ((2, 6), np.int8), ((2,), np.float32), ((), bool), ((), bool), ((2, 3), np.int32)
        return state, Out(*(np.zeros((batch_size, *shape), kind) for shape, kind in (*shapes, ((), bool))))

    def _start(self, state: State, out: Out, which: np.ndarray, options: Mapping[str, Any], limit: int) -> None:
        reset_batch(self.compiled.tables, state, out, which, limit or self.max_cycles)

    def rejections(self, state: State, out: Out) -> np.ndarray:
        return out.done[:, :, 1]

    # ------------------------------------------------------------------------------------ words and pictures

    def names(self) -> list[str]:
        return ["parcel", "shelf", *HOLDING[1:]]

    def check(self, state: State, i: int, seat: int, action: int, earlier: Sequence[int] = ()) -> tuple[str, str]:
        reason = why_refused(self.compiled.tables.ends, action, seat, state.cell[i], state.held[i], state.room[i])
        return Reason(reason).name, WORDS[reason]

    def manual(self, state: State | None = None, i: int = 0, seat: int = 0) -> str:
        return (
            "Parcels lie at cell 0, the shelf is cell 3, customers wait at cell 6. agent_0 walks on cells 0 to 2 and "
            "puts parcels on the shelf from cell 2; agent_1 walks on cells 4 to 6, takes from the shelf at cell 4 and "
            "delivers with `put` at cell 6. A delivery of the ordered colour pays both 1."
        )

    def describe(self, state: State, i: int, seat: int) -> str:
        scene = self.scene(state, i)
        parts = [f"agent_{k} stands on cell {c['cell']} with {c['holds']}" for k, c in enumerate(scene["couriers"])]
        parts += [f"on the shelf: {scene['shelf']}", f"ordered: {scene['orders'][0]}"]
        return f"You are agent_{seat}. " + "; ".join([*parts, f"step {scene['step']} of {scene['limit']}."])

    def scene(self, state: State, i: int) -> dict[str, Any]:
        shelf, order, served, step, limit, _ = state.room[i].tolist()
        pairs = zip(state.cell[i].tolist(), state.held[i].tolist(), strict=True)
        couriers = [{"cell": cell, "holds": HOLDING[held]} for cell, held in pairs]
        scene = {"couriers": couriers, "shelf": HOLDING[shelf], "orders": [HOLDING[order]]}
        return scene | {"served": served, "step": step, "limit": limit, "chance": chance_of(state.rng[i])}

    def reset_forms(self) -> dict[str, schema.Form]:
        couriers = [
            schema.record({"cell": schema.whole(first, last), "holds": schema.one_of(HOLDING, "parcel")})
            for first, last in self.compiled.tables.ends.tolist()
        ]
        scene = {
            "couriers": schema.list_by_seat(couriers, "couriers"),
            "shelf": schema.one_of(HOLDING, "parcel"),
            "orders": schema.list_of(schema.one_of(HOLDING[1:], "order"), 1, 1, "orders"),
            "served": schema.whole(0, MOST),
            "step": schema.whole(0, MOST),
            "limit": schema.whole(1, MOST),
            "chance": chance_form(),
        }
        return {"state": schema.record(scene)}

    def _check_scene(self, scene: dict[str, Any]) -> None:
        if scene["step"] > scene["limit"]:
            raise ValueError(f"state.step must be at most the limit of {scene['limit']}, not {scene['step']}")

    def _encode(self, state: State, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
        whole_scene = self.scene(state, i) | dict(scene)
        for seat, courier in enumerate(whole_scene["couriers"]):
            state.cell[i, seat] = courier.get("cell", state.cell[i, seat])
            state.held[i, seat] = HOLDING.index(courier.get("holds", HOLDING[state.held[i, seat]]))
        shelf, order = HOLDING.index(whole_scene["shelf"]), HOLDING.index(whole_scene["orders"][0])
        over = whole_scene["step"] >= whole_scene["limit"]
        state.room[i] = shelf, order, whole_scene["served"], whole_scene["step"], whole_scene["limit"], over
        set_chance(state.rng[i], whole_scene["chance"])
        return False, over

    def events(self, out: Out, i: int) -> list[dict[str, Any] | None]:
        return [
            {"event": "delivered" if paid else EVENTS[did], "reason": Reason(reason).name, "label": self.texts[did]}
            for did, reason, paid in out.done[i].tolist()
        ]

    def sheet(self, scene: dict[str, Any], seat: int | None = None) -> Sheet:
        icons = {name: Icon(foods=(food,), text=name) for name, food in (("red", "tomato"), ("blue", "blueberry"))}
        items = {0: tuple(icons.values()), 3: tuple(icons[name] for name in [scene["shelf"]] if name in icons)}
        cells = [Cell("counter" if x == 3 else "floor", "X" if x == 3 else " ", items.get(x, ())) for x in range(7)]
        cooks = [
            ((c["cell"], 0), Cook(k, str(k), "east", held=icons.get(c["holds"]), mark=c["holds"][0]))
            for k, c in enumerate(scene["couriers"])
        ]
        words = f"ordered {scene['orders'][0]}, served {scene['served']}"
        board = Board((7, 1), tuple(((x, 0), cell) for x, cell in enumerate(cells)), tuple(cooks))
        return Sheet((board,), remark=("Relay", words), listing=(words,))


class RelaySuite(EpisodeSuite):
    """Deliveries in an episode."""

    name, env_id = "relay", "Relay-v0"


RECORD = registry.GameRecord(
    id="Relay-v0",
    game="relay:Relay",
    summary="Couriers hand parcels on over a shelf.",
    suites={"relay": registry.SuiteRecord("relay:RelaySuite", "Deliveries in an episode.")},
)
registry.register_game(RECORD)
