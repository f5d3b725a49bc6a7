"""Prompts: Jinja templates, a folder for each game, and a folder ``common`` for what several games share."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from collab_overcooked import registry

COMMON = "common"


def template_folders() -> dict[str, str]:
    """Return the folders of built-in templates by name: ``common``, and one for each game that has its own."""
    named = (record.prompts.partition(":") for record in registry.games() if record.prompts)
    return {COMMON: str(Path(__file__).parent / "templates" / COMMON)} | {
        package.rpartition(".")[2]: str(resources.files(package) / folder) for package, _, folder in named
    }


class Prompts:
    """Finds and fills templates. What models and players wrote goes in as values, never as templates.

    Args:
        game_id: Whose folder is looked in before ``common``.
        own: Folder of one's own with the same layout, looked in first; None for the built-in texts alone.

    Raises:
        ValueError: If the extra ``llm`` is not installed, or the own folder does not exist.
    """

    def __init__(self, game_id: str, own: str = "") -> None:
        if own and not Path(own).is_dir():
            raise ValueError(f"prompts: {own!r} is no folder")
        self.folder = registry.find(game_id).prompts.partition(":")[0].rpartition(".")[2] or COMMON
        self._environment = _environment(own)

    def fill(self, name: str, **values: Any) -> str:
        """Return a filled template.

        Args:
            name: Name of the file without its ending.
            values: What the template may use.

        Raises:
            ValueError: If there is no such template, or it uses what it is not given; the message names its file.
        """
        import jinja2

        try:
            template = self._environment.select_template([f"{folder}/{name}.j2" for folder in (self.folder, COMMON)])
            return template.render(values).strip()
        except jinja2.TemplatesNotFound:
            raise ValueError(f"prompts: no template {name}.j2 for {self.folder}") from None
        except jinja2.TemplateError as error:
            raise ValueError(f"prompts: {self.folder}/{name}.j2: {error}") from None


@lru_cache(maxsize=8)
def _environment(own: str) -> Any:
    try:
        import jinja2
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError:
        raise ValueError("language models need the extra llm: pip install 'collab-overcooked[llm]'") from None
    shipped = jinja2.PrefixLoader(
        {name: jinja2.FileSystemLoader(folder) for name, folder in template_folders().items()}
    )
    return ImmutableSandboxedEnvironment(
        loader=jinja2.ChoiceLoader([*([jinja2.FileSystemLoader(own)] if own else []), shipped]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # prompts are plain text, not markup
    )
