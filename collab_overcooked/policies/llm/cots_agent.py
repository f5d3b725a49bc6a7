"""Seats that search a joint plan in words: each asks its own model, as planner or as critic.

Source: CoTS (CVPR 2025), section 4.2 and supplement B and E; the prompts are our own. The parts of a plan are matched
to the game's sub-plans, so that whatever a model writes, nothing but accepted actions is carried out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from collab_overcooked.policies.api import Decision, Message, Seen, simulator_of
from collab_overcooked.policies.llm.answers import (
    Unreadable,
    fields_schema,
    object_schema,
    read_object,
    shorten,
    visible,
)
from collab_overcooked.policies.llm.client import ChatMessage, UnusableReply
from collab_overcooked.policies.llm.session import ModelSession
from collab_overcooked.policies.llm.settings import Value
from collab_overcooked.policies.search.cots import Member, Team, look_of
from collab_overcooked.policies.search.deliberation import STEPS, Briefing, Critique, Draft, PlanSettings, Voices
from collab_overcooked.policies.search.plan_tree import Node
from collab_overcooked.policies.search.plan_voices import Walk
from collab_overcooked.policies.search.subplans import Findings, Plan, SubPlan, plan_text

T = TypeVar("T")
MAX_WORDS = 1_500  # characters of a plan or message that are kept
MAX_PART = 80  # characters that are kept of a part that cannot be read
IDLE_WORDS = ("wait", "none", "nothing", "idle", "n/a")
_NUMBER = r"[\s\"'*:=\-]*(?:is\s+|of\s+)?(-?\d+(?:\.\d+)?)"


def plan_settings(values: Mapping[str, Value]) -> PlanSettings:
    """Return how a team deliberates, from the switches of a language agent.

    Raises:
        ValueError: For a number out of range.
    """
    fallback = "" if values["unsolved"] == "usual" else str(values["unsolved"])
    return PlanSettings(
        profile=str(values["profile"]),
        mode=str(values["mode"]),
        n=int(values["n"]),
        w=float(values["w"]),
        depth=int(values["depth"]),
        stop=float(values["stop"]),
        fallback=fallback,
        keep=int(values["keep"]),
        charge=int(values["charge"]),
    )


# ------------------------------------------------------------------------------------------- reading


def read_scores(text: str) -> tuple[int, int, str]:
    """Return the scores of distances and of the division of work, and the message.

    Raises:
        Unreadable: If a score is missing.
    """
    text = visible(text)
    found = read_object(text) or {}
    scores = [_score(text, found, name) for name in ("distance", "task")]
    if None in scores:
        raise Unreadable("Give both scores, distance and task, as integers from 1 to 5.")
    words = found.get("message", "" if found else text)
    return scores[0] or 0, scores[1] or 0, shorten(str(words), MAX_WORDS)


def read_rating(text: str) -> int:
    """Return the rating of a plan.

    Raises:
        Unreadable: If there is none.
    """
    text = visible(text)
    score = _score(text, read_object(text) or {}, "rating")
    alone = re.fullmatch(r"\D{0,40}([1-5])(?:\s*/\s*5)?\D{0,40}", text)
    if score is None and alone is None:
        raise Unreadable("Give the rating as an integer from 1 to 5.")
    return score if score is not None else int(alone[1])  # type: ignore[index]


def _score(text: str, found: Mapping[str, Any], name: str) -> int | None:
    """Return a number of 1 to 5 that stands behind a name, as JSON or in a sentence; None if there is none."""
    value = {str(key).casefold(): each for key, each in found.items()}.get(name)
    if value is None:
        match = re.search(rf"\b{name}\w*{_NUMBER}", text, re.IGNORECASE)
        value = match[1] if match else None
    match = re.match(r"\s*(-?\d{1,4}(?:\.\d+)?)", str(value)) if not isinstance(value, bool) else None
    return min(max(round(float(match[1])), 1), 5) if match else None


def read_subplan(text: str, choices: Sequence[SubPlan]) -> SubPlan:
    """Return the sub-plan that an answer chooses.

    Raises:
        Unreadable: If it names none of the choices.
    """
    text = visible(text)
    found = {str(key).casefold(): value for key, value in (read_object(text) or {}).items()}.get("subplan")
    last = re.findall(r"(?i)sub-?plan\W*[:=]\s*(.+)", text)
    option = find_option(str(found if found is not None else last[-1] if last else text), choices)
    if option is None:
        raise Unreadable("Name one of the listed sub-plans, word for word.")
    return option


def told_in(message: str, news: Findings) -> Findings:
    """Return the findings whose names a message contains."""
    plain = " ".join(message.casefold().split())
    return {
        name: finding
        for name, finding in news.items()
        if re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", plain)
    }


def read_plans(text: str, briefing: Briefing, n: int) -> list[Draft]:
    """Return the plans of an answer, as JSON or as numbered lines.

    Raises:
        Unreadable: If no part of any plan is a sub-plan of the lists.
    """
    text = visible(text)
    found = read_object(text) or {}
    listed = found.get("plans") if isinstance(found.get("plans"), list) else [found] if found else [text]
    drafts = []
    for each in (listed or [])[:n]:
        message = shorten(str(each.get("message", "") if isinstance(each, dict) else ""), MAX_WORDS)
        steps = each.get("steps", each.get("plan", "")) if isinstance(each, dict) else each
        plan, left_out = read_steps(steps, briefing)
        words = plan_text(plan, briefing.seen.names) if plan else shorten(str(each), MAX_WORDS)
        drafts.append(Draft(plan, words, message, told_in(message, briefing.news), left_out))
    if not any(draft.plan for draft in drafts):
        raise Unreadable("Name for each step and agent one of its listed sub-plans, word for word.")
    return [draft for draft in drafts if draft.plan]


def read_steps(value: Any, briefing: Briefing) -> tuple[Plan, tuple[str, ...]]:
    """Return the steps of a plan, and the parts that are left out as they are none of an agent's sub-plans."""
    rows = value if isinstance(value, list) else [line for line in str(value).splitlines() if line.strip()]
    plan, left_out = [], []
    for row in rows[:STEPS]:
        step = {}
        for seat in briefing.members:
            name = briefing.seen.names[seat]
            words = _words_for(row, name)
            entry = find_option(words, briefing.moment.options[seat])
            if entry is not None:
                step[seat] = entry
            elif words.strip(" .-") and words.strip(" .").casefold() not in IDLE_WORDS:
                left_out.append(f"{name}: {shorten(words.strip(), MAX_PART)}")
        if step:
            plan.append(step)
    return tuple(plan), tuple(left_out)


def _words_for(row: Any, name: str) -> str:
    """Return what a step says of one agent."""
    if isinstance(row, dict):
        return str({str(key).casefold(): value for key, value in row.items()}.get(name.casefold(), ""))
    part = re.search(rf"(?i)(?<!\w){re.escape(name)}\s*[:=]?\s+([^;|\n]*)", str(row))
    return part[1] if part else ""


def find_option(words: str, options: Sequence[SubPlan]) -> SubPlan | None:
    """Return the sub-plan that words name: the same text, or the longest text that stands in them."""
    plain = " ".join(words.casefold().split()).strip(" .\"'`")
    same = [option for option in options if option.text.casefold() == plain]
    inside = [o for o in options if re.search(rf"(?<!\w){re.escape(o.text.casefold())}(?!\w)", plain)]
    return same[0] if same else max(inside, key=lambda option: len(option.text), default=None)


# ------------------------------------------------------------------------------------------- asking


class ModelVoices:
    """What one seat's model says in a deliberation; what cannot be read counts as nothing said."""

    def __init__(self, session: ModelSession, values: Mapping[str, Value]) -> None:
        self.session, self.values = session, values

    def voices(self) -> Voices:
        """Return the callables of a deliberation."""
        follow = self.follow if self.values["parse"] else None
        return Voices(self.propose, self.criticise, self.rate, self.write, follow)

    def _schema(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        """Return the schema of an object, with a field for reasoning in front where that is asked for."""
        return object_schema({**({"reasoning": {"type": "string"}} if self.values["reasoning"] else {}), **properties})

    def propose(self, briefing: Briefing, path: Sequence[Node], nodes: Sequence[Node], n: int) -> list[Draft]:
        """Ask for plans, all at once; an empty one if there is none, so that the search goes on."""
        names = [briefing.seen.names[seat] for seat in briefing.members]
        steps = {"type": "array", "items": fields_schema(names)}
        plan = self._schema({"steps": steps, "message": {"type": "string"}})
        schema = object_schema({"plans": {"type": "array", "items": plan}})
        read = partial(read_plans, briefing=briefing, n=n)
        found = self._ask("cots_propose", briefing, read, schema, path=path, n=n, names=names)
        return found if found else [] if path else [Draft(())]

    def criticise(self, briefing: Briefing, draft: Draft, before: Sequence[Node]) -> Critique:
        """Ask for both scores of a plan and a message."""
        whole = {"type": "integer", "minimum": 1, "maximum": 5}
        schema = self._schema({"message": {"type": "string"}, "distance": whole, "task": whole})
        found = self._ask("cots_criticise", briefing, read_scores, schema, path=before, draft=draft)
        if found is None:
            return Critique(None, None, "default")
        return Critique(*found, tells=told_in(found[2], briefing.news))

    def rate(self, briefings: Sequence[Briefing]) -> int | None:
        """Ask how well the present plan still fits, in view of what all members know."""
        planner = briefings[0]
        whole = {"type": "integer", "minimum": 1, "maximum": 5}
        progress = [(own.seen.names[own.seat], own.moment.tell()) for own in briefings]
        schema = self._schema({"rating": whole})
        return self._ask("cots_rate", planner, read_rating, schema, progress=progress, rating=self.values["rating"])

    def write(self, briefing: Briefing, draft: Draft) -> Plan:
        """Ask for the plan that won, as sub-plans of the lists; where that fails, as its draft was understood."""
        names = [briefing.seen.names[seat] for seat in briefing.members]
        schema = object_schema({"steps": {"type": "array", "items": fields_schema(names)}})
        read = partial(read_plans, briefing=briefing, n=1)
        found = self._ask("cots_write", briefing, read, schema, draft=draft, names=names)
        return found[0].plan if found else draft.plan

    def follow(self, briefing: Briefing, choices: Sequence[SubPlan]) -> SubPlan | None:
        """Ask the seat's own model which sub-plan carries out its part of the plan."""
        schema = self._schema({"subplan": {"type": "string", "enum": [option.text for option in choices]}})
        read = partial(read_subplan, choices=choices)
        return self._ask("cots_follow", briefing, read, schema, choices=choices)

    def _ask(
        self, template: str, briefing: Briefing, read: Callable[[str], T], schema: Mapping[str, Any], **values: Any
    ) -> T | None:
        """Return what an answer says, None if it cannot be read or none can be had."""
        fill, seen = self.session.prompts.fill, briefing.seen
        facts = {
            "me": seen.names[briefing.seat],
            "members": [seen.names[seat] for seat in briefing.members],
            "manual": seen.manual,
            "moment": briefing.moment,
            "options": {seen.names[seat]: _offers(briefing, seat) for seat in briefing.members},
            "history": {seen.names[seat]: briefing.history.get(seat, ()) for seat in briefing.members},
            "reasoning": bool(self.values["reasoning"]),
            "examples": bool(self.values["examples"]),
            "plan": plan_text(briefing.plan, seen.names) if briefing.had_plan else "no plan",
            "running": {seen.names[seat]: each.text for seat, each in briefing.running.items()},
            "dialogue": briefing.dialogue,
            "steps": STEPS,
            "json": self.session.settings.json,
            **values,
        }
        chat = [ChatMessage("system", fill("cots_rules", **facts)), ChatMessage("user", fill(template, **facts))]
        try:
            return self.session.ask(chat, read, schema if self.session.settings.json else None)
        except UnusableReply:
            return None


def _offers(briefing: Briefing, seat: int) -> list[dict[str, Any]]:
    """Return a seat's sub-plans for a prompt: text, steps, and whether its hands do not allow it yet."""
    walk = Walk(briefing.moment, seat)
    return [
        {"text": option.text, "cost": round(option.cost), "later": not walk.fits(option)}
        for option in briefing.moment.options[seat]
    ]


class CotsAgent:
    """One seat of a team of language models that deliberates; see ``policies.search.cots.Team``."""

    def __init__(self, session: ModelSession, values: Mapping[str, Value], team: Team) -> None:
        self.session, self.team = session, team
        simulator = simulator_of(session.info, f"llm:{session.settings.model}")
        team.enter(Member(session.seat, simulator, look_of(session.info.game), ModelVoices(session, values).voices()))

    def act(self, seen: Seen) -> Decision:
        """Follow the plan; where the game refuses that, do nothing."""
        if seen.error is not None:
            return Decision(action=seen.idle_action)
        action = self.team.choose(seen)
        said = self.team.said.pop(seen.seat, "")
        return Decision(action=action, say=said, **self.session.take_cost())

    def reply(self, seen: Seen) -> Message | None:
        """Say aloud what this seat has said of the plan, where that is asked for."""
        return self.team.speak(seen.seat)

    def account(self) -> dict[str, Any]:
        """Return the team's looks at its plan, if this is its first seat."""
        return self.team.account(self.session.seat)
