"""Play one episode with a team and write down everything that happened.

Agents decide in seat order. One that has no choice (it is busy, say) simply goes on. One that follows a plan takes
the plan's next action. Otherwise its policy is asked; what the policy says is passed on to the teammates before
anything is carried out, and what the game refuses is handed back once for correction.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from collab_overcooked import __version__
from collab_overcooked.envs.api import clone
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.errors import whole_number
from collab_overcooked.policies.api import Accounting, Decision, EnvInfo, Message, Seen
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.runner.teaching import NONE, Teaching, make_teaching
from collab_overcooked.runner.teams import Team

SCHEMA = "collab-overcooked-record/1"

Refusal = tuple[str, str]
"""Reason code and message."""


@dataclass(frozen=True)
class Limits:
    """What bounds a decision.

    Attributes:
        max_turns: Messages in one conversation, the opening one included.
        max_corrections: How often a refused decision is handed back; after that the agent waits one step.
    """

    max_turns: int = 6
    max_corrections: int = 1

    def __post_init__(self) -> None:
        for name, low in (("max_turns", 1), ("max_corrections", 0)):
            whole_number(name, getattr(self, name), low)


class EpisodeLogger(Protocol):
    """Log what a game's metrics need beyond actions, events and rewards; one logger serves one episode."""

    def begin(self, env: ParallelEnv) -> None:
        """Look at the start of the episode."""

    def step(self, env: ParallelEnv) -> dict[str, Any]:
        """Return further fields for the step that was just taken, fit for JSON."""

    def end(self) -> dict[str, Any]:
        """Return further fields for the record."""


def derive_seed(seed: int, *names: object) -> int:
    """Return a seed of 48 bits that depends on nothing but the arguments.

    The first bytes of SHA-256 of the arguments joined by slashes, so it is the same on every machine, for any number
    of processes and whatever else is played.
    """
    text = "/".join(map(str, (seed, *names)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def episode_seed(seed: int, task: str, episode: int) -> int:
    """Return the environment's seed in episode ``episode`` of a task in a suite seeded ``seed``."""
    return derive_seed(seed, task, episode)


def policy_seed(seed: int, seat: int) -> int:
    """Return the seed of a seat's policy in an episode whose environment has seed ``seed``."""
    return derive_seed(seed, "policy", seat)


def play_episode(
    env: ParallelEnv,
    team: Team,
    seed: int,
    *,
    episode: int = 0,
    task: str = "",
    level: int | None = None,
    limits: Limits | None = None,
    fresh: bool = True,
    logger: EpisodeLogger | None = None,
    feedback: Sequence[str] = (),
) -> dict[str, Any]:
    """Play one episode.

    Args:
        env: Environment with one seat for each policy; its masks go to the infos (``mask_in="info"``).
        team: Who plays.
        seed: Seed of the environment; the policies' seeds are derived from it.
        episode: Number of the episode, for the record.
        task: Name of the task, for the record and the policies.
        level: Level of the task, for the record.
        limits: Bounds of conversations and corrections.
        fresh: Seed the environment; if not, its generator goes on from the episode before, as some originals have it.
        logger: Adds to the steps and to the record what the game's metrics need.
        feedback: What each seat was told of the episode before; it is in the record and in what the policies see.

    Returns:
        The record without its metrics, fit for JSON.

    Raises:
        ValueError: If the team has not one policy for each seat, or the masks are not in the infos.
    """
    game = env.game
    if len(team.policies) != game.n_agents:
        raise ValueError(f"team: {len(team.policies)} policies for {game.n_agents} seats of {game.id}")
    if env.mask_in != "info":
        raise ValueError(f"mask_in must be 'info' to play teams, not {env.mask_in!r}")
    observations, _ = env.reset(seed=seed if fresh else None)
    own_seed = seed if fresh else derive_seed(seed, "episode", episode)
    for seat, policy in enumerate(team.policies):
        simulator = Simulator(game, env.arrays[0], seat) if getattr(policy, "needs_simulator", False) else None
        policy.reset(seat, EnvInfo(game.id, game, task, team.names, simulator), policy_seed(own_seed, seat))
    if logger is not None:
        logger.begin(env)
    table = _Table(env, team, limits or Limits(), feedback)
    steps: list[dict[str, Any]] = []
    success = False
    while env.agents:
        step = table.decide(observations, len(steps))
        chosen = dict(zip(env.agents, step["actions"], strict=True))
        observations, rewards, terminated, _, infos = env.step(chosen)
        success = any(terminated.values())
        step |= {"events": env.events(), "rewards": list(rewards.values())}
        step |= logger.step(env) if logger is not None else {}
        steps.append(step)
        table.note(step, [info["rejected"] for info in infos.values()])
    accounts = {
        agent: policy.account()
        for agent, policy in zip(env.possible_agents, team.policies, strict=True)
        if isinstance(policy, Accounting)
    }
    return {
        "schema": SCHEMA,
        "env_id": game.id,
        "env_kwargs": game.kwargs,
        "seed": seed,
        "episode": episode,
        "team": dict(zip(env.possible_agents, team.specs, strict=True)),
        "version": __version__,
        "task": task,
        "level": level,
        "max_cycles": env.max_cycles,
        "steps": steps,
        "history": history_of(steps, game.n_agents),
        "success": success,
        "timesteps": len(steps),
        **({"accounts": accounts} if accounts else {}),
        **({"feedback": list(feedback)} if feedback else {}),
        **(logger.end() if logger is not None else {}),
    }


def play_series(
    env: ParallelEnv,
    team: Team,
    seed: int,
    keys: Sequence[tuple[str, int]],
    *,
    level: int | None = None,
    limits: Limits | None = None,
    logger: Callable[[], EpisodeLogger | None] = lambda: None,
    score: Callable[[Mapping[str, Any]], dict[str, Any]],
    teaching: Teaching | None = None,
) -> list[dict[str, Any]]:
    """Play episodes that follow on one another: the environment goes on, and the team may learn from each.

    Args:
        env: See ``play_episode``, as for all that is not said here.
        team: Who plays.
        seed: Seed of the first episode.
        keys: Task and number of each episode.
        level: Level of the task, for the records.
        limits: Bounds of conversations and corrections.
        logger: Makes a new logger for each episode.
        score: Returns the metrics of a record.
        teaching: Who speaks between the episodes; nobody if None.

    Returns:
        The records with their metrics, the feedback of each among those of the next.
    """
    teaching = teaching or make_teaching(NONE)
    records: list[dict[str, Any]] = []
    feedback: tuple[str, ...] = ()
    for i, (task, episode) in enumerate(keys):
        record = play_episode(
            env,
            team,
            seed,
            episode=episode,
            task=task,
            level=level,
            limits=limits,
            fresh=i == 0,
            logger=logger(),
            feedback=feedback,
        )
        records.append(record | {"metrics": score(record)})
        if i + 1 < len(keys):
            feedback = teaching.look_back(env.game, records[-1], team.policies)
            teacher: object = teaching.teacher
            if isinstance(teacher, Accounting):
                records[-1].setdefault("accounts", {})["teacher"] = teacher.account()
    return records


def history_of(steps: list[dict[str, Any]], n_agents: int) -> list[list[dict[str, Any]]]:
    """Return each agent's log: the labels of its events, stamped with the 0-based step index plus one."""
    return [
        [
            {"timestamp": t, "action": step["events"][seat]["label"]}
            for t, step in enumerate(steps, start=1)
            if step["events"][seat] is not None
        ]
        for seat in range(n_agents)
    ]


class _Table:
    """The seats of one episode: their plans, and what is said and refused in the current step."""

    def __init__(self, env: ParallelEnv, team: Team, limits: Limits, feedback: Sequence[str] = ()) -> None:
        self.env, self.game, self.team, self.limits = env, env.game, team, limits
        self.feedback = list(feedback) or [""] * len(team.policies)
        self.idle = [env.game.idle_action(seat) for seat in range(env.game.n_agents)]
        self.plans: list[deque[str | int]] = [deque() for _ in team.policies]
        self.heard = [False] * len(team.policies)  # whose plan was announced
        self.history: list[list[tuple[int, str]]] = [[] for _ in team.policies]
        self.refused: tuple[tuple[int, str, str, str], ...] = ()  # in the step before

    def decide(self, observations: dict[str, Any], timestep: int) -> dict[str, Any]:
        """Return the step's part of the record that is known before the step: actions, messages, errors, tokens."""
        self.observations, self.timestep = observations, timestep
        self.texts = [self.game.action_texts(self.env.arrays[0], 0, seat) for seat in range(self.game.n_agents)]
        self.inbox: list[Message] = []
        self.messages: list[dict[str, Any]] = []
        self.opened: dict[int, int] = {}  # conversation number of each seat that opened one in this step
        self.errors: list[dict[str, Any]] = []
        self.tokens: list[int | None] = [None] * len(self.plans)
        self.chosen: list[int] = []  # by the seats that have decided
        for seat in range(len(self.plans)):
            self.chosen.append(self._choose(seat))
        self.before = clone(self.env.arrays[0], 0)
        actions = self.chosen
        return {
            "actions": actions,
            "action_texts": [self.texts[seat][action] for seat, action in enumerate(actions)],
            "messages": self.messages,
            "errors": self.errors,
            "tokens": self.tokens,
        }

    def note(self, step: dict[str, Any], rejected: Sequence[int]) -> None:
        """Remember what came of a step, for the views of the next: also what the game itself refused, as late."""
        for seat, event in enumerate(step["events"]):
            if event is not None:
                self.history[seat].append((self.timestep + 1, event["label"]))
        refused = [(e["agent"], e["action"], e["code"], e["message"]) for e in step["errors"]]
        for seat in np.flatnonzero(rejected).tolist():
            verdict = self.game.check(self.before, 0, seat, self.chosen[seat], self.chosen)
            if verdict[0] != "OK":
                refused.append((seat, step["action_texts"][seat], *verdict))
        self.refused = tuple(refused)

    def _choose(self, seat: int) -> int:
        """Return the seat's action: forced, planned, or asked for, and corrected if the game refuses it."""
        mask = self.env.action_mask(self.env.possible_agents[seat])
        legal = np.flatnonzero(mask)
        if len(legal) == 1:
            return int(legal[0])
        refusal, text = None, ""
        for _ in range(self.limits.max_corrections + 1):
            if not self.plans[seat]:
                self._ask(seat, refusal, text)
            proposal = self.plans[seat].popleft() if self.plans[seat] else self.idle[seat]
            action, refusal = self._judge(seat, proposal, mask)
            if refusal is None:
                return action
            self.plans[seat].clear()
            text = self._text(seat, proposal)
            self.errors.append({"agent": seat, "action": text, "code": refusal[0], "message": refusal[1]})
        return self.idle[seat] if mask[self.idle[seat]] else int(legal[0])

    def _text(self, seat: int, proposal: str | int) -> str:
        if isinstance(proposal, str):
            return proposal
        return self.texts[seat][proposal] if 0 <= proposal < len(self.texts[seat]) else str(proposal)

    def _judge(self, seat: int, proposal: str | int, mask: np.ndarray) -> tuple[int, Refusal | None]:
        """Return the action's id, and why the game would refuse it."""
        action = proposal
        if isinstance(action, str):
            try:
                action = self.game.parse(action, self.env.arrays[0], 0, seat)
            except ValueError as error:
                return -1, (getattr(error, "code", "UNREADABLE"), str(error))
        elif not 0 <= action < len(mask):
            return -1, ("OUT_OF_SPACE", f"action {action} is outside Discrete({len(mask)})")
        if action < len(mask) and mask[action]:
            return action, None
        try:
            verdict = self.game.check(self.env.arrays[0], 0, seat, action, self.chosen)
        except ValueError:  # some games judge by the mask alone
            return action, ("MASKED", f"{self._text(action)} is not possible now")
        return action, None if verdict[0] == "OK" else verdict

    # ------------------------------------------------------------------------------------ asking and talking

    def _seen(self, seat: int, refusal: Refusal | None = None, attempt: str = "") -> Seen:
        agent = self.env.possible_agents[seat]
        view = self.env.seen(agent)
        plans = [tuple(map(self._text, plan)) for plan in self.plans]
        return Seen(
            seat=seat,
            timestep=self.timestep,
            observation=self.observations[agent],
            mask=self.env.action_mask(agent),
            view=view,
            plan=plans[seat],
            announced=tuple(p if self.heard[s] and s != seat else () for s, p in enumerate(plans)),
            inbox=tuple(self.inbox),
            error=refusal,
            attempt=attempt,
            refused=tuple(r for r in self.refused if view.public_refusals or r[0] == seat),
            earlier=tuple((s, self.texts[s][action]) for s, action in enumerate(self.chosen)),
            history=tuple(map(tuple, self.history)),
            feedback=self.feedback[seat],
        )

    def _ask(self, seat: int, refusal: Refusal | None, attempt: str) -> None:
        """Get a decision, let its words be heard, and queue what is to be carried out (nothing means waiting)."""
        decision = _as_decision(self.team.policies[seat].act(self._seen(seat, refusal, attempt)))
        self._count(seat, decision.tokens)
        announced = decision.plan
        if decision.action is not None and not announced:
            announced = self._text(decision.action)
        revised = None
        if seat in self.opened:  # a correction is heard as one more message, and not discussed again
            self._say(self.opened[seat], Message(seat, decision.say, announced))
        elif decision.say:
            revised = self._converse(Message(seat, decision.say, announced))
        self.heard[seat] = seat in self.opened
        if revised is None and decision.action is not None:
            self.plans[seat] = deque([decision.action])
        else:
            self._follow(seat, decision.plan if revised is None else revised)

    def _follow(self, seat: int, plan: str) -> None:
        """Replace the seat's queue by the plan's own actions; its requests are words only."""
        self.plans[seat] = deque(self.game.parse_plan(plan, seat)[0])

    def _count(self, seat: int, tokens: int | None) -> None:
        if tokens is not None:
            self.tokens[seat] = (self.tokens[seat] or 0) + tokens

    def _say(self, number: int, message: Message) -> None:
        self.inbox.append(message)
        self.messages.append({"agent": message.agent, "conversation": number, "say": message.say, "plan": message.plan})

    def _converse(self, opening: Message) -> str | None:
        """Let everybody answer in turn until all others have nothing to add or the turns are used up.

        Returns:
            The opener's last plan if it announced another one while talking.
        """
        seat, n_agents = opening.agent, len(self.plans)
        number = len(self.opened)
        self.opened[seat] = number
        self._say(number, opening)
        spoken, silent, revised = 1, 0, None
        while spoken < self.limits.max_turns and silent < n_agents - 1:
            seat = (seat + 1) % n_agents
            answer = self.team.policies[seat].reply(self._seen(seat))
            if answer is not None:
                self._count(seat, answer.tokens)
            if answer is None or not (answer.say or answer.plan):
                silent += 1
                continue
            spoken, silent = spoken + 1, (0 if answer.say else silent) + int(answer.last)
            self._say(number, Message(seat, answer.say, answer.plan))
            if answer.plan and seat == opening.agent:
                revised = answer.plan
            elif answer.plan:
                self._follow(seat, answer.plan)
                self.heard[seat] = True
        return revised


def _as_decision(answer: Decision | int | str) -> Decision:
    if isinstance(answer, Decision):
        return answer
    if isinstance(answer, str):
        return Decision(plan=answer)
    if isinstance(answer, (int, np.integer)) and not isinstance(answer, bool):
        return Decision(action=int(answer))
    raise ValueError(f"a policy answered {answer!r}; it must be an action id, a text or a Decision")
