"""Write the files of recorded lengths that ``--dry-run`` uses: short runs of every suite with a stand-in for a model.

The stand-in plays as ``greedy`` does where an agent chooses or plans, tells its teammates each plan, and lets one plan
in ten be refused; a dispatcher's commands are always to wait. Run from the repository:

    python benchmarks/record_language_lengths.py             # records all suites and writes their files
    python benchmarks/record_language_lengths.py SUITE ...   # prints what would be recorded of these
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any

from collab_overcooked import registry
from collab_overcooked.evaluation.forecast import FILE, Lengths, recorded_lengths
from collab_overcooked.evaluation.run import evaluate
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.policies.api import Decision, EnvInfo, Policy, Seen
from collab_overcooked.policies.llm.agents import LanguagePolicy, from_text
from collab_overcooked.policies.llm.client import Reply, Request
from collab_overcooked.policies.llm.connection import Connection
from collab_overcooked.policies.registry import make_policy

CHARACTERS_PER_TOKEN = 4
ANALYSIS = "My teammate is busy and the pot is free, so I take what is missing for the next order and put it there."
SAY = "I take care of that one; please bring me the next ingredient when you are free."
TASKS = {"tasks": ("boiled_egg", "potato_carrot_and_onion_patty")}
LEVELS: dict[str, Any] = {"levels": "0,3", "agents": (2,), "alphas": (1.5,), "episodes": 1}
RUNS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "collab-overcooked": [("all=llm:m", TASKS), ("all=llm:m?agent=choose", TASKS)],
    "initiations": [("agent_0=llm:m", {"tasks": ("boiled_egg",), "episodes": 1})],
    "cuisineworld": [("all=llm:m", LEVELS), ("all=llm:m?agent=choose", LEVELS)],
    "overcooked": [("all=llm:m", {"layouts": "cramped_room", "settings": {"action_level": "medium"}})],
    "rush": [("all=llm:m", {"domain": ("kitchen",), "teacher": ("teacher_group:llm:teacher",)})],
    "collab-capture": [("all=llm:m", {"episodes": 1})],
    "collab-escape": [("all=llm:m", {"episodes": 1})],
    "housework": [("all=llm:m", {"episodes": 1})],
    "transport": [("all=llm:m", {"rooms": (6,), "containers": (2,), "episodes": 1})],
    "questions": [("all=llm:m", {"kinds": "fact"})],
}


class StandIn:
    """Answers every kind of question; ``wish`` is what the seat that is asked would do."""

    def __init__(self) -> None:
        self.wish, self.plans = "", 0

    def complete(self, request: Request) -> Reply:
        """Answer."""
        text = self._answer(request)
        asked = sum(len(turn.content) for turn in request.turns)
        return Reply(text, "stop", asked // CHARACTERS_PER_TOKEN, -(-len(text) // CHARACTERS_PER_TOKEN))

    def _answer(self, request: Request) -> str:
        fields = list((request.schema or {}).get("properties", {}))
        if "plan" in fields:
            self.plans += 1
            wish, self.wish = ("stand_on_my_head()" if self.plans % 10 == 0 else self.wish), ""
            return json.dumps({"analysis": ANALYSIS, "plan": wish, "say": SAY if wish else "[END]"})
        if "action" in fields:
            return json.dumps({"action": self.wish})
        if fields:
            return json.dumps(dict.fromkeys(fields, "A" if len(fields) == 1 else ANALYSIS))
        return "noop_agent0\n" + ANALYSIS


class Watched:
    """A language policy that wishes what greedy would do."""

    needs_simulator = True  # greedy may
    apart = False  # there is one wish at a time

    def __init__(self, policy: LanguagePolicy, model: StandIn) -> None:
        self.policy, self.model, self.name = policy, model, policy.name
        self.greedy: Policy = make_policy("greedy")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.policy, name)

    def join(self, team: tuple[Any, ...]) -> None:
        """Share what language policies share."""
        self.policy.join(tuple(getattr(mate, "policy", mate) for mate in team))

    def reset(self, seat: int, info: EnvInfo, seed: int) -> None:
        """Begin."""
        self.policy.reset(seat, info, seed)
        if info.simulator is not None:  # else questions are asked, and nothing is played
            self.greedy.reset(seat, info, seed)

    def act(self, seen: Seen) -> Any:
        """Ask the model, which knows what greedy would do."""
        found: Any = self.greedy.act(seen)
        plan = found.plan if isinstance(found, Decision) else "" if isinstance(found, int) else found
        action = found.action if isinstance(found, Decision) else found
        texts = list(seen.legal_actions)
        wanted = plan or next((text for text, own in seen.legal_actions.items() if own == action), texts[0])
        chooses = self.policy.account()["agent"] == "choose"
        self.model.wish = 1 + texts.index(wanted) if chooses and wanted in texts else wanted  # type: ignore[assignment]
        return self.policy.act(seen)


def record(suite: str) -> dict[str, Lengths]:
    """Play the runs of a suite and return their lengths by kind of agent."""
    found: dict[str, Lengths] = {}
    for team, options in RUNS[suite]:
        model = StandIn()
        connection = Connection(model)

        def make(spec: str, model: StandIn = model, connection: Connection = connection) -> Any:
            if not spec.startswith("llm:"):
                return make_policy(spec)
            policy = from_text(spec.removeprefix("llm:"), connection)
            return policy if spec == "llm:teacher" else Watched(policy, model)

        own = {name: value for name, value in options.items() if name != "settings"}
        plan = plan_evaluation(suite, [team], options=options.get("settings", {}), **own)
        with tempfile.TemporaryDirectory() as folder:
            found |= recorded_lengths(plan, evaluate(plan, folder, make=make, workers=1), to_the_end=True)
        print(suite, team, found, flush=True)
    return found


def packages() -> Iterator[tuple[Path, list[str]]]:
    """Yield the folder of each package with suites, and their names."""
    folders: dict[Path, list[str]] = {}
    for suite in registry.suites():
        package = type(registry.load_suite(suite)).__module__.rpartition(".")[0]
        folders.setdefault(Path(str(resources.files(package))), []).append(suite)
    yield from folders.items()


def main(only: list[str]) -> None:
    """Record all suites, or print what some of them would record."""
    for suite in only:
        record(suite)
    for folder, suites in () if only else packages():
        values = {suite: {kind: asdict(own) for kind, own in record(suite).items()} for suite in suites}
        (folder / FILE).write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
