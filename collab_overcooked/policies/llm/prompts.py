"""Prompts: Jinja templates in one folder per game, and a folder ``common`` with shared ones."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from collab_overcooked import registry

COMMON = "common"


def template_folders() -> dict[str, str]:
    """Return the folders of built-in templates by name: ``common`` and one per game with templates."""
    named = (record.prompts.partition(":") for record in registry.games() if record.prompts)
    return {COMMON: str(Path(__file__).parent / "templates" / COMMON)} | {
        package.rpartition(".")[2]: str(resources.files(package) / folder) for package, _, folder in named
    }


class Prompts:
    """Loader of templates. Texts of models and players are inserted as values, never as templates.

    Args:
        game_id: Game whose folder is searched before ``common``.
        custom: Folder of custom templates with the same layout, searched first; empty for the built-in ones only.
    """

    def __init__(self, game_id: str, custom: str = "") -> None:
        if custom and not Path(custom).is_dir():
            raise ValueError(f"prompts: {custom!r} is not a folder")
        self.folder = registry.find(game_id).prompts.partition(":")[0].rpartition(".")[2] or COMMON
        self._environment = _environment(custom)

    def fill(self, name: str, **values: Any) -> str:
        """Return a filled template.

        Args:
            name: Name of the file without extension.
            values: Variables of the template.

        Raises:
            ValueError: The template is missing or invalid.
        """
        try:
            template = self._environment.select_template([f"{folder}/{name}.j2" for folder in (self.folder, COMMON)])
            return template.render(values).strip()
        except jinja2.TemplatesNotFound:
            raise ValueError(f"prompts: no template {name}.j2 for {self.folder}") from None
        except jinja2.TemplateError as error:
            raise ValueError(f"prompts: {self.folder}/{name}.j2: {error}") from None


@lru_cache(maxsize=8)
def _environment(custom: str) -> jinja2.Environment:
    built_in = jinja2.PrefixLoader(
        {name: jinja2.FileSystemLoader(folder) for name, folder in template_folders().items()}
    )
    return ImmutableSandboxedEnvironment(
        loader=jinja2.ChoiceLoader([*([jinja2.FileSystemLoader(custom)] if custom else []), built_in]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # prompts are plain text, not markup
    )
