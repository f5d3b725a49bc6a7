"""Pictures of the pages, made by the package itself: ``python docs/facts.py --pictures [NAME...]`` draws them anew."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.evaluation.partner_table import HEAT_MAP, PROFILE
from collab_overcooked.games.overcooked.v2.suite import CHANGING, paper_options
from collab_overcooked.render.model import Board
from collab_overcooked.render.rgb import draw_rgb
from collab_overcooked.reporting.video import write_video
from collab_overcooked.runner.replay import replay
from topics import cuisineworld, partners
from topics.writing import DOCS, EXAMPLES, RESULTS

FOLDER = DOCS / "pictures"
DIGESTS = FOLDER / "drawn_from.json"
PACKAGE = Path(collab_overcooked.__file__).parent
RUNS = DOCS.parent / "runs" / "pictures"  # what was trained and played for them; the same command goes on
FIGURE = 12  # least pixels of an agent
MAX_BYTES = 400_000  # of a GIF
PHONES = {"collab-overcooked": 6, "housework": 6, "craft": 5, "rush": 2}  # suite -> step that is shown
GAP = 16  # pixels between phones


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
        width: Pixels, more where agents would be too small.
        name: Of a film that only the documentation shows; empty for the film of a game, which its page shows, too.
    """

    env_id: str
    policy: str
    caption: str
    options: dict[str, Any] = field(default_factory=dict)
    steps: tuple[int, int] = (0, 60)
    fps: float = 5
    width: int = 480
    name: str = ""

    @property
    def path(self) -> Path:
        """GIF of this episode."""
        return FOLDER / f"{self.name}.gif" if self.name else PACKAGE / "play" / "films" / f"{self.env_id}.gif"


FILMS = (
    Film("Overcooked-v0", "ppo:cramped_room", "soups for two", {"layout": "cramped_room"}),
    Film("CollabOvercooked-v0", "planner", "a chef and an assistant", {"level": 3}, (0, 40)),
    Film("CuisineWorld-v0", "greedy", "cooks share a queue of orders", {"level": "level_9"}, (0, 40)),
    Film("CraftKitchen-v0", "greedy", "fetch, cook and store"),
    Film("OvercookedV2-v0", "greedy", "a recipe that not all know", {"layout": "grounded_coord_simple"}),
    Film("KitchenRush-v0", "greedy", "few turns, scarce actions", fps=1),
    Film("AlienRush-v0", "greedy", "orders in strange words", fps=1),
    Film("Housework-v0", "mhp", "search a home together"),
    Film("Transport-v0", "rhp", "carry things to the bed"),
    Film("CollabCapture-v0", "planner", "catch a thief", fps=1),
    Film("CollabEscape-v0", "planner", "repair, then escape", fps=1),
    Film(
        "OvercookedV2-v0",
        "say:seen:greedy",
        "talk, plan and replan",
        {"layout": CHANGING["mixed"].split("+"), "channel": 4, **paper_options(CHANGING["mixed"])},
        (150, 250),
        name="mixed",
    ),
)


def frames(film: Film) -> Iterator[np.ndarray]:
    """Play an episode and yield pictures of its board."""
    env = collab_overcooked.make(film.env_id, **film.options)
    team = collab_overcooked.make_team([film.policy] * len(env.possible_agents))
    record = collab_overcooked.play_episode(env, team, seed=0)
    first, last = film.steps
    for snapshot in replay(record):
        if first <= snapshot.timestep <= last:
            yield board_of(snapshot.env, film.width)


def board_of(env: Any, width: int) -> np.ndarray:
    """Return a picture of the board alone, as texts beside it would be too small to read.

    Args:
        env: Environment.
        width: Pixels, more where agents would have less than ``FIGURE`` pixels.
    """
    drawing = env.game.drawing(env.game.scene(env.arrays[0], 0), None)
    (board,) = (part for part in drawing.parts if isinstance(part, Board))
    tile = max(width / board.size[0], FIGURE / board.cook_size)
    shown = replace(drawing, parts=(board,), notes=(), remark=None)
    drawn = Image.fromarray(draw_rgb(shown, max(round(tile), drawing.tile // 2)))
    size = round(tile * board.size[0]), round(tile * board.size[0] * drawn.height / drawn.width)
    return np.asarray(drawn.resize(size, Image.Resampling.LANCZOS))


def draw_film(film: Film) -> None:
    """Play a game and render its GIF."""
    write_video(frames(film), film.path, film.fps)
    size = film.path.stat().st_size
    print(f"{film.path.name}: {size // 1000} kB" + (", too large" if size > MAX_BYTES else ""))


def run(*arguments: str) -> None:
    """Run a command of the package."""
    subprocess.run([sys.executable, "-m", "collab_overcooked", *arguments], check=True)


def draw_curve() -> None:
    """Train five seeds of the first configuration and draw their curve."""
    seeds = ["10", "11", "12", "13", "14"]
    run("train", "ppo", "--config", "cramped_room", "--seeds", *seeds, "--out", str(RUNS / "cramped_room"))
    run("plot", str(RUNS / "cramped_room"), "--title", "cramped_room", "--out", str(FOLDER / "curve.svg"))


def draw_partners() -> None:
    """Draw the performance profile and the heat map of each pool that has results."""
    for pool in partners.POOLS:
        partners.scores(pool).write(RUNS / pool)
        for name in (PROFILE, HEAT_MAP):
            shutil.copyfile(RUNS / pool / f"{name}.svg", FOLDER / f"{name}_{pool}.svg")


@contextmanager
def opened(address: str, width: int, height: int) -> Iterator[Any]:
    """Open a page in the Chromium on the PATH."""
    from playwright.sync_api import sync_playwright

    with (
        sync_playwright() as driver,
        driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"]) as browser,
    ):
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(address)
        yield page


def draw_leaderboard() -> None:
    """Compare the policies that need no key in Overcooked and show the leaderboard of the report."""
    run("compare", "--games", "overcooked", "--episodes", "20", "--no-crossplay", "--out", str(RUNS / "overcooked"))
    with opened((RUNS / "overcooked" / "report.html").as_uri(), 1200, 900) as page:
        page.locator("h2#overcooked ~ .scroll").first.screenshot(path=FOLDER / "leaderboard.png")


@contextmanager
def served(*arguments: str) -> Iterator[list[str]]:
    """Serve pages by a command of the package and yield the addresses that it prints."""
    command = [sys.executable, "-m", "collab_overcooked", *arguments, "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            lines = list(takewhile(lambda line: "Ctrl+C" not in line, process.stderr))
            yield re.findall(r"http://\S+", "".join(lines))
        finally:
            process.terminate()


def step_of(page: Any) -> int:
    """Return the step that a page of a game shows, -1 before the first."""
    return int(page.evaluate("Number(document.body.dataset.step ?? -1)"))


def reach(page: Any, step: int, play: Callable[[Any], None] = lambda page: None) -> None:
    """Begin a game and play it until it is at a step."""
    page.click("#ready", timeout=300_000)  # the first game of a version compiles its rules before
    while step_of(page) < step:
        before = step_of(page)
        play(page)
        page.wait_for_function(f"() => Number(document.body.dataset.step ?? -1) > {before} || {before} < 0")


def advised(page: Any) -> None:
    """Choose the first action of the menu, which is what the scripted policy would do, or wait."""
    page.locator("#turn button:visible:enabled").first.click()


def play_command(suite: str, *options: str, partner: str = "greedy") -> tuple[str, ...]:
    """Return a command that seats a person beside a policy."""
    team = ("agent_0=person", f"agent_1={partner}")
    return ("play", suite, *options, "--team", *team, "--no-open", "--out", str(RUNS / f"play_{suite}"))


def draw_play() -> None:
    """Play Overcooked in real time for a while."""
    command = play_command("overcooked", "--layouts", "cramped_room", partner="ppo:cramped_room")
    with served(*command) as links, opened(links[0], 1280, 720) as page:
        reach(page, 60)
        page.screenshot(path=FOLDER / "play.png")


def draw_turns() -> None:
    """Play CuisineWorld in turns for some steps."""
    command = play_command("cuisineworld", "--levels", "level_1", "--agents", "2")
    with served(*command) as links, opened(links[0], 1280, 800) as page:
        reach(page, 6, advised)
        page.screenshot(path=FOLDER / "play_turns.png")


def draw_rooms() -> None:
    """Open the start page."""
    with served("play", "rooms", "--no-open", "--out", str(RUNS / "rooms")) as links:
        with opened(links[0], 1280, 900) as page:
            page.wait_for_function("() => document.querySelectorAll('#games button').length >= 18")
            page.screenshot(path=FOLDER / "play_rooms.png")


def draw_phones() -> None:
    """Play four games on phones and show them side by side."""
    sides = []
    for suite, step in PHONES.items():
        with served(*play_command(suite)) as links, opened(links[0], 360, 640) as page:
            reach(page, step, advised)
            page.evaluate("scrollTo(0, 0)")
            page.wait_for_function("() => !document.getAnimations().length")
            sides.append(Image.open(io.BytesIO(page.screenshot())))
    width = sum(side.width + GAP for side in sides) - GAP
    picture = Image.new("RGB", (width, sides[0].height), "gray")
    for k, side in enumerate(sides):
        picture.paste(side, (k * (side.width + GAP), 0))
    picture.save(FOLDER / "play_phones.png")


def draw_study() -> None:
    """Take part in the first study as far as its first game."""
    study, out = str(EXAMPLES / "studies" / "within.yaml"), str(RUNS / "study")
    shutil.rmtree(out, ignore_errors=True)  # everybody starts anew
    with served("study", "run", study, "--out", out) as links, opened(links[0], 900, 640) as page:
        page.screenshot(path=FOLDER / "study_consent.png")
        page.locator("form button").first.click()
        page.locator("a[href$='/play']").click()
        reach(page, 0)
        page.screenshot(path=FOLDER / "study_game.png")


# ------------------------------------------------------------------------------------------- freshness


@dataclass(frozen=True)
class Picture:
    """A picture, or several that are drawn together.

    Attributes:
        draw: Writes it.
        made_of: What it is made of, as bytes; a picture is stale if this is not what it was drawn from.
    """

    draw: Callable[[], None]
    made_of: Callable[[], Iterator[bytes]]


def sources(*patterns: str) -> Callable[[], Iterator[bytes]]:
    """Return the files that draw a picture, by patterns below the package; one without a file is an error."""

    def read() -> Iterator[bytes]:
        for pattern in patterns:
            paths = sorted(path for path in PACKAGE.glob(pattern) if path.is_file() and path.suffix != ".pyc")
            assert paths, pattern
            yield from (path.read_bytes() for path in paths)

    return read


def made_of_film(film: Film) -> Iterator[bytes]:
    """Return what a film shows, and the files that draw it."""
    yield repr(film).encode()
    folder = registry.find(film.env_id).game.split(".")[2]
    yield from sources("render/*", f"games/{folder}/**/text/*.py")()


def scores_of_pools() -> Iterator[bytes]:
    """Return the lines of which the pictures of pools are made, and what draws them."""
    yield from ((RESULTS / f"partners_{pool}.jsonl").read_bytes() for pool in partners.POOLS)
    yield from sources("evaluation/partner_table.py", "reporting/plots.py")()


GAME_PAGE = ("play/page/*", "reporting/page/picture.*", "reporting/pictures.py")  # what draws the page of every game


def page_of(*games: str) -> Callable[[], Iterator[bytes]]:
    """Return the files that draw the pages of games."""
    return sources(*GAME_PAGE, *(f"games/{game}/text/picture.py" for game in games))


PICTURES: dict[str, Picture] = {
    **{film.name or film.env_id: Picture(partial(draw_film, film), partial(made_of_film, film)) for film in FILMS},
    "cuisineworld": Picture(cuisineworld.draw_pictures, sources("games/cuisineworld/text/picture.py")),
    "curve": Picture(draw_curve, sources("baselines/configs/cramped_room.yaml", "reporting/plots.py")),
    "leaderboard": Picture(draw_leaderboard, sources("reporting/page/*.html", "reporting/page/report.css")),
    "partners": Picture(draw_partners, scores_of_pools),
    "play": Picture(draw_play, page_of("overcooked")),
    "turns": Picture(draw_turns, page_of("cuisineworld")),
    "rooms": Picture(draw_rooms, sources("play/page/host.*", "play/page/play.css", "play/films/*")),
    "phones": Picture(draw_phones, page_of("collab_overcooked", "house", "craft", "rush")),
    "study": Picture(draw_study, sources(*GAME_PAGE, "study/page/*", "games/rooms/text/picture.py")),
}


def digest(name: str) -> str:
    """Return a digest of what a picture is made of now."""
    total = hashlib.sha256()
    for part in PICTURES[name].made_of():
        total.update(part)
    return total.hexdigest()[:16]


def drawn_from() -> dict[str, str]:
    """Return the digest of what each picture was made of when it was drawn."""
    kept: dict[str, str] = json.loads(DIGESTS.read_text("utf-8"))
    return kept


def draw(names: list[str]) -> None:
    """Draw some pictures, or all, and note what they were made of."""
    for name in names or PICTURES:
        PICTURES[name].draw()
        DIGESTS.write_text(json.dumps(drawn_from() | {name: digest(name)}, indent=1, sort_keys=True) + "\n")
