"""The reward of a step, one number for the whole team, added up in the original's order to the last bit."""

from __future__ import annotations

from collab_overcooked.games.cuisineworld.engine.constants import Completion, EventColumn, OrderEvent
from collab_overcooked.kernels.jit import kernel

STEP_COST = -0.05
COMPLETION = 50  # and a unit for every step left
ALL_ACCEPTED = 0.02


@kernel
def team_reward(order_events, completions, events, shaping):
    """Time costs; completed orders pay, the sooner the more; so do a step without refusal, and what shaping adds."""
    reward = STEP_COST
    for k in range(order_events[OrderEvent.COMPLETED]):
        reward += COMPLETION + completions[k, Completion.REMAINING]
    if all_accepted(order_events, events):
        reward += ALL_ACCEPTED
    return reward + shaping


@kernel
def all_accepted(order_events, events):
    """All commands are accepted if none is refused; a voided or empty list does not count."""
    if order_events[OrderEvent.GIVEN] <= 0:
        return False
    for c in range(order_events[OrderEvent.GIVEN]):
        if events[c, EventColumn.REASON] != 0:
            return False
    return True
