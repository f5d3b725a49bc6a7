"""Episodes as generators that request decisions, and the driver that answers them with a team of policies.

Agents decide in seat order. An agent without a choice, for example a busy one, continues. An agent with a plan takes
the plan's next action. Otherwise its policy is asked: its message is sent to the teammates before any action is
executed, and a refused action is returned once for correction.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import takewhile
from types import TracebackType
from typing import Any, Protocol, Self

from collab_overcooked import __version__, registry
from collab_overcooked.core.limits import Limits
from collab_overcooked.core.record import (
    SCHEMA,
    EpisodeRecord,
    PlanUpdate,
    Step,
    Usage,
    field_types,
    history_of,
    step_class,
)
from collab_overcooked.envs.channel import quiet_arrays
from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.io.structs import convert
from collab_overcooked.policies.api import Capabilities, EnvInfo, Message, Policy, ReportsUsage
from collab_overcooked.policies.observation import Observer, observer_of
from collab_overcooked.policies.search.simulator import Simulator
from collab_overcooked.policies.shown_game import shown_game
from collab_overcooked.policies.torch_threads import one_torch_thread
from collab_overcooked.runner.conversation import Replace
from collab_overcooked.runner.decisions import Answer, Ask, Decisions, DecisionState
from collab_overcooked.runner.records import record_class
from collab_overcooked.runner.teams import Team


class EpisodeLogger(Protocol):
    """Logger of one episode's data for a game's metrics, in addition to actions, events and rewards."""

    def begin(self, env: ParallelEnv) -> None:
        """Log the start of the episode, in place of one that was logged before.

        It is called after the reset, as the episode may be left before its first step, and again after the answer to
        ``Started``, which may change the orders.
        """

    def step(self, env: ParallelEnv) -> dict[str, Any]:
        """Return additional fields of the last step, as JSON values; empty for none."""

    def end(self) -> dict[str, Any]:
        """Return additional fields of the record."""


def make_logger(env_id: str) -> EpisodeLogger | None:
    """Return a new logger for an episode of a game; None if its records need no additional data."""
    if not registry.find(env_id).suites:
        return None
    logger_class: type[EpisodeLogger] | None = registry.load_suite(env_id).logger_class
    return None if logger_class is None else logger_class()


def derive_seed(seed: int, *names: object) -> int:
    """Return a seed of 48 bits that depends only on the arguments.

    It consists of the first bytes of SHA-256 of the arguments joined by slashes, so it is independent of machine,
    number of processes and other episodes.
    """
    text = "/".join(map(str, (seed, *names)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def episode_seed(seed: int, task: str, episode: int) -> int:
    """Return the environment's seed in episode ``episode`` of a task in a suite seeded ``seed``."""
    return derive_seed(seed, task, episode)


def policy_seed(seed: int, seat: int) -> int:
    """Return the seed of a seat's policy in an episode whose environment has seed ``seed``."""
    return derive_seed(seed, "policy", seat)


@dataclass(frozen=True)
class Started:
    """The environment has been reset; policies must be reset before they are asked.

    The answer is None, or a message from outside the team for the first step.
    """

    env: ParallelEnv  # The environment, at its start
    task: str  # Name of the task
    seed: int  # Seed from which the seeds of the policies are derived, see ``policy_seed``
    # Observers by seat, for policies trained on another observation than the environment's
    observers: dict[int, Observer] = field(default_factory=dict, repr=False)
    # Seats whose policies play without the channel of the game, see ``Capabilities.speaks``
    silent: set[int] = field(default_factory=set, repr=False)
    limits: Limits = field(default_factory=Limits)  # Of messages

    def reset(self, team: Team) -> None:
        """Reset the policies of a team; those that need a simulator get one in their ``EnvInfo``."""
        for seat, policy in enumerate(team.policies):
            self.reset_policy(policy, seat, team.names)

    def reset_policy(self, policy: Policy, seat: int, names: tuple[str, ...], state: Any = None) -> None:
        """Reset the policy of one seat of a team with these names.

        Args:
            policy: Policy of the seat.
            seat: Index of the agent.
            names: Names of all policies, by seat.
            state: State for a simulator, a copy for policies that run while the game continues; None for the state of
                the environment.
        """
        game = shown_game(policy, self.env.game)
        state = self.env.arrays[0] if state is None else state
        if game is self.env.game:
            self.silent.discard(seat)
        else:
            self.silent.add(seat)
            state = quiet_arrays(state)
        observer = observer_of(policy, game)
        if observer is not None:
            self.observers[seat] = observer
        else:
            self.observers.pop(seat, None)  # of a policy that sat here before
        simulator = Simulator(game, state, seat) if Capabilities.of(policy).needs_simulator else None
        info = EnvInfo(
            game.id,
            game,
            self.task,
            names,
            simulator,
            messages=self.limits.max_messages > 0,
            message_delay=self.limits.message_delay,
        )
        policy.reset(seat, info, policy_seed(self.seed, seat))


@dataclass(frozen=True)
class Stepped:
    """A step has been taken. The answer is None, or a message from outside the team for the next step."""

    timestep: int  # Steps taken so far
    env: ParallelEnv  # The environment, after the step
    step: Step = field(repr=False)  # The step in the record
    # Function that returns the record of the steps so far, without metrics
    record: Callable[[], EpisodeRecord] = field(repr=False)


Event = Started | Ask | Stepped

watching: ContextVar[Callable[[Event], None] | None] = ContextVar("watching", default=None)
"""Called with every event of the episodes that policies play in this context."""


class Episode(Generator[Event, Answer, EpisodeRecord]):
    """A running episode: a generator that yields ``Started``, ``Ask`` and ``Stepped`` and is sent the answers.

    Args:
        env: Environment with one seat for each spec; its masks must be in the infos (``mask_in="info"``).
        specs: Specs of the policies by seat, for the record.
        seed: Seed of the environment; the policies' seeds are derived from it.
        task: Name of the task, for the record and the policies.
        episode: Number of the episode, for the record.
        level: Level of the task, for the record.
        limits: Limits of conversations and corrections; the defaults if None.
        fresh: Whether the episode is the first of its series. In later ones, the environment's generator goes on from
            the previous episode unless there are ``reset_options``, and the policies' seeds depend on the number.
        feedback: Feedback on the previous episode by seat, for the record and the seats.
        reset_options: Options of the environment's reset, such as those of a record that is played again; they are
            not part of the record.
        accounts: Function that returns the cost of answers by agent, called when the episode is over.
        ends_after: Steps after which the episode is stopped before its time limit; agents know this number.
        replaced: Function that returns what others hear instead of a message, None for nothing. Agents do not know.

    Attributes:
        steps: The record's steps so far.
        ends_after: As given.

    Raises:
        ValueError: If there is not one spec per seat, or the masks are not in the infos.
    """

    def __init__(
        self,
        env: ParallelEnv,
        specs: Sequence[str],
        seed: int,
        *,
        task: str = "",
        episode: int = 0,
        level: int | None = None,
        limits: Limits | None = None,
        fresh: bool = True,
        feedback: Sequence[str] = (),
        reset_options: Mapping[str, Any] | None = None,
        accounts: Callable[[], Mapping[str, Any]] = dict,
        ends_after: int | None = None,
        replaced: Replace | None = None,
    ) -> None:
        if len(specs) != env.game.n_agents:
            raise ValueError(f"team: {len(specs)} policies for {env.game.n_agents} seats of {env.game.id}")
        if env.mask_in != "info":
            raise ValueError(f"mask_in must be 'info' to play teams, not {env.mask_in!r}")
        self.env = env
        self.game = env.game
        self.specs = specs
        self.seed = seed
        self.ends_after = ends_after
        self._task = task
        self._number = episode
        self._level = level
        self._limits = limits or Limits()
        self._fresh = fresh
        self._feedback = feedback
        self._reset_options = reset_options
        self._accounts = accounts
        self._replaced = replaced
        self.steps: list[Step] = []
        self._record_class = record_class(env.game.id)
        self._step_class = step_class(self._record_class)
        self._success = self._over = False
        self._logger = make_logger(env.game.id)
        self._table: Decisions | None = None  # before the first step
        self._loop = self._play()

    def send(self, value: Answer) -> Event:
        """Send the answer to the last event (None at first); returns the next event.

        Raises:
            StopIteration: When the episode is over; its value is the record without metrics.
            ValueError: For an invalid answer.
        """
        return self._loop.send(value)

    def throw(  # type: ignore[override]
        self, kind: Any, error: BaseException | None = None, trace: TracebackType | None = None
    ) -> Event:
        """Raise an error at the point where the episode waits for an answer."""
        return self._loop.throw(kind if error is None else error)

    def close(self) -> EpisodeRecord:  # type: ignore[override]
        """Stop the episode; returns the record of the steps so far, with ``ended: "left"``."""
        self._loop.close()
        return self._record().replace(ended="" if self._over else "left")

    def _play(self) -> Generator[Event, Answer, EpisodeRecord]:
        env = self.env
        observations = self._reset()
        seed = self.seed if self._fresh else derive_seed(self.seed, "episode", self._number)
        observers: dict[int, Observer] = {}
        silent: set[int] = set()
        self._log_start()
        voices, ordered = self._receive((yield Started(env, self._task, seed, observers, silent, self._limits)))
        self._log_start()
        self._table = table = Decisions(self.game, self._limits, self._feedback, observers, seed, self._replaced)
        while env.agents and len(self.steps) != self.ends_after:
            snapshot = DecisionState(env.clone_state().state, len(self.steps), observations, env, silent)
            decided = yield from table.decide(snapshot, voices)
            observations, infos = self._step(decided | ordered)
            step = self.steps[-1]
            table.log_step(snapshot, step, [info["rejected"] for info in infos.values()])
            voices, ordered = self._receive((yield Stepped(len(self.steps), env, step, self._record)))
        self._over = True
        return self._record()

    def heard(self, seat: int) -> tuple[Message, ...]:
        """Return what a seat has heard in the current step, its own messages included, or in the last one."""
        return () if self._table is None else tuple(self._table.now.talk.inboxes[seat])

    def chars_left(self, seat: int) -> int | None:
        """Return how many characters a seat may still write; None for no limit."""
        return None if self._table is None else self._table.delivery.left(seat)

    def take(self, actions: Sequence[Sequence[int]]) -> EpisodeRecord:
        """Replay precomputed joint actions and return the record.

        Args:
            actions: Legal action ids by timestep and seat.

        Returns:
            The record without metrics; equal to the record of the same actions given as answers.
        """
        game, nothing = self.game, [None] * self.game.n_agents
        self._reset()
        self._log_start()
        for chosen in actions:
            texts = [game.action_texts(self.env.arrays[0], 0, seat)[action] for seat, action in enumerate(chosen)]
            step = {"actions": list(chosen), "action_texts": texts, "messages": [], "errors": []}
            self._step(step | {"tokens": list(nothing)})
        self._over = True
        return self._record()

    def _reset(self) -> dict[str, Any]:
        is_seeded = self._fresh or self._reset_options is not None
        observations, _ = self.env.reset(seed=self.seed if is_seeded else None, options=self._reset_options)
        return observations

    def _log_start(self) -> None:
        if self._logger is not None:
            self._logger.begin(self.env)

    def _step(self, decided: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        env, logger = self.env, self._logger
        if "turn_order" in decided:
            env.set_turn_order(decided["turn_order"])
        observations, rewards, _, _, infos = env.step(dict(zip(env.agents, decided["actions"], strict=True)))
        self._success = self.game.is_success(env.arrays[1], 0)
        further = logger.step(env) if logger is not None else {}
        values = {**decided, "events": env.events(), "rewards": list(rewards.values()), **further}
        self.steps.append(convert(values, self._step_class))
        return observations, infos

    def _receive(self, message: Answer) -> tuple[list[Message], dict[str, list[str]]]:
        if not isinstance(message, Message) or not self.env.agents:
            return [], {}
        if message.orders:
            self.env.order_next(message.orders)
        voices = [message._replace(agent=None, orders=())] if message.say else []
        return voices, {"ordered": list(message.orders)} if message.orders else {}

    def _record(self) -> EpisodeRecord:
        env, game, logger = self.env, self.game, self._logger
        accounts = self._accounts()
        updates = {agent: account["updates"] for agent, account in accounts.items() if account.get("updates")}
        costs = {agent: _without_updates(account) for agent, account in accounts.items()}
        further = logger.end() if logger is not None else {}
        types = field_types(self._record_class)
        return self._record_class(
            schema=SCHEMA,
            env_id=game.id,
            env_kwargs=game.kwargs,
            seed=self.seed,
            episode=self._number,
            team=dict(zip(env.possible_agents, self.specs, strict=True)),
            version=__version__,
            task=self._task,
            level=self._level,
            max_cycles=env.max_cycles,
            max_cycles_given=env.max_cycles != game.max_cycles,
            ends_after=self.ends_after,
            steps=self.steps,
            history=history_of(self.steps, game.n_agents),
            success=self._success,
            timesteps=len(self.steps),
            accounts=convert({agent: cost for agent, cost in costs.items() if cost}, dict[str, Usage]),
            plan_updates=convert(updates, dict[str, list[PlanUpdate]]),
            feedback=list(self._feedback),
            limits=self._limits.changed(),
            **{name: convert(value, types[name]) for name, value in further.items()},
        )


def play_episode(env: ParallelEnv, team: Team, seed: int, **options: Any) -> EpisodeRecord:
    """Play one episode with a team of policies.

    Args:
        env: Environment with one seat for each policy.
        team: Policies of all seats.
        seed: Seed of the environment.
        options: Further arguments of ``Episode``, such as the name of the task.

    Returns:
        The record without its metrics, as JSON values.

    Raises:
        ValueError: If the team does not have one policy per seat, or a policy returns an invalid answer.
    """
    with Answers(team) as answers:
        return drive(Episode(env, team.specs, seed, accounts=lambda: accounts_of(env, team), **options), answers.to)


def drive(
    run: Episode, answer: Callable[[Event], Answer], until: Callable[[Event], bool] | None = None
) -> EpisodeRecord:
    """Answer the events of an episode until it is over.

    Args:
        run: Episode that has not begun.
        answer: Function that returns the answer to an event.
        until: Function of each event; the episode is left as soon as the function returns True.

    Returns:
        The record without metrics; with ``ended: "left"`` if the episode was left.
    """
    given: Answer = None
    while True:
        try:
            event = run.send(given)
        except StopIteration as over:
            record: EpisodeRecord = over.value
            return record
        if until is not None and until(event):
            return run.close()
        given = answer(event)


@one_torch_thread()
def answer_for(team: Team, event: Event) -> Answer:
    """Return a team's answer to an event of an episode."""
    if isinstance(event, Ask):
        policy = team.policies[event.seat]
        return policy.act(event.seen) if event.kind == "act" else policy.reply(event.seen)
    if isinstance(event, Started):
        event.reset(team)
    return None


class Answers:
    """Answers of a team to the events of its episodes, identical to sequential ones. Close it after use.

    Seats that decide in the same state are asked concurrently if their policies allow it (``apart``).
    """

    def __init__(self, team: Team) -> None:
        self.team = team
        self._pool: ThreadPoolExecutor | None = None
        self._early: dict[int, Future[Any]] = {}  # seat -> answer that was requested concurrently with an earlier one

    def to(self, event: Event) -> Answer:
        """Return the answer to an event."""
        if (watch := watching.get()) is not None:
            watch(event)
        if isinstance(event, Started):
            self._early.clear()
        if not isinstance(event, Ask) or event.kind != "act" or not self._apart(event):
            return answer_for(self.team, event)
        if event.seat in self._early:
            answer: Answer = self._early.pop(event.seat).result()
            return answer
        if not self._early:
            for other in takewhile(self._apart, event.ahead()):
                self._pool = self._pool or ThreadPoolExecutor(len(self.team.policies))
                self._early[other.seat] = self._pool.submit(answer_for, self.team, other)
        return answer_for(self.team, event)

    def _apart(self, ask: Ask) -> bool:
        return Capabilities.of(self.team.policies[ask.seat]).apart

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


def accounts_of(env: ParallelEnv, team: Team) -> dict[str, Any]:
    """Return the cost of an episode by agent, for policies that report it."""
    pairs = zip(env.possible_agents, team.policies, strict=True)
    return {agent: policy.account() for agent, policy in pairs if isinstance(policy, ReportsUsage)}


def _without_updates(account: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in account.items() if name != "updates"}
