"""SkyRL: a seat as a ``BaseTextEnv``.

    skyrl_gym.register(id="collab_overcooked", entry_point="collab_overcooked.adapters.skyrl:KitchenTextEnv")

Rows of the data set name ``env_class: collab_overcooked`` and give ``extras`` with the arguments of
`trl.KitchenSeat.reset`. Tested with skyrl-gym 0.4.0.
"""

from __future__ import annotations

from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from collab_overcooked.adapters.results import numeric_metrics
from collab_overcooked.adapters.sitting import Sitting, Turn

DEFAULTS: dict[str, Any] = {"suite": "collab-capture", "team": "agent_0=llm:trained?agent=choose agent_1=greedy"}


class KitchenTextEnv(BaseTextEnv):
    """Text environment of one open seat; partners play inside."""

    def __init__(self, env_config: Any = None, extras: dict[str, Any] | None = None) -> None:
        super().__init__()
        options = DEFAULTS | dict((extras or {}).get("collab_overcooked", {}))
        self._seed = options.pop("seed", None)
        self._sitting = Sitting.of_suite(**options)
        self._turn: Turn | None = None
        self.max_turns = 10_000  # the game's own time limit ends an episode

    def init(self, prompt: list[dict[str, str]]) -> tuple[list[dict[str, str]], dict[str, Any]]:
        """Begin an episode: the messages of the data set, then rules and state."""
        self._turn = self._sitting.start(self._seed)
        return [*prompt, *self._turn.messages], {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Answer the last question."""
        self._turn = turn = self._sitting.step(action)
        observations = [] if turn.done else [{"role": "user", "content": turn.text}]
        return BaseTextEnvStepOutput(observations=observations, reward=turn.reward, done=turn.done, metadata=turn.info)

    def get_metrics(self) -> dict[str, float]:
        """Return the metrics of the finished episode that are one number."""
        done = self._turn is not None and self._turn.done
        return numeric_metrics(self._sitting.record) if done else {}

    def close(self) -> None:
        """End the thread of the sitting."""
        self._sitting.close()
