"""Play on a full screen in the terminal, in turns or in real time. Needs the extra ``screen``."""

from __future__ import annotations

from collab_overcooked.play.session import Session

MISSING = "the full screen needs the extra screen: pip install 'collab-overcooked[screen]'; or use --lines"


def run_screen(session: Session) -> None:
    """Play a session on a full screen.

    Raises:
        ValueError: If the extra is not installed.
    """
    raise ValueError(MISSING)
