"""Words of CraftKitchen: commands as the paper writes them, what is said of refused ones, the moment, the rules.

Commands are taken apart by a pattern and looked up in lists; nothing of them is ever evaluated.
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

VERBS = {  # as the paper writes them; it has no word for doing nothing
    Verb.WAIT: "wait",
    Verb.GOTO: "goto",
    Verb.KILL: "killMob",
    Verb.MINE: "mineBlock",
    Verb.FUEL: "putFuelFurnace",
    Verb.INPUT: "putItemFurnace",
    Verb.TAKE: "takeOutFurnace",
    Verb.STORE: "putInChest",
}
KINDS = {  # what the word of a command is
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
BOT = re.compile(r"bot\d{1,3}", re.ASCII)

REFUSED = {
    Reason.F_GONE: "{agent}: there is no {word} at the moment",
    Reason.F_TOO_FAR: "{agent} is too far away for {text}; go there first",
    Reason.F_NOT_HELD: "{agent} has no {word}",
    Reason.F_OTHER_KIND: "{agent} cannot add {word}: the slot of the furnace holds another kind",
    Reason.F_FULL: "{agent} cannot add {word}: the slot of the furnace is full",
    Reason.F_NOTHING_COOKED: "{agent}: nothing in the furnace is cooked yet",
    Reason.F_TAKEN: "{agent}: another agent was given this in the same step",
}
SAME_AGENT = "an agent got two commands"
UNKNOWN_COMMAND = "F_COMMAND"  # reason code of a verb that does not exist


@dataclass(frozen=True)
class Report:
    """What became of a list of commands.

    Attributes:
        obeyed: For each command whether it was carried out.
        feedback: What the game says, one line for each problem.
    """

    obeyed: tuple[bool, ...]
    feedback: tuple[str, ...]


# ------------------------------------------------------------------------------------------- commands


def agent_names(count: int) -> tuple[str, ...]:
    """Return what commands and texts call the agents."""
    return tuple(f"bot{k + 1}" for k in range(count))


def action_text(compiled: Compiled, action: int) -> str:
    """Write an action as a command without agent, for example ``"goto(oak_log)"``."""
    verb, word = compiled.names.actions[action]
    return f"{VERBS[verb]}({word})"


def command_text(compiled: Compiled, seat: int, action: int) -> str:
    """Write an action of an agent as a command, for example ``"goto(bot1, 'oak_log')"``."""
    verb, word = compiled.names.actions[action]
    return f"{VERBS[verb]}(bot{seat + 1}{f', {word!r}' if word else ''})"


def split_command(text: str) -> tuple[str, list[str]]:
    """Take a command apart into its verb and the words between its brackets.

    Raises:
        ActionError: If it has not the form of a command.
    """
    found = COMMAND.fullmatch(text) if len(text) <= MAX_CHARACTERS else None
    if found:
        parts = [QUOTED.fullmatch(part) for part in found[2].split(",")] if found[2].strip() else []
        if all(parts):
            return found[1], [part[1] or part[2] or part[3] or "" for part in parts if part]
    plain = PLAIN.fullmatch(text) if len(text) <= MAX_CHARACTERS else None
    if plain is None:
        raise ActionError("F_WORDS", f"{quote_value(text)} is no command; write one such as goto(chest)")
    return plain[1], plain[2].split()


def read_command(compiled: Compiled, text: str) -> tuple[int | None, int]:
    """Read a command, with an agent's name or without.

    Returns:
        The seat that it names, None if it names none, and the action's id.

    Raises:
        ActionError: With a reason code and near matches.
    """
    name, words = split_command(parse_text(text))
    verbs = {word.lower(): verb for verb, word in VERBS.items()}
    if name.lower() not in verbs:
        raise ActionError(UNKNOWN_COMMAND, near_matches("command", name, VERBS.values()))
    verb, seat = verbs[name.lower()], None
    if words and BOT.fullmatch(words[0]):
        seat, words = int(words[0][3:]) - 1, words[1:]
        if not 0 <= seat < compiled.n_agents:
            raise ActionError("F_AGENT", near_matches("agent", f"bot{seat + 1}", agent_names(compiled.n_agents)))
    if len(words) != (verb in KINDS):
        example = f"{VERBS[verb]}({KINDS.get(verb, '')})"
        raise ActionError("F_WORDS", f"{quote_value(text)} does not name what it must; write it as {example}")
    word = words[0] if words else ""
    if (verb, word) not in compiled.names.actions:
        known = [other for own, other in compiled.names.actions if own == verb]
        raise ActionError("F_NAME", near_matches(KINDS[verb], word, known))
    return seat, compiled.names.actions.index((verb, word))


def read_list(compiled: Compiled, commands: Sequence[str]) -> tuple[dict[int, tuple[int, int]], list[str], bool]:
    """Read a list of commands.

    Returns:
        Number in the list and action by seat, what is wrong with the others, and whether one has an unknown name.
    """
    found: dict[int, tuple[int, int]] = {}
    problems, unknown = [], False
    for k, command in enumerate(commands):
        try:
            seat, action = read_command(compiled, command)
            if seat is None:
                raise ActionError("F_AGENT", f"{quote_value(command)} names no agent")
            if seat in found:
                raise ActionError("F_AGENT", f"{SAME_AGENT}: bot{seat + 1}")
            found[seat] = k, action
        except ActionError as error:
            problems.append(str(error))
            unknown = unknown or error.code == UNKNOWN_COMMAND
    return found, problems, unknown


# ------------------------------------------------------------------------------------------- what happened


def refusal(compiled: Compiled, seat: int, action: int, reason: int) -> str:
    """Say why a command was refused; empty if it was not."""
    word = compiled.names.actions[action][1]
    values = {"agent": f"bot{seat + 1}", "word": word, "text": action_text(compiled, action)}
    return REFUSED[Reason(reason)].format(**values) if reason else ""


def event_of(compiled: Compiled, row: Sequence[int]) -> dict[str, Any] | None:
    """Return what an agent brought about, None for nothing: ``event``, ``item``, ``count``, ``place``, ``label``."""
    verb, names = Verb(row[EventColumn.CODE]), compiled.names
    if verb == Verb.WAIT or row[EventColumn.REASON]:
        return None
    item, place = row[EventColumn.ITEM], names.places[row[EventColumn.PLACE]]
    word = "" if item == NOTHING else names.items[item]
    given = {Verb.GOTO: place, Verb.KILL: place, Verb.MINE: place, Verb.TAKE: ""}.get(verb, word)
    return {
        "event": verb.name,
        "item": word or None,
        "count": row[EventColumn.COUNT],
        "place": place,
        "label": f"{VERBS[verb]}({given})",
    }


# ------------------------------------------------------------------------------------------- the moment


def content_text(counts: Mapping[str, int]) -> str:
    """Write how many there are of each item."""
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "nothing"


def stock(scene: Mapping[str, Any]) -> dict[str, int]:
    """Return what is in the chest and has served nobody yet."""
    left = {name: count - scene["served"].get(name, 0) for name, count in scene["chest"].items()}
    return {name: count for name, count in left.items() if count}


def slot_text(slot: Mapping[str, Any] | None) -> str:
    """Write what is in a slot."""
    return "nothing" if slot is None else f"{slot['count']} {slot['item']}"


def describe(compiled: Compiled, scene: Mapping[str, Any]) -> str:
    """Write a moment in the paper's order: blocks and mobs near each agent, bags, furnaces, chest; orders first."""
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
    """Return the rules in words."""
    level, config = compiled.level, compiled.config
    recipes = "; ".join(f"{dish} from {raw}" for dish, raw in level.dishes.items())
    sources = "; ".join(
        f"{'killMob' if place.role == 'mob' else 'mineBlock'}({place.kind}) gives {place.gives}"
        for place in {place.kind: place for place in level.places if place.gives}.values()
    )
    reach = (
        "You can use what is at most 6 cells away."
        if config.reach == "told"
        else "You can kill what is less than 6 cells away, put into a chest up to 8 cells away and use all else up to "
        "6 cells away; takeOutFurnace() takes you to the furnace."
    )
    walk = f"{config.walk} cells towards a place" if config.walk else "to a place, however far it is"
    return "\n".join(
        [
            f"Dishes are ordered, one every {compiled.interval} steps, and each order fails {compiled.lifetime} steps "
            "after it came. An order is served as soon as the chest holds its dish; dishes that nobody has ordered "
            "yet stay there and serve later orders. All agents act at the same time, one command a step.",
            f"goto(place) takes you {walk}; of several places of a kind the nearest is meant, unless you name one by "
            "its number.",
            f"{reach} You carry as much as you like.",
            f"{sources}. It is there again after {_steps(config.respawn)}.",
            f"putFuelFurnace(item) and putItemFurnace(item) move one item into the furnace; fuel is "
            f"{' or '.join(level.fuel)}. At the end of a step a furnace with both cooks: one item in "
            f"{_steps(config.cook_steps)}; one fuel is enough for {_items(config.items_per_fuel)}. A slot holds one "
            "kind of item.",
            f"Recipes: {recipes}.",
            "takeOutFurnace() takes all that is cooked. putInChest(item) moves one item into the chest. wait() does "
            "nothing.",
            "If several agents want the same thing in a step, the one with the lowest number gets it.",
        ]
    )


def _items(count: float) -> str:
    return f"{count:g} item" + ("s" if count != 1 else "")


def _steps(count: int) -> str:
    return f"{count} step" + ("s" if count > 1 else "")
