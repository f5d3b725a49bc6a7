"""Knowledge of an agent of CraftKitchen: everything but what is ordered next; refusals are told to all."""

from __future__ import annotations

from collab_overcooked.envs.seen import SeatView


class CraftView(SeatView):
    """What one agent knows. All lies open, so the agent knows what every other one could do as well."""

    public_refusals = True

    def commands(self, seat: int) -> list[str]:
        """Return what the game would accept from a seat now, written as commands."""
        game = self._game
        legal = (a for a in range(game.n_actions) if game.check(self._state, 0, seat, a)[0] == "OK")
        return [game.command_text(seat, action) for action in legal]
