"""Facts about Overcooked on the documentation's pages; ``facts.py`` writes them there."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from itertools import product
from statistics import fmean
from typing import Any

from collab_overcooked import registry
from collab_overcooked.baselines.scores import score
from collab_overcooked.games.overcooked.engine import directives, macro_actions, rules, step
from collab_overcooked.games.overcooked.engine.constants import LETTERS, VERBS, Encoding, Event, Kind, Reason
from collab_overcooked.games.overcooked.engine.generate import GeneratorConfig
from collab_overcooked.games.overcooked.engine.spec import load_kitchen
from collab_overcooked.games.overcooked.env import Overcooked
from collab_overcooked.games.overcooked.policies.proxy import proxy_layouts
from collab_overcooked.games.overcooked.scoring import points_by_phase, published
from collab_overcooked.games.overcooked.suite import CHANGING, ordered_layouts
from collab_overcooked.games.overcooked.text import text
from collab_overcooked.io.text import plural
from collab_overcooked.metrics.registry import measure as measure_record
from collab_overcooked.policies.policy_file import STAND_INS, policy_path, read_policy

from .writing import (
    RESULTS,
    code,
    drawn,
    measured,
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

ENV_ID = "Overcooked-v0"
RESULT_FILE = "overcooked.json"
TEAMS = {"random": 10, "greedy": 1, "planner": 1}  # policy -> episodes; the others play the same one again
ALONE = ("gated_delivery", "gated_delivery_forced")  # layouts on which one planner plays by itself


@cache
def game(layout: Any = "cramped_room", **options: Any) -> Overcooked:
    """Compile a game once."""
    return Overcooked(layout, **options)


def overcooked_specs() -> str:
    """List what a trainer asks first."""
    ours = game()
    rows = [
        ("central control", f'`gymnasium.make("{registry.NAMESPACE}/{ENV_ID}")`, actions `MultiDiscrete`'),
        ("agents", f"1 to 4 (`agents`); {ours.n_agents} in `cramped_room`"),
        ("primitive actions", f"{code(ours.single_action_space)}: {', '.join(map(code, ours.action_texts()))}"),
        ("directives", f"{code(game(action_level='medium').single_action_space)}, more on larger layouts"),
        ("global state", f"`env.state()`, {code(f'float32 {ours.state_space.shape}')}"),
        ("reward", "float32: what the team's deliveries paid; own shaped reward in `info[agent]['shaped_reward']`"),
        ("episode", f"truncated after {ours.max_cycles} steps (`max_cycles`); never terminated"),
    ]
    return table(("", "with the default layout, `cramped_room`"), rows)


def overcooked_options() -> str:
    """List the game's constructor arguments."""
    return option_table(Overcooked, ())


def overcooked_generator() -> str:
    """List the options of the generator."""
    rows = [(code(each.name), code(each.default), each.metadata["help"]) for each in fields(GeneratorConfig)]
    return table(("option", "default", "meaning"), rows)


def overcooked_observations() -> str:
    """List observations by name with their shapes on two layouts."""
    rows = []
    for encoding in Encoding:
        name = encoding.name.lower()
        spaces = [game(layout, obs=name).single_observation_space for layout in ("cramped_room", "counter_circuit")]
        rows.append((code(name), *(code(f"{space.dtype} {space.shape}") for space in spaces)))
    return table(("`obs`", "cramped_room", "counter_circuit"), rows)


def overcooked_layouts() -> str:
    """Draw all layouts, with what they are and where seats start."""
    parts = []
    for name in ordered_layouts():
        layout = load_kitchen(name)
        rows = [list(row) for row in layout.grid]
        for digit, (x, y) in enumerate(layout.starts, start=1):
            rows[y][x] = str(digit)
        parts.append((code(name), drawn(rows), layout.description))
    return table(("layout", "grid", "what it is"), parts)


def overcooked_directives() -> str:
    """List the kinds of numbered objects, and what can be done with each."""
    rows = []
    for kind in Kind:
        name = f"{LETTERS[kind]}0"
        words = [text.directive_text(verb, kind, name) for verb in VERBS[kind]]
        words += [f"start {name}"] * (kind == Kind.POT)
        rows.append((code(LETTERS[kind]), text.TITLES[kind], ", ".join(map(code, words))))
    rows.append(("", "always", ", ".join(map(code, ("continue", "wait", "move away")))))
    return table(("letter", "objects", "directives"), rows)


def overcooked_reasons() -> str:
    """List why actions are refused."""
    return reason_table(Reason)


def overcooked_events() -> str:
    """List the 25 events."""
    return ", ".join(code(event.name.lower()) for event in Event)


def overcooked_rules() -> str:
    """List every rule."""
    return "\n\n".join(rules_of(module, steps_of(step)) for module in (rules, macro_actions, directives))


def overcooked_order_of_play() -> str:
    """List the calls of ``step_env`` in order."""
    return order_of_play(steps_of(step))


# ------------------------------------------------------------------------------------------- scores


def _measured() -> dict[str, Any]:
    return read_json(RESULT_FILE) or {"teams": {}, "alone": {}}


def overcooked_results() -> str:
    """Show scores of the baselines beside published ones."""
    measured, theirs = _measured()["teams"], published()["self_play"]
    rows = []
    for layout in ordered_layouts():
        own = [f"{measured[team][layout]:g}" if layout in measured.get(team, {}) else "–" for team in TEAMS]
        if not any(layout in numbers for numbers in (*measured.values(), *theirs.values())):
            continue  # kitchens that only others change into
        rows.append((code(layout), *own, *(_printed(numbers.get(layout)) for numbers in theirs.values())))
    heads = ("layout", *map(code, TEAMS), *(f"{name}, published" for name in theirs))
    return table(heads, rows, right=range(1, len(heads)))


def _printed(entry: Any) -> str:
    if entry is None:
        return "–"
    mean, error = entry
    return f"{mean:g}" if error is None else f"{mean:g} ± {error:g}"


def overcooked_human_proxy() -> str:
    """Show published scores beside a model of human play."""
    theirs = published()["with_human_proxy"]
    names = [f"{agent}, seat {seat}" for agent, seats in theirs.items() for seat in seats]
    columns = [numbers for seats in theirs.values() for numbers in seats.values()]
    layouts = [name for name in ordered_layouts() if any(name in numbers for numbers in columns)]
    rows = [(code(name), *(_printed(numbers.get(name)) for numbers in columns)) for name in layouts]
    return table(("layout", *names), rows, right=range(1, 1 + len(names)))


def overcooked_alone() -> str:
    """Show what one planner earns alone behind gates."""
    scores = _measured()["alone"]
    limits = {layout: load_kitchen(layout).gate_limit for layout in ALONE}
    rows = [(code(layout), limits[layout], f"{scores[layout]:g}" if layout in scores else "–") for layout in ALONE]
    return table(("layout", "steps that a gate stays open", "score of one `planner` alone"), rows, right=(1, 2))


def measure() -> None:
    """Play baselines on all layouts, one planner alone, and stand-ins for people, and keep the scores."""
    teams = {team: _scores(team, layouts="all", episodes=episodes) for team, episodes in TEAMS.items()}
    alone = _scores("planner", layouts=ALONE, options={"agents": 1})
    scores = {"teams": teams, "alone": alone, "proxies": _measure_proxies(), "changes": measure_changes()}
    write_json(RESULT_FILE, scores)


def measure_changes() -> list[dict[str, Any]]:
    """Play kitchens that change every 100 steps, in secret and announced, and return scores by phase and recovery."""
    rows = []
    for (name, pool), notice, team in product(CHANGING.items(), (0, 20), ("greedy", "planner")):
        options = {"changes": 100, "notice": notice}
        records = played("overcooked", team, layouts=pool, episodes=4, options=options)
        row = {"kitchen": name, "notice": notice, "team": team, "phases": points_by_phase(records)}
        rows.append(row | {"recovery": fmean(measure_record(record, ["recovery"])["recovery"] for record in records)})
    return rows


def overcooked_changes() -> str:
    """Show scores by phase of kitchens that change, and steps to recover."""
    rows = []
    for row in _measured().get("changes", []):
        signal = f"{row['notice']} steps" if row["notice"] else "secret"
        phases = [f"{score:.0f}" for score in row["phases"]]
        rows.append(
            (row["kitchen"], signal, code(row["team"]), *phases, f"{sum(row['phases']):.0f}", f"{row['recovery']:.0f}")
        )
    rows += [_learned_row(*key, lines) for key, lines in _learned_in_changes().items()]
    rows.sort(key=lambda row: (row[0], row[1] != "secret"))
    heads = ("kitchen", "notice", "team", *(f"phase {k}" for k in range(1, 5)), "score", "`recovery`")
    return table(heads, rows, right=range(3, len(heads)))


def _learned_in_changes() -> dict[tuple[str, int, str], list[dict[str, Any]]]:
    """Return the lines of ``benchmarks/changing_results.py`` by kitchen, notice and network."""
    lines: dict[tuple[str, int, str], list[dict[str, Any]]] = {}
    path = RESULTS / "overcooked_changes.jsonl"
    for row in path.read_text().splitlines() if path.exists() else ():
        line = json.loads(row)
        lines.setdefault((line["kitchen"], line["notice"], line["network"]), []).append(line)
    return lines


def _learned_row(kitchen: str, notice: int, network: str, lines: list[dict[str, Any]]) -> tuple[str, ...]:
    """Return the row of a network: means over its seeds, and the range of their scores."""
    phases = [fmean(scores) for scores in zip(*(line["phases"] for line in lines), strict=True)]
    scores = [sum(line["phases"]) for line in lines]
    recovered = [line["recovery"] for line in lines if line["recovery"] is not None]
    total = f"{fmean(scores):.0f}"
    if len(scores) > 1:
        total += f" ({min(scores):.0f}–{max(scores):.0f})"
    signal = f"{notice} steps" if notice else "secret"
    recovery = f"{fmean(recovered):.0f}" if recovered else "none"
    team = f"{network}, {plural(len(lines), 'seed')}"
    return (kitchen, signal, team, *(f"{score:.0f}" for score in phases), total, recovery)


def _measure_proxies() -> dict[str, dict[str, list[float]]]:
    """Play the built-in stand-ins for people beside the clone among them, in each seat, and return the mean scores."""
    scores: dict[str, dict[str, list[float]]] = {kind: {} for kind in STAND_INS}
    for layout in proxy_layouts(STAND_INS[0]):
        people = read_policy(policy_path(f"bc_{layout}"))
        for kind in STAND_INS:
            one = read_policy(policy_path(f"{kind}_{layout}"))
            teams = [one, people], [people, one]
            scores[kind][layout] = [score(game(layout, obs="features"), team, seed=1000)["return"] for team in teams]
    return scores


def overcooked_proxies() -> str:
    """Show what the built-in stand-ins for people earn beside the clone among them."""
    scores = _measured()["proxies"]
    layouts = [name for name in ordered_layouts() if name in scores["bc"]]
    rows = [
        (code(name), f"{scores['bc'][name][0]:.1f}", *(f"{own:.1f}" for own in scores["ppo_bc"][name]))
        for name in layouts
    ]
    heads = ("layout", "`proxy:bc`", "`proxy:ppo_bc`, seat 0", "`proxy:ppo_bc`, seat 1")
    return table(heads, rows, right=(1, 2, 3))


def _scores(team: str, **options: Any) -> dict[str, float]:
    return {row["layout"]: row["score"]["value"] for row in measured("overcooked", team, **options)}


FACTS: tuple[Callable[[], str], ...] = (
    overcooked_specs,
    overcooked_options,
    overcooked_generator,
    overcooked_observations,
    overcooked_layouts,
    overcooked_directives,
    overcooked_reasons,
    overcooked_events,
    overcooked_rules,
    overcooked_order_of_play,
    overcooked_results,
    overcooked_human_proxy,
    overcooked_proxies,
    overcooked_alone,
    overcooked_changes,
)
