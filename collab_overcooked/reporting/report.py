"""Self-contained HTML report with tables, charts and replays.

Text written by policies is escaped in markup and set as text content by the script, and the page's content security
policy allows no other script.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from collab_overcooked import __version__, registry
from collab_overcooked.core.record import Event, Record
from collab_overcooked.io.files import read_shipped
from collab_overcooked.metrics.registry import measure
from collab_overcooked.reporting.escaping import html_text, json_in_markup
from collab_overcooked.reporting.exchanges import exchange_data, model_section
from collab_overcooked.reporting.naming import page_names, renaming, single_names
from collab_overcooked.reporting.pictures import SPRITE, difference, picture_of
from collab_overcooked.reporting.plan_trees import report_section
from collab_overcooked.reporting.result_table import ResultTable
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.runner.replay import replay

MAX_REPLAYS = 12
MAX_PICTURE_BYTES = 7_000_000  # of frames as JSON; with tables and charts the file stays below 10 MB
SCRIPTS = ("wording.js", "picture.js", "report.js")  # one module; the first two are those of pages for people
STYLES = ("picture.css", "report.css")


def build_report(records: Sequence[Record], cards: Sequence[Scorecard], folder: Path | None = None) -> str:
    """Return the report as HTML.

    Args:
        records: Episodes. Replays of some of them are embedded, at least one per level if the size allows.
        cards: Scorecards of the episodes.
        folder: Run folder with settings and exchanges of language models, or None.
    """
    embedded = list(replays(choose_episodes([record for record in records if record.steps]), MAX_REPLAYS))
    sections = [section for card in cards for section in card_sections(card)]
    description = f"{len(embedded)} of {len(records)} episodes: one per level or setting, failures first."
    plans = report_section(records)
    sections += [
        plans,
        _configuration(records),
        model_section(folder) if folder else "",
        player(description) if embedded else "",
    ]
    title = "; ".join(dict.fromkeys(card.heading for card in cards if card.team or card.charts))
    return page(title, sections, embedded, folder)


def page(title: str, sections: Sequence[str], embedded: Sequence[Mapping[str, Any]], folder: Path | None = None) -> str:
    """Return a self-contained HTML page.

    Args:
        title: Title of the page.
        sections: HTML of the sections.
        embedded: Data of the replay player.
        folder: Run folder with exchanges of language models, or None.
    """
    policy = page_policy()
    sprites = {name: markup for data in embedded for name, markup in data["sprites"].items()}
    episodes = [{name: value for name, value in data.items() if name != "sprites"} for data in embedded]
    labels = json.loads(read_shipped("reporting/page/labels.json"))
    drawn = json_in_markup({"episodes": episodes, "sprites": sprites, "labels": labels})
    exchanges = json_in_markup(exchange_data(folder, embedded))
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{html_text(title)}</title>",
            f"<style>\n{_shipped(STYLES)}</style>",
            "</head>",
            "<body>",
            "<main>",
            *sections,
            f'<p class="soft">Made by collab-overcooked {html_text(__version__)}.</p>',
            "</main>",
            f'<script type="application/json" id="replays">{drawn}</script>',
            f'<script type="application/json" id="exchanges">{exchanges}</script>',
            f'<script type="module">{_shipped(SCRIPTS)}</script>',
            "</body>",
            "</html>",
            "",
        ]
    )


def page_policy() -> str:
    """Return the content security policy of a page: no external resources, and no script but the page's."""
    digest = base64.b64encode(hashlib.sha256(_shipped(SCRIPTS).encode()).digest()).decode()
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def _shipped(names: Iterable[str]) -> str:
    return "".join(read_shipped(f"reporting/page/{name}") for name in names)


def card_sections(card: Scorecard) -> Iterator[str]:
    """Yield tiles, tables, notes and charts of a card; detailed tables are collapsed."""
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
    tiles = []
    for column, cell in zip(table.columns, table.rows[0], strict=True):
        value, interval = map(html_text, column.text(cell))
        below = f'<span class="soft">{interval}</span>'
        tiles.append(f'<div class="tile">{html_text(column.name)}<b>{value}</b>{below}</div>')
    return f'<div class="tiles">{"".join(tiles)}</div>'


def _configuration(records: Sequence[Record]) -> str:
    first = records[0]
    entries = {
        "Environment": first.env_id,
        **_team_entries(records),
        "Tasks": len({record.task for record in records}),
        "Episodes": len(records),
        "Package": ", ".join(dict.fromkeys(record.version for record in records)),
        **{
            name: value
            for name, value in first.env_kwargs.items()
            if name not in ("task", "level", "layout") and value is not None
            if all(record.env_kwargs.get(name) == value for record in records)  # not the axes of a table
        },
    }
    tokens = sum(measure(record, ["tokens"])["tokens"] for record in records)
    refused = sum(len(step.errors) for record in records for step in record.steps)
    entries |= {"Refused actions": refused} | ({"Tokens": tokens} if tokens else {})
    items = "".join(f"<dt>{html_text(name)}</dt><dd>{html_text(value)}</dd>" for name, value in entries.items())
    return f"<h2>Configuration</h2><dl>{items}</dl>"


def _team_entries(records: Sequence[Record]) -> dict[str, str]:
    return max((dict(record.team) for record in records), key=len)


def choose_episodes(records: Sequence[Record]) -> list[Record]:
    """Order episodes for display: one per level or setting, failures before successes, then the others."""
    done = [registry.suite_of(record).fully_succeeded(record) for record in records]
    seen: set[Any] = set()
    firsts: list[int] = []
    others: list[int] = []
    for i in sorted(range(len(records)), key=lambda i: (done[i], i)):
        group = records[i].task if records[i].level is None else records[i].level
        (others if group in seen else firsts).append(i)
        seen.add(group)
    firsts.sort(key=lambda i: (done[i], i))
    return [records[i] for i in [*firsts, *others]]


@dataclass
class Film:
    """Pictures and action labels of an episode."""

    frames: list[dict[str, Any]] = field(default_factory=list)  # What turns the picture before into that of each state
    sprites: dict[str, str] = field(default_factory=dict)
    names: Sequence[str] = ()  # Of the seats
    named: Callable[[str], str] = str  # Puts those names into a text of the game
    single: list[str] = field(default_factory=list)  # Numbered names of things of which there is one
    actions: list[list[str]] = field(default_factory=list)  # Action labels by step and seat
    size: int = 0  # Characters of frames and sprites as JSON


def replays(
    records: Iterable[Record], most: int, steps: int | None = None, seat: int | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the replay data of the first episodes that fit onto a page.

    Args:
        records: Episodes.
        most: Maximum number of replays.
        steps: Maximum number of steps per replay, or None for all.
        seat: Show only the view, actions, events and refusals of this seat, plus all messages; None shows everything.
    """
    left = smallest = MAX_PICTURE_BYTES
    for record in records:
        film = _film(record, left, steps, seat)
        if film is None:
            if left < smallest:  # nor would others fit
                return
            continue
        left, smallest = left - film.size, min(smallest, film.size)
        most -= 1
        yield _replay_data(record, film, seat)
        if not most:
            return


def _film(record: Record, most: int, steps: int | None, seat: int | None) -> Film | None:
    film = Film()
    before: dict[str, Any] = {}
    for snapshot in islice(replay(record), None if steps is None else steps + 1):
        game, state = snapshot.env.game, snapshot.env.arrays[0]
        if not film.names:
            film.names, film.named = page_names(game), renaming(game)
            film.single = single_names(game.seen(state, 0, seat or 0))
        scene = game.scene(state, 0)
        drawn = picture_of(game, scene if seat is None else game.seat_scene(scene, seat), seat)
        sprites = {key: value for key, value in drawn.items() if key.startswith(SPRITE) and key not in film.sprites}
        after = {key: value for key, value in drawn.items() if not key.startswith(SPRITE)}
        film.frames.append(difference(before, after))
        film.sprites |= sprites
        film.size += len(json.dumps([film.frames[-1], sprites]))
        before = after
        if film.size > most:  # known early: filming an episode to its end takes seconds
            return None
        if snapshot.timestep < len(record.steps):
            taken = enumerate(record.steps[snapshot.timestep].actions)
            film.actions.append([game.action_labels(state, 0, agent)[action] for agent, action in taken])
    return film


def _replay_data(record: Record, film: Film, only: int | None) -> dict[str, Any]:
    suite = registry.suite_of(record)
    outcome, name = suite.outcome(record), suite.episode_name(record)
    cut = f", {len(film.frames) - 1} of which are shown" if len(film.frames) <= record.timesteps else ""

    def of_shown_seats(entries: Sequence[Any], nothing: Any = None) -> list[Any]:
        return [entry if only in (None, seat) else nothing for seat, entry in enumerate(entries)]

    def text_of(event: Event | None) -> str | None:
        return None if event is None else film.named(event.text)

    return {
        "title": f"{name}, episode {record.episode}: {outcome}",
        "outcome": f"{outcome} after {record.timesteps} timesteps{cut}",
        "names": list(film.names),
        "single": film.single,
        "seats": of_shown_seats([f"{seat}, {spec}" for seat, spec in record.team.items()]),
        "frames": film.frames,
        "sprites": film.sprites,
        "feedback": of_shown_seats([film.named(text) for text in record.feedback], ""),
        "steps": [
            {
                "actions": of_shown_seats(actions),
                "events": of_shown_seats([text_of(event) for event in step.events]),
                "messages": to_builtins(step.messages),
                "errors": [
                    {**to_builtins(error), "message": film.named(error.message)}
                    for error in step.errors
                    if only in (None, error.agent)
                ],
                "exchanges": of_shown_seats(step.exchanges, []),
            }
            for step, actions in zip(record.steps, film.actions[: len(film.frames) - 1], strict=False)
        ],
    }


def player(description: str) -> str:
    """Return the HTML section of the replay player with a description of its replays."""
    return f"""<h2 id="watch">Replays</h2>
<p class="soft">{html_text(description)}
Keys: left and right, Home, End, space.</p>
<section id="player" aria-label="Replay">
<label>Episode <select id="episode"></select></label>
<div class="watch">
<div>
<div id="screen">
<div id="hud"></div>
<div id="orders"></div>
<div><div id="stage" role="img" aria-label=""></div></div>
<div id="panel"></div>
</div>
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
