"""Play matches on workers; plans are played into run folders that can be resumed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.kernels.jit import compile_seconds
from collab_overcooked.policies.api import Policy
from collab_overcooked.policies.batched import ROWS, plays_in_batches
from collab_overcooked.policies.specs import PolicySpec, make_known_policy
from collab_overcooked.runner.batched import play_batch, play_returns
from collab_overcooked.runner.env_variants import env_key
from collab_overcooked.runner.match import Match, MatchPlan, check_seeds, clear_env_cache
from collab_overcooked.runner.records import key_of
from collab_overcooked.runner.registrations import JobNeeds
from collab_overcooked.runner.run import Run, resumable
from collab_overcooked.runner.teams import MakePolicy, Team, make_team
from collab_overcooked.runner.workers import read_workers, run_jobs

logger = logging.getLogger(__name__)

MAX_EPISODES = 1_000_000
"""Maximum number of episodes of an evaluation; matches and records of more do not fit into memory."""
Progress = Callable[[int, int, int], None]
"""Called with episodes done, episodes in all, and successes among those done."""


def check_episodes(count: int) -> None:
    """Refuse evaluations of too many episodes."""
    if count > MAX_EPISODES:
        raise ValueError(f"episodes: this is {count:,} episodes in all, allowed are {MAX_EPISODES:,}")


class DecisionClock:
    """Measures the time of a policy's decisions and answers in each episode.

    The clock counts CPU time of the policy without JIT compilation, so load on the machine does not matter. For
    language models it counts wall time.

    Args:
        policy: Policy whose methods are replaced by timed ones.
        waits: Count wall time instead of CPU time.
    """

    def __init__(self, policy: Policy, waits: bool) -> None:
        clock = time.perf_counter if waits else time.thread_time
        self.policy = policy
        self.episodes: list[list[float]] = []  # number of decisions, and seconds
        reset, act, reply = policy.reset, policy.act, policy.reply

        def begin(*arguments: Any) -> None:
            self.episodes.append([0, 0.0])
            reset(*arguments)

        def timed(method: Callable[..., Any], counted: int) -> Callable[..., Any]:
            def call(view: Any) -> Any:
                before, compiled = clock(), compile_seconds()
                try:
                    return method(view)
                finally:
                    times = self.episodes[-1]
                    times[0] += counted
                    times[1] += clock() - before - (compile_seconds() - compiled)

            return call

        for name, method in (("reset", begin), ("act", timed(act, 1)), ("reply", timed(reply, 0))):
            setattr(policy, name, method)


@lru_cache(maxsize=256)
def _cached_clock(spec: str, seat: int) -> DecisionClock:
    return _clock(make_known_policy(spec), spec)


def _clock(policy: Policy, spec: str) -> DecisionClock:
    return DecisionClock(policy, waits=PolicySpec.parse(spec).is_language)


@dataclass(frozen=True)
class Job:
    """Matches of one team that a worker plays, in one batch if the game and policies support it.

    Attributes:
        matches: The matches; ``"returns"`` are of single episodes in one environment.
        tag: Value that is returned with the results, to identify the job.
        keep: ``"records"``, ``"timed records"`` with the number and the seconds of each seat's decisions, or
            ``"returns"``.
    """

    matches: tuple[Match, ...]
    tag: Any
    keep: Literal["records", "timed records", "returns"] = "records"

    @property
    def needs(self) -> JobNeeds:
        """Games, policies and classes of the matches."""
        specs = {spec for match in self.matches for spec in (*match.team, *match.teachers())}
        kinds = {type(match) for match in self.matches}
        return JobNeeds(frozenset(match.env_id for match in self.matches), frozenset(specs), frozenset(kinds))

    def run(self, make: MakePolicy | None = None) -> list[tuple[Any, Any]]:
        """Play, and return the tag with each record, or with the returns of all matches.

        A language model that cannot be asked ends timed matches: the last entry has the error for a record.
        """
        first = self.matches[0]
        if self.keep == "timed records":
            return list(self._run_timed(make))
        seeds = [match.seed for match in self.matches]
        if self.keep == "returns":
            return [(self.tag, play_returns(first.env_id, first.env_kwargs, first.team, seeds, make))]
        if len(self.matches) == 1:
            return [(self.tag, record) for record in first.run(make)]
        decided = play_batch(first.env_id, first.env_kwargs, first.team, seeds, make)
        return [
            (self.tag, record)
            for match, played in zip(self.matches, decided, strict=True)
            for record in match.run(make, None if played is None else played.actions.tolist())
        ]

    def _run_timed(self, make: MakePolicy | None) -> Iterator[tuple[Any, Any]]:
        from collab_overcooked.policies.llm.exchange import EndpointError, Spent

        clocks: list[DecisionClock] = []

        def timed(spec: str) -> Policy:
            clock = _cached_clock(spec, len(clocks)) if make is None else _clock(make(spec), spec)
            clock.episodes.clear()
            clocks.append(clock)
            return clock.policy

        try:
            for match in self.matches:
                clocks.clear()
                for i, record in enumerate(match.run(timed)):
                    times = [clock.episodes[i] for clock in clocks]
                    decisions = {
                        seat: (int(count), round(seconds, 6))
                        for seat, (count, seconds) in zip(record.team, times, strict=True)
                    }
                    yield self.tag, record.replace(decisions=decisions)
        except Spent:
            raise
        except EndpointError as error:
            yield self.tag, error


def jobs_of(tag: Any, matches: Iterable[Match], teams: Sequence[Team], most: int = ROWS) -> list[Job]:
    """Return matches with up to ``most`` episodes of a team in an environment as one, where they can be played at once.

    Args:
        tag: See ``Job``.
        matches: Matches of a plan.
        teams: All teams of the matches.
        most: Maximum number of episodes in a job; an interrupted run loses those of the running one.
    """
    policies = {team.specs: team.policies for team in teams}
    together: dict[Any, list[Match]] = {}
    for number, match in enumerate(matches):
        single = type(match) is Match and match.episodes == 1
        if single and all(plays_in_batches(policy, match.env_id) for policy in policies[match.team]):
            together.setdefault((env_key(match.env_id, match.env_kwargs), match.team), []).append(match)
        else:
            together[number] = [match]
    return [Job(tuple(group[k : k + most]), tag) for group in together.values() for k in range(0, len(group), most)]


def run_plans(
    plans: Sequence[tuple[MatchPlan, Path | None]],
    folder: Path | None,
    *,
    workers: int | str | None = None,
    timed: bool = False,
    make: MakePolicy | None = None,
    run_config: Mapping[str, Any] | None = None,
    stop: Callable[[], None] | None = None,
    progress: Progress | None = None,
) -> list[list[Any]]:
    """Play the missing episodes of several plans and return all their records.

    Args:
        plans: Plans, and the run folder of each; None to keep records in memory alone.
        folder: Folder of all runs.
        workers: See ``workers.read_workers``; threads of this process with ``make``, 1 by default then.
        timed: Whether records say how long decisions took, for which episodes are played one by one. A plan whose
            language model cannot be asked is left incomplete then, while others go on.
        make: Turns policy specs into policies, for policies outside the registry or that share something.
        run_config: JSON values that must be equal for a run to be continued, besides those of its plan.
        stop: Called when playing ends early, so that policies in other threads need not be waited for.
        progress: Called after every episode.

    Returns:
        The records of each plan in the order of tasks and episodes, whatever ``workers`` is.

    Raises:
        ValueError: For an unknown policy, bad workers, or a folder with another run in it.
        OSError: If a folder cannot be written to, or another process writes to it.
    """
    chosen = read_workers(workers, default=None if make is None or timed else 1)
    # Made before any folder is touched, so that unknown policies are refused; a comparison has made them already
    teams = [] if timed else [make_team(team, make or make_known_policy) for plan, _ in plans for team in plan.teams()]
    runs: list[Run[EpisodeRecord]] = []
    jobs: list[Job] = []
    failed: dict[int, Exception] = {}  # why a run is not whole
    clear_env_cache()
    # Both records.jsonl and exchanges.jsonl can be resumed
    hint: AbstractContextManager[None] = nullcontext() if folder is None else resumable(folder, "**/*.jsonl")
    with hint, ExitStack() as opened:
        for number, (plan, path) in enumerate(plans):
            run: Run[EpisodeRecord] = Run(path, {**plan.config(), **(run_config or {})})
            opened.callback(run.close)
            runs.append(run)
            check_seeds(path or "", run.results, plan)
            run.check_planned(plan.keys, lambda key: f"episode {key[1]} of {key[0]}")
            missing = [match for match in plan.matches if any(key not in run.results for key in match.keys)]
            jobs += _timed_jobs(number, plan, missing) if timed else jobs_of(number, missing, teams)
        total = sum(plan.n_episodes for plan, _ in plans)
        done = sum(len(run.results) for run in runs)
        successes = sum(record.success for run in runs for record in run.results.values())
        if done:
            logger.info(f"{folder}: continuing, {done} of {total} episodes are there")
        for number, record in run_jobs(jobs, chosen, make, stop):
            if isinstance(record, Exception):
                if number not in failed:
                    logger.warning(f"{runs[number].path}: {record}; the others go on")
                failed[number] = record
            elif key_of(record) not in runs[number].results:  # or of a match that was stopped half way
                runs[number].append(record)
                done, successes = done + 1, successes + record.success
                if progress is not None:
                    progress(done, total, successes)
        records = [
            run.finish(key for key in plan.keys if key in run.results)
            for run, (plan, _) in zip(runs, plans, strict=True)
        ]
    if failed and len(failed) == len(runs):
        raise next(iter(failed.values()))
    return records


def _timed_jobs(number: int, plan: MatchPlan, matches: Sequence[Match]) -> list[Job]:
    together: dict[Any, list[Match]] = {}
    speaking = plan.has_language_models()
    for k, match in enumerate(matches):
        together.setdefault(k if speaking else (match.task, match.team), []).append(match)
    return [Job(tuple(group), number, "timed records") for group in together.values()]
