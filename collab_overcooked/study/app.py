"""Web application of a study. Needs the extra ``play``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from collab_overcooked.play.host import Host
from collab_overcooked.play.server import LOOPBACK, make_app
from collab_overcooked.runner.teams import MakePolicy
from collab_overcooked.study.dashboard import dashboard_routes
from collab_overcooked.study.hosting import StudyHost
from collab_overcooked.study.journal import Journal
from collab_overcooked.study.server import study_routes


def make_study_app(
    journal: Journal, make: MakePolicy | None = None, names: Sequence[str] = LOOPBACK
) -> tuple[Any, Host, StudyHost]:
    """Return the web application of a study, the host of its games and the host of its participants.

    Args:
        journal: Journal of the study.
        make: Factory of partners; default: the registry of policies.
        names: Host names of the server.
    """
    games = Host()
    host = StudyHost(journal, games, make)
    routes = [*dashboard_routes(host), *study_routes(host)]
    return make_app(games, routes, names, beside=(host.sweep,)), games, host
