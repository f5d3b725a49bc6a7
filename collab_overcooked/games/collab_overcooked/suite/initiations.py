"""Requests of a chef when one action of a teammate is due: experiments A to C of the Collab-Overcooked paper.

Each state belongs to a reference play, directly after a teammate's action, when its next action should be requested.
All seats play the reference up to this state. The chef has requested each earlier action when it was due, and the
teammate has answered, so that agents have the memories and messages that lead to the state. Then the chef is asked
once. Teammates named in the team answer, all others follow the reference and say nothing. Records have the format of
any episode, so that initiations and responses are scored and classified by default, those of the last step alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, ClassVar

from collab_overcooked.metrics.registry import game_metrics
from collab_overcooked.policies.api import AgentView, Decision, EnvInfo, Message, Policy, ReportsUsage
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.match import Match, cached_env, cached_team
from collab_overcooked.runner.teams import ALL, MakePolicy, Team

from ..engine.constants import Task
from ..options import ALL_ACTIONS, LEVELS, PAPER_ACTIONS
from ..policies.instructions import Step, named_steps, sentence
from ..policies.reference import reference_play
from ..text.text import REQUEST_ENTRY
from .suite import CollabOvercookedSuite
from .tables import REFERENCE

NAME = "initiations"
CHEF = 0
PAPER_VERBS = ("pickup", "put_obj_in_utensil", "operate", "pickup", "place_obj_on_counter")


@dataclass(frozen=True)
class Stage:
    """State in which an action of a teammate is due."""

    due: Step  # The action
    before: tuple[tuple[int, ...], ...]  # Actions of all seats in each step that leads to the state

    @property
    def action(self) -> str:
        """The action, as metrics spell it."""
        return self.due.action


@lru_cache(maxsize=64)
def stages(game: Any) -> tuple[Stage, ...]:
    """Return the states of a task, one for each action of the chef's teammates in the first reference.

    States in which the chef is busy are moved to its next free step; where there is none before the action is done,
    the action is left out.
    """
    played = reference_play(game)
    joint = [actions for actions, _ in played]
    busy = game.parse("continue")
    steps = iter(named_steps(events for _, events in played))
    stages, begin = [], 0
    for t, (_, events) in enumerate(played):
        done = [next(steps) for event in events if event is not None]
        due = [step for step in done if step.seat != CHEF]
        for step in due:
            free = next((at for at in range(begin, t + 1) if joint[at][CHEF] != busy), None)
            if free is not None:
                stages.append(Stage(step, tuple(joint[:free])))
        begin = t + 1 if due else begin
    return tuple(stages)


def paper_stages(game: Any) -> tuple[Stage, ...]:
    """Return the states before the assistant's first five actions, as in the paper's experiments.

    Source: the appendix of the paper: pickup, put, cut or stir, pickup and place, on level 3.

    Raises:
        ValueError: The assistant's first actions in the task differ from the paper's.
    """
    chosen = stages(game)[: len(PAPER_VERBS)]
    verbs = tuple(verb_of(stage.action) for stage in chosen)
    if verbs != PAPER_VERBS:
        task = game.compiled.names.items[game.compiled.tables.tasks[0, Task.ITEM]]
        raise ValueError(
            f"actions: {PAPER_ACTIONS} means {', '.join(PAPER_VERBS)} of the assistant, and {task} begins with "
            f"{', '.join(verbs)}; use the tasks of level {LEVELS}, or --actions {ALL_ACTIONS}"
        )
    return chosen


def verb_of(action: str) -> str:
    """Return an action's verb; all verbs that start a utensil become ``operate``."""
    verb = action.partition("(")[0]
    return verb if verb in _OTHER_VERBS else "operate"


_OTHER_VERBS = frozenset({"pickup", "put_obj_in_utensil", "place_obj_on_counter", "fill_dish_with_food", "deliver"})


class ScriptedPrefix:
    """Policy that plays a script up to a step and then delegates to another policy.

    Args:
        policy: Decides or answers from then on.
        before: Actions of all seats in each step until then.
        due: Action that the chef requests in a step until then, by step.
        asks: Whether it is asked what to do; the others wait.
        answers: Whether it answers what it is asked.
    """

    def __init__(
        self, policy: Policy, before: Sequence[Sequence[int]], due: Mapping[int, Step], asks: bool, answers: bool
    ) -> None:
        self.name = policy.name
        self.policy = policy
        self.before = before
        self.due = due
        self.asks, self.answers = asks, answers
        self.needs_simulator = getattr(policy, "needs_simulator", False)

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Reset the policy."""
        self.policy.reset(seat, info, seed)

    def act(self, seen: AgentView) -> Decision | int | str:
        """Return the scripted action, or ask the policy after the script."""
        if seen.timestep >= len(self.before):
            return self.policy.act(seen) if self.asks else seen.idle_action
        action, due = int(self.before[seen.timestep][seen.seat]), self.due.get(seen.timestep)
        if due is None or seen.seat != CHEF:
            return action
        plan = REQUEST_ENTRY.format(due.action)
        return Decision(action=action, plan=plan, say=f"Next for you: {sentence(due)}", last=True)

    def reply(self, seen: AgentView) -> Message | None:
        """Let the policy answer if the seat responds; the initiator stays silent, as only its first message counts."""
        if seen.timestep >= len(self.before):
            return self.policy.reply(seen) if self.answers else None
        due = self.due[seen.timestep]
        if due.seat != seen.seat:
            return None
        return Message(seen.seat, "I will.", self._plan(seen, due.action))

    def _plan(self, seen: AgentView, action: str) -> str:
        """Return a plan that waits and then takes the due action; empty if the script has a different next action."""
        ahead = [actions[seen.seat] for actions in self.before[seen.timestep :]]
        waits = next((k for k, chosen in enumerate(ahead) if chosen != seen.idle_action), len(ahead))
        begins = waits < len(ahead) and seen.view.action_texts[ahead[waits]] == action
        return "; ".join([*["wait(1)"] * waits, action]) if begins else ""

    def account(self) -> dict[str, Any]:
        """Return the usage of the policy; empty if the policy does not report any."""
        return self.policy.account() if isinstance(self.policy, ReportsUsage) else {}


def chosen_stages(game: Any, actions: str) -> tuple[Stage, ...]:
    """Return the states of a task before all actions of teammates, or before the paper's."""
    return paper_stages(game) if actions == PAPER_ACTIONS else stages(game)


@dataclass(frozen=True, kw_only=True)
class InitiationMatch(Match):
    """Question to the chef."""

    longest = 1  # step in which the chef is asked
    playable = False
    stage: int  # Number of the state among those of its task

    def run(self, make: MakePolicy | None = None, actions: Sequence[Sequence[int]] | None = None) -> list[Any]:
        env, team = cached_env(self.env_id, self.env_kwargs), cached_team(self.team, make)
        game: Any = env.game
        earlier, stage = stages(game)[: self.stage], stages(game)[self.stage]
        due = {len(prior.before): prior.due for prior in earlier if len(prior.before) < len(stage.before)}
        staged = tuple(
            ScriptedPrefix(policy, stage.before, due, seat == CHEF, seat != CHEF and team.specs[seat] != REFERENCE)
            for seat, policy in enumerate(team.policies)
        )
        facts: dict[str, Any] = {"task": self.task, "level": self.level, "limits": self.limits, "episode": self.first}
        asked = Team(team.specs, staged)
        record: Any = play_episode(env, asked, self.seed, ends_after=len(stage.before) + 1, **facts)
        record = record.replace(due=stage.action, due_number=self.stage + 1)
        return [record.replace(metrics=game_metrics(self.env_id).measure(record))]


class InitiationSuite(CollabOvercookedSuite):
    """Questions to a chef; scored like any episodes of the game."""

    listed: ClassVar = {}

    def matches(self, team: Sequence[str], suite_options: Any, options: Mapping[str, Any]) -> Iterator[Match]:
        named = [word.partition("=")[0] for word in team]
        if f"agent_{CHEF}" not in named and ALL not in named:
            raise ValueError(
                f"team: in the suite {NAME} agent_{CHEF} is asked; write for example agent_{CHEF}=greedy, and "
                "agent_1=greedy if it must answer"
            )
        if suite_options.levels is None and not suite_options.tasks:
            suite_options = replace(suite_options, levels=LEVELS)
        seats = [*team, *([] if ALL in named else [f"{ALL}={REFERENCE}"])]
        for match in super().matches(seats, suite_options, options):
            for stage in range(len(chosen_stages(match.load_game(), suite_options.actions))):
                played = {item.name: getattr(match, item.name) for item in fields(match)}
                yield InitiationMatch(**played | {"first": stage * suite_options.episodes, "stage": stage})
