"""The check of lexicon files: whether their words are one to one, and which games they have all words of."""

from __future__ import annotations

from collections.abc import Sequence

from collab_overcooked import registry
from collab_overcooked.envs.lexicon import FOLDER, KEYS, load_lexicon
from collab_overcooked.io.document_kinds import DocumentKind, Finding
from collab_overcooked.io.options import NoOptions


def check_lexicons(sources: Sequence[str], options: NoOptions) -> Finding:
    """Say for every game whether a lexicon has all of its words; it holds what it claims if one game can use it.

    Raises:
        LayoutError: If a lexicon cannot be read, or its words are not one to one.
    """
    names = {record.id: registry.load_game(record.id, lexicon="kitchen").names() for record in registry.games()}
    lines, values = [], []
    for source in sources:
        lexicon = load_lexicon(source)
        missing = {env_id: list(lexicon.missing(own)) for env_id, own in names.items()}
        lines.append(f"{lexicon.name}: {len(lexicon.table) // 2} words, one to one")
        for env_id, words in missing.items():
            shown = ", ".join(words[:6]) + (", ..." if len(words) > 6 else "")
            lines.append(f"  {env_id}: " + (f"no word for {shown}" if words else "has all words"))
        values.append({"name": lexicon.name, "words": len(lexicon.table) // 2, "missing": missing})
    return Finding("\n".join(lines), values, all(not all(one["missing"].values()) for one in values))  # type: ignore


LEXICON = DocumentKind(
    "lexicon",
    FOLDER,
    KEYS,
    check_lexicons,
    "Proves that words are one to one, and says which games can be told in them.",
)
