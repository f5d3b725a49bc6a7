"""Answers to questions from their text alone: what a careful reader with much patience would find.

It imports nothing of the package. ``answers(rules, state, question, choices)`` reads the four texts that a language
model gets, plays by the rules that are stated there, and returns the numbers of the right choices. A text that leaves a
rule or a fact open cannot be answered here either.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

Cell = tuple[int, int]
FAR = 10**6


class Unclear(Exception):
    """The text has no answer, or not one that is clearly better than the others."""


def answers(rules: str, state: str, question: str, choices: Sequence[str]) -> list[int]:
    """Return the numbers of the right choices.

    Raises:
        Unclear: If the text does not settle the question.
    """
    game = KitchenReader if "onion soup" in rules else RoomReader
    return game(rules, state).answers(question, list(choices))


def find(pattern: str, text: str) -> re.Match[str]:
    result = re.search(pattern, text, re.MULTILINE)
    if result is None:
        raise Unclear(f"{pattern!r} is nowhere in {text!r}")
    return result


def spread(starts: Sequence[Any], nexts: Callable[[Any], Iterator[Any]]) -> dict[Any, int]:
    """Return the fewest steps from some starts to all that can be reached."""
    steps, queue = dict.fromkeys(starts, 0), list(starts)
    for here in queue:
        for there in nexts(here):
            if there not in steps:
                steps[there] = steps[here] + 1
                queue.append(there)
    return steps


def nearest(mine: int, reference: int, choices: list[str], other: str) -> list[int]:
    """Return which choice says who is nearer."""
    expected = "you" if mine < reference else other if reference < mine else "neither"
    return [i for i, choice in enumerate(choices) if choice == expected or choice.startswith(f"{expected}:")]


class Map:
    """Rooms, doors and rules, as a manual states them."""

    def __init__(self, rules: str) -> None:
        self.is_capture = rules.startswith("Capture")
        lines = re.findall(r"^(?:Room )?(.+) leads to (.+)\.$", rules, re.MULTILINE)
        self.ways = {room: near.split(", ") for room, near in lines}
        door = r"^There is a door between (?:room )?(\S+) and (?:room )?(\S+); the button in (?:room )?(\S+) opens"
        doors = re.findall(door, rules, re.MULTILINE)
        self.sides = [tuple(pair) for *pair, _ in doors]  # of the doors, in the order of texts
        self.doors = [(frozenset(pair), button) for *pair, button in doors]
        if self.is_capture:
            assert ", or when the two exchange rooms." in rules
            assert "If several rooms are equally good, it takes the one that is listed first." in rules
            self.by_numbers = "treats differences of room numbers as distances" in rules
            assert self.by_numbers or "counts the moves from the nearest player's room" in rules
            return
        self.exits = [room.removeprefix("room ") for room in find(r"must reach (.+?)\. ", rules)[1].split(" or ")]
        self.needed = int(
            find(r"A generator is repaired after (\d+) fix(?:es)?, one per turn for each player", rules)[1]
        )
        self.all_must_be_caught = "when all players are caught, you lose" in rules
        assert self.all_must_be_caught or "in the room of any player at the end of a turn, all players lose" in rules
        assert "the one with the lower number if there are two" in rules

    def open_ways(self, room: str, doors: tuple[bool, ...]) -> list[str]:
        closed = [pair for (pair, _), is_open in zip(self.doors, doors, strict=True) if not is_open]
        return [near for near in self.ways[room] if frozenset((room, near)) not in closed]

    @cache  # noqa: B019 (a map lives as long as the tests)
    def distances(self, room: str, doors: tuple[bool, ...] = ()) -> dict[str, int]:
        return spread([room], lambda here: iter(self.open_ways(here, doors)))

    def actions(self, room: str, doors: tuple[bool, ...], generators: Sequence[str] = ()) -> dict[str, str]:
        """Return the texts of all that can be done in a room, and where one is afterwards."""
        title = "room " if room.isdigit() else ""
        results = {f"go to {title}{near}": near for near in self.open_ways(room, doors)}
        if any(button == room for _, button in self.doors):
            results["press the button"] = room
        if room in generators:
            results["fix the generator"] = room
        return results | {"stay" if self.is_capture else "wait": room}

    def thief_goes(self, thief: str, players: Sequence[str], doors: tuple[bool, ...]) -> str:
        """Return where the thief goes when the players are on the way to some rooms."""
        best, goes = -1, thief
        for room in self.open_ways(thief, doors):
            if self.by_numbers:
                score = min(abs(int(room) - int(player)) for player in players)
            else:
                score = min(self.distances(player, doors).get(room, FAR) for player in players)
            if score > best:
                best, goes = score, room
        return goes

    def capture(self, state: Any, joint: Sequence[str]) -> Any:
        """Return what follows on a state (rooms of both, thief, doors); None if the thief is caught."""
        *rooms, thief, doors = state
        new = [self.actions(room, doors)[text] for room, text in zip(rooms, joint, strict=True)]
        goes, later = self.thief_goes(thief, new, doors), list(doors)
        for room, text in zip(rooms, joint, strict=True):
            for d, (_, button) in enumerate(self.doors):
                later[d] ^= text == "press the button" and button == room
        exchanged = any(goes == old and thief == now for old, now in zip(rooms, new, strict=True))
        return None if goes in new or exchanged else (*new, goes, tuple(later))

    def target(self, killer: str, rooms: Sequence[str], before: Sequence[bool], old: int | None) -> int | None:
        """Return whom the killer goes for; a room of "" is that of a player who is out.

        Args:
            killer: Its room.
            rooms: Of the players.
            before: Whom it saw a turn before.
            old: Whom it went for.
        """
        sees = self.sight(killer, rooms)
        for seat in (0, 1):
            if sees[seat] and not before[seat]:
                return seat
        if old is not None and sees[old]:
            return old
        return sees.index(True) if any(sees) else None

    def sight(self, killer: str, rooms: Sequence[str]) -> list[bool]:
        return [room in self.ways[killer] for room in rooms]

    def escape(self, state: Any, joint: Sequence[str]) -> list[Any]:
        """Return all that can follow, equally likely: states (rooms, killer, target, repairs), True, or False."""
        rooms, killer, target, repairs = state[:2], state[2], state[3], dict(state[4])
        for room, fixes in repairs.items():
            if fixes < self.needed:
                workers = sum(
                    entry == room and text == "fix the generator" for entry, text in zip(rooms, joint, strict=True)
                )
                repairs[room] = min(self.needed, fixes + workers) if workers else 0
        new = [
            self.actions(room, (), tuple(repairs))[text] if room else ""
            for room, text in zip(rooms, joint, strict=True)
        ]
        ends: list[Any] = []
        for goes in self.ways[killer] if target is None else [rooms[target]]:
            left = ["" if room == goes else room for room in new]
            if not any(left) or (left != new and not self.all_must_be_caught):
                ends.append(False)
            elif min(repairs.values()) >= self.needed and set(left) & set(self.exits):
                ends.append(True)
            else:
                then = self.target(goes, left, self.sight(killer, rooms), target)
                ends.append((*left, goes, then, tuple(sorted(repairs.items()))))
        return ends

    def joints(self, state: Any) -> list[tuple[str, str]]:
        """Return what both players can do in a state; who is out waits."""
        if self.is_capture:
            return list(itertools.product(*(self.actions(room, state[3]) for room in state[:2])))
        rooms = [room for room, _ in state[4]]
        return list(itertools.product(*(self.actions(item, (), rooms) if item else ["wait"] for item in state[:2])))


@cache
def map_of(rules: str) -> Map:
    return Map(rules)


class Solved:
    """Probability of success and mean turns of all joint actions of all states that can follow on some."""

    def __init__(self, rooms: Map, root: Any) -> None:
        self.rooms, self.numbers, states = rooms, {root: 0}, [root]
        ends, sizes, counts = [], [], []
        for state in states:
            joints = rooms.joints(state)
            counts.append(len(joints))
            for joint in joints:
                follow = rooms.escape(state, joint)
                sizes.append(len(follow))
                for end in follow:
                    if not isinstance(end, bool) and end not in self.numbers:
                        self.numbers[end] = len(states)
                        states.append(end)
                    ends.append(end if isinstance(end, bool) else self.numbers[end])
        count = len(states)
        self.ends = np.array([(count if end else count + 1) if isinstance(end, bool) else end for end in ends])
        self.outcome_starts, self.sizes = np.cumsum([0, *sizes])[:-1], np.array(sizes)
        self.joint_starts = np.cumsum([0, *counts])
        starts, of_state = self.joint_starts[:-1], np.repeat(np.arange(count), counts)
        success = np.zeros(count)
        while True:
            joint = self._mean(np.append(success, (1.0, 0.0)))
            new = np.maximum.reduceat(joint, starts)
            if np.abs(new - success).max() < 1e-12:
                break
            success = new
        self.success = joint
        fitting = joint > success[of_state] - 1e-9
        turns = np.zeros(count)
        while True:
            later = np.append(np.where(success > 1e-12, turns, 0.0), (0.0, 0.0))
            result = np.where(fitting, 1 + self._mean(later), np.inf)
            new = np.where(success > 1e-12, np.minimum.reduceat(result, starts), 0.0)
            if np.abs(new - turns).max() < 1e-9:
                break
            turns = new
        self.turns = 1 + self._mean(later)

    def _mean(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(np.add.reduceat(values[self.ends], self.outcome_starts) / self.sizes)

    def values(self, state: Any) -> dict[tuple[str, str], tuple[float, float]]:
        number = self.numbers[state]
        low, high = self.joint_starts[number : number + 2]
        rows = zip(self.success[low:high].tolist(), self.turns[low:high].tolist(), strict=True)
        return dict(zip(self.rooms.joints(state), rows, strict=True))


@cache
def fewest_turns(rules: str) -> dict[Any, int]:
    """Return the fewest turns to a capture from every state of a game, in rounds."""
    rooms = map_of(rules)
    after = {}
    for a, b, thief in itertools.product(rooms.ways, repeat=3):
        for doors in itertools.product((False, True), repeat=len(rooms.doors)):
            if thief not in (a, b):
                state = (a, b, thief, doors)
                after[state] = {rooms.capture(state, joint) for joint in rooms.joints(state)}
    turns: dict[Any, int] = {None: 0}
    for count in itertools.count(1):
        new = {state: count for state, ends in after.items() if state not in turns and any(e in turns for e in ends)}
        if not new:
            return turns
        turns |= new
    raise AssertionError


SOLVED: dict[str, list[Solved]] = {}


def solved(rules: str, state: Any) -> Solved:
    """Return a solution that holds a state."""
    for known in SOLVED.setdefault(rules, []):
        if state in known.numbers:
            return known
    SOLVED[rules].append(Solved(map_of(rules), state))
    return SOLVED[rules][-1]


class RoomReader:
    """A state of a room game, as its description has it."""

    def __init__(self, rules: str, state: str) -> None:
        self.rules, self.rooms, self.text = rules, map_of(rules), state
        self.me = int(find(r"^You are agent_(\d)\. Turn", state)[1])
        self.other = f"agent_{1 - self.me}"
        rooms = ["", ""]
        rooms[self.me] = self._room(r"^You are (?:in (.+?)|out of the game)(?: and worked on .*)?\.$")
        rooms[1 - self.me] = self._room(rf"^{self.other} is (?:in (.+?)|out of the game)(?: and worked on .*)?\.$")
        self.players = tuple(rooms)
        if self.rooms.is_capture:
            self.adversary = self._room(r"^The thief is in (.+)\.$")
            self.doors = tuple(
                find(rf"^The door between room {a} and room {b} is (open|closed)\.$", state)[1] == "open"
                for a, b in self.rooms.sides
            )
            self.state: Any = (*self.players, self.adversary, self.doors)
            return
        self.doors = ()
        self.adversary = self._room(r"^The killer is in (.+?)\. It (?:is chasing|has no target)")
        chased = re.search(r"It is chasing (\w+)", state)
        target = {"you": self.me, self.other: 1 - self.me}[chased[1]] if chased else None
        repairs = re.findall(
            r"^The generator in (?:room )?(\w+) (?:needs (\d) more|(is repaired))", state, re.MULTILINE
        )
        needed = self.rooms.needed
        self.repairs = tuple(sorted((room, needed - int(left or 0)) for room, left, _ in repairs))
        self.state = (*self.players, self.adversary, target, self.repairs)

    def _room(self, pattern: str) -> str:
        return (find(pattern, self.text)[1] or "").removeprefix("room ")

    def answers(self, question: str, choices: list[str]) -> list[int]:
        if "should you do in this turn" in question:
            return self._best(self.me, choices)
        if f"To which room will {self.other} move in this turn, or in which one will it stay?" in question:
            return self._best(1 - self.me, choices, seen=True)
        supposed = re.search(r'your action in this turn is "(.+?)" and that of agent_\d is "(.+?)"\.', question)
        if supposed:
            joint = supposed.groups() if self.me == 0 else supposed.groups()[::-1]
            return self._supposed(question, joint, choices)
        return self._distance(question, choices)

    def _best(self, seat: int, choices: list[str], seen: bool = False) -> list[int]:
        """Return the best choices: actions of a seat, or the rooms in which these are seen to end."""
        if self.rooms.is_capture:
            known = fewest_turns(self.rules)
            ends = {joint: self.rooms.capture(self.state, joint) for joint in self.rooms.joints(self.state)}
            table = {joint: (1.0, 1.0 + known.get(end, FAR)) for joint, end in ends.items()}
            gaps = (1.0, 1.0)
        else:
            table, gaps = solved(self.rules, self.state).values(self.state), (0.019, 0.49)
        likely = max(success for success, _ in table.values())
        fewest = min(turns for success, turns in table.values() if success > likely - 1e-6)
        best = {joint for joint, (s, t) in table.items() if s > likely - 1e-6 and t < fewest + 1e-4}
        mine, partners = ({joint[i] for joint in best} for i in (seat, 1 - seat))
        if len(mine) > 1:
            raise Unclear(f"{sorted(mine)} are equally good")
        if seen and {self._ends_in(seat, text) for text in mine} & {self._ends_in(1 - seat, text) for text in partners}:
            raise Unclear("both go to the same room")
        right = []
        for i, choice in enumerate(choices):
            same = {text for text in self._actions(seat) if (self._ends_in(seat, text) if seen else text) == choice}
            results = {joint: value for joint, value in table.items() if joint[seat] in same}
            if not results:
                raise Unclear(f"{choice!r} cannot be done")
            if same & mine:
                if any(joint not in best for joint in results if joint[seat] in mine and joint[1 - seat] in partners):
                    raise Unclear(f"{choice!r} depends on which of its best actions the partner takes")
                right.append(i)
                continue
            success = max(value for value, _ in results.values())
            turns = min(turns for value, turns in results.values() if value > success - 1e-6)
            if likely - success < gaps[0] and (likely < 1 - 1e-6 or turns - fewest < gaps[1]):
                raise Unclear(f"{choice!r} is hardly worse: {success}, {turns} against {likely}, {fewest}")
        return right

    def _actions(self, seat: int) -> dict[str, str]:
        generators = () if self.rooms.is_capture else [room for room, _ in self.repairs]
        return self.rooms.actions(self.players[seat], self.doors, generators)

    def _ends_in(self, seat: int, text: str) -> str:
        room = self._actions(seat)[text]
        return f"room {room}" if room.isdigit() else room

    def _supposed(self, question: str, joint: Sequence[str], choices: list[str]) -> list[int]:
        if "Where does the thief go" in question:
            new = [
                self.rooms.actions(player, self.doors)[text] for player, text in zip(self.players, joint, strict=True)
            ]
            goes = self.rooms.thief_goes(self.adversary, new, self.doors)
            return [i for i, choice in enumerate(choices) if choice.split()[-1] == goes]
        assert "Whom does the killer go for in the turn after it" in question
        ends = self.rooms.escape(self.state, joint)
        if len(ends) != 1 or isinstance(ends[0], bool):
            raise Unclear(f"{ends} can follow")
        whom = {None: "nobody", self.me: "you", 1 - self.me: self.other}[ends[0][3]]
        return [choices.index(whom)]

    def _place(self, question: str) -> str:
        what = find(r"to the room of the (.+?)(?:, wherever the others go)?\?$", question)[1]
        if what in ("thief", "killer"):
            return self.adversary
        if what == "exit":
            return self.rooms.exits[0]
        if what.startswith("generator in "):
            return what.split()[-1]
        pair = frozenset(find(r"button of the door (\w+)-(\w+)", what).groups())
        return next(button for door, button in self.rooms.doors if door == pair)

    def _distance(self, question: str, choices: list[str]) -> list[int]:
        if not self.rooms.doors and "doors" in question:
            raise Unclear("there are no doors")
        to = self._place(question)
        moves = [self.rooms.distances(room, self.doors).get(to, FAR) for room in self.players]
        if "fewer moves" in question:
            return nearest(moves[self.me], moves[1 - self.me], choices, self.other)
        who = find(r"how many moves (do you|does agent_\d) need", question.lower())[1]
        count = moves[self.me if who == "do you" else 1 - self.me]
        return [choices.index("there is no way now" if count == FAR else str(count))]


STEPS = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}
NONE, ONION, DISH, SOUP = "nothing", "an onion", "a dish", "a dish of soup"
COOKING = 100  # and above: steps until the soup is ready; below: onions in the pot
CLOSED = -1


class KitchenReader:
    """A state of a kitchen, as its description has it."""

    def __init__(self, rules: str, state: str) -> None:
        self.text = state
        self.needed = int(find(r"A pot takes (\d+) onions", rules)[1])
        self.cook_time = int(find(r"begins to cook for (\d+) steps", rules)[1])
        limit = re.search(r"after (\d+) steps since it was opened", rules)
        self.gate_limit = int(limit[1]) if limit else 0
        self.names = list(find(r"Two cooks, (\w+) and (\w+),", rules).groups())
        self.me = self.names.index(find(r"^You are (\w+);", state)[1])
        rows = state[find(r"north is up:\n", state).end() :].split("\n\n")[0].split("\n")
        self.symbols = {(x, y): symbol for y, row in enumerate(rows) for x, symbol in enumerate(row)}
        self.floor = {cell for cell, symbol in self.symbols.items() if symbol in ".G"}
        places = re.findall(r"\b([kspocdg]\d+)(?: at)? \((\d+), (\d+)\)", state)
        self.places = {name: (int(x), int(y)) for name, x, y in places}
        self.cooks = tuple(self._cook(seat) for seat in (0, 1))
        lying = re.findall(r"^Counter (\w+) at .*?: (.+) lies there\.$", state, re.MULTILINE)
        self.lying = tuple(sorted((self.places[name], item) for name, item in lying))
        self.pots = tuple(self._pot(name) for name in self._named("c"))
        self.gates = tuple(self._gate(name) for name in self._named("g"))
        self.pot_cells = [self.places[name] for name in self._named("c")]
        self.gate_cells = [self.places[name] for name in self._named("g")]

    def _named(self, letter: str) -> list[str]:
        return sorted(name for name in self.places if name[0] == letter)

    def _cook(self, seat: int) -> tuple[Cell, str, str]:
        start = "You stand" if seat == self.me else f"{self.names[seat]} stands"
        pattern = rf"^{start} at \((\d+), (\d+)\), faces? (\w+) and holds? (.+)\.$"
        x, y, facing, held = find(pattern, self.text).groups()
        return (int(x), int(y)), facing, held

    def _pot(self, name: str) -> int:
        phrase = find(rf"^Pot {name} at .*?: (.+)\.$", self.text)[1]
        if phrase == "soup, ready":
            return COOKING
        left = re.fullmatch(r"soup, cooking, ready after (\d+) more steps?", phrase)
        return COOKING + int(left[1]) if left else int(find(r"^(\d+) of \d+ onions, not cooking$", phrase)[1])

    def _gate(self, name: str) -> int:
        gate = find(rf"^Gate {name} at .*?: (.+)\.$", self.text)[1]
        return CLOSED if gate == "closed" else int(find(r"^open; it closes after (\d+) more steps in", gate)[1])

    def answers(self, question: str, choices: list[str]) -> list[int]:
        if "next with your hands" in question:
            return self._best(self.me, question, choices)
        if f"What will you see {self.names[1 - self.me]} use its hands on first" in question:
            return self._best(1 - self.me, question, choices)
        return self._fact(question, choices)

    def _best(self, seat: int, question: str, choices: list[str]) -> list[int]:
        goal = "deliver" if "the next soup to be delivered" in question else "start"
        assert goal == "deliver" or "the next pot to begin to cook" in question
        best, times = searched(self, seat, goal)
        for tag in ("still", "moved"):
            if tag in times:
                raise Unclear(f"the partner does it in {times[tag]} steps alone, at best it takes {best}")
        if "you see" in question and any(
            searched(self, self.me, goal)[1].get(tag) == best for tag, time in times.items() if time == best
        ):
            raise Unclear("both use the same")
        if sum(time == best for time in times.values()) != 1:
            raise Unclear(f"{times} steps")
        values = [times.get(choice if choice == "wait" else self.places[choice.split()[-1]], FAR) for choice in choices]
        right = [i for i, value in enumerate(values) if value == best]
        if not right:
            raise Unclear(f"{values} steps")
        return right

    def _fact(self, question: str, choices: list[str]) -> list[int]:
        other = self.names[1 - self.me]
        if "onions from dispensers" in question:
            name = find(r"into pot (\w+),", question)[1]
            things = [held for *_, held in self.cooks] + [item for _, item in self.lying]
            at_hand, within = things.count(ONION), self.pots[self._named("c").index(name)]
            return [choices.index(str(max(0, self.needed - within - at_hand)))]
        assert "the cooks never stand in each other's way" in question
        assert ("gates stay as they are now" in question) == bool(self.gate_cells)
        if "take the soup out of pot" in question:
            name = find(r"out of pot (\w+) ", question)[1]
            seat = self.me if " do you take" in question else 1 - self.me
            source = re.search(r"first taking a dish from dish dispenser (\w+)", question)
            assert source or f"using the dish that {'you' if seat == self.me else other} already" in question
            assert self.cooks[seat][2] == (NONE if source else DISH)
            steps = self._steps(seat, *([source[1]] if source else []), name)
            ready = self.pots[self._named("c").index(name)] - COOKING
            return [choices.index(str(max(ready + 1, steps)))]
        name = find(r"(?:face|next to) (?:the )?(?:\w+ )*?([opcdg]\d+)\?", question)[1]
        steps = [self._steps(seat, name) for seat in (self.me, 1 - self.me)]
        if "Who can get to a cell" in question:
            message = ("neither of you", f"{other} alone", "you alone", "both of you")
            return [choices.index(message[2 * (steps[0] < FAR) + (steps[1] < FAR)])]
        if "Who needs fewer steps" in question:
            return nearest(*steps, choices, other)
        who = find(r"How many steps (do you|does \w+) need at least", question)[1]
        return [choices.index(str(steps[who != "do you"] - 1))]  # the use is not asked for

    def _steps(self, seat: int, *names: str) -> int:
        """Return the fewest steps in which a cook uses some objects, one after the other."""
        cell, facing, _ = self.cooks[seat]
        closed = {cell for cell, left in zip(self.gate_cells, self.gates, strict=True) if left == CLOSED}

        def nexts(at: Any) -> Iterator[Any]:
            (x, y), look, used = at
            dx, dy = STEPS[look]
            if used < len(names) and (x + dx, y + dy) == self.places[names[used]]:
                yield (x, y), look, used + 1
            for turn, (dx, dy) in STEPS.items():
                ahead = (x + dx, y + dy)
                yield (ahead if ahead in self.floor - closed else (x, y)), turn, used

        steps = spread([(cell, facing, 0)], nexts)
        return min((count for (*_, used), count in steps.items() if used == len(names)), default=FAR)


def ahead(cook: Any) -> Cell:
    (x, y), facing, _ = cook
    return x + STEPS[facing][0], y + STEPS[facing][1]


class Search:
    """All ways to play a few steps, but those that are too slow even if nobody ever stood in the way.

    A state is (cook, cook, things on counters, pots, gates, tag); the tag says what the cook that is asked about has
    done with its hands: "still" and "moved" for nothing, "wait", or the cell that it has used first.
    """

    def __init__(self, kitchen: KitchenReader, seat: int, goal: str) -> None:
        self.k, self.seat, self.goal = kitchen, seat, goal
        symbols, floor = kitchen.symbols, kitchen.floor
        self.beside = {c: [d for d in ((c[0] + dx, c[1] + dy) for dx, dy in STEPS.values())] for c in symbols}
        self.walks = {}  # from floor to being beside a cell
        for cell in floor:
            steps = spread([cell], lambda here: (there for there in self.beside[here] if there in floor))
            self.walks[cell] = {c: min((steps.get(n, FAR) for n in self.beside[c]), default=FAR) for c in symbols}
        self.of = {symbol: [c for c, s in symbols.items() if s == symbol] for symbol in "ODPSX"}
        targets = self.of["S"] + self.of["P"]
        self.carry = {target: self._carry(target) for target in targets}
        self.to_serve = {c: min(self.carry[target][c] for target in self.of["S"]) for c in symbols}

    def _carry(self, target: Cell) -> dict[Cell, int]:
        """Return the fewest steps until what is in a cell has been used at a target, with hands everywhere."""
        symbols, floor = self.k.symbols, self.k.floor
        steps = {c: FAR for c in symbols}
        while True:
            old = dict(steps)
            for c in floor:
                options = [steps[n] + 1 for n in self.beside[c] if n in floor or symbols[n] == "X"]
                steps[c] = min([1] if target in self.beside[c] else [steps[c], *options])
            for c in set(symbols) - floor:  # what lies there may be taken in the step in which it was put down
                steps[c] = min((steps[n] for n in self.beside[c] if n in floor), default=FAR)
            if steps == old:
                return steps

    def bound(self, state: Any) -> int:
        """Return steps that the goal takes at least."""
        cooks, lying, pots = state[:2], state[2], state[3]
        if self.goal == "start":
            best = FAR
            for cell, pot in zip(self.k.pot_cells, pots, strict=True):
                if pot < COOKING:
                    times = sorted([*self._arrive(ONION, "O", cell, cooks, lying)])
                    best = min(best, times[self.k.needed - pot - 1])
            return best
        best = min((self.to_serve[cell] for cell, _, held in cooks if held == SOUP), default=FAR)
        for at, item in lying:
            if item == SOUP:
                best = min(best, self._walk(at, cooks) + self.to_serve[at])
        for cell, pot in zip(self.k.pot_cells, pots, strict=True):
            if pot >= COOKING:
                dish = min(self._arrive(DISH, "D", cell, cooks, lying))
                best = min(best, max(dish, pot - COOKING + 1) + self.to_serve[cell])
        return best

    def _walk(self, at: Cell, cooks: Any) -> int:
        return min(self.walks[cell][at] for cell, *_ in cooks)

    def _arrive(self, item: str, dispenser: str, to: Cell, cooks: Any, lying: Any) -> Iterator[int]:
        """Yield when things can have been used at a cell, with as many new ones as may be needed."""
        carry = self.carry[to]
        for cell, _, held in cooks:
            if held == item:
                yield carry[cell]
        for at, thing in lying:
            if thing == item:
                yield self._walk(at, cooks) + carry[at]
        fetch = (
            self.walks[cell][at] + (held != NONE) + 1 + carry[at]
            for at in self.of[dispenser]
            for cell, _, held in cooks
        )
        new = min(fetch, default=FAR)
        yield from [new] * self.k.needed

    def actions(self, cook: Any) -> list[str]:
        (x, y), facing, _ = cook
        useful = []
        for name, (dx, dy) in STEPS.items():
            if name != facing or (x + dx, y + dy) in self.k.floor:
                useful.append(name)
        dx, dy = STEPS[facing]
        return [*useful, "stay", *(["use"] if self.k.symbols[x + dx, y + dy] in "XODPSG" else [])]

    def step(self, state: Any, joint: Sequence[str]) -> tuple[Any, bool]:
        """Return the next state, and whether the goal is reached in this step."""
        cooks, lying, pots, gates, tag = [state[0], state[1]], dict(state[2]), list(state[3]), list(state[4]), state[5]
        served, used = False, [False, False]
        for i, action in enumerate(joint):
            if action == "use":
                cell, held = ahead(cooks[i]), cooks[i][2]
                opened = self._open(cell, held, gates)
                after = self._use(cell, held, lying, pots)
                served |= self.k.symbols[cell] == "S" and after != held
                used[i] = opened or after != held
                cooks[i] = (*cooks[i][:2], after)
        before = cooks[self.seat]
        self._walk_both(cooks, joint, gates)
        started = self._cook(pots)
        for g, cell in enumerate(self.k.gate_cells):
            if gates[g] != CLOSED and cell not in (cooks[0][0], cooks[1][0]):
                gates[g] = gates[g] - 1 or CLOSED
        if tag in ("still", "moved"):
            if used[self.seat]:
                tag = ahead(before)
            elif cooks[self.seat] != before:
                tag = "moved"
            elif tag == "still" and used[1 - self.seat]:
                tag = "wait"
        after = (*cooks, tuple(sorted(lying.items())), tuple(pots), tuple(gates), tag)
        return after, served if self.goal == "deliver" else started

    def _open(self, cell: Cell, held: str, gates: list[int]) -> bool:
        """Open the gate in a cell with an empty hand; the step of the opening is counted off at its end."""
        if cell not in self.k.gate_cells or held != NONE or gates[self.k.gate_cells.index(cell)] != CLOSED:
            return False
        gates[self.k.gate_cells.index(cell)] = self.k.gate_limit + 1
        return True

    def _use(self, cell: Cell, held: str, lying: dict[Cell, str], pots: list[int]) -> str:
        """Use a cell; return what the hand holds then."""
        symbol = self.k.symbols[cell]
        if symbol == "X" and held == NONE:
            return lying.pop(cell, NONE)
        if symbol == "X" and cell not in lying:
            lying[cell] = held
            return NONE
        if symbol in "OD" and held == NONE:
            return ONION if symbol == "O" else DISH
        if symbol == "S" and held == SOUP:
            return NONE
        if symbol == "P":
            p = self.k.pot_cells.index(cell)
            if held == ONION and pots[p] < self.k.needed:
                pots[p] += 1
                return NONE
            if held == DISH and pots[p] == COOKING:
                pots[p] = 0
                return SOUP
        return held

    def _cook(self, pots: list[int]) -> bool:
        """Let pots cook for a step; tell whether one began."""
        began = False
        for p, pot in enumerate(pots):
            if pot == self.k.needed:
                pots[p], began = COOKING + self.k.cook_time - 1, True
            elif pot > COOKING:
                pots[p] -= 1
        return began

    def _walk_both(self, cooks: list[Any], joint: Sequence[str], gates: list[int]) -> None:
        closed = [cell for cell, left in zip(self.k.gate_cells, gates, strict=True) if left == CLOSED]
        goes = []
        for i, action in enumerate(joint):
            (x, y), facing, held = cooks[i]
            target = (x, y)
            if action in STEPS:
                ahead = (x + STEPS[action][0], y + STEPS[action][1])
                target = ahead if ahead in self.k.floor and ahead not in closed else target
                facing = action
            cooks[i] = ((x, y), facing, held)
            goes.append(target)
        old = [cook[0] for cook in cooks]
        if goes[0] != goes[1] and goes != old[::-1]:
            for i in (0, 1):
                cooks[i] = (goes[i], *cooks[i][1:])

    def times(self, root: Any, limit: int) -> dict[Any, int]:
        """Return the fewest steps to the goal by tag, of all ways that take no more than a limit."""
        results: dict[Any, int] = {}
        layer, seen = [root], {root}
        for count in range(1, limit + 1):
            later = []
            for state in layer:
                for joint in itertools.product(self.actions(state[0]), self.actions(state[1])):
                    after, reached = self.step(state, joint)
                    if reached:
                        results.setdefault(after[5], count)
                    elif after not in seen:
                        seen.add(after)
                        if self.bound(after) <= limit - count:
                            later.append(after)
            layer = later
        return results


SEARCHED: dict[Any, tuple[int, dict[Any, int]]] = {}


def searched(kitchen: KitchenReader, seat: int, goal: str) -> tuple[int, dict[Any, int]]:
    """Return the fewest steps to a goal, and those by what a cook does first, up to one step more."""
    root = (*kitchen.cooks, kitchen.lying, kitchen.pots, kitchen.gates, "still")
    key = (tuple(sorted(kitchen.symbols.items())), root, seat, goal)
    if key not in SEARCHED:
        search = Search(kitchen, seat, goal)
        limit = search.bound(root)
        while not search.times(root, limit):
            limit += 1
            if limit > FAR:
                raise Unclear("the goal cannot be reached")
        SEARCHED[key] = limit, search.times(root, limit + 1)
    return SEARCHED[key]
