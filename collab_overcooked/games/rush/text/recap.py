"""Recap of an episode for a teacher: recipes, areas, the actions of each worker, and the orders at the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from collab_overcooked.envs.lexicon import plain
from collab_overcooked.games.rush.engine.spec import Area
from collab_overcooked.games.rush.text.text import counts, order_text, recipe_text


def recap(game: Any, record: Mapping[str, Any]) -> list[str]:
    """Return the lines of a recap.

    Args:
        game: The compiled game.
        record: Record of the episode; recipes, areas and orders are omitted if it has no orders.
    """
    lines = []
    if "orders" in record:
        episode = plain(game).scenario.episodes[record["round"]]
        lines += ["Recipes:", *(f"- {recipe_text(recipe)}" for recipe in episode.recipes.values())]
        lines += ["Areas at the start:", *(f"- {_area(area)}" for area in episode.areas)]
    lines += ["Actions:", *_actions(record)]
    if "orders" in record:
        lines += ["Orders at the end:"]
        lines += [f"- {order_text(episode.recipes[order['name']], order)}" for order in record["orders"]]
    return lines


def _area(area: Area) -> str:
    stock = f"; stock {counts(area.stock)}" if area.stock else ""
    return f"{area.kind} {area.id}: {area.spaces} action space{'s' * (area.spaces != 1)} a turn{stock}"


def _actions(record: Mapping[str, Any]) -> Iterator[str]:
    turns = f" of {record['max_turns']}" if "max_turns" in record else ""
    for step in record["steps"]:
        first = step["events"][0]
        done = "; ".join(f"agent_{seat} {_outcome(event)}" for seat, event in enumerate(step["events"]))
        yield f"- turn {first['turn'] + 1}{turns}, worker {first['worker']}: {done}"


def _outcome(event: Mapping[str, Any]) -> str:
    if event["order"] is None:
        action = str(event["event"])
    else:
        action = f"{event['event']} of {event['order']} in area {event['area']}"
    if event["reason"] != "OK":
        return f"{action}, refused: {event['reason'].replace('_', ' ').lower()}"
    ends = [end for end in ("finished", "ruined") if event[end]]
    return f"{action}, which {ends[0]} it" if ends else action
