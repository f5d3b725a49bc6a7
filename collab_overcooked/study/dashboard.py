"""The host's page of a study: participants, progress, limits, and the actions of its buttons. Starlette routes."""

from __future__ import annotations

import asyncio
import io
import json
import statistics
import tempfile
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from collab_overcooked.io.files import read_shipped
from collab_overcooked.play.host import Host
from collab_overcooked.play.server import UNKNOWN, for_host, read_body
from collab_overcooked.study.design import Study, StudyStep
from collab_overcooked.study.hosting import StudyHost
from collab_overcooked.study.journal import Journal, Participant, read_limit
from collab_overcooked.study.results import ExportOptions, export

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

MAX_BYTES = 1_000  # of a request


def dashboard_routes(host: StudyHost) -> list[Any]:
    """Return the routes of the host's page, below ``/study/host/TOKEN``.

    Args:
        host: Host of the study's participants.
    """
    from starlette.routing import Route

    dashboard, address = Dashboard(host), "/study/host/{token}"
    return [
        Route(address, for_host(dashboard.page)),
        Route(f"{address}/data", for_host(dashboard.data)),
        Route(f"{address}/export", for_host(dashboard.export)),
        Route(f"{address}/{{what}}", for_host(dashboard.act), methods=["POST"]),
    ]


class Dashboard:
    """Answers requests of the host.

    Args:
        host: Host of the study's participants.
    """

    def __init__(self, host: StudyHost) -> None:
        self.host = host

    async def page(self, request: Request, games: Host) -> Response:
        """Show the page."""
        return _response(read_shipped("study/page/host.html"), "text/html")

    async def data(self, request: Request, games: Host) -> Response:
        """Send the data that the page shows."""
        facts = overview(self.host) | {"sessions": f"/h/{games.token}"}
        return _response(json.dumps(facts), "application/json")

    async def act(self, request: Request, games: Host) -> Response:
        """End the participation of one person, delete their data, or raise a limit."""
        what, journal = request.path_params["what"], self.host.journal
        if what not in ("end", "forget", "raise"):
            return _response(UNKNOWN, "text/plain", 404)
        body = await read_body(request, MAX_BYTES)
        if body is None:
            return _response(f"at most {MAX_BYTES} bytes", "text/plain", 413)
        fields = {name: values[0] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}
        person = journal.people.get(fields.get("id", ""))
        if what == "end" and person is not None:
            self.host.stop(person)
        elif what == "forget" and person is not None:
            await self.host.forget(person.id)
        elif what == "raise":
            try:
                journal.raise_limit(fields.get("name", ""), read_limit(fields.get("value", "")))
            except ValueError as error:
                return _response(str(error), "text/plain", 400)
        else:
            return _response(f"{what} needs a participant's id", "text/plain", 400)
        return _response(json.dumps(overview(self.host)), "application/json")

    async def export(self, request: Request, games: Host) -> Response:
        """Send the tables, the codebook and the records as a ZIP file."""
        options = ExportOptions(anonymous=request.query_params.get("anonymous") == "yes")
        try:
            data = await asyncio.to_thread(_zipped, self.host.journal.path, options)
        except ValueError as error:  # no participant has joined yet
            return _response(str(error), "text/plain", 409)
        response = _response(data, "application/zip")
        response.headers["Content-Disposition"] = 'attachment; filename="study.zip"'
        return response


def _zipped(folder: Path, options: ExportOptions) -> bytes:
    packed = io.BytesIO()
    with tempfile.TemporaryDirectory() as out, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name in export(folder, Path(out), options):
            file.write(Path(out) / name, name)
    return packed.getvalue()


def _response(content: str | bytes, kind: str, status: int = 200) -> Response:
    from starlette.responses import Response

    return Response(content, status, media_type=kind)


def overview(host: StudyHost) -> dict[str, Any]:
    """Return the progress of a study, JSON-serialisable; participants appear under their random ids only."""
    journal = host.journal
    people = list(journal.people.values())
    times = _times(journal)
    return {
        "title": host.study.title,
        "completed": host.completed,
        "limit": journal.limit,
        "under_way": host.under_way,
        "margin": journal.limits["margin"],
        "open": not host.refusal(),
        "declined": journal.declined,
        "refused": dict(journal.refused),
        "cells": host.cells(),
        "limits": {name: value for name, value in journal.limits.items() if value is not None},
        "retention": host.study.retention,
        "ends": dict(Counter(person.end for person in people if person.end)),
        "idle": sum(not person.end and host.is_idle(person) for person in people),
        "failed_checks": sum(person.failed_checks for person in people),
        "medians": _medians(journal, times),
        "waiting": host.pools(),
        "people": [_person(host, person, times.get(person.id, {})) for person in people],
    }


def _person(host: StudyHost, person: Participant, times: Mapping[int, float]) -> dict[str, Any]:
    journal = host.journal
    step = journal.step_of(person)
    begun = times.get(-1)
    last = max(times.values(), default=None)
    end = last if person.end else journal.clock()
    return {
        "id": person.id,
        "number": person.number,
        "group": person.group,
        "step": min(person.step + 1, len(journal.steps_of(person))),
        "steps": len(journal.steps_of(person)),
        "doing": "" if person.end or step is None else step_name(host.study, step),
        "condition": "" if step is None else step.condition,
        "conditions": journal.conditions_of(person),
        "connection": "" if person.end else host.connection(person),
        "minutes": None if begun is None or end is None else round((end - begun) / 60),
        "failed_checks": person.failed_checks,
        "end": person.end,
    }


def step_name(study: Study, step: StudyStep) -> str:
    """Return the label of a step on the host's page."""
    page = study.blocks[step.block].page
    name = page[0] if page is not None and step.kind == "page" else step.form or "game"
    return f"{name} ({step.condition})" if step.condition else name


def _times(journal: Journal) -> dict[str, dict[int, float]]:
    done: dict[str, dict[int, float]] = {}
    for event in journal.events:
        if event["event"] in ("joined", "passed", "answered", "ended"):
            done.setdefault(event["id"], {}).setdefault(event.get("step", -1), event["time"])
    return done


def _medians(journal: Journal, times: Mapping[str, Mapping[int, float]]) -> list[dict[str, Any]]:
    minutes: dict[str, list[float]] = {}
    opened = journal.opened_at()
    for person in journal.people.values():
        done_at = times.get(person.id, {})
        for number, step in enumerate(journal.steps_of(person)[: person.step]):
            if number in done_at and (person.id, number) in opened:
                taken = (done_at[number] - opened[person.id, number]) / 60
                minutes.setdefault(step_name(journal.study, step), []).append(taken)
        if person.end == "done" and -1 in done_at:
            minutes.setdefault("all", []).append((max(done_at.values()) - done_at[-1]) / 60)
    return [
        {"step": name, "people": len(minutes[name]), "minutes": round(statistics.median(minutes[name]), 1)}
        for name in sorted(minutes, key=lambda name: name == "all")
    ]
