"""Facts about the household games on the documentation's pages; ``facts.py`` writes them there."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from collab_overcooked import registry
from collab_overcooked.games.house.engine import macro_actions, rules, step
from collab_overcooked.games.house.engine.constants import Reason
from collab_overcooked.games.house.env import Housework, Transport
from collab_overcooked.games.house.suite import efficiency_improvement, published, score_record
from collab_overcooked.metrics.intervals import Estimate, mean_ci
from collab_overcooked.reporting.result_table import Column, estimate_json

from .writing import (
    code,
    feature_table,
    option_table,
    order_of_play,
    played,
    read_json,
    reason_table,
    rules_of,
    steps_of,
    table,
    write_json,
)

RESULT_FILE = "house.json"
TEAMS = {"housework": ("random", "greedy", "mhp", "planner"), "transport": ("random", "greedy", "rhp", "planner")}
EPISODES = {"housework": 10, "transport": 6}  # of each kind of task
SEARCH = "mcts:simulations=60,depth=15"
SMALL: dict[str, dict[str, Any]] = {  # what the trained policies play: options of suite and environment, and who plays
    "housework": {"tasks": ("set_table",), "options": {}},
    "transport": {
        "tasks": ("food",), "rooms": (4,), "containers": (2,), "options": {"targets": 4, "max_ticks": 1000},
    },
}  # fmt: skip
SMALL_TEAMS = {  # with numbers of episodes
    "housework": {"random": 30, "greedy": 30, "ppo:housework_set_table": 30, SEARCH: 5},
    "transport": {"random": 30, "greedy": 30, "ppo:transport_small": 30, SEARCH: 5},
}
SHOWN = {"housework": ("ticks", 1.0, 1), "transport": ("rate", 100.0, 1)}  # metric, scale, digits


@cache
def game(env_id: str, **options: Any) -> Any:
    """Return a compiled game."""
    return registry.load_game(env_id, **options)


def house_specs() -> str:
    """List what a trainer asks first."""
    both = [game("Housework-v0"), game("Transport-v0")]
    low = [game(own.id, action_level="primitive") for own in both]
    rows = [
        ("agents", *("1 to 4; 2 if `agents` is not given" for _ in both)),
        ("a tick is", "a step of the original", "a frame of the original"),
        ("step", *("until an agent can choose anew, or one tick (`stepping`)" for _ in both)),
        (
            "actions",
            *(f"{code(a.single_action_space)}; primitive {b.n_actions}" for a, b in zip(both, low, strict=True)),
        ),
        ("observation", *(code(own.single_observation_space) for own in both)),
        ("global state", *(f"`env.state()`, float32 {own.state_space.shape}" for own in both)),
        ("reward", *("1 for each wanted thing that comes to the goal place, to all agents" for _ in both)),
        ("episode", *(f"terminated when all is there, truncated after {own.max_cycles} ticks" for own in both)),
    ]
    return table(("", *(code(own.id) for own in both)), rows)


def housework_options() -> str:
    """List the options of Housework."""
    return option_table(Housework, ())


def transport_options() -> str:
    """List the options of Transport that are not those of Housework."""
    known = housework_options().split("\n")[2:]
    return "\n".join(row for row in option_table(Transport, ()).split("\n") if row not in known)


def house_features() -> str:
    """List the blocks of the observation of Housework with their places."""
    return feature_table(game("Housework-v0"))


def house_reasons() -> str:
    """List why actions are refused, or fail."""
    return reason_table(Reason)


def house_rules() -> str:
    """List the rules in the words of their kernels."""
    return "\n\n".join(rules_of(module, steps_of(step)) for module in (rules, macro_actions))


def house_order_of_play() -> str:
    """List what happens in a step, in order."""
    return order_of_play(steps_of(step))


def house_results() -> str:
    """Show what the baselines reach, and what papers print."""
    measured = read_json(RESULT_FILE)
    if measured is None:
        return "Not measured yet: `python docs/facts.py --house` measures and writes this table."
    return "\n\n".join(_results(suite, measured["suites"][suite]) for suite in TEAMS)


def _results(suite: str, measured: dict[str, Any]) -> str:
    _, scale, digits = SHOWN[suite]
    shown = Column("", "estimate", digits, scale=scale)
    rows = [
        (
            code(team),
            own["agents"],
            own["episodes"],
            _words(shown, own["score"]),
            _words(Column("", "estimate", 0, scale=100.0), own["success"]),
            _words(Column("", "estimate", 0, scale=100.0), own["improvement"]) if own["improvement"] else "",
        )
        for team, own in measured.items()
    ]
    heads = ("team", "agents", "episodes", f"{suite}: {_measure(suite)}", "success %", "improvement over one agent %")
    numbers = ", ".join(f"{who} {_printed(value)}" for who, value in published()[suite].items())
    theirs = f"Published, in another simulator, {_measure(suite)}: {numbers}."
    return table(heads, rows, right=range(1, len(heads))) + "\n\n" + theirs


def _measure(suite: str) -> str:
    return "average steps" if suite == "housework" else "transport rate %"


def _printed(value: Any) -> str:
    return f"{value[2]} (stuff {value[0]}, food {value[1]})" if isinstance(value, list) else f"{value:g}"


def _words(column: Column, ends: dict[str, float | None]) -> str:
    value, interval = column.text(Estimate(ends["value"] or 0.0, ends["low"], ends["high"]))
    return f"{value} ({interval})" if interval else value


def house_trained() -> str:
    """Show what the trained policies and a general search reach in small tasks."""
    measured = read_json(RESULT_FILE)
    if measured is None:
        return "Not measured yet: `python docs/facts.py --house`."
    rows = []
    for suite, teams in measured["small"].items():
        for team, own in teams.items():
            rate, ticks = (
                _words(Column("", "estimate", 1, scale=s), own[k]) for k, s in (("rate", 100.0), ("ticks", 1.0))
            )
            rows.append((suite, code(f"{team} + {team}"), own["episodes"], rate, ticks))
    return table(("suite", "team", "episodes", "brought, %", "ticks"), rows, right=(2, 3, 4))


def measure() -> None:
    """Play the baselines through the suites, alone and in pairs, and keep their scores."""
    suites: dict[str, Any] = {}
    for suite, teams in TEAMS.items():
        suites[suite] = {}
        for team in teams:
            alone = _play(suite, team, 1)
            for agents, values in ((1, alone), (2, _play(suite, team, 2))):
                name, gain = SHOWN[suite][0], None
                if agents == 2:
                    single, pair = ([own[name] for own in each] for each in (alone, values))
                    gain = efficiency_improvement(single, pair, lower_is_better=suite == "housework")
                suites[suite][team if agents == 1 else f"{team} + {team}"] = {
                    "agents": agents,
                    "episodes": len(values),
                    "score": estimate_json(mean_ci([own[name] for own in values])),
                    "success": estimate_json(mean_ci([own["success"] for own in values])),
                    "improvement": None if gain is None else estimate_json(gain),
                }
            print(suite, team, suites[suite][team]["score"]["value"], flush=True)
    write_json(RESULT_FILE, {"suites": suites, "small": _measure_small()})


def _measure_small() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for suite, teams in SMALL_TEAMS.items():
        found[suite] = {}
        for team, episodes in teams.items():
            values = _play(suite, team, 2, episodes=episodes, **SMALL[suite])
            means = {name: estimate_json(mean_ci([own[name] for own in values])) for name in ("rate", "ticks")}
            found[suite][team] = {"episodes": len(values), **means}
            print(suite, team, means["rate"]["value"], flush=True)
    return found


def _play(suite: str, team: str, agents: int, options: Any = None, **own: Any) -> list[dict[str, Any]]:
    own = {"episodes": EPISODES[suite], **own}
    records = played(suite, team, options=options, agents=agents, **own)
    return [score_record(record) | {"success": float(record.success)} for record in records]


FACTS: tuple[Callable[[], str], ...] = (
    house_specs,
    housework_options,
    transport_options,
    house_features,
    house_reasons,
    house_rules,
    house_order_of_play,
    house_results,
    house_trained,
)
