"""Threads of torch while policies decide, and while they are trained."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ASKED_BY = "OMP_NUM_THREADS"  # environment variable of OpenMP, whose number of threads is kept


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Compute with a number of threads of torch; afterwards it has as many as before."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Decide with one thread of torch, unless ``OMP_NUM_THREADS`` asks for another number.

    The products of a single decision are small: threads that share one take longer, and those of several workers
    compete for the same cores.
    """
    torch: Any = sys.modules.get("torch")
    count = getattr(torch, "get_num_threads", None)  # missing while another thread imports torch
    if count is None or ASKED_BY in os.environ or count() == 1:
        yield
        return
    with torch_threads(1):
        yield
