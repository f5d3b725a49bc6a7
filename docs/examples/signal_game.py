"""A signalling game in one file: agent_0 sees one of four numbers, agent_1 has to name it."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

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
from collab_overcooked.policies.api import AgentView, EnvInfo, PolicyBase

NUMBERS = 4
Action = IntEnum("Action", "WAIT NAME_1 NAME_2 NAME_3 NAME_4", start=0)
Event = IntEnum("Event", "WAITED NAMED WRONG", start=0)
Reason = ReasonCode("Reason", "OK F_NOT_YOURS", start=0)
Round = IntEnum("Round", "NUMBER T LIMIT", start=0)


class State(NamedTuple):
    """State of B environments."""

    round: Array = array_of(Round)
    rng: Array = array_of(Rng)


@kernel
def why_refused(seat, action):
    """Only agent_1 names numbers."""
    return Reason.F_NOT_YOURS if seat == 0 and action != Action.WAIT else Reason.OK


@kernel
def is_over(env):
    """An episode is over at its limit."""
    return env.round[Round.T] >= env.round[Round.LIMIT]


@kernel
def step_env(env, actions, out):
    """Naming the number of the episode pays both 1. Mutates: env, out."""
    paid = 0
    for seat in range(2):
        action, reason = actions[seat], why_refused(seat, actions[seat])
        event = Event.WAITED
        if reason == Reason.OK and action != Action.WAIT:
            event = Event.NAMED if action == env.round[Round.NUMBER] else Event.WRONG
        out.events[seat, EventField.CODE], out.events[seat, EventField.REASON] = event, reason
        paid += event == Event.NAMED
    out.rewards[:] = paid
    env.round[Round.T] += 1
    return False, is_over(env)  # terminated, truncated


@kernel
def reset_env(env, limit):
    """A number is drawn for each episode. Mutates: env."""
    env.round[Round.NUMBER], env.round[Round.LIMIT] = 1 + draw_below(env.rng, NUMBERS), limit


@kernel
def observe_env(env, out):
    """Only agent_0 sees the number. Mutates: out."""
    for seat in range(2):
        seen, left = out.observations[seat], env.round[Round.LIMIT] - env.round[Round.T]
        for k in range(NUMBERS):
            seen[k] = seat == 0 and env.round[Round.NUMBER] == k + 1
        seen[NUMBERS], seen[NUMBERS + 1] = seat, min(left, 255)


class Signal(CompiledGame):
    """Name the number that only the teammate sees; with the option ``channel`` it can say which one it is."""

    id = "Signal-v0"
    texts = ("wait", "name 1", "name 2", "name 3", "name 4")
    event_codes, reason_codes = Event, Reason
    n_agents = 2
    n_actions = 5
    observed_numbers = NUMBERS + 2
    exact_masks = True
    max_cycles = 10
    array_classes = (State, BasicOut)
    global_state = ("round",)
    step_key = "step"
    batch_kernels = BatchKernels(step_env, reset_env, observe_env, is_over=is_over, why_refused=why_refused)
    event_pay = (Pay("named", team=(1, 1)),)
    rules = "agent_0 sees a number from 1 to 4, the same in all steps. Each time agent_1 names it, both are paid 1."

    def scene_parts(self) -> dict[str, codec.Part]:
        number = codec.span("round", Round.NUMBER, 1, NUMBERS, known_to=(0,), belief=codec.uniform)
        return {"number": number, **codec.clock("round", step=Round.T, limit=Round.LIMIT)}


class FixedCode(PolicyBase):
    """Says the number as it is, and names what it hears; a random number as long as it has heard nothing."""

    name = "fixed_code"
    speaks = True

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Reset the generator."""
        self._rng = np.random.default_rng([seed, seat])
        self._acts = info.game.quiet.n_actions
        self._symbols = info.game.kwargs.get("channel", 0)

    def act(self, seen: AgentView) -> int:
        """Return the action."""
        if seen.seat == 0:
            number = int(seen.scene["number"])
            return number * self._acts if number <= self._symbols else int(Action.WAIT)
        heard = seen.scene.get("said", (0, 0))[0] or 0
        return int(heard) if 1 <= heard <= NUMBERS else int(self._rng.integers(1, NUMBERS + 1))


RECORD = registry.GameSpec(
    "Signal-v0",
    "signal_game:Signal",
    "One agent sees a number that the other one has to name.",
    policies={"greedy": "signal_game:FixedCode"},
)
registry.register_game(RECORD)
