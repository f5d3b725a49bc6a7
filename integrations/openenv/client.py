"""Typed client."""

from __future__ import annotations

from typing import Any

from openenv.core import EnvClient
from openenv.core.client_types import StepResult

try:
    from .models import KitchenAction, KitchenObservation, KitchenState
except ImportError:  # OpenEnv's images import the folder's modules without their package
    from models import KitchenAction, KitchenObservation, KitchenState


class KitchenClient(EnvClient[KitchenAction, KitchenObservation, KitchenState]):
    """Client of one seat; ``reset`` takes the arguments of ``KitchenEnvironment.reset``."""

    def _step_payload(self, action: KitchenAction) -> dict[str, Any]:
        return {"text": action.text}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[KitchenObservation]:
        reward, done = payload.get("reward"), payload.get("done", False)
        fields = payload.get("observation", {}) | {"reward": reward, "done": done}
        return StepResult(KitchenObservation(**fields), reward, done, payload.get("metadata"))

    def _parse_state(self, payload: dict[str, Any]) -> KitchenState:
        return KitchenState(**payload)
