"""Words for language agents and people: actions, menus, the rules, and the moment as text, all of them our own."""

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
    Reason.NO_PASSAGE: "No passage leads there from {room}.",
    Reason.DOOR_CLOSED: "The door on the way there is closed.",
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
All players choose at the same time, by where everybody is now: stay, go to the next room, or press the button in their
room. Then the thief goes on. {adversary}
Doors that open or close in a turn count from the next turn on: who has started through a door arrives. A button that
two players press in the same turn changes nothing. After {horizon} turns the thief has got away.
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
All players choose at the same time, by where everybody is now: wait, go to the next room, or work on the generator in
their room. Then the killer goes on. {adversary}
You win when the gate is open at the end of a turn and somebody who was not caught is at the exit. After {horizon}
turns the game is over.
"""

SIGHT = "You see your own room and those that open passages lead to; of the rest you are told what you saw last.\n"

THIEVES = {
    "coded": "It knows which rooms the players are going to and takes room numbers for distances: for each room that an"
    " open way leads to, it takes the smallest difference between the number of this room and those of the players'"
    " rooms, and it goes where this difference is largest. Of several equally good rooms it takes the one that is"
    " listed first. It never stays unless it is shut in.",
    "distance": "It knows which rooms the players are going to: for each room that an open way leads to, it counts the"
    " moves to it from the nearest of the players' rooms, with doors as they were at the start of the turn, and it goes"
    " where these are most; a room that no player can reach is the farthest. Of several equally good rooms it takes the"
    " one that is listed first. It never stays unless it is shut in.",
    "closest": "It goes to the room that is farthest from where the closest player is now, the one that is listed first"
    " if several are equally far; if no way leads farther away, it stays.",
    "worst": "It knows where the players are going and does what costs them most turns.",
}
KILLERS = {
    "coded": "Before you choose, it looks into the rooms that its own leads to. A player whom it did not see a turn"
    " before becomes its target, the one with the lower number if there are two. Otherwise it keeps its target while it"
    " sees it, and takes the other player whom it sees when it has lost its target. It goes to the room where its"
    " target is now, so a target that leaves gets away. If it sees nobody, it has no target and goes to a next room at"
    " random.",
    "closest": "It knows where you are and goes one room nearer to where the closest of you is now: to the player with"
    " the lower number if two are equally close, and through the room that is listed first if two ways are equally"
    " short.",
    "worst": "It knows where you are going and does what costs you most.",
}


# ------------------------------------------------------------------------------------------- actions


def action_texts(compiled: Compiled) -> list[str]:
    """Return the text of every action, by id; the same for all players at all times."""
    level, use = compiled.level, "use what is in the room"
    if not level.generators:
        use = "press the button"
    elif not level.doors:
        use = "fix the generator"
    return [STAYS[compiled.goal], *(f"go to {level.title(room)}" for room in range(compiled.n_rooms)), use]


def menu(compiled: Compiled, mask: Sequence[int], room: int) -> list[int]:
    """Return the possible actions in the order of the original's lists, which follow those of neighbours.

    Args:
        compiled: The game.
        mask: Of the player's actions.
        room: Where it is.
    """
    moves = [1 + other for other in compiled.level.neighbours[room]]
    use = compiled.n_rooms + 1
    order = [STAY, *moves, use] if compiled.goal == Goal.CAPTURE else [*moves, use, STAY]
    return [action for action in order if mask[action]]


def labels(style: str, count: int) -> list[str]:
    """Return what stands before the lines of a menu."""
    if style == "lettered":
        return [f"{letter(k)}. " for k in range(count)]
    return [f"{k}. " for k in range(1, count + 1)] if style == "numbered" else ["- "] * count


def letter(k: int) -> str:
    """Return A to Z, then AA, AB and so on."""
    return (ascii_uppercase[k // 26 - 1] if k >= 26 else "") + ascii_uppercase[k % 26]


def parse_action(compiled: Compiled, words: str, listed: Sequence[int]) -> int:
    """Read an action: its text, or its letter or number in the present menu, with the text behind it or without.

    Args:
        compiled: The game.
        words: What was written.
        listed: Actions in the order of the menu.

    Raises:
        ActionError: With a reason code and a helpful message.
    """
    texts, wanted, style = action_texts(compiled), words.strip().rstrip("."), compiled.config.menu
    lower = wanted.lower().removeprefix("- ")
    if lower in (text.lower() for text in texts):
        return [text.lower() for text in texts].index(lower)
    found = LABELLED.fullmatch(wanted)
    if found and style != "plain":
        label, known = found[1].upper(), [each.rstrip(". ") for each in labels(style, len(listed))]
        if label in known:
            rest, named = found["rest"], texts[listed[known.index(label)]]
            if rest is None or rest.strip().lower() == named.lower():
                return listed[known.index(label)]
            raise ActionError("F_LABEL", f"{label} stands for {named!r} now, not for {rest!r}")
        if found["rest"] is None:
            raise ActionError("F_LABEL", f"{label!r} is not in the menu; it has {', '.join(known)}")
    raise ActionError("F_NO_ACTION", near_matches("action", words.strip()[:80], texts))


def refusal(compiled: Compiled, room: int, reason: int) -> str:
    """Say why an action is refused."""
    return REASONS[Reason(reason)].format(room=compiled.level.title(room))


# ------------------------------------------------------------------------------------------- the rules


def manual(compiled: Compiled) -> str:
    """Return the rules in words."""
    level, config, n = compiled.level, compiled.config, compiled.n_players
    players = f"{n} players" if n > 1 else "One player"
    common = {"players": players, "rooms": _rooms(compiled), "doors": _doors(compiled), "horizon": config.horizon}
    if compiled.goal == Goal.CAPTURE:
        words = {
            "never": "",
            "later": ", or when the two exchange rooms in any turn but the first",
            "always": ", or when the two exchange rooms",
        }
        said = CAPTURE.format(**common, exchange=words[config.catch_on_exchange], adversary=THIEVES[config.adversary])
    else:
        exits = _either([level.title(room) for room in level.exits])
        loss = {
            "any": "If the killer is in the room of any player after a turn, all have lost.",
            "all": "Whoever shares a room with the killer after a turn is caught and out; when all are, you have lost.",
        }[config.loss]
        said = ESCAPE.format(
            **common, exits=exits, loss=loss, generators=_generators(compiled), adversary=KILLERS[config.adversary]
        )
    if config.sight == "room":
        said += "\n" + SIGHT
    return said


def _rooms(compiled: Compiled) -> str:
    level = compiled.level
    lines = []
    for room, near in enumerate(level.neighbours):
        ways = ", ".join(level.rooms[other] for other in near) or "nowhere"
        title = level.title(room)
        lines.append(f"{title[0].upper()}{title[1:]} leads to {ways}.")
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
    needed = f"A generator is repaired after {config.fixes} fixes"
    if config.fix_by == "room":
        return (
            f"{needed}, one a turn for each player who works on it. If nobody works on it in a turn, its fixes are"
            " lost, unless it is repaired already."
        )
    return f"{needed} by the same player in turns one after the other; if the player stops, its fixes are lost."


def _either(words: Sequence[str]) -> str:
    return " or ".join(words)


# ------------------------------------------------------------------------------------------- the moment


def describe(
    compiled: Compiled, scene: Mapping[str, Any], seat: int, names: Sequence[str], listed: Sequence[int]
) -> str:
    """Return what a player sees, in words, with its menu.

    Args:
        compiled: The game.
        scene: What the player knows, see ``state.decode`` and ``seen``.
        seat: Whose it is.
        names: Of all players.
        listed: Its possible actions in the order of the menu.
    """
    lines = [f"You are {names[seat]}. Turn {scene['turn'] + 1} of {scene['limit']}."]
    for other in (seat, *(k for k in range(len(names)) if k != seat)):
        lines.append(_player_line(compiled, scene, other, "You are" if other == seat else f"{names[other]} is"))
    lines.append(_adversary_line(compiled, scene, seat, names))
    lines += [_door_line(compiled, d, scene["doors"][name]) for d, name in enumerate(compiled.level.door_names)]
    if scene["generators"]:
        lines += [_generator_line(compiled, generator, seat, names) for generator in scene["generators"]]
        lines.append(f"The gate is {'open' if scene['gate'] else 'closed'}.")
    texts = action_texts(compiled)
    marks = labels(compiled.config.menu, len(listed))
    lines += [MENU, *(f"{mark}{texts[action]}" for mark, action in zip(marks, listed, strict=True))]
    return "\n".join(lines)


def room_title(compiled: Compiled, name: str) -> str:
    """Return what texts call a room of a scene."""
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
        return f"{line} It goes for nobody; where it will go is open."
    whom = "you" if target == seat else names[target]
    return f"{line} It goes for {whom}, to {room_title(compiled, scene['players'][target]['room'])}."


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
    """Return a map in words: rooms and ways, doors and buttons, what is where at the start."""
    level = compiled.level
    lines = [f"{level.name}: {level.description}", _rooms(compiled), _doors(compiled).rstrip()]
    starts = ", ".join(level.title(int(room)) for room in compiled.tables.starts)
    lines.append(f"Players start in {starts}; the {ADVERSARIES[compiled.goal]} in {level.title(level.adversary)}.")
    if level.generators:
        rooms = ", ".join(map(level.title, level.generators))
        lines.append(f"Generators: {rooms}. Exits: {', '.join(map(level.title, level.exits))}.")
    for room, other in level.one_way:
        lines.append(f"One way only: from {level.title(room)} to {level.title(other)}.")
    return "\n".join(line for line in lines if line)
