"""Facts about the room games on the documentation's pages; ``facts.py`` writes them there."""

from __future__ import annotations

from typing import Any

from collab_overcooked import registry
from collab_overcooked.games.rooms.engine import rules
from collab_overcooked.games.rooms.engine.solvability import prove_solvability
from collab_overcooked.games.rooms.engine.spec import load_rooms, maps

from .writing import code, feature_table, option_table, rules_of, table

CAPTURE, ESCAPE = "CollabCapture-v0", "CollabEscape-v0"


def rooms_specs() -> str:
    """List what a trainer asks first."""
    capture, escape = registry.load_game(CAPTURE), registry.load_game(ESCAPE)

    def both(name: str) -> tuple[str, str]:
        return code(getattr(capture, name)), code(getattr(escape, name))

    rows = [
        ("agents", "1 to 8; 2 if `agents` is not given", "the same"),
        ("step", "one turn", "the same"),
        ("actions", *both("single_action_space")),
        ("observation", *both("single_observation_space")),
        ("global state", *both("state_space")),
        ("reward", "1 for a capture, for all players", "1 for an escape, -1 for a loss, for all players"),
        ("episode", "terminated by a capture, truncated after 30 turns", "terminated by escape or loss, truncated too"),
    ]
    return table(("", code(CAPTURE), code(ESCAPE)), rows)


def capture_options() -> str:
    """List the options of CollabCapture."""
    return option_table(registry.game_class(CAPTURE), ())


def escape_options() -> str:
    """List the options that CollabEscape has beside those of CollabCapture."""
    rows = option_table(registry.game_class(ESCAPE), ()).split("\n")
    known = capture_options().split("\n")[2:]
    return "\n".join(row for row in rows if row not in known)


def escape_features() -> str:
    """List the blocks of the observation of CollabEscape with their places."""
    return feature_table(registry.load_game(ESCAPE))


def rooms_rules() -> str:
    """List every rule."""
    return rules_of(rules)


def rooms_maps() -> str:
    """List the built-in maps with what best play reaches on them."""
    rows: list[tuple[Any, ...]] = []
    for name in maps():
        found = prove_solvability(name)
        figures = f"{found.turns:.4g}", f"{found.helping_turns:.4g}", f"{found.alone:.4g}"
        rows.append((code(name), found.game, load_rooms(name).description, *figures))
    heads = ("map", "game", "what it is", "turns", "helping turns", "success alone")
    return table(heads, rows)


FACTS = (rooms_specs, capture_options, escape_options, escape_features, rooms_rules, rooms_maps)
