"""Texts for language agents and people: actions, menus, the manual, and the observation; all texts are ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any, ClassVar

import numpy as np

from collab_overcooked.envs.api import ActionError
from collab_overcooked.envs.compiled import CompiledGame
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.text import in_drawn_order, plural

from ..engine.compile import Compiled
from ..engine.constants import STAY, Clock, Event, EventColumn, Generator, Goal, Player, Reason
from ..engine.spec import RoomLayout
from ..engine.state import Out, State

STAYS = {Goal.CAPTURE: "stay", Goal.ESCAPE: "wait"}
MENU = "You can:"
LABELLED = re.compile(r"([A-Za-z]{1,2}|\d{1,3})[.):]?(\s+(?P<rest>\S.*))?")


ENDS = {  # by what is true of an event
    Goal.CAPTURE: {"caught": "The thief is caught."},
    Goal.ESCAPE: {
        "completed": "The generator is repaired.",
        "caught": "The killer came into the same room and catches the player.",
        "escaped": "The way out is reached.",
    },
}

CAPTURE = """\
Capture: manual

Goal
{players} catch a thief in as few turns as possible. The thief is caught when a player is in its room{exchange}.

Rooms
{rooms}
{doors}
Turns
In each turn, all players choose at the same time: stay, go to a neighbouring room, or press the button in their room.
Then the thief moves. {adversary}
Doors that open or close in a turn take effect in the next turn: a player who goes through a door that closes in the
same turn still arrives. If two players press the same button in the same turn, nothing changes. After {horizon} turns
the thief has escaped.
"""

ESCAPE = """\
Escape: manual

Goal
{players} repair all generators, which opens the gate; then one of them must reach {exits}. {loss}

Rooms
{rooms}
{doors}
Generators
{generators}

Turns
In each turn, all players choose at the same time: wait, go to a neighbouring room, or work on the generator in their
room. Then the killer moves. {adversary}
You win if, at the end of a turn, the gate is open and a player who was not caught is at the exit. After {horizon} turns
the game is over.
"""

SIGHT = "You see your own room and the rooms behind its open passages; of all other rooms you know what you saw last.\n"

THIEVES = {
    "coded": "It knows which rooms the players are going to and treats differences of room numbers as distances: for"
    " each room that it can reach through an open passage, it computes the smallest difference between the number of"
    " that room and the numbers of the players' rooms, and it goes to the room where this difference is largest. If"
    " several rooms are equally good, it takes the one that is listed first. It never stays unless it is shut in.",
    "distance": "It knows which rooms the players are going to: for each room that it can reach through an open"
    " passage, it counts the moves from the nearest player's room, with doors as they were at the start of the turn,"
    " and it goes to the room where this number is largest; a room that no player can reach is the farthest. If several"
    " rooms are equally good, it takes the one that is listed first. It never stays unless it is shut in.",
    "closest": "It knows where the players were before this turn's moves, not where they go: for each room that it can"
    " reach through an open passage, it counts the moves from the nearest player's room, with players and doors as they"
    " were at the start of the turn, and it goes to the room where this number is largest, the one that is listed first"
    " if several are equally good; a room that no player can reach is the farthest. If none of these rooms is farther"
    " away than its own, it stays.",
}
KILLERS = {
    "coded": "Before you choose, it looks into the neighbouring rooms. A player that it did not see in the turn before"
    " becomes its target, the one with the lower number if there are two. Otherwise it keeps its target while it sees"
    " it; if it has lost its target, it chases the first other player that it sees. It goes to the room where its"
    " target is now, so a target that leaves gets away. If it sees no player, it has no target and goes to a random"
    " neighbouring room.",
    "closest": "It chases the player who was closest to it before this turn's moves, the one with the lower number if"
    " two were equally close: it goes one room towards the room in which that player was at the start of the turn,"
    " through the room that is listed first if two ways are equally short.",
}


def labels(style: str, count: int) -> list[str]:
    """Return the labels of the lines of a menu."""
    if style == "lettered":
        return [f"{letter(k)}. " for k in range(count)]
    return [f"{k}. " for k in range(1, count + 1)] if style == "numbered" else ["- "] * count


def letter(k: int) -> str:
    """Return A to Z, then AA, AB and so on."""
    return (ascii_uppercase[k // 26 - 1] if k >= 26 else "") + ascii_uppercase[k % 26]


class RoomText(CompiledGame):
    """Texts of a game of rooms."""

    compiled: Compiled
    goal: ClassVar[Goal]
    level: RoomLayout

    def action_texts(self, state: Any = None, i: int = 0, seat: int = 0) -> list[str]:
        level, use = self.level, "use what is in the room"
        if not level.generators:
            use = "press the button"
        elif not level.doors:
            use = "fix the generator"
        return [STAYS[self.goal], *(f"go to {level.title(room)}" for room in range(len(level.rooms))), use]

    def menu(self, state: State | None, i: int, seat: int) -> list[int]:
        """Return the valid actions of a seat in the order of the original's lists; without a state, at the start."""
        if state is None:
            state, out = self.alloc(1)
            self.reset(state, out, np.ones(1, np.bool_))
        moves = [1 + other for other in self.level.neighbours[state.players[i, seat, Player.ROOM]]]
        use = self.n_actions - 1
        order = [STAY, *moves, use] if self.goal == Goal.CAPTURE else [*moves, use, STAY]
        return [action for action in order if self.why_refused(state, i, seat, action) == Reason.OK]

    def parse(self, message: str, state: State | None = None, i: int = 0, seat: int = 0) -> int:
        """Parse an action: its text, or its letter or number in the current menu, with or without the text after it.

        Raises:
            ActionError: The text names no action, or a label outside the menu.
        """
        listed = self.menu(state, i, seat) if state is None else self._listed(state, i, seat)[1]
        texts = self.action_texts()
        entry = message.strip().rstrip(".")
        style = self.compiled.config.menu
        lowered = [option.lower() for option in texts]
        lower = entry.lower().removeprefix("- ")
        if lower in lowered:
            return lowered.index(lower)
        match = LABELLED.fullmatch(entry)
        if match and style != "plain":
            label = match[1].upper()
            known = [mark.rstrip(". ") for mark in labels(style, len(listed))]
            if label in known:
                rest, named = match["rest"], texts[listed[known.index(label)]]
                if rest is None or rest.strip().lower() == named.lower():
                    return listed[known.index(label)]
                raise ActionError("F_LABEL", f"{label} currently stands for {named!r}, not for {rest!r}")
            if match["rest"] is None:
                raise ActionError("F_LABEL", f"{label!r} is not in the menu; valid labels: {', '.join(known)}")
        raise ActionError("F_NO_ACTION", near_matches("action", message.strip()[:80], texts))

    def _listed(self, state: State, i: int, seat: int) -> tuple[str, list[int]]:
        scene, listed = self.seat_scene(self.scene(state, i), seat), self.menu(state, i, seat)
        config = self.compiled.config
        if config.menu == "plain" and self.is_useless(state, i, seat):  # labels are those of the paper
            listed = [action for action in listed if action != self.n_actions - 1]
        before = self.surroundings(scene, seat)
        is_drawn = config.order == "shuffled" and config.menu != "plain"
        return before, in_drawn_order(listed, before) if is_drawn else listed

    def is_useless(self, state: State, i: int, seat: int) -> bool:
        """Return whether a seat's use of its room would change nothing: its generator is repaired, without a button."""
        room = int(state.players[i, seat, Player.ROOM])
        if self.level.has_button(room):
            return False
        here = state.generators[i, state.generators[i, :, Generator.ROOM] == room, Generator.PROGRESS]
        return bool(len(here) and (here >= self.compiled.config.fixes).all())

    def _explain(self, state: State, i: int, seat: int, action: int, reason: int) -> str:
        return Reason(reason).sentence.format(room=self.level.title(state.players[i, seat, Player.ROOM]))

    def clock(self, state: State, i: int, timestep: int) -> str:
        return f"turn {timestep + 1}"

    def names(self) -> list[str]:
        return [*self.things, *(name for name in self.level.rooms if not name.isdecimal())]

    def manual(self, state: State | None = None, i: int = 0, seat: int = 0) -> str:
        turns = self.max_cycles if state is None else int(state.clock[i, Clock.LIMIT])
        config, n = self.compiled.config, self.n_agents
        players = f"{n} players" if n > 1 else "One player"
        common = {"players": players, "rooms": self._rooms(), "doors": self._doors(), "horizon": turns}
        if self.goal == Goal.CAPTURE:
            exchange = {
                "never": "",
                "later": ", or when the two exchange rooms in any turn except the first",
                "always": ", or when the two exchange rooms",
            }
            rule, thief = exchange[config.catch_on_exchange], THIEVES[config.adversary]
            rules = CAPTURE.format(**common, exchange=rule, adversary=thief)
        else:
            loss = {
                "any": "If the killer is in the room of any player at the end of a turn, all players lose.",
                "all": "A player who is in the killer's room at the end of a turn is caught and out of the game; when"
                " all players are caught, you lose.",
            }[config.loss]
            rules = ESCAPE.format(
                **common,
                exits=self._exits(),
                loss=loss,
                generators=self._generators(),
                adversary=KILLERS[config.adversary],
            )
        if config.sight == "room":
            rules += "\n" + SIGHT
        return rules

    def objective(self, turns: int) -> str:
        """Describe the goal and its limit of turns, with the role of doors or generators."""
        if self.goal == Goal.CAPTURE:
            doors = self._doors().replace("\n", " ")
            return f"Be in the room of the thief within {turns} turns. {doors}".rstrip()
        exits, count = self._exits(), len(self.compiled.tables.generators)
        repair = f"Repair {plural(count, 'generator')}, which opens the gate, and reach {exits}"
        return f"{repair} within {turns} turns. {self._generators()}"

    def _rooms(self) -> str:
        level = self.level
        lines = []
        for room, near in enumerate(level.neighbours):
            ways = ", ".join(level.rooms[other] for other in near) or "nowhere"
            title = level.title(room)
            lines.append(f"{title[0].upper()}{title[1:]} leads to {ways}.")
        for room, other in level.one_way:
            lines.append(f"One way only: from {level.title(room)} to {level.title(other)}.")
        return "\n".join(lines)

    def _doors(self) -> str:
        title = self.level.title
        return "".join(
            f"There is a door between {' and '.join(map(title, door.rooms))}; the button in {title(door.button)} opens"
            " and closes it.\n"
            for door in self.level.doors
        )

    def _generators(self) -> str:
        config = self.compiled.config
        needed = f"A generator is repaired after {config.fixes} fix{'es' * (config.fixes != 1)}"
        if config.fix_by == "room":
            return (
                f"{needed}, one per turn for each player who works on it. If no player works on it in a turn, its fixes"
                " are lost, unless it is already repaired."
            )
        return f"{needed} by the same player in consecutive turns; if the player stops, its fixes are lost."

    def _exits(self) -> str:
        return " or ".join(map(self.level.title, self.level.exits))

    def describe(self, state: State, i: int, seat: int) -> str:
        before, listed = self._listed(state, i, seat)
        texts, marks = self.action_texts(), labels(self.compiled.config.menu, len(listed))
        lines = (f"{mark}{texts[action]}" for mark, action in zip(marks, listed, strict=True))
        return "\n".join([before, MENU, *lines])

    def surroundings(self, scene: Mapping[str, Any], seat: int) -> str:
        """Return a player's scene as text, without its menu."""
        names = self.display_names
        lines = [f"You are {names[seat]}. Turn {scene['turn'] + 1} of {scene['limit']}."]
        for other in (seat, *(k for k in range(len(names)) if k != seat)):
            lines.append(self._player_line(scene, other, "You are" if other == seat else f"{names[other]} is"))
        lines.append(self._adversary_line(scene, seat, names))
        for door, name in zip(self.level.doors, self.level.door_names, strict=True):
            rooms = " and ".join(map(self.level.title, door.rooms))
            lines.append(f"The door between {rooms} is {'open' if scene['doors'][name] else 'closed'}.")
        if scene["generators"]:
            lines += [self._generator_line(generator, seat, names) for generator in scene["generators"]]
            lines.append(f"The gate is {'open' if scene['gate'] else 'closed'}.")
        return "\n".join(lines)

    def _player_line(self, scene: Mapping[str, Any], other: int, start: str) -> str:
        player = scene["players"][other]
        if not player["active"]:
            return f"{start} out of the game."
        room = self.level.title(player["room"])
        if player.get("seen_ago"):
            return f"{start} out of sight; last seen {plural(player['seen_ago'], 'turn')} ago in {room}."
        return f"{start} in {room}{' and worked on a generator in the last turn' * player['fixing']}."

    def _adversary_line(self, scene: Mapping[str, Any], seat: int, names: Sequence[str]) -> str:
        adversary, name = scene["adversary"], self.level.adversary_name
        room = self.level.title(adversary["room"])
        if adversary.get("seen_ago"):
            return f"The {name} is out of sight; last seen {plural(adversary['seen_ago'], 'turn')} ago in {room}."
        line = f"The {name} is in {room}."
        if "seen_ago" in adversary or self.goal == Goal.CAPTURE or self.compiled.config.adversary != "coded":
            return line
        target = adversary["target"]
        if target is None:
            return f"{line} It has no target; it will go to a random neighbouring room."
        whom = "you" if target == seat else names[target]
        return f"{line} It is chasing {whom} and will go to {self.level.title(scene['players'][target]['room'])}."

    def _generator_line(self, generator: Mapping[str, Any], seat: int, names: Sequence[str]) -> str:
        left = max(0, generator["needed"] - generator["progress"])
        line = f"The generator in {self.level.title(generator['room'])}"
        if not left:
            return f"{line} is repaired."
        by = ""
        if generator["fixer"] is not None:
            by = f" by {'you' if generator['fixer'] == seat else names[generator['fixer']]}"
        return f"{line} needs {left} more fix{'es' * (left != 1)}{by}."

    def events(self, out: Out, i: int) -> list[dict[str, Any] | None]:
        """Return the event of each player in the last turn.

        Returns:
            Mappings with ``event`` (name of the Event), ``reason`` (name of the Reason, ``"OK"`` if accepted), ``room``
            and ``adversary`` (rooms after the turn), ``subject`` (door or room of the generator that it used, None),
            whether it ``caught`` the thief or was caught, ``completed`` a generator or ``escaped``, and a short
            ``label``.
        """
        return [self._event(event) for event in out.events[i].tolist()]

    def _event(self, event: Sequence[int]) -> dict[str, Any]:
        level = self.level
        code, reason = Event(event[EventColumn.CODE]), Reason(event[EventColumn.REASON])
        room, subject = level.rooms[event[EventColumn.ROOM]], None
        if code == Event.PRESSED:
            subject = level.door_names[event[EventColumn.SUBJECT]]
        label = {
            Event.STAYED: "stayed",
            Event.MOVED: f"went to {level.title(event[EventColumn.ROOM])}",
            Event.PRESSED: f"pressed the button of door {subject}",
            Event.FIXED: f"worked on the generator in {level.title(event[EventColumn.ROOM])}",
        }[code]
        return {
            "event": code.name.lower(),
            "reason": reason.name,
            "room": room,
            "adversary": level.rooms[event[EventColumn.ADVERSARY]],
            "subject": subject,
            "caught": bool(event[EventColumn.CAUGHT]),
            "completed": bool(event[EventColumn.COMPLETED]),
            "escaped": bool(event[EventColumn.ESCAPED]),
            "label": label,
        }

    def explain(self) -> str:
        """Return a layout as text: rooms and passages, doors and buttons, and initial positions."""
        level = self.level
        lines = [f"{level.name}: {level.description}", self._rooms(), self._doors().rstrip()]
        starts = ", ".join(level.title(int(room)) for room in self.compiled.tables.starts)
        lines.append(f"Players start in {starts}; the {level.adversary_name} in {level.title(level.adversary)}.")
        if level.generators:
            rooms = ", ".join(map(level.title, level.generators))
            lines.append(f"Generators: {rooms}. Exits: {', '.join(map(level.title, level.exits))}.")
        return "\n".join(line for line in lines if line)
