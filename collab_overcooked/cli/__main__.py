"""``python -m collab_overcooked.cli``, the same as ``python -m collab_overcooked``."""

import collab_overcooked.__main__  # noqa: F401
