"""``python -m collab_overcooked.cli``."""

from collab_overcooked.cli import app

app()
