"""The check of map files, and the commands that make new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from collab_overcooked.games.rooms.engine.config import PRESETS
from collab_overcooked.games.rooms.engine.constants import Adversary, Goal
from collab_overcooked.games.rooms.engine.spec import FOLDER, KEYS
from collab_overcooked.io.document_kinds import DocumentKind, Finding
from collab_overcooked.io.options import option


@dataclass(frozen=True, kw_only=True)
class MapOptions:
    """Rules that a map is checked by."""

    preset: str = option("code2024", "Preset of the rules.", allowed=PRESETS)
    adversary: str | None = option(
        None, "Kind of thief or killer; the preset's if not given.", allowed=[each.name.lower() for each in Adversary]
    )


def check_maps(sources: Sequence[str], options: MapOptions) -> Finding:
    """Prove whether rooms are connected, and in how many turns best play succeeds.

    Raises:
        LayoutError: If a map cannot be read.
        ValueError: If a map is too large for exact values.
    """
    from collab_overcooked.games.rooms.engine.solvability import prove_solvability

    found = [prove_solvability(source, options.preset, options.adversary) for source in sources]
    text = "\n".join(each.text() for each in found)
    return Finding(text, [each.to_dict() for each in found], all(each.ok for each in found))


MAP = DocumentKind(
    "map",
    FOLDER,
    KEYS,
    check_maps,
    "Proves whether its rooms are connected, and in how many turns best play succeeds.",
    MapOptions,
)


@dataclass(frozen=True, kw_only=True)
class MapGenerator:
    """A map of a wanted difficulty, with a proof of what it claims."""

    goal: ClassVar[Goal]
    seed: int = option(0, "Seed of all that is drawn.")
    rooms: int = option(9, "Rooms.")
    passages: int = option(2, "Passages beyond those that connect all rooms.")
    turns: int = option(4, "Expected turns of best play, rounded.")
    helping: float = option(0.0, "Least expected turns in which a player acts for another one's sake.")

    def write(self, out: Path, command: str) -> Finding:
        """Write the YAML file ``out``, headed by the command that makes it.

        Raises:
            ValueError: For a wish that cannot be, or is not met by any of the maps that are drawn.
        """
        from collab_overcooked.games.rooms.engine.generate import Wish, generate_rooms, map_text

        if out.suffix not in (".yaml", ".yml"):
            raise ValueError(f"out: {out} should end in .yaml")
        given: dict[str, Any] = {own.name: getattr(self, own.name) for own in fields(self)}
        words = " ".join(f"--{name} {value:g}" for name, value in given.items())
        seed = given.pop("seed")
        values, found = generate_rooms(Wish(self.goal, **given), seed, out.stem)
        out.write_text(map_text(values, f"{command} {words}"), encoding="utf-8")
        return Finding(found.text(), found.to_dict(), found.ok)


@dataclass(frozen=True, kw_only=True)
class CaptureGenerator(MapGenerator):
    """A map of CollabCapture of a wanted difficulty, with a proof of what it claims."""

    goal = Goal.CAPTURE
    doors: int = option(2, "Doors, each with a button.")


@dataclass(frozen=True, kw_only=True)
class EscapeGenerator(MapGenerator):
    """A map of CollabEscape of a wanted difficulty, with a proof of what it claims."""

    goal = Goal.ESCAPE
    turns: int = option(7, "Expected turns of best play, rounded.")
    generators: int = option(2, "Generators.")
