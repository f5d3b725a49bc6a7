"""A session of the server: the open seat of a match."""

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
from collab_overcooked.adapters.seat_client import LLM, SeatClient, Turn
from collab_overcooked.io.files import only_shipped_files
from collab_overcooked.policies.llm.images import Picture

try:
    from ..models import KitchenAction, KitchenObservation, KitchenState
except ImportError:  # OpenEnv's images import the folder's modules without their package
    from models import KitchenAction, KitchenObservation, KitchenState

SUITE = "collab-capture"
TEAM = "agent_0=llm:agent?agent=choose all=greedy"
RECORDS = "KITCHEN_RECORDS"  # variable of the server: a folder with a run folder for each evaluation


class KitchenEnvironment(Environment[KitchenAction, KitchenObservation, KitchenState]):
    """Environment of one open seat; all other seats play inside."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._client: SeatClient | None = None
        self._terms: dict[str, Any] = {}
        self._turn: Turn | None = None
        self._state = KitchenState()

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        *,
        suite: str = SUITE,
        team: str = TEAM,
        match: int = 0,
        reward: RewardKind = "outcome",
        split: str | None = None,
        index: int | None = None,
        **options: Any,
    ) -> KitchenObservation:
        """Begin an episode.

        Args:
            seed: Seed of the environment; None for the suite's own.
            episode_id: Id for the state; random by default.
            suite: Name of a suite, as for ``evaluate``.
            team: ``seat=policy`` pairs separated by spaces; exactly one seat is ``llm:NAME``.
            match: Which match of the suite.
            reward: See `SeatClient`.
            split: Suite, as the task API calls it.
            index: Match, as the task API calls it.
            **options: Options of the suite.

        Returns:
            The first question to the seat.

        Raises:
            ValueError: For an unknown suite, policy, option or match, a file of the server, or several open seats.
        """
        if "records" in options:
            raise ValueError(f"records: the folder is chosen by the server, with the variable {RECORDS}")
        suite, match = split or suite, match if index is None else index
        terms = {"suite": suite, "team": team, "match": match, "reward": reward, "options": options}
        kept = seed is None  # episodes with a seed are not part of a run
        if self._client is None or (terms | {"kept": kept}) != self._terms:
            self.close()
            plan = plan_for_client(suite, team, options)
            seats = [spec for spec in plan.matches[0].team if spec.startswith(LLM)]
            if len(seats) > 1:
                raise ValueError(f"team {team!r}: exactly one seat must be open, not {len(seats)}")
            records = _run_folder({"suite": suite, "team": team, "options": options}) if kept else ""
            self._client = SeatClient.of_plan(plan, match, reward=reward, records=records)
            self._terms = terms | {"kept": kept}
        with only_shipped_files():  # which the match reads, too
            self._turn = self._client.start(seed)
        place = {"suite": suite, "task": self._client.match.task, "seat": self._client.seats[0]}
        self._state = KitchenState(episode_id=episode_id or str(uuid4()), step_count=0, **place)
        observation = self._observe(self._turn)
        observation.rules = "" if self._turn.done else self._turn.messages[0]["content"]
        return observation

    def step(self, action: KitchenAction, timeout_s: float | None = None, **kwargs: Any) -> KitchenObservation:
        """Answer the last question, and return the next one.

        Raises:
            ValueError: Before the first reset, or after the end of the episode.
        """
        if self._client is None or self._turn is None:
            raise ValueError("the environment must be reset first")
        if self._turn.done:
            raise ValueError("the episode is over; reset the environment")
        with only_shipped_files():
            self._turn = self._client.step(action.text)
        self._state.step_count += 1
        return self._observe(self._turn)

    @property
    def state(self) -> KitchenState:
        """The session; nothing of the game's state."""
        return self._state

    def close(self) -> None:
        """Abandon the episode."""
        if self._client is not None:
            self._client.close()
            self._client = self._turn = None

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
        seen = self._client.seen if self._client is not None else None
        picture = f'<img alt="" src="{Picture(seen.view.picture).url}">' if seen is not None else ""
        return f"{picture}<pre>{html.escape(str(observation.get('text', '')))}</pre>"

    def web_actions(self, observation: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """Return a button per legal action."""
        return [(text, {"text": text}) for text in observation.get("legal", [])]

    # ------------------------------------------------------------------------------------ inside

    def _observe(self, turn: Turn) -> KitchenObservation:
        if turn.done:
            metadata = {"metrics": dict(turn.info["metrics"])}
            text = "The episode is over."
            return KitchenObservation(
                text=text, seat=self._state.seat, done=True, reward=turn.reward, metadata=metadata
            )
        return KitchenObservation(
            text=turn.text, legal=list(turn.legal), seat=turn.seat, timestep=turn.info["timestep"], reward=turn.reward
        )


def _run_folder(evaluation: dict[str, Any]) -> str:
    """Return the run folder of an evaluation, empty if the server keeps no records."""
    folder = os.environ.get(RECORDS, "")
    digest = hashlib.sha256(json.dumps(evaluation, sort_keys=True, default=str).encode()).hexdigest()
    return str(Path(folder) / f"{evaluation['suite']}-{digest[:8]}") if folder else ""
