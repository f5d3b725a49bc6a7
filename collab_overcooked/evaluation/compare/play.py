"""Play what a draw says: every team into a run folder of its own, with the time that its decisions take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

from collab_overcooked._jit import compile_seconds
from collab_overcooked.evaluation.compare.plan import Entry
from collab_overcooked.evaluation.run import Progress, check_jobs, play_works
from collab_overcooked.policies.api import Policy
from collab_overcooked.policies.registry import LANGUAGE, kind_of, make_policy
from collab_overcooked.runner.jobs import Evaluation, Work, kept_env
from collab_overcooked.runner.records import Key, RunFolder, key_of
from collab_overcooked.runner.teams import MakePolicy


class Clock:
    """Times a policy's decisions and answers, episode by episode.

    What counts is the processor time of whoever decides, less what the compiler took, so that other processes on the
    machine do no harm; for language models, which are waited for, it is the time that passes.

    Args:
        policy: Its methods are replaced by ones that are timed.
        waits: Whether the time that passes counts.
    """

    def __init__(self, policy: Policy, waits: bool) -> None:
        clock = time.perf_counter if waits else time.thread_time
        self.policy = policy
        self.episodes: list[list[float]] = []  # number of decisions, and seconds
        reset, act, reply = policy.reset, policy.act, policy.reply

        def begin(*words: Any) -> None:
            self.episodes.append([0, 0.0])
            reset(*words)

        def timed(method: Callable[..., Any], counted: int) -> Callable[..., Any]:
            def call(view: Any) -> Any:
                before, compiled = clock(), compile_seconds()
                try:
                    return method(view)
                finally:
                    own = self.episodes[-1]
                    own[0] += counted
                    own[1] += clock() - before - (compile_seconds() - compiled)

            return call

        for name, method in (("reset", begin), ("act", timed(act, 1)), ("reply", timed(reply, 0))):
            setattr(policy, name, method)


@lru_cache(maxsize=256)
def _kept_clock(spec: str, seat: int) -> Clock:
    """Keep a process's policies: some load files, some remember plans, here as in any evaluation."""
    return Clock(make_policy(spec), kind_of(spec) == LANGUAGE)


@dataclass(frozen=True)
class Timed:
    """Works of one team whose records say how many decisions each seat made, and how long these took together.

    Attributes:
        works: What is played, one after the other.
        folder: Which run folder it is for.
    """

    works: tuple[Work, ...]
    folder: str

    def play(self, make: MakePolicy | None = None) -> list[dict[str, Any]]:
        """Play, and add ``decisions`` (seat -> number and seconds) and the folder to each record."""
        return [record for work in self.works for record in self._play(work, make)]

    def _play(self, work: Work, make: MakePolicy | None) -> Iterator[dict[str, Any]]:
        clocks: list[Clock] = []

        def timed(spec: str) -> Policy:
            clock = _kept_clock(spec, len(clocks)) if make is None else Clock(make(spec), kind_of(spec) == LANGUAGE)
            clock.episodes.clear()
            clocks.append(clock)
            return clock.policy

        for i, record in enumerate(work.play(timed)):
            times = [clock.episodes[i] for clock in clocks]
            decisions = {seat: [int(own[0]), round(own[1], 6)] for seat, own in zip(record["team"], times, strict=True)}
            yield record | {"decisions": decisions, "folder": self.folder}


def play(
    plans: Mapping[Entry, Evaluation],
    out: Path,
    *,
    jobs: int | None = None,
    make: MakePolicy | None = None,
    facts: Mapping[str, Any] | None = None,
    stop: Callable[[], None] | None = None,
    progress: Progress | None = None,
    note: Callable[[str], None] = print,
) -> None:
    """Play what is missing of some entries of a draw.

    Args:
        plans: What each entry plays.
        out: Folder of the comparison.
        jobs: Processes; the number of processor cores if None. With ``make``, threads of this process.
        make: Turns policy texts into policies that share something.
        facts: What else must be equal for a run to be continued, fit for JSON.
        stop: Called when playing ends early.
        progress: Told after every episode.
        note: Told what was repaired.

    Raises:
        ValueError: If a folder holds another run, or for a bad number of jobs.
        OSError: If a folder cannot be written to.
    """
    jobs = check_jobs(jobs)
    folders: dict[str, RunFolder] = {}
    wanted: dict[str, list[Key]] = {}
    stages: dict[tuple[str, frozenset[str]], list[Timed]] = {}
    for entry, plan in plans.items():
        folder = folders[entry.folder] = RunFolder(out / entry.folder, {**plan.config(), **(facts or {})}, note)
        wanted[entry.folder] = [key for work in plan.works for key in work.keys]
        missing = [work for work in plan.works if any(key not in folder.records for key in work.keys)]
        alike = (list(own) for _, own in groupby(missing, lambda work: work.task))  # plans may be remembered
        bundles = ([(work,) for work in own] if plan.speaks() else [tuple(own)] for own in alike)
        timed = [Timed(bundle, entry.folder) for own in bundles for bundle in own]
        stages.setdefault((entry.game, frozenset(entry.team)), []).extend(timed)
    total = sum(map(len, wanted.values()))
    done = sum(len(folder.records) for folder in folders.values())
    if done:
        note(f"{out}: continuing, {done} of {total} episodes are there")
    for record in play_works(_in_order(stages), jobs, make, stop):
        folder = folders[record.pop("folder")]
        if key_of(record) not in folder.records:
            folder.append(record)
            done += 1
            if progress is not None:
                progress(done, total, 0)
    for name, folder in folders.items():
        folder.finish(wanted[name])


def _in_order(stages: Mapping[tuple[str, frozenset[str]], list[Timed]]) -> list[list[Timed]]:
    """Return teams of one kind, by game and policy, with their pairs behind the later of the two.

    The game with the most steps comes first, so that workers play it while this process compiles the others.
    """
    sizes: dict[str, int] = {}
    for (game, _), bundles in stages.items():
        for work in (bundle.works[0] for bundle in bundles[:1]):
            steps = kept_env(work.env_id, work.env_kwargs).max_cycles
            sizes[game] = sizes.get(game, 0) + steps * sum(len(own.keys) for bundle in bundles for own in bundle.works)
    order: dict[tuple[str, str], list[Timed]] = {}
    for game in sorted(sizes, key=lambda name: -sizes[name]):
        own = {kinds: works for (name, kinds), works in stages.items() if name == game}
        order |= {(game, min(kinds)): list(works) for kinds, works in own.items() if len(kinds) == 1}
        for kinds, works in own.items():
            if len(kinds) > 1:
                later = max((key for key in order if key[0] == game and key[1] in kinds), key=list(order).index)
                order[later] += works
    return [works for works in order.values() if works]
