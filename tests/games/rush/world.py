"""Rule tests of Rush as pictures: write a round down, let workers act, compare what comes out.

A round is a line for the time, one for each area and one for each order::

    turn 1 worker 0
    0 pantry 1/2: carrot 2, bread 1        action spaces left and in a turn, then what is in stock
    2 stove 2/2
    Soup: ingredients spices cooked 1
    Toast: ruined

What a picture leaves out is as at the start of ``SCENARIO``. In a slot every agent names an area and an order, or
``-``: ``"0 Soup | 2 Toast"``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import yaml

from collab_overcooked.games.rush.env import KitchenRush
from collab_overcooked.kernels.rng import seed_states

SCENARIO = """
name: test
workers: 2
max_turns: 4
episodes:
  - recipes:
      Soup: {ingredients: {carrot: 2}, spices: {green: 1}, cook_time: 2}
      Toast: {ingredients: {bread: 1, cheese: 1}, spices: {red: 2}, cook_time: 1}
      Salad: {ingredients: {lettuce: 1}, cook_time: 0}
    pantries:
      - {id: 0, spaces: 2, stock: {carrot: 3, lettuce: 1, bread: 2, cheese: 1}}
      - {id: 5, spaces: 1, stock: {carrot: 1}}
    spicebags: [{id: 1, spaces: 1, stock: {green: 1, red: 2}}]
    stoves: [{id: 2, spaces: 2}, {id: 3, spaces: 1}]
  - recipes:
      Porridge: {ingredients: {pasta: 1}, cook_time: 1}
    pantries: [{id: 7, spaces: 1, stock: {pasta: 1}}]
    spicebags: [{id: 8, spaces: 1}]
    stoves: [{id: 9, spaces: 1}]
"""
AREA = re.compile(r"(\d+) (\w+) (\d+)/\d+(?:: (.*))?")
FLAGS = ("ingredients", "spices", "finished", "ruined")


@lru_cache
def game_of(scenario: str, options: str) -> KitchenRush:
    return KitchenRush(scenario=yaml.safe_load(scenario), **yaml.safe_load(options))


def plain_game(scenario: str = SCENARIO, **options: Any) -> KitchenRush:
    return game_of(scenario, yaml.safe_dump(options))


class Round:
    """A round that starts as written."""

    def __init__(self, text: str = "", scenario: str = SCENARIO, episode: int = 0, **options: Any) -> None:
        self.game = plain_game(scenario, **options)
        self.state, self.out = self.game.alloc(1)
        self.state.rng[:] = seed_states([0])
        self.game.reset(self.state, self.out, np.ones(1, np.bool_), {"state": self.read(text) | {"episode": episode}})

    def read(self, text: str) -> dict[str, Any]:
        scene: dict[str, Any] = {"orders": [], "areas": []}
        for line in filter(None, map(str.strip, text.splitlines())):
            if result := re.fullmatch(r"turn (\d+) worker (\d+)", line):
                scene |= {"turn": int(result[1]), "worker": int(result[2])}
            elif result := AREA.fullmatch(line):
                stock = dict(part.split() for part in (result[4] or "").split(", ") if part)
                counts = {name: int(count) for name, count in stock.items()}
                scene["areas"].append({"id": int(result[1]), "spaces": int(result[3]), "stock": counts})
            else:
                name, _, status = line.partition(":")
                cooked = re.search(r"cooked (\d+)", status)
                order = {switch: switch in status for switch in FLAGS if switch in status}
                scene["orders"].append(
                    {"name": name, "cooked": int(cooked[1]) if cooked else int("ruined" in status), **order}
                )
        return scene

    @property
    def scene(self) -> Mapping[str, Any]:
        return self.game.scene(self.state, 0)

    @property
    def events(self) -> list[dict[str, Any]]:
        return self.game.events(self.out, 0)  # type: ignore[return-value]

    @property
    def reasons(self) -> list[str]:
        return [event["reason"] for event in self.events]

    @property
    def reward(self) -> float:
        (reward,) = set(self.out.rewards[0].tolist())
        return reward

    def action(self, text: str) -> int:
        """Return the action of words such as ``"0 Soup"`` or ``"-"``."""
        if text.strip() == "-":
            return self.game.idle_action()
        area, order = text.split()
        episode = self.game.scenario.episodes[self.scene["episode"]]
        return self.game.compiled.action(episode.area_ids.index(int(area)), episode.orders.index(order))

    def play(self, *slots: str) -> str:
        """Play slots and return the round then."""
        for slot in slots:
            actions = np.array([[self.action(message) for message in slot.split("|")]], np.int32)
            self.game.step(self.state, actions, self.out)
        return self.written()

    def mask(self) -> set[str]:
        """Return what the mask allows, as words."""
        episode, phrase = self.game.scenario.episodes[self.scene["episode"]], set()
        for action in np.flatnonzero(self.out.masks[0, 0]).tolist():
            at, order = self.game.compiled.parts(action)
            phrase.add(f"{episode.area_ids[at]} {episode.orders[order]}" if action else "-")
        return phrase

    def written(self) -> str:
        scene = self.scene
        lines = [f"turn {scene['turn']} worker {scene['worker']}"]
        for area in scene["areas"]:
            stock = ", ".join(f"{name} {count}" for name, count in area["stock"].items() if count)
            spaces = f"{area['id']} {area['kind']} {area['spaces']}/{area['spaces_per_turn']}"
            lines.append(f"{spaces}: {stock}" if stock else spaces)
        for order in scene["orders"]:
            status = [option for option in ("ingredients", "spices") if order[option]]
            status += [f"cooked {order['cooked']}"] if order["cooked"] else []
            status += [outcome for outcome in ("finished", "ruined") if order[outcome]]
            lines.append(f"{order['name']}: {' '.join(status)}".rstrip())
        return "\n".join(lines)


def picture(text: str) -> str:
    """Return a round as ``Round.written`` writes it."""
    return "\n".join(filter(None, map(str.strip, text.splitlines())))
