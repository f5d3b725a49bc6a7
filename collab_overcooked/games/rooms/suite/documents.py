"""Check of map files, and generators of maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from collab_overcooked.games.rooms.engine.config import PRESETS
from collab_overcooked.games.rooms.engine.constants import Adversary, Goal
from collab_overcooked.games.rooms.engine.spec import FOLDER, KEYS
from collab_overcooked.io.document_kinds import DocumentKind, Finding
from collab_overcooked.io.files import write_atomic
from collab_overcooked.io.options import option


@dataclass(frozen=True, kw_only=True)
class MapOptions:
    """Rules that a map is checked with."""

    preset: str = option("code2024", "Preset of the rules.", allowed=PRESETS)
    adversary: str | None = option(
        None, "Kind of thief or killer. Default: the preset's.", allowed=[kind.name.lower() for kind in Adversary]
    )


def check_maps(sources: Sequence[str], options: MapOptions) -> Finding:
    """Prove whether rooms are connected, and in how many turns best play succeeds."""
    from collab_overcooked.games.rooms.engine.solvability import prove_solvability

    proofs = [prove_solvability(source, options.preset, options.adversary) for source in sources]
    text = "\n".join(proof.text() for proof in proofs)
    return Finding(text, [proof.to_dict() for proof in proofs], all(proof.ok for proof in proofs))


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
    """Map of a given difficulty, with a proof of its expected turns."""

    goal: ClassVar[Goal]
    seed: int = option(0, "Random seed.")
    rooms: int = option(9, "Rooms.")
    passages: int = option(2, "Passages beyond those that connect all rooms.")
    turns: int = option(4, "Expected turns of best play, rounded.")
    helping: float = option(0.0, "Minimum of expected turns in which a player acts to help another.")

    def write(self, out: Path, command: str) -> Finding:
        """Write the YAML file ``out``, headed by the command that makes it."""
        from collab_overcooked.games.rooms.engine.generate import Wish, generate_rooms, map_text

        if out.suffix not in (".yaml", ".yml"):
            raise ValueError(f"out: {out} should end in .yaml")
        values: dict[str, Any] = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        arguments = " ".join(f"--{name} {value:g}" for name, value in values.items())
        seed = values.pop("seed")
        document, proof = generate_rooms(Wish(self.goal, **values), seed, out.stem)
        write_atomic(out, map_text(document, f"{command} {arguments}").encode())
        return Finding(proof.text(), proof.to_dict(), proof.ok)


@dataclass(frozen=True, kw_only=True)
class CaptureGenerator(MapGenerator):
    """Map of CollabCapture of a given difficulty, with a proof of its expected turns."""

    goal = Goal.CAPTURE
    doors: int = option(2, "Doors, each with a button.")


@dataclass(frozen=True, kw_only=True)
class EscapeGenerator(MapGenerator):
    """Map of CollabEscape of a given difficulty, with a proof of its expected turns."""

    goal = Goal.ESCAPE
    turns: int = option(7, "Expected turns of best play, rounded.")
    generators: int = option(2, "Generators.")
