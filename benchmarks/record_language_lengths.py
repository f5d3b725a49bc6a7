"""Write the files of recorded lengths that ``--dry-run`` uses: short runs of every suite with a stand-in for a model.

The stand-in plays as ``greedy`` does where an agent chooses or plans, talks with every third plan, and lets one plan in
ten be refused; a dispatcher's commands are always to wait, and a joint plan is of the first sub-plans of the lists.
Run from the repository:

    python benchmarks/record_language_lengths.py             # records all suites and writes their files
    python benchmarks/record_language_lengths.py SUITE ...   # records these and leaves the others as they are
    python benchmarks/record_language_lengths.py --print SUITE ...   # writes nothing
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
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
from collab_overcooked.policies.llm.modules import offered
from collab_overcooked.policies.registry import make_policy

CHARACTERS_PER_TOKEN = 4
TALKS, ERRS, DRAFTS, OBJECTS = 3, 10, 4, 3  # one in so many plans, plans, drafted messages and judgements
ANALYSIS = "My teammate is busy and the pot is free, so I take what is missing for the next order and put it there."
SAY = "I take care of that one; please bring me the next ingredient when you are free."
GENERAL = ("choose", "coela", "roco", "capo")
WITH_SUBPLANS = (*GENERAL, "cots")
Options = dict[str, Any]
SMALL: Options = {"episodes": 1}
PRIMITIVE: Options = {"action_level": "primitive"}
TASKS: Options = {"tasks": ("boiled_egg", "potato_carrot_and_onion_patty"), "episodes": 1}
LEVELS: Options = {"levels": "0,3", "agents": (2,), "alphas": (1.5,), "episodes": 1}
LAYOUTS = "cramped_room,forced_coordination,counter_circuit,asymmetric_advantages,coordination_ring"
COOKS: Options = {"layouts": LAYOUTS, "episodes": 1}
HOMES: Options = {"tasks": ("set_table", "put_groceries"), "episodes": 1}
ROOMS: Options = {"rooms": (6,), "containers": (2,), "episodes": 1}
RUNS: dict[str, list[tuple[Sequence[str], Options]]] = {
    "collab-overcooked": [(("partner", *WITH_SUBPLANS), TASKS), (GENERAL, {**TASKS, "settings": PRIMITIVE})],
    "initiations": [(("partner",), {"tasks": ("boiled_egg",), "episodes": 1})],
    "cuisineworld": [(("dispatch", *WITH_SUBPLANS), LEVELS)],
    "craft": [(("dispatch", *GENERAL), SMALL)],
    "overcooked": [
        (WITH_SUBPLANS, COOKS | {"settings": {"action_level": "medium", "max_cycles": 200}}),
        (GENERAL, {"layouts": "cramped_room", "settings": PRIMITIVE, "episodes": 1}),
    ],
    "rush": [(GENERAL, {"domain": ("kitchen",), "teacher": ("teacher_group:llm:teacher",)})],
    "collab-capture": [(GENERAL, {"episodes": 5})],
    "collab-escape": [(GENERAL, {"episodes": 5})],
    "housework": [(WITH_SUBPLANS, HOMES), (GENERAL, {**SMALL, "tasks": ("set_table",), "settings": PRIMITIVE})],
    "transport": [(WITH_SUBPLANS, ROOMS)],
    "questions": [(("choose",), {"kinds": "fact"})],
}
"""Kinds of agents and options of the plan, by suite."""


class StandIn:
    """Answers every kind of question.

    Attributes:
        number: Number of the action that the seat would choose, from 1.
        wishes: Plan of each seat by name, what ``greedy`` would do; the seat that is asked decided last.
        me: Name of the seat that is asked.
    """

    def __init__(self) -> None:
        self.number, self.me = 1, ""
        self.wishes: dict[str, str] = {}
        self.count: dict[str, int] = {}

    def complete(self, request: Request) -> Reply:
        """Answer."""
        text = self._answer(request)
        asked = sum(len(turn.content) for turn in request.turns)
        return Reply(text, "stop", asked // CHARACTERS_PER_TOKEN, -(-len(text) // CHARACTERS_PER_TOKEN))

    def _nth(self, kind: str, period: int) -> bool:
        """Count an event; return whether it is one of a period."""
        self.count[kind] = self.count.get(kind, 0) + 1
        return self.count[kind] % period == 0

    def _answer(self, request: Request) -> str:
        fields, prompt = list((request.schema or {}).get("properties", {})), request.turns[-1].content
        if not fields:
            return "noop_agent0\nwait(bot1)\n" + ANALYSIS
        if "plan" in fields:
            return json.dumps(self._plan(prompt))
        if {"plans", "steps"} & set(fields):
            return json.dumps(self._joint_plans(prompt, "plans" in fields))
        return json.dumps({field: self._field(field, fields, prompt) for field in fields})

    def _field(self, field: str, fields: Sequence[str], prompt: str) -> Any:
        if field == "action":
            draft = re.search(r"^(\d+)\. send the message", prompt, re.MULTILINE)
            return int(draft[1]) if draft and self._nth("draft", DRAFTS) else self.number
        if field == "subplan":
            return re.findall(r"^- (.+)$", prompt.partition("You can begin:")[2], re.MULTILINE)[0]
        if field in ("distance", "task", "rating"):
            return 4
        if field == "okay":
            return not self._nth("judged", OBJECTS)
        if field in ("message", "reason", "analysis", "reasoning", "partner"):
            answers = "turn to answer" in prompt
            return "" if answers else SAY if field == "message" else ANALYSIS
        if field == "answer":
            return "A"
        return "" if "turn to answer" in prompt else self.wishes.get(field, "")  # a part of a joint plan

    def _plan(self, prompt: str) -> dict[str, str]:
        """Return a plan of a partner agent; conversations end with the first answer."""
        if "turn to answer" in prompt:
            return {"analysis": ANALYSIS, "plan": "", "say": "[END]"}
        wish = "stand_on_my_head()" if self._nth("plan", ERRS) else self.wishes[self.me]
        return {"analysis": ANALYSIS, "plan": wish, "say": SAY if self._nth("talk", TALKS) else "[NOTHING]"}

    def _joint_plans(self, prompt: str, proposes: bool) -> dict[str, Any]:
        """Return plans of the first sub-plans in the lists, or the agreed plan."""
        lists = re.findall(r"^(\w+): (.+)$", prompt.partition("ub-plans")[2], re.MULTILINE)
        rows = [(name, row.split("; ")) for name, row in lists]
        parts = {name: re.sub(r" \(\d[^;]*\)$", "", row[k % len(row)]) for k, (name, row) in enumerate(rows)}
        if not proposes:
            return {"steps": [parts]}
        expected = re.search(r"Write (\d+) different", prompt)
        plan = {"reasoning": ANALYSIS, "steps": [parts], "message": SAY}
        return {"plans": [plan] * (int(expected[1]) if expected else 1)}


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
        self.game, self.model.wishes = info.game, {}
        if info.simulator is not None:  # else questions are asked, and nothing is played
            self._begin(seat, info, seed)

    def _begin(self, seat: int, info: EnvInfo, seed: int) -> None:
        try:
            self.greedy.reset(seat, info, seed)
        except ValueError:  # it does not play with these options
            self.greedy = make_policy("random")
            self.greedy.reset(seat, info, seed)

    def act(self, seen: Seen) -> Any:
        """Ask the model, which knows what greedy would do."""
        answer: Any = self.greedy.act(seen)
        plan = answer.plan if isinstance(answer, Decision) else answer if isinstance(answer, str) else ""
        action = answer.action if isinstance(answer, Decision) else answer
        options = offered(seen, self.game)
        wish = plan or next((text for text, option in options.items() if option == action), next(iter(options)))
        self.model.me = seen.names[seen.seat]
        self.model.wishes[self.model.me] = wish
        self.model.number = 1 + list(options).index(wish) if wish in options else 1
        waits = options.get(wish) == seen.idle_action and seen.view.awaited is not None
        if waits and self.policy.account()["agent"] == "choose":
            self.model.number = len(options) + 1  # until something changes
        return self.policy.act(seen)


def play(suite: str, kind: str, options: Options, folder: str, seed: int = 0) -> tuple[Any, list[dict[str, Any]]]:
    """Play a suite with stand-ins for one kind of agent; returns the plan and its records."""
    model = StandIn()
    connection = Connection(model)

    def make(spec: str) -> Any:
        if not spec.startswith("llm:"):
            return make_policy(spec)
        policy = from_text(spec.removeprefix("llm:"), connection)
        return policy if spec == "llm:teacher" else Watched(policy, model)

    seat = "agent_0" if suite == "initiations" else "all"
    further = {name: value for name, value in options.items() if name != "settings"}
    team = f"{seat}=llm:m?agent={kind}"
    plan = plan_evaluation(suite, [team], options=options.get("settings", {}), seed=seed, **further)
    return plan, evaluate(plan, folder, make=make, workers=1)


def record(suite: str) -> dict[str, Lengths]:
    """Play the runs of a suite and return their lengths by kind of agent."""
    lengths: dict[str, Lengths] = {}
    for kinds, options in RUNS[suite]:
        for kind in kinds:
            with tempfile.TemporaryDirectory() as folder:
                recorded = recorded_lengths(*play(suite, kind, options, folder))
            print(suite, recorded, flush=True)
            lengths |= recorded
    return lengths


def packages() -> Iterator[tuple[Path, list[str]]]:
    """Yield the folder of each package with suites, and their names."""
    folders: dict[Path, list[str]] = {}
    for suite in registry.suites():
        package = type(registry.load_suite(suite)).__module__.rpartition(".")[0]
        folders.setdefault(Path(str(resources.files(package))), []).append(suite)
    yield from folders.items()


def main(arguments: list[str]) -> None:
    """Record suites and write their files, or print what would be recorded."""
    only = [word for word in arguments if word != "--print"]
    for folder, suites in packages():
        path = folder / FILE
        values = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        for suite in suites:
            if not only or suite in only:
                values[suite] = {kind: asdict(lengths) for kind, lengths in record(suite).items()}
        if "--print" not in arguments and any(suite in only for suite in suites) | (not only):
            path.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
