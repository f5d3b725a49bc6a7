"""Helpers of all envs: names of agents, validation of options and actions, rendering."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np

from collab_overcooked.envs.api import FullGame, Game, Out, State, shaped_rewards
from collab_overcooked.io.checks import near_matches, quote_value
from collab_overcooked.io.config import MAX_OPTION
from collab_overcooked.io.schema import number, read, tuple_of
from collab_overcooked.io.text import harmless

RENDER_MODES = ("human", "rgb_array", "ansi")
RESET_FIRST = "the environment was never reset; call reset before step"


def agent_names(game: Game) -> list[str]:
    """Return the names of a game's agents, by seat."""
    return [f"agent_{i}" for i in range(game.n_agents)]


def wrapper_metadata(game: Game) -> dict[str, Any]:
    """Return the ``metadata`` of a game's envs."""
    return {
        "name": game.id.replace("-", "_"),
        "render_modes": list(RENDER_MODES),
        "render_fps": 4,
        "deterministic": game.deterministic,
    }


def wrapper_text(name: str, game: FullGame, extent: str, **wrapper: Any) -> str:
    """Return the ``repr`` of an env: the game's id, all options that differ from their defaults, and its extent.

    Args:
        name: Name of the env's class.
        game: Compiled game.
        extent: Its agents and, for batches, the number of environments.
        **wrapper: Options of the env; those of None, the default, are left out.
    """
    defaults = {**game.config_class().to_dict(), "lexicon": game.language}
    changed = {option: value for option, value in game.kwargs.items() if value != defaults.get(option)}
    changed |= {option: value for option, value in wrapper.items() if value is not None}
    options = "".join(f", {option}={quote_value(value)}" for option, value in changed.items())
    return f"<{name}: {game.id}{options}; {extent}>"


def draw(game: Game, state: State, i: int, render_mode: str | None, seat: int | None = None) -> Any:
    """Render environment ``i``; ``"human"`` prints the picture and returns None, as windows fail on servers."""
    if render_mode is None:
        gymnasium.logger.warn("render() needs render_mode, for example render_mode='rgb_array'")
        return None
    if render_mode == "human":
        print(harmless(game.render(state, i, "ansi", seat)))
        return None
    return game.render(state, i, render_mode, seat)


def check_render_mode(render_mode: object) -> str | None:
    """Validate a render mode.

    Raises:
        ValueError: The mode is unknown.
    """
    if render_mode is not None and not (isinstance(render_mode, str) and render_mode in RENDER_MODES):
        raise ValueError(near_matches("render_mode", render_mode, RENDER_MODES))
    return render_mode


def check_max_cycles(max_cycles: object) -> int | None:
    """Validate a step limit and return it, None for the game's default.

    Raises:
        ValueError: The limit is neither -1 nor an integer from 1 to ``MAX_OPTION``.
    """
    if max_cycles is None or (isinstance(max_cycles, (int, np.integer)) and max_cycles == -1):
        return None
    if isinstance(max_cycles, bool) or not isinstance(max_cycles, (int, np.integer)) or max_cycles < 1:
        raise ValueError(f"max_cycles must be a positive integer, None or -1, not {quote_value(max_cycles)}")
    if max_cycles > MAX_OPTION:
        raise ValueError(f"max_cycles must be at most {MAX_OPTION}, not {quote_value(max_cycles)}")
    return int(max_cycles)


def check_shaping(game: Game, out: Out, weight: Any) -> float:
    """Validate the weight of shaped rewards and return it.

    Raises:
        ValueError: The weight is invalid, or the game has no shaped rewards to add.
    """
    read(number(), weight, "weight")
    if shaped_rewards(out) is None:
        raise ValueError(f"weight: {game.id} has no shaped rewards in its infos")
    if game.kwargs.get("reward") == "shaped":
        raise ValueError("weight: reward='shaped' includes shaped rewards already; make the environment without it")
    return float(weight)


def check_layout_weights(names: Sequence[str], weights: object) -> np.ndarray:
    """Validate the weights of the layouts of a pool and return them, float64 (layouts,).

    Raises:
        ValueError: The number of weights is not that of the layouts, one is negative, or all are 0.
    """
    if not names:
        raise ValueError("weights: the environment has one layout; make it with a pool, such as layout='procedural'")
    values = list(weights) if isinstance(weights, np.ndarray) else weights
    listed = read(tuple_of([number(0)] * len(names), "numbers"), values, "weights")
    if not any(listed):
        raise ValueError("weights must not all be 0")
    return np.array(listed, np.float64)


def parse_action(action: object, agent: str, n_actions: int) -> int:
    """Validate an action and return it as int.

    Raises:
        ValueError: The action is not an integer in the action space.
    """
    if isinstance(action, np.ndarray) and action.size == 1:
        action = action.reshape(-1)[0]
    if isinstance(action, bool) or not isinstance(action, (int, np.integer)):
        raise ValueError(f"action of {agent} is {quote_value(action)}; it must be an integer in Discrete({n_actions})")
    if not 0 <= action < n_actions:
        raise ValueError(f"action of {agent} is {quote_value(action)}, outside Discrete({n_actions})")
    return int(action)


WRAPPER_OPTIONS = ("render_mode", "max_cycles", "mask_in", "text_info")


def split_options(kwargs: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split keyword arguments into those of the env and those of the game."""
    wrapper = {key: value for key, value in kwargs.items() if key in WRAPPER_OPTIONS}
    return wrapper, {key: value for key, value in kwargs.items() if key not in WRAPPER_OPTIONS}
