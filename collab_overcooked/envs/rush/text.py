"""Words for language agents: actions, what is wrong with one, the rules, and the round as text."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from typing import Any

from collab_overcooked.envs.rush.compile import Compiled
from collab_overcooked.envs.rush.constants import NO_ACTION, Kind, Reason, Verb
from collab_overcooked.messages import near_matches

IDLE = {"action_type": "NO_ACTION", "area_id": None, "value": None}


THINGS = ("kitchen", "recipe", "order", "ingredient", "spice", "meal", "cook", "pantry", "spicebag", "stove")


class ActionError(ValueError):
    """A text that is no action of this round.

    Attributes:
        code: Reason code, ``F_...``.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def action_texts(compiled: Compiled, episode: int) -> list[str]:
    """Return the text of every action of an episode, by id."""
    areas, orders = compiled.scenario.episodes[episode].areas, compiled.names.orders[episode]
    texts = [f"unused_{action}" for action in range(compiled.n_actions)]
    texts[NO_ACTION] = str(IDLE)
    for at, area in enumerate(areas):
        for o, order in enumerate(orders):
            verb = Verb(Kind[area.kind.upper()]).name
            row = {"action_type": verb, "area_id": area.id, "value": {"order": order}}
            texts[compiled.action(at, o)] = str(row)
    return texts


def parse_action(compiled: Compiled, episode: int, words: str, valid: Sequence[int]) -> int:
    """Return the number of an action, written as a dictionary or as its place in the list of valid actions.

    Raises:
        ActionError: With a reason code and a helpful message.
    """
    if words.strip().isdigit():
        if int(words) >= len(valid):
            raise ActionError("F_NO_SUCH_NUMBER", f"{words} is no number in the list of {len(valid)} valid actions")
        return valid[int(words)]
    texts = action_texts(compiled, episode)
    read = str(_dictionary(words))
    if read not in texts:
        raise ActionError("F_NO_SUCH_ACTION", near_matches("action", read, texts))
    return texts.index(read)


def _dictionary(words: str) -> Any:
    for read in (json.loads, ast.literal_eval):
        try:
            return read(words)
        except (ValueError, SyntaxError):
            continue
    raise ActionError("F_UNREADABLE", f"{words!r} is neither a dictionary nor a number")


def parse_plan(plan: str) -> list[str]:
    """Return the actions of a plan, one a line."""
    return [line.strip() for line in plan.splitlines() if line.strip()]


def refusal(compiled: Compiled, episode: int, action: int, reason: int) -> str:
    """Return why an action is refused."""
    return f"{action_texts(compiled, episode)[action]}: {Reason(reason).name}"


def describe(compiled: Compiled, scene: Mapping[str, Any], valid: Sequence[int]) -> str:
    """Return the round in words."""
    texts = action_texts(compiled, scene["episode"])
    lines = [str(dict(order)) for order in scene["orders"]] + [str(dict(area)) for area in scene["areas"]]
    return "\n".join(lines + [f"{k}: {texts[action]}" for k, action in enumerate(valid)])


def manual(compiled: Compiled) -> str:
    """Return the rules in words."""
    return compiled.scenario.description
