"""The reward of a step, one number for the whole team, added up in the original's order to the last bit."""

from __future__ import annotations

from collab_overcooked._jit import kernel
from collab_overcooked.games.cuisineworld.constants import Command, Done, News

STEP_COST = -0.05
COMPLETION = 50  # and a unit for every step left
ALL_OBEYED = 0.02


@kernel
def team_reward(news, done, commands, shaping):
    """Time costs; completed orders pay, the sooner the more; so do a step without refusal, and what shaping adds."""
    reward = STEP_COST
    for k in range(news[News.COMPLETED]):
        reward += COMPLETION + done[k, Done.REMAINING]
    if all_obeyed(news, commands):
        reward += ALL_OBEYED
    return reward + shaping


@kernel
def all_obeyed(news, commands):
    """A voided or empty list does not count as obeyed."""
    if news[News.GIVEN] <= 0:
        return False
    for c in range(news[News.GIVEN]):
        if commands[c, Command.REASONS] != 0:
            return False
    return True
