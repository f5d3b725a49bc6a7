from __future__ import annotations

from run_fixtures import random_records, random_run, two_randoms  # noqa: F401
