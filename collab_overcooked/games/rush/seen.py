"""Knowledge of an agent of Rush: everything, as the board lies open and agents act one after the other."""

from __future__ import annotations

from collab_overcooked.envs.seen import SeatView


class BoardView(SeatView):
    """What one agent knows."""

    public_choices = True
