"""Texts for language agents: commands, validation of lists of commands, messages, and the observation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked.envs.api import ActionError
from collab_overcooked.envs.order_game import OrderGame
from collab_overcooked.io.checks import near_matches, parse_text
from collab_overcooked.io.text import plural

from ..engine.compile import Compiled
from ..engine.constants import NOTHING, UNLIMITED, EventColumn, OrderEvent, Reason, Row, Verb
from ..engine.spec import Level, Recipe
from ..engine.state import Out, State

VERBS = ("noop", "goto", "get", "put", "activate")
GOAL = "New dishes are ordered throughout the episode. Serve as many as you can before their time runs out."
ACTIONS = """\
Actions (one per step)
- goto TOOL: walk to a tool; all other actions use the tool where you are.
- get ITEM storage0: take a base ingredient; get TOOL: take the contents of a tool.
- put TOOL: put the item that you hold into the tool. An item that the tool already holds is lost, and so is every item
  that is put into the storage.
- activate TOOL: start the tool, with empty hands; it turns exactly the ingredients of one recipe into its product.
- noop: do nothing."""
CHOICES = """\
You walk to a tool before you use it; every action takes a step. The storage has all base ingredients. An item is lost
if the tool that it is put into holds it already, and so is every item that is put into the storage. A tool is started
with empty hands and turns exactly the ingredients of one recipe into its product."""
HANDS = """\
You can hold one item at a time. A tool at work cannot be used until it is done, and a full tool takes no more items.
Put finished dishes on the serving table. An order is lost when its time runs out."""
IN_STATE = """\
In the state, occupy(TOOL) says that a tool is at work, and occupy(AGENT, True) that an agent is busy with one. Neither
can do anything else meanwhile."""
ALL_IDLE = "None of the agents performed any actions which is not normal."
SAME_AGENT = "agent ids cannot be the same"
NO_AGENT = "agent id not found"


class Void(Exception):
    """A list of commands is rejected as a whole; the game reports the message, which may be empty."""


def _is_agent(word: str) -> bool:
    return word.lower().startswith("agent") and word[len("agent") :].isdecimal()


def content_text(content: Sequence[str]) -> str:
    """Join items as the original does; None for nothing."""
    return "&".join(content) if content else "None"


def open_orders(scene: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the orders of a scene that can still be served; one without time left expires in the next step."""
    return [order for order in scene["orders"] if order["remaining"] != 0]


def surroundings(scene: Mapping[str, Any], seat: int) -> str:
    """Format a scene for people."""
    orders = [
        order["name"] + ("" if order["remaining"] is None else f", {plural(order['remaining'], 'step')} left")
        for order in open_orders(scene)
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


def rules(level: Level, actions: str = ACTIONS) -> str:
    """Return the rules for people: a text on actions, and the recipes of the level's orders."""
    recipes = recipes_below(level, [name for order in level.orders for name in order.items]).values()
    lines = [f"- {recipe.product}: {' and '.join(recipe.ingredients)} in the {recipe.tool}" for recipe in recipes]
    return "\n".join([GOAL, "", actions, HANDS, "", "Recipes", *lines, "", work_text(level)])


def work_text(level: Level) -> str:
    """Return how long the tools of a level work."""
    tools = [level.tools[kind] for kind in dict.fromkeys(level.kitchen)]
    times = [
        f"{tool.kind} {tool.busy}{', in which its agent is busy too' * tool.busy_agent}" for tool in tools if tool.busy
    ]
    if not times:
        return "All tools are done at once."
    rest = " Other tools are done at once." if any(tool.role == "cook" and not tool.busy for tool in tools) else ""
    return f"Steps for which a tool is at work, counting the one in which it is activated: {'; '.join(times)}.{rest}"


def recipes_below(level: Level, dishes: Sequence[str]) -> dict[str, Recipe]:
    """Return all recipes needed for some dishes, by product."""
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
    blocks += [("-served since the last commands:", list(served))] if served else []
    return "\n".join(line for title, content in blocks for line in (title, f"  --  {content}"))


class CuisineText(OrderGame):
    """Texts of a level."""

    compiled: Compiled
    level: Level
    catalogue: list[str]  # Text of every command, such as ``"get egg storage0"``

    @property
    def display_names(self) -> tuple[str, ...]:
        return tuple(f"agent{i}" for i in range(self.n_agents))

    def orderable(self) -> tuple[str, ...]:
        return self.level.order_names

    def names(self) -> list[str]:
        level = self.level
        return [*level.items, *level.order_names, *level.locations, *level.tools]

    def action_texts(self, state: Any = None, i: int = 0, seat: int = 0) -> list[str]:
        return self.catalogue[: self.n_actions]

    def clock(self, state: State, i: int, timestep: int) -> str:
        return f"step {timestep}"

    def read_commands(self, commands: Sequence[str]) -> list[tuple[int, int]]:
        """Validate a list of commands such as ``"goto_agent0_pan0"`` as a whole and raise the first problem.

        Messages are the original's. Where the original fails with a Python error, the messages are ours and come after
        all checks of the original.

        Returns:
            Agent and catalogue row of each command. Negative numbers count agents from the end, as in the original.
        """
        n_agents = self.n_agents
        parsed = [self._read_command(command) for command in commands]
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
        return [(number % n_agents, self._row_of(verb, parts[2:])) for number, verb, parts in parsed]

    def _read_command(self, command: str) -> tuple[int, str, list[str]]:
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
        if len(parts) > 2 and parts[-1] not in self.level.locations:
            raise Void(f"for agent{number}, tool {parts[-1]} is not in the current game level")
        return number, verb, parts

    def _row_of(self, verb: str, arguments: Sequence[str]) -> int:
        """Return the catalogue row of a verb and its valid arguments, ``[location]`` or ``[item, location]``.

        An item counts only at a storage that has it; otherwise the row is that of the location alone.
        """
        if verb == "noop":
            return 0
        place = arguments[-1]
        named = f"{verb} {arguments[0]} {place}"
        return self.catalogue.index(named if named in self.catalogue else f"{verb} {place}")

    def report(self, row: int, reason: int, agent: int, item: int) -> str:
        """Return the original's message about a refused command; empty for a goto of a busy agent."""
        place = self.compiled.tables.catalogue[row, Row.PLACE]
        name = None if item == NOTHING else self.level.items[item]
        values = {"agent": agent, "place": self.level.locations[place], "item": name}
        return Reason(reason).sentence.format(**values)

    def feedback(self, out: Out, i: int) -> tuple[str, ...]:
        """Return the game's messages of the last step of environment ``i``, unless its commands were voided."""
        commands = out.events[i, : max(int(out.order_events[i, OrderEvent.GIVEN]), 0)].tolist()
        verbs = [self.compiled.tables.catalogue[command[EventColumn.CODE], Row.VERB] for command in commands]
        is_error = self.kwargs["idle_error"] and verbs and all(verb == Verb.NOOP for verb in verbs)
        lines = [ALL_IDLE] if is_error else []
        messages = [self.report(*command) for command in commands if command[EventColumn.REASON] != Reason.OK]
        return (*lines, *filter(None, messages))

    def parse(self, text: str, state: Any = None, i: int = 0, seat: int = 0) -> int:
        """Parse one action, ``"goto pan0"`` or a command with any agent's number, ``"goto_agent1_pan0"``.

        Raises:
            ActionError: The text names no action.
        """
        spelled = {word.lower(): word for row in self.catalogue for word in row.split(" ")}
        parts = [spelled.get(part.lower(), part) for part in parse_text(text).replace("_", " ").split()]
        if not parts or parts[0] not in VERBS:
            raise ActionError("F_VERB", near_matches("verb", parts[0] if parts else text, VERBS))
        verb, rest = parts[0], [part for part in parts[1:] if not _is_agent(part)]
        if verb == "noop":
            if rest:
                raise ActionError("F_WORDS", f"noop takes nothing else, not {' '.join(rest)!r}")
            return 0
        if not 1 <= len(rest) <= (2 if verb in ("get", "put") else 1):
            raise ActionError(
                "F_WORDS", f"{text.strip()!r} is no action; write one such as 'goto {self.level.locations[0]}'"
            )
        if rest[-1] not in self.level.locations:
            raise ActionError("F_PLACE", near_matches("location", rest[-1], self.level.locations))
        return self._row_of(verb, rest)

    def command_text(self, seat: int, action: int) -> str:
        """Return an action as the original's command string, for example ``"goto_agent1_pan0"``."""
        verb, *rest = self.catalogue[action].split(" ")
        return "_".join([verb, f"agent{seat}", *rest])

    def events(self, out: Out, i: int) -> list[dict[str, Any] | None]:
        """Return each agent's event, None for a noop or a refused command.

        Returns:
            ``event`` (verb), ``item`` (taken or put, else None), ``place``, and ``label``, the action's text.
        """
        events: list[dict[str, Any] | None] = [None] * self.n_agents
        for command in out.events[i, : max(int(out.order_events[i, OrderEvent.GIVEN]), 0)].tolist():
            events[command[EventColumn.AGENT]] = self._event(command)
        return events

    def _event(self, command: Sequence[int]) -> dict[str, Any] | None:
        row, reason, _, held = command
        verb, place, item = self.compiled.tables.catalogue[row]
        if reason != Reason.OK or verb == Verb.NOOP:
            return None
        item = held if verb == Verb.PUT else item
        return {
            "event": Verb(verb).name,
            "item": None if item == NOTHING else self.level.items[item],
            "place": self.level.locations[place],
            "label": self.catalogue[row],
        }

    def manual(self, state: Any = None, i: int = 0, seat: int = 0) -> str:
        return f"{rules(self.level)}\n{IN_STATE}"

    def describe(self, state: State, i: int, seat: int) -> str:
        """Return the observation in the form of the original's prompts; all seats see the same."""
        scene = self.scene(state, i)
        orders = [
            f"    name: {order['name']} lifetime: {UNLIMITED if order['remaining'] is None else order['remaining']}"
            for order in (scene["orders"] if self.kwargs["show_lost"] else open_orders(scene))
        ]
        lines = ["-game state:", f"current game level: {self.level.name}", "current dishes:", *orders]
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
