"""A session of the server: one seat of a match, at a private table or one that other sessions share."""

from __future__ import annotations

import hashlib
import html
import json
import os
from pathlib import Path
from typing import Any
from uuid import uuid4

from openenv.core.env_server.interfaces import Environment

from collab_overcooked import registry
from collab_overcooked.adapters.results import plan_for_client
from collab_overcooked.adapters.rewards import RewardKind
from collab_overcooked.adapters.sitting import Sitting, Turn
from collab_overcooked.adapters.table import Lobby, SharedTable, only_seat
from collab_overcooked.io.files import only_shipped_files
from collab_overcooked.policies.llm.images import Picture

try:
    from ..models import KitchenAction, KitchenObservation, KitchenState
except ImportError:  # OpenEnv's images import the folder's modules without their package
    from models import KitchenAction, KitchenObservation, KitchenState

SUITE = "collab-capture"
TEAM = "agent_0=llm:agent?agent=choose all=greedy"
PATIENCE = 30.0  # seconds that a step waits for other seats by default
RECORDS = "KITCHEN_RECORDS"  # variable of the server: a folder with a run folder for each evaluation
LOBBY = Lobby()


class KitchenEnvironment(Environment[KitchenAction, KitchenObservation, KitchenState]):
    """Environment of one open seat; all other seats play inside or belong to other sessions."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._name, self._seat = "", 0
        self._table: SharedTable | None = None
        self._key, self._asked_for, self._seed = "", None, None  # type: str, int | None, int | None
        self._begun = self._met = self._late = False
        self._state = KitchenState()

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        *,
        suite: str = SUITE,
        team: str = TEAM,
        match: int = 0,
        seat: int | None = None,
        table: str = "",
        reward: RewardKind = "outcome",
        split: str | None = None,
        index: int | None = None,
        timeout_s: float | None = None,
        **options: Any,
    ) -> KitchenObservation:
        """Begin an episode.

        Args:
            seed: Seed of the environment; None for the suite's own.
            episode_id: Id for the state; random by default.
            suite: Name of a suite, as for ``evaluate``.
            team: ``seat=policy`` pairs separated by spaces; each seat ``llm:NAME`` is open to a session.
            match: Which match of the suite.
            seat: Index of the seat to take; may be left out if one is open.
            table: Name of a table that sessions share; all must ask for the same match. Empty for a private table.
            reward: See `Sitting`.
            split: Suite, as the task API calls it.
            index: Match, as the task API calls it.
            timeout_s: Seconds to wait for other seats.
            **options: Options of the suite.

        Returns:
            The first question to the seat, or an observation that is ``waiting`` for other seats.

        Raises:
            ValueError: For an unknown suite, policy, option or match, a file of the server, or a seat that is taken.
        """
        if "records" in options:
            raise ValueError(f"records: the folder is chosen by the server, with the variable {RECORDS}")
        suite, match = split or suite, match if index is None else index
        terms = {"suite": suite, "team": team, "match": match, "reward": reward, "options": options}
        if self._table is None or (self._name, self._table.terms, seat) != (table, terms, self._asked_for):
            self.close()
            name = table or f"private {uuid4()}"

            def begin() -> Sitting:
                plan = plan_for_client(suite, team, options)
                records = "" if seed is not None else _run_folder({"suite": suite, "team": team, "options": options})
                return Sitting.of_plan(plan, match, reward=reward, records=records)

            self._table = LOBBY.sit(name, seat, terms, begin)
            self._name, self._asked_for, self._key = table, seat, name
            self._seat = only_seat(self._table) if seat is None else seat
        self._seed, self._begun, self._met = seed, False, False
        place = {"suite": suite, "task": self._table.sitting.match.task, "seat": self._seat, "table": table}
        self._state = KitchenState(episode_id=episode_id or str(uuid4()), step_count=0, **place)
        return self._wait(timeout_s)

    def step(self, action: KitchenAction, timeout_s: float | None = None, **kwargs: Any) -> KitchenObservation:
        """Answer the last question, and wait for the next one; after a ``waiting`` observation only wait.

        Raises:
            ValueError: Before the first reset, or after the end of the episode.
        """
        if self._table is None:
            raise ValueError("the environment must be reset first")
        if self._begun and (turn := self._table.wait(self._seat, timeout=0)) is not None and not self._late:
            if turn.done:
                raise ValueError("the episode is over; reset the environment")
            self._table.answer(self._seat, action.text)
            self._state.step_count += 1
        return self._wait(timeout_s)

    @property
    def state(self) -> KitchenState:
        """The session; nothing of the game's state."""
        return self._state

    def close(self) -> None:
        """Give up the seat; others at the table play on."""
        if self._table is not None:
            LOBBY.leave(self._key, self._seat)
            self._table = None

    # ------------------------------------------------------------------------------------ task API

    def list_splits(self) -> list[dict[str, str]]:
        """Return the suites."""
        return [{"name": suite, "type": "test"} for suite in registry.suites() if suite != "questions"]

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """Return the matches of a suite."""
        matches = plan_for_client(split, TEAM, {}).matches
        return [{"id": f"{split}/{i}", "index": i, "task": match.task} for i, match in enumerate(matches)]

    def num_tasks(self, split: str) -> int:
        """Return the number of matches of a suite."""
        return len(self.list_tasks(split))

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """Return a match of a suite."""
        return self.list_tasks(split)[index]

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, Any]]:
        """Return a range of the matches of a suite."""
        return self.list_tasks(split)[start:stop]

    # ------------------------------------------------------------------------------------ web page

    def render_web(self, observation: dict[str, Any]) -> str:
        """Return the seat's picture and text as HTML."""
        seen = self._table.sitting.seen if self._table is not None and not observation.get("waiting") else None
        mine = seen is not None and seen.seat == self._seat
        picture = f'<img alt="" src="{Picture(seen.view.picture).url}">' if mine else ""
        return f"{picture}<pre>{html.escape(str(observation.get('text', '')))}</pre>"

    def web_actions(self, observation: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """Return a button per legal action."""
        return [(text, {"text": text}) for text in observation.get("legal", [])]

    # ------------------------------------------------------------------------------------ inside

    def _wait(self, timeout: float | None) -> KitchenObservation:
        """Return the next question to the seat, or that others are awaited."""
        assert self._table is not None
        timeout = PATIENCE if timeout is None else timeout
        with only_shipped_files():  # which the match reads, too
            self._begun = self._begun or self._table.join(self._seat, self._seed, timeout)
        turn = self._table.wait(self._seat, timeout) if self._begun else None
        self._late = turn is None
        return self._observe(turn)

    def _observe(self, turn: Turn | None) -> KitchenObservation:
        if turn is None:
            return KitchenObservation(text="Other seats are awaited.", seat=self._seat, waiting=True, reward=0.0)
        if turn.done:
            metadata = {"metrics": dict(turn.info["metrics"])}
            text = "The episode is over."
            return KitchenObservation(text=text, seat=self._seat, done=True, reward=turn.reward, metadata=metadata)
        rules = "" if self._met else turn.messages[0]["content"]
        self._met = True
        return KitchenObservation(
            text=turn.text,
            rules=rules,
            legal=list(turn.legal),
            seat=self._seat,
            timestep=turn.info["timestep"],
            reward=turn.reward,
        )


def _run_folder(evaluation: dict[str, Any]) -> str:
    """Return the run folder of an evaluation, empty if the server keeps no records."""
    folder = os.environ.get(RECORDS, "")
    digest = hashlib.sha256(json.dumps(evaluation, sort_keys=True, default=str).encode()).hexdigest()
    return str(Path(folder) / f"{evaluation['suite']}-{digest[:8]}") if folder else ""
