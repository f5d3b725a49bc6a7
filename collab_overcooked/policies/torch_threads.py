"""Threads of torch while policies decide."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ASKED_BY = "OMP_NUM_THREADS"  # environment variable of OpenMP, whose number of threads is kept


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Decide with one thread of torch, unless ``OMP_NUM_THREADS`` asks for another number.

    The products of a single decision are small: threads that share one take longer, and those of several workers
    compete for the same cores. Afterwards torch has as many threads as before, as for training.
    """
    torch: Any = sys.modules.get("torch")
    count = getattr(torch, "get_num_threads", None)  # missing while another thread imports torch
    before = 1 if count is None or ASKED_BY in os.environ else count()
    if before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
