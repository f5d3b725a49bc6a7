"""One HTML file with everything: numbers, charts and replays. It loads nothing from anywhere.

Texts of policies stand in it as text only: escaped in markup, set as text by the script; and the page's security
policy lets no script run but its own.
"""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from collab_overcooked import __version__, registry
from collab_overcooked.envs.seen import seat_names
from collab_overcooked.metrics.registry import measure
from collab_overcooked.reporting.escaping import html_text, json_in_markup
from collab_overcooked.reporting.exchanges import exchange_data, model_section
from collab_overcooked.reporting.plan_drawing import report_section
from collab_overcooked.reporting.result_table import ResultTable
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.replay import replay

MAX_REPLAYS = 12
MAX_PICTURE_BYTES = 7_000_000  # of data URIs; with tables and charts the file stays below 10 MB
MAX_WIDTH = 640  # pixels of a frame

Record = Mapping[str, Any]


def build_report(records: Sequence[Record], cards: Sequence[Scorecard], folder: Path | None = None) -> str:
    """Return the page.

    Args:
        records: Episodes; replays of some of them are embedded, at least one per level if the size allows.
        cards: Their scores.
        folder: Run folder, where settings and exchanges of language models are; None if there is none.

    Raises:
        ValueError: If a record cannot be replayed, or a file of the folder is damaged.
    """
    shown = list(replays(choose_episodes([record for record in records if record["steps"]]), MAX_REPLAYS))
    sections = [section for card in cards for section in card_sections(card)]
    told = f"{len(shown)} of {len(records)} episodes: one per level or setting, failures first."
    plans = report_section(records)
    sections += [plans, _configuration(records), model_section(folder) if folder else "", player(told) if shown else ""]
    title = "; ".join(dict.fromkeys(card.heading for card in cards if card.team or card.charts))
    return page(title, sections, shown, folder)


def page(title: str, sections: Sequence[str], shown: Sequence[Mapping[str, Any]], folder: Path | None = None) -> str:
    """Return a page that loads nothing.

    Args:
        title: Of the page.
        sections: Markup.
        shown: Replays for the player.
        folder: Run folder, where their exchanges with language models are; None if there is none.
    """
    style, script, policy = _page_file("report.css"), _page_file("report.js"), page_policy()
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{html_text(title)}</title>",
            f"<style>\n{style}</style>",
            "</head>",
            "<body>",
            "<main>",
            *sections,
            f'<p class="soft">Made by collab-overcooked {html_text(__version__)}.</p>',
            "</main>",
            f'<script type="application/json" id="replays">{json_in_markup(shown)}</script>',
            f'<script type="application/json" id="exchanges">{json_in_markup(exchange_data(folder, shown))}</script>',
            f"<script>{script}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def page_policy() -> str:
    """Return the security policy of a page: nothing is loaded, and no script runs but the page's own."""
    digest = base64.b64encode(hashlib.sha256(_page_file("report.js").encode()).digest()).decode()
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def _page_file(name: str) -> str:
    return (resources.files("collab_overcooked.reporting") / "page" / name).read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------------- scores


def card_sections(card: Scorecard) -> Iterator[str]:
    """Yield tiles, tables, notes and charts of a card; details are folded."""
    from collab_overcooked.reporting import plots

    if card.team:
        yield f'<h1>{html_text(card.team)}</h1><p class="soft">{html_text(card.title)}</p>'
    else:
        yield f"<h2>{html_text(card.title)}</h2>"
    if card.tiles is not None:
        yield _tiles(card.tiles)
    for table in (table for table in card.tables if not table.detail):
        yield (f"<h2>{html_text(table.title)}</h2>" if table.title else "") + table.html()
    yield f'<p class="soft">{html_text(" ".join(card.notes))}</p>'
    for table in (*(table for table in card.tables if table.detail), *card.by_task):
        yield f"<details><summary>{html_text(table.title)}</summary>{table.html()}</details>"
    if card.charts:
        figures = "".join(f"<figure>{plots.draw_chart(chart)}</figure>" for chart in card.charts)
        yield f'<h2>Charts</h2><div class="charts">{figures}</div>'


def _tiles(table: ResultTable) -> str:
    """Return the cells of a table's only row as tiles, their intervals below."""
    tiles = []
    for column, cell in zip(table.columns, table.rows[0], strict=True):
        value, interval = map(html_text, column.text(cell))
        below = f'<span class="soft">{interval}</span>'
        tiles.append(f'<div class="tile">{html_text(column.name)}<b>{value}</b>{below}</div>')
    return f'<div class="tiles">{"".join(tiles)}</div>'


# ------------------------------------------------------------------------------------------- what was played


def _configuration(records: Sequence[Record]) -> str:
    first = records[0]
    entries = {
        "Environment": first["env_id"],
        **_team_entries(records),
        "Tasks": len({record["task"] for record in records}),
        "Episodes": len(records),
        "Package": ", ".join(dict.fromkeys(record["version"] for record in records)),
        **{
            name: value
            for name, value in first["env_kwargs"].items()
            if name not in ("task", "level", "layout") and value is not None
            if all(record["env_kwargs"].get(name) == value for record in records)  # not the axes of a table
        },
    }
    tokens = sum(measure(record, ["tokens"])["tokens"] for record in records)
    refused = sum(len(step["errors"]) for record in records for step in record["steps"])
    entries |= {"Refused actions": refused} | ({"Tokens": tokens} if tokens else {})
    items = "".join(f"<dt>{html_text(name)}</dt><dd>{html_text(value)}</dd>" for name, value in entries.items())
    return f"<h2>Configuration</h2><dl>{items}</dl>"


def _team_entries(records: Sequence[Record]) -> dict[str, str]:
    """Return the policies by seat, those of the largest team where teams of several sizes played."""
    return max((dict(record["team"]) for record in records), key=len)


# ------------------------------------------------------------------------------------------- replays


def choose_episodes(records: Sequence[Record]) -> list[Record]:
    """Return the episodes worth watching: one per level or setting, failures before successes, then more of both."""
    done = [registry.suite_of(record).fully_succeeded(record) for record in records]
    seen: set[Any] = set()
    firsts: list[int] = []
    others: list[int] = []
    for i in sorted(range(len(records)), key=lambda i: (done[i], i)):
        group = records[i]["task"] if records[i]["level"] is None else records[i]["level"]
        (others if group in seen else firsts).append(i)
        seen.add(group)
    firsts.sort(key=lambda i: (done[i], i))
    return [records[i] for i in [*firsts, *others]]


@dataclass(frozen=True)
class Film:
    """Pictures and words of an episode.

    Attributes:
        frames: The different pictures, as data URIs.
        shown: Which of them shows each moment, the start first.
        names: Of the seats in texts.
        actions: By step and seat, as people read them.
    """

    frames: list[str]
    shown: list[int]
    names: list[str]
    actions: list[list[str]]


def replays(
    records: Iterable[Record], most: int, steps: int | None = None, seat: int | None = None
) -> Iterator[dict[str, Any]]:
    """Yield what the player needs of the first episodes that fit onto a page.

    Args:
        records: Episodes.
        most: How many at most.
        steps: Of each episode at most; all of them if None.
        seat: Whose picture, actions, events and refusals alone are shown, with what everybody heard; all if None.

    Raises:
        ValueError: If a record cannot be replayed.
    """
    left = MAX_PICTURE_BYTES
    for record in records:
        film = _film(record, steps, seat)
        size = sum(map(len, film.frames))
        if size > left:
            continue
        left -= size
        most -= 1
        yield _replay_data(record, film, seat)
        if not most:
            return


def _film(record: Record, steps: int | None, seat: int | None) -> Film:
    """Return the pictures and words of an episode, of what a seat may know if one is given."""
    numbers: dict[bytes, int] = {}
    film = Film([], [], [], [])
    for moment in islice(replay(record), None if steps is None else steps + 1):
        game, state = moment.env.game, moment.env.arrays[0]
        film.names[:] = film.names or seat_names(game)
        pixels = game.render(state, 0, "rgb_array", seat)
        key = hashlib.sha256(pixels.tobytes()).digest()
        if key not in numbers:
            numbers[key] = len(film.frames)
            film.frames.append(_data_uri(pixels))
        film.shown.append(numbers[key])
        if moment.timestep < len(record["steps"]):
            taken = enumerate(record["steps"][moment.timestep]["actions"])
            film.actions.append([game.action_labels(state, 0, own)[action] for own, action in taken])
    return film


def _data_uri(pixels: np.ndarray) -> str:
    """Return a picture as a data URI; 64 colours are enough for drawn tiles and a quarter of the size."""
    picture = Image.fromarray(pixels)
    if picture.width > MAX_WIDTH:
        picture = picture.resize(
            (MAX_WIDTH, round(picture.height * MAX_WIDTH / picture.width)), Image.Resampling.LANCZOS
        )
    out = io.BytesIO()
    picture.quantize(64, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(out, "PNG")
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()


def _replay_data(record: Record, film: Film, only: int | None) -> dict[str, Any]:
    suite = registry.suite_of(record)
    outcome, name = suite.outcome(record), suite.episode_name(record)
    cut = f", {len(film.shown) - 1} of which are shown" if len(film.shown) <= record["timesteps"] else ""

    def told(entries: Sequence[Any], nothing: Any = None) -> list[Any]:
        """Return the entries of the seats that are shown."""
        return [entry if only in (None, seat) else nothing for seat, entry in enumerate(entries)]

    return {
        "title": f"{name}, episode {record['episode']}: {outcome}",
        "outcome": f"{outcome} after {record['timesteps']} timesteps{cut}",
        "names": film.names,
        "seats": told([f"{seat}, {spec}" for seat, spec in record["team"].items()]),
        "frames": film.frames,
        "shown": film.shown,
        "feedback": told(record.get("feedback", ()), ""),
        "steps": [
            {
                "actions": told(actions),
                "events": told([None if event is None else event_words(event) for event in step["events"]]),
                "messages": step["messages"],
                "errors": [error for error in step["errors"] if only in (None, error["agent"])],
                "exchanges": told(step.get("exchanges", ()), []),
            }
            for step, actions in zip(record["steps"], film.actions[: len(film.shown) - 1], strict=False)
        ],
    }


def event_words(event: Mapping[str, Any]) -> str:
    """Return an event as words; a label alone where the game names nothing else."""
    if "event" not in event:
        return str(event["label"])
    if "reason" in event:  # games that tell of refused actions as well
        ends = [name for name in ("finished", "ruined") if event.get(name)]
        reason = str(event["reason"])
        refused = [] if reason == "OK" else [f"refused, {reason.lower().replace('_', ' ')}"]
        return ": ".join([event["label"], *ends, *refused])
    item = f" {event['item']}" if event.get("item") else ""
    place = f" ({event['place']})" if event.get("place") else ""
    return f"{str(event['event']).lower().replace('_', ' ')}{item}{place}"


def player(words: str) -> str:
    """Return the section that plays replays, with a sentence about which these are."""
    return f"""<h2 id="watch">Replays</h2>
<p class="soft">{html_text(words)}
Keys: left and right, Home, End, space.</p>
<section id="player" aria-label="Replay">
<label>Episode <select id="episode"></select></label>
<div class="stage">
<div>
<img id="picture" alt="">
<div class="controls">
<button id="play" type="button">Play</button>
<button id="back" type="button" aria-label="One timestep back">&lsaquo;</button>
<input id="slider" type="range" min="0" value="0" aria-label="Timestep">
<button id="forth" type="button" aria-label="One timestep on">&rsaquo;</button>
</div>
</div>
<div>
<p><span id="when"></span> <span id="outcome" class="soft"></span></p>
<div id="seats" aria-live="polite"></div>
<ol id="story" tabindex="0" aria-label="What happened, by timestep"></ol>
</div>
</div>
<noscript><p>Replays need JavaScript; tables and charts do not.</p></noscript>
</section>"""
