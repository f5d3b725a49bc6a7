"""Requests of a chef when one action of a teammate is due: experiments A to C of the Collab-Overcooked paper.

Each state is a moment of a reference play, right after a teammate's action, in which its next one should be asked for.
All seats are brought there by the reference, in silence; then the chef is asked once, and nobody answers. The records
are those of any episode, so that initiations are scored and told apart as usual.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from collab_overcooked import registry
from collab_overcooked.core.options import option
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.evaluation.suites import Listing
from collab_overcooked.games.collab_overcooked.policies.reference import reference_play
from collab_overcooked.games.collab_overcooked.suite import CollabOvercookedSuite, TaskOptions, plan_tasks
from collab_overcooked.games.collab_overcooked.task_references import ENV_ID, task_references
from collab_overcooked.policies.api import Accounting, Decision, EnvInfo, Message, Policy, Seen
from collab_overcooked.runner.episode import Limits, episode_seed
from collab_overcooked.runner.jobs import Episode, Evaluation
from collab_overcooked.runner.teams import Team

NAME = "initiations"
CHEF = 0
LEVELS = "3"  # of the paper's experiments
SAMPLES = 20  # of each state
REFERENCE = "reference"


@dataclass(frozen=True)
class Stage:
    """A state in which an action of a teammate is due.

    Attributes:
        action: The action, as metrics spell it.
        before: Actions of all seats in each step that leads to the state.
    """

    action: str
    before: tuple[tuple[int, ...], ...]


def stages(game: Any) -> tuple[Stage, ...]:
    """Return the states of a task, one for each action of the chef's teammates in the first reference.

    States in which the chef is busy are moved to its next free step; where there is none before the action is done,
    the action is left out.

    Raises:
        ValueError: If the task has no references.
    """
    played = reference_play(game)
    joint = [actions for actions, _ in played]
    busy = game.parse("continue")
    found, begin = [], 0
    for t, (_, events) in enumerate(played):
        labels = [event["label"] for seat, event in enumerate(events) if event is not None and seat != CHEF]
        for label in labels:
            free = [step for step in range(begin, t + 1) if joint[step][CHEF] != busy]
            if free:
                found.append(Stage(label, tuple(joint[: free[0]])))
        begin = t + 1 if labels else begin
    return tuple(found)


class Staged:
    """A seat that does what is written down until a step, in silence, and then lets a policy decide.

    Args:
        policy: Decides from then on.
        before: Actions of all seats in each step until then.
        heard: Whether the policy is asked; the others wait.
    """

    def __init__(self, policy: Policy, before: Sequence[Sequence[int]], heard: bool) -> None:
        self.name, self.policy, self.before, self.heard = policy.name, policy, before, heard
        self.needs_simulator = getattr(policy, "needs_simulator", False)

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Reset the policy."""
        self.policy.reset(seat, info, seed)

    def act(self, seen: Seen) -> Decision | int | str:
        """Return what is written down, or ask."""
        if seen.timestep < len(self.before):
            return int(self.before[seen.timestep][seen.seat])
        return self.policy.act(seen) if self.heard else seen.idle_action

    def reply(self, seen: Seen) -> Message | None:
        """Stay silent: the initiation alone counts."""
        return None

    def account(self) -> dict[str, Any]:
        """Return what the policy's answers took, nothing if it does not know."""
        return self.policy.account() if isinstance(self.policy, Accounting) else {}


stages_of: Any = lru_cache(maxsize=64)(stages)  # by game, found once


@dataclass(frozen=True, kw_only=True)
class Sample(Episode):
    """One question to the chef.

    Attributes:
        stage: Number of the state among those of its task.
    """

    longest = 1  # step in which the chef is asked
    stage: int

    def record(self, env: ParallelEnv, team: Team) -> dict[str, Any]:
        """Ask the chef."""
        stage = stages_of(env.game)[self.stage]
        staged = tuple(Staged(policy, stage.before, seat == CHEF) for seat, policy in enumerate(team.policies))
        usual, env.max_cycles = env.max_cycles, len(stage.before) + 1
        try:
            record = super().record(env, Team(team.specs, staged))
        finally:
            env.max_cycles = usual
        record["accounts"] = {agent: account for agent, account in record["accounts"].items() if account}
        return record | {"due": stage.action}


@dataclass(frozen=True, kw_only=True)
class InitiationPlan(Evaluation):
    """All samples of all states of some tasks.

    Attributes:
        team: Policy texts in seat order; that of the chef is the one that is asked.
        tasks: Tasks and their levels.
        samples: Of each state.
    """

    suite: str = NAME
    team: tuple[str, ...]
    tasks: Mapping[str, int]
    samples: int

    def make_jobs(self) -> list[Sample]:
        """Return all samples in the order of the record file."""
        return [
            Sample(
                env_id=ENV_ID,
                env_kwargs={**self.options, "task": task},
                team=self.team,
                task=task,
                level=level,
                stage=stage,
                episode=stage * self.samples + sample,
                seed=episode_seed(self.seed, task, stage * self.samples + sample),
                limits=self.limits,
            )
            for task, level in self.tasks.items()
            for stage in range(len(stages_of(registry.load_game(ENV_ID, **self.options, task=task))))
            for sample in range(self.samples)
        ]


@dataclass(frozen=True, kw_only=True)
class SampleOptions(TaskOptions):
    """What users can choose beyond team, seed and options of the environment."""

    levels: str | None = option(None, f"Levels such as 1-6 or 1,3; {LEVELS}, the paper's, if no tasks are given.")
    episodes: int = option(SAMPLES, "Samples of each state.")


class InitiationSuite(CollabOvercookedSuite):
    """Questions to a chef; scored like any episodes of the game."""

    suite_options = SampleOptions

    def plan(
        self, team: Sequence[str], suite_options: Any, *, seed: int, options: Mapping[str, Any], limits: Limits
    ) -> InitiationPlan:
        """Plan samples of all states of some tasks; the team is the chef alone, the others follow the reference."""
        if len(team) != 1 or not team[0].startswith(f"agent_{CHEF}="):
            raise ValueError(
                f"team: in the suite {NAME} agent_{CHEF} alone is asked; write for example agent_{CHEF}=greedy"
            )
        if suite_options.levels is None and not suite_options.tasks:
            suite_options = replace(suite_options, levels=LEVELS)
        seats = [*team, f"all={REFERENCE}"]
        plan = plan_tasks(seats, suite_options, seed=seed, options=options, limits=limits)
        found = task_references(plan.options).tasks
        return InitiationPlan(
            team=plan.team,
            tasks={task: found[task].level for task in plan.tasks},
            samples=plan.episodes,
            seed=plan.seed,
            options=plan.options,
            limits=plan.limits,
        )

    def listings(self) -> Mapping[str, Listing]:
        """Return nothing of its own."""
        return {}

    def described(self, kitchen: str) -> list[str]:
        """Return nothing of its own."""
        return []
