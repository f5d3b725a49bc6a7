"""One episode as a generator that asks for decisions, and the driver that lets a team of policies answer.

Agents decide in seat order. One that has no choice (it is busy, say) simply goes on. One that follows a plan takes
the plan's next action. Otherwise it is asked; what it says is passed on to the teammates before anything is carried
out, and what the game refuses is handed back once for correction.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Protocol

import numpy as np

from collab_overcooked import __version__
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.errors import whole_number
from collab_overcooked.policies.api import Accounting, Decision, EnvInfo, Message, Policy, Seen
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.runner.conversation import Conversation, Entry, Plans
from collab_overcooked.runner.teams import Team

SCHEMA = "collab-overcooked-record/1"

Refusal = tuple[str, str]
"""Reason code and message."""
Record = dict[str, Any]


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
    """Logs what a game's metrics need beyond actions, events and rewards; one serves one episode."""

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


# ------------------------------------------------------------------------------------------- what an episode yields


@dataclass(frozen=True)
class Started:
    """The environment has been reset; policies are to be reset before they are asked.

    Attributes:
        env: The environment, at its start.
        task: Name of the task.
        seed: From which the seeds of the policies are derived, see ``policy_seed``.
    """

    env: ParallelEnv
    task: str
    seed: int

    def reset(self, team: Team) -> None:
        """Reset the policies of a team; those that need a simulator find one in their ``EnvInfo``."""
        for seat, policy in enumerate(team.policies):
            self.reset_policy(policy, seat, team.names)

    def reset_policy(self, policy: Policy, seat: int, names: tuple[str, ...]) -> None:
        """Reset the policy of one seat of a team with these names."""
        game = self.env.game
        simulator = Simulator(game, self.env.arrays[0], seat) if getattr(policy, "needs_simulator", False) else None
        policy.reset(seat, EnvInfo(game.id, game, self.task, names, simulator), policy_seed(self.seed, seat))


@dataclass(frozen=True)
class Ask:
    """A seat's answer is wanted.

    Attributes:
        seat: Index of the agent.
        kind: ``"act"`` for a decision (``Decision``, action id or plan text), ``"reply"`` for an answer to the last
            message of the inbox (``Message``, or None for silence).
        seen: What the seat may know.
    """

    seat: int
    kind: Literal["act", "reply"]
    seen: Seen


@dataclass(frozen=True)
class Stepped:
    """A step was taken. The answer is None, or the words of a voice without a seat for the step to come.

    Attributes:
        timestep: Steps taken so far.
        env: The environment, after the step.
        step: The step's part of the record.
    """

    timestep: int
    env: ParallelEnv
    step: Mapping[str, Any] = field(repr=False)


Event = Started | Ask | Stepped
Answer = Decision | int | str | Message | None


class Episode(Generator[Event, Answer, Record]):
    """A running episode; see ``episode``.

    Attributes:
        steps: The record's steps so far.
    """

    def __init__(self, env: ParallelEnv, specs: Sequence[str], seed: int, facts: Mapping[str, Any]) -> None:
        self.env, self.game, self.specs, self.seed, self.facts = env, env.game, specs, seed, facts
        self.steps: list[dict[str, Any]] = []
        self._success = self._over = False
        self._logger: EpisodeLogger | None = None
        self._loop = self._play()

    def send(self, value: Answer) -> Event:
        """Give the answer to what was yielded last (None at first); returns what comes next.

        Raises:
            StopIteration: When the episode is over; its value is the record without metrics.
            ValueError: For an answer that is none.
        """
        return self._loop.send(value)

    def throw(  # type: ignore[override]
        self, kind: Any, error: BaseException | None = None, trace: TracebackType | None = None
    ) -> Event:
        """Raise an error where the episode waits for an answer."""
        return self._loop.throw(kind if error is None else error)

    def close(self) -> Record:  # type: ignore[override]
        """Abandon the episode; returns the record of the steps so far, ``ended: "left"`` in it."""
        self._loop.close()
        return self._record() | ({} if self._over else {"ended": "left"})

    # ------------------------------------------------------------------------------------ the loop

    def _play(self) -> Generator[Event, Answer, Record]:
        env, facts = self.env, self.facts
        observations, _ = env.reset(seed=self.seed if facts["fresh"] else None)
        seed = self.seed if facts["fresh"] else derive_seed(self.seed, "episode", facts["episode"])
        yield Started(env, facts["task"], seed)
        self._logger = logger = facts["logger"]
        if logger is not None:
            logger.begin(env)
        table = Table(self.game, facts["limits"], facts["feedback"])
        voices: list[Message] = []
        while env.agents:
            moment = Moment(env.clone_state().state, len(self.steps), observations, env)
            step = yield from table.decide(moment, voices)
            chosen = dict(zip(env.agents, step["actions"], strict=True))
            observations, rewards, terminated, _, infos = env.step(chosen)
            self._success = any(terminated.values())
            step |= {"events": env.events(), "rewards": list(rewards.values())}
            step |= logger.step(env) if logger is not None else {}
            self.steps.append(step)
            table.note(moment, step, [info["rejected"] for info in infos.values()])
            said = yield Stepped(len(self.steps), env, step)
            voices = [said._replace(agent=None)] if isinstance(said, Message) else []
        self._over = True
        return self._record()

    def _record(self) -> Record:
        env, game, facts, logger = self.env, self.game, self.facts, self._logger
        accounts, feedback = facts["accounts"](), facts["feedback"]
        return {
            "schema": SCHEMA,
            "env_id": game.id,
            "env_kwargs": game.kwargs,
            "seed": self.seed,
            "episode": facts["episode"],
            "team": dict(zip(env.possible_agents, self.specs, strict=True)),
            "version": __version__,
            "task": facts["task"],
            "level": facts["level"],
            "max_cycles": env.max_cycles,
            "steps": self.steps,
            "history": history_of(self.steps, game.n_agents),
            "success": self._success,
            "timesteps": len(self.steps),
            **({"accounts": accounts} if accounts else {}),
            **({"feedback": list(feedback)} if feedback else {}),
            **(logger.end() if logger is not None else {}),
        }


def episode(
    env: ParallelEnv,
    specs: Sequence[str],
    seed: int,
    *,
    episode: int = 0,
    task: str = "",
    level: int | None = None,
    limits: Limits | None = None,
    fresh: bool = True,
    logger: EpisodeLogger | None = None,
    feedback: Sequence[str] = (),
    accounts: Callable[[], Mapping[str, Any]] = dict,
) -> Episode:
    """Begin an episode that asks for every decision: send the answers, receive what is next.

    Args:
        env: Environment with one seat for each text; its masks go to the infos (``mask_in="info"``).
        specs: Who plays, by seat, for the record.
        seed: Seed of the environment; the policies' seeds are derived from it.
        episode: Number of the episode, for the record.
        task: Name of the task, for the record and the policies.
        level: Level of the task, for the record.
        limits: Bounds of conversations and corrections.
        fresh: Seed the environment; if not, its generator goes on from the episode before, as some originals have it.
        logger: Adds to the steps and to the record what the game's metrics need.
        feedback: What each seat was told of the episode before; it is in the record and in what the seats see.
        accounts: Returns what the seats' answers took, by agent, when the episode is over.

    Returns:
        A generator: it yields ``Started``, ``Ask`` and ``Stepped``, is sent the answers, and returns the record.

    Raises:
        ValueError: If there is not one text for each seat, or the masks are not in the infos.
    """
    game = env.game
    if len(specs) != game.n_agents:
        raise ValueError(f"team: {len(specs)} policies for {game.n_agents} seats of {game.id}")
    if env.mask_in != "info":
        raise ValueError(f"mask_in must be 'info' to play teams, not {env.mask_in!r}")
    facts = {"episode": episode, "task": task, "level": level, "limits": limits or Limits(), "fresh": fresh}
    return Episode(env, specs, seed, facts | {"logger": logger, "feedback": feedback, "accounts": accounts})


def play_episode(env: ParallelEnv, team: Team, seed: int, **options: Any) -> Record:
    """Play one episode with a team of policies.

    Args:
        env: Environment with one seat for each policy.
        team: Who plays.
        seed: Seed of the environment.
        **options: Of ``episode``.

    Returns:
        The record without its metrics, fit for JSON.

    Raises:
        ValueError: If the team has not one policy for each seat, or a policy answers with something else.
    """
    run = episode(env, team.specs, seed, accounts=lambda: accounts_of(env, team), **options)
    answer: Answer = None
    try:
        while True:
            answer = answer_for(team, run.send(answer))
    except StopIteration as over:
        record: Record = over.value
        return record


def answer_for(team: Team, event: Event) -> Answer:
    """Return what a team answers to an event of an episode."""
    if isinstance(event, Ask):
        policy = team.policies[event.seat]
        return policy.act(event.seen) if event.kind == "act" else policy.reply(event.seen)
    if isinstance(event, Started):
        event.reset(team)
    return None


def accounts_of(env: ParallelEnv, team: Team) -> dict[str, Any]:
    """Return what an episode took, by agent, of the policies that know it."""
    pairs = zip(env.possible_agents, team.policies, strict=True)
    return {agent: policy.account() for agent, policy in pairs if isinstance(policy, Accounting)}


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


# ------------------------------------------------------------------------------------------- one step's decisions


class Moment:
    """The environment before a step.

    Args:
        state: Copy of its state; only the game's own methods look into it.
        timestep: Steps taken so far.
        observations: Of the living agents.
        env: The environment.
    """

    def __init__(self, state: Any, timestep: int, observations: Mapping[str, Any], env: ParallelEnv) -> None:
        self.state, self.timestep, self.game = state, timestep, env.game
        self.texts = [self.game.action_texts(state, 0, seat) for seat in range(self.game.n_agents)]
        self.observations = [observations[agent] for agent in env.possible_agents]
        self.masks = [env.action_mask(agent) for agent in env.possible_agents]

    def text(self, seat: int, entry: Entry) -> str:
        """Return the text of an action that was written as text or id."""
        if isinstance(entry, str):
            return entry
        return self.texts[seat][entry] if 0 <= entry < len(self.texts[seat]) else str(entry)

    def judge(self, seat: int, entry: Entry, earlier: Sequence[int]) -> tuple[int, Refusal | None]:
        """Return an action's id, and why the game would refuse it after what earlier seats have chosen."""
        action, mask = entry, self.masks[seat]
        if isinstance(action, str):
            try:
                action = self.game.parse(action, self.state, 0, seat)
            except ValueError as error:
                return -1, (getattr(error, "code", "UNREADABLE"), str(error))
        elif not 0 <= action < len(mask):
            return -1, ("OUT_OF_SPACE", f"action {action} is outside Discrete({len(mask)})")
        if action < len(mask) and mask[action]:
            return action, None
        try:
            verdict = self.game.check(self.state, 0, seat, action, earlier)
        except ValueError:  # some games judge by the mask alone
            return action, ("MASKED", f"{self.text(seat, action)} is not possible now")
        return action, None if verdict[0] == "OK" else verdict


class Table:
    """The seats of one episode: their plans, and what is said and refused in the current step.

    Args:
        game: Compiled game.
        limits: Bounds of conversations and corrections.
        feedback: By seat; nothing if there is none.
    """

    def __init__(self, game: Any, limits: Limits, feedback: Sequence[str]) -> None:
        self.game, self.limits = game, limits
        self.feedback = list(feedback) or [""] * game.n_agents
        self.idle = [game.idle_action(seat) for seat in range(game.n_agents)]
        self.plans = Plans(game.n_agents, lambda seat, plan: game.parse_plan(plan, seat)[0])
        self.history: list[list[tuple[int, str]]] = [[] for _ in range(game.n_agents)]
        self.refused: tuple[tuple[int, str, str, str], ...] = ()  # in the step before

    def decide(self, moment: Moment, voices: list[Message]) -> Generator[Event, Answer, dict[str, Any]]:
        """Return the step's part of the record that is known before the step."""
        n_agents = self.game.n_agents
        self.moment, self.talk = moment, Conversation(self.plans, self.limits.max_turns, voices)
        self.errors: list[dict[str, Any]] = []
        self.tokens: list[int | None] = [None] * n_agents
        self.seconds: list[float | None] = [None] * n_agents
        self.chosen: list[int] = []  # by the seats that have decided
        for seat in range(n_agents):
            action = yield from self._choose(seat)
            self.chosen.append(action)
        return {
            "actions": self.chosen,
            "action_texts": [moment.texts[seat][action] for seat, action in enumerate(self.chosen)],
            "messages": self.talk.record,
            "errors": self.errors,
            "tokens": self.tokens,
            **({"seconds": self.seconds} if any(s is not None for s in self.seconds) else {}),
        }

    def note(self, moment: Moment, step: Mapping[str, Any], rejected: Sequence[int]) -> None:
        """Remember what came of a step: also what the game itself refused, as late."""
        for seat, event in enumerate(step["events"]):
            if event is not None:
                self.history[seat].append((moment.timestep + 1, event["label"]))
        refused = [(e["agent"], e["action"], e["code"], e["message"]) for e in step["errors"]]
        for seat in np.flatnonzero(rejected).tolist():
            verdict = self.game.check(moment.state, 0, seat, self.chosen[seat], self.chosen)
            if verdict[0] != "OK":
                refused.append((seat, step["action_texts"][seat], *verdict))
        self.refused = tuple(refused)

    def _choose(self, seat: int) -> Generator[Event, Answer, int]:
        """Return the seat's action: forced, planned, or asked for, and corrected if the game refuses it."""
        mask = self.moment.masks[seat]
        legal = np.flatnonzero(mask)
        if len(legal) == 1:
            return int(legal[0])
        refusal, text = None, ""
        for _ in range(self.limits.max_corrections + 1):
            if not self.plans.queues[seat]:
                yield from self._ask(seat, refusal, text)
            planned = self.plans.next(seat)
            proposal = self.idle[seat] if planned is None else planned
            action, refusal = self.moment.judge(seat, proposal, self.chosen)
            if refusal is None:
                return action
            self.plans.queues[seat].clear()
            text = self.moment.text(seat, proposal)
            self.errors.append({"agent": seat, "action": text, "code": refusal[0], "message": refusal[1]})
        return self.idle[seat] if mask[self.idle[seat]] else int(legal[0])

    def _seen(self, seat: int, refusal: Refusal | None = None, attempt: str = "") -> Seen:
        moment = self.moment
        view = self.game.seen(moment.state, 0, seat)
        plan, announced = self.plans.shown(seat, moment.text)
        return Seen(
            seat=seat,
            timestep=moment.timestep,
            observation=moment.observations[seat],
            mask=moment.masks[seat].copy(),
            view=view,
            plan=plan,
            announced=announced,
            inbox=tuple(self.talk.inbox),
            error=refusal,
            attempt=attempt,
            refused=tuple(r for r in self.refused if view.public_refusals or r[0] == seat),
            earlier=tuple((other, moment.texts[other][action]) for other, action in enumerate(self.chosen)),
            history=tuple(map(tuple, self.history)),
            feedback=self.feedback[seat],
        )

    def _ask(self, seat: int, refusal: Refusal | None, attempt: str) -> Generator[Event, Answer, None]:
        """Get a decision, let its words be heard, and queue what is to be carried out (nothing means waiting)."""
        answer = yield Ask(seat, "act", self._seen(seat, refusal, attempt))
        decision = _as_decision(answer)
        self._count(seat, decision)
        announced, revised = decision.plan, None
        if decision.action is not None and not announced:
            announced = self.moment.text(seat, decision.action)
        if seat in self.talk.opened:  # a correction is heard as one more message, and not discussed again
            self.talk.add(seat, decision.say, announced)
        elif decision.say:
            revised = yield from self._converse(seat, decision.say, announced)
        own = decision.plan if decision.action is None else int(decision.action)
        self.plans.follow(seat, own if revised is None else revised, announced=seat in self.talk.opened)

    def _converse(self, seat: int, say: str, plan: str) -> Generator[Event, Answer, str | None]:
        """Let the others answer; returns the opener's last plan if it announced another one."""
        talk = self.talk.hold(seat, say, plan)
        message: Message | None = None
        try:
            while True:
                other = talk.send(message)
                answer = yield Ask(other, "reply", self._seen(other))
                if answer is not None and not isinstance(answer, Message):
                    raise ValueError(f"a policy replied {answer!r}; it must be a Message or None")
                message = answer
                if message is not None:
                    self._count(other, message)
        except StopIteration as end:
            revised: str | None = end.value
            return revised

    def _count(self, seat: int, answer: Decision | Message) -> None:
        """Add what an answer took."""
        if answer.tokens is not None:
            self.tokens[seat] = (self.tokens[seat] or 0) + answer.tokens
        if answer.seconds is not None:
            self.seconds[seat] = (self.seconds[seat] or 0.0) + answer.seconds


def _as_decision(answer: Answer) -> Decision:
    if isinstance(answer, Decision):
        return answer
    if isinstance(answer, str):
        return Decision(plan=answer)
    if isinstance(answer, (int, np.integer)) and not isinstance(answer, bool):
        return Decision(action=int(answer))
    raise ValueError(f"a policy answered {answer!r}; it must be an action id, a text or a Decision")
