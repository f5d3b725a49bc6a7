"""Texts of the household games: actions, manual, observation, and knowledge of an agent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from collab_overcooked.envs.api import ActionError, rows
from collab_overcooked.envs.lexicon import plain
from collab_overcooked.envs.seen import SeatView
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.text import join_and, plural
from collab_overcooked.kernels.bound import bind
from collab_overcooked.kernels.macro_actions import Level, Macro, Outcome

from ..engine.compile import FRAMES, PLACES, STEPS, THINGS
from ..engine.config import LOADS
from ..engine.constants import (
    MESSAGE,
    NOTHING,
    Belief,
    Event,
    EventColumn,
    GameKind,
    Known,
    Param,
    Reason,
    Row,
    Thing,
    Verb,
    World,
)
from ..engine.state import Out, State
from ..engine.step import judge_batch
from .facts import HouseFacts
from .scene import Scene

NAMES = ("Alice", "Bob", "Carol", "Dave")
HAND_NAMES = ("left", "right")
ABOUT_PLACES = {
    Verb.WALK: "walk to",
    Verb.OPEN: "open",
    Verb.CLOSE: "close",
    Verb.PUT_AT: "put down at",
    Verb.CHECK: "check",
    Verb.GO: "go to",
}
ABOUT_THINGS = {Verb.WALK_TO: "walk to", Verb.GRAB: "take", Verb.FETCH: "pick up"}
TASK_WORDS = {
    "afternoon_tea": "prepare afternoon tea",
    "wash_dishes": "load the dishwasher",
    "prepare_meal": "prepare a meal",
    "put_groceries": "put the groceries away",
    "set_table": "lay the table",
    "food": "bring food to the bed",
    "stuff": "bring things to the bed",
}


PLURALS = {"loaf": "loaves", "mouse": "mice", "bread": "bread"}


def several(count: int, name: str) -> str:
    """Return a count with the name of a class of things: ``"1 loaf"``, ``"2 loaves"``."""
    return f"{count} {name if count == 1 else PLURALS.get(name, f'{name}s')}"


def inside(room: str) -> str:
    """Return a room with its article, which numbered rooms do not have: ``"the hall"``, ``"living room 3"``."""
    return room if room[-1].isdecimal() else f"the {room}"


def thing_labels(state: State | None, i: int, seat: int, count: int) -> list[str]:
    """Return a seat's names of things: class and number, or only a number for unseen things."""
    if state is None:
        return [f"thing {o}" for o in range(count)]
    known = state.know_things[i, seat, :, Belief.STATUS].tolist()
    classes = state.things[i, :, Thing.CLASS].tolist()
    return [
        f"{'thing' if status == Known.UNKNOWN else THINGS[cls]} {o}"
        for o, (status, cls) in enumerate(zip(known, classes, strict=True))
    ]


def event_of(row: list[int], texts: Sequence[str]) -> dict[str, Any] | None:
    """Return an agent's event in a step: event, label, outcome of its action, ticks and counts."""
    if not row[EventColumn.CODE] and not row[EventColumn.REASON]:
        return None
    action = row[EventColumn.ACTION]
    label = texts[action] if 0 <= action < len(texts) else "wait"
    ended = Outcome(row[EventColumn.ENDED]).name.lower()
    return {
        "event": Event(row[EventColumn.CODE]).name.lower(),
        "reason": Reason(row[EventColumn.REASON] or row[EventColumn.WHY]).name,
        "label": label if ended != "failed" else f"{label} (failed)",
        "ended": ended,
        "ticks": row[EventColumn.TICKS],
        "saw": row[EventColumn.SAW],
        "delivered": row[EventColumn.DELIVERED],
        "said": int(row[EventColumn.CODE] == Event.SPOKE),
    }


def describe(scene: Scene, running: str) -> str:
    """Describe a seat's knowledge, its ``known_scene``, and its running action if there is one."""
    me, rooms = scene["me"], scene["rooms"]
    goal = [f"{min(g['seen'], g['need'])} of {several(g['need'], g['name'])}" for g in scene["goals"]]
    place = scene["goal"]["name"] + ("" if scene["goal"]["found"] else " (not found yet)")
    lines = [
        f"You are {NAMES[scene['seat']]}. Time {scene['tick']} of {scene['limit']}.",
        f"Task: {TASK_WORDS[scene['task']]}. Goal place: {place}. Seen there: {join_and(goal)}.",
        f"You are in {inside(rooms[me['room']]['name'])} and hold {_held(scene)}."
        + (f" You are busy: {running}." if running else ""),
    ]
    for r, room in enumerate(rooms):
        status = {"none": "not visited", "part": "visited, not searched", "all": "searched"}[room["known"]]
        where = "you are here" if r == me["room"] else _way_text(scene, room["way"])
        lines.append(f"{room['name']} ({status}, {where}): {_inside(scene, r) or 'nothing known'}.")
    lines += [_mate_text(scene, int(j), mate) for j, mate in scene["mates"].items()]
    lines += [f"{NAMES[j]} has not been seen yet." for j in _unseen(scene)]
    return "\n".join(lines)


def _unseen(scene: Scene) -> list[int]:
    return [j for j in range(scene["team"]) if j != scene["seat"] and j not in scene["mates"]]


def _held(scene: Scene) -> str:
    inside = [_thing_label(scene, o) for o in scene["me"]["inside"]]
    held = [
        _thing_label(scene, o)
        + (f" (containing {join_and(inside)})" if inside and scene["things"][o]["role"] == "container" else "")
        for o in scene["me"]["hands"]
        if o is not None
    ]
    return join_and(held) or "nothing"


def _thing_label(scene: Scene, o: int) -> str:
    return f"{scene['things'][o]['name']} {o}"


def _way_text(scene: Scene, cells: int) -> str:
    frames = scene["task"] in LOADS
    return f"{plural(cells * (FRAMES if frames else STEPS)[Verb.WALK], 'frame' if frames else 'step')} away"


def _inside(scene: Scene, r: int) -> str:
    parts = []
    shut = {"closed": "closed, not checked", "open": "open", "checked": "closed, checked"}
    for p, place in scene["places"].items():
        if place["room"] == r:
            lying = [_thing_label(scene, o) for o, thing in scene["things"].items() if thing.get("place") == p]
            status = f" ({shut[place['state']]})" if place["kind"] == "container" else ""
            parts.append(f"{place['name']}{status}" + (f" with {join_and(lying)}" if lying else ""))
    known = scene["places"]
    parts += [
        f"{_thing_label(scene, o)} ({_way_text(scene, thing['way'])})"
        for o, thing in scene["things"].items()
        if thing["status"] == "seen" and thing["room"] == r and thing["place"] not in known
    ]
    return "; ".join(parts)


def _mate_text(scene: Scene, j: int, mate: Mapping[str, Any]) -> str:
    held = join_and([name for name in mate["hands"] if name]) or "nothing"
    where = scene["rooms"][mate["room"]]["name"]
    return f"{NAMES[j]} was seen at time {mate['tick']} in {inside(where)} and held {held}."


UNTIL_DONE = "Actions run until they are done or have failed."
DISTANCES = "The distance of a room is that of its centre."  # in texts; pictures have none
HOUSE_SIGHT = "your room, some things only after you have searched it."
PLAN_WORDS = {
    True: "Actions: `go to ROOM` walks until you are inside; `check CONTAINER` walks there and opens it; "
    "`pick up THING` walks there and takes it; `transport` brings everything that you hold to the goal place; `wait`. "
    f"{UNTIL_DONE}",
    False: "Actions: `go to ROOM` walks until you are inside or see something new; `search` walks to the "
    "centre of your room and looks around; `pick up THING` walks there and takes it; `put in` puts a held thing into "
    f"the held container; `transport` brings everything that you hold to the bed; `wait`. {UNTIL_DONE}",
}
PRIMITIVE_WORDS = {
    True: "Actions are primitive: walk one cell towards something, take, open, close, put down, wait.",
    False: "Actions are primitive: walk one cell towards something, take, put down at the bed, put in a held "
    "container, look around, wait.",
}


class HouseView(SeatView):
    """Knowledge of one agent; other agents' actions are known only by their effects."""

    public_history = False

    @property
    def objective(self) -> str:
        goals = [f"{goal['name']} ({goal['need']})" for goal in self.scene["goals"]]
        return self._say(f"Bring to the {self.scene['goal']['name']}: {join_and(goals)}.")

    @property
    def talk_price(self) -> str:
        params = self._game.compiled.tables.params
        unit = "step" if params[Param.GAME] == GameKind.HOUSEWORK else "frame"
        price = f"A message costs one {unit} for every {MESSAGE} characters, rounded up."
        return price if params[Param.PAID_TALK] else ""

    @property
    def picture_manual(self) -> str:
        return self.manual.replace(f"{self._say(DISTANCES)}\n", "")

    @property
    def picture_rules(self) -> str:
        ends = self._say(f"{plain(self._game).rules_text(self._state, 0)}\n{UNTIL_DONE}")
        return "\n".join(filter(None, (ends, self.talk_price)))

    @cached_property
    def vocabulary(self) -> Sequence[str]:
        # The name of a place or thing that the seat has not found yet would tell that it exists
        codes = (self._game.check(self._state, 0, self._seat, action)[0] for action in range(len(self.action_texts)))
        return [text for text, code in zip(self.action_texts, codes, strict=True) if code != Reason.F_UNKNOWN.name]

    @cached_property
    def _catalogue(self) -> list[list[int]]:
        tables = self._game.compiled.tables
        return [entry for entry in tables.catalogue[tables.levels[self._seat]].tolist() if entry[Row.VERB] != NOTHING]

    @property
    def walks(self) -> frozenset[int]:
        return frozenset(action for action, (verb, _) in enumerate(self._catalogue) if verb == Verb.GO)

    @cached_property
    def unlikely(self) -> frozenset[int]:
        actions = enumerate(self._catalogue)
        return frozenset(action for action, (verb, arg) in actions if self._brings_nothing(verb, arg))

    def _brings_nothing(self, verb: int, arg: int) -> bool:
        """Return whether an action only looks where nothing is to be found, or takes what the goal does not want."""
        rooms = self.scene["rooms"]
        things = self.scene["things"]
        here = self.scene["me"]["room"]
        if verb == Verb.EXPLORE:
            return here >= 0 and rooms[here]["known"] == "all"
        if verb == Verb.GO:
            wanted = any(thing.get("room") == arg for o, thing in things.items() if self._is_wanted(o))
            return arg == here or (rooms[arg]["known"] == "all" and not wanted)
        if verb == Verb.CHECK:
            place = self.scene["places"].get(arg)
            return place is not None and place["state"] != "closed"
        if verb in (Verb.FETCH, Verb.GRAB):
            return arg in things and not self._is_wanted(arg)
        return verb in (Verb.PUT_AT, Verb.CLOSE, Verb.LOOK)

    def _is_wanted(self, thing: int) -> bool:
        known, goals = self.scene["things"][thing], [goal["name"] for goal in self.scene["goals"]]
        return known["status"] == "seen" and (known["name"] in goals or known["role"] == "container")

    def consequence(self, event: Any) -> str:
        if event.reason != Reason.OK.name:
            return self._say(Reason[event.reason].sentence)
        place = self.scene["goal"]["name"]
        counts = {f"brought to the {place}": event.delivered, "newly seen": event.saw}
        told = [f"{kind}: {count}" for kind, count in counts.items() if count]
        return self._say(f"{'; '.join(told).capitalize()}.") if told else ""

    def own_event_label(self, label: str) -> str:
        return super().own_event_label(re.sub(r"^say\b( \d+)?", "said", label))

    def event_label(self, label: str) -> str:
        names = thing_labels(self._state, 0, self._seat, self._game.compiled.sizes.things)
        return re.sub(r"\bthing (\d+)", lambda number: names[int(number[1])], label)


class HouseText(HouseFacts):
    """Texts of the household games."""

    seat_view = HouseView
    has_duration = True

    @property
    def display_names(self) -> tuple[str, ...]:
        return NAMES[: self.n_agents]

    def names(self) -> list[str]:
        return list(dict.fromkeys((*THINGS, *PLACES)))

    def _action_text(self, verb: int, arg: int, label: str) -> str:
        if verb == Verb.WAIT:
            return "wait"
        if verb in ABOUT_PLACES:
            return f"{ABOUT_PLACES[Verb(verb)]} {self.place_label(arg)}"
        if verb in ABOUT_THINGS:
            return f"{ABOUT_THINGS[Verb(verb)]} {label}"
        if verb == Verb.PUT:
            return f"put down {HAND_NAMES[arg]} hand"
        if verb == Verb.SAY:
            return "say" if arg == 1 else f"say {arg}"
        simple = {Verb.PUT_IN: "put in", Verb.LOOK: "look around", Verb.EXPLORE: "search", Verb.DELIVER: "transport"}
        return simple.get(Verb(verb), "")

    def action_texts(self, state: State | None = None, i: int = 0, seat: int = 0) -> list[str]:
        labels = thing_labels(state, i, seat, self.compiled.sizes.things)
        rows = self.compiled.tables.catalogue[self.compiled.tables.levels[seat]].tolist()
        return [
            self._action_text(verb, arg, labels[arg] if verb in ABOUT_THINGS else "")
            for verb, arg in rows
            if verb != NOTHING
        ]

    def parse(self, text: str, state: State | None = None, i: int = 0, seat: int = 0) -> int:
        """Parse an action's text; things are identified by their number, with any noun before it.

        Raises:
            ActionError: The text names no action.
        """
        texts = self.action_texts(state, i, seat)
        phrase = " ".join(text.strip().lower().rstrip(".").split())
        if phrase in texts:
            return texts.index(phrase)
        about = re.fullmatch(r"(walk to|take|pick up) [a-z ]+ (\d+)", phrase)
        if about:
            for number, option in enumerate(texts):
                if option.startswith(about[1]) and option.endswith(f" {about[2]}") and not option.startswith("walk to"):
                    return number
        raise ActionError("F_NO_ACTION", near_matches("action", text, [option for option in texts if option]))

    def why_refused(self, state: State, i: int, seat: int, action: int) -> int:
        reasons = np.zeros(1, np.int32)
        bind(judge_batch, self.compiled.tables, rows(state, i, i + 1), int(seat), int(action), reasons)()
        return int(reasons[0])

    def clock(self, state: State, i: int, timestep: int) -> str:
        return f"time {state.world[i, World.T]}"

    def events(self, out: Out, i: int) -> list[dict[str, Any] | None]:
        return [event_of(row, self.action_texts(seat=seat)) for seat, row in enumerate(out.events[i].tolist())]

    def describe(self, state: State, i: int, seat: int) -> str:
        action = int(state.macro_state[i, seat, Macro.ACTION])
        running = "" if action == NOTHING else self.action_texts(state, i, seat)[action]
        return describe(self.seat_scene(self.scene(state, i), seat), running)

    def manual(self, state: State | None = None, i: int = 0, seat: int = 0) -> str:
        home = self.compiled.tables.params[Param.GAME] == GameKind.HOUSEWORK
        plans = self.compiled.tables.levels[seat] == Level.MEDIUM
        return f"{self.rules_text(state, i)}\n{(PLAN_WORDS if plans else PRIMITIVE_WORDS)[home]}"

    def rules_text(self, state: State | None, i: int) -> str:
        """Return the rules without the actions."""
        params, cost = self.compiled.tables.params, self.compiled.tables.cost
        home = params[Param.GAME] == GameKind.HOUSEWORK
        mates = join_and(self.display_names)
        unit = "steps" if home else "frames"
        lines = [
            f"{mates} share a home and work on one task: bring the things of the task to the goal place within "
            f"{int(params[Param.LIMIT])} {unit}. Any thing of the right kind counts. Each agent has two hands.",
            "You know the plan of the rooms. Of everything else you know only what you have seen: you see what is in "
            + ("your room, but not inside closed containers." if home else HOUSE_SIGHT),
            "You see teammates and what they hold only while they are in your room.",
            DISTANCES,
        ]
        if home:
            exempt = ", except at the goal place" if params[Param.AUTO_OPEN] else ""
            lines.append(
                "Walking takes one step per metre; opening, taking and putting down a thing take one step each. "
                f"Opening needs a free hand{exempt}."
            )
        else:
            lines.append(
                f"Walking half a metre takes {cost[Verb.WALK]} frames, taking a thing {cost[Verb.GRAB]} frames, "
                f"putting a thing into a container {cost[Verb.PUT_IN]} frames, putting down {cost[Verb.PUT]} frames "
                f"per hand, and looking around {cost[Verb.LOOK]} frames. A container that you carry holds three "
                "things, fills one hand, and is delivered with its contents."
            )
        decisions = self.max_cycles if state is None else int(state.world[i, World.MAX_STEPS])
        if decisions < params[Param.LIMIT]:
            lines.append(f"The episode also ends after {decisions} decisions of the team, if that is earlier.")
        return "\n".join(lines)
