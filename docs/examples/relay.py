"""Relay, a whole game in one file: two couriers on both sides of a shelf hand on parcels of the ordered colour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import SimpleNamespace
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from collab_overcooked import registry
from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.io import forms
from collab_overcooked.io.config import MAX_OPTION, Config, integer
from collab_overcooked.io.forms import rng_form
from collab_overcooked.kernels.arrays import Array, BasicOut, array_of
from collab_overcooked.kernels.events import EventField
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.rng import Rng, draw_below, restore_rng, rng_to_dict

HOLDING = ("nothing", "red", "blue")  # 0 for empty hands and an empty shelf
Action = IntEnum("Action", "WAIT LEFT RIGHT TAKE_RED TAKE_BLUE PUT", start=0)
Event = IntEnum("Event", "WAITED MOVED TOOK PUT DELIVERED", start=0)
Reason = IntEnum("Reason", "OK F_WALL F_HANDS_FULL F_NOT_HERE F_HANDS_EMPTY F_SHELF_FULL", start=0)
Courier = IntEnum("Courier", "CELL HELD", start=0)
Room = IntEnum("Room", "SHELF ORDER SERVED T LIMIT OVER", start=0)


@dataclass(frozen=True)
class RelayConfig(Config):
    """Options of Relay."""

    max_steps: int = integer(40, "Steps of an episode.", least=1)


class Tables(NamedTuple):
    """What is read only."""

    ends: Array  # (2, 2) int32: first and last cell of each seat; the shelf is cell 3


class State(NamedTuple):
    """One moment of B environments."""

    couriers: Array = array_of("N", Courier)
    room: Array = array_of(Room)
    rng: Array = array_of(Rng)


@kernel
def why_refused(ends, action, seat, courier, room):
    """Walls stop couriers, hands hold one parcel, and parcels lie at the left end and on the shelf."""
    cell, held, first, last = courier[Courier.CELL], courier[Courier.HELD], ends[seat, 0], ends[seat, 1]
    if action == Action.LEFT or action == Action.RIGHT:
        return Reason.F_WALL if cell == (first if action == Action.LEFT else last) else Reason.OK
    if action == Action.PUT:
        if held == 0 or cell != last:
            return Reason.F_HANDS_EMPTY if held == 0 else Reason.F_NOT_HERE
        return Reason.F_SHELF_FULL if seat == 0 and room[Room.SHELF] > 0 else Reason.OK
    if action != Action.WAIT and held > 0:
        return Reason.F_HANDS_FULL
    there = cell == first and (seat == 0 or room[Room.SHELF] == action - Action.RIGHT)
    return Reason.OK if action == Action.WAIT or there else Reason.F_NOT_HERE


@kernel
def apply(action, seat, courier, room, rng):
    """Seat 0 puts parcels on the shelf, seat 1 delivers them, and orders count. Mutates: courier, room, rng."""
    if action == Action.WAIT:
        return Event.WAITED
    if action == Action.LEFT or action == Action.RIGHT:
        courier[Courier.CELL] += 1 if action == Action.RIGHT else -1
        return Event.MOVED
    if action != Action.PUT:
        courier[Courier.HELD] = action - Action.RIGHT
        room[Room.SHELF] *= 1 - seat  # seat 1 takes from there
        return Event.TOOK
    parcel, courier[Courier.HELD] = courier[Courier.HELD], 0
    if seat == 0:
        room[Room.SHELF] = parcel
    elif parcel == room[Room.ORDER]:
        room[Room.SERVED] += 1
        room[Room.ORDER] = 1 + draw_below(rng, 2)
        return Event.DELIVERED
    return Event.PUT


@kernel
def step_batch(tables, state, actions, out):
    """Both couriers are judged by the same moment, then act; deliveries of orders pay both. Mutates: state, out."""
    couriers, room, rng, ends = state.couriers, state.room, state.rng, tables.ends
    events, rewards, truncated, fresh = out.events, out.rewards, out.truncated, out.fresh
    for b in range(room.shape[0]):
        events[b], fresh[b], paid = 0, room[b, Room.OVER] == 0, 0
        for seat in range(2 if fresh[b] else 0):
            events[b, seat, EventField.REASON] = why_refused(ends, actions[b, seat], seat, couriers[b, seat], room[b])
        for seat in range(2 if fresh[b] else 0):
            if events[b, seat, EventField.REASON] == Reason.OK:
                events[b, seat, EventField.CODE] = apply(actions[b, seat], seat, couriers[b, seat], room[b], rng[b])
            paid += events[b, seat, EventField.CODE] == Event.DELIVERED
        rewards[b] = paid
        room[b, Room.T] += fresh[b]
        truncated[b] = room[b, Room.T] >= room[b, Room.LIMIT]
        room[b, Room.OVER] = truncated[b]


@kernel
def reset_batch(tables, state, out, which, limit):
    """An episode starts with empty hands beside the walls and a new order. Mutates: state, out."""
    couriers, room, rng = state.couriers, state.room, state.rng
    events, rewards, truncated, fresh = out.events, out.rewards, out.truncated, out.fresh
    for b in range(room.shape[0]):
        fresh[b] = which[b]
        if which[b]:
            couriers[b], room[b], events[b], rewards[b], truncated[b] = 0, 0, 0, 0, False
            couriers[b, 0, Courier.CELL], couriers[b, 1, Courier.CELL] = tables.ends[0, 0], tables.ends[1, 0]
            room[b, Room.ORDER], room[b, Room.LIMIT] = 1 + draw_below(rng[b], 2), limit


@kernel
def observe_batch(tables, state, out):
    """Couriers see everything, their own things first. Mutates: out."""
    couriers, room, ends = state.couriers, state.room, tables.ends
    observations, masks, fresh = out.observations, out.masks, out.fresh
    for b in range(room.shape[0]):
        for seat in range(2 if fresh[b] else 0):
            seen = observations[b, seat]
            for k in range(2):
                seen[k], seen[2 + k] = couriers[b, seat, k], couriers[b, 1 - seat, k]
            seen[4], seen[5], seen[6] = room[b, Room.SHELF], room[b, Room.ORDER], seat
            seen[7] = min(room[b, Room.LIMIT] - room[b, Room.T], 255)
            for action in range(6):
                masks[b, seat, action] = why_refused(ends, action, seat, couriers[b, seat], room[b]) == Reason.OK


class Relay(CompiledGame):
    """Bring parcels of the ordered colour from the left end to the right end, over a shelf that nobody can pass."""

    id = "Relay-v0"
    config_class, array_classes = RelayConfig, (State, BasicOut)
    texts, event_codes, reason_codes = ("wait", "left", "right", "take red", "take blue", "put"), Event, Reason
    n_agents, n_actions, exact_masks = 2, 6, True
    global_state = ("couriers", "room")
    reset_kernels, step_kernels, observe_kernels = (reset_batch,), (step_batch,), (observe_batch,)
    things = ("parcel", "shelf", "red", "blue")
    rules = (
        "Parcels lie at cell 0, the shelf is cell 3, customers wait at cell 6. agent_0 walks on cells 0 to 2 and puts "
        "parcels on the shelf from cell 2; agent_1 walks on cells 4 to 6, takes from the shelf at cell 4 and delivers "
        "with `put` at cell 6. A delivery of the ordered colour pays both 1."
    )

    def __init__(self, *values: Any, **options: Any) -> None:
        config = RelayConfig.read(values, options)
        self.kwargs, self.max_cycles = config.to_dict(), config.max_steps
        self.compiled = SimpleNamespace(tables=Tables(np.array([[0, 2], [4, 6]], np.int32)))
        self._set_spaces(gymnasium.spaces.Box(0, 255, (8,), np.uint8))

    def why_refused(self, state: State, i: int, seat: int, action: int) -> Reason:
        return why_refused(self.compiled.tables.ends, action, seat, state.couriers[i, seat], state.room[i])

    def _decode(self, state: State, i: int, derived: bool) -> dict[str, Any]:
        shelf, order, served, step, limit, _ = state.room[i].tolist()
        couriers = [{"cell": cell, "holds": HOLDING[held]} for cell, held in state.couriers[i].tolist()]
        scene = {"couriers": couriers, "shelf": HOLDING[shelf], "orders": [HOLDING[order]]}
        return scene | {"served": served, "step": step, "limit": limit, "chance": rng_to_dict(state.rng[i])}

    def reset_forms(self) -> dict[str, forms.Form]:
        parcel, count = forms.one_of(HOLDING, "parcel"), forms.integer(0, MAX_OPTION)
        cells = (forms.integer(*ends) for ends in self.compiled.tables.ends.tolist())
        couriers = [forms.record({"cell": cell, "holds": parcel}, ("cell", "holds")) for cell in cells]
        scene = {"couriers": forms.list_by_seat(couriers, "couriers"), "shelf": parcel, "served": count, "step": count}
        scene["orders"] = forms.list_of(forms.one_of(HOLDING[1:], "order"), 1, 1, "orders")
        return {"state": forms.record(scene | {"limit": forms.integer(1, MAX_OPTION), "chance": rng_form()})}

    def _encode(self, state: State, i: int, scene: Mapping[str, Any]) -> None:
        told = self._decode(state, i, False) | dict(scene)
        state.couriers[i] = [(own["cell"], HOLDING.index(own["holds"])) for own in told["couriers"]]
        shelf, order = HOLDING.index(told["shelf"]), HOLDING.index(told["orders"][0])
        state.room[i] = shelf, order, told["served"], told["step"], told["limit"], told["step"] >= told["limit"]
        restore_rng(state.rng[i], told["chance"])

    def _check_scene(self, scene: dict[str, Any]) -> None:
        if scene["step"] > scene["limit"]:
            raise ValueError(f"state.step must be at most the limit of {scene['limit']}, not {scene['step']}")

    def _complete(self, state: State, i: int, scene: Mapping[str, Any]) -> tuple[bool, bool]:
        return False, bool(state.room[i, Room.OVER])


RECORD = registry.GameRecord("Relay-v0", "relay:Relay", "Couriers hand parcels on over a shelf.")
registry.register_game(RECORD)
