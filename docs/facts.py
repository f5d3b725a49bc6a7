"""Facts on the documentation's pages, made from the code that they describe.

A page says ``<!-- generated: name -->``, what follows up to ``<!-- end -->`` is written by the function of that name
below. The prose around it is written by hand.

    python docs/facts.py                # rewrite all pages in place
    python docs/facts.py --check        # exit code 1 if a page is stale
    python docs/facts.py --parity DIR   # replay the recordings in DIR, keep the counts, then rewrite
    python docs/facts.py --planner      # measure the planner on all tasks (minutes), keep the times, then rewrite
    python docs/facts.py --cuisineworld # measure the baselines of CuisineWorld (some only: name them; from a run
                                        # folder: planner=FOLDER), keep the counts, then rewrite
    python docs/facts.py --rush         # measure the baselines of Rush, keep their metrics, then rewrite
    python docs/facts.py --house        # measure the baselines of the household games, in the same way
    python docs/facts.py --plans        # play the study of plan search (from its folder: name it), keep its numbers
    python docs/facts.py --craft        # measure the baselines of CraftKitchen, in the same way
    python docs/facts.py --overcooked   # measure the baselines of Overcooked, in the same way
    python docs/facts.py --proxies      # measure the stand-ins for people of Overcooked
    python docs/facts.py --pictures     # draw the pictures of CuisineWorld anew
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import facts_compare as compare
import facts_craft as craft
import facts_cuisineworld as cuisineworld
import facts_house as house
import facts_language as language
import facts_overcooked as overcooked
import facts_plans as plans
import facts_questions as questions
import facts_rooms as rooms
import facts_rush as rush
import facts_scenario as scenario
import facts_training as training
from facts_writing import (
    DOCS,
    block_table,
    calls,
    code,
    complaints,
    example,
    first_line,
    folded,
    option_table,
    plain,
    read_json,
    rules_of,
    section,
    table,
    template,
    write_json,
)

import collab_overcooked
from collab_overcooked import registry, testing
from collab_overcooked.envs import api, parallel, shells
from collab_overcooked.games.collab_overcooked import macro_actions, rules, step, text
from collab_overcooked.games.collab_overcooked.compile import primitive_texts
from collab_overcooked.games.collab_overcooked.constants import Event, Group, Kind
from collab_overcooked.games.collab_overcooked.env import CollabOvercooked
from collab_overcooked.games.collab_overcooked.observe import AGENT_FEATURES, GRID_CHANNELS, UTENSIL_FEATURES
from collab_overcooked.games.collab_overcooked.options import time_limit_of
from collab_overcooked.games.collab_overcooked.policies.reference import reference_steps
from collab_overcooked.games.collab_overcooked.spec import Kitchen, kitchens, load_kitchen

BLOCK = re.compile(r"(<!-- generated: (?P<name>\w+) -->\n)(?P<body>.*?)(<!-- end -->)", re.DOTALL)
WRITTEN_ELSEWHERE = {"benchmarks"}  # benchmarks/make_tables.py writes these
ENV_ID = "CollabOvercooked-v0"


# ------------------------------------------------------------------------------------------- what facts are made from


@cache
def game(**options: Any) -> CollabOvercooked:
    """Return the compiled game."""
    return registry.load_game(ENV_ID, **options)


def kitchen() -> Kitchen:
    """Return the paper's kitchen."""
    return game().kitchen


# ------------------------------------------------------------------------------------------- environments


def environments() -> str:
    """List the registered ids."""
    rows = [(code(record.id), code(record.module), record.summary) for record in registry.GAMES]
    return table(("id", "module", "what it is"), rows)


PAPERS = {
    "CollabOvercooked-v0": "Sun et al. 2025, *Collab-Overcooked*",
    "CuisineWorld-v0": "Gong et al. 2024, *MindAgent*",
    "CraftKitchen-v0": "Gong et al. 2024, *MindAgent*, section 7 (Minecraft), without Minecraft",
    "Overcooked-v0": "Carroll et al. 2019, *Overcooked-AI*; gates of Agashe et al. 2023, *LLM-Coordination*",
    "KitchenRush-v0": "*Collaborative Tasks with Heterogenous LLM Students*",
    "AlienRush-v0": "the same paper",
    "Housework-v0": "Zhang et al. 2024, *CoELA* (C-WAH), after Puig et al. 2021, *Watch-And-Help*",
    "Transport-v0": "Zhang et al. 2024, *CoELA* (TDW-MAT)",
    "CollabCapture-v0": "Agashe et al. 2023, *LLM-Coordination*, and its code of 2024",
    "CollabEscape-v0": "the same paper and code",
}


def games() -> str:
    """List what a reader of the first page asks of each game."""
    rows = []
    for record in registry.GAMES:
        if record.id not in PAPERS:  # its page is still to be written
            continue
        env = registry.make(record.id)
        first = env.possible_agents[0]
        seen, acts = env.observation_space(first), env.action_space(first)
        link = f"[{code(record.id)}](docs/games/{record.game.split('.')[2]}.md)"
        observation = f"{seen.dtype} {seen.shape}"
        rows.append((link, record.summary, len(env.possible_agents), observation, acts.n, PAPERS[record.id]))
    return table(("id", "what it is", "agents", "observation", "actions", "paper"), rows)


def specs() -> str:
    """List what a trainer asks first."""
    ours = game()
    primitive, grid, many = game(action_level="primitive"), game(obs="grid"), game(orders=True)
    agents = [f"`agent_{i}` ({agent.name}, {agent.role})" for i, agent in enumerate(ours.kitchen.agents)]
    limits = sorted({limit_of(name) for name in ours.kitchen.tasks})
    rows = [
        ("make", f'`collab_overcooked.make("{ENV_ID}")`'),
        (
            "module form",
            "`from collab_overcooked.envs import collab_overcooked_v0` with `parallel_env`, `env`, `raw_env`",
        ),
        ("agents", ", ".join(agents)),
        ("actions, medium level", code(ours.single_action_space)),
        ("actions, primitive level", code(primitive.single_action_space)),
        ("observation, features", code(ours.single_observation_space)),
        ("observation, grid", code(grid.single_observation_space)),
        ("observation with `orders=True`", f"{code(many.single_observation_space)}, more orders being shown"),
        ("global state", f"`env.state()`, {code(ours.state_space)}"),
        ("action mask", "int8 in `info[agent]['action_mask']`, or in the observation with `mask_in`"),
        ("reward", f"{ours.kitchen.delivery_reward:g} to every agent for a delivery of the current order, 0 otherwise"),
        ("longest episode", ", ".join(map(str, limits)) + f" steps by level; {many.max_cycles} with `orders`"),
        ("default task", f"{code(ours.pool.tasks[0])}, {ours.max_cycles} steps"),
        ("render modes", ", ".join(map(code, shells.RENDER_MODES))),
    ]
    return table(("", "with the paper's kitchen"), rows)


def options() -> str:
    """List the game's constructor arguments."""
    return option_table(CollabOvercooked, ())


def shell_options() -> str:
    """List the options of the ParallelEnv shell."""
    return option_table(parallel.ParallelEnv, ("game",))


# ------------------------------------------------------------------------------------------- observations


def features() -> str:
    """List the blocks of the flat observation with their places."""
    ours = game()
    names = ours.compiled.names
    items = len(names.items)
    blocks: list[tuple[str, int, str]] = []
    for who in ("self", *(f"teammate {i}" for i in range(1, ours.n_agents))):
        blocks.append((f"{who}: held item", items, "one of the items set to 1; none for an empty hand"))
        blocks.append((f"{who}: plated", 1, "1 if what is held lies on a dish"))
        blocks.append((f"{who}: x, y", 2, "cell"))
        blocks.append((f"{who}: facing", 4, "north, south, east, west"))
        blocks.append((f"{who}: busy", 1, "1 while an action is being carried out"))
    assert sum(size for _, size, _ in blocks) == ours.n_agents * (items + AGENT_FEATURES)
    blocks.append(("order", items, "the wanted item; with `orders`, three such blocks"))
    blocks.append(("recipe", items, "how often each item occurs below the order; 0 for agents without recipes"))
    for place in names.places[Group.UTENSIL :]:
        blocks.append((f"{place}: contents", items, "items before the start, the product afterwards"))
        blocks.append((f"{place}: state", 4, "empty, filling, cooking, ready"))
        blocks.append((f"{place}: time", 2, "steps done, steps left"))
    assert UTENSIL_FEATURES == 6
    blocks.append(("counters", items, "how many counters that the agent can use hold each item"))
    blocks.append(("plated on counters", 1, "how many of these are on a dish"))
    blocks.append(("clock", 2, "steps taken, steps left (at most 255)"))
    (length,) = ours.compiled.observation_shape
    return block_table(blocks, length)


def grid_channels() -> str:
    """List the channels of the grid observation."""
    ours = game(obs="grid")
    kinds = [station.name for station in ours.kitchen.stations.values() if station.kind == "utensil"]
    channels = ["floor", "counter", "ingredient dispenser", "dish dispenser", "serving"]
    channels += [words.replace("_", " ") for words in kinds]
    assert len(channels) == 1 + Kind.UTENSIL + len(kinds)
    marks = [f"self, facing {side}" for side in ("north", "south", "east", "west")]
    marks += [f"a teammate, facing {side}" for side in ("north", "south", "east", "west")]
    marks += ["plated: the object here lies on a dish", "utensil: steps done", "utensil: steps left"]
    marks += ["utensil: cooking", "utensil: ready", "on the serving cell: steps left in the episode (at most 255)"]
    assert len(marks) == GRID_CHANNELS
    rows: list[tuple[str, str]] = [(str(i), name) for i, name in enumerate([*channels, *marks])]
    depth, items = ours.compiled.observation_shape[-1], len(ours.compiled.names.items)
    assert len(rows) + items == depth
    rows.append(
        (f"{len(rows)}–{depth - 1}", f"the {items} items, where they are: in hands, on usable counters, in utensils")
    )
    return table(("channel", "set where"), rows)


def items() -> str:
    """List item numbers in words."""
    names = game().compiled.names.items
    raw = len(kitchen().ingredients)
    return (
        f"Items are numbered 0 to {len(names) - 1}: 0 is the dish, 1 to {raw} the raw ingredients, the rest the "
        "products, in the order of the kitchen file (`env.game.compiled.names.items`)."
    )


# ------------------------------------------------------------------------------------------- actions


def actions_medium() -> str:
    """Describe the catalogue of medium-level actions in ranges of ids."""
    texts = game().action_texts()
    rows: list[list[Any]] = []
    for action, words in enumerate(texts):
        kind = kind_of(words)
        if rows and rows[-1][2] == kind:
            rows[-1][1] = action
        else:
            rows.append([action, action, kind])
    shown = [
        (f"{first}–{last}" if last > first else first, last - first + 1, code(kind), code(texts[first]))
        for first, last, kind in rows
    ]
    return table(("id", "number", "kind", "first of them"), shown, right=(1,))


def kind_of(words: str) -> str:
    """Name the kind of a medium-level action."""
    name, _, arguments = words.partition("(")
    if name == "pickup":
        place = arguments.rstrip(")").partition(",")[2]
        return f"pickup(food,{place})" if place != "dish_dispenser" else words
    if name == "wait":
        return "wait(n)"
    operations = game().compiled.names.operations
    if name in operations:
        return "operation(utensil)"
    return f"{name}(utensil)" if arguments not in ("", ")") else words


def actions_primitive() -> str:
    """Describe the primitive actions."""
    texts = primitive_texts(game().compiled.names.items)
    first = next(i for i, words in enumerate(texts) if words.startswith("interact("))
    rows = [(str(i), code(words)) for i, words in enumerate(texts[:first])]
    rows.append((f"{first}–{len(texts) - 1}", f"`interact(item)`, from {code(texts[first])} to {code(texts[-1])}"))
    return table(("id", "action"), rows)


def grammar() -> str:
    """List the calls of the text form and who can ever use them."""
    ours = game()
    rows = []
    for words, meaning in (
        ("pickup(food,place)", "place: `counter`, `ingredient_dispenser`, `dish_dispenser` or a utensil"),
        ("place_obj_on_counter()", "a free counter, shared ones first"),
        ("put_obj_in_utensil(utensil)", "the second argument counts if two are given"),
        *((f"{verb}({place})", "start it") for place, verb in utensils()),
        ("fill_dish_with_food(utensil)", "with a dish in hand"),
        ("deliver()", "also written `deliver_soup()`"),
        ("wait(n)", f"n from 1 to {ours.kitchen.max_wait}"),
        ("request('<action>')", "asks a teammate; never carried out by the one who writes it"),
    ):
        rows.append((code(words), meaning))
    return table(("call", "note"), rows)


def utensils() -> list[tuple[str, str]]:
    """Return utensils with their operations."""
    names = game().compiled.names
    return list(zip(names.places[Group.UTENSIL :], names.operations, strict=True))


def format_reasons() -> str:
    """List why a text is no action."""
    rows = [(code(name), template(words)) for name, words in text.FORMAT_REASONS.items()]
    return table(("code", "message"), rows)


def reasons() -> str:
    """List why the game refuses an action."""
    rows = [(code(reason.name), int(reason), template(words)) for reason, words in text.REASONS.items()]
    return table(("code", "number", "message"), rows, right=(1,))


def events() -> str:
    """List the events."""
    meanings = {
        Event.NONE: ("nothing happened", "none"),
        Event.PICKUP: ("a hand took something", "`pickup(food,place)`"),
        Event.PLACE: ("a hand put something on a counter", "`place_obj_on_counter()`"),
        Event.PUT: ("something went into a utensil", "`put_obj_in_utensil(utensil)`"),
        Event.START: ("a utensil began a recipe", "`operation(utensil)`"),
        Event.START_WRONG: ("a start destroyed contents that make no recipe", "`operation(utensil)`"),
        Event.FILL: ("ready food moved onto a dish", "`fill_dish_with_food(utensil)`"),
        Event.DELIVER: ("a delivery that paid", "`deliver()`"),
        Event.DELIVER_WRONG: ("a delivery that did not pay", "`deliver()`"),
    }
    rows = [(int(event), code(event.name), *meanings[event]) for event in Event]
    return table(("code", "event", "when", "label in histories"), rows)


def rewards() -> str:
    """List what is paid."""
    paid = game().compiled.tables.rewards
    rows = [(code(event.name), f"{paid[0, event]:g}", f"{paid[1, event]:g}") for event in Event if event != Event.NONE]
    return table(("event", "paid to every agent", "paid to the agent who did it"), rows, right=(1, 2))


# ------------------------------------------------------------------------------------------- rules


def rules_table() -> str:
    """List every rule."""
    return "\n\n".join(map(rules_of, (rules, macro_actions)))


def order_of_play() -> str:
    """List the calls of ``step_env`` in order."""
    function = ast.parse(inspect.getsource(getattr(step.step_env, "py_func", step.step_env))).body[0]
    assert isinstance(function, ast.FunctionDef)
    rows: list[tuple[Any, ...]] = []
    for statement in function.body:
        for level, called in branches(statement):
            for name in called:
                known = getattr(step, name, None)
                rows.append((len(rows) + 1, first_line(known), code(name), level))
    return table(("", "what happens", "function", "action level"), rows)


def branches(statement: ast.stmt) -> list[tuple[str, list[str]]]:
    """Return the functions that a statement calls, by action level."""
    if isinstance(statement, ast.If):
        return [("medium", calls(statement.body)), ("primitive", calls(statement.orelse))]
    return [("both", calls([statement]))]


# ------------------------------------------------------------------------------------------- kitchens and tasks


def kitchen_pictures() -> str:
    """Show the shipped kitchens."""
    parts = []
    for name in kitchens():
        spec = load_kitchen(name)
        rows = [list(row) for row in spec.grid]
        for seat, agent in enumerate(spec.agents):
            rows[agent.start[1]][agent.start[0]] = str(seat)
        picture = "\n".join("".join(row) for row in rows)
        who = ", ".join(f"{i} {agent.name} ({agent.role})" for i, agent in enumerate(spec.agents))
        knows = ", ".join(agent.name for agent in spec.agents if agent.knows_recipes)
        references = sum(bool(task.references) for task in spec.tasks.values())
        lines = [
            f"### {name}",
            spec.description,
            f"```text\n{picture}\n```",
            f"Agents: {who}. Recipes are known to {knows}. Actions: {game(kitchen=name).n_actions}. "
            f"Tasks: {len(spec.tasks)}, {references} of them with reference trajectories. "
            f"`stuck_limit`: {spec.stuck_limit}.",
        ]
        parts.append("\n\n".join(lines))
    return "\n\n".join(parts)


def legend() -> str:
    """Explain the symbols of the paper's grid."""
    rows = [(code("X"), "counter"), (code(" "), "floor"), ("digit", "start cell of that agent")]
    for symbol, station in kitchen().stations.items():
        who = "everybody in reach" if station.users is None else ", ".join(f"agent_{seat}" for seat in station.users)
        what = f"{station.name}, `{station.operation}`, {station.capacity} items" if station.name else station.kind
        rows.append((code(symbol), f"{what}; used by {who}"))
    return table(("symbol", "paper's kitchen"), rows)


def limit_of(task: str, rule: str = "inclusive") -> int:
    """Return a task's time limit in steps."""
    return time_limit_of(kitchen(), task, 1.5, rule)


def tasks() -> str:
    """List the tasks by level."""
    spec = kitchen()
    parts = []
    for level, names in sorted(spec.levels().items()):
        time = spec.tasks[names[0]].reference_time
        lengths = {tuple(tuple(map(len, reference)) for reference in spec.tasks[name].references) for name in names}
        pairs = ", ".join(f"{a} + {b}" for a, b in next(iter(lengths))) if len(lengths) == 1 else "see below"
        parts.append(
            f"### Level {level}\n\nReference time {time}, limit {limit_of(names[0])} steps; actions of chef + "
            f"assistant in each reference: {pairs}.\n"
        )
        rows = []
        for name in names:
            used = raw_ingredients(spec, name)
            rows.append((spec.tasks[name].title, code(name), used, "yes" if spec.serving[name] else "no"))
        parts.append(table(("task", "name", "raw ingredients", "on a dish"), rows) + "\n")
    return "\n".join(parts).rstrip()


def raw_ingredients(spec: Kitchen, name: str) -> str:
    """List the raw ingredients of a product."""
    if name in spec.ingredients:
        return name.replace("_", " ")
    recipe = spec.recipe_of(name)
    assert recipe is not None
    return ", ".join(raw_ingredients(spec, part) for part in recipe.inputs)


def time_limits() -> str:
    """List reference times and limits by level."""
    spec = kitchen()
    rows = []
    for level, names in sorted(spec.levels().items()):
        name = names[0]
        rows.append((level, spec.tasks[name].reference_time, limit_of(name, "strict"), limit_of(name)))
    return table(
        ("level", "reference time T\\*", "`strict`: ⌊1.5 T*⌋", "`inclusive`: ⌊1.5 T*⌋ + 1"), rows, right=(0, 1, 2, 3)
    )


def recipes() -> str:
    """List the recipes by utensil."""
    spec, parts = kitchen(), []
    used = {part for task in spec.tasks for part in (task, *below(spec, task))}
    for station in spec.stations.values():
        if station.kind != "utensil":
            continue
        made = [recipe for recipe in spec.recipes if recipe.utensil == station.name]
        rows = [
            (code(recipe.product), ", ".join(recipe.inputs), recipe.time, "yes" if recipe.product in used else "no")
            for recipe in made
        ]
        body = table(("product", "inputs", "steps", "part of a task"), rows, right=(2,))
        parts.append(folded(f"{station.name}: {len(made)} recipes, started with {station.operation}", body))
    return "\n\n".join(parts)


def below(spec: Kitchen, name: str) -> set[str]:
    """Return all foods below a product."""
    recipe = spec.recipe_of(name)
    return set() if recipe is None else {part for given in recipe.inputs for part in (given, *below(spec, given))}


# ------------------------------------------------------------------------------------------- findings


@cache
def steps_of_references() -> dict[str, tuple[int, ...]]:
    """Play every reference of every task and return the steps to the delivery."""
    return {
        name: tuple(steps_of_reference(name, number) for number in range(1, len(task.references) + 1))
        for name, task in kitchen().tasks.items()
    }


def steps_of_reference(task: str, number: int, kitchen: str = "paper") -> int:
    """Return the steps that a reference takes, the delivering one included."""
    steps = reference_steps(registry.load_game(ENV_ID, task=task, kitchen=kitchen), number)
    assert steps is not None, f"reference {number} of {task} does not deliver"
    return steps


def reference_table() -> str:
    """Compare published times with what the references take."""
    spec, steps, rows = kitchen(), steps_of_references(), []
    for level, names in sorted(spec.levels().items()):
        for taken, members in group(names, lambda name: steps[name]).items():
            which = "all five" if len(members) == len(names) else ", ".join(map(code, members))
            time = spec.tasks[names[0]].reference_time
            rows.append((level, which, time, time + 1, ", ".join(map(str, taken)), min(taken)))
    heads = ("level", "tasks", "published T\\*", "T\\* + 1", "steps of each reference", "fastest")
    return table(heads, rows, right=(0, 2, 3, 5))


def group(names: Iterable[str], key: Callable[[str], Any]) -> dict[Any, list[str]]:
    """Gather names by a key, in order."""
    found: dict[Any, list[str]] = {}
    for name in names:
        found.setdefault(key(name), []).append(name)
    return found


def planner_times() -> str:
    """Compare published times with the planner's."""
    kept = read_json("planner.json")
    if kept is None:
        return "Not measured yet: `python docs/facts.py --planner` measures and writes this table."
    measured, spec, rows = kept["tasks"], kitchen(), []
    for level, names in sorted(spec.levels().items()):
        for name in names:
            time, found = spec.tasks[name].reference_time + 1, measured[name]
            sooner = time - found["steps"]
            gain = f"{sooner} ({100 * sooner / time:.0f} %)" if sooner else "0"
            proved = "yes" if found["proved"] else "no"
            rows.append((level, name, (time, min(steps_of_references()[name]), found["steps"], gain, proved)))
    shown = []
    for level in spec.levels():
        same = group([name for at, name, _ in rows if at == level], {name: row for _, name, row in rows}.__getitem__)
        for row, members in same.items():
            which = "all five" if len(members) == len(spec.levels()[level]) else ", ".join(map(code, members))
            shown.append((level, which, *row))
    heads = ("level", "tasks", "T\\* + 1", "fastest reference", "planner", "sooner than T\\* + 1", "proved")
    return table(heads, shown, right=(0, 2, 3, 4, 5))


def measure_planner() -> None:
    """Let the planner find the earliest delivery of every task and keep the times."""
    from facts_best_times import planner_table

    found = {row.task: {"steps": row.best, "proved": row.proved} for row in planner_table()}
    write_json("planner.json", {"version": collab_overcooked.__version__, "tasks": found})


# ------------------------------------------------------------------------------------------- parity


def parity() -> str:
    """Show the counts of the last parity run."""
    kept = read_json("parity.json")
    if kept is None:
        return "Not run yet: `python docs/facts.py --parity DIR` replays the recordings in DIR and writes this table."
    files = kept["files"]
    rows = [
        (code(f["file"]), f["format"], f["episodes"], f["steps"], f"{f['compared'] / f['steps']:.1%}", f["mismatches"])
        for f in files
    ]
    parts = [table(("file", "what", "episodes", "steps", "compared", "mismatches"), rows, right=(2, 3, 4, 5))]
    for key, head in (("stops", "stopped at a listed deviation"), ("passed", "passed over a listed deviation")):
        found = [(kind, code(f["file"]), count) for f in files for kind, count in f[key].items()]
        found.sort(key=lambda row: (row[1], -row[2]))
        parts.append(table((head, "file", "times"), found, right=(2,)))
    return "\n\n".join(parts)


def measure_parity(directory: Path) -> None:
    """Replay all recordings in a folder and keep the counts."""
    from parity import scan

    files = []
    for recording, known in scan(directory):
        if known is None:
            continue
        report = known.replay(recording)
        files.append(
            {
                "file": recording.path.relative_to(directory).as_posix(),
                "format": report.format,
                "episodes": report.episodes,
                "steps": report.steps,
                "compared": report.compared,
                "mismatches": report.mismatches,
                "stops": dict(report.stops.most_common()),
                "passed": dict(report.passed.most_common()),
            }
        )
    write_json("parity.json", {"version": collab_overcooked.__version__, "files": files})


# ------------------------------------------------------------------------------------------- how to


def example_kitchen() -> str:
    """Show the example kitchen file."""
    return example("diner.yaml")


def example_task() -> str:
    """Show the example task file."""
    return example("beef_stew.yaml")


MISTAKES: tuple[tuple[str, str, str], ...] = (
    ("an unknown symbol", "S 0X 1I", "S 0Q 1I"),
    ("a row that is too short", "S 0X 1I", "S 0X 1"),
    ("floor at the edge", "X  X  C", "X  X   "),
    ("an agent without a start", "S 0X 1I", "S 0X  I"),
    ("a station that nobody can reach", "XPPXXXX", "PPPXXXX"),
    ("a misspelt key", "cook_time:", "cooktime:"),
    ("an unknown food", "tomato_soup: [tomato_slices, basil]", "tomato_soup: [tomato_slice, basil]"),
    ("two recipes with the same inputs", "onion_soup: [onion, onion]", "onion_soup: [basil, tomato_slices]"),
    ("a recipe cycle", "inputs: [tomato], time: 2", "inputs: [tomato_soup], time: 2"),
    ("more inputs than fit", "onion_soup: [onion, onion]", "onion_soup: [onion, onion, onion]"),
    ("a task that cannot be ordered", "plain: [tomato_slices]", "plain: [basil]"),
    ("a weight of an unknown task", "{tomato_soup: 2, onion_soup: 1}", "{tomato_soup: 2, onion: 1}"),
    ("a key that stands twice", "max_wait: 5", "max_wait: 5\nmax_wait: 6"),
    ("dishes needed but not there", "XXXXXDX", "XXXXXXX"),
    ("a seat that cannot reach its station", "users: [0]", "users: [1]"),
    ("a product that nobody can make", "X  X  C", "X  X  X"),
)


def layout_errors() -> str:
    """Spoil the example kitchen in several ways and list what is said about it."""
    return complaints("diner.yaml", MISTAKES, lambda path: registry.load_game(ENV_ID, kitchen=str(path)))


def policies() -> str:
    """List the kinds of policies."""
    from collab_overcooked.policies.registry import policy_records

    return table(
        ("write", "what it does"), [(code(record.usage), plain(record.summary)) for record in policy_records()]
    )


def game_protocol() -> str:
    """List what a game offers."""
    rows = []
    for name, member in (*vars(api.Game).items(), *vars(api.TextGame).items(), *vars(api.Replayable).items()):
        if inspect.isfunction(member) and not name.startswith("_") and member.__doc__:
            parameters = ", ".join(list(inspect.signature(member).parameters)[1:])
            rows.append((code(f"{name}({parameters})"), first_line(member)))
    attributes = [(code(name), words) for name, words in section(api.Game, "Attributes").items()]
    return table(("member", "meaning"), [*attributes, *rows])


def registry_record() -> str:
    """List the fields of a registry record."""
    rows = [
        (code(name), words, code(getattr(registry.GAMES[0], name)))
        for name, words in section(registry.GameRecord, "Attributes").items()
    ]
    return table(("field", "meaning", "first record"), rows)


def checks() -> str:
    """List the conformance checks."""
    return table(
        ("check", "what it demands"), [(code(name), first_line(check)) for name, check in testing.CHECKS.items()]
    )


def commands() -> str:
    """List the commands with their options."""
    from typer.main import get_command

    from collab_overcooked.cli import app

    parts = []
    for name, command in walk(get_command(app), "collab-overcooked"):
        rows = []
        for parameter in command.params:
            if parameter.name == "help":
                continue
            option = parameter.param_type_name == "option"
            shown = (
                ", ".join(map(code, [*parameter.opts, *parameter.secondary_opts]))
                if option
                else code(parameter.name.upper())
            )
            rows.append((shown, default_of(parameter), getattr(parameter, "help", "") or ""))
        parts.append(f"### {name}\n\n{command.help}\n\n" + table(("", "default", ""), rows))
    return "\n\n".join(parts)


def walk(command: Any, name: str) -> Iterable[tuple[str, Any]]:
    """Yield all commands below a group with their full names."""
    for word in sorted(command.list_commands(None)):
        _, below_it, _ = command.resolve_command(None, [word])
        if hasattr(below_it, "commands"):
            yield from walk(below_it, f"{name} {word}")
        else:
            yield f"{name} {word}", below_it


def default_of(parameter: Any) -> str:
    """Return a parameter's default as it is typed."""
    if parameter.required:
        return "required"
    value = parameter.default
    if isinstance(value, bool) and parameter.secondary_opts:
        return code((parameter.opts if value else parameter.secondary_opts)[0])
    return "" if value is None or value is False or value in ((), []) else code(value)


# ------------------------------------------------------------------------------------------- pages

FACTS: dict[str, Callable[[], str]] = {
    function.__name__: function
    for function in (
        environments,
        games,
        specs,
        options,
        shell_options,
        features,
        grid_channels,
        items,
        actions_medium,
        actions_primitive,
        grammar,
        format_reasons,
        reasons,
        events,
        rewards,
        rules_table,
        order_of_play,
        kitchen_pictures,
        legend,
        tasks,
        time_limits,
        recipes,
        reference_table,
        planner_times,
        parity,
        example_kitchen,
        example_task,
        layout_errors,
        policies,
        game_protocol,
        registry_record,
        checks,
        commands,
        *compare.FACTS,
        *cuisineworld.FACTS,
        *house.FACTS,
        *plans.FACTS,
        *craft.FACTS,
        *rush.FACTS,
        *rooms.FACTS,
        *scenario.FACTS,
        *training.FACTS,
        *overcooked.FACTS,
        *language.FACTS,
        *questions.FACTS,
    )
}


def pages() -> list[Path]:
    """Return the first page of the repository and all pages of the site."""
    return [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]


def fresh(page: str) -> str:
    """Return a page with its facts written anew.

    Raises:
        ValueError: For a fact that nobody makes.
    """

    def write(match: re.Match[str]) -> str:
        name = match["name"]
        if name in WRITTEN_ELSEWHERE:
            return match[0]
        if name not in FACTS:
            raise ValueError(f"no fact is called {name!r}; known: {', '.join(FACTS)}")
        return f"{match[1]}{made(name)}\n{match[4]}"

    return BLOCK.sub(write, page)


@cache
def made(name: str) -> str:
    """Return a fact, made once."""
    return FACTS[name]()


TASKS: dict[str, Callable[[list[str]], None]] = {
    "--parity": lambda words: measure_parity(Path(*words)),
    "--planner": lambda _: measure_planner(),
    "--cuisineworld": lambda words: cuisineworld.measure(words or cuisineworld.BASELINES),
    "--rush": lambda _: rush.measure(),
    "--house": lambda _: house.measure(),
    "--plans": lambda words: plans.keep_results(words),
    "--craft": lambda _: craft.measure(),
    "--overcooked": lambda words: overcooked.measure(words or overcooked.TEAMS),
    "--proxies": lambda _: overcooked.measure_proxies(),
    "--pictures": lambda _: cuisineworld.draw_pictures(),
}
"""What takes time or loads much, and so is done only when asked for."""


def main(arguments: list[str]) -> int:
    """Rewrite the pages, or tell which are stale."""
    task, *words = arguments or ["--check"]
    if task in TASKS:
        TASKS[task](words)
    elif arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    stale = 0
    for path in pages():
        old = path.read_text(encoding="utf-8")
        new = fresh(old)
        if new != old:
            stale += 1
            print(f"{path.relative_to(DOCS.parent)}: {'stale' if '--check' in arguments else 'rewritten'}")
            if "--check" not in arguments:
                path.write_text(new, encoding="utf-8")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
