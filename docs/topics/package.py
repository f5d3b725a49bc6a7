"""Facts about the package as a whole: games, policies, protocols, commands."""

from __future__ import annotations

import inspect
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from cyclopts import App, Argument

from collab_overcooked import registry, testing
from collab_overcooked.envs import parallel

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


def games() -> str:
    """List seats, spaces, rewards, lengths and papers of the games."""
    rows = []
    for record in registry.GAMES:
        if record.id not in FACTS_OF_GAMES:  # its page is still to be written
            continue
        env = registry.make(record.id)
        first = env.possible_agents[0]
        seen, acts = env.observation_space(first), env.action_space(first)
        link = f"[{code(record.id)}]({PAGES.get(record.id, record.game.split('.')[2])}.md)"
        seats, reward, paper = FACTS_OF_GAMES[record.id]
        observation = f"{seen.dtype} {seen.shape}"
        rows.append(
            (link, f"{len(env.possible_agents)}, {seats}", observation, acts.n, reward, env.game.max_cycles, paper)
        )
    return table(("id", "seats", "observation", "actions", "reward", "steps", "paper"), rows)


def shell_options() -> str:
    """List the options of the ParallelEnv shell."""
    return option_table(parallel.ParallelEnv, ("game",))


def policies() -> str:
    """List the kinds of policies."""
    from collab_overcooked.policies.registry import policy_records

    return listing((code(record.usage), record.kind, plain(record.summary)) for record in policy_records())


def checks() -> str:
    """List the conformance checks."""
    return listing((code(name), "", first_line(check)) for name, check in testing.CHECKS.items())


SHARED = 2  # commands that print an option in the same words, for it to be printed once
FAMILIES = {"check": "KIND", "evaluate": "SUITE", "generate": "GAME", "play": "SUITE"}
"""Commands whose subcommands do the same for different things, and what the second word stands for."""
MODELS = ("base-url", "local", "local-threads", "store", "replay", "budget-total", "max-unusable", "price", "rate")
MODEL_OPTIONS = tuple(f"`--{name}`" for name in (*MODELS, "timeout", "key-variable"))
"""Options that come together, wherever language models play."""
MORE = (
    "baselines",
    "check",
    "describe",
    "export",
    "generate",
    "list",
    "new-game",
    "partners",
    "questions",
    "results",
    "study",
)
MORE += ("warm",)
"""Commands of the second page: files, partners, questions, studies."""
EVERYWHERE = ("`--traceback`", "`--import`")  # what every command takes


@cache
def families() -> dict[str, dict[str, App]]:
    """Return the commands by family: those of one family do the same for different suites, games or kinds of files."""
    result: dict[str, dict[str, App]] = {}
    for name, command in walk():
        first, _, second = name.removeprefix("collab-overcooked ").partition(" ")
        family = f"{first} {FAMILIES[first]}" if first in FAMILIES else f"{first} {second}".strip()
        result.setdefault(family, {})[second] = command
    return result


@cache
def option_rows() -> tuple[dict[str, list[list[Row]]], dict[str, list[Row]], dict[str, Row]]:
    """Return the options of each family by member, those that all its members have, and those that commands share."""
    rows = {family: [parameter_rows(command) for command in members.values()] for family, members in families().items()}
    always = {family: [row for row in own[0] if all(row in other for other in own)] for family, own in rows.items()}
    shared: dict[str, Row] = {}
    for row, count in Counter(row for own in always.values() for row in own).most_common():
        if count >= SHARED:
            shared.setdefault(row[0], row)  # of two options with one name, the one that more commands have
    return rows, always, shared


def commands() -> str:
    """List the options that commands share, and the commands that play, train, evaluate and show results."""
    shared = sorted(option_rows()[2].items())
    parts = ["### Shared options", items(row for name, row in shared if name not in MODEL_OPTIONS)]
    parts += ["### Model options", items(row for name, row in shared if name in MODEL_OPTIONS)]
    return "\n\n".join((*parts, *(command_part(name, "") for name in families() if name.split()[0] not in MORE)))


def more_commands() -> str:
    """List the other commands."""
    return "\n\n".join(command_part(name, "commands.md") for name in families() if name.split()[0] in MORE)


def command_part(family: str, page: str) -> str:
    """Return what a command does and its options, with links to the page of the shared ones."""
    members = families()[family]
    rows, always, shared = option_rows()
    parts = [f"### collab-overcooked {family}"]
    if len(members) == 1:
        parts.append(inspect.cleandoc(next(iter(members.values())).help))
    else:
        parts += family_parts(family, members, rows[family], always[family])
    listed = items(row for row in always[family] if row != shared.get(row[0]))
    named = [row[0].split(", ")[0] for row in always[family] if row == shared.get(row[0])]
    if set(MODEL_OPTIONS) <= {*named}:
        named = [name for name in named if name not in MODEL_OPTIONS] + [f"[model options]({page}#model-options)"]
    if named := [name for name in named if name not in EVERYWHERE]:
        listed += f"\n- [Shared]({page}#shared-options): {', '.join(named)}"
    return "\n\n".join((*parts, listed.strip())).strip()


def items(rows: Iterable[Row], kinds: Mapping[Row, list[str]] | None = None) -> str:
    """Return options as list items: name, default and the kinds of things that have it, help."""
    noted = ((row, ", ".join((kinds or {}).get(row, ()))) for row in rows)
    return listing((row[0], "; ".join(filter(None, (row[1], names))), plain(row[2])) for row, names in noted)


def family_parts(family: str, members: dict[str, App], rows: list[list[Row]], always: list[Row]) -> list[str]:
    """Return what the members of a family do, and the options that only some of them have."""
    if family.startswith("play"):
        return ["`play rooms` serves a start page for all games. Options of suites are those of `evaluate`; all have:"]
    kind = family.split()[1]
    sentences = [re.split(r"(?<=\.)\s+", inspect.cleandoc(command.help)) for command in members.values()]
    common = [sentence for sentence in sentences[0] if all(sentence in other for other in sentences)]
    own = [" ".join(sentence for sentence in each if sentence not in common) for each in sentences]
    some: dict[Row, list[str]] = {}
    for name, listed in zip(members, rows, strict=True):
        for row in listed:
            if row not in always:
                some.setdefault(row, []).append(code(name))
    described = table((kind, "what it does"), zip(map(code, members), own, strict=True))
    return [part for part in (" ".join(common), described, items(sorted(some), some)) if part]


def walk() -> Iterator[tuple[str, App]]:
    """Yield all commands with their full names."""
    from collab_overcooked.cli.app import commands as root
    from collab_overcooked.cli.app import prepare

    for name in sorted(word for word in root if not word.startswith("-")):
        prepare([name, "--help"])
        subcommands = sorted(word for word in root[name] if not word.startswith("-"))
        if not subcommands:
            yield f"collab-overcooked {name}", root[name]
        for word in subcommands:
            prepare([name, word])
            yield f"collab-overcooked {name} {word}", root[name][word]


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


def import_layers() -> str:
    """List the layers that import-linter holds, from its configuration."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    rows = []
    for contract in contracts:
        layers = (layer.replace("(", "").replace(")", "") for layer in contract.get("layers", ()))
        rows.append((contract["name"], " → ".join(map(code, layers))))
    return table(("contract", "layers, from above"), rows)


def reset_options() -> str:
    """List the options of each game's ``reset``."""
    rows = [
        (code(name), ", ".join(code(option) for option in registry.load_game(name).reset_forms()))
        for name in registry.registered()
    ]
    return table(("game", "options of `reset`"), rows)


FACTS = (import_layers, result_identity, reset_options, games, shell_options, policies, checks, commands, more_commands)
