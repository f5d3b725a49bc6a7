"""Recap of an episode for a teacher: recipes, areas, who did what with which worker, what became of the orders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from collab_overcooked.envs.lexicon import plain
from collab_overcooked.games.rush.engine.spec import Area
from collab_overcooked.games.rush.text.text import counts, order_text, recipe_text


def recap(game: Any, record: Mapping[str, Any]) -> list[str]:
    """Tell an episode in plain words.

    Args:
        game: The compiled game.
        record: Of the episode; the task and the orders are left out where it does not name them.
    """
    lines = []
    if "orders" in record:
        episode = plain(game).scenario.episodes[record["round"]]
        lines += ["Recipes:", *(f"- {recipe_text(recipe)}" for recipe in episode.recipes.values())]
        lines += ["Areas at the beginning:", *(f"- {_area(area)}" for area in episode.areas)]
    lines += ["Actions:", *_actions(record)]
    if "orders" in record:
        lines += ["Orders in the end:"]
        lines += [f"- {order_text(episode.recipes[order['name']], order)}" for order in record["orders"]]
    return lines


def _area(area: Area) -> str:
    stock = f"; stock {counts(area.stock)}" if area.stock else ""
    return f"{area.kind} {area.id}: {area.spaces} action space{'s' * (area.spaces != 1)} a turn{stock}"


def _actions(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for every slot: turn, worker, and what each agent did with what success."""
    turns = f" of {record['max_turns']}" if "max_turns" in record else ""
    for step in record["steps"]:
        first = step["events"][0]
        done = "; ".join(f"agent_{seat} {_outcome(event)}" for seat, event in enumerate(step["events"]))
        yield f"- turn {first['turn'] + 1}{turns}, worker {first['worker']}: {done}"


def _outcome(event: Mapping[str, Any]) -> str:
    """Say what an action was and what came of it."""
    if event["order"] is None:
        words = str(event["event"])
    else:
        words = f"{event['event']} of {event['order']} in area {event['area']}"
    if event["reason"] != "OK":
        return f"{words}, refused: {event['reason'].replace('_', ' ').lower()}"
    ends = [end for end in ("finished", "ruined") if event[end]]
    return f"{words}, which {ends[0]} it" if ends else words
