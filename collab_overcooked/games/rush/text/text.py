"""Texts for language agents: actions, refusals, the manual, and the observation.

Actions have the paper's form (figures 4 and 10), and observations its order: recipes, orders with their status, areas
with stock and action spaces, numbered valid actions. The sentences are ours.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked.envs.api import ActionError
from collab_overcooked.games.rush.engine.compile import Compiled
from collab_overcooked.games.rush.engine.constants import NO_ACTION, Kind, Reason, Verb
from collab_overcooked.games.rush.engine.spec import Area, Recipe, Scenario
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.text import join_and, plural

LABELS = {
    Verb.TAKE_INGREDIENTS: "take the ingredients of {order} at {area}",
    Verb.TAKE_SPICES: "take the spices of {order} at {area}",
    Verb.COOK_MEAL: "cook {order} at {area}",
}
IDLE = {"action_type": Verb.NO_ACTION.name, "area_id": None, "value": None}
KEYS = tuple(IDLE)
MAX_CHARACTERS = 1000  # limit of an action's text; no valid action is nearly as long
NUMBER = re.compile(r"\d{1,4}[.):]?")
NUMBERED = re.compile(r"\d{1,4}[.):]?\s*(?={)")  # number and dictionary, as copied from the list of valid actions
LIST = "Valid actions; answer with a number or with the full action:"
THINGS = ("kitchen", "recipe", "order", "ingredient", "spice", "meal", "cook", "pantry", "spicebag", "stove")

REASONS = {
    Reason.OK: "Accepted.",
    Reason.NO_SUCH_AREA: "There is no such area in this episode.",
    Reason.NO_SUCH_ORDER: "There is no such order in this episode.",
    Reason.ORDER_FINISHED: "{order} is already finished.",
    Reason.ORDER_RUINED: "{order} is ruined; nothing more can be done for it.",
    Reason.ALREADY_COLLECTED: "The {goods} of {order} have been collected already.",
    Reason.NO_SPACE: "{area} has no action space left in this turn; all its spaces are free again in the next turn.",
    Reason.OUT_OF_STOCK: "{area} does not have everything that {order} needs: {needs}.",
}

WORTH = "Each finished order is worth 1 point to all agents, each ruined order costs 1 point."

MANUAL = """\
Kitchen Rush: manual

Goal
{agents} share a kitchen and finish as many orders as possible. An order names a recipe; a recipe says which ingredients
and spices it needs and how often it must be cooked (its cook time). Ruined orders are lost. The score is the number of
finished orders. {worth}

Turns
An episode has {turns}. In every turn each agent uses each of its {workers} once: first all agents act with worker 0,
then all with worker 1, and so on. With the same worker number, agents act one after the other, agent_0 first, and each
action takes effect before the next agent acts. The episode ends early when every order is finished or ruined.

Areas
A pantry holds ingredients, a spicebag holds spices, and a stove is for cooking. The action spaces of an area are the
number of actions that it allows per turn; all of them are free again in the next turn. Stock is never refilled.

Actions
TAKE_INGREDIENTS at a pantry collects all ingredients of an order at once, if the pantry has them all.
TAKE_SPICES at a spicebag collects all spices of an order at once, if the spicebag has them all.
COOK_MEAL at a stove cooks an order once. Several workers may cook the same order in the same turn.
NO_ACTION does nothing.
Each of the first three actions uses one action space of its area.

Finishing and ruining
An order is finished as soon as its ingredients and spices are collected and it has been cooked as often as its recipe
says. Spices may be collected before or after cooking. Cooking an order before its ingredients are collected ruins it,
and so does cooking it more often than its recipe says. The list of valid actions does not warn about either.

Conventions
The agents are called {agents}; workers and turns are numbered as in the observation. Use the area numbers and order
names shown there; both can change from episode to episode. "pasta 2" means two pieces of pasta.
"""


def wire(verb: str, area: int, order: str) -> str:
    """Write an action as the paper prints it."""
    return str({"action_type": verb, "area_id": area, "value": {"order": order}})


def verb_at(area: Area) -> str:
    """Return the verb of an area's actions."""
    return Verb(Kind[area.kind.upper()]).name


def action_texts(compiled: Compiled, episode: int) -> list[str]:
    """Return the text of every action of an episode, by id; unused ids are called ``unused_<id>``."""
    texts = [f"unused_{action}" for action in range(compiled.n_actions)]
    texts[NO_ACTION] = str(IDLE)
    for at, area in enumerate(compiled.scenario.episodes[episode].areas):
        for o, order in enumerate(compiled.names.orders[episode]):
            texts[compiled.action(at, o)] = wire(verb_at(area), area.id, order)
    return texts


def action_labels(compiled: Compiled, episode: int) -> list[str]:
    """Return the label of every action of an episode for people, by id."""
    labels = [f"unused_{action}" for action in range(compiled.n_actions)]
    labels[NO_ACTION] = "do nothing"
    for at, area in enumerate(compiled.scenario.episodes[episode].areas):
        label = LABELS[Verb[verb_at(area)]]
        for o, order in enumerate(compiled.names.orders[episode]):
            labels[compiled.action(at, o)] = label.format(order=order, area=f"{area.kind} {area.id}")
    return labels


def parse_action(compiled: Compiled, episode: int, text: str, valid: Sequence[int]) -> int:
    """Parse an action: the paper's dictionary as Python or JSON, its label, or its number in the list.

    Args:
        compiled: The compiled scenario.
        episode: Number of the episode.
        text: Text of the action; may be a line copied from the list, with number and dictionary.
        valid: Actions in the order of the list.
    """
    text = text.strip()
    if NUMBER.fullmatch(text):
        return _numbered(int(text.rstrip(".):")), valid)
    for entries in (action_texts(compiled, episode), action_labels(compiled, episode)):
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
    return compiled.action(_area(compiled, episode, verb, at), _order(compiled, episode, value.get("value")))


def _numbered(number: int, valid: Sequence[int]) -> int:
    if number >= len(valid):
        raise ActionError("F_NUMBER", f"{number} is not in the list; valid actions have numbers 0 to {len(valid) - 1}")
    return valid[number]


def _dictionary(text: str) -> dict[str, Any]:
    example = wire(Verb.TAKE_INGREDIENTS.name, 0, "...")
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


def _area(compiled: Compiled, episode: int, verb: str, number: Any) -> int:
    areas = compiled.scenario.episodes[episode].areas
    fitting = [area for area in areas if verb_at(area) == verb]
    options = ", ".join(f"{area.kind} {area.id}" for area in fitting)
    if isinstance(number, str) and number.strip().isdecimal():
        number = int(number)
    for at, area in enumerate(areas):
        if type(number) is int and area.id == number:
            if area not in fitting:
                raise ActionError("F_AREA_KIND", f"area_id {number} is a {area.kind}; {verb} needs one of: {options}")
            return at
    raise ActionError("F_AREA", f"there is no area_id {number!r:.40}; {verb} needs one of: {options}")


def _order(compiled: Compiled, episode: int, value: Any) -> int:
    orders = compiled.names.orders[episode]
    if not isinstance(value, Mapping) or set(value) != {"order"}:
        raise ActionError("F_VALUE", f"value must be an object such as {{'order': {orders[0]!r}}}, not {value!r:.60}")
    name = value["order"]
    if name in orders:
        return orders.index(name)
    if isinstance(name, str) and name in compiled.scenario.episodes[episode].recipes:
        raise ActionError("F_ORDER", f"{name} is not ordered in this episode; orders: {', '.join(orders)}")
    raise ActionError("F_ORDER", near_matches("order", name, orders))


def parse_plan(plan: str) -> list[str]:
    """Split a plan, a list or text with semicolons or line breaks, into actions without validating them.

    Numbers refer to the list of valid actions at the time they are carried out.
    """
    listed = _literal(plan.strip())
    if isinstance(listed, list):
        return [part if isinstance(part, str) else str(part) for part in listed]
    parts, depth = [""], 0
    for letter in plan:
        depth += (letter == "{") - (letter == "}")
        if letter in ";\n" and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def refusal(compiled: Compiled, episode: int, action: int, reason: int) -> str:
    """Return the message of a refused action."""
    message = REASONS[Reason(reason)]
    if reason in (Reason.NO_SUCH_AREA, Reason.NO_SUCH_ORDER):
        return message
    at, o = compiled.parts(action)
    played = compiled.scenario.episodes[episode]
    area, recipe = played.areas[at], played.recipes[compiled.names.orders[episode][o]]
    needed = recipe.ingredients if area.kind == "pantry" else recipe.spices
    return message.format(
        order=recipe.name,
        area=f"{area.kind} {area.id}".capitalize(),
        goods="ingredients" if area.kind == "pantry" else "spices",
        needs=counts(needed),
    )


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
    return f"{area['kind']} {area['id']}: {area['spaces']} of {area['spaces_per_turn']} action spaces left{stock}"


def list_text(compiled: Compiled, episode: int, valid: Sequence[int]) -> str:
    """Return the numbered valid actions as text."""
    texts = action_texts(compiled, episode)
    return "\n".join([LIST, *(f"{number}. {texts[action]}" for number, action in enumerate(valid))])


def describe(compiled: Compiled, scene: Mapping[str, Any], seat: int) -> str:
    """Return an agent's observation as text, without the list of valid actions."""
    recipes = compiled.scenario.episodes[scene["episode"]].recipes
    turn, turns = scene["turn"] + 1, scene["turn"] + scene["turns_left"]
    sections = {
        "Recipes": [recipe_text(recipe) for recipe in recipes.values()],
        "Orders": [order_text(recipes[order["name"]], order) for order in scene["orders"]],
        "Areas": [area_text(area) for area in scene["areas"]],
    }
    lines = [f"Turn {turn} of {turns}. " if scene["turns_left"] else "There are no turns left. "]
    lines[0] += f"You are agent_{seat} and act with worker {scene['worker']} of your {compiled.workers}."
    for head, entries in sections.items():
        lines += ["", f"{head}:", *(f"- {entry}" for entry in entries)]
    return "\n".join(lines)


def manual(compiled: Compiled, slots: int) -> str:
    """Return the rules, with the numbers of the scenario, for an episode of so many slots."""
    return MANUAL.format(
        worth=WORTH,
        agents=join_and(f"agent_{seat}" for seat in range(compiled.n_agents)),
        turns=plural(-(-slots // compiled.workers), "turn"),
        workers=plural(compiled.workers, "worker"),
    ).rstrip()


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
            stock = f"; stock {counts(area.stock)}" if area.kind != "stove" else ""
            lines.append(f"- {area.kind} {area.id}: {plural(area.spaces, 'action space')} a turn{stock}")
    return "\n".join(lines)
