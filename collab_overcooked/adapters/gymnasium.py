"""Gymnasium: an open seat as an environment of ``Text`` spaces; partners play inside.

    import gymnasium
    env = gymnasium.make("collab_overcooked.adapters.gymnasium:CooperativeText-v0", suite="collab-escape")
    text, info = env.reset(seed=0)
    text, reward, terminated, truncated, info = env.step("1")

Importing this module registers the id.
"""

from __future__ import annotations

import string
from typing import Any

import gymnasium
from gymnasium.spaces import Text

from collab_overcooked.adapters.rewards import RewardKind
from collab_overcooked.adapters.sitting import Sitting, Turn

ID = "CooperativeText-v0"
MAX_OBSERVATION, MAX_ACTION = 100_000, 4_000
CHARACTERS = frozenset(string.printable + "×−–’…→°é")
"""Characters of the spaces; others in observations become ``?``."""


class TextSeat(gymnasium.Env[str, str]):
    """Environment of one open seat.

    The observation is the newest message to the seat. Every ``info`` has ``legal``, a list of the legal actions,
    ``rules`` (the system text) and ``messages``, the whole chat; the last one has ``metrics`` and ``record``.

    Args:
        suite: Name of a suite.
        team: ``seat=policy`` pairs separated by spaces; exactly one is ``llm:NAME``.
        match: Which match of the suite; the option ``match`` of ``reset`` chooses another one.
        reward: See ``Sitting``.
        render_mode: None or ``"ansi"``, the newest message.
        **options: Options of the suite.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012  (as Gymnasium declares it)

    def __init__(
        self,
        suite: str = "collab-capture",
        team: str = "agent_0=llm:agent?agent=choose all=greedy",
        match: int = 0,
        reward: RewardKind = "outcome",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode must be None or 'ansi', not {render_mode!r}")
        self.render_mode = render_mode
        self.observation_space = Text(MAX_OBSERVATION, min_length=0, charset=CHARACTERS)
        self.action_space = Text(MAX_ACTION, min_length=0, charset=CHARACTERS)
        self._make = lambda match: Sitting.of_suite(suite, team, match, reward=reward, **options)
        self._sitting, self._match = self._make(match), match
        if len(self._sitting.seats) != 1:
            raise ValueError(f"team {team!r}: exactly one seat must be open, not {len(self._sitting.seats)}")
        self._text = ""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: Seed of the environment; None for the suite's own.
            options: ``match``, the match of the suite to play from now on.

        Returns:
            The first message and info.
        """
        super().reset(seed=seed)
        match = (options or {}).get("match", self._match)
        if match != self._match:
            self._sitting.close()
            self._sitting, self._match = self._make(match), match
        turn = self._sitting.start(seed)
        return self._observe(turn), self._info(turn)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Answer the last message.

        Returns:
            The next message (empty at the end), the reward, whether the episode is over, False, and info. The game's
            own limit of steps ends an episode like any other rule.
        """
        turn = self._sitting.step(action)
        return self._observe(turn), turn.reward, turn.done, False, self._info(turn)

    def render(self) -> str | None:
        """Return the newest message."""
        return self._text if self.render_mode == "ansi" else None

    def close(self) -> None:
        """End the thread of the sitting."""
        self._sitting.close()

    def _observe(self, turn: Turn) -> str:
        text = turn.text[:MAX_OBSERVATION]
        self._text = "".join(character if character in CHARACTERS else "?" for character in text)
        return self._text

    def _info(self, turn: Turn) -> dict[str, Any]:
        if turn.done:
            return {"legal": [], "metrics": dict(self._sitting.metrics), "record": self._sitting.record}
        chat = list(turn.messages)
        return {"legal": list(turn.legal), "rules": chat[0]["content"], "messages": chat, **turn.info}


gymnasium.register(id=ID, entry_point=f"{__name__}:TextSeat")
