"""Hypothesis in tests of kernels: the first call compiles, so that a deadline for one example says nothing."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")
