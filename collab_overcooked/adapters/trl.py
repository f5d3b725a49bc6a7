"""TRL: a seat as an environment of ``GRPOTrainer(environment_factory=...)``, or for anything that takes plain tools.

    trainer = GRPOTrainer(model, environment_factory=KitchenSeat, train_dataset=dataset, ...)

Each row of the data set gives the arguments of ``reset``. Public methods other than ``reset`` and ``get_reward`` become
tools, with schemas from their type hints and docstrings. Imports nothing of TRL; written for TRL 1.16.
"""

from __future__ import annotations

from typing import Any

from collab_overcooked.adapters.sitting import RewardKind, Sitting, Turn


class KitchenSeat:
    """Open seat of one job; partners play inside."""

    def __init__(self) -> None:
        self._sitting: Sitting | None = None
        self._turn: Turn | None = None
        self._earned = 0.0

    def reset(
        self,
        suite: str = "collab-capture",
        team: str = "agent_0=llm:trained?agent=choose agent_1=greedy",
        job: int = 0,
        seed: int | None = None,
        reward: RewardKind = "outcome",
        **options: Any,
    ) -> str:
        """Begin an episode.

        Args:
            suite: Name of a suite, as for ``evaluate``.
            team: ``seat=policy`` pairs separated by spaces; exactly the seats ``llm:NAME`` are answered from outside.
            job: Which job of the suite.
            seed: Seed of the environment; None for the suite's own.
            reward: See `Sitting`.
            **options: Options of the suite; other columns of the data set are refused by name.

        Returns:
            Rules and state, for the last user message.
        """
        if self._sitting is not None:
            self._sitting.close()
        self._sitting = Sitting.of_suite(suite, team, job, reward=reward, **options)
        self._turn, self._earned = self._sitting.start(seed), 0.0
        return "\n\n".join(message["content"] for message in self._turn.messages)

    def act(self, answer: str) -> str:
        """Choose what to do next.

        Args:
            answer: The number or the text of one of the listed actions.

        Returns:
            The new state with the actions that are possible then, or how the episode ended.
        """
        if self._sitting is None or self._turn is None:
            return "No episode is running."
        if self._turn.done:
            return "The episode is over."
        self._turn = self._sitting.step(str(answer))
        self._earned += self._turn.reward
        return f"The episode is over: {self._turn.info['metrics']}" if self._turn.done else self._turn.text

    def look(self) -> str:
        """Read the current state again.

        Returns:
            The state with the actions that are possible now.
        """
        return self._turn.text if self._turn is not None else "No episode is running."

    def get_reward(self) -> float:
        """Return the sum of the rewards of the episode so far."""
        return self._earned
