"""TRL: an open seat as an environment of ``GRPOTrainer``, with the tools of the channel ``tools``.

    rows = training_rows("collab-escape", seeds=range(64))
    GRPOTrainer(model, environment_factory=TrainingSeat, train_dataset=Dataset.from_list(rows), ...)

Needs nothing of TRL. Tested with trl 1.16.0.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from collab_overcooked.adapters.results import request_counts
from collab_overcooked.adapters.rewards import RewardKind
from collab_overcooked.adapters.seat_client import SeatClient, Turn
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.policies.llm.tools import ACT, calls_text

TEAM = "agent_0=llm:model?agent=choose,channel=tools all=greedy"
OVER = "The episode is over."


class TrainingSeat:
    """Environment of one open seat, made once and reset for each rollout.

    The first question is that of ``evaluate`` for the same spec. Each call of the tool ``act`` is one answer, and the
    tool returns the newest message of the next question.

    Attributes:
        rewards: Reward of each answer, in order; their sum is that of the episode.
        truncated: Whether a limit of turns or tokens ended the episode, or an answer without a call of the tool.
        unusable: Number of answers that could not be used, as ``evaluate`` counts them; known at the end.
    """

    def __init__(self) -> None:
        self.rewards: list[float] = []
        self.truncated, self.unusable = False, 0
        self._client: SeatClient | None = None
        self._terms: dict[str, Any] = {}
        self._turn: Turn | None = None
        self._turns: int | None = None

    def reset(
        self,
        prompt: Any = None,
        suite: str = "collab-escape",
        team: str = TEAM,
        match: int = 0,
        seed: int | None = None,
        reward: RewardKind = "normalized",
        turns: int | None = None,
        **options: Any,
    ) -> str:
        """Begin an episode with the columns of a row of ``training_rows``.

        Args:
            prompt: The row's chat, which the trainer shows before the question.
            suite: Name of a suite.
            team: ``seat=policy`` pairs separated by spaces, with one seat ``llm:NAME?agent=choose,channel=tools``.
            match: Index of the match in the suite.
            seed: Seed of the environment; None for the suite's own.
            reward: See ``SeatClient``.
            turns: Number of answers after which the episode is cut; None for no limit.
            **options: Options of the suite; those that are None, as in columns that a row does not have, are left out.

        Returns:
            The first question.

        Raises:
            ValueError: For an unknown suite, match, reward or option, or a seat that does not answer by ``act`` alone.
        """
        given = {name: value for name, value in options.items() if value is not None}
        terms = {"suite": suite, "team": team, "match": match, "reward": reward, **given}
        if self._client is None or terms != self._terms:
            if self._client is not None:
                self._client.close()
            self._client = SeatClient.of_suite(**terms, carries=["tools"])
            self._terms = terms
        self.rewards = []
        self.truncated = False
        self.unusable = 0
        self._turns = turns
        self._turn = self._client.start(seed)
        check_tools(self._client)
        return self._turn.text

    def act(self, action: str) -> str:
        """Choose the one action that you take now.

        Args:
            action: The text of one of the listed actions.

        Returns:
            What you see next.

        Raises:
            ValueError: The environment was not reset.
        """
        if self._client is None or self._turn is None:
            raise ValueError("the environment must be reset first")
        if self._turn.done:
            return OVER
        self._note(self._client.step(calls_text([(ACT, json.dumps({"action": action}))])))
        if len(self.rewards) == self._turns and not self._turn.done:
            self._end()
        return OVER if self._turn.done else self._turn.text

    def get_reward(self) -> float:
        """Return the reward of the episode, which is cut if it still runs."""
        if self._turn is not None and not self._turn.done:
            self._end()
        return sum(self.rewards)

    def _end(self) -> None:
        assert self._client is not None
        paid = self.rewards.pop() if self.rewards else 0.0
        self._note(self._client.cut())
        self.rewards[-1] += paid

    def _note(self, turn: Turn) -> None:
        assert self._client is not None
        self._turn = turn
        self.rewards.append(turn.reward)
        if turn.done:
            self.truncated = turn.info["truncated"]
            self.unusable = int(request_counts(self._client.records)["unusable"])


def check_tools(client: SeatClient) -> None:
    """Check that the seat's question is answered by the tool ``act`` alone.

    Raises:
        ValueError: Several seats are open, or the question has other tools.
    """
    tools = [tool["name"] for tool in client.request.tools] if client.request is not None else []
    if tools != [ACT] or len(client.seats) > 1:
        raise ValueError(
            f"team {' '.join(client.match.team)!r}: exactly one seat must be open, and answer by the tool act alone: "
            "llm:NAME?agent=choose,channel=tools"
        )


def training_rows(
    suite: str,
    team: str = TEAM,
    *,
    seeds: Iterable[int],
    reward: RewardKind = "normalized",
    turns: int | None = None,
    **options: Any,
) -> list[dict[str, Any]]:
    """Return the rows of a dataset for ``TrainingSeat``: every match of a suite with every seed.

    The prompt is the system text of the first question, with a user message that ``TrainingSeat.reset`` fills.

    Args:
        suite: Name of a suite.
        team: See ``TrainingSeat.reset``.
        seeds: Seeds of the environment.
        reward: See ``SeatClient``.
        turns: See ``TrainingSeat.reset``.
        **options: Options of the suite.
    """
    plan, rows = plan_evaluation(suite, team.split(), **options), []
    seeds = tuple(seeds)
    for match in range(len(plan.matches)):
        with SeatClient.of_plan(plan, match, carries=["tools"]) as client:
            for seed in seeds:
                rules = client.start(seed).messages[0]["content"]
                check_tools(client)
                prompt = [{"role": "system", "content": rules}, {"role": "user", "content": ""}]
                play = {"suite": suite, "team": team, "match": match, "seed": seed, "reward": reward, "turns": turns}
                rows.append({"prompt": prompt, **play, **options})
    return rows
