"""Texts for language agents: actions, refusals, the manual, and the observation.

Actions have the paper's form (figures 4 and 10), and observations its order: recipes, orders with their status, areas
with stock and action spaces, numbered valid actions. The sentences are ours.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import to_builtins

from collab_overcooked.envs.api import ActionError
from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.io.checks import near_matches, parse_text
from collab_overcooked.io.text import in_drawn_order, join_and, plural
from collab_overcooked.kernels.jit import row_at

from ..engine.compile import Compiled
from ..engine.config import OWN_TEXTS, PAPER_TEXTS
from ..engine.constants import NO_ACTION, NOTHING, Clock, EventColumn, Kind, Param, Reason, Verb
from ..engine.observe import mask_actions
from ..engine.spec import Area, EpisodeSpec, Recipe, Scenario
from ..engine.state import Out, State
from .episode_record import RushEvent, RushRecord

LABELS = {
    Verb.TAKE_INGREDIENTS: "take the ingredients of {order} at {area}",
    Verb.TAKE_SPICES: "take the spices of {order} at {area}",
    Verb.COOK_MEAL: "cook {order} at {area}",
}
IDLE_LABEL = "do nothing"
IDLE = {"action_type": Verb.NO_ACTION.name, "area_id": None, "value": None}
KEYS = tuple(IDLE)
MAX_CHARACTERS = 1000  # limit of an action's text; no valid action is nearly as long
NUMBER = re.compile(r"\d{1,4}[.):]?")
NUMBERED = re.compile(r"\d{1,4}[.):]?\s*(?={)")  # number and dictionary, as copied from the list of valid actions
LIST = "Valid actions; answer with a number or with the full action:"
THINGS = ("kitchen", "recipe", "order", "ingredient", "spice", "meal", "cook", "pantry", "spicebag", "stove")


FINISHED = "{order} is finished."
COOKED_TOO_EARLY = "The order is ruined: its ingredients had not been collected."
COOKED_TOO_OFTEN = "The order is ruined: it had been cooked often enough ({times})."

GOAL = "The score is the number of finished orders; a ruined order can never be finished."

BOARD = """\
Goal
{agents} share a kitchen and finish as many orders as possible. An order names a recipe; a recipe says which ingredients
and spices it needs and how often it must be cooked (its cook time).
{goal}

Turns
An episode has {turns}. In every turn each agent uses each of its {workers} once: first all agents act with worker 0,
then all with worker 1, and so on. With the same worker number, agents act one after the other, agent_0 first, and each
action takes effect before the next agent acts. The episode ends early when every order is finished or ruined.

Areas
A pantry holds ingredients, a spicebag holds spices, and a stove is for cooking. The action spaces of an area are the
number of actions that it allows per turn; all of them are free again in the next turn. Stock is never refilled.
"""
ENDS = """\
Finishing and ruining
An order is finished as soon as its ingredients and spices are collected and it has been cooked as often as its recipe
says. Spices may be collected before or after cooking. Cooking an order before its ingredients are collected ruins it,
and so does cooking it more often than its recipe says. A list of actions does not warn about either.
"""

MANUAL = f"""\
Kitchen Rush: manual

{BOARD}
Actions
TAKE_INGREDIENTS at a pantry collects all ingredients of an order at once, if the pantry has them all.
TAKE_SPICES at a spicebag collects all spices of an order at once, if the spicebag has them all.
COOK_MEAL at a stove cooks an order once. Several workers may cook the same order in the same turn.
NO_ACTION does nothing.
Each of the first three actions uses one action space of its area.

{ENDS}
Form of actions
1. Each worker does exactly one action per turn.
2. An action is refused if its area has no action space left or lacks what it takes, if what it takes has been
   collected already, or if its order is finished or ruined.
3. An action names its type, its area and its order as the observation shows them; areas and orders can change from
   episode to episode.
"pasta 2" means two pieces of pasta. Turns are counted from 1, workers from 0.
"""

PICTURE_RULES = f"""\
{BOARD}
Actions
A pantry gives all ingredients of an order at once, if it has them all, and a spicebag all its spices. A stove cooks an
order once; several workers may cook the same order in the same turn. Each of these uses one action space of its area.

{ENDS}"""

PAPER_MANUAL = """\
Manual

{agents} run a kitchen together. Finish as many orders as you can; a ruined order costs you points.

An episode has {turns}. In a turn, each of you uses each of its {workers} for one action. When a turn ends, all action
spaces are free again.

Ingredients: {ingredients}.
Spices: {spices}.

Each order follows a recipe, which says what it takes of these and how often the meal is cooked. An order is finished
when its ingredients, its spices and its cook time are as in the recipe.

Every area has action spaces, one for each action that it allows in a turn.
TAKE_INGREDIENTS in a pantry collects the ingredients of an order.
TAKE_SPICES in a spicebag collects the spices of an order.
COOK_MEAL at a stove cooks an order once.

Conventions
1. The ingredients of an order are collected before it is cooked.
2. No agent works on an order that is finished or ruined.
3. No agent ruins an order.
"""
MANUALS = {OWN_TEXTS: MANUAL, PAPER_TEXTS: PAPER_MANUAL}
STOVE, ONLY_STOVE = "stove", "stoves"  # the paper's area_id of the only one


def wire(verb: str, area: str, order: str) -> str:
    """Write an action as the paper prints it."""
    return str({"action_type": verb, "area_id": area, "value": {"order": order}})


def verb_at(area: Area) -> str:
    """Return the verb of an area's actions."""
    return Verb(Kind[area.kind.upper()]).name


def _numbered(number: int, valid: Sequence[int]) -> int:
    if number >= len(valid):
        raise ActionError("F_NUMBER", f"{number} is not in the list; valid actions have numbers 0 to {len(valid) - 1}")
    return valid[number]


def _dictionary(text: str) -> dict[str, Any]:
    example = wire(Verb.TAKE_INGREDIENTS.name, "pantry", "...")
    read = _literal(text)
    if not isinstance(read, dict):
        raise ActionError(
            "F_UNREADABLE", f"cannot parse {text[:80]!r}; write the number of a valid action, or text such as {example}"
        )
    unknown = [key for key in read if key not in KEYS]
    if unknown:
        raise ActionError("F_KEY", near_matches("key", unknown[0], KEYS))
    if "action_type" not in read:
        raise ActionError("F_KEY", f"action_type is missing; write an action such as {example}")
    return read


def _literal(text: str) -> Any:
    if len(text) > MAX_CHARACTERS:
        return None
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):  # whatever malformed literals raise
            continue
    return None


def _area(episode: EpisodeSpec, verb: str, area_id: Any) -> int:
    """Return the place of an area given by its name, the paper's name, or its id as an integer or text."""
    fitting = [area.name for area in episode.areas if verb_at(area) == verb]
    key = area_id.strip().lower() if isinstance(area_id, str) else str(area_id) if type(area_id) is int else ""
    for at, area in enumerate(episode.areas):
        is_only = area.name == area.kind
        aliases = (f"{area.kind}1", ONLY_STOVE if area.kind == STOVE else "") if is_only else ()
        if key in (area.name, str(area.id)) or (key and key in aliases):
            if area.name not in fitting:
                message = f"area_id {area_id!r} is a {area.kind}; {verb} needs one of: {', '.join(fitting)}"
                raise ActionError("F_AREA_KIND", message)
            return at
    raise ActionError("F_AREA", f"there is no area_id {area_id!r:.40}; {verb} needs one of: {', '.join(fitting)}")


def _order(episode: EpisodeSpec, value: Any) -> int:
    orders = episode.orders
    if not isinstance(value, Mapping) or set(value) != {"order"}:
        raise ActionError("F_VALUE", f"value must be an object such as {{'order': {orders[0]!r}}}, not {value!r:.60}")
    name = value["order"]
    if name in orders:
        return orders.index(name)
    if isinstance(name, str) and name in episode.recipes:
        raise ActionError("F_ORDER", f"{name} is not ordered in this episode; orders: {', '.join(orders)}")
    raise ActionError("F_ORDER", near_matches("order", name, orders))


def counts(goods: Mapping[str, int]) -> str:
    """Format goods with their counts, such as ``"pasta 2, cheese 1"``."""
    return ", ".join(f"{name} {count}" for name, count in goods.items()) or "none"


def recipe_text(recipe: Recipe) -> str:
    """Write a recipe in a line."""
    parts = [f"ingredients {counts(recipe.ingredients)}", f"spices {counts(recipe.spices)}"]
    return f"{recipe.name}: {'; '.join(parts)}; cook time {recipe.cook_time}"


def order_text(recipe: Recipe, order: Mapping[str, Any]) -> str:
    """Write an order with its status in a line."""
    for end in ("finished", "ruined"):
        if order[end]:
            return f"{recipe.name}: {end}"
    parts = [f"ingredients {'' if order['ingredients'] else 'not '}collected"]
    parts.append(f"spices {'' if order['spices'] else 'not '}collected" if recipe.spices else "no spices needed")
    return f"{recipe.name}: {', '.join(parts)}, cooked {order['cooked']} of {recipe.cook_time}"


def area_text(area: Mapping[str, Any]) -> str:
    """Write an area with its action spaces and stock in a line."""
    stock = f"; stock {counts(area['stock'])}" if area["stock"] else ""
    return f"{area['name']}: {area['spaces']} of {area['spaces_per_turn']} action spaces left{stock}"


def scenario_text(scenario: Scenario) -> str:
    """Return a description of a scenario: its numbers, and the recipes and areas of each episode."""
    numbers = [plural(scenario.agents, "agent"), f"{plural(scenario.workers, 'worker')} each"]
    lines = [f"{scenario.name}: {scenario.description}", f"{', '.join(numbers)}; {plural(scenario.max_turns, 'turn')}"]
    for number, episode in enumerate(scenario.episodes, start=1):
        lines += ["", f"Episode {number}:"]
        lines += [f"- {recipe_text(episode.recipes[order])}" for order in episode.orders]
        spare = [recipe for name, recipe in episode.recipes.items() if name not in episode.orders]
        lines += [f"- {recipe_text(recipe)} (not ordered)" for recipe in spare]
        for area in episode.areas:
            lines.append(f"- {_stocked(area)}")
    return "\n".join(lines)


def recap(game: Any, record: RushRecord) -> list[str]:
    """Return the lines of a recap of a record; without recipes, areas and orders if it has no orders."""
    lines, places = [], {}
    if record.orders:
        episode = game.scenario.episodes[record.round or 0]
        places = {area.id: area.name for area in episode.areas}
        lines += ["Recipes:", *(f"- {recipe_text(recipe)}" for recipe in episode.recipes.values())]
        lines += ["Areas at the start:", *(f"- {_stocked(area)}" for area in episode.areas)]
    lines += ["Actions:", *_past_actions(record, places)]
    if record.orders:
        lines += ["Orders at the end:"]
        lines += [f"- {order_text(episode.recipes[order.name], to_builtins(order))}" for order in record.orders]
    return lines


def _stocked(area: Area) -> str:
    stock = f"; stock {counts(area.stock)}" if area.stock else ""
    return f"{area.name}: {plural(area.spaces, 'action space')} a turn{stock}"


def _past_actions(record: RushRecord, places: Mapping[int, str]) -> Iterator[str]:
    turns = f" of {record.max_turns}" if record.max_turns else ""
    for step in record.steps:
        first = step.events[0]
        done = "; ".join(f"agent_{seat} {_outcome(event, places)}" for seat, event in enumerate(step.events))
        yield f"- turn {first.turn + 1}{turns}, worker {first.worker}: {done}"


def _outcome(event: RushEvent, places: Mapping[int, str]) -> str:
    if event.order is None or event.area is None:
        action = event.event
    else:
        action = f"{event.event} of {event.order} at {places.get(event.area, event.area)}"
    if event.reason != "OK":
        return f"{action}, refused: {event.reason.replace('_', ' ').lower()}"
    ends = [end for end, ended in (("finished", event.finished), ("ruined", event.ruined)) if ended]
    return f"{action}, which {ends[0]} it" if ends else action


class RushText(CompiledGame):
    """Texts of a scenario."""

    compiled: Compiled
    scenario: Scenario

    def names(self) -> list[str]:
        recipes = dict.fromkeys(name for episode in self.scenario.episodes for name in episode.recipes)
        return [*self.scenario.goods, *recipes, *THINGS]

    def action_texts(self, state: State | None = None, i: int = 0, seat: int = 0) -> list[str]:
        def text(area: Area, order: str) -> str:
            return wire(verb_at(area), self._printed(area.name), order)

        return self._texts(state, i, str(IDLE), text)

    def action_labels(self, state: State | None = None, i: int = 0, seat: int = 0) -> list[str]:
        def label(area: Area, order: str) -> str:
            return LABELS[Verb[verb_at(area)]].format(order=order, area=self._printed(area.name))

        return self._texts(state, i, IDLE_LABEL, label)

    def _printed(self, area: str) -> str:
        return ONLY_STOVE if area == STOVE and self.kwargs["texts"] == PAPER_TEXTS else area

    def _texts(self, state: State | None, i: int, idle: str, text_of: Callable[[Area, str], str]) -> list[str]:
        texts = [f"unused_{action}" for action in range(self.n_actions)]
        episode = self._episode(state, i)
        texts[NO_ACTION] = idle
        for at, area in enumerate(episode.areas):
            for o, order in enumerate(episode.orders):
                texts[self.compiled.action(at, o)] = text_of(area, order)
        return texts

    def _episode_number(self, state: State | None, i: int) -> int:
        if state is not None:
            return int(state.clock[i, Clock.EPISODE])
        return max(int(self.compiled.tables.params[Param.EPISODE]), 0)

    def valid_actions(self, state: State, i: int) -> list[int]:
        """Return the actions that the mask of environment ``i`` allows, the same for all seats."""
        mask = np.zeros(self.n_actions, np.int8)
        mask_actions(self.compiled.tables, row_at(state, i), mask)
        return np.flatnonzero(mask).tolist()

    def _episode(self, state: State | None, i: int) -> EpisodeSpec:
        return self.scenario.episodes[self._episode_number(state, i)]

    def parse(self, text: str, state: State | None = None, i: int = 0, seat: int = 0) -> int:
        """Parse an action: the paper's dictionary as Python or JSON, its label, or its number in the list.

        The text may be a line copied from the list, with number and dictionary.

        Raises:
            ActionError: The text names no action.
        """
        text, episode = parse_text(text).strip(), self._episode(state, i)
        if NUMBER.fullmatch(text):
            valid = list(range(self.n_actions)) if state is None else self._listed(state, i, seat)[1]
            return _numbered(int(text.rstrip(".):")), valid)
        for entries in (self.action_texts(state, i), self.action_labels(state, i)):
            known = [entry.casefold() for entry in entries]
            if text.rstrip(".").casefold() in known:
                return known.index(text.rstrip(".").casefold())
        value = _dictionary(NUMBERED.sub("", text, count=1))
        verb, at = value["action_type"], value.get("area_id")
        known = [member.name for member in Verb]
        if verb not in known:
            raise ActionError("F_ACTION_TYPE", near_matches("action_type", verb, known))
        if verb == Verb.NO_ACTION.name:  # other keys do not matter
            return NO_ACTION
        return self.compiled.action(_area(episode, verb, at), _order(episode, value.get("value")))

    def parse_plan(self, plan: str, seat: int = 0) -> tuple[list[str], list[str]]:
        """Split a plan, a list or text with semicolons or line breaks, into actions without validating them.

        Numbers refer to the list of valid actions at the time they are carried out.
        """
        listed = _literal(parse_text(plan, "plan").strip())
        if isinstance(listed, list):
            return [str(part) for part in listed], []
        parts, depth = [""], 0
        for letter in plan:
            depth += (letter == "{") - (letter == "}")
            if letter in ";\n" and depth <= 0:
                parts.append("")
            else:
                parts[-1] += letter
        return [part.strip() for part in parts if part.strip()], []

    def refusal(self, episode: EpisodeSpec, action: int, reason: int) -> str:
        """Return why an action of an episode is refused, as a sentence."""
        message = Reason(reason).sentence
        if reason in (Reason.NO_SUCH_AREA, Reason.NO_SUCH_ORDER):
            return message
        at, o = self.compiled.parts(action)
        area, recipe = episode.areas[at], episode.recipes[episode.orders[o]]
        goods = "ingredients" if area.kind == "pantry" else "spices"
        needs = counts(getattr(recipe, goods))
        place = self._printed(area.name).capitalize()
        return message.format(order=recipe.name, area=place, goods=goods, needs=needs)

    def clock(self, state: State, i: int, timestep: int) -> str:
        return f"turn {state.clock[i, Clock.TURN] + 1}"

    def describe(self, state: State, i: int, seat: int) -> str:
        before, valid = self._listed(state, i, seat)
        texts = self.action_texts(state, i)
        return "\n".join([before, "", LIST, *(f"{number}. {texts[action]}" for number, action in enumerate(valid))])

    def _listed(self, state: State, i: int, seat: int) -> tuple[str, list[int]]:
        before = self._surroundings(self.scene(state, i), seat)
        valid = self.valid_actions(state, i)
        if self.kwargs["texts"] == PAPER_TEXTS:
            valid = [*(action for action in valid if action != NO_ACTION), NO_ACTION]
        return before, in_drawn_order(valid, before) if self.kwargs["order"] == "shuffled" else valid

    def _surroundings(self, scene: Mapping[str, Any], seat: int) -> str:
        recipes = self.scenario.episodes[scene["episode"]].recipes
        turn, turns = scene["turn"] + 1, scene["turn"] + scene["turns_left"]
        sections = {
            "Recipes": [recipe_text(recipe) for recipe in recipes.values()],
            "Orders": [order_text(recipes[order["name"]], order) for order in scene["orders"]],
            "Areas": [area_text({**area, "name": self._printed(area["name"])}) for area in scene["areas"]],
        }
        lines = [f"Turn {turn} of {turns}. " if scene["turns_left"] else "There are no turns left. "]
        lines[0] += f"You are agent_{seat} and act with worker {scene['worker']} of your {scene['workers']}."
        for head, entries in sections.items():
            lines += ["", f"{head}:", *(f"- {entry}" for entry in entries)]
        return "\n".join(lines)

    def manual(self, state: State | None = None, i: int = 0, seat: int = 0) -> str:
        return self.filled(MANUALS[self.kwargs["texts"]], state, i)

    def filled(self, rules: str, state: State | None, i: int) -> str:
        """Return a text of the rules, for example ``PICTURE_RULES``, with the facts of an episode."""
        slots = self.max_cycles if state is None else int(state.clock[i, Clock.LIMIT])
        workers = int(self.compiled.tables.params[Param.WORKERS])
        return rules.format(
            goal=GOAL,
            ingredients=", ".join(self.scenario.ingredients),
            spices=", ".join(self.scenario.spices),
            agents=join_and(f"agent_{seat}" for seat in range(self.n_agents)),
            turns=plural(-(-slots // workers), "turn"),
            workers=plural(workers, "worker"),
        ).rstrip()

    def events(self, out: Out, i: int) -> list[dict[str, Any] | None]:
        """Return the event of each agent in the last slot.

        Returns:
            Mappings with ``event`` (name of the Verb), ``order`` (name or None), ``area`` (id or None), ``turn`` and
            ``worker`` (from 0), ``reason`` (name of the Reason, ``"OK"`` if accepted), whether the order ``advanced``,
            was ``finished`` or ``ruined`` by it, and a short ``label``.
        """
        return [self._event(event) for event in out.events[i].tolist()]

    def _event(self, event: Sequence[int]) -> dict[str, Any]:
        episode = self.scenario.episodes[event[EventColumn.EPISODE]]
        verb = Verb(event[EventColumn.CODE]).name
        exists = event[EventColumn.REASON] not in (Reason.NO_SUCH_AREA, Reason.NO_SUCH_ORDER)
        used = exists and event[EventColumn.ORDER] != NOTHING
        order = episode.orders[event[EventColumn.ORDER]] if used else None
        area = episode.areas[event[EventColumn.AREA]] if used else None
        return {
            "event": verb,
            "order": order,
            "area": area.id if area else None,
            "turn": event[EventColumn.TURN],
            "worker": event[EventColumn.WORKER],
            "reason": Reason(event[EventColumn.REASON]).name,
            "advanced": bool(event[EventColumn.ADVANCED]),
            "finished": bool(event[EventColumn.FINISHED]),
            "ruined": bool(event[EventColumn.RUINED]),
            "label": f"{verb}({self._printed(area.name)}, {order})" if area else verb,
        }
