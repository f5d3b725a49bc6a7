"""The team reward of a step, summed in the original's order so that it is equal to the last bit."""

from __future__ import annotations

from collab_overcooked.games.cuisineworld.engine.constants import Completion, EventColumn, OrderEvent
from collab_overcooked.kernels.jit import kernel

STEP_COST = -0.05
COMPLETION = 50  # plus 1 for every step left
ALL_ACCEPTED = 0.02


@kernel
def team_reward(order_events, completions, events, shaping):
    """A step costs 0.05; completed orders pay 50 plus their steps left; a step without refusals pays 0.02."""
    reward = STEP_COST
    for k in range(order_events[OrderEvent.COMPLETED]):
        reward += COMPLETION + completions[k, Completion.REMAINING]
    if all_accepted(order_events, events):
        reward += ALL_ACCEPTED
    return reward + shaping


@kernel
def all_accepted(order_events, events):
    """All commands are accepted if there is at least one and none is refused or voided."""
    if order_events[OrderEvent.GIVEN] <= 0:
        return False
    for c in range(order_events[OrderEvent.GIVEN]):
        if events[c, EventColumn.REASON] != 0:
            return False
    return True
