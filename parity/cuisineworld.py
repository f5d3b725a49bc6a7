"""Recordings of the public CuisineWorld code: episodes, scripted cases, crashes, legal lists, RL rows, appendix H.

Every deviation that is passed over or stops a replay is listed, with the same tag, in docs/archive/deviations.md.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from collab_overcooked.envs.api import clone
from collab_overcooked.envs.commands import CommandEnv, CommandResult
from collab_overcooked.games.cuisineworld.engine.compile import ORIGINAL_INSTANCES, ORIGINAL_KINDS
from collab_overcooked.games.cuisineworld.engine.constants import (
    NOTHING,
    UNLIMITED,
    Agent,
    Place,
    Reason,
    Row,
    Tool,
    Verb,
)
from collab_overcooked.games.cuisineworld.engine.rules import apply_command
from collab_overcooked.games.cuisineworld.engine.spec import DEFAULT_ALPHA, DEFAULT_BETA, Level, levels
from collab_overcooked.games.cuisineworld.engine.state import State
from collab_overcooked.games.cuisineworld.engine.step import ALL_ACCEPTED, COMPLETION, STEP_COST
from collab_overcooked.games.cuisineworld.env import CuisineWorld
from collab_overcooked.games.cuisineworld.text.text import ALL_IDLE, Void
from collab_overcooked.kernels.jit import row_at
from collab_overcooked.registry import make
from parity.report import (
    Deviation,
    FileReport,
    Format,
    Mismatch,
    Recording,
    at,
    expect,
    has,
    one,
    read_recording,
    starts_with,
)

# Listed deviations, by tag.
O22 = "O22 original raises, list voided here"
O22_START = "O22 original raises, refused here"
O34 = "O34 a line lost in print"
NO_STATE = "state not recorded"

TRACES = "golden_traces.jsonl.gz"  # the recording whose states the legal lists refer to
PRINTED_DIGITS = 6  # decimals to which the rewards of appendix H were written down

# The original's action codes: a verb's first code, then 3 * kind + instance, or the number of an ingredient.
CODE_BLOCK = 211
FIRST_CODE = {"goto": 1, "put": 31, "activate": 61, "get": 91}
FIRST_INGREDIENT_CODE = 121


def _game(env: CommandEnv) -> CuisineWorld:
    assert isinstance(env.game, CuisineWorld)
    return env.game


def _content(tool: Mapping[str, Any]) -> str | None:
    return "&".join(tool["content"]) or None


def _orders(scene: Mapping[str, Any]) -> list[list[Any]]:
    """Return open orders as the recordings list them."""
    return [[order["name"], _time(order["remaining"])] for order in scene["orders"]]


def _time(remaining: int | None) -> int:
    return UNLIMITED if remaining is None else remaining


# ------------------------------------------------------------------------------------------- whole episodes


def _level_of(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the built-in level of a recording, or the values of one that is made for it."""
    steps = {"max_cycles": header["max_steps"]} if "max_steps" in header else {}
    if header["level"] in levels() and (header["oracle"] or set(header["lifetimes"].values()) == {10}):
        return {"extends": header["level"], **steps}
    items = header.get("task_ingredients") or {name: [name] for name in header["task_names"]}
    return {
        "extends": "cookbook",
        "name": header["level"],
        "kitchen": [re.sub(r"\d+$", "", name) for name in header["kitchen"]],
        "orders": {
            name: {"items": list(items[name]), "lifetime": header["lifetimes"][name]} for name in header["task_names"]
        },
        "interval": header["task_interval"],
        **steps,
    }


def _make(header: Mapping[str, Any]) -> CommandEnv:
    """Make the environment of a recorded episode, and check that its times are the recorded ones."""
    alpha = (header["alpha"] or DEFAULT_ALPHA) if header["oracle"] else None
    env = make(
        "CuisineWorld-v0",
        level=_level_of(header),
        agents=header["num_agents"],
        alpha=alpha,
        beta=header["beta"] or DEFAULT_BETA,
        max_open_orders=header["max_num_tasks"],
        max_cycles=len(header["steps"]) + 1,
        idle_error=True,
    )
    game = _game(env)
    expect("kitchen", list(game.level.locations), list(header["kitchen"]))
    expect("orders", list(game.level.order_names), list(header["task_names"]))
    expect("interval", game.timing.interval, header["task_interval"])
    expect("lifetimes", dict(game.timing.lifetimes), dict(header["lifetimes"]))
    return env


def _start(env: CommandEnv, header: Mapping[str, Any]) -> None:
    """Reset with the recorded seed; a later episode of a run only has its orders, as its stream is halfway through."""
    options: dict[str, Any] = {}
    if header["episode_in_world"]:
        options["orders"] = header["drawn_all"]
    elif header["first_task_forced"]:
        options["orders"] = [header["first_task_forced"]]
    env.reset(seed=header["seed"], options=options)


def _compare_state(scene: Mapping[str, Any], recorded: Mapping[str, Any]) -> None:
    """Compare everything that a recorded state holds."""
    expect("timestep", scene["timestep"], recorded["t"])
    expect("timer", scene["timer"], recorded["timer"])
    expect("orders", _orders(scene), recorded["tasks"])
    expect("agents", [[a["location"], a["holding"], a["busy"]] for a in scene["agents"]], recorded["agents"])
    tools = {name: [_content(tool), tool["busy"], tool["ready"]] for name, tool in scene["tools"].items()}
    expect("locations", tools, recorded["locs"])
    expect("accomplished", len(scene["accomplished"]), recorded["accomplished"])


def _unmet(game: CuisineWorld, state: State, seat: int, number: int) -> list[Reason]:
    """Return the reasons that the original reports for a command: those from AGENT_BUSY on may come together."""
    first = Reason(game.why_refused(state, 0, seat, number))
    row = game.compiled.tables.catalogue[number]
    place = row[Row.PLACE]
    agent = state.agents[0, seat]
    tool = state.tools[0, row[Row.PLACE]]
    busy = agent[Agent.BUSY] > 0
    occupied = tool[Tool.BUSY] > 0
    holding = agent[Agent.ITEM] != NOTHING
    reported = {
        Verb.GET: {Reason.GET_HOLDING: holding, Reason.GET_OCCUPIED: occupied},
        Verb.PUT: {
            Reason.PUT_EMPTY_HANDED: not holding,
            Reason.PUT_OCCUPIED: occupied,
            Reason.FULL: tool[Tool.COUNT] >= game.compiled.tables.places[place, Place.CAPACITY],
        },
        Verb.ACTIVATE: {
            Reason.ACTIVATE_HOLDING: holding,
            Reason.ACTIVATE_OCCUPIED: occupied,
            Reason.ACTIVATE_EMPTY: tool[Tool.COUNT] == 0,
        },
    }
    together = {Reason.AGENT_BUSY: busy} | reported.get(row[Row.VERB], {})
    return [reason for reason, unmet in together.items() if unmet] if first in together else [first]


def _original_feedback(game: CuisineWorld, state: State, commands: Sequence[str], feedback: Sequence[str]) -> list[str]:
    """Check that the feedback has the first message about each refused command, and return it with all of them.

    Args:
        game: The game.
        state: Before the step; mutated.
        commands: Of the step.
        feedback: Of the step.
    """
    try:
        parsed = game.read_commands(commands)
    except Void:
        return list(feedback)
    firsts = lines = [line for line in feedback if line == ALL_IDLE]
    for seat, number in parsed:
        item = int(state.agents[0, seat, Agent.ITEM])
        messages = [game.report(number, reason, seat, item) for reason in _unmet(game, state, seat, number) if reason]
        firsts, lines = firsts + messages[:1], lines + messages
        apply_command(game.compiled.tables, row_at(state, 0), np.array([number, Reason.OK, seat, NOTHING], np.int32))
    expect("first messages", list(feedback), [message for message in firsts if message])
    return [message for message in lines if message]


def _compare_step(env: CommandEnv, before: State, moment: CommandResult, recorded: Mapping[str, Any]) -> None:
    """Compare everything that a recorded step holds."""
    feedback = _original_feedback(_game(env), before, recorded["actions"], moment.feedback)
    scene, order_events = env.scene(), _game(env).order_events(env.arrays[1], 0)
    expect("success list", list(moment.obeyed), recorded["ok"])
    expect("feedback", feedback, recorded["feedback"])
    expect("suggestions", [], recorded["suggestions"])
    for agent, reward in moment.rewards.items():
        expect(f"reward of {agent}", reward, recorded["reward"])
    expect("an order completed", bool(order_events["completed"]), recorded["success"])
    expect("drawn", [] if order_events["drawn"] is None else [order_events["drawn"]], recorded["drawn"])
    counts = [scene[name] for name in ("completed", "failed", "refused", "noops")]
    expect("counters", counts, recorded["counts"])
    expect("completed orders", [entry["order"] for entry in order_events["completed"]], recorded["just_success"])
    expect("completed at", [entry["location"] for entry in order_events["completed"]], recorded["just_success_loc"])
    expect("an order failed", order_events["expired"] > 0, recorded["just_failed"])
    expect("game over", order_events["game_over"], recorded["game_over"])
    _compare_state(scene, recorded)


def replay_traces(recording: Recording, report: FileReport) -> None:
    """Replay episodes step by step, by the recorded seed and command strings."""
    report.run_all(((f"episode {e['id']} of {e['level']}", e) for e in recording.episodes), _replay_trace)


def replay_scripted(recording: Recording, report: FileReport) -> None:
    """Replay the scripted cases."""
    report.run_all(((f"case {case['name']}", case) for case in recording.first), _replay_trace)


def _replay_trace(episode: Mapping[str, Any], report: FileReport) -> None:
    env = _make(episode)
    _start(env, episode)
    _compare_state(env.scene(), episode["initial"])
    drawn = [order["name"] for order in env.scene()["orders"]]
    for step in episode["steps"]:
        before = clone(env.arrays[0], 0)
        moment = env.command(step["actions"])
        drawn += [name for name in [_game(env).order_events(env.arrays[1], 0)["drawn"]] if name is not None]
        with at(f"step {step['t']}, {step['actions']}"):
            _compare_step(env, before, moment, step)
        report.compared += 1
    expect("all drawn orders", drawn[bool(episode["first_task_forced"]) :], episode["drawn_all"])


# ------------------------------------------------------------------------------------------- inputs that raise


def replay_crashes(recording: Recording, report: FileReport) -> None:
    """Give the inputs on which the original raises; here they void the step, or are refused with a ValueError."""
    report.run_all(((f"case {case['case']}", case) for case in recording.first), _replay_crash, one)


def _replay_crash(case: Mapping[str, Any], report: FileReport) -> None:
    report.compared += 1
    if "actions" not in case:
        _replay_refused_start(case, report)
        return
    env = make("CuisineWorld-v0", level=case["level"], agents=case["num_agents"], idle_error=True)
    env.reset(seed=0)
    before = [agent["location"] for agent in env.scene()["agents"]]
    start = clone(env.arrays[0], 0)
    moment = env.command(case["actions"])
    after = [agent["location"] for agent in env.scene()["agents"]]
    expect("timestep", env.scene()["timestep"], 1)
    if case["result"] == "ok":
        expect("success list", list(moment.obeyed), case["ok"])
        feedback = _original_feedback(_game(env), start, case["actions"], moment.feedback)
        expect("feedback", feedback, case["feedback"])
        expect("locations", after, case["agent_locations_after"])
        expect("recorded timestep", env.scene()["timestep"], case["time_step_after"])
        return
    expect("success list", list(moment.obeyed), [False] * len(case["actions"]))
    expect("locations", after, before)
    expect("number of messages", len(moment.feedback), 1)
    report.passed[O22] += 1


def _replay_refused_start(case: Mapping[str, Any], report: FileReport) -> None:
    try:
        env = make("CuisineWorld-v0", level=case.get("level", "level_0"), idle_error=True)
        env.reset(options={"orders": ["tunaSashimi"]})
    except ValueError:
        report.passed[O22_START] += 1
        return
    raise Mismatch("the original raises, but the start was accepted")


# ------------------------------------------------------------------------------------------- legal lists


def replay_available(recording: Recording, report: FileReport) -> None:
    """Compare the original's legal lists with ``mask="original"``, in states of the episodes recorded beside them."""
    traces = recording.path.with_name(TRACES)
    known = read_recording(traces) if traces.is_file() else None
    episodes = {episode["id"]: episode for episode in (known.episodes if known else ())}
    rows = ((f"episode {row['id']}, step {row['t']}", row) for row in recording.episodes)
    report.run_all(rows, partial(_replay_list, episodes), one)


def _replay_list(episodes: Mapping[int, Any], row: Mapping[str, Any], report: FileReport) -> None:
    if row["id"] not in episodes:
        raise Deviation(NO_STATE)
    episode = episodes[row["id"]]
    env = _make(episode)
    _start(env, episode)
    for step in episode["steps"][: row["t"]]:
        env.command(step["actions"])
    lists = make("CuisineWorld-v0", **{**_game(env).kwargs, "mask": "original"})
    lists.reset(seed=0, options={"state": env.scene()})
    for agent, recorded in zip(lists.possible_agents, row["actions"], strict=True):
        expect(f"list of {agent}", lists.legal_actions(agent), recorded)
    report.compared += 1


# ------------------------------------------------------------------------------------------- RL rows


def _code(level: Level, objects: Sequence[str], text: str) -> int:
    """Return the original's code of one of our actions, within an agent's block."""
    verb, *words = text.split()
    if verb == "noop":
        return 0
    if len(words) == 2:
        return FIRST_INGREDIENT_CODE + objects.index(words[0])
    kind = level.kitchen[level.locations.index(words[0])]
    number = int(words[0].removeprefix(kind))
    return FIRST_CODE[verb] + ORIGINAL_INSTANCES * ORIGINAL_KINDS.index(kind) + number


def replay_rl(recording: Recording, report: FileReport) -> None:
    """Compare the 64 numbers, masks, codes and steps of the original's RL environment, each row from its own numbers.

    Rows hold neither how often an item still earns shaped reward nor the order of mixed items: rewards are compared up
    to shaping that the step can have earned.
    """
    envs: dict[str, CommandEnv] = {}
    rows = ((f"{row['level']}, step {row['t']}", row) for row in recording.episodes)
    report.run_all(rows, partial(_replay_rl_row, envs), one)


def _replay_rl_row(envs: dict[str, CommandEnv], row: Mapping[str, Any], report: FileReport) -> None:
    if row["level"] not in envs:
        options = {"level": row["level"], "agents": 2, "alpha": DEFAULT_ALPHA}
        envs[row["level"]] = make("CuisineWorld-v0", obs="original64", mask="original", **options)
    env = envs[row["level"]]
    game, numbers = _game(env), np.zeros(64)
    for k, value in row["obs"]:
        numbers[k] = value
    objects = sorted([*game.level.base_ingredients, *game.level.recipes])
    scene = _scene_of(game, objects, numbers)
    fresh = _arrivals(scene, row, game)
    observations, infos = env.reset(seed=0, options={"state": scene, "orders": [game.level.order_names[0], *fresh]})
    for agent in env.possible_agents:
        expect(f"numbers of {agent}", observations[agent].tolist(), numbers.tolist())
    codes = [_code(game.level, objects, text) for text in game.action_texts()]
    masks = [infos[agent]["action_mask"] for agent in env.possible_agents]
    allowed = [i * CODE_BLOCK + codes[k] for i, mask in enumerate(masks) for k in np.flatnonzero(mask)]
    expect("mask", sorted(allowed), row["mask"])
    chosen = [codes.index(code % CODE_BLOCK) for code in row["codes"]]
    texts = [game.command_text(code // CODE_BLOCK, k) for code, k in zip(row["codes"], chosen, strict=True)]
    expect("decoded commands", texts, row["decoded"])
    moment = env.command(row["decoded"])
    order_events = game.order_events(env.arrays[1], 0)
    expect("success list", list(moment.obeyed), row["ok"])
    expect("orders", _orders(env.scene()), row["tasks"])
    expect("an order completed", bool(order_events["completed"]), row["just_success"])
    expect("done", bool(moment.truncations["agent_0"]), row["done"])
    if row["reward"] not in _rewards(order_events["completed"], moment.obeyed):
        raise Mismatch(f"reward: recorded {row['reward']!r} is none that this step can earn")
    report.compared += 1


def _scene_of(game: CuisineWorld, objects: Sequence[str], numbers: np.ndarray) -> dict[str, Any]:
    """Return the scene that the 64 numbers describe; a lone product in a tool is one that was cooked there."""
    level = game.level
    places = {
        ORIGINAL_INSTANCES * ORIGINAL_KINDS.index(kind) + int(name.removeprefix(kind)): name
        for kind, name in zip(level.kitchen, level.locations, strict=True)
    }
    tools = {}
    for code, name in places.items():
        slot = 18 + 4 * (code // ORIGINAL_INSTANCES)
        number = int(numbers[slot + code % ORIGINAL_INSTANCES])
        content = [] if number < 0 else [objects[k] for k in range(len(objects)) if number >> k & 1]
        kind = level.tools[level.kitchen[level.locations.index(name)]]
        cooked = len(content) == 1 and content[0] in level.recipes and level.recipes[content[0]].tool == kind.kind
        ready = kind.open or kind.role == "storage" or (kind.role == "cook" and cooked)
        tools[name] = {"content": content, "ready": ready, "busy": 0}
    times = [int(value) for value in numbers[5:10]]
    orders = [
        {"name": objects[int(number)], "remaining": time}
        for number, time in zip(numbers[:5], times, strict=True)
        if level.order_names.count(objects[int(number)]) and (number or time)
    ]
    return {
        "timestep": int(numbers[10]),
        "timer": int(numbers[10]) % game.timing.interval,
        "orders": orders,
        "agents": [
            {
                "location": places[int(numbers[at])],
                "holding": None if numbers[at + 1] < 0 else objects[int(numbers[at + 1])],
                "busy": int(numbers[at + 2]),
            }
            for at in (12, 15)
        ],
        "tools": tools,
    }


def _arrivals(scene: Mapping[str, Any], row: Mapping[str, Any], game: CuisineWorld) -> list[str]:
    """Return the order that the recorded tick added, if it did: one with its full lifetime at the turn of the timer."""
    if (scene["timestep"] + 1) % game.timing.interval:
        return []
    return [name for name, time in row["tasks"] if time == game.timing.lifetimes[name]][-1:]


def _rewards(completed: Sequence[Mapping[str, Any]], obeyed: Sequence[bool]) -> Iterator[float]:
    """Yield all rewards of a step with what it completed and obeyed, over all shaping that it can have earned."""
    base = STEP_COST
    for entry in completed:
        base += COMPLETION + _time(entry["remaining"])
    if all(obeyed):
        base += ALL_ACCEPTED
    for ingredients, mixtures, products in itertools.product(range(3), repeat=3):
        shaping = 0.0
        for value, count in ((0.1, ingredients), (0.5, mixtures), (1.0, products)):
            for _ in range(count):
                shaping += value
        yield base + shaping


def replay_rl_names(recording: Recording, report: FileReport) -> None:
    """Compare the lists by which the original numbers objects, kinds and verbs, and what it says to a double agent."""
    report.run_all([("names", recording.first)], _replay_names, one)


def _replay_names(document: Mapping[str, Any], report: FileReport) -> None:
    env = make("CuisineWorld-v0", agents=2, obs="original64", mask="original")
    level = _game(env).level
    expect("objects", sorted([*level.base_ingredients, *level.recipes]), document["objects"])
    expect("kinds", list(ORIGINAL_KINDS), document["location_types"])
    expect("verbs", sorted([*FIRST_CODE, "noop"]), sorted(document["verbs"]))
    expect("shape", list(env.observation_space("agent_0").shape or ()), document["two_agents"]["obs_shape"])
    expect("codes", [2 * CODE_BLOCK] * 2, document["two_agents"]["nvec"])
    env.reset(seed=0)
    twice = document["both_slots_same_agent"]
    moment = env.command(twice["decoded"])
    expect("success list", list(moment.obeyed), twice["ok"])
    expect("feedback", list(moment.feedback), twice["feedback"])
    report.compared += 1


# ------------------------------------------------------------------------------------------- appendix H


def replay_appendix(recording: Recording, report: FileReport) -> None:
    """Replay the printed history and demo, comparing states as printed: our own text form is read back for it."""
    document = recording.first
    parts = ((name, {**document[name], "replayed": document["replay_on_original"][name]}) for name in ("main", "demo"))
    report.run_all(parts, _replay_print)


def _replay_print(part: Mapping[str, Any], report: FileReport) -> None:
    setup, replayed = part["setup"], part["replayed"]
    level: str | dict[str, Any] = setup["level"]
    if "kitchen" in setup:  # the older level file, which is not shipped
        level = {
            "extends": "cookbook",
            "name": setup["level"],
            "kitchen": [re.sub(r"\d+$", "", name) for name in setup["kitchen"]],
            "orders": setup["task_names"],
            "max_cycles": setup["max_steps"],
        }
    options = {"agents": setup["num_agents"], "alpha": setup["alpha"], "beta": setup["beta"]}
    env = make("CuisineWorld-v0", level=level, **options, idle_error=True, show_lost=True)
    expect("interval", _game(env).timing.interval, setup["task_interval"])
    expect("lifetimes", dict(_game(env).timing.lifetimes), dict(setup["lifetimes"]))
    forced = replayed.get("first_task_forced")
    env.reset(seed=setup.get("seed", replayed.get("seed_used", 0)), options={"orders": [forced]} if forced else {})
    feedback: Sequence[str] = ()
    for number, step in enumerate(part["steps"]):
        with at(f"step {number}"):
            _compare_print(env.describe("agent_0"), feedback, step["state"], report)
            if number < len(replayed["per_step"]):
                feedback = _replay_printed_step(env, step, replayed["per_step"][number])
        report.compared += 1


def _replay_printed_step(env: CommandEnv, step: Mapping[str, Any], replayed: Mapping[str, Any]) -> tuple[str, ...]:
    moment = env.command(step["actions"])
    expect("success list", list(moment.obeyed), replayed["action_success"])
    expect("feedback", list(moment.feedback), replayed["feedback_after"])
    expect("reward", round(moment.rewards["agent_0"], PRINTED_DIGITS), replayed["reward"])
    return moment.feedback


def _compare_print(text: str, feedback: Sequence[str], recorded: Mapping[str, Any], report: FileReport) -> None:
    printed = read_state(text)
    missing = set(printed["locations"]) - set(recorded["locations"])
    if len(missing) == 1 and all(printed["locations"][name]["content"] is None for name in missing):
        report.passed[O34] += 1
        printed["locations"] = {k: v for k, v in printed["locations"].items() if k not in missing}
    for key, value in printed.items():
        expect(key, value, recorded[key])
    if recorded["error_messages"] is not None:
        expect("messages", list(feedback), recorded["error_messages"])
        expect("suggestions", [], recorded["suggestions"])


def read_state(text: str) -> dict[str, Any]:
    """Read the text form of a state back into values, in the form of the recordings.

    Raises:
        Mismatch: For a line that the form does not have.
    """
    state: dict[str, Any] = {"tasks": [], "agents": [], "locations": {}, "accomplished": []}
    lines = iter(text.split("\n"))
    for line in lines:
        if line == "-accomplished task:":
            state["accomplished"] = [name for name in next(lines).split(", ") if name]
        elif line and not line.startswith("-") and line != "current dishes:":
            _read_line(line, state)
    return state


def _read_line(line: str, state: dict[str, Any]) -> None:
    for key, pattern in (
        ("level", r"current game level: (\w+)"),
        ("step", r"current game step: (\d+)"),
        ("max_steps", r"maximum game steps: (\d+)"),
    ):
        if found := re.fullmatch(pattern, line):
            state[key] = found[1] if key == "level" else int(found[1])
            return
    if found := re.fullmatch(r" {4}name: (\w+) lifetime: (-?\d+)", line):
        state["tasks"].append([found[1], int(found[2])])
    elif found := re.fullmatch(r"at\(agent(\d+), (\w+)\)", line):
        expect("agent listed", int(found[1]), len(state["agents"]))
        state["agents"].append({"location": found[2]})
    elif found := re.fullmatch(r"hold\(agent(\d+), (\w+)\)", line):
        state["agents"][int(found[1])]["hold"] = None if found[2] == "None" else found[2]
    elif found := re.fullmatch(r"inside\((\w+), ([\w&]+)\)", line):
        state["locations"][found[1]] = {"content": None if found[2] == "None" else found[2], "occupied": False}
    elif found := re.fullmatch(r"occupy\((\w+)\)", line):
        state["locations"][found[1]]["occupied"] = True
    else:
        raise Mismatch(f"the text form has no line {line!r}")


# ------------------------------------------------------------------------------------------- formats


_is_trace = has("kitchen", "task_names", "drawn_all", "initial", "steps")

FORMATS = (
    Format("CuisineWorld, episodes", _is_trace, replay_traces),
    Format("CuisineWorld, scripted cases", starts_with(_is_trace), replay_scripted),
    Format("CuisineWorld, inputs that raise", starts_with(has("case", "result")), replay_crashes),
    Format("CuisineWorld, legal lists", has("id", "t", "actions"), replay_available),
    Format("CuisineWorld, RL rows", has("level", "obs", "mask", "codes", "decoded"), replay_rl),
    Format("CuisineWorld, RL names", has("objects", "location_types", "verbs", "two_agents"), replay_rl_names),
    Format("CuisineWorld, appendix H", has("main", "demo", "replay_on_original"), replay_appendix),
)
