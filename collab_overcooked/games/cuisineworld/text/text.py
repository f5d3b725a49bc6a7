"""Texts for language agents: commands, validation of lists of commands, messages, and the observation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collab_overcooked.envs.api import ActionError
from collab_overcooked.games.cuisineworld.engine.compile import Compiled, Names
from collab_overcooked.games.cuisineworld.engine.constants import NOTHING, EventColumn, Reason, Row, Verb
from collab_overcooked.games.cuisineworld.engine.spec import Level, Recipe
from collab_overcooked.io.checks import near_matches

VERBS = ("noop", "goto", "get", "put", "activate")
RULES = """\
New dishes are ordered throughout the episode. Serve as many as you can before their time runs out.

Actions (one per step)
- goto TOOL: walk to a tool; all other actions use the tool where you are.
- get ITEM storage0: take a base ingredient; get TOOL: take the contents of a tool.
- put TOOL: put the item that you hold into the tool.
- activate TOOL: start the tool, with empty hands; it turns exactly the ingredients of one recipe into its product.
- noop: do nothing.
You can hold one item at a time. A tool at work cannot be used until it is done, and a full tool takes no more items.
Put finished dishes on the serving table. An order is lost when its time runs out."""
ALL_IDLE = "None of the agents performed any actions which is not normal."
SAME_AGENT = "agent ids cannot be the same"
NO_AGENT = "agent id not found"

# The original's messages about refused commands; an empty text is a refusal without a message.
REPORTS = {
    Reason.TIRED: "",
    Reason.NOT_THERE: "agent{agent} is not located in {place}",
    Reason.NOT_READY: "agent{agent} is not allowed to pick up from {place} at this point",
    Reason.AGENT_BUSY: "agent{agent} is occupied therefore cannot take any actions other than noop",
    Reason.GET_HOLDING: "agent{agent} is holding objects, therefore cannot get objects from the tool",
    Reason.GET_OCCUPIED: "{place} is occupied, therefore agent{agent} cannot get objects from the tool",
    Reason.NOT_BASE: "agent{agent} can only pickup base ingredients from the storage",
    Reason.GET_EMPTY: "{place} is empty, you cannot get anything from there",
    Reason.NO_DISH: "{item} is not any dish needed in this level and cannot be put on {place}",
    Reason.PUT_WASTE: "putting {item} into {place} will result in waste",
    Reason.PUT_EMPTY_HANDED: "agent{agent} is not holding objects, therefore cannot put objects into the tool",
    Reason.PUT_OCCUPIED: "{place} is occupied, therefore cannot put objects into it",
    Reason.FULL: "{place} reaches maximum capacity",
    Reason.ACTIVATE_HOLDING: "agent{agent} is holding objects, therefore cannot activate tools",
    Reason.ACTIVATE_OCCUPIED: "{place} is occupied, therefore cannot be activated",
    Reason.ACTIVATE_EMPTY: "{place} is empty, therefore cannot be activated",
    Reason.ACTIVATE_WASTE: "activating {place} will result in waste",
}


class Void(Exception):
    """A list of commands of which none is carried out; the message, perhaps empty, is what the game reports."""


@dataclass(frozen=True)
class Report:
    """Outcome of a list of commands."""

    obeyed: tuple[bool, ...]  # Whether each command was carried out
    feedback: tuple[str, ...]  # The original's messages


def read_commands(names: Names, n_agents: int, commands: Sequence[str]) -> list[tuple[int, int]]:
    """Validate a list of commands such as ``"goto_agent0_pan0"`` as a whole and raise the first problem.

    Messages are the original's. Where the original fails with a Python error, the messages are ours and come after all
    checks of the original.

    Returns:
        Agent and catalogue row of each command. Negative numbers count agents from the end, as in the original.
    """
    parsed = [_read_command(names, command) for command in commands]
    numbers = [number for number, _, _ in parsed]
    if len(set(numbers)) < len(numbers):
        raise Void(SAME_AGENT)
    if not commands:
        raise Void("no command was given")
    for number in numbers:
        if not -n_agents <= number < n_agents:
            raise Void(f"there is no agent{number}; agents are agent0 to agent{n_agents - 1}")
    for number, verb, parts in parsed:
        if verb != "noop" and len(parts) == 2:
            raise Void(f"{verb} of agent{number} names no location")
    return [(number % n_agents, row_of(names, verb, parts[2:])) for number, verb, parts in parsed]


def _read_command(names: Names, command: str) -> tuple[int, str, list[str]]:
    parts = command.split("_")
    if not 2 <= len(parts) <= 4:
        raise Void(f"not enough arguments for action {command}")
    verb = parts[0]
    if verb not in VERBS:
        raise Void(f"{verb} is not in the list of supported actions")
    try:
        number = int(parts[1].replace("agent", ""))
    except ValueError:
        raise Void(NO_AGENT) from None
    if len(parts) == 4 and verb not in ("get", "put"):
        raise Void("")
    if len(parts) > 2 and parts[-1] not in names.places:
        raise Void(f"for agent{number}, tool {parts[-1]} is not in the current game level")
    return number, verb, parts


def row_of(names: Names, verb: str, arguments: Sequence[str]) -> int:
    """Return the catalogue row of a verb and its valid arguments, ``[location]`` or ``[item, location]``.

    An item counts only at a storage that has it; otherwise the row is that of the location alone.
    """
    if verb == "noop":
        return 0
    place = arguments[-1]
    named = f"{verb} {arguments[0]} {place}"
    return names.catalogue.index(named if named in names.catalogue else f"{verb} {place}")


def feedback(compiled: Compiled, commands: Sequence[Sequence[int]], count: int) -> tuple[str, ...]:
    """Return the messages about the commands of a step that was not voided, in order."""
    rows = [compiled.tables.catalogue[command[EventColumn.CODE]] for command in commands[:count]]
    lines = [ALL_IDLE] if rows and all(row[Row.VERB] == Verb.NOOP for row in rows) else []
    for command in commands[:count]:
        lines += report(compiled, *command)
    return tuple(lines)


def report(compiled: Compiled, row: int, reasons: int, agent: int, item: int) -> list[str]:
    """Return the messages about one refused command, in the original's order."""
    place = compiled.tables.catalogue[row, Row.PLACE]
    values = {
        "agent": agent,
        "place": compiled.names.places[place],
        "item": compiled.names.items[item] if item != NOTHING else None,
    }
    return [REPORTS[reason].format(**values) for reason in reasons_of(reasons) if REPORTS[reason]]


def reasons_of(reasons: int) -> list[Reason]:
    """Split a sum of reasons, in the order of reporting."""
    return [reason for reason in Reason if reason & reasons]


def outcome(compiled: Compiled, commands: Sequence[Sequence[int]], count: int) -> Report:
    """Return the outcome of the commands of a step that was not voided."""
    obeyed = tuple(command[EventColumn.REASON] == 0 for command in commands[:count])
    return Report(obeyed, feedback(compiled, commands, count))


def parse_action(names: Names, text: str) -> int:
    """Parse one action, ``"goto pan0"`` or a command with any agent's number, ``"goto_agent1_pan0"``.

    Returns:
        Catalogue row.
    """
    spelled = {word.lower(): word for row in names.catalogue for word in row.split(" ")}
    parts = [spelled.get(part.lower(), part) for part in text.replace("_", " ").split()]
    if not parts or parts[0] not in VERBS:
        raise ActionError("F_VERB", near_matches("verb", parts[0] if parts else text, VERBS))
    verb, rest = parts[0], [part for part in parts[1:] if not _is_agent(part)]
    if verb == "noop":
        if rest:
            raise ActionError("F_WORDS", f"noop takes nothing else, not {' '.join(rest)!r}")
        return 0
    if not 1 <= len(rest) <= (2 if verb in ("get", "put") else 1):
        raise ActionError("F_WORDS", f"{text.strip()!r} is no action; write one such as 'goto {names.places[0]}'")
    if rest[-1] not in names.places:
        raise ActionError("F_PLACE", near_matches("location", rest[-1], names.places))
    return row_of(names, verb, rest)


def _is_agent(word: str) -> bool:
    return word.lower().startswith("agent") and word[len("agent") :].isdecimal()


def command_text(names: Names, agent: int, row: int) -> str:
    """Format an action of an agent as the original's command string."""
    verb, *rest = names.catalogue[row].split(" ")
    return "_".join([verb, f"agent{agent}", *rest])


def event_of(compiled: Compiled, command: Sequence[int]) -> dict[str, Any] | None:
    """Return the event of a command, or None for a noop or a refused command.

    Returns:
        ``event`` (verb), ``item`` (taken, put or, at an activation, None), ``place``, and ``label``, the action's text.
    """
    row, reasons, _, held = command
    verb, place, item = compiled.tables.catalogue[row]
    if reasons != 0 or verb == Verb.NOOP:
        return None
    names = compiled.names
    item = held if verb == Verb.PUT else item
    return {
        "event": Verb(verb).name,
        "item": None if item == NOTHING else names.items[item],
        "place": names.places[place],
        "label": names.catalogue[row],
    }


def content_text(content: Sequence[str]) -> str:
    """Join items as the original does; None for nothing."""
    return "&".join(content) if content else "None"


def describe(compiled: Compiled, scene: Mapping[str, Any]) -> str:
    """Format a scene as in the original's prompts: orders, agents, kitchen and completed orders."""
    orders = [
        f"    name: {order['name']} lifetime: {NOTHING if order['remaining'] is None else order['remaining']}"
        for order in scene["orders"]
    ]
    lines = ["-game state:", f"current game level: {compiled.level.name}", "current dishes:", *orders]
    lines += [f"current game step: {scene['timestep']}", f"maximum game steps: {scene['limit']}", ""]
    lines.append("-agent state:")
    for i, agent in enumerate(scene["agents"]):
        lines += [f"at(agent{i}, {agent['location']})", f"hold(agent{i}, {agent['holding']})"]
        lines += [f"occupy(agent{i}, True)"] if agent["busy"] else []
    lines += ["", "-kitchen state:"]
    for name, tool in scene["tools"].items():
        lines.append(f"inside({name}, {content_text(tool['content'])})")
        lines += [f"occupy({name})"] if tool["busy"] else []
    lines += ["", "-accomplished task:", "".join(f"{name}, " for name in scene["accomplished"]), ""]
    return "\n".join(lines)


def surroundings(scene: Mapping[str, Any], seat: int) -> str:
    """Format a scene for people."""
    orders = [
        order["name"] + ("" if order["remaining"] is None else f", {order['remaining']} steps left")
        for order in scene["orders"]
    ]
    lines = [f"Step {scene['timestep']} of {scene['limit']}.", "Orders:", *(f"- {order}" for order in orders), ""]
    for i, agent in enumerate(scene["agents"]):
        who = f"You (agent{i}) are" if i == seat else f"agent{i} is"
        busy = ", busy" if agent["busy"] else ""
        lines.append(f"{who} at {agent['location']} with {agent['holding'] or 'empty hands'}{busy}.")
    for name, tool in scene["tools"].items():
        if tool["content"] or tool["busy"]:
            lines.append(f"{name}: {' and '.join(tool['content']) or 'nothing'}{', at work' if tool['busy'] else ''}")
    served = ", ".join(scene["accomplished"]) or "nothing yet"
    return "\n".join([*lines, "", f"Served: {served}."])


def rules(level: Level) -> str:
    """Return the rules for people: actions, and the recipes of the level's orders."""
    recipes = recipes_below(level, [name for order in level.orders for name in order.items]).values()
    lines = [f"- {recipe.product}: {' and '.join(recipe.ingredients)} in the {recipe.tool}" for recipe in recipes]
    return "\n".join([RULES, "", "Recipes", *lines])


def recipes_below(level: Level, dishes: Sequence[str]) -> dict[str, Recipe]:
    """Return the recipes in the trees of some dishes, by product."""
    recipes: dict[str, Recipe] = {}
    for name in dishes:
        recipe = level.recipes.get(name)
        if recipe is not None:
            recipes |= {name: recipe} | recipes_below(level, recipe.ingredients)
    return recipes


def feedback_text(lines: Sequence[str], served: Sequence[str] = ()) -> str:
    """Return the original's blocks before the state: messages, and the suggestions, which are always empty.

    A block with what was served follows, if there is any: the paper's positive feedback, which the public code lacks.
    """
    blocks = [("-execution error messages:", list(lines)), ("-execution suggestions:", [])]
    blocks += [("-well done, served since the last commands:", list(served))] if served else []
    return "\n".join(line for title, content in blocks for line in (title, f"  --  {content}"))
