"""Texts of CraftKitchen: the paper's commands, refusals, the observation and the manual.

Commands are split by a pattern and looked up in lists; they are never evaluated as code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import dist
from typing import Any

import numpy as np

from collab_overcooked.envs.api import ActionError, clone
from collab_overcooked.io.checks import near_matches, parse_text, quote_value
from collab_overcooked.io.text import plural

from ..engine.constants import NOTHING, EventColumn, Reason, Verb
from ..engine.state import Out, State
from .scene import CraftScene

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
WRITTEN = {  # actions in the rules for those who write them
    "together": "",
    "walking": "goto(place)",
    "sources": "",
    "mob": "killMob({})",
    "block": "mineBlock({})",
    "filling": "putFuelFurnace(item) and putItemFurnace(item) move one item",
    "taking_out": "takeOutFurnace()",
    "rest": "takeOutFurnace() takes everything that is cooked. putInChest(item) moves one item into the chest. wait() "
    "does nothing.",
}
CHOSEN = {  # for those who choose them from a list or by clicks
    "together": " All agents act at the same time, one action each in a step.",
    "walking": "Walking",
    "sources": "Where things come from: ",
    "mob": "hunting {}",
    "block": "chopping {}",
    "filling": "You put one item at a time",
    "taking_out": "taking out of the furnace",
    "rest": "Taking out of the furnace takes everything that is cooked. You put one item at a time into the chest.",
}
TIES = "If several agents want the same thing in the same step, the agent with the lowest number gets it."
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

SAME_AGENT = "an agent got two commands"
UNKNOWN_COMMAND = "F_COMMAND"  # reason code of an unknown verb


def agent_names(count: int) -> tuple[str, ...]:
    """Return the names of the agents in commands and texts."""
    return tuple(f"bot{k + 1}" for k in range(count))


def split_command(text: str) -> tuple[str, list[str]]:
    """Split a command into its verb and its arguments.

    Raises:
        ActionError: The number of words is wrong.
    """
    match = COMMAND.fullmatch(text) if len(text) <= MAX_CHARACTERS else None
    if match:
        parts = [QUOTED.fullmatch(part) for part in match[2].split(",")] if match[2].strip() else []
        if all(parts):
            return match[1], [part[1] or part[2] or part[3] or "" for part in parts if part]
    plain = PLAIN.fullmatch(text) if len(text) <= MAX_CHARACTERS else None
    if plain is None:
        raise ActionError("F_WORDS", f"{quote_value(text)} is not a command; write a command such as goto(chest)")
    return plain[1], plain[2].split()


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


class CraftText(CraftScene):
    """Texts of a level."""

    commands: list[tuple[Verb, str]]  # Verb and argument of every action

    @property
    def display_names(self) -> tuple[str, ...]:
        return agent_names(self.n_agents)

    def names(self) -> list[str]:
        return [*self.level.items, *self.level.kinds]

    def parse(self, action: str, state: Any = None, i: int = 0, seat: int = 0) -> int:
        return self.read_command(action)[1]

    def clock(self, state: Any, i: int, timestep: int) -> str:
        return f"step {timestep}"

    def command_text(self, seat: int, action: int) -> str:
        """Return an action as a command of the paper, for example ``"goto(bot1, 'chest')"``."""
        verb, word = self.commands[action]
        return f"{VERBS[verb]}(bot{seat + 1}{f', {word!r}' if word else ''})"

    def read_command(self, text: str) -> tuple[int | None, int]:
        """Return the seat that a command names, if any, and the id of its action.

        Raises:
            ActionError: The command names no action.
        """
        name, arguments = split_command(parse_text(text))
        verbs = {word.lower(): verb for verb, word in VERBS.items()}
        if name.lower() not in verbs:
            raise ActionError(UNKNOWN_COMMAND, near_matches("command", name, VERBS.values()))
        verb, seat = verbs[name.lower()], None
        if arguments and BOT.fullmatch(arguments[0]):
            seat, arguments = int(arguments[0][3:]) - 1, arguments[1:]
            if not 0 <= seat < self.n_agents:
                raise ActionError("F_AGENT", near_matches("agent", f"bot{seat + 1}", self.display_names))
        who = "" if seat is None else f"bot{seat + 1}: "
        if len(arguments) != (verb in KINDS):
            example = f"{VERBS[verb]}({KINDS.get(verb, '')})"
            raise ActionError("F_WORDS", f"{who}{quote_value(text)} has the wrong arguments; write it as {example}")
        word = arguments[0].lower() if arguments else ""
        if (verb, word) not in self.commands:
            known = [argument for other, argument in self.commands if other == verb]
            raise ActionError("F_NAME", who + near_matches(KINDS[verb], word, known))
        return seat, self.commands.index((verb, word))

    def read_list(self, commands: Sequence[str]) -> tuple[dict[int, tuple[int, int]], list[str], bool]:
        """Parse commands: index and action by seat, messages about invalid commands, and whether a name is unknown.

        Raises:
            ActionError: The commands do not name one seat each.
        """
        parsed: dict[int, tuple[int, int]] = {}
        problems, unknown = [], False
        for k, command in enumerate(commands):
            try:
                seat, action = self.read_command(command)
                if seat is None:
                    raise ActionError("F_AGENT", f"{quote_value(command)} names no agent")
                if seat in parsed:
                    raise ActionError("F_AGENT", f"{SAME_AGENT}: bot{seat + 1}")
                parsed[seat] = k, action
            except ActionError as error:
                problems.append(str(error))
                unknown = unknown or error.code == UNKNOWN_COMMAND
        return parsed, problems, unknown

    def _why_refused_after(self, state: State, i: int, seat: int, action: int, earlier: Sequence[int]) -> int:
        reason, turns = self.why_refused(state, i, seat, action), self.turn_order(state, i)
        before = {other: earlier[other] for other in turns[: turns.index(seat)] if other < len(earlier)}
        if reason or not before:
            return reason
        after, (_, out) = clone(state, i), self.alloc(1)
        actions = np.zeros((1, self.n_agents), np.int32)
        for other, chosen in (before | {seat: action}).items():
            actions[0, other] = max(chosen, 0)
        self.step(after, actions, out)
        return int(out.events[0, seat, EventColumn.REASON])

    def refusal(self, seat: int, action: int, reason: int) -> str:
        """Return the sentence of a command's reason code."""
        word = self.commands[action][1]
        values = {"agent": f"bot{seat + 1}", "word": word, "text": self.texts[action]}
        return Reason(reason).sentence.format(**values)

    def _explain(self, state: State, i: int, seat: int, action: int, reason: int) -> str:
        return self.refusal(seat, action, reason)

    def events(self, out: Out, i: int) -> list[dict[str, Any] | None]:
        """Return each agent's event with ``event``, ``item``, ``count``, ``place`` and ``label``, or None."""
        return [self._event(row) for row in out.events[i].tolist()]

    def _event(self, row: Sequence[int]) -> dict[str, Any] | None:
        verb = Verb(row[EventColumn.CODE])
        if verb == Verb.WAIT or row[EventColumn.REASON]:
            return None
        item, place = row[EventColumn.ITEM], self.level.places[row[EventColumn.PLACE]].name
        word = "" if item == NOTHING else self.level.items[item]
        argument = {Verb.GOTO: place, Verb.KILL: place, Verb.MINE: place, Verb.TAKE: ""}.get(verb, word)
        return {
            "event": verb.name,
            "item": word or None,
            "count": row[EventColumn.COUNT],
            "place": place,
            "label": f"{VERBS[verb]}({argument})",
        }

    def describe(self, state: State, i: int, seat: int) -> str:
        """Return orders, then in the paper's order blocks and mobs near each agent, bags, furnaces and chest."""
        scene = self.scene(state, i)
        orders = [f"  {order['name']}, {plural(order['remaining'], 'step')} left" for order in scene["orders"]]
        lines = [f"Step {scene['timestep']} of {scene['limit']}.", "Orders:", *(orders or ["  none"])]
        for name, agent in zip(self.display_names, scene["agents"], strict=True):
            for role, heading in ((("chest", "furnace", "block"), "blocks"), (("mob",), "mobs")):
                near = sorted(
                    (round(dist(agent["at"], place.at), 1), place.name)
                    for place in self.level.places
                    if place.role in role and place.name not in scene["gone"]
                )
                lines.append(f"{name}, {heading} by distance: " + ", ".join(f"{where} {far:g}" for far, where in near))
        for name, agent in zip(self.display_names, scene["agents"], strict=True):
            lines.append(f"{name} has {content_text(agent['bag'])}")
        for name, furnace in scene["furnaces"].items():
            slots = ", ".join(f"{slot} {slot_text(furnace[slot])}" for slot in ("fuel", "input", "output"))
            lines.append(f"{name}: {slots}")
        lines.append(f"chest: {content_text(stock(scene))}")
        lines.append(f"Orders served: {scene['completed']}, failed: {scene['expired']}.")
        return "\n".join(lines)

    def manual(self, state: Any = None, i: int = 0, seat: int = 0) -> str:
        return self.rules_text(WRITTEN)

    def rules_text(self, words: Mapping[str, str]) -> str:
        """Return the rules with actions in some words, ``WRITTEN`` or ``CHOSEN``."""
        level, config = self.level, self.compiled.config
        recipes = "; ".join(f"{dish} from {raw}" for dish, raw in level.dishes.items())
        sources = "; ".join(
            f"{words['mob' if place.role == 'mob' else 'block'].format(place.kind)} gives {place.gives}"
            for place in {place.kind: place for place in level.places if place.gives}.values()
        )
        reach = (
            "You can use anything that is at most 6 cells away."
            if config.reach == "told"
            else "You can kill mobs that are less than 6 cells away, put items into a chest up to 8 cells away and use "
            "everything else up to 6 cells away; {taking_out} takes you to the furnace.".format(**words)
        )
        interval = "step" if config.interval == 1 else f"{config.interval} steps"
        walk = f"{plural(config.walk, 'cell')} towards a place" if config.walk else "to a place, at any distance"
        rules = [
            f"A dish is ordered every {interval}, and an order fails {plural(config.lifetime or 0, 'step')} after it "
            "arrived. An order is served as soon as the chest holds its dish; dishes without an order stay in the "
            f"chest and serve later orders.{words['together'] if self.n_agents > 1 else ''}",
            f"{words['walking']} takes you {walk}. If there are several places of a kind, it takes you to the nearest "
            "one, unless you name one by its number.",
            f"{reach} You carry as much as you like.",
            f"{words['sources']}{sources}. Mobs and blocks reappear after {plural(config.respawn, 'step')}.",
            f"{words['filling']} into the furnace; fuel is {' or '.join(level.fuel)}. At the end of a step a furnace "
            f"with both cooks: one item in {plural(config.cook_steps, 'step')}; one fuel cooks "
            f"{plural(config.items_per_fuel, 'item')}. A slot holds only one kind of item.",
            f"Recipes: {recipes}.",
            words["rest"],
            *([TIES] if self.n_agents > 1 else []),
        ]
        return "\n".join(rules)
