"""Facts about Collab-Overcooked on the documentation's pages."""

from __future__ import annotations

from functools import cache
from typing import Any

from collab_overcooked import registry
from collab_overcooked.games.collab_overcooked.engine import macro_actions, rules, step
from collab_overcooked.games.collab_overcooked.engine.compile import primitive_texts
from collab_overcooked.games.collab_overcooked.engine.config import time_limit_of
from collab_overcooked.games.collab_overcooked.engine.constants import Event, Kind, Reason
from collab_overcooked.games.collab_overcooked.engine.observe import GRID_CHANNELS
from collab_overcooked.games.collab_overcooked.engine.spec import Kitchen, kitchens, load_kitchen
from collab_overcooked.games.collab_overcooked.env import CollabOvercooked
from collab_overcooked.games.collab_overcooked.suite.scoring import task_references
from collab_overcooked.games.collab_overcooked.text import text

from .writing import code, drawn, feature_table, option_table, order_of_play, reason_table, rules_of, steps_of, table

ENV_ID = "CollabOvercooked-v0"


@cache
def game(**options: Any) -> CollabOvercooked:
    """Return the compiled game."""
    compiled: Any = registry.load_game(ENV_ID, **options)
    return compiled


def kitchen() -> Kitchen:
    """Return the paper's kitchen."""
    return game().kitchen


def specs() -> str:
    """List what a trainer asks first."""
    ours = game()
    primitive, many = game(action_level="primitive"), game(orders=True)
    seen = game(obs="grid").single_observation_space
    agents = [f"`agent_{i}` ({agent.name}, {agent.role})" for i, agent in enumerate(ours.kitchen.agents)]
    limits = sorted({limit_of(name) for name in ours.kitchen.tasks})
    rows = [
        ("agents", ", ".join(agents)),
        ("actions, medium level", code(ours.single_action_space)),
        ("actions, primitive level", code(primitive.single_action_space)),
        ("observation, features", code(ours.single_observation_space)),
        ("observation, grid", f"{code(f'{seen.dtype} {seen.shape}')}, each channel with bounds of its own"),
        ("observation with `orders=True`", f"{code(many.single_observation_space)}, more orders being shown"),
        ("global state", f"`env.state()`, {code(f'float32 {ours.state_space.shape}')}"),
        ("reward", f"{ours.kitchen.delivery_reward:g} to every agent for a delivery of the current order, 0 otherwise"),
        ("longest episode", ", ".join(map(str, limits)) + f" steps by level; {many.max_cycles} with `orders`"),
        ("default task", f"{code(ours.pool.tasks[0])}, {ours.max_cycles} steps"),
    ]
    return table(("", "with the paper's kitchen"), rows)


def options() -> str:
    """List the game's constructor arguments."""
    return option_table(CollabOvercooked, ())


def features() -> str:
    """List the blocks of the flat observation with their places."""
    return feature_table(game())


def grid_channels() -> str:
    """List the channels of the grid observation."""
    ours = game(obs="grid")
    kinds = [station.name for station in ours.kitchen.stations.values() if station.kind == "utensil"]
    channels = ["floor", "counter", "ingredient dispenser", "dish dispenser", "serving"]
    channels += [words.replace("_", " ") for words in kinds]
    assert len(channels) == 1 + Kind.UTENSIL + len(kinds)
    marks = [f"{who}, facing {side}" for who in ("self", "a teammate") for side in ("north", "south", "east", "west")]
    marks += ["plated: the object here lies on a dish", "utensil: steps done", "utensil: steps left"]
    marks += ["utensil: cooking", "utensil: ready", "on the serving cell: steps left in the episode (at most 255)"]
    assert len(marks) == GRID_CHANNELS
    first = len(channels) + len(marks)
    depth, items = ours.single_observation_space.shape[-1], len(ours.compiled.names.items)
    assert first + items == depth
    return (
        f"Channels 0 to {first - 1}: {'; '.join([*channels, *marks])}. Channels {first} to {depth - 1}: the {items} "
        "items, where they are: in hands, on usable counters, in utensils."
    )


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


def format_reasons() -> str:
    """List why a text is no action."""
    return ", ".join(map(code, text.FORMAT_REASONS)) + "."


def reasons() -> str:
    """List why the game refuses an action."""
    return reason_table(Reason)


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
        Event.FILL_AS_PUT: (
            'with `preset="original"`: as `FILL`, at any utensil but a pot',
            "`put_obj_in_utensil(utensil)`",
        ),
        Event.PUT_NO_EFFECT: (
            'with `preset="original"`: nothing moved, for the utensil was full, or cooking and faced with a dish',
            "`put_obj_in_utensil(utensil)`",
        ),
    }
    rows = [(int(event), code(event.name), *meanings[event]) for event in Event]
    return table(("code", "event", "when", "label in histories"), rows)


def collab_overcooked_order_of_play() -> str:
    """List what happens in a step, in order."""
    return order_of_play(steps_of(step))


def rules_table() -> str:
    """List every rule."""
    return "\n\n".join(rules_of(module, steps_of(step)) for module in (rules, macro_actions))


def kitchen_pictures() -> str:
    """Show the built-in kitchens."""
    parts = []
    for name in kitchens():
        spec = load_kitchen(name)
        rows = [list(row) for row in spec.grid]
        for seat, agent in enumerate(spec.agents):
            rows[agent.start[1]][agent.start[0]] = str(seat)
        who = ", ".join(f"{i} {agent.name} ({agent.role})" for i, agent in enumerate(spec.agents))
        knows = ", ".join(agent.name for agent in spec.agents if agent.knows_recipes)
        references = sum(bool(task.references) for task in spec.tasks.values())
        summary = f"{spec.description} Agents: {who}. Recipes are known to {knows}. Tasks: {len(spec.tasks)}, "
        summary += f"{references} of them with reference trajectories."
        parts.append((code(name), drawn(rows), summary, game(kitchen=name).n_actions, spec.stuck_limit))
    return table(("kitchen", "grid", "description", "actions", "`stuck_limit`"), parts)


def limit_of(task: str, rule: str = "inclusive") -> int:
    """Return a task's time limit in steps."""
    return time_limit_of(kitchen(), task, 1.5, rule)


def tasks() -> str:
    """List the tasks by level."""
    spec, known = kitchen(), task_references({}).tasks
    rows = []
    for level, names in sorted(spec.levels().items()):
        (behaviours,) = {tuple(known[name].behaviours.values()) for name in names}
        rows.append((level, ", ".join(map(code, names)), *behaviours))
    return table(("level", "tasks", *known["boiled_egg"].behaviours), rows, right=(0, 2, 3, 4, 5))


def time_limits() -> str:
    """List reference times and limits by level."""
    spec = kitchen()
    rows = []
    for level, names in sorted(spec.levels().items()):
        name = names[0]
        lengths = {(len(chef), len(mate)) for task in names for chef, mate in spec.tasks[task].references}
        pairs = ", ".join(f"{chef} + {mate}" for chef, mate in sorted(lengths))
        rows.append((level, spec.tasks[name].reference_time, limit_of(name, "strict"), limit_of(name), pairs))
    heads = ("level", "reference time T\\*", "`strict`: ⌊1.5 T*⌋", "`inclusive`: ⌊1.5 T*⌋ + 1", "chef + assistant")
    return table((*heads[:4], f"actions of {heads[4]} in references"), rows, right=(0, 1, 2, 3))


FACTS = (
    specs,
    options,
    features,
    grid_channels,
    actions_medium,
    actions_primitive,
    format_reasons,
    reasons,
    events,
    rules_table,
    collab_overcooked_order_of_play,
    kitchen_pictures,
    tasks,
    time_limits,
)
