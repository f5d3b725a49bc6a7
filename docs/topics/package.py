"""Facts about the package as a whole: games, policies, protocols, commands."""

from __future__ import annotations

import inspect
import tomllib
from collections import Counter
from collections.abc import Iterator

from cyclopts import App, Argument

from collab_overcooked import registry, testing
from collab_overcooked.envs import api, parallel

from .writing import DOCS, code, first_line, option_table, plain, section, table

ROOT = DOCS.parent


def environments() -> str:
    """List the registered ids."""
    rows = [(code(record.id), code(record.module), record.summary) for record in registry.GAMES]
    return table(("id", "module", "what it is"), rows)


PAPERS = {
    "CollabOvercooked-v0": "Sun et al. 2025, *Collab-Overcooked*",
    "CuisineWorld-v0": "Gong et al. 2024, *MindAgent*",
    "CraftKitchen-v0": "Gong et al. 2024, *MindAgent*, section 7 (Minecraft), without Minecraft",
    "Overcooked-v0": "Carroll et al. 2019, *Overcooked-AI*; gates of Agashe et al. 2023, *LLM-Coordination*",
    "OvercookedV2-v0": "Gessler et al. 2025, *OvercookedV2*, and its code in JaxMARL",
    "KitchenRush-v0": "*Collaborative Tasks with Heterogenous LLM Students*",
    "AlienRush-v0": "the same paper",
    "Housework-v0": "Zhang et al. 2024, *CoELA* (C-WAH), after Puig et al. 2021, *Watch-And-Help*",
    "Transport-v0": "Zhang et al. 2024, *CoELA* (TDW-MAT)",
    "CollabCapture-v0": "Agashe et al. 2023, *LLM-Coordination*, and its code of 2024",
    "CollabEscape-v0": "the same paper and code",
}


PAGES = {"OvercookedV2-v0": "overcooked_v2"}  # of games whose folder has the page of another


def games() -> str:
    """List id, summary, spaces and paper of each game."""
    rows = []
    for record in registry.GAMES:
        if record.id not in PAPERS:  # its page is still to be written
            continue
        env = registry.make(record.id)
        first = env.possible_agents[0]
        seen, acts = env.observation_space(first), env.action_space(first)
        link = f"[{code(record.id)}]({PAGES.get(record.id, record.game.split('.')[2])}.md)"
        observation = f"{seen.dtype} {seen.shape}"
        rows.append((link, record.summary, len(env.possible_agents), observation, acts.n, PAPERS[record.id]))
    return table(("id", "what it is", "agents", "observation", "actions", "paper"), rows)


def shell_options() -> str:
    """List the options of the ParallelEnv shell."""
    return option_table(parallel.ParallelEnv, ("game",))


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


SHARED = 3  # commands that print an option in the same words, for it to be printed once


def commands() -> str:
    """List the commands with their options; those that several commands share stand at the beginning."""
    commands = dict(walk())
    rows = {name: parameter_rows(command) for name, command in commands.items()}
    uses = Counter(row for own in rows.values() for row in own)
    shared: dict[str, tuple[str, str, str]] = {}
    for row, count in uses.most_common():
        if count >= SHARED:
            shared.setdefault(row[0], row)  # of two options with one name, the one that more commands have
    parts = ["### Shared options\n\n" + table(("", "default", ""), sorted(shared.values()))]
    for name, own in rows.items():
        named = [row[0].split(", ")[0] for row in own if row == shared.get(row[0])]
        rest = [row for row in own if row != shared.get(row[0])]
        listed = "\n\n" + table(("", "default", ""), rest) if rest else ""
        parts.append(f"### {name}\n\n{inspect.cleandoc(commands[name].help)}{listed}")
        if named:
            parts.append(f"[Shared](#shared-options): {', '.join(named)}.")
    return "\n\n".join(parts)


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


def parameter_rows(command: App) -> list[tuple[str, str, str]]:
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
    return "" if value is None or value is False or value == "" else code(value)


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


FACTS = (
    environments,
    import_layers,
    result_identity,
    reset_options,
    games,
    shell_options,
    policies,
    game_protocol,
    registry_record,
    checks,
    commands,
)
