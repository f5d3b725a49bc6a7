"""Texts for language agents: names of directives, parsing of answers, refusals, and the observation.

Observations have the contents and order of LLM-Co's state extractor. Distances count moves, not turns or interacts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from collab_overcooked.envs.api import ActionError
from collab_overcooked.io.checks import near_matches
from collab_overcooked.io.text import plural
from collab_overcooked.kernels.grid import Direction, cell_ahead
from collab_overcooked.kernels.jit import row_at
from collab_overcooked.kernels.macro_actions import MEDIUM, Macro

from ..engine.constants import (
    BELTS,
    BLOCKED,
    FIRST_INGREDIENT,
    FIRST_ROWS,
    HAND_END,
    INGREDIENTS,
    LETTERS,
    MAX_INGREDIENTS,
    MEMORY,
    NOT_COOKING,
    NOTHING,
    PREPARING,
    Action,
    Clock,
    DirectiveHistory,
    Event,
    EventColumn,
    Item,
    Kind,
    LayoutSize,
    Object,
    Order,
    Param,
    Path,
    Player,
    Reason,
    Row,
    Rules,
    Terrain,
    Thing,
    Verb,
)
from ..engine.directives import had_effect, mark_floor, mask_directives, measure_moves, measure_objects, nearest_counter
from ..engine.macro_actions import judge_action
from ..engine.rules import count_kind, needed_work
from ..engine.solvability import FLOOR, flood, neighbours
from ..engine.spec import counts_of
from ..pool import PREPARED
from .kitchen_scene import warning_text
from .scene import OvercookedScenes

Array = np.ndarray
MENU = "You can:"  # before the directives that are possible
CONTINUE_TEXT = "continue"
NAMES = ("Alice", "Bob", "Carol", "Dave")  # of the seats; the paper names the first two
PRIMITIVE_TEXTS = tuple(action.name.lower() for action in Action)  # names of enums are slow to look up
TAKEN = {Kind.ONIONS: "onion", Kind.TOMATOES: "tomato", Kind.DISHES: "dish"}
TITLES = {
    Kind.ONIONS: "onion dispensers",
    Kind.TOMATOES: "tomato dispensers",
    Kind.DISHES: "dish dispensers",
    Kind.POT: "pots",
    Kind.SERVING: "serving cells",
    Kind.GATE: "gates",
    Kind.SHARED: "shared counters",
    Kind.COUNTER: "counters",
}
KINDS_OF_CELLS = {  # cells that a change may bring
    Terrain.FLOOR: "floor",
    Terrain.WALL: "a wall",
    Terrain.COUNTER: "a counter",
    Terrain.ONIONS: "an onion dispenser",
    Terrain.TOMATOES: "a tomato dispenser",
    Terrain.DISHES: "a dish dispenser",
    Terrain.POT: "a pot",
    Terrain.SERVING: "a serving cell",
    Terrain.BOARD: "a board",
    Terrain.GRILL: "a grill",
    Terrain.BLENDER: "a blender",
    **{kind: f"a belt to the {kind.name.removeprefix('BELT_').lower()}" for kind in BELTS.values()},
}
THINGS = (*TAKEN.values(), "soup", "plate", "pot", "gate", "counter", "serving", "dispenser", "ingredient", "order")
DISTANCE_ORDER = (Kind.ONIONS, Kind.TOMATOES, Kind.DISHES, Kind.POT, Kind.SERVING, Kind.SHARED, Kind.GATE)
TURNING = "If the cell ahead is blocked, you turn to face it without moving."
MOVES = (
    "You choose one action per step. north, south, east and west move you by one cell; north is up on the map. "
    f"{TURNING} stay does nothing."
)
MOVES_SEEN = MOVES.replace("on the map", "in the picture")
NO_DIRECTIVE = "{text!r} names no directive. Write one from the list, such as {example!r}."


def object_name(thing: Array) -> str:
    """Return the name of a numbered object, for example ``"c0"``."""
    return f"{LETTERS[thing[Object.KIND]]}{thing[Object.NUMBER]}"


def directive_text(verb: Verb, kind: Kind, name: str) -> str:
    """Return the text of a directive: a verb and the name of an object."""
    if verb == Verb.TAKE:
        return f"take {TAKEN[kind]} from {name}" if kind in TAKEN else f"take from {name}"
    if verb == Verb.PUT:
        return f"put in {name}" if kind == Kind.POT else f"put on {name}"
    phrases = {Verb.LOAD: "load soup from", Verb.DELIVER: "deliver at", Verb.OPEN: "open", Verb.START: "start"}
    return f"{phrases[verb]} {name}"


def list_number(line: str) -> str:
    """Return a line without a list number or bullet before it."""
    return re.sub(r"^\s*(?:\d+[.)]|[-*])\s*", "", line)


ANSWER = re.compile(r"action\s*:\s*(.+)", re.IGNORECASE)
_THING = r"(?:(?:the|an?|your|my) )?(?:cooked (?=soup))?(onion|tomato|plate|dish|soup|it)"
_PLACE = rf"(?:the )?(?:(?:nearest|closest|empty|shared) )*(?:(?:counter|pot|gate|dispenser) )?([{LETTERS}]\d+)"
_PHRASE = re.compile(
    rf"(pick up|pick|take|put|place|drop|load|deliver|serve|open|start|cook|turn on)(?: {_THING})?"
    rf"(?: (?:on|onto|in|into) (?:(?:the|an?|your|my) )?(plate|dish))?(?: for delivery| down)?"
    rf"(?: (from|in|into|on|onto|at|to))? {_PLACE}"
)
"""Verb, thing, plate, preposition and name of an object: "put soup on plate from c0"."""
_TO = ("in", "into", "on", "onto", "at", "to")
PHRASES = (  # what a phrase means: verbs, prepositions, kinds of the object, things
    (Verb.TAKE, ("pick up", "pick", "take"), ("from",), (Kind.ONIONS,), ("onion", "it")),
    (Verb.TAKE, ("pick up", "pick", "take"), ("from",), (Kind.TOMATOES,), ("tomato", "it")),
    (Verb.TAKE, ("pick up", "pick", "take"), ("from",), (Kind.DISHES,), ("plate", "dish", "it")),
    (Verb.TAKE, ("pick up", "pick", "take"), ("from",), (Kind.COUNTER, Kind.SHARED), None),
    (Verb.LOAD, ("load", "put", "place", "pick up", "pick", "take"), ("from",), (Kind.POT,), ("soup",)),
    (Verb.PUT, ("put", "place", "drop"), _TO, (Kind.POT,), ("onion", "tomato", "it")),
    (Verb.PUT, ("put", "place", "drop"), _TO, (Kind.COUNTER, Kind.SHARED), None),
    (Verb.DELIVER, ("deliver", "serve", "put", "place", "drop"), _TO, (Kind.SERVING,), ("soup", "plate", "dish", "it")),
    (Verb.OPEN, ("open",), (None,), (Kind.GATE,), ()),
    (Verb.START, ("start", "cook", "turn on"), (None, "in"), (Kind.POT,), ("soup", "onion", "tomato", "it")),
)


def read_answer(answer: str) -> list[str]:
    """Return the actions of an answer: the text after the last ``Action:`` or all of it, split at lines and semicolons.

    Text before ``Action:`` is dropped, so that a model can reason first.
    """
    answers = ANSWER.findall(answer)
    text = answers[-1] if answers else answer
    parts = [piece for line in text.splitlines() for piece in list_number(line).split(";")]
    return [part.strip() for part in parts if part.strip()]


EVENT_NAMES = tuple((int(event), event.name.lower()) for event in Event)


def event_names(bits: int) -> list[str]:
    """Return the original's names of a player's events in a step."""
    return [name for event, name in EVENT_NAMES if bits >> event & 1]


def greeting(seat: int, n_agents: int) -> str:
    """Return the first sentence of a manual."""
    others = " and ".join(NAMES[j] for j in range(n_agents) if j != seat)
    return f"You are {NAMES[seat]}, a cook{f' in one kitchen with {others}' if others else ', alone'}."


def counted(count: int, food: str) -> str:
    """Return an ingredient with its count."""
    if count == 1:
        return f"1 {food}"
    return f"{count} {food}{'es' if food.endswith('o') else 's'}"


def soup_text(soup: Sequence[int]) -> str:
    """Return the text of a soup, given the counts of its ingredients."""
    return " and ".join(counted(count, food) for count, food in zip(soup, INGREDIENTS, strict=False) if count)


def prepared_text(name: str, work: int, needed: int, done: str) -> str:
    """Return the text of an ingredient that needs preparation."""
    if work >= needed:
        return f"a {done} {name}"
    return f"{with_article(name)}{f', {work} of {needed} {done}' * (work > 0)}"


def with_article(name: str) -> str:
    """Return a noun with its article."""
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def thing_text(thing: Array, prepare: Array | None = None) -> str:
    """Return the text of an object in a hand or on a counter, given the table ``prepare`` if ingredients need it."""
    item = Item(thing[Thing.ITEM])
    if prepare is not None and item >= FIRST_INGREDIENT and prepare[item - FIRST_INGREDIENT]:
        done = PREPARED[Terrain(prepare[item - FIRST_INGREDIENT])]
        return prepared_text(item.name.lower(), int(thing[Thing.TICK]), needed_work(item, prepare), done)
    if item == Item.SOUP:
        onions = count_kind(thing[Thing.SOUP], Item.ONION)
        tomatoes = count_kind(thing[Thing.SOUP], Item.TOMATO)
        return f"a soup of {onions} onions{f' and {tomatoes} tomatoes' if tomatoes else ''} in a dish"
    return {Item.NONE: "nothing", Item.ONION: "an onion", Item.TOMATO: "a tomato", Item.DISH: "a dish"}[item]


def distance_text(moves: int, is_blocked: bool = False, blocked: str = "blocked by a player") -> str:
    """Return the text of a distance of ``directives.distance_to``, and whether only a player is in the way."""
    if moves == NOTHING:
        return blocked if is_blocked else "out of reach"
    return f"{moves - BLOCKED} but {blocked}" if moves >= BLOCKED else str(moves)


def _counted(same: tuple[str, Iterator[str]]) -> str:
    count = len([*same[1]])
    return same[0] if count == 1 else f"{same[0]} ({count} times)"


def _by_kind(names: Collection[str]) -> dict[Kind, list[str]]:
    return {kind: [name for name in names if name[0] == letter] for kind, letter in zip(Kind, LETTERS, strict=True)}


def _counter_lines(
    seen: Mapping[str, Any],
    moves: Mapping[str, int],
    ever: Collection[str],
    kept: Collection[str],
    blocked: str,
    prepare: Array,
) -> list[str]:
    objects = seen["objects"]
    near, far = [], []
    kinds = _by_kind(moves)
    for name in kinds[Kind.COUNTER]:
        if moves[name] == NOTHING or moves[name] >= BLOCKED:
            if name in ever:
                is_blocked = moves[name] != NOTHING or name in kept
                far.append(f"{name} ({distance_text(NOTHING, is_blocked, blocked)})")
        elif objects[name][Thing.ITEM] != Item.NONE:
            near.append(f"{name} (distance {moves[name]}) has {thing_text(np.array(objects[name]), prepare)}")
    shared = [f"{name} has {thing_text(np.array(objects[name]), prepare)}" for name in kinds[Kind.SHARED]]
    return [
        "Counters: " + ("; ".join(near) or "nothing lies on those in reach") + ".",
        *(["Other counters: " + ", ".join(far) + "."] if far else []),
        *(["Shared counters: " + "; ".join(shared) + "."] if shared else []),
    ]


def pot_text(soup: Mapping[str, Any] | None) -> str:
    """Return the text of a pot: contents and stage, but not the remaining time of cooking."""
    if soup is None:
        return f"0 of {MAX_INGREDIENTS} ingredients, off, not cooking"
    count = soup["ingredients"].count("tomato")
    tomatoes = f" ({count} of them tomatoes)" if count else ""
    stage = "off, not cooking" if soup["tick"] == NOT_COOKING else "on, still cooking"
    if soup["ready"]:
        warning = warning_text(soup)
        stage = f"done, {warning}" if warning else "off, done"
    return f"{len(soup['ingredients'])} of {MAX_INGREDIENTS} ingredients{tomatoes}, {stage}"


def gate_text(gate: Sequence[int], limit: int) -> str:
    """Return the text of a gate: closed, or the remaining steps until it closes."""
    if gate[Thing.ITEM] != Item.OPEN:
        return "closed"
    return f"open for {plural(int(limit - gate[Thing.TICK]), 'more step')}"


class OvercookedText(OvercookedScenes):
    """Texts of a pool of layouts."""

    kinds_of_cells = KINDS_OF_CELLS

    levels: tuple[str, ...]

    @cached_property
    def slots(self) -> list[dict[str, int]]:
        """Rows of the objects in ``Tables.objects`` by name, for each layout."""
        pools = self.compiled.tables.objects
        return [{object_name(row): slot for slot, row in enumerate(rows) if row[Object.X] != NOTHING} for rows in pools]

    @cached_property
    def object_names(self) -> list[dict[tuple[int, int], str]]:
        """Names of the objects by position, for each layout."""
        pools = zip(self.compiled.tables.objects[..., [Object.X, Object.Y]].tolist(), self.slots, strict=True)
        return [{tuple(places[slot]): name for name, slot in slots.items()} for places, slots in pools]

    @cached_property
    def _within_reach(self) -> dict[tuple[int, tuple[int, int], str], tuple[str, ...]]:
        return {}  # what ``within_reach`` returned, by its arguments

    @cached_property
    def directive_texts(self) -> tuple[str, ...]:
        """Texts of all directives, by id."""
        tables = self.compiled.tables
        texts = [CONTINUE_TEXT, "wait", "move away"]
        for verb, slot in tables.catalogue[len(FIRST_ROWS) :].tolist():
            thing = tables.objects[0, slot]
            texts.append(directive_text(Verb(verb), Kind(thing[Object.KIND]), object_name(thing)))
        return tuple(texts)

    def parse_directive(self, text: str) -> int:
        """Parse one directive: the text of the list, or a phrase with its verb, thing, preposition and object.

        Case, a final dot and articles do not matter: "Place the onion in c0." is "put in c0". A phrase without a thing
        means what the list has for this object. Source: the paper's table 5 and the phrases of its code.

        Raises:
            ActionError: The text names no directive, or one of an object that it does not apply to.
        """
        texts, objects = self.directive_texts, self.compiled.tables.objects[0]
        plain = " ".join(list_number(text).lower().strip(" .`'\"").split())
        if plain in texts:
            return texts.index(plain)
        slots = {object_name(thing): slot for slot, thing in enumerate(objects)}
        phrase = _PHRASE.fullmatch(plain)
        if not phrase or phrase[5] not in slots or (phrase[3] and (phrase[2], phrase[4]) != ("soup", "from")):
            near = near_matches("directive", plain, texts)
            raise ActionError("F_NO_DIRECTIVE", f"{NO_DIRECTIVE.format(text=text, example=texts[3])} {near}")
        verb, thing, _, preposition, name = phrase.groups()
        kind = Kind(objects[slots[name], Object.KIND])
        for meaning, verbs, prepositions, kinds, things in PHRASES:
            if verb in verbs and preposition in prepositions and kind in kinds:
                row = [meaning, slots[name]]
                if row in self.compiled.tables.catalogue.tolist() and (things is None or thing in (None, *things)):
                    return self.compiled.tables.catalogue.tolist().index(row)
        raise ActionError("F_WRONG_OBJECT", f"{text!r}: that is not possible with {name}, one of the {TITLES[kind]}.")

    def _explain(self, state: Any, i: int, seat: int, action: int, reason: int) -> str:
        """Return the message of a refused action."""
        tables, player = self.compiled.tables, state.players[i, seat]
        has_object = self.levels[seat] == MEDIUM and action < len(tables.catalogue)
        slot = tables.catalogue[action, Row.SLOT] if has_object else NOTHING
        running = int(state.macro_state[i, seat, Macro.ACTION])
        x, y = cell_ahead(*player[: Player.FACING + 1].tolist())
        return Reason(reason).sentence.format(
            me=NAMES[seat],
            current=self.directive_texts[running] if running != NOTHING else "",
            object=object_name(tables.objects[0, slot]) if slot != NOTHING else "",
            held=thing_text(player[Player.HAND : HAND_END], self.compiled.tables.prepare),
            x=x,
            y=y,
        )

    def judge(self, state: Any, i: int, seat: int, action: int, params: Array | None = None) -> int:
        """Check a directive as a step would, or with custom parameters; return its ``constants.Reason``."""
        tables: Any = self.compiled.tables if params is None else self.compiled.tables._replace(params=params)
        return int(judge_action(tables, row_at(state, i), seat, action, self._surroundings(state, i, seat)))

    def _surroundings(self, state: Any, i: int, seat: int, alone: bool = False) -> Array:
        terrain = self.compiled.tables.terrain[state.clock[i, Clock.LAYOUT]]
        paths, players = np.zeros((len(Path), *terrain.shape), np.int32), state.players[i]
        mark_floor(terrain, state.cells[i], paths[Path.FLOOR])
        measure_moves(0 if alone else seat, players[seat : seat + 1] if alone else players, paths)
        return paths

    def _distances(self, k: int, paths: Array) -> dict[str, int]:
        objects = self.compiled.tables.objects[k]
        moves = np.zeros(len(objects), np.int32)
        measure_objects(objects, paths, moves)
        by_slot = moves.tolist()
        return {name: by_slot[slot] for name, slot in self.slots[k].items()}

    def look(self, state: Any, i: int, seat: int) -> dict[str, Any]:
        """Return the contents of an observation as a mapping, for scripted and language policies.

        Returns:
            ``history`` (texts of the last directives), ``holding`` and ``distances`` of every seat, the seat itself
            first (object name -> moves, see ``directives.distance_to``), ``blocked`` (objects that only other players
            keep out of reach, by seat), ``objects`` (name -> what is there, see ``Thing``), ``put_down`` (name of the
            nearest empty counter, empty if there is none) and ``feasible`` (texts).
        """
        tables, k = self.compiled.tables, state.clock[i, Clock.LAYOUT]
        texts = self.directive_texts
        seats = [seat, *(j for j in range(len(state.players[i])) if j != seat)]
        ways = {j: self._surroundings(state, i, j) for j in seats}
        distances = {j: self._distances(k, ways[j]) for j in seats}
        alone = {j: self._distances(k, self._surroundings(state, i, j, alone=True)) for j in seats}
        slot = nearest_counter(tables.objects[k], state.cells[i], ways[seat])
        mask = np.zeros(len(tables.catalogue), np.int8)
        mask_directives(tables, row_at(state, i), seat, ways[seat], mask)
        latest_first = state.macro_state[i, seat, DirectiveHistory.LAST : DirectiveHistory.LAST + MEMORY]
        blocked = {}  # by seat: objects that teammates are in the way to
        for j in seats:
            blocked[j] = {name for name in self.slots[k] if distances[j][name] == NOTHING != alone[j][name]}
        return {
            "history": [texts[row] for row in latest_first[::-1] if row],
            "holding": {j: thing_text(state.players[i, j, Player.HAND : HAND_END], tables.prepare) for j in seats},
            "distances": distances,
            "blocked": blocked,
            "objects": {name: state.cells[i, y, x].tolist() for (x, y), name in self.object_names[k].items()},
            "put_down": "" if slot == NOTHING else object_name(tables.objects[k, slot]),
            "feasible": [texts[action] for action in np.flatnonzero(mask)],
        }

    def failure(self, state: Any, i: int, seat: int) -> str | None:
        """Return why a seat's last directive ended without effect; None if it had its effect, or is still running."""
        tables = self.compiled.tables
        k = state.clock[i, Clock.LAYOUT]
        macro = state.macro_state[i, seat]
        action = int(macro[DirectiveHistory.LAST])
        if macro[Macro.ACTION] != NOTHING or action < len(FIRST_ROWS):
            return None
        if had_effect(tables.catalogue[action], tables.objects[k], state.players[i, seat], state.cells[i]):
            return None
        strict = tables.params.copy()
        strict[Param.RULES] = Rules.STRICT
        reason = self.judge(state, i, seat, action, strict)
        return "" if reason == Reason.OK else self._explain(state, i, seat, action, reason)

    def describe(self, state: Any, i: int, seat: int) -> str:
        return self.description(state, i, seat, range(self.n_agents))

    def description(self, state: Any, i: int, seat: int, seats: Collection[int]) -> str:
        """Describe a seat's observation with the given seats, its own included; other seats stay unnamed."""
        seen, tables = self.look(state, i, seat), self.compiled.tables
        clock, k = state.clock[i], state.clock[i, Clock.LAYOUT]
        moves = seen["distances"][seat]
        kinds = _by_kind(moves)
        lines = [
            f"You are {NAMES[seat]}. Step {clock[Clock.T]} of {clock[Clock.LIMIT]}; "
            f"earned so far: {clock[Clock.SCORE]}.",
            f"Your last directives: {', '.join(map(_counted, groupby(self._past(state, i, seat)))) or 'none'}.",
            " ".join(
                f"{'You hold' if j == seat else f'{NAMES[j]} holds'} {held}."
                for j, held in seen["holding"].items()
                if j in seats
            ),
        ]
        if self.compiled.config.order_time is not None:
            soup = soup_text(counts_of(clock[Clock.RECIPE]))
            left = int(state.order[i, Order.LEFT])
            lines.append(f"Order: {soup}, for {plural(left, 'more step')}.")
        blocked = "blocked by a player" if len(seats) > 1 else "blocked"
        names = [name for kind in DISTANCE_ORDER for name in kinds[kind]]
        for j, distances in seen["distances"].items():
            if j not in seats:
                continue
            who, kept = "Your" if j == seat else f"{NAMES[j]}'s", seen["blocked"][j]
            ways = [f"{name} {distance_text(distances[name], name in kept, blocked)}" for name in names]
            lines.append(f"{who} distances: {', '.join(ways)}.")
        pots = {name: self.decode_thing(seen["objects"][name], k, in_pot=True) for name in kinds[Kind.POT]}
        lines += [f"{name}: {pot_text(pot)}." for name, pot in pots.items()]
        at = (int(state.players[i, seat, Player.X]), int(state.players[i, seat, Player.Y]))
        ever = self.within_reach(int(k), at, FLOOR)
        lines += _counter_lines(seen, moves, ever, seen["blocked"][seat], blocked, tables.prepare)
        gate_limit = int(tables.frames[k, LayoutSize.GATE_LIMIT])
        if tables.params[Param.RULES] == Rules.STRICT:
            gate_limit += 1  # a gate closes after its limit; the original does not count the last step
        lines += [
            f"{name}: {gate_text(seen['objects'][name], gate_limit)}."
            for name in kinds[Kind.GATE]
            if moves[name] != NOTHING
        ]
        lines += self._station_lines(state, i)
        standing = {(x, y) for x, y in state.players[i][:, [Player.X, Player.Y]].tolist()}
        lines += self.change_lines(state, i, standing)
        if seen["put_down"]:
            lines.append(f"Nearest empty counter: {seen['put_down']}, distance {moves[seen['put_down']]}.")
        if self.levels[seat] != MEDIUM:
            lines[1:2] = self._map_lines(state, i, seat, seats)
        else:
            lines.append(f"{MENU} " + "; ".join(seen["feasible"]) + ".")
        return "\n".join(lines)

    def _station_lines(self, state: Any, i: int) -> list[str]:
        """Return what lies on belts, and what is at the stations that prepare ingredients."""
        tables, k = self.compiled.tables, state.clock[i, Clock.LAYOUT]
        lines, names = [], self.object_names[k]
        for x, y in tables.belts[k, : tables.frames[k, LayoutSize.BELTS]].tolist():
            if state.cells[i, y, x, Thing.ITEM] != Item.NONE:
                lines.append(f"Belt {names[x, y]} has {thing_text(state.cells[i, y, x], tables.prepare)}.")
        for x, y in tables.stations[k, : tables.frames[k, LayoutSize.STATIONS]].tolist():
            name = Terrain(tables.terrain[k, y, x]).name.capitalize()
            lines.append(f"{name} ({x}, {y}): {thing_text(state.cells[i, y, x], tables.prepare)}.")
        return lines

    def event_of(self, row: Sequence[int] | Array, sparse: float, shaped: float) -> dict[str, Any] | None:
        """Return a player's event with the original's names of all of them, ``events``."""
        event = super().event_of(row, sparse, shaped)
        return None if event is None else {**event, "events": event_names(int(row[EventColumn.CODE]))}

    def names_at(self, k: int) -> Mapping[tuple[int, int], str]:
        return self.object_names[k]

    def _past(self, state: Any, i: int, seat: int) -> list[str]:
        macro = state.macro_state[i, seat]
        chosen = macro[DirectiveHistory.LAST : DirectiveHistory.LAST + MEMORY].tolist()
        failed = macro[DirectiveHistory.FAILED : DirectiveHistory.FAILED + MEMORY].tolist()
        texts = []
        for row, has_failed in zip(chosen, failed, strict=True):
            if row:
                texts.append(self.directive_texts[row] + " (without effect)" * has_failed)
        reason = self.failure(state, i, seat) if self.levels[seat] == MEDIUM else None
        if reason is not None:
            texts[0] += f" (without effect{': ' * bool(reason)}{reason.rstrip('.')})"
        return texts[::-1]

    def _map_lines(self, state: Any, i: int, seat: int, seats: Collection[int]) -> list[str]:
        players = state.players[i]
        rows = self.draw_map(int(state.clock[i, Clock.LAYOUT]))
        lines = []
        for j in sorted(seats):
            player = players[j]
            x, y = int(player[Player.X]), int(player[Player.Y])
            rows[y][x] = str(j + 1)
            facing = Direction(int(player[Player.FACING])).name.lower()
            lines.append(f"{'You are' if j == seat else f'{NAMES[j]} is'} {j + 1} at ({x}, {y}), facing {facing}.")
        return [" ".join(lines), "Map:", *("".join(row) for row in rows)]

    def draw_map(self, k: int) -> list[list[str]]:
        """Return the cells of a layout: objects by letters of their names, walls, belts and stations as in its grid."""
        kept, grid = {"W", *PREPARING}, self.compiled.layouts[k].grid
        rows = []
        for line in grid:
            rows.append([symbol if symbol in kept else " " for symbol in line])
        for thing in self.compiled.tables.objects[k]:
            if thing[Object.X] != NOTHING:
                x, y = thing[Object.X], thing[Object.Y]
                symbol = grid[y][x]
                rows[y][x] = symbol if symbol in BELTS else LETTERS[thing[Object.KIND]]
        return rows

    def within_reach(self, k: int, start: tuple[int, int], floor: str) -> tuple[str, ...]:
        """Return the names of the objects next to the cells of some kinds of floor that can be reached from a cell."""
        known, key = self._within_reach, (k, start, floor)
        if key not in known:
            cells = flood(self.compiled.layouts[k].grid, start, set(), floor)
            beside = {cell for spot in cells for cell in neighbours(spot)}
            known[key] = tuple(name for spot, name in self.object_names[k].items() if spot in beside)
        return known[key]
