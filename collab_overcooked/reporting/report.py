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

from markupsafe import Markup
from msgspec import to_builtins

from collab_overcooked import __version__, registry
from collab_overcooked.core.record import EpisodeRecord, Event, Step
from collab_overcooked.io.files import read_shipped
from collab_overcooked.metrics.registry import game_metrics, measure
from collab_overcooked.reporting.escaping import json_in_markup
from collab_overcooked.reporting.exchanges import exchange_data, model_section
from collab_overcooked.reporting.naming import page_names, renaming, single_names
from collab_overcooked.reporting.pictures import SPRITE, difference, picture_of
from collab_overcooked.reporting.plan_trees import report_section
from collab_overcooked.reporting.scorecard import Scorecard
from collab_overcooked.reporting.templates import render
from collab_overcooked.runner.records import packed
from collab_overcooked.runner.replay import replay

MAX_REPLAYS = 12
MAX_PICTURE_BYTES = 7_000_000  # of frames as JSON; with tables and charts the file stays below 10 MB
SCRIPTS = ("wording.js", "picture.js", "report.js")  # one module; the first two are those of pages for people
STYLES = ("picture.css", "report.css")


def build_report(records: Sequence[EpisodeRecord], cards: Sequence[Scorecard], folder: Path | None = None) -> str:
    """Return the report as HTML.

    Args:
        records: Episodes. Replays of some of them are embedded, at least one per level if the size allows.
        cards: Scorecards of the episodes.
        folder: Run folder with settings and exchanges of language models, or None.
    """
    records = packed(records)
    embedded = list(replays(choose_episodes([record for record in records if record.timesteps]), MAX_REPLAYS))
    sections = [card_section(card) for card in cards]
    description = f"{len(embedded)} of {len(records)} episodes: one per level or setting, failures first."
    if embedded:
        sections.insert(1, player(description))
    sections += [report_section(records), _configuration(records), *([model_section(folder)] if folder else [])]
    title = "; ".join(dict.fromkeys(card.heading for card in cards if card.team or card.charts))
    return page(title, sections, embedded, folder)


def page(
    title: str, sections: Sequence[Markup], embedded: Sequence[Mapping[str, Any]], folder: Path | None = None
) -> Markup:
    """Return a self-contained HTML page.

    Args:
        title: Title of the page.
        sections: Markup of the sections.
        embedded: Data of the replay player.
        folder: Run folder with exchanges of language models, or None.
    """
    sprites = {name: markup for data in embedded for name, markup in data["sprites"].items()}
    episodes = [{name: value for name, value in data.items() if name != "sprites"} for data in embedded]
    labels = json.loads(read_shipped("reporting/page/labels.json"))
    drawn = json_in_markup({"episodes": episodes, "sprites": sprites, "labels": labels})
    exchanges = json_in_markup(exchange_data(folder, embedded))
    return render(
        "page.html",
        policy=Markup(page_policy()),
        title=title,
        styles=_shipped(STYLES),
        sections=sections,
        version=__version__,
        replays=drawn,
        exchanges=exchanges,
        scripts=_shipped(SCRIPTS),
    )


def page_policy() -> str:
    """Return the content security policy of a page: no external resources, and no script but the page's."""
    digest = base64.b64encode(hashlib.sha256(_shipped(SCRIPTS).encode()).digest()).decode()
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def _shipped(names: Iterable[str]) -> Markup:
    return Markup("".join(read_shipped(f"reporting/page/{name}") for name in names))


def card_section(card: Scorecard) -> Markup:
    """Return tiles, tables, notes and charts of a card; detailed tables are collapsed."""
    from collab_overcooked.reporting.plots import draw_chart

    tiles: list[tuple[str, ...]] = []
    if card.tiles is not None:
        pairs = zip(card.tiles.columns, card.tiles.rows[0], strict=True)
        tiles = [(column.name, *column.text(cell)) for column, cell in pairs]
    details = [*(table for table in card.tables if table.detail), *card.by_task]
    return render("card.html", card=card, tiles=tiles, details=details, charts=list(map(draw_chart, card.charts)))


def _configuration(records: Sequence[EpisodeRecord]) -> Markup:
    first = records[0]
    common_options = {  # without the axes of tables
        name: value
        for name, value in first.env_kwargs.items()
        if name not in ("task", "level", "layout") and value is not None
        if all(record.env_kwargs.get(name) == value for record in records)
    }
    entries = {
        "Environment": first.env_id,
        **_team_entries(records),
        "Tasks": len({record.task for record in records}),
        "Episodes": len(records),
        "Package": ", ".join(dict.fromkeys(record.version for record in records)),
        **common_options,
    }
    tokens = sum(measure(record, ["tokens"])["tokens"] for record in records)
    refused = sum(len(step.errors) for record in records for step in record.steps)
    entries |= {"Refused actions": refused} | ({"Tokens": tokens} if tokens else {})
    return render("definitions.html", title="Configuration", entries=entries)


def _team_entries(records: Sequence[EpisodeRecord]) -> dict[str, str]:
    return max((dict(record.team) for record in records), key=len)


def choose_episodes(records: Sequence[EpisodeRecord]) -> list[EpisodeRecord]:
    """Order episodes for display: first one per level or setting, failures before successes, then the rest."""
    done = list(map(_reached_all, records))
    seen: set[Any] = set()
    firsts: list[int] = []
    others: list[int] = []
    for i in sorted(range(len(records)), key=lambda i: (done[i], i)):
        group = records[i].task if records[i].level is None else records[i].level
        if group in seen:
            others.append(i)
        else:
            firsts.append(i)
            seen.add(group)
    firsts.sort(key=lambda i: (done[i], i))
    return [records[i] for i in [*firsts, *others]]


def _reached_all(record: EpisodeRecord) -> bool:
    metrics = game_metrics(record.env_id)
    if registry.suite_of(record).has_success or metrics.outcome is None:
        return record.success
    return metrics.outcome(record.replace(metrics=metrics.measure(record))) >= 1


@dataclass
class Replay:
    """Pictures and action labels of an episode."""

    frames: list[dict[str, Any]] = field(default_factory=list)  # Change of each state relative to the previous picture
    sprites: dict[str, str] = field(default_factory=dict)
    names: Sequence[str] = ()  # Of the seats
    named: Callable[[str], str] = str  # Puts those names into a text of the game
    single: list[str] = field(default_factory=list)  # Numbered names of things of which there is one
    actions: list[list[str]] = field(default_factory=list)  # Action labels by step and seat
    size: int = 0  # Characters of frames and sprites as JSON


def replays(
    records: Iterable[EpisodeRecord], most: int, steps: int | None = None, seat: int | None = None
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
        shown = _replay_of(record, left, steps, seat)
        if shown is None:
            if left < smallest:  # nor would others fit
                return
            continue
        left, smallest = left - shown.size, min(smallest, shown.size)
        most -= 1
        yield _replay_data(record, shown, seat)
        if not most:
            return


def _replay_of(record: EpisodeRecord, most: int, steps: int | None, seat: int | None) -> Replay | None:
    shown = Replay()
    before: dict[str, Any] = {}
    for snapshot in islice(replay(record), None if steps is None else steps + 1):
        game, state = snapshot.env.game, snapshot.env.arrays[0]
        if not shown.names:
            shown.names, shown.named = page_names(game), renaming(game)
            shown.single = single_names(game.seen(state, 0, seat or 0))
        scene = game.scene(state, 0)
        drawn = picture_of(game, scene if seat is None else game.seat_scene(scene, seat), seat)
        sprites = {key: value for key, value in drawn.items() if key.startswith(SPRITE) and key not in shown.sprites}
        after = {key: value for key, value in drawn.items() if not key.startswith(SPRITE)}
        shown.frames.append(difference(before, after))
        shown.sprites |= sprites
        shown.size += len(json.dumps([shown.frames[-1], sprites]))
        before = after
        if shown.size > most:  # known early: drawing an episode to its end takes seconds
            return None
        if snapshot.timestep < len(record.steps):
            taken = enumerate(record.steps[snapshot.timestep].actions)
            shown.actions.append([game.action_labels(state, 0, agent)[action] for agent, action in taken])
    return shown


def _replay_data(record: EpisodeRecord, shown: Replay, only: int | None) -> dict[str, Any]:
    suite = registry.suite_of(record)
    outcome, name = suite.outcome(record), suite.episode_text.format(record=record)
    cut = f", {len(shown.frames) - 1} of which are shown" if len(shown.frames) <= record.timesteps else ""

    def of_shown_seats(entries: Sequence[Any], nothing: Any = None) -> list[Any]:
        return [entry if only in (None, seat) else nothing for seat, entry in enumerate(entries)]

    def text_of(event: Event | None) -> str | None:
        return None if event is None else shown.named(event.text)

    def step_data(step: Step, actions: Sequence[str]) -> dict[str, Any]:
        errors = [
            {**to_builtins(error), "message": shown.named(error.message)}
            for error in step.errors
            if only in (None, error.agent)
        ]
        return {
            "actions": of_shown_seats(actions),
            "events": of_shown_seats([text_of(event) for event in step.events]),
            "messages": to_builtins(step.messages),
            "errors": errors,
            "exchanges": of_shown_seats(step.exchanges, []),
        }

    return {
        "title": f"{name}, episode {record.episode}: {outcome}",
        "outcome": f"{outcome} after {record.timesteps} timesteps{cut}",
        "names": list(shown.names),
        "single": shown.single,
        "seats": of_shown_seats([f"{seat}, {spec}" for seat, spec in record.team.items()]),
        "frames": shown.frames,
        "sprites": shown.sprites,
        "feedback": of_shown_seats([shown.named(text) for text in record.feedback], ""),
        "steps": list(map(step_data, record.steps, shown.actions[: len(shown.frames) - 1])),
    }


def player(description: str) -> Markup:
    """Return the section of the replay player with a description of its replays."""
    return render("player.html", description=description)
