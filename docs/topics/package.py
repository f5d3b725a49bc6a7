"""Facts about the package as a whole: games, policies, protocols, commands."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Any

from cyclopts import App, Argument

from collab_overcooked import registry, testing
from collab_overcooked.envs import parallel
from collab_overcooked.metrics.registry import ANY_GAME, Metric, game_metrics

from .writing import DOCS, code, first_line, listing, option_table, plain, table

ROOT = DOCS.parent
Row = tuple[str, str, str]
"""Name, default and help of an option."""


FACTS_OF_GAMES = {
    "CollabOvercooked-v0": ("`agent_0` is the chef", "20 a delivery", "Collab-Overcooked"),
    "CuisineWorld-v0": ("alike", "50 + steps left, an order", "MindAgent"),
    "CraftKitchen-v0": ("alike", "1 an order", "MindAgent (Minecraft)"),
    "Overcooked-v0": ("alike", "20 a soup", "Overcooked-AI, LLM-Coordination"),
    "OvercookedV2-v0": ("alike; who sees an indicator knows the recipe", "20 a soup", "OvercookedV2, JaxMARL"),
    "KitchenRush-v0": ("in turn", "1 an order, -1 if ruined", "Kitchen and Alien Rush"),
    "AlienRush-v0": ("in turn", "1 an order, -1 if ruined", "Kitchen and Alien Rush"),
    "Housework-v0": ("alike", "1 a thing brought", "C-WAH: CoELA, CoTS"),
    "Transport-v0": ("alike", "1 a thing brought", "TDW-MAT: CoELA, CoTS"),
    "CollabCapture-v0": ("alike", "1 a capture", "LLM-Coordination"),
    "CollabEscape-v0": ("alike", "1 an escape, -1 a loss", "LLM-Coordination"),
}
"""Seats, what pays, and where the game comes from."""


PAGES = {"OvercookedV2-v0": "overcooked_v2"}  # of games whose folder has the page of another


def page_of(env_id: str) -> str:
    """Return the name of a game's page, without its suffix."""
    return PAGES.get(env_id, registry.find(env_id).game.split(".")[2])


def games() -> str:
    """List seats, spaces, rewards, lengths and papers of the games."""
    rows = []
    for record in registry.GAMES:
        if record.id not in FACTS_OF_GAMES:  # its page is still to be written
            continue
        env = registry.make(record.id)
        first = env.possible_agents[0]
        seen, acts = env.observation_space(first), env.action_space(first)
        link = f"[{code(record.id)}]({page_of(record.id)}.md)"
        seats, reward, paper = FACTS_OF_GAMES[record.id]
        observation = f"{seen.dtype} {seen.shape}"
        rows.append(
            (link, f"{len(env.possible_agents)}, {seats}", observation, acts.n, reward, env.game.max_cycles, paper)
        )
    return table(("id", "seats", "observation", "actions", "reward", "steps", "paper"), rows)


def shell_options() -> str:
    """List the options of the ParallelEnv wrapper."""
    return option_table(parallel.ParallelEnv, ("game",))


def policies() -> str:
    """List the kinds of policies."""
    from collab_overcooked.policies.registry import policy_records

    return listing((code(record.usage), record.kind, plain(record.summary)) for record in policy_records())


def checks() -> str:
    """List the conformance checks."""
    return listing((code(name), "", first_line(check)) for name, check in testing.CHECKS.items())


MODELS = "max-unusable"  # an option of all commands in which language models play, and of no others
PLAY = "play"  # its subcommands are games


def commands() -> str:
    """List what the commands do."""
    rows: dict[str, str] = {}
    for name, command in walk():
        text = plain(inspect.cleandoc(command.help).partition("\n\n")[0])
        if name.startswith(f"{PLAY} "):
            name = f"{PLAY} SUITE"
            text = "Serve the page of a game for people and policies; `play rooms` serves all games."
        rows.setdefault(name, text.replace("\n", " "))
    return table(("command", "what it does"), ((code(name), text) for name, text in rows.items()))


def model_options() -> str:
    """List the options that all commands have in which language models play."""
    every = [parameter_rows(command) for _, command in walk()]
    having = [rows for rows in every if any(row[0] == f"`--{MODELS}`" for row in rows)]
    others = [row for rows in every if rows not in having for row in rows]
    shared = [row for row in having[0] if row not in others and all(row in rows for rows in having)]
    return listing((name, default, plain(text)) for name, default, text in sorted(shared))


def walk() -> Iterator[tuple[str, App]]:
    """Yield all commands with their full names."""
    from collab_overcooked.cli.app import commands as root

    for name in sorted(word for word in root if not word.startswith("-")):
        subcommands = sorted(word for word in root[name] if not word.startswith("-"))
        if not subcommands:
            yield name, root[name]
        for word in subcommands:
            yield f"{name} {word}", root[name][word]


def parameter_rows(command: App) -> list[Row]:
    """Return name, default and help of each argument and option of a command."""
    from collab_overcooked.cli import app

    rows = []
    for one in (*command.assemble_argument_collection(), *app.assemble_argument_collection()):
        if one.show and not one.children:
            shown = ", ".join(map(code, one.names)) if one.index is None else code(one.name)
            rows.append((shown, default_of(one), one.parameter.help or ""))
    return rows


def default_of(one: Argument) -> str:
    """Return a parameter's default as it is typed."""
    if one.required:
        return "required"
    value = one.field_info.default
    if value is True:
        return code(one.name)
    if isinstance(value, tuple):
        return code(",".join(map(str, value)))
    return "" if value is None or value is False or value in ("", inspect.Parameter.empty) else code(value)


def result_identity() -> str:
    """List the axes of the tables of every game, and the options that are no part of a result's name."""
    rows = []
    for record in registry.GAMES:
        axes = registry.load_suite(record.id).axes
        own = registry.game_class(record.id).config_class.presentation
        shown = "; ".join(f"{code(name)}: {reason.rstrip('.')}" for name, reason in own.items())
        rows.append((code(record.id), ", ".join(map(code, axes)), shown))
    return table(("game", "axes of its tables", "options that are no part of the name, and why"), rows)


def metrics() -> str:
    """List all metrics by game."""
    sets = [("every game", ANY_GAME), *((code(record.id), game_metrics(record.id)) for record in registry.games())]
    games: dict[Metric, list[str]] = {}
    for game, metric_set in sets:
        for metric in metric_set.metrics:
            games.setdefault(metric, []).append(game)
    rows = [(code(each.name), ", ".join(games[each]), each.meaning, each.unit, each.better) for each in games]
    return table(("metric", "games", "meaning", "unit", "better"), rows)


def reset_parsers(env_id: str) -> Any:
    """Return the options of a game's ``reset`` with what they accept."""
    game: Any = registry.load_game(env_id)
    return game.reset_parsers()


def reset_options() -> str:
    """List the options of each game's ``reset``."""
    rows = [(code(name), ", ".join(code(option) for option in reset_parsers(name))) for name in registry.registered()]
    return table(("game", "options of `reset`"), rows)


RUNS = {"rules": "`make test`, plain Python", "commit": "`make test`, compiled", "slow": "`make test-slow`"}


def test_seconds() -> str:
    """Sum the recorded seconds of the tests of each run, and name its longest parts."""
    recorded = json.loads((ROOT / "tests" / "seconds.json").read_text("utf-8"))
    rows = []
    for name, title in RUNS.items():
        parts = recorded.get(name)
        if not parts:
            continue  # not recorded since the run has changed
        longest = sorted(parts, key=parts.get, reverse=True)[:3]
        rows.append((title, round(sum(parts.values())), "; ".join(f"`{part}` {parts[part]:.0f}" for part in longest)))
    return table(("Run", "seconds of all workers", "longest parts"), rows, [1])


FACTS = (
    metrics,
    result_identity,
    reset_options,
    games,
    shell_options,
    policies,
    checks,
    commands,
    model_options,
    test_seconds,
)
