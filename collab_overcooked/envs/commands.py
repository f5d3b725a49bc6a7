"""A ParallelEnv with lists of command strings, for games that are controlled by such lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from collab_overcooked.envs.parallel import ParallelEnv


class CommandResult(NamedTuple):
    """Result of ``CommandEnv.command``: the results of a step, and the game's feedback on the commands."""

    observations: dict[str, Any]
    rewards: dict[str, float]
    terminations: dict[str, bool]
    truncations: dict[str, bool]
    infos: dict[str, dict[str, Any]]
    obeyed: tuple[bool, ...]
    feedback: tuple[str, ...]


class CommandEnv(ParallelEnv):
    """A ParallelEnv that also accepts lists of command strings, valid or not."""

    def command(self, commands: Sequence[str]) -> CommandResult:
        """Advance by a list of commands; see the game's ``command`` for the treatment of invalid ones.

        Time always passes. Agents without a command do nothing.

        Raises:
            ValueError: The episode is over.
        """
        if not self.agents:
            raise ValueError("the episode is over; call reset")
        game: Any = self.game  # possibly a TranslatedGame
        self._reasons = []  # reported in the feedback instead
        report = game.command(self._state, self._out, commands)
        return CommandResult(*self._results(), obeyed=report.obeyed, feedback=report.feedback)
