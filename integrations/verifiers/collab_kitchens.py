"""Suites of collab-overcooked as a taskset of verifiers, and an environment with one role per seat.

    vf-eval collab-kitchens -m MODEL --env.taskset.suite collab-overcooked --env.taskset.options '{"levels": 1}'

Each task is a match of the suite, played by a `SeatClient`: seeds, prompts, corrections, records and metrics are those
of ``collab-overcooked evaluate``. Tested with verifiers 0.4.0.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import AsyncExitStack
from functools import cached_property
from typing import Any

import verifiers.v1 as vf
from pydantic import Field

from collab_overcooked.adapters.results import mean_metrics, shared_folder
from collab_overcooked.adapters.rewards import RewardKind
from collab_overcooked.adapters.seat_client import SeatClient, Turn
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.runner.match import MatchPlan

__all__ = ["KitchenEnv", "KitchenTaskset"]  # verifiers looks for one taskset and one environment here

MAX_SEATS = 4
SEAT = {"harness": {"id": "null"}, "runtime": {"type": "subprocess"}}  # a chat without tools, on this machine


class KitchenTasksetConfig(vf.TasksetConfig):
    """Options below ``--env.taskset``."""

    suite: str = "collab-capture"
    """Name of a suite."""
    team: str = "all=llm:policy?agent=choose"
    """``seat=policy`` pairs separated by spaces; each seat ``llm:NAME`` is a role."""
    seed: int = 0
    """Seed of the suite."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the suite."""


class KitchenData(vf.TaskData):
    """Data of a task.

    Attributes:
        match: Index of the match in the evaluation.
    """

    match: int


class KitchenTask(vf.Task[KitchenData, vf.State, vf.TaskConfig]):
    """One match; rewards come from the environment, which sees all seats."""


class KitchenTaskset(vf.Taskset[KitchenTask, KitchenTasksetConfig]):
    """The matches of a suite, in the order and with the seeds of ``evaluate``."""

    @cached_property
    def plan(self) -> MatchPlan:
        """The evaluation.

        Raises:
            ValueError: For an unknown suite, policy or option.
        """
        config = self.config
        return plan_evaluation(config.suite, config.team.split(), seed=config.seed, **config.options)

    def load(self) -> Iterable[KitchenTask]:
        """Yield a task per match."""
        for number, match in enumerate(self.plan.matches):
            name = "/".join(map(str, match.keys[0]))
            data = KitchenData(
                match=number, id=name, name=name, prompt=f"{match.env_id} {match.task}: {' '.join(match.team)}"
            )
            yield KitchenTask(data, self.config.task)


class KitchenEnvConfig(vf.EnvConfig):
    """Options below ``--env``; the roles are the seats, of which those that play inside stay unused."""

    agent_0: vf.AgentConfig = vf.AgentConfig(**SEAT)
    agent_1: vf.AgentConfig = vf.AgentConfig(**SEAT)
    agent_2: vf.AgentConfig = vf.AgentConfig(**SEAT)
    agent_3: vf.AgentConfig = vf.AgentConfig(**SEAT)
    reward: RewardKind = "outcome"
    """See `SeatClient`."""
    records: str = ""
    """Run folder for our own records; empty for none."""


class KitchenEnv(vf.Env[KitchenEnvConfig]):
    """Plays matches: the model of a role answers for its seat."""

    def __init__(self, config: KitchenEnvConfig) -> None:
        super().__init__(config)
        if not isinstance(self.taskset, KitchenTaskset):
            raise ValueError(f"env.taskset.id must be 'collab-kitchens', not {config.taskset.id!r}")
        plan = self.taskset.plan
        seats = max(len(match.team) for match in plan.matches)
        if seats > MAX_SEATS:
            raise ValueError(f"env.taskset.suite: teams have at most {MAX_SEATS} seats here, not {seats}")
        self._jobs = plan.matches
        self._folder = shared_folder(plan, config.records) if config.records else None

    async def setup(self, agents: vf.Agents) -> None:
        """Train on the seats of the run's model only; a role with a model of its own is a fixed partner."""
        for seat in range(MAX_SEATS):
            agent = getattr(agents, f"agent_{seat}")
            agent.trainable = getattr(self.config, f"agent_{seat}").model is None

    async def run(self, task: KitchenTask, agents: vf.Agents) -> None:
        """Play one match; each open seat is a conversation that is held open until the end."""
        with SeatClient(self._jobs[task.data.match], reward=self.config.reward, folder=self._folder) as client:
            seats: dict[int, vf.Interaction] = {}
            earned = dict.fromkeys(client.seats, 0.0)
            turn = await asyncio.to_thread(client.start)
            async with AsyncExitStack() as conversations:
                while not turn.done:
                    if turn.seat not in seats:
                        seats[turn.seat] = await conversations.enter_async_context(_open(task, turn, agents))
                    earned[turn.seat] += turn.reward
                    answer = await seats[turn.seat].turn(turn.text)
                    if answer.terminated:  # a limit of the role, or an error, which is on its trace
                        turn = await asyncio.to_thread(client.cut)
                    else:
                        turn = await asyncio.to_thread(client.step, answer.last_reply)
                for seat, conversation in seats.items():
                    trace = conversation.trace
                    trace.record_reward(self.config.reward, earned[seat] + turn.info["rewards"][seat])
                    trace.record_metrics(mean_metrics(client.records))


def _open(task: KitchenTask, turn: Turn, agents: vf.Agents) -> Any:
    """Return the conversation of a seat: the rules as system text, then one user message per question."""
    data = task.data.model_copy(update={"prompt": None, "system_prompt": turn.messages[0]["content"]})
    return getattr(agents, f"agent_{turn.seat}").interaction(type(task)(data, task.config))
