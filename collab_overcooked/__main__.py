"""``python -m collab_overcooked``, the same as the command ``collab-overcooked``."""

from collab_overcooked.cli import app

app()
