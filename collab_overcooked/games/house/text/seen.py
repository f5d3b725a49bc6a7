"""Knowledge of an agent of the household games: its own observations, without other agents' actions."""

from __future__ import annotations

from collab_overcooked.envs.seen import SeatView


class HouseView(SeatView):
    """Knowledge of one agent; other agents' actions are known only by their effects."""

    public_history = False
