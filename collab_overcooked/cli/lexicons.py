"""Check of lexicon files: names map one to one, and the games whose names are complete."""

from __future__ import annotations

from collections.abc import Sequence

from collab_overcooked import registry
from collab_overcooked.envs.lexicon import FOLDER, KEYS, load_lexicon
from collab_overcooked.io.document_kinds import DocumentFinding, DocumentKind
from collab_overcooked.io.options import NoOptions


def check_lexicons(sources: Sequence[str], options: NoOptions) -> DocumentFinding:
    """Report for every game the names that a lexicon lacks; a lexicon is valid if at least one game can use it."""
    names = {record.id: registry.load_game(record.id, lexicon="kitchen").names() for record in registry.games()}
    lines, values = [], []
    for source in sources:
        lexicon = load_lexicon(source)
        missing = {env_id: list(lexicon.missing(required)) for env_id, required in names.items()}
        lines.append(f"{lexicon.name}: {len(lexicon.table) // 2} words, one to one")
        for env_id, absent in missing.items():
            listed = ", ".join(absent[:6]) + (", ..." if len(absent) > 6 else "")
            lines.append(f"  {env_id}: " + (f"no word for {listed}" if absent else "has all words"))
        values.append({"name": lexicon.name, "words": len(lexicon.table) // 2, "missing": missing})
    return DocumentFinding("\n".join(lines), values, all(not all(value["missing"].values()) for value in values))  # type: ignore


LEXICON = DocumentKind(
    "lexicon",
    FOLDER,
    KEYS,
    check_lexicons,
    "Checks that the names map one to one, and reports which games can use the lexicon.",
)
