"""A ParallelEnv that also takes lists of command strings, for games that are commanded by such lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from collab_overcooked.envs.parallel import ParallelEnv


class CommandResult(NamedTuple):
    """What ``CommandEnv.command`` returns: the results of a step, and the game's answer to the commands."""

    observations: dict[str, Any]
    rewards: dict[str, float]
    terminations: dict[str, bool]
    truncations: dict[str, bool]
    infos: dict[str, dict[str, Any]]
    obeyed: tuple[bool, ...]
    feedback: tuple[str, ...]


class CommandEnv(ParallelEnv):
    """A ParallelEnv that also takes lists of command strings, right or wrong."""

    def command(self, commands: Sequence[str]) -> CommandResult:
        """Advance by a list of commands; what its game's ``command`` says of wrong ones holds.

        Time passes in any case. Agents that are not named do nothing.

        Raises:
            ValueError: If the episode is over.
        """
        if not self.agents:
            raise ValueError("the episode is over; call reset")
        game: Any = self.game  # perhaps in other words
        self._reasons = []  # the answer to commands is the feedback
        report = game.command(self._state, self._out, commands)
        return CommandResult(*self._results(), obeyed=report.obeyed, feedback=report.feedback)
