"""GIFs of the games for the first pages; ``python docs/facts.py --films`` plays and renders them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.reporting.video import write_video
from collab_overcooked.runner.replay import replay
from topics.writing import DOCS

FOLDER = DOCS / "films"
WIDTH = 240  # pixels
MAX_BYTES = 150_000  # of a GIF


@dataclass(frozen=True)
class Film:
    """Episode shown as a GIF.

    Attributes:
        env_id: Environment id.
        policy: Policy of every seat.
        caption: What the picture shows.
        options: Environment options.
        steps: First and last step shown.
        fps: Frames per second.
    """

    env_id: str
    policy: str
    caption: str
    options: dict[str, Any] = field(default_factory=dict)
    steps: tuple[int, int] = (0, 60)
    fps: float = 5

    @property
    def path(self) -> Path:
        """GIF of this game."""
        return FOLDER / f"{self.env_id}.gif"


FILMS = (
    Film("Overcooked-v0", "ppo:cramped_room", "soups for two", {"layout": "cramped_room"}),
    Film("CollabOvercooked-v0", "planner", "a chef and an assistant", {"level": 3}, (0, 40)),
    Film("CuisineWorld-v0", "greedy", "cooks share a queue of orders", {"level": "level_9"}, (0, 40)),
    Film("CraftKitchen-v0", "greedy", "fetch, cook and store"),
    Film("KitchenRush-v0", "greedy", "few turns, scarce actions", fps=1),
    Film("Housework-v0", "mhp", "search a home together"),
    Film("Transport-v0", "rhp", "carry things to the bed"),
    Film("CollabCapture-v0", "planner", "catch a thief", fps=1),
    Film("CollabEscape-v0", "planner", "repair, then escape", fps=1),
)


def frames(film: Film) -> Iterator[np.ndarray]:
    """Play an episode and yield its scaled frames."""
    env = collab_overcooked.make(film.env_id, **film.options)
    team = collab_overcooked.make_team([film.policy] * len(env.possible_agents))
    record = collab_overcooked.play_episode(env, team, seed=0)
    first, last = film.steps
    for snapshot in replay(record, render_mode="rgb_array"):
        if first <= snapshot.timestep <= last:
            picture = Image.fromarray(snapshot.env.render())
            height = round(picture.height * WIDTH / picture.width)
            yield np.asarray(picture.resize((WIDTH, height), Image.Resampling.LANCZOS))


def draw_films(names: list[str]) -> None:
    """Render the GIFs of some games, or of all."""
    FOLDER.mkdir(exist_ok=True)
    for film in FILMS:
        if not names or film.env_id in names:
            write_video(frames(film), film.path, film.fps)
            size = film.path.stat().st_size
            print(f"{film.path.name}: {size // 1000} kB" + (", too large" if size > MAX_BYTES else ""))


def films_of_readme() -> str:
    """Show the games in the README."""
    return film_table("docs/")


def films_of_start() -> str:
    """Show the games on the first page of the site."""
    return film_table("")


def film_table(docs: str) -> str:
    """Return the GIFs as a table of three columns, with links relative to a page.

    Args:
        docs: Path of the folder `docs` from the page.
    """
    cells = []
    for film in FILMS:
        page = f"{docs}games/{registry.find(film.env_id).game.split('.')[2]}.md"
        picture = f"![{film.env_id}: {film.caption}]({docs}films/{film.path.name})"
        cells.append(f"[{picture}]({page})<br>`{film.env_id}`: {film.caption}, played by `{film.policy}`")
    rows = [f"| {' | '.join(cells[i : i + 3])} |" for i in range(0, len(cells), 3)]
    return "\n".join(["| | | |", "|---|---|---|", *rows])


FACTS = (films_of_readme, films_of_start)
