"""Command on question sets: ``list``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from collab_overcooked.cli.app import OUT, command_group, say
from collab_overcooked.cli.options import FLAG, several
from collab_overcooked.io.files import draft

if TYPE_CHECKING:
    from collab_overcooked.questions.items import Item

questions_app = command_group("questions", "List questions with proven answers.")

FileOpt = Annotated[
    Path | None,
    Parameter(
        name="--file", help="Question set, or LLM-Coordination's public table (.csv). Default: the built-in one."
    ),
]
GamesOpt = Annotated[list[str] | None, several("Environment ids. Default: all.")]


@questions_app.command(name="list")
def list_questions(
    *,
    file: FileOpt = None,
    games: GamesOpt = None,
    kinds: Annotated[list[str] | None, several("Question kinds: fact, partner, own. Default: all.")] = None,
    parts: Annotated[list[str] | None, several("Parts: paper, generated. Default: both.")] = None,
    skills: Annotated[list[str] | None, several("Skills: items that need any of them.")] = None,
    keys: Annotated[
        bool, FLAG, Parameter(name="--keys", help="Also show the correct letters and the margins.")
    ] = False,
) -> None:
    """List items with id, seat, number of choices and skills, and the accuracy of answers without the state."""
    from collab_overcooked.questions.balance import baselines
    from collab_overcooked.questions.items import choose_items
    from collab_overcooked.questions.sets import read_set

    names = {"games": games, "kinds": kinds, "parts": parts, "skills": skills}
    texts = {name: ",".join(value) for name, value in names.items() if value is not None}
    items = choose_items(read_set(file), **texts)
    width = max(len(item.id) for item in items)
    for item in items:
        margin = "" if item.margin is None else f", margin {with_unit(item, item.margin)}"
        key = f", correct {item.letters}{margin}" if keys else ""
        facts = f"agent_{item.seat}, {len(item.choices)} choices{key}; {', '.join(item.skills)}"
        OUT.print(f"{item.id:<{width}}  {facts}")
    blind = baselines([(item.choices, item.correct) for item in items])
    say(f"{len(items)} items; without the state: " + ", ".join(f"{name} {share:.1%}" for name, share in blind.items()))


def describe_item(item: Item, picture: Path | None) -> None:
    """Print an item: the scene as text and picture, the question, its choices and the evidence."""
    from collab_overcooked.questions.answering import checked_env
    from collab_overcooked.questions.items import LETTERS
    from collab_overcooked.questions.source import source_of

    if picture is not None and item.scene.told:
        raise ValueError(f"picture: {item.id} is from a table, which has no scene to draw")
    if picture is not None and picture.suffix != ".png":
        raise ValueError(f"picture: {picture} should end in .png")
    env = None if item.scene.told else checked_env(item)
    described = (
        (item.scene.told,)
        if env is None
        else (draw_scene(env, "ansi"), "", source_of(item.scene.env_id).describe(item))
    )
    OUT.print(f"{item.id}: {item.scene.env_id}, {item.kind}, {', '.join(item.skills)}")
    for text in ("", *described, "", item.question):
        OUT.print(text)
    values = item.evidence.get("values", [None] * len(item.choices))
    for number, (choice, value) in enumerate(zip(item.choices, values, strict=True)):
        mark = "*" if number in item.correct else " "
        OUT.print(f"{mark} {LETTERS[number]}. {choice}{value_text(item, value)}")
    others = {key: value for key, value in item.evidence.items() if key != "values"}
    OUT.print("evidence: " + "; ".join(f"{key} {value}" for key, value in others.items()))
    if picture is not None:
        from PIL import Image

        with draft(picture) as beside:
            Image.fromarray(draw_scene(env, "rgb_array")).save(beside)
        say(f"written: {picture}")


def value_text(item: Item, value: Any) -> str:
    """Return the searched value of a choice as text."""
    if item.margin is None:
        return ""
    if value is None:
        return f"  (worse by at least {with_unit(item, item.margin)})"
    return f"  ({value})" if isinstance(value, str) else f"  ({with_unit(item, value)})"


def with_unit(item: Item, value: float) -> str:
    """Return a value with the unit of an item."""
    return f"{value:g} {item.unit.removesuffix('s') if value == 1 else item.unit}".rstrip()


def draw_scene(env: Any, render_mode: str) -> Any:
    """Render the current state of an environment as ``"ansi"`` or ``"rgb_array"``."""
    return env.game.render(env.arrays[0], 0, render_mode)
