"""What every framework plays: ten episodes of CollabEscape with seats that answer as ``greedy`` acts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import to_builtins

from collab_overcooked.core.record import EpisodeRecord
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.export.chats import record_chats
from collab_overcooked.runner.match import MatchPlan

SUITE, EPISODES = "collab-escape", 10
ALL, ONE = "all=llm:greedy?agent=choose", "agent_0=llm:greedy?agent=choose agent_1=greedy"
COSTS = ("accounts", "decisions")  # seconds, tokens
STEP_COSTS = ("exchanges", "tokens")


def plan(team: str) -> MatchPlan:
    """Return the evaluation of a team."""
    return plan_evaluation(SUITE, team.split(), episodes=EPISODES)


def greedy_records() -> list[dict[str, Any]]:
    """Return the records of ``evaluate`` with greedy in both seats."""
    return [record for match in plan("all=greedy").matches for record in match.run()]


class Greedy:
    """Answers each question as greedy does, by the recorded episodes; questions repeat only with the same answer."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], str] = {}
        for chat in record_chats(greedy_records()):
            messages = chat["messages"]
            answer = self.answers.setdefault((messages[0]["content"], messages[-2]["content"]), messages[-1]["content"])
            assert answer == messages[-1]["content"], "one question has two answers"

    def __call__(self, messages: Sequence[Mapping[str, Any]]) -> str:
        """Return the answer to the last message, by the rules in the first one."""
        return self.answers[messages[0]["content"], messages[-1]["content"]]


def comparable(record: EpisodeRecord) -> str:
    """Return a record as JSON without its costs and the names of its policies."""
    values = to_builtins(record)
    steps = [{name: value for name, value in step.items() if name not in STEP_COSTS} for step in values["steps"]]
    left = {name: value for name, value in values.items() if name not in (*COSTS, "team")}
    return json.dumps(left | {"steps": steps}, sort_keys=True)
