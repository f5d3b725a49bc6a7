"""What an agent of the household games may know: what it has seen itself, and nothing that others do or did."""

from __future__ import annotations

from collab_overcooked.envs.seen import SeatView


class HouseView(SeatView):
    """What one agent knows; actions of others are seen only by what they leave behind."""

    public_history = False
