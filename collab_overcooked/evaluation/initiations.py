"""What a chef asks for when one action of a teammate is due: experiments A to C of the Collab-Overcooked paper.

Each state is a moment of a reference play, right after a teammate's action, in which its next one should be asked for.
All seats are brought there by the reference, in silence; then the chef is asked once, and nobody answers. The records
are those of any episode, so that initiations are scored and told apart as usual.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

from collab_overcooked import __version__, registry
from collab_overcooked.evaluation.collab_overcooked import CollabOvercookedSuite, plan_tasks
from collab_overcooked.evaluation.episodes import Limits, episode_seed, play_episode
from collab_overcooked.evaluation.records import Key
from collab_overcooked.evaluation.runs import kept_env
from collab_overcooked.evaluation.scoring import score_record
from collab_overcooked.evaluation.suites import Listing
from collab_overcooked.evaluation.teams import MakePolicy, Team, make_team
from collab_overcooked.evaluation.yardsticks import ENV_ID, yardstick
from collab_overcooked.policies.api import Accounting, Decision, EnvInfo, Message, Policy, View
from collab_overcooked.policies.reference import reference_play

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

    Args:
        game: Compiled Collab-Overcooked with one task.

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

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Reset the policy."""
        self.policy.reset(seat, info, seed)

    def act(self, view: View) -> Decision | int | str:
        """Return what is written down, or ask."""
        if view.timestep < len(self.before):
            return int(self.before[view.timestep][view.seat])
        return self.policy.act(view) if self.heard else view.game.idle_action()

    def reply(self, view: View) -> Message | None:
        """Stay silent: the initiation alone counts."""
        return None

    def account(self) -> dict[str, Any]:
        """Return what the policy's answers took, nothing if it does not know."""
        return self.policy.account() if isinstance(self.policy, Accounting) else {}


@dataclass(frozen=True)
class Sample:
    """One question to the chef.

    Attributes:
        env_kwargs: Options of the environment, the task among them.
        team: Policy texts in seat order.
        task: Task name.
        level: Its level.
        stage: Number of the state among those of its task.
        episode: Number of the sample among those of its task.
        seed: Of policies and environment.
        limits: Bounds of corrections.
    """

    env_kwargs: Mapping[str, Any]
    team: tuple[str, ...]
    task: str
    level: int
    stage: int
    episode: int
    seed: int
    limits: Limits

    @property
    def env_id(self) -> str:
        """Registered id."""
        return ENV_ID

    @property
    def keys(self) -> tuple[Key]:
        """Task and number."""
        return ((self.task, self.episode),)

    def play(self, make: MakePolicy | None = None) -> list[dict[str, Any]]:
        """Ask the chef."""
        env = kept_env(ENV_ID, self.env_kwargs)
        stage = stages_of(env.game)[self.stage]
        policies = make_team(self.team, make).policies
        staged = tuple(Staged(policy, stage.before, seat == CHEF) for seat, policy in enumerate(policies))
        usual, env.max_cycles = env.max_cycles, len(stage.before) + 1
        try:
            record = play_episode(
                env,
                Team(self.team, staged),
                self.seed,
                episode=self.episode,
                task=self.task,
                level=self.level,
                limits=self.limits,
            )
        finally:
            env.max_cycles = usual
        record["accounts"] = {agent: account for agent, account in record["accounts"].items() if account}
        return [record | {"due": stage.action, "metrics": score_record(record)}]


stages_of: Any = lru_cache(maxsize=64)(stages)  # by game, found once


@dataclass(frozen=True)
class InitiationPlan:
    """All samples of all states of some tasks.

    Attributes:
        team: Policy texts in seat order; that of the chef is the one that is asked.
        tasks: Tasks and their levels.
        samples: Of each state.
        seed: Of the whole.
        options: Options of the environment, without the task.
        limits: Bounds of corrections.
    """

    team: tuple[str, ...]
    tasks: Mapping[str, int]
    samples: int
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)

    def config(self) -> dict[str, Any]:
        """Return what must be equal for a run to be continued, fit for JSON."""
        return {
            "suite": NAME,
            "version": __version__,
            "team": list(self.team),
            "tasks": dict(self.tasks),
            "samples": self.samples,
            "seed": self.seed,
            "options": dict(self.options),
            "limits": asdict(self.limits),
        }

    def teams(self) -> list[tuple[str, ...]]:
        """Return the one team."""
        return [self.team]

    def jobs(self) -> list[Sample]:
        """Return all samples in the order of the record file."""
        return [
            Sample(
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


def plan_initiations(
    team: Sequence[str], *, levels: str | None = None, samples: int = SAMPLES, **given: Any
) -> InitiationPlan:
    """Check everything that a user can get wrong before anything is played.

    Args:
        team: ``agent_0=policy``; the others follow the reference.
        levels: For example ``"3"``, the paper's; all of them if tasks are given.
        samples: Of each state.
        given: ``tasks``, ``seed``, ``kitchen``, ``gamma``, ``options`` and ``limits``, see ``plan_tasks``.

    Raises:
        ValueError: For another seat than the chef's, or what ``plan_tasks`` refuses.
    """
    if len(team) != 1 or not team[0].startswith(f"agent_{CHEF}="):
        raise ValueError(
            f"team: in the suite {NAME} agent_{CHEF} alone is asked; write for example agent_{CHEF}=greedy"
        )
    if levels is None and not given.get("tasks"):
        levels = LEVELS
    plan = plan_tasks([*team, f"all={REFERENCE}"], levels=levels, episodes=samples, **given)
    found = yardstick(plan.options).tasks
    tasks = {task: found[task].level for task in plan.tasks}
    return InitiationPlan(plan.team, tasks, samples, plan.seed, plan.options, plan.limits)


class InitiationSuite(CollabOvercookedSuite):
    """Questions to a chef; scored like any episodes of the game."""

    def plan(self, team: Sequence[str], **given: Any) -> InitiationPlan:
        """Plan samples of all states of some tasks."""
        samples = given.pop("episodes", SAMPLES)
        return plan_initiations(team, samples=samples, **given)

    def listings(self) -> Mapping[str, Listing]:
        """Return nothing of its own."""
        return {}

    def described(self, kitchen: str) -> list[str]:
        """Return nothing of its own."""
        return []
