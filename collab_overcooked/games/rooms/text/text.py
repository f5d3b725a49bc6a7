"""Texts for language agents and people: actions, menus, the manual, and the observation; all texts are ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from collab_overcooked.envs.api import ActionError
from collab_overcooked.games.rooms.engine.compile import Compiled
from collab_overcooked.games.rooms.engine.constants import STAY, Goal, Reason
from collab_overcooked.io.checks import near_matches

STAYS = {Goal.CAPTURE: "stay", Goal.ESCAPE: "wait"}
ADVERSARIES = {Goal.CAPTURE: "thief", Goal.ESCAPE: "killer"}
MENU = "You can:"
LABELLED = re.compile(r"([A-Za-z]{1,2}|\d{1,3})[.):]?(\s+(?P<rest>\S.*))?")

REASONS = {
    Reason.OK: "Accepted.",
    Reason.NO_PASSAGE: "There is no passage to that room from {room}.",
    Reason.DOOR_CLOSED: "The door to that room is closed.",
    Reason.NOTHING_TO_USE: "There is nothing to use in {room}.",
    Reason.OUT_OF_GAME: "You were caught and are out of the game; you can only wait.",
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
    "closest": "It goes to the neighbouring room that is farthest from the current room of the closest player, the one"
    " that is listed first if several are equally far; if no passage leads farther away, it stays.",
    "worst": "It knows where the players are going and moves so that catching it takes them as many turns as possible.",
}
KILLERS = {
    "coded": "Before you choose, it looks into the neighbouring rooms. A player that it did not see in the turn before"
    " becomes its target, the one with the lower number if there are two. Otherwise it keeps its target while it sees"
    " it; if it has lost its target, it chases the first other player that it sees. It goes to the room where its"
    " target is now, so a target that leaves gets away. If it sees no player, it has no target and goes to a random"
    " neighbouring room.",
    "closest": "It knows where you are and goes one room towards the current room of the closest player: the player"
    " with the lower number if two are equally close, and through the room that is listed first if two ways are equally"
    " short.",
    "worst": "It knows where you are going and makes the move that is worst for you.",
}


def action_texts(compiled: Compiled) -> list[str]:
    """Return the text of every action, by id; the same for all players and states."""
    level, use = compiled.level, "use what is in the room"
    if not level.generators:
        use = "press the button"
    elif not level.doors:
        use = "fix the generator"
    return [STAYS[compiled.goal], *(f"go to {level.title(room)}" for room in range(compiled.n_rooms)), use]


def menu(compiled: Compiled, mask: Sequence[int], room: int) -> list[int]:
    """Return the valid actions in the order of the original's lists, which follow the order of neighbours.

    Args:
        compiled: The game.
        mask: Action mask of the player.
        room: Room of the player.
    """
    moves = [1 + other for other in compiled.level.neighbours[room]]
    use = compiled.n_rooms + 1
    order = [STAY, *moves, use] if compiled.goal == Goal.CAPTURE else [*moves, use, STAY]
    return [action for action in order if mask[action]]


def labels(style: str, count: int) -> list[str]:
    """Return the labels of the lines of a menu."""
    if style == "lettered":
        return [f"{letter(k)}. " for k in range(count)]
    return [f"{k}. " for k in range(1, count + 1)] if style == "numbered" else ["- "] * count


def letter(k: int) -> str:
    """Return A to Z, then AA, AB and so on."""
    return (ascii_uppercase[k // 26 - 1] if k >= 26 else "") + ascii_uppercase[k % 26]


def parse_action(compiled: Compiled, message: str, listed: Sequence[int]) -> int:
    """Parse an action: its text, or its letter or number in the current menu, with or without the text after it.

    Args:
        compiled: The game.
        message: Text of the action.
        listed: Actions in the order of the menu.
    """
    texts, entry, style = action_texts(compiled), message.strip().rstrip("."), compiled.config.menu
    lowered = [option.lower() for option in texts]
    lower = entry.lower().removeprefix("- ")
    if lower in lowered:
        return lowered.index(lower)
    match = LABELLED.fullmatch(entry)
    if match and style != "plain":
        label, known = match[1].upper(), [mark.rstrip(". ") for mark in labels(style, len(listed))]
        if label in known:
            rest, named = match["rest"], texts[listed[known.index(label)]]
            if rest is None or rest.strip().lower() == named.lower():
                return listed[known.index(label)]
            raise ActionError("F_LABEL", f"{label} currently stands for {named!r}, not for {rest!r}")
        if match["rest"] is None:
            raise ActionError("F_LABEL", f"{label!r} is not in the menu; valid labels: {', '.join(known)}")
    raise ActionError("F_NO_ACTION", near_matches("action", message.strip()[:80], texts))


def refusal(compiled: Compiled, room: int, reason: int) -> str:
    """Return the message of a refused action."""
    return REASONS[Reason(reason)].format(room=compiled.level.title(room))


def manual(compiled: Compiled, turns: int) -> str:
    """Return the rules as text, for an episode of so many turns."""
    config, n = compiled.config, compiled.n_players
    players = f"{n} players" if n > 1 else "One player"
    common = {"players": players, "rooms": _rooms(compiled), "doors": _doors(compiled), "horizon": turns}
    if compiled.goal == Goal.CAPTURE:
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
            "all": "A player who is in the killer's room at the end of a turn is caught and out of the game; when all"
            " players are caught, you lose.",
        }[config.loss]
        rules = ESCAPE.format(
            **common,
            exits=_exits(compiled),
            loss=loss,
            generators=_generators(compiled),
            adversary=KILLERS[config.adversary],
        )
    if config.sight == "room":
        rules += "\n" + SIGHT
    return rules


def aim(compiled: Compiled, turns: int) -> str:
    """Return what players are to achieve in so many turns, and how doors or generators take part in it."""
    if compiled.goal == Goal.CAPTURE:
        doors = _doors(compiled).replace("\n", " ")
        return f"Be in the room of the thief within {turns} turns. {doors}".rstrip()
    exits, count = _exits(compiled), len(compiled.tables.generators)
    repair = f"Repair {count} generator{'s' * (count != 1)}, which opens the gate, and reach {exits}"
    return f"{repair} within {turns} turns. {_generators(compiled)}"


def _rooms(compiled: Compiled) -> str:
    level = compiled.level
    lines = []
    for room, near in enumerate(level.neighbours):
        ways = ", ".join(level.rooms[other] for other in near) or "nowhere"
        title = level.title(room)
        lines.append(f"{title[0].upper()}{title[1:]} leads to {ways}.")
    for room, other in level.one_way:
        lines.append(f"One way only: from {level.title(room)} to {level.title(other)}.")
    return "\n".join(lines)


def _doors(compiled: Compiled) -> str:
    level = compiled.level
    return "".join(
        f"There is a door between {level.title(door.rooms[0])} and {level.title(door.rooms[1])}; the button in"
        f" {level.title(door.button)} opens and closes it.\n"
        for door in level.doors
    )


def _generators(compiled: Compiled) -> str:
    config = compiled.config
    needed = f"A generator is repaired after {config.fixes} fix{'es' * (config.fixes != 1)}"
    if config.fix_by == "room":
        return (
            f"{needed}, one per turn for each player who works on it. If no player works on it in a turn, its fixes are"
            " lost, unless it is already repaired."
        )
    return f"{needed} by the same player in consecutive turns; if the player stops, its fixes are lost."


def _exits(compiled: Compiled) -> str:
    return " or ".join(compiled.level.title(room) for room in compiled.level.exits)


def menu_text(compiled: Compiled, listed: Sequence[int]) -> str:
    """Return a menu as text, with its labels."""
    texts, marks = action_texts(compiled), labels(compiled.config.menu, len(listed))
    return "\n".join([MENU, *(f"{mark}{texts[action]}" for mark, action in zip(marks, listed, strict=True))])


def describe(compiled: Compiled, scene: Mapping[str, Any], seat: int, names: Sequence[str]) -> str:
    """Return a player's observation as text, without its menu.

    Args:
        compiled: The game.
        scene: The player's knowledge, see ``state.decode`` and ``seen``.
        seat: Seat of the player.
        names: Names of all players.
    """
    lines = [f"You are {names[seat]}. Turn {scene['turn'] + 1} of {scene['limit']}."]
    for other in (seat, *(k for k in range(len(names)) if k != seat)):
        lines.append(_player_line(compiled, scene, other, "You are" if other == seat else f"{names[other]} is"))
    lines.append(_adversary_line(compiled, scene, seat, names))
    lines += [_door_line(compiled, d, scene["doors"][name]) for d, name in enumerate(compiled.level.door_names)]
    if scene["generators"]:
        lines += [_generator_line(compiled, generator, seat, names) for generator in scene["generators"]]
        lines.append(f"The gate is {'open' if scene['gate'] else 'closed'}.")
    return "\n".join(lines)


def room_title(compiled: Compiled, name: str) -> str:
    """Return the name in texts of a room of a scene."""
    return compiled.level.title(compiled.level.rooms.index(name))


def _player_line(compiled: Compiled, scene: Mapping[str, Any], other: int, start: str) -> str:
    player = scene["players"][other]
    if not player["active"]:
        return f"{start} out of the game."
    where = f"{start} in {room_title(compiled, player['room'])}"
    if player.get("seen_ago"):
        return f"{start} out of sight; {_ago(player['seen_ago'])} in {room_title(compiled, player['room'])}."
    return where + (" and worked on a generator in the last turn." if player["fixing"] else ".")


def _ago(turns: int) -> str:
    return f"last seen {turns} turn{'s' * (turns != 1)} ago"


def _adversary_line(compiled: Compiled, scene: Mapping[str, Any], seat: int, names: Sequence[str]) -> str:
    adversary, name = scene["adversary"], ADVERSARIES[compiled.goal]
    room = room_title(compiled, adversary["room"])
    if adversary.get("seen_ago"):
        return f"The {name} is out of sight; {_ago(adversary['seen_ago'])} in {room}."
    line = f"The {name} is in {room}."
    if compiled.goal == Goal.CAPTURE or compiled.config.adversary != "coded":
        return line
    target = adversary["target"]
    if target is None:
        return f"{line} It has no target; it will go to a random neighbouring room."
    whom = "you" if target == seat else names[target]
    return f"{line} It is chasing {whom} and will go to {room_title(compiled, scene['players'][target]['room'])}."


def _door_line(compiled: Compiled, d: int, is_open: bool) -> str:
    level, door = compiled.level, compiled.level.doors[d]
    rooms = f"{level.title(door.rooms[0])} and {level.title(door.rooms[1])}"
    return f"The door between {rooms} is {'open' if is_open else 'closed'}."


def _generator_line(compiled: Compiled, generator: Mapping[str, Any], seat: int, names: Sequence[str]) -> str:
    left = max(0, generator["needed"] - generator["progress"])
    line = f"The generator in {room_title(compiled, generator['room'])}"
    if not left:
        return f"{line} is repaired."
    by = ""
    if generator["fixer"] is not None:
        by = f" by {'you' if generator['fixer'] == seat else names[generator['fixer']]}"
    return f"{line} needs {left} more fix{'es' * (left != 1)}{by}."


def explain(compiled: Compiled) -> str:
    """Return a layout as text: rooms and passages, doors and buttons, and initial positions."""
    level = compiled.level
    lines = [f"{level.name}: {level.description}", _rooms(compiled), _doors(compiled).rstrip()]
    starts = ", ".join(level.title(int(room)) for room in compiled.tables.starts)
    lines.append(f"Players start in {starts}; the {ADVERSARIES[compiled.goal]} in {level.title(level.adversary)}.")
    if level.generators:
        rooms = ", ".join(map(level.title, level.generators))
        lines.append(f"Generators: {rooms}. Exits: {', '.join(map(level.title, level.exits))}.")
    return "\n".join(line for line in lines if line)
