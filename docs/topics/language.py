"""Facts about language agents: their switches and their prompt files."""

from __future__ import annotations

from pathlib import Path

from collab_overcooked.policies.llm.prompts import template_folders
from collab_overcooked.policies.llm.settings import describe_settings

from .writing import code, listing, plain, table


def language_switches() -> str:
    """List what may be written after a model's name; switches of ``cots`` alone are on the page of its parameters."""
    rows = []
    for name, default, text in describe_settings():
        if default.startswith("cots "):
            continue
        agents: dict[str, list[str]] = {}
        for agent, _, value in (part.partition(" ") for part in default.split(", ")):
            agents.setdefault(value, []).append(agent)
        if "" not in agents:
            default = "; ".join(f"{value}: {', '.join(names)}" for value, names in agents.items())
        rows.append((code(name), "" if default == "none" else plain(default), plain(text)))
    return listing(rows)


def prompt_files() -> str:
    """List the templates by folder."""
    rows = []
    for folder, path in sorted(template_folders().items()):
        names = ", ".join(code(template.name) for template in sorted(Path(path).glob("*.j2")))
        rows.append((code(folder), names))
    return table(("folder", "templates"), rows)


FACTS = (language_switches, prompt_files)
