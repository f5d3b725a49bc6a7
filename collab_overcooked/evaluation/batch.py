"""Runs whose requests to language models are sent as a batch: collect the requests before anything is recorded."""

from __future__ import annotations

from pathlib import Path

from collab_overcooked.evaluation.run import Progress
from collab_overcooked.policies.llm.batch import Unanswered
from collab_overcooked.runner.jobs import Evaluation
from collab_overcooked.runner.records import RECORDS, key_of, read_records
from collab_overcooked.runner.teams import MakePolicy


def collect_requests(plan: Evaluation, out: str | Path, make: MakePolicy, progress: Progress) -> None:
    """Run the jobs that are missing in a run folder, one after the other, as far as a batch has replies to them.

    Args:
        plan: Plan whose episodes have a single step, so that one batch has all first requests.
        out: Run folder; nothing is recorded there.
        make: Factory of policies whose client is a ``BatchClient``.
        progress: Called after every job.

    Raises:
        ValueError: If episodes of the plan have several steps.
    """
    if any(job.longest != 1 for job in plan.jobs):
        raise ValueError(
            f"requests: each request of the suite {plan.suite} depends on the answer before it, so that they cannot be "
            "sent as a batch; suites of single questions can, such as questions"
        )
    done = {key_of(record) for record in read_records(out)} if (Path(out) / RECORDS).exists() else set()
    for number, job in enumerate(plan.jobs, start=1):
        if not done.issuperset(job.keys):
            try:
                job.run(make)
            except Unanswered:
                pass
        progress(number, len(plan.jobs), 0)
