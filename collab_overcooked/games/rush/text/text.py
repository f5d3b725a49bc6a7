"""Words for language agents: actions, what is wrong with one, the rules, and the moment as text.

Actions are written as in the paper (figures 4 and 10), and so is the order of the observation: recipes, orders with
their status, areas with stock and action spaces, numbered valid actions. The sentences are our own.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from collab_overcooked.envs.api import ActionError
from collab_overcooked.games.rush.engine.compile import Compiled
from collab_overcooked.games.rush.engine.constants import NO_ACTION, Kind, Reason, Verb
from collab_overcooked.games.rush.engine.spec import Area, Recipe, Scenario
from collab_overcooked.io.checks import near_matches

LABELS = {
    Verb.TAKE_INGREDIENTS: "take the ingredients of {order} at {area}",
    Verb.TAKE_SPICES: "take the spices of {order} at {area}",
    Verb.COOK_MEAL: "cook {order} at {area}",
}
IDLE = {"action_type": Verb.NO_ACTION.name, "area_id": None, "value": None}
KEYS = tuple(IDLE)
MAX_CHARACTERS = 1000  # characters of an action; nothing near it can be one
NUMBER = re.compile(r"\d{1,4}[.):]?")
NUMBERED = re.compile(r"\d{1,4}[.):]?\s*(?={)")  # a line of the list of valid actions, copied whole
LIST = "Valid actions, to be answered by number or in full:"
THINGS = ("kitchen", "recipe", "order", "ingredient", "spice", "meal", "cook", "pantry", "spicebag", "stove")

REASONS = {
    Reason.OK: "Accepted.",
    Reason.NO_SUCH_AREA: "There is no such area in this episode.",
    Reason.NO_SUCH_ORDER: "There is no such order in this episode.",
    Reason.ORDER_FINISHED: "{order} is finished already.",
    Reason.ORDER_RUINED: "{order} is ruined; nothing can be done for it.",
    Reason.ALREADY_COLLECTED: "The {goods} of {order} have been collected already.",
    Reason.NO_SPACE: "{area} has no action space left in this turn; all of them are free again in the next turn.",
    Reason.OUT_OF_STOCK: "{area} does not have all that {order} needs: {needs}.",
}

MANUAL = """\
Kitchen Rush: manual

Goal
{agents} share a kitchen and finish as many orders as possible. An order names a recipe; a recipe says which ingredients
and spices it needs and how often it must be cooked (its cook time). Ruined orders are lost.

Turns
An episode has {turns}. In every turn each agent uses each of its {workers} once: first all agents act with worker 0,
then all with worker 1, and so on. With the same worker they act one after the other, agent_0 first, and what one does
counts for the next. The episode ends early when every order is finished or ruined.

Areas
A pantry holds ingredients, a spicebag holds spices, a stove cooks. Every area has action spaces: that many actions it
can take in a turn. They are free again in the next turn. What is taken from the stock does not come back.

Actions
TAKE_INGREDIENTS at a pantry collects all ingredients of an order at once, if the pantry has them all.
TAKE_SPICES at a spicebag collects all spices of an order at once, if the spicebag has them all.
COOK_MEAL at a stove cooks an order once. Several workers may cook the same order in a turn.
NO_ACTION does nothing.
Each of the first three takes one action space of its area.

Finishing and ruining
An order is finished as soon as its ingredients and spices are collected and it is cooked as often as its recipe says.
Spices may be collected before or after cooking. Cooking an order whose ingredients are not collected ruins it, and so
does cooking it more often than its recipe says. The list of valid actions warns of neither.

Conventions
Agents are called {agents}; workers and turns are counted as the observation shows them. Areas and orders are called by
the number and the name that stand there; both can change from episode to episode. "pasta 2" means two pieces of pasta.
An action that is not valid does nothing and takes no action space; its worker is used for that turn. An action in full
reads
{example}
"""


# ------------------------------------------------------------------------------------------- actions


def wire(verb: str, area: int, order: str) -> str:
    """Write an action as the paper prints it."""
    return str({"action_type": verb, "area_id": area, "value": {"order": order}})


def verb_at(area: Area) -> str:
    """Return the kind of action that an area is for."""
    return Verb(Kind[area.kind.upper()]).name


def action_texts(compiled: Compiled, episode: int) -> list[str]:
    """Return the text of every action of an episode, by id; ids that it leaves unused are called ``unused_<id>``."""
    texts = [f"unused_{action}" for action in range(compiled.n_actions)]
    texts[NO_ACTION] = str(IDLE)
    for at, area in enumerate(compiled.scenario.episodes[episode].areas):
        for o, order in enumerate(compiled.names.orders[episode]):
            texts[compiled.action(at, o)] = wire(verb_at(area), area.id, order)
    return texts


def action_labels(compiled: Compiled, episode: int) -> list[str]:
    """Return every action of an episode as people read it, by id."""
    labels = [f"unused_{action}" for action in range(compiled.n_actions)]
    labels[NO_ACTION] = "do nothing"
    for at, area in enumerate(compiled.scenario.episodes[episode].areas):
        label = LABELS[Verb[verb_at(area)]]
        for o, order in enumerate(compiled.names.orders[episode]):
            labels[compiled.action(at, o)] = label.format(order=order, area=f"{area.kind} {area.id}")
    return labels


def parse_action(compiled: Compiled, episode: int, words: str, valid: Sequence[int]) -> int:
    """Read an action: the paper's dictionary, in Python's or JSON's spelling, its label, or its number in the list.

    Args:
        compiled: The scenario.
        episode: Which of its episodes is played.
        words: The text; a line copied from the list, number and dictionary, will do.
        valid: Actions in the order of the list.

    Raises:
        ActionError: With a reason code and a helpful message.
    """
    words = words.strip()
    if NUMBER.fullmatch(words):
        return _numbered(int(words.rstrip(".):")), valid)
    unused = re.fullmatch(r"unused_(\d{1,6})", words)
    if unused and words in action_texts(compiled, episode):
        return int(unused[1])
    labels = [label.casefold() for label in action_labels(compiled, episode)]
    if words.rstrip(".").casefold() in labels:
        return labels.index(words.rstrip(".").casefold())
    given = _dictionary(NUMBERED.sub("", words, count=1))
    verb, at = given["action_type"], given.get("area_id")
    known = [member.name for member in Verb]
    if verb not in known:
        raise ActionError("F_ACTION_TYPE", near_matches("action_type", verb, known))
    if verb == Verb.NO_ACTION.name:  # whatever else is said, it can mean nothing else
        return NO_ACTION
    return compiled.action(_area(compiled, episode, verb, at), _order(compiled, episode, given.get("value")))


def _numbered(number: int, valid: Sequence[int]) -> int:
    if number >= len(valid):
        raise ActionError("F_NUMBER", f"{number} is not in the list; valid actions are numbered 0 to {len(valid) - 1}")
    return valid[number]


def _dictionary(words: str) -> dict[str, Any]:
    example = wire(Verb.TAKE_INGREDIENTS.name, 0, "...")
    read = _literal(words)
    if not isinstance(read, dict):
        raise ActionError(
            "F_UNREADABLE", f"cannot read {words[:80]!r}; write the number of a valid action, or one such as {example}"
        )
    unknown = [key for key in read if key not in KEYS]
    if unknown:
        raise ActionError("F_KEY", near_matches("key", unknown[0], KEYS))
    if "action_type" not in read:
        raise ActionError("F_KEY", f"action_type is missing; write an action such as {example}")
    return read


def _literal(words: str) -> Any:
    """Read JSON or a Python literal; None for anything else."""
    if len(words) > MAX_CHARACTERS:
        return None
    for read in (json.loads, ast.literal_eval):
        try:
            return read(words)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):  # all that odd literals can raise
            continue
    return None


def _area(compiled: Compiled, episode: int, verb: str, number: Any) -> int:
    """Return the place of an area among those of the episode."""
    areas = compiled.scenario.episodes[episode].areas
    fitting = [area for area in areas if verb_at(area) == verb]
    shown = ", ".join(f"{area.kind} {area.id}" for area in fitting)
    if isinstance(number, str) and number.strip().isdecimal():
        number = int(number)
    for at, area in enumerate(areas):
        if type(number) is int and area.id == number:
            if area not in fitting:
                raise ActionError("F_AREA_KIND", f"area_id {number} is a {area.kind}; {verb} needs one of: {shown}")
            return at
    raise ActionError("F_AREA", f"there is no area_id {number!r:.40}; {verb} needs one of: {shown}")


def _order(compiled: Compiled, episode: int, value: Any) -> int:
    """Return the slot of an order of the episode."""
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
    """Split a plan into actions: a list, or lines or parts between semicolons; nothing is validated.

    Numbers mean the list of valid actions of the moment when their turn comes.
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
    """Say why an action is refused."""
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


# ------------------------------------------------------------------------------------------- descriptions


def counts(goods: Mapping[str, int]) -> str:
    """Write goods with their counts, ``"pasta 2, cheese 1"``."""
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


def describe(compiled: Compiled, scene: Mapping[str, Any], seat: int, valid: Sequence[int]) -> str:
    """Write what an agent sees."""
    recipes = compiled.scenario.episodes[scene["episode"]].recipes
    texts = action_texts(compiled, scene["episode"])
    turn, turns = scene["turn"] + 1, scene["turn"] + scene["turns_left"]
    sections = {
        "Recipes": [recipe_text(recipe) for recipe in recipes.values()],
        "Orders": [order_text(recipes[order["name"]], order) for order in scene["orders"]],
        "Areas": [area_text(area) for area in scene["areas"]],
    }
    lines = [f"Turn {turn} of {turns}. " if scene["turns_left"] else "No turn is left. "]
    lines[0] += f"You are agent_{seat} and act with worker {scene['worker']} of your {compiled.workers}."
    for head, entries in sections.items():
        lines += ["", f"{head}:", *(f"- {entry}" for entry in entries)]
    lines += [
        "",
        LIST,
        *(f"{number}. {texts[action]}" for number, action in enumerate(valid)),
    ]
    return "\n".join(lines)


def manual(compiled: Compiled) -> str:
    """Write the rules, with the numbers of the scenario."""
    first = compiled.scenario.episodes[0]
    return MANUAL.format(
        agents=_join(f"agent_{seat}" for seat in range(compiled.n_agents)),
        turns=_some(compiled.max_turns, "turn"),
        workers=_some(compiled.workers, "worker"),
        example=wire(Verb.TAKE_INGREDIENTS.name, first.pantries[0].id, first.orders[0]),
    ).rstrip()


def scenario_text(scenario: Scenario) -> str:
    """Describe a scenario: its numbers, and the recipes and areas of each episode."""
    numbers = [_some(scenario.agents, "agent"), f"{_some(scenario.workers, 'worker')} each"]
    lines = [f"{scenario.name}: {scenario.description}", f"{', '.join(numbers)}; {_some(scenario.max_turns, 'turn')}"]
    for number, episode in enumerate(scenario.episodes, start=1):
        lines += ["", f"Episode {number}:"]
        lines += [f"- {recipe_text(episode.recipes[order])}" for order in episode.orders]
        spare = [recipe for name, recipe in episode.recipes.items() if name not in episode.orders]
        lines += [f"- {recipe_text(recipe)} (not ordered)" for recipe in spare]
        for area in episode.areas:
            stock = f"; stock {counts(area.stock)}" if area.kind != "stove" else ""
            lines.append(f"- {area.kind} {area.id}: {_some(area.spaces, 'action space')} a turn{stock}")
    return "\n".join(lines)


def _some(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _join(names: Iterable[str]) -> str:
    *rest, last = names
    return f"{', '.join(rest)} and {last}" if rest else last
