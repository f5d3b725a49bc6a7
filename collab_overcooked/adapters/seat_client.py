"""Play matches from outside: text in, text out, for any framework that owns the model or the training loop.

    with SeatClient.of_suite("collab-overcooked", "agent_0=llm:mine agent_1=greedy", episodes=1) as client:
        turn = client.start()
        while not turn.done:
            turn = client.step(model(turn.messages))
        print(client.record.metrics, turn.reward)

Every seat whose policy is a language model (``llm:NAME?switches``) is answered by the caller; all other policies play
inside. The agents, their prompts, the way answers are read and corrected, the seeds, the records and the metrics are
those of ``evaluate``, because it is the same match that runs: in a thread of its own that waits for the caller.
"""

from __future__ import annotations

import contextvars
import weakref
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple, Self, get_args

from collab_overcooked.adapters.bridge import Bridge, OpenSeat, Waiting, Worker
from collab_overcooked.adapters.results import SharedFolder, outcome_of, shared_folder
from collab_overcooked.adapters.rewards import RewardKind, above_floor, anchors_of, floor_of, mean_outcome
from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.io.checks import near_matches, parse_integer
from collab_overcooked.metrics.registry import game_metrics
from collab_overcooked.policies.api import AgentView, Policy
from collab_overcooked.policies.llm.client import Client
from collab_overcooked.policies.llm.exchange import Reply, Request
from collab_overcooked.policies.llm.images import TEXT as AS_TEXT
from collab_overcooked.policies.llm.settings import parse_settings
from collab_overcooked.policies.llm.tools import TEXT as IN_WORDS
from collab_overcooked.policies.specs import make_known_policy
from collab_overcooked.runner.episode import Event, Started, Stepped, watching
from collab_overcooked.runner.match import Match, MatchPlan

Extra = Literal["pictures", "tools"]
LLM = "llm:"
EXTRAS: Mapping[Extra, tuple[str, str]] = {"pictures": ("see", AS_TEXT), "tools": ("channel", IN_WORDS)}
"""What requests have beside text: the switch that asks for it, and the value that does not."""


class Turn(NamedTuple):
    """Question to the caller, or the end of the match; returned by ``start`` and ``step``."""

    text: str  # Text of the newest user message: the state, what was refused, what teammates said, the legal actions
    # Whole chat of this question as dicts with ``role`` and ``content``; the first one has the rules
    messages: tuple[dict[str, str], ...]
    # Actions that the seat may choose now, text -> id; empty for questions that are not about actions
    legal: Mapping[str, int]
    seat: int  # Index of the agent that is asked; -1 once the match is done
    done: bool  # Whether the match is over; nothing is asked then
    # Reward since the seat's last turn, see ``SeatClient``; once the match is done that of the seat asked last
    reward: float
    # ``timestep``, ``task`` and ``episode``. Once the match is done ``task``, ``episode`` and ``metrics`` of the last
    # record, ``rewards``: reward since its last turn of every open seat, by index, and ``truncated``: whether ``cut``
    # ended it.
    info: dict[str, Any]


class SeatClient:
    """Play one match: ``start`` begins it, ``step`` answers the question of the last turn.

    Close it after use, or use it as a context manager; it keeps a thread and the compiled environment.

    Args:
        match: Match of a plan (``plan_evaluation(...).matches``) with at least one seat ``llm:NAME``. The text behind
            ``llm:`` chooses agent and switches as on the command line; NAME only appears in the record.
        reward: What the rewards of a seat add up to. ``"outcome"``: a number from 0 to 1 at the end, the mean of the
            game's ``MetricSet.outcome`` over the match's episodes. ``"normalized"``: the outcome at the end, scaled so
            that ``random`` in the open seats earns 0 on average and ``greedy`` 1, see ``rewards.anchors_of``.
            ``"progress"``: the mean of ``MetricSet.progress``, paid as it rises or falls; the outcome in games without
            it. ``"floor"``: the score at the end minus the stored floor of the setting, see ``reporting.floors``.
            ``"return"``: the environment's rewards of the seat.
        folder: Where the records go that ``evaluate`` would write; episodes with a seed of the caller are not written.
        carries: What the caller passes on beside text, from ``request``: ``"pictures"`` and ``"tools"``.

    Attributes:
        seats: Indices of the open seats.
        records: Records of the finished match, in order, as ``evaluate`` would write them; with the numbers under which
            the folder keeps them, see ``SharedFolder``.
    """

    def __init__(
        self,
        match: Match,
        *,
        reward: RewardKind = "outcome",
        folder: SharedFolder | None = None,
        carries: Collection[Extra] = (),
    ) -> None:
        self.seats = tuple(seat for seat, spec in enumerate(match.team) if spec.startswith(LLM))
        if not self.seats:
            raise ValueError(f"team {', '.join(match.team)}: no seat is open; give at least one the policy 'llm:NAME'")
        if reward not in get_args(RewardKind):
            raise ValueError(near_matches("reward", reward, get_args(RewardKind)))
        for seat in self.seats:
            _check_carried(match.team[seat], carries)
        self.match = match
        self.reward = reward
        self._folder = folder
        self._anchors = anchors_of(match, self.seats) if reward == "normalized" else None
        self._floor = floor_of(match) if reward == "floor" else None
        self.records: list[EpisodeRecord] = []
        self._bridge = bridge = Bridge()
        self._worker = worker = Worker()
        self._release = weakref.finalize(self, _release, worker, bridge)  # if nobody closes it
        self._question: Waiting | None = None
        self._running: Future[list[EpisodeRecord]] | None = None
        self._clear()

    @classmethod
    def of_suite(
        cls,
        suite: str,
        team: str,
        match: int = 0,
        *,
        reward: RewardKind = "outcome",
        records: str = "",
        carries: Collection[Extra] = (),
        **options: Any,
    ) -> SeatClient:
        """Return a client for one match of a suite.

        Args:
            suite: Name of the suite, as for ``evaluate``.
            team: ``seat=policy`` pairs separated by spaces; every seat ``llm:NAME`` is open.
            match: Index of the match in the suite.
            reward: See ``SeatClient``.
            records: Run folder for the records, shared by all clients of the same evaluation; empty for none.
            carries: See ``SeatClient``.
            **options: Options of the suite.
        """
        plan = plan_evaluation(suite, team.split(), **options)
        return cls.of_plan(plan, match, reward=reward, records=records, carries=carries)

    @classmethod
    def of_plan(
        cls,
        plan: MatchPlan,
        match: int = 0,
        *,
        reward: RewardKind = "outcome",
        records: str = "",
        carries: Collection[Extra] = (),
    ) -> SeatClient:
        """Return a client for one match of a plan; see ``of_suite``."""
        chosen = plan.matches[parse_integer("match", match, 0, most=len(plan.matches) - 1)]
        folder = shared_folder(plan, records) if records else None
        return cls(chosen, reward=reward, folder=folder, carries=carries)

    @property
    def record(self) -> EpisodeRecord:
        """Record of the last finished episode.

        Raises:
            ValueError: No episode has finished.
        """
        if not self.records:
            raise ValueError("no episode is finished yet; the record exists once a turn is done")
        return self.records[-1]

    @property
    def metrics(self) -> Mapping[str, Any]:
        """Metrics of the last finished episode."""
        metrics: Mapping[str, Any] = self.record.metrics
        return metrics

    @property
    def seen(self) -> AgentView | None:
        """Observation of the seat that is asked now; None if nothing is asked, or no action."""
        return self._question.seen if self._question is not None else None

    @property
    def request(self) -> Request | None:
        """The whole request that waits for an answer, with sampling, schema, tools and pictures; None if none does."""
        return self._question.request if self._question is not None else None

    def start(self, seed: int | None = None) -> Turn:
        """Begin the match, from its first step; a match that is still running is abandoned.

        Args:
            seed: Seed of the environment; None for the match's own, with which ``evaluate`` plays it.

        Returns:
            The first question.
        """
        self.abandon()
        match = self.match if seed is None else replace(self.match, seed=seed)
        self._clear()
        self._written = self._folder if seed is None else None
        bridge = self._bridge
        context = contextvars.copy_context()
        context.run(watching.set, _watcher(self))
        self._running = self._worker.submit(partial(context.run, match.run, _maker(bridge)))
        self._running.add_done_callback(lambda _: bridge.waiting.put(None))
        return self._next()

    def step(self, answer: str | Reply) -> Turn:
        """Answer the question of the last turn.

        Args:
            answer: What the model answered; anything is allowed. An answer that cannot be read is asked for again, with
                what was wrong about it, as often as the agent's switch ``repairs`` allows. As a ``Reply`` it has its
                cost, and calls of tools in its text as ``tools.calls_text`` writes them.

        Returns:
            The next question, or a turn that is ``done``.

        Raises:
            ValueError: If nothing is asked.
            TypeError: If the answer is neither a string nor a ``Reply``.
        """
        if not isinstance(answer, str | Reply):
            raise TypeError(f"an answer must be a string or a Reply, not {type(answer).__name__}")
        question = self._take_question()
        question.reply.put(answer if isinstance(answer, Reply) else Reply(answer))
        return self._next()

    def cut(self, limit: str = "turns") -> Turn:
        """End a running match because a limit of the caller is used up.

        The open seats wait for the rest of the match, as in ``evaluate`` after an exhausted budget, and the records
        name the limit. Such an episode is no success, whatever the partners still achieve: its outcome is 0, it is at
        most at the floor, and progress and return are those so far.

        Args:
            limit: What is used up, for the records.

        Returns:
            The last turn, whose ``info`` says ``truncated``.

        Raises:
            ValueError: If nothing is asked.
        """
        question = self._take_question()
        self._bridge.cut = limit
        question.reply.put(None)
        return self._next()

    def abandon(self) -> None:
        """End a running match without its remaining answers; it leaves no records."""
        if self._running is None:
            return
        question = self._question
        self._question = None
        while question is not None:
            question.reply.put(None)
            question = self._bridge.waiting.get()
        self._running.exception()  # waits; an abandoned match ends in an error by design
        self._running = None

    def close(self) -> None:
        """Abandon a running match and end the thread."""
        self.abandon()
        self._release.detach()
        self._worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _take_question(self) -> Waiting:
        if self._question is None:
            raise ValueError("nothing is asked: the match is over or was not started; call start()")
        question, self._question = self._question, None
        return question

    def _clear(self) -> None:
        self.records = []
        self._bridge.cut = ""
        self._begun = 0  # number of episodes
        self._last: Stepped | None = None  # of the current episode
        self._finished = 0.0  # sum of the progress of finished episodes
        self._earned = [0.0] * len(self.match.team)
        self._paid = dict.fromkeys(self.seats, 0.0)
        self._asked = self.seats[0]

    def _watch(self, event: Event) -> None:
        if isinstance(event, Started):
            self._begun += 1
        if isinstance(event, Started) and self._last is not None:
            self._finished, self._last = self._finished + self._progress(), None
        elif isinstance(event, Stepped):
            self._last = event
            self._earned = [a + b for a, b in zip(self._earned, event.step.rewards, strict=True)]

    def _next(self) -> Turn:
        assert self._running is not None
        self._question = question = self._bridge.waiting.get()
        if question is None:
            self.records = self._running.result()
            if self._written is not None:
                self.records = self._written.add(self.records)
            rewards = {seat: self._pay(seat) for seat in self.seats}
            task, episode = self.record.task, self.record.episode
            info = {"task": task, "episode": episode, "metrics": self.metrics, "rewards": rewards}
            info["truncated"] = bool(self._bridge.cut)
            return Turn("", (), {}, -1, True, rewards[self._asked], info)
        self._asked = question.seat
        chat = tuple({"role": message.role, "content": message.content} for message in question.request.turns)
        seen = question.seen
        info = {"timestep": seen.timestep if seen else None, "task": self.match.task}
        info["episode"] = self.match.first + max(0, self._begun - 1)
        legal = dict(seen.legal_actions) if seen else {}
        return Turn(chat[-1]["content"], chat, legal, question.seat, False, self._pay(question.seat), info)

    def _pay(self, seat: int) -> float:
        """Return the reward of a seat since it was paid last."""
        total = self._total(seat)
        reward, self._paid[seat] = total - self._paid[seat], total
        return reward

    def _total(self, seat: int) -> float:
        if self.reward in ("progress", "return") and self._bridge.cut:
            return self._paid[seat]
        if self.reward == "return":
            return self._earned[seat]
        if self.reward == "progress":
            if self.records:
                return sum(outcome_of(record, self._rate(record)) for record in self.records) / len(self.records)
            return (self._finished + self._progress()) / len(self.match.keys)
        if not self.records:
            return 0.0
        if self._floor is not None:
            return above_floor(self.records, self._floor)
        outcome = mean_outcome(self.records)
        if self._anchors is None:
            return outcome
        return (outcome - self._anchors.random) / (self._anchors.reference - self._anchors.random)

    def _progress(self) -> float:
        if self._last is None:
            return 0.0
        record = self._last.record()
        return outcome_of(record.replace(metrics=game_metrics(record.env_id).measure(record)), self._rate(record))

    @staticmethod
    def _rate(record: EpisodeRecord) -> Callable[[EpisodeRecord], float] | None:
        return game_metrics(record.env_id).progress


def _check_carried(spec: str, carries: Collection[Extra]) -> None:
    switches = parse_settings(spec.removeprefix(LLM)).switches
    for extra, (name, plain) in EXTRAS.items():
        value = switches.get(name, plain)
        if value != plain and extra not in carries:
            raise ValueError(
                f"team: {spec!r}: {name}={value} needs {extra} in requests, which this harness does not pass on; "
                f"allowed is {name}={plain}"
            )


def _maker(bridge: Bridge) -> Callable[[str], Policy]:
    client = Client(bridge.complete)

    def make(spec: str) -> Policy:
        if not spec.startswith(LLM):
            return make_known_policy(spec)
        policy = OpenSeat(parse_settings(spec.removeprefix(LLM)), client)
        policy.bridge, policy.name = bridge, spec
        return policy

    return make


def _watcher(seat_client: SeatClient) -> Callable[[Event], None]:
    """Return a function that tells a client of events as long as somebody holds it."""
    held = weakref.ref(seat_client)

    def watch(event: Event) -> None:
        if (alive := held()) is not None:
            alive._watch(event)

    return watch


def _release(worker: Worker, bridge: Bridge) -> None:
    bridge.close()
    worker.end()
