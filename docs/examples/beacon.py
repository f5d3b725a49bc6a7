"""Beacon, a game with hidden information: a keeper who sees a wreck guides a diver, who sees no more than a lamp."""

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

CELLS = 9
KEEPER = 0  # the seat; the other is the diver's
LAMP = ("dark", "green", "red")
Action = IntEnum("Action", "WAIT LEFT RIGHT ACT", start=0)  # the keeper's left and right switch the lamp
Event = IntEnum("Event", "WAITED MOVED LIT SEARCHED FOUND", start=0)
Reason = ReasonCode("Reason", "OK F_SHORE F_KEEPER_STAYS", start=0)
Bay = IntEnum("Bay", "WRECK DIVER LAMP FOUND T LIMIT", start=0)


class State(NamedTuple):
    """State of B environments."""

    bay: Array = array_of(Bay)
    rng: Array = array_of(Rng)


@kernel
def why_refused(env, seat, action):
    """The shores stop the diver, and only the diver dives; no refusal depends on where the wreck is."""
    if seat == KEEPER:
        return Reason.F_KEEPER_STAYS if action == Action.ACT else Reason.OK
    shore = CELLS - 1 if action == Action.RIGHT else 0
    is_blocked = (action == Action.LEFT or action == Action.RIGHT) and env.bay[Bay.DIVER] == shore
    return Reason.F_SHORE if is_blocked else Reason.OK


@kernel
def apply(env, seat, action):
    """The keeper's actions set the lamp, the diver moves or dives, and a found wreck is the last. Mutates: env."""
    bay = env.bay
    if seat == KEEPER:
        bay[Bay.LAMP] = action
        return Event.WAITED if action == Action.WAIT else Event.LIT
    if action == Action.WAIT:
        return Event.WAITED
    if action != Action.ACT:
        bay[Bay.DIVER] += 1 if action == Action.RIGHT else -1
        return Event.MOVED
    if bay[Bay.DIVER] != bay[Bay.WRECK]:
        return Event.SEARCHED
    bay[Bay.FOUND] += 1
    bay[Bay.WRECK] = draw_below(env.rng, CELLS)
    return Event.FOUND


@kernel
def is_over(env):
    """An episode is over at its limit."""
    return env.bay[Bay.T] >= env.bay[Bay.LIMIT]


@kernel
def step_env(env, actions, out):
    """The keeper acts before the diver; a found wreck pays both. Mutates: env, out."""
    events, paid = out.events, 0
    for seat in range(2):
        reason = why_refused(env, seat, actions[seat])
        code = apply(env, seat, actions[seat]) if reason == Reason.OK else Event.WAITED
        events[seat, EventField.CODE], events[seat, EventField.REASON] = code, reason
        paid += code == Event.FOUND
    out.rewards[:] = paid
    env.bay[Bay.T] += 1
    return False, is_over(env)  # terminated, truncated


@kernel
def reset_env(env, limit):
    """An episode starts in the dark, with the diver in the middle and a wreck anywhere. Mutates: env."""
    env.bay[Bay.WRECK], env.bay[Bay.DIVER] = draw_below(env.rng, CELLS), CELLS // 2
    env.bay[Bay.LIMIT] = limit


@kernel
def observe_env(env, out):
    """Both see diver, lamp and time; the keeper sees the wreck, of which the diver reads 0. Mutates: out."""
    bay = env.bay
    for seat in range(2):
        seen = out.observations[seat]
        seen[0] = seat
        seen[1] = bay[Bay.DIVER]
        seen[2] = bay[Bay.LAMP]
        seen[3] = 1 + bay[Bay.WRECK] if seat == KEEPER else 0
        seen[4] = min(bay[Bay.LIMIT] - bay[Bay.T], 255)


class Beacon(CompiledGame):
    """Find wrecks in a bay: the keeper sees where they lie, the diver searches, and a lamp is all that they share."""

    id = "Beacon-v0"
    array_classes = (State, BasicOut)
    texts = ("wait", "left", "right", "act")
    event_codes = Event
    reason_codes = Reason
    n_agents = 2
    n_actions = 4
    observed_numbers = 5
    exact_masks = True
    global_state = ("bay",)  # of which centralised critics learn more than seats know
    batch_kernels = BatchKernels(step_env, reset_env, observe_env, is_over=is_over, why_refused=why_refused)
    event_pay = (Pay("found", team=(1, 1)),)
    things = ("wreck", "lamp", *LAMP)
    rules = (
        f"A wreck lies in one of the cells 0 to {CELLS - 1} of a bay. agent_0 sees it and switches a lamp: `left` is "
        "green, `right` is red, `wait` is dark. agent_1 sees the lamp of the step before, walks `left` and `right` and "
        "dives with `act`. A dive to the wreck pays both 1, and the next wreck lies anywhere."
    )

    def scene_parts(self) -> dict[str, codec.Part]:
        return {
            "wreck": codec.span("bay", Bay.WRECK, 0, CELLS - 1, known_to=(KEEPER,), belief=codec.uniform),
            "diver": codec.span("bay", Bay.DIVER, 0, CELLS - 1),
            "lamp": codec.column("bay", Bay.LAMP, codec.names_of(LAMP, "lamp")),
            "found": codec.column("bay", Bay.FOUND, codec.COUNT),
            **codec.clock("bay", timestep=Bay.T, limit=Bay.LIMIT),
        }


RECORD = registry.GameSpec("Beacon-v0", "beacon:Beacon", "A keeper guides a diver to wrecks by a lamp.")
registry.register_game(RECORD)
