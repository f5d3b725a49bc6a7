"""Texts for language agents: action grammar, reasons of refusals, recipes and observations."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from collab_overcooked.envs.api import ActionError
from collab_overcooked.io.checks import near_matches, parse_text
from collab_overcooked.io.text import join_and, plural
from collab_overcooked.kernels.jit import row_at
from collab_overcooked.kernels.macro_actions import MEDIUM, PRIMITIVE

from ..engine.compile import primitive_texts
from ..engine.config import CODE, CollabOvercookedConfig
from ..engine.constants import (
    FIRST_NAMED,
    NOTHING,
    Access,
    Agent,
    Event,
    EventColumn,
    Group,
    Param,
    Primitive,
    Reason,
    Row,
    Station,
    Verb,
)
from ..engine.macro_actions import judge_choice
from ..engine.rules import effect, faced_station, named_by
from ..engine.spec import Kitchen, TaskSpec
from ..engine.state import Out, State, Tables
from .scene import CollabOvercookedScenes

CALL = re.compile(r"(?:\d+\.)?\s*([A-Za-z_]+)\s*\(([^()]*)\)")
REQUEST = re.compile(r"(?:\d+\.)?\s*request\s*\(", re.IGNORECASE)  # how a part of a plan begins that asks a teammate
REQUEST_ENTRY = "request('{}')"
NOTHING_MARK = "NOTHING"
SPELLINGS = {"deliver_soup": "deliver"}  # the public code's word for the paper's deliver()

GOAL = """\
Deliver the order before the time is over, in as few steps as you can. Each of you reaches only a part of the kitchen,
and food changes hands on the counters that you share."""
HANDS = """\
Hands hold one thing. Every action walks to its place first, which costs timesteps: one for each cell, and one to turn
there."""
RULES = f"""\
{GOAL}

Actions
- pickup(THING,PLACE): take a thing from a counter, a dispenser or a utensil.
- place_obj_on_counter(): put what you hold on a free counter in reach.
- put_obj_in_utensil(UTENSIL): put what you hold into a utensil.
- cook, bake, cut or stir(UTENSIL): start it, with empty hands, when all that a step of the recipe needs is in it.
- fill_dish_with_food(UTENSIL): fill the dish that you hold, for food that has to be served on one.
- deliver(): hand the finished order over at the serving place.
- wait(N): do nothing for N steps.
{HANDS}"""
TEAM = """\
Whoever knows the recipe says what is needed, and when. A plan of several actions is carried out one after the other."""
PLANS = f"{TEAM} In\na plan request('ACTION') asks your teammate for an action."
PICTURE_RULES = f"""\
{GOAL}

Put all that a step of the recipe needs into its utensil, and start the utensil with empty hands. Food that has to be
served on a dish leaves the utensil on the dish that you hold. Finished orders go to the serving place.
{HANDS}

{TEAM}"""
FORMAT_REASONS = {
    "F_NOT_FUNCTION": "{text!r} is not an action. Write one call from the list, such as place_obj_on_counter().",
    "F_PICKUP_ARITY": "pickup takes two arguments, as in pickup(food,place).",
    "F_PICKUP_OBJ_UNKNOWN": "There is no object named {item!r} in this kitchen.",
    "F_PICKUP_PLACE_UNKNOWN": "There is no place named {place!r}. Places are {places}.",
    "F_PICKUP_DISPENSER_NOT_RAW": "Dispensers give raw ingredients and dishes; {item} has to be made.",
    "F_PICKUP_DISH_FROM_INGREDIENT": "Dishes come from dish_dispenser, not from ingredient_dispenser.",
    "F_PICKUP_INGREDIENT_FROM_DISH": "The dish dispenser gives dishes only; {item} comes from ingredient_dispenser.",
    "F_PUT_UTENSIL": "put_obj_in_utensil takes the name of one utensil: {utensils}.",
    "F_FILL_ARITY": "fill_dish_with_food takes one argument, the utensil with the food.",
    "F_FILL_UTENSIL": "There is no utensil named {place!r}. Utensils are {utensils}.",
    "F_OP_UTENSIL": "{operation} works on {fitting} only, not on {place!r}.",
    "F_WAIT_NUMBER": "wait takes an integer from 1 to {max_wait}.",
    "F_WAIT_TOO_LONG": "wait({place}) is too long; wait at most {max_wait} timesteps at a time.",
}


@dataclass(frozen=True)
class Plan:
    """A plan as an agent wrote it: calls to carry out in order, and calls asked of teammates."""

    actions: tuple[str, ...]
    requests: tuple[str, ...]


def parse_plan(text: str) -> Plan:
    """Split a plan such as ``"request('cut(chopping_board0)'); wait(1)"`` at its semicolons.

    Requests are never carried out by the one who makes them. Empty parts and the public code's marker ``[NOTHING]``
    are dropped; nothing is validated.
    """
    actions, requests = [], []
    for part in (piece.strip() for piece in text.split(";")):
        request = REQUEST.match(part)
        if request and part.endswith(")"):
            requests.append(_unquoted(part[request.end() : -1].strip()))
        elif part and part.strip("[]").upper() != NOTHING_MARK:
            actions.append(part)
    return Plan(tuple(actions), tuple(requests))


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]
    return text[1:-1].strip() if quoted else text


def spaced(name: str) -> str:
    """Return an identifier with spaces instead of underscores."""
    return name.replace("_", " ")


def _held(agent: Mapping[str, Any]) -> str:
    holding = agent["holding"]
    if holding is None:
        return "nothing"
    return f"{holding['item']} on a dish" if holding["plated"] else holding["item"]


def recipe_text(kitchen: Kitchen, order: str) -> str:
    """Write out the recipe of an order: title, raw ingredients with counts, numbered steps."""
    task = kitchen.tasks.get(order, TaskSpec(order, spaced(order).capitalize(), 0, 0, ()))
    below = Counter(name for name in (*kitchen.foods_below.get(order, ()), order) if name in kitchen.ingredients)
    lines = [f"Recipe: {task.title}", "Ingredients: " + ", ".join(f"{count} {name}" for name, count in below.items())]
    operations = {utensil.name: utensil.operation for utensil in kitchen.utensils}
    steps = [
        f"{operations[recipe.utensil].capitalize()} {join_and(recipe.inputs)} in the {spaced(recipe.utensil)} "
        f"for {recipe.time} timesteps to get {recipe.product}."
        for recipe in recipe_steps(kitchen, order)
    ]
    last = kitchen.recipe_by_product.get(order)
    if kitchen.serving.get(order) and last is not None:
        steps.append(f"Fill a dish with the {order} from the {spaced(last.utensil)}.")
    steps.append(f"Deliver the {order}.")
    return "\n".join(lines + [f"{number}. {step}" for number, step in enumerate(steps, start=1)])


def recipe_steps(kitchen: Kitchen, order: str) -> list[Any]:
    """Return the recipes needed for an order, inputs first, repeated as often as needed."""
    recipe = kitchen.recipe_by_product.get(order)
    if recipe is None:
        return []
    return [step for name in recipe.inputs for step in recipe_steps(kitchen, name)] + [recipe]


def utensil_text(utensil: Mapping[str, Any]) -> str:
    """Describe a utensil's contents and progress."""
    if utensil["status"] == "empty":
        return "empty"
    if utensil["status"] == "filling":
        return "holds " + ", ".join(utensil["contents"]) + ", not started"
    if utensil["status"] == "cooking":
        left = utensil["time"] - utensil["timer"]
        return f"making {utensil['product']}, {plural(left, 'timestep')} left"
    return f"{utensil['product']} is ready"


def judge(tables: Tables, state: State, i: int, seat: int, action: int) -> Reason:
    """Return the reason code of a medium-level action of a seat in environment ``i``."""
    return Reason(judge_choice(tables, row_at(state, i), seat, action))


class CollabOvercookedText(CollabOvercookedScenes):
    """Texts of a kitchen, and the knowledge of its seats."""

    config: CollabOvercookedConfig
    levels: tuple[str, ...]

    @property
    def kitchen(self) -> Kitchen:
        """The kitchen as read from its file."""
        return self.compiled.kitchen

    @property
    def display_names(self) -> tuple[str, ...]:
        return tuple(agent.name for agent in self.kitchen.agents)

    def names(self) -> list[str]:
        names = self.compiled.names
        return [*names.items, *names.places, *names.operations, *(task.title for task in self.kitchen.tasks.values())]

    def action_texts(self, state: Any = None, i: int = 0, seat: int = 0) -> list[str]:
        if self.levels[seat] == PRIMITIVE:
            return primitive_texts(self.compiled.names.items)
        return list(self.compiled.names.catalogue[: self.compiled.n_possible])

    def parse(self, action: str, state: Any = None, i: int = 0, seat: int = 0) -> int:
        if self.levels[seat] == MEDIUM:
            return self._parse_action(parse_text(action))
        texts, normalized = self.action_texts(seat=seat), parse_text(action).strip().lower()
        if normalized not in texts:
            raise ActionError("F_NOT_FUNCTION", near_matches("action", action, texts))
        return texts.index(normalized)

    def parse_plan(self, plan: str, seat: int = 0) -> tuple[list[str], list[str]]:
        parsed = parse_plan(parse_text(plan, "plan"))
        actions = [single for action in parsed.actions for single in self._single_waits(action, seat)]
        return actions, list(parsed.requests)

    def _single_waits(self, action: str, seat: int) -> list[str]:
        call = CALL.fullmatch(action.strip().lower())
        if not call or call[1] != "wait" or self.levels[seat] != MEDIUM:
            return [action]
        try:
            self.parse(action, seat=seat)
        except ActionError:
            return [action]  # refused, with a reason, when its turn comes
        return ["wait(1)"] * int(call[2])

    def join_plan(self, actions: Sequence[str]) -> tuple[str, ...]:
        joined, most = list[str](), self.kitchen.max_wait
        for action, same in itertools.groupby(actions):
            count = len(list(same))
            waits = [most] * (count // most) + [count % most] * (count % most > 0)
            joined += [f"wait({n})" for n in waits] if action == "wait(1)" else [action] * count
        return tuple(joined)

    def idle_action(self, seat: int = 0) -> int:
        return self.parse("wait(1)" if self.levels[seat] == MEDIUM else "stay", seat=seat)

    def why_refused(self, state: State, i: int, seat: int, action: int) -> int:
        tables = self.compiled.tables
        if self.levels[seat] != PRIMITIVE:
            return int(judge(tables, state, i, seat, action))
        agent = state.agents[i, seat]
        tiles = state.tiles[i]
        orders = state.orders[i]
        s = faced_station(agent, tables.access[seat], tables.cells)
        held, plated = agent[Agent.ITEM], agent[Agent.PLATED]
        if action >= FIRST_NAMED + len(tables.foods):
            return int(Reason.NO_SUCH_ACTION)
        idle = action >= Primitive.INTERACT and (
            s < 0
            or effect(held, plated, named_by(action), tiles[s], tables.stations[s], orders, tables.foods) == Event.NONE
        )
        return int(Reason.NO_EFFECT if idle else Reason.OK)

    def _explain(self, state: State, i: int, seat: int, action: int, reason: int) -> str:
        if self.levels[seat] == PRIMITIVE:
            return super()._explain(state, i, seat, action, reason)
        row = self.compiled.tables.catalogue[action]
        agent = self._decode(state, i, False)["agents"][seat]
        return Reason(reason).sentence.format(
            me=self.kitchen.agents[seat].name,
            item=self.compiled.names.items[row[Row.ITEM]] if row[Row.VERB] == Verb.PICKUP else "",
            place=self.compiled.names.places[row[Row.GROUP]] if row[Row.GROUP] != NOTHING else "",
            held=_held(agent),
            current=agent["action"],
        )

    def manual(self, state: State | None = None, i: int = 0, seat: int = 0) -> str:
        return RULES

    def events(self, out: Out, i: int) -> list[dict[str, Any] | None]:
        return [self._event(row) for row in out.events[i]]

    def _parse_action(self, text: str) -> int:
        """Read one action.

        The grammar is ``name(arguments)``, blanks and case free, optionally after a list number; ``continue`` stands
        alone. Two spellings of the public code are understood: ``deliver_soup()`` for ``deliver()``, and
        ``put_obj_in_utensil(food,utensil)``, whose food is ignored.

        Returns:
            Catalogue row; rows from ``compiled.n_possible`` on are well formed but never possible.
        """
        names = self.compiled.names
        if text.strip().lower() == "continue":
            return 0
        call = CALL.fullmatch(text.strip().lower())
        if not call:
            raise self._format_error("F_NOT_FUNCTION", text=text)
        name = SPELLINGS.get(call[1], call[1])
        args = [arg.strip().strip("'\"") for arg in call[2].split(",")] if call[2].strip() else []
        if name == "put_obj_in_utensil" and len(args) == 2:
            args = args[1:]
        code, values = self._format_fault(name, args)
        if code:
            raise self._format_error(code, text=text, **values)
        if name == "wait":
            args = [str(int(args[0]))]
        return names.catalogue.index(f"{name}({','.join(args)})")

    def _format_error(self, code: str, **values: Any) -> ActionError:
        utensils = self.compiled.names.places[Group.UTENSIL :]
        values |= {
            "places": ", ".join(("counter", "ingredient_dispenser", "dish_dispenser", *utensils)),
            "utensils": ", ".join(utensils),
            "max_wait": self.kitchen.max_wait,
        }
        return ActionError(code, FORMAT_REASONS[code].format(**values))

    def _format_fault(self, name: str, args: list[str]) -> tuple[str, dict[str, Any]]:
        utensils = self.compiled.names.places[Group.UTENSIL :]
        place = args[-1] if args else ""
        values: dict[str, Any] = {"place": place}
        if name == "pickup":
            return self._pickup_fault(args)
        if name == "wait":
            return self._wait_fault(args), values
        if name == "put_obj_in_utensil":
            return ("" if len(args) == 1 and place in utensils else "F_PUT_UTENSIL"), values
        if name == "fill_dish_with_food":
            if len(args) > 1:
                return "F_FILL_ARITY", values
            return ("" if place in utensils else "F_FILL_UTENSIL"), values
        if name in self.compiled.names.operations:
            operations = zip(utensils, self.compiled.names.operations, strict=True)
            fitting = [utensil for utensil, verb in operations if verb == name]
            values |= {"operation": name, "fitting": ", ".join(fitting)}
            if len(args) > 1:
                return "F_NOT_FUNCTION", values
            return ("" if place in fitting else "F_OP_UTENSIL"), values
        known = name in ("deliver", "place_obj_on_counter") and not args
        return ("" if known else "F_NOT_FUNCTION"), values

    def _wait_fault(self, args: list[str]) -> str:
        if len(args) != 1 or not (args[0].isascii() and args[0].isdecimal()) or not args[0].strip("0"):
            return "F_WAIT_NUMBER"
        too_long = len(args[0]) > 9  # Python refuses to read numbers of thousands of digits
        return "F_WAIT_TOO_LONG" if too_long or int(args[0]) > self.kitchen.max_wait else ""

    def _pickup_fault(self, args: list[str]) -> tuple[str, dict[str, Any]]:
        if len(args) != 2:
            return "F_PICKUP_ARITY", {}
        item, place = args
        values = {"item": item, "place": place}
        raw = item in self.kitchen.ingredients
        checks = (
            (item in self.compiled.names.items, "F_PICKUP_OBJ_UNKNOWN"),
            (place in self.compiled.names.places and place != "serving", "F_PICKUP_PLACE_UNKNOWN"),
            (not place.endswith("dispenser") or raw or item == "dish", "F_PICKUP_DISPENSER_NOT_RAW"),
            (item != "dish" or place != "ingredient_dispenser", "F_PICKUP_DISH_FROM_INGREDIENT"),
            (item == "dish" or place != "dish_dispenser", "F_PICKUP_INGREDIENT_FROM_DISH"),
        )
        return next((code for good, code in checks if not good), ""), values

    def vocabulary(self, seat: int) -> list[str]:
        """Return the actions that an agent's reach and rights could ever allow, waits and `continue` left out."""
        tables, names = self.compiled.tables, self.compiled.names
        texts = []
        for action in range(1, self.compiled.n_possible):
            verb, _, group = tables.catalogue[action]
            if verb == Verb.WAIT or (verb == Verb.FILL and not tables.params[Param.FILLERS] >> seat & 1):
                continue
            stations = [s for s in tables.groups[group] if s != NOTHING]
            if any(tables.access[seat, s] != Access.NONE for s in stations):
                texts.append(names.catalogue[action])
        return texts

    def _event(self, row: Any) -> dict[str, Any] | None:
        """Return an agent's event of one step as names, None if nothing happened.

        Returns:
            ``event`` (name), ``item``, ``place``, and ``label``, the action as histories and metrics spell it.
        """
        code = Event(row[EventColumn.CODE])
        if code == Event.NONE:
            return None
        names = self.compiled.names
        group = self.compiled.tables.stations[row[EventColumn.STATION], Station.GROUP]
        place = names.places[group]
        item = None if row[EventColumn.ITEM] == NOTHING else names.items[row[EventColumn.ITEM]]
        labels = {
            Event.PICKUP: f"pickup({item},{place})",
            Event.PLACE: "place_obj_on_counter()",
            Event.PUT: f"put_obj_in_utensil({place})",
            Event.FILL: f"fill_dish_with_food({place})",
            Event.FILL_AS_PUT: f"put_obj_in_utensil({place})",
            Event.PUT_NO_EFFECT: f"put_obj_in_utensil({place})",
            Event.DELIVER: "deliver()",
            Event.DELIVER_WRONG: "deliver()",
        }
        if code in (Event.START, Event.START_WRONG):
            labels[code] = f"{names.operations[group - Group.UTENSIL]}({place})"
        return {"event": code.name, "item": item, "place": place, "label": labels[code]}

    def describe(self, state: State, i: int, seat: int) -> str:
        return self.describe_scene(self.seat_scene(self.scene(state, i), seat), seat)

    def describe_scene(self, scene: Mapping[str, Any], seat: int) -> str:
        """Return the description of a scene of a seat."""
        kitchen = self.kitchen
        me, agents = kitchen.agents[seat], scene["agents"]
        limit = f" of {scene['limit']}" if "limit" in scene else ""
        lines = [f"Timestep {scene['timestep']}{limit}."]
        lines.append("Order: " + (scene["orders"][0] if scene["orders"] else "none") + ".")
        if len(scene["orders"]) > 1:
            lines.append("Next orders: " + ", ".join(scene["orders"][1:]) + ".")
        if scene["orders"]:
            known = self.config.knowledge == "full" or me.knows_recipes
            lines.append(recipe_text(kitchen, scene["orders"][0]) if known else "You do not have the recipe.")
        for i, spec in enumerate(kitchen.agents):
            you = ", you" if i == seat else ""
            lines.append(f"{spec.name} ({spec.role}{you}) can use: {', '.join(self.usable_places(i))}.")
        for i in [seat, *(j for j in range(len(agents)) if j != seat)]:
            who = "You hold" if i == seat else f"{kitchen.agents[i].name} holds"
            doing = f", carrying out {agents[i]['action']}" if agents[i]["action"] else ", free to act"
            lines.append(f"{who} {_held(agents[i])}{doing}.")
        for name, utensil in scene["utensils"].items():
            lines.append(f"{name}: {utensil_text(utensil)}.")
        lines.append("Counters: " + self._counters_text(scene, seat) + ".")
        if self.config.global_state:
            lines.append(self._positions_text(scene, seat))
        return "\n".join(lines)

    def _positions_text(self, scene: Mapping[str, Any], seat: int) -> str:
        groups, places = self.compiled.tables.groups, self.compiled.names.places
        names = ["you" if i == seat else agent.name for i, agent in enumerate(self.kitchen.agents)]
        things = {tuple(c["position"]): f"{c['item']}{' on a dish' * c['plated']}" for c in scene["counters"]}
        parts = [
            f"{name} at ({agent['position'][0]}, {agent['position'][1]}) facing {agent['facing']}"
            for name, agent in zip(names, scene["agents"], strict=True)
        ]
        for group, place in enumerate(places):
            for x, y in (self._position(s) for s in groups[group].tolist() if s != NOTHING):
                parts.append(f"{place} at ({x}, {y})" + (f" with {things[x, y]}" if (x, y) in things else ""))
        return f"Positions (column, row) from the upper left corner: {'; '.join(parts)}."

    def usable_places(self, seat: int) -> list[str]:
        """Return the places a seat can use, by name."""
        access, groups = self.compiled.tables.access[seat], self.compiled.tables.groups
        return [
            place
            for group, place in enumerate(self.compiled.names.places)
            if any(s != NOTHING and access[s] != Access.NONE for s in groups[group])
        ]

    def _counters_text(self, scene: Mapping[str, Any], seat: int) -> str:
        tables, tells_own = self.compiled.tables, self.config.interface == CODE
        seen = {tuple(c["position"]): f"{c['item']}{' on a dish' * c['plated']}" for c in scene["counters"]}
        free: dict[str, list[bool]] = {"shared": [], "yours": []}
        for s in tables.groups[Group.COUNTER]:
            if s != NOTHING and tables.access[seat, s] != Access.NONE:
                shared = (np.delete(tables.access[:, s], seat) != Access.NONE).any()
                at = tuple(tables.stations[s, [Station.X, Station.Y]].tolist())
                if shared or tells_own:
                    free["shared" if shared else "yours"].append(at not in seen)
                else:
                    seen.pop(at, None)
        counts = Counter(seen.values())
        parts = [f"{name}: {sum(tiles)} of {len(tiles)} free" for name, tiles in free.items() if tiles]
        return "; ".join([", ".join(f"{count} {name}" for name, count in counts.items()) or "nothing", *parts])
