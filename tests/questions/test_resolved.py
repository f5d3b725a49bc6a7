"""Answers found again by solvers of this file, which share no code with the generators: plain rules, plain search."""

from __future__ import annotations

import copy
import itertools
import json

import pytest
from naive.overcooked import STEPS, NaiveKitchen, ahead

from collab_overcooked.games.overcooked.spec import load_kitchen
from collab_overcooked.questions.items import read_questions


@pytest.fixture(scope="module")
def items():
    return [item for item in read_questions().items if item.kind != "fact"]


def asked(item):
    return item.seat if item.kind == "own" else 1 - item.seat


# ------------------------------------------------------------------------------------------- capture

NINE = {1: [2, 6], 2: [1, 3], 3: [2, 4], 4: [3, 5], 5: [4, 6, 7], 6: [5, 9, 1], 7: [5, 8], 8: [7], 9: [6]}
DOORS = {frozenset((1, 2)): 0, frozenset((3, 4)): 1}
BUTTONS = {9: 0, 8: 1}


def ways(room, doors):
    return [r for r in NINE[room] if doors.get(frozenset((room, r)), True)]


def moves(room, doors):
    named = {"stay": room} | {f"go to room {r}": r for r in ways(room, doors)}
    return named | ({"press the button": room} if room in BUTTONS else {})


def distances(start, doors):
    far, queue = {start: 0}, [start]
    for room in queue:
        for r in ways(room, doors):
            if r not in far:
                far[r] = far[room] + 1
                queue.append(r)
    return far


def play_capture(state, joint, thief_kind):
    """The next state, or None if the thief is caught; both players' rooms, thief and doors."""
    rooms, thief, bits = state[:2], state[2], state[3:]
    doors = dict(zip(DOORS, bits, strict=True))
    new = [moves(room, doors)[text] for room, text in zip(rooms, joint, strict=True)]
    best, goes = -1, thief
    for r in ways(thief, doors):
        if thief_kind == "coded":
            score = min(abs(r - own) for own in new)
        else:
            score = min(distances(own, doors).get(r, 255) for own in new)
        if score > best:
            best, goes = score, r
    later = list(bits)
    for room, text in zip(rooms, joint, strict=True):
        if text == "press the button":
            later[BUTTONS[room]] = not later[BUTTONS[room]]
    swapped = any(goes == room and own == thief for room, own in zip(rooms, new, strict=True))
    return None if goes in new or swapped else (*new, goes, *later)


@pytest.fixture(scope="module")
def capture_turns():
    """Fewest turns to capture from every state, by rounds: those from which some joint action leads to a known one."""
    tables = {}
    for kind in ("coded", "distance"):
        after = {}
        for a, b, t in itertools.product(NINE, repeat=3):
            for bits in itertools.product((False, True), repeat=2):
                if t in (a, b):
                    continue
                state, doors = (a, b, t, *bits), dict(zip(DOORS, bits, strict=True))
                joints = itertools.product(moves(a, doors), moves(b, doors))
                after[state] = {joint: play_capture(state, joint, kind) for joint in joints}
        turns, count = {None: 0}, 1
        while True:
            new = {s: count for s, own in after.items() if s not in turns and any(n in turns for n in own.values())}
            if not new:
                break
            turns |= new
            count += 1
        tables[kind] = {
            state: {joint: 1 + turns.get(n, 10**6) for joint, n in own.items()} for state, own in after.items()
        }
    return tables


def test_capture_items(items, capture_turns):
    own = [item for item in items if item.scene.env_id == "CollabCapture-v0"]
    assert len(own) > 80
    for item in own:
        scene, seat = item.scene.state, asked(item)
        state = (
            *(int(player["room"]) for player in scene["players"]),
            int(scene["adversary"]["room"]),
            *(scene["doors"][name] for name in ("1-2", "3-4")),
        )
        table = capture_turns[item.scene.options.get("adversary", "coded")][state]
        best = min(table.values())
        values = [min(v for joint, v in table.items() if joint[seat] == choice) for choice in item.choices]
        assert [i for i, value in enumerate(values) if value == best] == list(item.correct), item.id
        assert min(v for v in values if v > best) - best >= item.margin, item.id
        partners = {joint[1 - seat] for joint, value in table.items() if value == best}
        for choice, partner in itertools.product([item.choices[i] for i in item.correct], partners):
            assert table[(choice, partner) if seat == 0 else (partner, choice)] == best, item.id


# ------------------------------------------------------------------------------------------- escape

THEMED = {
    "Parking": ["Warehouse", "Kitchen"],
    "Warehouse": ["Parking", "Centerhub", "Backyard"],
    "Backyard": ["Warehouse", "Centerhub", "Gate", "Forest"],
    "Centerhub": ["Warehouse", "Backyard", "Kitchen"],
    "Kitchen": ["Centerhub", "Parking", "Forest"],
    "Forest": ["Kitchen", "Backyard"],
    "Gate": ["Backyard"],
}
REPAIRED = 2


def notice(rooms, killer, old, seen):
    """Whom the killer goes for, given whom it went for before and which players it had seen."""
    near = [room in THEMED[killer] for room in rooms]
    if all(near):
        return old if all(seen) else 0 if not any(seen) else 1 - seen.index(True)
    return near.index(True) if any(near) else None


def play_escape(state, joint):
    """What can follow, all equally likely: a state, True for an escape, False for a loss."""
    rooms, killer, target, repairs = state[:2], state[2], state[3], dict(state[4])
    for room, fixes in repairs.items():
        if fixes < REPAIRED:
            workers = sum(own == room and text == "fix the generator" for own, text in zip(rooms, joint, strict=True))
            repairs[room] = min(REPAIRED, fixes + workers) if workers else 0
    new = tuple(text.removeprefix("go to ") if text.startswith("go") else room
                for room, text in zip(rooms, joint, strict=True))  # fmt: skip
    seen = [room in THEMED[killer] for room in rooms]
    ends = []
    for goes in THEMED[killer] if target is None else [rooms[target]]:
        if goes in new:
            ends.append(False)
        elif "Gate" in new and min(repairs.values()) >= REPAIRED:
            ends.append(True)
        else:
            ends.append((*new, goes, notice(new, goes, target, seen), tuple(sorted(repairs.items()))))
    return ends


def escape_choices(room, repairs):
    return [*(f"go to {r}" for r in THEMED[room]), *(["fix the generator"] if room in dict(repairs) else []), "wait"]


def solved_escape(roots):
    """Probability of success and expected turns of all joint actions of all states that follow on some."""
    after, queue = {}, list(roots)
    for state in queue:
        if state in after:
            continue
        joints = itertools.product(escape_choices(state[0], state[4]), escape_choices(state[1], state[4]))
        after[state] = {joint: play_escape(state, joint) for joint in joints}
        queue += [end for ends in after[state].values() for end in ends if not isinstance(end, bool)]

    def mean(values, ends):
        return sum(values[end] for end in ends) / len(ends)

    success = dict.fromkeys(after, 0.0) | {True: 1.0, False: 0.0}
    turns = dict.fromkeys(after, 0.0) | {True: 0.0, False: 0.0}
    for values, best in ((success, max), (turns, min)):
        change = 1.0
        while change > 1e-10:
            change = 0.0
            for state, own in after.items():
                if values is turns and success[state] < 1e-12:
                    continue
                extra = values is turns
                fitting = [ends for ends in own.values() if not extra or mean(success, ends) > success[state] - 1e-9]
                new = best(extra + mean(values, ends) for ends in fitting)
                change, values[state] = max(change, abs(new - values[state])), new
    return {
        state: {joint: (mean(success, ends), 1 + mean(turns, ends)) for joint, ends in own.items()}
        for state, own in after.items()
    }


def escape_state(scene):
    repairs = tuple(sorted((own["room"], min(own["progress"], REPAIRED)) for own in scene["generators"]))
    rooms = (player["room"] for player in scene["players"])
    return (*rooms, scene["adversary"]["room"], scene["adversary"]["target"], repairs)


def test_escape_items_of_the_themed_map(items):
    own = [item for item in items if item.scene.options == {"map": "themed_rooms"}]
    assert len(own) > 20
    solved = solved_escape([escape_state(item.scene.state) for item in own])
    for item in own:
        table, seat = solved[escape_state(item.scene.state)], asked(item)
        likely = max(value for value, _ in table.values())
        fewest = min(turns for value, turns in table.values() if value > likely - 1e-6)
        best = {joint for joint, (v, t) in table.items() if v > likely - 1e-6 and t < fewest + 1e-4}
        right = [i for i, choice in enumerate(item.choices) if any(joint[seat] == choice for joint in best)]
        assert right == list(item.correct), item.id
        for i, choice in enumerate(item.choices):
            if i in right:
                continue
            value, turns = max(
                ((round(v, 6), -t) for joint, (v, t) in table.items() if joint[seat] == choice), default=(0, 0)
            )
            if item.unit == "probability":
                assert likely - value >= item.margin - 1e-4, item.id
            elif value > likely - 1e-6:
                assert -turns - fewest >= item.margin - 1e-3, item.id


# ------------------------------------------------------------------------------------------- Overcooked


def first_uses(kitchen, before):
    """Which seats used their hands in the last step, and where."""
    used = []
    for player, old in zip(kitchen.players, before.players, strict=True):
        cell = ahead(old)
        opened = before.symbols[cell] == "G" and before.gates[cell] is None and kitchen.gates[cell] is not None
        changed = player["held"] != old["held"] or (opened and old["held"] is None)
        used.append(cell if changed else None)
    return used


def times_by_first(kitchen, goal, limit):
    """Fewest steps to the goal by what both have done first with their hands; every way of at most `limit` steps."""
    times, seen = {}, set()
    layer = [(kitchen, ("still", "still"))]
    for step in range(1, limit + 1):
        later = []
        for now, firsts in layer:
            for actions in itertools.product((*STEPS, "stay", "interact"), repeat=2):
                after = copy.deepcopy(now)
                news = after.step(list(actions))
                used = first_uses(after, now)
                begins = [u if a == "interact" and f in ("still", "moved") else None
                          for u, a, f in zip(used, actions, firsts, strict=True)]  # fmt: skip
                tags = []
                for i, first in enumerate(firsts):
                    old, new = now.players[i], after.players[i]
                    if begins[i] is not None:
                        first = begins[i]
                    elif first == "still" and (old["cell"], old["facing"]) != (new["cell"], new["facing"]):
                        first = "moved"
                    elif first == "still" and begins[1 - i] is not None:
                        first = "wait"
                    tags.append(first)
                tags = tuple(tags)
                if is_reached(goal, now, after, news):
                    times.setdefault(tags, step)
                    continue
                key = repr((after.players, sorted(after.lying.items()), after.gates, tags))
                if key not in seen and step < limit:
                    seen.add(key)
                    later.append((after, tags))
        layer = later
    return times


def is_reached(goal, now, after, news):
    if goal == "deliver":
        return sum(news["sparse"]) > 0
    pots = [cell for cell, symbol in now.symbols.items() if symbol == "P"]
    begun = [after.lying.get(cell, {"tick": -1})["tick"] > -1 for cell in pots]
    return any(b and now.lying.get(cell, {"tick": -1})["tick"] < 0 for b, cell in zip(begun, pots, strict=True))


def test_overcooked_items(items):
    """The scene that is decided soonest: plain search in plain Python takes half a minute for three of them."""
    own = [item for item in items if item.scene.env_id == "Overcooked-v0" and item.kind == "own"]
    own.sort(key=lambda item: (item.evidence["best"], item.id))
    assert own[0].evidence["best"] <= 3
    for item in own[:1]:
        layout, seat, best = load_kitchen(item.scene.options["layout"]), asked(item), item.evidence["best"]
        kitchen = NaiveKitchen(layout, [(0, 0), (0, 0)], True, layout.gate_limit)
        kitchen.load(json.loads(json.dumps(item.scene.state)))
        times = times_by_first(kitchen, item.evidence["goal"], best + int(item.margin) - 1)
        assert min(times.values()) == best, item.id
        found = {}
        for firsts, time in times.items():
            found[firsts[seat]] = min(time, found.get(firsts[seat], time))
        cells = cells_of(layout)
        for i, choice in enumerate(item.choices):
            first = "wait" if choice == "wait" else cells[choice.split()[-1]]
            assert found.get(first) == (best if i in item.correct else None), (item.id, choice)


def cells_of(layout):
    """Names of objects as texts have them: letter of the kind, number row by row."""
    letters = {"O": "o", "D": "p", "P": "c", "S": "d", "G": "g", "X": "k"}
    counts, cells = {}, {}
    for y, row in enumerate(layout.grid):
        for x, symbol in enumerate(row):
            letter = "s" if (x, y) in set(map(tuple, layout.shared_counters)) else letters.get(symbol)
            if letter:
                cells[f"{letter}{counts.setdefault(letter, 0)}"] = (x, y)
                counts[letter] += 1
    return cells
