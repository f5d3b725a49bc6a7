"""Language agents that search a joint plan: each seat asks its own model, as planner or as critic.

Source: CoTS (CVPR 2025), section 4.2 and supplement B and E; the prompts are our own. The parts of a plan are matched
to the game's sub-plans, so that only accepted actions are executed, whatever a model writes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from collab_overcooked.policies.api import AgentView, Decision, Message, simulator_of
from collab_overcooked.policies.llm.answers import (
    LINE,
    Answer,
    Unreadable,
    fields_schema,
    find_step,
    object_schema,
    read_fields,
    read_object,
    shorten,
)
from collab_overcooked.policies.llm.choices import read_option
from collab_overcooked.policies.llm.exchange import ChatMessage, UnusableReply
from collab_overcooked.policies.llm.markup import visible
from collab_overcooked.policies.llm.modules import rules_of
from collab_overcooked.policies.llm.session import ModelSession
from collab_overcooked.policies.llm.settings import Value
from collab_overcooked.policies.search.cots import Member, SearchTeam, provider_of
from collab_overcooked.policies.search.deliberation import (
    HIGHEST,
    LOWEST,
    STEPS,
    Briefing,
    Critique,
    Draft,
    PlanFunctions,
    PlanSettings,
    left_out_text,
)
from collab_overcooked.policies.search.plan_functions import Walk
from collab_overcooked.policies.search.plan_tree import Node
from collab_overcooked.policies.search.subplans import Findings, Plan, SubPlan, plan_text

MAX_WORDS = 1_500  # maximum characters of a plan or message
_RANGE = {"minimum": LOWEST, "maximum": HIGHEST}  # of scores and ratings
MAX_PART = 80  # maximum characters of an unreadable part
IDLE_WORDS = ("wait", "none", "nothing", "idle", "n/a")


def plan_settings(values: Mapping[str, Value]) -> PlanSettings:
    """Return the deliberation settings from the switches of a language agent."""
    chosen: dict[str, Any] = {name: values[name] for name in ("profile", "mode", "n", "w", "depth", "stop", "keep")}
    chosen |= {name: int(values[name]) for name in ("charge", "reward", "update")}
    chosen["fallback"] = "" if values["unsolved"] == "auto" else values["unsolved"]
    return PlanSettings(**chosen)


def read_scores(text: str) -> Answer:
    """Parse the scores of distances and of the division of work, and the message.

    Raises:
        Unreadable: A score is missing or outside 1 to 5.
    """
    fields = read_fields(text, ["distance", "task", "message"], ["distance", "task"])
    scores = [_score(fields.value[name]) for name in ("distance", "task")]
    if None in scores:
        raise Unreadable("Give both scores, distance and task, as integers from 1 to 5.")
    return Answer((*scores, shorten(fields.value["message"], MAX_WORDS)), fields.how)


SATISFIED = {"satisfied": HIGHEST, "unsatisfied": LOWEST}  # answers to a bare question, as ratings


def read_satisfaction(text: str) -> Answer:
    """Parse whether the plan satisfies, as a rating."""
    number, how = read_option(text, [*SATISFIED], (), "rating", " or ".join(SATISFIED))
    return Answer([*SATISFIED.values()][number], how)


def read_rating(text: str) -> Answer:
    """Parse the rating of a plan."""
    numbers = [str(number) for number in range(1, 6)]
    number, how = read_option(text, numbers, (), "rating", "the rating, an integer from 1 to 5")
    return Answer(number + 1, how)


def _score(text: str) -> int | None:
    return int(text) if re.fullmatch("[1-5]", text) else None


def read_subplan(text: str, choices: Sequence[SubPlan]) -> Answer:
    """Parse the sub-plan chosen by an answer."""
    texts = [option.text for option in choices]
    number, how = read_option(text, texts, (), "subplan", "one of the listed sub-plans, word for word")
    return Answer(choices[number], how)


def findings_in(message: str, news: Findings) -> Findings:
    """Return the findings whose names a message contains."""
    plain = " ".join(message.casefold().split())
    return {
        name: finding
        for name, finding in news.items()
        if re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", plain)
    }


def read_plans(text: str, briefing: Briefing, n: int) -> Answer:
    """Parse the plans of an answer, as JSON or as numbered lines; the value is a list of drafts.

    Raises:
        Unreadable: A step is missing, or a sub-plan is not in its list.
    """
    text = visible(text)
    parsed = read_object(text, ["plans"]) or read_object(text, ["steps", "plan", "message"])
    answer = parsed.value if parsed else {}
    if isinstance(answer.get("plans"), list):
        listed = answer["plans"]
    else:
        listed = [answer or text]
    drafts: list[Draft] = []
    unread: list[str] = []
    for item in (listed or [])[:n]:
        message = shorten(str(item.get("message", "") if isinstance(item, dict) else ""), MAX_WORDS)
        steps = item.get("steps", item.get("plan", "")) if isinstance(item, dict) else item
        plan, left_out = read_steps(steps, briefing)
        if not plan:
            unread.append(f"a plan without a listed sub-plan, {shorten(str(steps), MAX_PART)}")
            continue
        described = plan_text(plan, briefing.seen.names)
        drafts.append(Draft(plan, described, message, findings_in(message, briefing.news), left_out))
    if not drafts:
        raise Unreadable("Name for each step and agent one of its listed sub-plans, word for word.")
    how = parsed.how if parsed else LINE
    return Answer([replace(drafts[0], left_out=(*drafts[0].left_out, *unread)), *drafts[1:]], how)


def read_steps(value: object, briefing: Briefing) -> tuple[Plan, tuple[str, ...]]:
    """Return the steps of a plan, and the parts that match no sub-plan of their agent."""
    rows = value if isinstance(value, list) else [line for line in str(value).splitlines() if line.strip()]
    plan, left_out = [], []
    for row in rows[:STEPS]:
        step = {}
        for seat in briefing.members:
            name = briefing.seen.names[seat]
            part = _part_of(row, name)
            entry = find_option(part, briefing.view.options[seat])
            if entry is not None:
                step[seat] = entry
            elif part.strip(" .-") and part.strip(" .").casefold() not in IDLE_WORDS:
                left_out.append(f"{name}: {shorten(part.strip(), MAX_PART)} (in no list)")
        if step:
            plan.append(step)
    if len(rows) > STEPS and plan:
        left_out.append(f"{len(rows) - STEPS} further steps (a plan has {STEPS} at most)")
    return tuple(plan), tuple(left_out)


def _part_of(row: Any, name: str) -> str:
    if isinstance(row, dict):
        return str({str(key).casefold(): value for key, value in row.items()}.get(name.casefold(), ""))
    part = re.search(rf"(?i)(?<!\w){re.escape(name)}\s*[:=]?\s+([^;|\n]*)", str(row))
    return part[1] if part else ""


def find_option(text: str, options: Sequence[SubPlan]) -> SubPlan | None:
    """Return the sub-plan whose text this is, with or without the cost in brackets that the list has behind it."""
    texts = [option.text for option in options]
    step = find_step(text, texts) or find_step(re.sub(r"\s*\([^()]*\)[\s.]*\Z", "", text), texts)
    return next((option for option in options if option.text == step), None)


class ModelPlanFunctions:
    """Plan functions of a deliberation from one seat's model; unreadable answers count as silence."""

    def __init__(self, session: ModelSession, values: Mapping[str, Value]) -> None:
        self.session, self.values = session, values

    def plan_functions(self) -> PlanFunctions:
        """Return the callables of a deliberation."""
        follow = self.follow if self.values["parse"] else None
        return PlanFunctions(self.propose, self.criticise, self.rate, self.write, follow, self.session.spent)

    def _schema(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        return object_schema({**({"reasoning": {"type": "string"}} if self.values["reasoning"] else {}), **properties})

    def propose(self, briefing: Briefing, path: Sequence[Node], nodes: Sequence[Node], n: int) -> list[Draft]:
        """Request all plans at once; an empty one if there is none, so that the search continues."""
        names = [briefing.seen.names[seat] for seat in briefing.members]
        steps = {"type": "array", "items": fields_schema(names)}
        plan = self._schema({"steps": steps, "message": {"type": "string"}})
        schema = object_schema({"plans": {"type": "array", "items": plan}})
        read = partial(read_plans, briefing=briefing, n=n)
        drafts = self._ask("cots_propose", briefing, read, schema, path=path, n=n, names=names)
        if drafts:
            return drafts
        return [] if path else [Draft(())]

    def criticise(self, briefing: Briefing, draft: Draft, before: Sequence[Node]) -> Critique:
        """Request both scores of a plan and a message."""
        score = {"type": "integer", **_RANGE}
        schema = self._schema({"message": {"type": "string"}, "distance": score, "task": score})
        left_out = left_out_text(draft.left_out)
        planner = briefing.planner if self.values["input"] else None
        told = planner and {"name": planner.seen.names[planner.seat], "view": planner.view.describe()}
        values: dict[str, Any] = {"path": before, "draft": draft, "left_out": left_out, "told": told}
        scores = self._ask("cots_criticise", briefing, read_scores, schema, **values)
        if scores is None:
            return Critique(None, None, "default")
        distance, task, message = scores
        return Critique(distance, task, message, findings=findings_in(message, briefing.news))

    def rate(self, briefings: Sequence[Briefing]) -> int | None:
        """Request a rating of the current plan from this seat's model, given the knowledge of all members."""
        own = next(briefing for briefing in briefings if briefing.seat == self.session.seat)
        form = self.values["rating"]
        score = {"type": "string", "enum": [*SATISFIED]} if form == "basic" else {"type": "integer", **_RANGE}
        progress = [(briefing.seen.names[briefing.seat], briefing.view.describe()) for briefing in briefings]
        read = read_satisfaction if form == "basic" else read_rating
        return self._ask("cots_rate", own, read, self._schema({"rating": score}), progress=progress, rating=form)

    def write(self, briefing: Briefing, draft: Draft) -> Plan:
        """Request the winning plan as listed sub-plans; if that fails, return the plan of the draft."""
        names = [briefing.seen.names[seat] for seat in briefing.members]
        schema = object_schema({"steps": {"type": "array", "items": fields_schema(names)}})
        read = partial(read_plans, briefing=briefing, n=1)
        drafts = self._ask("cots_write", briefing, read, schema, draft=draft, names=names)
        return drafts[0].plan if drafts else draft.plan

    def follow(self, briefing: Briefing, choices: Sequence[SubPlan]) -> SubPlan | None:
        """Request from the seat's own model the sub-plan that executes its part of the plan."""
        schema = self._schema({"subplan": {"type": "string", "enum": [option.text for option in choices]}})
        read = partial(read_subplan, choices=choices)
        return self._ask("cots_follow", briefing, read, schema, choices=choices)

    def _ask(
        self, template: str, briefing: Briefing, read: Callable[[str], Answer], schema: Mapping[str, Any], **values: Any
    ) -> Any:
        fill, seen = self.session.prompts.fill, briefing.seen
        variables = {
            "me": seen.names[briefing.seat],
            "members": [seen.names[seat] for seat in briefing.members],
            "manual": "\n".join((rules_of(seen, pays=bool(self.values["charge"])), *seen.message_rules)),
            "view": briefing.view,
            "options": {seen.names[seat]: _offers(briefing, seat) for seat in briefing.members},
            "history": {seen.names[seat]: briefing.history.get(seat, ()) for seat in briefing.members},
            "reasoning": bool(self.values["reasoning"]),
            "examples": bool(self.values["examples"]),
            "plan": plan_text(briefing.plan, seen.names) if briefing.had_plan else "no plan",
            "running": {seen.names[seat]: option.text for seat, option in briefing.running.items()},
            "dialogue": briefing.dialogue,
            "left_out": left_out_text(briefing.left_out),
            "steps": STEPS,
            "json": self.session.settings.json,
            **values,
        }
        chat = [
            ChatMessage("system", fill("cots_rules", **variables)),
            ChatMessage("user", fill(template, **variables)),
        ]
        try:
            return self.session.ask(chat, read, schema if self.session.settings.json else None)
        except UnusableReply:
            return None


def _offers(briefing: Briefing, seat: int) -> list[dict[str, Any]]:
    walk = Walk(briefing.view, seat)
    return [
        {"text": option.text, "cost": _cost(walk, option), "later": "" if walk.fits(option) else _need(option)}
        for option in briefing.view.options[seat]
    ]


def _cost(walk: Walk, option: SubPlan) -> str:
    return str(round(option.cost)) if walk.place is not None or option.place is None else "unknown"


def _need(option: SubPlan) -> str:
    return "once it holds something" if option.load < 0 else "once it has a free hand"


class CotsAgent:
    """Member of a deliberating team of language models; see ``policies.search.cots.SearchTeam``."""

    def __init__(self, session: ModelSession, values: Mapping[str, Value], team: SearchTeam) -> None:
        self.session, self.team = session, team
        simulator = simulator_of(session.info, f"llm:{session.settings.model}")
        functions = ModelPlanFunctions(session, values).plan_functions()
        team.enter(Member(session.seat, simulator, provider_of(session.info.game), functions), session.info)

    def act(self, seen: AgentView) -> Decision:
        """Follow the plan; wait if the game refuses the action."""
        if seen.error is not None:
            return Decision(action=seen.idle_action)
        action = self.team.choose(seen)
        say = self.team.spoken.pop(seen.seat, "")
        return Decision(action=action, say=say, **self.session.take_cost())

    def reply(self, seen: AgentView) -> Message | None:
        """Answer partners outside the team, or send this seat's pending message about the plan (``charge``)."""
        message = self.team.answer(seen)
        return message and message._replace(**self.session.take_cost())

    def account(self) -> dict[str, Any]:
        """Return the team's plan updates, if this is its first seat."""
        return self.team.account(self.session.seat)
