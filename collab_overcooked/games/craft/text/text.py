"""Texts of CraftKitchen: the paper's commands, refusals, the observation and the manual.

Commands are split by a pattern and looked up in lists; they are never evaluated as code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import dist
from typing import Any

from collab_overcooked.envs.api import ActionError
from collab_overcooked.games.craft.engine.compile import Compiled
from collab_overcooked.games.craft.engine.constants import NOTHING, EventColumn, Reason, Verb
from collab_overcooked.io.checks import near_matches, parse_text, quote_value
from collab_overcooked.io.text import plural

VERBS = {  # the paper's names; it has none for doing nothing
    Verb.WAIT: "wait",
    Verb.GOTO: "goto",
    Verb.KILL: "killMob",
    Verb.MINE: "mineBlock",
    Verb.FUEL: "putFuelFurnace",
    Verb.INPUT: "putItemFurnace",
    Verb.TAKE: "takeOutFurnace",
    Verb.STORE: "putInChest",
}
KINDS = {  # meaning of a command's argument
    Verb.GOTO: "place",
    Verb.KILL: "mob",
    Verb.MINE: "block",
    Verb.FUEL: "fuel",
    Verb.INPUT: "raw item",
    Verb.STORE: "item",
}
MAX_CHARACTERS = 200  # characters of a command
COMMAND = re.compile(r"\s*(\w+)\s*\(([^()]*)\)\s*+[;,]?\s*", re.ASCII)
PLAIN = re.compile(r"\s*(\w+)((?:\s+\w+){0,2})\s*", re.ASCII)
QUOTED = re.compile(r"""\s*+(?:'(\w*)'|"(\w*)"|(\w*))\s*""", re.ASCII)
BOT = re.compile(r"bot\d{1,3}", re.ASCII | re.IGNORECASE)

REFUSED = {
    Reason.F_GONE: "{agent}: there is no {word} right now",
    Reason.F_TOO_FAR: "{agent} is too far away for {text}; go there first",
    Reason.F_NOT_HELD: "{agent} has no {word}",
    Reason.F_OTHER_KIND: "{agent} cannot add {word}: the slot of the furnace holds another kind",
    Reason.F_FULL: "{agent} cannot add {word}: the slot of the furnace is full",
    Reason.F_NOTHING_COOKED: "{agent}: nothing in the furnace is cooked yet",
    Reason.F_TAKEN: "{agent}: another agent got this in the same step",
}
SAME_AGENT = "an agent got two commands"
UNKNOWN_COMMAND = "F_COMMAND"  # reason code of an unknown verb


@dataclass(frozen=True)
class Report:
    """Outcome of a list of commands."""

    obeyed: tuple[bool, ...]  # Whether each command was carried out
    feedback: tuple[str, ...]  # Messages, one line per problem


def agent_names(count: int) -> tuple[str, ...]:
    """Return the names of the agents in commands and texts."""
    return tuple(f"bot{k + 1}" for k in range(count))


def action_text(compiled: Compiled, action: int) -> str:
    """Format an action as a command without an agent, for example ``"goto(oak_log)"``."""
    verb, word = compiled.names.actions[action]
    return f"{VERBS[verb]}({word})"


def command_text(compiled: Compiled, seat: int, action: int) -> str:
    """Format an action of an agent as a command, for example ``"goto(bot1, 'oak_log')"``."""
    verb, word = compiled.names.actions[action]
    return f"{VERBS[verb]}(bot{seat + 1}{f', {word!r}' if word else ''})"


def split_command(text: str) -> tuple[str, list[str]]:
    """Split a command into its verb and its arguments."""
    match = COMMAND.fullmatch(text) if len(text) <= MAX_CHARACTERS else None
    if match:
        parts = [QUOTED.fullmatch(part) for part in match[2].split(",")] if match[2].strip() else []
        if all(parts):
            return match[1], [part[1] or part[2] or part[3] or "" for part in parts if part]
    plain = PLAIN.fullmatch(text) if len(text) <= MAX_CHARACTERS else None
    if plain is None:
        raise ActionError("F_WORDS", f"{quote_value(text)} is not a command; write a command such as goto(chest)")
    return plain[1], plain[2].split()


def read_command(compiled: Compiled, text: str) -> tuple[int | None, int]:
    """Parse a command with or without an agent's name.

    Returns:
        The seat that it names (or None), and the id of the action.
    """
    name, arguments = split_command(parse_text(text))
    verbs = {word.lower(): verb for verb, word in VERBS.items()}
    if name.lower() not in verbs:
        raise ActionError(UNKNOWN_COMMAND, near_matches("command", name, VERBS.values()))
    verb, seat = verbs[name.lower()], None
    if arguments and BOT.fullmatch(arguments[0]):
        seat, arguments = int(arguments[0][3:]) - 1, arguments[1:]
        if not 0 <= seat < compiled.n_agents:
            raise ActionError("F_AGENT", near_matches("agent", f"bot{seat + 1}", agent_names(compiled.n_agents)))
    if len(arguments) != (verb in KINDS):
        example = f"{VERBS[verb]}({KINDS.get(verb, '')})"
        raise ActionError("F_WORDS", f"{quote_value(text)} has the wrong arguments; write it as {example}")
    word = arguments[0].lower() if arguments else ""
    if (verb, word) not in compiled.names.actions:
        known = [argument for other, argument in compiled.names.actions if other == verb]
        raise ActionError("F_NAME", near_matches(KINDS[verb], word, known))
    return seat, compiled.names.actions.index((verb, word))


def read_list(compiled: Compiled, commands: Sequence[str]) -> tuple[dict[int, tuple[int, int]], list[str], bool]:
    """Parse a list of commands.

    Returns:
        Index in the list and action by seat, messages about the others, and whether one has an unknown name.
    """
    parsed: dict[int, tuple[int, int]] = {}
    problems, unknown = [], False
    for k, command in enumerate(commands):
        try:
            seat, action = read_command(compiled, command)
            if seat is None:
                raise ActionError("F_AGENT", f"{quote_value(command)} names no agent")
            if seat in parsed:
                raise ActionError("F_AGENT", f"{SAME_AGENT}: bot{seat + 1}")
            parsed[seat] = k, action
        except ActionError as error:
            problems.append(str(error))
            unknown = unknown or error.code == UNKNOWN_COMMAND
    return parsed, problems, unknown


def refusal(compiled: Compiled, seat: int, action: int, reason: int) -> str:
    """Return the message of a refused command; empty if it was accepted."""
    word = compiled.names.actions[action][1]
    values = {"agent": f"bot{seat + 1}", "word": word, "text": action_text(compiled, action)}
    return REFUSED[Reason(reason)].format(**values) if reason else ""


def event_of(compiled: Compiled, row: Sequence[int]) -> dict[str, Any] | None:
    """Return an agent's event with ``event``, ``item``, ``count``, ``place`` and ``label``, or None."""
    verb, names = Verb(row[EventColumn.CODE]), compiled.names
    if verb == Verb.WAIT or row[EventColumn.REASON]:
        return None
    item, place = row[EventColumn.ITEM], names.places[row[EventColumn.PLACE]]
    word = "" if item == NOTHING else names.items[item]
    argument = {Verb.GOTO: place, Verb.KILL: place, Verb.MINE: place, Verb.TAKE: ""}.get(verb, word)
    return {
        "event": verb.name,
        "item": word or None,
        "count": row[EventColumn.COUNT],
        "place": place,
        "label": f"{VERBS[verb]}({argument})",
    }


def content_text(counts: Mapping[str, int]) -> str:
    """Format counts of items."""
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "nothing"


def stock(scene: Mapping[str, Any]) -> dict[str, int]:
    """Return the items in the chest that have not served an order."""
    left = {name: count - scene["served"].get(name, 0) for name, count in scene["chest"].items()}
    return {name: count for name, count in left.items() if count}


def slot_text(slot: Mapping[str, Any] | None) -> str:
    """Format the contents of a slot."""
    return "nothing" if slot is None else f"{slot['count']} {slot['item']}"


def describe(compiled: Compiled, scene: Mapping[str, Any]) -> str:
    """Format a scene: orders, then in the paper's order blocks and mobs near each agent, bags, furnaces and chest."""
    orders = [f"  {order['name']}, {order['remaining']} steps left" for order in scene["orders"]]
    lines = [f"Step {scene['timestep']} of {scene['limit']}.", "Orders:", *(orders or ["  none"])]
    for name, agent in zip(agent_names(compiled.n_agents), scene["agents"], strict=True):
        for role, heading in ((("chest", "furnace", "block"), "blocks"), (("mob",), "mobs")):
            near = sorted(
                (round(dist(agent["at"], place.at), 1), place.name)
                for place in compiled.level.places
                if place.role in role and place.name not in scene["gone"]
            )
            lines.append(f"{name}, {heading} by distance: " + ", ".join(f"{where} {far:g}" for far, where in near))
    for name, agent in zip(agent_names(compiled.n_agents), scene["agents"], strict=True):
        lines.append(f"{name} has {content_text(agent['bag'])}")
    for name, furnace in scene["furnaces"].items():
        slots = ", ".join(f"{slot} {slot_text(furnace[slot])}" for slot in ("fuel", "input", "output"))
        lines.append(f"{name}: {slots}")
    lines.append(f"chest: {content_text(stock(scene))}")
    lines.append(f"Orders served: {scene['completed']}, failed: {scene['expired']}.")
    return "\n".join(lines)


def manual(compiled: Compiled) -> str:
    """Return the rules as text."""
    level, config = compiled.level, compiled.config
    recipes = "; ".join(f"{dish} from {raw}" for dish, raw in level.dishes.items())
    sources = "; ".join(
        f"{'killMob' if place.role == 'mob' else 'mineBlock'}({place.kind}) gives {place.gives}"
        for place in {place.kind: place for place in level.places if place.gives}.values()
    )
    reach = (
        "You can use anything that is at most 6 cells away."
        if config.reach == "told"
        else "You can kill mobs that are less than 6 cells away, put items into a chest up to 8 cells away and use "
        "everything else up to 6 cells away; takeOutFurnace() takes you to the furnace."
    )
    interval = "step" if compiled.interval == 1 else f"{compiled.interval} steps"
    walk = f"{plural(config.walk, 'cell')} towards a place" if config.walk else "to a place, at any distance"
    return "\n".join(
        [
            f"A dish is ordered every {interval}, and an order fails {plural(compiled.lifetime, 'step')} after it "
            "arrived. An order is served as soon as the chest holds its dish; dishes without an order stay in the "
            "chest and serve later orders. All agents act at the same time, with one command per step.",
            f"goto(place) takes you {walk}. If there are several places of a kind, it takes you to the nearest one, "
            "unless you name one by its number.",
            f"{reach} You carry as much as you like.",
            f"{sources}. Mobs and blocks reappear after {plural(config.respawn, 'step')}.",
            f"putFuelFurnace(item) and putItemFurnace(item) move one item into the furnace; fuel is "
            f"{' or '.join(level.fuel)}. At the end of a step a furnace with both cooks: one item in "
            f"{plural(config.cook_steps, 'step')}; one fuel cooks {plural(config.items_per_fuel, 'item')}. A slot "
            "holds only one kind of item.",
            f"Recipes: {recipes}.",
            "takeOutFurnace() takes everything that is cooked. putInChest(item) moves one item into the chest. wait() "
            "does nothing.",
            "If several agents want the same thing in the same step, the agent with the lowest number gets it.",
        ]
    )
