"""Routes of a study, mounted on the game server, whose headers and checks also apply to them."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import math
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from collab_overcooked.io.files import read_shipped
from collab_overcooked.io.text import one_line
from collab_overcooked.play.messages import Rate
from collab_overcooked.play.people import window_size
from collab_overcooked.play.server import MISSING, read_body
from collab_overcooked.study import pages
from collab_overcooked.study.design import MINUTES, StudyStep
from collab_overcooked.study.events import MAX_LOSSES
from collab_overcooked.study.forms import Questionnaire
from collab_overcooked.study.hosting import StudyHost
from collab_overcooked.study.journal import Participant
from collab_overcooked.study.media import media_type
from collab_overcooked.study.pages import FieldValues
from collab_overcooked.study.texts import fill

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

MAX_BYTES = 64_000  # of a questionnaire
MAX_FIELDS = 500
MAX_ANSWERS, ANSWERS_A_SECOND = 60, 0.2  # consent decisions from one network: burst and sustained rate
COOKIE_SECONDS = 30 * 86_400
MAX_NETWORKS = 10_000  # networks remembered in memory; they are never stored
MAX_PARAMETER = 100  # characters of a panel's id
UNFILLED = re.compile(r"\{\{.*\}\}|\$\{.*\}|%\w+%")  # that a panel has not filled in, as {{%PROLIFIC_PID%}}
REFERRER = {"Referrer-Policy": "same-origin"}  # under "no-referrer" browsers send forms with the origin "null"
FILES = {"study.css": "text/css", "study.js": "text/javascript", "host.js": "text/javascript"}


def study_routes(host: StudyHost) -> list[Any]:
    """Return the routes of a study.

    Args:
        host: Host of the games.

    Raises:
        ValueError: The extra ``play`` is not installed.
    """
    try:
        from starlette.routing import Route
    except ImportError:
        raise ValueError(MISSING) from None
    study_pages = StudyPages(host)
    for_person = study_pages.for_person
    return [
        Route("/study", study_pages.entry),
        Route("/study/consent", study_pages.consent, methods=["POST"]),
        Route("/study/copy", study_pages.copy),
        Route("/study/page/{name}", study_pages.file),
        Route("/study/files/{name:path}", study_pages.media),
        Route("/study/{token}", for_person(study_pages.show)),
        Route("/study/{token}", for_person(study_pages.take), methods=["POST"]),
        Route("/study/{token}/news", for_person(study_pages.news, as_json=True)),
        Route("/study/{token}/play", for_person(study_pages.play)),
        Route("/study/{token}/leave", for_person(study_pages.leave), methods=["GET", "POST"]),
        Route("/study/{token}/delete", for_person(study_pages.delete), methods=["GET", "POST"]),
    ]


class StudyPages:
    """Request handlers for the participants of a study.

    Args:
        host: Host of the games.
    """

    def __init__(self, host: StudyHost) -> None:
        self.host = host
        self.journal = host.journal
        self.study = host.study
        places = self._places()
        self._answers = NetworkRates(ANSWERS_A_SECOND, max(MAX_ANSWERS, places), host)
        self._joins = NetworkRates(places / 3600, places, host)
        self._refusals = NetworkRates(ANSWERS_A_SECOND, MAX_ANSWERS, host)  # of those that are counted
        self._refused = set[str]()  # people whose refusal was counted, in memory only
        self._drafts: dict[str, AnswerDraft] = {}  # last submissions that were not accepted
        name = hashlib.sha256(self.study.name.encode("utf-8", "replace")).hexdigest()
        self._cookie = f"study-{name[:12]}"  # several studies may run under one host name

    async def entry(self, request: Request) -> Response:
        """Show the consent page; nothing is stored yet."""
        kept = self._kept(request.query_params)
        known = self._known(request, kept)
        if known is not None:
            return _redirect(f"/study/{known.token}")
        return self._refusal(request, kept) or _page(pages.consent_page(self.study, kept))

    async def consent(self, request: Request) -> Response:
        """Add a participant, or count a refusal."""
        fields = await _fields(request)
        if fields is None:
            return self._message(self.study.texts["error"], 413)
        if not self._answers.allow(request):  # else a stranger could fill the disk
            return _page(self._too_many(request, self._answers, {}), 429)
        kept = self._kept({name: values[0] for name, values in fields.items()})
        if fields.get("agree") != ["yes"]:
            self.journal.decline()
            return _page(pages.end_page(self.study, self.study.ends["declined"], kept))
        if any(fields.get(f"box{i}") != ["yes"] for i in range(len(self.study.boxes))):
            return _page(pages.consent_page(self.study, kept, self.study.texts["tick"]))
        person = self._known(request, kept)
        if person is None:
            refusal = self._refusal(request, kept)
            if refusal is not None:
                return refusal
            if self._repeats(kept):
                return self._refuse(request, "again", kept, 403)
            if self._joins.burst != self._places():  # it was raised
                self._joins = NetworkRates(self._places() / 3600, self._places(), self.host)
            if not self._joins.allow(request):  # else a stranger could fill the study
                return self._refuse(request, "too_many", kept, 429)
            person = self.journal.join(kept)
            self.host.note_activity(person)
        response = _redirect(f"/study/{person.token}")
        response.set_cookie(
            self._cookie,
            person.token,
            max_age=COOKIE_SECONDS,
            path="/study",
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="lax",
        )
        return response

    async def copy(self, request: Request) -> Response:
        """Send the consent text to keep."""
        return _page(pages.consent_copy(self.study))

    def _kept(self, parameters: Mapping[str, str]) -> dict[str, str]:
        values = {name: one_line(parameters.get(name, ""))[:MAX_PARAMETER] for name in self.study.parameters}
        return {
            name: value for name, value in values.items() if value.strip() and not UNFILLED.fullmatch(value.strip())
        }

    def _known(self, request: Request, kept: Mapping[str, str]) -> Participant | None:
        """Return the participant of the browser's cookie, unless the address has the panel's id of another one."""
        person = self.journal.by_token(request.cookies.get(self._cookie, ""))
        if person is None:
            return None
        panel_id = person.kept.get(self.study.panel_id)
        return person if kept.get(self.study.panel_id, panel_id) == panel_id else None

    def _places(self) -> int:
        return int(self.journal.limits["per_network"] or 0)

    def _repeats(self, kept: Mapping[str, str]) -> bool:
        """Return True for a panel id that has already finished the study."""
        before = self.journal.with_panel_id(kept[self.study.panel_id]) if self.study.panel_id else []
        return any(visit.end for visit in before)

    def _refusal(self, request: Request, kept: Mapping[str, str]) -> Response | None:
        if self.study.panel_id and self.study.panel_id not in kept:
            return self._message(fill(self.study.texts["missing_id"], name=self.study.panel_id), 403)
        refusal = self.host.refusal()
        return self._refuse(request, refusal, kept, 403) if refusal else None

    def _refuse(self, request: Request, how: str, kept: Mapping[str, str], status: int) -> Response:
        """Show the last page to a person who cannot take part, and count the refusal once for each person.

        A person is a panel's id, and in studies without any a network.
        """
        person = kept.get(self.study.panel_id) or _network(request)
        if person not in self._refused and self._refusals.allow(request):  # else a stranger could fill the disk
            self.journal.refuse(how)
            self._refused.add(person)
        if how == "too_many":
            return _page(self._too_many(request, self._joins, kept), status)
        return _page(pages.end_page(self.study, self.study.ends[how], kept), status)

    def _too_many(self, request: Request, rates: NetworkRates, kept: Mapping[str, str]) -> str:
        values = {**kept, MINUTES: str(rates.minutes_left(request))}
        return pages.end_page(self.study, self.study.ends["too_many"], values)

    def for_person(
        self, handler: Callable[[Request, Participant], Awaitable[Response]], as_json: bool = False
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return a request handler that calls ``handler`` with the participant of the address's token.

        Requests with an unknown token are answered with 404. The request counts as activity of the participant,
        whose participation ends if their time is over.

        Args:
            handler: Answers requests of participants.
            as_json: Whether the answer with 404 is JSON instead of a page.
        """

        @wraps(handler)
        async def handle(request: Request) -> Response:
            person = self.journal.by_token(request.path_params["token"])
            if person is None:
                text = self.study.texts["unknown"]
                return _json({"go": "/study", "text": text}, 404) if as_json else self._message(text, 404)
            if self.host.is_late(person):
                self.host.stop(person, "late")
            if not person.end:
                self.host.note_activity(person)
            return await handler(request, person)

        return handle

    async def show(self, request: Request, person: Participant) -> Response:
        """Show the page of a participant's current step."""
        return _page(self._now(person))

    def _now(self, person: Participant) -> str:
        self.journal.skip(person)
        study = self.study
        step = self.journal.step_of(person)
        if step is not None and step.kind == "play" and not person.end:
            self._begin_play(person)
            step = self.journal.step_of(person)
        if step is None:
            self.host.end(person, "done")
        elif not person.end:
            self.journal.opened(person)
        target = f"/study/{person.token}"
        if person.end or step is None:
            never_played = person.end == "screened" and person.group is None
            debrief = "" if never_played else study.debrief  # they have seen nothing of what it explains
            return pages.end_page(study, study.ends[person.end], person.kept, target, debrief)
        steps = len(self.journal.steps_of(person))
        if step.kind == "form":
            form = self._form(person, step)
            draft = self._drafts.get(person.id)
            if draft is None or draft.step != person.step:
                draft = AnswerDraft(person.step, {}, {})
            return pages.form_page(
                study,
                form,
                target,
                person.step,
                steps,
                draft.values,
                draft.complaints,
                left=self._seconds_left(person, step),
                labels=study.labels_of(self.journal.steps_of(person)),
                notice=fill(study.texts["retry"], left=form.retry - person.retries + 1) if person.retries else "",
            )
        block = study.blocks[step.block]
        if block.page is not None:
            return pages.text_page(study, block, target, person.step, steps, self._seconds_left(person, step))
        if study.group == 1:
            label = study.conditions[step.condition].label
            return pages.game_page(study, label, target, person.step, steps)
        return pages.waiting_page(study, person.token, study.group - 1)

    def _form(self, person: Participant, step: StudyStep) -> Questionnaire:
        return self.study.forms[step.form].arranged(person.orders.get(f"forms.{step.form}", ()), person.answers)

    def _begin_play(self, person: Participant) -> None:
        """Form the group of a single player; register others as waiting, even if their page never polls."""
        if self.study.group == 1:
            self.host.match(person)
        else:
            self.host.news(person)

    def _seconds_left(self, person: Participant, step: StudyStep) -> int | None:
        """Return the seconds left since a step was first shown; None for a step without a limit."""
        seconds = self.study.blocks[step.block].seconds if step.kind == "page" else self.study.forms[step.form].within
        if not seconds:
            return None
        assert person.opened is not None
        return max(0, math.ceil(seconds - (self.journal.clock() - person.opened[1])))

    async def take(self, request: Request, person: Participant) -> Response:
        """Accept a submitted page; duplicates and submissions of earlier steps have no effect."""
        fields = await _fields(request)
        if fields is None:
            return self._message(self.study.texts["error"], 413)
        step = self.journal.step_of(person)
        if step is None or person.end or fields.get("step") != [str(person.step)] or step.kind == "play":
            return _redirect(f"/study/{person.token}")
        self.journal.opened(person)
        left = self._seconds_left(person, step)
        if step.kind == "form":
            self._answer(person, self._form(person, step), fields, late=left == 0)
        elif not left:
            self.journal.passed(person, _window_of(fields))
        return _redirect(f"/study/{person.token}")

    def _answer(self, person: Participant, form: Questionnaire, fields: FieldValues, late: bool) -> None:
        answers, complaints = form.read(fields, self.study.texts)
        if complaints and not late:  # the page is requested again: forms that were sent are no part of the history
            values = {item.name: fields[item.name] for item in form.items if item.name in fields}
            self._drafts[person.id] = AnswerDraft(person.step, values, complaints)
            return
        self._drafts.pop(person.id, None)
        screens = any(item.screens(answers[item.name]) for item in form.items if item.name in answers)
        if screens and not late and person.retries < form.retry:
            self.journal.retried(person, answers)
            return
        self.journal.answered(person, answers | dict.fromkeys(complaints), _window_of(fields))
        if screens:
            self.host.end(person, "screened")
        elif self.study.failed_checks is not None and person.failed_checks >= self.study.failed_checks:
            self.host.end(person, "inattentive")

    async def news(self, request: Request, person: Participant) -> Response:
        """Send the status of the waiting room."""
        news = self.host.news(person)
        return _json({"go": news.go, "text": news.text})

    async def play(self, request: Request, person: Participant) -> Response:
        """Redirect a participant to the game."""
        return _redirect(self.host.news(person).go or f"/study/{person.token}")

    async def leave(self, request: Request, person: Participant) -> Response:
        """Ask whether a participant wants to leave; a form that says so ends taking part."""
        if request.method == "GET" and not person.end:
            return _page(
                pages.sure_page(self.study, "leave", self.journal.leaving_text(person), f"/study/{person.token}")
            )
        self.host.stop(person, "left")
        return _redirect(f"/study/{person.token}")

    async def delete(self, request: Request, person: Participant) -> Response:
        """Ask a participant who has finished whether all answers shall be deleted; delete them if the form confirms."""
        if not person.end:
            return _redirect(f"/study/{person.token}")
        if request.method == "GET":
            question = self.study.texts["delete_sure"]
            if self.study.panel_id:
                question += f" {self.study.texts['delete_paid']}"
            return _page(pages.sure_page(self.study, "delete", question, f"/study/{person.token}"))
        await self.host.forget(person.id)
        end = replace(self.study.ends[person.end], text=self.study.texts["deleted"])
        return _page(pages.end_page(self.study, end, person.kept))

    async def file(self, request: Request) -> Response:
        """Send a static file of the pages."""
        from starlette.responses import Response

        name = request.path_params["name"]
        if name not in FILES:
            return self._message(self.study.texts["error"], 404)
        return Response(read_shipped(f"study/page/{name}"), media_type=FILES[name])

    async def media(self, request: Request) -> Response:
        """Send an image or a video that the study names."""
        from starlette.responses import FileResponse

        file = self.study.files.get(request.path_params["name"])
        if file is None or not file.is_file():
            return self._message(self.study.texts["error"], 404)
        return FileResponse(file, media_type=media_type(file))

    def _message(self, text: str, status: int) -> Response:
        return _page(pages.message_page(self.study, text), status)


@dataclass(frozen=True)
class AnswerDraft:
    """Answers that were not accepted."""

    step: int  # Step of the participant
    values: FieldValues  # Values of the page's fields
    complaints: Mapping[str, str]  # Error messages by question


class NetworkRates:
    """Rate limits by network, kept in memory only; the least recently seen networks are dropped.

    Args:
        a_second: Sustained rate of requests.
        burst: Number of requests allowed at once.
        host: Host that has the clock.
    """

    def __init__(self, a_second: float, burst: int, host: StudyHost) -> None:
        self.burst = burst
        self._make = lambda: Rate(lambda: host.now(), a_second, burst)
        self._rates = OrderedDict[str, Rate]()

    def allow(self, request: Request) -> bool:
        """Count a request; returns whether it is allowed."""
        network = _network(request)
        rate = self._rates.pop(network, None) or self._make()
        self._rates[network] = rate
        if len(self._rates) > MAX_NETWORKS:
            self._rates.popitem(last=False)
        return rate.allows()

    def minutes_left(self, request: Request) -> int:
        """Return the minutes, rounded up, until a request is allowed after one that was not."""
        return math.ceil(self._rates[_network(request)].seconds_left / 60)


async def _fields(request: Request) -> FieldValues | None:
    body = await read_body(request, MAX_BYTES)
    if body is None:
        return None
    try:
        return parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError:  # not UTF-8, or too many fields
        return None


def _window_of(fields: FieldValues) -> dict[str, Any]:
    """Return the size of the window and its losses of the focus, as far as the page reports them."""
    numbers = {name: int(values[0]) for name, values in fields.items() if re.fullmatch("[0-9]{1,5}", values[0])}
    window: dict[str, Any] = {}
    if "window" in numbers:
        window["window"] = window_size(numbers["window"])
    if "focus_losses" in numbers:
        window["focus_losses"] = min(numbers["focus_losses"], MAX_LOSSES)
    return window


def _network(request: Request) -> str:
    return _network_of(request.client.host if request.client else "")


def _network_of(address: str) -> str:
    try:
        half = ipaddress.IPv6Address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network((half, 64), strict=False))


def _page(text: str, status: int = 200) -> Response:
    from starlette.responses import HTMLResponse

    return HTMLResponse(text, status, REFERRER)


def _json(value: object, status: int = 200) -> Response:
    from starlette.responses import Response

    return Response(json.dumps(value), status, media_type="application/json")


def _redirect(address: str) -> Response:
    from starlette.responses import RedirectResponse

    return RedirectResponse(address, 303)
