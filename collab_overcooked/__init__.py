"""Cooperative multi-agent kitchens: one package for training agents and for evaluating language agents.

Importing the package registers ids (strings) only; it compiles nothing and imports neither numba nor torch.
"""

from __future__ import annotations

from collab_overcooked.registry import make, make_vec, register_everywhere, registered

__version__ = "0.1.0"
__all__ = ["__version__", "make", "make_vec", "registered"]

register_everywhere()
