"""The addresses of a study, mounted on the server of games, whose headers and checks hold for them, too."""

from __future__ import annotations

import ipaddress
import json
from collections import OrderedDict
from collections.abc import Mapping
from importlib import resources
from typing import Any
from urllib.parse import parse_qs

from collab_overcooked.core.text import one_line
from collab_overcooked.play.messages import Rate
from collab_overcooked.play.server import MISSING
from collab_overcooked.study import pages
from collab_overcooked.study.hosting import StudyHost
from collab_overcooked.study.journal import Participant
from collab_overcooked.study.words import fill

MOST_BYTES = 64_000  # of a questionnaire
MOST_FIELDS = 500
MOST_JOINING, JOINING_A_SECOND = 60, 0.2  # answers about consent from one network: at once, and for long
MOST_NETWORKS = 10_000  # that are remembered, and never written down
LONGEST_PARAMETER = 100  # characters of a panel's id
REFERRER = {"Referrer-Policy": "same-origin"}  # under "no-referrer" browsers send forms with the origin "null"
FILES = {"study.css": "text/css", "study.js": "text/javascript"}
Given = dict[str, list[str]]


def study_routes(host: StudyHost, joining: int = MOST_JOINING) -> list[Any]:
    """Return the routes of a study.

    Args:
        host: Hosts the games.
        joining: How many may answer about consent at once from one network.

    Raises:
        ValueError: If the extra ``play`` is not installed.
    """
    try:
        from starlette.routing import Route
    except ImportError:
        raise ValueError(MISSING) from None
    own = StudyPages(host, joining)
    return [
        Route("/study", own.entry),
        Route("/study/consent", own.consent, methods=["POST"]),
        Route("/study/page/{name}", own.file),
        Route("/study/{token}", own.show),
        Route("/study/{token}", own.take, methods=["POST"]),
        Route("/study/{token}/news", own.news),
        Route("/study/{token}/play", own.play),
    ]


class StudyPages:
    """Answers requests of a study's participants.

    Args:
        host: Hosts the games.
        joining: See ``study_routes``.
    """

    def __init__(self, host: StudyHost, joining: int) -> None:
        self.host, self.journal, self.study = host, host.journal, host.study
        self._joining, self._rates = joining, OrderedDict[str, Rate]()

    # ---------------------------------------------------------------------------------------- before consent

    async def entry(self, request: Any) -> Any:
        """Show what participants agree to; nothing is stored yet."""
        kept = self._kept(request.query_params)
        known = self._known(kept)
        if known is not None:
            return _redirect(f"/study/{known.token}")
        refusal = self._refusal(kept)
        if refusal:
            return self._message(refusal, 403)
        return _page(pages.consent_page(self.study, kept))

    async def consent(self, request: Any) -> Any:
        """Take somebody in, or count a refusal."""
        given = await _fields(request)
        if given is None:
            return self._message(self.study.words["error"], 413)
        if not self._rate_of(request).allows():  # else a stranger could fill the disk, or the study
            return self._message(self.study.words["too_many"], 429)
        kept = self._kept({name: values[0] for name, values in given.items()})
        if given.get("agree") != ["yes"]:
            self.journal.decline()
            return _page(pages.end_page(self.study, self.study.ends["declined"], kept))
        known = self._known(kept)
        refusal = "" if known is not None else self._refusal(kept)
        if refusal:
            return self._message(refusal, 403)
        person = known or self.journal.join(kept)
        return _redirect(f"/study/{person.token}")

    def _rate_of(self, request: Any) -> Rate:
        """Return the rate at which a network answers about consent; those heard of long ago are forgotten."""
        network = _network_of(request.client.host if request.client else "")
        rate = self._rates.pop(network, None) or Rate(a_second=JOINING_A_SECOND, burst=self._joining)
        self._rates[network] = rate
        if len(self._rates) > MOST_NETWORKS:
            self._rates.popitem(last=False)
        return rate

    def _kept(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the parameters that the study stores."""
        names = [name for name in (self.study.panel_id, *self.study.keep) if name]
        return {name: one_line(given[name])[:LONGEST_PARAMETER] for name in names if given.get(name)}

    def _known(self, kept: Mapping[str, str]) -> Participant | None:
        panel_id = kept.get(self.study.panel_id)
        return None if panel_id is None else self.journal.by_panel_id(panel_id)

    def _refusal(self, kept: Mapping[str, str]) -> str:
        """Say why somebody cannot take part; empty if nothing is against it."""
        if self.study.panel_id and self.study.panel_id not in kept:
            return fill(self.study.words["missing_id"], name=self.study.panel_id)
        return self.study.words["full"] if self.journal.joined >= self.study.limit else ""

    # ---------------------------------------------------------------------------------------- with a link

    def _person(self, request: Any) -> Participant | None:
        return self.journal.by_token(request.path_params["token"])

    async def show(self, request: Any) -> Any:
        """Show what a participant is to do now."""
        person = self._person(request)
        return self._message(self.study.words["unknown"], 404) if person is None else _page(self._now(person))

    def _now(self, person: Participant, given: Given | None = None, complaints: Mapping[str, str] | None = None) -> str:
        """Return the page of a participant's step."""
        study, step = self.study, self.journal.step_of(person)
        if step is not None and step.kind == "play" and study.group == 1:
            self.host.match(person)
            step = self.journal.step_of(person)
        if step is None:
            self.host.end(person, "done")
        if person.end or step is None:
            return pages.end_page(study, study.ends[person.end], person.kept)
        target, steps = f"/study/{person.token}", len(self.journal.steps_of(person))
        if step.kind == "form":
            form = study.forms[step.form]
            return pages.form_page(study, form, target, person.step, steps, given or {}, complaints or {})
        page = study.blocks[step.block].page
        if page is not None:
            return pages.text_page(study, *page, target, person.step, steps)
        if self.host.has_game(person):
            label = study.conditions[step.condition].label
            return pages.game_page(study, label, f"{target}/play", person.step, steps)
        return pages.waiting_page(study, person.token, study.group - 1)

    async def take(self, request: Any) -> Any:
        """Take what a participant sends from a page; what was sent twice, or is of an earlier step, changes nothing."""
        person = self._person(request)
        if person is None:
            return self._message(self.study.words["unknown"], 404)
        given = await _fields(request)
        if given is None:
            return self._message(self.study.words["error"], 413)
        step = self.journal.step_of(person)
        if step is None or person.end or given.get("step") != [str(person.step)] or step.kind == "play":
            return _redirect(f"/study/{person.token}")
        if step.kind == "page":
            self.journal.passed(person)
            return _redirect(f"/study/{person.token}")
        form = self.study.forms[step.form]
        answers, complaints = form.read(given, self.study.words)
        if complaints:
            return _page(self._now(person, given, complaints), 422)
        self.journal.answered(person, answers)
        if any(item.screens(answers[item.name]) for item in form.items):
            self.host.end(person, "screened")
        return _redirect(f"/study/{person.token}")

    async def news(self, request: Any) -> Any:
        """Say how things stand in the waiting room."""
        person = self._person(request)
        if person is None:
            return _json({"go": "/study", "text": self.study.words["unknown"]}, 404)
        news = self.host.news(person)
        return _json({"go": news.go, "text": news.text})

    async def play(self, request: Any) -> Any:
        """Lead a participant to the game."""
        person = self._person(request)
        if person is None:
            return self._message(self.study.words["unknown"], 404)
        return _redirect(self.host.news(person).go or f"/study/{person.token}")

    async def file(self, request: Any) -> Any:
        """Send a file of the pages."""
        from starlette.responses import Response

        name = request.path_params["name"]
        if name not in FILES:
            return self._message(self.study.words["error"], 404)
        text = resources.files("collab_overcooked.study").joinpath("page", name).read_text(encoding="utf-8")
        return Response(text, media_type=FILES[name])

    def _message(self, text: str, status: int) -> Any:
        return _page(pages.message_page(self.study, text), status)


async def _fields(request: Any) -> Given | None:
    """Return the fields of a form; None if there is too much."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            return None
    try:
        return parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:  # no text, or too many
        return None


def _network_of(address: str) -> str:
    """Return what stands for a household: an address, or the first half of one of IPv6."""
    try:
        half = ipaddress.IPv6Address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network((half, 64), strict=False))


def _page(text: str, status: int = 200) -> Any:
    from starlette.responses import HTMLResponse

    return HTMLResponse(text, status, REFERRER)


def _json(value: Any, status: int = 200) -> Any:
    from starlette.responses import Response

    return Response(json.dumps(value), status, media_type="application/json")


def _redirect(address: str) -> Any:
    from starlette.responses import RedirectResponse

    return RedirectResponse(address, 303)
