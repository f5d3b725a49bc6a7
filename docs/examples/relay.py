"""Relay, a whole game in one file: two couriers on both sides of a shelf hand on parcels of the ordered colour."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from collab_overcooked import registry
from collab_overcooked.envs import scene_codec as codec
from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.envs.event_rewards import Pay
from collab_overcooked.kernels.arrays import Array, BasicOut, array_of
from collab_overcooked.kernels.batch_kernels import BatchKernels
from collab_overcooked.kernels.events import EventField
from collab_overcooked.kernels.jit import kernel
from collab_overcooked.kernels.reasons import ReasonCode
from collab_overcooked.kernels.rng import Rng, draw_below

HOLDING = ("nothing", "red", "blue")  # 0 for empty hands and an empty shelf
Action = IntEnum("Action", "WAIT LEFT RIGHT TAKE_RED TAKE_BLUE PUT", start=0)
Event = IntEnum("Event", "WAITED MOVED TOOK PUT DELIVERED", start=0)
Reason = ReasonCode("Reason", "OK F_WALL F_HANDS_FULL F_NOT_HERE F_HANDS_EMPTY F_SHELF_FULL", start=0)
Courier = IntEnum("Courier", "CELL HELD", start=0)
Room = IntEnum("Room", "SHELF ORDER SERVED T LIMIT", start=0)


class State(NamedTuple):
    """State of B environments."""

    couriers: Array = array_of("N", Courier)
    room: Array = array_of(Room)
    rng: Array = array_of(Rng)


@kernel
def why_refused(env, seat, action):
    """Walls stop couriers, hands hold one parcel, and parcels lie at the left end and on the shelf."""
    room, (cell, held) = env.room, env.couriers[seat]
    first, last = 4 * seat, 4 * seat + 2
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
def apply(env, seat, action):
    """Seat 0 puts parcels on the shelf, seat 1 delivers them, and orders count. Mutates: env."""
    courier, room = env.couriers[seat], env.room
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
        room[Room.ORDER] = 1 + draw_below(env.rng, 2)
        return Event.DELIVERED
    return Event.PUT


@kernel
def is_over(env):
    """An episode is over at its limit."""
    return env.room[Room.T] >= env.room[Room.LIMIT]


@kernel
def step_env(env, actions, out):
    """Both couriers are judged by the same state, then act; deliveries of orders pay both. Mutates: env, out."""
    events, paid = out.events, 0
    for seat in range(2):
        reason = why_refused(env, seat, actions[seat])
        events[seat, EventField.CODE], events[seat, EventField.REASON] = Event.WAITED, reason
    for seat in range(2):
        if events[seat, EventField.REASON] == Reason.OK:
            events[seat, EventField.CODE] = apply(env, seat, actions[seat])
            paid += events[seat, EventField.CODE] == Event.DELIVERED
    out.rewards[:] = paid
    env.room[Room.T] += 1
    return False, is_over(env)  # terminated, truncated


@kernel
def reset_env(env, limit):
    """An episode starts with empty hands beside the walls and a new order. Mutates: env."""
    env.couriers[1, Courier.CELL], env.room[Room.LIMIT] = 4, limit
    env.room[Room.ORDER] = 1 + draw_below(env.rng, 2)


@kernel
def observe_env(env, out):
    """Couriers see everything, their own things first. Mutates: out."""
    for seat in range(2):
        seen, room = out.observations[seat], env.room
        for k in range(2):
            seen[k], seen[2 + k] = env.couriers[seat, k], env.couriers[1 - seat, k]
        seen[4], seen[5] = room[Room.SHELF], room[Room.ORDER]
        seen[6], seen[7] = seat, min(room[Room.LIMIT] - room[Room.T], 255)


class Relay(CompiledGame):
    """Bring parcels of the ordered colour from the left end to the right end, over a shelf that nobody can pass."""

    id = "Relay-v0"
    texts = ("wait", "left", "right", "take red", "take blue", "put")
    event_codes, reason_codes = Event, Reason
    n_agents, n_actions, observed_numbers, exact_masks = 2, 6, 8, True
    array_classes = (State, BasicOut)
    global_state = ("couriers", "room")
    step_key = "step"
    batch_kernels = BatchKernels(step_env, reset_env, observe_env, is_over=is_over, why_refused=why_refused)
    event_pay = (Pay("delivered", team=(1, 1)),)
    things = ("parcel", "shelf", "red", "blue")
    rules = (
        "Parcels lie at cell 0, the shelf is cell 3, customers wait at cell 6. agent_0 walks on cells 0 to 2 and puts "
        "parcels on the shelf from cell 2; agent_1 walks on cells 4 to 6, takes from the shelf at cell 4 and delivers "
        "with `put` at cell 6. Delivering the ordered colour pays both 1."
    )

    def scene_parts(self) -> dict[str, codec.Part]:
        couriers, parcel = {}, codec.names_of(HOLDING, "parcel")
        order = codec.names_of(HOLDING, "order", HOLDING[1:])
        for seat, name in enumerate(self.display_names):
            cell = codec.span("couriers", Courier.CELL, 4 * seat, 4 * seat + 2)
            couriers[name] = codec.group({"cell": cell, "holds": codec.column("couriers", Courier.HELD, parcel)})
        return {
            "couriers": codec.entries(couriers),
            "shelf": codec.column("room", Room.SHELF, parcel),
            "orders": codec.listing([codec.column("room", Room.ORDER, order)], "orders"),
            "served": codec.column("room", Room.SERVED, codec.COUNT),
            **codec.clock("room", step=Room.T, limit=Room.LIMIT),
        }


RECORD = registry.GameSpec("Relay-v0", "relay:Relay", "Couriers hand parcels on over a shelf.")
registry.register_game(RECORD)
