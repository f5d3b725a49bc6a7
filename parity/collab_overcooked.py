"""Recordings of the public Collab-Overcooked code: low-level games, single interacts, medium-level games, scores.

All games are replayed with the preset ``original``.
Every deviation that is passed over or stops a replay is listed, with the same tag, in docs/archive/deviations.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

from collab_overcooked.envs.parallel import ParallelEnv
from collab_overcooked.games.collab_overcooked.engine.constants import FORMER_REASONS, EventColumn, Primitive
from collab_overcooked.games.collab_overcooked.env import CollabOvercooked
from collab_overcooked.games.collab_overcooked.suite.collaboration import kitchen_vocabularies
from collab_overcooked.games.collab_overcooked.text.text import CALL
from collab_overcooked.kernels.grid import OFFSETS
from collab_overcooked.kernels.rng import draw_below, seed_states
from collab_overcooked.metrics.trajectory import normal_form
from collab_overcooked.registry import make
from parity import original_evaluation
from parity.report import Deviation, FileReport, Format, Mismatch, Recording, at, expect, has, one, starts_with

FACINGS = {"N": "north", "S": "south", "E": "east", "W": "west"}
AHEAD = dict(zip(FACINGS, OFFSETS, strict=True))
MOVES = {**FACINGS, ".": "stay", "I": "interact"}
OPERATIONS = ("cook", "cut", "bake", "stir")
VERBS = (*OPERATIONS, "pickup", "place_obj_on_counter", "put_obj_in_utensil", "fill_dish_with_food", "deliver", "wait")
CAPACITY = 3  # items that a utensil of the original ever takes
TIME = 3  # steps of every recipe of the original
TOLERANCE = 1e-12

# Listed deviations, by tag.
E1 = "E1 a start holds other timers"
E4 = "E4 two wrong starts, one destroyed"
E5 = "E5 unfinished food lifted"
E6 = "E6 item counter never falls"
E9 = "E9 unstarted apple lifted"
E10 = "E10 dish put in as an item"
E7 = "E7 a part of the name raises"
E11 = "E8, E11, E12 original raises"
E13 = "E13 dispenser gives anything"
C1 = "C1 words around a call"
C6 = "C6 malformed wait accepted"
C8 = "C8 blanks make a call invalid"
C9 = "C9 deliver() unknown"
C10 = "C10 check_recipe"
FOREIGN = "E9, E13 objects only the original can make"
C13 = "C13 half-named place"


# ------------------------------------------------------------------------------------------- objects of the original


def _name(text: str | None) -> str | None:
    """Return an action text in normal form."""
    return None if text is None else normal_form(text)


def _plated(thing: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object of the original as (item, plated); lifted food is plain food whatever its category."""
    cooked = thing["c"] in ("finished", "with_dish")
    unlike = cooked and (thing["rec"], thing["ct"]) != (thing["n"], TIME)
    if unlike or (thing["c"] == "dish" and thing["n"] != "dish"):
        raise Mismatch(f"recorded object contradicts itself: {thing}")
    return {"item": thing["n"], "plated": thing["c"] == "with_dish"}


def _utensil(thing: Mapping[str, Any] | None) -> tuple[Any, ...]:
    """Return a utensil's contents as (product, timer, contents before the start)."""
    if thing is None:
        return (None, 0, ())
    if not thing["rec"]:
        return (None, thing["ct"], tuple(thing["i"]))
    if thing["c"] != ("finished" if thing["ct"] >= TIME else "semi-finished"):
        raise Mismatch(f"recorded object contradicts itself: {thing}")
    return (thing["rec"], thing["ct"], ())


def _ours(utensil: Mapping[str, Any]) -> tuple[Any, ...]:
    if utensil["product"]:
        return (utensil["product"], utensil["timer"], ())
    return (None, 0, tuple(utensil["contents"]))


def _game(env: ParallelEnv) -> CollabOvercooked:
    assert isinstance(env.game, CollabOvercooked)
    return env.game


class Table:
    """The recorded kitchen's stations by position, taken from our own paper kitchen."""

    def __init__(self, env: ParallelEnv) -> None:
        """Read the positions from an environment that has been reset."""
        names = _game(env).compiled.names
        self.utensils = {tuple(u["position"]): name for name, u in env.scene()["utensils"].items()}
        self.tiles = names.tiles
        self.raw = set(_game(env).kitchen.ingredients)
        self.foods = names.items[1:]
        self.grid = _game(env).kitchen.grid

    def at(self, state: Mapping[str, Any], position: Sequence[int]) -> Mapping[str, Any] | None:
        """Return the recorded object on a cell."""
        return next((thing for thing in state["ob"] if tuple(thing["at"]) == tuple(position)), None)

    def faced(self, player: Mapping[str, Any]) -> tuple[int, int]:
        """Return the cell a recorded player faces."""
        dx, dy = AHEAD[player["dir"]]
        return (player["pos"][0] + dx, player["pos"][1] + dy)


def _compare_state(table: Table, env: ParallelEnv, state: Mapping[str, Any]) -> None:
    """Compare everything both sides know: agents, hands, counters in order of placement, utensils, time."""
    scene = env.scene()
    expect("timestep", scene["timestep"], state["t"])
    for i, (mine, theirs) in enumerate(zip(scene["agents"], state["pl"], strict=True)):
        expect(f"position of agent {i}", mine["position"], theirs["pos"])
        expect(f"facing of agent {i}", mine["facing"], FACINGS[theirs["dir"]])
        expect(f"hand of agent {i}", mine["holding"], None if theirs["held"] is None else _plated(theirs["held"]))
    counters = [thing for thing in state["ob"] if tuple(thing["at"]) not in table.utensils]
    expect("counters", scene["counters"], [{"position": c["at"], **_plated(c)} for c in counters])
    for position, name in table.utensils.items():
        theirs, mine = table.at(state, position), scene["utensils"][name]
        expect(name, _ours(mine), _utensil(theirs))
        if theirs is not None and theirs["k"] < len(mine["contents"]):  # it may be more after take-backs (E6)
            expect(f"items in {name}", len(mine["contents"]), theirs["k"])


def _scene(table: Table, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recorded state as a scene to start from."""
    counters = [thing for thing in state["ob"] if tuple(thing["at"]) not in table.utensils]
    utensils = {}
    for position, name in table.utensils.items():
        product, timer, contents = _utensil(table.at(state, position))
        started = {} if product is None else {"timer": timer, "time": TIME}
        utensils[name] = {"product": product, "contents": list(contents), **started}
    return {
        "timestep": state["t"],
        "agents": [
            {
                "position": player["pos"],
                "facing": FACINGS[player["dir"]],
                "holding": None if player["held"] is None else _plated(player["held"]),
            }
            for player in state["pl"]
        ],
        "counters": [{"position": c["at"], **_plated(c)} for c in counters],
        "utensils": utensils,
    }


# ------------------------------------------------------------------------------------------- low-level games


def _low_level_deviation(
    table: Table,
    before: Mapping[str, Any],
    actions: Sequence[str],
    named: Sequence[str | None],
    after: Mapping[str, Any],
) -> None:
    """Stop if a listed deviation takes place in this step.

    Raises:
        Deviation: With its kind.
    """
    starts = []
    for player, action, name in zip(before["pl"], actions, named, strict=True):
        cell = table.faced(player)
        if action != "I":
            continue
        thing, symbol = table.at(before, cell), table.grid[cell[1]][cell[0]]
        if symbol == "I" and player["held"] is None and name is not None and name not in table.raw:
            raise Deviation(E13)
        if cell in table.utensils:
            _utensil_deviation(table.utensils[cell], player["held"], name, thing)
            if name == "[START]" and thing is not None and thing["c"] == "semi-finished" and thing["ct"] == 0:
                starts.append(cell)
    wrong = [cell for cell in set(starts) if not (table.at(after, cell) or {"rec": None})["rec"]]
    if len(wrong) > 1:
        raise Deviation(E4)
    for thing in before["ob"] if starts else ():
        later = table.at(after, thing["at"])
        if thing["rec"] and thing["c"] == "semi-finished" and later is not None and later["ct"] == thing["ct"]:
            raise Deviation(E1)


def _utensil_deviation(
    utensil: str, held: Mapping[str, Any] | None, name: str | None, thing: Mapping[str, Any] | None
) -> None:
    if held is not None and held["n"] == "dish" and thing is None and not utensil.startswith("pot"):
        raise Deviation(E10)
    if thing is None:
        return
    unstarted = thing["c"] == "semi-finished" and not thing["rec"]
    if held is not None and unstarted and thing["k"] >= CAPACITY > len(thing["i"]) and name != "[START]":
        raise Deviation(E6)
    if held is None and thing["rec"] and thing["c"] == "semi-finished" and name == thing["rec"]:
        raise Deviation(E5)
    if held is None and unstarted and thing["i"] == ["apple"] and name not in ("apple", "[START]"):
        raise Deviation(E9)


def _compare_labels(env: ParallelEnv, recorded: Sequence[str | None]) -> None:
    """Compare what the logs say of a step."""
    for i, (event, label) in enumerate(zip(env.events(), recorded, strict=True)):
        expect(f"label of agent {i}", None if event is None else event["label"], _name(label))


def _foreign(table: Table, state: Mapping[str, Any]) -> bool:
    """Tell whether a recorded state holds what only the original's bugs can make."""
    held = [player["held"] for player in state["pl"] if player["held"] is not None]
    loose = held + [thing for thing in state["ob"] if tuple(thing["at"]) not in table.utensils]
    names = [thing["n"] for thing in loose] + [n for thing in state["ob"] for n in thing["i"] or ()]
    return any(thing["c"] == "semi-finished" for thing in loose) or any(
        name != "dish" and name not in table.foods for name in names
    )


def replay_traces(recording: Recording, report: FileReport) -> None:
    """Replay low-level games step by step; after a listed deviation the replay resumes from the recorded state."""
    report.run_all(((f"episode {episode['ep']}", episode) for episode in recording.episodes), _replay_trace)


def _replay_trace(episode: Mapping[str, Any], report: FileReport) -> None:
    steps = len(episode["steps"])
    env = make("CollabOvercooked-v0", preset="original", action_level="primitive", max_cycles=steps + 1)
    env.reset(seed=0)
    table = Table(env)
    # A food that is never delivered stands for the original's "onion_soup", which no food of the game can fill.
    second = next(food for food in table.foods if food not in str(episode))
    start = {"orders": [*episode["orders0"], second], "state": _scene(table, episode["init"])}
    env.reset(seed=0, options=start)
    before, resume = episode["init"], False
    for step in episode["steps"]:
        try:
            if resume and _foreign(table, before):
                raise Deviation(FOREIGN)
            if resume:
                orders = [order for order in before["orders"] if order != "onion_soup"]
                env.reset(seed=0, options={"orders": [*orders, second], "state": _scene(table, before)})
            _replay_low_step(env, table, before, step, second, report)
            resume = False
        except Deviation as deviation:
            report.stops[str(deviation)] += 1
            resume = True
        before = step["s"]


def _replay_low_step(
    env: ParallelEnv, table: Table, before: Mapping[str, Any], step: Mapping[str, Any], second: str, report: FileReport
) -> None:
    _low_level_deviation(table, before, step["a"], step["p"], step["s"])
    texts = env.game.action_texts()
    chosen = {
        agent: texts.index(_primitive(texts, action, name))
        for agent, action, name in zip(env.possible_agents, step["a"], step["p"], strict=True)
    }
    _, rewards, _, _, _ = env.step(chosen)
    with at(f"step {step['s']['t']}, actions {step['a']} {step['p']}"):
        expect("reward", max(rewards.values()), step["r"])
        _compare_labels(env, step["ml"])
        _compare_state(table, env, step["s"])
        ours = [order for order in env.scene()["orders"] if order != second]
        expect("orders", ours, [order for order in step["s"]["orders"] if order != "onion_soup"])
        expect("wrong recipe", _wrong_starts(env), {step["err"]} - {None})
    report.compared += 1


def _wrong_starts(env: ParallelEnv) -> set[str]:
    """Return the utensils whose contents a wrong start destroyed in this step."""
    return {event["place"] for event in env.events() if event and event["event"] == "START_WRONG"}


def _primitive(texts: Sequence[str], action: str, name: str | None) -> str:
    """Return our text of a recorded low-level action; names that are no item of ours are a plain interact."""
    if action != "I":
        return MOVES[action]
    if name == "[START]":
        return "start"
    return f"interact({name})" if f"interact({name})" in texts else "interact"


# ------------------------------------------------------------------------------------------- single interacts


def replay_interacts(recording: Recording, report: FileReport) -> None:
    """Replay single interacts from given starts."""
    env = make("CollabOvercooked-v0", preset="original", action_level="primitive", max_cycles=9)
    env.reset(seed=0)
    rows = ((f"row {number}", row) for number, row in enumerate(recording.first["rows"]))
    report.run_all(rows, partial(_replay_interact, env, Table(env)), one)


def _replay_interact(env: ParallelEnv, table: Table, row: Mapping[str, Any], report: FileReport) -> None:
    cell, stand, facing = _stand(env, table, row["tile"], row["agent"])
    things = [thing for thing in (row["held"], row["on_tile"]) if thing is not None]
    if any(thing["n"] not in (*table.foods, "dish", "soup") for thing in things):
        raise Deviation(E13)
    before: dict[str, Any] = {"t": 0, "ob": [], "pl": [_idle(0), _idle(1)]}
    before["pl"][row["agent"]] |= {"pos": list(stand), "dir": facing, "held": row["held"]}
    if row["on_tile"] is not None:
        before["ob"] = [{"at": list(cell), **row["on_tile"]}]
    env.reset(seed=0, options={"orders": [row["order"]], "state": _scene(table, before)})
    actions: list[str] = [".", "."]
    named: list[str | None] = [None, None]
    actions[row["agent"]], named[row["agent"]] = "I", row["param"]
    out = row["out"]
    texts = env.game.action_texts()
    chosen = [texts.index(_primitive(texts, action, name)) for action, name in zip(actions, named, strict=True)]
    if "raises" in out:
        hand = env.scene()["agents"][row["agent"]]["holding"]
        ready = row["on_tile"] is not None and row["on_tile"]["ct"] == TIME and row["held"] is None
        if ready and row["param"] in row["on_tile"]["rec"]:
            raise Deviation(E7)
        env.step(dict(zip(env.agents, chosen, strict=True)))
        expect("hand where the original raises", env.scene()["agents"][row["agent"]]["holding"], hand)
        report.compared += 1
        report.passed[E11] += 1
        return
    left = [] if out["on_tile"] is None else [{"at": list(cell), **out["on_tile"]}]
    after: dict[str, Any] = {"t": 1, "ob": left, "pl": before["pl"]}
    _low_level_deviation(table, before, actions, named, after)
    _, rewards, _, _, _ = env.step(dict(zip(env.possible_agents, chosen, strict=True)))
    expect("reward", max(rewards.values()), out["reward"])
    expect("wrong recipe", bool(_wrong_starts(env)), out["wrong_recipe"])
    orders = [order for order in out["orders"] if order != "onion_soup"]  # the original's refill (E16)
    expect("orders", env.scene()["orders"], orders)
    labels: list[str | None] = [None, None]
    labels[row["agent"]] = out["ml"]
    _compare_labels(env, labels)
    after["pl"] = [_idle(0), _idle(1)]
    after["pl"][row["agent"]] |= {"pos": list(stand), "dir": facing, "held": out["held"]}
    _compare_state(table, env, after)
    report.compared += 1


def _idle(agent: int) -> dict[str, Any]:
    return {"pos": [[3, 2], [1, 2]][agent], "dir": "N", "held": None}


def _stand(env: ParallelEnv, table: Table, symbol: str, agent: int) -> tuple[tuple[int, int], tuple[int, int], str]:
    """Return a tile of a kind, and where its user stands and looks."""
    tables = _game(env).compiled.tables
    for cell, s in table.tiles.items():
        if table.grid[cell[1]][cell[0]] == symbol and tables.access[agent, s]:
            for letter, (dx, dy) in AHEAD.items():
                stand = (cell[0] - dx, cell[1] - dy)
                if stand in _game(env).compiled.names.floor and stand[0] == (3, 1)[agent]:
                    return cell, stand, letter
    raise Mismatch(f"agent {agent} cannot reach a tile {symbol!r}")


# ------------------------------------------------------------------------------------------- medium-level games


def replay_medium(recording: Recording, report: FileReport) -> None:
    """Replay medium-level games: verdicts, controller, durations, states, histories."""
    report.run_all(((f"episode {episode['ep']}", episode) for episode in recording.episodes), _replay_medium)


def _replay_medium(episode: Mapping[str, Any], report: FileReport) -> None:
    steps = len(episode["steps"])
    env = make("CollabOvercooked-v0", preset="original", task=episode["order"], max_cycles=steps + 1)
    env.reset(seed=0)
    table = Table(env)
    before: Mapping[str, Any] = {"t": 0, "pl": [_idle(0) | {"pos": [3, 1]}, _idle(1)], "ob": []}
    history: list[list[dict[str, Any]]] = [[], []]
    for number, step in enumerate(episode["steps"]):
        with at(f"step {number}, proposals {step['llm']}"):
            chosen = {agent: _choose(env, agent, i, step, report) for i, agent in enumerate(env.possible_agents)}
            _low_level_deviation(table, before, step["a"], step["p"], step["s"])
            texts = env.game.action_texts()
            current = [
                action or texts[chosen[agent]] for action, agent in zip(_running(env), env.possible_agents, strict=True)
            ]
            if step["no_goal"]:
                _let_waits_come(env)
            _, rewards, _, _, _ = env.step(chosen)
            current = [after or action for after, action in zip(_running(env), current, strict=True)]
            _compare_current(env, current, step)
            expect("low-level actions", _moves(env), [MOVES[action] for action in step["a"]])
            expect("reward", max(rewards.values()), step["r"])
            _compare_labels(env, step["ml"])
            _log(history, env, number)
            _compare_state(table, env, step["s"])
            following = episode["steps"][number + 1]["llm"] if number + 1 < len(episode["steps"]) else None
            if following is not None and not step["r"]:
                _compare_idle(env, current, following)
        report.compared += 1
        before = step["s"]
        if step["r"]:
            break
    _compare_history(history, episode["history"], len(episode["steps"]))


def _choose(env: ParallelEnv, agent: str, seat: int, step: Mapping[str, Any], report: FileReport) -> int:
    """Judge a recorded proposal; return the action that has the effect the original gave it."""
    proposal = step["llm"][seat]
    if proposal is None:
        return 0
    wait = env.parse("wait(1)")
    try:
        ours, action = env.check(agent, proposal)[0], env.parse(proposal)
    except ValueError as problem:
        ours, action = getattr(problem, "code", "?"), wait
    theirs = FORMER_REASONS.get(step["v"][seat][0], step["v"][seat][0])
    if ours == "OK" and theirs == "ok":
        return action
    if ours != theirs:
        report.passed[_verdict_deviation(proposal, ours, theirs)] += 1
    return wait


def _verdict_deviation(proposal: str, ours: str, theirs: str) -> str:
    """Name the listed deviation behind a verdict that differs.

    Returns:
        A kind after which the replay goes on, because both sides wait one step.

    Raises:
        Deviation: A kind after which the games differ.
        Mismatch: If none is listed.
    """
    call = proposal.replace(" ", "")
    if ours == "F_NOT_FUNCTION" != theirs and _words_around(call):
        if theirs == "ok":
            raise Deviation(C1)
        return C1
    if theirs == "ok":
        if ours == "F_WAIT_NUMBER" or call == "wait":
            return C6
    elif theirs == "F_NOT_FUNCTION" and call == "deliver()":
        return C9
    elif theirs == "F_NOT_FUNCTION" and call in ("deliver_soup()", "place_obj_on_counter()") and call != proposal:
        return C8
    elif ours == "F_PICKUP_PLACE_UNKNOWN" and call.endswith((",dispenser)", ",counter0)")):
        return C13
    elif theirs.startswith("RECIPE_") and call.startswith("check_recipe"):
        return C10
    raise Mismatch(f"verdict on {proposal!r}: ours {ours}, recorded {theirs}")


def _words_around(call: str) -> bool:
    """Tell whether a text holds a call and something else, or a verb inside a longer word."""
    whole = CALL.fullmatch(call)
    if whole is None:
        return CALL.search(call) is not None
    return whole[1] not in VERBS and any(verb in whole[1] for verb in VERBS)


def _moves(env: ParallelEnv) -> list[str]:
    _, out = env.arrays
    return [Primitive(row[EventColumn.PRIMITIVE]).name.lower() for row in out.events[0]]


def _let_waits_come(env: ParallelEnv) -> None:
    """Choose random numbers by which actions without a goal become waits, as they did in the recordings."""
    state, _ = env.arrays
    for seed in count():
        state.rng[:] = seed_states([seed])
        rng = state.rng[0].copy()
        if all(draw_below(rng, 2) == 1 for _ in env.possible_agents):
            return


def _running(env: ParallelEnv) -> list[str | None]:
    """Return the action that each agent is carrying out."""
    return [agent["action"] for agent in env.scene()["agents"]]


def _log(history: list[list[dict[str, Any]]], env: ParallelEnv, number: int) -> None:
    """Add the step's labels to the histories."""
    for i, event in enumerate(env.events()):
        if event is not None:
            history[i].append({"timestamp": number + 1, "action": event["label"]})


def _compare_idle(env: ParallelEnv, current: Sequence[str], following: Sequence[str | None]) -> None:
    """Compare who has finished: the original asks exactly those for a new action in the next step."""
    for i, agent in enumerate(env.possible_agents):
        idle = not env.action_mask(agent)[0]
        expect(f"whether agent {i} is idle after {current[i]}", idle, following[i] is not None)


def _compare_current(env: ParallelEnv, current: Sequence[str], step: Mapping[str, Any]) -> None:
    """Compare what is being carried out, and the name that goes with each low-level action."""
    for i, (ours, theirs, verdicts) in enumerate(zip(current, step["cur"], step["v"], strict=True)):
        expect(f"verdict on the correction of agent {i}", list(verdicts[1:]), ["ok"] * (len(verdicts) - 1))
        if theirs is None or theirs.startswith("wait"):  # the original may already have cleared a wait of agent 0
            expect(f"current action of agent {i}", ours.startswith("wait"), True)
        else:
            expect(f"current action of agent {i}", ours, env.game.action_texts()[env.parse(theirs)])
        start, pickup = ours.startswith(OPERATIONS), ours.startswith("pickup")
        name = "[start]" if start else ours[len("pickup(") : ours.index(",")] if pickup else ""
        expect(f"parameter of agent {i}", name, (step["p"][i] or "").lower())


def _compare_history(ours: list[list[dict[str, Any]]], recorded: Sequence[Any], steps: int) -> None:
    """Compare the logs; the original loses the labels of the last step (M1)."""
    for i in range(2):
        kept = [entry for entry in ours[i] if entry["timestamp"] < steps]
        expect(f"history of agent {i}", kept, [{**entry, "action": _name(entry["action"])} for entry in recorded[i]])


# ------------------------------------------------------------------------------------------- scores


def _references() -> dict[str, list[Any]]:
    env = make("CollabOvercooked-v0")
    return {
        name: [{f"agent_{i}": plan for i, plan in enumerate(reference)} for reference in task.references]
        for name, task in _game(env).kitchen.tasks.items()
    }


def _close(what: str, ours: Any, recorded: Any) -> None:
    """Compare numbers to 1e-12 and everything else exactly, at any depth."""
    if isinstance(recorded, dict):
        for key in recorded:
            _close(f"{what}.{key}", ours[key], recorded[key])
    elif isinstance(recorded, list) and isinstance(ours, (list, tuple)):
        expect(f"length of {what}", len(ours), len(recorded))
        for i, value in enumerate(recorded):
            _close(f"{what}[{i}]", ours[i], value)
    elif isinstance(recorded, float) or isinstance(ours, float):
        if not abs(ours - recorded) <= TOLERANCE:
            expect(what, ours, recorded)
    else:
        expect(what, ours, recorded)


def replay_tes(recording: Recording, report: FileReport) -> None:
    """Compute every recorded TES, maximum over references, and ITES again."""
    references = {name: original_evaluation.references_by_agent(rows) for name, rows in _references().items()}
    document = recording.first
    tables = (
        ("tes", lambda row: original_evaluation.score_original_tes_row(row, document["beta"])),
        (
            "tes_max_over_references",
            lambda row: original_evaluation.score_original_max_row(row, references[row["task"]]),
        ),
        ("ites", lambda row: original_evaluation.score_original_ites_row(row, references[row["task"]])),
    )
    for name, score in tables:
        rows = [(f"{name} row {number}", row) for number, row in enumerate(document[name])]
        report.run_all(rows, partial(_score, score), one)


def _score(score: Callable[[Any], Mapping[str, Any]], row: Mapping[str, Any], report: FileReport) -> None:
    for key, value in score(row).items():
        _close(key, value, row[key])
    report.compared += 1


def replay_evaluation(recording: Recording, report: FileReport) -> None:
    """Score every recorded experiment log again."""
    references = {name: original_evaluation.references_by_agent(rows) for name, rows in _references().items()}
    env = make("CollabOvercooked-v0")
    vocabularies = kitchen_vocabularies(_game(env).compiled.names.items[1:])

    def score(case: Mapping[str, Any]) -> Mapping[str, Any]:
        return original_evaluation.score_original_case(case, references[case["task"]], vocabularies)

    cases = [(f"case {number}", case) for number, case in enumerate(recording.first["cases"])]
    report.run_all(cases, partial(_score, score), one)


def _interacts(first: Any) -> bool:
    return has("rows")(first) and starts_with(has("tile", "held", "on_tile", "out"))(first["rows"])


FORMATS = (
    Format("Collab-Overcooked, low level", has("ep", "kind", "orders0", "init", "steps"), replay_traces),
    Format("Collab-Overcooked, medium level", has("ep", "order", "ref", "steps", "history"), replay_medium),
    Format("Collab-Overcooked, single interacts", _interacts, replay_interacts),
    Format("Collab-Overcooked, TES and ITES", has("beta", "tes", "tes_max_over_references", "ites"), replay_tes),
    Format("Collab-Overcooked, evaluation", has("cases"), replay_evaluation),
)
