"""TextArena: jobs as environments of several players; importing this module registers them.

    import textarena as ta, collab_overcooked.adapters.textarena
    env = ta.make(ENV_ID)  # as in collab_overcooked.make
    env.reset(num_players=2, seed=0)

Each seat ``llm:NAME`` of the team is a player, in seat order; other seats play inside. All players get the outcome from
0 to 1 as reward. Tested with textarena 0.7.4.
"""

from __future__ import annotations

from typing import Any

import textarena as ta

from collab_overcooked import registry
from collab_overcooked.adapters.sitting import Sitting, Turn

Observation = list[tuple[int, str, ta.ObservationType]]


class KitchenEnv(ta.Env):
    """Environment of one job whose open seats are players.

    Args:
        suite: Name of a suite.
        team: ``seat=policy`` pairs separated by spaces.
        job: Which job of the suite.
        **options: Options of the suite.
    """

    def __init__(self, suite: str, team: str = "all=llm:player", job: int = 0, **options: Any) -> None:
        self._sitting = Sitting.of_suite(suite, team, job, **options)
        self._seats = self._sitting.seats
        self._turn: Turn | None = None
        self._met: set[int] = set()

    def reset(self, num_players: int | None = None, seed: int | None = None) -> None:
        """Begin an episode.

        Raises:
            ValueError: If the team has another number of open seats.
        """
        if num_players not in (None, len(self._seats)):
            raise ValueError(f"num_players must be {len(self._seats)}, the open seats of the team, not {num_players}")
        players = len(self._seats)
        self.state = (
            ta.FFAMultiPlayerState(num_players=players, seed=seed)
            if players > 1
            else ta.SinglePlayerState(num_players=1, seed=seed)
        )
        self.state.reset(game_state={})
        self._turn, self._met = self._sitting.start(seed), set()
        self._point()

    def get_observation(self) -> tuple[int, Observation]:
        """Return the player whose turn it is and the new messages: the rules at first, then the state."""
        turn = self._current()
        player = self._seats.index(turn.seat)
        rules = [] if player in self._met else [(ta.GAME_ID, turn.messages[0]["content"], ta.ObservationType.PROMPT)]
        self._met.add(player)
        return player, [*rules, (ta.GAME_ID, turn.text, ta.ObservationType.GAME_BOARD)]

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Answer for the current player; unreadable answers are asked for again by the game itself."""
        self._turn = self._sitting.step(action)
        if self._turn.done:
            self.state.done = True
        else:
            self._point()
        return self._turn.done, {"metrics": dict(self._sitting.metrics)} if self._turn.done else {}

    def close(self) -> tuple[dict[int, float], dict[int, dict[str, Any]]]:
        """End the episode; returns rewards and information by player."""
        turn = self._current()
        rewards = {player: turn.info["rewards"][seat] if turn.done else 0.0 for player, seat in enumerate(self._seats)}
        info = {player: {"turn_count": turn.info.get("timestep")} for player in rewards}
        self._sitting.close()
        return rewards, info

    def _current(self) -> Turn:
        if self._turn is None:
            raise ValueError("the environment must be reset first")
        return self._turn

    def _point(self) -> None:
        self.state.current_player_id = self._seats.index(self._current().seat)


for record in registry.games():
    for suite_name in list(record.suites)[:1]:
        ta.register(id=record.id, entry_point="collab_overcooked.adapters.textarena:KitchenEnv", suite=suite_name)
