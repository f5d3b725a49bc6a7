"""Commands on question sets: ``generate``, ``list`` and ``show``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from collab_overcooked.cli.app import OUT, app, say
from collab_overcooked.cli.options import MultiValueCommand
from collab_overcooked.io.files import draft
from collab_overcooked.io.options import NAMES

if TYPE_CHECKING:
    from collab_overcooked.questions.items import Item

questions_app = typer.Typer(help="Generate, list and show questions with proven answers.", no_args_is_help=True)
app.add_typer(questions_app, name="questions")

FileOpt = Annotated[Path | None, typer.Option("--file", help="Question set. Default: the built-in one.")]
GamesOpt = Annotated[str | None, typer.Option(help="Environment ids, comma-separated. Default: all.", metavar=NAMES)]


@questions_app.command("generate", cls=MultiValueCommand)
def generate_questions(
    out: Annotated[Path, typer.Option(help="Output file.")] = Path("questions.jsonl"),
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    games: GamesOpt = None,
) -> None:
    """Generate a question set from random scenes, with answers proven by search; deterministic for a seed."""
    from collab_overcooked.io.checks import parse_integer
    from collab_overcooked.io.options import read_names
    from collab_overcooked.questions.items import PARTS
    from collab_overcooked.questions.source import generate

    questions = generate(parse_integer("seed", seed, 0), None if games is None else read_names("games", games))
    questions.write(out)
    counts = Counter((item.scene.env_id, item.part) for item in questions.items)
    for (env_id, part), count in counts.items():
        OUT.print(f"{env_id}, {part}: {count} items", markup=False)
    say(f"written: {out}, {len(questions.items)} items" + (f" in {len(PARTS)} parts" if counts else ""))


@questions_app.command("list", cls=MultiValueCommand)
def list_questions(
    file: FileOpt = None,
    games: GamesOpt = None,
    kinds: Annotated[
        str | None,
        typer.Option(help="Question kinds, comma-separated: fact, partner, own. Default: all.", metavar=NAMES),
    ] = None,
    parts: Annotated[
        str | None, typer.Option(help="Parts, comma-separated: paper, generated. Default: both.", metavar=NAMES)
    ] = None,
    skills: Annotated[
        str | None, typer.Option(help="Skills, comma-separated: items that need any of them.", metavar=NAMES)
    ] = None,
    keys: Annotated[bool, typer.Option("--keys", help="Also show the correct letters and the margins.")] = False,
) -> None:
    """List items with id, seat, number of choices and skills, and the accuracy of random and constant answers."""
    from collab_overcooked.questions.items import SHIPPED, read_questions
    from collab_overcooked.questions.scoring import letter_accuracies
    from collab_overcooked.questions.suite import QuestionOptions, choose_items

    chosen = QuestionOptions(games=games, kinds=kinds, parts=parts, skills=skills)
    items = choose_items(read_questions(file or SHIPPED), chosen)
    width = max(len(item.id) for item in items)
    for item in items:
        margin = "" if item.margin is None else f", margin {item.margin:g} {item.unit}"
        key = f", correct {item.letters}{margin}" if keys else ""
        facts = f"agent_{item.seat}, {len(item.choices)} choices{key}; {', '.join(item.skills)}"
        OUT.print(f"{item.id:<{width}}  {facts}", markup=False)
    expected = sum(item.random_accuracy for item in items) / len(items)
    pairs = sum(bool(item.pair) for item in items) // 2
    letters = letter_accuracies((item.correct, len(item.choices)) for item in items)
    always = ", ".join(f"{letter} {share:.1%}" for letter, share in letters.items())
    say(f"{len(items)} items, {pairs} matched pairs, chance accuracy {expected:.1%}; always the same letter: {always}")


@questions_app.command("show")
def show_question(
    name: Annotated[str, typer.Argument(metavar="ID", help="Item id, as printed by 'questions list'.")],
    file: FileOpt = None,
    picture: Annotated[Path | None, typer.Option(help="Also write a PNG of the scene.")] = None,
) -> None:
    """Show an item: the scene as text and picture, the question, its choices and the evidence."""
    from collab_overcooked.questions.answering import checked_env
    from collab_overcooked.questions.items import LETTERS, SHIPPED, read_questions
    from collab_overcooked.questions.source import source_of

    item = read_questions(file or SHIPPED).find(name)
    source, env = source_of(item.scene.env_id), checked_env(item)
    OUT.print(f"{item.id}: {item.scene.env_id}, {item.kind}, {', '.join(item.skills)}", markup=False)
    for text in ("", draw_scene(env, "ansi"), "", source.describe(item), "", item.question):
        OUT.print(text, markup=False)
    values = item.evidence.get("values", [None] * len(item.choices))
    for number, (choice, value) in enumerate(zip(item.choices, values, strict=True)):
        mark = "*" if number in item.correct else " "
        OUT.print(f"{mark} {LETTERS[number]}. {choice}{value_text(item, value)}", markup=False)
    others = {key: value for key, value in item.evidence.items() if key != "values"}
    OUT.print("evidence: " + "; ".join(f"{key} {value}" for key, value in others.items()), markup=False)
    if item.pair:
        OUT.print(f"matched with {item.pair}", markup=False)
    if picture is not None:
        from PIL import Image

        if picture.suffix != ".png":
            raise ValueError(f"picture: {picture} should end in .png")
        with draft(picture) as beside:
            Image.fromarray(draw_scene(env, "rgb_array")).save(beside)
        say(f"written: {picture}")


def value_text(item: Item, value: Any) -> str:
    """Return the searched value of a choice as text."""
    if item.margin is None:
        return ""
    unit = f" {item.unit}" if item.unit else ""
    if value is None:
        return f"  (worse by at least {item.margin:g}{unit})"
    return f"  ({value})" if isinstance(value, str) else f"  ({value:g}{unit})"


def draw_scene(env: Any, render_mode: str) -> Any:
    """Render the current state of an environment as ``"ansi"`` or ``"rgb_array"``."""
    return env.game.render(env.arrays[0], 0, render_mode)
